/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t sk_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t sk_clock_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *sk_clock_text(int64_t wall_ms, char *buffer, size_t capacity)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || strftime(buffer, capacity, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        if (capacity)
            buffer[0] = '\0';
    }
    return buffer;
}

int64_t sk_clock_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const char *sk_clock_text_ns(int64_t wall_ns, char *buffer, size_t capacity)
{
    char seconds[SK_CLOCK_TEXT];
    sk_clock_text(wall_ns / 1000000, seconds, sizeof seconds);
    size_t length = strcspn(seconds, "Z");
    snprintf(buffer, capacity, "%.*s.%09lldZ", (int)length, seconds, (long long)(wall_ns % 1000000000));
    return buffer;
}

void sk_clock_sleep_ns(int64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (ns > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sk_samples_percentile(const double *sorted, size_t count, double percent)
{
    if (count == 0)
        return 0;
    if (!(percent > 0))
        return sorted[0];
    if (percent >= 100)
        return sorted[count - 1];
    double position = percent / 100 * (double)(count - 1);
    size_t below = (size_t)position;
    double part = position - (double)below;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

sk_samples_summary sk_samples_summarize(double *samples, size_t count)
{
    sk_samples_summary summary = {.count = count};
    if (count == 0)
        return summary;
    qsort(samples, count, sizeof *samples, compare_doubles);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += samples[i];
    summary.mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (samples[i] - summary.mean) * (samples[i] - summary.mean);
    summary.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    summary.min = samples[0];
    summary.max = samples[count - 1];
    summary.median = sk_samples_percentile(samples, count, 50);
    summary.p90 = sk_samples_percentile(samples, count, 90);
    summary.p99 = sk_samples_percentile(samples, count, 99);
    return summary;
}
