/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/ref/act_ref.h"

/* Maps and rows in plain C. */

typedef struct window {
    int32_t y0, y1, x0, x1; /* taps inside the map */
    int32_t top, left;
} window;

static int32_t taps_inside(int32_t at, int32_t size, int32_t kernel, int32_t dilation, int32_t *first)
{
    int32_t count = 0;
    *first = -1;
    for (int32_t k = 0; k < kernel; k++)
        if (at + k * dilation >= 0 && at + k * dilation < size) {
            if (*first < 0)
                *first = k;
            count++;
        }
    if (*first < 0)
        *first = 0;
    return count;
}

static window window_at(const sk_pool_f32c16 *p, int32_t y, int32_t x)
{
    window w = {.top = y * p->stride_h - p->pad_top, .left = x * p->stride_w - p->pad_left};
    w.y1 = taps_inside(w.top, p->in_h, p->kernel_h, p->dilation_h, &w.y0) + w.y0;
    w.x1 = taps_inside(w.left, p->in_w, p->kernel_w, p->dilation_w, &w.x0) + w.x0;
    return w;
}

static const float *tap(const sk_pool_f32c16 *p, const window *w, int32_t ky, int32_t kx)
{
    return p->in + (w->top + ky * p->dilation_h) * p->in_row + (w->left + kx * p->dilation_w) * SK_BLOCK;
}

static void max_pool(const sk_pool_f32c16 *p, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = 0; x < p->out_w; x++) {
            window w = window_at(p, y, x);
            for (int i = 0; i < SK_BLOCK; i++) {
                float best = -INFINITY;
                for (int32_t ky = w.y0; ky < w.y1; ky++)
                    for (int32_t kx = w.x0; kx < w.x1; kx++) {
                        float v = tap(p, &w, ky, kx)[i];
                        best = v > best ? v : best;
                    }
                p->out[y * p->out_row + x * SK_BLOCK + i] = best;
            }
        }
}

static void avg_pool(const sk_pool_f32c16 *p, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = 0; x < p->out_w; x++) {
            window w = window_at(p, y, x);
            int32_t rows = w.y1 - w.y0, columns = w.x1 - w.x0, unused;
            if (p->count_pad) {
                rows = taps_inside(w.top + p->pad_top, p->in_h + p->pad_top + p->pad_bottom, p->kernel_h,
                                   p->dilation_h, &unused);
                columns = taps_inside(w.left + p->pad_left, p->in_w + p->pad_left + p->pad_right, p->kernel_w,
                                      p->dilation_w, &unused);
            }
            float scale = 1.0f / ((float)(rows > 0 ? rows : 1) * (float)(columns > 0 ? columns : 1));
            for (int i = 0; i < SK_BLOCK; i++) {
                float sum = 0.0f;
                for (int32_t ky = w.y0; ky < w.y1; ky++)
                    for (int32_t kx = w.x0; kx < w.x1; kx++)
                        sum += tap(p, &w, ky, kx)[i];
                p->out[y * p->out_row + x * SK_BLOCK + i] = sum * scale;
            }
        }
}

static void unary(const float *in, float *out, size_t count, const sk_act_f32 *act)
{
    for (size_t i = 0; i < count; i++)
        out[i] = sk_act_ref(in[i], act);
}

static float binary_at(int32_t kind, float a, float b)
{
    switch (kind) {
    case SK_BINARY_ADD: return a + b;
    case SK_BINARY_SUB: return a - b;
    case SK_BINARY_MUL: return a * b;
    case SK_BINARY_DIV: return a / b;
    case SK_BINARY_MIN: return a < b ? a : b;
    case SK_BINARY_MAX: return a > b ? a : b;
    default: return a;
    }
}

static void binary(int32_t kind, const float *a, const float *b, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = binary_at(kind, a[i], b[i]);
}

static void binary16(int32_t kind, const float *a, const float *b16, float *out, size_t count, int32_t flip)
{
    for (size_t i = 0; i < count; i++)
        out[i] = flip ? binary_at(kind, b16[i % SK_BLOCK], a[i]) : binary_at(kind, a[i], b16[i % SK_BLOCK]);
}

static void upsample2(const float *in, float *out0, float *out1, int32_t width)
{
    for (int32_t x = 0; x < 2 * width; x++)
        for (int i = 0; i < SK_BLOCK; i++)
            out0[x * SK_BLOCK + i] = out1[x * SK_BLOCK + i] = in[x / 2 * SK_BLOCK + i];
}

static void bilinear(const sk_bilinear_f32c16 *p)
{
    for (int32_t x = 0; x < p->width; x++)
        for (int i = 0; i < SK_BLOCK; i++) {
            const ptrdiff_t l = (ptrdiff_t)p->left[x] * SK_BLOCK + i,
                            r = (ptrdiff_t)p->right[x] * SK_BLOCK + i;
            float top = p->top[l] + (p->top[r] - p->top[l]) * p->weight_right[x];
            float bottom = p->bottom[l] + (p->bottom[r] - p->bottom[l]) * p->weight_right[x];
            p->out[x * SK_BLOCK + i] = top + (bottom - top) * p->weight_bottom;
        }
}

static void to_blocked(const float *in, ptrdiff_t channel_stride, int32_t channels, float *out, int32_t width)
{
    for (int32_t x = 0; x < width; x++)
        for (int32_t c = 0; c < SK_BLOCK; c++)
            out[x * SK_BLOCK + c] = c < channels ? in[c * channel_stride + x] : 0.0f;
}

static void from_blocked(const float *in, float *out, ptrdiff_t channel_stride, int32_t channels,
                         int32_t width)
{
    for (int32_t c = 0; c < channels; c++)
        for (int32_t x = 0; x < width; x++)
            out[c * channel_stride + x] = in[x * SK_BLOCK + c];
}

static void softmax(const float *in, float *out, size_t count)
{
    float best = -INFINITY, sum = 0.0f;
    for (size_t i = 0; i < count; i++)
        best = in[i] > best ? in[i] : best;
    for (size_t i = 0; i < count; i++) {
        out[i] = expf(in[i] - best);
        sum += out[i];
    }
    for (size_t i = 0; i < count; i++)
        out[i] /= sum;
}

static void softmax_blocked(float *data, ptrdiff_t plane, int32_t blocks, int32_t last, int32_t pixels,
                            float scale)
{
    int32_t count = (blocks - 1) * SK_BLOCK + last;
    for (int32_t x = 0; x < pixels; x++) {
        float *at = data + (ptrdiff_t)x * SK_BLOCK, best = -INFINITY, sum = 0.0f;
        for (int32_t i = 0; i < count; i++)
            best = fmaxf(best, at[i / SK_BLOCK * plane + i % SK_BLOCK]);
        for (int32_t i = 0; i < count; i++) {
            float *v = &at[i / SK_BLOCK * plane + i % SK_BLOCK];
            *v = expf((*v - best) * scale);
            sum += *v;
        }
        for (int32_t i = 0; i < blocks * SK_BLOCK; i++) {
            float *v = &at[i / SK_BLOCK * plane + i % SK_BLOCK];
            *v = i < count ? *v / sum : 0.0f;
        }
    }
}

static void gemm(const sk_gemm_f32 *p, int32_t m0, int32_t m1)
{
    for (int32_t m = m0; m < m1; m++)
        for (int32_t n = 0; n < p->n; n++) {
            float sum = p->bias ? p->bias[n] : 0.0f;
            for (int32_t k = 0; k < p->k; k++)
                sum += p->a[m * p->a_row + k * p->a_col] * p->b[k * p->b_row + n];
            p->c[m * p->c_row + n] = sum;
        }
}

static void layer_norm(const float *in, float *out, size_t count, const float *scale, const float *shift,
                       float epsilon)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += in[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        square += (in[i] - mean) * (in[i] - mean);
    double gain = 1.0 / sqrt(square / (double)count + epsilon);
    for (size_t i = 0; i < count; i++)
        out[i] = (float)((in[i] - mean) * gain) * (scale ? scale[i] : 1.0f) + (shift ? shift[i] : 0.0f);
}

static void attention(const sk_attention_f32 *p)
{
    for (int32_t i = 0; i < p->queries; i++) {
        float top = -INFINITY, total = 0.0f;
        for (int32_t j = 0; j < p->keys; j++) {
            float sum = 0.0f;
            for (int32_t d = 0; d < p->kd; d++)
                sum += p->q[d * SK_BLOCK + i] * p->k[(ptrdiff_t)j * p->kd + d];
            p->scores[(ptrdiff_t)j * SK_BLOCK + i] = sum;
            top = sum > top ? sum : top;
        }
        for (int32_t j = 0; j < p->keys; j++) {
            float *score = &p->scores[(ptrdiff_t)j * SK_BLOCK + i];
            *score = exp2f(*score - top);
            total += *score;
        }
        for (int32_t c = 0; c < p->hd; c++) {
            float sum = 0.0f;
            for (int32_t j = 0; j < p->keys; j++)
                sum += p->scores[(ptrdiff_t)j * SK_BLOCK + i] * p->v[(ptrdiff_t)j * p->hd + c];
            p->out[i][c / SK_BLOCK * p->out_plane + c % SK_BLOCK] = sum / total;
        }
    }
}

void sk_kernels_f32_ref(sk_kernels_f32 *table)
{
    table->isa = "plain c";
    sk_kernels_f32_conv_ref(table);
    table->max_pool = max_pool;
    table->avg_pool = avg_pool;
    table->unary = unary;
    table->binary = binary;
    table->binary16 = binary16;
    table->upsample2 = upsample2;
    table->bilinear = bilinear;
    table->to_blocked = to_blocked;
    table->from_blocked = from_blocked;
    table->softmax = softmax;
    table->softmax_blocked = softmax_blocked;
    table->gemm = gemm;
    table->layer_norm = layer_norm;
    table->attention = attention;
}
