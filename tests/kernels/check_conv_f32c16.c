/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include "graph/graph.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

void check_conv_f32c16(kernel_run *run);

/* Convolutions on blocked maps. Every buffer is exactly as large as the contract says may be touched: input
 * rows end where the last tap ends. Lanes above a block's fill hold NaN, which must not come through. */

#define MOST_BLOCKS 5

typedef struct conv_case {
    sk_conv_f32c16 p; /* out is set by run_case */
    uint8_t fill[MOST_BLOCKS];
    size_t in_floats, out_floats, weight_floats;
    float *want, *got, *scratch;
    double flops;
} conv_case;

static float *floats(kernel_run *run, size_t count, float low, float high)
{
    float *values = kernel_buffer(run, 4 * count, 64);
    kernel_fill_f32(run, values, count, low, high);
    return values;
}

static sk_act_f32 random_act(kernel_run *run)
{
    static const int32_t kinds[] = {0,
                                    SK_UNARY_SILU,
                                    SK_UNARY_RELU,
                                    SK_UNARY_SIGMOID,
                                    SK_UNARY_LEAKY,
                                    SK_UNARY_GELU,
                                    SK_UNARY_HARD_SWISH,
                                    SK_UNARY_MISH};
    int64_t last = (int64_t)(sizeof kinds / sizeof kinds[0]) - 1;
    return (sk_act_f32){.kind = kinds[kernel_range(run, 0, last)], .alpha = 0.1f, .beta = 0.5f};
}

/* Input and output maps for the window already in c->p. */
static void make_maps(kernel_run *run, conv_case *c, int is_depthwise)
{
    sk_conv_f32c16 *p = &c->p;
    p->in_h = (p->out_h - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
    p->in_w = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    p->in_row = (ptrdiff_t)p->in_w * SK_BLOCK;
    p->in_plane = p->in_row * p->in_h;
    c->in_floats = (size_t)(p->in_plane * p->in_blocks);
    float *in = floats(run, c->in_floats, -1, 1);
    for (size_t i = 0; !is_depthwise && i < c->in_floats; i++) {
        if ((int32_t)(i % SK_BLOCK) >= c->fill[i / (size_t)p->in_plane])
            in[i] = NAN;
    }
    kernel_freeze(run, in);
    p->in = in;
    p->fill = c->fill;
    p->out_row = (ptrdiff_t)p->out_w * p->out_pixel;
    p->out_plane = p->out_row * p->out_h;
    c->out_floats = (size_t)(p->out_plane * p->out_blocks);
    c->want = floats(run, c->out_floats, 3, 3); /* also where nothing is to be written */
    c->got = floats(run, c->out_floats, 3, 3);
    p->bias = floats(run, (size_t)p->out_blocks * SK_BLOCK, -0.5f, 0.5f);
    p->act = random_act(run);
    if (kernel_range(run, 0, 2) == 0) {
        p->residual_shift = (int32_t)kernel_range(run, 0, 1);
        p->residual_first = (int32_t)kernel_range(run, 0, 1);
        int32_t h = (p->out_h + p->residual_shift) >> p->residual_shift;
        int32_t w = (p->out_w + p->residual_shift) >> p->residual_shift;
        p->residual_row = (ptrdiff_t)w * SK_BLOCK;
        p->residual_plane = p->residual_row * h;
        p->residual = floats(run, (size_t)(p->residual_plane * p->out_blocks), -1, 1);
    }
}

static int32_t channels_of(const conv_case *c)
{
    int32_t channels = 0;
    for (int32_t b = 0; b < c->p.in_blocks; b++)
        channels += c->fill[b];
    return channels;
}

/* A group width this table offers and a tile it takes. */
static void choose_tile(kernel_run *run, sk_conv_f32c16 *p, const int8_t tiles[5])
{
    do
        p->width = (int32_t)kernel_range(run, 1, 4);
    while (tiles[p->width] == 0);
    p->tile = (int32_t)kernel_range(run, 1, tiles[p->width]);
    p->groups_outer = (int32_t)kernel_range(run, 0, 1);
}

static void make_dense(kernel_run *run, conv_case *c, const int8_t tiles[5], int points)
{
    sk_conv_f32c16 *p = &c->p;
    choose_tile(run, p, tiles);
    for (int32_t b = 0; b < p->in_blocks; b++)
        c->fill[b] = (uint8_t)(kernel_range(run, 0, 1) ? SK_BLOCK : kernel_range(run, 1, SK_BLOCK));
    make_maps(run, c, 0);
    ptrdiff_t taps = points > 1 ? 1 : (ptrdiff_t)p->kernel_h * p->kernel_w;
    p->group_weights = channels_of(c) * taps * p->width * SK_BLOCK;
    p->point_weights = channels_of(c) * taps * p->out_blocks * SK_BLOCK;
    p->weights = floats(run, (size_t)(p->point_weights * points), -0.2f, 0.2f);
    c->flops =
        2.0 * channels_of(c) * p->kernel_h * p->kernel_w * p->out_blocks * SK_BLOCK * p->out_h * p->out_w;
}

/* Part by part, as threads would do it. */
static void run_case(const conv_case *c, sk_conv_f32c16_fn fn, float *out, int32_t groups, int32_t group_cut,
                     int32_t row_cut)
{
    sk_conv_f32c16 p = c->p;
    p.out = out;
    fn(&p, 0, group_cut, 0, p.out_h);
    fn(&p, group_cut, groups, 0, row_cut);
    fn(&p, group_cut, groups, row_cut, p.out_h);
}

static void name_case(kernel_run *run, const sk_conv_f32c16 *p)
{
    kernel_case(run,
                "%dx%d/%dx%d dilated %dx%d, %d blocks to %d of %dx%d, width %d tile %d pixel %d act %d%s",
                p->kernel_h, p->kernel_w, p->stride_h, p->stride_w, p->dilation_h, p->dilation_w,
                p->in_blocks, p->out_blocks, p->out_h, p->out_w, p->width, p->tile, (int)p->out_pixel,
                p->act.kind, p->residual ? " residual" : "");
}

static conv_case small_case(kernel_run *run)
{
    conv_case c = {.p = {.in_blocks = (int32_t)kernel_range(run, 1, 3),
                         .kernel_h = (int32_t)kernel_range(run, 1, 4),
                         .kernel_w = (int32_t)kernel_range(run, 1, 4),
                         .stride_h = (int32_t)kernel_range(run, 1, 3),
                         .stride_w = (int32_t)kernel_range(run, 1, 3),
                         .dilation_h = (int32_t)kernel_range(run, 1, 2),
                         .dilation_w = (int32_t)kernel_range(run, 1, 2),
                         .out_blocks = (int32_t)kernel_range(run, 1, MOST_BLOCKS),
                         .out_h = (int32_t)kernel_range(run, 1, 4),
                         .out_w = (int32_t)kernel_range(run, 1, 45),
                         .out_pixel = SK_BLOCK,
                         .batch_tiles = (int32_t)kernel_range(run, 1, 12)}};
    return c;
}

static const kernel_limits sums = {1e-5, 1e-11};

static void compare_case(kernel_run *run, const conv_case *c, sk_conv_f32c16_fn ref, sk_conv_f32c16_fn mine,
                         int32_t groups)
{
    name_case(run, &c->p);
    run_case(c, ref, c->want, groups, 0, 0);
    run_case(c, mine, c->got, groups, (int32_t)kernel_range(run, 0, groups),
             (int32_t)kernel_range(run, 0, c->p.out_h));
    kernel_compare_f32(run, c->want, c->got, c->out_floats, sums);
    kernel_end(run);
}

/* A layer from the middle of a small network. */
static conv_case bench_case(int32_t kernel, int32_t blocks, int32_t size)
{
    conv_case c = {.p = {.in_blocks = blocks,
                         .kernel_h = kernel,
                         .kernel_w = kernel,
                         .stride_h = 1,
                         .stride_w = 1,
                         .dilation_h = 1,
                         .dilation_w = 1,
                         .out_blocks = blocks,
                         .out_h = size,
                         .out_w = size,
                         .out_pixel = SK_BLOCK,
                         .batch_tiles = 12}};
    return c;
}

/* Widest group with its largest tile: nearly always the best. Maps are made anew without tails. */
static void prepare_bench(kernel_run *run, conv_case *c, const int8_t tiles[5], int points)
{
    make_dense(run, c, tiles, points);
    sk_conv_f32c16 *p = &c->p;
    int32_t width = tiles[2] ? 2 : 1;
    memset(c->fill, SK_BLOCK, sizeof c->fill);
    float *in = floats(run, c->in_floats, -1, 1), *weights;
    p->in = in;
    p->width = width;
    p->tile = tiles[width];
    p->groups_outer = 1;
    p->residual = NULL;
    p->act = (sk_act_f32){.kind = SK_UNARY_SILU};
    ptrdiff_t taps = points > 1 ? 1 : (ptrdiff_t)p->kernel_h * p->kernel_w;
    p->group_weights = channels_of(c) * taps * width * SK_BLOCK;
    p->point_weights = channels_of(c) * taps * p->out_blocks * SK_BLOCK;
    weights = floats(run, (size_t)(p->point_weights * points), -0.2f, 0.2f);
    p->weights = weights;
    p->out = c->got;
    c->flops =
        2.0 * channels_of(c) * p->kernel_h * p->kernel_w * p->out_blocks * SK_BLOCK * p->out_h * p->out_w;
}

static void check_dense(kernel_run *run, const char *name, sk_conv_f32c16_fn ref, sk_conv_f32c16_fn mine,
                        const int8_t tiles[5], int is_conv3)
{
    if (!kernel_variant(run, name, (kernel_fn)mine))
        return;
    for (int i = 0; i < 250; i++) {
        conv_case c = small_case(run);
        if (is_conv3) {
            c.p.kernel_w = 3;
            c.p.dilation_w = 1;
            c.p.dilation_h = 1;
            c.p.stride_w = (int32_t)kernel_range(run, 1, 2);
        }
        c.p.out_pixel = SK_BLOCK * kernel_range(run, 1, 2);
        make_dense(run, &c, tiles, 1);
        compare_case(run, &c, ref, mine, (c.p.out_blocks + c.p.width - 1) / c.p.width);
    }
    for (int32_t kernel = is_conv3 ? 3 : 1; kernel <= 3; kernel += 2) {
        conv_case c = bench_case(kernel, 4, 40);
        prepare_bench(run, &c, tiles, 1);
        KERNEL_BENCH(run, kernel == 1 ? "1x1 64->64 @40" : "3x3 64->64 @40", c.flops, 0)
        mine(&c.p, 0, (c.p.out_blocks + c.p.width - 1) / c.p.width, 0, c.p.out_h);
        kernel_end(run);
    }
}

static void run_winograd(const conv_case *c, sk_winograd_f32c16_fn fn, float *out, int32_t group_cut,
                         int32_t tile_cut)
{
    sk_conv_f32c16 p = c->p;
    int32_t groups = (p.out_blocks + p.width - 1) / p.width, tiles = (p.out_h + 3) / 4 * ((p.out_w + 3) / 4);
    p.out = out;
    if (group_cut > 0)
        fn(&p, 0, group_cut, 0, tiles, c->scratch);
    if (group_cut < groups && tile_cut > 0)
        fn(&p, group_cut, groups, 0, tile_cut, c->scratch);
    if (group_cut < groups && tile_cut < tiles)
        fn(&p, group_cut, groups, tile_cut, tiles, c->scratch);
}

static void check_winograd(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    if (!kernel_variant(run, "winograd_f32c16", (kernel_fn)mine->winograd))
        return;
    for (int i = 0; i < 120; i++) {
        conv_case c = small_case(run);
        c.p.kernel_h = c.p.kernel_w = 3;
        c.p.stride_h = c.p.stride_w = c.p.dilation_h = c.p.dilation_w = 1;
        c.p.out_h = (int32_t)kernel_range(run, 1, 9);
        c.p.out_w = (int32_t)kernel_range(run, 1, 25);
        make_dense(run, &c, mine->conv_tile, 36);
        size_t scratch = sk_winograd_scratch(c.p.in_blocks, c.p.out_blocks, c.p.batch_tiles);
        c.scratch = floats(run, scratch, 0, 1);
        name_case(run, &c.p);
        int32_t groups = (c.p.out_blocks + c.p.width - 1) / c.p.width;
        int32_t tiles = (c.p.out_h + 3) / 4 * ((c.p.out_w + 3) / 4);
        run_winograd(&c, ref->winograd, c.want, 0, 0);
        run_winograd(&c, mine->winograd, c.got, (int32_t)kernel_range(run, 0, groups),
                     (int32_t)kernel_range(run, 0, tiles));
        kernel_compare_f32(run, c.want, c.got, c.out_floats, KERNEL_WINOGRAD);
        kernel_end(run);
    }
    conv_case c = bench_case(3, 4, 40);
    prepare_bench(run, &c, mine->conv_tile, 36);
    c.scratch = floats(run, sk_winograd_scratch(4, 4, c.p.batch_tiles), 0, 1);
    KERNEL_BENCH(run, "3x3 64->64 @40 (direct flops)", c.flops, 0)
    mine->winograd(&c.p, 0, (c.p.out_blocks + c.p.width - 1) / c.p.width, 0, 100, c.scratch);
    kernel_end(run);
}

static void check_depthwise(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    if (!kernel_variant(run, "depthwise_f32c16", (kernel_fn)mine->depthwise))
        return;
    for (int i = 0; i < 150; i++) {
        conv_case c = small_case(run);
        c.p.in_blocks = c.p.out_blocks;
        if (i % 2)
            c.p.kernel_h = c.p.kernel_w = 3, c.p.dilation_h = c.p.dilation_w = 1;
        make_maps(run, &c, 1);
        c.p.weights = floats(run, (size_t)(c.p.kernel_h * c.p.kernel_w * c.p.out_blocks * SK_BLOCK), -1, 1);
        compare_case(run, &c, ref->depthwise, mine->depthwise, c.p.out_blocks);
    }
    conv_case c = bench_case(3, 4, 40);
    make_maps(run, &c, 1);
    c.p.weights = floats(run, (size_t)(9 * 4 * SK_BLOCK), -1, 1);
    c.p.residual = NULL;
    c.p.act = (sk_act_f32){0};
    c.p.out = c.got;
    KERNEL_BENCH(run, "3x3 64 @40", 2.0 * 9 * 64 * 1600, 4.0 * (double)(c.in_floats + c.out_floats))
    mine->depthwise(&c.p, 0, 4, 0, 40);
    kernel_end(run);
}

static void check_first(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    if (!kernel_variant(run, "first_f32c16", (kernel_fn)mine->first))
        return;
    for (int i = 0; i < 150; i++) {
        int is_usual = i % 3 == 0; /* 3 channels, 3 columns, stride 2 has a kernel of its own */
        sk_first_f32c16 p = {.channels = is_usual ? 3 : (int32_t)kernel_range(run, 1, 4),
                             .kernel_h = (int32_t)kernel_range(run, 1, 7),
                             .kernel_w = is_usual ? 3 : (int32_t)kernel_range(run, 1, 7),
                             .stride_w = is_usual ? 2 : (int32_t)kernel_range(run, 1, 3),
                             .out_blocks = (int32_t)kernel_range(run, 1, 4),
                             .out_w = (int32_t)kernel_range(run, 1, 50),
                             .width = (int32_t)kernel_range(run, 1, 2),
                             .tile = 1,
                             .act = random_act(run)};
        size_t row = (size_t)(((p.out_w - 1) * p.stride_w + p.kernel_w) * p.channels);
        for (int32_t y = 0; y < p.kernel_h; y++) {
            float *values = kernel_buffer(run, 4 * row, 4);
            kernel_fill_f32(run, values, row, -1, 1);
            p.rows[y] = values;
        }
        size_t taps = (size_t)(p.kernel_h * p.kernel_w * p.channels), lanes = (size_t)p.out_blocks * SK_BLOCK;
        p.weights = floats(run, taps * lanes, -0.3f, 0.3f);
        p.bias = floats(run, lanes, -0.5f, 0.5f);
        p.out_plane = (ptrdiff_t)p.out_w * SK_BLOCK;
        size_t out = (size_t)p.out_w * lanes;
        float *want = floats(run, out, 3, 3), *got = floats(run, out, 3, 3);
        kernel_case(run, "%dx%dx%d/%d to %d blocks of %d, width %d act %d", p.kernel_h, p.kernel_w,
                    p.channels, p.stride_w, p.out_blocks, p.out_w, p.width, p.act.kind);
        p.out = want;
        ref->first(&p);
        p.out = got;
        mine->first(&p);
        kernel_compare_f32(run, want, got, out, sums);
        kernel_end(run);
    }
}

static void check_row_u8(kernel_run *run, const sk_kernels_f32 *ref, const sk_kernels_f32 *mine)
{
    if (!kernel_variant(run, "row_u8", (kernel_fn)mine->row_u8))
        return;
    for (int i = 0; i < 120; i++) {
        int64_t n = kernel_length(run, i, 2000);
        uint8_t *x = kernel_buffer(run, (size_t)n, 1);
        float *want = kernel_buffer(run, 4 * (size_t)n, 4), *got = kernel_buffer(run, 4 * (size_t)n, 4);
        float *gain = floats(run, 64, 0, 0.01f), *shift = floats(run, 64, -1, 1);
        for (int k = 48; k < 64; k++) {
            gain[k] = gain[k - 48];
            shift[k] = shift[k - 48];
        }
        kernel_fill_bytes(run, x, (size_t)n);
        kernel_freeze(run, x);
        kernel_case(run, "n %lld", (long long)n);
        ref->row_u8(x, want, (int32_t)n, gain, shift);
        mine->row_u8(x, got, (int32_t)n, gain, shift);
        kernel_compare_f32(run, want, got, (size_t)n, KERNEL_F32_EXACT);
        kernel_end(run);
    }
}

void check_conv_f32c16(kernel_run *run)
{
    sk_kernels_f32 ref, mine;
    sk_kernels_f32_fill(&ref, 0);
    sk_kernels_f32_fill(&mine, run->flags);
    check_dense(run, "conv_f32c16", ref.conv, mine.conv, mine.conv_tile, 0);
    if (mine.conv3)
        check_dense(run, "conv3_f32c16", ref.conv3, mine.conv3, mine.conv3_tile, 1);
    check_winograd(run, &ref, &mine);
    check_depthwise(run, &ref, &mine);
    check_first(run, &ref, &mine);
    check_row_u8(run, &ref, &mine);
}
