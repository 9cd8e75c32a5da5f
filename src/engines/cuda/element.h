/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_ELEMENT_H
#define SK_ENGINES_CUDA_ELEMENT_H

#include "number_element.h"
#include "picture_element.h"

/* The simple kernels, written once: each function makes element `i` (of gpu_element_count) of a step's result. A kernel
 * is a loop over it on the device, a test a loop on the host. Correct for every shape; the fast kernels are checked
 * against these. Needs before it: GPU_HD, gpu_half_load, gpu_half_store, gpu_next (adds one to a counter, gives what it was). */

/* One output value; channels beyond cout, up to the next multiple of 8, become zero. */
GPU_HD void gpu_conv_any_element(const gpu_conv_any_args *a, int64_t i)
{
    const int32_t cout8 = (a->cout + 7) / 8 * 8, per = a->cin / a->groups;
    const int32_t co = (int32_t)(i % cout8);
    const int64_t pixel = i / cout8;
    const int32_t ox = (int32_t)(pixel % a->ow), oy = (int32_t)(pixel / a->ow % a->oh);
    const int64_t image = pixel / a->ow / a->oh;
    if (co >= a->cout) {
        gpu_store(a->p[0], pixel * a->ldo + co, a->type, 0.0f);
        return;
    }
    const int32_t first = co / (a->cout / a->groups) * per;
    const float *w = (const float *)a->p[2] + (int64_t)co * a->kh * a->kw * per;
    float sum = a->p[3] ? ((const float *)a->p[3])[co] : 0.0f;
    for (int32_t ky = 0; ky < a->kh; ky++) {
        const int32_t y = oy * a->stride_y + ky * a->dilation_y - a->pad_y;
        if (y < 0 || y >= a->h)
            continue;
        for (int32_t kx = 0; kx < a->kw; kx++) {
            const int32_t x = ox * a->stride_x + kx * a->dilation_x - a->pad_x;
            if (x < 0 || x >= a->w)
                continue;
            const int64_t at = ((image * a->h + y) * a->w + x) * a->ldi + first;
            const float *row = w + (ky * a->kw + kx) * per;
            for (int32_t c = 0; c < per; c++)
                sum += gpu_load(a->p[1], at + c, a->type) * row[c];
        }
    }
    const int64_t beside = a->residual_half ? pixel / a->ow / 2 * (a->ow / 2) + ox / 2 : pixel;
    const float residual = a->p[4] ? gpu_load(a->p[4], beside * a->ldr + co, a->type) : 0.0f;
    sum = a->residual_before ? gpu_act(sum + residual, a->act, a->alpha)
                             : gpu_act(sum, a->act, a->alpha) + residual;
    gpu_store(a->p[0], pixel * a->ldo + co, a->type, sum);
}

/* Eight output channels of one pixel. */
GPU_HD void gpu_deconv_element(const gpu_deconv_args *a, int64_t i)
{
    const int32_t c8 = (a->cout + 7) / 8, chunk = (int32_t)(i % c8), cout8 = c8 * 8;
    const int64_t pixel = i / c8;
    const int32_t ox = (int32_t)(pixel % a->ow), oy = (int32_t)(pixel / a->ow % a->oh);
    const int64_t image = pixel / a->ow / a->oh;
    float sum[8];
    for (int k = 0; k < 8; k++)
        sum[k] = a->p[3] && chunk * 8 + k < a->cout ? ((const float *)a->p[3])[chunk * 8 + k] : 0.0f;
    for (int32_t ky = 0; ky < a->kh; ky++) {
        const int32_t ry = oy + a->pad_y - ky;
        if (ry < 0 || ry % a->stride_y || ry / a->stride_y >= a->h)
            continue;
        for (int32_t kx = 0; kx < a->kw; kx++) {
            const int32_t rx = ox + a->pad_x - kx;
            if (rx < 0 || rx % a->stride_x || rx / a->stride_x >= a->w)
                continue;
            const int64_t at = ((image * a->h + ry / a->stride_y) * a->w + rx / a->stride_x) * a->ldi;
            const float *w = (const float *)a->p[2] + (int64_t)(ky * a->kw + kx) * a->cin * cout8 + chunk * 8;
            for (int32_t c = 0; c < a->cin; c++, w += cout8) {
                const float x = gpu_load(a->p[1], at + c, a->type);
                for (int k = 0; k < 8; k++)
                    sum[k] += x * w[k];
            }
        }
    }
    for (int k = 0; k < 8; k++)
        gpu_store(a->p[0], pixel * a->ldo + chunk * 8 + k, a->type,
                  chunk * 8 + k < a->cout ? gpu_act(sum[k], a->act, a->alpha) : 0.0f);
}

GPU_HD void gpu_shuffle_element(const gpu_shuffle_args *a, int64_t i)
{
    const int32_t chunk = (int32_t)(i % a->c8);
    const int64_t pixel = i / a->c8;
    const int32_t ox = (int32_t)(pixel % (2 * a->w)), oy = (int32_t)(pixel / (2 * a->w) % (2 * a->h));
    const int64_t image = pixel / (2 * a->w) / (2 * a->h);
    const int64_t from =
        ((image * a->h + oy / 2) * a->w + ox / 2) * a->ldi + ((oy % 2 * 2 + ox % 2) * a->c8 + chunk) * 8;
    const int64_t to = pixel * a->ldo + chunk * 8;
    for (int k = 0; k < 8; k++)
        gpu_store(a->p[0], to + k, a->type, gpu_load(a->p[1], from + k, a->type));
}

GPU_HD void gpu_depthwise_element(const gpu_depthwise_args *a, int64_t i)
{
    const int32_t c = a->c8 * 8, ch = (int32_t)(i % c);
    const int64_t pixel = i / c;
    const int32_t ox = (int32_t)(pixel % a->ow), oy = (int32_t)(pixel / a->ow % a->oh);
    const int64_t image = pixel / a->ow / a->oh;
    float sum = ((const float *)a->p[3])[ch];
    for (int32_t k = 0; k < a->k * a->k; k++) {
        const int32_t y = oy * a->stride + k / a->k - a->pad_y, x = ox * a->stride + k % a->k - a->pad_x;
        if (y >= 0 && y < a->h && x >= 0 && x < a->w)
            sum += gpu_load(a->p[1], ((image * a->h + y) * a->w + x) * a->ldi + ch, a->type) *
                   gpu_load(a->p[2], (int64_t)k * c + ch, a->type);
    }
    const float residual = a->p[4] ? gpu_load(a->p[4], pixel * a->ldr + ch, a->type) : 0.0f;
    sum = a->residual_before ? gpu_act(sum + residual, a->act, a->alpha)
                             : gpu_act(sum, a->act, a->alpha) + residual;
    gpu_store(a->p[0], pixel * a->ldo + ch, a->type, sum);
}

/* One channel of one pixel, bytes. */
GPU_HD void gpu_depthwise_bytes_element(const gpu_depthwise_args *a, int64_t i)
{
    const int32_t c = a->c8 * 8, ch = (int32_t)(i % c);
    const int64_t pixel = i / c;
    const int32_t ox = (int32_t)(pixel % a->ow), oy = (int32_t)(pixel / a->ow % a->oh);
    const int64_t image = pixel / a->ow / a->oh;
    const float *factor = (const float *)a->p[3] + 2 * ch;
    int32_t count = 0;
    float sum = 0;
    for (int32_t k = 0; k < 9; k++) {
        const int32_t y = oy + k / 3 - a->pad_y, x = ox + k % 3 - a->pad_x;
        const bool inside = y >= 0 && y < a->h && x >= 0 && x < a->w;
        const uint8_t byte = inside
                                 ? ((const uint8_t *)a->p[1])[((image * a->h + y) * a->w + x) * a->ldi + ch]
                                 : (uint8_t)(a->bytes.fill & 255);
        if (a->type == GPU_F8)
            sum += sk_f8_number(byte) * ((const float *)a->p[2])[(int64_t)k * c + ch];
        else
            count += (int32_t)byte * ((const int8_t *)a->p[2])[((int64_t)(k / 3) * c + ch) * 4 + k % 3];
    }
    sum = a->type == GPU_F8 ? sum : (float)count;
    gpu_finish_bytes(&a->bytes, a->p[0], pixel * a->ldo + ch, a->p[4], pixel * a->ldr + ch,
                     a->residual_before, a->act, a->alpha, sum * factor[0] + factor[1]);
}

GPU_HD void gpu_convert_element(const gpu_convert_args *a, int64_t i)
{
    const int32_t chunk = (int32_t)(i % a->c8) * 8;
    const int64_t pixel = i / a->c8, from = pixel * a->ldi + chunk, to = pixel * a->ldo + chunk;
    for (int k = 0; k < 8; k++) {
        if (a->to_bytes)
            ((uint8_t *)a->p[0])[to + k] = gpu_low(gpu_half_load(a->p[1], from + k), a->gain, a->zero, a->f8);
        else
            gpu_half_store(a->p[0], to + k,
                           (gpu_load(a->p[1], from + k, a->f8 ? GPU_F8 : GPU_U8) - a->zero) * a->gain);
    }
}

GPU_HD void gpu_pool_element(const gpu_pool_args *a, int64_t i)
{
    const int32_t chunk = (int32_t)(i % a->c8);
    const int64_t pixel = i / a->c8;
    const int32_t ox = (int32_t)(pixel % a->ow), oy = (int32_t)(pixel / a->ow % a->oh);
    const int64_t image = pixel / a->ow / a->oh;
    float v[8];
    int32_t inside = 0, padded = 0;
    for (int k = 0; k < 8; k++)
        v[k] = a->average ? 0.0f : -INFINITY;
    for (int32_t ky = 0; ky < a->kh; ky++)
        for (int32_t kx = 0; kx < a->kw; kx++) {
            const int32_t y = oy * a->stride_y + ky - a->pad_y, x = ox * a->stride_x + kx - a->pad_x;
            padded += y < a->h + a->pad_h && x < a->w + a->pad_w;
            if (y < 0 || y >= a->h || x < 0 || x >= a->w)
                continue;
            inside++;
            const int64_t at = ((image * a->h + y) * a->w + x) * a->ldi + chunk * 8;
            for (int k = 0; k < 8; k++) {
                const float x0 = gpu_load(a->p[1], at + k, a->type);
                v[k] = a->average ? v[k] + x0 : x0 > v[k] || x0 != x0 ? x0 : v[k];
            }
        }
    const int32_t count = a->include_pad ? padded : inside;
    for (int k = 0; k < 8; k++)
        gpu_store(a->p[0], pixel * a->ldo + chunk * 8 + k, a->type,
                  !a->average ? v[k]
                  : count     ? v[k] / (float)count
                              : 0.0f);
}

/* One channel of one pixel: the window of the j-th of three chained pools is 1 + j (k - 1) wide. */
GPU_HD void gpu_pool_chain_element(const gpu_pool_chain_args *a, int64_t i)
{
    const int32_t c = a->c8 * 8, ch = (int32_t)(i % c), r = a->k / 2;
    const int64_t pixel = i / c;
    const int32_t ox = (int32_t)(pixel % a->w), oy = (int32_t)(pixel / a->w % a->h);
    const int64_t image = pixel / a->w / a->h;
    float best[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t dy = -3 * r; dy <= 3 * r; dy++)
        for (int32_t dx = -3 * r; dx <= 3 * r; dx++) {
            const int32_t y = oy + dy, x = ox + dx;
            if (y < 0 || y >= a->h || x < 0 || x >= a->w)
                continue;
            const float v = gpu_load(a->p[1], ((image * a->h + y) * a->w + x) * a->ldi + ch, a->type);
            for (int32_t j = 0; j < 3; j++)
                if (dy >= -(j + 1) * r && dy <= (j + 1) * r && dx >= -(j + 1) * r && dx <= (j + 1) * r &&
                    v > best[j])
                    best[j] = v;
        }
    gpu_store(a->p[0], pixel * a->ldo[0] + ch, a->type, best[0]);
    gpu_store(a->p[2], pixel * a->ldo[1] + ch, a->type, best[1]);
    gpu_store(a->p[3], pixel * a->ldo[2] + ch, a->type, best[2]);
}

GPU_HD void gpu_resize_element(const gpu_resize_args *a, int64_t i)
{
    const int32_t chunk = (int32_t)(i % a->c8);
    const int64_t pixel = i / a->c8;
    const int32_t ox = (int32_t)(pixel % a->ow), oy = (int32_t)(pixel / a->ow % a->oh);
    const int64_t image = pixel / a->ow / a->oh;
    const int32_t *rows = (const int32_t *)a->p[2] + 2 * oy, *columns = (const int32_t *)a->p[3] + 2 * ox;
    const int64_t r0 = (image * a->h + rows[0]) * a->w, r1 = (image * a->h + rows[1]) * a->w;
    const float fy = a->linear ? ((const float *)a->p[4])[oy] : 0,
                fx = a->linear ? ((const float *)a->p[5])[ox] : 0;
    for (int k = 0; k < 8; k++) {
        const int64_t c = chunk * 8 + k;
        float v = gpu_load(a->p[1], (r0 + columns[0]) * a->ldi + c, a->type);
        if (a->linear) {
            const float v01 = gpu_load(a->p[1], (r0 + columns[1]) * a->ldi + c, a->type);
            const float v10 = gpu_load(a->p[1], (r1 + columns[0]) * a->ldi + c, a->type);
            const float v11 = gpu_load(a->p[1], (r1 + columns[1]) * a->ldi + c, a->type);
            v = (1 - fy) * ((1 - fx) * v + fx * v01) + fy * ((1 - fx) * v10 + fx * v11);
        }
        gpu_store(a->p[0], pixel * a->ldo + c, a->type, v);
    }
}

GPU_HD void gpu_copy_element(const gpu_copy_args *a, int64_t i)
{
    const int32_t width = a->c + a->zeros, c = (int32_t)(i % width);
    const int64_t pixel = i / width;
    gpu_store(a->p[0], pixel * a->ldo + c, a->type,
              c < a->c ? gpu_load(a->p[1], pixel * a->ldi + c, a->type) : 0.0f);
}

GPU_HD void gpu_map_element(const gpu_map_args *a, int64_t i)
{
    const int32_t chunk = (int32_t)(i % a->c8);
    const int64_t pixel = i / a->c8;
    for (int k = 0; k < 8; k++) {
        const int64_t c = chunk * 8 + k;
        float v = gpu_load(a->p[1], pixel * a->lda + c, a->type);
        v = a->unary ? gpu_unary(a->unary, a->alpha, a->beta, v)
                     : gpu_binary(a->binary, v, gpu_load(a->p[2], pixel * a->ldb + c, a->type));
        gpu_store(a->p[0], pixel * a->ldo + c, a->type, v);
    }
}

/* Eight channels of one pixel, pixels in turn so that neighbours read or write neighbouring floats. */
GPU_HD void gpu_form_element(const gpu_form_args *a, int64_t i, bool to_map)
{
    const int32_t c8 = (a->c + 7) / 8;
    const int64_t at = i % a->plane, rest = i / a->plane;
    const int64_t first = rest % c8 * 8, image = rest / c8;
    for (int64_t c = first; c < first + 8; c++) {
        const int64_t dense = (image * a->c + c) * a->plane + at, map = (image * a->plane + at) * a->ld + c;
        if (to_map)
            gpu_store(a->p[0], map, a->type, c < a->c ? ((const float *)a->p[1])[dense] : 0.0f);
        else if (c < a->c)
            ((float *)a->p[0])[dense] = gpu_load(a->p[1], map, a->type);
    }
}

/* One place: looked at, and copied where it passes. Rows come in any order. */
GPU_HD void gpu_gather_element(const gpu_gather_args *a, int64_t i)
{
    const int64_t image = i / a->places, place = i % a->places;
    float best = -INFINITY;
    for (int32_t c = 0; c < a->classes; c++) {
        const float v = gpu_load(a->p[1], i * a->lds + c, a->type);
        best = v > best ? v : best;
    }
    if (!(best > a->bound))
        return;
    int32_t *header = (int32_t *)a->p[0] + image * a->image_words;
    const int32_t row = gpu_next(header);
    if (row >= a->capacity)
        return;
    int32_t *to = header + 4 + (int64_t)row * a->row_words;
    float *values = (float *)(to + 1);
    to[0] = a->first + (int32_t)place;
    for (int32_t c = 0; c < a->classes; c++)
        *values++ = gpu_load(a->p[1], i * a->lds + c, a->type);
    for (int32_t k = 0; k < a->n_others; k++)
        for (int32_t c = 0; c < a->c[k]; c++)
            *values++ = gpu_load(a->p[2 + k], i * a->ld[k] + c, a->type);
}

/* What the depthwise convolution of v adds to channel c of a pixel. */
GPU_HD float gpu_position(const gpu_attention_args *a, int64_t pixel, int32_t c)
{
    const int32_t x0 = (int32_t)(pixel % a->w), y0 = (int32_t)(pixel / a->w % a->h),
                  channels = a->heads * a->hd;
    const int64_t image = pixel / a->w / a->h;
    float sum = ((const float *)a->p[3])[c];
    for (int32_t k = 0; k < a->k * a->k; k++) {
        const int32_t y = y0 + k / a->k - a->k / 2, x = x0 + k % a->k - a->k / 2;
        if (y >= 0 && y < a->h && x >= 0 && x < a->w)
            sum += gpu_load(a->p[1], ((image * a->h + y) * a->w + x) * a->ldi + 2 * a->heads * a->kd + c,
                            a->type) *
                   gpu_load(a->p[2], (int64_t)k * channels + c, a->type);
    }
    return sum;
}

/* One query of one head. Slow: for checking. */
GPU_HD void gpu_attention_element(const gpu_attention_args *a, int64_t i)
{
    const int32_t head = (int32_t)(i % a->heads);
    const int64_t query = i / a->heads, image = query / a->pixels;
    const int64_t q = query * a->ldi + head * a->kd, base = image * a->pixels;
    const int32_t koff = a->heads * a->kd + head * a->kd, voff = 2 * a->heads * a->kd + head * a->hd;
    float best = -INFINITY, sum = 0;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < a->pixels; k++) {
            float s = 0;
            for (int32_t c = 0; c < a->kd; c++)
                s += gpu_load(a->p[1], q + c, a->type) *
                     gpu_load(a->p[1], (base + k) * a->ldi + koff + c, a->type);
            s *= a->scale;
            if (pass == 0)
                best = s > best ? s : best;
            else
                sum += expf(s - best);
        }
    for (int32_t d0 = 0; d0 < a->hd; d0 += 8) {
        float v[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int32_t k = 0; k < a->pixels; k++) {
            float s = 0;
            for (int32_t c = 0; c < a->kd; c++)
                s += gpu_load(a->p[1], q + c, a->type) *
                     gpu_load(a->p[1], (base + k) * a->ldi + koff + c, a->type);
            s = expf(s * a->scale - best) / sum;
            for (int32_t d = 0; d < 8; d++)
                v[d] += s * gpu_load(a->p[1], (base + k) * a->ldi + voff + d0 + d, a->type);
        }
        for (int32_t d = 0; d < 8; d++) {
            const int64_t to = query * a->ldo + head * a->hd + d0 + d;
            const float number = a->k ? v[d] + gpu_position(a, query, head * a->hd + d0 + d) : v[d];
            if (a->bytes.out)
                gpu_finish_bytes(&a->bytes, a->p[0], to, NULL, 0, 0, GPU_ACT_NONE, 0.0f, number);
            else
                gpu_store(a->p[0], to, a->type, number);
        }
    }
}

GPU_HD void gpu_nd_at(const gpu_nd_args *a, int64_t i, int64_t *o, int64_t *x, int64_t *y, int64_t *z)
{
    *o = *x = *y = *z = 0;
    for (int32_t d = a->rank - 1; d >= 0; d--) {
        const int64_t at = i % a->dims[d];
        i /= a->dims[d];
        *o += at * a->so[d];
        *x += at * a->sa[d];
        *y += at * a->sb[d];
        *z += at * a->sc[d];
    }
}

GPU_HD void gpu_nd_element(gpu_kind kind, const gpu_nd_args *a, int64_t i)
{
    int64_t o, x, y, z;
    gpu_nd_at(a, i, &o, &x, &y, &z);
    if (kind == GPU_ND_COPY) {
        if (a->bytes == 4)
            ((uint32_t *)a->p[0])[o] = ((const uint32_t *)a->p[1])[x];
        else if (a->bytes == 8)
            ((uint64_t *)a->p[0])[o] = ((const uint64_t *)a->p[1])[x];
        else if (a->bytes == 2)
            ((uint16_t *)a->p[0])[o] = ((const uint16_t *)a->p[1])[x];
        else
            ((uint8_t *)a->p[0])[o] = ((const uint8_t *)a->p[1])[x];
        return;
    }
    const float v = ((const float *)a->p[kind == GPU_ND_WHERE ? 2 : 1])[kind == GPU_ND_WHERE ? y : x];
    float r = v;
    if (kind == GPU_ND_UNARY)
        r = gpu_unary(a->op, a->alpha, a->beta, v);
    else if (kind == GPU_ND_BINARY)
        r = gpu_binary(a->op, v, ((const float *)a->p[2])[y]);
    else if (kind == GPU_ND_CLIP)
        r = (double)v < a->low ? (float)a->low : (double)v > a->high ? (float)a->high : v;
    else if (!((const uint8_t *)a->p[1])[x]) /* where */
        r = ((const float *)a->p[3])[z];
    ((float *)a->p[0])[o] = r;
}

/* One row; a thread a row. */
GPU_HD void gpu_row_element(const gpu_row_args *a, int64_t i)
{
    const int64_t base = i / a->inner * a->n * a->inner + i % a->inner;
    const float *x = (const float *)a->p[1] + base;
    float *y = (float *)a->p[0] + base;
    float best = -INFINITY, sum = 0, mean = 0;
    if (a->op == 2) {
        for (int64_t k = 0; k < a->n; k++)
            mean += x[k * a->inner];
        mean /= (float)a->n;
        for (int64_t k = 0; k < a->n; k++)
            sum += (x[k * a->inner] - mean) * (x[k * a->inner] - mean);
        const float factor = 1.0f / sqrtf(sum / (float)a->n + a->epsilon);
        for (int64_t k = 0; k < a->n; k++) {
            float v = (x[k * a->inner] - mean) * factor;
            v = a->p[2] ? v * ((const float *)a->p[2])[k] : v;
            y[k * a->inner] = a->p[3] ? v + ((const float *)a->p[3])[k] : v;
        }
        return;
    }
    for (int64_t k = 0; k < a->n; k++)
        best = x[k * a->inner] > best ? x[k * a->inner] : best;
    for (int64_t k = 0; k < a->n; k++)
        sum += expf(x[k * a->inner] - best);
    for (int64_t k = 0; k < a->n; k++) {
        const float v = x[k * a->inner] - best;
        y[k * a->inner] = a->op == 0 ? expf(v) / sum : v - logf(sum);
    }
}

GPU_HD void gpu_matmul_element(const gpu_matmul_args *a, int64_t i)
{
    const int64_t j = i % a->n, r = i / a->n % a->m;
    int64_t batch = i / a->n / a->m, at_a = 0, at_b = 0;
    for (int32_t d = a->batch_rank - 1; d >= 0; d--) {
        at_a += batch % a->batch[d] * a->a_batch[d];
        at_b += batch % a->batch[d] * a->b_batch[d];
        batch /= a->batch[d];
    }
    const float *x = (const float *)a->p[1] + at_a + r * a->a_row,
                *y = (const float *)a->p[2] + at_b + j * a->b_col;
    float sum = 0;
    for (int64_t k = 0; k < a->k; k++)
        sum += x[k * a->a_col] * y[k * a->b_row];
    sum *= a->alpha;
    if (a->p[3])
        sum += a->beta * ((const float *)a->p[3])[r * a->c_row + j * a->c_col];
    ((float *)a->p[0])[i] = sum;
}

GPU_HD void gpu_reduce_element(const gpu_reduce_args *a, int64_t i)
{
    int64_t base = 0, rest = i;
    for (int32_t d = a->rank_out - 1; d >= 0; d--) {
        base += rest % a->out_dims[d] * a->out_strides[d];
        rest /= a->out_dims[d];
    }
    float r = a->op == SK_REDUCE_MAX ? -INFINITY : a->op == SK_REDUCE_MIN ? INFINITY : 0.0f;
    for (int64_t k = 0; k < a->reduced; k++) {
        int64_t at = base;
        rest = k;
        for (int32_t d = a->rank_in - 1; d >= 0; d--) {
            at += rest % a->in_dims[d] * a->in_strides[d];
            rest /= a->in_dims[d];
        }
        const float v = ((const float *)a->p[1])[at];
        if (a->op == SK_REDUCE_MAX)
            r = v > r || v != v ? v : r;
        else if (a->op == SK_REDUCE_MIN)
            r = v < r || v != v ? v : r;
        else
            r += v;
    }
    ((float *)a->p[0])[i] = a->op == SK_REDUCE_MEAN ? r / (float)a->reduced : r;
}

/* An output's sums as they are: one element, all channels of one pixel. */
GPU_HD void gpu_head_element(const gpu_head_args *a, int64_t i)
{
    const int64_t image = i / a->plane, at = i % a->plane;
    for (int32_t c = 0; c < a->cout; c++) {
        const float *w = (const float *)a->p[2] + (int64_t)c * a->cin;
        float sum = ((const float *)a->p[3])[c];
        for (int32_t k = 0; k < a->cin; k++)
            sum += w[k] * gpu_load(a->p[1], i * a->ld + k, a->type);
        ((float *)a->p[0])[(image * a->cout + c) * a->plane + at] = gpu_act(sum, a->act, a->alpha);
    }
}

/* How many elements a step has: needed on both sides. */
#ifndef GPU_HD_BOTH
#define GPU_HD_BOTH GPU_HD
#endif
GPU_HD_BOTH int64_t gpu_element_count(gpu_kind kind, const gpu_args *a)
{
    switch (kind) {
    case GPU_CONV_ANY:
        return (int64_t)a->conv_any.n * a->conv_any.oh * a->conv_any.ow * ((a->conv_any.cout + 7) / 8 * 8);
    case GPU_DECONV: return (int64_t)a->deconv.n * a->deconv.oh * a->deconv.ow * ((a->deconv.cout + 7) / 8);
    case GPU_DEPTHWISE:
        return (int64_t)a->depthwise.n * a->depthwise.oh * a->depthwise.ow * a->depthwise.c8 * 8;
    case GPU_SHUFFLE: return (int64_t)a->shuffle.n * a->shuffle.h * a->shuffle.w * 4 * a->shuffle.c8;
    case GPU_POOL: return (int64_t)a->pool.n * a->pool.oh * a->pool.ow * a->pool.c8;
    case GPU_POOL_CHAIN:
        return (int64_t)a->pool_chain.n * a->pool_chain.h * a->pool_chain.w * a->pool_chain.c8 * 8;
    case GPU_RESIZE: return (int64_t)a->resize.n * a->resize.oh * a->resize.ow * a->resize.c8;
    case GPU_COPY: return a->copy.pixels * (a->copy.c + a->copy.zeros);
    case GPU_MAP: return a->map.pixels * a->map.c8;
    case GPU_TO_DENSE:
    case GPU_TO_MAP: return (int64_t)a->form.n * a->form.plane * ((a->form.c + 7) / 8);
    case GPU_INPUT: return (int64_t)a->input.n * a->input.h * a->input.w;
    case GPU_ATTENTION: return (int64_t)a->attention.n * a->attention.pixels * a->attention.heads;
    case GPU_ND_UNARY:
    case GPU_ND_BINARY:
    case GPU_ND_WHERE:
    case GPU_ND_CLIP:
    case GPU_ND_COPY: return a->nd.count;
    case GPU_ROWS: return a->rows.rows * a->rows.inner;
    case GPU_MATMUL: return a->matmul.count;
    case GPU_REDUCE: return a->reduce.count;
    case GPU_LETTERBOX: return (int64_t)a->letterbox.n * a->letterbox.h * a->letterbox.w;
    case GPU_GATHER: return (int64_t)a->gather.n * a->gather.places;
    case GPU_ZERO: return a->zero.n;
    case GPU_HEAD: return a->head.n * a->head.plane;
    case GPU_CONVERT: return a->convert.pixels * a->convert.c8;
    default: return 0;
    }
}

GPU_HD void gpu_element(gpu_kind kind, const gpu_args *a, int64_t i)
{
    switch (kind) {
    case GPU_CONV_ANY: gpu_conv_any_element(&a->conv_any, i); break;
    case GPU_DECONV: gpu_deconv_element(&a->deconv, i); break;
    case GPU_DEPTHWISE:
        if (a->depthwise.type == GPU_U8 || a->depthwise.type == GPU_F8)
            gpu_depthwise_bytes_element(&a->depthwise, i);
        else
            gpu_depthwise_element(&a->depthwise, i);
        break;
    case GPU_SHUFFLE: gpu_shuffle_element(&a->shuffle, i); break;
    case GPU_POOL: gpu_pool_element(&a->pool, i); break;
    case GPU_POOL_CHAIN: gpu_pool_chain_element(&a->pool_chain, i); break;
    case GPU_RESIZE: gpu_resize_element(&a->resize, i); break;
    case GPU_COPY: gpu_copy_element(&a->copy, i); break;
    case GPU_MAP: gpu_map_element(&a->map, i); break;
    case GPU_TO_DENSE:
    case GPU_TO_MAP: gpu_form_element(&a->form, i, kind == GPU_TO_MAP); break;
    case GPU_INPUT: gpu_input_element(&a->input, i); break;
    case GPU_ATTENTION: gpu_attention_element(&a->attention, i); break;
    case GPU_ND_UNARY:
    case GPU_ND_BINARY:
    case GPU_ND_WHERE:
    case GPU_ND_CLIP:
    case GPU_ND_COPY: gpu_nd_element(kind, &a->nd, i); break;
    case GPU_ROWS: gpu_row_element(&a->rows, i); break;
    case GPU_MATMUL: gpu_matmul_element(&a->matmul, i); break;
    case GPU_REDUCE: gpu_reduce_element(&a->reduce, i); break;
    case GPU_LETTERBOX: gpu_letterbox_element(&a->letterbox, i); break;
    case GPU_GATHER: gpu_gather_element(&a->gather, i); break;
    case GPU_HEAD: gpu_head_element(&a->head, i); break;
    case GPU_CONVERT: gpu_convert_element(&a->convert, i); break;
    case GPU_ZERO: ((int32_t *)a->zero.p[0])[i * a->zero.image_words] = 0; break;
    default: break;
    }
}

#endif
