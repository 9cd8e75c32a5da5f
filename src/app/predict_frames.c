/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"
#include "base/file.h"
#include "base/frame.h"
#include "base/log.h"
#include "engines/engine.h"
#include "media/frame_choice.h"
#include "media/source_told.h"
#include "models/model.h"
#include "tasks/arrange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does anybody draw on frames or cut pieces out of them? */
static bool needs_pixels(const predict_run *r)
{
    return sk_consumers_needs(&r->consumers) & SK_NEEDS_PIXELS;
}

/* Instances that share the processor, whatever their number, and give the same bits. */
static bool is_own_cpu(const sk_predict_settings *s)
{
    const sk_capabilities *can = sk_engine_can(s->detector.runtime);
    return can->device == SK_DEVICE_CPU && can->same_bits && !can->for_checking;
}

/* Frames come as the pipeline likes them best, where only it looks at them and the source can be opened anew if, once the
 * network stands, they turn out not to be taken. Whoever draws on frames or cuts pieces out of them needs RGB. */
sk_source_settings predict_media_of(const predict_run *r)
{
    const sk_predict_settings *s = r->settings;
    const sk_pipeline_info *about = sk_pipeline_about(r->pipeline);
    sk_source_settings m = s->media;
    m.colours = sk_run_colours_of(s, about);
    m.skip_unreadable = !s->strict;
    if (!needs_pixels(r) && !sk_uri_is_pictures(s->source) && !sk_uri_is_live(s->source) &&
        !sk_uri_is_once(s->source)) {
        m.accepts = about->accepts;
        m.n_accepts = about->n_accepts;
    }
    return m;
}

/* The last frame that is done, by this run or an earlier part of it; -1. */
static int64_t last_done(const predict_run *r)
{
    const int64_t last = sk_run_folder_last_index(r->folder);
    return last > r->cached_last ? last : r->cached_last;
}

sk_status predict_begin_finder(predict_run *r, sk_error *err)
{
    const sk_finder *f = r->settings->finder;
    const sk_source_settings media = predict_media_of(r);
    const sk_finder_source source = {r->settings->source, &media, &r->info, last_done(r)};
    return f ? f->begin(f->context, &source, err) : SK_OK;
}

void predict_note_decoder(predict_run *r)
{
    const sk_source_info info = sk_source_info_of(r->source);
    r->info.hwaccel = info.hwaccel; /* FFmpeg's own text */
    snprintf(r->report->hwaccel, sizeof r->report->hwaccel, "%s", info.hwaccel);
    snprintf(r->report->hwaccel_refused, sizeof r->report->hwaccel_refused, "%s", info.hwaccel_refused);
    r->report->stayed = sk_frame_on_device(info.like);
}

sk_status predict_open_source(predict_run *r, sk_error *err)
{
    sk_source_settings m = predict_media_of(r);
    const bool skip_by_reading = m.loop > 1;
    const int64_t last = last_done(r);
    if (!skip_by_reading && last >= 0) {
        sk_frame_choice choice = sk_frame_choice_of(&m);
        const int64_t from = sk_frame_choice_next(&choice, last + 1);
        m.first = from >= 0 ? from : SK_FRAME_NUMBER_MOST; /* none is left */
    }
    sk_source_close(&r->source);
    SK_TRY(sk_source_open(r->settings->source, &m, &r->source, err));
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(r->source, &info);
    r->info.name = info.name; /* borrowed from the source that lives on, both */
    r->info.frame_id = info.frame_id;
    r->like = *info.like;
    predict_note_decoder(r); /* the GPU's state may have changed since the first look at it */
    const int64_t done = r->progress.done - sk_run_folder_left_out(r->folder);
    for (int64_t i = 0; skip_by_reading && i < done; i++) {
        const sk_frame *frame = NULL;
        SK_TRY(sk_source_next(r->source, &frame, err));
        if (!frame)
            break;
        sk_source_release(r->source, frame);
    }
    sk_unreadable known = SK_UNREADABLE_INIT;
    while (skip_by_reading && sk_source_next_unreadable(r->source, last, &known))
        continue; /* the journal has them */
    return SK_OK;
}

static void warn_of_fewer(const sk_predict_settings *s, const sk_source_info *info, int64_t there)
{
    char frames[SK_FRAMES_TEXT];
    const int64_t asked = sk_frames_wanted(&s->media, -1);
    if (asked > there)
        sk_log(SK_LOG_WARN, "%s: --frames %s asks for %lld frames, and %lld of them are there: it has %s%lld",
               s->source, sk_frames_text(&s->media, frames, sizeof frames), (long long)asked,
               (long long)there, info->exact ? "" : "about ", (long long)info->total);
}

sk_status predict_check_frames(const sk_predict_settings *s, const sk_source_info *info, sk_error *err)
{
    char frames[SK_FRAMES_TEXT];
    if (!info->exact || info->frames < 0)
        return SK_OK;
    if (info->frames == 0 && info->total > 0)
        return sk_fail(err, SK_ERR_NOT_FOUND,
                       "%s: has %lld frames, 0 to %lld, and none of them is in --frames %s", s->source,
                       (long long)info->total, (long long)info->total - 1,
                       sk_frames_text(&s->media, frames, sizeof frames));
    warn_of_fewer(s, info, info->frames / s->media.loop);
    return SK_OK;
}

sk_status predict_check_done(const predict_run *r, sk_error *err)
{
    const int64_t done = r->progress.done;
    if (done == 0 && r->settings->find_only)
        return SK_OK; /* a part behind the end of a video whose length was not known for sure */
    if (done == 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no frame came of it%s", r->settings->source,
                       sk_frames_wanted(&r->settings->media, -1) >= 0 || r->settings->media.first > 0
                           ? ": --frames begins after its end"
                           : "");
    if (!r->info.exact && r->info.kind == SK_SOURCE_VIDEO && r->settings->media.loop == 1)
        warn_of_fewer(r->settings, &r->info, done);
    return SK_OK;
}

sk_status predict_agree_on_frames(predict_run *r, sk_error *err)
{
    const sk_frame *like = &r->like;
    const bool there = sk_frame_on_device(like), taken = sk_pipeline_likes(r->pipeline, like);
    if (there && taken)
        sk_log(SK_LOG_INFO, "%s: decoded on GPU %d, where frames stay", r->settings->source, like->device);
    if (taken || (!there && like->format != SK_PIXEL_NV12))
        return SK_OK;
    if (there)
        sk_log(SK_LOG_INFO,
               "%s: this model needs frames in memory; they are fetched from GPU %d, which decodes them",
               r->settings->source, like->device);
    return predict_open_source(r, err);
}

sk_status sk_predict_keep_finder(sk_predict_settings *s, sk_error *err)
{
    sk_model *models[SK_PIPELINE_MAX_MODELS] = {0}, *arranged[SK_PIPELINE_MAX_MODELS];
    sk_status status = SK_OK;
    for (int32_t i = 0; i < s->n_models && status == SK_OK; i++)
        status = sk_model_open(s->models[i], &models[i], err);
    memcpy(arranged, models, sizeof arranged);
    if (status == SK_OK)
        status = sk_task_arrange(arranged, s->n_models, err);
    for (int32_t i = 0; i < s->n_models && status == SK_OK; i++)
        if (models[i] == arranged[0])
            s->models[0] = s->models[i];
    for (int32_t i = 0; i < s->n_models; i++)
        sk_model_close(&models[i]);
    s->n_models = 1;
    return status;
}

/* Fewer frames than this are not worth opening an instance for each core. */
#define FEW_FRAMES 16

static bool has_many_frames(const sk_predict_settings *s)
{
    const sk_source_settings *m = &s->media;
    if (sk_uri_is_live(s->source) || (sk_uri_is_pictures(s->source) && sk_file_is_regular(s->source)))
        return false;
    const int64_t wanted = sk_frames_wanted(m, -1);
    return wanted < 0 || m->loop > 1 || wanted >= FEW_FRAMES;
}

/* Results are then the same bits however many threads compute them, so the quickest way may be taken. */
const char *predict_devices_of(const sk_predict_settings *s)
{
    if (s->devices || s->detector.threads > 0 || s->detector.batch > 1)
        return s->devices;
    return is_own_cpu(s) && has_many_frames(s) ? "auto" : NULL;
}

/* Pictures are known by the frame they came in, and overlays are drawn on it; frames of a video can go back to the decoder
 * as soon as they are pre-processed. */
bool predict_holds_frames(const predict_run *r)
{
    return needs_pixels(r) ||
           ((sk_consumers_needs(&r->consumers) & SK_NEEDS_NAMES) && sk_uri_is_pictures(r->settings->source));
}

sk_status predict_start(predict_run *r, sk_error *err)
{
    sk_runner_settings how;
    sk_runner_defaults(&how);
    how.frames = predict_holds_frames(r) ? SK_RUNNER_HOLD : SK_RUNNER_BORROW;
    how.quick_open = true;
    how.frame_width = r->info.width;
    how.frame_height = r->info.height;
    how.like = r->info.kind ? &r->like : NULL;
    how.devices = predict_devices_of(r->settings);
    how.allow_failover = r->settings->allow_failover;
    how.depth = r->settings->depth;
    SK_TRY(sk_pipeline_start(r->pipeline, &how, err));
    sk_pipeline_forget(r->pipeline, r->info.kind == SK_SOURCE_VIDEO || r->info.kind == SK_SOURCE_LIVE);
    return SK_OK;
}
