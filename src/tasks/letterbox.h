/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_LETTERBOX_H
#define SK_TASKS_LETTERBOX_H

#include "base/error.h"
#include "skitter/frame.h"

#include <stdbool.h>

/* Fits a frame into the network's input the way Ultralytics does: scaled with its aspect kept (up or
 * down), centred, bordered with grey 114. */

typedef struct sk_letterbox_geometry {
    int32_t frame_width, frame_height;
    int32_t width, height;                 /* network input */
    int32_t resized_width, resized_height; /* the frame's picture inside it */
    int32_t left, top, right, bottom;      /* border */
    double gain;                           /* network pixels per frame pixel */
} sk_letterbox_geometry;

/* Where a frame of this size lands. `stride` > 0 asks for the rectangular form ("auto"): the border is
 * only what makes the sides multiples of the stride, and width and height come out at most the given ones.
 * 0: exactly the given size. */
sk_status sk_letterbox_fit(int32_t frame_width, int32_t frame_height, int32_t net_width, int32_t net_height,
                           int32_t stride, sk_letterbox_geometry *out, sk_error *err) SK_MUST_CHECK;

typedef struct sk_letterbox sk_letterbox;

/* For frames of one size and format: RGB, BGR, GRAY, and with one slice I420 (resize_planar.h). `slices`: how many threads may share a frame; >= 1. */
sk_status sk_letterbox_open(const sk_letterbox_geometry *geometry, sk_pixel_format format, int32_t slices,
                            sk_letterbox **out, sk_error *err) SK_MUST_CHECK;
/* Frames of another size or format (crops, say) from now on, without allocating: the picture may not be
 * larger than the network input opened for, and a box opened for GRAY stays so. */
sk_status sk_letterbox_refit(sk_letterbox *box, const sk_letterbox_geometry *geometry, sk_pixel_format format,
                             sk_error *err) SK_MUST_CHECK;
/* Are I420 frames resized as planes by this geometry? Else they are made RGB first. */
bool sk_letterbox_takes_planes(const sk_letterbox_geometry *geometry);
void sk_letterbox_close(sk_letterbox **box);
const sk_letterbox_geometry *sk_letterbox_geometry_of(const sk_letterbox *box);

/* The whole picture as 8-bit RGB [height][width][3], dense. Fails only when the frame is not of the opened
 * size and format. */
sk_status sk_letterbox_run(const sk_letterbox *box, const sk_frame *frame, uint8_t *out,
                           sk_error *err) SK_MUST_CHECK;
/* The `slice`-th of `n_slices` bands of rows; bands may be made by different threads at once. */
sk_status sk_letterbox_run_slice(const sk_letterbox *box, const sk_frame *frame, uint8_t *out, int32_t slice,
                                 int32_t n_slices, sk_error *err) SK_MUST_CHECK;

#endif
