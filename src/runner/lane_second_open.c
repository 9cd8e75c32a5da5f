/* SPDX-License-Identifier: Apache-2.0 */
#include "base/instances.h"
#include "runner/internal.h"

/* Opening and closing the second of two models: its stages for frames of a size, and its network. */

/* So many crops go through a device's network at once. */
#define CROPS_AT_ONCE 8
#define GPU_SLOTS     3

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

/* A device works on several crops in the time of one. On the processor they take longer together than one after another
 * (bench/pose_batches.sh), and other libraries are the caller's to judge: there it is the caller's wish that counts. */
static int32_t crops_at_once(const sk_lane *lane, const sk_trace_key *key)
{
    const int32_t wish = lane->runner->settings.detector.crop_batch;
    const bool own_device = !sk_device_on_cpu(&lane->device) && lane->device.engine->can.offers;
    return wish > 0 ? wish : key->peaks || key->crops || own_device ? CROPS_AT_ONCE : 1;
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
    if (r->models[1]->input.fixed_batch == 0)
        key.batch = crops_at_once(lane, &key);
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

bool sk_lane_second_fits(const sk_second *s, const sk_frame *like, bool resident)
{
    return s->width == like->width && s->height == like->height &&
           (s->refused || (s->resident == resident && (!resident || s->format == like->format)));
}

sk_status sk_lane_open_second(sk_lane *lane, const sk_frame *like, const sk_frame *resident, sk_error *err)
{
    sk_runner *r = lane->runner;
    sk_second *s = &lane->second;
    if (sk_lane_second_fits(s, like, resident != NULL))
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
