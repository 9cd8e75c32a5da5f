/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/plain.h"

#include "base/frame.h"

#include <string.h>

sk_pixel_format sk_plain_format(sk_pixel_format format)
{
    switch (format) {
    case SK_PIXEL_RGBA:
    case SK_PIXEL_NV12:
    case SK_PIXEL_I420:
    case SK_PIXEL_YUYV: return SK_PIXEL_RGB;
    case SK_PIXEL_BGRA: return SK_PIXEL_BGR;
    case SK_PIXEL_GRAY16: return SK_PIXEL_GRAY;
    default: return format;
    }
}

/* Two pixels of four bytes, without the fourth of each. */
static inline uint64_t six_bytes(const uint8_t *p)
{
    uint64_t two;
    memcpy(&two, p, 8);
    return (two & 0xffffffu) | (two >> 8 & 0xffffff000000u);
}

/* Four bytes a pixel to three; eight pixels are four words in and three out. */
static void drop_fourth(const uint8_t *restrict in, int32_t width, uint8_t *restrict out)
{
    int32_t x = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; x + 8 <= width; x += 8) {
        const uint8_t *from = in + 4 * (ptrdiff_t)x;
        uint8_t *to = out + 3 * (ptrdiff_t)x;
        const uint64_t a = six_bytes(from), b = six_bytes(from + 8), c = six_bytes(from + 16),
                       d = six_bytes(from + 24);
        const uint64_t first = a | b << 48, second = b >> 16 | c << 32, third = c >> 32 | d << 16;
        memcpy(to, &first, 8);
        memcpy(to + 8, &second, 8);
        memcpy(to + 16, &third, 8);
    }
#endif
    for (; x < width; x++)
        memcpy(out + 3 * (ptrdiff_t)x, in + 4 * (ptrdiff_t)x, 3);
}

static void upper_bytes(const uint8_t *restrict in, int32_t width, uint8_t *restrict out)
{
    for (int32_t x = 0; x < width; x++) {
        uint16_t value;
        memcpy(&value, in + 2 * (ptrdiff_t)x, 2);
        out[x] = (uint8_t)(value >> 8);
    }
}

void sk_plain_row(const sk_frame *frame, const sk_nv12_weights *w, int32_t y, uint8_t *out)
{
    const uint8_t *in = frame->data + frame->stride * y;
    switch (frame->format) {
    case SK_PIXEL_RGBA:
    case SK_PIXEL_BGRA: drop_fourth(in, frame->width, out); break;
    case SK_PIXEL_GRAY16: upper_bytes(in, frame->width, out); break;
    case SK_PIXEL_NV12:
    case SK_PIXEL_I420:
    case SK_PIXEL_YUYV: sk_yuv_row_to_rgb(frame, w, y, out); break;
    default: memcpy(out, in, sk_frame_row_bytes(frame->format, frame->width)); break;
    }
}

size_t sk_plain_bytes(const sk_frame *frame)
{
    return sk_frame_row_bytes(sk_plain_format(frame->format), frame->width) * (size_t)frame->height;
}

void sk_plain_convert(const sk_frame *frame, uint8_t *to, sk_frame *view)
{
    const sk_nv12_weights w = sk_nv12_weights_of(frame->matrix, frame->full_range);
    sk_frame plain = *frame;
    plain.format = sk_plain_format(frame->format);
    plain.data = to;
    plain.stride = (ptrdiff_t)sk_frame_row_bytes(plain.format, frame->width);
    plain.chroma = plain.chroma_v = NULL;
    plain.chroma_stride = 0;
    for (int32_t y = 0; y < frame->height; y++)
        sk_plain_row(frame, &w, y, to + plain.stride * y);
    *view = plain;
}
