/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/internal.h"

/* The queues between a lane's stages. Everything here is called under the runner's lock. */

/* The last stage that runs a network: what is past it needs the device no more. */
static const sk_lane_stage *last_network(const sk_lane *lane)
{
    return &lane->stages[lane->n_stages > SK_LANE_SECOND ? SK_LANE_SECOND : SK_LANE_NETWORK];
}

static sk_job *job_at(sk_lane *lane, int64_t number)
{
    return &lane->jobs[number % lane->n_jobs];
}

static int64_t waiting(const sk_lane_stage *stage)
{
    return stage->index > 0 ? stage[-1].done - stage->begun : 0;
}

sk_job *sk_stage_next(sk_lane_stage *stage)
{
    return waiting(stage) > 0 ? job_at(stage->lane, stage->begun) : NULL;
}

sk_job *sk_stage_oldest(sk_lane_stage *stage)
{
    return job_at(stage->lane, stage->done);
}

bool sk_stage_over(const sk_lane_stage *stage)
{
    const sk_lane *lane = stage->lane;
    if (lane->runner->state == SK_RUNNER_ENDING)
        return true;
    return lane->failed && (stage <= last_network(lane) || waiting(stage) == 0);
}

void sk_job_mark(sk_job *job, sk_item_state state, int moment, int64_t now)
{
    for (int32_t i = 0; i < job->count; i++) {
        job->items[i]->state = state;
        job->items[i]->at[moment] = now;
    }
}

void sk_stage_pass(sk_lane_stage *stage)
{
    sk_lane *lane = stage->lane;
    sk_job *job = sk_stage_oldest(stage);
    if (lane->failed && stage < last_network(lane))
        sk_lane_hand_over(lane, job);
    stage->done++;
    if (stage->index + 1 < lane->n_stages) {
        pthread_cond_signal(&stage[1].wake);
        if (stage->index == SK_LANE_POST) /* the first network's results were read */
            pthread_cond_signal(&lane->stages[SK_LANE_NETWORK].wake);
        return;
    }
    for (int32_t i = 0; i < job->count; i++)
        sk_item_finish(lane->runner, job->items[i]);
    lane->frames += job->count;
    sk_lane_note_pace(lane, job);
    pthread_cond_signal(&lane->stages[SK_LANE_NETWORK].wake);
    pthread_cond_signal(&lane->stages[SK_LANE_PRE].wake);
}

void sk_stage_hand_over(sk_lane_stage *stage)
{
    for (int64_t k = stage->done; k < stage->begun; k++)
        sk_lane_hand_over(stage->lane, job_at(stage->lane, k));
}

void sk_stage_wake(sk_lane *lane)
{
    for (int32_t i = 0; i < lane->n_stages; i++)
        pthread_cond_broadcast(&lane->stages[i].wake);
}

int64_t sk_lane_load(const sk_lane *lane)
{
    return lane->stages[SK_LANE_PRE].begun - lane->stages[lane->n_stages - 1].done;
}

void sk_lane_hand_over_waiting(sk_lane *lane)
{
    const sk_lane_stage *last = last_network(lane);
    for (const sk_lane_stage *stage = last; stage > lane->stages; stage--)
        for (int64_t k = stage->begun; k < stage[-1].done; k++)
            sk_lane_hand_over(lane, job_at(lane, k));
}
