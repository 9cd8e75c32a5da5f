/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "runner/internal.h"
#include "tasks/instances.h"

#include <string.h>

/* The tail of a device: from the network's outputs to instances, second models on crops, raw outputs, checks. */

/* Where only peaks come back, so many crops go through the network at once. */
#define CROPS_AT_ONCE 8

static sk_status open_crops(sk_lane *lane, sk_error *err)
{
    sk_runner *r = lane->runner;
    SK_TRY(sk_task_stage_open_second(r->models[1], lane->post, &r->task, &lane->crops, err));
    const sk_task_plan *first = sk_task_stage_plan(lane->post);
    if (!lane->found.items)
        SK_TRY(sk_instances_alloc(first->capacity, first->n_keypoints, &lane->found, err));
    sk_trace_key key = sk_trace_key_of(r->models[1], &lane->device, 1, sk_task_stage_plan(lane->crops));
    if (!r->settings.keep_outputs && r->settings.check_every <= 0)
        sk_trace_key_peaks(&key, lane->crops);
    if (key.peaks && r->models[1]->input.fixed_batch == 0)
        key.batch = CROPS_AT_ONCE;
    if (sk_trace_fits(&lane->crop_trace, &key))
        return SK_OK;
    pthread_mutex_lock(&lane->networks);
    sk_status status = sk_trace_capture(&lane->crop_trace, r->models[1], &lane->device, &key,
                                        &r->settings.detector, 1, r->settings.quick_open, err);
    pthread_mutex_unlock(&lane->networks);
    SK_TRY(status);
    sk_runner_note_file(r, 1, &lane->crop_trace);
    size_t bytes = sk_trace_picture_bytes(&key) * (size_t)key.batch;
    if (bytes > lane->crop_input_bytes) {
        sk_free(lane->crop_input);
        lane->crop_input_bytes = 0;
        lane->crop_input = sk_aligned_calloc(4096, bytes);
        if (!lane->crop_input)
            return sk_fail_memory(err, bytes);
        lane->crop_input_bytes = bytes;
    }
    return SK_OK;
}

sk_status sk_lane_open_post(sk_lane *lane, int32_t width, int32_t height, sk_error *err)
{
    sk_runner *r = lane->runner;
    if (lane->post && lane->post_width == width && lane->post_height == height)
        return SK_OK;
    lane->post_width = lane->post_height = 0;
    sk_task_stage_close(&lane->crops);
    sk_task_stage_close(&lane->post);
    SK_TRY(sk_task_stage_open(r->models[0], &r->task, width, height, &lane->post, err));
    if (r->n_models > 1)
        SK_TRY(open_crops(lane, err));
    const sk_task_plan *plan = sk_task_stage_plan(r->n_models > 1 ? lane->crops : lane->post);
    if (plan->capacity > r->capacity || plan->n_keypoints != r->n_keypoints)
        return sk_fail(err, SK_ERR_INTERNAL, "results of %d x %d where %d x %d were planned", plan->capacity,
                       plan->n_keypoints, r->capacity, r->n_keypoints);
    lane->post_width = width;
    lane->post_height = height;
    return SK_OK;
}

static sk_status run_crop(sk_lane *lane, sk_tensor *outputs, sk_error *err)
{
    pthread_mutex_lock(&lane->networks);
    sk_status status = sk_trace_submit(&lane->crop_trace, &lane->crop_trace.key, lane->crop_input, NULL, err);
    pthread_mutex_unlock(&lane->networks);
    return status == SK_OK ? sk_trace_wait(&lane->crop_trace, outputs, err) : status;
}

static sk_checker_call check_of(const sk_lane *lane, sk_item *item)
{
    const sk_runner *r = lane->runner;
    return (sk_checker_call){.models = r->models,
                             .settings = &r->task,
                             .frame = &item->view,
                             .pcc_min = r->settings.pcc_min,
                             .out = &item->checked};
}

static void note_check(sk_lane *lane, sk_item *item, int64_t begin)
{
    int64_t end = sk_clock_ns();
    item->checking += (double)(end - begin) * 1e-9;
    sk_track_add(&lane->tracks[SK_LANE_POST], "check", item->ticket, 1, begin, end);
}

/* Crops [first, first + count) in one run, checked where that is asked for. `lost`: the device failed, not the frame. */
static sk_status look_at_batch(sk_lane *lane, sk_item *item, int32_t first, int32_t count, bool *lost,
                               sk_error *err)
{
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    const sk_trace *t = &lane->crop_trace;
    for (int32_t i = 0; i < count; i++)
        SK_TRY(sk_task_stage_crop_input(lane->crops, first + i,
                                        t->key.u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                        lane->crop_input + (size_t)i * sk_trace_picture_bytes(&t->key), err));
    int64_t begin = sk_clock_ns();
    sk_status status = run_crop(lane, outputs, err);
    item->second += (double)(sk_clock_ns() - begin) * 1e-9;
    *lost = status != SK_OK;
    SK_TRY(status);
    for (int32_t i = 0; i < count; i++)
        SK_TRY(sk_task_stage_crop_result(lane->crops, first + i, outputs, t->n_outputs, i, t->tail_cut,
                                         &item->instances, err));
    sk_checker_call call = check_of(lane, item);
    begin = sk_clock_ns();
    for (int32_t i = 0; i < count && item->check; i++)
        SK_TRY(sk_checker_crop(&lane->runner->checker, &call, first + i, t, outputs, i, err));
    if (item->check)
        note_check(lane, item, begin);
    return SK_OK;
}

static sk_status look_at_crops(sk_lane *lane, sk_item *item, bool *lost, sk_error *err)
{
    sk_checker *checker = &lane->runner->checker;
    int32_t n_crops = 0;
    SK_TRY(sk_task_stage_crops(lane->crops, &item->view, &lane->found, &item->instances, &n_crops, err));
    sk_checker_call call = check_of(lane, item);
    sk_status status =
        item->check ? sk_checker_crops_begin(checker, &call, &lane->found, n_crops, err) : SK_OK;
    const int32_t batch = lane->crop_trace.key.batch;
    for (int32_t c = 0; c < n_crops && status == SK_OK; c += batch)
        status = look_at_batch(lane, item, c, n_crops - c < batch ? n_crops - c : batch, lost, err);
    if (item->check)
        sk_checker_crops_end(checker);
    return status == SK_OK ? sk_task_stage_crops_end(lane->crops, &item->instances, err) : status;
}

static sk_status copy_outputs(sk_lane *lane, const sk_job *job, int32_t image, sk_item *item, sk_error *err)
{
    SK_TRY(sk_item_prepare_outputs(item, &lane->trace, err));
    for (int32_t i = 0; i < item->n_outputs; i++) {
        size_t count = (size_t)(sk_shape_count(&job->outputs[i].shape) / lane->trace.key.batch);
        memcpy((void *)(uintptr_t)item->outputs[i].data,
               (const float *)job->outputs[i].data + (size_t)image * count, count * sizeof(float));
    }
    return SK_OK;
}

static sk_status check_frame(sk_lane *lane, const sk_job *job, int32_t image, sk_item *item, sk_error *err)
{
    sk_checker_call call = check_of(lane, item);
    int64_t begin = sk_clock_ns();
    item->checked = (sk_runner_check){.pcc = 1};
    sk_status status =
        sk_checker_frame(&lane->runner->checker, &call, &lane->trace, job->outputs, image, err);
    note_check(lane, item, begin);
    return status;
}

static sk_status process_item(sk_lane *lane, sk_job *job, int32_t image, bool *lost, sk_error *err)
{
    sk_runner *r = lane->runner;
    sk_item *item = job->items[image];
    const sk_trace *t = &lane->trace;
    sk_instances *found = r->n_models > 1 ? &lane->found : &item->instances;
    SK_TRY(sk_lane_open_post(lane, item->view.width, item->view.height, err));
    item->whole = t->key.peaks && sk_task_outputs_whole(job->outputs, t->n_outputs, image);
    SK_TRY(sk_task_stage_result(lane->post, job->outputs, t->n_outputs, image, t->tail_cut, found, err));
    if (item->check)
        SK_TRY(check_frame(lane, job, image, item, err));
    if (r->n_models > 1)
        SK_TRY(look_at_crops(lane, item, lost, err));
    sk_task_stage_keep(r->n_models > 1 ? lane->crops : lane->post, &item->instances);
    if (r->settings.keep_outputs) {
        int64_t begin = sk_clock_ns();
        SK_TRY(copy_outputs(lane, job, image, item, err));
        item->copying = (double)(sk_clock_ns() - begin) * 1e-9;
    }
    sk_checker_call call = check_of(lane, item);
    return item->check ? sk_checker_verdict(&call, r->n_models, err) : SK_OK;
}

/* Outside of the lock. True when the device is lost. */
static bool process(sk_lane *lane, sk_job *job, sk_error *problem)
{
    for (int32_t i = 0; i < job->count; i++) {
        sk_item *item = job->items[i];
        bool lost = false;
        if (job->skip || item->status != SK_OK)
            continue;
        int64_t begin = sk_clock_ns();
        item->status = process_item(lane, job, i, &lost, &item->error);
        item->post = sk_clock_ns() - begin;
        if (lost) {
            *problem = item->error;
            item->status = SK_OK; /* another device may do it */
            return true;
        }
    }
    return false;
}

void *sk_lane_post_main(void *argument)
{
    sk_lane *lane = argument;
    sk_runner *r = lane->runner;
    sk_error problem;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (lane->finished == lane->computed && r->state != SK_RUNNER_ENDING && !lane->failed)
            pthread_cond_wait(&lane->wake[SK_LANE_POST], &r->lock);
        if (r->state == SK_RUNNER_ENDING || lane->finished == lane->computed)
            break;
        sk_job *job = &lane->jobs[lane->finished % lane->n_jobs];
        int64_t begin = sk_clock_ns();
        for (int32_t i = 0; i < job->count; i++) {
            job->items[i]->state = SK_ITEM_POST;
            job->items[i]->at[SK_AT_POST] = begin;
        }
        int64_t ticket = job->count ? job->items[0]->ticket : 0;
        pthread_mutex_unlock(&r->lock);
        bool lost = process(lane, job, &problem);
        int64_t end = sk_clock_ns();
        sk_track_add(&lane->tracks[SK_LANE_POST], "post", ticket, job->count, begin, end);
        pthread_mutex_lock(&r->lock);
        if (lost) {
            sk_lane_fail(lane, &problem);
            sk_lane_hand_over(lane, job);
        }
        for (int32_t i = 0; i < job->count; i++) {
            job->items[i]->at[SK_AT_DONE] = end;
            sk_item_finish(r, job->items[i]);
        }
        lane->frames += job->count;
        lane->finished++;
        pthread_cond_signal(&lane->wake[SK_LANE_NETWORK]);
        pthread_cond_signal(&lane->wake[SK_LANE_PRE]);
        sk_runner_tell(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}
