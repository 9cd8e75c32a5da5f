/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_TRACKS_H
#define SK_EVAL_TRACKS_H

#include "eval/eval.h"
#include "eval/keypoints.h"

/* Inside eval/: tracks of a result against the truth's, by one kind of similarity. */
typedef struct sk_tracks_task {
    const sk_annotation_set *result, *truth;
    const sk_pairing *pairing;
    const sk_eval_settings *settings;
    const sk_keypoint_task *points;
    sk_tracks_kind kind;
    double distance;   /* of centres, pixels: from here on they are not similar at all */
    uint32_t centre;   /* the SK_HAS_… part whose centre both have; 0: what each has */
    int32_t *sequence; /* by the truth's image: which video it belongs to; rising with time */
    int32_t *time;     /* by the truth's image: its place among all, videos one after the other */
} sk_tracks_task;

/* Measures what both have, kind by kind, into the report; nothing where one side has no tracks. */
sk_status sk_tracks_run(const sk_annotation_set *result, const sk_annotation_set *truth,
                        const sk_pairing *pairing, const sk_eval_settings *settings,
                        const sk_keypoint_task *points, sk_eval_report *report, sk_error *err) SK_MUST_CHECK;

/* In JSON: "boxes", "oriented_boxes", "points", "oks". */
extern const char *const sk_tracks_names[SK_TRACKS_KINDS];
/* Adds "tracking" to the report's object; nothing where none was measured. */
void sk_tracks_to_json(const sk_eval_report *report, sk_json *json);

/* --- similarities of one frame --- */

/* What of an annotation can be similar to another: an upright rectangle; where two do not touch, similarity is 0. */
typedef struct sk_reach {
    double x1, y1, x2, y2;
    int32_t place;
} sk_reach;

sk_reach sk_tracks_reach(const sk_tracks_task *task, const sk_annotation *a, bool truth, int32_t place);
double sk_tracks_similarity(const sk_tracks_task *task, const sk_annotation *found,
                            const sk_annotation *wanted);
/* x and y; false: it has none. */
bool sk_tracks_centre(const sk_tracks_task *task, const sk_annotation_set *set, const sk_annotation *a,
                      double out[2]);
/* The length of the truth's bodies, the middle one of all; where it knows none, the result's; 0: neither does. */
sk_status sk_tracks_body(const sk_tracks_task *task, double *out, sk_error *err) SK_MUST_CHECK;

#endif
