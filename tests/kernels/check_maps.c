/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "kernels/kernels.h"

#include <math.h>

#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

/* Pools, resizing, elementwise, reordering and rows of the CPU engine at every level against plain C. */

void check_maps(kernel_run *run);

static float *filled(kernel_run *run, size_t count, float size)
{
    float *data = kernel_buffer(run, count * sizeof *data, 4);
    kernel_fill_f32(run, data, count, -size, size);
    return data;
}

static float *blank(kernel_run *run, size_t count)
{
    float *data = kernel_buffer(run, count * sizeof *data, 4);
    memset(data, 0, count * sizeof *data);
    return data;
}

static const kernel_limits loose = {1e-5, 1e-10};

static void check_pool(kernel_run *run, sk_pool_f32c16_fn ref, sk_pool_f32c16_fn mine)
{
    for (int i = 0; i < 80; i++) {
        sk_pool_f32c16 p = {.in_h = (int32_t)kernel_range(run, 1, 12),
                            .in_w = (int32_t)kernel_length(run, i, 30),
                            .kernel_h = (int32_t)kernel_range(run, 1, 5),
                            .stride_h = (int32_t)kernel_range(run, 1, 3),
                            .dilation_h = (int32_t)kernel_range(run, 1, 2),
                            .count_pad = (int32_t)kernel_range(run, 0, 1)};
        p.kernel_w = p.kernel_h;
        p.stride_w = p.stride_h;
        p.dilation_w = p.dilation_h;
        p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = (p.kernel_h - 1) / 2;
        int32_t reach = (p.kernel_h - 1) * p.dilation_h + 1;
        p.out_h = (p.in_h + 2 * p.pad_top - reach) / p.stride_h + 1;
        p.out_w = (p.in_w + 2 * p.pad_left - reach) / p.stride_w + 1;
        if (p.in_h + 2 * p.pad_top < reach || p.in_w + 2 * p.pad_left < reach)
            continue;
        p.in_row = (ptrdiff_t)p.in_w * SK_BLOCK;
        p.out_row = (ptrdiff_t)p.out_w * SK_BLOCK;
        size_t n = (size_t)p.out_row * (size_t)p.out_h;
        p.in = filled(run, (size_t)p.in_row * (size_t)p.in_h, 2.0f);
        float *want = blank(run, n), *got = blank(run, n);
        kernel_case(run, "%dx%d, window %d s%d d%d pad %d", p.in_h, p.in_w, p.kernel_h, p.stride_h,
                    p.dilation_h, p.pad_top);
        p.out = want;
        ref(&p, 0, p.out_h);
        p.out = got;
        mine(&p, 0, p.out_h / 2);
        mine(&p, p.out_h / 2, p.out_h);
        kernel_compare_f32(run, want, got, n, loose);
        kernel_end(run);
    }
}

/* Any bits at all: the same ones. */
static void check_halve_bf16(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 40; i++) {
        const size_t n = (size_t)kernel_length(run, i, 90), bytes = n * SK_BLOCK * sizeof(uint16_t);
        uint16_t *in = kernel_buffer(run, 4 * bytes, 2), *want = kernel_buffer(run, bytes, 2),
                 *got = kernel_buffer(run, bytes, 2);
        kernel_fill_bytes(run, in, 4 * bytes);
        kernel_case(run, "%zu pixels", n);
        ref->halve_bf16(in, in + 2 * n * SK_BLOCK, want, (int32_t)n);
        mine->halve_bf16(in, in + 2 * n * SK_BLOCK, got, (int32_t)n);
        kernel_compare_bytes(run, want, got, bytes);
        kernel_end(run);
    }
}

static void check_unary(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int32_t kind = 1; kind < SK_UNARY_COUNT; kind++)
        for (int i = 0; sk_act_f32_known(kind) && i < 40; i++) {
            size_t n = (size_t)kernel_length(run, i + 40, 3000);
            sk_act_f32 act = {kind, 0.3f, 0.4f};
            float *x = filled(run, n, i % 4 == 0 ? 200.0f : 8.0f), *want = blank(run, n),
                  *got = blank(run, n);
            if (kind == SK_UNARY_EXP)
                for (size_t k = 0; k < n; k++)
                    x[k] = x[k] > 10.0f ? 10.0f : x[k];
            kernel_case(run, "%s n %zu", sk_unary_name((sk_unary)kind), n);
            ref->unary(x, want, n, &act);
            mine->unary(x, got, n, &act);
            kernel_compare_f32(run, want, got, n, loose);
            mine->unary(x, x, n, &act); /* in place */
            kernel_compare_f32(run, got, x, n, KERNEL_F32_EXACT);
            kernel_end(run);
        }
}

/* Nearly sure is not sure: where a float can tell a probability from 1, so does the kernel. */
static void check_sigmoid_near_one(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    enum { STEPS = 4000 };
    const sk_act_f32 act = {SK_UNARY_SIGMOID, 0, 0};
    const sk_kernels_f32 *both[2] = {ref, mine};
    float *x = blank(run, STEPS), *got = blank(run, STEPS);
    for (int i = 0; i < STEPS; i++)
        x[i] = 10.0f + 10.0f * (float)i / STEPS;
    for (int k = 0; k < 2; k++) {
        kernel_case(run, "sigmoid near 1, %s", k ? "this level" : "plain");
        both[k]->unary(x, got, STEPS, &act);
        for (int i = 0; i < STEPS; i++) {
            const float want = (float)(1.0 / (1.0 + exp(-(double)x[i])));
            if (fabsf(got[i] - want) > 6e-8f || (x[i] < 17.3f && got[i] >= 1.0f) ||
                (x[i] > 17.4f && got[i] != 1.0f))
                kernel_fail(run, "sigmoid(%.9g) is %.9g instead of %.9g", (double)x[i], (double)got[i],
                            (double)want);
        }
    }
    kernel_end(run);
}

static void check_binary(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    static const int32_t kinds[] = {SK_BINARY_ADD, SK_BINARY_SUB, SK_BINARY_MUL,
                                    SK_BINARY_DIV, SK_BINARY_MIN, SK_BINARY_MAX};
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 40; i++) {
            size_t n = (size_t)kernel_length(run, i, 2000), whole = (n + 15) / 16 * 16;
            float *a = filled(run, whole, 2.0f), *b = filled(run, whole, 2.0f);
            float *want = blank(run, whole), *got = blank(run, whole);
            for (size_t q = 0; q < whole; q++)
                b[q] += b[q] < 0 ? -0.1f : 0.1f;
            kernel_case(run, "%s n %zu", sk_binary_name((sk_binary)kinds[k]), n);
            ref->binary(kinds[k], a, b, want, n);
            mine->binary(kinds[k], a, b, got, n);
            kernel_compare_f32(run, want, got, whole, KERNEL_F32);
            ref->binary16(kinds[k], a, b, want, whole, i % 2);
            mine->binary16(kinds[k], a, b, got, whole, i % 2);
            for (size_t q = 0; kinds[k] == SK_BINARY_DIV && q < whole;
                 q++) /* a / 0 is not what this is about */
                want[q] = want[q] == want[q] && want[q] * 0 == 0 ? want[q] : (got[q] = 0);
            kernel_compare_f32(run, want, got, whole, KERNEL_F32);
            kernel_end(run);
        }
}

static void check_resize(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 60; i++) {
        int32_t w = (int32_t)kernel_length(run, i, 50);
        size_t n = (size_t)w * 2 * SK_BLOCK;
        float *in = filled(run, (size_t)w * SK_BLOCK, 1.0f), *want = blank(run, 2 * n),
              *got = blank(run, 2 * n);
        kernel_case(run, "upsample, width %d", w);
        ref->upsample2(in, want, want + n, w);
        mine->upsample2(in, got, got + n, w);
        kernel_compare_f32(run, want, got, 2 * n, KERNEL_F32_EXACT);
        kernel_end(run);
        int32_t left[128], right[128], out = (int32_t)kernel_range(run, 1, 128);
        float weight[128];
        for (int32_t x = 0; x < out; x++) {
            left[x] = (int32_t)kernel_range(run, 0, w - 1);
            right[x] = (int32_t)kernel_range(run, 0, w - 1);
            kernel_fill_f32(run, &weight[x], 1, 0.0f, 1.0f);
        }
        sk_bilinear_f32c16 p = {.top = filled(run, (size_t)w * SK_BLOCK, 1.0f),
                                .bottom = filled(run, (size_t)w * SK_BLOCK, 1.0f),
                                .weight_bottom = 0.3f,
                                .left = left,
                                .right = right,
                                .weight_right = weight,
                                .width = out};
        n = (size_t)out * SK_BLOCK;
        want = blank(run, n);
        got = blank(run, n);
        kernel_case(run, "bilinear, %d -> %d", w, out);
        p.out = want;
        ref->bilinear(&p);
        p.out = got;
        mine->bilinear(&p);
        kernel_compare_f32(run, want, got, n, KERNEL_F32);
        kernel_end(run);
    }
}

static void check_reorder(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        int32_t w = (int32_t)kernel_length(run, i, 90), channels = (int32_t)kernel_range(run, 1, 16);
        ptrdiff_t stride = w + kernel_range(run, 0, 7);
        size_t plain = (size_t)(stride * (channels - 1) + w), blocked = (size_t)w * SK_BLOCK;
        float *x = filled(run, plain, 1.0f), *want = blank(run, blocked), *got = blank(run, blocked);
        float *back = blank(run, plain), *back_ref = blank(run, plain);
        kernel_case(run, "width %d, %d channels %d apart", w, channels, (int)stride);
        ref->to_blocked(x, stride, channels, want, w);
        mine->to_blocked(x, stride, channels, got, w);
        kernel_compare_f32(run, want, got, blocked, KERNEL_F32_EXACT);
        ref->from_blocked(want, back_ref, stride, channels, w);
        mine->from_blocked(want, back, stride, channels, w);
        kernel_compare_f32(run, back_ref, back, plain, KERNEL_F32_EXACT);
        kernel_end(run);
    }
}

static void check_softmax(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        size_t n = (size_t)kernel_length(run, i, 900);
        float *x = filled(run, n, 20.0f), *want = blank(run, n), *got = blank(run, n);
        kernel_case(run, "n %zu", n);
        ref->softmax(x, want, n);
        mine->softmax(x, got, n);
        kernel_compare_f32(run, want, got, n, loose);
        kernel_end(run);
        int32_t blocks = (int32_t)kernel_range(run, 1, 6), last = (int32_t)kernel_range(run, 1, 16);
        int32_t pixels = (int32_t)kernel_range(run, 1, 9);
        n = (size_t)blocks * (size_t)pixels * SK_BLOCK;
        want = filled(run, n, 10.0f);
        got = blank(run, n);
        memcpy(got, want, n * sizeof *got);
        kernel_case(run, "%d blocks, %d in the last, %d pixels", blocks, last, pixels);
        ref->softmax_blocked(want, (ptrdiff_t)pixels * SK_BLOCK, blocks, last, pixels, 0.7f);
        mine->softmax_blocked(got, (ptrdiff_t)pixels * SK_BLOCK, blocks, last, pixels, 0.7f);
        kernel_compare_f32(run, want, got, n, loose);
        kernel_end(run);
    }
}

static void check_gemm(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        int32_t m = (int32_t)kernel_range(run, 1, 30), k = (int32_t)kernel_range(run, 1, 40);
        int32_t n = (int32_t)kernel_length(run, i, 120);
        int flip = (int)kernel_range(run, 0, 1);
        sk_gemm_f32 p = {
            .m = m, .n = n, .k = k, .a_row = flip ? 1 : k, .a_col = flip ? m : 1, .b_row = n, .c_row = n};
        p.a = filled(run, (size_t)m * (size_t)k, 1.0f);
        p.b = filled(run, (size_t)k * (size_t)n, 1.0f);
        p.bias = kernel_range(run, 0, 1) ? filled(run, (size_t)n, 1.0f) : NULL;
        float *want = blank(run, (size_t)m * (size_t)n), *got = blank(run, (size_t)m * (size_t)n);
        kernel_case(run, "%dx%dx%d, a %s", m, n, k, flip ? "transposed" : "straight");
        p.c = want;
        ref->gemm(&p, 0, m);
        p.c = got;
        mine->gemm(&p, 0, m / 3);
        mine->gemm(&p, m / 3, m);
        kernel_compare_f32(run, want, got, (size_t)m * (size_t)n, loose);
        kernel_end(run);
    }
    sk_gemm_f32 p = {.m = 400, .n = 400, .k = 32, .a_row = 32, .a_col = 1, .b_row = 400, .c_row = 400};
    p.a = filled(run, 400 * 32, 1.0f);
    p.b = filled(run, 400 * 32, 1.0f);
    p.c = blank(run, 400 * 400);
    KERNEL_BENCH(run, "400x400x32", 2.0 * 400 * 400 * 32, 4.0 * 400 * 464)
    mine->gemm(&p, 0, 400);
    kernel_end(run);
}

static void check_layer_norm(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        size_t n = (size_t)kernel_length(run, i, 900);
        float *x = filled(run, n, 3.0f), *scale = i % 3 ? filled(run, n, 1.0f) : NULL;
        float *shift = i % 2 ? filled(run, n, 1.0f) : NULL, *want = blank(run, n), *got = blank(run, n);
        kernel_case(run, "n %zu", n);
        ref->layer_norm(x, want, n, scale, shift, 1e-5f);
        mine->layer_norm(x, got, n, scale, shift, 1e-5f);
        kernel_compare_f32(run, want, got, n, loose);
        kernel_end(run);
    }
}

void check_maps(kernel_run *run)
{
    sk_kernels_f32 ref, mine;
    sk_kernels_f32_fill(&ref, 0);
    sk_kernels_f32_fill(&mine, run->flags);
    if (kernel_variant(run, "f32c16 max pool", (kernel_fn)mine.max_pool))
        check_pool(run, ref.max_pool, mine.max_pool);
    if (kernel_variant(run, "f32c16 average pool", (kernel_fn)mine.avg_pool))
        check_pool(run, ref.avg_pool, mine.avg_pool);
    if (kernel_variant(run, "bf16c16 halve", (kernel_fn)mine.halve_bf16))
        check_halve_bf16(run, &ref, &mine);
    if (kernel_variant(run, "f32 unary", (kernel_fn)mine.unary))
        check_unary(run, &ref, &mine);
    check_sigmoid_near_one(run, &ref, &mine);
    if (kernel_variant(run, "f32 binary", (kernel_fn)mine.binary))
        check_binary(run, &ref, &mine);
    if (kernel_variant(run, "f32c16 resize", (kernel_fn)mine.upsample2))
        check_resize(run, &ref, &mine);
    if (kernel_variant(run, "f32c16 reorder", (kernel_fn)mine.to_blocked))
        check_reorder(run, &ref, &mine);
    if (kernel_variant(run, "f32 softmax", (kernel_fn)mine.softmax))
        check_softmax(run, &ref, &mine);
    if (kernel_variant(run, "f32 gemm", (kernel_fn)mine.gemm))
        check_gemm(run, &ref, &mine);
    if (kernel_variant(run, "f32 layer norm", (kernel_fn)mine.layer_norm))
        check_layer_norm(run, &ref, &mine);
}
