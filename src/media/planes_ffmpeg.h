/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_PLANES_FFMPEG_H
#define SK_MEDIA_PLANES_FFMPEG_H

#include "media/library_ffmpeg.h"
#include "media/reader.h"

/* Inside media/: frames passed on as they were decoded (SK_PIXEL_I420), in the decoder's own memory. Nothing is converted or
 * copied: who needs few of the pixels turns those into colours himself. That must give the very bits FFmpeg's converter
 * gives, which differ by processor and version: it is asked, with a picture of noise, before the first frame of a kind. */

typedef struct sk_planes {
    int32_t above_width, above_height; /* as of sk_source_settings */
    /* The last kind of frames that was asked about, and the answer. */
    int width, format, colourspace, range;
    bool agree;
} sk_planes;

/* Can this frame be passed on so? `colour` readies a converter for the frame's colours. */
bool sk_planes_fit(sk_planes *planes, const AVFrame *frame,
                   void (*colour)(struct SwsContext *scaler, const AVFrame *frame));
/* For planar 4:2:0 of 8 bits: does our conversion give FFmpeg's pixels, on this processor, with these colours? */
bool sk_planes_agree(sk_planes *planes, const AVFrame *frame,
                     void (*colour)(struct SwsContext *scaler, const AVFrame *frame));
/* The slot shares the frame's memory until it is let go. */
sk_status sk_planes_take(const AVFrame *frame, sk_slot *slot, sk_error *err) SK_MUST_CHECK;

#endif
