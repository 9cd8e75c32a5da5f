/* SPDX-License-Identifier: Apache-2.0 */
#include "results/shape.h"

#include <math.h>
#include <stdbool.h>

void sk_obb_corners(const float obb[5], double xy[8])
{
    double c = cos((double)obb[4]), s = sin((double)obb[4]);
    double v1x = (double)obb[2] / 2 * c, v1y = (double)obb[2] / 2 * s;
    double v2x = -(double)obb[3] / 2 * s, v2y = (double)obb[3] / 2 * c;
    static const int sign[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (int i = 0; i < 4; i++) {
        xy[2 * i] = (double)obb[0] + sign[i][0] * v1x + sign[i][1] * v2x;
        xy[2 * i + 1] = (double)obb[1] + sign[i][0] * v1y + sign[i][1] * v2y;
    }
}

void sk_obb_of_corners(const double c[8], double obb[5])
{
    double best = INFINITY;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) { /* one side lies on two of the points */
            double dx = c[2 * j] - c[2 * i], dy = c[2 * j + 1] - c[2 * i + 1], size = hypot(dx, dy);
            if (!(size > 0))
                continue;
            dx /= size, dy /= size;
            double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
            for (int k = 0; k < 4; k++) {
                double along = c[2 * k] * dx + c[2 * k + 1] * dy, across = c[2 * k + 1] * dx - c[2 * k] * dy;
                low[0] = fmin(low[0], along), high[0] = fmax(high[0], along);
                low[1] = fmin(low[1], across), high[1] = fmax(high[1], across);
            }
            double w = high[0] - low[0], h = high[1] - low[1];
            if (w * h >= best)
                continue;
            best = w * h;
            double a = (low[0] + high[0]) / 2, b = (low[1] + high[1]) / 2;
            obb[0] = a * dx - b * dy;
            obb[1] = a * dy + b * dx;
            obb[2] = w;
            obb[3] = h;
            obb[4] = atan2(dy, dx);
        }
    if (!isfinite(best))
        obb[0] = c[0], obb[1] = c[1], obb[2] = obb[3] = obb[4] = 0;
}

void sk_instance_bounds(const sk_instances *all, const sk_found *in, double box[4])
{
    double x1 = INFINITY, y1 = INFINITY, x2 = -INFINITY, y2 = -INFINITY;
    if (in->has & SK_HAS_BOX) {
        x1 = (double)in->box[0], y1 = (double)in->box[1], x2 = (double)in->box[2], y2 = (double)in->box[3];
    } else if (in->has & SK_HAS_OBB) {
        double c = fabs(cos((double)in->obb[4])), s = fabs(sin((double)in->obb[4]));
        double w = ((double)in->obb[2] * c + (double)in->obb[3] * s) / 2;
        double h = ((double)in->obb[2] * s + (double)in->obb[3] * c) / 2;
        x1 = (double)in->obb[0] - w, x2 = (double)in->obb[0] + w;
        y1 = (double)in->obb[1] - h, y2 = (double)in->obb[1] + h;
    } else {
        for (int32_t k = 0; k < all->n_keypoints; k++) {
            const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
            if (isnan(p->x))
                continue;
            x1 = fmin(x1, (double)p->x), x2 = fmax(x2, (double)p->x);
            y1 = fmin(y1, (double)p->y), y2 = fmax(y2, (double)p->y);
        }
    }
    bool any = x2 >= x1 && y2 >= y1;
    box[0] = any ? x1 : 0, box[1] = any ? y1 : 0;
    box[2] = any ? x2 - x1 : 0, box[3] = any ? y2 - y1 : 0;
}
