/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_SLEAP_ELEMENT_H
#define SK_ENGINES_CUDA_SLEAP_ELEMENT_H

#include "element.h"

/* Frames on their way into SLEAP's networks as tasks/sleap_pre.c takes them there, bit for bit: one function for device and
 * host. Needs gpu_mul and gpu_add as peak_element.h does. */

GPU_HD uint8_t gpu_grey(uint8_t red, uint8_t green, uint8_t blue, int32_t old)
{
    if (old) {
        const float unit = 1.0f / 255.0f;
        const float r = gpu_mul(gpu_mul((float)red, unit), 0.2989f),
                    g = gpu_mul(gpu_mul((float)green, unit), 0.587f),
                    b = gpu_mul(gpu_mul((float)blue, unit), 0.114f);
        return (uint8_t)(int32_t)gpu_mul(gpu_add(gpu_add(r, g), b), 255.5f);
    }
    /* sums of products that are exact in double, rounded once each */
    float v = gpu_mul((float)red, 0.2989f);
    v = (float)((double)v + (double)green * (double)0.587f);
    v = (float)((double)v + (double)blue * (double)0.114f);
    return (uint8_t)(int32_t)v;
}

/* The same of fractions, not cut to 8 bits; of a grey frame its value. */
GPU_HD float gpu_grey_fraction(const gpu_sleap_args *a, int64_t image, const uint8_t *in)
{
    const int32_t red = a->swap ? 2 : 0;
    if (a->in_c == 1 || !((const int32_t *)a->p[2])[image])
        return (float)in[0] / 255.0f;
    float v = gpu_mul((float)in[red] / 255.0f, 0.2989f);
    v = (float)((double)v + (double)((float)in[1] / 255.0f) * (double)0.587f);
    return (float)((double)v + (double)((float)in[2 - red] / 255.0f) * (double)0.114f);
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
        out[0] = gpu_grey(in[red], in[1], in[2 - red], a->old);
    }
}

/* `step` bytes from tap to tap. */
GPU_HD uint8_t gpu_antialias(const gpu_sleap_args *a, int32_t place, const uint8_t *in, int64_t step)
{
    const int32_t *range = (const int32_t *)a->p[2] + 2 * place;
    const int16_t *weights = (const int16_t *)a->p[3] + (int64_t)place * a->taps;
    int32_t sum = 1 << (a->bits - 1);
    for (int32_t k = 0; k < range[1]; k++)
        sum += in[(range[0] + k) * step] * weights[k];
    sum >>= a->bits;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

GPU_HD float gpu_mix(float tl, float tr, float bl, float br, float px, float py)
{
    const float top = gpu_add(tl, gpu_mul(gpu_add(tr, -tl), px)),
                bottom = gpu_add(bl, gpu_mul(gpu_add(br, -bl), px));
    return gpu_add(top, gpu_mul(gpu_add(bottom, -top), py));
}

/* Channel c of the picture `in` between the four places of x and y; `unit` is applied to each. */
GPU_HD float gpu_between(const gpu_sleap_args *a, const uint8_t *in, int32_t y, int32_t x, int32_t c,
                         float unit)
{
    const int32_t *columns = (const int32_t *)a->p[2] + 2 * x, *rows = (const int32_t *)a->p[4] + 2 * y;
    const int64_t row = (int64_t)a->in_w * a->c;
    const uint8_t *top = in + rows[0] * row + c, *bottom = in + rows[1] * row + c;
    return gpu_mix(gpu_mul((float)top[columns[0] * a->c], unit), gpu_mul((float)top[columns[1] * a->c], unit),
                   gpu_mul((float)bottom[columns[0] * a->c], unit),
                   gpu_mul((float)bottom[columns[1] * a->c], unit), ((const float *)a->p[3])[x],
                   ((const float *)a->p[5])[y]);
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
    case GPU_SLEAP_MIX: return (uint8_t)(int32_t)gpu_between(a, in, y, x, c, 1.0f);
    default: return in[y * row + (int64_t)x * a->c + c];
    }
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
    if (a->what == GPU_SLEAP_MIX_PLANES) {
        for (int32_t c = 0; c < a->c; c++)
            ((float *)a->p[0])[((image * a->c + c) * a->out_h + y) * a->out_w + x] =
                inside ? gpu_between(a, in, y, x, c, 1.0f / 255.0f) : 0.0f;
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
