/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_RESIZE_ANTIALIAS_H
#define SK_TASKS_RESIZE_ANTIALIAS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Antialiased bilinear resize of 8-bit pictures, bit for bit what torchvision gives for uint8 tensors: a
 * triangle filter widened when shrinking, weights in 16-bit integers, rounded to 8 bits after each
 * direction, rows first. */
typedef struct sk_resize_antialias sk_resize_antialias;

/* The filter of one direction, also for engines that resize by themselves: an output place is the sum of `count` input places
 * from `first` on times their weights, plus half of 2^bits, shifted down by `bits` and cut to 0 … 255. Where from == to it is
 * left out. */
typedef struct sk_antialias_axis {
    int32_t from, to, taps; /* taps: room for weights per output place, a multiple of 8; the rest is zero */
    int32_t bits;
    int32_t *first, *count;
    int16_t *weights; /* [to][taps] */
} sk_antialias_axis;

/* `axis` is zeroed by the caller, and closed after failure, too. */
sk_status sk_antialias_axis_open(sk_antialias_axis *axis, int32_t from, int32_t to,
                                 sk_error *err) SK_MUST_CHECK;
void sk_antialias_axis_close(sk_antialias_axis *axis);

/* Channels 1 … 4, interleaved. */
sk_status sk_resize_antialias_open(int32_t src_width, int32_t src_height, int32_t dst_width,
                                   int32_t dst_height, int32_t channels, sk_resize_antialias **out,
                                   sk_error *err) SK_MUST_CHECK;
void sk_resize_antialias_close(sk_resize_antialias **resize);

/* One caller at a time. */
void sk_resize_antialias_run(sk_resize_antialias *resize, const uint8_t *src, ptrdiff_t src_stride,
                             uint8_t *dst, ptrdiff_t dst_stride);

#endif
