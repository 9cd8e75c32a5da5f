/* SPDX-License-Identifier: Apache-2.0 */
#include "track/sightings.h"

#include "base/memory.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sk_status sk_tracklet_append(sk_tracklet *tracklet, const sk_seen *seen, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&tracklet->items, &tracklet->capacity, tracklet->count + 1,
                            sizeof *tracklet->items, SK_TRACKLET_LIMIT, err));
    tracklet->items[tracklet->count++] = *seen;
    tracklet->columns |= seen->columns;
    return SK_OK;
}

sk_status sk_tracklet_append_all(sk_tracklet *tracklet, const sk_tracklet *more, sk_error *err)
{
    if (!more->count)
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&tracklet->items, &tracklet->capacity, tracklet->count + more->count,
                            sizeof *tracklet->items, SK_TRACKLET_LIMIT, err));
    memcpy(tracklet->items + tracklet->count, more->items, more->count * sizeof *more->items);
    tracklet->count += more->count;
    tracklet->columns |= more->columns;
    return SK_OK;
}

void sk_tracklet_free(sk_tracklet *tracklet)
{
    sk_free(tracklet->items);
    *tracklet = (sk_tracklet){0};
}

sk_status sk_tracklets_take(sk_tracklets *list, sk_tracklet *tracklet, sk_error *err)
{
    sk_status status = sk_array_reserve((void **)&list->items, &list->capacity, list->count + 1,
                                        sizeof *list->items, SK_TRACKLET_LIMIT, err);
    if (status != SK_OK) {
        sk_tracklet_free(tracklet);
        return status;
    }
    list->items[list->count++] = *tracklet;
    *tracklet = (sk_tracklet){0};
    return SK_OK;
}

sk_status sk_tracklets_copy(sk_tracklets *list, const sk_tracklet *tracklet, sk_error *err)
{
    sk_tracklet copy = {.id = tracklet->id, .columns = tracklet->columns};
    sk_status status = sk_tracklet_append_all(&copy, tracklet, err);
    if (status != SK_OK) {
        sk_tracklet_free(&copy);
        return status;
    }
    return sk_tracklets_take(list, &copy, err);
}

void sk_tracklets_free(sk_tracklets *list)
{
    for (size_t i = 0; i < list->count; i++)
        sk_tracklet_free(&list->items[i]);
    sk_free(list->items);
    *list = (sk_tracklets){0};
}

static int by_frame(const void *a, const void *b)
{
    const sk_seen *x = *(const sk_seen *const *)a, *y = *(const sk_seen *const *)b;
    const int by = SK_ORDER(x->frame, y->frame);
    return by ? by : SK_ORDER(x, y); /* as they lie in the tracklet: qsort alone keeps no order */
}

sk_status sk_seen_index_make(const sk_tracklet *tracklet, sk_seen_pick pick, sk_seen_index *out,
                             sk_error *err)
{
    *out = (sk_seen_index){.columns = tracklet->columns};
    const sk_seen **items = sk_calloc(tracklet->count, sizeof *items);
    if (!items)
        return sk_fail_memory(err, tracklet->count * sizeof *items);
    size_t n = 0;
    bool sorted = true;
    for (size_t i = 0; i < tracklet->count; i++) {
        if (pick == SK_SEEN_LAST_VALID && isnan(tracklet->items[i].x))
            continue;
        items[n++] = &tracklet->items[i];
        sorted = sorted && (n < 2 || items[n - 2]->frame <= items[n - 1]->frame);
    }
    if (!sorted)
        qsort(items, n, sizeof *items, by_frame);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!kept || items[kept - 1]->frame != items[i]->frame)
            items[kept++] = items[i];
        else if (pick != SK_SEEN_FIRST)
            items[kept - 1] = items[i];
    }
    out->items = items;
    out->count = kept;
    return SK_OK;
}

void sk_seen_index_free(sk_seen_index *index)
{
    sk_free(index->items);
    *index = (sk_seen_index){0};
}

const sk_seen *sk_seen_find(const sk_seen_index *index, int64_t frame)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->items[middle]->frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && index->items[low]->frame == frame ? index->items[low] : NULL;
}

double sk_seen_distance(const sk_seen *a, const sk_seen *b)
{
    const double dx = a->x - b->x, dy = a->y - b->y;
    return sqrt(dx * dx + dy * dy);
}

bool sk_seen_same_detection(const sk_seen *a, const sk_seen *b)
{
    return a->detection != SK_SEEN_NO_DETECTION && a->detection == b->detection;
}

/* a modulo 2 pi, in 0..2 pi as Python's % gives it. */
static double around(double angle)
{
    const double turn = 2 * M_PI;
    double rest = fmod(angle, turn);
    if (rest < 0)
        rest += turn;
    return rest;
}

static double turn_between(double to, double from)
{
    return atan2(sin(to - from), cos(to - from));
}

/* Rule 5: which end of the axis is the head may differ between the two. */
static double mean_heading(double a, double b)
{
    a = around(a);
    b = around(b);
    const double other = around(b + M_PI);
    if (fabs(turn_between(other, a)) + 1e-12 < fabs(turn_between(b, a)))
        b = other;
    return around(a + 0.5 * turn_between(b, a));
}

static double one_of(double a, double b, bool larger)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    return larger ? (b > a ? b : a) : (b < a ? b : a);
}

sk_seen sk_seen_average(const sk_seen *a, uint32_t a_columns, const sk_seen *b, uint32_t b_columns)
{
    sk_seen mean = *a;
    mean.columns = a_columns;
    if (isnan(a->x)) {
        mean.x = b->x;
        mean.y = b->y;
    } else if (!isnan(b->x)) {
        mean.x = (a->x + b->x) / 2;
        mean.y = (a->y + b->y) / 2;
    }
    if (isnan(a->heading))
        mean.heading = b->heading;
    else if (!isnan(b->heading))
        mean.heading = mean_heading(a->heading, b->heading);
    const uint32_t both = a_columns & b_columns;
    if (both & SK_SEEN_SCORE)
        mean.score = one_of(a->score, b->score, true);
    if (both & SK_SEEN_CERTAINTY)
        mean.certainty = one_of(a->certainty, b->certainty, true);
    if (both & SK_SEEN_UNCERTAINTY)
        mean.uncertainty = one_of(a->uncertainty, b->uncertainty, false);
    if (b->state == SK_SEEN_ACTIVE)
        mean.state = SK_SEEN_ACTIVE;
    return mean;
}

static bool hidden(const sk_seen *seen)
{
    return seen->state == SK_SEEN_COVERED || seen->state == SK_SEEN_LOST;
}

void sk_tracklet_trim(sk_tracklet *tracklet)
{
    size_t first = 0, end = tracklet->count;
    while (first < end && hidden(&tracklet->items[first]))
        first++;
    while (end > first && hidden(&tracklet->items[end - 1]))
        end--;
    if (first)
        memmove(tracklet->items, tracklet->items + first, (end - first) * sizeof *tracklet->items);
    tracklet->count = end - first;
}

void sk_tracklets_trim(sk_tracklets *list, int64_t shortest)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        sk_tracklet_trim(&list->items[i]);
        if (list->items[i].count && (int64_t)list->items[i].count >= shortest)
            list->items[kept++] = list->items[i];
        else
            sk_tracklet_free(&list->items[i]);
    }
    list->count = kept;
}
