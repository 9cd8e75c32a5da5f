/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "skitter/source.h"

#include <string.h>

/* Inputs are kept: every network that is tried sees the same ones. */
#define MOST_BYTES ((size_t)6 << 30)
/* Of five frames in a row the last is for measuring. */
#define HELD_EVERY 5
/* So many crops of a frame are calibrated with; all of it are measured on. */
#define MOST_CROPS 8

static bool is_held(int64_t number)
{
    return number % HELD_EVERY == HELD_EVERY - 1;
}

int32_t sk_quantize_count(const sk_quantize_job *job, bool held)
{
    int32_t n = 0;
    for (int32_t i = 0; i < job->n_frames; i++)
        n += job->frames[i].held == held;
    return n;
}

int32_t sk_quantize_inputs(const sk_quantize_job *job, bool held)
{
    int32_t n = 0;
    for (size_t i = 0; i < job->n_inputs; i++)
        n += job->inputs[i].held == held;
    return n;
}

sk_task_settings sk_quantize_task_settings(const sk_quantize_job *job)
{
    sk_task_settings t = sk_task_settings_defaults();
    t.net_height = job->s->height;
    t.net_width = job->s->width;
    t.yolo.confidence = job->s->confidence;
    t.sleap.peak_threshold = job->s->peak_threshold;
    return t;
}

static sk_status open_stage(sk_quantize_job *job, sk_quantize_stage *to, const sk_frame *frame, bool pictures,
                            sk_error *err)
{
    sk_task_settings t = sk_quantize_task_settings(job);
    t.rect = !pictures;
    to->width = frame->width;
    to->height = frame->height;
    if (!job->finder)
        return sk_task_stage_open(job->model, &t, frame->width, frame->height, &to->stage, err);
    SK_TRY(sk_quantize_finder_stage(job, to, err));
    SK_TRY(sk_task_stage_open_second(job->model, to->finder, &t, &to->stage, err));
    const sk_task_plan *plan = sk_task_stage_plan(to->stage);
    return sk_instances_alloc(plan->capacity, plan->n_keypoints, &to->unused, err);
}

static void close_stage(sk_quantize_stage *stage)
{
    sk_task_stage_close(&stage->stage);
    sk_quantize_finder_stage_close(stage);
    *stage = (sk_quantize_stage){0};
}

/* The stage for frames of this size; pictures of many sizes share the network's. */
static sk_status stage_for(sk_quantize_job *job, const sk_frame *frame, bool pictures, int32_t *out,
                           sk_error *err)
{
    for (int32_t i = 0; i < job->n_stages; i++)
        if (job->stages[i].width == frame->width && job->stages[i].height == frame->height) {
            *out = i;
            return SK_OK;
        }
    if (job->n_stages == SK_QUANTIZE_MOST_SIZES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: pictures of more than %d sizes", job->s->data,
                       SK_QUANTIZE_MOST_SIZES);
    sk_quantize_stage *stage = &job->stages[job->n_stages];
    sk_status status = open_stage(job, stage, frame, pictures, err);
    if (status != SK_OK) {
        close_stage(stage);
        return status;
    }
    const sk_task_plan *plan = sk_task_stage_plan(stage->stage);
    if (job->n_stages == 0) {
        job->width = plan->width;
        job->height = plan->height;
        job->channels = plan->channels;
        job->u8 = plan->u8;
    } else if (plan->width != job->width || plan->height != job->height || (plan->u8 != 0) != job->u8) {
        close_stage(stage);
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: this model's input follows the picture, and they are of several sizes "
                       "(%d x %d after %d x %d); give pictures of one size",
                       job->s->data, frame->width, frame->height, job->stages[0].width,
                       job->stages[0].height);
    }
    *out = job->n_stages++;
    return SK_OK;
}

static sk_status add_input(sk_quantize_job *job, sk_quantize_frame *frame, void **out, sk_error *err)
{
    size_t values = (size_t)job->width * (size_t)job->height * (size_t)job->channels;
    size_t bytes = job->u8 ? values : values * sizeof(float);
    if (bytes > MOST_BYTES / (job->n_inputs + 1))
        return sk_fail(err, SK_ERR_LIMIT, "%zu %s of %d x %d take more than %zu GiB; use fewer (--frames)",
                       job->n_inputs + 1, job->finder ? "crops" : "frames", job->width, job->height,
                       MOST_BYTES >> 30);
    SK_TRY(sk_array_reserve((void **)&job->inputs, &job->inputs_capacity, job->n_inputs + 1,
                            sizeof *job->inputs, (size_t)1 << 28, err));
    *out = sk_aligned_calloc(64, bytes);
    if (!*out)
        return sk_fail_memory(err, bytes);
    job->inputs[job->n_inputs++] = (sk_quantize_input){*out, frame->held};
    frame->count++;
    return SK_OK;
}

static sk_status keep_found(const sk_instances *found, sk_instances *to, sk_error *err)
{
    SK_TRY(sk_instances_alloc(found->count + 1, found->n_keypoints, to, err));
    to->count = found->count;
    for (int32_t i = 0; i < found->count; i++) {
        const size_t points = (size_t)found->n_keypoints;
        to->items[i] = found->items[i];
        to->items[i].first_keypoint = i * found->n_keypoints;
        if (points)
            memcpy(to->keypoints + (size_t)i * points, found->keypoints + found->items[i].first_keypoint,
                   points * sizeof *to->keypoints);
    }
    return SK_OK;
}

/* Crops around what is found in it. */
static sk_status take_crops(sk_quantize_job *job, const sk_frame *frame, sk_quantize_frame *to, sk_error *err)
{
    sk_quantize_stage *s = &job->stages[to->stage];
    const sk_instances *found = NULL;
    int32_t n_crops = 0;
    SK_TRY(sk_quantize_find(job, s, frame, &found, err));
    if (to->held)
        SK_TRY(keep_found(found, &to->found, err));
    SK_TRY(sk_task_stage_crops(s->stage, frame, found, &s->unused, &n_crops, err));
    for (int32_t i = 0; i < n_crops && (to->held || i < MOST_CROPS); i++) {
        void *input = NULL;
        SK_TRY(add_input(job, to, &input, err));
        SK_TRY(sk_task_stage_crop_input(s->stage, i, job->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32, input,
                                        err));
    }
    return SK_OK;
}

static sk_status take_frame(sk_quantize_job *job, const sk_source *source, const sk_frame *frame,
                            bool pictures, sk_error *err)
{
    sk_quantize_frame *to = &job->frames[job->n_frames];
    void *input = NULL;
    SK_TRY(stage_for(job, frame, pictures, &to->stage, err));
    to->held = is_held(job->n_frames);
    to->index = frame->index;
    to->name = pictures ? sk_strdup(sk_source_frame_name(source, frame)) : NULL;
    to->first = (int32_t)job->n_inputs;
    job->n_frames++;
    if (job->finder)
        return take_crops(job, frame, to, err);
    SK_TRY(add_input(job, to, &input, err));
    return sk_task_stage_input(job->stages[to->stage].stage, frame,
                               job->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32, input, err);
}

sk_status sk_quantize_spread(int64_t frames, int64_t wanted, sk_frame_range **out, int32_t *count,
                             sk_error *err)
{
    *count = 0;
    *out = sk_calloc((size_t)wanted + 1, sizeof **out);
    if (!*out)
        return sk_fail_memory(err, (size_t)wanted * sizeof **out);
    for (int64_t i = 0; i < wanted; i++) {
        const int64_t frame = i * (frames / wanted) + i * (frames % wanted) / wanted;
        (*out)[(*count)++] = (sk_frame_range){frame, frame + 1, 1};
    }
    return SK_OK;
}

static sk_status read_all(sk_quantize_job *job, sk_source *source, int64_t wanted, sk_error *err)
{
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    if (info.kind == SK_SOURCE_LIVE)
        return sk_fail(err, SK_ERR_ARG, "%s: a camera or stream gives other frames each time; record a video",
                       job->s->data);
    if (job->s->detections && info.kind == SK_SOURCE_PICTURES)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: --detections are of a video's frames, by their numbers, and these are pictures; "
                       "--finder takes a model that finds the animals",
                       job->s->data);
    sk_quantize_begin(job, job->finder ? "reading frames, finding animals" : "reading frames", wanted);
    while (job->n_frames < wanted) {
        const sk_frame *frame = NULL;
        SK_TRY(sk_source_next(source, &frame, err));
        if (!frame)
            break;
        sk_status status = take_frame(job, source, frame, info.kind == SK_SOURCE_PICTURES, err);
        sk_source_release(source, frame);
        if (status != SK_OK)
            return status;
        SK_TRY(sk_quantize_tick(job, err));
    }
    const sk_frame *last = NULL; /* only to see whether it is there */
    sk_error ignored;
    sk_source_status how = SK_SOURCE_STATUS_INIT;
    if (job->n_frames == wanted && sk_source_next(source, &last, &ignored) == SK_OK && last)
        sk_source_release(source, last);
    sk_source_get_status(source, &how);
    job->missing = how.missing;
    return SK_OK;
}

/* Spread over the source, or over the frames that detections are of. *frames: how many are there, where fewer than it promises; then
 * how many it is spread over, 0: it is not. */
static sk_status open_source(const sk_quantize_job *job, int64_t wanted, int64_t *frames, sk_source **out,
                             sk_error *err)
{
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_frame_range *ranges = NULL;
    sk_status status = SK_OK;
    sk_source_defaults(&settings);
    settings.colours = job->gives.colours; /* as `predict` reads it */
    if (job->s->detections) {
        *frames = 0;
        SK_TRY_GOTO(sk_quantize_finder_frames(job, wanted, &ranges, &settings.n_ranges, err));
        settings.ranges = ranges;
        status = sk_source_open(job->s->data, &settings, out, err);
        goto done;
    }
    SK_TRY(sk_source_open(job->s->data, &settings, out, err));
    sk_source_get_info(*out, &info);
    const int64_t all = info.frames < *frames ? info.frames : *frames;
    *frames = 0;
    if (all > wanted && !info.once) {
        *frames = all;
        sk_source_close(out);
        SK_TRY_GOTO(sk_quantize_spread(all, wanted, &ranges, &settings.n_ranges, err));
        if (info.kind == SK_SOURCE_VIDEO) /* that the end is not there is noticed by who looks for it */
            ranges[settings.n_ranges++] = (sk_frame_range){info.frames - 1, info.frames, 1};
        settings.ranges = ranges;
        status = sk_source_open(job->s->data, &settings, out, err);
    }
done:
    sk_free(ranges);
    return status;
}

static sk_status check_read(const sk_quantize_job *job, sk_error *err)
{
    if (job->n_frames < HELD_EVERY)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: has %d frame%s%s; at least %d are needed, one of five to measure what is lost",
                       job->s->data, job->n_frames, job->n_frames == 1 ? "" : "s",
                       job->s->detections ? " with detections" : "", HELD_EVERY);
    if (sk_quantize_inputs(job, false) == 0 || sk_quantize_inputs(job, true) == 0)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: %s finds nothing in %d frames of it%s, so there are no crops to look at; give "
                       "frames with animals, or lower --conf (YOLO) or --peak-threshold (SLEAP)",
                       job->s->data, job->finder->path, job->n_frames,
                       sk_quantize_inputs(job, false) ? " that are for measuring" : "");
    return SK_OK;
}

sk_status sk_quantize_read(sk_quantize_job *job, sk_error *err)
{
    int64_t wanted = (int64_t)job->s->frames * HELD_EVERY / (HELD_EVERY - 1), there = INT64_MAX;
    wanted = wanted < HELD_EVERY ? HELD_EVERY : wanted;
    for (;;) {
        sk_source *source = NULL;
        const int64_t before = there;
        job->frames = sk_calloc((size_t)wanted, sizeof *job->frames);
        if (!job->frames)
            return sk_fail_memory(err, (size_t)wanted * sizeof *job->frames);
        sk_status status = open_source(job, wanted, &there, &source, err);
        if (status == SK_OK)
            status = read_all(job, source, wanted, err);
        sk_source_close(&source);
        there -= job->missing;
        if (status != SK_OK || job->missing == 0 || job->n_frames >= wanted || there <= job->n_frames ||
            before != INT64_MAX)
            return status == SK_OK ? check_read(job, err) : status;
        sk_quantize_frames_free(job); /* cut off: spread again, over what there is */
    }
}

void sk_quantize_frames_free(sk_quantize_job *job)
{
    for (int32_t i = 0; i < job->n_frames; i++) {
        sk_free(job->frames[i].name);
        sk_instances_free(&job->frames[i].found);
    }
    for (size_t i = 0; i < job->n_inputs; i++)
        sk_free(job->inputs[i].data);
    for (int32_t i = 0; i < job->n_stages; i++)
        close_stage(&job->stages[i]);
    sk_free_all(job->frames, job->inputs);
    job->frames = NULL;
    job->inputs = NULL;
    job->n_inputs = job->inputs_capacity = 0;
    job->n_frames = job->n_stages = 0;
}
