/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_FRAME_READER_H
#define SK_APP_FRAME_READER_H

#include "app/run_view.h"
#include "base/memory.h"
#include "skitter/frame.h"

/* Frames of a video (or pictures) by their numbers, in any order: for who scrubs. The video stays open; a jump goes to the key frame
 * before the wanted one and decodes from there. Pictures that were made last are kept. One thread at a time. */
typedef struct sk_frame_reader sk_frame_reader;

/* Not for cameras, streams and pipes: SK_ERR_UNSUPPORTED. `topic`: whose images, of a bag; null: the only one that has some. */
sk_status sk_frame_reader_open(const char *source, const char *topic, sk_frame_reader **out,
                               sk_error *err) SK_MUST_CHECK;
void sk_frame_reader_close(sk_frame_reader **reader);

/* The frame, RGB in memory, borrowed until the next call. SK_ERR_NOT_FOUND beyond the end. */
sk_status sk_frame_reader_get(sk_frame_reader *reader, int64_t n, const sk_frame **frame,
                              sk_error *err) SK_MUST_CHECK;

typedef struct sk_frame_wanted {
    int64_t n;
    int32_t width; /* at most so wide; 0: as it is */
    int32_t
        within; /* ms: rather an earlier frame than a later answer; asked again, it is nearer. 0: that frame */
    /* Drawn in, with their trails; null: nothing is */
    sk_run_view *view;
    uint32_t draw; /* SK_DRAW_… */
} sk_frame_wanted;
/* As JPEG; the caller ends the reference. *given is the frame it shows. */
sk_status sk_frame_reader_jpeg(sk_frame_reader *reader, const sk_frame_wanted *wanted, sk_blob **out,
                               int64_t *given, sk_error *err) SK_MUST_CHECK;

#endif
