/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_OPEN_PIECE_H
#define SK_TRACK_OPEN_PIECE_H

#include "track/pieces.h"

/* A piece that may still grow, and what its sightings teach about all animals of the video. */

#define SK_OPEN_PIECE_SPOTS 192 /* sightings that are kept, for what can be learnt from them */

typedef struct sk_piece_spot {
    int64_t frame;
    float x, y, c, s;
    bool directed;
} sk_piece_spot;

typedef struct sk_open_piece {
    int32_t piece;
    int32_t forward, backward; /* tracks of the passes, -1: none yet */
    sk_piece_spot ring[SK_OPEN_PIECE_SPOTS];
    int32_t kept; /* spots so far; the ring has the last of them */
    float shape_before[SK_PIECE_SHAPES], looks_before[SK_TRACK_LOOKS];
} sk_open_piece;

/* Sums over the whole video; {0} at first. */
typedef struct sk_piece_lessons {
    double bridges[SK_BRIDGES][5]; /* n, way * predicted, predicted², way², speed change² … */
    double turns[SK_BRIDGES];
    double within[SK_PIECE_SHAPES], n_within[SK_PIECE_SHAPES];
    double looks_within[SK_TRACK_LOOKS], n_looks;
    double speed, n_speed, body, n_body;
} sk_piece_lessons;

/* The piece's next sighting. */
void sk_open_piece_append(sk_open_piece *open, sk_piece *piece, int64_t frame, const sk_detection *detection,
                          sk_piece_lessons *lessons);
/* It will not grow any more. */
void sk_open_piece_end(const sk_open_piece *open, sk_piece *piece, sk_piece_lessons *lessons);
/* Its last spot. */
const sk_piece_spot *sk_open_piece_last(const sk_open_piece *open);
/* All pieces have ended: how animals of this video move, how they are built, how they look. */
void sk_piece_lessons_conclude(const sk_piece_lessons *lessons, sk_pieces *out);

#endif
