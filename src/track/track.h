/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_TRACK_H
#define SK_TRACK_TRACK_H

#include "base/error.h"
#include "skitter/instance.h"
#include "track/region.h"

/* Animals followed through frames, one frame after the other: detections in, sightings with identities out. Reads no video and
 * no files. Method, settings and their units: docs/tracking.md.
 *
 * A detection is one animal found in one frame; a track is one animal's identity through time; a sighting is one track in one
 * frame. */

/* Numbers of an appearance (track/looks.h). */
#define SK_TRACK_LOOKS 48

/* Most detections of one frame; more are refused by name, not cut. */
#define SK_TRACK_MOST 65536

/* One animal found in one frame. Pixels, x right, y down; angles in radians, clockwise on the screen. */
typedef struct sk_detection {
    double x, y;         /* centre */
    double major, minor; /* sides of the (turned) box, major >= minor > 0 */
    double angle;        /* of the long side; 0 <= angle < pi */
    bool upright;        /* the box cannot turn: its angle says little about the animal */
    bool pointed;        /* only keypoints are known: the box is what holds them */
    bool directed;       /* heading is known, from the pose or a classifier */
    double heading;      /* to the head, 0 <= heading < 2 pi; where directed */
    double box[4];       /* upright x1 y1 x2 y2 */
    double score;        /* 0 … 1 */
    int32_t class_id;    /* -1: none */
    int32_t identity;    /* of multi-class models, -1: none */
    double identity_score;
    const sk_keypoint *points; /* null: none; borrowed for the call */
    int32_t n_points;
    const float *looks; /* SK_TRACK_LOOKS numbers, null: none; borrowed for the call */
} sk_detection;

typedef enum sk_track_state {
    SK_TRACK_ACTIVE,  /* seen in this frame */
    SK_TRACK_COVERED, /* not seen for a short while; where it should be is predicted */
    SK_TRACK_LOST     /* not seen for longer: its place is no longer known, it may be found again */
} sk_track_state;

/* A box that is told of a track: upright x1 y1 x2 y2, and turned: centre, long and short side, the long one's angle 0 … pi. */
typedef struct sk_told_box {
    double upright[4], turned[5];
} sk_told_box;

/* One track in one frame. */
typedef struct sk_sighting {
    int64_t frame;
    int32_t track;     /* from 0, never given twice */
    int32_t place;     /* 0 … N-1: the place that a track holds while it lives; free ones are given again */
    int32_t detection; /* index into the step's detections; -1: predicted only */
    sk_track_state state;
    double x, y, heading;       /* heading 0 … 2 pi */
    double major, minor, angle; /* the box, as a detection's */
    double score;               /* the detection's; NaN where predicted */
    double certainty;           /* of the assignment, 0 … 1 */
    double uncertainty;         /* of the position, pixels (standard deviation) */
    sk_told_box box;            /* the filter's or the smoother's, or the detection's own: settings.steady */
    int32_t class_id;           /* the track's: what most detections say, by their scores; -1: none */
} sk_sighting;

/* What detections are looked at, in this order: score, size, aspect, region, overlap, number. */
typedef struct sk_track_filter {
    double score;                     /* at least this */
    double area_least, area_most;     /* major * minor, pixels; 0: no bound */
    double aspect_least, aspect_most; /* major / minor; 0: no bound */
    const sk_region *region; /* that holds the centre; null: everywhere. Borrowed: outlives the tracker */
    double overlap; /* of two that share more than this (IoU of the turned boxes) the better stays; 1: off */
    int32_t most;   /* the largest so many stay; 0: all */
} sk_track_filter;

/* How animals move. "Bodies" are body lengths, "frames" those of the video. */
typedef struct sk_track_motion {
    double process_noise;      /* q: variance a frame, per axis of the body, times the two below */
    double longitudinal_noise; /* along the body */
    double lateral_noise;      /* across */
    double measurement_noise;  /* r: error of a detection's centre, share of its sides */
    double damping;            /* velocity left after a frame, 0 … 1 */
    double maturity;           /* s: until then velocity is trusted in part … */
    double young_retention;    /* … from this share, rising to all */
    double most_speed;         /* bodies a frame: innovations are clipped there */
} sk_track_motion;

/* What a pair of track and detection costs: a weighted sum. */
typedef struct sk_track_weights {
    double position, heading, overlap, area, aspect, pose, looks, identity;
} sk_track_weights;

typedef struct sk_track_life {
    double gate;    /* bodies: farther from the prediction is no candidate (it widens while covered) */
    double strong;  /* score of detections that are associated first */
    double birth;   /* score of detections that may begin a track */
    double start;   /* s: seen in so many frames in a row before a track is told of (at least one frame) */
    double covered; /* s: unseen for longer is lost */
    double lost;    /* s: lost for longer is ended (never, where the number of animals is fixed) */
    double
        recovery; /* bodies: how far from the last place a lost one is found again; 0: as far as it can have come */
    double apart; /* bodies: births nearer to a living track are put off (upstream: min_respawn_distance) */
} sk_track_life;

/* Of the methods that pair boxes by their overlap, bytetrack and ocsort, instead of what stands above; the defaults are those
 * of boxmot. `filter.score` is their lowest score. */
typedef struct sk_track_boxes {
    double strong;  /* score above which detections are paired first and may begin a track */
    double match;   /* bytetrack: a pair costs 1 - overlap * score, at most this (below 1) */
    double overlap; /* ocsort: least overlap of a pair */
    double kept;    /* s: a track unseen for longer is ended */
    double inertia; /* ocsort: what keeping its direction is worth */
    int32_t span;   /* ocsort: frames over which that direction is taken, 1 … 30 */
    int32_t hits;   /* ocsort: looks in a row before a track is told of */
    bool weak;      /* ocsort: weak detections are paired too, in a second round (bytetrack always does) */
} sk_track_boxes;

typedef struct sk_track_settings {
    const char *method; /* "skitter", "bytetrack", "ocsort" */
    double fps;         /* frames a second: what "s" below means in frames. 0: unknown, 25 is taken */
    double body;        /* length of a body in pixels; 0: each animal's own */
    int32_t animals;    /* > 0: always so many identities, never more; 0: unknown */
    int32_t steady;     /* 1: boxes that are told are filtered, offline smoothed; 0: the detections' own */
    bool tell_covered;  /* covered tracks have sightings, too (predicted ones) */
    bool tell_lost;     /* so have lost ones */
    sk_track_filter filter;
    sk_track_motion motion;
    sk_track_weights weights;
    sk_track_life life;
    sk_track_boxes boxes;
} sk_track_settings;

/* Where there are no more detections than animals: is this one an animal, beyond doubt? Boxes may be false, above all where some
 * frame has had more of them than there are animals (`most`); of keypoints alone the score says little. */
static inline bool sk_detection_is_sure(const sk_track_settings *settings, int32_t most,
                                        const sk_detection *detection)
{
    return detection->pointed || (most <= settings->animals && detection->score >= settings->life.birth);
}

/* All settings at their defaults. */
void sk_track_defaults(sk_track_settings *out);
/* The names of the methods, ended by null. */
const char *const *sk_track_methods(void);
/* Is a fixed number of animals part of the method itself? Else N identities are made of its tracks afterwards. */
bool sk_track_method_counts(const char *method);

typedef struct sk_tracker sk_tracker;

/* Copies the settings (not the region). Refuses what makes no sense, by name. */
sk_status sk_tracker_open(const sk_track_settings *settings, sk_tracker **out, sk_error *err) SK_MUST_CHECK;
/* The next frame: frame numbers rise; `time` is in seconds. Gives the sightings of all tracks that are told of, by place;
 * valid until the next call. Deterministic: the same calls give the same bits. Allocates nothing once it has seen its largest
 * frame (by detections, tracks, and pairs of them that are near). A detection that is not finite, or without size, is left out like one the filters refuse. */
sk_status sk_tracker_step(sk_tracker *tracker, int64_t frame, double time, const sk_detection *detections,
                          int32_t n, const sk_sighting **out, int32_t *n_out, sk_error *err) SK_MUST_CHECK;
void sk_tracker_close(sk_tracker **tracker);

/* --- detections from results --- */

/* How keypoints tell where the head is: from the mean of the `tail` points to that of the `head` points. */
typedef struct sk_pose_axis {
    const int32_t *head, *tail;
    int32_t n_head, n_tail;
} sk_pose_axis;

/* One instance as a detection: of its turned box, its box, or its keypoints alone, the first that it has. Where a pose says it,
 * it is directed. `axis` null: the pose gives none. False: nothing of it says where it is. */
bool sk_detection_of(const sk_instances *list, int32_t index, const sk_pose_axis *axis, sk_detection *out);
/* The same for a turned box of any convention: sides swapped so that major >= minor, angle to 0 … pi. */
void sk_detection_set_oriented(sk_detection *detection, double w, double h, double angle);
/* A detection's own box, as it is told. */
sk_told_box sk_told_box_of(const sk_detection *detection);
/* The same of a turned box alone. */
sk_told_box sk_told_box_make(double x, double y, double major, double minor, double angle);
/* `box`: what holds the turned box. */
void sk_detection_set_box(sk_detection *detection);

#endif
