/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_READER_H
#define SK_MEDIA_READER_H

#include "base/error.h"
#include "skitter/source.h"

#include <stdatomic.h>

/* Inside media/: what a kind of source implements. A reader is driven by one thread, the source's decoder thread. */

typedef struct sk_slot {
    sk_frame frame;
    uint8_t *memory; /* the slot's own, on the host; frame.data unless the frame is on a device */
    size_t capacity; /* bytes of it */
    void *device, *device_memory; /* cuda_frames_ffmpeg.h; null: none */
    size_t device_capacity;
    void (*device_free)(struct sk_slot *slot);
    void *picture; /* planes_ffmpeg.h: decoded memory this frame shares; null: none */
    void (*let_go)(struct sk_slot *slot, bool for_good); /* gives it back; null: none */
    char *name;                                          /* picture's path; null: the source's name */
    size_t name_capacity;
    int64_t decode_begin, decode_end; /* when it was decoded, by a source's thread: ns of CLOCK_MONOTONIC */
    struct sk_slot *next;
} sk_slot;

/* Which kinds of frames of the settings' list come before their `format`; 0 and false: not that kind. */
typedef struct sk_frame_wishes {
    int32_t on_device; /* k > 0: in the memory of CUDA device k - 1 */
    bool nv12;
    int32_t planes_above_width, planes_above_height;
} sk_frame_wishes;
sk_frame_wishes sk_frame_wishes_of(const sk_source_settings *settings);

/* Gives the slot a buffer for this picture; keeps the old one when it is large enough. Rows begin on 64 bytes. */
sk_status sk_slot_prepare(sk_slot *slot, sk_pixel_format format, int32_t width, int32_t height,
                          sk_error *err) SK_MUST_CHECK;
void sk_slot_free(sk_slot *slot); /* all its memory */
sk_status sk_slot_set_name(sk_slot *slot, const char *name, sk_error *err) SK_MUST_CHECK;

typedef struct sk_reader sk_reader;
struct sk_reader {
    /* Fills slot->frame (index, time, picture) with the next frame, or sets *end. */
    sk_status (*read)(sk_reader *reader, sk_slot *slot, bool *end, sk_error *err);
    /* The next read gives this frame, wherever the last one was. Null: it can only be read from the beginning. */
    sk_status (*seek)(sk_reader *reader, int64_t frame, sk_error *err);
    void (*close)(sk_reader *reader);
    const char *(*picture)(const sk_reader *reader,
                           size_t index); /* of its list, null past the end; null: none */
    /* A frame's frame_id, as sk_frame_ids_of (frame_ids.h), from any thread; null: none has one. */
    size_t (*frame_id)(sk_reader *reader, int64_t index, char *out, size_t capacity);
    sk_source_info info;     /* filled by open */
    sk_frame like;           /* what its frames are like; info.like is the source's */
    bool any_size;           /* filled by open: every frame may be of another size, and a very large one */
    const atomic_bool *stop; /* set by the source: blocking calls must look at it */
    /* Set by who jumps about and rather sees an earlier frame than waits: past this (sk_clock_ns) the way to a frame is left where
     * it is, and gone on with when that frame is asked for again. A read then gives the frame it has come to, or tells of the end
     * where it has come to none. 0: all the way. */
    int64_t give_by_ns;
    /* Written by the reader, copied out under the source's lock after each read. */
    int64_t damaged, missing;
    int32_t reconnects, outages;
    bool away; /* a live source that is not connected */
    /* Set by the source: a reader calls it when the above changed in the middle of a read. */
    void (*publish)(void *context);
    void *publish_context;
    /* Set by the source where pictures that cannot be read are to be left out: the reader tells of one. */
    sk_status (*unreadable)(void *context, int64_t index, const char *name, const char *problem,
                            sk_error *err);
    char last_problem[256];
};

sk_status sk_reader_open_pictures(const char *uri, const sk_source_settings *settings, sk_reader **out,
                                  sk_error *err) SK_MUST_CHECK;
sk_status sk_reader_open_video(const char *uri, const sk_source_settings *settings, sk_reader **out,
                               sk_error *err) SK_MUST_CHECK;
/* A bag of ROS 2: the images of one topic. */
sk_status sk_reader_open_bag(const char *uri, const sk_source_settings *settings, sk_reader **out,
                             sk_error *err) SK_MUST_CHECK;
/* One of these three, by what the name is. */
sk_status sk_reader_open_file(const char *uri, const sk_source_settings *settings, sk_reader **out,
                              sk_error *err) SK_MUST_CHECK;
/* *out null and SK_OK: the address is that of a file with an end, for sk_reader_open_video. */
sk_status sk_reader_open_live(const char *uri, const sk_source_settings *settings, const atomic_bool *stop,
                              sk_reader **out, sk_error *err) SK_MUST_CHECK;

/* Paths of a source of pictures in their order, whatever range of them is read; null past the end, and for others. */
const char *sk_source_picture(const sk_source *source, size_t index);

/* True for folders, globs, numbered patterns and files with a still picture's suffix. */
bool sk_uri_is_pictures(const char *uri);
/* True for .mcap and .db3 files that are there, and for folders of rosbag2: with its metadata.yaml, or with such files and no
 * pictures. */
bool sk_uri_is_bag(const char *uri);
/* True for cameras and for addresses. Like all of these: a name that lies on the disk is a file, whatever it looks like. */
bool sk_uri_is_live(const char *uri);
/* True for scheme://… with a scheme that is read over a network. */
bool sk_uri_is_address(const char *uri);
/* The device of a camera: /dev/video3, "3" or "camera:3"; false: no camera. */
bool sk_uri_camera(const char *uri, char *path, size_t capacity);
bool sk_uri_is_input(const char *uri); /* "-", standard input */
/* Standard input and pipes: what is read once and in order. */
bool sk_uri_is_once(const char *uri);
/* The path of a file:// address; other names as they are. */
const char *sk_uri_path(const char *uri);
/* SK_ERR_NOT_FOUND for an address of a kind that is not read. */
sk_status sk_uri_refuse_scheme(const char *uri, sk_error *err) SK_MUST_CHECK;
/* SK_ERR_NOT_FOUND, in the words of every reader: nothing lies at this path. */
sk_status sk_uri_fail_missing(const char *path, sk_error *err) SK_MUST_CHECK;

/* Decodes one still picture into the slot, in the wanted format; EXIF orientation is applied. `max_pixels` as of
 * sk_source_settings. Of a file with several pictures the first. */
sk_status sk_picture_decode(const char *path, sk_pixel_format format, int64_t max_pixels, sk_slot *slot,
                            sk_error *err) SK_MUST_CHECK;

/* Turns an upright picture out of one whose top is elsewhere: `quarter_turns` clockwise (1, 2, 3), then mirrored left to
 * right if asked. Works between two slots. */
sk_status sk_slot_rotate(const sk_slot *from, int quarter_turns, bool mirror, sk_slot *to,
                         sk_error *err) SK_MUST_CHECK;

static inline int sk_pixel_bytes(sk_pixel_format format)
{
    return format == SK_PIXEL_GRAY || format == SK_PIXEL_NV12 ? 1 : 3;
}

#endif
