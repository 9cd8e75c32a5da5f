/* SPDX-License-Identifier: Apache-2.0 */
#include "track/filter.h"

#include "tasks/overlap.h"

#include <math.h>

/* Is it a box at all? */
static bool sound(const sk_detection *d)
{
    return isfinite(d->x) && isfinite(d->y) && isfinite(d->major) && isfinite(d->minor) &&
           isfinite(d->angle) && isfinite(d->score) && d->minor > 0 && d->major >= d->minor;
}

static bool between(double value, double least, double most)
{
    return (least <= 0 || value >= least) && (most <= 0 || value <= most);
}

static bool passes(const sk_track_filter *f, const sk_detection *d)
{
    return sound(d) && d->score >= f->score && between(d->major * d->minor, f->area_least, f->area_most) &&
           between(d->major / d->minor, f->aspect_least, f->aspect_most) &&
           (!f->region || sk_region_holds(f->region, d->x, d->y));
}

static double overlap(const sk_detection *a, const sk_detection *b)
{
    const double reach = (hypot(a->major, a->minor) + hypot(b->major, b->minor)) / 2;
    if (fabs(a->x - b->x) >= reach || fabs(a->y - b->y) >= reach)
        return 0;
    const double p[5] = {a->x, a->y, a->major, a->minor, a->angle};
    const double q[5] = {b->x, b->y, b->major, b->minor, b->angle};
    return sk_overlap_oriented(p, q, false);
}

/* Sorts indices so that `before` holds along them: a heap, as it needs no memory and no luck. */
typedef bool (*before_fn)(const sk_detection *all, int32_t a, int32_t b);

static void sift(const sk_detection *all, int32_t *heap, int32_t n, int32_t at, before_fn before)
{
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= n)
            return;
        if (child + 1 < n && before(all, heap[child], heap[child + 1]))
            child++;
        if (!before(all, heap[at], heap[child]))
            return;
        const int32_t t = heap[at];
        heap[at] = heap[child];
        heap[child] = t;
        at = child;
    }
}

static void sort(const sk_detection *all, int32_t *list, int32_t n, before_fn before)
{
    for (int32_t i = n / 2 - 1; i >= 0; i--)
        sift(all, list, n, i, before);
    for (int32_t last = n - 1; last > 0; last--) {
        const int32_t t = list[0];
        list[0] = list[last];
        list[last] = t;
        sift(all, list, last, 0, before);
    }
}

static bool better(const sk_detection *all, int32_t a, int32_t b)
{
    return all[a].score != all[b].score ? all[a].score > all[b].score : a < b;
}

static bool larger(const sk_detection *all, int32_t a, int32_t b)
{
    const double p = all[a].major * all[a].minor, q = all[b].major * all[b].minor;
    return p != q ? p > q : a < b;
}

static bool earlier(const sk_detection *all, int32_t a, int32_t b)
{
    (void)all;
    return a < b;
}

static int32_t suppress(const sk_detection *all, int32_t *kept, int32_t n, double most)
{
    sort(all, kept, n, better);
    int32_t left = 0;
    for (int32_t i = 0; i < n; i++) {
        bool covered = false;
        for (int32_t j = 0; j < left && !covered; j++)
            covered = overlap(&all[kept[i]], &all[kept[j]]) > most;
        if (!covered)
            kept[left++] = kept[i];
    }
    sort(all, kept, left, earlier);
    return left;
}

int32_t sk_track_filter_apply(const sk_track_filter *filter, const sk_detection *detections, int32_t n,
                              int32_t *kept)
{
    int32_t left = 0;
    for (int32_t i = 0; i < n; i++)
        if (passes(filter, &detections[i]))
            kept[left++] = i;
    if (filter->overlap < 1)
        left = suppress(detections, kept, left, filter->overlap);
    if (filter->most > 0 && left > filter->most) {
        sort(detections, kept, left, larger);
        left = filter->most;
        sort(detections, kept, left, earlier);
    }
    return left;
}
