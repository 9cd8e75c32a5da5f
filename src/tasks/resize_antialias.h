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

/* Channels 1 … 4, interleaved. */
sk_status sk_resize_antialias_open(int32_t src_width, int32_t src_height, int32_t dst_width,
                                   int32_t dst_height, int32_t channels, sk_resize_antialias **out,
                                   sk_error *err) SK_MUST_CHECK;
void sk_resize_antialias_close(sk_resize_antialias **resize);

/* One caller at a time. */
void sk_resize_antialias_run(sk_resize_antialias *resize, const uint8_t *src, ptrdiff_t src_stride,
                             uint8_t *dst, ptrdiff_t dst_stride);

#endif
