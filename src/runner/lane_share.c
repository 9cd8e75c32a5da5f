/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "runner/internal.h"

/* Which device takes the next frame where some are quicker than others. A lane with room that is slow would hold a frame for long,
 * and results come out in order: soon all wait for it. So a frame goes to whoever will be done with it first, by what each has in
 * hand and how long it took for a frame of late; a lane with nothing to do takes one in any case. Everything here is called under
 * the runner's lock. */

/* Below this ratio of the slowest to the quickest all are alike, and whoever has room takes. */
#define UNEVEN 1.6

void sk_lane_note_pace(sk_lane *lane, const sk_job *job)
{
    const int64_t now = sk_clock_ns();
    if (job->count > 0 && !job->skip) {
        const int64_t taken = job->items[0]->at[SK_AT_PRE];
        const double took = (double)(now - (taken > lane->last_done ? taken : lane->last_done)) / job->count;
        lane->pace = lane->pace > 0 ? 0.75 * lane->pace + 0.25 * took : took;
    }
    lane->last_done = now;
}

/* A frame's time there; one that has not answered for longer than that is as slow as it shows. 0: not known. */
static double pace_of(const sk_lane *lane, int64_t now)
{
    if (lane->pace <= 0 || sk_lane_load(lane) == 0)
        return lane->pace;
    const double silent = (double)(now - lane->last_done) / lane->runner->settings.detector.batch;
    return silent > 3 * lane->pace ? silent : lane->pace;
}

double sk_lane_until_done(const sk_lane *lane)
{
    return (double)(sk_lane_load(lane) + 1) * pace_of(lane, sk_clock_ns());
}

bool sk_lane_leaves(const sk_lane *lane, int64_t *when)
{
    const sk_runner *r = lane->runner;
    const int64_t now = sk_clock_ns();
    const double pace = pace_of(lane, now), own = (double)(sk_lane_load(lane) + 1) * pace;
    double quickest = pace, first = own;
    if (r->n_lanes < 2 || r->settings.mode == SK_PIPELINE_LATENCY || pace <= 0 || sk_lane_load(lane) == 0)
        return false;
    for (int32_t i = 0; i < r->n_lanes; i++) {
        const sk_lane *other = &r->lanes[i];
        const double its = pace_of(other, now), done = (double)(sk_lane_load(other) + 1) * its;
        if (other == lane || other->failed || its <= 0)
            continue;
        quickest = its < quickest ? its : quickest;
        first = done < first ? done : first;
    }
    if (pace < UNEVEN * quickest || own <= first)
        return false;
    *when = now + (int64_t)pace; /* nobody may come by to say that things have changed */
    return true;
}
