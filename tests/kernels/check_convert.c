/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include "kernels/convert.h"

#include <math.h>
#include <string.h>

void check_convert(kernel_run *run);

#define TRIES       120
#define BENCH_COUNT 4096

static void check_u8_to_f32(kernel_run *run, const sk_convert_kernels *ref, const sk_convert_kernels *mine)
{
    if (!kernel_variant(run, "u8_to_f32", (kernel_fn)mine->u8_to_f32))
        return;
    for (int i = 0; i < TRIES; i++) {
        size_t n = (size_t)kernel_length(run, i, 3000);
        uint8_t *x = kernel_buffer(run, n, 1);
        float *want = kernel_buffer(run, 4 * n, 4), *got = kernel_buffer(run, 4 * n, 4);
        kernel_fill_bytes(run, x, n);
        kernel_freeze(run, x);
        kernel_case(run, "n %zu", n);
        ref->u8_to_f32(want, x, n, 1 / 255.0f, -0.4f);
        mine->u8_to_f32(got, x, n, 1 / 255.0f, -0.4f);
        kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
        kernel_end(run);
    }
    uint8_t *x = kernel_buffer(run, BENCH_COUNT, 64);
    float *y = kernel_buffer(run, 4 * BENCH_COUNT, 64);
    KERNEL_BENCH(run, "n 4096", 2.0 * BENCH_COUNT, 5.0 * BENCH_COUNT)
    mine->u8_to_f32(y, x, BENCH_COUNT, 1 / 255.0f, 0.5f);
    kernel_end(run);
}

static void check_f16_to_f32(kernel_run *run, const sk_convert_kernels *ref, const sk_convert_kernels *mine)
{
    if (!kernel_variant(run, "f16_to_f32", (kernel_fn)mine->f16_to_f32))
        return;
    for (int i = 0; i < TRIES; i++) {
        size_t n = (size_t)kernel_length(run, i, 3000);
        uint16_t *x = kernel_buffer(run, 2 * n, 2);
        float *want = kernel_buffer(run, 4 * n, 4), *got = kernel_buffer(run, 4 * n, 4);
        kernel_fill_bytes(run, x, 2 * n); /* all of zero, subnormal, normal, infinite and NaN come by */
        kernel_freeze(run, x);
        kernel_case(run, "n %zu", n);
        ref->f16_to_f32(want, x, n);
        mine->f16_to_f32(got, x, n);
        kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
        kernel_end(run);
    }
    uint16_t *x = kernel_buffer(run, 2 * BENCH_COUNT, 64);
    float *y = kernel_buffer(run, 4 * BENCH_COUNT, 64);
    KERNEL_BENCH(run, "n 4096", 0, 6.0 * BENCH_COUNT) mine->f16_to_f32(y, x, BENCH_COUNT);
    kernel_end(run);
}

/* Values around every rounding step of half floats, and the special ones. */
static float half_trouble(kernel_run *run)
{
    static const float special[] = {0.0f,   -0.0f,         65504.0f,      65519.9f, 65520.0f,
                                    -1e9f,  5.9604645e-8f, 2.9802322e-8f, 2.98e-8f, 6.1e-5f,
                                    1e-30f, INFINITY,      -INFINITY};
    if (kernel_range(run, 0, 9) == 0)
        return special[kernel_range(run, 0, (int64_t)(sizeof special / sizeof special[0]) - 1)];
    uint32_t exponent = (uint32_t)kernel_range(run, 127 - 26, 127 + 17);
    uint32_t bits = (uint32_t)kernel_random(run) & 0x807FFFFFu;
    if (kernel_range(run, 0, 1))
        bits &= 0x807FF000u; /* ties */
    bits |= exponent << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void check_f32_to_f16(kernel_run *run, const sk_convert_kernels *ref, const sk_convert_kernels *mine)
{
    if (!kernel_variant(run, "f32_to_f16", (kernel_fn)mine->f32_to_f16))
        return;
    for (int i = 0; i < TRIES; i++) {
        size_t n = (size_t)kernel_length(run, i, 3000);
        float *x = kernel_buffer(run, 4 * n, 4);
        uint16_t *want = kernel_buffer(run, 2 * n, 2), *got = kernel_buffer(run, 2 * n, 2);
        for (size_t j = 0; j < n; j++)
            x[j] = half_trouble(run);
        kernel_freeze(run, x);
        kernel_case(run, "n %zu", n);
        ref->f32_to_f16(want, x, n);
        mine->f32_to_f16(got, x, n);
        kernel_compare_bytes(run, want, got, 2 * n);
        kernel_end(run);
    }
    float *x = kernel_buffer(run, 4 * BENCH_COUNT, 64);
    uint16_t *y = kernel_buffer(run, 2 * BENCH_COUNT, 64);
    kernel_fill_f32(run, x, BENCH_COUNT, -10, 10);
    KERNEL_BENCH(run, "n 4096", 0, 6.0 * BENCH_COUNT) mine->f32_to_f16(y, x, BENCH_COUNT);
    kernel_end(run);
}

void check_convert(kernel_run *run)
{
    sk_convert_kernels ref, mine;
    sk_convert_kernels_fill(&ref, 0);
    sk_convert_kernels_fill(&mine, run->flags);
    check_u8_to_f32(run, &ref, &mine);
    check_f16_to_f32(run, &ref, &mine);
    check_f32_to_f16(run, &ref, &mine);
}
