/* SPDX-License-Identifier: Apache-2.0 */
#include "harness_state.h"

#include "base/clock.h"
#include "kernels/peak.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- messages --- */

void kernel_fail(kernel_run *run, const char *format, ...)
{
    kernel_state *state = run->state;
    state->failures++;
    if (state->variant_failed)
        return; /* one message a variant is enough to start from */
    state->variant_failed = true;
    if (state->quiet)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("FAILED %s [%s] %s: %s (--seed %llu)\n", state->variant ? state->variant : "?", run->level,
           state->shape, text, (unsigned long long)state->seed);
    if (state->first_only)
        exit(1);
}

void kernel_case(kernel_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run->state->shape, sizeof run->state->shape, format, args);
    va_end(args);
    run->state->cases++;
}

/* --- guarded buffers --- */

/* Depends on the place, so that a block moved by a few bytes is noticed too. */
static unsigned char pattern(const unsigned char *place)
{
    return (unsigned char)(0xA5 ^ ((uintptr_t)place * 29));
}

void *kernel_buffer(kernel_run *run, size_t bytes, size_t alignment)
{
    kernel_state *state = run->state;
    if (state->buffer_count == KERNEL_BUFFERS) {
        fprintf(stderr, "kernel harness: more than %d buffers before kernel_end\n", KERNEL_BUFFERS);
        exit(2);
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inner =
        (bytes + 2 * alignment + page - 1) / page * page + page; /* a band of a page at least in front */
    kernel_guarded *guarded = &state->buffers[state->buffer_count];
    guarded->map_bytes = inner + 2 * page;
    guarded->map = mmap(NULL, guarded->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guarded->map == MAP_FAILED || mprotect(guarded->map + page, inner, PROT_READ | PROT_WRITE) != 0) {
        fprintf(stderr, "kernel harness: no memory for %zu bytes\n", bytes);
        exit(2);
    }
    unsigned char *end = guarded->map + page + inner;
    unsigned char *data = end - (bytes + alignment - 1) / alignment * alignment;
    if ((uintptr_t)data % (2 * alignment) == 0)
        data -= alignment; /* no luckier than promised */
    guarded->data = data;
    guarded->bytes = bytes;
    state->buffer_count++;
    for (unsigned char *p = guarded->map + page; p < end; p++)
        *p = pattern(p);
    return data;
}

static kernel_guarded *find_buffer(kernel_state *state, const void *data)
{
    for (int i = 0; i < state->buffer_count; i++) {
        if (state->buffers[i].data == data)
            return &state->buffers[i];
    }
    return NULL;
}

void kernel_freeze(kernel_run *run, void *buffer)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    kernel_guarded *guarded = find_buffer(run->state, buffer);
    if (guarded)
        mprotect(guarded->map + page, guarded->map_bytes - 2 * page, PROT_READ);
}

static void check_bands(kernel_run *run, const kernel_guarded *guarded, int index)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned char *begin = guarded->map + page, *end = guarded->map + guarded->map_bytes - page;
    for (const unsigned char *p = begin; p < end; p++) {
        if (p == guarded->data)
            p += guarded->bytes;
        if (p >= end)
            break;
        if (*p != pattern(p)) {
            kernel_fail(run, "wrote outside buffer %d (%zu bytes) at byte %lld", index, guarded->bytes,
                        (long long)(p - guarded->data));
            return;
        }
    }
}

void kernel_buffers_free(kernel_state *state)
{
    for (int i = 0; i < state->buffer_count; i++)
        munmap(state->buffers[i].map, state->buffers[i].map_bytes);
    state->buffer_count = 0;
}

void kernel_end(kernel_run *run)
{
    for (int i = 0; i < run->state->buffer_count; i++)
        check_bands(run, &run->state->buffers[i], i);
    kernel_buffers_free(run->state);
}

/* --- random --- */

uint64_t kernel_random(kernel_run *run)
{
    uint64_t z = run->state->random += 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int64_t kernel_range(kernel_run *run, int64_t low, int64_t high)
{
    return low + (int64_t)(kernel_random(run) % (uint64_t)(high - low + 1));
}

int64_t kernel_length(kernel_run *run, int i, int64_t most)
{
    return i < 70 && i < most ? i + 1 : kernel_range(run, 1, most);
}

void kernel_fill_f32(kernel_run *run, float *values, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++)
        values[i] = low + (high - low) * (float)(kernel_random(run) >> 40) * 0x1p-24f;
}

void kernel_fill_bytes(kernel_run *run, void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(kernel_random(run) >> 56);
}

/* --- comparing --- */

bool kernel_compare_f32(kernel_run *run, const float *want, const float *got, size_t count,
                        kernel_limits limits)
{
    double scale = 1, worst = 0, error = 0, power = 0;
    size_t worst_at = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(want[i]) && fabs((double)want[i]) > scale)
            scale = fabs((double)want[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if ((isnan(want[i]) && isnan(got[i])) || want[i] == got[i]) {
            if (isfinite(want[i]))
                power += (double)want[i] * want[i];
            continue;
        }
        double difference = fabs((double)want[i] - got[i]);
        if (!isfinite(difference)) {
            kernel_fail(run, "element %zu of %zu: %g where %g was expected", i, count, (double)got[i],
                        (double)want[i]);
            return false;
        }
        if (difference > worst) {
            worst = difference;
            worst_at = i;
        }
        error += difference * difference;
        power += (double)want[i] * want[i];
    }
    double least = 0.1 * (double)count;
    double nmse = error / (power > least ? power : least > 0 ? least : 1);
    if (worst <= limits.max_abs * scale && nmse <= limits.nmse)
        return true;
    kernel_fail(
        run,
        "element %zu of %zu: %.9g where %.9g was expected; worst difference %.3g (limit %.3g), NMSE %.3g "
        "(limit %.3g)",
        worst_at, count, (double)got[worst_at], (double)want[worst_at], worst, limits.max_abs * scale, nmse,
        limits.nmse);
    return false;
}

bool kernel_compare_bytes(kernel_run *run, const void *want, const void *got, size_t count)
{
    const unsigned char *a = want, *b = got;
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            kernel_fail(run, "byte %zu of %zu: %d where %d was expected", i, count, b[i], a[i]);
            return false;
        }
    }
    return true;
}

/* --- timing --- */

#define BATCH_NS 200000
#define SAMPLES  40

kernel_timer kernel_timer_open(kernel_run *run, const char *label, double flops, double bytes)
{
    return (kernel_timer){.run = run, .label = label, .flops = flops, .bytes = bytes, .left = 0, .batch = 0};
}

/* One value per 1 % of time lost to others would be too many: the median of 40 batches of 0.2 ms, and the
 * best. */
static void print_timing(kernel_timer *timer)
{
    sk_samples_summary s = sk_samples_summarize(timer->ns, (size_t)timer->samples);
    double peak = kernel_peak_flops(timer->run->flags);
    printf("%-28s %-11s %-26s %12.1f ns (best %.1f)", timer->run->state->variant, timer->run->level,
           timer->label, s.median, s.min);
    if (timer->flops > 0)
        printf("  %8.2f GFLOP/s %5.1f %% of peak", timer->flops / s.median,
               100 * timer->flops / (s.median * 1e-9) / peak);
    if (timer->bytes > 0)
        printf("  %7.2f GB/s", timer->bytes / s.median);
    putchar('\n');
    fflush(stdout);
}

bool kernel_timer_slow(kernel_timer *timer)
{
    int64_t now = sk_clock_ns();
    if (!timer->run->state->bench || timer->run->state->variant_failed)
        return false;
    if (timer->batch == 0) {
        timer->batch = 1;
    } else if (timer->samples == 0 && now - timer->start < BATCH_NS) {
        timer->batch *= 2; /* still finding out how many calls fill a batch; these also warm the caches */
    } else {
        timer->ns[timer->samples++] = (double)(now - timer->start) / (double)timer->batch;
        if (timer->samples == SAMPLES) {
            print_timing(timer);
            return false;
        }
    }
    timer->left = timer->batch - 1; /* this return is the first call of the batch */
    timer->start = sk_clock_ns();
    return true;
}

double kernel_peak_flops(uint32_t flags)
{
    static struct {
        sk_peak_loop loop;
        double rate;
    } known[8];
    sk_peak_loop loop = sk_f32_peak_choose(flags);
    int slot = 0;
    while (slot < 7 && known[slot].loop && known[slot].loop != loop)
        slot++;
    if (known[slot].loop == loop)
        return known[slot].rate;
    known[slot].loop = loop;
    known[slot].rate = 0;
    for (int i = 0; i < 20; i++) { /* the best of 20: other programs take the core now and then */
        float sink;
        int64_t start = sk_clock_ns();
        double flops = loop(20000, &sink);
        double rate = flops / ((double)(sk_clock_ns() - start) * 1e-9);
        known[slot].rate = rate > known[slot].rate ? rate : known[slot].rate;
    }
    return known[slot].rate;
}
