/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/pixels.h"

#include "tasks/picture_formula.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static int row_is_gray(const uint8_t *p, int32_t width)
{
    int32_t x = 0;
#if defined(__SSE2__)
    /* Every byte against its successor, sixteen pixels a step; the step from one pixel to the next is
     * masked out. */
    const __m128i masks[3] = {_mm_setr_epi8(-1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1, 0, -1),
                              _mm_setr_epi8(-1, 0, -1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1),
                              _mm_setr_epi8(0, -1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1, 0)};
    for (; x + 17 <= width; x += 16) {
        __m128i differs = _mm_setzero_si128();
        for (int k = 0; k < 3; k++) {
            const uint8_t *q = p + 3 * x + 16 * k;
            __m128i a = _mm_loadu_si128((const __m128i *)(const void *)q);
            __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(q + 1));
            differs = _mm_or_si128(differs, _mm_and_si128(_mm_xor_si128(a, b), masks[k]));
        }
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(differs, _mm_setzero_si128())) != 0xFFFF)
            return 0;
    }
#endif
    for (; x < width; x++)
        if (p[3 * x] != p[3 * x + 1] || p[3 * x] != p[3 * x + 2])
            return 0;
    return 1;
}

bool sk_pixels_are_gray(const sk_frame *frame)
{
    for (int32_t y = 0; y < frame->height; y++)
        if (!row_is_gray(frame->data + y * frame->stride, frame->width))
            return false;
    return true;
}

void sk_pixels_take_gray(const sk_frame *frame, uint8_t *out)
{
    const int32_t step = frame->format == SK_PIXEL_GRAY ? 1 : 3;
    for (int32_t y = 0; y < frame->height; y++) {
        const uint8_t *p = frame->data + y * frame->stride;
        uint8_t *row = out + (size_t)y * (size_t)frame->width;
        if (step == 1)
            memcpy(row, p, (size_t)frame->width);
        else
            for (int32_t x = 0; x < frame->width; x++)
                row[x] = p[3 * x];
    }
}

void sk_pixels_gray_plane(const uint8_t *in, int32_t width, int32_t height, float *out, ptrdiff_t stride)
{
    for (int32_t y = 0; y < height; y++) {
        const uint8_t *restrict p = in + (size_t)y * (size_t)width * 3;
        float *restrict row = out + y * stride;
        for (int32_t x = 0; x < width; x++)
            row[x] = sk_grey_fraction(p[3 * x], p[3 * x + 1], p[3 * x + 2]);
    }
}

static uint8_t gray_pixel(uint8_t red, uint8_t green, uint8_t blue, sk_gray_rule rule)
{
    return rule == SK_GRAY_TENSORFLOW ? sk_grey_tensorflow(red, green, blue)
                                      : sk_grey_torch(red, green, blue);
}

#if defined(__SSE2__)
/* The vectorised form of picture_formula.h's greys (tasks_formulas compares all colours' neighbourhoods with
 * it). Four pixels: their sums in single precision, and whether each is too close to a whole number for the
 * rounding of a fused multiply-add not to matter. Reads 13 bytes. */
static __m128i gray_four(const uint8_t *p, __m128 first, __m128 third, sk_gray_rule rule, int *close)
{
    int32_t v[4];
    for (int k = 0; k < 4; k++)
        memcpy(&v[k], p + 3 * k, 4);
    __m128i m = _mm_setr_epi32(v[0], v[1], v[2], v[3]), byte = _mm_set1_epi32(255);
    __m128 a = _mm_cvtepi32_ps(_mm_and_si128(m, byte));
    __m128 b = _mm_cvtepi32_ps(_mm_and_si128(_mm_srli_epi32(m, 8), byte));
    __m128 c = _mm_cvtepi32_ps(_mm_and_si128(_mm_srli_epi32(m, 16), byte));
    if (rule == SK_GRAY_TENSORFLOW) {
        __m128 unit = _mm_set1_ps(1.0f / 255.0f);
        a = _mm_mul_ps(_mm_mul_ps(a, unit), first);
        b = _mm_mul_ps(_mm_mul_ps(b, unit), _mm_set1_ps(0.587f));
        c = _mm_mul_ps(_mm_mul_ps(c, unit), third);
        /* Red and blue may have changed places; the sum runs red, green, blue. */
        __m128 red = _mm_cvtss_f32(first) > 0.2f ? a : c, blue = _mm_cvtss_f32(first) > 0.2f ? c : a;
        *close = 0;
        return _mm_cvttps_epi32(_mm_mul_ps(_mm_add_ps(_mm_add_ps(red, b), blue), _mm_set1_ps(255.5f)));
    }
    __m128 sum = _mm_add_ps(_mm_add_ps(_mm_mul_ps(a, first), _mm_mul_ps(b, _mm_set1_ps(0.587f))),
                            _mm_mul_ps(c, third));
    __m128i whole = _mm_cvttps_epi32(sum);
    __m128 part = _mm_sub_ps(sum, _mm_cvtepi32_ps(whole));
    *close = _mm_movemask_ps(
        _mm_or_ps(_mm_cmplt_ps(part, _mm_set1_ps(1e-3f)), _mm_cmpgt_ps(part, _mm_set1_ps(1 - 1e-3f))));
    return whole;
}
#endif

static void gray_row(const uint8_t *restrict p, int32_t width, int red, sk_gray_rule rule,
                     uint8_t *restrict out)
{
    int blue = 2 - red;
    int32_t x = 0;
#if defined(__SSE2__)
    __m128 first = _mm_set1_ps(red == 0 ? 0.2989f : 0.114f), third = _mm_set1_ps(red == 0 ? 0.114f : 0.2989f);
    for (; x + 5 <= width; x += 4) {
        int close;
        __m128i g = gray_four(p + 3 * x, first, third, rule, &close);
        g = _mm_packus_epi16(_mm_packs_epi32(g, g), g);
        int32_t four = _mm_cvtsi128_si32(g);
        memcpy(out + x, &four, 4);
        for (int k = 0; close >> k; k++)
            if (close >> k & 1)
                out[x + k] =
                    gray_pixel(p[3 * (x + k) + red], p[3 * (x + k) + 1], p[3 * (x + k) + blue], rule);
    }
#endif
    for (; x < width; x++)
        out[x] = gray_pixel(p[3 * x + red], p[3 * x + 1], p[3 * x + blue], rule);
}

void sk_pixels_row_to_rgb(sk_pixel_format format, const uint8_t *restrict p, int32_t width,
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
    if (channels == 1 && (format == SK_PIXEL_GRAY || sk_pixels_are_gray(frame))) {
        sk_pixels_take_gray(frame, out);
        return SK_OK;
    }
    for (int32_t y = 0; y < frame->height; y++) {
        const uint8_t *p = frame->data + y * frame->stride;
        uint8_t *row = out + (size_t)y * (size_t)frame->width * (size_t)channels;
        if (channels == 3) {
            sk_pixels_row_to_rgb(format, p, frame->width, row);
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
