/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_GIVEN_FRAMES_H
#define SK_APP_GIVEN_FRAMES_H

#include "results/annotations.h"
#include "results/sink.h"

/* A file's annotations as frames that follow one another, for a run. Frames between those that the file names are empty: where it
 * names every fifth, every fifth is one. Of pictures, which have no numbers, each is the next frame. */
typedef struct sk_given_frames sk_given_frames;

/* SK_ERR_FORMAT where the file is about several videos. The set, and the numbers of its classes (given_classes.h), are borrowed until
 * close. */
sk_status sk_given_frames_open(const char *path, const sk_annotation_set *set, const int32_t *class_numbers,
                               sk_given_frames **out, sk_error *err) SK_MUST_CHECK;
void sk_given_frames_close(sk_given_frames **frames);

int64_t sk_given_frames_count(const sk_given_frames *frames);
int64_t sk_given_frames_first(const sk_given_frames *frames); /* the first one's number */
/* The widest gap between two frames that have detections: from one to the next. */
void sk_given_frames_gap(const sk_given_frames *frames, int64_t *from, int64_t *to);
/* Which of them this frame of the video is; -1: none. */
int64_t sk_given_frames_number(const sk_given_frames *frames, int64_t frame);
const char *
sk_given_frames_source(const sk_given_frames *frames); /* as the file names its video; null: it does not */
void sk_given_frames_size(const sk_given_frames *frames, int32_t *width, int32_t *height); /* 0: not said */

/* The `number`-th, from 0; borrowed until the next call. Its source, and time, are the caller's to say. */
sk_status sk_given_frames_get(sk_given_frames *frames, int64_t number, sk_result_frame *out,
                              sk_error *err) SK_MUST_CHECK;

#endif
