/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_KALMAN_H
#define SK_TRACK_KALMAN_H

/* Where one animal is and where it goes: x, y, vx, vy in pixels and pixels a frame, with their covariance. The noise lies along
 * and across the body. */
typedef struct sk_kalman {
    double at[4];
    double cov[4][4];
} sk_kalman;

/* A symmetric 2 x 2 matrix. */
typedef struct sk_cov2 {
    double xx, xy, yy;
} sk_cov2;

/* What happens between two looks. */
typedef struct sk_kalman_motion {
    double frames;         /* passed, > 0 */
    double damping;        /* velocity left after one frame, 0 … 1 */
    double turn_c, turn_s; /* cosine and sine of the angle by which the velocity turns with the body */
    double axis_c, axis_s; /* of the body's direction */
    double along, across;  /* variance that the velocity gains in a frame, (pixels a frame)² */
    double jump;           /* variance that the place gains in a frame besides, pixels² */
} sk_kalman_motion;

/* An ellipse along (c, s) as a matrix. */
sk_cov2 sk_cov2_turned(double along, double across, double c, double s);

/* At (x, y), standing; the place known to `place`, the velocity to `speed` (standard deviation, pixels a frame). */
void sk_kalman_begin(sk_kalman *k, double x, double y, sk_cov2 place, double speed);
void sk_kalman_predict(sk_kalman *k, const sk_kalman_motion *motion);
/* A look at (x, y) with the error `noise`; what it differs from the prediction by is clipped to `most` pixels (0: it is not). */
void sk_kalman_correct(sk_kalman *k, double x, double y, sk_cov2 noise, double most);
/* The place's covariance, and what a look at it would have. */
static inline sk_cov2 sk_kalman_place(const sk_kalman *k)
{
    return (sk_cov2){k->cov[0][0], k->cov[0][1], k->cov[1][1]};
}

#endif
