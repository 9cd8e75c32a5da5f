/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_TEXT_SINK_H
#define SK_RESULTS_TEXT_SINK_H

#include "base/text_out.h"
#include "results/sink.h"

/* Inside results/: what the line-by-line formats share. */
typedef struct sk_text_sink {
    sk_sink base;
    sk_text_out out;
    char *path;
    char **classes; /* names, escaped for the format */
    char *source;   /* the last source, escaped, and the text it came from */
    char *source_raw;
    int32_t n_classes, n_keypoints;
    bool no_empty;
    bool live;   /* frames have a wall clock */
    bool scarce; /* there was no memory for a text: what was written is not what was meant */
    void *extra; /* the format's own */
} sk_text_sink;

typedef char *(*sk_text_escape)(const char *text); /* fresh memory (sk_free), null when out of memory */

/* Opens the file and escapes the class names; `write` is the format's. */
sk_status sk_text_sink_open(const char *path, const sk_run_header *header, const sk_sink_kind *kind,
                            sk_text_escape escape, sk_text_sink **out, sk_error *err) SK_MUST_CHECK;
/* The frame's source, escaped; remembered while it stays the same. */
const char *sk_text_sink_source(sk_text_sink *sink, const char *source, sk_text_escape escape);
/* The text itself, "" where there was no memory for it: then this sink fails. */
const char *sk_text_sink_text(sk_text_sink *sink, const char *text);
/* Ends a frame: its lines go to the file. SK_ERR_IO when anything written so far was refused (full disk), SK_ERR_MEMORY
 * when a text could not be made. */
sk_status sk_text_sink_check(sk_text_sink *sink, sk_error *err) SK_MUST_CHECK;
sk_status sk_text_sink_flush(sk_sink *sink, sk_error *err) SK_MUST_CHECK;
sk_status sk_text_sink_close(sk_sink *sink, sk_error *err) SK_MUST_CHECK;

char *sk_escape_csv(const char *text);  /* quoted when it holds a comma, quote, newline or # */
char *sk_escape_json(const char *text); /* with its quotation marks */

#endif
