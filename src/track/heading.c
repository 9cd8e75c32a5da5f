/* SPDX-License-Identifier: Apache-2.0 */
#include "track/heading.h"

#include <math.h>

#define MOST_SURETY 6.0 /* so that a wrong belief is overcome by a handful of looks more than a swap lasts */
#define POSE_SAYS                                                                                            \
    1.0 /* log odds of one pose: errors come in runs, so far less than one error in fifty would give */
#define WAY_SAYS 0.4 /* the most that one frame's way says */
#define FAST     0.6 /* bodies a second: of a faster one the way says all it can */

double sk_angle_turn(double angle)
{
    if (angle >= 0 && angle < SK_TAU_D)
        return angle;
    const double a = angle - SK_TAU_D * floor(angle / SK_TAU_D);
    return a >= SK_TAU_D || a < 0 ? 0 : a;
}

double sk_angle_axis(double angle)
{
    if (angle >= 0 && angle < SK_PI_D)
        return angle;
    const double a = angle - SK_PI_D * floor(angle / SK_PI_D);
    return a >= SK_PI_D || a < 0 ? 0 : a;
}

double sk_angle_between(double a, double b)
{
    const double d = sk_angle_turn(a - b);
    return d > SK_PI_D ? d - SK_TAU_D : d;
}

double sk_axis_between(double a, double b)
{
    const double d = sk_angle_axis(a - b);
    return d > SK_PI_D / 2 ? SK_PI_D - d : d;
}

void sk_heading_predict(sk_heading *h, double frames, double damping, double noise)
{
    h->angle = sk_angle_turn(h->angle + h->rate * frames);
    h->rate *= frames == 1 ? damping : pow(damping, frames);
    h->variance += noise * frames;
    const double most = SK_PI_D * SK_PI_D / 3; /* nothing is known beyond */
    if (h->variance > most)
        h->variance = most;
}

static void lean(sk_heading *h, double says)
{
    h->surety += says;
    if (h->surety < 0) {
        h->angle = sk_angle_turn(h->angle + SK_PI_D);
        h->surety = -h->surety;
    }
    if (h->surety > MOST_SURETY)
        h->surety = MOST_SURETY;
}

void sk_heading_correct(sk_heading *h, double angle, bool directed, double variance, double frames)
{
    if (!h->known) {
        *h = (sk_heading){.angle = sk_angle_turn(angle), .variance = variance, .known = true};
        h->surety = directed ? POSE_SAYS : 0;
        return;
    }
    double off = sk_angle_between(angle, h->angle);
    const bool back = fabs(off) > SK_PI_D / 2;
    if (back)
        off += off > 0 ? -SK_PI_D : SK_PI_D;
    const double gain = h->variance / (h->variance + variance);
    h->angle = sk_angle_turn(h->angle + gain * off);
    h->rate += 0.3 * gain * (off / frames);
    if (fabs(h->rate) > 0.5)
        h->rate = copysign(0.5, h->rate);
    h->variance *= 1 - gain;
    if (directed)
        lean(h, back ? -POSE_SAYS : POSE_SAYS);
}

void sk_heading_moved(sk_heading *h, double vx, double vy)
{
    if (!h->known)
        return;
    const double along = vx * cos(h->angle) + vy * sin(h->angle);
    const double share = fmin(fabs(along) / FAST, 1);
    lean(h, copysign(WAY_SAYS * share * share, along));
}
