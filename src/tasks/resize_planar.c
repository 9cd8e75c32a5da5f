/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resize_planar.h"

#include "base/memory.h"
#include "base/object.h"
#include "kernels/nv12.h"
#include "kernels/nv12_sse2.h"
#include "tasks/picture_formula.h"
#include "tasks/resize_linear.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { SLACK = 16, CHANNELS = 3 };

/* Two neighbouring pixels of the source make one of the result: of each plane they are fetched together, the left one in the
 * low byte. Of chroma, which has one value for two pixels, the right pixel's is the left's where that stands at an even
 * column. A work row holds the horizontal sums of one source row, channel after channel, `pitch` values each. */
struct sk_resize_planar {
    int32_t most_width, most_height;
    int32_t src_width, src_height, dst_width, dst_height;
    size_t pitch;
    int32_t n_pairs;  /* leading results whose two pixels and chroma values all lie inside the rows */
    sk_linear_axis x; /* source columns; where the two do not touch, the second weighs nothing */
    sk_linear_axis y; /* source rows */
    int16_t *odd;     /* [dst_width] -1 where the first column is odd, else 0 */
    uint16_t *pairs;  /* [luma, u, v][pitch] of one source row */
    int16_t *rows;    /* [2][CHANNELS][pitch] */
    uint8_t *bytes;   /* [CHANNELS][pitch] one finished row */
};

sk_status sk_resize_planar_open(int32_t most_width, int32_t most_height, sk_resize_planar **out,
                                sk_error *err)
{
    SK_CHECK_ARG(out && most_width > 0 && most_height > 0 && most_width <= 65536 && most_height <= 65536,
                 err);
    *out = NULL;
    sk_resize_planar *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    const size_t w = (size_t)most_width;
    r->most_width = most_width;
    r->most_height = most_height;
    r->pitch = (w + SLACK + 7) & ~(size_t)7;
    const bool axes =
        sk_linear_axis_alloc(&r->x, r->pitch) && sk_linear_axis_alloc(&r->y, (size_t)most_height);
    r->odd = sk_calloc(r->pitch, sizeof *r->odd);
    r->pairs = sk_calloc(CHANNELS * r->pitch, sizeof *r->pairs);
    r->rows = sk_calloc(2 * CHANNELS * r->pitch, sizeof *r->rows);
    r->bytes = sk_calloc(CHANNELS, r->pitch);
    if (!axes || !r->odd || !r->pairs || !r->rows || !r->bytes) {
        sk_resize_planar_close(&r);
        return sk_fail_memory(err, 40 * w);
    }
    *out = r;
    return SK_OK;
}

void sk_resize_planar_close(sk_resize_planar **resize)
{
    SK_TAKE_OR_RETURN(r, resize);
    sk_linear_axis_free(&r->x);
    sk_linear_axis_free(&r->y);
    sk_free_all(r->odd, r->pairs, r->rows, r->bytes, r);
}

bool sk_resize_planar_takes(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height)
{
    const bool same = src_width == dst_width && src_height == dst_height;
    const bool half = src_width == 2 * dst_width && src_height == 2 * dst_height; /* has a rule of its own */
    return !same && !half;
}

bool sk_resize_planar_fit(sk_resize_planar *r, int32_t src_width, int32_t src_height, int32_t dst_width,
                          int32_t dst_height)
{
    if (dst_width > r->most_width || dst_height > r->most_height ||
        !sk_resize_planar_takes(src_width, src_height, dst_width, dst_height))
        return false;
    if (r->src_width == src_width && r->src_height == src_height && r->dst_width == dst_width &&
        r->dst_height == dst_height)
        return true;
    r->src_width = src_width;
    r->src_height = src_height;
    r->dst_width = dst_width;
    r->dst_height = dst_height;
    sk_resize_linear_taps(src_width, dst_width, 0, 1, r->x.first, r->x.second, r->x.weights);
    sk_resize_linear_taps(src_height, dst_height, 1, 1, r->y.first, r->y.second, r->y.weights);
    r->n_pairs = 0;
    while (r->n_pairs < dst_width && r->x.first[r->n_pairs] + 1 < src_width &&
           r->x.first[r->n_pairs] / 2 + 1 < (src_width + 1) / 2)
        r->n_pairs++;
    for (int32_t x = 0; x < dst_width; x++)
        r->odd[x] = r->x.first[x] % 2 ? -1 : 0;
    return true;
}

static inline uint16_t pair_at(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8); /* one load */
}

static void gather_luma(const sk_resize_planar *r, const uint8_t *luma)
{
    int32_t x = 0;
    for (; x < r->n_pairs; x++)
        r->pairs[x] = pair_at(luma + r->x.first[x]);
    for (; x < r->dst_width; x++)
        r->pairs[x] = (uint16_t)(luma[r->x.first[x]] | luma[r->x.second[x]] << 8);
}

static void gather_chroma(const sk_resize_planar *r, const uint8_t *u, const uint8_t *v)
{
    uint16_t *restrict pu = r->pairs + r->pitch, *restrict pv = pu + r->pitch;
    int32_t x = 0;
    for (; x < r->n_pairs; x++) {
        const uint32_t at = (uint32_t)r->x.first[x] / 2;
        pu[x] = pair_at(u + at);
        pv[x] = pair_at(v + at);
    }
    for (; x < r->dst_width; x++) { /* the last column: the right pixel has the same, or weighs nothing */
        const uint32_t at = (uint32_t)r->x.first[x] / 2;
        pu[x] = u[at];
        pv[x] = v[at];
    }
}

#if defined(__SSE2__)

/* The vectorised form of sk_nv12_pixel and sk_linear_across below (tasks_letterbox compares planes with RGB). */

static inline __m128i load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* The right pixel's chroma. */
static inline __m128i right_of(__m128i pairs, __m128i odd)
{
    return _mm_or_si128(_mm_and_si128(_mm_srli_epi16(pairs, 8), odd),
                        _mm_andnot_si128(odd, _mm_and_si128(pairs, _mm_set1_epi16(255))));
}

/* Eight results a step; what lies behind the last one is work memory too. */
static void weigh(const sk_resize_planar *r, const sk_nv12_weights *w, int16_t *row)
{
    const size_t pitch = r->pitch;
    const __m128i low_byte = _mm_set1_epi16(255);
    for (int32_t x = 0; x < r->dst_width; x += 8) {
        const __m128i l = load(r->pairs + x), u = load(r->pairs + pitch + x),
                      v = load(r->pairs + 2 * pitch + x), odd = load(r->odd + x);
        const sk_nv12_eight a = sk_nv12_pixels(_mm_and_si128(l, low_byte), _mm_and_si128(u, low_byte),
                                               _mm_and_si128(v, low_byte), w),
                            b = sk_nv12_pixels(_mm_srli_epi16(l, 8), right_of(u, odd), right_of(v, odd), w);
        const __m128i low = load(r->x.weights[x]), high = load(r->x.weights[x + 4]);
        for (size_t c = 0; c < CHANNELS; c++) {
            __m128i s0 = _mm_madd_epi16(_mm_unpacklo_epi16(a.c[c], b.c[c]), low),
                    s1 = _mm_madd_epi16(_mm_unpackhi_epi16(a.c[c], b.c[c]), high);
            _mm_storeu_si128((__m128i *)(void *)(row + c * pitch + x),
                             _mm_packs_epi32(_mm_srai_epi32(s0, 4), _mm_srai_epi32(s1, 4)));
        }
    }
}

#else

static void weigh(const sk_resize_planar *r, const sk_nv12_weights *w, int16_t *row)
{
    const size_t pitch = r->pitch;
    for (int32_t x = 0; x < r->dst_width; x++) {
        const int shift = r->odd[x] ? 8 : 0;
        const uint16_t l = r->pairs[x], u = r->pairs[pitch + (size_t)x], v = r->pairs[2 * pitch + (size_t)x];
        const sk_rgb a = sk_nv12_pixel(w, l & 255, u & 255, v & 255),
                     b = sk_nv12_pixel(w, l >> 8, u >> shift & 255, v >> shift & 255);
        const int32_t w0 = r->x.weights[x][0], w1 = r->x.weights[x][1];
        row[x] = sk_linear_across(a.red, b.red, w0, w1);
        row[pitch + (size_t)x] = sk_linear_across(a.green, b.green, w0, w1);
        row[2 * pitch + (size_t)x] = sk_linear_across(a.blue, b.blue, w0, w1);
    }
}

#endif

static void interleave(const sk_resize_planar *r, uint8_t *restrict dst)
{
    const uint8_t *restrict red = r->bytes, *restrict green = red + r->pitch,
                            *restrict blue = green + r->pitch;
    for (int32_t x = 0; x < r->dst_width; x++) {
        dst[3 * x] = red[x];
        dst[3 * x + 1] = green[x];
        dst[3 * x + 2] = blue[x];
    }
}

void sk_resize_planar_rows(sk_resize_planar *r, const sk_frame *frame, uint8_t *dst, ptrdiff_t dst_stride,
                           int32_t y0, int32_t y1)
{
    const sk_nv12_weights w = sk_nv12_weights_of(frame->matrix, frame->full_range);
    const size_t count = CHANNELS * r->pitch;
    int32_t held = -1; /* row of chroma in `pairs`: neighbouring rows share it every other time */
    for (int32_t y = y0; y < y1; y++) {
        const int32_t both[2] = {r->y.first[y], r->y.second[y]};
        for (int k = 0; k < 2; k++) {
            const ptrdiff_t row = frame->chroma_stride * (both[k] / 2);
            gather_luma(r, frame->data + frame->stride * both[k]);
            if (held != both[k] / 2)
                gather_chroma(r, frame->chroma + row, frame->chroma_v + row);
            held = both[k] / 2;
            weigh(r, &w, r->rows + (size_t)k * count);
        }
        sk_resize_linear_blend(r->rows, r->rows + count, r->y.weights[y][0], r->y.weights[y][1], count,
                               r->bytes);
        interleave(r, dst + y * dst_stride);
    }
}
