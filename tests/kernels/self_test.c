/* SPDX-License-Identifier: Apache-2.0 */
/* A harness that finds nothing wrong proves nothing: these kernels are broken on purpose, one way each. */
#include "harness_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define N 37

typedef void (*copy_fn)(float *dst, const float *src, int n);

static void copy_right(float *dst, const float *src, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] = src[i];
}

static void copy_writes_past_the_end(float *dst, const float *src, int n)
{
    for (int i = 0; i < (n + 1) / 2 * 2; i++)
        dst[i] = src[i < n ? i : 0];
}

static void copy_writes_before_the_start(float *dst, const float *src, int n)
{
    copy_right(dst, src, n);
    dst[-1] = 0;
}

static void copy_reads_past_the_end(float *dst, const float *src, int n)
{
    volatile float unused = ((const volatile float *)src)[n];
    (void)unused;
    copy_right(dst, src, n);
}

static void copy_writes_its_input(float *dst, const float *src, int n)
{
    copy_right(dst, src, n);
    ((volatile float *)(uintptr_t)src)[0] = 5;
}

static void copy_forgets_the_tail(float *dst, const float *src, int n)
{
    copy_right(dst, src, n / 4 * 4);
}

static void copy_is_a_little_off(float *dst, const float *src, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] = src[i] * 1.00001f;
}

static void copy_makes_a_nan(float *dst, const float *src, int n)
{
    copy_right(dst, src, n);
    dst[n / 2] = NAN;
}

static void copy_wants_alignment(float *dst, const float *src, int n)
{
    copy_right(dst, src, n);
    if ((uintptr_t)dst % 8 == 0)
        return;
    dst[0] += 1; /* what a wrongly aligned store would do, less noisily */
}

static copy_fn under_test;

static void check_copy(kernel_run *run)
{
    float *x = kernel_buffer(run, 4 * N, 4), *want = kernel_buffer(run, 4 * N, 4),
          *got = kernel_buffer(run, 4 * N, 4);
    kernel_fill_f32(run, x, N, -1, 1);
    kernel_freeze(run, x);
    kernel_case(run, "n %d", N);
    copy_right(want, x, N);
    under_test(got, x, N);
    kernel_compare_f32(run, want, got, N, KERNEL_F32);
    kernel_end(run);
}

int kernel_self_test(kernel_run *run)
{
    static const struct {
        const char *name;
        copy_fn fn;
        int is_wrong;
    } copies[] = {
        {"right", copy_right, 0},
        {"writes past the end", copy_writes_past_the_end, 1},
        {"writes before the start", copy_writes_before_the_start, 1},
        {"reads past the end", copy_reads_past_the_end, 1},
        {"writes its input", copy_writes_its_input, 1},
        {"forgets the tail", copy_forgets_the_tail, 1},
        {"is a little off", copy_is_a_little_off, 1},
        {"makes a NaN", copy_makes_a_nan, 1},
        {"wants more alignment than promised", copy_wants_alignment, 1},
    };
    int missed = 0;
    run->state->quiet = true;
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        int before = run->state->failures;
        under_test = copies[i].fn;
        run->state->variant_failed = false;
        kernel_guarded_call(run, check_copy);
        int found = run->state->failures > before;
        if (found != copies[i].is_wrong) {
            printf("a kernel that %s was %s\n", copies[i].name, found ? "refused" : "not found out");
            missed++;
        }
    }
    printf("self-test: %d missed\n", missed);
    return missed;
}
