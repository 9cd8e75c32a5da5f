/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_NEAR_H
#define SK_TRACK_NEAR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Which points lie near a place: a grid, filled anew for every frame. */
typedef struct sk_near {
    double x0, y0, per_x, per_y; /* cells a pixel */
    int32_t across, down;
    int32_t *start; /* of each cell in `order`, across * down + 1 */
    int32_t *order; /* points by cell, rising within a cell */
    int32_t *cell;  /* of each point */
    size_t start_capacity, order_capacity, cell_capacity;
} sk_near;

/* Points x[i * step], y[i * step] (doubles), all finite. */
sk_status sk_near_fill(sk_near *near, const double *x, const double *y, size_t step, int32_t n,
                       sk_error *err) SK_MUST_CHECK;
void sk_near_free(sk_near *near);

/* The cells that a square around (x, y) touches: for (row …) order[start[row * across + left]] … [… + right + 1]. */
typedef struct sk_near_cells {
    int32_t left, right, top, bottom; /* inclusive; empty where right < left or bottom < top */
} sk_near_cells;
sk_near_cells sk_near_around(const sk_near *near, double x, double y, double reach);

#endif
