/* SPDX-License-Identifier: Apache-2.0 */
#include "track/follower.h"

#include "track/looks.h"
#include "track/points.h"

#include <math.h>

#define ANGLE_NOISE   0.05 /* of a turned box's angle, radians */
#define AREA_NOISE    0.06 /* of log(area) */
#define ASPECT_NOISE  0.08 /* of log(aspect) */
#define START_SPEED   4.0  /* bodies a second: what an animal just found may do */
#define UPRIGHT_SHARE 0.6
#define PLAIN_SHARE   0.8 /* … where there is no pose either */
#define POINTED_WORSE 4.0 /* keypoints alone tell the place by so much worse than boxes do */
#define REPLAY_MOST   48
#define ANCHOR        0.1 /* of the way to its points' middle a frame: they hop, and it would be left behind */

void sk_follow_rules_make(const sk_track_settings *s, sk_follow_rules *out)
{
    const double fps = s->fps, unit = s->motion.process_noise * 20 / (fps * fps * fps);
    *out = (sk_follow_rules){
        .settings = s,
        .fps = fps,
        .damping = pow(s->motion.damping, 25 / fps),
        .along = unit * s->motion.longitudinal_noise,
        .across = unit * s->motion.lateral_noise,
        .start_speed = START_SPEED / fps,
        .maturity = s->motion.maturity * fps,
        .turn_noise = 4.0 / (fps * fps),
        .noise = s->motion.measurement_noise,
    };
}

void sk_look_make(const sk_follow_rules *rules, const sk_detection *d, sk_look *out)
{
    const double by = (d->pointed ? POINTED_WORSE : 1) * rules->noise * sk_score_worse(d->score);
    const double along = by * d->major, across = by * d->minor;
    const double turned = ANGLE_NOISE * sk_score_worse(d->score);
    *out = (sk_look){.d = d,
                     .c = cos(d->angle),
                     .s = sin(d->angle),
                     .log_area = log(d->major * d->minor),
                     .log_aspect = log(d->major / d->minor),
                     .angle_noise = turned * turned,
                     .taken_by = -1};
    out->noise = sk_cov2_turned(along * along, across * across, out->c, out->s);
}

static void learn(sk_habit *habit, double value, double share)
{
    const double off = value - habit->mean;
    habit->mean += share * off;
    habit->variance += share * (off * off - habit->variance);
}

static double body_of(const sk_follow_rules *rules, const sk_detection *d)
{
    return rules->settings->body > 0 ? rules->settings->body : d->major;
}

/* Of animals known by keypoints alone each point stays where it was seen last, as seen from the animal. */
static void remember_points(sk_follower *f, const sk_detection *d, float *points)
{
    const int32_t before = f->pointed ? f->n_points : 0;
    /* Where the animal is said to be goes after its points, and not they with it: they stay where they were seen. */
    const double dx = ANCHOR * (d->x - f->kalman.at[0]), dy = ANCHOR * (d->y - f->kalman.at[1]);
    f->kalman.at[0] += dx;
    f->kalman.at[1] += dy;
    f->last_x += dx;
    f->last_y += dy;
    for (int32_t i = 0; i < before; i++) {
        points[3 * i] -= (float)(dx / f->body);
        points[3 * i + 1] -= (float)(dy / f->body);
    }
    for (int32_t i = 0; i < d->n_points; i++) {
        const double x = ((double)d->points[i].x - f->kalman.at[0]) / f->body,
                     y = ((double)d->points[i].y - f->kalman.at[1]) / f->body;
        if (isfinite(x) && isfinite(y)) {
            points[3 * i] = (float)x;
            points[3 * i + 1] = (float)y;
            points[3 * i + 2] = 1;
        } else if (i >= before) {
            points[3 * i] = points[3 * i + 1] = points[3 * i + 2] = 0;
        }
    }
    f->n_points = d->n_points;
    f->pointed = true;
}

/* What is remembered of the last look as it is; the animal was at (at_x, at_y). */
static void remember(sk_follower *f, const sk_look *look, double at_x, double at_y, sk_follower_room room)
{
    const sk_detection *d = look->d;
    f->major = d->major;
    f->minor = d->minor;
    f->angle = d->angle;
    f->last_x = at_x;
    f->last_y = at_y;
    for (int i = 0; i < 4; i++)
        f->box[i] = d->box[i] - (i & 1 ? d->y : d->x);
    f->score = d->score;
    f->went_out = look->border;
    f->missed = 0;
    f->gaps = 0;
    f->seen++;
    f->c = cos(f->heading.angle);
    f->s = sin(f->heading.angle);
    if (d->pointed) {
        remember_points(f, d, room.points);
    } else if (d->points && d->n_points > 0) {
        f->n_points = d->n_points;
        /* a pose whose head and tail are swapped is kept as if they were not */
        const double turned =
            d->directed && fabs(sk_angle_between(d->heading, f->heading.angle)) > SK_PI_D / 2 ? -1 : 1;
        const double c = turned * f->c, s = turned * f->s;
        for (int32_t i = 0; i < d->n_points; i++) {
            const double x = ((double)d->points[i].x - d->x) / f->body,
                         y = ((double)d->points[i].y - d->y) / f->body;
            room.points[3 * i] = (float)(x * c + y * s);
            room.points[3 * i + 1] = (float)(y * c - x * s);
            room.points[3 * i + 2] = isfinite(x) && isfinite(y) ? d->points[i].score : 0;
        }
    }
    if (d->looks && (!f->has_looks || !look->crowded)) {
        const float share = f->has_looks ? 0.1f : 1.0f;
        const double apart = f->has_looks ? sk_looks_apart(room.looks, d->looks) : 0.01;
        f->looks_apart += (double)share * (apart - f->looks_apart);
        for (int i = 0; i < SK_TRACK_LOOKS; i++)
            room.looks[i] =
                f->has_looks ? room.looks[i] + share * (d->looks[i] - room.looks[i]) : d->looks[i];
        f->has_looks = true;
    }
    if (d->class_id >= 0)
        f->class_id = d->class_id;
    if (d->identity >= 0) {
        if (d->identity == f->identity) {
            f->identity_votes = fmin(f->identity_votes + d->identity_score, 8);
        } else {
            f->identity_votes -= d->identity_score;
            if (f->identity_votes < 0) {
                f->identity = d->identity;
                f->identity_votes = -f->identity_votes;
            }
        }
    }
}

static void look_at_heading(sk_follower *f, const sk_look *look, double frames)
{
    const sk_detection *d = look->d;
    if (d->directed || !d->upright)
        sk_heading_correct(&f->heading, d->directed ? d->heading : d->angle, d->directed, look->angle_noise,
                           frames);
}

void sk_follower_begin(sk_follower *f, const sk_follow_rules *rules, const sk_look *look,
                       sk_follower_room room)
{
    const sk_detection *d = look->d;
    const int32_t slot = f->slot;
    *f =
        (sk_follower){.track = -1, .place = -1, .slot = slot, .class_id = -1, .identity = -1, .certainty = 1};
    f->body = body_of(rules, d);
    f->came_in = look->border;
    f->area = (sk_habit){look->log_area, 4 * AREA_NOISE * AREA_NOISE};
    f->aspect = (sk_habit){look->log_aspect, 4 * ASPECT_NOISE * ASPECT_NOISE};
    sk_kalman_begin(&f->kalman, d->x, d->y, look->noise, rules->start_speed * f->body);
    look_at_heading(f, look, 1);
    remember(f, look, d->x, d->y, room);
    f->at_last = f->kalman;
}

static sk_kalman_motion motion_of(const sk_follower *f, const sk_follow_rules *rules, double frames,
                                  double damping)
{
    const double area = f->body * f->body;
    double along = rules->along * area, across = rules->across * area;
    if (!f->heading.known || f->pointed) /* nobody knows which way is forward */
        across = along;
    return (sk_kalman_motion){.frames = frames,
                              .damping = damping,
                              .turn_c = 1,
                              .axis_c = f->c,
                              .axis_s = f->s,
                              .along = along,
                              .across = across};
}

void sk_follower_predict(sk_follower *f, const sk_follow_rules *rules, double frames)
{
    sk_kalman_motion m = motion_of(f, rules, frames, rules->damping);
    if (f->age < rules->maturity) { /* a young one's velocity is mostly noise */
        const double young = rules->settings->motion.young_retention;
        m.damping *= young + (1 - young) * ((f->age + 1) / (rules->maturity + 1));
    }
    if (f->heading.known) {
        const double turn = f->pointed ? 0 : f->heading.rate * frames;
        m.turn_c = cos(turn);
        m.turn_s = sin(turn);
        sk_heading_predict(&f->heading, frames, rules->damping, rules->turn_noise);
        f->c = cos(f->heading.angle);
        f->s = sin(f->heading.angle);
    }
    sk_kalman_predict(&f->kalman, &m);
    f->age += frames;
    f->missed += frames;
    f->detection = -1;
}

/* After a covering: the filter goes back to the last look and along the straight way to this one, so that its velocity is what
 * was really travelled and not what was guessed meanwhile (OC-SORT's re-update). */
static void replay(sk_follower *f, const sk_follow_rules *rules, const sk_look *look, double x, double y)
{
    const int32_t steps = f->missed < REPLAY_MOST ? (int32_t)f->missed : REPLAY_MOST;
    const double frames = f->missed / steps;
    f->kalman = f->at_last;
    const sk_kalman_motion m = motion_of(f, rules, frames, 1);
    const sk_cov2 wide = {look->noise.xx * 4, look->noise.xy * 4, look->noise.yy * 4};
    for (int32_t i = 1; i <= steps; i++) {
        const double part = (double)i / steps;
        sk_kalman_predict(&f->kalman, &m);
        sk_kalman_correct(&f->kalman, f->last_x + part * (x - f->last_x), f->last_y + part * (y - f->last_y),
                          i < steps ? wide : look->noise, 0);
    }
}

void sk_follower_correct(sk_follower *f, const sk_follow_rules *rules, const sk_look *look, double frames,
                         sk_follower_room room)
{
    const sk_detection *d = look->d;
    const double gap = f->missed;
    double x = d->x, y = d->y;
    if (d->pointed && f->pointed) { /* the points that fit say where it is, not the middle of all */
        const sk_points_fit fit = sk_points_compare(f, d, room.points);
        x = f->kalman.at[0] + fit.dx;
        y = f->kalman.at[1] + fit.dy;
    }
    if (gap > 1.5 * frames && f->seen > 1)
        replay(f, rules, look, x, y);
    else
        sk_kalman_correct(&f->kalman, x, y, look->noise,
                          rules->settings->motion.most_speed * f->body * frames);
    look_at_heading(f, look, gap);
    const double vx = f->kalman.at[2] * rules->fps / f->body, vy = f->kalman.at[3] * rules->fps / f->body;
    if (f->age >= rules->maturity)
        sk_heading_moved(&f->heading, vx, vy);
    if (!f->heading.known || d->upright) {
        if (!d->directed && hypot(vx, vy) > 0.3) { /* of upright boxes only the way tells a heading */
            f->heading.angle = sk_angle_turn(atan2(vy, vx));
        }
    }
    /* Upright boxes change as the animal turns: the last ones count. */
    const double upright = d->n_points ? UPRIGHT_SHARE : PLAIN_SHARE;
    const double habit = d->upright ? upright : look->crowded ? 0.01 : 0.03;
    const double share = fmax(1.0 / (f->seen + 1), habit);
    learn(&f->area, look->log_area, share);
    learn(&f->aspect, look->log_aspect, share);
    if (rules->settings->body <= 0)
        f->body += share * (d->major - f->body);
    remember(f, look, x, y, room);
    f->at_last = f->kalman;
}

void sk_follower_become(sk_follower *f, const sk_follower *from)
{
    const sk_follower before = *f;
    *f = *from;
    f->track = before.track;
    f->place = before.place;
    f->seen += before.seen;
    f->age += before.age;
    if (before.identity >= 0 && before.identity_votes > from->identity_votes) {
        f->identity = before.identity;
        f->identity_votes = before.identity_votes;
    }
}
