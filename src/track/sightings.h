/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_SIGHTINGS_H
#define SK_TRACK_SIGHTINGS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables that offline steps work on (docs/tracking_offline.md): tracklets, each a list of what was seen in its
 * frames. */

typedef enum sk_seen_state { SK_SEEN_ACTIVE, SK_SEEN_COVERED, SK_SEEN_LOST, SK_SEEN_UNTOLD } sk_seen_state;

/* Which of the values a table has at all: averages are made of columns that both sides have. */
enum {
    SK_SEEN_DETECTION = 1,
    SK_SEEN_SCORE = 2,
    SK_SEEN_CERTAINTY = 4,
    SK_SEEN_UNCERTAINTY = 8,
    SK_SEEN_STATE = 16
};

#define SK_SEEN_NO_DETECTION INT64_MIN

/* One tracklet in one frame. NaN where there is no value. */
typedef struct sk_seen {
    int64_t frame;
    int64_t detection;  /* a number that no other detection of the video has, or SK_SEEN_NO_DETECTION */
    double x, y;        /* pixels */
    double heading;     /* radians */
    double score;       /* of the detection, 0..1 */
    double certainty;   /* of the assignment, 0..1 */
    double uncertainty; /* of the position, pixels */
    sk_seen_state state;
    uint32_t columns; /* SK_SEEN_… */
} sk_seen;

typedef struct sk_tracklet {
    int64_t id;
    sk_seen *items;
    size_t count, capacity;
    uint32_t columns; /* of any of its items */
} sk_tracklet;

typedef struct sk_tracklets {
    sk_tracklet *items;
    size_t count, capacity;
} sk_tracklets;

/* More than a video of a week at 1000 frames a second. */
#define SK_TRACKLET_LIMIT ((size_t)1 << 30)

sk_status sk_tracklet_append(sk_tracklet *tracklet, const sk_seen *seen, sk_error *err) SK_MUST_CHECK;
sk_status sk_tracklet_append_all(sk_tracklet *tracklet, const sk_tracklet *more, sk_error *err) SK_MUST_CHECK;
void sk_tracklet_free(sk_tracklet *tracklet);
/* Moves the tracklet into the list; *tracklet is empty afterwards, also where it fails. */
sk_status sk_tracklets_take(sk_tracklets *list, sk_tracklet *tracklet, sk_error *err) SK_MUST_CHECK;
sk_status sk_tracklets_copy(sk_tracklets *list, const sk_tracklet *tracklet, sk_error *err) SK_MUST_CHECK;
void sk_tracklets_free(sk_tracklets *list);

/* Sightings by frame, ascending, one a frame: borrowed from the tracklet. */
typedef struct sk_seen_index {
    const sk_seen **items;
    size_t count;
    uint32_t columns;
} sk_seen_index;
typedef enum sk_seen_pick {
    SK_SEEN_LAST,      /* of several sightings in a frame the last */
    SK_SEEN_FIRST,     /* … the first */
    SK_SEEN_LAST_VALID /* only those with a position: the last of them */
} sk_seen_pick;
sk_status sk_seen_index_make(const sk_tracklet *tracklet, sk_seen_pick pick, sk_seen_index *out,
                             sk_error *err) SK_MUST_CHECK;
void sk_seen_index_free(sk_seen_index *index);
const sk_seen *sk_seen_find(const sk_seen_index *index, int64_t frame); /* null: none */

/* The mean of two sightings of one animal in one frame (rule 5). */
sk_seen sk_seen_average(const sk_seen *a, uint32_t a_columns, const sk_seen *b, uint32_t b_columns);
double sk_seen_distance(const sk_seen *a, const sk_seen *b); /* NaN where either has no position */
bool sk_seen_same_detection(const sk_seen *a, const sk_seen *b);
/* Cuts covered and lost sightings off both ends. */
void sk_tracklet_trim(sk_tracklet *tracklet);
/* Trims all; those with fewer than `shortest` sightings go, the others keep their order. */
void sk_tracklets_trim(sk_tracklets *list, int64_t shortest);

/* --- steps --- */

typedef struct sk_resolve_settings {
    double agreement;       /* D, pixels; 15 */
    int64_t overlap;        /* frames; 5 */
    int64_t shortest;       /* sightings; 5 */
    int64_t stitch_gap;     /* frames; 3, 0 or less: no stitching */
    double velocity_limit;  /* pixels a frame; 100 */
    double stitch_margin;   /* best over second best; 0.5 */
    double heading_gate;    /* radians; pi/3 */
    double density_tighten; /* factor; 0.5 */
} sk_resolve_settings;
void sk_resolve_defaults(sk_resolve_settings *settings);

/* Forward and backward tracklets become one list. The inputs are left as they are but for their headings. */
sk_status sk_tracklets_resolve(const sk_tracklets *forward, const sk_tracklets *backward,
                               const sk_resolve_settings *settings, sk_tracklets *out,
                               sk_error *err) SK_MUST_CHECK;
/* Its later steps, each in place. */
sk_status sk_tracklets_drop_duplicates(sk_tracklets *list, const sk_resolve_settings *settings,
                                       sk_error *err) SK_MUST_CHECK;
sk_status sk_tracklets_join_overlaps(sk_tracklets *list, const sk_resolve_settings *settings,
                                     sk_error *err) SK_MUST_CHECK;
sk_status sk_tracklets_stitch_near(sk_tracklets *list, const sk_resolve_settings *settings,
                                   sk_error *err) SK_MUST_CHECK;

typedef enum sk_interpolation {
    SK_INTERPOLATION_LINEAR,
    SK_INTERPOLATION_CUBIC,
    SK_INTERPOLATION_NONE
} sk_interpolation;
typedef struct sk_interpolate_settings {
    sk_interpolation method; /* linear */
    int64_t gap;             /* frames; 10 */
    int32_t flip_burst;      /* frames; 5 */
    bool directed; /* headings come from a pose or a head classifier: decided over the whole tracklet */
} sk_interpolate_settings;
void sk_interpolate_defaults(sk_interpolate_settings *settings);
sk_status sk_tracklet_interpolate(sk_tracklet *tracklet, const sk_interpolate_settings *settings,
                                  sk_error *err) SK_MUST_CHECK;

/* Turns headings (NaN: none) by pi where they flipped for at most `burst` frames. */
void sk_headings_mend(double *headings, size_t count, int32_t burst);
/* The same over the whole list: fewest and smallest turns. `work` has room for `count` bytes. */
void sk_headings_mend_directed(double *headings, size_t count, uint8_t *work);

typedef struct sk_clean_settings {
    int64_t shortest;       /* sightings; 10 */
    double velocity_limit;  /* pixels a frame; 100 */
    double outlier;         /* standard deviations; 0: off */
    int64_t outlier_window; /* frames; 10 */
    double outlier_least;   /* velocity below which nothing is an outlier, pixels a frame; 2 */
    int64_t covered_gap;    /* frames; 30; 0: never cut there */
} sk_clean_settings;
void sk_clean_defaults(sk_clean_settings *settings);
sk_status sk_tracklets_clean(sk_tracklets *list, const sk_clean_settings *settings,
                             sk_error *err) SK_MUST_CHECK;

#endif
