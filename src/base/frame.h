/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_FRAME_H
#define SK_BASE_FRAME_H

#include "base/error.h"
#include "skitter/frame.h"

#include <math.h>
#include <stdbool.h>

/* What a frame's fields say together. */

/* Does it lie in memory that the host does not read? */
static inline bool sk_frame_on_device(const sk_frame *frame)
{
    return frame->place == SK_PLACE_CUDA || frame->place == SK_PLACE_ROCM;
}

/* NV12: the first row of chroma, and the bytes from one to the next. */
static inline const uint8_t *sk_frame_chroma(const sk_frame *frame)
{
    return frame->chroma ? frame->chroma : frame->data + frame->stride * frame->height;
}

static inline ptrdiff_t sk_frame_chroma_stride(const sk_frame *frame)
{
    return frame->chroma_stride ? frame->chroma_stride : frame->stride;
}

static inline bool sk_frame_same_place(const sk_frame *a, const sk_frame *b)
{
    return sk_frame_on_device(a) == sk_frame_on_device(b) &&
           (!sk_frame_on_device(a) || (a->place == b->place && a->device == b->device));
}

/* Bytes of a row of this many pixels (of luma, for NV12 and I420). */
static inline size_t sk_frame_row_bytes(sk_pixel_format format, int32_t width)
{
    const size_t w = (size_t)width;
    switch (format) {
    case SK_PIXEL_GRAY16:
    case SK_PIXEL_YUYV: return 2 * w;
    case SK_PIXEL_RGB:
    case SK_PIXEL_BGR: return 3 * w;
    case SK_PIXEL_RGBA:
    case SK_PIXEL_BGRA: return 4 * w;
    default: return w;
    }
}

/* Can these fields be a frame? Says which cannot. */
sk_status sk_frame_check(const sk_frame *frame, sk_error *err) SK_MUST_CHECK;
/* The same of its format, place and colours alone: frames that are yet to come. */
sk_status sk_frame_check_kind(const sk_frame *frame, sk_error *err) SK_MUST_CHECK;
/* A frame in host memory copied into one block, plane after plane, rows without gaps (NV12: of even length): how many bytes
 * that takes, and the copy with the frame that lies there. */
size_t sk_frame_copy_bytes(const sk_frame *frame);
void sk_frame_copy(const sk_frame *frame, uint8_t *to, sk_frame *copy);

/* Times of frames are whole ns; containers and people have seconds. What lies beyond an int64_t (292 years) is its end,
 * what is no number 0. */
static inline int64_t sk_time_ns(double seconds)
{
    const double ns = rint(seconds * 1e9), most = 9.2e18;
    return isnan(ns) ? 0 : ns >= most ? (int64_t)most : ns > -most ? (int64_t)ns : -(int64_t)most;
}

static inline double sk_time_seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

#endif
