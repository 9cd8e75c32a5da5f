/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_REPORT_MOVEMENT_H
#define SK_REPORT_MOVEMENT_H

#include "track/track.h"

/* What sightings say about how animals moved, gathered frame by frame in memory that does not grow with the length of the video
 * (but with the number of tracks and of their gaps). Pixels and seconds. */

#define SK_MOVEMENT_BINS     512 /* of time, at most; they grow wider as the video gets longer */
#define SK_MOVEMENT_HEADINGS 36
#define SK_MOVEMENT_SPEEDS   64    /* classes of speed, each a quarter of a power of two wide … */
#define SK_MOVEMENT_SLOWEST  0.125 /* … from this many pixels a second on */
#define SK_MOVEMENT_PATH     1500  /* points of a path that are kept, at most */
#define SK_MOVEMENT_SIDE     64    /* cells of the occupancy along the frame's longer side */
#define SK_MOVEMENT_PAIRS    32    /* tracks whose distances from each other are kept, the first ones */

/* Frames in which a track was in one state. */
typedef struct sk_movement_span {
    int64_t first, last;
    sk_track_state state;
} sk_movement_span;

typedef struct sk_movement_track {
    int32_t track;
    int64_t first, last; /* frames it was told of */
    int64_t seen;        /* of which it was really seen in */
    int64_t gaps;        /* times it was not, between two times it was */
    int64_t longest_gap; /* frames */
    double distance;     /* pixels walked */
    double seconds;      /* in which they were */
    double top_speed;    /* pixels a second */
    double body;         /* the box's long side, mean over the times it was seen */
    int64_t speeds[SK_MOVEMENT_SPEEDS];
    int64_t headings[SK_MOVEMENT_HEADINGS];
    float *path; /* x, y; not a number between two pieces */
    size_t n_path, path_capacity;
    int64_t path_every; /* frames between two points */
    sk_movement_span *spans;
    size_t n_spans, spans_capacity;
    /* where a step was begun, and where it was seen last */
    double from_x, from_y, from_time;
    int64_t from_frame, seen_last;
} sk_movement_track;

/* What happened in one stretch of time; means are over n_… of them. */
typedef struct sk_movement_bin {
    int64_t frames, visible; /* sightings that were seen */
    double speed, nearest;   /* sums */
    int64_t n_speed, n_nearest;
} sk_movement_bin;

typedef struct sk_movement {
    int32_t width, height; /* of the frame; 0: not known, the largest place seen is taken */
    double fps;
    int64_t frames, first_frame, last_frame;
    sk_movement_track *tracks;
    size_t n_tracks, tracks_capacity;
    int32_t *index; /* by track number: place in tracks, -1 none */
    size_t n_index, index_capacity;
    sk_movement_bin bins[SK_MOVEMENT_BINS];
    int64_t bin_frames; /* frames of a bin */
    int32_t columns, rows;
    int64_t occupancy[SK_MOVEMENT_SIDE * SK_MOVEMENT_SIDE]; /* row by row */
    double pair_sum[SK_MOVEMENT_PAIRS][SK_MOVEMENT_PAIRS];
    int64_t pair_count[SK_MOVEMENT_PAIRS][SK_MOVEMENT_PAIRS];
    int32_t *order; /* work space: sightings from left to right */
    size_t order_capacity;
} sk_movement;

/* `width`, `height`: of the frames; `fps` 0: unknown, 25 is taken. Ended by sk_movement_free. */
void sk_movement_begin(sk_movement *movement, int32_t width, int32_t height, double fps);
void sk_movement_free(sk_movement *movement);
/* The next frame's sightings; frame numbers rise. */
sk_status sk_movement_take(sk_movement *movement, int64_t frame, double time, const sk_sighting *sightings,
                           int32_t n, sk_error *err) SK_MUST_CHECK;

/* The speed below which this part of the track's time was spent; NaN where nothing was measured. */
double sk_movement_speed(const sk_movement_track *track, double part);
/* Sightings that were seen, of all tracks together. */
int64_t sk_movement_seen(const sk_movement *movement);

#endif
