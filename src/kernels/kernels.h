/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_KERNELS_H
#define SK_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* The arithmetic of the CPU engine: one operation a file, one function table an instruction set, tables filled
 * upward (what AVX-512 does not have is AVX2's, then SSE4.2's, then plain C's). Kernels never allocate, never fail
 * and know nothing of graphs; every size, stride and pointer was checked when the plan was made.
 *
 * Layout f32c16: float32, channels in blocks of 16, [block][row][column][16], rows and columns with a zero border as
 * wide as the widest convolution that reads the map needs. Pointers point at the first pixel inside the border;
 * strides count floats: `plane` from block to block, `row` from row to row; a pixel is always 16 floats. A block may
 * hold fewer than 16 channels (`fill`); the channels above are garbage that nobody reads: convolutions run over the
 * filled channels only. So a concatenation of any channel counts is the maps side by side, and costs nothing.
 *
 * Weights are packed for the kernel that reads them; sk_pack_* in engines/cpu/pack.c writes these forms:
 *   tap form   [group][block][ky][kx][channel][16 * width]   (sk_kernels_f32.conv)
 *   row form   [group][block][ky][channel][kx][16 * width]   (conv3)
 *   pair form  [group][block][ky][kx][channel / 2][16 * width][2] as bf16  (conv_bf16)
 *   winograd   [point][group][block][channel][16 * width]    (winograd; 36 points for stride 1, 81 for 2)
 *   word form  [point][group][block][channel / 2][16 * width][2] as i16  (winograd_words; strides count words)
 * where a group is `width` output blocks (the last group may be narrower and is packed as narrow), and `channel` runs
 * over the block's fill. */

#define SK_BLOCK 16

/* Activations applied in the epilogue; the numbers are sk_unary's. */
typedef struct sk_act_f32 {
    int32_t kind; /* 0 = none */
    float alpha, beta;
} sk_act_f32;

/* A dense convolution of one image. One call computes output groups [g0, g1) of rows [y0, y1). */
typedef struct sk_conv_f32c16 {
    const float *in; /* the sample under tap (0, 0) of output pixel (0, 0): may lie in the border */
    ptrdiff_t in_plane, in_row;
    const uint8_t *fill; /* channels in each input block, 1 … 16 */
    int32_t in_blocks;
    int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    const float *weights, *bias; /* bias: 16 * out_blocks floats */
    float *out;
    ptrdiff_t out_plane, out_row;
    ptrdiff_t
        out_pixel; /* floats from pixel to pixel: 16, or more when a transposed convolution fills every second */
    int32_t out_blocks, out_h, out_w;
    int32_t width;        /* output blocks a group, 1 … 4 */
    int32_t tile;         /* most pixels (winograd: tiles) in the register tile; at most the table's limit */
    int32_t groups_outer; /* loop order: 1 = all rows of a group before the next group */
    int32_t batch_tiles;  /* winograd: tiles transformed together */
    sk_act_f32 act;
    const float *residual; /* null = none; same shape as the output */
    ptrdiff_t residual_plane, residual_row;
    int32_t residual_first; /* 1: act(sum + residual); 0: act(sum) + residual */
    int32_t residual_shift; /* 1: the residual has half the size and is read at (y / 2, x / 2) */
    ptrdiff_t
        group_weights; /* floats from one full group's weights to the next (winograd: inside one point) */
    ptrdiff_t point_weights; /* winograd: floats from point to point */
    /* conv_bf16: where maps are bf16c16, f32c16 with bf16 instead of floats; each null: that map is f32. Strides count
     * elements either way. */
    const uint16_t *in16, *residual16;
    uint16_t *out16;
    int32_t
        last_outputs; /* conv_bf16: outputs of the last block, if not all; the others have weights and bias 0; 0: all */
    int32_t in_h, in_w;       /* winograd: rows and columns that may be read from `in`; beyond them is zero */
    const float *point_worth; /* winograd_words: [output block][point][16], what 1 of a weight is worth */
    const float *
        channel_gain; /* winograd_words: [input block][16], powers of two up to 1 that inputs are multiplied by */
} sk_conv_f32c16;

typedef void (*sk_conv_f32c16_fn)(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1);
/* Winograd for 3x3 windows, stride 1 or 2 both ways, dilation 1, out_pixel 16: groups [g0, g1) of the 4x4 output tiles
 * [t0, t1) counted row by row. `scratch` holds sk_winograd_scratch() floats of this thread, 64-byte aligned. */
typedef void (*sk_winograd_f32c16_fn)(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1,
                                      float *scratch);

/* Products of inputs and weights rounded to bf16, summed in f32; weights in pair form. `scratch` holds
 * sk_bf16_scratch() floats of this thread. */
typedef sk_winograd_f32c16_fn sk_conv_bf16_fn;
static inline size_t sk_bf16_scratch(const sk_conv_f32c16 *p)
{
    const size_t rows = (size_t)(3 * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1);
    const size_t columns = (size_t)((p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1);
    return rows * columns * (size_t)p->in_blocks * (SK_BLOCK / 2);
}

/* Multiplications a channel pair and 4x4 tile. */
static inline int32_t sk_winograd_points(int32_t stride)
{
    return stride == 1 ? 36 : 81;
}
static inline size_t sk_winograd_scratch(int32_t stride, int32_t in_blocks, int32_t out_blocks,
                                         int32_t batch_tiles)
{
    return (size_t)sk_winograd_points(stride) * (size_t)((in_blocks + out_blocks) * batch_tiles + 1) *
           SK_BLOCK;
}

/* The same, with products of words in 32-bit sums: each tile's inputs, times their channel's gain, are divided by their largest, transformed
 * and rounded to 16 bits. Gains are what weights were divided by, so that channels of large inputs and small weights, or the other way
 * round, have words of one size. Maps as conv_bf16's. A tile that reads anything infinite, or anything that is no number, becomes no number as a whole. The
 * magnitudes of an output's weights at a point add up to SK_WORDS_SUM at most, so that no sum leaves 32 bits. batch_tiles is a multiple
 * of 4; `scratch` holds sk_words_scratch() floats of this thread. */
#define SK_WORDS_SUM      65535
#define SK_WORDS_CHANNELS 256 /* inputs at most: they share the sum's bits, and 512 would lose 2 % of it */
typedef sk_winograd_f32c16_fn sk_winograd_words_fn;
static inline size_t sk_words_scratch(int32_t stride, int32_t in_blocks, int32_t width, int32_t batch_tiles)
{
    const size_t points = (size_t)sk_winograd_points(stride), batch = (size_t)batch_tiles;
    return 16 * batch * SK_BLOCK + batch + SK_BLOCK + points * SK_BLOCK +
           points * ((size_t)in_blocks * batch / 2 + 1 + (size_t)width * batch + 1) * SK_BLOCK;
}
/* B^T and G of winograd_words have other rows than winograd's: each row of B^T is as much larger as G's is smaller. */
static inline double sk_words_row(int32_t stride, int32_t row)
{
    static const double one[6] = {1, 1, 1, 5.0 / 3, 5.0 / 3, 1}, two[9] = {1, 1.5, 1, 3, 1, 6, 6, 6, 6};
    return stride == 1 ? one[row] : two[row];
}

/* Depthwise: block b of the input makes block b of the output. weights [block][ky * kernel_w + kx][16]. Uses the
 * fields of sk_conv_f32c16 except fill, width, tile; out_pixel is 16. Blocks [b0, b1) of rows [y0, y1). */
typedef sk_conv_f32c16_fn sk_depthwise_f32c16_fn;

/* The same from a map of bf16, to either; sums are f32's. Windows up to SK_DEPTHWISE_BF16_MOST rows and columns, strides up to 2, no dilation. */
#define SK_DEPTHWISE_BF16_MOST 7
typedef sk_depthwise_f32c16_fn sk_depthwise_bf16_fn;

/* First layer: 1 to 4 channels, interleaved float rows, made by row_u8 from pictures, by row_planes from tensors. */
typedef struct sk_first_f32c16 {
    const float *rows[16]; /* kernel_h rows of the current output row, starting at column -pad_left */
    int32_t channels, kernel_h, kernel_w, stride_w;
    const float *weights; /* [group][ky][kx][channel][16 * width] */
    const float *bias;
    float *out; /* first pixel of the output row */
    ptrdiff_t out_plane;
    int32_t out_blocks, out_w, width, tile;
    sk_act_f32 act;
} sk_first_f32c16;

/* All groups of one output row. */
typedef void (*sk_first_f32c16_fn)(const sk_first_f32c16 *p);
typedef void (*sk_to_bf16_fn)(const float *in, uint16_t *out, size_t count);
typedef void (*sk_from_bf16_fn)(const uint16_t *in, float *out, size_t count);
/* SiLU as far as bf16 can tell, rounded to it; count is a multiple of 16. */
typedef sk_to_bf16_fn sk_silu_to_bf16_fn;
/* The largest of four bf16 pixels each, of two rows; by their bits' order, in which numbers of the positive sign above infinity come last. */
typedef void (*sk_halve_bf16_fn)(const uint16_t *top, const uint16_t *below, uint16_t *out, int32_t pixels);
/* out[i] = in[i] * gain[i % 48] - shift[i % 48] for `count` samples; both patterns have 48 entries + 16. */
typedef void (*sk_row_u8_fn)(const uint8_t *in, float *out, int32_t count, const float *gain,
                             const float *shift);

/* Rows of 1 to 4 channels, `plane` floats apart, to one of interleaved pixels. */
typedef void (*sk_row_planes_fn)(const float *in, ptrdiff_t plane, int32_t channels, float *out,
                                 int32_t width);

/* Sliding windows over one block (max, average). Pads are excluded, not zero. */
typedef struct sk_pool_f32c16 {
    const float *in; /* pixel (0, 0) */
    ptrdiff_t in_row;
    int32_t in_h, in_w;
    float *out;
    ptrdiff_t out_row;
    int32_t out_h, out_w;
    int32_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w;
    int32_t count_pad; /* average: divide by the full window; pad_bottom/right are inside the count then */
    int32_t pad_bottom, pad_right;
} sk_pool_f32c16;
typedef void (*sk_pool_f32c16_fn)(const sk_pool_f32c16 *p, int32_t y0, int32_t y1);

/* Elementwise over `count` floats; out may be an input. */
typedef void (*sk_unary_f32_fn)(const float *in, float *out, size_t count, const sk_act_f32 *act);
/* kind: sk_binary's add, sub, mul, div, min, max. */
typedef void (*sk_binary_f32_fn)(int32_t kind, const float *a, const float *b, float *out, size_t count);
/* The same with one operand 16 floats long, repeated (a value a channel). flip: b op a. */
typedef void (*sk_binary16_f32_fn)(int32_t kind, const float *a, const float *b16, float *out, size_t count,
                                   int32_t flip);

/* One row of a 2x nearest upsampling: each pixel twice, into two rows. */
typedef void (*sk_upsample_f32c16_fn)(const float *in, float *out0, float *out1, int32_t width);
/* One output row of a linear resize: for each column the mix of four pixels, weights in 0 … 1. */
typedef struct sk_bilinear_f32c16 {
    const float *top, *bottom; /* two input rows */
    float weight_bottom;
    const int32_t *left, *right; /* per output column: pixel indices */
    const float *weight_right;
    float *out;
    int32_t width;
} sk_bilinear_f32c16;
typedef void (*sk_bilinear_f32c16_fn)(const sk_bilinear_f32c16 *p);

/* Between [channel][pixel] rows and blocked pixels: `width` pixels of up to 16 channels. */
typedef void (*sk_to_blocked_f32_fn)(const float *in, ptrdiff_t channel_stride, int32_t channels, float *out,
                                     int32_t width);
typedef void (*sk_from_blocked_f32_fn)(const float *in, float *out, ptrdiff_t channel_stride,
                                       int32_t channels, int32_t width);

/* Softmax of `count` contiguous floats, in place allowed. */
typedef void (*sk_softmax_f32_fn)(const float *in, float *out, size_t count);
/* Softmax over the channels of blocked rows: pixel x's vector is in[b * plane + x * 16], b = 0 … blocks-1, `last` valid
 * channels in the last block. In place; channels above `last` become 0. Multiplies by `scale` first. */
typedef void (*sk_softmax_f32c16_fn)(float *data, ptrdiff_t plane, int32_t blocks, int32_t last,
                                     int32_t pixels, float scale);

/* c[m][n] = sum_k a[m][k] b[k][n] (+ bias[n]); a read with strides, b and c have contiguous rows. */
typedef struct sk_gemm_f32 {
    const float *a;
    ptrdiff_t a_row, a_col;
    const float *b;
    ptrdiff_t b_row;
    float *c;
    ptrdiff_t c_row;
    int32_t m, n, k;
    const float *bias; /* null, or n floats */
} sk_gemm_f32;
typedef void (*sk_gemm_f32_fn)(const sk_gemm_f32 *p, int32_t m0, int32_t m1);

/* (x - mean) / sqrt(variance + epsilon) * scale + shift over `count` contiguous floats. scale, shift may be null. */
typedef void (*sk_layer_norm_f32_fn)(const float *in, float *out, size_t count, const float *scale,
                                     const float *shift, float epsilon);

/* Attention of up to 16 queries: out[i] = sum_j v[j] 2^(q_i k_j) / sum_j 2^(q_i k_j). */
typedef struct sk_attention_f32 {
    const float *q; /* [kd][16]: the queries side by side; those that do not exist have any finite numbers */
    const float *k, *v;            /* [keys][kd], [keys][hd] */
    int32_t queries, keys, kd, hd; /* both widths multiples of 16; at least one key */
    float *scores;                 /* [keys][16], of this thread */
    float *const *out;             /* of each query its first block; the others out_plane further each */
    ptrdiff_t out_plane;
} sk_attention_f32;
typedef void (*sk_attention_f32_fn)(const sk_attention_f32 *p);

typedef struct sk_kernels_f32 {
    const char *isa; /* "avx512", "avx2", "sse4.2", "neon", "plain c" */
    /* Largest register tile for each group width 1 … 4; 0 = that width is not offered. */
    int8_t conv_tile[5], conv3_tile[5];
    /* What is quickest with these registers: Winograd with stride 2 from so many input channels, three columns at once
     * also with stride 2. */
    int16_t winograd2_from;
    int8_t rows_stride2;
    sk_conv_f32c16_fn conv;  /* any window; weights in tap form */
    sk_conv_f32c16_fn conv3; /* 3 columns, dilation 1, stride 1 or 2; weights in row form; may be null */
    sk_winograd_f32c16_fn winograd;
    sk_winograd_words_fn winograd_words;
    int8_t words_native; /* up to which stride it is quicker than conv_bf16 and winograd; 0: never */
    sk_conv_bf16_fn conv_bf16;
    int8_t bf16_native; /* it is quicker than conv */
    int8_t
        bf16_tiles; /* by far, and quicker than Winograd, where all blocks are full and rows have 16 pixels; else slower */
    sk_to_bf16_fn to_bf16;
    sk_silu_to_bf16_fn silu_to_bf16;
    sk_from_bf16_fn from_bf16;
    sk_halve_bf16_fn halve_bf16;
    sk_depthwise_f32c16_fn depthwise;
    sk_depthwise_bf16_fn depthwise_bf16;
    sk_first_f32c16_fn first;
    sk_row_u8_fn row_u8;
    sk_row_planes_fn row_planes;
    sk_pool_f32c16_fn max_pool, avg_pool;
    sk_unary_f32_fn unary;
    sk_binary_f32_fn binary;
    sk_binary16_f32_fn binary16;
    sk_upsample_f32c16_fn upsample2;
    sk_bilinear_f32c16_fn bilinear;
    sk_to_blocked_f32_fn to_blocked;
    sk_from_blocked_f32_fn from_blocked;
    sk_softmax_f32_fn softmax;
    sk_softmax_f32c16_fn softmax_blocked;
    sk_gemm_f32_fn gemm;
    sk_layer_norm_f32_fn layer_norm;
    sk_attention_f32_fn attention;
} sk_kernels_f32;

/* The best functions for these sk_cpu flags (base/cpu.h); 0 gives plain C. */
void sk_kernels_f32_fill(sk_kernels_f32 *table, uint32_t flags);

/* Which activations sk_unary and the epilogues know; everything else is the reference executor's. */
int sk_act_f32_known(int32_t kind);

/* Each set's part of the table; entries it does not have stay as they are. */
void sk_kernels_f32_ref(sk_kernels_f32 *table);
void sk_kernels_f32_sse42(sk_kernels_f32 *table);
void sk_kernels_f32_avx2(sk_kernels_f32 *table);
void sk_kernels_f32_avx512(sk_kernels_f32 *table);
void sk_kernels_f32_avx512bf16(sk_kernels_f32 *table);
void sk_kernels_f32_amx(sk_kernels_f32 *table);
void sk_kernels_f32_neon(sk_kernels_f32 *table);

#endif
