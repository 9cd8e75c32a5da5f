/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include "graph/graph.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void check_maps_f32(kernel_run *run);

/* Everything on maps and rows that is not a convolution. */

typedef struct tables {
    sk_kernels_f32 ref, mine;
} tables;

static float *floats(kernel_run *run, size_t count, size_t alignment, float low, float high)
{
    float *values = kernel_buffer(run, 4 * count, alignment);
    kernel_fill_f32(run, values, count, low, high);
    return values;
}

static void check_pool(kernel_run *run, const char *name, sk_pool_f32c16_fn ref, sk_pool_f32c16_fn mine)
{
    if (!kernel_variant(run, name, (kernel_fn)mine))
        return;
    for (int i = 0; i < 150; i++) {
        sk_pool_f32c16 p = {.in_h = (int32_t)kernel_range(run, 1, 9),
                            .in_w = (int32_t)kernel_range(run, 1, 20),
                            .kernel_h = (int32_t)kernel_range(run, 1, 5),
                            .kernel_w = (int32_t)kernel_range(run, 1, 5),
                            .stride_h = (int32_t)kernel_range(run, 1, 3),
                            .stride_w = (int32_t)kernel_range(run, 1, 3),
                            .dilation_h = (int32_t)kernel_range(run, 1, 2),
                            .dilation_w = (int32_t)kernel_range(run, 1, 2),
                            .count_pad = (int32_t)kernel_range(run, 0, 1)};
        p.pad_top = (int32_t)kernel_range(run, 0, p.kernel_h / 2);
        p.pad_bottom = (int32_t)kernel_range(run, 0, p.kernel_h / 2);
        p.pad_left = (int32_t)kernel_range(run, 0, p.kernel_w / 2);
        p.pad_right = (int32_t)kernel_range(run, 0, p.kernel_w / 2);
        int32_t h = p.in_h + p.pad_top + p.pad_bottom - (p.kernel_h - 1) * p.dilation_h - 1;
        int32_t w = p.in_w + p.pad_left + p.pad_right - (p.kernel_w - 1) * p.dilation_w - 1;
        if (h < 0 || w < 0)
            continue;
        p.out_h = h / p.stride_h + 1;
        p.out_w = w / p.stride_w + 1;
        p.in_row = (ptrdiff_t)p.in_w * SK_BLOCK;
        p.out_row = (ptrdiff_t)p.out_w * SK_BLOCK;
        float *in = floats(run, (size_t)p.in_row * (size_t)p.in_h, 64, -2, 2);
        kernel_freeze(run, in);
        p.in = in;
        size_t count = (size_t)p.out_row * (size_t)p.out_h;
        float *want = floats(run, count, 64, 0, 0), *got = floats(run, count, 64, 0, 0);
        kernel_case(run, "%dx%d of %dx%d/%dx%d pads %d %d %d %d", p.in_h, p.in_w, p.kernel_h, p.kernel_w,
                    p.stride_h, p.stride_w, p.pad_top, p.pad_left, p.pad_bottom, p.pad_right);
        p.out = want;
        ref(&p, 0, p.out_h);
        p.out = got;
        int32_t cut = (int32_t)kernel_range(run, 0, p.out_h);
        mine(&p, 0, cut);
        mine(&p, cut, p.out_h);
        kernel_compare_f32(run, want, got, count, KERNEL_F32);
        kernel_end(run);
    }
}

/* Activations are approximations: how far each may be off, in units of max(1, |value|). */
static void check_unary(kernel_run *run, const tables *t)
{
    if (!kernel_variant(run, "unary_f32", (kernel_fn)t->mine.unary))
        return;
    for (int32_t kind = 0; kind < SK_UNARY_COUNT; kind++) {
        if (!sk_act_f32_known(kind))
            continue;
        for (int i = 0; i < 80; i++) {
            size_t n = (size_t)kernel_length(run, i, 3000);
            float reach = i % 3 == 0 ? 80.0f : 6.0f; /* overflow of the exponential is not in the contract */
            sk_act_f32 act = {.kind = kind, .alpha = 0.2f, .beta = 0.5f};
            if (kind == SK_UNARY_EXP)
                reach = 5;
            float *x = floats(run, n, 4, -reach, reach);
            if (n > 4)
                x[0] = 0, x[1] = -0.0f, x[2] = -100, x[3] = kind == SK_UNARY_EXP ? 1 : 100;
            float *want = floats(run, n, 4, 0, 0), *got = floats(run, n, 4, 0, 0);
            kernel_case(run, "kind %d n %zu", (int)kind, n);
            t->ref.unary(x, want, n, &act);
            t->mine.unary(x, got, n, &act);
            kernel_compare_f32(run, want, got, n, (kernel_limits){2e-6, 1e-11});
            t->mine.unary(x, x, n, &act); /* in place */
            kernel_compare_f32(run, got, x, n, KERNEL_F32_EXACT);
            kernel_end(run);
        }
    }
    float *x = floats(run, 4096, 64, -4, 4), *y = floats(run, 4096, 64, 0, 0);
    sk_act_f32 silu = {.kind = SK_UNARY_SILU};
    KERNEL_BENCH(run, "silu n 4096", 0, 8.0 * 4096) t->mine.unary(x, y, 4096, &silu);
    kernel_end(run);
}

static void check_binary(kernel_run *run, const tables *t)
{
    static const int32_t kinds[] = {SK_BINARY_ADD, SK_BINARY_SUB, SK_BINARY_MUL,
                                    SK_BINARY_DIV, SK_BINARY_MIN, SK_BINARY_MAX};
    if (kernel_variant(run, "binary_f32", (kernel_fn)t->mine.binary)) {
        for (int i = 0; i < 300; i++) {
            size_t n = (size_t)kernel_length(run, i / 6, 2000);
            float *a = floats(run, n, 4, -3, 3), *b = floats(run, n, 4, 0.5f, 3);
            float *want = floats(run, n, 4, 0, 0), *got = floats(run, n, 4, 0, 0);
            kernel_case(run, "kind %d n %zu", (int)kinds[i % 6], n);
            t->ref.binary(kinds[i % 6], a, b, want, n);
            t->mine.binary(kinds[i % 6], a, b, got, n);
            kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
            kernel_end(run);
        }
    }
    if (kernel_variant(run, "binary16_f32", (kernel_fn)t->mine.binary16)) {
        for (int i = 0; i < 120; i++) {
            size_t n = SK_BLOCK * (size_t)kernel_length(run, i / 6, 40);
            int32_t flip = (int32_t)kernel_range(run, 0, 1);
            float *a = floats(run, n, 64, 0.5f, 3), *b = floats(run, SK_BLOCK, 64, 0.5f, 3);
            float *want = floats(run, n, 64, 0, 0), *got = floats(run, n, 64, 0, 0);
            kernel_case(run, "kind %d n %zu flip %d", (int)kinds[i % 6], n, (int)flip);
            t->ref.binary16(kinds[i % 6], a, b, want, n, flip);
            t->mine.binary16(kinds[i % 6], a, b, got, n, flip);
            kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
            kernel_end(run);
        }
    }
}

static void check_resize(kernel_run *run, const tables *t)
{
    if (kernel_variant(run, "upsample2_f32c16", (kernel_fn)t->mine.upsample2)) {
        for (int32_t w = 1; w < 40; w++) {
            size_t n = (size_t)w * SK_BLOCK;
            float *x = floats(run, n, 64, -1, 1), *want = floats(run, 4 * n, 64, 0, 0),
                  *got = floats(run, 4 * n, 64, 0, 0);
            kernel_case(run, "width %d", (int)w);
            t->ref.upsample2(x, want, want + 2 * n, w);
            t->mine.upsample2(x, got, got + 2 * n, w);
            kernel_compare_f32(run, want, got, 4 * n, KERNEL_F32_EXACT);
            kernel_end(run);
        }
    }
    if (!kernel_variant(run, "bilinear_f32c16", (kernel_fn)t->mine.bilinear))
        return;
    for (int i = 0; i < 60; i++) {
        int32_t in_w = (int32_t)kernel_range(run, 1, 20), w = (int32_t)kernel_length(run, i, 60);
        int32_t *left = kernel_buffer(run, 4 * (size_t)w, 4), *right = kernel_buffer(run, 4 * (size_t)w, 4);
        sk_bilinear_f32c16 p = {.top = floats(run, (size_t)in_w * SK_BLOCK, 64, -1, 1),
                                .bottom = floats(run, (size_t)in_w * SK_BLOCK, 64, -1, 1),
                                .weight_bottom = (float)kernel_range(run, 0, 16) / 16,
                                .left = left,
                                .right = right,
                                .weight_right = floats(run, (size_t)w, 4, 0, 1),
                                .width = w};
        for (int32_t x = 0; x < w; x++) {
            left[x] = (int32_t)kernel_range(run, 0, in_w - 1);
            right[x] = (int32_t)kernel_range(run, 0, in_w - 1);
        }
        size_t n = (size_t)w * SK_BLOCK;
        float *want = floats(run, n, 64, 0, 0), *got = floats(run, n, 64, 0, 0);
        kernel_case(run, "%d to %d", (int)in_w, (int)w);
        p.out = want;
        t->ref.bilinear(&p);
        p.out = got;
        t->mine.bilinear(&p);
        kernel_compare_f32(run, want, got, n, KERNEL_F32);
        kernel_end(run);
    }
}

static void check_blocked(kernel_run *run, const tables *t)
{
    bool to = kernel_variant(run, "to_blocked_f32", (kernel_fn)t->mine.to_blocked);
    for (int i = 0; to && i < 120; i++) {
        int32_t w = (int32_t)kernel_length(run, i, 200), channels = (int32_t)kernel_range(run, 1, SK_BLOCK);
        ptrdiff_t stride = w + (ptrdiff_t)kernel_range(run, 0, 5);
        size_t in = (size_t)(stride * (channels - 1) + w), n = (size_t)w * SK_BLOCK;
        float *x = floats(run, in, 4, -1, 1), *want = floats(run, n, 64, 9, 9),
              *got = floats(run, n, 64, 9, 9);
        kernel_case(run, "%d channels of %d", (int)channels, (int)w);
        t->ref.to_blocked(x, stride, channels, want, w);
        t->mine.to_blocked(x, stride, channels, got, w);
        kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
        kernel_end(run);
    }
    bool from = kernel_variant(run, "from_blocked_f32", (kernel_fn)t->mine.from_blocked);
    for (int i = 0; from && i < 120; i++) {
        int32_t w = (int32_t)kernel_length(run, i, 200), channels = (int32_t)kernel_range(run, 1, SK_BLOCK);
        ptrdiff_t stride = w + (ptrdiff_t)kernel_range(run, 0, 5);
        size_t out = (size_t)(stride * (channels - 1) + w);
        float *x = floats(run, (size_t)w * SK_BLOCK, 64, -1, 1);
        float *want = floats(run, out, 4, 9, 9), *got = floats(run, out, 4, 9, 9);
        kernel_case(run, "%d channels of %d", (int)channels, (int)w);
        t->ref.from_blocked(x, want, stride, channels, w);
        t->mine.from_blocked(x, got, stride, channels, w);
        kernel_compare_f32(run, want, got, out, KERNEL_F32_EXACT);
        kernel_end(run);
    }
}

static void check_softmax(kernel_run *run, const tables *t)
{
    const kernel_limits limits = {2e-6, 1e-10};
    bool plain = kernel_variant(run, "softmax_f32", (kernel_fn)t->mine.softmax);
    for (int i = 0; plain && i < 120; i++) {
        size_t n = (size_t)kernel_length(run, i, 2000);
        float *x = floats(run, n, 4, -20, 20), *want = floats(run, n, 4, 0, 0),
              *got = floats(run, n, 4, 0, 0);
        kernel_case(run, "n %zu", n);
        t->ref.softmax(x, want, n);
        t->mine.softmax(x, got, n);
        kernel_compare_f32(run, want, got, n, limits);
        t->mine.softmax(x, x, n);
        kernel_compare_f32(run, got, x, n, KERNEL_F32_EXACT);
        kernel_end(run);
    }
    bool blocked = kernel_variant(run, "softmax_f32c16", (kernel_fn)t->mine.softmax_blocked);
    for (int i = 0; blocked && i < 100; i++) {
        int32_t blocks = (int32_t)kernel_range(run, 1, 5), last = (int32_t)kernel_range(run, 1, SK_BLOCK);
        int32_t pixels = (int32_t)kernel_range(run, 1, 9);
        size_t n = (size_t)(blocks * pixels) * SK_BLOCK;
        float *want = floats(run, n, 64, -5, 5), *got = kernel_buffer(run, 4 * n, 64);
        memcpy(got, want, 4 * n);
        kernel_case(run, "%d blocks, last %d, %d pixels", (int)blocks, (int)last, (int)pixels);
        t->ref.softmax_blocked(want, (ptrdiff_t)pixels * SK_BLOCK, blocks, last, pixels, 0.25f);
        t->mine.softmax_blocked(got, (ptrdiff_t)pixels * SK_BLOCK, blocks, last, pixels, 0.25f);
        kernel_compare_f32(run, want, got, n, limits);
        kernel_end(run);
    }
}

static void check_gemm(kernel_run *run, const tables *t)
{
    if (!kernel_variant(run, "gemm_f32", (kernel_fn)t->mine.gemm))
        return;
    for (int i = 0; i < 200; i++) {
        int32_t m = (int32_t)kernel_range(run, 1, 20), n = (int32_t)kernel_range(run, 1, 80),
                k = (int32_t)kernel_range(run, 1, 70);
        int32_t is_transposed = (int32_t)kernel_range(run, 0, 1);
        sk_gemm_f32 p = {.a = floats(run, (size_t)(m * k), 4, -1, 1),
                         .a_row = is_transposed ? 1 : k,
                         .a_col = is_transposed ? m : 1,
                         .b = floats(run, (size_t)(k * n), 4, -1, 1),
                         .b_row = n,
                         .c_row = n,
                         .m = m,
                         .n = n,
                         .k = k,
                         .bias = kernel_range(run, 0, 1) ? floats(run, (size_t)n, 4, -1, 1) : NULL};
        float *want = floats(run, (size_t)(m * n), 4, 0, 0), *got = floats(run, (size_t)(m * n), 4, 0, 0);
        kernel_case(run, "%dx%dx%d%s", (int)m, (int)n, (int)k, is_transposed ? " transposed" : "");
        p.c = want;
        t->ref.gemm(&p, 0, m);
        p.c = got;
        int32_t cut = (int32_t)kernel_range(run, 0, m);
        t->mine.gemm(&p, 0, cut);
        t->mine.gemm(&p, cut, m);
        kernel_compare_f32(run, want, got, (size_t)(m * n), (kernel_limits){1e-5, 1e-11});
        kernel_end(run);
    }
    sk_gemm_f32 p = {.a_row = 256, .a_col = 1, .b_row = 256, .c_row = 256, .m = 64, .n = 256, .k = 256};
    p.a = floats(run, 64 * 256, 64, -1, 1);
    p.b = floats(run, 256 * 256, 64, -1, 1);
    p.c = floats(run, 64 * 256, 64, 0, 0);
    KERNEL_BENCH(run, "64x256x256", 2.0 * 64 * 256 * 256, 0) t->mine.gemm(&p, 0, 64);
    kernel_end(run);
}

static void check_layer_norm(kernel_run *run, const tables *t)
{
    if (!kernel_variant(run, "layer_norm_f32", (kernel_fn)t->mine.layer_norm))
        return;
    for (int i = 0; i < 120; i++) {
        size_t n = (size_t)kernel_length(run, i, 1500);
        float *x = floats(run, n, 4, 9, 11), *want = floats(run, n, 4, 0, 0), *got = floats(run, n, 4, 0, 0);
        float *scale = kernel_range(run, 0, 1) ? floats(run, n, 4, 0.5f, 2) : NULL;
        float *shift = kernel_range(run, 0, 1) ? floats(run, n, 4, -1, 1) : NULL;
        kernel_case(run, "n %zu%s%s", n, scale ? " scale" : "", shift ? " shift" : "");
        t->ref.layer_norm(x, want, n, scale, shift, 1e-5f);
        t->mine.layer_norm(x, got, n, scale, shift, 1e-5f);
        /* the mean rounds to f32 in one and not in the other: 10 * 2^-24 * gain */
        kernel_compare_f32(run, want, got, n, (kernel_limits){5e-4, 1e-7});
        kernel_end(run);
    }
}

void check_maps_f32(kernel_run *run)
{
    tables t;
    sk_kernels_f32_fill(&t.ref, 0);
    sk_kernels_f32_fill(&t.mine, run->flags);
    check_pool(run, "max_pool_f32c16", t.ref.max_pool, t.mine.max_pool);
    check_pool(run, "avg_pool_f32c16", t.ref.avg_pool, t.mine.avg_pool);
    check_unary(run, &t);
    check_binary(run, &t);
    check_resize(run, &t);
    check_blocked(run, &t);
    check_softmax(run, &t);
    check_gemm(run, &t);
    check_layer_norm(run, &t);
}
