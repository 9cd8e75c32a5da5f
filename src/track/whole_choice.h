/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_WHOLE_CHOICE_H
#define SK_TRACK_WHOLE_CHOICE_H

#include "track/boxes.h"

/* OC-SORT's first choice: over the whole matrix, in which pairs that do not overlap have a worth, too (of keeping the direction),
 * and as many pairs are made as can be; who overlaps too little is parted afterwards. Where every box has at most one partner that
 * overlaps enough, those are taken and nothing is chosen. Both as boxmot does.
 *
 * The matrix is not made: a pair that is worth so much more than all else of its row and its column that no exchange could be better
 * is settled at once, and the few that are left make a small matrix. */

/* What a pair is worth, from -bonus up to overlap + bonus. */
typedef double (*sk_pair_worth)(const void *context, int32_t row, int32_t column, double overlap);

typedef struct sk_whole_choice {
    double *row_best, *column_best; /* the worth of the best pair of each, and of the next */
    double *row_next, *column_next;
    int32_t *settled;      /* [rows] column, -1: none */
    uint8_t *column_taken; /* [columns] */
    size_t rb_room, cb_room, rn_room, cn_room, settled_room, taken_room;
} sk_whole_choice;

void sk_whole_choice_free(sk_whole_choice *choice);
/* `pairs` as sk_box_pairs_find left them; gives pairs->match. `least`: overlap of a pair that counts as enough. */
sk_status sk_whole_choice_make(sk_whole_choice *choice, sk_box_pairs *pairs, const sk_box *rows,
                               int32_t n_rows, const sk_box *columns, int32_t n_columns, double least,
                               double bonus, sk_pair_worth worth, const void *context,
                               sk_error *err) SK_MUST_CHECK;

#endif
