/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_SLEAP_ELEMENT_H
#define SK_ENGINES_CUDA_SLEAP_ELEMENT_H

#include "element.h"

/* Frames on their way into SLEAP's networks: a pixel of each step tasks/sleap_pre.c takes with them, by the same formulas; one
 * function for device and host. */

/* Of colours their grey, as a fraction; of a grey frame its value. */
GPU_HD float gpu_grey_fraction(const gpu_sleap_args *a, int64_t image, const uint8_t *in)
{
    const int32_t red = a->swap ? 2 : 0;
    if (a->in_c == 1 || !((const int32_t *)a->p[2])[a->one_flag ? 0 : image])
        return (float)in[0] / 255.0f;
    return sk_grey_fraction(in[red], in[1], in[2 - red]);
}

GPU_HD void gpu_colours(const gpu_sleap_args *a, int64_t image, const uint8_t *in, uint8_t *out)
{
    const int32_t red = a->swap ? 2 : 0;
    if (a->c == 3 && a->in_c == 3) {
        out[0] = in[red];
        out[1] = in[1];
        out[2] = in[2 - red];
    } else if (a->c == 3) {
        out[0] = out[1] = out[2] = in[0];
    } else if (a->in_c == 1 || !((const int32_t *)a->p[2])[image]) {
        out[0] = in[0];
    } else {
        out[0] = a->old ? sk_grey_tensorflow(in[red], in[1], in[2 - red])
                        : sk_grey_torch(in[red], in[1], in[2 - red]);
    }
}

/* `step` bytes from tap to tap. */
GPU_HD uint8_t gpu_antialias(const gpu_sleap_args *a, int32_t place, const uint8_t *in, int64_t step)
{
    const int32_t *range = (const int32_t *)a->p[2] + 2 * place;
    const int16_t *weights = (const int16_t *)a->p[3] + (int64_t)place * a->taps;
    int32_t sum = sk_antialias_begin(a->bits);
    for (int32_t k = 0; k < range[1]; k++)
        sum += in[(range[0] + k) * step] * weights[k];
    return sk_antialias_end(sum, a->bits);
}

/* Channel c of the picture `in` between the four places of x and y; of the fractions or of the bytes. */
GPU_HD float gpu_between(const gpu_sleap_args *a, const uint8_t *in, int32_t y, int32_t x, int32_t c,
                         int fractions)
{
    const int32_t *columns = (const int32_t *)a->p[2] + 2 * x, *rows = (const int32_t *)a->p[4] + 2 * y;
    const int64_t row = (int64_t)a->in_w * a->c;
    const uint8_t *top = in + rows[0] * row + c, *bottom = in + rows[1] * row + c;
    const uint8_t v[4] = {top[columns[0] * a->c], top[columns[1] * a->c], bottom[columns[0] * a->c],
                          bottom[columns[1] * a->c]};
    const float px = ((const float *)a->p[3])[x], py = ((const float *)a->p[5])[y];
    return fractions
               ? sk_mix(sk_fraction(v[0]), sk_fraction(v[1]), sk_fraction(v[2]), sk_fraction(v[3]), px, py)
               : sk_mix(v[0], v[1], v[2], v[3], px, py);
}

GPU_HD_BOTH int64_t gpu_sleap_count(const gpu_sleap_args *a)
{
    return a->what == GPU_SLEAP_CLEAR       ? a->n
           : a->what == GPU_SLEAP_GREY_FLAG ? (int64_t)a->n * a->in_h * a->in_w
                                            : (int64_t)a->n * a->out_h * a->out_w;
}

/* One channel of a pixel inside the picture. */
GPU_HD uint8_t gpu_sleap_byte(const gpu_sleap_args *a, const uint8_t *in, int32_t y, int32_t x, int32_t c)
{
    const int64_t row = (int64_t)a->in_w * a->c;
    switch (a->what) {
    case GPU_SLEAP_ACROSS: return gpu_antialias(a, x, in + y * row + c, a->c);
    case GPU_SLEAP_DOWN: return gpu_antialias(a, y, in + (int64_t)x * a->c + c, row);
    case GPU_SLEAP_MIX: return (uint8_t)(int32_t)gpu_between(a, in, y, x, c, 0);
    default: return in[y * row + (int64_t)x * a->c + c];
    }
}

/* A pixel of a crop, as tasks/sleap_crop.c cuts it. */
GPU_HD void gpu_cut_element(const gpu_sleap_args *a, int64_t image, int32_t y, int32_t x, uint8_t *out)
{
    const uint8_t *in = (const uint8_t *)a->p[1];
    const gpu_cut_crop *crop = (const gpu_cut_crop *)a->p[2] + image;
    const float place[2] = {crop->left, crop->top};
    const int64_t row = (int64_t)a->in_w * a->c;
    const int32_t n_boxes = gpu_crop_boxes(&crop->view, a->most_boxes);
    const gpu_crop_box *boxes = (const gpu_crop_box *)((const gpu_cut_crop *)a->p[2] + a->n);
    if (n_boxes > 0 && gpu_is_painted(boxes + crop->view.first_box, n_boxes, y, x)) {
        for (int32_t c = 0; c < a->c; c++)
            out[c] = 0;
        return;
    }
    if (crop->view.turned == 1) {
        const gpu_turned_at at = gpu_turned_of(&crop->view, a->in_w, a->in_h, y, x);
        for (int32_t c = 0; c < a->c; c++)
            out[c] = gpu_turned_value(&at, in, row, a->c, c);
        return;
    }
    if (a->what == GPU_SLEAP_CUT) {
        /* a place that is none (memory nobody has written yet, when a graph is captured) is outside */
        const int known = place[0] > -1e9f && place[0] < 1e9f && place[1] > -1e9f && place[1] < 1e9f;
        const int32_t sx = known ? (int32_t)place[0] + x : -1, sy = known ? (int32_t)place[1] + y : -1;
        const int inside = sx >= 0 && sx < a->in_w && sy >= 0 && sy < a->in_h;
        for (int32_t c = 0; c < a->c; c++)
            out[c] = inside ? in[sy * row + (int64_t)sx * a->c + c] : 0;
        return;
    }
    const float fx = place[0] + (float)x, fy = place[1] + (float)y;
    const int inside = fx >= 0 && fx <= (float)(a->in_w - 1) && fy >= 0 && fy <= (float)(a->in_h - 1);
    for (int32_t c = 0; c < a->c; c++) {
        out[c] = 0;
        if (!inside)
            continue;
        const sk_between u = sk_between_of(fx), v = sk_between_of(fy);
        const uint8_t *top = in + v.low * row + c, *bottom = in + v.high * row + c;
        out[c] = (uint8_t)(int32_t)sk_mix(top[u.low * a->c], top[u.high * a->c], bottom[u.low * a->c],
                                          bottom[u.high * a->c], u.part, v.part);
    }
}

/* A pixel of video as red, green and blue. */
GPU_HD void gpu_video_element(const gpu_sleap_args *a, int64_t image, int32_t y, int32_t x, uint8_t *out)
{
    const int64_t row = (a->in_w + 1) / 2 * 2, rows = a->in_h + (a->in_h + 1) / 2;
    const uint8_t *in = (const uint8_t *)a->p[1] + image * row * rows,
                  *chroma = in + (a->in_h + y / 2) * row + x / 2 * 2;
    const sk_rgb p = sk_nv12_pixel(&a->weights, in[y * row + x], chroma[0], chroma[1]);
    out[0] = (uint8_t)p.red;
    out[1] = (uint8_t)p.green;
    out[2] = (uint8_t)p.blue;
}

GPU_HD void gpu_sleap_element(const gpu_sleap_args *a, int64_t i)
{
    if (a->what == GPU_SLEAP_CLEAR) {
        ((int32_t *)a->p[0])[i] = 0;
        return;
    }
    if (a->what == GPU_SLEAP_GREY_FLAG) {
        const uint8_t *in = (const uint8_t *)a->p[1] + 3 * i;
        if (in[0] != in[1] || in[0] != in[2])
            ((int32_t *)a->p[0])[i / ((int64_t)a->in_h * a->in_w)] = 1; /* all who write, write this */
        return;
    }
    const int32_t x = (int32_t)(i % a->out_w), y = (int32_t)(i / a->out_w % a->out_h);
    const int64_t image = i / a->out_w / a->out_h;
    const uint8_t *in = (const uint8_t *)a->p[1] + image * a->in_h * a->in_w * a->in_c;
    const int inside = x < a->w && y < a->h;
    if (a->what == GPU_SLEAP_CUT || a->what == GPU_SLEAP_CUT_MIX) {
        gpu_cut_element(a, image, y, x, (uint8_t *)a->p[0] + i * a->c);
        return;
    }
    if (a->what == GPU_SLEAP_NV12) {
        gpu_video_element(a, image, y, x, (uint8_t *)a->p[0] + i * 3);
        return;
    }
    if (a->what == GPU_SLEAP_MIX_PLANES) {
        for (int32_t c = 0; c < a->c; c++)
            ((float *)a->p[0])[((image * a->c + c) * a->out_h + y) * a->out_w + x] =
                inside ? gpu_between(a, in, y, x, c, 1) : 0.0f;
        return;
    }
    if (a->what == GPU_SLEAP_GREY_PLANES) {
        ((float *)a->p[0])[i] =
            inside ? gpu_grey_fraction(a, image, in + ((int64_t)y * a->in_w + x) * a->in_c) : 0.0f;
        return;
    }
    uint8_t *out = (uint8_t *)a->p[0] + i * a->c;
    if (a->what == GPU_SLEAP_COLOURS) {
        gpu_colours(a, image, in + ((int64_t)y * a->in_w + x) * a->in_c, out);
        return;
    }
    for (int32_t c = 0; c < a->c; c++)
        out[c] = inside ? gpu_sleap_byte(a, in, y, x, c) : 0;
}

#endif
