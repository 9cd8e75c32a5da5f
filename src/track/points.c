/* SPDX-License-Identifier: Apache-2.0 */
#include "track/points.h"

#include <math.h>

#define WIDTH 0.27 /* bodies: a point this far away is half as likely to be the same one */

#define TURNED                                                                                               \
    0.7 /* how much a pose is worth that fits with head and tail exchanged, the commonest mistake of models */

/* From where the follower's point would be now to the detection's; false: one of the two does not have it. */
static bool way_of(const sk_follower *f, const sk_detection *d, const float *points, int32_t i, double *x,
                   double *y)
{
    if (!(points[3 * i + 2] > 0))
        return false;
    *x = (double)d->points[i].x - (f->kalman.at[0] + f->body * (double)points[3 * i]);
    *y = (double)d->points[i].y - (f->kalman.at[1] + f->body * (double)points[3 * i + 1]);
    return isfinite(*x) && isfinite(*y);
}

static int32_t common(const sk_follower *f, const sk_detection *d)
{
    return f->n_points < d->n_points ? f->n_points : d->n_points;
}

static void add(sk_points_fit *fit, double *sum, double x, double y, double width)
{
    const double near = 1 / (1 + (x * x + y * y) / (width * width)), weight = near * near;
    fit->n++;
    fit->alike += near;
    fit->dx += weight * x;
    fit->dy += weight * y;
    *sum += weight;
}

static void finish(sk_points_fit *fit, double sum)
{
    if (!fit->n)
        return;
    fit->alike /= fit->n;
    fit->dx /= sum;
    fit->dy /= sum;
}

sk_points_fit sk_points_compare(const sk_follower *f, const sk_detection *d, const float *points)
{
    sk_points_fit fit = {0};
    double sum = 0, x, y;
    for (int32_t i = 0; i < common(f, d); i++)
        if (way_of(f, d, points, i, &x, &y))
            add(&fit, &sum, x, y, WIDTH * f->body);
    finish(&fit, sum);
    if (!fit.n) {
        fit.dx = d->x - f->kalman.at[0];
        fit.dy = d->y - f->kalman.at[1];
    }
    return fit;
}

static sk_points_fit between(const float *a, const float *b, int32_t n, double width, bool turned)
{
    sk_points_fit fit = {0};
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = turned ? n - 1 - i : i;
        const double x = (double)b[2 * k] - (double)a[2 * i], y = (double)b[2 * k + 1] - (double)a[2 * i + 1];
        if (isfinite(x) && isfinite(y))
            add(&fit, &sum, x, y, width);
    }
    finish(&fit, sum);
    return fit;
}

sk_points_fit sk_points_between(const float *a, const float *b, int32_t n, double width)
{
    const sk_points_fit fit = between(a, b, n, width, false);
    sk_points_fit turned = between(a, b, n, width, true);
    turned.alike *= TURNED;
    return fit.n && turned.n >= fit.n && turned.alike > fit.alike ? turned : fit;
}

double sk_points_nearest(const sk_follower *f, const sk_detection *d, const float *points)
{
    const double mx = d->x - f->kalman.at[0], my = d->y - f->kalman.at[1];
    double nearest = mx * mx + my * my, x, y;
    for (int32_t i = 0; i < common(f, d); i++)
        if (way_of(f, d, points, i, &x, &y))
            nearest = fmin(nearest, x * x + y * y);
    return nearest;
}

double sk_points_widest(const sk_detection *d)
{
    double widest = 0;
    for (int32_t i = 0; i < d->n_points; i++) {
        const double x = (double)d->points[i].x - d->x, y = (double)d->points[i].y - d->y;
        if (isfinite(x) && isfinite(y))
            widest = fmax(widest, hypot(x, y));
    }
    return widest;
}
