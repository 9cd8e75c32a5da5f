/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resize_antialias.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* The filter of one direction: for each output place its first input place, the number of taps and their
 * weights. */
typedef struct axis {
    int32_t from, to, taps; /* taps: room per output place */
    int32_t bits;           /* weights are scaled by 2^bits */
    int32_t *first, *count;
    int16_t *weights;
} axis;

struct sk_resize_antialias {
    int32_t channels;
    axis x, y;
    uint8_t
        *between;  /* [src_height][dst_width][channels]: widened or narrowed rows; null when widths agree */
    int32_t *sums; /* [dst_width * channels] of the vertical pass */
};

static sk_status axis_open(axis *a, int32_t from, int32_t to, sk_error *err)
{
    a->from = from;
    a->to = to;
    double scale = (double)from / to, support = scale >= 1 ? scale : 1, inverse = scale >= 1 ? 1 / scale : 1;
    a->taps = (int32_t)ceil(support) * 2 + 1;
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
        int32_t n = hi - lo < a->taps ? hi - lo : a->taps;
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

static void axis_close(axis *a)
{
    sk_free(a->first);
    sk_free(a->count);
    sk_free(a->weights);
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
    SK_TRY_GOTO(axis_open(&r->x, src_width, dst_width, err));
    SK_TRY_GOTO(axis_open(&r->y, src_height, dst_height, err));
    size_t row = (size_t)dst_width * (size_t)channels;
    if (src_width != dst_width)
        r->between = sk_malloc(row * (size_t)src_height);
    r->sums = sk_calloc(row, sizeof *r->sums);
    if (!r->sums || (src_width != dst_width && !r->between)) {
        status = sk_fail_memory(err, row * (size_t)src_height);
        goto done;
    }
    *out = r;
    r = NULL;
done:
    sk_resize_antialias_close(&r);
    return status;
}

void sk_resize_antialias_close(sk_resize_antialias **resize)
{
    if (!resize || !*resize)
        return;
    axis_close(&(*resize)->x);
    axis_close(&(*resize)->y);
    sk_free((*resize)->between);
    sk_free((*resize)->sums);
    sk_free(*resize);
    *resize = NULL;
}

static uint8_t finish(int32_t sum, int32_t bits)
{
    sum >>= bits;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static void narrow_row(const axis *a, int32_t channels, const uint8_t *src, uint8_t *dst)
{
    int32_t half = 1 << (a->bits - 1);
    for (int32_t x = 0; x < a->to; x++) {
        const int16_t *w = a->weights + (size_t)x * (size_t)a->taps;
        const uint8_t *p = src + a->first[x] * channels;
        if (channels == 3) {
            int32_t s0 = half, s1 = half, s2 = half;
            for (int32_t j = 0; j < a->count[x]; j++) {
                s0 += p[3 * j] * w[j];
                s1 += p[3 * j + 1] * w[j];
                s2 += p[3 * j + 2] * w[j];
            }
            dst[3 * x] = finish(s0, a->bits);
            dst[3 * x + 1] = finish(s1, a->bits);
            dst[3 * x + 2] = finish(s2, a->bits);
            continue;
        }
        for (int32_t c = 0; c < channels; c++) {
            int32_t sum = half;
            for (int32_t j = 0; j < a->count[x]; j++)
                sum += p[j * channels + c] * w[j];
            dst[x * channels + c] = finish(sum, a->bits);
        }
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
        int32_t *restrict sums = r->sums;
        const int16_t *w = a->weights + (size_t)y * (size_t)a->taps;
        for (size_t i = 0; i < row; i++)
            sums[i] = 1 << (a->bits - 1);
        for (int32_t j = 0; j < a->count[y]; j++) {
            const uint8_t *restrict p = src + (a->first[y] + j) * src_stride;
            int32_t weight = w[j];
            for (size_t i = 0; i < row; i++)
                sums[i] += p[i] * weight;
        }
        for (size_t i = 0; i < row; i++)
            line[i] = finish(sums[i], a->bits);
    }
}
