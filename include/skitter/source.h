/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_SOURCE_H
#define SKITTER_SOURCE_H

#include "skitter/frame.h"
#include "skitter/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where frames come from: a picture, a folder or glob of pictures, a numbered image sequence, a video in any container
 * and codec FFmpeg reads, also behind http:// and ftp://, a bag of ROS 2 (rosbag2's folder, .mcap, .db3), "-" for the same on standard input, a camera (/dev/video0, its
 * number, or camera:0), a network stream (rtsp://, http:// without a length, udp://, srt:// …). A name that lies on the disk
 * is that file, whatever it looks like; playlists on the disk are not followed.
 *
 * Decoding runs ahead on a thread of its own into a fixed set of frame buffers, so the reader waits only when decoding
 * is slower than the network. Frames are numbered by presentation order, whatever order the container stores them in.
 *
 * One thread reads; sk_source_stop may be called from any thread. */

typedef struct sk_source sk_source;

typedef enum sk_source_kind {
    /* one or many still pictures, each of its own size */
    SK_SOURCE_PICTURES = 1,
    SK_SOURCE_VIDEO,
    /* camera or network stream: no end, no seeking, the newest frame wins */
    SK_SOURCE_LIVE
} sk_source_kind;

/* By which matrix and range the colours of video are made of what its file holds. Pictures have one answer. */
typedef enum sk_source_colours {
    /* the file's own; BT.601 where it names none */
    SK_COLOURS_TAGGED = 0,
    /* BT.601 whatever it names, as OpenCV up to 4.11 and so SLEAP up to 1.4 read every video */
    SK_COLOURS_BT601
} sk_source_colours;

/* Frames first, first+step … < last; last < 0: to the end. */
typedef struct sk_frame_range {
    int64_t first, last, step;
} sk_frame_range;

/* What to read and how. From sk_source_defaults(); fields may be added at the end. */
typedef struct sk_source_settings {
    /* sizeof(sk_source_settings), by SK_SOURCE_SETTINGS_INIT */
    uint32_t size;
    /* SK_PIXEL_RGB (default), _BGR or _GRAY; pictures and video are converted to it */
    sk_pixel_format format;
    /* frames first, first+step … < last; last < 0: to the end. Default 0, -1, 1 */
    int64_t first, last, step;
    /* frames decoded ahead, 1 to 256; 0 (default): 1 to 6, fewer the larger the frames are */
    int32_t queue;
    /* decoder threads; 0 (default): half the machine's cores, 8 at most */
    int32_t threads;
    /* how many times to play a file; default 1; for load tests */
    int32_t loop;
    /* Decoding on a device: null or "none" (default); "auto": the first that FFmpeg knows for the codec and this machine
     * opens; or one by FFmpeg's name: "vaapi", "cuda", "vdpau", "qsv", "drm", "vulkan" … Where it cannot be had, the
     * processor decodes, and a warning (skitter/log.h) says why. */
    const char *hwaccel;
    /* Kinds of frames that the reader takes, the best first: sk_pipeline_info.accepts. Video files come in the first of them
     * that the source can give with the same pixels as `format` would have later: in the memory of the CUDA device that decodes
     * (`hwaccel` "cuda", or "auto", which then tries that first), as NV12, or as planes (I420) above a size; else, and all else,
     * in `format`. sk_source_info.like says which. Copied by open. Null (default): `format` always */
    const sk_frame_kind *accepts;
    int32_t n_accepts;
    /* default: tagged; sk_pipeline_info has what suits a model */
    sk_source_colours colours;
    /* live: give up after this long without a frame; default 60 */
    double reconnect_seconds;
    /* Pixels a picture or a frame may have. 0 (default): 67 million, or 4096 for every byte of a picture's file, 268 million at
     * most; a file that claims more is refused before memory is taken for it. */
    int64_t max_pixels;
    /* Pictures that cannot be read are left out and told by sk_source_next_unreadable, instead of ending the source with their
     * error. Default false */
    bool skip_unreadable;
    /* Live: asked several times a second while the source waits for its peer; true ends the source. May be null. */
    bool (*interrupted)(void *context);
    void *interrupted_context;
    /* More than one range: the frames that are in any of them, each once and in order. Sorted by `first`, copied by
     * sk_source_open. `step` is not looked at then, and of all these only those from `first` to before `last` come.
     * Default none */
    int32_t n_ranges;
    const sk_frame_range *ranges;
    /* Bags of ROS 2: the topic whose images are read (sensor_msgs/Image or CompressedImage), with or without its first slash.
     * Copied by open. Null (default): the only one there is */
    const char *topic;
} sk_source_settings;

/* The only way to begin settings, before their defaults. */
#define SK_SOURCE_SETTINGS_INIT SK_INIT_BY_SIZE(sk_source_settings)

/* Fills what settings->size reaches with the defaults. */
SK_API void sk_source_defaults(sk_source_settings *settings);

/* What is read. Its texts are the source's, while it is open. Fields may be added at the end. */
typedef struct sk_source_info {
    /* sizeof(sk_source_info), by SK_SOURCE_INFO_INIT */
    uint32_t size;
    /* pictures, video or live */
    sk_source_kind kind;
    /* what the user gave; borrowed from the source */
    const char *name;
    /* of the first picture; 0 before the first frame of a live source */
    int32_t width, height;
    /* frames a second; 0 unknown */
    double rate;
    /* that this source will give with these settings; -1 unknown */
    int64_t frames;
    /* frames the whole file holds, whatever range is read; -1 unknown */
    int64_t total;
    /* the numbers were counted, not estimated from the duration */
    bool exact;
    /* "h264", "libjpeg-turbo", … */
    const char *decoder;
    /* the device that decodes, by FFmpeg's name; "" the processor */
    const char *hwaccel;
    /* a pipe or standard input: it cannot be opened again */
    bool once;
    /* what its frames are like: format, and for frames on a device colours and place; the source's, while it is open */
    const sk_frame *like;
    /* frames say when they were taken (sk_frame.wall_ns): cameras, streams, bags */
    bool stamped;
    /* bags: the frame_id of the first image; null: other sources */
    const char *frame_id;
    /* why the device that was asked for does not decode; "" it does, or none was asked for */
    const char *hwaccel_refused;
} sk_source_info;

/* The only way to begin one that sk_source_get_info is to fill. */
#define SK_SOURCE_INFO_INIT SK_INIT_BY_SIZE(sk_source_info)

/* What went on behind the reader's back. */
typedef struct sk_source_status {
    /* sizeof(sk_source_status), by SK_SOURCE_STATUS_INIT */
    uint32_t size;
    /* frames decoded so far */
    int64_t decoded;
    /* live: replaced by a newer one before they were read */
    int64_t dropped;
    /* packets or frames the decoder reported as corrupt and went on from */
    int64_t damaged;
    /* video files, once the end is reached: frames that the container promised and does not hold */
    int64_t missing;
    /* live: attempts to connect again */
    int32_t reconnects;
    /* live: times that frames stopped coming */
    int32_t outages;
    /* live: false while it tries to connect again */
    bool connected;
    /* spent decoding and converting, on the decoder's own thread */
    double decode_seconds;
    /* "" when there was none */
    char last_problem[256];
} sk_source_status;

/* The only way to begin one that sk_source_get_status is to fill. */
#define SK_SOURCE_STATUS_INIT SK_INIT_BY_SIZE(sk_source_status)

SK_API sk_status sk_source_open(const char *uri, const sk_source_settings *settings, sk_source **out,
                                sk_error *err) SK_MUST_CHECK;
SK_API void sk_source_close(sk_source **source);

/* Each fills as much as the struct's size reaches. */
SK_API void sk_source_get_info(const sk_source *source, sk_source_info *info);
SK_API void sk_source_get_status(sk_source *source, sk_source_status *status);

/* The next frame, lent by the source: whoever is done with it gives it back, by sk_source_release or, as pipelines do with
 * frames that they were handed, by its own release callback, which does the same: once. *frame is null at the end (SK_OK).
 * Up to `queue` (with 0: two) frames may be held at a time. `name` of a picture is its path: sk_source_frame_name. */
SK_API sk_status sk_source_next(sk_source *source, const sk_frame **frame, sk_error *err) SK_MUST_CHECK;
SK_API void sk_source_release(sk_source *source, const sk_frame *frame);
/* Path of the picture a frame came from; the source's name for video. */
SK_API const char *sk_source_frame_name(const sk_source *source, const sk_frame *frame);

/* A picture that was left out, the first not told yet of those before frame `before` (INT64_MAX: any); false when there is
 * none. With skip_unreadable only. */
typedef struct sk_unreadable {
    /* sizeof(sk_unreadable), by SK_UNREADABLE_INIT */
    uint32_t size;
    /* the frame it would have been */
    int64_t index;
    /* its path */
    char name[4096];
    /* why */
    char problem[512];
} sk_unreadable;

/* The only way to begin one that sk_source_next_unreadable is to fill. */
#define SK_UNREADABLE_INIT SK_INIT_BY_SIZE(sk_unreadable)

SK_API bool sk_source_next_unreadable(sk_source *source, int64_t before, sk_unreadable *out);

/* Makes the current and every later sk_source_next return the end. */
SK_API void sk_source_stop(sk_source *source);

#ifdef __cplusplus
}
#endif
#endif
