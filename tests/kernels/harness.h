/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_KERNELS_HARNESS_H
#define SK_TESTS_KERNELS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks and times kernels against their plain C reference, at every instruction set level this CPU has.
 *
 * To add a family, add one file, tests/kernels/check_<family>.c, with one function:
 *
 *     void check_<family>(kernel_run *run)
 *     {
 *         sk_convert_kernels ref, mine;
 *         sk_convert_kernels_fill(&ref, 0);                // flags 0: plain C
 *         sk_convert_kernels_fill(&mine, run->flags);      // the level under test
 *         if (kernel_variant(run, "u8_to_f32", (kernel_fn)mine.u8_to_f32)) {
 *             for (int i = 0; i < 100; i++) {
 *                 int64_t n = kernel_length(run, i, 2000);
 *                 uint8_t *x = kernel_buffer(run, (size_t)n, 1);
 *                 float *want = kernel_buffer(run, 4 * (size_t)n, 4);
 *                 float *got = kernel_buffer(run, 4 * (size_t)n, 4);
 *                 kernel_fill_bytes(run, x, (size_t)n);
 *                 kernel_case(run, "n %lld", (long long)n);
 *                 ref.u8_to_f32(want, x, n, …);
 *                 mine.u8_to_f32(got, x, n, …);
 *                 kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
 *                 kernel_end(run);                         // checks the guard bands, frees the buffers
 *             }
 *             … buffers of a typical size …
 *             KERNEL_BENCH(run, "n 4096", flops, bytes) mine.u8_to_f32(got, x, n, …);
 *             kernel_end(run);
 *         }
 *     }
 *
 * The program calls it once with no flags (plain C against itself: the bands), then once for each level
 * upward; kernel_variant tells whether this level brought a function not seen at a lower one. By hand:
 *     build/tests/test_kernels [--bench] [--family NAME] [--filter TEXT] [--level NAME] [--seed N] [--first]
 *                              [--list] [--self-test] */

typedef struct kernel_run kernel_run;
typedef void (*kernel_fn)(void);

struct kernel_run {
    uint32_t flags;    /* sk_cpu flags of the level under test */
    const char *level; /* its name */
    struct kernel_state *state;
};

/* Starts on one function of this level. False when it is to be left out: null, seen at a lower level already,
 * or not chosen by --filter and --level. `name` must be constant. */
bool kernel_variant(kernel_run *run, const char *name, kernel_fn fn);

/* A block filled with a pattern that a kernel cannot have written by chance, `bytes` long, aligned to
 * `alignment` and not to twice that. Bands of a page's size lie before and behind it; behind it, as near as
 * the alignment allows, lies a page that may not even be read. Lives until kernel_end. For kernels whose
 * contract lets them read past the end, ask for the bytes they may touch. */
void *kernel_buffer(kernel_run *run, size_t bytes, size_t alignment);
/* Makes a buffer read-only for the kernel's sake, after filling it. */
void kernel_freeze(kernel_run *run, void *buffer);

/* Names the shape being tried, for the message when it fails. */
void kernel_case(kernel_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kernel_end(kernel_run *run);
/* A failed expectation of the check's own. */
void kernel_fail(kernel_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- random input; the same for the same --seed --- */
uint64_t kernel_random(kernel_run *run);
int64_t kernel_range(kernel_run *run, int64_t low, int64_t high); /* both included */
/* A length for try i: 1, 2, 3 … 70 first, so that every tail comes, then at random up to `most`. */
int64_t kernel_length(kernel_run *run, int i, int64_t most);
void kernel_fill_f32(kernel_run *run, float *values, size_t count, float low, float high);
void kernel_fill_bytes(kernel_run *run, void *bytes, size_t count);

/* --- comparing --- */

/* Fails when an element differs by more than max_abs * max(1, largest |want|), or when the normalized mean
 * square error, sum (want - got)^2 / sum want^2, is above nmse; the mean of want^2 counts as 0.1 at least, so
 * that a few tiny numbers are not held to a precision nobody needs. NaN equals NaN and an infinity itself;
 * otherwise they fail. */
typedef struct kernel_limits {
    double max_abs;
    double nmse;
} kernel_limits;

#define KERNEL_F32_EXACT ((kernel_limits){0, 0})
#define KERNEL_F32       ((kernel_limits){2e-6, 1e-12}) /* other order of sums; scale max_abs for long ones */
#define KERNEL_WINOGRAD  ((kernel_limits){5e-4, 1e-9})  /* f32 with transformed inputs */
#define KERNEL_F16       ((kernel_limits){2e-3, 1e-6})  /* stored as half floats, summed as f32 */
#define KERNEL_BF16      ((kernel_limits){2e-2, 5e-5})
#define KERNEL_I8        ((kernel_limits){5e-2, 1e-3}) /* quantized against f32 */

bool kernel_compare_f32(kernel_run *run, const float *want, const float *got, size_t count,
                        kernel_limits limits);
bool kernel_compare_bytes(kernel_run *run, const void *want, const void *got, size_t count);

/* --- timing --- */

typedef struct kernel_timer {
    kernel_run *run;
    const char *label;
    double flops, bytes; /* of one call */
    int64_t left, batch; /* calls to go, calls in the batch */
    int64_t start;       /* of the batch */
    int samples;
    double ns[64];
} kernel_timer;

kernel_timer kernel_timer_open(kernel_run *run, const char *label, double flops, double bytes);
bool kernel_timer_slow(kernel_timer *timer);
static inline bool kernel_timer_next(kernel_timer *timer)
{
    return --timer->left >= 0 || kernel_timer_slow(timer);
}

/* Repeats the following statement for long enough and prints ns, GFLOP/s, GB/s and the share of this core's
 * measured peak at this level; does nothing without --bench. flops: 2 for a multiply-add; bytes: moved to and
 * from memory. */
#define KERNEL_BENCH(run, label, flops, bytes)                                                               \
    for (kernel_timer kernel_timer_ = kernel_timer_open((run), (label), (flops), (bytes));                   \
         kernel_timer_next(&kernel_timer_);)

/* Highest f32 rate (operations a second) one core reaches at this level: kernels/peak.h, measured once. */
double kernel_peak_flops(uint32_t flags);

#endif
