/* SPDX-License-Identifier: Apache-2.0 */
#include "track/gaps.h"

#include "base/memory.h"
#include "base/order.h"
#include "track/sightings.h"
#include "track/spline.h"

#include <math.h>
#include <stdlib.h>

#define SIDE 16 /* positions on each side of a gap that bend it */
#define RING (2 * SIDE + 2)

typedef struct knot {
    double frame, x, y;
    ptrdiff_t gap; /* that begins here, -1: none */
} knot;

typedef struct sk_gap_track {
    int64_t at; /* of the last sighting; -1: none yet */
    sk_sighting seen;
    knot *ring; /* null: straight */
    int64_t n;  /* sightings so far; the ring has the last of them */
} gap_track;

sk_status sk_gaps_open(sk_gaps *gaps, int32_t tracks, int64_t longest, bool curved, sk_error *err)
{
    *gaps = (sk_gaps){.longest = longest, .n_tracks = tracks};
    const size_t n = (size_t)tracks + 1;
    gaps->tracks = sk_calloc(n, sizeof *gaps->tracks);
    knot *rings = curved ? sk_calloc(n * RING, sizeof *rings) : NULL;
    if (!gaps->tracks || (curved && !rings)) {
        sk_free(rings);
        sk_gaps_free(gaps);
        return sk_fail_memory(err, n * (sizeof *gaps->tracks + (curved ? RING * sizeof *rings : 0)));
    }
    for (size_t i = 0; i < n; i++) {
        gaps->tracks[i].at = -1;
        gaps->tracks[i].ring = rings ? rings + i * RING : NULL;
    }
    return SK_OK;
}

void sk_gaps_free(sk_gaps *gaps)
{
    if (gaps->tracks)
        sk_free(gaps->tracks[0].ring);
    sk_free(gaps->tracks);
    sk_free(gaps->items);
    *gaps = (sk_gaps){0};
}

/* The knot that a gap begins at is `middle`: as many behind it as there are by now, or are looked at. */
static void bend(sk_gaps *gaps, const gap_track *t, int64_t middle)
{
    const ptrdiff_t at = t->ring[middle % RING].gap;
    const int64_t from = middle >= SIDE ? middle - SIDE + 1 : 0,
                  to = middle + SIDE < t->n ? middle + SIDE : t->n - 1;
    const size_t n = (size_t)(to - from + 1), k = (size_t)(middle - from);
    double frame[RING], value[RING], bends[RING], work[RING];
    if (at < 0 || n < 4)
        return;
    for (int axis = 0; axis < 2; axis++) {
        for (size_t i = 0; i < n; i++) {
            const knot *q = &t->ring[(from + (int64_t)i) % RING];
            frame[i] = q->frame;
            value[i] = axis ? q->y : q->x;
        }
        sk_spline_bends(frame, value, n, bends, work);
        gaps->items[at].bend_before[axis] = bends[k];
        gaps->items[at].bend_after[axis] = bends[k + 1];
    }
}

sk_status sk_gaps_add(sk_gaps *gaps, int64_t at, const sk_sighting *seen, sk_error *err)
{
    gap_track *t = &gaps->tracks[seen->track];
    if (t->at >= 0 && at - t->at > 1 && at - t->at - 1 <= gaps->longest) {
        SK_TRY(sk_array_reserve((void **)&gaps->items, &gaps->capacity, gaps->count + 1, sizeof *gaps->items,
                                SK_TRACKLET_LIMIT, err));
        if (t->ring)
            t->ring[(t->n - 1) % RING].gap = (ptrdiff_t)gaps->count;
        gaps->items[gaps->count++] = (sk_gap){.from = t->at, .to = at, .before = t->seen, .after = *seen};
    }
    t->at = at;
    t->seen = *seen;
    t->n++;
    if (t->ring) {
        t->ring[(t->n - 1) % RING] = (knot){(double)seen->frame, seen->x, seen->y, -1};
        if (t->n > SIDE)
            bend(gaps, t, t->n - 1 - SIDE);
    }
    return SK_OK;
}

static int by_end(const void *a, const void *b)
{
    const sk_gap *x = a, *y = b;
    const int by = SK_ORDER(x->to, y->to);
    return by ? by : SK_ORDER(x->before.track, y->before.track);
}

void sk_gaps_finish(sk_gaps *gaps)
{
    for (int32_t i = 0; i < gaps->n_tracks; i++) {
        const gap_track *t = &gaps->tracks[i];
        for (int64_t k = t->n > SIDE ? t->n - SIDE : 0; t->ring && k < t->n; k++)
            bend(gaps, t, k);
    }
    if (gaps->count)
        qsort(gaps->items, gaps->count, sizeof *gaps->items, by_end);
    if (gaps->tracks)
        sk_free(gaps->tracks[0].ring);
    sk_free(gaps->tracks);
    gaps->tracks = NULL;
}

size_t sk_gaps_behind(const sk_gaps *gaps, int64_t at)
{
    size_t low = 0, high = gaps->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (gaps->items[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double between_angles(double a, double b, double part, double turns)
{
    const double s = (1 - part) * sin(turns * a) + part * sin(turns * b),
                 c = (1 - part) * cos(turns * a) + part * cos(turns * b);
    double angle = atan2(s, c) / turns;
    const double whole = 2 * M_PI / turns;
    return angle < 0 ? angle + whole : angle;
}

static sk_told_box between_boxes(const sk_told_box *a, const sk_told_box *b, double part)
{
    sk_told_box box;
    for (int i = 0; i < 4; i++) {
        box.upright[i] = a->upright[i] + part * (b->upright[i] - a->upright[i]);
        box.turned[i] = a->turned[i] + part * (b->turned[i] - a->turned[i]);
    }
    box.turned[4] = between_angles(a->turned[4], b->turned[4], part, 2);
    return box;
}

sk_sighting sk_gap_at(const sk_gap *g, int64_t frame)
{
    const sk_sighting *a = &g->before, *b = &g->after;
    const double from = (double)a->frame, to = (double)b->frame, at = (double)frame,
                 part = (at - from) / (to - from);
    double place[2] = {a->x + part * (b->x - a->x), a->y + part * (b->y - a->y)};
    for (int axis = 0; axis < 2; axis++)
        if (g->bend_before[axis] != 0 || g->bend_after[axis] != 0)
            place[axis] = sk_spline_between(from, to, axis ? a->y : a->x, axis ? b->y : b->x,
                                            g->bend_before[axis], g->bend_after[axis], at);
    return (sk_sighting){.frame = frame,
                         .track = a->track,
                         .place = a->track,
                         .detection = -1,
                         .state = SK_TRACK_COVERED,
                         .x = place[0],
                         .y = place[1],
                         .heading = between_angles(a->heading, b->heading, part, 1),
                         .major = a->major + part * (b->major - a->major),
                         .minor = a->minor + part * (b->minor - a->minor),
                         .angle = between_angles(a->angle, b->angle, part, 2),
                         .score = NAN,
                         .certainty = fmin(a->certainty, b->certainty),
                         .uncertainty = fmax(a->uncertainty, b->uncertainty),
                         .box = between_boxes(&a->box, &b->box, part),
                         .class_id = a->class_id};
}
