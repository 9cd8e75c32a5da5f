/* SPDX-License-Identifier: Apache-2.0 */
#include "track/track.h"

#include "base/instances.h"

#include <math.h>

#define PI 3.14159265358979323846

void sk_detection_set_oriented(sk_detection *d, double w, double h, double angle)
{
    d->major = w >= h ? w : h;
    d->minor = w >= h ? h : w;
    double a = fmod(w >= h ? angle : angle + PI / 2, PI);
    if (a < 0)
        a += PI;
    d->angle = a >= PI ? 0 : a;
    d->directed = false;
    d->upright = false;
}

void sk_detection_set_box(sk_detection *d)
{
    const double c = fabs(cos(d->angle)), s = fabs(sin(d->angle));
    const double w = (d->major * c + d->minor * s) / 2, h = (d->major * s + d->minor * c) / 2;
    d->box[0] = d->x - w;
    d->box[1] = d->y - h;
    d->box[2] = d->x + w;
    d->box[3] = d->y + h;
}

static bool found(const sk_keypoint *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

/* The mean of those points of a list that were found. */
static bool mean_of(const sk_detection *d, const int32_t *list, int32_t n, double *x, double *y)
{
    int32_t count = 0;
    double sx = 0, sy = 0;
    for (int32_t i = 0; i < n; i++) {
        if (list[i] < 0 || list[i] >= d->n_points || !found(&d->points[list[i]]))
            continue;
        sx += (double)d->points[list[i]].x;
        sy += (double)d->points[list[i]].y;
        count++;
    }
    if (!count)
        return false;
    *x = sx / count;
    *y = sy / count;
    return true;
}

/* A turned box around keypoints alone, along the direction in which they vary most. */
static bool box_of_points(sk_detection *d)
{
    double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < d->n_points; i++)
        if (found(&d->points[i])) {
            sx += (double)d->points[i].x;
            sy += (double)d->points[i].y;
            n++;
        }
    if (!n)
        return false;
    sx /= n;
    sy /= n;
    for (int32_t i = 0; i < d->n_points; i++)
        if (found(&d->points[i])) {
            const double dx = (double)d->points[i].x - sx, dy = (double)d->points[i].y - sy;
            xx += dx * dx;
            yy += dy * dy;
            xy += dx * dy;
        }
    const double angle = 0.5 * atan2(2 * xy, xx - yy), c = cos(angle), s = sin(angle);
    double along[2] = {INFINITY, -INFINITY}, across[2] = {INFINITY, -INFINITY};
    for (int32_t i = 0; i < d->n_points; i++)
        if (found(&d->points[i])) {
            const double dx = (double)d->points[i].x - sx, dy = (double)d->points[i].y - sy;
            const double u = dx * c + dy * s, v = dy * c - dx * s;
            along[0] = fmin(along[0], u);
            along[1] = fmax(along[1], u);
            across[0] = fmin(across[0], v);
            across[1] = fmax(across[1], v);
        }
    const double u = (along[0] + along[1]) / 2, v = (across[0] + across[1]) / 2;
    d->x = sx + u * c - v * s;
    d->y = sy + u * s + v * c;
    /* Points lie on a line within the body: it has some width. */
    const double length = fmax(along[1] - along[0], 1), width = fmax(across[1] - across[0], length / 5);
    sk_detection_set_oriented(d, length, width, angle);
    sk_detection_set_box(d);
    d->pointed = true;
    return true;
}

sk_told_box sk_told_box_of(const sk_detection *d)
{
    return (sk_told_box){.upright = {d->box[0], d->box[1], d->box[2], d->box[3]},
                         .turned = {d->x, d->y, d->major, d->minor, d->angle}};
}

sk_told_box sk_told_box_make(double x, double y, double major, double minor, double angle)
{
    sk_detection d = {.x = x, .y = y, .major = major, .minor = minor, .angle = angle};
    sk_detection_set_box(&d);
    return sk_told_box_of(&d);
}

/* Where the pose says where the head is. */
static void direct(sk_detection *d, const sk_pose_axis *axis)
{
    double hx, hy, tx, ty;
    if (!axis || !d->points || !mean_of(d, axis->head, axis->n_head, &hx, &hy) ||
        !mean_of(d, axis->tail, axis->n_tail, &tx, &ty))
        return;
    const double dx = hx - tx, dy = hy - ty;
    if (!(hypot(dx, dy) > d->major / 20)) /* head upon tail says nothing */
        return;
    const double against = cos(d->angle) * dx + sin(d->angle) * dy;
    if (!d->upright && fabs(against) < 0.3 * hypot(dx, dy)) /* across the box: the two do not fit together */
        return;
    /* A turned box tells the axis better than two points do. */
    double heading = d->upright ? atan2(dy, dx) : against < 0 ? d->angle + PI : d->angle;
    if (heading < 0)
        heading += 2 * PI;
    d->heading = heading >= 2 * PI ? 0 : heading;
    d->directed = true;
}

bool sk_detection_of(const sk_instances *list, int32_t index, const sk_pose_axis *axis, sk_detection *out)
{
    sk_instance item = SK_INSTANCE_INIT;
    if (!sk_instances_get(list, index, &item))
        return false;
    sk_detection d = {.score = (double)item.score, .class_id = item.class_id, .identity = -1};
    if (item.track_id >= 0) { /* multi-class models say which animal it is */
        d.identity = item.track_id;
        d.identity_score = (double)item.tracking_score;
    }
    if (item.has & SK_HAS_KEYPOINTS) {
        d.points = sk_instances_keypoints(list, index);
        d.n_points = d.points ? sk_instances_keypoint_count(list) : 0;
    }
    const float *o = item.obb, *b = item.box;
    if (item.has & SK_HAS_OBB && o[2] > 0 && o[3] > 0) {
        d.x = (double)o[0];
        d.y = (double)o[1];
        sk_detection_set_oriented(&d, (double)o[2], (double)o[3], (double)o[4]);
        sk_detection_set_box(&d);
        for (int i = 0; i < 4 && item.has & SK_HAS_BOX; i++) /* the detector's own is the better one */
            d.box[i] = (double)b[i];
    } else if (item.has & SK_HAS_BOX && b[2] > b[0] && b[3] > b[1]) {
        for (int i = 0; i < 4; i++)
            d.box[i] = (double)b[i];
        d.x = (d.box[0] + d.box[2]) / 2;
        d.y = (d.box[1] + d.box[3]) / 2;
        sk_detection_set_oriented(&d, d.box[2] - d.box[0], d.box[3] - d.box[1], 0);
        d.upright = true;
    } else if (!box_of_points(&d)) {
        return false;
    }
    direct(&d, axis);
    *out = d;
    return isfinite(d.x) && isfinite(d.y) && isfinite(d.major) && isfinite(d.angle) && d.minor > 0;
}
