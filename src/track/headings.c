/* SPDX-License-Identifier: Apache-2.0 */
#include "track/headings.h"

#include "base/memory.h"

#include <math.h>

/* For every track two answers are followed at once: this sighting is as it says, or turned by pi. Each pays for turning away from
 * the sighting before, for contradicting the pose, and for going backward. bits 0 and 1 of a detection: which answer of the
 * sighting before led here. */

typedef struct follower {
    bool begun;
    double cost[2];
    double heading; /* as it says */
    double x, y, vx, vy;
    int64_t frame;
    int8_t state; /* on the way back */
} follower;

double sk_heading_of(const sk_detection *d, bool turned)
{
    double heading = (d->directed ? d->heading : d->angle) + (turned ? M_PI : 0);
    heading = fmod(heading, 2 * M_PI);
    return heading < 0 ? heading + 2 * M_PI : heading;
}

static void follow(follower *f, const sk_detection *d, int64_t frame, double burst, uint8_t *bits)
{
    const double heading = d->directed ? d->heading : d->angle;
    double cost[2] = {0, d->directed ? 2 : 0}; /* a pose says which end it is */
    *bits = 0;
    if (f->begun) {
        const double frames = (double)(frame - f->frame), keep = pow(0.7, frames);
        f->vx = keep * f->vx + (1 - keep) * (d->x - f->x) / frames;
        f->vy = keep * f->vy + (1 - keep) * (d->y - f->y) / frames;
        const double speed = hypot(f->vx, f->vy) / d->major;
        if (speed > 1e-6) {
            const double forward = (f->vx * cos(heading) + f->vy * sin(heading)) / (speed * d->major);
            const double weight = 0.4 * fmin(1, speed / 0.05);
            cost[0] += weight * (1 - forward);
            cost[1] += weight * (1 + forward);
        }
        /* Turning by pi costs as much as contradicting the pose for half of the longest burst, going and coming back. */
        const double same = (1 - cos(heading - f->heading)) / 2 * (burst + 0.5);
        const double other = burst + 0.5 - same;
        for (int k = 0; k < 2; k++) {
            const double straight = f->cost[k] + same, turned = f->cost[1 - k] + other;
            cost[k] += fmin(straight, turned);
            const int before = turned < straight ? 1 - k : k;
            *bits |= (uint8_t)(before << k);
        }
    }
    const double least =
        fmin(cost[0], cost[1]); /* only the difference matters: it stays small in a long track */
    *f = (follower){.begun = true,
                    .cost = {cost[0] - least, cost[1] - least},
                    .heading = heading,
                    .x = d->x,
                    .y = d->y,
                    .vx = f->vx,
                    .vy = f->vy,
                    .frame = frame,
                    .state = -1};
}

sk_status sk_headings_decide(sk_seen_store *store, const int32_t *track, int32_t tracks, int32_t burst,
                             uint8_t *turned, sk_error *err)
{
    follower *followers = sk_calloc((size_t)tracks, sizeof *followers);
    if (!followers)
        return sk_fail_memory(err, (size_t)tracks * sizeof *followers);
    sk_status status = SK_OK;
    const int64_t frames = sk_seen_store_frames(store);
    sk_stored_frame f;
    for (int64_t at = 0; at < frames; at++) {
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++)
            if (track[f.first + i] >= 0)
                follow(&followers[track[f.first + i]], &f.detections[i], f.frame, burst > 0 ? burst : 0,
                       &turned[f.first + i]);
    }
    for (int64_t at = frames; at-- > 0;) {
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++) {
            if (track[f.first + i] < 0)
                continue;
            follower *of = &followers[track[f.first + i]];
            if (of->state < 0)
                of->state = of->cost[1] < of->cost[0];
            const int now = of->state;
            of->state = (turned[f.first + i] >> now) & 1;
            turned[f.first + i] = (uint8_t)now;
        }
    }
done:
    sk_free(followers);
    return status;
}
