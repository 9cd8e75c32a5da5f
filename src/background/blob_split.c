/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background_internal.h"

#include <math.h>
#include <string.h>

/* Animals that touch are one blob. Where it is as large as several, as many Gaussians are fitted to its pixels (expectation and
 * maximisation, each pixel to its likeliest one). All animals are about as large, so each Gaussian counts alike. Where it ends depends
 * on where it begins, so it begins several times, at pixels far from each other and in lines across the blob, and the likeliest end
 * is taken. */

#define ROUNDS 16
#define LINES  4

typedef struct part {
    double x, y; /* middle */
    double a, b, c,
        penalty; /* inverse of the covariance: a dx² + 2 b dx dy + c dy²; log of its determinant */
} part;

/* As round as a disc of this area, until something better is known. */
static void make_round(part *p, double x, double y, double area)
{
    const double variance = fmax(area / (4 * M_PI), 0.25); /* a disc's, along each axis */
    *p = (part){x, y, 1 / variance, 0, 1 / variance, 2 * log(variance)};
}

static void fit(part *p, const blob_sums *s)
{
    const double x = s->x / s->n, y = s->y / s->n;
    const double xx = s->xx / s->n - x * x + 1.0 / 12, yy = s->yy / s->n - y * y + 1.0 / 12,
                 xy = s->xy / s->n - x * y;
    const double determinant = fmax(xx * yy - xy * xy, 1e-3);
    *p = (part){x, y, yy / determinant, -xy / determinant, xx / determinant, log(determinant)};
}

static double far_from(const part *p, double x, double y)
{
    const double dx = x - p->x, dy = y - p->y;
    return p->a * dx * dx + 2 * p->b * dx * dy + p->c * dy * dy + p->penalty;
}

/* The pixel that is farthest from all middles so far; the ends of runs are enough to look at. */
static void farthest(const blob_list *list, const blob *from, const part *parts, int32_t n, double *x,
                     double *y)
{
    double best = -1;
    for (int32_t i = from->first_run; i >= 0; i = list->runs[i].next)
        for (int end = 0; end < 2; end++) {
            const double px = end ? list->runs[i].x1 - 0.5 : list->runs[i].x0 + 0.5,
                         py = list->runs[i].y + 0.5;
            double nearest = INFINITY;
            for (int32_t k = 0; k < n; k++)
                nearest = fmin(nearest, hypot(px - parts[k].x, py - parts[k].y));
            if (nearest > best) {
                best = nearest;
                *x = px;
                *y = py;
            }
        }
}

/* Every pixel to its likeliest part; how unlikely all is together. */
static double share_out(const blob_list *list, const blob *from, const part *parts, int32_t n,
                        blob_sums *sums)
{
    double unlikely = 0;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int32_t i = from->first_run; i >= 0; i = list->runs[i].next) {
        const double y = list->runs[i].y + 0.5;
        for (int32_t column = list->runs[i].x0; column < list->runs[i].x1; column++) {
            const double x = column + 0.5;
            int32_t best = 0;
            double least = INFINITY;
            for (int32_t k = 0; k < n; k++) {
                const double far = far_from(&parts[k], x, y);
                best = far < least ? k : best;
                least = fmin(least, far);
            }
            unlikely += least;
            blob_sums *s = &sums[best];
            s->n++;
            s->x += x;
            s->y += y;
            s->xx += x * x;
            s->xy += x * y;
            s->yy += y * y;
        }
    }
    return unlikely;
}

static void begin_far_apart(const blob_list *list, const blob *from, int32_t n, part *parts)
{
    const double area = from->sums.n / n;
    double x = from->sums.x / from->sums.n, y = from->sums.y / from->sums.n;
    make_round(&parts[0], x, y, area);
    farthest(list, from, parts, 1, &x, &y); /* the first one stands at an end, not in the middle */
    make_round(&parts[0], x, y, area);
    for (int32_t k = 1; k < n; k++) {
        farthest(list, from, parts, k, &x, &y);
        make_round(&parts[k], x, y, area);
    }
}

static void begin_in_line(const blob *from, int32_t n, double angle, part *parts)
{
    double obb[5];
    blob_box(&from->sums, obb);
    for (int32_t k = 0; k < n; k++) {
        const double at = 0.5 * obb[3] * ((2 * k + 1.0) / n - 1);
        make_round(&parts[k], obb[0] + at * cos(obb[4] + angle), obb[1] + at * sin(obb[4] + angle),
                   from->sums.n / n);
    }
}

/* Until nothing changes. How unlikely the end is; infinite where a part has hardly a pixel. */
static double settle(const blob_list *list, const blob *from, int32_t n, part *parts, blob_sums *sums)
{
    blob_sums before[BLOB_PARTS_MOST];
    const double area = from->sums.n / n;
    double unlikely = share_out(list, from, parts, n, sums);
    for (int round = 0; round < ROUNDS; round++) {
        for (int32_t k = 0; k < n; k++) {
            if (sums[k].n < 0.2 * area)
                return INFINITY;
            if (round < 2) /* middles first, shapes when they stand about right */
                make_round(&parts[k], sums[k].x / sums[k].n, sums[k].y / sums[k].n, area);
            else
                fit(&parts[k], &sums[k]);
        }
        memcpy(before, sums, (size_t)n * sizeof *before);
        unlikely = share_out(list, from, parts, n, sums);
        if (round > 2 && memcmp(before, sums, (size_t)n * sizeof *before) == 0)
            break;
    }
    return unlikely;
}

void blob_split(const blob_list *list, const blob *from, int32_t n, blob_sums *out)
{
    part parts[BLOB_PARTS_MOST];
    blob_sums sums[BLOB_PARTS_MOST];
    begin_far_apart(list, from, n, parts);
    double best = settle(list, from, n, parts, out);
    for (int i = 0; i < LINES; i++) {
        begin_in_line(from, n, i * M_PI / LINES, parts);
        const double unlikely = settle(list, from, n, parts, sums);
        if (unlikely < best) {
            best = unlikely;
            memcpy(out, sums, (size_t)n * sizeof *out);
        }
    }
}
