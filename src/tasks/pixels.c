/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/pixels.h"

#include <string.h>

static int row_is_gray(const uint8_t *p, int32_t width)
{
    int32_t x = 0;
    for (; x + 64 <= width; x += 64) {
        uint8_t differs = 0;
        for (int32_t i = 3 * x; i < 3 * (x + 64); i += 3)
            differs |= (uint8_t)((p[i] ^ p[i + 1]) | (p[i] ^ p[i + 2]));
        if (differs)
            return 0;
    }
    for (; x < width; x++)
        if (p[3 * x] != p[3 * x + 1] || p[3 * x] != p[3 * x + 2])
            return 0;
    return 1;
}

static int frame_is_gray(const sk_frame *frame)
{
    for (int32_t y = 0; y < frame->height; y++)
        if (!row_is_gray(frame->data + y * frame->stride, frame->width))
            return 0;
    return 1;
}

static void gray_row(const uint8_t *restrict p, int32_t width, int red, sk_gray_rule rule,
                     uint8_t *restrict out)
{
    int blue = 2 - red;
    if (rule == SK_GRAY_TENSORFLOW) {
        const float unit = 1.0f / 255.0f;
        for (int32_t x = 0; x < width; x++) {
            float r = (float)p[3 * x + red] * unit, g = (float)p[3 * x + 1] * unit,
                  b = (float)p[3 * x + blue] * unit;
            out[x] = (uint8_t)((r * 0.2989f + g * 0.587f + b * 0.114f) * 255.5f);
        }
        return;
    }
    for (int32_t x = 0; x < width; x++) {
        /* Sums rounded to single precision once each, as fused multiply-adds give them. */
        float v = (float)p[3 * x + red] * 0.2989f;
        v = (float)((double)v + (double)p[3 * x + 1] * (double)0.587f);
        v = (float)((double)v + (double)p[3 * x + blue] * (double)0.114f);
        out[x] = (uint8_t)v;
    }
}

static void colour_row(const uint8_t *restrict p, int32_t width, sk_pixel_format format,
                       uint8_t *restrict out)
{
    if (format == SK_PIXEL_RGB) {
        memcpy(out, p, (size_t)width * 3);
    } else if (format == SK_PIXEL_BGR) {
        for (int32_t x = 0; x < width; x++) {
            out[3 * x] = p[3 * x + 2];
            out[3 * x + 1] = p[3 * x + 1];
            out[3 * x + 2] = p[3 * x];
        }
    } else {
        for (int32_t x = 0; x < width; x++)
            out[3 * x] = out[3 * x + 1] = out[3 * x + 2] = p[x];
    }
}

sk_status sk_pixels_convert(const sk_frame *frame, int32_t channels, sk_gray_rule rule, uint8_t *out,
                            sk_error *err)
{
    SK_CHECK_ARG(frame && frame->data && out && (channels == 1 || channels == 3), err);
    sk_pixel_format format = frame->format;
    if (format != SK_PIXEL_RGB && format != SK_PIXEL_BGR && format != SK_PIXEL_GRAY)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "frames must be RGB, BGR or GRAY here (format %d)",
                       (int)format);
    int gray = channels == 1 && format != SK_PIXEL_GRAY && frame_is_gray(frame);
    for (int32_t y = 0; y < frame->height; y++) {
        const uint8_t *p = frame->data + y * frame->stride;
        uint8_t *row = out + (size_t)y * (size_t)frame->width * (size_t)channels;
        if (channels == 3) {
            colour_row(p, frame->width, format, row);
        } else if (format == SK_PIXEL_GRAY) {
            memcpy(row, p, (size_t)frame->width);
        } else if (gray) {
            for (int32_t x = 0; x < frame->width; x++)
                row[x] = p[3 * x];
        } else {
            gray_row(p, frame->width, format == SK_PIXEL_RGB ? 0 : 2, rule, row);
        }
    }
    return SK_OK;
}

void sk_pixels_to_planes(const uint8_t *in, ptrdiff_t stride, int32_t width, int32_t height, int32_t channels,
                         float scale, const float *mean, const float *std, float *out)
{
    int exact = scale == 1.0f / 255.0f;
    for (int32_t c = 0; c < channels; c++) {
        float m = mean ? mean[c] : 0, s = std ? std[c] : 1;
        float *plane = out + (size_t)c * (size_t)width * (size_t)height;
        for (int32_t y = 0; y < height; y++) {
            const uint8_t *restrict p = in + y * stride + c;
            float *restrict row = plane + (size_t)y * (size_t)width;
            if (exact)
                for (int32_t x = 0; x < width; x++)
                    row[x] = (float)p[x * channels] / 255.0f;
            else
                for (int32_t x = 0; x < width; x++)
                    row[x] = (float)p[x * channels] * scale;
            if (m != 0 || s != 1)
                for (int32_t x = 0; x < width; x++)
                    row[x] = (row[x] - m) / s;
        }
    }
}
