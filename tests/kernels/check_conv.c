/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "kernels/kernels.h"

#include "graph/graph.h"
#include "kernels/ref/act_ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Convolutions of the CPU engine at every level against plain C, which reads the same packed weights. */

void check_conv(kernel_run *run);

static const int32_t acts[] = {0,
                               SK_UNARY_SILU,
                               SK_UNARY_RELU,
                               SK_UNARY_SIGMOID,
                               SK_UNARY_LEAKY,
                               SK_UNARY_GELU,
                               SK_UNARY_GELU_TANH,
                               SK_UNARY_TANH,
                               SK_UNARY_ELU,
                               SK_UNARY_HARD_SIGMOID,
                               SK_UNARY_HARD_SWISH,
                               SK_UNARY_MISH,
                               SK_UNARY_RELU6};

static const kernel_limits conv_limits = {2e-5, 1e-10};

/* One problem: buffers sized exactly, parameters for both tables. */
typedef struct problem {
    sk_conv_f32c16 p;
    uint8_t fill[8];
    float *in, *weights, *bias, *residual, *want, *got;
    size_t out_floats;
} problem;

static int32_t groups_of(const sk_conv_f32c16 *p)
{
    return (p->out_blocks + p->width - 1) / p->width;
}

static int32_t channels_of(const problem *q)
{
    int32_t channels = 0;
    for (int32_t i = 0; i < q->p.in_blocks; i++)
        channels += q->fill[i];
    return channels;
}

static float *filled(kernel_run *run, size_t count, float size)
{
    float *data = kernel_buffer(run, count * sizeof *data, 4);
    kernel_fill_f32(run, data, count, -size, size);
    return data;
}

/* Sizes are in p already; `points` is 0 for all but winograd. */
static void make_buffers(kernel_run *run, problem *q, int32_t points, int depthwise)
{
    sk_conv_f32c16 *p = &q->p;
    int32_t taps = p->kernel_h * p->kernel_w, cin = channels_of(q);
    int32_t in_h = (p->out_h - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
    int32_t in_w = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    p->in_row = (ptrdiff_t)in_w * SK_BLOCK;
    p->in_plane = p->in_row * in_h;
    p->in_h = in_h;
    p->in_w = in_w;
    p->fill = q->fill;
    size_t weights =
        (size_t)(points ? points : taps) * (size_t)(depthwise ? 1 : cin) * (size_t)p->out_blocks * SK_BLOCK;
    p->group_weights = (ptrdiff_t)(points ? 1 : taps) * cin * p->width * SK_BLOCK;
    p->point_weights = (ptrdiff_t)cin * p->out_blocks * SK_BLOCK;
    p->in = q->in = filled(run, (size_t)p->in_plane * (size_t)p->in_blocks, 1.0f);
    for (ptrdiff_t i = 0; !depthwise && i < p->in_plane * p->in_blocks; i++)
        if (i % SK_BLOCK >= q->fill[i / p->in_plane])
            q->in[i] = NAN; /* channels that nobody may read */
    p->weights = q->weights = filled(run, weights, points ? 0.2f : 0.3f);
    p->bias = q->bias = filled(run, (size_t)p->out_blocks * SK_BLOCK, 0.5f);
    p->out_pixel = SK_BLOCK * (points || depthwise ? 1 : kernel_range(run, 1, 2));
    p->out_row = p->out_pixel * p->out_w;
    p->out_plane = p->out_row * p->out_h;
    q->out_floats = (size_t)p->out_plane * (size_t)p->out_blocks;
    q->want = kernel_buffer(run, q->out_floats * sizeof(float), 4);
    q->got = kernel_buffer(run, q->out_floats * sizeof(float), 4);
    memset(q->want, 0, q->out_floats * sizeof(float));
    memset(q->got, 0, q->out_floats * sizeof(float));
    if (kernel_range(run, 0, 2) == 0) {
        p->residual_shift = (int32_t)kernel_range(run, 0, 1);
        p->residual_first = (int32_t)kernel_range(run, 0, 1);
        int32_t h = (p->out_h + p->residual_shift) >> p->residual_shift;
        int32_t w = (p->out_w + p->residual_shift) >> p->residual_shift;
        p->residual_row = (ptrdiff_t)w * SK_BLOCK;
        p->residual_plane = p->residual_row * h;
        p->residual = q->residual = filled(run, (size_t)p->residual_plane * (size_t)p->out_blocks, 1.0f);
    }
    p->act =
        (sk_act_f32){acts[kernel_range(run, 0, (int64_t)(sizeof acts / sizeof acts[0]) - 1)], 0.2f, 0.5f};
}

static void random_blocks(kernel_run *run, problem *q)
{
    q->p.in_blocks = (int32_t)kernel_range(run, 1, 4);
    for (int i = 0; i < 8; i++)
        q->fill[i] = (uint8_t)(kernel_range(run, 0, 2) ? 16 : kernel_range(run, 1, 16));
    q->p.out_blocks = (int32_t)kernel_range(run, 1, 6);
    q->p.groups_outer = (int32_t)kernel_range(run, 0, 1);
}

static int pick_width(kernel_run *run, const int8_t *tiles, problem *q)
{
    for (int tries = 0; tries < 20; tries++) {
        int w = (int)kernel_range(run, 1, 4);
        if (tiles[w] > 0) {
            q->p.width = w;
            q->p.tile = (int32_t)kernel_range(run, 1, tiles[w]);
            return 1;
        }
    }
    return 0;
}

static void name_case(kernel_run *run, const problem *q)
{
    const sk_conv_f32c16 *p = &q->p;
    kernel_case(
        run,
        "blocks %d->%d (%d channels), window %dx%d s%dx%d d%d, out %dx%d, tile %dx%d, act %d, residual %d",
        p->in_blocks, p->out_blocks, channels_of(q), p->kernel_h, p->kernel_w, p->stride_h, p->stride_w,
        p->dilation_h, p->out_h, p->out_w, p->tile, p->width, p->act.kind, p->residual != NULL);
}

static void direct(kernel_run *run, sk_conv_f32c16_fn ref, sk_conv_f32c16_fn mine, const int8_t *tiles,
                   int rows)
{
    for (int i = 0; i < 120; i++) {
        problem q = {.p = {.kernel_h = (int32_t)kernel_range(run, 0, 3), .dilation_h = 1, .dilation_w = 1}};
        sk_conv_f32c16 *p = &q.p;
        p->kernel_h = p->kernel_h ? p->kernel_h : 1;
        p->kernel_w = rows ? 3 : (int32_t)kernel_range(run, 1, 5);
        p->stride_h = (int32_t)kernel_range(run, 1, 2);
        p->stride_w = (int32_t)kernel_range(run, 1, rows ? 2 : 4);
        if (!rows)
            p->dilation_h = p->dilation_w = (int32_t)kernel_range(run, 1, 2);
        p->out_h = (int32_t)kernel_range(run, 1, 4);
        p->out_w = (int32_t)kernel_length(run, i, 45);
        random_blocks(run, &q);
        if (!pick_width(run, tiles, &q))
            return;
        make_buffers(run, &q, 0, 0);
        name_case(run, &q);
        int32_t g = groups_of(p), cut = (int32_t)kernel_range(run, 0, g),
                row = (int32_t)kernel_range(run, 0, p->out_h);
        p->out = q.want;
        ref(p, 0, g, 0, p->out_h);
        p->out = q.got; /* in four pieces, as threads do */
        mine(p, 0, cut, 0, row);
        mine(p, cut, g, 0, row);
        mine(p, 0, cut, row, p->out_h);
        mine(p, cut, g, row, p->out_h);
        kernel_compare_f32(run, q.want, q.got, q.out_floats, conv_limits);
        kernel_end(run);
    }
}

static void bench_direct(kernel_run *run, const sk_kernels_f32 *mine, int rows, int width, int cin_blocks,
                         int out_blocks, int kernel, int stride, int size)
{
    problem q = {.p = {.kernel_h = kernel,
                       .kernel_w = kernel,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .stride_h = stride,
                       .stride_w = stride,
                       .out_h = size,
                       .out_w = size,
                       .in_blocks = cin_blocks,
                       .out_blocks = out_blocks,
                       .width = width}};
    q.p.tile = rows ? mine->conv3_tile[width] : mine->conv_tile[width];
    if (q.p.tile == 0)
        return;
    memset(q.fill, 16, sizeof q.fill);
    make_buffers(run, &q, 0, 0);
    q.p.out_pixel = SK_BLOCK;
    q.p.act.kind = SK_UNARY_SILU;
    q.p.residual = NULL;
    q.p.out = q.got;
    char label[64];
    snprintf(label, sizeof label, "%d->%d %dx%d s%d %dx%d, width %d", 16 * cin_blocks, 16 * out_blocks,
             kernel, kernel, stride, size, size, width);
    double flops = 2.0 * 256 * cin_blocks * out_blocks * kernel * kernel * size * size;
    int32_t g = groups_of(&q.p);
    KERNEL_BENCH(run, label, flops, 4.0 * (double)q.out_floats)
    (rows ? mine->conv3 : mine->conv)(&q.p, 0, g, 0, size);
    kernel_end(run);
}

static void check_winograd(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        problem q = {.p = {.kernel_h = 3,
                           .kernel_w = 3,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1}};
        sk_conv_f32c16 *p = &q.p;
        p->out_h = (int32_t)kernel_range(run, 1, 14);
        p->out_w = (int32_t)kernel_length(run, i / 2, 30);
        p->stride_h = p->stride_w = 1 + i % 2;
        random_blocks(run, &q);
        if (!pick_width(run, mine->conv_tile, &q))
            return;
        p->batch_tiles = p->tile * (int32_t)kernel_range(run, 1, 3);
        make_buffers(run, &q, sk_winograd_points(p->stride_h), 0);
        float *scratch = kernel_buffer(
            run,
            sk_winograd_scratch(p->stride_h, p->in_blocks, p->out_blocks, p->batch_tiles) * sizeof(float),
            64);
        name_case(run, &q);
        int32_t g = groups_of(p), tiles = ((p->out_h + 3) / 4) * ((p->out_w + 3) / 4);
        int32_t cut = (int32_t)kernel_range(run, 0, g), at = (int32_t)kernel_range(run, 0, tiles);
        p->out = q.want;
        ref->winograd(p, 0, g, 0, tiles, NULL);
        p->out = q.got;
        mine->winograd(p, 0, cut, 0, at, scratch);
        mine->winograd(p, 0, cut, at, tiles, scratch);
        mine->winograd(p, cut, g, 0, tiles, scratch);
        kernel_compare_f32(run, q.want, q.got, q.out_floats, KERNEL_WINOGRAD);
        kernel_end(run);
    }
}

/* Weights as bf16, two channels side by side. */
static void pair_weights(kernel_run *run, problem *q)
{
    sk_conv_f32c16 *p = &q->p;
    size_t pairs = 0;
    for (int32_t b = 0; b < p->in_blocks; b++)
        pairs += (size_t)(q->fill[b] + 1) / 2;
    pairs *= (size_t)p->kernel_h * (size_t)p->kernel_w;
    p->group_weights = (ptrdiff_t)pairs * p->width * SK_BLOCK;
    const size_t count = 2 * pairs * (size_t)p->out_blocks * SK_BLOCK;
    uint16_t *w = kernel_buffer(run, count * sizeof *w, 4);
    for (size_t i = 0; i < count; i++)
        w[i] = sk_f32_to_bf16(0.3f * ((float)(kernel_random(run) >> 40) * 0x1p-23f - 1.0f));
    p->weights = (const float *)(const void *)w;
    if (kernel_range(run, 0, 1))
        return;
    /* of the last block only some outputs are used */
    p->last_outputs = (int32_t)kernel_range(run, 1, kernel_range(run, 0, 1) ? 8 : 16);
    for (int32_t block = 0; block < p->out_blocks; block += p->width) {
        const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        for (size_t i = 0; i < pairs * (size_t)width * SK_BLOCK; i++, w += 2)
            if (block * SK_BLOCK + (int32_t)(i % ((size_t)width * SK_BLOCK)) >=
                (p->out_blocks - 1) * SK_BLOCK + p->last_outputs)
                w[0] = w[1] = 0;
    }
    for (int32_t o = p->last_outputs; o < SK_BLOCK; o++)
        ((float *)(uintptr_t)p->bias)[(p->out_blocks - 1) * SK_BLOCK + o] = 0.0f;
}

static void check_bf16(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 120; i++) {
        problem q = {.p = {.dilation_h = 1, .dilation_w = 1}};
        sk_conv_f32c16 *p = &q.p;
        p->kernel_h = (int32_t)kernel_range(run, 1, 3);
        p->kernel_w = (int32_t)kernel_range(run, 1, 4);
        p->stride_h = (int32_t)kernel_range(run, 1, 2);
        p->stride_w = (int32_t)kernel_range(run, 1, 3);
        p->dilation_h = p->dilation_w = (int32_t)kernel_range(run, 1, 2);
        p->out_h = (int32_t)kernel_range(run, 1, 7);
        p->out_w = (int32_t)kernel_length(run, i, 45);
        random_blocks(run, &q);
        if (!pick_width(run, mine->conv_tile, &q))
            return;
        make_buffers(run, &q, 0, 0);
        pair_weights(run, &q);
        float *scratch = kernel_buffer(run, sk_bf16_scratch(p) * sizeof(float), 64);
        name_case(run, &q);
        int32_t g = groups_of(p), cut = (int32_t)kernel_range(run, 0, g),
                row = (int32_t)kernel_range(run, 0, p->out_h);
        p->out = q.want;
        ref->conv_bf16(p, 0, g, 0, p->out_h, NULL);
        p->out = q.got;
        mine->conv_bf16(p, 0, cut, 0, row, scratch);
        mine->conv_bf16(p, cut, g, 0, row, scratch);
        mine->conv_bf16(p, 0, g, row, p->out_h, scratch);
        kernel_compare_f32(run, q.want, q.got, q.out_floats, conv_limits);
        kernel_end(run);
    }
}

/* Weights as words whose magnitudes add up to what is allowed, some of them all of it in one; what they are worth at random. */
static void word_weights(kernel_run *run, problem *q)
{
    sk_conv_f32c16 *p = &q->p;
    const int32_t points = sk_winograd_points(p->stride_h), cin = channels_of(q);
    size_t pairs = 0;
    for (int32_t b = 0; b < p->in_blocks; b++)
        pairs += (size_t)(q->fill[b] + 1) / 2;
    p->group_weights = (ptrdiff_t)pairs * p->width * SK_BLOCK * 2;
    p->point_weights = (ptrdiff_t)pairs * p->out_blocks * SK_BLOCK * 2;
    const size_t count = (size_t)points * (size_t)p->point_weights;
    int16_t *w = kernel_buffer(run, count * sizeof *w, 4);
    const int32_t most = SK_WORDS_SUM / cin < 32767 ? SK_WORDS_SUM / cin : 32767;
    const int extreme = kernel_range(run, 0, 3) == 0;
    p->weights = (const float *)(const void *)w;
    p->last_outputs =
        kernel_range(run, 0, 1) ? 0 : (int32_t)kernel_range(run, 1, kernel_range(run, 0, 1) ? 8 : 16);
    const int32_t outputs = (p->out_blocks - 1) * SK_BLOCK + (p->last_outputs ? p->last_outputs : SK_BLOCK);
    for (int32_t k = 0; k < points; k++)
        for (int32_t block = 0; block < p->out_blocks; block += p->width) {
            const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
            for (int32_t b = 0; b < p->in_blocks; b++)
                for (int32_t c = 0; c < (q->fill[b] + 1) / 2; c++)
                    for (int32_t i = 0; i < 2 * width * SK_BLOCK; i++) {
                        const int32_t value = (int32_t)kernel_range(run, -most, most);
                        const bool used = 2 * c + i % 2 < q->fill[b] && block * SK_BLOCK + i / 2 < outputs;
                        *w++ = (int16_t)(!used ? 0 : extreme ? (value < 0 ? -most : most) : value);
                    }
        }
    float *worth = filled(run, (size_t)points * (size_t)p->out_blocks * SK_BLOCK, 0.0f);
    for (size_t i = 0; i < (size_t)points * (size_t)p->out_blocks * SK_BLOCK; i++)
        worth[i] = (float)kernel_range(run, 1, 100) * 1e-3f / (float)SK_WORDS_SUM;
    p->point_worth = worth;
    float *gain = filled(run, (size_t)p->in_blocks * SK_BLOCK, 0.0f);
    for (int32_t i = 0; i < p->in_blocks * SK_BLOCK; i++)
        gain[i] = ldexpf(1.0f, -(int)kernel_range(run, 0, kernel_range(run, 0, 3) ? 3 : 40));
    p->channel_gain = gain;
    for (int32_t o = p->last_outputs; p->last_outputs && o < SK_BLOCK; o++)
        ((float *)(uintptr_t)p->bias)[(p->out_blocks - 1) * SK_BLOCK + o] = 0.0f;
}

/* Inputs that make a tile special: all 0, too small for a reciprocal, as large as floats get, one that is no number. */
static void special_inputs(kernel_run *run, problem *q)
{
    static const float special[] = {0.0f, 1e-38f, 1e33f, NAN, INFINITY};
    const int which = (int)kernel_range(run, 0, 8);
    if (which >= 5)
        return;
    if (which >= 3)
        q->p.act.kind = SK_UNARY_SILU; /* some others make 0 of what is no number */
    const ptrdiff_t all = q->p.in_plane * q->p.in_blocks, at = (ptrdiff_t)kernel_range(run, 0, all - 1);
    for (ptrdiff_t i = 0; i < all; i++)
        if (i % SK_BLOCK < q->fill[i / q->p.in_plane] && (which < 3 ? true : i == at))
            q->in[i] = which < 3 ? q->in[i] * special[which] : special[which];
}

static void check_words(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 160; i++) {
        problem q = {.p = {.kernel_h = 3, .kernel_w = 3, .dilation_h = 1, .dilation_w = 1}};
        sk_conv_f32c16 *p = &q.p;
        p->out_h = (int32_t)kernel_range(run, 1, 14);
        p->out_w = (int32_t)kernel_length(run, i / 2, 30);
        p->stride_h = p->stride_w = 1 + i % 2;
        random_blocks(run, &q);
        if (!pick_width(run, mine->conv_tile, &q))
            return;
        p->batch_tiles = 4 * (int32_t)kernel_range(run, 1, 6);
        make_buffers(run, &q, sk_winograd_points(p->stride_h), 0);
        special_inputs(run, &q);
        word_weights(run, &q);
        uint16_t *low = NULL;
        if (kernel_range(run, 0, 1)) { /* a map of bf16 */
            const size_t count = (size_t)p->in_plane * (size_t)p->in_blocks;
            low = kernel_buffer(run, count * sizeof *low, 2);
            for (size_t k = 0; k < count; k++)
                low[k] = sk_f32_to_bf16(q.in[k]);
            p->in16 = low;
            p->in = NULL;
        }
        float *scratch = kernel_buffer(
            run, sk_words_scratch(p->stride_h, p->in_blocks, p->width, p->batch_tiles) * sizeof(float), 64);
        name_case(run, &q);
        int32_t g = groups_of(p), tiles = ((p->out_h + 3) / 4) * ((p->out_w + 3) / 4);
        int32_t cut = (int32_t)kernel_range(run, 0, g), at = (int32_t)kernel_range(run, 0, tiles);
        p->out = q.want;
        ref->winograd_words(p, 0, g, 0, tiles, NULL);
        p->out = q.got;
        mine->winograd_words(p, 0, cut, 0, at, scratch);
        mine->winograd_words(p, 0, cut, at, tiles, scratch);
        mine->winograd_words(p, cut, g, 0, tiles, scratch);
        for (size_t k = (size_t)p->out_plane * (size_t)(p->out_blocks - 1); k < q.out_floats; k++)
            if (p->last_outputs && (int32_t)(k % SK_BLOCK) >= p->last_outputs)
                q.want[k] = q.got[k] = 0.0f; /* nobody reads them */
        kernel_compare_f32(run, q.want, q.got, q.out_floats, KERNEL_WINOGRAD);
        kernel_end(run);
    }
}

static void bench_words(kernel_run *run, const sk_kernels_f32 *mine, int blocks, int stride, int size)
{
    problem q = {.p = {.kernel_h = 3,
                       .kernel_w = 3,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .stride_h = stride,
                       .stride_w = stride,
                       .out_h = size,
                       .out_w = size,
                       .in_blocks = blocks,
                       .out_blocks = blocks,
                       .width = blocks < 4 ? blocks : 4,
                       .batch_tiles = 24}};
    q.p.tile = mine->conv_tile[q.p.width];
    if (q.p.tile == 0)
        return;
    memset(q.fill, 16, sizeof q.fill);
    make_buffers(run, &q, sk_winograd_points(stride), 0);
    word_weights(run, &q);
    q.p.last_outputs = 0;
    float *scratch =
        kernel_buffer(run, sk_words_scratch(stride, blocks, q.p.width, q.p.batch_tiles) * sizeof(float), 64);
    uint16_t *low = kernel_buffer(run, (size_t)q.p.in_plane * (size_t)blocks * sizeof *low, 64);
    memset(low, 0x3f, (size_t)q.p.in_plane * (size_t)blocks * sizeof *low);
    q.p.in16 = low;
    q.p.act.kind = SK_UNARY_SILU;
    q.p.residual = NULL;
    q.p.out = q.got;
    char label[64];
    snprintf(label, sizeof label, "%d->%d 3x3 s%d %dx%d", 16 * blocks, 16 * blocks, stride, size, size);
    KERNEL_BENCH(run, label, 2.0 * 256 * blocks * blocks * 9 * size * size, 4.0 * (double)q.out_floats)
    mine->winograd_words(&q.p, 0, groups_of(&q.p), 0, (size + 3) / 4 * ((size + 3) / 4), scratch);
    kernel_end(run);
}

static void bench_bf16(kernel_run *run, const sk_kernels_f32 *mine, int width, int kernel, int size)
{
    problem q = {.p = {.kernel_h = kernel,
                       .kernel_w = kernel,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .stride_h = 1,
                       .stride_w = 1,
                       .out_h = size,
                       .out_w = size,
                       .in_blocks = 4,
                       .out_blocks = 4,
                       .width = width,
                       .tile = mine->conv_tile[width]}};
    if (q.p.tile == 0)
        return;
    memset(q.fill, 16, sizeof q.fill);
    make_buffers(run, &q, 0, 0);
    pair_weights(run, &q);
    float *scratch = kernel_buffer(run, sk_bf16_scratch(&q.p) * sizeof(float), 64);
    q.p.out_pixel = SK_BLOCK;
    q.p.act.kind = SK_UNARY_SILU;
    q.p.residual = NULL;
    q.p.out = q.got;
    char label[64];
    snprintf(label, sizeof label, "64->64 %dx%d s1 %dx%d, width %d", kernel, kernel, size, size, width);
    KERNEL_BENCH(run, label, 2.0 * 64 * 64 * kernel * kernel * size * size, 4.0 * (double)q.out_floats)
    mine->conv_bf16(&q.p, 0, groups_of(&q.p), 0, size, scratch);
    kernel_end(run);
}

static void check_depthwise(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 80; i++) {
        problem q = {.p = {.kernel_h = (int32_t)kernel_range(run, 1, 7), .dilation_h = 1, .dilation_w = 1}};
        sk_conv_f32c16 *p = &q.p;
        p->kernel_w = p->kernel_h;
        if (kernel_range(run, 0, 1))
            p->kernel_h = p->kernel_w = 3;
        p->stride_h = p->stride_w = (int32_t)kernel_range(run, 1, 2);
        p->dilation_h = p->dilation_w = (int32_t)kernel_range(run, 1, 2);
        p->out_h = (int32_t)kernel_range(run, 1, 5);
        p->out_w = (int32_t)kernel_length(run, i, 40);
        random_blocks(run, &q);
        p->out_blocks = p->in_blocks;
        p->width = 1;
        make_buffers(run, &q, 0, 1);
        name_case(run, &q);
        int32_t cut = (int32_t)kernel_range(run, 0, p->out_h);
        p->out = q.want;
        ref->depthwise(p, 0, p->out_blocks, 0, p->out_h);
        p->out = q.got;
        mine->depthwise(p, 0, p->out_blocks, 0, cut);
        mine->depthwise(p, 0, p->out_blocks, cut, p->out_h);
        kernel_compare_f32(run, q.want, q.got, q.out_floats, conv_limits);
        kernel_end(run);
    }
}

static void check_depthwise_bf16(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 120; i++) {
        problem q = {.p = {.dilation_h = 1, .dilation_w = 1}};
        sk_conv_f32c16 *p = &q.p;
        p->kernel_h = p->kernel_w = i % 2 ? 3 : (int32_t)kernel_range(run, 1, SK_DEPTHWISE_BF16_MOST);
        p->stride_h = p->stride_w = (int32_t)kernel_range(run, 1, 2);
        p->out_h = (int32_t)kernel_range(run, 1, 11);
        p->out_w = (int32_t)kernel_length(run, i, 80);
        random_blocks(run, &q);
        p->out_blocks = p->in_blocks;
        p->width = 1;
        make_buffers(run, &q, 0, 1);
        const size_t count = (size_t)p->in_plane * (size_t)p->in_blocks;
        uint16_t *low = kernel_buffer(run, count * sizeof *low, 2);
        for (size_t k = 0; k < count; k++)
            low[k] = sk_f32_to_bf16(q.in[k]);
        p->in16 = low;
        p->in = NULL;
        uint16_t *want = kernel_buffer(run, q.out_floats * sizeof *want, 2),
                 *got = kernel_buffer(run, q.out_floats * sizeof *got, 2);
        const bool rounded = kernel_range(run, 0, 1);
        name_case(run, &q);
        const int32_t cut = (int32_t)kernel_range(run, 0, p->out_h);
        p->out = q.want;
        p->out16 = rounded ? want : NULL;
        ref->depthwise_bf16(p, 0, p->out_blocks, 0, p->out_h);
        p->out = q.got;
        p->out16 = rounded ? got : NULL;
        mine->depthwise_bf16(p, 0, p->out_blocks, 0, cut);
        mine->depthwise_bf16(p, 0, p->out_blocks, cut, p->out_h);
        for (size_t k = 0; k < q.out_floats && rounded; k++) {
            q.want[k] = sk_bf16_to_f32(want[k]);
            q.got[k] = sk_bf16_to_f32(got[k]);
        }
        kernel_compare_f32(run, q.want, q.got, q.out_floats, rounded ? KERNEL_BF16 : conv_limits);
        kernel_end(run);
    }
}

static void check_first(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 80; i++) {
        sk_first_f32c16 p = {.channels = (int32_t)kernel_range(run, 1, 4),
                             .kernel_h = (int32_t)kernel_range(run, 1, 7),
                             .stride_w = (int32_t)kernel_range(run, 1, 3),
                             .out_w = (int32_t)kernel_length(run, i, 90),
                             .out_blocks = (int32_t)kernel_range(run, 1, 5),
                             .width = (int32_t)kernel_range(run, 1, 2)};
        p.kernel_w = p.kernel_h;
        if (kernel_range(run, 0, 1)) {
            p.channels = 3;
            p.kernel_h = p.kernel_w = 3;
            p.stride_w = 2;
        }
        size_t row = ((size_t)(p.out_w - 1) * (size_t)p.stride_w + (size_t)p.kernel_w) * (size_t)p.channels;
        for (int32_t k = 0; k < p.kernel_h; k++)
            p.rows[k] = filled(run, row, 1.0f);
        size_t taps = (size_t)p.kernel_h * (size_t)p.kernel_w * (size_t)p.channels;
        p.weights = filled(run, taps * (size_t)p.out_blocks * SK_BLOCK, 0.3f);
        p.bias = filled(run, (size_t)p.out_blocks * SK_BLOCK, 0.5f);
        p.out_plane = (ptrdiff_t)p.out_w * SK_BLOCK;
        size_t floats = (size_t)p.out_plane * (size_t)p.out_blocks;
        float *want = kernel_buffer(run, floats * sizeof *want, 4),
              *got = kernel_buffer(run, floats * sizeof *got, 4);
        p.act.kind = kernel_range(run, 0, 1) ? SK_UNARY_SILU : 0;
        kernel_case(run, "%d channels, window %d, stride %d, width %d, blocks %d by %d", p.channels,
                    p.kernel_h, p.stride_w, p.out_w, p.out_blocks, p.width);
        p.out = want;
        ref->first(&p);
        p.out = got;
        mine->first(&p);
        kernel_compare_f32(run, want, got, floats, conv_limits);
        kernel_end(run);
    }
}

static void check_row_u8(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        size_t n = (size_t)kernel_length(run, i, 2000);
        uint8_t *x = kernel_buffer(run, n, 1);
        float *want = kernel_buffer(run, n * sizeof *want, 4), *got = kernel_buffer(run, n * sizeof *got, 4);
        float gain[64], shift[64];
        kernel_fill_bytes(run, x, n);
        kernel_fill_f32(run, gain, 48, 0.0f, 1.0f);
        kernel_fill_f32(run, shift, 48, -1.0f, 1.0f);
        memcpy(gain + 48, gain, 16 * sizeof *gain);
        memcpy(shift + 48, shift, 16 * sizeof *shift);
        kernel_case(run, "n %zu", n);
        ref->row_u8(x, want, (int32_t)n, gain, shift);
        mine->row_u8(x, got, (int32_t)n, gain, shift);
        kernel_compare_f32(run, want, got, n, KERNEL_F32);
        kernel_end(run);
    }
}

static void check_row_planes(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    for (int i = 0; i < 100; i++) {
        const int32_t width = (int32_t)kernel_length(run, i, 700),
                      channels = (int32_t)kernel_range(run, 1, 4);
        const ptrdiff_t plane = width + kernel_range(run, 0, 50);
        const size_t n = (size_t)width * (size_t)channels;
        float *x = filled(run, (size_t)plane * (size_t)(channels - 1) + (size_t)width, 1.0f);
        float *want = kernel_buffer(run, n * sizeof *want, 4), *got = kernel_buffer(run, n * sizeof *got, 4);
        kernel_case(run, "%d channels, %d pixels", channels, width);
        ref->row_planes(x, plane, channels, want, width);
        mine->row_planes(x, plane, channels, got, width);
        kernel_compare_f32(run, want, got, n, KERNEL_F32_EXACT);
        kernel_end(run);
    }
}

/* Never more than a rounding away, and one may fall to the other side. */
static void check_silu_to_bf16(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    const sk_act_f32 silu = {.kind = SK_UNARY_SILU};
    for (int i = 0; i < 100; i++) {
        const size_t n = (size_t)kernel_length(run, i, 60) * SK_BLOCK;
        float *x = kernel_buffer(run, n * sizeof *x, 4);
        uint16_t *want = kernel_buffer(run, n * sizeof *want, 2),
                 *got = kernel_buffer(run, n * sizeof *got, 2);
        kernel_fill_f32(run, x, n, -20.0f, 20.0f);
        kernel_case(run, "n %zu", n);
        ref->silu_to_bf16(x, want, n);
        mine->silu_to_bf16(x, got, n);
        for (size_t k = 0; k < n; k++) {
            const float exact = sk_act_ref(x[k], &silu), a = sk_bf16_to_f32(got[k]),
                        b = sk_bf16_to_f32(want[k]);
            if (fabsf(a - exact) > 0.0041f * fabsf(exact) + 1e-30f ||
                fabsf(b - exact) > 0.004f * fabsf(exact) + 1e-30f)
                kernel_fail(run, "SiLU of %g is %g, not %g", (double)x[k], (double)a, (double)exact);
        }
        kernel_end(run);
    }
}

void check_conv(kernel_run *run)
{
    sk_kernels_f32 ref, mine;
    sk_kernels_f32_fill(&ref, 0);
    sk_kernels_f32_fill(&mine, run->flags);
    if (kernel_variant(run, "f32c16 conv", (kernel_fn)mine.conv)) {
        direct(run, ref.conv, mine.conv, mine.conv_tile, 0);
        for (int w = 1; w <= 4; w++)
            bench_direct(run, &mine, 0, w, 4, 4, 1, 1, 40);
        bench_direct(run, &mine, 0, 2, 4, 4, 3, 2, 40);
    }
    if (kernel_variant(run, "f32c16 conv3", (kernel_fn)mine.conv3)) {
        direct(run, ref.conv3, mine.conv3, mine.conv3_tile, 1);
        for (int w = 1; w <= 3; w++)
            bench_direct(run, &mine, 1, w, 4, 4, 3, 2, 40);
    }
    if (kernel_variant(run, "f32c16 winograd", (kernel_fn)mine.winograd))
        check_winograd(run, &ref, &mine);
    if (kernel_variant(run, "f32c16 conv bf16", (kernel_fn)mine.conv_bf16)) {
        check_bf16(run, &ref, &mine);
        bench_bf16(run, &mine, 2, 1, 40);
        bench_bf16(run, &mine, 4, 1, 40);
        bench_bf16(run, &mine, 2, 3, 40);
        bench_bf16(run, &mine, 4, 3, 40);
    }
    if (kernel_variant(run, "f32c16 winograd words", (kernel_fn)mine.winograd_words)) {
        check_words(run, &ref, &mine);
        bench_words(run, &mine, 2, 1, 80);
        bench_words(run, &mine, 4, 1, 40);
        bench_words(run, &mine, 8, 1, 40);
        bench_words(run, &mine, 4, 2, 80);
        bench_words(run, &mine, 8, 2, 40);
    }
    if (kernel_variant(run, "f32c16 depthwise", (kernel_fn)mine.depthwise))
        check_depthwise(run, &ref, &mine);
    if (kernel_variant(run, "depthwise bf16", (kernel_fn)mine.depthwise_bf16))
        check_depthwise_bf16(run, &ref, &mine);
    if (kernel_variant(run, "f32c16 first", (kernel_fn)mine.first))
        check_first(run, &ref, &mine);
    if (kernel_variant(run, "row planes", (kernel_fn)mine.row_planes))
        check_row_planes(run, &ref, &mine);
    if (kernel_variant(run, "silu to bf16", (kernel_fn)mine.silu_to_bf16))
        check_silu_to_bf16(run, &ref, &mine);
    if (kernel_variant(run, "row u8", (kernel_fn)mine.row_u8))
        check_row_u8(run, &ref, &mine);
}
