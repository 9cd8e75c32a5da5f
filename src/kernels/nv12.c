/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "kernels/nv12.h"
#include "kernels/nv12_sse2.h"

#include <string.h>

/* In 1 / 65536, for the ranges of video (luma 219 steps, chroma 224): red from v, blue from u, green from u, green from v. */
static const int32_t matrices[][4] = {
    [SK_COLOUR_BT601] = {104597, 132201, 25675, 53279},
    [SK_COLOUR_BT709] = {117489, 138438, 13975, 34925},
    [SK_COLOUR_FCC] = {104448, 132798, 24759, 53109},
    [SK_COLOUR_SMPTE240M] = {117579, 136230, 16907, 35559},
    [SK_COLOUR_BT2020] = {110013, 140363, 12277, 42626},
};

/* From 1 / 65536 to 1 / 8192, rounded. */
static int32_t shorter(int32_t x)
{
    const int64_t sum = (int64_t)x * 8192 + 32768;
    return (int32_t)(sum >= 0 ? sum / 65536 : -((-sum + 65535) / 65536));
}

sk_nv12_weights sk_nv12_weights_of(sk_colour_matrix matrix, int32_t full_range)
{
    const int32_t *m = matrices[(unsigned)matrix <= SK_COLOUR_BT2020 ? matrix : SK_COLOUR_BT601];
    const int32_t chroma = full_range ? 224 : 255; /* of 255 */
    int32_t part[4];
    for (int i = 0; i < 4; i++)
        part[i] = (int32_t)((int64_t)m[i] * chroma / 255);
    return (sk_nv12_weights){.offset = full_range ? 0 : 128,
                             .luma = shorter(full_range ? 65536 : 65536 * 255 / 219),
                             .red_v = shorter(part[0]),
                             .blue_u = shorter(part[1]),
                             .green_u = shorter(-part[2]),
                             .green_v = shorter(-part[3])};
}

/* Where the values of a row lie: `luma` bytes from one pixel to the next, `chroma` from one pair of pixels to the next. */
typedef struct yuv_row {
    const uint8_t *y, *u, *v;
    int32_t luma, chroma;
} yuv_row;

static yuv_row row_of(const sk_frame *frame, int32_t y)
{
    const uint8_t *luma = frame->data + frame->stride * y;
    if (frame->format == SK_PIXEL_YUYV)
        return (yuv_row){luma, luma + 1, luma + 3, 2, 4};
    if (frame->format == SK_PIXEL_I420) {
        const ptrdiff_t row = frame->chroma_stride * (y / 2);
        return (yuv_row){luma, frame->chroma + row, frame->chroma_v + row, 1, 1};
    }
    const uint8_t *uv = sk_frame_chroma(frame) + sk_frame_chroma_stride(frame) * (y / 2);
    return (yuv_row){luma, uv, uv + 1, 1, 2};
}

#if defined(__SSE2__)
static inline __m128i load_4(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, 4);
    return _mm_cvtsi32_si128(four);
}

static inline __m128i load_8(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

/* Eight pixels from x on, which is a multiple of 8: luma and chroma of each in 16 bits. */
static inline void gather_8(const yuv_row *r, int32_t x, __m128i *l, __m128i *u, __m128i *v)
{
    const __m128i zero = _mm_setzero_si128(), low = _mm_set1_epi16(255);
    if (r->luma == 2) { /* Y U Y V */
        const __m128i p = _mm_loadu_si128((const __m128i *)(const void *)(r->y + 2 * x));
        const __m128i uv = _mm_srli_epi16(p, 8);
        *l = _mm_and_si128(p, low);
        *u = _mm_shufflehi_epi16(_mm_shufflelo_epi16(uv, 0xA0), 0xA0);
        *v = _mm_shufflehi_epi16(_mm_shufflelo_epi16(uv, 0xF5), 0xF5);
        return;
    }
    *l = _mm_unpacklo_epi8(load_8(r->y + x), zero);
    if (r->chroma == 2) {
        const __m128i uv = load_8(r->u + x);
        *u = _mm_and_si128(uv, low);
        *v = _mm_srli_epi16(uv, 8);
    } else {
        *u = _mm_unpacklo_epi8(load_4(r->u + x / 2), zero);
        *v = _mm_unpacklo_epi8(load_4(r->v + x / 2), zero);
    }
    *u = _mm_unpacklo_epi16(*u, *u);
    *v = _mm_unpacklo_epi16(*v, *v);
}

/* Eight pixels by stores of four bytes each: one more byte is written than they have. */
static inline void put_8(const sk_nv12_eight *p, uint8_t *rgb)
{
    uint32_t pixels[8];
    const __m128i rg = _mm_or_si128(p->c[0], _mm_slli_epi16(p->c[1], 8));
    _mm_storeu_si128((__m128i *)(void *)pixels, _mm_unpacklo_epi16(rg, p->c[2]));
    _mm_storeu_si128((__m128i *)(void *)(pixels + 4), _mm_unpackhi_epi16(rg, p->c[2]));
    for (int k = 0; k < 8; k++)
        memcpy(rgb + 3 * k, &pixels[k], 4);
}
#endif

void sk_yuv_row_to_rgb(const sk_frame *frame, const sk_nv12_weights *w, int32_t y, uint8_t *rgb)
{
    const yuv_row r = row_of(frame, y);
    int32_t x = 0;
#if defined(__SSE2__)
    for (; x + 9 <= frame->width; x += 8) {
        __m128i l, u, v;
        gather_8(&r, x, &l, &u, &v);
        const sk_nv12_eight eight = sk_nv12_pixels(l, u, v, w);
        put_8(&eight, rgb + 3 * (ptrdiff_t)x);
    }
#endif
    for (; x < frame->width; x++) {
        const sk_rgb p = sk_nv12_pixel(w, r.y[x * r.luma], r.u[x / 2 * r.chroma], r.v[x / 2 * r.chroma]);
        uint8_t *to = rgb + 3 * (ptrdiff_t)x;
        to[0] = (uint8_t)p.red;
        to[1] = (uint8_t)p.green;
        to[2] = (uint8_t)p.blue;
    }
}

void sk_yuv_to_rgb(const sk_frame *frame, uint8_t *rgb)
{
    const sk_nv12_weights w = sk_nv12_weights_of(frame->matrix, frame->full_range);
    for (int32_t y = 0; y < frame->height; y++)
        sk_yuv_row_to_rgb(frame, &w, y, rgb + 3 * (ptrdiff_t)frame->width * y);
}
