/* SPDX-License-Identifier: Apache-2.0 */
#include "track/extent.h"

#include <math.h>

#define LOW  0.6      /* score: where the usual one is lower, no animal would ever begin a track */
#define MOST 1000000u /* poses; then all counts are halved, so that the last ones always say something */

static int bin_of(double length)
{
    const double at = log2(length) * SK_EXTENT_STEPS;
    return at < 0 ? 0 : at >= SK_EXTENT_BINS ? SK_EXTENT_BINS - 1 : (int)at;
}

static double median_of(const uint32_t *bins, uint32_t n)
{
    uint32_t sum = 0;
    int k = 0;
    while (k < SK_EXTENT_BINS - 1 && 2 * (uint64_t)(sum + bins[k]) < n)
        sum += bins[k++];
    return exp2((k + 0.5) / SK_EXTENT_STEPS);
}

static int32_t points_found(const sk_detection *d)
{
    int32_t n = 0;
    for (int32_t i = 0; i < d->n_points; i++)
        n += isfinite(d->points[i].x) && isfinite(d->points[i].y);
    return n;
}

static void count(sk_extents *e, const sk_detection *d)
{
    if (points_found(d) < 2)
        return; /* a point has no size */
    e->major[bin_of(d->major)]++;
    e->minor[bin_of(d->minor)]++;
    if (++e->n < MOST)
        return;
    e->n = 0;
    for (int k = 0; k < SK_EXTENT_BINS; k++) {
        e->major[k] /= 2;
        e->minor[k] /= 2;
        e->n += e->major[k];
    }
}

void sk_extents_even(sk_extents *e, sk_detection *detections, int32_t n)
{
    int32_t poses = 0;
    for (int32_t i = 0; i < n; i++)
        if (detections[i].pointed) {
            count(e, &detections[i]);
            e->scored += e->scored < MOST;
            e->score += (detections[i].score - e->score) / e->scored;
            poses++;
        }
    for (int32_t i = 0; i < n; i++)
        if (detections[i].pointed && e->score > 0 && e->score < LOW)
            detections[i].score = fmax(detections[i].score, fmin(detections[i].score / e->score, 1));
    if (!poses || !e->n)
        return;
    const double major = median_of(e->major, e->n), minor = fmin(median_of(e->minor, e->n), major);
    for (int32_t i = 0; i < n; i++)
        if (detections[i].pointed) {
            detections[i].major = major;
            detections[i].minor = minor;
            sk_detection_set_box(&detections[i]);
        }
}
