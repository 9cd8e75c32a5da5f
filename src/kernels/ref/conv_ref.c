/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/halve_bf16.h"
#include "kernels/ref/act_ref.h"

#include <math.h>
#include <string.h>

/* Convolutions in plain C: what the vector kernels are checked against, and what a CPU without any of them runs. */

static void finish(const sk_conv_f32c16 *p, int32_t block, int32_t y, int32_t x, const float sum[SK_BLOCK])
{
    const ptrdiff_t to = block * p->out_plane + y * p->out_row + x * p->out_pixel;
    const ptrdiff_t from = block * p->residual_plane + (y >> p->residual_shift) * p->residual_row +
                           (x >> p->residual_shift) * SK_BLOCK;
    for (int i = 0; i < SK_BLOCK; i++) {
        const bool has = p->residual || p->residual16;
        const float r = p->residual16 ? sk_bf16_to_f32(p->residual16[from + i])
                        : p->residual ? p->residual[from + i]
                                      : 0.0f;
        float v = sum[i];
        if (has && p->residual_first)
            v += r;
        v = sk_act_ref(v, &p->act);
        v = has && !p->residual_first ? v + r : v;
        if (p->out16)
            p->out16[to + i] = sk_f32_to_bf16(v);
        else
            p->out[to + i] = v;
    }
}

/* Adds one tap of one channel to a block of sums. */
static inline void add(float sum[SK_BLOCK], const float *w, float v)
{
    for (int i = 0; i < SK_BLOCK; i++)
        sum[i] += w[i] * v;
}

/* Where weight (channel c of block b, tap ky kx) of a group starts, in the tap or the row form. */
static ptrdiff_t weight_at(const sk_conv_f32c16 *p, int row_form, int32_t before, int32_t fill, int32_t c,
                           int32_t ky, int32_t kx)
{
    int32_t taps = p->kernel_h * p->kernel_w;
    ptrdiff_t base = (ptrdiff_t)before * taps;
    if (row_form)
        return base + ((ptrdiff_t)ky * fill + c) * p->kernel_w + kx;
    return base + ((ptrdiff_t)ky * p->kernel_w + kx) * fill + c;
}

static void conv_pixel(const sk_conv_f32c16 *p, int row_form, int32_t block, int32_t y, int32_t x)
{
    int32_t g = block / p->width, first = g * p->width;
    int32_t width = p->out_blocks - first < p->width ? p->out_blocks - first : p->width;
    const float *w = p->weights + g * p->group_weights + (block - first) * SK_BLOCK;
    float sum[SK_BLOCK];
    memcpy(sum, p->bias + block * SK_BLOCK, sizeof sum);
    int32_t before = 0;
    for (int32_t b = 0; b < p->in_blocks; before += p->fill[b], b++)
        for (int32_t ky = 0; ky < p->kernel_h; ky++)
            for (int32_t kx = 0; kx < p->kernel_w; kx++) {
                const float *in = p->in + b * p->in_plane +
                                  ((ptrdiff_t)y * p->stride_h + ky * p->dilation_h) * p->in_row +
                                  ((ptrdiff_t)x * p->stride_w + kx * p->dilation_w) * SK_BLOCK;
                for (int32_t c = 0; c < p->fill[b]; c++)
                    add(sum, w + weight_at(p, row_form, before, p->fill[b], c, ky, kx) * width * SK_BLOCK,
                        in[c]);
            }
    finish(p, block, y, x, sum);
}

/* With rounded inputs, and weights in pair form. */
static void conv_bf16_pixel(const sk_conv_f32c16 *p, int32_t block, int32_t y, int32_t x)
{
    int32_t g = block / p->width, first = g * p->width;
    int32_t width = p->out_blocks - first < p->width ? p->out_blocks - first : p->width;
    const uint16_t *w = (const uint16_t *)(const void *)(p->weights + g * p->group_weights);
    float sum[SK_BLOCK];
    memcpy(sum, p->bias + block * SK_BLOCK, sizeof sum);
    w += (block - first) * SK_BLOCK * 2;
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t k = 0; k < p->kernel_h * p->kernel_w; k++) {
            const ptrdiff_t at = b * p->in_plane +
                                 ((ptrdiff_t)y * p->stride_h + k / p->kernel_w * p->dilation_h) * p->in_row +
                                 ((ptrdiff_t)x * p->stride_w + k % p->kernel_w * p->dilation_w) * SK_BLOCK;
            for (int32_t c = 0; c < (p->fill[b] + 1) / 2 * 2; c++) {
                const float v = c >= p->fill[b] ? 0.0f
                                                : sk_bf16_to_f32(p->in16 ? p->in16[at + c]
                                                                         : sk_f32_to_bf16(p->in[at + c]));
                for (int i = 0; i < SK_BLOCK; i++)
                    sum[i] += sk_bf16_to_f32(w[2 * i + c % 2]) * v;
                w += c % 2 ? width * SK_BLOCK * 2 : 0;
            }
        }
    finish(p, block, y, x, sum);
}

static void silu_to_bf16(const float *in, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = sk_f32_to_bf16(sk_act_ref(in[i], &(sk_act_f32){.kind = SK_UNARY_SILU}));
}

static void to_bf16(const float *in, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = sk_f32_to_bf16(in[i]);
}

static void from_bf16(const uint16_t *in, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = sk_bf16_to_f32(in[i]);
}

static void conv_bf16(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1, float *scratch)
{
    (void)scratch;
    int32_t last = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    for (int32_t block = g0 * p->width; block < last; block++)
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = 0; x < p->out_w; x++)
                conv_bf16_pixel(p, block, y, x);
}

static void conv_any(const sk_conv_f32c16 *p, int row_form, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    int32_t last = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    for (int32_t block = g0 * p->width; block < last; block++)
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = 0; x < p->out_w; x++)
                conv_pixel(p, row_form, block, y, x);
}

static void conv(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    conv_any(p, 0, g0, g1, y0, y1);
}

static void conv3(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    conv_any(p, 1, g0, g1, y0, y1);
}

/* Winograd's matrices as they stand in the books; see simd/winograd_impl.h for the two cases. */
static const float bt_1[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                                 {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
static const float at_1[4][6] = {
    {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
static const float bt_2[9][9] = {
    {2, 0, -1, 0, -2, 0, 1, 0, 0}, {0, 0, -2, 0, -1, 0, 1, 0, 0}, {0, 0, 2, 0, -3, 0, 1, 0, 0},
    {0, 0, -1, 0, 0, 0, 1, 0, 0},  {0, 0, 2, 0, -1, 0, -2, 0, 1}, {0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0},   {0, 0, 0, 0, 0, 1, 0, 0, 0},   {0, 0, 0, 0, 0, 0, 0, 1, 0}};
static const float at_2[4][9] = {{1, 1, 1, 1, 0, 1, 0, 0, 0},
                                 {0, 1, -1, 2, 0, 0, 1, 0, 0},
                                 {0, 1, 1, 4, 0, 0, 0, 1, 0},
                                 {0, 1, -1, 8, 1, 0, 0, 0, 1}};

/* out[rows][rows] = m in m^T for a square `in` of `side`; m is [rows][side]. */
static void both_sides(const float *m, int rows, int side, const float *in, float *out)
{
    float half[9][9];
    for (int i = 0; i < rows; i++)
        for (int x = 0; x < side; x++) {
            half[i][x] = 0.0f;
            for (int y = 0; y < side; y++)
                half[i][x] += m[i * side + y] * in[y * side + x];
        }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            out[i * rows + k] = 0.0f;
            for (int x = 0; x < side; x++)
                out[i * rows + k] += half[i][x] * m[k * side + x];
        }
}

/* Sums the products of one tile over all channels: m[16][points]. */
static void winograd_products(const sk_conv_f32c16 *p, int32_t block, int32_t ty, int32_t tx,
                              float m[SK_BLOCK][81])
{
    const int stride = p->stride_w, side = stride == 1 ? 6 : 9, points = side * side;
    int32_t g = block / p->width, first = g * p->width, before = 0;
    int32_t width = p->out_blocks - first < p->width ? p->out_blocks - first : p->width;
    const float *w = p->weights + g * p->group_weights + (block - first) * SK_BLOCK;
    memset(m, 0, SK_BLOCK * 81 * sizeof(float));
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t c = 0; c < p->fill[b]; c++, before++) {
            float d[81], v[81];
            for (int32_t i = 0; i < points; i++) {
                int32_t y = ty * 4 * stride + i / side, x = tx * 4 * stride + i % side;
                d[i] = y < p->in_h && x < p->in_w ? p->in[b * p->in_plane + y * p->in_row + x * SK_BLOCK + c]
                                                  : 0.0f;
            }
            both_sides(stride == 1 ? &bt_1[0][0] : &bt_2[0][0], side, side, d, v);
            for (int k = 0; k < points; k++)
                for (int i = 0; i < SK_BLOCK; i++)
                    m[i][k] += w[k * p->point_weights + (ptrdiff_t)before * width * SK_BLOCK + i] * v[k];
        }
}

/* --- the same with words --- */

static float input_at(const sk_conv_f32c16 *p, int32_t b, int32_t y, int32_t x, int32_t c)
{
    const ptrdiff_t at = b * p->in_plane + y * p->in_row + (ptrdiff_t)x * SK_BLOCK + c;
    if (y >= p->in_h || x >= p->in_w)
        return 0.0f;
    return p->in16 ? sk_bf16_to_f32(p->in16[at]) : p->in[at];
}

/* The largest magnitude of a tile's inputs; no number where one is none or infinite. */
static float largest_of(const sk_conv_f32c16 *p, int32_t ty, int32_t tx, int side)
{
    float largest = 1e-30f;
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t c = 0; c < p->fill[b]; c++)
            for (int32_t i = 0; i < side * side; i++) {
                const float d = fabsf(input_at(p, b, ty * 4 * p->stride_h + i / side,
                                               tx * 4 * p->stride_h + i % side, c)) *
                                p->channel_gain[b * SK_BLOCK + c];
                if (!isfinite(d))
                    return NAN;
                largest = d > largest ? d : largest;
            }
    return largest;
}

/* m[16][points] as in winograd_products; what they are worth is in. */
static void words_products(const sk_conv_f32c16 *p, int32_t block, int32_t ty, int32_t tx,
                           float m[SK_BLOCK][81])
{
    const int stride = p->stride_w, side = stride == 1 ? 6 : 9, points = side * side;
    const int32_t g = block / p->width, first = g * p->width;
    const int32_t width = p->out_blocks - first < p->width ? p->out_blocks - first : p->width;
    const int16_t *w = (const int16_t *)(const void *)p->weights + g * p->group_weights +
                       (ptrdiff_t)(block - first) * SK_BLOCK * 2;
    const float largest = largest_of(p, ty, tx, side), reach = 32767.0f / (stride == 1 ? 100.0f : 36.0f);
    int64_t sum[SK_BLOCK][81] = {{0}};
    for (int32_t b = 0; b < p->in_blocks && !isnan(largest); b++) {
        for (int32_t c = 0; c < p->fill[b]; c++) {
            float d[81], v[81];
            for (int32_t i = 0; i < points; i++)
                d[i] = input_at(p, b, ty * 4 * stride + i / side, tx * 4 * stride + i % side, c) *
                       (reach / largest) * p->channel_gain[b * SK_BLOCK + c];
            both_sides(stride == 1 ? &bt_1[0][0] : &bt_2[0][0], side, side, d, v);
            for (int k = 0; k < points; k++) {
                const double row = sk_words_row(stride, k / side) * sk_words_row(stride, k % side);
                const double word = rint((double)v[k] * row);
                for (int i = 0; i < SK_BLOCK; i++)
                    sum[i][k] +=
                        w[k * p->point_weights + (ptrdiff_t)(c / 2) * width * SK_BLOCK * 2 + 2 * i + c % 2] *
                        (int64_t)(word < -32768  ? -32768
                                  : word > 32767 ? 32767
                                                 : word);
            }
        }
        w += (ptrdiff_t)((p->fill[b] + 1) / 2) * width * SK_BLOCK * 2;
    }
    for (int i = 0; i < SK_BLOCK; i++)
        for (int k = 0; k < points; k++)
            m[i][k] = (float)sum[i][k] * p->point_worth[((ptrdiff_t)block * points + k) * SK_BLOCK + i] *
                      (largest / reach);
}

typedef void (*products_fn)(const sk_conv_f32c16 *p, int32_t block, int32_t ty, int32_t tx,
                            float m[SK_BLOCK][81]);

static void winograd_by(const sk_conv_f32c16 *p, products_fn products, int32_t g0, int32_t g1, int32_t t0,
                        int32_t t1)
{
    const int side = p->stride_w == 1 ? 6 : 9;
    int32_t columns = (p->out_w + 3) / 4;
    int32_t last = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    for (int32_t block = g0 * p->width; block < last; block++)
        for (int32_t t = t0; t < t1; t++) {
            float m[SK_BLOCK][81], sums[16][SK_BLOCK];
            products(p, block, t / columns, t % columns, m);
            for (int i = 0; i < SK_BLOCK; i++) {
                float y[16];
                both_sides(p->stride_w == 1 ? &at_1[0][0] : &at_2[0][0], 4, side, m[i], y);
                for (int k = 0; k < 16; k++)
                    sums[k][i] = y[k] + p->bias[block * SK_BLOCK + i];
            }
            for (int32_t y = t / columns * 4, i = 0; i < 4 && y + i < p->out_h; i++)
                for (int32_t x = t % columns * 4, k = 0; k < 4 && x + k < p->out_w; k++)
                    finish(p, block, y + i, x + k, sums[i * 4 + k]);
        }
}

static void winograd(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1, float *scratch)
{
    (void)scratch;
    winograd_by(p, winograd_products, g0, g1, t0, t1);
}

static void winograd_words(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1,
                           float *scratch)
{
    (void)scratch;
    winograd_by(p, words_products, g0, g1, t0, t1);
}

static void depthwise(const sk_conv_f32c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    int32_t taps = p->kernel_h * p->kernel_w;
    for (int32_t b = b0; b < b1; b++)
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = 0; x < p->out_w; x++) {
                float sum[SK_BLOCK];
                memcpy(sum, p->bias + b * SK_BLOCK, sizeof sum);
                for (int32_t k = 0; k < taps; k++) {
                    const float *w = p->weights + ((ptrdiff_t)b * taps + k) * SK_BLOCK;
                    const ptrdiff_t at =
                        b * p->in_plane +
                        ((ptrdiff_t)y * p->stride_h + k / p->kernel_w * p->dilation_h) * p->in_row +
                        ((ptrdiff_t)x * p->stride_w + k % p->kernel_w * p->dilation_w) * SK_BLOCK;
                    for (int i = 0; i < SK_BLOCK; i++)
                        sum[i] += w[i] * (p->in16 ? sk_bf16_to_f32(p->in16[at + i]) : p->in[at + i]);
                }
                finish(p, b, y, x, sum);
            }
}

static void first(const sk_first_f32c16 *p)
{
    int32_t taps = p->kernel_w * p->channels;
    for (int32_t block = 0; block < p->out_blocks; block++) {
        int32_t from = block / p->width * p->width;
        int32_t width = p->out_blocks - from < p->width ? p->out_blocks - from : p->width;
        const float *group =
            p->weights + (ptrdiff_t)from * p->kernel_h * taps * SK_BLOCK + (block - from) * SK_BLOCK;
        for (int32_t x = 0; x < p->out_w; x++) {
            float sum[SK_BLOCK];
            memcpy(sum, p->bias + block * SK_BLOCK, sizeof sum);
            for (int32_t ky = 0; ky < p->kernel_h; ky++)
                for (int32_t t = 0; t < taps; t++)
                    add(sum, group + ((ptrdiff_t)ky * taps + t) * width * SK_BLOCK,
                        p->rows[ky][(ptrdiff_t)x * p->stride_w * p->channels + t]);
            for (int i = 0; i < SK_BLOCK; i++)
                p->out[block * p->out_plane + x * SK_BLOCK + i] = sk_act_ref(sum[i], &p->act);
        }
    }
}

static void row_planes(const float *in, ptrdiff_t plane, int32_t channels, float *out, int32_t width)
{
    if (channels == 1)
        memcpy(out, in, (size_t)width * sizeof *out);
    else
        for (int32_t x = 0; x < width; x++)
            for (int32_t k = 0; k < channels; k++)
                out[x * channels + k] = in[k * plane + x];
}

static void row_u8(const uint8_t *in, float *out, int32_t count, const float *gain, const float *shift)
{
    for (int32_t i = 0; i < count; i++)
        out[i] = (float)in[i] * gain[i % 48] - shift[i % 48];
}

void sk_kernels_f32_conv_ref(sk_kernels_f32 *table)
{
    static const int8_t conv_tile[5] = {0, 8, 0, 0, 0};
    table->winograd2_from = 32;
    table->rows_stride2 = 0;
    memcpy(table->conv_tile, conv_tile, sizeof conv_tile);
    memcpy(table->conv3_tile, conv_tile, sizeof conv_tile);
    table->conv = conv;
    table->conv3 = conv3;
    table->winograd = winograd;
    table->winograd_words = winograd_words;
    table->conv_bf16 = conv_bf16;
    table->to_bf16 = to_bf16;
    table->silu_to_bf16 = silu_to_bf16;
    table->halve_bf16 = halve_bf16;
    table->from_bf16 = from_bf16;
    table->depthwise = table->depthwise_bf16 = depthwise;
    table->first = first;
    table->row_u8 = row_u8;
    table->row_planes = row_planes;
}
