/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_PROGRESS_H
#define SK_BASE_PROGRESS_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

/* Tells how far a long job is, through a stream the door gives. Never writes anywhere else. One thread at a
 * time. */
typedef struct sk_progress sk_progress;

typedef enum sk_progress_mode {
    SK_PROGRESS_AUTO = 0,  /* a bar where the stream is a terminal, lines otherwise */
    SK_PROGRESS_BAR = 1,   /* one line, redrawn at most ten times a second, removed at the end */
    SK_PROGRESS_LINES = 2, /* a new line every few seconds */
    SK_PROGRESS_JSON =
        3, /* a JSON line every few seconds: event, label, unit, done, total, seconds, rate, … */
    SK_PROGRESS_NONE = 4
} sk_progress_mode;

typedef struct sk_progress_settings {
    FILE *stream;
    sk_progress_mode mode;
    const char *label;    /* "predict"; copied */
    const char *unit;     /* "frames"; copied */
    int64_t total;        /* 0 = not known: no bar's length, no time left */
    int32_t width;        /* columns; 0 = the terminal's */
    double line_seconds;  /* between lines, and between JSON lines; default 5 */
    int64_t (*now)(void); /* clock in ns; null = sk_clock_ns. For tests. */
} sk_progress_settings;

sk_progress_settings sk_progress_defaults(void);
sk_status sk_progress_open(const sk_progress_settings *settings, sk_progress **out,
                           sk_error *err) SK_MUST_CHECK;
/* `done` of the whole; cheap when it is not yet time to write. `note`, possibly null, stands behind ("3
 * animals"). */
void sk_progress_update(sk_progress *progress, int64_t done, const char *note);
void sk_progress_set_total(sk_progress *progress, int64_t total); /* once it is known better */
/* What the job's own clock says so far; the last word then tells that, not the time between open and close: one run, one
 * time. */
void sk_progress_set_seconds(sk_progress *progress, double seconds);
/* Removes the bar so that something else can be printed; it comes back at the next update. */
void sk_progress_hide(sk_progress *progress);
/* Writes the last word (not for a bar: that is removed) and ends it. */
void sk_progress_close(sk_progress **progress);

#endif
