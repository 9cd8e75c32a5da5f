/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"
#include "app/preview.h"
#include "app/retell.h"
#include "app/runtimes.h"
#include "app/slp_video.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "media/reader.h"
#include "media/source_told.h"

#include <stdio.h>
#include <string.h>

bool sk_overlay_on_gpu(const sk_predict_settings *s)
{
    const bool reads =
        s->detector.runtime && (sk_engine_can(s->detector.runtime)->reads & SK_READS(SK_PLACE_CUDA));
    return s->overlay_gpu == SK_CHOICE_ON || (s->overlay_gpu == SK_CHOICE_AUTO && reads);
}

void sk_predict_defaults(sk_predict_settings *settings)
{
    *settings = (sk_predict_settings){
        .formats = {"csv", "jsonl"}, .n_formats = 2, .runtime_requested = "cpu", .draw = SK_DRAW_ALL};
    sk_detector_defaults(&settings->detector);
    settings->media.size = sizeof settings->media;
    sk_source_defaults(&settings->media);
}

/* --- opening --- */

static sk_status check_formats(const sk_predict_settings *s, sk_error *err)
{
    for (int32_t i = 0; i < s->n_formats; i++) {
        const sk_sink_kind *kind = sk_sink_find(s->formats[i]);
        if (!kind)
            return sk_fail(err, SK_ERR_ARG, "no result format is called '%s'", s->formats[i]);
        if (!s->out && (s->n_formats > 1 || !kind->lines))
            return sk_fail(
                err, SK_ERR_ARG,
                "standard output takes one format that is written line by line, jsonl or csv, and not "
                "'%s'. Name a folder with --out for the others",
                kind->name);
    }
    if (!s->out && (s->overlay || s->crops))
        return sk_fail(
            err, SK_ERR_ARG,
            "pictures cannot go to standard output: name a folder with --out for overlays and crops");
    return SK_OK;
}

/* Those that make something of what is found. */
static sk_status list_told(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    sk_consumers *list = &r->consumers;
    if (s->more && s->more->cached)
        SK_TRY(sk_consumers_add(list, sk_consumer_cache(&r->cache), err));
    if (s->more)
        return s->more->list(s->more->context, s, r->report, list, err);
    for (int32_t i = 0; i < s->n_formats; i++)
        SK_TRY(sk_consumers_add(list, sk_consumer_file(sk_sink_find(s->formats[i])), err));
    const sk_overlay_wish wish = {s->draw, s->line_width, sk_overlay_on_gpu(s)};
    return s->overlay ? sk_consumers_add(list, sk_consumer_overlay(&wish), err) : SK_OK;
}

/* Their order is told by consumers.h. */
static sk_status list_consumers(predict_run *r, sk_predict_watch watch, void *context, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    sk_consumers *list = &r->consumers;
    if (s->crops && !s->find_only)
        SK_TRY(sk_consumers_add(list, sk_consumer_crops(), err));
    if (s->more && s->more->looks)
        SK_TRY(sk_consumers_add(list, sk_consumer_looks(), err));
    SK_TRY(sk_consumers_add(list, sk_consumer_journal(), err));
    SK_TRY(sk_consumers_add(list, sk_consumer_left_out(), err));
    if (!s->find_only)
        SK_TRY(list_told(r, err));
    if (s->tap)
        SK_TRY(sk_consumers_add(list, sk_consumer_tap(s->tap), err));
    if (s->preview)
        SK_TRY(sk_consumers_add(list, r->preview = sk_consumer_preview(s->preview), err));
    return sk_consumers_add(list, sk_consumer_progress(&r->progress, watch, context), err);
}

/* A finder, and one model that looks at what it finds. */
static sk_status prepare_given(predict_run *r, const sk_pipeline_settings *how, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    const sk_finder *f = s->finder;
    sk_model *finder = NULL;
    if (s->n_models != 1)
        return sk_fail(err, SK_ERR_ARG, "%d models where %s finds the animals; one can look at crops of them",
                       s->n_models, f->name);
    SK_TRY(sk_model_of_given(f->name, f->identity, f->n_classes, f->class_names, f->oriented, &finder, err));
    const sk_status status =
        sk_pipeline_prepare_given(finder, s->models[0], &s->detector, how, &r->pipeline, err);
    sk_model_close(&finder);
    return status;
}

static sk_status open_models_and_source(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    SK_TRY(sk_runtimes_hold(s->out ? s->out : "standard output", &r->runtime_lock, r->report->notice, err));
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&how);
    how.devices = predict_devices_of(s);
    how.allow_failover = s->allow_failover;
    SK_TRY(s->finder ? prepare_given(r, &how, err)
                     : sk_pipeline_prepare(s->models, s->n_models, &s->detector, &how, &r->pipeline, err));
    /* A network that fits every frame is opened, and the model's weights given back, before the decoder wants memory. */
    if (sk_pipeline_fits_all(r->pipeline) && !(s->more && s->more->cached))
        SK_TRY(predict_start(r, err));
    const sk_source_settings media = predict_media_of(r);
    SK_TRY(sk_source_open(s->source, &media, &r->source, err));
    r->info = sk_source_info_of(r->source);
    predict_note_decoder(r);
    r->like = *r->info.like; /* the source may be closed before the pipeline is started */
    r->report->live = r->info.kind == SK_SOURCE_LIVE || r->info.once;
    return predict_check_frames(r->settings, &r->info, err);
}

static sk_status begin_folder(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    SK_TRY(sk_run_folder_open(s->out, &r->folder, err));
    const sk_run_facts facts = {s, sk_pipeline_about(r->pipeline), sk_pipeline_models(r->pipeline), r->source,
                                r->info};
    SK_TRY(sk_run_identity_of(&facts, &r->identity, err));
    if (s->finder)
        sk_text_append(&r->identity.text, s->finder->identity);
    SK_TRY(predict_open_cache(r, err));
    sk_run_header_of(&facts, &r->identity, &r->header);
    r->header.started = sk_run_folder_started(r->folder);
    r->header.goes_on = s->goes_on;
    r->header.tracked = s->more && s->more->tracks && !s->find_only;
    sk_run_header_rate(&r->header, s->more ? s->more->rate : 0);
    sk_consumers_settle(&r->consumers, &r->header);
    const char *files[SK_CONSUMER_FILES * SK_CONSUMERS_MOST + 2];
    sk_consumers_files(&r->consumers, files);
    const sk_run_begin how = {.identity = sk_text_get(&r->identity.text),
                              .source = s->source,
                              .files = files,
                              .restart = s->restart,
                              .overwrite = s->overwrite,
                              .once = r->report->live,
                              .pictures = r->info.kind == SK_SOURCE_PICTURES,
                              .strict = s->strict};
    SK_TRY(predict_open_found(r, err));
    SK_TRY(sk_run_folder_begin(r->folder, &how, err));
    SK_TRY(predict_take_found(r, err));
    r->progress.total = r->info.frames;
    r->progress.done = r->progress.continued = sk_run_folder_known(r->folder);
    return SK_OK;
}

/* A video has told its frames' size; the network comes first here, too, and then the decoder's memory. */
static void make_room(predict_run *r)
{
    if (r->info.kind != SK_SOURCE_VIDEO || r->info.once) /* a pipe is opened once */
        return;
    sk_source_close(&r->source);
    sk_memory_give_back();
}

static sk_status begin_consumers(predict_run *r, sk_error *err)
{
    if (sk_run_folder_stage(r->folder) != SK_RUN_COMPLETE && !sk_inference_cache_complete(r->cache) &&
        !sk_pipeline_runner(r->pipeline)) { /* the files' headers name what computes */
        make_room(r);
        SK_TRY(predict_start(r, err));
    }
    sk_run_folder_computed_by(r->folder, r->pipeline, &r->header);
    SK_TRY(sk_consumers_begin(&r->consumers, &r->header, r->folder, err));
    const sk_source_settings media = predict_media_of(r);
    const sk_retell known = {.folder = r->folder,
                             .header = &r->header,
                             .consumers = &r->consumers,
                             .source = r->settings->source,
                             .media = &media};
    return sk_retell_run(&known, err);
}

/* --- the run --- */

static sk_status note(predict_run *r, sk_run_state state, sk_error *err)
{
    /* Frames of another size may have added a file that computes. */
    sk_run_folder_computed_by(r->folder, r->pipeline, &r->header);
    sk_run_standing standing = {.state = state,
                                .nothing_to_do = r->report->nothing_to_do,
                                .frames = r->progress.done - sk_run_folder_left_out(r->folder),
                                .instances = r->progress.instances,
                                .part_frames = r->report->frames,
                                .part_seconds = r->report->seconds,
                                .decoder = r->info.decoder,
                                .hwaccel = r->info.hwaccel,
                                .hwaccel_refused = r->report->hwaccel_refused};
    if (r->source)
        standing.source = sk_source_status_of(r->source);
    return sk_run_folder_note(r->folder, &r->header, &standing, err);
}

static sk_status feed(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    sk_predict_report *p = r->report;
    const sk_feed how = {.source = r->source,
                         .pipeline = r->pipeline,
                         .consumers = &r->consumers,
                         .finder = s->finder,
                         .preview = r->preview,
                         .interrupted = s->media.interrupted, /* a source that waited for its peer */
                         .interrupted_context = s->media.interrupted_context};
    sk_feed_report fed;
    r->progress.pipeline = r->pipeline;
    r->progress.source = r->source;
    sk_status status = sk_feed_run(&how, &fed, err);
    r->progress.pipeline = NULL;
    r->progress.source = NULL;
    p->frames += fed.frames;
    p->stopped = fed.stopped;
    p->seconds += fed.seconds;
    p->wait_source = fed.wait_source;
    return status;
}

/* Everything that is still to be done; *finished when it is. */
static sk_status look_at_frames(predict_run *r, bool *finished, sk_error *err)
{
    sk_predict_report *p = r->report;
    SK_TRY(note(r, SK_RUN_RUNNING, err));
    SK_TRY(predict_take_cached(r, err));
    *finished = !p->stopped && sk_inference_cache_complete(r->cache);
    if (p->stopped || *finished)
        return SK_OK;
    if (r->progress.done > 0 || !r->source)
        SK_TRY(predict_open_source(r, err));
    SK_TRY(predict_agree_on_frames(r, err));
    SK_TRY(predict_begin_finder(r, err));
    SK_TRY(feed(r, err));
    p->source = sk_source_status_of(r->source);
    p->missing = p->stopped ? 0 : p->source.missing;
    if (p->stopped || p->missing)
        return SK_OK;
    SK_TRY(predict_check_done(r, err));
    const int64_t left_out = sk_run_folder_left_out(r->folder);
    if (left_out > 0 && r->progress.done == left_out)
        return sk_fail(err, SK_ERR_FORMAT, "%s: none of its %lld pictures can be read: %s",
                       r->settings->source, (long long)left_out, sk_run_folder_first_problem(r->folder));
    *finished = true;
    return SK_OK;
}

/* --- the end --- */

static double seconds_in(const predict_run *r, sk_stage stage)
{
    sk_stage_stats stats = {.size = sizeof stats};
    if (!r->report->frames || !sk_pipeline_runner(r->pipeline))
        return 0;
    (void)sk_pipeline_get_stage(r->pipeline, stage, &stats);
    return 1e-3 * stats.sum;
}

static void fill_report(predict_run *r)
{
    sk_predict_report *p = r->report;
    if (r->folder) {
        p->unreadable = sk_run_folder_left_out(r->folder);
        p->total_frames = r->progress.done - p->unreadable;
    }
    p->instances = r->progress.instances;
    p->crops = sk_consumers_seconds(&r->consumers, "crops");
    p->overlay = sk_consumers_seconds(&r->consumers, "overlay");
    p->write = sk_consumers_seconds(&r->consumers, "journal") + sk_consumers_seconds(&r->consumers, "file");
    if (r->source)
        p->source = sk_source_status_of(r->source);
    p->decode = p->source.decode_seconds;
    if (!r->pipeline)
        return;
    const sk_pipeline_info *about = sk_pipeline_about(r->pipeline);
    snprintf(p->runtime, sizeof p->runtime, "%s", about->runtime);
    snprintf(p->device, sizeof p->device, "%s", about->device);
    snprintf(p->precision, sizeof p->precision, "%s", about->precision);
    p->pre = seconds_in(r, SK_STAGE_PRE);
    p->network = seconds_in(r, SK_STAGE_NETWORK) + seconds_in(r, SK_STAGE_SECOND);
    p->post =
        seconds_in(r, SK_STAGE_POST) + seconds_in(r, SK_STAGE_CROPS) + seconds_in(r, SK_STAGE_SECOND_POST);
}

static void note_file(sk_predict_report *report, const char *folder, const char *file)
{
    if (folder && file && report->n_files < (int32_t)(sizeof report->files / sizeof *report->files))
        snprintf(report->files[report->n_files++], sizeof report->files[0], "%.4096s/%.200s", folder, file);
}

/* Results first, then what is drawn, then what is cut out. */
void sk_predict_report_files(sk_predict_report *report, const sk_consumers *list, const sk_run_folder *folder)
{
    const char *out = folder ? sk_run_folder_path(folder) : NULL;
    for (int32_t i = 0; i < 2 * list->count; i++) {
        const bool drawn = i >= list->count;
        const sk_consumer *c = list->items[drawn ? 2 * list->count - 1 - i : i];
        if (!c->begun || drawn != ((c->needs & SK_NEEDS_PIXELS) != 0))
            continue;
        for (int k = 0; c->files[k]; k++)
            note_file(report, out, c->files[k]);
    }
    if (folder && sk_run_folder_stage(folder) != SK_RUN_HELD)
        note_file(report, out, "run.json");
}

/* Closes what is open; after a failure the first error stays. */
static sk_status close_all(predict_run *r, bool finished, sk_status status, sk_error *err)
{
    fill_report(r);
    status = sk_consumers_complete(&r->consumers, status, err);
    if (finished && status == SK_OK)
        status = sk_run_folder_finish(r->folder, err);
    status = sk_consumers_end(&r->consumers, finished && status == SK_OK, status, err);
    sk_predict_report_files(r->report, &r->consumers, r->folder);
    if (r->folder) {
        const sk_run_state state = status != SK_OK      ? SK_RUN_FAILED
                                   : finished           ? SK_RUN_FINISHED
                                   : r->report->stopped ? SK_RUN_STOPPED
                                   : r->report->missing ? SK_RUN_INCOMPLETE
                                                        : SK_RUN_FAILED;
        const sk_status noted = note(r, state, status == SK_OK ? err : NULL);
        status = status != SK_OK ? status : noted;
    }
    sk_consumers_close(&r->consumers);
    if (r->settings->finder)
        r->settings->finder->end(r->settings->finder->context);
    sk_pipeline_close(&r->pipeline); /* gives frames back to the source */
    sk_source_close(&r->source);
    sk_inference_cache_close(&r->cache);
    if (status != SK_OK)
        sk_run_folder_abandon(&r->folder);
    else
        sk_run_folder_close(&r->folder);
    sk_run_identity_free(&r->identity);
    predict_close_found(r);
    sk_free(r->finding);
    sk_run_lock_close(&r->runtime_lock);
    return status;
}

static sk_status predict(predict_run *r, bool *finished, sk_error *err)
{
    SK_TRY(open_models_and_source(r, err));
    SK_TRY(begin_folder(r, err));
    *finished = sk_run_folder_stage(r->folder) == SK_RUN_COMPLETE;
    SK_TRY(begin_consumers(r, err));
    r->report->nothing_to_do = *finished;
    return *finished ? SK_OK : look_at_frames(r, finished, err);
}

sk_status sk_predict_run(const sk_predict_settings *settings, sk_predict_watch watch, void *context,
                         sk_predict_report *report, sk_error *err)
{
    sk_predict_settings s = *settings;
    predict_run r = {.settings = &s, .report = report, .cached_last = -1};
    char *video = NULL;
    bool finished = false;
    memset(report, 0, sizeof *report);
    /* A .slp stands for the video it labels: results name that. */
    if (sk_path_has_extension(s.source, ".slp")) {
        SK_TRY(sk_slp_video(s.source, &video, err));
        s.source = video;
    }
    sk_status status = check_formats(&s, err);
    if (status == SK_OK)
        status = list_consumers(&r, watch, context, err);
    /* Frames that stay until their result is written: enough for every instance to have one, and one to come. */
    if (s.media.queue == 0 && predict_holds_frames(&r) && predict_devices_of(&s))
        s.media.queue = 2 * (sk_cpu_usable_cores() < 8 ? sk_cpu_usable_cores() : 8);
    if (status == SK_OK)
        status = predict(&r, &finished, err);
    status = close_all(&r, finished, status, err);
    sk_free(video);
    return status;
}
