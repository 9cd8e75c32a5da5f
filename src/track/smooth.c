/* SPDX-License-Identifier: Apache-2.0 */
#include "track/smooth.h"

#include "base/memory.h"
#include "track/headings.h"

#include <math.h>

#define WINDOW 64 /* sightings of a track that are looked at, most */

typedef struct spot {
    int64_t frame, detection; /* detection: among all of the video */
    double x, y, heading;     /* the heading goes on beyond 2 pi */
} spot;

/* The last sightings of one track; `next` is the first one that is not smoothed yet. */
typedef struct strip {
    spot items[WINDOW];
    int32_t count, next;
} strip;

void sk_smoothed_apply(const sk_smoothed *smoothed, sk_sighting *s)
{
    s->x += smoothed->dx;
    s->y += smoothed->dy;
    s->heading = fmod(s->heading + smoothed->turn + 4 * M_PI, 2 * M_PI);
}

/* The parabola's value at `at`: least squares in time around it. */
static double parabola(const strip *s, int32_t from, int32_t to, int32_t at, const double *values)
{
    double m[5] = {0}, r[3] = {0};
    for (int32_t i = from; i < to; i++) {
        const double t = (double)(s->items[i].frame - s->items[at].frame);
        double power = 1;
        for (int k = 0; k < 5; k++, power *= t) {
            m[k] += power;
            if (k < 3)
                r[k] += power * values[i];
        }
    }
    const double c0 = m[2] * m[4] - m[3] * m[3], c1 = m[1] * m[4] - m[2] * m[3],
                 c2 = m[1] * m[3] - m[2] * m[2];
    const double whole = m[0] * c0 - m[1] * c1 + m[2] * c2;
    if (to - from < 4 || !(fabs(whole) > 1e-9))
        return values[at];
    return (r[0] * c0 - m[1] * (r[1] * m[4] - m[3] * r[2]) + m[2] * (r[1] * m[3] - m[2] * r[2])) / whole;
}

static void smooth_one(const strip *s, int32_t at, double half, sk_smoothed *out)
{
    int32_t from = at, to = at + 1;
    while (from > 0 && (double)(s->items[at].frame - s->items[from - 1].frame) <= half)
        from--;
    while (to < s->count && (double)(s->items[to].frame - s->items[at].frame) <= half)
        to++;
    double x[WINDOW], y[WINDOW], heading[WINDOW];
    for (int32_t i = from; i < to; i++) {
        x[i] = s->items[i].x;
        y[i] = s->items[i].y;
        heading[i] = s->items[i].heading;
    }
    *out = (sk_smoothed){(float)(parabola(s, from, to, at, x) - s->items[at].x),
                         (float)(parabola(s, from, to, at, y) - s->items[at].y),
                         (float)(parabola(s, from, to, at, heading) - s->items[at].heading)};
}

/* Smooths what has its whole window (or all that is left of the track) and forgets what nobody needs any more. */
static void advance(strip *s, double half, bool end, sk_smoothed *out)
{
    while (s->next < s->count && (end || s->count == WINDOW ||
                                  (double)(s->items[s->count - 1].frame - s->items[s->next].frame) > half)) {
        smooth_one(s, s->next, half, &out[s->items[s->next].detection]);
        s->next++;
        if (s->count == WINDOW)
            break;
    }
    int32_t gone = 0;
    while (gone < s->next &&
           (s->count - gone == WINDOW ||
            (s->next < s->count && (double)(s->items[s->next].frame - s->items[gone].frame) > half)))
        gone++;
    for (int32_t i = gone; i < s->count; i++)
        s->items[i - gone] = s->items[i];
    s->count -= gone;
    s->next -= gone;
}

sk_status sk_smooth(sk_seen_store *store, const int32_t *track, const uint8_t *turned, int32_t tracks,
                    double frames, sk_smoothed **out, sk_error *err)
{
    const double half = fmin(frames / 2, WINDOW / 2 - 1);
    strip *strips = sk_calloc((size_t)tracks + 1, sizeof *strips);
    if (!strips)
        return sk_fail_memory(err, (size_t)tracks * sizeof *strips);
    sk_status status = SK_OK;
    *out = sk_seen_store_column(store, sizeof **out, err);
    if (!*out) {
        status = err ? err->code : SK_ERR_MEMORY;
        goto done;
    }
    const int64_t n = sk_seen_store_frames(store);
    for (int64_t at = 0; at < n; at++) {
        sk_stored_frame f;
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++) {
            const int64_t d = f.first + i;
            if (track[d] < 0)
                continue;
            strip *s = &strips[track[d]];
            spot now = {f.frame, d, f.detections[i].x, f.detections[i].y,
                        sk_heading_of(&f.detections[i], turned[d])};
            if (s->count) {
                const double before = s->items[s->count - 1].heading;
                now.heading += 2 * M_PI * round((before - now.heading) / (2 * M_PI));
            }
            s->items[s->count++] = now;
            advance(s, half, false, *out);
        }
    }
    for (int32_t i = 0; i < tracks; i++)
        advance(&strips[i], half, true, *out);
done:
    sk_free(strips);
    return status;
}
