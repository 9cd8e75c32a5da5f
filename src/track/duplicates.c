/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/order.h"
#include "track/sightings.h"

#include <math.h>
#include <stdlib.h>

/* Rule 7 of docs/tracking_offline.md: a tracklet that lies on a longer one goes, or loses what lies on it. */

typedef struct ranked {
    size_t at, length;
} ranked;

static int longest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    const int by = SK_ORDER(y->length, x->length);
    return by ? by : SK_ORDER(x->at, y->at);
}

typedef struct work {
    ranked *order;
    sk_seen_index *seen; /* of each tracklet, frames with a position */
    size_t *positions;   /* of each tracklet, sightings with a position */
    bool *gone;
    int64_t **lost; /* of each tracklet, the frames that it loses, ascending; null: none */
    size_t *n_lost;
    size_t count;
} work;

static void close_work(work *w)
{
    for (size_t i = 0; w->seen && i < w->count; i++)
        sk_seen_index_free(&w->seen[i]);
    for (size_t i = 0; w->lost && i < w->count; i++)
        sk_free(w->lost[i]);
    sk_free(w->order);
    sk_free(w->seen);
    sk_free(w->positions);
    sk_free(w->gone);
    sk_free(w->lost);
    sk_free(w->n_lost);
}

static sk_status open_work(const sk_tracklets *list, work *w, sk_error *err)
{
    const size_t n = w->count = list->count;
    w->order = sk_calloc(n, sizeof *w->order);
    w->seen = sk_calloc(n, sizeof *w->seen);
    w->positions = sk_calloc(n, sizeof *w->positions);
    w->gone = sk_calloc(n, sizeof *w->gone);
    w->lost = sk_calloc(n, sizeof *w->lost);
    w->n_lost = sk_calloc(n, sizeof *w->n_lost);
    if (!w->order || !w->seen || !w->positions || !w->gone || !w->lost || !w->n_lost)
        return sk_fail_memory(err, n * sizeof *w->order);
    for (size_t i = 0; i < n; i++) {
        w->order[i] = (ranked){i, list->items[i].count};
        for (size_t k = 0; k < list->items[i].count; k++)
            w->positions[i] += !isnan(list->items[i].items[k].x);
        SK_TRY(sk_seen_index_make(&list->items[i], SK_SEEN_LAST_VALID, &w->seen[i], err));
    }
    if (n)
        qsort(w->order, n, sizeof *w->order, longest_first);
    return SK_OK;
}

/* The frames at which b lies on a; `frames`, if given, has room for all of b's. */
static size_t agreeing_frames(const sk_seen_index *a, const sk_seen_index *b, double distance,
                              int64_t *frames)
{
    if (!a->count || !b->count || a->items[0]->frame > b->items[b->count - 1]->frame ||
        b->items[0]->frame > a->items[a->count - 1]->frame)
        return 0;
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        const sk_seen *other = sk_seen_find(a, b->items[i]->frame);
        if (!other || !(sk_seen_distance(other, b->items[i]) <= distance))
            continue;
        if (frames)
            frames[n] = other->frame;
        n++;
    }
    return n;
}

static sk_status compare(work *w, size_t a, size_t b, const sk_resolve_settings *s, sk_error *err)
{
    const size_t agreeing = agreeing_frames(&w->seen[a], &w->seen[b], s->agreement, NULL);
    const int64_t least = s->overlap < (int64_t)w->positions[b] ? s->overlap : (int64_t)w->positions[b];
    const double share = (double)agreeing / (double)w->positions[b];
    if ((int64_t)agreeing < least || share < 0.7)
        return SK_OK;
    if (share >= 0.95) {
        w->gone[b] = true;
        return SK_OK;
    }
    int64_t *frames = sk_malloc(agreeing * sizeof *frames);
    if (!frames)
        return sk_fail_memory(err, agreeing * sizeof *frames);
    sk_free(w->lost[b]);
    w->lost[b] = frames;
    w->n_lost[b] = agreeing_frames(&w->seen[a], &w->seen[b], s->agreement, frames);
    return SK_OK;
}

static int compare_frames(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return SK_ORDER(x, y);
}

static void lose(sk_tracklet *tracklet, const int64_t *frames, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < tracklet->count; i++)
        if (!bsearch(&tracklet->items[i].frame, frames, n, sizeof *frames, compare_frames))
            tracklet->items[kept++] = tracklet->items[i];
    tracklet->count = kept;
}

sk_status sk_tracklets_drop_duplicates(sk_tracklets *list, const sk_resolve_settings *s, sk_error *err)
{
    work w = {0};
    sk_status status = SK_OK;
    SK_TRY_GOTO(open_work(list, &w, err));
    for (size_t i = 0; i < w.count; i++)
        for (size_t k = i + 1; k < w.count && !w.gone[w.order[i].at]; k++) {
            const size_t b = w.order[k].at;
            if (!w.gone[b] && w.positions[b])
                SK_TRY_GOTO(compare(&w, w.order[i].at, b, s, err));
        }
    size_t kept = 0;
    for (size_t i = 0; i < w.count; i++) {
        if (w.gone[i]) {
            sk_tracklet_free(&list->items[i]);
            continue;
        }
        if (w.lost[i])
            lose(&list->items[i], w.lost[i], w.n_lost[i]);
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
done:
    close_work(&w);
    return status;
}
