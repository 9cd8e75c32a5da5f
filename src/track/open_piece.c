/* SPDX-License-Identifier: Apache-2.0 */
#include "track/open_piece.h"

#include <math.h>
#include <string.h>

#define FIT 6 /* sightings that an end is fitted to */
_Static_assert(2 * FIT + (1 << (SK_BRIDGES - 2)) <= SK_OPEN_PIECE_SPOTS,
               "the longest gap is among those kept");

static const sk_piece_spot *spot_of(const sk_open_piece *p, int32_t index)
{
    return &p->ring[index % SK_OPEN_PIECE_SPOTS];
}

const sk_piece_spot *sk_open_piece_last(const sk_open_piece *p)
{
    return spot_of(p, p->kept - 1);
}

/* The line through `n` spots, as it is at the first (at_start) or the last of them. */
static sk_piece_end fit(const sk_open_piece *p, int32_t from, int32_t n, bool at_start)
{
    const sk_piece_spot *tip = spot_of(p, at_start ? from : from + n - 1);
    double t = 0, x = 0, y = 0, tt = 0, tx = 0, ty = 0, c = 0, s = 0, cc = 0, ss = 0;
    int32_t directed = 0;
    for (int32_t i = from; i < from + n; i++) {
        const sk_piece_spot *q = spot_of(p, i);
        const double dt = (double)(q->frame - tip->frame);
        t += dt, x += q->x, y += q->y, tt += dt * dt, tx += dt * q->x, ty += dt * q->y;
        if (q->directed)
            directed++, c += q->c, s += q->s;
        cc += q->c * q->c - q->s * q->s, ss += 2.0 * q->c * q->s;
    }
    sk_piece_end e = {.directed = 2 * directed > n};
    const double spread = tt - t * t / n;
    if (spread > 0) {
        e.vx = (tx - t * x / n) / spread;
        e.vy = (ty - t * y / n) / spread;
    }
    e.x = x / n - e.vx * t / n;
    e.y = y / n - e.vy * t / n;
    const double heading = e.directed ? atan2(s, c) : 0.5 * atan2(ss, cc);
    e.c = cos(heading);
    e.s = sin(heading);
    return e;
}

double sk_piece_turn(const sk_piece_end *a, const sk_piece_end *b)
{
    const double c = a->c * b->c + a->s * b->s;
    return 1 - (a->directed && b->directed ? c : fabs(c));
}

/* What the piece's last sightings teach about gaps: as if those in between had not been seen. */
static void learn(sk_piece_lessons *m, const sk_open_piece *p, double body)
{
    const int32_t end = p->kept;
    for (int k = 0; k < SK_BRIDGES - 1; k++) {
        const int32_t gap = 1 << k;
        if (end < 2 * FIT + gap - 1 || (end % (k < 3 ? 3 : 5)) != 0)
            continue;
        const int32_t a_from = end - 2 * FIT - gap + 1;
        const sk_piece_end a = fit(p, a_from, FIT, false), b = fit(p, end - FIT, FIT, true);
        const double frames = (double)(spot_of(p, end - FIT)->frame - spot_of(p, a_from + FIT - 1)->frame);
        if (frames > 1.5 * gap + 1)
            continue; /* there were real gaps in it */
        const double px = (a.vx + b.vx) / 2 * frames / body, py = (a.vy + b.vy) / 2 * frames / body;
        const double wx = (b.x - a.x) / body, wy = (b.y - a.y) / body;
        const double dx = (b.vx - a.vx) / body, dy = (b.vy - a.vy) / body;
        double *s = m->bridges[k];
        s[0] += 1;
        s[1] += wx * px + wy * py;
        s[2] += px * px + py * py;
        s[3] += wx * wx + wy * wy;
        s[4] += dx * dx + dy * dy;
        m->turns[k] += sk_piece_turn(&a, &b);
        if (!k) {
            m->speed += (a.vx * a.vx + a.vy * a.vy) / (body * body);
            m->n_speed += 2;
        }
    }
}

/* Numbers that say how the animal is built; NaN where this sighting does not. */
static void shape_of(const sk_detection *d, float *shape)
{
    for (int i = 0; i < SK_PIECE_SHAPES; i++)
        shape[i] = NAN;
    if (!d->upright && !d->pointed) {
        shape[0] = (float)log(d->major);
        shape[1] = (float)log(d->minor);
    }
    for (int i = 0; d->points && i + 1 < d->n_points && i + 2 < SK_PIECE_SHAPES; i++) {
        const sk_keypoint *a = &d->points[i], *b = a + 1;
        const float way = hypotf(a->x - b->x, a->y - b->y);
        if (a->score >= 0.5f && b->score >= 0.5f && way > 1)
            shape[i + 2] = logf(way);
    }
}

static void vote(int32_t *who, double *votes, int32_t now, double weight)
{
    if (now < 0)
        return;
    if (*who == now) {
        *votes += weight;
    } else if ((*votes -= weight) < 0) {
        *who = now;
        *votes = -*votes;
    }
}

static void remember_looks(sk_piece_lessons *m, sk_open_piece *p, sk_piece *piece, const sk_detection *d)
{
    float shape[SK_PIECE_SHAPES];
    shape_of(d, shape);
    for (int i = 0; i < SK_PIECE_SHAPES; i++) {
        if (isnan(shape[i]))
            continue;
        if (piece->n_shape[i]) {
            const double step = shape[i] - p->shape_before[i];
            m->within[i] += step * step / 2;
            m->n_within[i] += 1;
        }
        p->shape_before[i] = shape[i];
        piece->n_shape[i]++;
        piece->shape[i] += (shape[i] - piece->shape[i]) / (float)piece->n_shape[i];
    }
    if (d->looks) {
        for (int i = 0; i < SK_TRACK_LOOKS; i++) {
            const double step = piece->n_looks ? d->looks[i] - p->looks_before[i] : 0;
            m->looks_within[i] += step * step / 2;
            p->looks_before[i] = d->looks[i];
            piece->looks[i] += (d->looks[i] - piece->looks[i]) / (float)(piece->n_looks + 1);
        }
        m->n_looks += piece->n_looks > 0;
        piece->n_looks++;
    }
    vote(&piece->class_id, &piece->class_votes, d->class_id, d->score);
    vote(&piece->identity, &piece->identity_votes, d->identity, d->identity_score);
}

/* The outermost sighting of each point: the first that there is, or the last. */
static void keep_points(sk_piece_end *e, const sk_detection *d, bool first)
{
    const int32_t n = d->n_points < SK_PIECE_POINTS ? d->n_points : SK_PIECE_POINTS;
    for (; e->n_points < n; e->n_points++)
        e->points[2 * e->n_points] = e->points[2 * e->n_points + 1] = NAN;
    for (int32_t i = 0; i < n; i++) {
        const float x = d->points[i].x, y = d->points[i].y;
        if (isfinite(x) && isfinite(y) && (!first || isnan(e->points[2 * i]))) {
            e->points[2 * i] = x;
            e->points[2 * i + 1] = y;
        }
    }
}

/* A fitted line, and the points that were kept. */
static void set_end(sk_piece_end *e, sk_piece_end line)
{
    line.n_points = e->n_points;
    memcpy(line.points, e->points, sizeof line.points);
    *e = line;
}

void sk_open_piece_append(sk_open_piece *p, sk_piece *piece, int64_t frame, const sk_detection *d,
                          sk_piece_lessons *m)
{
    const double heading = d->directed ? d->heading : d->angle;
    p->ring[p->kept++ % SK_OPEN_PIECE_SPOTS] = (sk_piece_spot){.frame = frame,
                                                               .x = (float)d->x,
                                                               .y = (float)d->y,
                                                               .c = (float)cos(heading),
                                                               .s = (float)sin(heading),
                                                               .directed = d->directed};
    piece->n++;
    piece->last = frame;
    piece->score += d->score;
    piece->body += (d->major - piece->body) / piece->n;
    remember_looks(m, p, piece, d);
    if (d->pointed && d->points) {
        keep_points(&piece->start, d, true);
        keep_points(&piece->end, d, false);
    }
    if (p->kept == FIT)
        set_end(&piece->start, fit(p, 0, FIT, true));
    learn(m, p, piece->body);
}

void sk_open_piece_end(const sk_open_piece *p, sk_piece *piece, sk_piece_lessons *m)
{
    const int32_t n = p->kept < FIT ? p->kept : FIT;
    if (p->kept < FIT)
        set_end(&piece->start, fit(p, 0, n, true));
    set_end(&piece->end, fit(p, p->kept - n, n, false));
    m->body += piece->body * piece->n;
    m->n_body += piece->n;
}

void sk_piece_lessons_conclude(const sk_piece_lessons *m, sk_pieces *out)
{
    out->body = m->n_body > 0 ? m->body / m->n_body : 1;
    out->speed = m->n_speed > 0 ? m->speed / m->n_speed : 0.01;
    for (int k = 0; k < SK_BRIDGES; k++) {
        const double *s = m->bridges[k];
        sk_bridge *b = &out->bridges[k];
        if (s[0] >= 20) {
            b->n = s[0];
            b->pull = s[2] > 0 ? fmin(fmax(s[1] / s[2], 0), 1.2) : 1;
            b->place = (s[3] - 2 * b->pull * s[1] + b->pull * b->pull * s[2]) / (2 * s[0]);
            b->speed = s[4] / (2 * s[0]);
            b->turn = m->turns[k] / s[0];
        } else if (k && out->bridges[k - 1].place > 0) {
            *b = out->bridges
                     [k -
                      1]; /* twice the time: twice the turn, and about three times the square of the miss */
            b->n = 0;
            b->pull *= 0.9;
            b->place *= 3;
            b->speed *= 1.5;
            b->turn = fmin(1, b->turn * 1.7);
        } else {
            *b = (sk_bridge){.pull = 1, .place = 0.02 * (1 << (2 * k)) / 4.0, .speed = 0.01, .turn = 0.05};
        }
    }
    for (int i = 0; i < SK_PIECE_SHAPES; i++)
        out->within[i] = m->n_within[i] > 20 ? m->within[i] / m->n_within[i] : 0;
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        out->looks_within[i] = m->n_looks > 20 ? m->looks_within[i] / m->n_looks : 0;
}
