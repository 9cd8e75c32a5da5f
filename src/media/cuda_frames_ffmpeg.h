/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_CUDA_FRAMES_FFMPEG_H
#define SK_MEDIA_CUDA_FRAMES_FFMPEG_H

#include "media/library_ffmpeg.h"
#include "media/reader.h"

/* Inside media/: frames that FFmpeg decoded on an NVIDIA GPU and that stay there. The driver is loaded at run time; the
 * context is the device's primary one, which the cuda engine uses as well.
 *
 * The decoder has few surfaces and wants them back: each frame is copied on the device into memory of its slot. */

typedef struct sk_cuda sk_cuda; /* counted: by the decoder, and by every slot with memory of its own */

/* FFmpeg's device on the primary context of this GPU: null where it cannot be had, and `why` says it. FFmpeg itself would refuse that
 * context wherever somebody uses it already with other flags than its own, as the cuda engine does. */
sk_cuda *sk_cuda_open(int32_t index, AVBufferRef **device, char *why, size_t room);
sk_cuda *sk_cuda_hold(sk_cuda *cuda); /* one more user; null stays null */
void sk_cuda_release(sk_cuda *cuda);
/* How many engines this GPU decodes such a video with (8 bits, 4:2:0), and bytes of its memory that are free; 0: it does not say. */
int32_t sk_cuda_engines(sk_cuda *cuda, enum AVCodecID codec);
size_t sk_cuda_free_bytes(sk_cuda *cuda);

/* Does this frame lie on the GPU in the one form that is passed on, 8-bit NV12? */
bool sk_cuda_holds(const AVFrame *frame);
/* Copies it into the slot, whose frame then is NV12 on the device, complete. */
sk_status sk_cuda_take(sk_cuda *cuda, const char *uri, const AVFrame *frame, sk_slot *slot,
                       sk_error *err) SK_MUST_CHECK;

#endif
