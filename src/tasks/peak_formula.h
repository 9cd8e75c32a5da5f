/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PEAK_FORMULA_H
#define SK_TASKS_PEAK_FORMULA_H

#include "base/formula.h"

/* Peaks of SLEAP's confidence maps and scores of the lines between them, in the originals' single precision and order of
 * operations. For C, CUDA and HIP: base/formula.h. */

/* The pixel nearest to a place, halves to even, inside of `size` pixels. */
SK_FORMULA int32_t sk_peak_pixel(float v, int32_t size)
{
    const float r = rintf(v);
    return r > 0 ? (r < (float)size ? (int32_t)r : size - 1) : 0;
}

/* The pixel of another output where a peak of the maps lies. */
SK_FORMULA int32_t sk_peak_pixel_of(float v, float maps_stride, float other_stride, int32_t size)
{
    return sk_peak_pixel(sk_mul(v, maps_stride) / other_stride, size);
}

/* Is a pixel strictly above all its eight neighbours? patch: 3 x 3 around it, -infinity outside of the map. */
SK_FORMULA int sk_peak_is_top(const float patch[9])
{
    int above = 1;
    SK_UNROLL for (int32_t k = 0; k < 9; k++) above &= k == 4 || patch[4] > patch[k];
    return above;
}

/* --- the highest value of a map --- */

typedef struct sk_highest {
    float v;
    int32_t x, y;
} sk_highest;

SK_FORMULA sk_highest sk_highest_begin(void)
{
    sk_highest h;
    h.v = -INFINITY;
    h.x = h.y = 0x7fffffff;
    return h;
}

/* Of equals the leftmost column and the topmost row, each by itself, as the originals find the two separately; in any order the
 * same. NaN never wins. */
SK_FORMULA void sk_highest_join(sk_highest *best, float v, int32_t x, int32_t y)
{
    if (v > best->v) {
        best->v = v;
        best->x = x;
        best->y = y;
    } else if (v == best->v) {
        best->x = x < best->x ? x : best->x;
        best->y = y < best->y ? y : best->y;
    }
}

SK_FORMULA int sk_highest_found(float v, float threshold)
{
    return v >= threshold && sk_is_finite(v);
}

/* --- to sub-pixel precision --- */

/* The centre of mass of a patch around a peak; pixels outside of the map count as 0. */
typedef struct sk_peak_mass {
    float sum, x, y;
} sk_peak_mass;

SK_FORMULA void sk_peak_mass_add(sk_peak_mass *m, int32_t dx, int32_t dy, float v)
{
    m->sum += v;
    m->x += sk_mul((float)dx, v);
    m->y += sk_mul((float)dy, v);
}

/* A quarter pixel toward the higher neighbour. */
SK_FORMULA float sk_peak_quarter(float before, float after)
{
    const float d = after - before;
    return d > 0 ? 0.25f : d < 0 ? -0.25f : 0.0f;
}

/* A peak stays where it is when one of the two is not finite. */
SK_FORMULA void sk_peak_move(float *x, float *y, float dx, float dy)
{
    if (sk_is_finite(dx) && sk_is_finite(dy)) {
        *x += dx;
        *y += dy;
    }
}

/* --- lines: the mean of the fields along the way from peak to peak, less a penalty for length --- */

typedef struct sk_line {
    float x, y, slope_x, slope_y, unit_x, unit_y, length, step, stride, sum;
    int32_t n_points;
} sk_line;

/* The original's linear interpolation divides by 1 + eps and spaces its points from both ends. */
SK_FORMULA sk_line sk_line_begin(const float from[2], const float to[2], int32_t n_points, float stride)
{
    const float epsilon = 1.1920928955078125e-07f, dx = to[0] - from[0], dy = to[1] - from[1];
    sk_line l;
    l.x = from[0];
    l.y = from[1];
    l.length = sqrtf(sk_mul(dx, dx) + sk_mul(dy, dy));
    l.unit_x = dx / l.length;
    l.unit_y = dy / l.length;
    l.slope_x = dx / (1.0f + epsilon);
    l.slope_y = dy / (1.0f + epsilon);
    l.step = 1.0f / (float)(n_points - 1);
    l.stride = stride;
    l.sum = 0;
    l.n_points = n_points;
    return l;
}

/* The pixel of the fields at point i. */
SK_FORMULA void sk_line_pixel(const sk_line *l, int32_t i, int32_t width, int32_t height, int32_t *x,
                              int32_t *y)
{
    const float t = i < l->n_points / 2 ? sk_mul(l->step, (float)i)
                                        : 1.0f - sk_mul(l->step, (float)(l->n_points - 1 - i));
    *x = sk_peak_pixel((l->x + sk_mul(l->slope_x, t)) / l->stride, width);
    *y = sk_peak_pixel((l->y + sk_mul(l->slope_y, t)) / l->stride, height);
}

/* What the edge's two fields say there. */
SK_FORMULA void sk_line_add(sk_line *l, float field_x, float field_y)
{
    l->sum += sk_mul(field_x, l->unit_x) + sk_mul(field_y, l->unit_y);
}

/* The channel count takes part in the longest side, as in the original. */
SK_FORMULA float sk_line_score(const sk_line *l, int32_t width, int32_t height, int32_t channels, float ratio,
                               float weight)
{
    int32_t side = width > height ? width : height;
    side = channels > side ? channels : side;
    float penalty = sk_mul(sk_mul(ratio, (float)side), l->stride) / l->length - 1;
    penalty = penalty < 0 ? penalty : 0;
    return l->sum / (float)l->n_points + sk_mul(penalty, weight);
}

#endif
