/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_BOXES_H
#define SK_TRACK_BOXES_H

#include "track/assign.h"
#include "track/heading.h"
#include "track/near.h"
#include "track/track.h"

/* Boxes that are paired by how much they overlap: what ByteTrack and OC-SORT share. */

#define SK_BOXES_RESERVE(field, room, wanted)                                                                \
    do {                                                                                                     \
        void *block_ = (field);                                                                              \
        SK_TRY(sk_array_reserve(&block_, &(room), (wanted), sizeof *(field), (size_t)1 << 30, err));         \
        (field) = block_;                                                                                    \
    } while (0)

typedef struct sk_box {
    double x, y, w, h; /* centre and sides */
    double angle;      /* of the side w; 0 where upright */
    double c, s;       /* its cosine and sine */
    double turned;     /* 0 or 1 */
} sk_box;

/* A detection's box: the turned one where `turned`, else the upright one. */
sk_box sk_box_of(const sk_detection *d, bool turned);
/* A box of these sides; its cosine and sine are worked out. */
sk_box sk_box_make(double x, double y, double w, double h, double angle, bool turned);
/* Intersection over union. */
double sk_box_overlap(const sk_box *a, const sk_box *b);
/* The sides and the angle, of those that mean the same box (a quarter turn swaps the sides), that are nearest to `like`. */
void sk_box_align(sk_box *box, const sk_box *like);

/* Rows are boxes of tracks, columns those of detections. */
typedef struct sk_box_pairs {
    sk_near near;
    sk_assign *solver;
    sk_assign_pair *pairs; /* cost: what find leaves is the overlap */
    double *apart;
    int32_t *match; /* [rows] column or -1, after solve */
    int32_t n;
    size_t pairs_room, apart_room, match_room;
} sk_box_pairs;

sk_status sk_box_pairs_open(sk_box_pairs *p, sk_error *err) SK_MUST_CHECK;
void sk_box_pairs_close(sk_box_pairs *p);
/* All pairs that overlap. */
sk_status sk_box_pairs_find(sk_box_pairs *p, const sk_box *rows, int32_t n_rows, const sk_box *columns,
                            int32_t n_columns, sk_error *err) SK_MUST_CHECK;
/* The cheapest pairs, where staying apart costs `apart`. */
sk_status sk_box_pairs_solve(sk_box_pairs *p, int32_t rows, int32_t columns, double apart,
                             sk_error *err) SK_MUST_CHECK;

/* What is told of a track, whatever follows it. */
typedef struct sk_box_track {
    int32_t track, place; /* -1: not told of yet */
    int32_t detection;    /* of this step, -1: none */
    int32_t missed;       /* frames since the last look */
    bool untold;          /* not told of in this frame */
    sk_box box;           /* where it is thought to be */
    double vx, vy;        /* pixels a frame */
    double certainty, uncertainty;
    sk_heading heading;
} sk_box_track;

/* Numbers and places of tracks, and the list of what is told. */
typedef struct sk_box_list {
    int32_t next_track;
    uint8_t *taken;
    int32_t *by_place;
    sk_sighting *sightings;
    size_t taken_room, by_place_room, sightings_room;
} sk_box_list;

/* Room for so many tracks. */
sk_status sk_box_list_reserve(sk_box_list *list, int32_t tracks, sk_error *err) SK_MUST_CHECK;
void sk_box_list_close(sk_box_list *list);
/* A track is told of from now on: it gets its number and its place. */
void sk_box_list_enter(sk_box_list *list, sk_box_track *track);
void sk_box_list_leave(sk_box_list *list, const sk_box_track *track);
/* A look at a track: heading, certainty. */
void sk_box_track_seen(sk_box_track *track, const sk_detection *d, int32_t index, double certainty);
/* The sightings of n tracks that lie `bytes` apart, by place; those in `hidden` states of the settings left out. Tracks that
 * `missed` frames are covered or lost. */
int32_t sk_box_list_tell(sk_box_list *list, const void *tracks, size_t bytes, int32_t n, int64_t frame,
                         const sk_track_settings *settings);

/* What both methods work with, frame by frame. */
typedef struct sk_box_work {
    sk_track_settings settings;
    sk_box *rows, *columns;      /* of the tracks and detections that are to be paired */
    int32_t *row_of, *column_of; /* … which they are: indices of followers and detections */
    uint8_t *used;               /* [detections] */
    size_t rows_room, columns_room, row_of_room, column_of_room, used_room;
    sk_box_pairs pairs;
    sk_box_list list;
} sk_box_work;

/* Starts as {0}; ended by close, also after a failure. */
sk_status sk_box_work_open(sk_box_work *work, const sk_track_settings *settings, sk_error *err) SK_MUST_CHECK;
void sk_box_work_close(sk_box_work *work);
/* Room for so many tracks and detections together. */
sk_status sk_box_work_reserve(sk_box_work *work, int32_t most, sk_error *err) SK_MUST_CHECK;

#endif
