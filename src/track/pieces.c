/* SPDX-License-Identifier: Apache-2.0 */
#include "track/pieces.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define RING 192 /* sightings of an open piece that are kept, for what can be learnt from it */
#define FIT  6   /* sightings that an end is fitted to */

typedef struct spot {
    int64_t frame;
    float x, y, c, s;
    bool directed;
} spot;

/* A piece that may still grow. */
typedef struct open_piece {
    int32_t piece;
    int32_t forward, backward; /* tracks of the passes, -1: none yet */
    spot ring[RING];
    int32_t kept; /* spots so far; the ring has the last of them */
    float shape_before[SK_PIECE_SHAPES], looks_before[SK_TRACK_LOOKS];
} open_piece;

/* Which open piece a pass' track is in. */
typedef struct track_map {
    int32_t *piece; /* index of the open piece, -1 */
    size_t capacity;
} track_map;

typedef struct making {
    sk_pieces *out;
    double fps, velocity_limit;
    const sk_track_settings *track;
    int32_t most;
    open_piece **open;
    size_t n_open, open_capacity;
    track_map by_forward, by_backward;
    int32_t *claims; /* of each open piece: the detection of this frame that wants it, -2: several */
    size_t claims_capacity;
    double sums[SK_BRIDGES][5]; /* n, way * predicted, predicted², way², speed change² … */
    double turns[SK_BRIDGES];
    double within[SK_PIECE_SHAPES], n_within[SK_PIECE_SHAPES];
    double looks_within[SK_TRACK_LOOKS], n_looks;
    double speed, n_speed, body, n_body;
} making;

static const spot *spot_of(const open_piece *p, int32_t index)
{
    return &p->ring[index % RING];
}

/* The line through `n` spots, as it is at the first (at_start) or the last of them. */
static sk_piece_end fit(const open_piece *p, int32_t from, int32_t n, bool at_start)
{
    const spot *tip = spot_of(p, at_start ? from : from + n - 1);
    double t = 0, x = 0, y = 0, tt = 0, tx = 0, ty = 0, c = 0, s = 0, cc = 0, ss = 0;
    int32_t directed = 0;
    for (int32_t i = from; i < from + n; i++) {
        const spot *q = spot_of(p, i);
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
static void learn(making *m, const open_piece *p, double body)
{
    const int32_t end = p->kept;
    for (int k = 0; k < SK_BRIDGES - 1; k++) {
        const int32_t gap = 1 << k;
        if (end < 2 * FIT + gap - 1 || 2 * FIT + gap - 1 > RING || (end % (gap < 8 ? 3 : 5)) != 0)
            continue;
        const int32_t a_from = end - 2 * FIT - gap + 1;
        const sk_piece_end a = fit(p, a_from, FIT, false), b = fit(p, end - FIT, FIT, true);
        const double frames = (double)(spot_of(p, end - FIT)->frame - spot_of(p, a_from + FIT - 1)->frame);
        if (frames > 1.5 * gap + 1)
            continue; /* there were real gaps in it */
        const double px = (a.vx + b.vx) / 2 * frames / body, py = (a.vy + b.vy) / 2 * frames / body;
        const double wx = (b.x - a.x) / body, wy = (b.y - a.y) / body;
        const double dx = (b.vx - a.vx) / body, dy = (b.vy - a.vy) / body;
        double *s = m->sums[k];
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

static void remember_looks(making *m, open_piece *p, const sk_detection *d)
{
    sk_piece *piece = &m->out->items[p->piece];
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

static void append(making *m, open_piece *p, int64_t frame, const sk_detection *d)
{
    sk_piece *piece = &m->out->items[p->piece];
    const double heading = d->directed ? d->heading : d->angle;
    p->ring[p->kept++ % RING] = (spot){.frame = frame,
                                       .x = (float)d->x,
                                       .y = (float)d->y,
                                       .c = (float)cos(heading),
                                       .s = (float)sin(heading),
                                       .directed = d->directed};
    piece->n++;
    piece->last = frame;
    piece->score += d->score;
    piece->body += (d->major - piece->body) / piece->n;
    remember_looks(m, p, d);
    if (d->pointed && d->points) {
        keep_points(&piece->start, d, true);
        keep_points(&piece->end, d, false);
    }
    if (p->kept == FIT)
        set_end(&piece->start, fit(p, 0, FIT, true));
    learn(m, p, piece->body);
}

static void end_open(making *m, open_piece *p)
{
    sk_piece *piece = &m->out->items[p->piece];
    const int32_t n = p->kept < FIT ? p->kept : FIT;
    if (p->kept < FIT)
        set_end(&piece->start, fit(p, 0, n, true));
    set_end(&piece->end, fit(p, p->kept - n, n, false));
    m->body += piece->body * piece->n;
    m->n_body += piece->n;
}

/* --- which piece a detection continues --- */

static int32_t map_get(const track_map *map, int32_t track)
{
    return track >= 0 && (size_t)track < map->capacity ? map->piece[track] : -1;
}

static sk_status map_set(track_map *map, int32_t track, int32_t piece, sk_error *err)
{
    if (track < 0)
        return SK_OK;
    const size_t before = map->capacity;
    SK_TRY(sk_array_reserve((void **)&map->piece, &map->capacity, (size_t)track + 1, sizeof *map->piece,
                            (size_t)1 << 31, err));
    for (size_t i = before; i < map->capacity; i++)
        map->piece[i] = -1;
    map->piece[track] = piece;
    return SK_OK;
}

/* The open piece that both passes agree on for a detection of these tracks; -1: none. */
static int32_t agreed(const making *m, int32_t forward, int32_t backward)
{
    const int32_t f = map_get(&m->by_forward, forward), b = map_get(&m->by_backward, backward);
    if (f >= 0 && b >= 0)
        return f == b ? f : -1;
    /* One pass does not say: the other decides, unless the piece has another track of that pass. */
    if (f >= 0)
        return backward < 0 || m->open[f]->backward < 0 ? f : -1;
    if (b >= 0)
        return forward < 0 || m->open[b]->forward < 0 ? b : -1;
    return -1;
}

static void claim(making *m, int32_t piece, int32_t detection)
{
    if (piece >= 0)
        m->claims[piece] = m->claims[piece] == -1 || m->claims[piece] == detection ? detection : -2;
}

static sk_status begin(making *m, int64_t frame, int32_t *at, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&m->out->items, &m->out->capacity, m->out->count + 1,
                            sizeof *m->out->items, (size_t)1 << 30, err));
    SK_TRY(sk_array_reserve((void **)&m->open, &m->open_capacity, m->n_open + 1, sizeof *m->open,
                            (size_t)1 << 30, err));
    open_piece *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    p->piece = (int32_t)m->out->count;
    p->forward = p->backward = -1;
    m->out->items[m->out->count++] = (sk_piece){.first = frame,
                                                .last = frame,
                                                .class_id = -1,
                                                .identity = -1,
                                                .next = -1,
                                                .previous = -1,
                                                .track = -1};
    *at = (int32_t)m->n_open;
    m->open[m->n_open++] = p;
    return SK_OK;
}

static bool too_fast(const making *m, const open_piece *p, int64_t frame, const sk_detection *d)
{
    const spot *last = spot_of(p, p->kept - 1);
    return m->velocity_limit > 0 &&
           hypot(d->x - last->x, d->y - last->y) > m->velocity_limit * (double)(frame - last->frame);
}

static sk_status make_frame(making *m, const sk_stored_frame *f, const int32_t *forward,
                            const int32_t *backward, int32_t *piece, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&m->claims, &m->claims_capacity, m->n_open + 1, sizeof *m->claims,
                            (size_t)1 << 30, err));
    for (size_t i = 0; i < m->n_open; i++)
        m->claims[i] = -1;
    for (int32_t i = 0; i < f->n; i++) {
        claim(m, map_get(&m->by_forward, forward[i]), i);
        claim(m, backward ? map_get(&m->by_backward, backward[i]) : -1, i);
    }
    const size_t n_before = m->n_open;
    int32_t taken = 0;
    for (int32_t i = 0; i < f->n; i++)
        taken += forward[i] >= 0 || (backward && backward[i] >= 0);
    const bool all = m->track && taken <= m->track->animals;
    for (int32_t i = 0; i < f->n; i++) {
        const int32_t of_f = forward[i], of_b = backward ? backward[i] : -1;
        piece[i] = -1;
        if (of_f < 0 && of_b < 0)
            continue;
        int32_t at = agreed(m, of_f, of_b);
        if (at >= 0 && ((size_t)at >= n_before || m->claims[at] != i ||
                        too_fast(m, m->open[at], f->frame, &f->detections[i])))
            at = -1;
        if (at < 0)
            SK_TRY(begin(m, f->frame, &at, err));
        open_piece *p = m->open[at];
        p->forward = of_f >= 0 ? of_f : p->forward;
        p->backward = of_b >= 0 ? of_b : p->backward;
        piece[i] = p->piece;
        m->out->items[p->piece].sure |= all && sk_detection_is_sure(m->track, m->most, &f->detections[i]);
        append(m, p, f->frame, &f->detections[i]);
        SK_TRY(map_set(&m->by_forward, of_f, at, err));
        SK_TRY(map_set(&m->by_backward, of_b, at, err));
    }
    return SK_OK;
}

/* Pieces that no track leads to any more are ended; the others move together. */
static sk_status sweep(making *m, bool all, sk_error *err)
{
    int32_t *to = sk_malloc((m->n_open + 1) * sizeof *to);
    if (!to)
        return sk_fail_memory(err, m->n_open * sizeof *to);
    for (size_t i = 0; i < m->n_open; i++)
        to[i] = -1;
    for (int k = 0; k < 2 && !all; k++) {
        const track_map *map = k ? &m->by_backward : &m->by_forward;
        for (size_t i = 0; i < map->capacity; i++)
            if (map->piece[i] >= 0)
                to[map->piece[i]] = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->n_open; i++) {
        if (to[i] < 0) {
            end_open(m, m->open[i]);
            sk_free(m->open[i]);
            continue;
        }
        to[i] = (int32_t)kept;
        m->open[kept++] = m->open[i];
    }
    m->n_open = kept;
    for (int k = 0; k < 2; k++) {
        track_map *map = k ? &m->by_backward : &m->by_forward;
        for (size_t i = 0; i < map->capacity; i++)
            map->piece[i] = map->piece[i] >= 0 ? to[map->piece[i]] : -1;
    }
    sk_free(to);
    return SK_OK;
}

/* Tracks not seen for long lead nowhere: their pieces can be ended. */
static void forget(making *m, int64_t frame)
{
    const double longest = 30 * m->fps;
    for (int k = 0; k < 2; k++) {
        track_map *map = k ? &m->by_backward : &m->by_forward;
        for (size_t i = 0; i < map->capacity; i++)
            if (map->piece[i] >= 0 &&
                (double)(frame - m->out->items[m->open[map->piece[i]]->piece].last) > longest)
                map->piece[i] = -1;
    }
}

static void conclude(making *m)
{
    sk_pieces *out = m->out;
    out->body = m->n_body > 0 ? m->body / m->n_body : 1;
    out->speed = m->n_speed > 0 ? m->speed / m->n_speed : 0.01;
    for (int k = 0; k < SK_BRIDGES; k++) {
        const double *s = m->sums[k];
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

sk_status sk_pieces_make(sk_seen_store *store, const int32_t *forward, const int32_t *backward, double fps,
                         double velocity_limit, const sk_track_settings *track, int32_t most, int32_t *piece,
                         sk_pieces *out, sk_error *err)
{
    *out = (sk_pieces){0};
    making m = {.out = out, .fps = fps, .velocity_limit = velocity_limit, .track = track, .most = most};
    sk_status status = SK_OK;
    const int64_t frames = sk_seen_store_frames(store);
    for (int64_t at = 0; at < frames; at++) {
        sk_stored_frame f;
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        SK_TRY_GOTO(make_frame(&m, &f, forward + f.first, backward ? backward + f.first : NULL,
                               piece + f.first, err));
        if (at % 256 == 255) {
            forget(&m, f.frame);
            SK_TRY_GOTO(sweep(&m, false, err));
        }
    }
    SK_TRY_GOTO(sweep(&m, true, err));
    conclude(&m);
done:
    for (size_t i = 0; i < m.n_open; i++)
        sk_free(m.open[i]);
    sk_free(m.open);
    sk_free(m.by_forward.piece);
    sk_free(m.by_backward.piece);
    sk_free(m.claims);
    if (status != SK_OK)
        sk_pieces_free(out);
    return status;
}

void sk_pieces_free(sk_pieces *pieces)
{
    sk_free(pieces->items);
    *pieces = (sk_pieces){0};
}
