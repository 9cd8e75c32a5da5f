/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_POINTS_H
#define SK_TRACK_POINTS_H

#include "track/follower.h"

/* Animals known by keypoints alone. Single points hop, to another animal even, and the middle of all of them then lies anywhere:
 * so each point is compared with where it would be now, and those that fit best say where the animal is. */

typedef struct sk_points_fit {
    int32_t n;     /* points that both have */
    double alike;  /* 0 … 1: how many points are where they would be */
    double dx, dy; /* from the prediction to where the animal is, pixels */
} sk_points_fit;

/* Where no point is in both, the middle is compared. */
sk_points_fit sk_points_compare(const sk_follower *f, const sk_detection *d, const float *points);
/* The same of two poses, n points x, y each (not a number: not seen): how b differs from a. A point that is `width` away is half
 * as likely to be the same one. Head and tail may have been taken for each other: points from the last to the first count, too. */
sk_points_fit sk_points_between(const float *a, const float *b, int32_t n, double width);
/* The way from the prediction to the nearest point of the detection that the follower has too, or to its middle, squared. */
double sk_points_nearest(const sk_follower *f, const sk_detection *d, const float *points);
/* Half of how far a pose reaches at most: nobody's points are farther from its middle. */
double sk_points_widest(const sk_detection *d);

#endif
