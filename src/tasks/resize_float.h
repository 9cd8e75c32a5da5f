/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_RESIZE_FLOAT_H
#define SK_TASKS_RESIZE_FLOAT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Bilinear resize as TensorFlow's tf.image.resize does it (half-pixel centres, edges clamped, no
 * antialiasing), the way of SLEAP <= 1.4. Interpolates in single precision along x, then y. */
typedef struct sk_resize_float sk_resize_float;

/* The two input places of each output place (lower and upper: [to][2]) and how much of the upper one. */
void sk_resize_float_taps(int32_t from, int32_t to, int32_t (*places)[2], float *part);

sk_status sk_resize_float_open(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height,
                               int32_t channels, sk_resize_float **out, sk_error *err) SK_MUST_CHECK;
void sk_resize_float_close(sk_resize_float **resize);

/* 8-bit interleaved in, 8-bit interleaved out, fractions cut off as a cast does. */
void sk_resize_float_to_u8(const sk_resize_float *resize, const uint8_t *src, ptrdiff_t src_stride,
                           uint8_t *dst, ptrdiff_t dst_stride);
/* 8-bit interleaved in; out: planes of u8 / 255 interpolated, dst + c * plane + y * row + x. */
void sk_resize_float_to_planes(const sk_resize_float *resize, const uint8_t *src, ptrdiff_t src_stride,
                               float *dst, ptrdiff_t row, ptrdiff_t plane);

#endif
