/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/overlap.h"

#include <math.h>
#include <string.h>

double sk_overlap_boxes(const double found[4], const double truth[4], bool crowd)
{
    double w = fmin(found[2] + found[0], truth[2] + truth[0]) - fmax(found[0], truth[0]);
    double h = fmin(found[3] + found[1], truth[3] + truth[1]) - fmax(found[1], truth[1]);
    if (!(w > 0) || !(h > 0))
        return 0;
    double shared = w * h, own = found[2] * found[3];
    double whole = crowd ? own : own + truth[2] * truth[3] - shared;
    return whole > 0 ? shared / whole : 0;
}

void sk_oriented_corners(const double obb[5], double corners[8])
{
    double c = cos(obb[4]), s = sin(obb[4]);
    double ux = obb[2] / 2 * c, uy = obb[2] / 2 * s; /* half the first side */
    double vx = -obb[3] / 2 * s, vy = obb[3] / 2 * c;
    static const int sign[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int i = 0; i < 4; i++) {
        corners[2 * i] = obb[0] + sign[i][0] * ux + sign[i][1] * vx;
        corners[2 * i + 1] = obb[1] + sign[i][0] * uy + sign[i][1] * vy;
    }
}

#define MAX_CORNERS 16 /* each of four cuts adds one at most: 8 */

/* Keeps what lies to the left of the line from a to b; both polygons turn the same way. */
static int cut(const double *in, int n, const double *a, const double *b, double *out)
{
    int kept = 0;
    double ex = b[0] - a[0], ey = b[1] - a[1];
    for (int i = 0; i < n; i++) {
        const double *p = &in[2 * i], *q = &in[2 * ((i + 1) % n)];
        double dp = ex * (p[1] - a[1]) - ey * (p[0] - a[0]);
        double dq = ex * (q[1] - a[1]) - ey * (q[0] - a[0]);
        if (dp >= 0 && kept < MAX_CORNERS) {
            out[2 * kept] = p[0];
            out[2 * kept++ + 1] = p[1];
        }
        if ((dp > 0 && dq < 0) || (dp < 0 && dq > 0)) {
            double t = dp / (dp - dq);
            if (kept < MAX_CORNERS) {
                out[2 * kept] = p[0] + t * (q[0] - p[0]);
                out[2 * kept++ + 1] = p[1] + t * (q[1] - p[1]);
            }
        }
    }
    return kept;
}

static double polygon_area(const double *xy, int n)
{
    double twice = 0;
    for (int i = 1; i + 1 < n; i++) /* from the first corner, so that far-off places lose no digits */
        twice +=
            (xy[2 * i] - xy[0]) * (xy[2 * i + 3] - xy[1]) - (xy[2 * i + 2] - xy[0]) * (xy[2 * i + 1] - xy[1]);
    return fabs(twice) / 2;
}

double sk_overlap_oriented(const double found[5], const double truth[5], bool crowd)
{
    double own = found[2] * found[3], other = truth[2] * truth[3];
    double reach = (hypot(found[2], found[3]) + hypot(truth[2], truth[3])) / 2;
    if (!(found[2] > 0) || !(found[3] > 0) || !(truth[2] > 0) || !(truth[3] > 0) ||
        !(hypot(found[0] - truth[0], found[1] - truth[1]) < reach))
        return 0;
    double a[2 * MAX_CORNERS], b[2 * MAX_CORNERS], edge[8];
    sk_oriented_corners(found, a);
    sk_oriented_corners(truth, edge);
    int n = 4;
    for (int i = 0; i < 4 && n > 2; i++) {
        n = cut(a, n, &edge[2 * i], &edge[2 * ((i + 1) % 4)], b);
        memcpy(a, b, sizeof a);
    }
    double shared = n > 2 ? polygon_area(a, n) : 0;
    double whole = crowd ? own : own + other - shared;
    return whole > 0 ? shared / whole : 0;
}
