/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/order.h"
#include "track/sightings.h"

#include <math.h>
#include <stdlib.h>

/* Rule 9 of docs/tracking_offline.md: a tracklet that begins where and when another ended continues it. */

#define ENDPOINT 3 /* sightings that a velocity is taken from */

typedef struct end_point {
    double x, y, vx, vy, speed, heading;
    int64_t frame;
} end_point;

typedef struct ends {
    size_t at; /* in the list */
    end_point first, last;
} ends;

typedef struct place {
    int64_t frame;
    size_t tracklet;
    double x, y;
} place;

typedef struct round_work {
    const sk_resolve_settings *settings;
    double near; /* 2 D */
    ends *order; /* by first frame */
    size_t count;
    place *places; /* all positions, by frame */
    size_t n_places;
    size_t *seen_by, stamp; /* of each tracklet: the question it was counted for */
    ptrdiff_t *best_before; /* of each place in the order, the place of its best predecessor, or -1 */
    bool *used;
} round_work;

static int by_first_frame(const void *a, const void *b)
{
    const ends *x = a, *y = b;
    const int by = SK_ORDER(x->first.frame, y->first.frame);
    return by ? by : SK_ORDER(x->at, y->at);
}

static int by_frame(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const int by = SK_ORDER(x->frame, y->frame);
    return by ? by : SK_ORDER(x->tracklet, y->tracklet);
}

static end_point describe_end(const sk_tracklet *t, bool at_start)
{
    const sk_seen *tip = at_start ? &t->items[0] : &t->items[t->count - 1];
    end_point e = {.x = tip->x, .y = tip->y, .frame = tip->frame};
    const sk_seen *window[ENDPOINT];
    int n = 0;
    for (size_t i = 0; i < t->count && n < ENDPOINT; i++) {
        const sk_seen *seen = &t->items[at_start ? i : t->count - 1 - i];
        if (!isnan(seen->x) && !isnan(seen->y))
            window[n++] = seen;
    }
    if (!n)
        return e;
    e.heading = isfinite(window[0]->heading) ? window[0]->heading : 0;
    if (n < 2)
        return e;
    const sk_seen *from = at_start ? window[0] : window[n - 1], *to = at_start ? window[n - 1] : window[0];
    const double frames = to->frame - from->frame > 1 ? (double)(to->frame - from->frame) : 1;
    e.vx = (to->x - from->x) / frames;
    e.vy = (to->y - from->y) / frames;
    e.speed = hypot(e.vx, e.vy);
    return e;
}

static void close_round(round_work *w)
{
    sk_free(w->order);
    sk_free(w->places);
    sk_free(w->seen_by);
    sk_free(w->best_before);
    sk_free(w->used);
}

static sk_status open_round(const sk_tracklets *list, round_work *w, sk_error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < list->count; i++)
        total += list->items[i].count;
    const size_t n = list->count;
    w->order = sk_calloc(n, sizeof *w->order);
    w->places = sk_calloc(total, sizeof *w->places);
    w->seen_by = sk_calloc(n, sizeof *w->seen_by);
    w->best_before = sk_calloc(n, sizeof *w->best_before);
    w->used = sk_calloc(n, sizeof *w->used);
    if (!w->order || !w->places || !w->seen_by || !w->best_before || !w->used)
        return sk_fail_memory(err, total * sizeof *w->places);
    for (size_t i = 0; i < n; i++) {
        const sk_tracklet *t = &list->items[i];
        if (t->count)
            w->order[w->count++] =
                (ends){.at = i, .first = describe_end(t, true), .last = describe_end(t, false)};
        for (size_t k = 0; k < t->count; k++)
            if (!isnan(t->items[k].x) && !isnan(t->items[k].y))
                w->places[w->n_places++] = (place){t->items[k].frame, i, t->items[k].x, t->items[k].y};
    }
    if (w->count)
        qsort(w->order, w->count, sizeof *w->order, by_first_frame);
    if (w->n_places)
        qsort(w->places, w->n_places, sizeof *w->places, by_frame);
    return SK_OK;
}

/* How many other tracklets come within 10 D of the middle of the gap, while it lasts. */
static int count_neighbours(round_work *w, const ends *a, const ends *b)
{
    const double x = 0.5 * (a->last.x + b->first.x), y = 0.5 * (a->last.y + b->first.y);
    const double radius = w->near * 5;
    size_t low = 0, high = w->n_places;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->places[middle].frame < a->last.frame)
            low = middle + 1;
        else
            high = middle;
    }
    int found = 0;
    w->stamp++;
    for (size_t i = low; i < w->n_places && w->places[i].frame <= b->first.frame; i++) {
        const place *p = &w->places[i];
        if (p->tracklet == a->at || p->tracklet == b->at || w->seen_by[p->tracklet] == w->stamp)
            continue;
        const double dx = p->x - x, dy = p->y - y;
        if (dx * dx + dy * dy <= radius * radius) {
            w->seen_by[p->tracklet] = w->stamp;
            found++;
        }
    }
    return found;
}

/* Lower is better; NaN: b does not continue a. An end without a position makes it NaN by itself. */
static double score(round_work *w, const ends *a, const ends *b)
{
    const sk_resolve_settings *s = w->settings;
    const int64_t gap = b->first.frame - a->last.frame;
    if (gap < 1 || gap > s->stitch_gap)
        return NAN;
    const double frames = (double)gap;
    const double way = hypot(b->first.x - a->last.x, b->first.y - a->last.y);
    const double farthest = fmax(w->near * 2, s->velocity_limit * fmin(frames, 4));
    if (way > farthest)
        return NAN;
    const double miss =
        hypot(a->last.x + a->last.vx * frames - b->first.x, a->last.y + a->last.vy * frames - b->first.y);
    const double bound = count_neighbours(w, a, b) >= 2 ? w->near * s->density_tighten : w->near;
    if (miss > bound)
        return NAN;
    double turn = 0;
    if (a->last.speed > 1e-3 && b->first.speed > 1e-3) {
        turn = fabs(a->last.heading - b->first.heading);
        if (turn > M_PI)
            turn = 2 * M_PI - turn;
        turn = fmax(0, turn);
        if (turn > s->heading_gate)
            return NAN;
    }
    return miss / fmax(bound, 1e-6) + 0.25 * (frames / fmax((double)s->stitch_gap, 1)) + 0.35 * (turn / M_PI);
}

static sk_status find_predecessors(round_work *w, sk_error *err)
{
    double *best = sk_calloc(w->count, sizeof *best);
    if (!best)
        return sk_fail_memory(err, w->count * sizeof *best);
    for (size_t i = 0; i < w->count; i++)
        w->best_before[i] = -1;
    for (size_t i = 0; i < w->count; i++)
        for (size_t k = i + 1; k < w->count; k++) {
            if (w->order[k].first.frame - w->order[i].last.frame > w->settings->stitch_gap)
                break;
            const double value = score(w, &w->order[i], &w->order[k]);
            if (!isnan(value) && (w->best_before[k] < 0 || value < best[k])) {
                best[k] = value;
                w->best_before[k] = (ptrdiff_t)i;
            }
        }
    sk_free(best);
    return SK_OK;
}

/* The tracklet's successor (place in the order), or -1. */
static ptrdiff_t find_successor(round_work *w, size_t i)
{
    ptrdiff_t best = -1;
    double best_score = INFINITY, second = INFINITY;
    for (size_t k = i + 1; k < w->count; k++) {
        if (w->used[k])
            continue;
        if (w->order[k].first.frame - w->order[i].last.frame > w->settings->stitch_gap)
            break;
        const double value = score(w, &w->order[i], &w->order[k]);
        if (isnan(value))
            continue;
        if (value < best_score) {
            second = best_score;
            best_score = value;
            best = (ptrdiff_t)k;
        } else if (value < second) {
            second = value;
        }
    }
    if (best < 0 || (isfinite(second) && best_score / fmax(second, 1e-6) > w->settings->stitch_margin))
        return -1;
    return w->best_before[best] == (ptrdiff_t)i ? best : -1;
}

static sk_status stitch_round(sk_tracklets *list, const sk_resolve_settings *s, bool *any, sk_error *err)
{
    round_work w = {.settings = s, .near = s->agreement * 2};
    sk_tracklets out = {0};
    sk_status status = SK_OK;
    SK_TRY_GOTO(open_round(list, &w, err));
    SK_TRY_GOTO(find_predecessors(&w, err));
    for (size_t i = 0; i < w.count; i++) {
        if (w.used[i])
            continue;
        w.used[i] = true;
        sk_tracklet *t = &list->items[w.order[i].at];
        const ptrdiff_t next = find_successor(&w, i);
        if (next >= 0) {
            w.used[next] = *any = true;
            SK_TRY_GOTO(sk_tracklet_append_all(t, &list->items[w.order[next].at], err));
        }
        SK_TRY_GOTO(sk_tracklets_take(&out, t, err));
    }
    sk_tracklets_free(list);
    *list = out;
    out = (sk_tracklets){0};
done:
    sk_tracklets_free(&out);
    close_round(&w);
    return status;
}

sk_status sk_tracklets_stitch_near(sk_tracklets *list, const sk_resolve_settings *s, sk_error *err)
{
    bool any = true;
    for (int round = 0; round < 20 && any && list->count; round++) {
        any = false;
        SK_TRY(stitch_round(list, s, &any, err));
    }
    return SK_OK;
}
