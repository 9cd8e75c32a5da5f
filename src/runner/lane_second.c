/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/log.h"
#include "runner/internal.h"
#include "base/instances.h"

/* The second of two models: crops around what the first found, its network, and what comes after it, on one thread. An
 * engine that works on its own (a GPU) gets the next crops, of this frame or of the next one, before it has answered for the
 * last, while the first network goes on with later frames; one that works in submit gets one batch at a time, in turn with the
 * first network, as the cores are the same. */

/* Where only peaks come back, so many crops go through the network at once. */
#define CROPS_AT_ONCE 8
#define GPU_SLOTS     3

/* --- opening --- */

static void free_inputs(sk_second *s)
{
    for (int i = 0; i < SK_SESSION_MAX_SLOTS; i++) {
        if (s->inputs[i] && s->input_free)
            s->input_free(s->inputs[i]);
        s->inputs[i] = NULL;
    }
    s->input_bytes = 0;
}

/* Memory that uploads read directly, where the engine has such. */
static sk_status make_inputs(sk_second *s, sk_error *err)
{
    const sk_trace_key *key = &s->trace.key;
    const size_t bytes = sk_trace_picture_bytes(key) * (size_t)key->batch;
    if (bytes <= s->input_bytes) /* none where the engine cuts */
        return SK_OK;
    free_inputs(s);
    s->input_free = key->engine->host_alloc ? key->engine->host_free : sk_free;
    for (int32_t i = 0; i < s->slots; i++) {
        s->inputs[i] =
            key->engine->host_alloc ? key->engine->host_alloc(bytes) : sk_aligned_calloc(4096, bytes);
        if (!s->inputs[i])
            return sk_fail_memory(err, bytes);
    }
    s->input_bytes = bytes;
    return SK_OK;
}

static sk_status capture(sk_lane *lane, const sk_trace_key *key, const sk_frame *resident, sk_error *err)
{
    sk_runner *r = lane->runner;
    sk_second *s = &lane->second;
    pthread_mutex_lock(&lane->networks);
    sk_status status = sk_trace_capture(&s->trace, r->models[1], &lane->device, key, &r->settings.detector,
                                        s->slots, r->settings.quick_open, resident, err);
    pthread_mutex_unlock(&lane->networks);
    s->submitted = s->waited = 0; /* the new session's slots begin anew */
    return status;
}

static sk_status open_network(sk_lane *lane, const sk_frame *like, const sk_frame *resident, sk_error *err)
{
    sk_runner *r = lane->runner;
    sk_second *s = &lane->second;
    sk_trace_key key = sk_trace_key_of(r->models[1], &lane->device, 1, sk_task_stage_plan(s->cutter));
    if (!r->settings.keep_outputs && r->settings.check_every <= 0)
        sk_trace_key_peaks(&key, s->cutter);
    if (resident && !s->refused)
        sk_trace_key_crops(&key, s->cutter, like);
    if (resident && !sk_task_stage_crop_form(s->cutter) && !s->told) {
        s->told = true;
        sk_log(SK_LOG_WARN,
               "%s: crops that are turned, or in which neighbours are painted over, are cut by the processor",
               lane->device.name);
    }
    if ((key.peaks || key.crops) && r->models[1]->input.fixed_batch == 0)
        key.batch = CROPS_AT_ONCE;
    if (sk_trace_fits(&s->trace, &key))
        return SK_OK;
    s->slots = (r->given ? !sk_device_on_cpu(&lane->device) : lane->trace.asynchronous) ? GPU_SLOTS : 1;
    sk_status status = capture(lane, &key, resident, err);
    if (status == SK_ERR_UNSUPPORTED && key.crops) { /* not with this model: then as on every other engine */
        s->refused = true;
        return open_network(lane, like, NULL, err);
    }
    SK_TRY(status);
    sk_runner_note_file(r, 1, &s->trace);
    return make_inputs(s, err);
}

static void close_stages(sk_second *s)
{
    s->width = s->height = 0;
    sk_task_stage_close(&s->after);
    sk_task_stage_close(&s->cutter);
    sk_task_stage_close(&s->first);
    sk_instances_free(&s->unused);
}

/* Is everything open for this frame? */
static bool is_open(const sk_second *s, const sk_frame *like, bool resident)
{
    return s->width == like->width && s->height == like->height &&
           (s->refused || (s->resident == resident && (!resident || s->format == like->format)));
}

sk_status sk_lane_open_second(sk_lane *lane, const sk_frame *like, const sk_frame *resident, sk_error *err)
{
    sk_runner *r = lane->runner;
    sk_second *s = &lane->second;
    if (is_open(s, like, resident != NULL))
        return SK_OK;
    close_stages(s);
    SK_TRY(sk_task_stage_open(r->models[0], &r->task, like->width, like->height, &s->first, err));
    SK_TRY(sk_task_stage_open_second(r->models[1], s->first, &r->task, &s->cutter, err));
    SK_TRY(sk_task_stage_open_second(r->models[1], s->first, &r->task, &s->after, err));
    const sk_task_plan *plan = sk_task_stage_plan(s->cutter);
    if (plan->capacity > r->capacity || plan->n_keypoints != r->n_keypoints)
        return sk_fail(err, SK_ERR_INTERNAL, "results of %d x %d where %d x %d were planned", plan->capacity,
                       plan->n_keypoints, r->capacity, r->n_keypoints);
    SK_TRY(sk_instances_alloc(plan->capacity, plan->n_keypoints, &s->unused, err));
    SK_TRY(open_network(lane, like, resident, err));
    s->width = like->width;
    s->height = like->height;
    s->format = like->format;
    s->resident = resident != NULL;
    return SK_OK;
}

void sk_lane_close_second(sk_lane *lane)
{
    sk_second *s = &lane->second;
    sk_trace_release(&s->trace); /* waits for what is in flight, which reads the inputs: those go after it */
    free_inputs(s);
    close_stages(s);
}

/* --- crops in --- */

static sk_crop_batch *newest_batch(sk_second *s)
{
    return &s->batches[(s->queued - 1) % SK_LANE_MAX_BATCHES];
}

static const sk_frame *resident_of(const sk_crop_batch *batch)
{
    return batch->job->has_resident ? &batch->job->resident[batch->image] : NULL;
}

/* The next crops of the frame in hand: where they lie and, where the engine does not cut them, their pixels in the input of the
 * next slot. */
static sk_status cut(sk_lane *lane, sk_item *item, sk_crop_batch *batch, sk_error *err)
{
    sk_second *s = &lane->second;
    const sk_trace_key *key = &s->trace.key;
    if (s->next_crop == 0) {
        SK_TRY(sk_lane_open_second(lane, &item->view, resident_of(batch), err));
        SK_TRY(sk_task_stage_find_crops(s->cutter, &item->found, &s->unused, &s->list, err));
        if (s->list.count > 0 && !key->crops)
            SK_TRY(sk_task_stage_cut_from(s->cutter, &item->view, err));
    }
    batch->first = s->next_crop;
    const int32_t left = s->list.count - s->next_crop, count = left < key->batch ? left : key->batch;
    for (int32_t i = 0; i < count && !key->crops; i++)
        SK_TRY(sk_task_stage_crop_input(
            s->cutter, batch->first + i, key->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
            s->inputs[s->submitted % s->slots] + (size_t)i * sk_trace_picture_bytes(key), err));
    batch->count = count;
    batch->last = count == left;
    return SK_OK;
}

static sk_status submit(sk_lane *lane, const sk_crop_batch *batch, sk_error *err)
{
    sk_second *s = &lane->second;
    const sk_frame *const frames[] = {resident_of(batch)};
    const sk_crop_list list = {s->list.items + batch->first, batch->count};
    sk_session_input in = {.data = s->inputs[s->submitted % s->slots]};
    if (s->trace.key.crops)
        in = (sk_session_input){.frames = frames, .crops = &list};
    return sk_trace_submit(&s->trace, &s->trace.key, &in, err);
}

/* Outside of the lock. An error is the device's: the frame's own stay with it. */
static sk_status begin_run(sk_lane_stage *stage, sk_error *err)
{
    sk_lane *lane = stage->lane;
    sk_second *s = &lane->second;
    sk_crop_batch *batch = newest_batch(s);
    sk_item *item = batch->job->items[batch->image];
    const int64_t begin = sk_clock_ns();
    if (batch->job->skip || item->status != SK_OK)
        return SK_OK;
    item->status = cut(lane, item, batch, &item->error);
    if (item->status != SK_OK)
        *batch = (sk_crop_batch){.job = batch->job, .image = batch->image, .last = true};
    batch->begin = sk_clock_ns();
    item->crops += batch->begin - begin;
    if (batch->first == 0)
        item->at[SK_AT_SECOND] = batch->begin;
    if (batch->count == 0)
        return SK_OK;
    sk_timeline_row_add(&stage->row, "crops", item->ticket, 1, begin, batch->begin);
    pthread_mutex_lock(&lane->networks);
    batch->begin = sk_clock_ns();
    sk_status status = submit(lane, batch, err);
    pthread_mutex_unlock(&lane->networks);
    s->submitted++;
    return status;
}

/* --- results out --- */

static sk_status take_crops(sk_lane_stage *stage, sk_item *item, const sk_crop_batch *batch,
                            const sk_tensor *outputs, sk_error *err)
{
    sk_lane *lane = stage->lane;
    sk_second *s = &lane->second;
    sk_checker *checker = &lane->runner->checker;
    const sk_checker_call call = sk_lane_check_of(lane, item);
    const sk_trace *t = &s->trace;
    if (batch->first == 0) {
        sk_crop_list list;
        SK_TRY(sk_task_stage_find_crops(s->after, &item->found, &item->instances, &list, err));
        s->checking = item->check;
        if (item->check)
            SK_TRY(sk_checker_crops_begin(checker, &call, &item->found, list.count, err));
    }
    for (int32_t i = 0; i < batch->count; i++)
        SK_TRY(sk_task_stage_crop_result(s->after, batch->first + i, outputs, t->n_outputs, i,
                                         t->outputs_form, &item->instances, err));
    const int64_t begin = sk_clock_ns();
    for (int32_t i = 0; i < batch->count && item->check; i++)
        SK_TRY(sk_checker_crop(checker, &call, batch->first + i, t, outputs, i, err));
    if (batch->count && item->check)
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

/* Outside of the lock: waits for the oldest batch. An error is the device's. */
static sk_status end_run(sk_lane_stage *stage, sk_error *err)
{
    sk_lane *lane = stage->lane;
    sk_second *s = &lane->second;
    const sk_crop_batch *batch = &s->batches[s->ended % SK_LANE_MAX_BATCHES];
    sk_item *item = batch->job->items[batch->image];
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    if (batch->count) {
        SK_TRY(sk_trace_wait(&s->trace, outputs, err));
        s->waited++;
        const int64_t end = sk_clock_ns(),
                      from = batch->begin > item->second_end ? batch->begin : item->second_end;
        item->second += end - from; /* batches of one frame overlap */
        item->second_end = end;
        sk_timeline_row_add(&stage->row, "second network", item->ticket, 1, batch->begin, end);
    }
    const int64_t begin = sk_clock_ns();
    const double checking = item->checking;
    const bool wanted = !batch->job->skip && item->status == SK_OK;
    if (wanted)
        item->status = take_crops(stage, item, batch, outputs, &item->error);
    if (batch->last || item->status != SK_OK)
        release_checker(lane);
    if (batch->last && item->status == SK_OK && wanted)
        item->status = end_frame(lane, item, &item->error);
    const int64_t end = sk_clock_ns();
    item->second_post += end - begin - (int64_t)((item->checking - checking) * 1e9);
    if (wanted)
        sk_timeline_row_add(&stage->row, "second post", item->ticket, 1, begin, end);
    return SK_OK;
}

/* --- the thread --- */

/* Whether another batch may begin: there is a frame for it, a slot, and nothing of another size in the way. */
static bool may_begin(sk_lane_stage *stage)
{
    sk_second *s = &stage->lane->second;
    const bool flying = s->queued > s->ended;
    if (s->queued - s->ended == SK_LANE_MAX_BATCHES || s->submitted - s->waited == s->slots ||
        (flying && !s->trace.asynchronous))
        return false;
    if (!s->cutting) {
        sk_job *job = sk_stage_next(stage);
        if (!job)
            return false;
        const int64_t now = sk_clock_ns();
        stage->begun++;
        sk_job_mark(job, SK_ITEM_SECOND, SK_AT_SECOND, now);
        s->cutting = job;
        s->image = s->next_crop = 0;
    }
    return !flying || is_open(s, &s->cutting->items[s->image]->view, s->cutting->has_resident);
}

/* Under the lock: one batch more. */
static sk_status begin_next(sk_lane_stage *stage, sk_error *err)
{
    sk_runner *r = stage->lane->runner;
    sk_second *s = &stage->lane->second;
    s->queued++;
    *newest_batch(s) = (sk_crop_batch){.job = s->cutting, .image = s->image, .last = true};
    pthread_mutex_unlock(&r->lock);
    sk_status status = begin_run(stage, err);
    pthread_mutex_lock(&r->lock);
    const sk_crop_batch *batch = newest_batch(s);
    s->next_crop = batch->last ? 0 : batch->first + batch->count;
    s->image += batch->last;
    if (s->image == s->cutting->count)
        s->cutting = NULL;
    return status;
}

/* Under the lock: one batch less, and perhaps a job. */
static sk_status end_oldest(sk_lane_stage *stage, sk_error *err)
{
    sk_runner *r = stage->lane->runner;
    sk_second *s = &stage->lane->second;
    pthread_mutex_unlock(&r->lock);
    sk_status status = end_run(stage, err);
    pthread_mutex_lock(&r->lock);
    const sk_crop_batch *batch = &s->batches[s->ended++ % SK_LANE_MAX_BATCHES];
    if (status != SK_OK || !batch->last || batch->image + 1 < batch->job->count)
        return status;
    sk_job_mark(batch->job, SK_ITEM_SECOND, SK_AT_DONE, sk_clock_ns());
    sk_stage_pass(stage);
    return SK_OK;
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
