/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/ref/act_ref.h"

#include <string.h>

/* Convolutions in plain C: what the vector kernels are checked against, and what a CPU without any of them runs. */

static void finish(const sk_conv_f32c16 *p, int32_t block, int32_t y, int32_t x, const float sum[SK_BLOCK])
{
    float *out = p->out + block * p->out_plane + y * p->out_row + x * p->out_pixel;
    const float *r = NULL;
    if (p->residual)
        r = p->residual + block * p->residual_plane + (y >> p->residual_shift) * p->residual_row +
            (x >> p->residual_shift) * SK_BLOCK;
    for (int i = 0; i < SK_BLOCK; i++) {
        float v = sum[i];
        if (r && p->residual_first)
            v += r[i];
        v = sk_act_ref(v, &p->act);
        out[i] = r && !p->residual_first ? v + r[i] : v;
    }
}

/* Adds one tap of one channel to a block of sums. */
static inline void add(float sum[SK_BLOCK], const float *w, float v)
{
    for (int i = 0; i < SK_BLOCK; i++)
        sum[i] += w[i] * v;
}

/* Where weight (channel c of block b, tap ky kx) of a group starts, in the tap or the row form. */
static ptrdiff_t weight_at(const sk_conv_f32c16 *p, int row_form, int32_t before, int32_t fill, int32_t c, int32_t ky,
                           int32_t kx)
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
                    add(sum, w + weight_at(p, row_form, before, p->fill[b], c, ky, kx) * width * SK_BLOCK, in[c]);
            }
    finish(p, block, y, x, sum);
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

/* B^T d along one axis of a 6x6 patch: d[0], d[step], … */
static void transform_in(float *d, int step)
{
    float a = d[0], b = d[step], c = d[2 * step], e = d[3 * step], f = d[4 * step], g = d[5 * step];
    d[0] = 4.0f * a - 5.0f * c + f;
    d[step] = -4.0f * b - 4.0f * c + e + f;
    d[2 * step] = 4.0f * b - 4.0f * c - e + f;
    d[3 * step] = -2.0f * b - c + 2.0f * e + f;
    d[4 * step] = 2.0f * b - c - 2.0f * e + f;
    d[5 * step] = 4.0f * b - 5.0f * e + g;
}

/* A^T m along one axis: six become four. */
static void transform_out(const float *m, int step, float o[4])
{
    float a = m[step] + m[2 * step], b = m[step] - m[2 * step];
    float c = m[3 * step] + m[4 * step], e = m[3 * step] - m[4 * step];
    o[0] = m[0] + a + c;
    o[1] = b + 2.0f * e;
    o[2] = a + 4.0f * c;
    o[3] = b + 8.0f * e + m[5 * step];
}

/* Sums the 36 products of one tile over all channels: m[36][16]. */
static void winograd_products(const sk_conv_f32c16 *p, int32_t block, int32_t ty, int32_t tx, float m[36][SK_BLOCK])
{
    int32_t g = block / p->width, first = g * p->width, before = 0;
    int32_t width = p->out_blocks - first < p->width ? p->out_blocks - first : p->width;
    const float *w = p->weights + g * p->group_weights + (block - first) * SK_BLOCK;
    memset(m, 0, 36 * SK_BLOCK * sizeof(float));
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t c = 0; c < p->fill[b]; c++, before++) {
            float d[36];
            for (int32_t i = 0; i < 36; i++) {
                int32_t y = ty * 4 + i / 6, x = tx * 4 + i % 6;
                d[i] = y < p->in_h && x < p->in_w ? p->in[b * p->in_plane + y * p->in_row + x * SK_BLOCK + c] : 0.0f;
            }
            for (int i = 0; i < 6; i++)
                transform_in(d + i, 6);
            for (int i = 0; i < 6; i++)
                transform_in(d + 6 * i, 1);
            for (int k = 0; k < 36; k++)
                add(m[k], w + k * p->point_weights + (ptrdiff_t)before * width * SK_BLOCK, d[k]);
        }
}

static void winograd(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1, float *scratch)
{
    (void)scratch;
    int32_t columns = (p->out_w + 3) / 4;
    int32_t last = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    for (int32_t block = g0 * p->width; block < last; block++)
        for (int32_t t = t0; t < t1; t++) {
            float m[36][SK_BLOCK], sums[4][4][SK_BLOCK];
            winograd_products(p, block, t / columns, t % columns, m);
            for (int i = 0; i < SK_BLOCK; i++) {
                float half[4][6];
                for (int x = 0; x < 6; x++) {
                    float o[4];
                    transform_out(&m[x][i], 6 * SK_BLOCK, o);
                    for (int y = 0; y < 4; y++)
                        half[y][x] = o[y];
                }
                for (int y = 0; y < 4; y++) {
                    float o[4];
                    transform_out(half[y], 1, o);
                    for (int x = 0; x < 4; x++)
                        sums[y][x][i] = o[x] + p->bias[block * SK_BLOCK + i];
                }
            }
            for (int32_t y = t / columns * 4, i = 0; i < 4 && y + i < p->out_h; i++)
                for (int32_t x = t % columns * 4, k = 0; k < 4 && x + k < p->out_w; k++)
                    finish(p, block, y + i, x + k, sums[i][k]);
        }
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
                    const float *in =
                        p->in + b * p->in_plane +
                        ((ptrdiff_t)y * p->stride_h + k / p->kernel_w * p->dilation_h) * p->in_row +
                        ((ptrdiff_t)x * p->stride_w + k % p->kernel_w * p->dilation_w) * SK_BLOCK;
                    for (int i = 0; i < SK_BLOCK; i++)
                        sum[i] += w[i] * in[i];
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
        const float *group = p->weights + (ptrdiff_t)from * p->kernel_h * taps * SK_BLOCK + (block - from) * SK_BLOCK;
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

static void row_u8(const uint8_t *in, float *out, int32_t count, const float *gain, const float *shift)
{
    for (int32_t i = 0; i < count; i++)
        out[i] = (float)in[i] * gain[i % 48] - shift[i % 48];
}

void sk_kernels_f32_conv_ref(sk_kernels_f32 *table)
{
    static const int8_t conv_tile[5] = {0, 8, 0, 0, 0};
    memcpy(table->conv_tile, conv_tile, sizeof conv_tile);
    memcpy(table->conv3_tile, conv_tile, sizeof conv_tile);
    table->conv = conv;
    table->conv3 = conv3;
    table->winograd = winograd;
    table->depthwise = depthwise;
    table->first = first;
    table->row_u8 = row_u8;
}
