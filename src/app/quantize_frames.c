/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "skitter/source.h"

#include <string.h>

/* Inputs are kept: every network that is tried sees the same ones. */
#define MOST_BYTES ((size_t)6 << 30)
/* Of five frames in a row the last is for measuring. */
#define HELD_EVERY 5

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
    sk_task_settings t = sk_task_settings_defaults();
    t.net_height = job->s->height;
    t.net_width = job->s->width;
    t.rect = !pictures;
    sk_task_stage **stage = &job->stages[job->n_stages].stage;
    SK_TRY(sk_task_stage_open(job->model, &t, frame->width, frame->height, stage, err));
    const sk_task_plan *plan = sk_task_stage_plan(*stage);
    if (job->n_stages == 0) {
        job->width = plan->width;
        job->height = plan->height;
        job->channels = plan->channels;
        job->u8 = plan->u8;
    } else if (plan->width != job->width || plan->height != job->height || (plan->u8 != 0) != job->u8) {
        sk_task_stage_close(stage);
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: this model's input follows the picture, and they are of several sizes "
                       "(%d x %d after %d x %d); give pictures of one size",
                       job->s->data, frame->width, frame->height, job->stages[0].width,
                       job->stages[0].height);
    }
    job->stages[job->n_stages].width = frame->width;
    job->stages[job->n_stages].height = frame->height;
    *out = job->n_stages++;
    return SK_OK;
}

static sk_status take_frame(sk_quantize_job *job, const sk_source *source, const sk_frame *frame,
                            bool pictures, sk_error *err)
{
    sk_quantize_frame *to = &job->frames[job->n_frames];
    SK_TRY(stage_for(job, frame, pictures, &to->stage, err));
    size_t values = (size_t)job->width * (size_t)job->height * (size_t)job->channels;
    size_t bytes = job->u8 ? values : values * sizeof(float);
    if (bytes > MOST_BYTES / (size_t)(job->n_frames + 1))
        return sk_fail(err, SK_ERR_LIMIT, "%d frames of %d x %d take more than %zu GiB; use fewer (--frames)",
                       job->n_frames + 1, job->width, job->height, MOST_BYTES >> 30);
    to->input = sk_aligned_calloc(64, bytes);
    if (!to->input)
        return sk_fail_memory(err, bytes);
    to->held = is_held(job->n_frames);
    to->index = frame->index;
    to->name = pictures ? sk_strdup(sk_source_frame_name(source, frame)) : NULL;
    job->n_frames++;
    return sk_task_stage_input(job->stages[to->stage].stage, frame,
                               job->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32, to->input, err);
}

/* Every how many frames of the source, so that those wanted lie over all of it. */
static int64_t step_for(const sk_source_info *info, int64_t wanted)
{
    return info->frames > wanted ? info->frames / wanted : 1;
}

static sk_status read_all(sk_quantize_job *job, sk_source *source, int64_t wanted, sk_error *err)
{
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    if (info.kind == SK_SOURCE_LIVE)
        return sk_fail(err, SK_ERR_ARG, "%s: a camera or stream gives other frames each time; record a video",
                       job->s->data);
    sk_quantize_begin(job, "reading frames", wanted);
    while (job->n_frames < wanted) {
        const sk_frame *frame = NULL;
        SK_TRY(sk_source_next(source, &frame, err));
        if (!frame)
            return SK_OK;
        sk_status status = take_frame(job, source, frame, info.kind == SK_SOURCE_PICTURES, err);
        sk_source_release(source, frame);
        if (status != SK_OK)
            return status;
        SK_TRY(sk_quantize_tick(job, err));
    }
    return SK_OK;
}

sk_status sk_quantize_read(sk_quantize_job *job, sk_error *err)
{
    sk_source *source = NULL;
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_info info = SK_SOURCE_INFO_INIT;
    int64_t wanted = (int64_t)job->s->frames * HELD_EVERY / (HELD_EVERY - 1);
    wanted = wanted < HELD_EVERY ? HELD_EVERY : wanted;
    sk_status status = SK_OK;
    sk_source_defaults(&settings);
    SK_TRY(sk_source_open(job->s->data, &settings, &source, err));
    sk_source_get_info(source, &info);
    settings.step = step_for(&info, wanted);
    if (settings.step > 1 && !info.once) {
        sk_source_close(&source);
        SK_TRY(sk_source_open(job->s->data, &settings, &source, err));
    }
    job->frames = sk_calloc((size_t)wanted, sizeof *job->frames);
    if (!job->frames) {
        status = sk_fail_memory(err, (size_t)wanted * sizeof *job->frames);
        goto done;
    }
    SK_TRY_GOTO(read_all(job, source, wanted, err));
    if (job->n_frames < HELD_EVERY)
        status = sk_fail(err, SK_ERR_ARG,
                         "%s: has %d frame%s; at least %d are needed, one of five to measure what is lost",
                         job->s->data, job->n_frames, job->n_frames == 1 ? "" : "s", HELD_EVERY);
done:
    sk_source_close(&source);
    return status;
}

void sk_quantize_frames_free(sk_quantize_job *job)
{
    for (int32_t i = 0; i < job->n_frames; i++)
        sk_free_all(job->frames[i].input, job->frames[i].name);
    for (int32_t i = 0; i < job->n_stages; i++)
        sk_task_stage_close(&job->stages[i].stage);
    sk_free(job->frames);
}
