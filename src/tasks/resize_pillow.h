/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_RESIZE_PILLOW_H
#define SK_TASKS_RESIZE_PILLOW_H

#include "base/error.h"

#include <stdint.h>

/* Antialiased bilinear resize of dense 8-bit R, G, B, bit for bit what Pillow gives, which Ultralytics scales pictures with
 * before it classifies them: a triangle filter widened when shrinking, weights in 22 bits (torchvision's own, in
 * resize_antialias.h, has 16), rounded to 8 bits after each direction: along rows first, but of a picture that loses more
 * than twice as many rows as columns along columns first (Pillow 13). Only a window of the scaled picture is made. */
typedef struct sk_resize_pillow sk_resize_pillow;

typedef struct sk_resize_window {
    int32_t left, top, width, height; /* within the scaled picture */
} sk_resize_window;

sk_status sk_resize_pillow_open(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height,
                                sk_resize_window window, sk_resize_pillow **out, sk_error *err) SK_MUST_CHECK;
void sk_resize_pillow_close(sk_resize_pillow **resize);
void sk_resize_pillow_run(sk_resize_pillow *resize, const uint8_t *src, uint8_t *dst); /* dst: the window */

#endif
