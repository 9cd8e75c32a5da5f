/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_LIBRARY_FFMPEG_H
#define SK_MEDIA_LIBRARY_FFMPEG_H

#include "base/error.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* Inside media/: FFmpeg, loaded when the first video, stream or unusual picture is opened. Its libraries bring a hundred
 * and forty others with them, some 28 MB of memory that who runs a network on pictures or arrays need not pay for; and
 * a program built with video starts on a machine without FFmpeg. The headers it was compiled with name the versions
 * that may be loaded. */

#define SK_FFMPEG_AVFORMAT(F)                                                                                \
    F(av_find_best_stream)                                                                                   \
    F(av_find_input_format)                                                                                  \
    F(av_interleaved_write_frame)                                                                            \
    F(av_read_frame)                                                                                         \
    F(av_seek_frame)                                                                                         \
    F(av_stream_get_side_data)                                                                               \
    F(av_write_trailer)                                                                                      \
    F(avformat_alloc_context)                                                                                \
    F(avformat_alloc_output_context2)                                                                        \
    F(avformat_close_input)                                                                                  \
    F(avformat_find_stream_info)                                                                             \
    F(avformat_free_context)                                                                                 \
    F(avformat_index_get_entries_count)                                                                      \
    F(avformat_new_stream)                                                                                   \
    F(avformat_open_input)                                                                                   \
    F(avformat_write_header)                                                                                 \
    F(avio_alloc_context)                                                                                    \
    F(avio_closep)                                                                                           \
    F(avio_context_free)                                                                                     \
    F(avio_open)                                                                                             \
    F(avio_size)

#define SK_FFMPEG_AVCODEC(F)                                                                                 \
    F(av_packet_alloc)                                                                                       \
    F(av_packet_free)                                                                                        \
    F(av_packet_rescale_ts)                                                                                  \
    F(av_packet_unref)                                                                                       \
    F(avcodec_alloc_context3)                                                                                \
    F(avcodec_default_get_format)                                                                            \
    F(avcodec_find_encoder_by_name)                                                                          \
    F(avcodec_flush_buffers)                                                                                 \
    F(avcodec_free_context)                                                                                  \
    F(avcodec_get_hw_config)                                                                                 \
    F(avcodec_open2)                                                                                         \
    F(avcodec_parameters_copy)                                                                               \
    F(avcodec_parameters_from_context)                                                                       \
    F(avcodec_parameters_to_context)                                                                         \
    F(avcodec_receive_frame)                                                                                 \
    F(avcodec_receive_packet)                                                                                \
    F(avcodec_send_frame)                                                                                    \
    F(avcodec_send_packet)

#define SK_FFMPEG_AVUTIL(F)                                                                                  \
    F(av_buffer_ref)                                                                                         \
    F(av_buffer_unref)                                                                                       \
    F(av_d2q)                                                                                                \
    F(av_dict_get)                                                                                           \
    F(av_dict_free)                                                                                          \
    F(av_dict_set)                                                                                           \
    F(av_display_rotation_get)                                                                               \
    F(av_frame_alloc)                                                                                        \
    F(av_frame_free)                                                                                         \
    F(av_frame_get_buffer)                                                                                   \
    F(av_frame_make_writable)                                                                                \
    F(av_frame_ref)                                                                                          \
    F(av_frame_unref)                                                                                        \
    F(av_free)                                                                                               \
    F(av_get_pix_fmt_name)                                                                                   \
    F(av_hwdevice_ctx_alloc)                                                                                 \
    F(av_hwdevice_ctx_create)                                                                                \
    F(av_hwdevice_ctx_init)                                                                                  \
    F(av_hwdevice_find_type_by_name)                                                                         \
    F(av_hwdevice_get_type_name)                                                                             \
    F(av_hwdevice_iterate_types)                                                                             \
    F(av_hwframe_transfer_data)                                                                              \
    F(av_log_set_callback)                                                                                   \
    F(av_malloc)                                                                                             \
    F(av_opt_set)                                                                                            \
    F(av_pix_fmt_desc_get)                                                                                   \
    F(av_strerror)

#define SK_FFMPEG_SWSCALE(F)                                                                                 \
    F(sws_freeContext)                                                                                       \
    F(sws_getCoefficients)                                                                                   \
    F(sws_getCachedContext)                                                                                  \
    F(sws_scale)                                                                                             \
    F(sws_setColorspaceDetails)

typedef struct sk_ffmpeg {
#define SK_FFMPEG_MEMBER(name) __typeof__(name) *name;
    SK_FFMPEG_AVFORMAT(SK_FFMPEG_MEMBER)
    SK_FFMPEG_AVCODEC(SK_FFMPEG_MEMBER)
    SK_FFMPEG_AVUTIL(SK_FFMPEG_MEMBER)
    SK_FFMPEG_SWSCALE(SK_FFMPEG_MEMBER)
#undef SK_FFMPEG_MEMBER
} sk_ffmpeg;

/* FFmpeg's functions; nulls until sk_ffmpeg_load has returned SK_OK, then never changed. */
extern sk_ffmpeg sk_ff;

/* Loads FFmpeg the first time; later calls repeat the answer. `uri` is what needs it, for the message. Any thread. */
sk_status sk_ffmpeg_load(const char *uri, sk_error *err) SK_MUST_CHECK;
/* Cameras are a library of their own, with eighty more behind it: loaded when one is opened. */
sk_status sk_ffmpeg_load_cameras(const char *uri, sk_error *err) SK_MUST_CHECK;

/* FFmpeg's words for one of its error codes; of this thread, until the next call. */
const char *sk_ffmpeg_text(int code);

/* The first error FFmpeg spoke of since it was cleared: often the only place where the reason stands. It is heard of this thread's calls
 * between sk_ffmpeg_listen(said) and sk_ffmpeg_listen(NULL), and of every AVCodecContext whose `opaque` is one, whichever thread it
 * works in. */
typedef struct sk_ffmpeg_said {
    char text[160]; /* without a line's end; "" nothing */
} sk_ffmpeg_said;
void sk_ffmpeg_listen(sk_ffmpeg_said *said);
void sk_ffmpeg_forget(sk_ffmpeg_said *said);
/* Copies it out; where nothing was said, the code's own words. */
void sk_ffmpeg_reason(const sk_ffmpeg_said *said, int code, char *out, size_t room);

#endif
