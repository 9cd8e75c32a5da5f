/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "runner/internal.h"
#include "base/instances.h"

/* The second of two models: crops around what the first found, its network, and what comes after it, on one thread. An
 * engine that works on its own (a GPU) gets the next crops, of this frame or of the next one, before it has answered for the
 * last, while the first network goes on with later frames; one that works in submit gets one batch at a time, in turn with the
 * first network, as the cores are the same. */

/* --- crops in --- */

static const sk_frame *resident_of(const sk_crop_part *part)
{
    return part->job->has_resident ? &part->job->resident[part->image] : NULL;
}

/* The next crops of the frame in hand: where they lie and, where the engine does not cut them, their pixels in the input of the
 * next slot, behind those of frames before it. */
static sk_status cut(sk_lane *lane, sk_item *item, sk_crop_part *part, sk_error *err)
{
    sk_second *s = &lane->second;
    const sk_trace_key *key = &s->trace.key;
    if (s->next_crop == 0) {
        SK_TRY(sk_lane_open_second(lane, &item->view, resident_of(part), err));
        SK_TRY(sk_task_stage_find_crops(s->cutter, &item->found, &s->unused, &s->list, err));
        if (s->list.count > 0 && !key->crops)
            SK_TRY(sk_task_stage_cut_from(s->cutter, &item->view, err));
    }
    part->first = s->next_crop;
    const int32_t left = s->list.count - s->next_crop, room = key->batch - part->at,
                  count = left < room ? left : room;
    uint8_t *input = s->inputs[s->submitted % s->slots];
    for (int32_t i = 0; i < count && !key->crops; i++)
        SK_TRY(sk_task_stage_crop_input(s->cutter, part->first + i,
                                        key->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                        input + (size_t)(part->at + i) * sk_trace_picture_bytes(key), err));
    part->count = count;
    part->last = count == left;
    return SK_OK;
}

/* Outside of the lock. An error is the frame's. */
static void cut_part(sk_lane_stage *stage, sk_crop_batch *batch, sk_crop_part *part)
{
    sk_lane *lane = stage->lane;
    sk_item *item = part->job->items[part->image];
    const int64_t begin = sk_clock_ns();
    part->at = batch->count;
    if (part->job->skip || item->status != SK_OK)
        return;
    item->status = cut(lane, item, part, &item->error);
    if (item->status != SK_OK)
        *part = (sk_crop_part){.job = part->job, .image = part->image, .at = part->at, .last = true};
    const int64_t end = sk_clock_ns();
    item->crops += end - begin;
    if (part->first == 0)
        item->at[SK_AT_SECOND] = end;
    batch->count += part->count;
    if (part->count)
        sk_timeline_row_add(&stage->row, "crops", item->ticket, 1, begin, end);
}

/* Outside of the lock. An error is the device's: the frames' own stay with them. */
static sk_status submit(sk_lane *lane, sk_crop_batch *batch, sk_error *err)
{
    sk_second *s = &lane->second;
    const sk_crop_part *part = &batch->parts[0]; /* the only one where the engine cuts */
    const sk_frame *const frames[] = {resident_of(part)};
    sk_crop_list list = {NULL, part->count, NULL};
    sk_session_input in = {.data = s->inputs[s->submitted % s->slots]};
    if (batch->count == 0)
        return SK_OK;
    if (s->trace.key.crops) {
        list.items = s->list.items + part->first;
        list.masks = s->list.masks ? s->list.masks + part->first : NULL;
        in = (sk_session_input){.frames = frames, .crops = &list};
    }
    pthread_mutex_lock(&lane->networks);
    batch->begin = sk_clock_ns();
    const sk_status status = sk_trace_submit(&s->trace, &s->trace.key, &in, err);
    pthread_mutex_unlock(&lane->networks);
    s->submitted++;
    return status;
}

/* --- results out --- */

static sk_status take_crops(sk_lane_stage *stage, sk_item *item, const sk_crop_part *part,
                            const sk_tensor *outputs, sk_error *err)
{
    sk_lane *lane = stage->lane;
    sk_second *s = &lane->second;
    sk_checker *checker = &lane->runner->checker;
    const sk_checker_call call = sk_lane_check_of(lane, item);
    const sk_trace *t = &s->trace;
    if (part->first == 0) {
        sk_crop_list list;
        SK_TRY(sk_task_stage_find_crops(s->after, &item->found, &item->instances, &list, err));
        s->checking = item->check;
        if (item->check)
            SK_TRY(sk_checker_crops_begin(checker, &call, &item->found, list.count, err));
    }
    for (int32_t i = 0; i < part->count; i++)
        SK_TRY(sk_task_stage_crop_result(s->after, part->first + i, outputs, t->n_outputs, part->at + i,
                                         t->outputs_form, &item->instances, err));
    const int64_t begin = sk_clock_ns();
    for (int32_t i = 0; i < part->count && item->check; i++)
        SK_TRY(sk_checker_crop(checker, &call, part->first + i, t, outputs, part->at + i, err));
    if (part->count && item->check)
        sk_lane_note_check(stage, item, begin);
    return SK_OK;
}

static void release_checker(sk_lane *lane)
{
    if (lane->second.checking)
        sk_checker_crops_end(&lane->runner->checker);
    lane->second.checking = false;
}

static sk_status end_frame(sk_lane *lane, sk_item *item, sk_error *err)
{
    const sk_runner *r = lane->runner;
    const sk_checker_call call = sk_lane_check_of(lane, item);
    SK_TRY(sk_task_stage_crops_end(lane->second.after, &item->instances, err));
    sk_task_stage_keep(lane->second.after, &item->instances);
    return item->check ? sk_checker_verdict(&call, r->n_models, err) : SK_OK;
}

/* What a frame has of the network's time: batches overlap, and frames share one. */
static void note_network(sk_lane_stage *stage, const sk_crop_batch *batch, int64_t end)
{
    for (int32_t i = 0; i < batch->n_parts; i++) {
        const sk_crop_part *part = &batch->parts[i];
        sk_item *item = part->job->items[part->image];
        const int64_t from = batch->begin > item->second_end ? batch->begin : item->second_end;
        if (part->count == 0)
            continue;
        item->second += (end - from) * part->count / batch->count;
        item->second_end = end;
        sk_timeline_row_add(&stage->row, "second network", item->ticket, 1, batch->begin, end);
    }
}

static void end_part(sk_lane_stage *stage, const sk_crop_part *part, const sk_tensor *outputs)
{
    sk_lane *lane = stage->lane;
    sk_item *item = part->job->items[part->image];
    const int64_t begin = sk_clock_ns();
    const double checking = item->checking;
    const bool wanted = !part->job->skip && item->status == SK_OK;
    if (wanted)
        item->status = take_crops(stage, item, part, outputs, &item->error);
    if (part->last || item->status != SK_OK)
        release_checker(lane);
    if (part->last && item->status == SK_OK && wanted)
        item->status = end_frame(lane, item, &item->error);
    const int64_t end = sk_clock_ns();
    item->second_post += end - begin - (int64_t)((item->checking - checking) * 1e9);
    if (wanted)
        sk_timeline_row_add(&stage->row, "second post", item->ticket, 1, begin, end);
}

/* Outside of the lock: waits for the oldest batch. An error is the device's. */
static sk_status end_run(sk_lane_stage *stage, sk_error *err)
{
    sk_second *s = &stage->lane->second;
    const sk_crop_batch *batch = &s->batches[s->ended % SK_LANE_MAX_BATCHES];
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    if (batch->count) {
        SK_TRY(sk_trace_wait(&s->trace, outputs, err));
        s->waited++;
        note_network(stage, batch, sk_clock_ns());
    }
    for (int32_t i = 0; i < batch->n_parts; i++)
        end_part(stage, &batch->parts[i], outputs);
    return SK_OK;
}

/* --- the thread --- */

/* The next frame is in hand, or there is none yet. */
static bool take_frame(sk_lane_stage *stage)
{
    sk_second *s = &stage->lane->second;
    if (s->cutting)
        return true;
    sk_job *job = sk_stage_next(stage);
    if (!job)
        return false;
    const int64_t now = sk_clock_ns();
    stage->begun++;
    sk_job_mark(job, SK_ITEM_SECOND, SK_AT_SECOND, now);
    s->cutting = job;
    s->image = s->next_crop = 0;
    return true;
}

static bool fits_open(const sk_second *s)
{
    return sk_lane_second_fits(s, &s->cutting->items[s->image]->view, s->cutting->has_resident);
}

/* Whether another batch may begin: there is a frame for it, a slot, and nothing of another size in the way. */
static bool may_begin(sk_lane_stage *stage)
{
    sk_second *s = &stage->lane->second;
    const bool flying = s->queued > s->ended;
    if (s->queued - s->ended == SK_LANE_MAX_BATCHES || s->submitted - s->waited == s->slots ||
        (flying && !s->trace.asynchronous))
        return false;
    return take_frame(stage) && (!flying || fits_open(s));
}

/* Whether the next frame's crops go along: there is room, and the frame is there already. An engine that cuts has one frame at a
 * time; where each frame is to be ready soonest none waits for another. */
static bool may_join(sk_lane_stage *stage, const sk_crop_batch *batch)
{
    sk_second *s = &stage->lane->second;
    return batch->n_parts < SK_LANE_MAX_PARTS && batch->count < s->trace.key.batch && !s->trace.key.crops &&
           s->trace.key.batch > 1 && stage->lane->runner->settings.mode != SK_PIPELINE_LATENCY &&
           take_frame(stage) && fits_open(s);
}

/* Under the lock: one batch more. */
static sk_status begin_next(sk_lane_stage *stage, sk_error *err)
{
    sk_runner *r = stage->lane->runner;
    sk_second *s = &stage->lane->second;
    if (!s->cutting) /* may_begin has seen to it; the analyser cannot see that */
        return SK_OK;
    sk_crop_batch *batch = &s->batches[s->queued++ % SK_LANE_MAX_BATCHES];
    batch->n_parts = batch->count = 0;
    do {
        sk_crop_part *part = &batch->parts[batch->n_parts++];
        *part = (sk_crop_part){.job = s->cutting, .image = s->image, .last = true};
        pthread_mutex_unlock(&r->lock);
        cut_part(stage, batch, part);
        pthread_mutex_lock(&r->lock);
        s->next_crop = part->last ? 0 : part->first + part->count;
        s->image += part->last;
        if (s->image == s->cutting->count)
            s->cutting = NULL;
    } while (may_join(stage, batch) && s->cutting);
    pthread_mutex_unlock(&r->lock);
    const sk_status status = submit(stage->lane, batch, err);
    pthread_mutex_lock(&r->lock);
    return status;
}

/* Under the lock: one batch less, and the jobs that end with it. */
static sk_status end_oldest(sk_lane_stage *stage, sk_error *err)
{
    sk_runner *r = stage->lane->runner;
    sk_second *s = &stage->lane->second;
    pthread_mutex_unlock(&r->lock);
    sk_status status = end_run(stage, err);
    pthread_mutex_lock(&r->lock);
    const sk_crop_batch *batch = &s->batches[s->ended++ % SK_LANE_MAX_BATCHES];
    for (int32_t i = 0; i < batch->n_parts && status == SK_OK; i++) {
        const sk_crop_part *part = &batch->parts[i];
        if (!part->last || part->image + 1 < part->job->count)
            continue;
        sk_job_mark(part->job, SK_ITEM_SECOND, SK_AT_DONE, sk_clock_ns());
        sk_stage_pass(stage);
    }
    return status;
}

void *sk_lane_second_main(void *argument)
{
    sk_lane_stage *stage = argument;
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    sk_second *s = &lane->second;
    pthread_mutex_lock(&r->lock);
    while (!sk_stage_over(stage)) {
        sk_error problem = {0};
        sk_status status = SK_OK;
        if (may_begin(stage))
            status = begin_next(stage, &problem);
        else if (s->queued > s->ended)
            status = end_oldest(stage, &problem);
        else
            pthread_cond_wait(&stage->wake, &r->lock);
        if (status != SK_OK)
            sk_lane_fail(lane, &problem);
        sk_runner_tell(r);
    }
    if (lane->failed)
        sk_stage_hand_over(stage);
    sk_runner_tell(r);
    pthread_mutex_unlock(&r->lock);
    release_checker(lane);
    return NULL;
}
