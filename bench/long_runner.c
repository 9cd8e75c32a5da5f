/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/memory.h"
#include "runner/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Many frames through the runner, watching memory: ninja -C build long_runner && build/long_runner MODEL [FRAMES [W H]].
 * Ends with 1 when anything was allocated, any page was faulted in steadily, or the process grew. */

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static long resident_kb(void)
{
    long pages = 0, total = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * 4;
}

static int stream(sk_runner *runner, sk_frame *frame, long count, sk_error *err)
{
    sk_runner_result result;
    for (long i = 0; i < count; i++) {
        if (sk_runner_in_flight(runner) == sk_runner_depth(runner) &&
            sk_runner_wait(runner, &result, err) != SK_OK)
            return 0;
        frame->index = i;
        if (sk_runner_submit(runner, frame, NULL, NULL, err) != SK_OK)
            return 0;
    }
    while (sk_runner_in_flight(runner))
        if (sk_runner_wait(runner, &result, err) != SK_OK)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    sk_error err = {0};
    sk_model *model = NULL;
    sk_runner *runner = NULL;
    sk_runner_settings s;
    if (argc < 2) {
        fprintf(stderr, "usage: long_runner MODEL [FRAMES [WIDTH HEIGHT]]\n");
        return 2;
    }
    long frames = argc > 2 ? atol(argv[2]) : 1000000;
    sk_runner_defaults(&s);
    s.detector.threads = 1;
    s.frame_width = argc > 4 ? atoi(argv[3]) : 48;
    s.frame_height = argc > 4 ? atoi(argv[4]) : 40;
    s.detector.width = s.detector.height = argc > 4 ? 0 : 32;
    if (sk_model_open(argv[1], &model, &err) != SK_OK ||
        sk_runner_open((const sk_model *const[]){model}, 1, &s, &runner, &err) != SK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    sk_frame frame = {.format = SK_PIXEL_RGB,
                      .width = s.frame_width,
                      .height = s.frame_height,
                      .stride = (ptrdiff_t)s.frame_width * 3};
    size_t bytes = (size_t)frame.stride * (size_t)frame.height;
    frame.data = sk_malloc(bytes);
    memset(frame.data, 90, bytes);
    int good = stream(runner, &frame, 1000, &err);
    uint64_t allocations = sk_memory_allocations();
    long faults = page_faults(), resident = resident_kb();
    int64_t begin = sk_clock_ns();
    printf("after 1000 frames: %ld kB resident\n", resident);
    for (int part = 0; good && part < 10; part++) {
        good = stream(runner, &frame, frames / 10, &err);
        printf("after %ld: %ld kB, %ld page faults, %llu allocations\n", frames / 10 * (part + 1),
               resident_kb(), page_faults() - faults,
               (unsigned long long)(sk_memory_allocations() - allocations));
        fflush(stdout);
    }
    if (!good)
        fprintf(stderr, "%s\n", err.message);
    double seconds = (double)(sk_clock_ns() - begin) * 1e-9;
    printf("%.0f frames/s\n", (double)frames / seconds);
    good = good && sk_memory_allocations() == allocations && resident_kb() - resident < 512 &&
           page_faults() - faults < 200;
    printf("%s\n", good ? "no growth" : "GREW");
    sk_runner_close(&runner);
    sk_model_close(&model);
    sk_free(frame.data);
    return !good;
}
