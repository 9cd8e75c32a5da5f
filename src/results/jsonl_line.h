/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_JSONL_LINE_H
#define SK_RESULTS_JSONL_LINE_H

#include "base/instances.h"
#include "results/sink.h"

/* One line of results.jsonl, read back as the frame that was written: docs/results.md. Members that are not known are passed
 * over; what stands there in another form is SK_ERR_FORMAT. Bounded: SK_TRACK_MOST instances, 1024 keypoints each. */

/* Memory for one line after another. Starts as {0}; ended by sk_jsonl_line_free. */
typedef struct sk_jsonl_line {
    sk_instances instances;
    sk_sighting *sightings;
    char *source;
    size_t items_capacity, points_capacity, sightings_capacity;
    size_t n_sightings;      /* of the frame: those with a state */
    int32_t least_keypoints; /* places that instances have also where the line gives none */
} sk_jsonl_line;

/* *frame is borrowed from `line` until the next call; its size is not told by the line. `sightings` are there where every instance
 * has one. `what` names the line in errors. */
sk_status sk_jsonl_line_read(sk_jsonl_line *line, const char *text, size_t length, const char *what,
                             sk_result_frame *frame, sk_error *err) SK_MUST_CHECK;
void sk_jsonl_line_free(sk_jsonl_line *line);
/* The frame's number alone, which stands near the line's beginning; -1: there is none. */
int64_t sk_jsonl_line_number(const char *text, size_t length);

#endif
