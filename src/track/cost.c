/* SPDX-License-Identifier: Apache-2.0 */
#include "track/cost.h"

#include "tasks/overlap_formula.h"
#include "track/looks.h"
#include "track/points.h"

#include <math.h>

#define TAIL          4.0  /* degrees of freedom: how heavy tails are */
#define FLIPPED       0.04 /* poses whose head and tail are swapped */
#define OTHER_CLASS   4.0
#define OVERLAP_SAYS  2.0 /* of boxes that do not meet at all */
#define POSE_SAYS     3.0
#define POSE_WIDTH    0.08 /* bodies: keypoints that differ by so much are still much alike */
#define LOOKS_SAY     1.5
#define LEAST_APART   0.003
#define IDENTITY_SAYS 3.0
#define POINTS_SAY    8.0
#define POINTS_REACH  2.0  /* gates are so much wider, as points hop */
#define POINTS_NOISE  0.27 /* bodies: how far a point lies from where it should */
#define UPRIGHT_BUILD 0.4
#define UPRIGHT_LIES  2.0
#define PLAIN_PLACE   1.5 /* upright, and no pose: little else says who it is */
/* Bodies that one goes in a second without being seen; it grows as the root of the time. */
#define SPREAD_SECOND 1.3
#define SPREAD        0.04 /* variance of the logarithms of sizes among animals: what any detection could have */

/* Minus the logarithm of Student's distribution in one or two dimensions, up to constants; `square` in standard deviations. */
static double tailed(double square, double dimensions)
{
    return 0.5 * (TAIL + dimensions) * log1p(square / TAIL);
}

double sk_pair_reach(const sk_follow_rules *rules, const sk_follower *f)
{
    const sk_cov2 p = sk_kalman_place(&f->kalman);
    const double mean = 0.5 * (p.xx + p.yy), off = 0.5 * (p.xx - p.yy);
    const double widest = sqrt(mean + sqrt(off * off + p.xy * p.xy));
    const double wanted = (f->pointed ? POINTS_REACH : 0.5) * f->body + 5 * widest,
                 most = (f->pointed ? POINTS_REACH : 1) * rules->settings->life.gate * f->body;
    return wanted < most ? wanted : most;
}

static double place_cost(const sk_follower *f, const sk_look *look)
{
    const sk_cov2 p = sk_kalman_place(&f->kalman);
    const double xx = p.xx + look->noise.xx, xy = p.xy + look->noise.xy, yy = p.yy + look->noise.yy;
    const double dx = look->d->x - f->kalman.at[0], dy = look->d->y - f->kalman.at[1];
    const double det = xx * yy - xy * xy;
    const double square = (dx * dx * yy - 2 * dx * dy * xy + dy * dy * xx) / det;
    const double area = f->body * f->body;
    return tailed(square, 2) + 0.5 * log(det / (area * area));
}

/* The axis by its angle; which end is the head by how sure both are. */
static double heading_cost(const sk_follower *f, const sk_look *look)
{
    const sk_detection *d = look->d;
    if (!f->heading.known || (d->upright && !d->directed))
        return 0;
    double off = sk_angle_between(d->directed ? d->heading : d->angle, f->heading.angle);
    const bool back = fabs(off) > SK_PI_D / 2;
    off = back ? SK_PI_D - fabs(off) : off;
    const double variance = f->heading.variance + look->angle_noise;
    double cost = tailed(off * off / variance, 1) + 0.5 * log(variance);
    if (d->directed) {
        const double sure = 1 / (1 + exp(-f->heading.surety)),
                     same = sure * (1 - FLIPPED) + (1 - sure) * FLIPPED;
        cost -= log(back ? 1 - same : same);
    }
    return cost;
}

static double habit_cost(const sk_habit *habit, double value, double noise)
{
    const double variance = habit->variance + noise, off = value - habit->mean;
    return tailed(off * off / variance, 1) + 0.5 * log(variance / SPREAD);
}

static double overlap_cost(const sk_follower *f, const sk_look *look)
{
    const sk_detection *d = look->d;
    const double angle = d->upright || !f->heading.known ? f->angle : f->heading.angle;
    const sk_gauss a = sk_gauss_of((float)(f->kalman.at[0] - d->x), (float)(f->kalman.at[1] - d->y),
                                   (float)f->major, (float)f->minor, (float)angle);
    const sk_gauss b = sk_gauss_of(0, 0, (float)d->major, (float)d->minor, (float)d->angle);
    return OVERLAP_SAYS * (1 - (double)sk_gauss_overlap(a, b));
}

/* As COCO's keypoint similarity, with the points where the pose would be now. One whose head and tail are swapped is compared
 * turned around: that it is swapped has its price in the heading. */
static double pose_cost(const sk_follower *f, const sk_look *look, const float *points)
{
    const sk_detection *d = look->d;
    const int32_t n = f->n_points < d->n_points ? f->n_points : d->n_points;
    const bool back =
        d->directed && f->heading.known && fabs(sk_angle_between(d->heading, f->heading.angle)) > SK_PI_D / 2;
    const double c = back ? -f->c : f->c, s = back ? -f->s : f->s;
    double sum = 0, all = 0;
    for (int32_t i = 0; i < n; i++) {
        const double u = (double)points[3 * i], v = (double)points[3 * i + 1];
        const double x = (double)d->points[i].x - (f->kalman.at[0] + f->body * (u * c - v * s));
        const double y = (double)d->points[i].y - (f->kalman.at[1] + f->body * (u * s + v * c));
        const double weight = fmin((double)points[3 * i + 2], (double)d->points[i].score);
        const double square = (x * x + y * y) / (2 * POSE_WIDTH * POSE_WIDTH * f->body * f->body);
        if (!(weight > 0) || !isfinite(square))
            continue;
        sum += weight / (1 + square);
        all += weight;
    }
    return all > 0 ? POSE_SAYS * (1 - sum / all) : 0;
}

/* How much more two appearances differ than this animal's own do from look to look. */
static double looks_cost(double apart, double habit)
{
    return LOOKS_SAY * log1p(apart / (habit + LEAST_APART));
}

static double identity_cost(const sk_follower *f, int32_t identity, double score)
{
    if (f->identity < 0 || identity < 0)
        return 0;
    const double both = fmin(f->identity_votes, 1) * score;
    return f->identity == identity ? -IDENTITY_SAYS * both : IDENTITY_SAYS * both;
}

/* Of animals known by keypoints alone. */
static double points_cost(const sk_follower *f, const sk_look *look, const float *points)
{
    const sk_points_fit fit = sk_points_compare(f, look->d, points);
    const double noise = POINTS_NOISE * f->body;
    return tailed((fit.dx * fit.dx + fit.dy * fit.dy) / (noise * noise), 2) + POINTS_SAY * (1 - fit.alike);
}

double sk_pair_cost(const sk_follow_rules *rules, const sk_follower *f, const sk_look *look,
                    sk_follower_room room)
{
    const sk_track_weights *w = &rules->settings->weights;
    const sk_detection *d = look->d;
    /* An upright box's sides change as the animal turns: they say less about who it is, where it lies says more. */
    const double build = d->upright ? UPRIGHT_BUILD : 1, lies = d->upright ? UPRIGHT_LIES : 1;
    const bool pointed = d->pointed && f->pointed;
    const double place = d->upright && !d->n_points ? PLAIN_PLACE : 1;
    double cost = place * w->position * (pointed ? points_cost(f, look, room.points) : place_cost(f, look));
    if (!pointed && w->heading > 0)
        cost += w->heading * heading_cost(f, look);
    if (!pointed && w->area > 0)
        cost += build * w->area * habit_cost(&f->area, look->log_area, 0.0036);
    if (!pointed && w->aspect > 0)
        cost += build * w->aspect * habit_cost(&f->aspect, look->log_aspect, 0.0064);
    if (!pointed && w->overlap > 0)
        cost += lies * w->overlap * overlap_cost(f, look);
    if (!pointed && w->pose > 0 && f->n_points && d->n_points)
        cost += w->pose * pose_cost(f, look, room.points);
    if (w->looks > 0 && f->has_looks && d->looks)
        cost += w->looks * looks_cost(sk_looks_apart(room.looks, d->looks), f->looks_apart);
    if (w->identity > 0)
        cost += w->identity * identity_cost(f, d->identity, d->identity_score);
    if (f->class_id >= 0 && d->class_id >= 0 && f->class_id != d->class_id)
        cost += OTHER_CLASS;
    return cost;
}

double sk_return_cost(const sk_follow_rules *rules, const sk_follower *lost, const sk_follower *found,
                      sk_follower_room lost_room, sk_follower_room found_room)
{
    const sk_track_weights *w = &rules->settings->weights;
    /* It was gone since its last look until the first of those who was found: on the way anything may have happened, a fast
     * animal's way at most. */
    const double seconds = (lost->missed - found->age) / rules->fps;
    const double spread = lost->body * (0.3 + SPREAD_SECOND * sqrt(seconds > 0 ? seconds : 0));
    /* A pose that hopped as it was lost makes a velocity that nobody has: such are where they were. */
    const double from_x = lost->pointed ? lost->last_x : lost->kalman.at[0],
                 from_y = lost->pointed ? lost->last_y : lost->kalman.at[1];
    const double dx = found->kalman.at[0] - from_x, dy = found->kalman.at[1] - from_y;
    const double square = (dx * dx + dy * dy) / (spread * spread);
    double cost = w->position * (tailed(square, 2) + log(spread * spread / (lost->body * lost->body)));
    cost += w->area * habit_cost(&lost->area, found->area.mean, 0.0036 + found->area.variance / found->seen);
    cost += w->aspect *
            habit_cost(&lost->aspect, found->aspect.mean, 0.0064 + found->aspect.variance / found->seen);
    if (w->looks > 0 && lost->has_looks && found->has_looks)
        cost += w->looks * looks_cost(sk_looks_apart(lost_room.looks, found_room.looks), lost->looks_apart);
    if (w->identity > 0)
        cost += w->identity * 4 * identity_cost(lost, found->identity, fmin(found->identity_votes, 1));
    if (lost->class_id >= 0 && found->class_id >= 0 && lost->class_id != found->class_id)
        cost += OTHER_CLASS;
    return cost;
}
