/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_VIDEO_SINK_H
#define SK_MEDIA_VIDEO_SINK_H

#include "base/error.h"
#include "skitter/frame.h"

/* Writes frames as a video that every player opens (H.264 in MP4 where FFmpeg has an encoder for it, else MPEG-4).
 * The file grows in self-contained pieces: what was written is playable even if the program is killed. */

typedef struct sk_video_sink sk_video_sink;

/* All frames must have the size given here (odd sizes lose their last row or column, since video wants even ones). */
sk_status sk_video_sink_open(const char *path, int32_t width, int32_t height, double rate,
                             sk_video_sink **out, sk_error *err) SK_MUST_CHECK;
/* The same by an encoder of the GPU (NVIDIA's NVENC, through FFmpeg) where there is one; where there is none the processor encodes,
 * and the log says why. */
sk_status sk_video_sink_open_gpu(const char *path, int32_t width, int32_t height, double rate,
                                 sk_video_sink **out, sk_error *err) SK_MUST_CHECK;
/* Who encodes: "libx264", "h264_nvenc" …; the sink's as long as it is open. */
const char *sk_video_sink_encoder(const sk_video_sink *sink);
/* RGB or BGR; shown at frame->time_ns, which must grow. As many bytes behind the last row must be readable: the
 * converter takes whole vectors. Frames of a source have them. */
#define SK_VIDEO_SINK_SPARE 64
sk_status sk_video_sink_write(sk_video_sink *sink, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;
/* Completes the file. The sink is ended also on failure. */
sk_status sk_video_sink_close(sk_video_sink **sink, sk_error *err) SK_MUST_CHECK;

/* Joins videos written by this sink into one, without encoding again. */
sk_status sk_video_join(const char *const *parts, int32_t count, const char *path,
                        sk_error *err) SK_MUST_CHECK;

/* Writes one picture: .png, or .jpg with quality 92. */
sk_status sk_picture_write(const char *path, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;

/* An RGB drawing (few colours, large even parts) as .png, in a fraction of the time. */
sk_status sk_picture_write_drawing(const char *path, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;

/* The picture as JPEG in memory, ended by sk_free; `quality` 1 to 100. */
sk_status sk_picture_jpeg(const sk_frame *frame, int quality, uint8_t **bytes, size_t *length,
                          sk_error *err) SK_MUST_CHECK;

#endif
