/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resize_pillow.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/picture_formula.h"

#include <math.h>
#include <stdbool.h>

#define BITS 22

/* Place i of the window is the sum of `count` inputs from `first` on, times their weights. */
typedef struct axis {
    int32_t from, to;                 /* whole lengths */
    int32_t size, taps;               /* the window's length */
    int32_t *first, *count, *weights; /* weights: [size][taps] */
} axis;

struct sk_resize_pillow {
    axis x, y;
    bool columns_first;
    int32_t low, rows; /* rows of the source that the window's are made of */
    uint8_t *between;  /* [rows][x.size][3], or [y.size][x.from][3] where columns come first */
};

static sk_status open_axis(axis *a, int32_t from, int32_t to, int32_t start, int32_t size, sk_error *err)
{
    double scale = (double)from / to, wide = scale < 1 ? 1 : scale;
    *a = (axis){.from = from, .to = to, .size = size, .taps = (int32_t)ceil(wide) * 2 + 1};
    size_t n = (size_t)size;
    a->first = sk_calloc(n, sizeof *a->first);
    a->count = sk_calloc(n, sizeof *a->count);
    a->weights = sk_calloc(n * (size_t)a->taps, sizeof *a->weights);
    double *exact = sk_calloc((size_t)a->taps, sizeof *exact);
    if (!a->first || !a->count || !a->weights || !exact) {
        sk_free(exact);
        return sk_fail_memory(err, n * (size_t)a->taps * sizeof *a->weights);
    }
    for (int32_t i = 0; i < size; i++) {
        double centre = (start + i + 0.5) * scale, sum = 0;
        int32_t low = (int32_t)(centre - wide + 0.5), high = (int32_t)(centre + wide + 0.5);
        low = low < 0 ? 0 : low;
        high = high > from ? from : high;
        a->first[i] = low;
        a->count[i] = high - low;
        for (int32_t k = 0; k < high - low; k++) {
            double away = fabs((k + low - centre + 0.5) * (1.0 / wide));
            exact[k] = away < 1 ? 1 - away : 0;
            sum += exact[k];
        }
        for (int32_t k = 0; k < high - low; k++)
            a->weights[(size_t)i * (size_t)a->taps + (size_t)k] =
                (int32_t)(0.5 + (sum != 0 ? exact[k] / sum : exact[k]) * (1 << BITS));
    }
    sk_free(exact);
    return SK_OK;
}

static void close_axis(axis *a)
{
    sk_free_all(a->first, a->count, a->weights);
}

/* Pillow 13: columns come first where the picture loses more than twice as many rows as columns. */
static bool takes_columns_first(const axis *x, const axis *y)
{
    return y->to < y->from && (int64_t)y->from - y->to > 2 * ((int64_t)x->from - x->to);
}

sk_status sk_resize_pillow_open(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height,
                                sk_resize_window window, sk_resize_pillow **out, sk_error *err)
{
    *out = NULL;
    sk_resize_pillow *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    sk_status status = SK_OK;
    SK_TRY_GOTO(open_axis(&r->x, src_width, dst_width, window.left, window.width, err));
    SK_TRY_GOTO(open_axis(&r->y, src_height, dst_height, window.top, window.height, err));
    r->columns_first = takes_columns_first(&r->x, &r->y);
    r->low = r->y.first[0];
    r->rows = r->y.first[window.height - 1] + r->y.count[window.height - 1] - r->low;
    size_t bytes = r->columns_first ? (size_t)window.height * (size_t)src_width * 3
                                    : (size_t)r->rows * (size_t)window.width * 3;
    r->between = sk_malloc(bytes);
    if (!r->between) {
        status = sk_fail_memory(err, bytes);
        goto done;
    }
done:
    return SK_HAND_OVER(status, r, out, sk_resize_pillow_close);
}

void sk_resize_pillow_close(sk_resize_pillow **resize)
{
    SK_TAKE_OR_RETURN(r, resize);
    close_axis(&r->x);
    close_axis(&r->y);
    sk_free_all(r->between, r);
}

static uint8_t cut(int32_t sum)
{
    return sk_antialias_end(sum, BITS);
}

/* In a direction that keeps its length every place has one input with all the weight: nothing changes. */
static void run_rows(const axis *a, const uint8_t *src, int32_t rows, uint8_t *to)
{
    for (int32_t y = 0; y < rows; y++) {
        const uint8_t *row = src + (size_t)y * (size_t)a->from * 3;
        for (int32_t i = 0; i < a->size; i++, to += 3) {
            const int32_t *w = a->weights + (size_t)i * (size_t)a->taps;
            const uint8_t *p = row + (size_t)a->first[i] * 3;
            int32_t s0 = sk_antialias_begin(BITS), s1 = s0, s2 = s0;
            for (int32_t k = 0; k < a->count[i]; k++, p += 3) {
                s0 += p[0] * w[k];
                s1 += p[1] * w[k];
                s2 += p[2] * w[k];
            }
            to[0] = cut(s0), to[1] = cut(s1), to[2] = cut(s2);
        }
    }
}

/* `src` begins with row `low` of the source. */
static void run_columns(const axis *a, const uint8_t *src, int32_t low, size_t stride, uint8_t *dst)
{
    for (int32_t i = 0; i < a->size; i++) {
        const int32_t *w = a->weights + (size_t)i * (size_t)a->taps;
        for (size_t x = 0; x < stride; x++) {
            const uint8_t *p = src + (size_t)(a->first[i] - low) * stride + x;
            int32_t sum = sk_antialias_begin(BITS);
            for (int32_t k = 0; k < a->count[i]; k++, p += stride)
                sum += *p * w[k];
            dst[(size_t)i * stride + x] = cut(sum);
        }
    }
}

void sk_resize_pillow_run(sk_resize_pillow *r, const uint8_t *src, uint8_t *dst)
{
    size_t wide = (size_t)r->x.from * 3;
    if (r->columns_first) {
        run_columns(&r->y, src, 0, wide, r->between);
        run_rows(&r->x, r->between, r->y.size, dst);
    } else {
        run_rows(&r->x, src + (size_t)r->low * wide, r->rows, r->between);
        run_columns(&r->y, r->between, r->low, (size_t)r->x.size * 3, dst);
    }
}
