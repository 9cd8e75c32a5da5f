/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_PIECES_H
#define SK_TRACK_PIECES_H

#include "track/seen_store.h"

/* Pieces of tracks: runs of detections that the forward and the backward pass both give to one animal, and what is known of
 * each: how it begins and ends, and how the animal looks. Stitching joins them (stitch.c). */

#define SK_PIECE_POINTS 16 /* keypoints kept of a pose at an end */
#define SK_PIECE_SHAPES 8  /* logarithms of sides and of ways between keypoints */

/* One end of a piece, fitted to its outermost sightings. */
typedef struct sk_piece_end {
    double x, y, vx, vy; /* pixels, pixels a frame */
    double c, s;         /* the heading's, or the long axis' */
    bool directed;       /* the heading is known */
    int32_t n_points;    /* of animals known by keypoints alone: where each was seen last, x, y; NaN: never */
    float points[2 * SK_PIECE_POINTS];
} sk_piece_end;

typedef struct sk_piece {
    int64_t first, last; /* frame numbers */
    int32_t n;           /* sightings */
    int32_t from[2],
        to[2];    /* the tracks of the passes, forward and backward, that it begins and ends in; -1: none */
    double score; /* their sum */
    double body;  /* mean length, pixels */
    sk_piece_end start, end;
    float shape[SK_PIECE_SHAPES]; /* means */
    int32_t n_shape[SK_PIECE_SHAPES];
    float looks[SK_TRACK_LOOKS]; /* means */
    int32_t n_looks;
    int32_t class_id, identity; /* most voted; -1: none */
    double class_votes, identity_votes;
    int32_t next, previous; /* of stitching; -1: none */
    int32_t track;          /* final identity; -1: none */
    bool sure;              /* seen where there were no more detections than animals: it is somebody's */
    bool nobodys;           /* it is false, or doubles another */
} sk_piece;

/* How animals of this video move from a piece's end to the next one's start, learnt from pieces that have no gap there. By the
 * gap, 2^k frames. */
#define SK_BRIDGES 8
typedef struct sk_bridge {
    double n;     /* samples */
    double pull;  /* of the way that both velocities predict, the part that is gone */
    double place; /* variance of the rest, bodies², per axis */
    double speed; /* variance of the velocity's change, (bodies a frame)², per axis */
    double turn;  /* mean of 1 - cos of the heading's change */
} sk_bridge;

typedef struct sk_pieces {
    sk_piece *items;
    size_t count, capacity;
    sk_bridge bridges[SK_BRIDGES];
    double speed;                   /* variance of velocities, (bodies a frame)², per axis */
    double body;                    /* mean length, pixels */
    double within[SK_PIECE_SHAPES]; /* variance of a shape's number from sighting to sighting */
    double looks_within[SK_TRACK_LOOKS];
} sk_pieces;

/* forward, backward: of each detection its track in that pass, or -1; backward null: there was no such pass. Writes each
 * detection's piece to `piece` (or -1), which may be `forward` itself. A way faster than velocity_limit (pixels a frame; 0: none)
 * begins a new piece. `track`: what the passes
 * were told; null: nothing. `most`: detections of any frame. */
sk_status sk_pieces_make(sk_seen_store *store, const int32_t *forward, const int32_t *backward, double fps,
                         double velocity_limit, const sk_track_settings *track, int32_t most, int32_t *piece,
                         sk_pieces *out, sk_error *err) SK_MUST_CHECK;
void sk_pieces_free(sk_pieces *pieces);
/* 1 - cos of what lies between two headings, or between axes where either end's heading is not known. */
double sk_piece_turn(const sk_piece_end *a, const sk_piece_end *b);

typedef struct sk_stitch_settings {
    double fps;
    double gap;            /* s: longest gap; 0: any */
    int32_t animals;       /* > 0: so many tracks; 0: unknown */
    double prior;          /* how much a link is worth before anything is known of it (logarithm) */
    double velocity_limit; /* pixels a frame: faster is never linked; 0: no limit */
} sk_stitch_settings;
/* Decides over all pieces at once which continues which: the sum of what links are worth is largest. Sets next, previous and
 * track, from 0 in the order of first frames. Returns the number of tracks in *tracks. */
sk_status sk_pieces_stitch(sk_pieces *pieces, const sk_stitch_settings *settings, int32_t *tracks,
                           sk_error *err) SK_MUST_CHECK;

#endif
