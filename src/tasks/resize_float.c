/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resize_float.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/picture_formula.h"

#include <math.h>

typedef struct tap {
    int32_t lower, upper;
    float part; /* of the upper one */
} tap;

struct sk_resize_float {
    int32_t dst_width, dst_height, channels;
    tap *x, *y;
};

static tap tap_of(int32_t from, int32_t to, int32_t i)
{
    float scale = (float)from / (float)to;
    float at = ((float)i + 0.5f) * scale - 0.5f, below = floorf(at);
    int32_t lower = (int32_t)below, upper = (int32_t)ceilf(at);
    return (tap){lower < 0 ? 0 : lower, upper > from - 1 ? from - 1 : upper, at - below};
}

static void fill_taps(tap *taps, int32_t from, int32_t to, int32_t unit)
{
    for (int32_t i = 0; i < to; i++) {
        taps[i] = tap_of(from, to, i);
        taps[i].lower *= unit;
        taps[i].upper *= unit;
    }
}

void sk_resize_float_taps(int32_t from, int32_t to, int32_t (*places)[2], float *part)
{
    for (int32_t i = 0; i < to; i++) {
        const tap t = tap_of(from, to, i);
        places[i][0] = t.lower;
        places[i][1] = t.upper;
        part[i] = t.part;
    }
}

sk_status sk_resize_float_open(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height,
                               int32_t channels, sk_resize_float **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(src_width > 0 && src_height > 0 && dst_width > 0 && dst_height > 0 && channels > 0, err);
    sk_resize_float *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->dst_width = dst_width;
    r->dst_height = dst_height;
    r->channels = channels;
    r->x = sk_calloc((size_t)dst_width, sizeof *r->x);
    r->y = sk_calloc((size_t)dst_height, sizeof *r->y);
    if (!r->x || !r->y) {
        sk_resize_float_close(&r);
        return sk_fail_memory(err, (size_t)(dst_width + dst_height) * sizeof(tap));
    }
    fill_taps(r->x, src_width, dst_width, channels);
    fill_taps(r->y, src_height, dst_height, 1);
    *out = r;
    return SK_OK;
}

void sk_resize_float_close(sk_resize_float **resize)
{
    SK_TAKE_OR_RETURN(r, resize);
    sk_free_all(r->x, r->y, r);
}

void sk_resize_float_to_u8(const sk_resize_float *r, const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst,
                           ptrdiff_t dst_stride)
{
    for (int32_t y = 0; y < r->dst_height; y++) {
        const uint8_t *a = src + r->y[y].lower * src_stride, *b = src + r->y[y].upper * src_stride;
        uint8_t *line = dst + y * dst_stride;
        for (int32_t x = 0; x < r->dst_width; x++) {
            const tap *t = &r->x[x];
            for (int32_t c = 0; c < r->channels; c++)
                line[x * r->channels + c] = (uint8_t)sk_mix(a[t->lower + c], a[t->upper + c], b[t->lower + c],
                                                            b[t->upper + c], t->part, r->y[y].part);
        }
    }
}

void sk_resize_float_to_planes(const sk_resize_float *r, const uint8_t *src, ptrdiff_t src_stride, float *dst,
                               ptrdiff_t row, ptrdiff_t plane)
{
    for (int32_t y = 0; y < r->dst_height; y++) {
        const uint8_t *a = src + r->y[y].lower * src_stride, *b = src + r->y[y].upper * src_stride;
        for (int32_t c = 0; c < r->channels; c++) {
            float *line = dst + c * plane + y * row;
            for (int32_t x = 0; x < r->dst_width; x++) {
                const tap *t = &r->x[x];
                line[x] =
                    sk_mix(sk_fraction(a[t->lower + c]), sk_fraction(a[t->upper + c]),
                           sk_fraction(b[t->lower + c]), sk_fraction(b[t->upper + c]), t->part, r->y[y].part);
            }
        }
    }
}
