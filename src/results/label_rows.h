/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_LABEL_ROWS_H
#define SK_RESULTS_LABEL_ROWS_H

#include "results/annotations.h"

/* Inside results/: the lines of Ultralytics' label text. A line is a class and numbers, all divided by the picture's size:
 * a box (x y w h of its centre), or a polygon (x y …; four corners are an oriented box), or a box and keypoints (x y, or
 * x y v); then, in results, the confidence, and a track's number. Nothing says which: the count of numbers does, over all
 * files, and what is known from elsewhere. */

typedef struct sk_label_row {
    int32_t image; /* index into the set's images */
    int32_t class_id;
    uint32_t count; /* of numbers */
    size_t first;   /* index into numbers */
} sk_label_row;

typedef struct sk_label_rows {
    size_t n_rows, rows_capacity, n_numbers, numbers_capacity, twins;
    sk_label_row *rows;
    double *numbers;
} sk_label_rows;

/* The lines of one file, zero-terminated. */
sk_status sk_label_rows_parse(const char *what, const char *text, size_t length, int32_t image,
                              sk_label_rows *rows, sk_error *err) SK_MUST_CHECK;
void sk_label_rows_free(sk_label_rows *rows);

typedef struct sk_label_form {
    int32_t n_keypoints, per_keypoint; /* 0, 0: none */
    bool polygon, corners;             /* corners: every polygon has four */
    bool confidence, track;
} sk_label_form;

/* What all rows have in common. `n_keypoints` and `per_keypoint`: as a data.yaml says (kpt_shape), or, with per_keypoint 0,
 * as the file on the other side has them; 0, 0: nothing is known. */
sk_status sk_label_rows_form(const char *what, const sk_label_rows *rows, int32_t n_keypoints,
                             int32_t per_keypoint, sk_label_form *out, sk_error *err) SK_MUST_CHECK;
/* Adds them to the set, in pixels where the image's size is known. `truth`: equal lines count once. */
sk_status sk_label_rows_add(const sk_label_rows *rows, const sk_label_form *form, bool truth,
                            sk_annotation_set *set, sk_error *err) SK_MUST_CHECK;

#endif
