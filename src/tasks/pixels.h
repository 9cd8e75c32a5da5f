/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PIXELS_H
#define SK_TASKS_PIXELS_H

#include "base/error.h"
#include "skitter/frame.h"

#include <stdbool.h>

/* Changes of colour and of form, pixel by pixel. */

/* How three colours become grey: weights .2989, .587, .114, cut to 8 bits. */
typedef enum sk_gray_rule {
    SK_GRAY_TORCH = 1, /* torchvision: fractions cut off */
    SK_GRAY_TENSORFLOW /* TensorFlow: by way of 0 … 1, times 255.5, fractions cut off */
} sk_gray_rule;

/* The frame as dense 8-bit [height][width][channels], channels 1 or 3 (R, G, B). A grey frame is tiled; a
 * colour frame whose three channels agree everywhere becomes that channel (video readers hand such frames
 * over as grey), any other is weighted. SK_ERR_UNSUPPORTED for formats that are neither RGB, BGR nor GRAY. */
sk_status sk_pixels_convert(const sk_frame *frame, int32_t channels, sk_gray_rule rule, uint8_t *out,
                            sk_error *err) SK_MUST_CHECK;

/* Do the three channels of an RGB or BGR frame agree everywhere? */
bool sk_pixels_are_gray(const sk_frame *frame);
/* One channel of a frame that is grey, or said to be, as dense 8-bit [height][width]. */
void sk_pixels_take_gray(const sk_frame *frame, uint8_t *out);
/* Rows of R, G, B bytes as one plane of greys, value / 255, the way torchvision makes them of floats: not cut to 8 bits.
 * `in` is dense; rows of `out` are `stride` floats apart. */
void sk_pixels_gray_plane(const uint8_t *in, int32_t width, int32_t height, float *out, ptrdiff_t stride);

/* A row of RGB, BGR or GRAY as R, G, B; the two do not overlap. */
void sk_pixels_row_to_rgb(sk_pixel_format format, const uint8_t *restrict row, int32_t width,
                          uint8_t *restrict out);

/* Interleaved 8-bit to planes: out[c][y][x] = (in * scale - mean[c]) / std[c]; mean and std may be null. A
 * scale of 1/255 divides by 255, which rounds as the originals do. */
void sk_pixels_to_planes(const uint8_t *in, ptrdiff_t stride, int32_t width, int32_t height, int32_t channels,
                         float scale, const float *mean, const float *std, float *out);

#endif
