/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_CUDA_FRAMES_FFMPEG_H
#define SK_MEDIA_CUDA_FRAMES_FFMPEG_H

#include "media/library_ffmpeg.h"
#include "media/reader.h"

/* Inside media/: frames that FFmpeg decoded on an NVIDIA GPU and that stay there. The driver is loaded at run time; the
 * context is the device's primary one, which the cuda engine uses as well.
 *
 * The decoder has few surfaces and wants them back: each frame is copied on the device into memory of its slot. */

#define SK_CUDA_PRIMARY_CONTEXT 1 /* AV_CUDA_USE_PRIMARY_CONTEXT, whose header wants CUDA's */

typedef struct sk_cuda sk_cuda; /* counted: by the decoder, and by every slot with memory of its own */

/* Readies a freshly made FFmpeg device for this: null where that cannot be, and `why` says it. */
sk_cuda *sk_cuda_open(AVBufferRef *device, int32_t index, char *why, size_t room);
void sk_cuda_release(sk_cuda *cuda);

/* Does this frame lie on the GPU in the one form that is passed on, 8-bit NV12? */
bool sk_cuda_holds(const AVFrame *frame);
/* Copies it into the slot, whose frame then is NV12 on the device, complete. */
sk_status sk_cuda_take(sk_cuda *cuda, const char *uri, const AVFrame *frame, sk_slot *slot,
                       sk_error *err) SK_MUST_CHECK;

#endif
