/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/instance_filter.h"

#include <math.h>
#include <string.h>

enum { MOST = 1024 }; /* poses that are compared with each other; SLEAP models give no more */

bool sk_instance_filter_on(const sk_sleap_options *o)
{
    return o->min_visible_nodes > 0 || o->min_visible_node_fraction > 0 || o->min_mean_node_score > 0 ||
           o->min_instance_score > 0 || o->overlap != SK_OVERLAP_KEEP || o->min_centroid_distance > 0;
}

typedef struct extent {
    float x0, y0, x1, y1;
    int32_t count;
} extent;

static extent extent_of(const sk_keypoint *p, int32_t n)
{
    extent e = {INFINITY, INFINITY, -INFINITY, -INFINITY, 0};
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(p[i].x) || !isfinite(p[i].y))
            continue;
        e.x0 = fminf(e.x0, p[i].x);
        e.y0 = fminf(e.y0, p[i].y);
        e.x1 = fmaxf(e.x1, p[i].x);
        e.y1 = fmaxf(e.y1, p[i].y);
        e.count++;
    }
    return e;
}

float sk_pose_iou(const sk_keypoint *a, const sk_keypoint *b, int32_t n)
{
    const extent p = extent_of(a, n), q = extent_of(b, n);
    if (!p.count || !q.count)
        return 0;
    const float w = fmaxf(fminf(p.x1, q.x1) - fmaxf(p.x0, q.x0), 0);
    const float h = fmaxf(fminf(p.y1, q.y1) - fmaxf(p.y0, q.y0), 0);
    const float both = w * h;
    const float either = (p.x1 - p.x0) * (p.y1 - p.y0) + (q.x1 - q.x0) * (q.y1 - q.y0) - both;
    return either > 0 ? both / either : 0;
}

float sk_pose_oks(const sk_keypoint *a, const sk_keypoint *b, int32_t n)
{
    const float kappa = 0.1f;
    const extent e = extent_of(a, n);
    const float area = e.count < 2 ? 0 : (e.x1 - e.x0) * (e.y1 - e.y0);
    float sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; area > 0 && i < n; i++) {
        const float dx = a[i].x - b[i].x, dy = a[i].y - b[i].y;
        if (!isfinite(dx) || !isfinite(dy))
            continue;
        sum += expf(-(dx * dx + dy * dy) / (2 * area * kappa * kappa));
        count++;
    }
    return count ? sum / (float)count : 0;
}

static bool passes_alone(const sk_sleap_options *o, const sk_found *item, const sk_keypoint *p, int32_t n)
{
    float sum = 0;
    int32_t found = 0;
    for (int32_t i = 0; i < n; i++)
        if (isfinite(p[i].x) && isfinite(p[i].y)) {
            sum += p[i].score;
            found++;
        }
    if (found < o->min_visible_nodes || (float)found / (float)(n > 0 ? n : 1) < o->min_visible_node_fraction)
        return false;
    if (o->min_instance_score > 0 && !(item->score >= o->min_instance_score))
        return false;
    return !(o->min_mean_node_score > 0) || (found && sum / (float)found >= o->min_mean_node_score);
}

static bool too_close(const sk_sleap_options *o, const sk_keypoint *a, const sk_keypoint *b, int32_t n)
{
    if (o->overlap == SK_OVERLAP_IOU && sk_pose_iou(a, b, n) > o->overlap_threshold)
        return true;
    if (o->overlap == SK_OVERLAP_OKS && sk_pose_oks(a, b, n) > o->overlap_threshold)
        return true;
    const float dx = a[0].x - b[0].x, dy = a[0].y - b[0].y;
    return n == 1 && o->min_centroid_distance > 0 &&
           dx * dx + dy * dy < o->min_centroid_distance * o->min_centroid_distance;
}

/* From the best on; one that is too close to a better one that is kept goes. */
static void thin_out(const sk_sleap_options *o, const sk_instances *all, uint8_t *kept, int32_t n)
{
    uint16_t order[MOST];
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!kept[i])
            continue;
        int32_t at = count++;
        for (; at > 0 && all->items[order[at - 1]].score < all->items[i].score; at--)
            order[at] = order[at - 1];
        order[at] = (uint16_t)i;
    }
    for (int32_t i = 1; i < count; i++)
        for (int32_t k = 0; k < i && kept[order[i]]; k++)
            if (kept[order[k]] &&
                too_close(o, all->keypoints + all->items[order[i]].first_keypoint,
                          all->keypoints + all->items[order[k]].first_keypoint, all->n_keypoints))
                kept[order[i]] = 0;
}

void sk_instance_filter(const sk_sleap_options *o, sk_instances *all)
{
    uint8_t kept[MOST];
    const int32_t n = all->count < MOST ? all->count : MOST, k = all->n_keypoints;
    if (k < 1)
        return;
    for (int32_t i = 0; i < n; i++)
        kept[i] = passes_alone(o, &all->items[i], all->keypoints + all->items[i].first_keypoint, k);
    if (o->overlap != SK_OVERLAP_KEEP || o->min_centroid_distance > 0)
        thin_out(o, all, kept, n);
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t from = all->items[i].first_keypoint;
        if (!kept[i])
            continue;
        all->items[count] = all->items[i];
        all->items[count].first_keypoint = count * k;
        memmove(all->keypoints + (ptrdiff_t)count * k, all->keypoints + from,
                (size_t)k * sizeof *all->keypoints);
        count++;
    }
    all->count = count;
}
