/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_SHRINK_H
#define SK_MEDIA_SHRINK_H

#include "base/error.h"
#include "skitter/frame.h"

/* A part of a frame (x1, y1, x2, y2) as RGB of another size, each pixel the mean of those it stands for: for pictures that people look
 * at. RGB, BGR or grey in host memory. out->data is ended by sk_free. */
sk_status sk_frame_shrink(const sk_frame *frame, const int part[4], int width, int height, sk_frame *out,
                          sk_error *err) SK_MUST_CHECK;

#endif
