/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_FOLLOWER_H
#define SK_TRACK_FOLLOWER_H

#include "track/heading.h"
#include "track/kalman.h"
#include "track/track.h"

/* What is known about one animal that is followed, and how a look at it changes that. */

/* A number that is seen again and again: its mean and variance, forgetting slowly. */
typedef struct sk_habit {
    double mean, variance;
} sk_habit;

/* A detection as the association looks at it: what many pairs need of it, worked out once. */
typedef struct sk_look {
    const sk_detection *d;
    double c, s;        /* of its long side */
    sk_cov2 noise;      /* of its centre */
    double angle_noise; /* variance */
    double log_area, log_aspect;
    double alone;     /* what it costs to leave it to nobody: -log of how often such a one is false or new */
    bool twin;        /* a better detection lies upon it */
    bool crowded;     /* others are close */
    bool border;      /* touches the border of what is seen */
    int32_t taken_by; /* index of the follower it was given to, -1: none */
} sk_look;

typedef struct sk_follower {
    int32_t track, place; /* -1: not told of yet */
    int32_t slot;         /* of its points and looks */
    int32_t seen;         /* looks in all */
    double age;           /* frames since the first */
    double missed;        /* frames since the last; 0: seen now */
    int32_t gaps;         /* steps without a look since the last */
    double body;          /* length, pixels */
    sk_kalman kalman;
    sk_kalman at_last; /* as it was at the last look */
    double last_x, last_y;
    sk_heading heading;
    double c, s;           /* of the heading */
    sk_habit area, aspect; /* logarithms of major * minor and major / minor */
    double major, minor, angle;
    double box[4];    /* upright, relative to the centre */
    bool pointed;     /* known by keypoints alone: points are kept as they lie, not turned with the body */
    int32_t n_points; /* of the pose, 0: none was seen */
    bool has_looks;
    double looks_apart; /* how much its appearance differs from what is remembered, as a rule */
    int32_t class_id, identity;
    double identity_votes;
    int32_t detection; /* of this step, -1: none */
    double score, certainty;
    bool came_in, went_out; /* its first and its last look touched the border of what is seen */
} sk_follower;

/* What followers need of the settings, in frames and shares. */
typedef struct sk_follow_rules {
    const sk_track_settings *settings;
    double fps;
    double damping;       /* of a frame */
    double along, across; /* variance of the velocity a frame, bodies² */
    double start_speed;   /* bodies a frame */
    double maturity;      /* frames */
    double turn_noise;    /* variance of the heading a frame */
    double noise;         /* of a centre, share of the sides */
} sk_follow_rules;

/* Detections of low scores are seen badly: by how much less certain their places are than others'. */
static inline double sk_score_worse(double score)
{
    const double bad = 1 - score / 0.9;
    return 1 + 2 * (bad > 0 ? bad : 0);
}

void sk_follow_rules_make(const sk_track_settings *settings, sk_follow_rules *out);
void sk_look_make(const sk_follow_rules *rules, const sk_detection *d, sk_look *out);

/* `points`, `looks`: the follower's own room, n_points_most pairs and SK_TRACK_LOOKS numbers. */
typedef struct sk_follower_room {
    float *points; /* x, y, confidence in the body's frame, bodies */
    float *looks;
} sk_follower_room;

void sk_follower_begin(sk_follower *f, const sk_follow_rules *rules, const sk_look *look,
                       sk_follower_room room);
void sk_follower_predict(sk_follower *f, const sk_follow_rules *rules, double frames);
void sk_follower_correct(sk_follower *f, const sk_follow_rules *rules, const sk_look *look, double frames,
                         sk_follower_room room);
/* Goes over to what `from` is and knows, but stays who it is. */
void sk_follower_become(sk_follower *f, const sk_follower *from);

#endif
