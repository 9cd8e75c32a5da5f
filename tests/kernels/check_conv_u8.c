/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"

#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 8-bit kernels at every level against plain C: the same bytes. */

void check_conv_u8(kernel_run *run);

static const int32_t acts[] = {0,
                               SK_UNARY_SILU,
                               SK_UNARY_SILU,
                               SK_UNARY_RELU,
                               SK_UNARY_RELU6,
                               SK_UNARY_GELU,
                               SK_UNARY_GELU_TANH,
                               SK_UNARY_HARD_SWISH};

typedef struct problem {
    sk_conv_u8c16 p;
    sk_act_i16 act;
    uint8_t fill[8];
    uint8_t *want, *got;
    size_t out_bytes;
    bool floats;
    bool only_sums, half; /* the sums are the result; a map at half the size is added to them */
    int32_t *sums;
} problem;

static int32_t groups_of(const sk_conv_u8c16 *p)
{
    return (p->out_blocks + p->width - 1) / p->width;
}

/* How sums become bytes; every seventh problem has hostile numbers, so that everything saturates. */
static void random_finish(kernel_run *run, problem *q, int32_t k)
{
    sk_conv_u8c16 *p = &q->p;
    const bool wild = kernel_range(run, 0, 6) == 0;
    const size_t outputs = (size_t)p->out_blocks * SK_BLOCK;
    int32_t *sums = kernel_buffer(run, outputs * sizeof *sums, 4);
    q->sums = sums;
    float *scale = kernel_buffer(run, outputs * sizeof *scale, 4),
          *bias = kernel_buffer(run, outputs * sizeof *bias, 4);
    const float typical = 2000.0f / (sqrtf((float)k) * 127.0f * 128.0f);
    for (size_t i = 0; i < outputs; i++)
        sums[i] = (int32_t)kernel_range(run, -127 * k, 127 * k);
    kernel_fill_f32(run, scale, outputs, 0.2f * typical, wild ? 1.0f : typical);
    kernel_fill_f32(run, bias, outputs, wild ? -1e8f : -3000.0f, wild ? 1e8f : 3000.0f);
    p->sums = sums;
    p->scale = scale;
    p->bias = bias;
    static const int32_t zeros[] = {0, 255, 128, 7};
    p->in_zero = zeros[kernel_range(run, 0, 3)];
    p->finish = (sk_finish_u8){.act = &q->act,
                               .shift = (int32_t)kernel_range(run, 0, 5),
                               .zero = zeros[kernel_range(run, 0, 3)],
                               .residual_zero = zeros[kernel_range(run, 0, 3)],
                               .residual_first = (int32_t)kernel_range(run, 0, 1),
                               .residual_gain = (int16_t)kernel_range(run, 0, wild ? 32767 : 9000)};
    const double unit = wild ? 1.0 / (double)kernel_range(run, 1, 60000) : 0.002;
    if (!sk_act_i16_make(&q->act, acts[kernel_range(run, 0, 7)], unit))
        sk_act_i16_make(&q->act, 0, unit);
}

/* Of the last block only some outputs are used. */
static void few_outputs(problem *q, int8_t *weights, float *scale, float *bias)
{
    const sk_conv_u8c16 *p = &q->p;
    int8_t *at = weights;
    for (int32_t block = 0; block < p->out_blocks; block += p->width) {
        const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        for (int32_t b = 0; b < p->in_blocks; b++)
            for (int32_t k = 0; k < p->kernel_h * p->kernel_w * ((q->fill[b] + 3) / 4); k++)
                for (int32_t o = 0; o < width * SK_BLOCK * 4; o++, at++)
                    if (block * SK_BLOCK + o / 4 >= (p->out_blocks - 1) * SK_BLOCK + p->last_outputs)
                        *at = 0;
    }
    for (int32_t o = p->last_outputs; o < SK_BLOCK; o++)
        scale[(p->out_blocks - 1) * SK_BLOCK + o] = bias[(p->out_blocks - 1) * SK_BLOCK + o] = 0.0f;
}

/* What each output's weights add up to: some levels take more than the zero point off every byte. */
static void true_sums(problem *q)
{
    const sk_conv_u8c16 *p = &q->p;
    const int8_t *at = p->weights;
    memset(q->sums, 0, (size_t)p->out_blocks * SK_BLOCK * sizeof *q->sums);
    for (int32_t block = 0; block < p->out_blocks; block += p->width) {
        const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        for (int32_t b = 0; b < p->in_blocks; b++)
            for (int32_t k = 0; k < p->kernel_h * p->kernel_w * ((q->fill[b] + 3) / 4); k++)
                for (int32_t o = 0; o < width * SK_BLOCK * 4; o++)
                    q->sums[block * SK_BLOCK + o / 4] += *at++;
    }
}

/* What is added to sums; nothing to those of outputs that are not used. */
static void random_half(kernel_run *run, problem *q)
{
    sk_conv_u8c16 *p = &q->p;
    p->half_row = (ptrdiff_t)(p->out_w + 1) / 2 * SK_BLOCK;
    p->half_plane = p->half_row * ((p->out_h + 1) / 2);
    const size_t count = (size_t)p->half_plane * (size_t)p->out_blocks;
    const int32_t most = kernel_range(run, 0, 3) ? 1 << 20 : 1 << 29;
    int32_t *half = kernel_buffer(run, count * sizeof *half, 4);
    for (size_t i = 0; i < count; i++) {
        const bool last = i / (size_t)p->half_plane == (size_t)p->out_blocks - 1;
        half[i] = last && p->last_outputs && (int32_t)(i % SK_BLOCK) >= p->last_outputs
                      ? 0
                      : (int32_t)kernel_range(run, -most, most);
    }
    p->half_sums = half;
}

/* Where results go, and what is added to them. */
static void out_buffers(kernel_run *run, problem *q, int depthwise)
{
    sk_conv_u8c16 *p = &q->p;
    q->floats = !q->only_sums && kernel_range(run, 0, 4) == 0;
    const size_t size = q->floats || q->only_sums ? 4 : 1;
    p->out_pixel = depthwise ? SK_BLOCK : SK_BLOCK * kernel_range(run, 1, 2);
    p->out_row = p->out_pixel * p->out_w;
    p->out_plane = p->out_row * p->out_h;
    q->out_bytes = (size_t)p->out_plane * (size_t)p->out_blocks * size;
    q->want = kernel_buffer(run, q->out_bytes, size);
    q->got = kernel_buffer(run, q->out_bytes, size);
    memset(q->want, 0, q->out_bytes);
    memset(q->got, 0, q->out_bytes);
    if (q->half)
        random_half(run, q);
    if (!q->floats && !q->only_sums && kernel_range(run, 0, 1)) {
        p->residual_row = (ptrdiff_t)p->out_w * SK_BLOCK;
        p->residual_plane = p->residual_row * p->out_h;
        const size_t bytes = (size_t)p->residual_plane * (size_t)p->out_blocks;
        uint8_t *residual = kernel_buffer(run, bytes, 1);
        kernel_fill_bytes(run, residual, bytes);
        p->residual = residual;
    }
}

static void make_buffers(kernel_run *run, problem *q, int depthwise)
{
    sk_conv_u8c16 *p = &q->p;
    const size_t rows = (size_t)((p->out_h - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1);
    const size_t columns = (size_t)((p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1);
    int32_t groups4 = 0, k = 0;
    for (int32_t i = 0; i < p->in_blocks; i++) {
        groups4 += (q->fill[i] + 3) / 4;
        k += q->fill[i];
    }
    const int32_t taps = p->kernel_h * p->kernel_w;
    k *= taps;
    p->in_row = (ptrdiff_t)columns * p->in_pixel + (p->in_pixel == SK_BLOCK ? 0 : 16);
    p->in_plane = (ptrdiff_t)rows * p->in_row;
    const size_t in_bytes = (size_t)p->in_plane * (size_t)p->in_blocks;
    uint8_t *in = kernel_buffer(run, in_bytes, 1);
    kernel_fill_bytes(run, in, in_bytes);
    if (kernel_range(run, 0, 5) == 0)
        memset(in, 255, in_bytes); /* the largest sums there are */
    p->in = in;
    p->fill = q->fill;
    if (depthwise) {
        const size_t count = (size_t)p->in_blocks * (size_t)taps * SK_BLOCK;
        int32_t *w = kernel_buffer(run, count * sizeof *w, 4);
        for (size_t i = 0; i < count; i++)
            w[i] = (int32_t)kernel_range(run, -128, 127);
        p->weights = (const int8_t *)w;
    } else {
        const size_t count = (size_t)groups4 * (size_t)taps * (size_t)p->out_blocks * SK_BLOCK * 4;
        int8_t *w = kernel_buffer(run, count, 1);
        kernel_fill_bytes(run, w, count);
        if (kernel_range(run, 0, 5) == 0)
            memset(w, 127, count);
        p->weights = w;
        p->group_weights = (ptrdiff_t)groups4 * taps * p->width * SK_BLOCK * 4;
        /* channels above the fill have no weight */
        int8_t *at = w;
        for (int32_t block = 0; block < p->out_blocks; block += p->width) {
            const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
            for (int32_t b = 0; b < p->in_blocks; b++)
                for (int32_t t = 0; t < taps; t++)
                    for (int32_t c = 0; c < (q->fill[b] + 3) / 4 * 4; c += 4)
                        for (int32_t o = 0; o < width * SK_BLOCK * 4; o++, at++)
                            if (c + o % 4 >= q->fill[b])
                                *at = 0;
        }
    }
    random_finish(run, q, k);
    if (!depthwise && kernel_range(run, 0, 1)) {
        p->last_outputs = (int32_t)kernel_range(run, 1, kernel_range(run, 0, 1) ? 8 : 16);
        few_outputs(q, (int8_t *)(uintptr_t)p->weights, (float *)(uintptr_t)p->scale,
                    (float *)(uintptr_t)p->bias);
    }
    if (!depthwise)
        true_sums(q);
    out_buffers(run, q, depthwise);
    kernel_case(run,
                "blocks %d fill %d, %dx%d stride %d dilation %d pixel %d, out %d blocks (last %d) %dx%d, "
                "width %d tile %d%s%s%s%s",
                p->in_blocks, q->fill[0], p->kernel_h, p->kernel_w, p->stride_w, p->dilation_w,
                (int)p->in_pixel, p->out_blocks, p->last_outputs, p->out_h, p->out_w, p->width, p->tile,
                p->residual ? ", residual" : "", q->floats ? ", floats" : "", q->only_sums ? ", sums" : "",
                q->half ? ", half" : "");
}

static void to(problem *q, uint8_t *out)
{
    q->p.out = q->floats || q->only_sums ? NULL : out;
    q->p.out_f32 = q->floats ? (float *)(void *)out : NULL;
    q->p.out_sums = q->only_sums ? (int32_t *)(void *)out : NULL;
}

static void random_blocks(kernel_run *run, problem *q)
{
    q->p.in_blocks = (int32_t)kernel_range(run, 1, 4);
    q->p.out_blocks = (int32_t)kernel_range(run, 1, 5);
    for (int i = 0; i < 8; i++)
        q->fill[i] = (uint8_t)(kernel_range(run, 0, 1) ? 16 : kernel_range(run, 1, 16));
}

static void check_direct(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    for (int i = 0; i < 330; i++) {
        problem q = {.p = {.dilation_h = 1, .dilation_w = 1, .in_pixel = SK_BLOCK}};
        sk_conv_u8c16 *p = &q.p;
        q.only_sums = kernel_range(run, 0, 3) == 0;
        q.half = kernel_range(run, 0, 2) == 0;
        p->kernel_h = (int32_t)kernel_range(run, 1, 3);
        p->kernel_w = (int32_t)kernel_range(run, 1, 3);
        p->stride_h = (int32_t)kernel_range(run, 1, 2);
        p->stride_w = (int32_t)kernel_range(run, 1, 3);
        p->dilation_h = p->dilation_w = (int32_t)kernel_range(run, 1, 2);
        p->out_h = (int32_t)kernel_range(run, 1, 3);
        p->out_w = (int32_t)kernel_length(run, i, 150);
        random_blocks(run, &q);
        if (i % 5 == 0) { /* a picture's row */
            p->in_blocks = 1;
            p->kernel_w = p->dilation_w = 1;
            p->in_pixel = 3;
            q.fill[0] = (uint8_t)kernel_range(run, 1, 15);
        }
        int32_t width;
        do
            width = (int32_t)kernel_range(run, 1, 4);
        while (mine->conv_tile[width] == 0);
        p->width = width;
        p->tile = (int32_t)kernel_range(run, 1, mine->conv_tile[width]);
        p->groups_outer = (int32_t)kernel_range(run, 0, 1);
        make_buffers(run, &q, 0);
        int32_t g = groups_of(p), cut = (int32_t)kernel_range(run, 0, g),
                row = (int32_t)kernel_range(run, 0, p->out_h);
        to(&q, q.want);
        ref->conv(p, 0, g, 0, p->out_h);
        to(&q, q.got); /* in four pieces, as threads do */
        mine->conv(p, 0, cut, 0, row);
        mine->conv(p, cut, g, 0, row);
        mine->conv(p, 0, cut, row, p->out_h);
        mine->conv(p, cut, g, row, p->out_h);
        kernel_compare_bytes(run, q.want, q.got, q.out_bytes);
        kernel_end(run);
    }
}

/* The same weights as words at 36 points. */
static void winograd_weights(kernel_run *run, problem *q)
{
    sk_conv_u8c16 *p = &q->p;
    int32_t pairs = 0;
    for (int32_t b = 0; b < p->in_blocks; b++)
        pairs += (q->fill[b] + 1) / 2;
    const size_t point = (size_t)pairs * (size_t)p->out_blocks * SK_BLOCK * 2;
    int16_t *to = kernel_buffer(run, 36 * point * sizeof *to, 2);
    memset(to, 0, 36 * point * sizeof *to);
    for (int32_t block = 0; block < p->out_blocks; block += p->width) {
        const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        const int32_t four = width * SK_BLOCK * 4; /* weights of four channels */
        const int8_t *from = p->weights + block / p->width * p->group_weights;
        int16_t *at = to + (size_t)block * (size_t)pairs * SK_BLOCK * 2;
        for (int32_t b = 0; b < p->in_blocks; b++) {
            const int32_t fours = (q->fill[b] + 3) / 4;
            for (int32_t c = 0; c < q->fill[b]; c++)
                for (int32_t o = 0; o < width * SK_BLOCK; o++) {
                    int8_t taps[9];
                    int16_t points[36];
                    for (int32_t t = 0; t < 9; t++)
                        taps[t] = from[(t * fours + c / 4) * four + o * 4 + c % 4];
                    sk_winograd_u8_weights(taps, points);
                    for (int32_t k = 0; k < 36; k++)
                        at[(size_t)k * point + (size_t)((c / 2 * width * SK_BLOCK + o) * 2 + c % 2)] =
                            points[k];
                }
            from += 9 * fours * four;
            at += (q->fill[b] + 1) / 2 * width * SK_BLOCK * 2;
        }
    }
    p->weights = (const int8_t *)(const void *)to;
    p->point_weights = (ptrdiff_t)(point * sizeof *to);
    p->group_weights = (ptrdiff_t)pairs * p->width * SK_BLOCK * 4;
}

static problem winograd_problem(kernel_run *run, const sk_kernels_u8 *mine, int32_t width)
{
    problem q = {.p = {.dilation_h = 1, .dilation_w = 1, .in_pixel = SK_BLOCK}};
    q.p.kernel_h = q.p.kernel_w = 3;
    q.p.stride_h = q.p.stride_w = 1;
    q.p.width = width;
    q.p.tile = (int32_t)kernel_range(run, 1, mine->conv_tile[width]);
    q.p.batch_tiles = 4 * (int32_t)kernel_range(run, 1, 7);
    return q;
}

static void check_winograd(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    for (int i = 0; i < 150; i++) {
        problem q = winograd_problem(run, mine, (int32_t)kernel_range(run, 1, 4));
        sk_conv_u8c16 *p = &q.p;
        p->out_h = (int32_t)kernel_range(run, 1, 9);
        p->out_w = (int32_t)kernel_length(run, i, 70);
        random_blocks(run, &q);
        make_buffers(run, &q, 0);
        if (q.floats || p->out_pixel != SK_BLOCK) { /* bytes side by side are all it makes */
            q.floats = false;
            q.out_bytes = (size_t)p->out_w * (size_t)p->out_h * (size_t)p->out_blocks * SK_BLOCK;
            p->out_pixel = SK_BLOCK;
            p->out_row = (ptrdiff_t)p->out_w * SK_BLOCK;
            p->out_plane = p->out_row * p->out_h;
            q.want = kernel_buffer(run, q.out_bytes, 1);
            q.got = kernel_buffer(run, q.out_bytes, 1);
        }
        const int32_t g = groups_of(p), cut = (int32_t)kernel_range(run, 0, g),
                      tiles = (p->out_w + 3) / 4 * ((p->out_h + 3) / 4),
                      at = (int32_t)kernel_range(run, 0, tiles);
        void *scratch =
            kernel_buffer(run, sk_winograd_u8_scratch(p->in_blocks, p->width, p->batch_tiles), 64);
        to(&q, q.want);
        ref->conv(p, 0, g, 0, p->out_h);
        winograd_weights(run, &q);
        to(&q, q.got);
        mine->winograd(p, 0, cut, 0, at, scratch);
        mine->winograd(p, 0, cut, at, tiles, scratch);
        mine->winograd(p, cut, g, 0, tiles, scratch);
        kernel_compare_bytes(run, q.want, q.got, q.out_bytes);
        kernel_end(run);
    }
}

static void bench_winograd(kernel_run *run, const sk_kernels_u8 *mine, int cin, int cout, int size)
{
    const int32_t blocks = (cout + SK_BLOCK - 1) / SK_BLOCK;
    problem q = winograd_problem(run, mine, blocks < 4 ? blocks : 4);
    q.p.tile = mine->conv_tile[q.p.width];
    q.p.batch_tiles = 24;
    q.p.in_blocks = (cin + SK_BLOCK - 1) / SK_BLOCK;
    q.p.out_blocks = blocks;
    q.p.out_h = q.p.out_w = size;
    memset(q.fill, 16, sizeof q.fill);
    q.fill[q.p.in_blocks - 1] = (uint8_t)(cin - (q.p.in_blocks - 1) * SK_BLOCK);
    make_buffers(run, &q, 0);
    winograd_weights(run, &q);
    q.floats = false;
    q.p.last_outputs = cout - (blocks - 1) * SK_BLOCK;
    q.p.out_pixel = SK_BLOCK;
    q.p.out_row = size * SK_BLOCK;
    q.p.residual = NULL;
    sk_act_i16_make(&q.act, SK_UNARY_SILU, 0.002);
    to(&q, q.got);
    void *scratch = kernel_buffer(run, sk_winograd_u8_scratch(q.p.in_blocks, q.p.width, q.p.batch_tiles), 64);
    char label[64];
    snprintf(label, sizeof label, "%d->%d 3x3 %dx%d, width %d", cin, cout, size, size, q.p.width);
    const int32_t tiles = (size + 3) / 4 * ((size + 3) / 4);
    KERNEL_BENCH(run, label, 18.0 * cin * cout * size * size, (double)q.out_bytes)
    mine->winograd(&q.p, 0, groups_of(&q.p), 0, tiles, scratch);
    kernel_end(run);
}

static void check_depthwise(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    for (int i = 0; i < 150; i++) {
        problem q = {.p = {.in_pixel = SK_BLOCK, .width = 1}};
        sk_conv_u8c16 *p = &q.p;
        p->kernel_h = p->kernel_w = (int32_t)(kernel_range(run, 0, 1) ? 3 : kernel_range(run, 1, 7));
        p->stride_h = p->stride_w = (int32_t)kernel_range(run, 1, 2);
        p->dilation_h = p->dilation_w = (int32_t)kernel_range(run, 1, 2);
        if (i % 2) { /* the usual one */
            p->kernel_h = p->kernel_w = 3;
            p->stride_h = p->stride_w = p->dilation_h = p->dilation_w = 1;
        }
        p->out_h = (int32_t)kernel_range(run, 1, 5);
        p->out_w = (int32_t)kernel_length(run, i, 150);
        random_blocks(run, &q);
        p->out_blocks = p->in_blocks;
        make_buffers(run, &q, 1);
        int32_t cut = (int32_t)kernel_range(run, 0, p->out_h);
        to(&q, q.want);
        ref->depthwise(p, 0, p->out_blocks, 0, p->out_h);
        to(&q, q.got);
        mine->depthwise(p, 0, p->out_blocks, 0, cut);
        mine->depthwise(p, 0, p->out_blocks, cut, p->out_h);
        kernel_compare_bytes(run, q.want, q.got, q.out_bytes);
        kernel_end(run);
    }
}

/* Every i16 there is. */
static void check_finish(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    for (int i = 0; i < 12; i++) {
        const size_t n = i < 11 ? 65536 : 65531;
        problem q = {.p = {.out_blocks = 1}};
        random_finish(run, &q, 100);
        int16_t *x = kernel_buffer(run, n * sizeof *x, 2);
        uint8_t *residual = i % 2 ? kernel_buffer(run, n, 1) : NULL;
        uint8_t *want = kernel_buffer(run, n, 1), *got = kernel_buffer(run, n, 1);
        for (size_t k = 0; k < n; k++)
            x[k] = (int16_t)(k - 32768);
        if (residual)
            kernel_fill_bytes(run, residual, n);
        kernel_case(run, "n %zu, relu %d, folded %d, shift %d", n, q.act.relu, q.act.folded,
                    q.p.finish.shift);
        ref->finish(&q.p.finish, x, residual, want, n);
        mine->finish(&q.p.finish, x, residual, got, n);
        kernel_compare_bytes(run, want, got, n);
        kernel_end(run);
    }
}

static void check_to_bytes(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    static const float corners[] = {0.0f,   -0.0f, 0.5f,   1.5f, 2.5f,     -0.5f,     254.5f, 255.5f,
                                    300.0f, 1e30f, -1e30f, NAN,  INFINITY, -INFINITY, 1e-40f, -300.0f};
    for (int i = 0; i < 100; i++) {
        const size_t n = (size_t)kernel_length(run, i, 300);
        float *x = kernel_buffer(run, n * sizeof *x, 4);
        uint8_t *want = kernel_buffer(run, n, 1), *got = kernel_buffer(run, n, 1);
        kernel_fill_f32(run, x, n, -300.0f, 300.0f);
        for (size_t k = 0; k < n; k += 3)
            x[k] = corners[kernel_range(run, 0, 15)];
        const float scale = i % 2 ? 1.0f : 2.7f;
        const int32_t zero = (int32_t)kernel_range(run, 0, 255);
        kernel_case(run, "n %zu, zero %d", n, zero);
        ref->quantise(x, want, n, scale, zero);
        mine->quantise(x, got, n, scale, zero);
        kernel_compare_bytes(run, want, got, n);
        kernel_end(run);
    }
}

/* A quotient may be found by a product where that gives the same number: long rows of plain numbers, of numbers a few roundings off where
 * the result turns, and of large ones, alone and among plain ones. */
static void check_to_bytes_by_products(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    static const float large[] = {511.0f,        513.0f,         40000.0f, 1e7f,
                                  2147483520.0f, -2147483648.0f, 4e9f,     -3e38f};
    for (int i = 0; i < 160; i++) {
        const size_t n = (size_t)kernel_range(run, 64, 1200);
        float *x = kernel_buffer(run, n * sizeof *x, 4);
        uint8_t *want = kernel_buffer(run, n, 1), *got = kernel_buffer(run, n, 1);
        const float scale =
            ldexpf(1.0f + (float)kernel_range(run, 0, 1000) / 1001.0f, (int)kernel_range(run, -20, 3));
        const int32_t zero = (int32_t)kernel_range(run, 0, 255), kind = i % 4;
        kernel_fill_f32(run, x, n, -100.0f * scale, 400.0f * scale);
        for (size_t k = 0; k < n && kind; k += kind == 1 ? 1 : (size_t)kernel_range(run, 1, 90)) {
            x[k] = ((float)kernel_range(run, -260, 520) + 0.5f) * scale;
            for (int off = (int)kernel_range(run, -3, 3); off; off += off < 0 ? 1 : -1)
                x[k] = nextafterf(x[k], off < 0 ? -INFINITY : INFINITY);
            if (kind == 3)
                x[k] = large[kernel_range(run, 0, 7)] * scale;
        }
        kernel_case(run, "n %zu, scale %g, zero %d, kind %d", n, (double)scale, zero, kind);
        ref->quantise(x, want, n, scale, zero);
        mine->quantise(x, got, n, scale, zero);
        kernel_compare_bytes(run, want, got, n);
        kernel_end(run);
    }
}

static void check_to_floats(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    for (int i = 0; i < 100; i++) {
        const size_t n = (size_t)kernel_length(run, i, 300);
        uint8_t *x = kernel_buffer(run, n, 1);
        float *want = kernel_buffer(run, n * sizeof *want, 4), *got = kernel_buffer(run, n * sizeof *got, 4);
        kernel_fill_bytes(run, x, n);
        kernel_case(run, "n %zu", n);
        ref->dequantise(x, want, n, 0.0173f, i);
        mine->dequantise(x, got, n, 0.0173f, i);
        kernel_compare_bytes(run, want, got, n * sizeof *want);
        kernel_end(run);
    }
}

static void check_max_pool(kernel_run *run, const sk_kernels_u8 *ref, const sk_kernels_u8 *mine)
{
    for (int i = 0; i < 60; i++) {
        sk_pool_u8c16 p = {.in_h = (int32_t)kernel_range(run, 1, 9),
                           .in_w = (int32_t)(i % 5 == 4 ? 400 + 7 * i : kernel_length(run, i, 40))};
        p.kernel_h = p.kernel_w = (int32_t)kernel_range(run, 1, 5);
        p.stride_h = p.stride_w = (int32_t)kernel_range(run, 1, 2);
        p.dilation_h = p.dilation_w = 1;
        p.pad_top = p.pad_left = (int32_t)kernel_range(run, 0, p.kernel_h / 2);
        if (i % 4 == 0) { /* halving */
            p.kernel_h = p.kernel_w = p.stride_h = p.stride_w = 2;
            p.pad_top = p.pad_left = 0;
        }
        p.in_row = (ptrdiff_t)p.in_w * SK_BLOCK;
        const int32_t short_of = i % 8 == 0 ? 2 : 1; /* without, or with, a last window that hangs over */
        const int32_t out_h = p.in_h < short_of ? 1 : (p.in_h - short_of) / p.stride_h + 1;
        p.out_w = p.in_w < short_of ? 1 : (p.in_w - short_of) / p.stride_w + 1;
        p.out_row = (ptrdiff_t)p.out_w * SK_BLOCK;
        const size_t bytes = (size_t)p.in_row * (size_t)p.in_h, made = (size_t)p.out_row * (size_t)out_h;
        uint8_t *in = kernel_buffer(run, bytes, 1), *want = kernel_buffer(run, made, 1),
                *got = kernel_buffer(run, made, 1);
        kernel_fill_bytes(run, in, bytes);
        kernel_case(run, "%dx%d, window %d, stride %d, pad %d", p.in_h, p.in_w, p.kernel_h, p.stride_h,
                    p.pad_top);
        p.in = in;
        p.out = want;
        ref->max_pool(&p, 0, out_h);
        p.out = got;
        mine->max_pool(&p, 0, out_h);
        kernel_compare_bytes(run, want, got, made);
        kernel_end(run);
    }
}

/* SiLU by pieces is SiLU: at every x within a few units of its own size. */
static void check_fold(kernel_run *run, const sk_kernels_u8 *mine)
{
    static const double units[] = {0.05, 0.01, 0.002, 0.0005};
    for (int k = 0; k < 4; k++) {
        sk_act_i16 act;
        sk_act_i16_make(&act, SK_UNARY_SILU, units[k]);
        const sk_finish_u8 f = {.act = &act, .zero = 100};
        double worst = 0;
        kernel_case(run, "unit %g", units[k]);
        for (int x = -32768; x < 32768; x++) {
            const double real = x * units[k], want = real / (1.0 + exp(-real)) / units[k];
            if (want < -100 || want > 155)
                continue;
            uint8_t got;
            const int16_t in = (int16_t)x;
            mine->finish(&f, &in, NULL, &got, 1);
            const double off = fabs(got - 100 - want);
            worst = off > worst ? off : worst;
        }
        if (worst > 1.2 + 0.0016 / units[k])
            kernel_fail(run, "%.2f units from SiLU", worst);
    }
}

static void bench_conv(kernel_run *run, const sk_kernels_u8 *mine, int width, int cin_blocks, int out_blocks,
                       int kernel, int stride, int size)
{
    problem q = {.p = {.kernel_h = kernel,
                       .kernel_w = kernel,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .stride_h = stride,
                       .stride_w = stride,
                       .out_h = size,
                       .out_w = size,
                       .in_pixel = SK_BLOCK,
                       .in_blocks = cin_blocks,
                       .out_blocks = out_blocks,
                       .width = width,
                       .tile = mine->conv_tile[width]}};
    if (q.p.tile == 0)
        return;
    memset(q.fill, 16, sizeof q.fill);
    make_buffers(run, &q, 0);
    q.floats = false;
    q.p.out_pixel = SK_BLOCK;
    q.p.residual = NULL;
    sk_act_i16_make(&q.act, SK_UNARY_SILU, 0.002);
    to(&q, q.got);
    char label[64];
    snprintf(label, sizeof label, "%d->%d %dx%d s%d %dx%d, width %d", 16 * cin_blocks, 16 * out_blocks,
             kernel, kernel, stride, size, size, width);
    const double flops = 2.0 * 256 * cin_blocks * out_blocks * kernel * kernel * size * size;
    const int32_t g = groups_of(&q.p);
    KERNEL_BENCH(run, label, flops, (double)q.out_bytes) mine->conv(&q.p, 0, g, 0, size);
    kernel_end(run);
}

void check_conv_u8(kernel_run *run)
{
    sk_kernels_u8 ref, mine;
    sk_kernels_u8_fill(&ref, 0);
    sk_kernels_u8_fill(&mine, run->flags);
    if (kernel_variant(run, "u8c16 conv", (kernel_fn)mine.conv)) {
        check_direct(run, &ref, &mine);
        for (int w = 1; w <= 4; w++)
            bench_conv(run, &mine, w, 4, 4, 1, 1, 40);
        for (int w = 1; w <= 4; w++)
            bench_conv(run, &mine, w, 4, 4, 3, 1, 80);
        bench_conv(run, &mine, 2, 4, 4, 3, 2, 40);
    }
    if (mine.winograd && kernel_variant(run, "u8c16 winograd", (kernel_fn)mine.winograd)) {
        check_winograd(run, &ref, &mine);
        bench_winograd(run, &mine, 16, 16, 160);
        bench_winograd(run, &mine, 48, 24, 192);
        bench_winograd(run, &mine, 64, 64, 80);
        bench_winograd(run, &mine, 128, 128, 40);
    }
    if (kernel_variant(run, "u8c16 depthwise", (kernel_fn)mine.depthwise))
        check_depthwise(run, &ref, &mine);
    if (kernel_variant(run, "u8 finish", (kernel_fn)mine.finish)) {
        check_finish(run, &ref, &mine);
        check_fold(run, &mine);
    }
    if (kernel_variant(run, "u8 quantise", (kernel_fn)mine.quantise)) {
        check_to_bytes(run, &ref, &mine);
        check_to_bytes_by_products(run, &ref, &mine);
    }
    if (kernel_variant(run, "u8 dequantise", (kernel_fn)mine.dequantise))
        check_to_floats(run, &ref, &mine);
    if (kernel_variant(run, "u8c16 max pool", (kernel_fn)mine.max_pool))
        check_max_pool(run, &ref, &mine);
}
