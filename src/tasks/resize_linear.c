/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resize_linear.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/picture_formula.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Coefficients are 11 bits: picture_formula.h. */
enum { COEF_BITS = 11, SLACK = 16 };

struct sk_resize_linear {
    int32_t dst_width, dst_height, channels;
    int32_t most_width, most_height, most_channels; /* what the tables hold */
    int32_t halving;                                /* exactly 2:1 both ways */
    int32_t n_wide;   /* leading destination pixels whose 8-byte load stays inside the source row */
    sk_linear_axis x; /* in bytes of the source row */
    sk_linear_axis y; /* in source rows */
    int16_t *rows;    /* [slices][2][row_elements] horizontal sums */
    uint8_t *bytes;   /* [slices][row_elements] one finished row, before expansion */
    size_t row_elements;
};

void sk_resize_linear_taps(int32_t from, int32_t to, int vertical, int32_t unit, int32_t *i0, int32_t *i1,
                           int16_t (*weights)[2])
{
    double scale = 1.0 / ((double)to / from);
    for (int32_t i = 0; i < to; i++) {
        float f = (float)((i + 0.5) * scale - 0.5);
        int32_t s = (int32_t)floorf(f);
        f -= (float)s;
        /* Horizontally the border pixel gets the whole weight; vertically both taps clamp to the same row,
         * which keeps the two weights and so rounds differently. */
        if (!vertical && s < 0) {
            s = 0;
            f = 0;
        }
        if (!vertical && s >= from - 1) {
            s = from - 1;
            f = 0;
        }
        int32_t a = s < 0 ? 0 : s > from - 1 ? from - 1 : s;
        int32_t b = s + 1 < 0 ? 0 : s + 1 > from - 1 ? from - 1 : s + 1;
        i0[i] = a * unit;
        i1[i] = b * unit;
        weights[i][0] = (int16_t)lrintf((1.0f - f) * (1 << COEF_BITS));
        weights[i][1] = (int16_t)lrintf(f * (1 << COEF_BITS));
    }
}

bool sk_linear_axis_alloc(sk_linear_axis *a, size_t room)
{
    a->first = sk_calloc(room, sizeof *a->first);
    a->second = sk_calloc(room, sizeof *a->second);
    a->weights = sk_calloc(room, sizeof *a->weights);
    return a->first && a->second && a->weights;
}

void sk_linear_axis_free(sk_linear_axis *a)
{
    sk_free_all(a->first, a->second, a->weights);
}

static void fit(sk_resize_linear *r, int32_t src_width, int32_t src_height, int32_t dst_width,
                int32_t dst_height, int32_t channels)
{
    r->channels = channels;
    r->dst_width = dst_width;
    r->dst_height = dst_height;
    r->halving = src_width == 2 * dst_width && src_height == 2 * dst_height;
    sk_resize_linear_taps(src_width, dst_width, 0, channels, r->x.first, r->x.second, r->x.weights);
    sk_resize_linear_taps(src_height, dst_height, 1, 1, r->y.first, r->y.second, r->y.weights);
    r->n_wide = 0;
    while (r->n_wide < dst_width && r->x.first[r->n_wide] + 8 <= src_width * channels)
        r->n_wide++;
}

sk_status sk_resize_linear_open(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height,
                                int32_t channels, int32_t slices, sk_resize_linear **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(src_width > 0 && src_height > 0 && dst_width > 0 && dst_height > 0, err);
    SK_CHECK_ARG(src_width <= 65536 && src_height <= 65536 && dst_width <= 65536 && dst_height <= 65536, err);
    SK_CHECK_ARG((channels == 1 || channels == 3) && slices >= 1 && slices <= 256, err);
    sk_resize_linear *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->most_width = dst_width;
    r->most_height = dst_height;
    r->most_channels = channels;
    r->row_elements = (size_t)dst_width * (size_t)channels + SLACK;
    const bool axes =
        sk_linear_axis_alloc(&r->x, (size_t)dst_width) && sk_linear_axis_alloc(&r->y, (size_t)dst_height);
    r->rows = sk_calloc((size_t)slices * 2, r->row_elements * sizeof *r->rows);
    r->bytes = sk_calloc((size_t)slices, r->row_elements);
    if (!axes || !r->rows || !r->bytes) {
        size_t bytes = (size_t)slices * r->row_elements * 5;
        sk_resize_linear_close(&r);
        return sk_fail_memory(err, bytes);
    }
    fit(r, src_width, src_height, dst_width, dst_height, channels);
    *out = r;
    return SK_OK;
}

sk_status sk_resize_linear_refit(sk_resize_linear *r, int32_t src_width, int32_t src_height,
                                 int32_t dst_width, int32_t dst_height, int32_t channels, sk_error *err)
{
    SK_CHECK_ARG(r && src_width > 0 && src_height > 0 && src_width <= 65536 && src_height <= 65536, err);
    SK_CHECK_ARG(
        dst_width > 0 && dst_height > 0 && dst_width <= r->most_width && dst_height <= r->most_height, err);
    SK_CHECK_ARG((channels == 1 || channels == 3) && channels <= r->most_channels, err);
    fit(r, src_width, src_height, dst_width, dst_height, channels);
    return SK_OK;
}

void sk_resize_linear_close(sk_resize_linear **resize)
{
    SK_TAKE_OR_RETURN(r, resize);
    sk_linear_axis_free(&r->x);
    sk_linear_axis_free(&r->y);
    sk_free_all(r->rows, r->bytes, r);
}

static void horizontal_1(const sk_resize_linear *r, const uint8_t *src, int16_t *row)
{
    for (int32_t x = 0; x < r->dst_width; x++)
        row[x] =
            sk_linear_across(src[r->x.first[x]], src[r->x.second[x]], r->x.weights[x][0], r->x.weights[x][1]);
}

static void horizontal_3(const sk_resize_linear *r, const uint8_t *src, int16_t *row, int swap)
{
    int32_t x = 0;
#if defined(__SSE2__)
    /* The vectorised form of sk_linear_across (tasks_formulas compares them). One pixel a step: both neighbours lie in one 8-byte load; bytes are paired (a0 b0 a1 b1 a2 b2) and one
     * multiply-add gives the three sums. Each store's fourth value is overwritten by the next pixel. */
    const __m128i zero = _mm_setzero_si128();
    for (; x < r->n_wide; x++) {
        int32_t weights;
        memcpy(&weights, r->x.weights[x], 4);
        __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(src + r->x.first[x]));
        __m128i pairs = _mm_unpacklo_epi8(_mm_unpacklo_epi8(v, _mm_srli_epi64(v, 24)), zero);
        __m128i sums = _mm_srai_epi32(_mm_madd_epi16(pairs, _mm_set1_epi32(weights)), 4);
        if (swap)
            sums = _mm_shuffle_epi32(sums, _MM_SHUFFLE(3, 0, 1, 2));
        _mm_storel_epi64((__m128i *)(void *)(row + 3 * x), _mm_packs_epi32(sums, sums));
    }
#endif
    int first = swap ? 2 : 0, third = swap ? 0 : 2;
    for (; x < r->dst_width; x++) {
        const uint8_t *a = src + r->x.first[x], *b = src + r->x.second[x];
        int w0 = r->x.weights[x][0], w1 = r->x.weights[x][1];
        row[3 * x] = sk_linear_across(a[first], b[first], w0, w1);
        row[3 * x + 1] = sk_linear_across(a[1], b[1], w0, w1);
        row[3 * x + 2] = sk_linear_across(a[third], b[third], w0, w1);
    }
}

void sk_resize_linear_blend(const int16_t *restrict s0, const int16_t *restrict s1, int16_t b0, int16_t b1,
                            size_t count, uint8_t *restrict dst)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = sk_linear_down(s0[i], s1[i], b0, b1);
}

static void halve_row(const uint8_t *restrict a, const uint8_t *restrict b, int32_t channels,
                      int32_t dst_width, int swap, uint8_t *restrict dst)
{
    if (channels == 1) {
        for (int32_t x = 0; x < dst_width; x++)
            dst[x] = sk_linear_half(a[2 * x], a[2 * x + 1], b[2 * x], b[2 * x + 1]);
        return;
    }
    int first = swap ? 2 : 0, third = swap ? 0 : 2;
    for (int32_t x = 0; x < dst_width; x++) {
        const uint8_t *p = a + 6 * x, *q = b + 6 * x;
        dst[3 * x] = sk_linear_half(p[first], p[first + 3], q[first], q[first + 3]);
        dst[3 * x + 1] = sk_linear_half(p[1], p[4], q[1], q[4]);
        dst[3 * x + 2] = sk_linear_half(p[third], p[third + 3], q[third], q[third + 3]);
    }
}

static void expand_row(const uint8_t *restrict src, int32_t width, uint8_t *restrict dst)
{
    for (int32_t x = 0; x < width; x++) {
        uint8_t v = src[x];
        dst[3 * x] = v;
        dst[3 * x + 1] = v;
        dst[3 * x + 2] = v;
    }
}

void sk_resize_linear_rows(const sk_resize_linear *r, const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst,
                           ptrdiff_t dst_stride, int swap, int expand, int32_t y0, int32_t y1, int32_t slice)
{
    int16_t *rows[2] = {r->rows + (size_t)slice * 2 * r->row_elements, NULL};
    rows[1] = rows[0] + r->row_elements;
    uint8_t *bytes = r->bytes + (size_t)slice * r->row_elements;
    int32_t held[2] = {-1, -1}; /* source row whose sums each work row holds */
    int32_t channels = r->channels;
    size_t count = (size_t)r->dst_width * (size_t)channels;
    for (int32_t y = y0; y < y1; y++) {
        uint8_t *target = dst + y * dst_stride;
        uint8_t *line = expand ? bytes : target;
        if (r->halving) {
            const uint8_t *upper = src + (ptrdiff_t)(2 * y) * src_stride;
            halve_row(upper, upper + src_stride, channels, r->dst_width, swap, line);
        } else {
            int32_t wanted[2] = {r->y.first[y], r->y.second[y]};
            if (held[0] != wanted[0] && held[1] == wanted[0]) {
                int16_t *t = rows[0];
                rows[0] = rows[1];
                rows[1] = t;
                held[1] = held[0];
                held[0] = wanted[0];
            }
            for (int k = 0; k < 2; k++) {
                if (held[k] == wanted[k])
                    continue;
                const uint8_t *from = src + (ptrdiff_t)wanted[k] * src_stride;
                if (channels == 3)
                    horizontal_3(r, from, rows[k], swap);
                else
                    horizontal_1(r, from, rows[k]);
                held[k] = wanted[k];
            }
            sk_resize_linear_blend(rows[0], rows[1], r->y.weights[y][0], r->y.weights[y][1], count, line);
        }
        if (expand)
            expand_row(bytes, r->dst_width, target);
    }
}
