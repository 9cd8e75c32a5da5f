/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_HEADING_H
#define SK_TRACK_HEADING_H

#include <stdbool.h>

/* The direction in which an animal's head lies. A turned box tells the axis only; which of its two ends is the head follows
 * from the pose and from the way the animal goes, and is remembered: one swapped pose turns nobody around. */
typedef struct sk_heading {
    double angle;    /* 0 … 2 pi */
    double rate;     /* radians a frame */
    double variance; /* of the angle, radians² */
    double surety;   /* log odds that the head is here and not at the other end; >= 0 */
    bool known;      /* an axis or a direction was ever seen */
} sk_heading;

#define SK_PI_D  3.14159265358979323846
#define SK_TAU_D 6.28318530717958647692

/* To 0 … 2 pi, to 0 … pi; the way from b to a, -pi … pi; the angle between two axes, 0 … pi/2. */
double sk_angle_turn(double angle);
double sk_angle_axis(double angle);
double sk_angle_between(double a, double b);
double sk_axis_between(double a, double b);

void sk_heading_predict(sk_heading *h, double frames, double damping, double noise);
/* A look: the axis of the box (`directed` false) or the head's direction; its variance. */
void sk_heading_correct(sk_heading *h, double angle, bool directed, double variance, double frames);
/* The animal went (vx, vy) bodies a second: weak evidence for where its head is, strong where it is fast. */
void sk_heading_moved(sk_heading *h, double vx, double vy);

#endif
