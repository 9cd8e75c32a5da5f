/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resize_antialias.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/picture_formula.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef sk_antialias_axis axis;

struct sk_resize_antialias {
    int32_t channels;
    axis x, y;
    uint8_t
        *between; /* [src_height][dst_width][channels]: widened or narrowed rows; null when widths agree */
};

sk_status sk_antialias_axis_open(axis *a, int32_t from, int32_t to, sk_error *err)
{
    a->from = from;
    a->to = to;
    double scale = (double)from / to, support = scale >= 1 ? scale : 1, inverse = scale >= 1 ? 1 / scale : 1;
    int32_t most_taps = (int32_t)ceil(support) * 2 + 1;
    a->taps = (most_taps + 7) & ~7;
    size_t room = (size_t)to * (size_t)a->taps;
    a->first = sk_calloc((size_t)to, sizeof *a->first);
    a->count = sk_calloc((size_t)to, sizeof *a->count);
    a->weights = sk_calloc(room, sizeof *a->weights);
    double *w = sk_calloc(room, sizeof *w), most = 0;
    if (!a->first || !a->count || !a->weights || !w) {
        sk_free(w);
        return sk_fail_memory(err, room * sizeof *w);
    }
    for (int32_t i = 0; i < to; i++) {
        double centre = scale * (i + 0.5), sum = 0, *row = w + (size_t)i * (size_t)a->taps;
        int32_t lo = (int32_t)(centre - support + 0.5), hi = (int32_t)(centre + support + 0.5);
        lo = lo < 0 ? 0 : lo;
        hi = hi > from ? from : hi;
        int32_t n = hi - lo < most_taps ? hi - lo : most_taps;
        for (int32_t j = 0; j < n; j++) {
            double t = 1 - fabs((j + lo - centre + 0.5) * inverse);
            row[j] = t > 0 ? t : 0;
            sum += row[j];
        }
        for (int32_t j = 0; j < n; j++) {
            row[j] = sum != 0 ? row[j] / sum : row[j];
            most = row[j] > most ? row[j] : most;
        }
        a->first[i] = lo;
        a->count[i] = n;
    }
    while (a->bits < 22 && (int64_t)(0.5 + most * (double)(1 << (a->bits + 1))) < 1 << 15)
        a->bits++;
    for (size_t k = 0; k < room; k++)
        a->weights[k] = (int16_t)(0.5 + w[k] * (double)(1 << a->bits));
    sk_free(w);
    return SK_OK;
}

void sk_antialias_axis_close(axis *a)
{
    sk_free_all(a->first, a->count, a->weights);
}

sk_status sk_resize_antialias_open(int32_t src_width, int32_t src_height, int32_t dst_width,
                                   int32_t dst_height, int32_t channels, sk_resize_antialias **out,
                                   sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(src_width > 0 && src_height > 0 && dst_width > 0 && dst_height > 0, err);
    SK_CHECK_ARG(src_width <= 65536 && src_height <= 65536 && dst_width <= 65536 && dst_height <= 65536, err);
    SK_CHECK_ARG(channels >= 1 && channels <= 4, err);
    sk_resize_antialias *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    sk_status status;
    r->channels = channels;
    SK_TRY_GOTO(sk_antialias_axis_open(&r->x, src_width, dst_width, err));
    SK_TRY_GOTO(sk_antialias_axis_open(&r->y, src_height, dst_height, err));
    size_t row = (size_t)dst_width * (size_t)channels;
    if (src_width != dst_width)
        r->between = sk_malloc(row * (size_t)src_height);
    if (src_width != dst_width && !r->between) {
        status = sk_fail_memory(err, row * (size_t)src_height);
        goto done;
    }
done:
    return SK_HAND_OVER(status, r, out, sk_resize_antialias_close);
}

void sk_resize_antialias_close(sk_resize_antialias **resize)
{
    SK_TAKE_OR_RETURN(r, resize);
    sk_antialias_axis_close(&r->x);
    sk_antialias_axis_close(&r->y);
    sk_free_all(r->between, r);
}

#if defined(__SSE2__)
/* What stands below under __SSE2__ is the vectorised form of the plain loops beside it, which are those of the kernels
 * (picture_formula.h); tasks_formulas compares the two. */

/* Sum of eight products of bytes and weights. */
static int32_t dot8(__m128i bytes, const int16_t *weights)
{
    __m128i w = _mm_loadu_si128((const __m128i *)(const void *)weights);
    __m128i s = _mm_madd_epi16(_mm_unpacklo_epi8(bytes, _mm_setzero_si128()), w);
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(1, 0, 3, 2)));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(2, 3, 0, 1))));
}

/* Leading output places of a row that can be made with loads of eight bytes inside the row; returns how
 * many. */
static int32_t narrow_wide(const axis *a, int32_t channels, const uint8_t *src, uint8_t *dst)
{
    int32_t half = sk_antialias_begin(a->bits), x = 0, end = a->from * channels;
    for (; x < a->to && channels == 1; x++) {
        int32_t n = a->count[x], sum = half;
        if (a->first[x] + ((n + 7) & ~7) > end)
            break;
        for (int32_t j = 0; j < n; j += 8)
            sum += dot8(_mm_loadl_epi64((const __m128i *)(const void *)(src + a->first[x] + j)),
                        a->weights + (size_t)x * (size_t)a->taps + j);
        dst[x] = sk_antialias_end(sum, a->bits);
    }
    for (; x < a->to && channels == 3; x++) {
        /* Two neighbouring pixels lie in one load; paired by colour, one multiply-add weighs both. */
        int32_t n = a->count[x];
        const int16_t *w = a->weights + (size_t)x * (size_t)a->taps;
        const uint8_t *p = src + 3 * a->first[x];
        if (3 * (a->first[x] + n) + 8 > end)
            break;
        __m128i sum = _mm_set1_epi32(half), zero = _mm_setzero_si128();
        for (int32_t j = 0; j < n; j += 2) {
            int32_t pair;
            memcpy(&pair, w + j, 4);
            __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(p + 3 * j));
            v = _mm_unpacklo_epi8(_mm_unpacklo_epi8(v, _mm_srli_epi64(v, 24)), zero);
            sum = _mm_add_epi32(sum, _mm_madd_epi16(v, _mm_set1_epi32(pair)));
        }
        sum = _mm_sra_epi32(sum, _mm_cvtsi32_si128(a->bits));
        sum = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
        int32_t four = _mm_cvtsi128_si32(sum);
        memcpy(dst + 3 * x, &four, 3);
    }
    return x;
}
#endif

static void narrow_row(const axis *a, int32_t channels, const uint8_t *src, uint8_t *dst)
{
    int32_t half = sk_antialias_begin(a->bits), x = 0;
#if defined(__SSE2__)
    x = narrow_wide(a, channels, src, dst);
#endif
    for (; x < a->to; x++) {
        const int16_t *w = a->weights + (size_t)x * (size_t)a->taps;
        const uint8_t *p = src + a->first[x] * channels;
        for (int32_t c = 0; c < channels; c++) {
            int32_t sum = half;
            for (int32_t j = 0; j < a->count[x]; j++)
                sum += p[j * channels + c] * w[j];
            dst[x * channels + c] = sk_antialias_end(sum, a->bits);
        }
    }
}

/* One output row from `count` input rows. */
static void mix_rows(const axis *a, const uint8_t *src, ptrdiff_t stride, int32_t count, const int16_t *w,
                     size_t row, uint8_t *dst)
{
    int32_t half = sk_antialias_begin(a->bits);
    size_t i = 0;
#if defined(__SSE2__)
    __m128i zero = _mm_setzero_si128(), shift = _mm_cvtsi32_si128(a->bits);
    for (; i + 8 <= row; i += 8) {
        __m128i low = _mm_set1_epi32(half), high = low;
        for (int32_t j = 0; j < count; j += 2) {
            /* An odd last row is paired with itself under weight 0. */
            const uint8_t *p = src + j * stride + (ptrdiff_t)i, *q = j + 1 < count ? p + stride : p;
            int32_t pair;
            memcpy(&pair, w + j, 4);
            __m128i ab = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(const void *)p),
                                           _mm_loadl_epi64((const __m128i *)(const void *)q));
            __m128i weights = _mm_set1_epi32(pair);
            low = _mm_add_epi32(low, _mm_madd_epi16(_mm_unpacklo_epi8(ab, zero), weights));
            high = _mm_add_epi32(high, _mm_madd_epi16(_mm_unpackhi_epi8(ab, zero), weights));
        }
        __m128i v = _mm_packs_epi32(_mm_sra_epi32(low, shift), _mm_sra_epi32(high, shift));
        _mm_storel_epi64((__m128i *)(void *)(dst + i), _mm_packus_epi16(v, v));
    }
#endif
    for (; i < row; i++) {
        int32_t sum = half;
        for (int32_t j = 0; j < count; j++)
            sum += src[j * stride + (ptrdiff_t)i] * w[j];
        dst[i] = sk_antialias_end(sum, a->bits);
    }
}

void sk_resize_antialias_run(sk_resize_antialias *r, const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst,
                             ptrdiff_t dst_stride)
{
    const axis *a = &r->y;
    size_t row = (size_t)r->x.to * (size_t)r->channels;
    if (r->between) {
        for (int32_t y = 0; y < a->from; y++)
            narrow_row(&r->x, r->channels, src + y * src_stride, r->between + (size_t)y * row);
        src = r->between;
        src_stride = (ptrdiff_t)row;
    }
    for (int32_t y = 0; y < a->to; y++) {
        uint8_t *line = dst + y * dst_stride;
        if (a->from == a->to) {
            memcpy(line, src + y * src_stride, row);
            continue;
        }
        mix_rows(a, src + a->first[y] * src_stride, src_stride, a->count[y],
                 a->weights + (size_t)y * (size_t)a->taps, row, line);
    }
}
