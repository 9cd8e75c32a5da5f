/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_ANNOTATIONS_CSV_H
#define SK_RESULTS_ANNOTATIONS_CSV_H

#include "results/annotations.h"

/* Inside results/: tables with named columns. What a column is, its name says: skitter's own, or those that upstream's
 * trackers write (docs/eval.md). */

enum {
    SK_CSV_SOURCE,
    SK_CSV_FRAME,
    SK_CSV_TRACK,
    SK_CSV_CLASS,
    SK_CSV_NAME,
    SK_CSV_STATE,
    SK_CSV_TIME,  /* a number, or somebody's own way to write times */
    SK_CSV_SCORE, /* from here on numbers */
    SK_CSV_X1,
    SK_CSV_Y1,
    SK_CSV_X2,
    SK_CSV_Y2,
    SK_CSV_CX,
    SK_CSV_CY,
    SK_CSV_W,
    SK_CSV_H,
    SK_CSV_ANGLE,
    SK_CSV_X, /* a track's place */
    SK_CSV_Y,
    SK_CSV_HEADING,
    SK_CSV_HEADING_DEGREES,
    SK_CSV_VISIBLE,
    SK_CSV_AREA,
    SK_CSV_LENGTH,
    SK_CSV_CROWD,
    SK_CSV_FIXED,
    SK_CSV_UNUSED = -1,
    SK_CSV_POINT = 1000 /* SK_CSV_POINT + 4 * keypoint + part */
};

typedef struct sk_csv_cell {
    const char *text;
    size_t length;
} sk_csv_cell;

typedef struct sk_csv_columns {
    int *what; /* of each column */
    size_t count;
    int fixed[SK_CSV_FIXED]; /* column of each, -1 absent */
    int32_t n_points;
} sk_csv_columns;

/* From the cells of the heading; says in the set what the rows can carry. `line` is for errors. Freed by sk_free(what). */
sk_status sk_csv_columns_find(const char *path, int64_t line, const sk_csv_cell *cells, size_t count,
                              sk_annotation_set *set, sk_csv_columns *out, sk_error *err) SK_MUST_CHECK;

#endif
