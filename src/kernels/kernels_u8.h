/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_KERNELS_U8_H
#define SK_KERNELS_KERNELS_U8_H

#include <stddef.h>
#include <stdint.h>

/* Convolutions and what lies between them in 8 bits. Exact integers: every instruction set gives plain C's bytes.
 *
 * Layout u8c16: f32c16 (kernels/kernels.h) with bytes instead of floats, border filled with the zero point. A byte q of a
 * map with (scale, zero) means (q - zero) * scale. Strides count bytes.
 *
 * Weights are i8, [group][block][ky][kx][channel / 4][16 * width][4 channels]: four channels of sixteen outputs a vector.
 * Channels above a block's fill have weight 0, so what lies there does not matter.
 *
 * From sums to bytes, in this order:
 *   sum   i32, exact:  sums[o] * -in_zero + sum of weight * byte, and what half_sums adds
 *   x     i16: round to even(fma(sum, scale[o], bias[o])), below 2^31, held to 16 bits. Its unit is the output's
 *         scale / 2^shift.
 *   y     i16: the activation (sk_act_i16) of x, and a residual added before or behind it
 *   byte  (y + half + (zero << shift)) >> shift, the sum held to 16 bits, the whole to 0 … 255
 *
 * Winograd, 4x4 outputs of a 3x3 window at a time, gives the same sums. Y = A^T [ (G g G^T) . (B^T d B) ] A has fractions in
 * G only: 24 times each axis, they are whole, and with half of the last row (A doubles it) everything fits 16 bits. So 576 Y
 * comes out modulo 2^32; a ninth of that, which is a multiplication, and a 64th, which is a shift, are Y, if it is below 2^25.
 * Weights are i16, [point][group][block][channel / 2][16 * width][2 channels]. */

#define SK_I16_SEGMENTS    64
#define SK_NINTH           954437177u /* modulo 2^32 */
#define SK_WINOGRAD_U8_SUM (1 << 25)  /* no sum of weight * byte may reach it */

/* y = min(max(x, 0), high), or max(x, 0) - fold(|x|), where relu is set, else y = x. fold is a table of 64 straight pieces: what SiLU, GELU and
 * hard swish are below max(x, 0), the same on both sides of 0:
 *   a = |x|, i = min(a * gain >> 16, 63), f = (a * gain & 0xffff) >> 1, fold = level[i] + (slope[i] * f + 0x4000 >> 15) */
typedef struct sk_act_i16 {
    int32_t relu, folded;
    int16_t high;
    uint16_t gain;
    int16_t level[SK_I16_SEGMENTS], slope[SK_I16_SEGMENTS];
    int32_t pieces[SK_I16_SEGMENTS]; /* both: slope above, level below */
} sk_act_i16;

/* What becomes of x. residual: y += ((byte - residual_zero) << 7) * residual_gain + 0x4000 >> 15, saturating. */
typedef struct sk_finish_u8 {
    const sk_act_i16 *act;
    int32_t shift, zero; /* shift: 0 … 6 */
    int32_t residual_first, residual_zero;
    int16_t residual_gain;
} sk_finish_u8;

typedef struct sk_conv_u8c16 {
    const uint8_t *in; /* the byte under tap (0, 0) of output pixel (0, 0) */
    ptrdiff_t in_plane, in_row;
    ptrdiff_t in_pixel; /* bytes from column to column: 16; an interleaved picture's row: its channels */
    const uint8_t *fill;
    int32_t in_blocks, in_zero;
    int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    const int8_t *weights;
    const int32_t *sums;       /* of each output channel's weights; 16 * out_blocks */
    const float *scale, *bias; /* of each output channel; bytes: in units of x, floats: of the output */
    uint8_t *out;              /* bytes; null: floats, or sums */
    float *out_f32;
    int32_t
        *out_sums; /* not null: the sums, and nothing of what follows them; neither depthwise nor winograd */
    ptrdiff_t out_plane, out_row, out_pixel; /* in elements */
    int32_t out_blocks, out_h, out_w;
    int32_t
        last_outputs; /* of the last block, if not all: the others have weights, sums, scale, bias and half_sums 0; 0: all */
    int32_t width, tile, groups_outer; /* as sk_conv_f32c16's */
    ptrdiff_t group_weights;           /* bytes from one full group's weights to the next */
    int32_t batch_tiles;               /* winograd: tiles transformed together, a multiple of 4 */
    ptrdiff_t point_weights;           /* winograd: bytes from point to point */
    sk_finish_u8 finish;
    const uint8_t *residual; /* null = none */
    ptrdiff_t residual_plane, residual_row;
    const int32_t *
        half_sums; /* null = none: out_sums of a map of half the size, whose (y / 2, x / 2) is added to each sum;
                                 neither depthwise nor winograd */
    ptrdiff_t half_plane, half_row; /* in elements */
} sk_conv_u8c16;

/* Groups [g0, g1) of rows [y0, y1); depthwise: blocks, weights [block][tap][16] as i32, tile and width unused. in_pixel 16. */
typedef void (*sk_conv_u8c16_fn)(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1);
/* Groups [g0, g1) of 4x4 tiles [t0, t1), counted row by row; 3x3, stride 1, bytes out, pixel by pixel. `scratch` holds
 * sk_winograd_u8_scratch() bytes of this thread, 64-byte aligned. */
typedef void (*sk_winograd_u8_fn)(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1,
                                  void *scratch);
static inline size_t sk_winograd_u8_scratch(int32_t in_blocks, int32_t width, int32_t batch_tiles)
{
    return (size_t)batch_tiles * 16 * (36 * 2 * (size_t)in_blocks + 16 * 2 + 36 * 4 * (size_t)width) +
           2 * 36 * 64;
}
/* The 36 words of nine weights, tap (ky, kx) at 3 * ky + kx. */
void sk_winograd_u8_weights(const int8_t *taps, int16_t *points);
/* x to bytes, `count` of them; residual null or as many bytes. */
typedef void (*sk_finish_u8_fn)(const sk_finish_u8 *f, const int16_t *x, const uint8_t *residual,
                                uint8_t *out, size_t count);
/* byte = round to even(x / scale) + zero, held to 0 … 255; no number gives zero. */
typedef void (*sk_quantise_u8_fn)(const float *in, uint8_t *out, size_t count, float scale, int32_t zero);
/* (byte - zero) * scale */
typedef void (*sk_dequantise_u8_fn)(const uint8_t *in, float *out, size_t count, float scale, int32_t zero);
/* The largest of each column's bytes under a window of one block; pads are left out. sk_pool_f32c16 with bytes. */
typedef struct sk_pool_u8c16 {
    const uint8_t *in; /* pixel (0, 0) */
    ptrdiff_t in_row;
    int32_t in_h, in_w;
    uint8_t *out;
    ptrdiff_t out_row;
    int32_t out_w;
    int32_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w;
} sk_pool_u8c16;
typedef void (*sk_pool_u8c16_fn)(const sk_pool_u8c16 *p, int32_t y0, int32_t y1);

typedef struct sk_kernels_u8 {
    const char *isa;
    int8_t conv_tile[5]; /* largest register tile for each group width 1 … 4; 0 = not offered */
    int8_t whole_blocks; /* conv is quickest where every block of the input counts as full */
    sk_conv_u8c16_fn conv, depthwise;
    sk_winograd_u8_fn winograd; /* null where it would gain nothing */
    sk_finish_u8_fn finish;
    sk_quantise_u8_fn quantise;
    sk_dequantise_u8_fn dequantise;
    sk_pool_u8c16_fn max_pool;
} sk_kernels_u8;

/* The best functions for these sk_cpu flags; 0 gives plain C. */
void sk_kernels_u8_fill(sk_kernels_u8 *table, uint32_t flags);

void sk_kernels_u8_ref(sk_kernels_u8 *table);
void sk_kernels_u8_avx2(sk_kernels_u8 *table);
void sk_kernels_u8_avxvnni(sk_kernels_u8 *table);
void sk_kernels_u8_avx512vnni(sk_kernels_u8 *table);
void sk_kernels_u8_amx(sk_kernels_u8 *table);
void sk_kernels_u8_neon(sk_kernels_u8 *table);
void sk_kernels_u8_dotprod(sk_kernels_u8 *table);
void sk_kernels_u8_i8mm(sk_kernels_u8 *table);

/* Fills `act` for the activation `kind` (sk_unary) whose x has the unit `unit`; 0 = not one of these. */
int sk_act_i16_make(sk_act_i16 *act, int32_t kind, double unit);
/* How far its straight pieces lie from the curve at most, in x's own measure. */
double sk_act_i16_error(const sk_act_i16 *act, int32_t kind, double unit);

#endif
