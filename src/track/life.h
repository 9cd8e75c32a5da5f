/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_LIFE_H
#define SK_TRACK_LIFE_H

#include "track/assign.h"
#include "track/follower.h"
#include "track/near.h"

/* All that our tracker holds, and the part of a step in which lives begin, go on after a while away, and end. */

typedef struct sk_following {
    sk_track_settings settings;
    sk_follow_rules rules;
    double covered, lost; /* frames */
    int32_t start;        /* looks */
    sk_follower *all;     /* those told of and those that are not yet, in the order of their beginnings */
    int32_t n, n_told, next_track;
    double seen_box[4]; /* around all detections so far: x1, y1, x2, y2 … */
    double grown[4];    /* … and how many frames ago each side moved last */
    int32_t *free_slots;
    int32_t n_free, slots;
    int32_t points_most; /* keypoints of a pose */
    float *points, *appearance;
    sk_look *looks;
    int32_t n_looks, most_looks; /* of this frame; of any so far */
    int32_t n_pointed;           /* of this frame, known by keypoints alone */
    double watched;              /* frames since the first */
    double widest;               /* way from a pose's middle to its farthest point, pixels */
    sk_near near;
    sk_assign_pair *pairs;
    int32_t n_pairs;
    int32_t *match, *by_place;
    uint8_t *place_taken, *named;
    sk_sighting *sightings;
    sk_assign *solver;
    size_t all_capacity, slots_capacity, points_capacity, appearance_capacity, looks_capacity, pairs_capacity,
        match_capacity, by_place_capacity, taken_capacity, named_capacity, sightings_capacity;
} sk_following;

static inline sk_follower_room sk_following_room(const sk_following *s, const sk_follower *f)
{
    return (sk_follower_room){s->points ? s->points + (size_t)f->slot * 3 * (size_t)s->points_most : NULL,
                              s->appearance ? s->appearance + (size_t)f->slot * SK_TRACK_LOOKS : NULL};
}

/* Costs are below 0: a pair is worth so much more than both alone. */
sk_status sk_following_add_pair(sk_following *s, int32_t row, int32_t column, double cost,
                                sk_error *err) SK_MUST_CHECK;
/* match[row]: its column or -1. */
sk_status sk_following_solve(sk_following *s, int32_t rows, int32_t columns, sk_error *err) SK_MUST_CHECK;

#define SK_COUNT_HOLDS 3.0 /* seconds without more boxes than animals: the detector finds no false ones */

/* The number of animals is known, and there are no more detections than that: every sure one of them is somebody. */
static inline bool sk_following_all(const sk_following *s)
{
    return s->settings.animals > 0 && s->n_looks <= s->settings.animals &&
           (s->n_pointed == s->n_looks ||
            (s->most_looks <= s->settings.animals && s->watched > SK_COUNT_HOLDS * s->rules.fps));
}

/* Then what was left over is given to those that were left over, however far away; s->match has the others, and whose looks
 * they are is known. */
sk_status sk_life_fill(sk_following *s, sk_error *err) SK_MUST_CHECK;
/* Detections that were given to nobody begin followers. */
void sk_life_begin(sk_following *s);
/* Those found newly, and seen often enough, are animals that were lost, or new ones. */
sk_status sk_life_name(sk_following *s, sk_error *err) SK_MUST_CHECK;
void sk_life_end(sk_following *s);

#endif
