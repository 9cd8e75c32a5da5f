/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_FRAME_CHOICE_H
#define SK_MEDIA_FRAME_CHOICE_H

#include "base/error.h"
#include "skitter/source.h"

#include <stddef.h>

/* Which frames of a source are wanted: sk_source_settings' first, last, step and ranges, asked in one place. */

#define SK_FRAME_NUMBER_MOST ((int64_t)1 << 53) /* sums of such numbers fit, as reals, too */

typedef struct sk_frame_choice {
    const sk_frame_range *ranges; /* by `first`; null: `one` */
    size_t count, cursor;         /* ranges before the cursor have ended */
    sk_frame_range one;
    int64_t lower, upper; /* numbers outside are not wanted; upper < 0: none above */
} sk_frame_choice;

/* Borrows the settings' ranges. */
sk_frame_choice sk_frame_choice_of(const sk_source_settings *settings);
/* The smallest wanted number from `from` on; -1: none. Numbers are asked upwards; sk_frame_choice_of begins anew. */
int64_t sk_frame_choice_next(sk_frame_choice *choice, int64_t from);

/* How many of a source's `total` frames are wanted; with total < 0 of as many as there may be. -1: no end, or too
 * many to count. */
int64_t sk_frames_wanted(const sk_source_settings *settings, int64_t total);

/* "3", "1,5,9", "0-9" (with 9), "30:60:5" (without 60), and lists of them. One range goes into first, last and step, more
 * into *ranges, sorted, to be freed by sk_free after the settings' last use. */
sk_status sk_frames_parse(const char *text, sk_source_settings *settings, sk_frame_range **ranges,
                          sk_error *err) SK_MUST_CHECK;
/* The same in words, "0:100:5" or "1,5,9,20:30"; a long list is shortened, with a number that stands for all of it. Returns
 * buffer. */
const char *sk_frames_text(const sk_source_settings *settings, char *buffer, size_t capacity);
#define SK_FRAMES_TEXT 256

/* SK_ERR_ARG for settings that mean nothing. */
sk_status sk_frames_check(const sk_source_settings *settings, sk_error *err) SK_MUST_CHECK;

#endif
