/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_CUTOUT_H
#define SK_MEDIA_CUTOUT_H

#include "base/error.h"
#include "skitter/frame.h"

#include <stdbool.h>

/* Pieces of frames (RGB, BGR or grey, in memory), cut out as Ultralytics' save_crop does. */

/* The part of the frame in and around a box (x1, y1, x2, y2): 2 % and 10 pixels larger, clipped. *out borrows the frame's
 * pixels. False where nothing of it is in the frame. */
bool sk_cutout_box(const sk_frame *frame, const double box[4], sk_frame *out);

/* An oriented box (cx, cy, w, h, angle), turned upright: its w runs to the right. Pixels between are mixed from four, what
 * lies outside of the frame is black. `canvas` holds the pixels and grows as needed; its owner frees canvas->data by sk_free.
 * False (and SK_OK) where the box has no size or is out of all proportion to the frame. */
sk_status sk_cutout_turned(const sk_frame *frame, const float obb[5], sk_frame *canvas, size_t *capacity,
                           bool *any, sk_error *err) SK_MUST_CHECK;

#endif
