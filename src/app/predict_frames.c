/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"
#include "base/file.h"
#include "base/frame.h"
#include "base/log.h"
#include "engines/engine.h"
#include "media/frame_choice.h"
#include "tasks/stage.h"

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

/* Does nobody but the engine's first kernel look at pixels? Whoever draws on frames or cuts crops out of them needs RGB here. */
static bool engine_reads_frames(const predict_run *r)
{
    const sk_predict_settings *s = r->settings;
    return !r->frames_here && !needs_pixels(r) && s->n_models == 1 && !s->allow_failover &&
           sk_detector_takes_nv12(r->detector) &&
           (sk_engine_can(s->detector.runtime)->reads & SK_READS_DEVICE) && !sk_uri_is_pictures(s->source) &&
           !sk_uri_is_live(s->source) && !sk_uri_is_once(s->source); /* which may not be opened anew */
}

/* The GPU whose memory frames may stay in from the decoder to the network, + 1; 0: none. */
static int32_t device_for_frames(const predict_run *r)
{
    const sk_predict_settings *s = r->settings;
    const char *wish = s->media.hwaccel, *devices = s->devices, *runtime = s->detector.runtime;
    if (!engine_reads_frames(r) || !wish || (strcmp(wish, "cuda") != 0 && strcmp(wish, "auto") != 0))
        return 0;
    long device = 0; /* "cuda:1" and the like: the runner is asked, too, once it stands */
    const size_t name = strlen(runtime);
    if (devices && strncmp(devices, runtime, name) == 0 && devices[name] == ':')
        device = strtol(devices + name + 1, NULL, 10);
    return device >= 0 && device < 1024 ? (int32_t)device + 1 : 0;
}

sk_source_settings predict_media_of(const predict_run *r)
{
    const sk_predict_settings *s = r->settings;
    sk_source_settings m = s->media;
    m.colours = sk_run_colours_of(s, sk_detector_about(r->detector));
    m.skip_unreadable = !s->strict;
    m.on_device = device_for_frames(r);
    m.nv12 = engine_reads_frames(r);
    const sk_task_settings task = sk_task_settings_of(&s->detector);
    const sk_model *model = sk_detector_about(r->detector)->models[0];
    if (s->n_models != 1 || needs_pixels(r) || !is_own_cpu(s) ||
        !sk_task_i420_above(model, &task, &m.planes_above_width, &m.planes_above_height))
        m.planes_above_width = m.planes_above_height = 0;
    return m;
}

sk_status predict_open_source(predict_run *r, sk_error *err)
{
    sk_source_settings m = predict_media_of(r);
    const bool skip_by_reading = m.loop > 1;
    const int64_t last = sk_run_folder_last_index(r->folder);
    if (!skip_by_reading && last >= 0) {
        sk_frame_choice choice = sk_frame_choice_of(&m);
        const int64_t from = sk_frame_choice_next(&choice, last + 1);
        m.first = from >= 0 ? from : SK_FRAME_NUMBER_MOST; /* none is left */
    }
    sk_source_close(&r->source);
    SK_TRY(sk_source_open(r->settings->source, &m, &r->source, err));
    sk_source_info info;
    sk_source_get_info(r->source, &info);
    r->info.name = info.name; /* borrowed from the source that lives on */
    r->info.like = info.like;
    const int64_t done = sk_run_folder_known(r->folder) - sk_run_folder_left_out(r->folder);
    for (int64_t i = 0; skip_by_reading && i < done; i++) {
        const sk_frame *frame = NULL;
        SK_TRY(sk_source_next(r->source, &frame, err));
        if (!frame)
            break;
        sk_source_release(r->source, frame);
    }
    sk_unreadable known;
    while (skip_by_reading && sk_source_next_unreadable(r->source, last, &known))
        continue; /* the journal has them */
    return SK_OK;
}

static void warn_of_fewer(const predict_run *r, int64_t there)
{
    char frames[SK_FRAMES_TEXT];
    const int64_t asked = sk_frames_wanted(&r->settings->media, -1);
    if (asked > there)
        sk_log(SK_LOG_WARN, "%s: --frames %s asks for %lld frames, and %lld of them are there: it has %s%lld",
               r->settings->source, sk_frames_text(&r->settings->media, frames, sizeof frames),
               (long long)asked, (long long)there, r->info.exact ? "" : "about ", (long long)r->info.total);
}

sk_status predict_check_frames(const predict_run *r, sk_error *err)
{
    char frames[SK_FRAMES_TEXT];
    const sk_source_settings *m = &r->settings->media;
    if (!r->info.exact || r->info.frames < 0)
        return SK_OK;
    if (r->info.frames == 0 && r->info.total > 0)
        return sk_fail(err, SK_ERR_NOT_FOUND,
                       "%s: has %lld frames, 0 to %lld, and none of them is in --frames %s",
                       r->settings->source, (long long)r->info.total, (long long)r->info.total - 1,
                       sk_frames_text(m, frames, sizeof frames));
    warn_of_fewer(r, r->info.frames / m->loop);
    return SK_OK;
}

sk_status predict_check_done(const predict_run *r, sk_error *err)
{
    const int64_t done = r->progress.done;
    if (done == 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no frame came of it%s", r->settings->source,
                       sk_frames_wanted(&r->settings->media, -1) >= 0 || r->settings->media.first > 0
                           ? ": --frames begins after its end"
                           : "");
    if (!r->info.exact && r->info.kind == SK_SOURCE_VIDEO && r->settings->media.loop == 1)
        warn_of_fewer(r, done);
    return SK_OK;
}

sk_status predict_agree_on_frames(predict_run *r, sk_error *err)
{
    const sk_frame *like = &r->info.like;
    const int32_t place = sk_frame_on_device(like) ? like->device + 1 : 0;
    if (place && sk_runner_takes_device_frames(r->runner, place - 1)) {
        sk_log(SK_LOG_INFO, "%s: decoded on GPU %d, where frames stay", r->settings->source, place - 1);
        return SK_OK;
    }
    if (!place && (like->format != SK_PIXEL_NV12 || sk_runner_takes_nv12(r->runner)))
        return SK_OK;
    if (place)
        sk_log(SK_LOG_INFO,
               "%s: this model needs frames in memory; they are fetched from GPU %d, which decodes them",
               r->settings->source, place - 1);
    r->frames_here = true;
    return predict_open_source(r, err);
}

static void frame_done(void *context, const sk_frame *frame)
{
    predict_run *r = context;
    sk_source_release(r->source, frame);
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

sk_status predict_open_runner(predict_run *r, sk_error *err)
{
    sk_runner_settings how;
    sk_runner_defaults(&how);
    how.frames = predict_holds_frames(r) ? SK_RUNNER_HOLD : SK_RUNNER_BORROW;
    how.frame_done = frame_done;
    how.context = r;
    how.quick_open = true;
    how.frame_width = r->info.width;
    how.frame_height = r->info.height;
    how.like = r->info.kind ? &r->info.like : NULL;
    how.devices = predict_devices_of(r->settings);
    how.allow_failover = r->settings->allow_failover;
    how.depth = r->settings->depth;
    SK_TRY(sk_detector_open_runner(r->detector, &how, &r->runner, err));
    sk_detector_forget(r->detector, r->info.kind == SK_SOURCE_VIDEO || r->info.kind == SK_SOURCE_LIVE);
    return SK_OK;
}
