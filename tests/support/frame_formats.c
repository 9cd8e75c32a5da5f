/* SPDX-License-Identifier: Apache-2.0 */
#include "support/frame_formats.h"

#include "kernels/nv12.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Exactly as many bytes as a reader may touch: the last row has no gap behind it. */
static uint8_t *noise(size_t stride, size_t row, size_t rows, uint32_t *seed)
{
    const size_t bytes = stride * (rows - 1) + row;
    uint8_t *data = malloc(bytes);
    if (!data)
        abort();
    for (size_t i = 0; i < bytes; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        data[i] = (uint8_t)(*seed >> 24);
    }
    return data;
}

static int floor_shift(int64_t value)
{
    return (int)floor((double)value / 65536.0);
}

/* The formula of kernels/nv12.h, in doubles. */
static void yuv_pixel(const sk_frame *f, int y, int u, int v, uint8_t *rgb)
{
    const sk_nv12_weights w = sk_nv12_weights_of(f->matrix, f->full_range);
    const int l = floor_shift((int64_t)(8 * y - w.offset) * w.luma), cu = 8 * (u - 128), cv = 8 * (v - 128);
    const int c[3] = {l + floor_shift((int64_t)cv * w.red_v),
                      l + floor_shift((int64_t)cu * w.green_u) + floor_shift((int64_t)cv * w.green_v),
                      l + floor_shift((int64_t)cu * w.blue_u)};
    for (int k = 0; k < 3; k++)
        rgb[k] = (uint8_t)(c[k] < 0 ? 0 : c[k] > 255 ? 255 : c[k]);
}

static void plain_pixel(const sk_frame *f, int32_t x, int32_t y, uint8_t *out)
{
    const uint8_t *row = f->data + f->stride * y, *uv;
    uint16_t deep;
    switch (f->format) {
    case SK_PIXEL_RGBA:
    case SK_PIXEL_BGRA: memcpy(out, row + 4 * x, 3); break;
    case SK_PIXEL_GRAY16:
        memcpy(&deep, row + 2 * x, 2);
        out[0] = (uint8_t)(deep / 256);
        break;
    case SK_PIXEL_YUYV: yuv_pixel(f, row[2 * x], row[x / 2 * 4 + 1], row[x / 2 * 4 + 3], out); break;
    case SK_PIXEL_NV12:
        uv = f->chroma + f->chroma_stride * (y / 2) + x / 2 * 2;
        yuv_pixel(f, row[x], uv[0], uv[1], out);
        break;
    case SK_PIXEL_I420:
        yuv_pixel(f, row[x], f->chroma[f->chroma_stride * (y / 2) + x / 2],
                  f->chroma_v[f->chroma_stride * (y / 2) + x / 2], out);
        break;
    case SK_PIXEL_GRAY: out[0] = row[x]; break;
    default: memcpy(out, row + 3 * x, 3); break;
    }
}

static sk_pixel_format plain_of(sk_pixel_format format)
{
    return format == SK_PIXEL_BGR || format == SK_PIXEL_BGRA      ? SK_PIXEL_BGR
           : format == SK_PIXEL_GRAY || format == SK_PIXEL_GRAY16 ? SK_PIXEL_GRAY
                                                                  : SK_PIXEL_RGB;
}

any_frame any_frame_make(sk_pixel_format format, int32_t width, int32_t height, uint32_t seed)
{
    const size_t w = (size_t)width, h = (size_t)height, half = (w + 1) / 2;
    const size_t row = format == SK_PIXEL_RGB || format == SK_PIXEL_BGR       ? 3 * w
                       : format == SK_PIXEL_RGBA || format == SK_PIXEL_BGRA   ? 4 * w
                       : format == SK_PIXEL_GRAY16 || format == SK_PIXEL_YUYV ? 2 * w
                                                                              : w;
    any_frame any = {.frame = SK_FRAME_INIT, .plain = SK_FRAME_INIT};
    any.frame.format = format;
    any.frame.width = width;
    any.frame.height = height;
    any.frame.stride = (ptrdiff_t)row + 6;
    any.frame.matrix = (sk_colour_matrix)(seed % 5);
    any.frame.full_range = seed / 5 % 2 ? 1 : 0;
    any.frame.data = any.planes[0] = noise(row + 6, row, h, &seed);
    if (format == SK_PIXEL_NV12 || format == SK_PIXEL_I420) {
        const size_t chroma = format == SK_PIXEL_NV12 ? 2 * half : half;
        any.frame.chroma_stride = (ptrdiff_t)chroma + 4;
        any.frame.chroma = any.planes[1] = noise(chroma + 4, chroma, (h + 1) / 2, &seed);
        if (format == SK_PIXEL_I420)
            any.frame.chroma_v = any.planes[2] = noise(chroma + 4, chroma, (h + 1) / 2, &seed);
    }
    any.plain.format = plain_of(format);
    const size_t pixel = any.plain.format == SK_PIXEL_GRAY ? 1 : 3;
    any.plain.width = width;
    any.plain.height = height;
    any.plain.stride = (ptrdiff_t)(pixel * w);
    any.plain.data = malloc(pixel * w * h);
    if (!any.plain.data)
        abort();
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            plain_pixel(&any.frame, x, y, any.plain.data + any.plain.stride * y + (ptrdiff_t)pixel * x);
    return any;
}

void any_frame_free(any_frame *any)
{
    for (int i = 0; i < 3; i++)
        free(any->planes[i]);
    free(any->plain.data);
    *any = (any_frame){0};
}
