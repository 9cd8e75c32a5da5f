/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "runner/internal.h"
#include "base/instances.h"

#include <string.h>

/* From the network's outputs to instances, raw outputs and checks: the end of a frame's way, or what a second model looks
 * closer at. */

sk_status sk_lane_open_post(sk_lane *lane, int32_t width, int32_t height, sk_error *err)
{
    sk_runner *r = lane->runner;
    if (lane->post && lane->post_width == width && lane->post_height == height)
        return SK_OK;
    lane->post_width = lane->post_height = 0;
    sk_task_stage_close(&lane->post);
    SK_TRY(sk_task_stage_open(r->models[0], &r->task, width, height, &lane->post, err));
    const sk_task_plan *plan = sk_task_stage_plan(lane->post);
    const int32_t capacity = r->n_models > 1 ? r->found_capacity : r->capacity;
    const int32_t n_keypoints = r->n_models > 1 ? r->found_keypoints : r->n_keypoints;
    if (plan->capacity > capacity || plan->n_keypoints != n_keypoints)
        return sk_fail(err, SK_ERR_INTERNAL, "results of %d x %d where %d x %d were planned", plan->capacity,
                       plan->n_keypoints, capacity, n_keypoints);
    lane->post_width = width;
    lane->post_height = height;
    return SK_OK;
}

sk_checker_call sk_lane_check_of(const sk_lane *lane, sk_item *item)
{
    const sk_runner *r = lane->runner;
    return (sk_checker_call){.models = r->models,
                             .settings = &r->task,
                             .frame = &item->view,
                             .pcc_min = r->settings.pcc_min,
                             .out = &item->checked};
}

void sk_lane_note_check(sk_lane_stage *stage, sk_item *item, int64_t begin)
{
    int64_t end = sk_clock_ns();
    item->checking += (double)(end - begin) * 1e-9;
    sk_timeline_row_add(&stage->row, "check", item->ticket, 1, begin, end);
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
    sk_checker_call call = sk_lane_check_of(lane, item);
    int64_t begin = sk_clock_ns();
    item->checked = (sk_check){.pcc = 1};
    sk_status status =
        sk_checker_frame(&lane->runner->checker, &call, &lane->trace, job->outputs, image, err);
    sk_lane_note_check(&lane->stages[SK_LANE_POST], item, begin);
    return status;
}

static sk_status process_item(sk_lane *lane, sk_job *job, int32_t image, sk_error *err)
{
    sk_runner *r = lane->runner;
    sk_item *item = job->items[image];
    const sk_trace *t = &lane->trace;
    const bool last = r->n_models == 1;
    if (r->given) {
        item->checked = (sk_check){.pcc = 1};
        return SK_OK;
    }
    SK_TRY(sk_lane_open_post(lane, item->view.width, item->view.height, err));
    item->whole = t->key.peaks && sk_task_outputs_whole(job->outputs, t->n_outputs, image);
    SK_TRY(sk_task_stage_result(lane->post, job->outputs, t->n_outputs, image, t->outputs_form,
                                last ? &item->instances : &item->found, err));
    if (item->check)
        SK_TRY(check_frame(lane, job, image, item, err));
    if (last)
        sk_task_stage_keep(lane->post, &item->instances);
    if (r->settings.keep_outputs) {
        int64_t begin = sk_clock_ns();
        SK_TRY(copy_outputs(lane, job, image, item, err));
        item->copying = (double)(sk_clock_ns() - begin) * 1e-9;
    }
    sk_checker_call call = sk_lane_check_of(lane, item);
    return item->check && last ? sk_checker_verdict(&call, 1, err) : SK_OK;
}

/* Outside of the lock. */
static void process(sk_lane *lane, sk_job *job)
{
    for (int32_t i = 0; i < job->count; i++) {
        sk_item *item = job->items[i];
        if (job->skip || item->status != SK_OK)
            continue;
        int64_t begin = sk_clock_ns();
        item->status = process_item(lane, job, i, &item->error);
        item->post = sk_clock_ns() - begin - (int64_t)((item->checking + item->copying) * 1e9);
    }
}

void *sk_lane_post_main(void *argument)
{
    sk_lane_stage *stage = argument;
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    const bool last = stage->index == lane->n_stages - 1;
    pthread_mutex_lock(&r->lock);
    while (!sk_stage_over(stage)) {
        sk_job *job = sk_stage_next(stage);
        if (!job) {
            pthread_cond_wait(&stage->wake, &r->lock);
            continue;
        }
        int64_t begin = sk_clock_ns();
        stage->begun++;
        sk_job_mark(job, SK_ITEM_POST, SK_AT_POST, begin);
        int64_t ticket = job->count ? job->items[0]->ticket : 0;
        pthread_mutex_unlock(&r->lock);
        process(lane, job);
        int64_t end = sk_clock_ns();
        sk_timeline_row_add(&stage->row, "post", ticket, job->count, begin, end);
        pthread_mutex_lock(&r->lock);
        sk_job_mark(job, last ? SK_ITEM_POST : SK_ITEM_WAIT_SECOND, last ? SK_AT_DONE : SK_AT_POSTED, end);
        sk_stage_pass(stage);
        sk_runner_tell(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}
