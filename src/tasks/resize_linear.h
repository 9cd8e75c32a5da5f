/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_RESIZE_LINEAR_H
#define SK_TASKS_RESIZE_LINEAR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bilinear resize of 8-bit pictures, bit for bit what OpenCV's resize(INTER_LINEAR) gives (checked against
 * 5.0.0): 11-bit coefficients, horizontal pass first, its sums cut to 15 bits, the vertical pass rounding
 * once at the end; an exact halving in both directions is the mean of 2x2 pixels. */
typedef struct sk_resize_linear sk_resize_linear;

/* Tables and work rows for one pair of sizes. `channels` 1 or 3; `slices`: how many callers may run at
 * once. */
sk_status sk_resize_linear_open(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height,
                                int32_t channels, int32_t slices, sk_resize_linear **out,
                                sk_error *err) SK_MUST_CHECK;
/* Other sizes and channels, without allocating; neither the result nor the channels may exceed those opened
 * for. */
sk_status sk_resize_linear_refit(sk_resize_linear *resize, int32_t src_width, int32_t src_height,
                                 int32_t dst_width, int32_t dst_height, int32_t channels,
                                 sk_error *err) SK_MUST_CHECK;
/* Which two places of the source every place of a result is made from, along one axis, and their weights. */
typedef struct sk_linear_axis {
    int32_t *first, *second;
    int16_t (*weights)[2];
} sk_linear_axis;

/* False: no memory; to be freed then, too. */
bool sk_linear_axis_alloc(sk_linear_axis *axis, size_t room);
void sk_linear_axis_free(sk_linear_axis *axis);
/* Fills one, in units of `unit`, with weights of 11 bits: for whoever does the same elsewhere. */
void sk_resize_linear_taps(int32_t from, int32_t to, int vertical, int32_t unit, int32_t *i0, int32_t *i1,
                           int16_t (*weights)[2]);
/* The vertical pass: two rows of horizontal sums (cut by 4 bits) become a row of bytes. */
void sk_resize_linear_blend(const int16_t *upper, const int16_t *lower, int16_t upper_weight,
                            int16_t lower_weight, size_t count, uint8_t *dst);
void sk_resize_linear_close(sk_resize_linear **resize);

/* Writes rows [y0, y1) of the result to `dst` (its row 0). `swap` exchanges the first and third channel.
 * `expand` writes each value of a one-channel picture three times. `slice` names the work rows to use, 0
 * .. slices - 1. */
void sk_resize_linear_rows(const sk_resize_linear *resize, const uint8_t *src, ptrdiff_t src_stride,
                           uint8_t *dst, ptrdiff_t dst_stride, int swap, int expand, int32_t y0, int32_t y1,
                           int32_t slice);

#endif
