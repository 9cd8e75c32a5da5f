/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_RESIZE_PLANAR_H
#define SK_TASKS_RESIZE_PLANAR_H

#include "base/error.h"
#include "skitter/frame.h"

#include <stdbool.h>

/* Planes of video (SK_PIXEL_I420) resized and made RGB in one: of a frame that shrinks by more than two, bilinear resize
 * reads few pixels, and only those are turned into colours. With others it works too, but is slower than first one and then
 * the other. Bit for bit what turning the whole frame (kernels/nv12.h) and
 * then resizing it (resize_linear.h) gives. */
typedef struct sk_resize_planar sk_resize_planar;

/* Tables and work rows for results of at most this size. */
sk_status sk_resize_planar_open(int32_t most_width, int32_t most_height, sk_resize_planar **out,
                                sk_error *err) SK_MUST_CHECK;
void sk_resize_planar_close(sk_resize_planar **resize);
/* Can these sizes be resized as planes? Not frames that keep their size or become half, which have rules of their own. */
bool sk_resize_planar_takes(int32_t src_width, int32_t src_height, int32_t dst_width, int32_t dst_height);
/* The sizes of the next frames, without allocating. False: not for these, which stay as they are or shrink to the half. */
bool sk_resize_planar_fit(sk_resize_planar *resize, int32_t src_width, int32_t src_height, int32_t dst_width,
                          int32_t dst_height);

/* Writes rows [y0, y1) of the result as RGB to `dst` (its row 0). One caller at a time. */
void sk_resize_planar_rows(sk_resize_planar *resize, const sk_frame *frame, uint8_t *dst,
                           ptrdiff_t dst_stride, int32_t y0, int32_t y1);

#endif
