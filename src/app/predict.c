/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict.h"

#include "app/detector.h"
#include "app/overlay_run.h"
#include "app/slp_video.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/text.h"
#include "media/reader.h"
#include "models/model.h"
#include "results/journal.h"
#include "runtime/run_lock.h"
#include "skitter/version.h"
#include "tasks/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Entries may sit in the journal's buffer this long before the operating system has them. */
#define FLUSH_NS 500000000

typedef struct run {
    const sk_predict_settings *settings;
    sk_predict_report *report;
    sk_lock *lock;
    sk_run_lock *runtime_lock;
    sk_detector *detector;
    sk_source *source;
    sk_source_info info;
    sk_journal *journal;
    sk_sink *sinks[SK_PREDICT_MAX_FORMATS];
    int32_t n_sinks;
    sk_overlay_run *overlay;
    sk_runner *runner; /* the detector's */
    pthread_t feeder;  /* takes frames from the source to the runner */
    bool feeding;
    bool frames_here; /* as RGB in memory, whatever the decoder could leave them as */
    atomic_bool stop;
    sk_status feeder_status; /* the feeder's until it is joined */
    sk_error feeder_error;
    double wait_source;
    char settings_text[1024], fingerprint[4096], started[SK_CLOCK_TEXT];
    sk_run_header header;
    sk_predict_progress progress;
    int64_t last_flush;
} run;

void sk_predict_defaults(sk_predict_settings *settings)
{
    *settings =
        (sk_predict_settings){.formats = {"csv", "jsonl"}, .n_formats = 2, .runtime_requested = "cpu"};
    sk_detector_defaults(&settings->detector);
    sk_source_defaults(&settings->media);
}

static double seconds_since(int64_t ns)
{
    return (double)(sk_clock_ns() - ns) * 1e-9;
}

/* --- what the run is --- */

static const char *kind_name(sk_source_kind kind)
{
    return kind == SK_SOURCE_VIDEO ? "video" : kind == SK_SOURCE_PICTURES ? "pictures" : "live";
}

/* Everything that shapes the result, in words: for the headers, and to know a run again. */
static void describe_settings(run *r)
{
    const sk_detector_settings *d = &r->settings->detector;
    const sk_source_settings *m = &r->settings->media;
    const sk_detector_info *about = sk_detector_about(r->detector);
    char classes[256] = "all";
    if (d->n_classes) {
        classes[0] = '\0';
        for (int32_t i = 0; i < d->n_classes; i++) {
            size_t used = strlen(classes);
            snprintf(classes + used, sizeof classes - used, "%s%d", i ? "," : "", d->classes[i]);
        }
    }
    if (about->task >= SK_TASK_SINGLE_INSTANCE)
        snprintf(r->settings_text, sizeof r->settings_text,
                 "peak_threshold %g; max_instances %d; frames %lld:%lld:%lld", (double)d->peak_threshold,
                 d->max_instances, (long long)m->first, (long long)m->last, (long long)m->step);
    else
        snprintf(r->settings_text, sizeof r->settings_text,
                 "conf %g; iou %g; max_det %d; classes %s; agnostic %d; imgsz %dx%d%s; frames %lld:%lld:%lld",
                 (double)d->confidence, d->iou, d->max_det, classes, d->agnostic, d->height, d->width,
                 d->rect ? " rect" : "", (long long)m->first, (long long)m->last, (long long)m->step);
    if (r->settings->runtime_fell_back) {
        size_t length = strlen(r->settings_text);
        snprintf(r->settings_text + length, sizeof r->settings_text - length, "; runtime fallback %s -> %s",
                 r->settings->runtime_requested, d->runtime);
    }
    int used = snprintf(r->fingerprint, sizeof r->fingerprint,
                        "skitter %s; source %s; loop %d; runtime %s %s; %s", sk_version_text(),
                        r->settings->source, m->loop, d->runtime, about->precision, r->settings_text);
    for (int32_t i = 0; i < about->n_models && used > 0 && (size_t)used < sizeof r->fingerprint; i++)
        used += snprintf(r->fingerprint + used, sizeof r->fingerprint - (size_t)used, "; model %s",
                         about->models[i]->content_hash);
}

static void fill_header(run *r)
{
    const sk_detector_info *about = sk_detector_about(r->detector);
    sk_run_header *h = &r->header;
    *h = (sk_run_header){.source = r->settings->source,
                         .source_kind = kind_name(r->info.kind),
                         .width = r->info.width,
                         .height = r->info.height,
                         .rate = r->info.rate,
                         .source_frames = r->info.total,
                         .task = sk_task_name(about->task),
                         .n_models = about->n_models,
                         .n_classes = about->n_classes,
                         .class_names = about->class_names,
                         .n_keypoints = about->n_keypoints,
                         .keypoint_names = about->keypoint_names,
                         .n_edges = about->n_edges,
                         .edges = about->edges,
                         .has = about->has,
                         .identities = about->identities,
                         .runtime_requested = r->settings->runtime_requested,
                         .runtime = about->runtime,
                         .device = about->device,
                         .precision = about->precision,
                         .settings = r->settings_text,
                         .version = sk_version_text(),
                         .started = r->started};
    for (int32_t i = 0; i < about->n_models; i++) {
        h->model_paths[i] = about->models[i]->path;
        h->model_hashes[i] = about->models[i]->content_hash;
    }
}

void sk_source_status_json(const sk_source_status *status, const char *key, sk_json *json)
{
    sk_json_key(json, key);
    sk_json_object(json);
    sk_json_key_int(json, "decoded", status->decoded);
    sk_json_key_int(json, "dropped", status->dropped);
    sk_json_key_int(json, "damaged", status->damaged);
    sk_json_key_int(json, "outages", status->outages);
    sk_json_key_int(json, "reconnects", status->reconnects);
    sk_json_key_bool(json, "connected", status->connected);
    sk_json_key_string(json, "last_problem", status->last_problem);
    sk_json_close(json);
}

/* run.json: the header for formats that have no place for one, and where the run stands. */
static sk_status write_run_file(const run *r, const char *state, sk_error *err)
{
    const sk_run_header *h = &r->header;
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key_string(&json, "skitter", h->version);
    sk_json_key_string(&json, "started", h->started);
    sk_json_key_string(&json, "state", state);
    sk_json_key_string(&json, "source", h->source);
    sk_json_key_string(&json, "source_kind", h->source_kind);
    sk_json_key_int(&json, "width", h->width);
    sk_json_key_int(&json, "height", h->height);
    sk_json_key_float(&json, "rate", h->rate);
    sk_json_key_int(&json, "frames", r->progress.done);
    sk_json_key_int(&json, "instances", r->progress.instances);
    sk_json_key_string(&json, "task", h->task);
    sk_json_key_string(&json, "runtime_requested", h->runtime_requested);
    sk_json_key_string(&json, "runtime", h->runtime);
    sk_json_key_string(&json, "device", h->device);
    sk_json_key_string(&json, "precision", h->precision);
    sk_json_key_string(&json, "settings", h->settings);
    sk_json_key_string(&json, "decoder", r->info.decoder);
    sk_json_key_string(&json, "hwaccel", r->info.hwaccel);
    sk_source_status source = {0};
    if (r->source)
        sk_source_get_status(r->source, &source);
    sk_source_status_json(&source, "source_status", &json);
    sk_json_key(&json, "models");
    sk_json_array(&json);
    for (int32_t i = 0; i < h->n_models; i++) {
        sk_json_object(&json);
        sk_json_key_string(&json, "path", h->model_paths[i]);
        sk_json_key_string(&json, "sha256", h->model_hashes[i]);
        sk_json_close(&json);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    char *path = sk_path_join(r->settings->out, "run.json");
    if (status == SK_OK)
        status = path ? sk_file_replace(path, text.data, text.length, err) : sk_fail_memory(err, 1);
    sk_free(path);
    sk_text_free(&text);
    return status;
}

/* --- opening --- */

static sk_status lock_folder(run *r, sk_error *err)
{
    SK_TRY(sk_folder_make(r->settings->out, err));
    char *path = sk_path_join(r->settings->out, ".skitter.lock");
    if (!path)
        return sk_fail_memory(err, strlen(r->settings->out));
    sk_lock_holder holder = {0};
    sk_status status = sk_lock_open(path, 0, &r->lock, &holder, err);
    if (status == SK_ERR_BUSY)
        status = sk_fail(
            err, SK_ERR_BUSY,
            "%s: another run is writing here: process %lld, '%s'. Wait for it, stop it (kill %lld) or choose "
            "another --out",
            r->settings->out, (long long)holder.pid, holder.command, (long long)holder.pid);
    sk_free(path);
    return status;
}

/* While this run is on, the saved runtime stays. A user without a cache folder runs all the same, and is told. */
static sk_status lock_runtime(run *r, sk_error *err)
{
    sk_error problem = {0};
    sk_status status = sk_run_lock_open(r->settings->out, &r->runtime_lock, &problem);
    if (status == SK_OK)
        return SK_OK;
    if (status != SK_ERR_IO && status != SK_ERR_NOT_FOUND) {
        if (err)
            *err = problem;
        return status;
    }
    snprintf(r->report->notice, sizeof r->report->notice,
             "the compute runtime could be changed during this run: %.400s", problem.message);
    return SK_OK;
}

static sk_status open_journal(run *r, sk_error *err)
{
    char *path = sk_path_join(r->settings->out, "journal.skj");
    if (!path)
        return sk_fail_memory(err, strlen(r->settings->out));
    sk_status status =
        sk_journal_open(path, r->fingerprint, r->started, r->settings->restart, &r->journal, err);
    sk_free(path);
    if (status == SK_OK) /* a continued run began when its first part did */
        snprintf(r->started, sizeof r->started, "%s", sk_journal_stamp(r->journal));
    return status;
}

static sk_status open_overlay(run *r, sk_error *err)
{
    if (!r->settings->overlay)
        return SK_OK;
    const sk_detector_info *about = sk_detector_about(r->detector);
    sk_overlay_settings o;
    sk_overlay_defaults(&o);
    o.n_classes = about->n_classes;
    o.class_names = about->class_names;
    o.n_edges = about->n_edges;
    o.edges = about->edges;
    SK_TRY(sk_overlay_run_open(r->settings->out, r->info.kind == SK_SOURCE_PICTURES, r->info.rate, &o,
                               &r->overlay, err));
    int64_t covered = sk_overlay_run_covered(r->overlay), known = sk_journal_count(r->journal);
    if (covered < known && !sk_journal_finished(r->journal))
        SK_TRY(
            sk_journal_truncate(r->journal, covered, err)); /* their pictures are gone: look at them again */
    if (sk_journal_finished(r->journal))
        return SK_OK;
    return sk_overlay_run_continue(r->overlay, sk_journal_count(r->journal), err);
}

static sk_status play_into_sinks(void *context, const sk_result_frame *frame, sk_error *err)
{
    run *r = context;
    for (int32_t i = 0; i < r->n_sinks; i++)
        SK_TRY(r->sinks[i]->write(r->sinks[i], frame, err));
    r->progress.instances += frame->instances->count;
    return SK_OK;
}

static void note_file(sk_predict_report *report, const char *folder, const char *file)
{
    if (report->n_files < (int32_t)(sizeof report->files / sizeof *report->files))
        snprintf(report->files[report->n_files++], sizeof report->files[0], "%.255s/%.200s", folder, file);
}

static sk_status open_sinks(run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    for (int32_t i = 0; i < s->n_formats; i++) {
        const sk_sink_kind *kind = sk_sink_find(s->formats[i]);
        if (!kind)
            return sk_fail(err, SK_ERR_ARG, "no result format is called '%s'", s->formats[i]);
        char *path = sk_path_join(s->out, kind->file);
        if (!path)
            return sk_fail_memory(err, strlen(kind->file));
        sk_status status = kind->open(path, &r->header, &r->sinks[r->n_sinks], err);
        sk_free(path);
        SK_TRY(status);
        r->n_sinks++;
        note_file(r->report, s->out, kind->file);
    }
    return sk_journal_replay(r->journal, play_into_sinks, r, err);
}

/* Does nobody but the engine's first kernel look at pixels? Whoever draws on frames or cuts crops out of them needs RGB here. */
static bool engine_reads_frames(const run *r)
{
    const sk_predict_settings *s = r->settings;
    return !r->frames_here && !s->overlay && s->n_models == 1 && !s->allow_failover &&
           sk_detector_about(r->detector)->task < SK_TASK_SINGLE_INSTANCE && /* SLEAP's come as RGB */
           strcmp(s->detector.runtime, "cuda") == 0 && !sk_uri_is_pictures(s->source) &&
           !sk_uri_is_live(s->source);
}

/* The GPU whose memory frames may stay in from the decoder to the network, + 1; 0: none. */
static int32_t device_for_frames(const run *r)
{
    const sk_predict_settings *s = r->settings;
    const char *wish = s->media.hwaccel, *devices = s->devices;
    if (!engine_reads_frames(r) || !wish || (strcmp(wish, "cuda") != 0 && strcmp(wish, "auto") != 0))
        return 0;
    int device = 0; /* "cuda:1" and the like: the runner is asked, too, once it stands */
    if (devices && strncmp(devices, "cuda:", 5) == 0 && devices[5] >= '0' && devices[5] <= '9')
        device = devices[5] - '0';
    return device + 1;
}

/* How the run wants its frames: on the device that decodes them, or as planes where the network looks at few pixels. */
static sk_source_settings media_of(const run *r)
{
    const sk_predict_settings *s = r->settings;
    sk_source_settings m = s->media;
    m.on_device = device_for_frames(r);
    m.nv12 = engine_reads_frames(r);
    const sk_task_settings task = sk_task_settings_of(&s->detector);
    const sk_model *model = sk_detector_about(r->detector)->models[0];
    if (s->n_models != 1 || s->overlay || strcmp(s->detector.runtime, "cpu") != 0 ||
        !sk_task_planes_above(model, &task, &m.planes_above_width, &m.planes_above_height))
        m.planes_above_width = m.planes_above_height = 0;
    return m;
}

/* The source from the first frame that is still to be done. */
static sk_status open_source(run *r, int64_t done, sk_error *err)
{
    sk_source_settings m = media_of(r);
    bool skip_by_reading = m.loop > 1;
    if (!skip_by_reading)
        m.first += done * m.step;
    sk_source_close(&r->source);
    SK_TRY(sk_source_open(r->settings->source, &m, &r->source, err));
    sk_source_info info;
    sk_source_get_info(r->source, &info);
    r->info.name = info.name; /* borrowed from the source that lives on */
    r->info.like = info.like;
    for (int64_t i = 0; skip_by_reading && i < done; i++) {
        const sk_frame *frame = NULL;
        SK_TRY(sk_source_next(r->source, &frame, err));
        if (!frame)
            break;
        sk_source_release(r->source, frame);
    }
    return SK_OK;
}

/* Frames on the device, or as NV12, where both sides can; else RGB in memory, as ever. */
static sk_status agree_on_frames(run *r, int64_t done, sk_error *err)
{
    const sk_frame *like = &r->info.like;
    const int32_t place = like->on_device;
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
    return open_source(r, done, err);
}

static void frame_done(void *context, const sk_frame *frame)
{
    run *r = context;
    sk_source_release(r->source, frame);
}

/* Fewer frames than this are not worth opening an instance for each core. */
#define FEW_FRAMES 16

static bool has_many_frames(const sk_predict_settings *s)
{
    const sk_source_settings *m = &s->media;
    if (sk_uri_is_live(s->source) || (sk_uri_is_pictures(s->source) && sk_file_is_regular(s->source)))
        return false;
    return m->last < 0 || m->loop > 1 || (m->last - m->first) / m->step >= FEW_FRAMES;
}

/* Results of the cpu runtime are the same bits however many threads compute them, so the quickest way may be taken. */
static const char *devices_of(const sk_predict_settings *s)
{
    if (s->devices || s->detector.threads > 0 || s->detector.batch > 1)
        return s->devices;
    return strcmp(s->detector.runtime, "cpu") == 0 && has_many_frames(s) ? "auto" : NULL;
}

/* Pictures are known by the frame they came in, and overlays are drawn on it; frames of a video can go back to the decoder
 * as soon as they are pre-processed. */
static bool holds_frames(const sk_predict_settings *s)
{
    return s->overlay || sk_uri_is_pictures(s->source);
}

static sk_status open_runner(run *r, sk_error *err)
{
    sk_runner_settings how;
    sk_runner_defaults(&how);
    how.frames = holds_frames(r->settings) ? SK_RUNNER_HOLD : SK_RUNNER_BORROW;
    how.frame_done = frame_done;
    how.context = r;
    how.quick_open = true;
    how.frame_width = r->info.width;
    how.frame_height = r->info.height;
    how.like = r->info.kind ? &r->info.like : NULL;
    how.devices = devices_of(r->settings);
    how.allow_failover = r->settings->allow_failover;
    how.depth = r->settings->depth;
    SK_TRY(sk_detector_open_runner(r->detector, &how, &r->runner, err));
    sk_detector_forget(r->detector);
    return SK_OK;
}

/* --- running --- */

static sk_status write_result(run *r, const sk_runner_result *got, sk_error *err)
{
    int64_t begin = sk_clock_ns();
    const sk_instances *found = got->instances;
    const char *name = got->frame ? sk_source_frame_name(r->source, got->frame) : r->info.name;
    sk_result_frame result = {name, got->index, got->time, got->width, got->height, found};
    SK_TRY(sk_journal_append(r->journal, &result, err));
    for (int32_t i = 0; i < r->n_sinks; i++)
        SK_TRY(r->sinks[i]->write(r->sinks[i], &result, err));
    int64_t now = sk_clock_ns();
    if (now - r->last_flush > FLUSH_NS) {
        SK_TRY(sk_journal_flush(r->journal, false, err));
        r->last_flush = now;
    }
    r->report->write += seconds_since(begin);
    if (r->overlay) {
        begin = sk_clock_ns();
        SK_TRY(sk_overlay_run_write(r->overlay, got->frame, result.source, found, err));
        r->report->overlay += seconds_since(begin);
    }
    r->progress.done++;
    r->progress.instances += found->count;
    return SK_OK;
}

static void fill_times(run *r)
{
    sk_detector_times times;
    sk_detector_get_times(r->detector, &times);
    r->report->pre = times.pre;
    r->report->network = times.network;
    r->report->post = times.post;
}

/* Takes frames from the source to the runner, which blocks while enough are on their way. */
static void *feed(void *context)
{
    run *r = context;
    sk_status status = SK_OK;
    while (status == SK_OK && !atomic_load(&r->stop)) {
        const sk_frame *frame = NULL;
        int64_t begin = sk_clock_ns();
        status = sk_source_next(r->source, &frame, &r->feeder_error);
        r->wait_source += seconds_since(begin);
        if (status != SK_OK || !frame)
            break;
        status = sk_runner_submit(r->runner, frame, NULL, NULL, &r->feeder_error);
        if (status != SK_OK)
            sk_source_release(r->source, frame);
    }
    r->feeder_status = status;
    sk_runner_finish(r->runner);
    return NULL;
}

static sk_status start_feeder(run *r, sk_error *err)
{
    if (pthread_create(&r->feeder, NULL, feed, r) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: no thread for reading could be started", r->settings->source);
    r->feeding = true;
    return SK_OK;
}

/* Ends the feeder; its failure counts where there was no other. */
static sk_status stop_feeder(run *r, sk_status status, sk_error *err)
{
    if (!r->feeding)
        return status;
    if (status != SK_OK || r->report->stopped) {
        atomic_store(&r->stop, true);
        sk_source_stop(r->source);
        sk_runner_release(r->runner); /* gives the frames back; a feeder in submit comes out */
    }
    pthread_join(r->feeder, NULL);
    r->feeding = false;
    r->report->wait_source = r->wait_source;
    if (status != SK_OK || r->report->stopped || r->feeder_status == SK_OK)
        return status;
    if (err)
        *err = r->feeder_error;
    return r->feeder_status;
}

static sk_status run_frames(run *r, sk_predict_watch watch, void *context, sk_error *err)
{
    int64_t begin = sk_clock_ns();
    sk_status status = start_feeder(r, err);
    while (status == SK_OK && !r->report->stopped) {
        sk_runner_result result;
        status = sk_runner_next(r->runner, &result, err);
        if (status != SK_OK || result.ticket < 0)
            break;
        status = write_result(r, &result, err);
        r->report->frames++;
        if (status == SK_OK && watch && watch(context, &r->progress))
            r->report->stopped = true;
    }
    fill_times(r);
    status = stop_feeder(r, status, err);
    r->report->seconds = seconds_since(begin);
    return status;
}

/* Closes what is open; after a failure the first error stays. */
static sk_status close_all(run *r, bool finished, sk_status status, sk_error *err)
{
    sk_error *report_to = status == SK_OK ? err : NULL;
    if (r->journal) {
        sk_status s = finished ? sk_journal_finish(r->journal, report_to)
                               : sk_journal_flush(r->journal, true, report_to);
        status = status != SK_OK ? status : s;
    }
    for (int32_t i = 0; i < r->n_sinks; i++) {
        sk_status s = r->sinks[i]->close(r->sinks[i], status == SK_OK ? err : NULL);
        status = status != SK_OK ? status : s;
    }
    if (r->overlay) {
        note_file(r->report, r->settings->out, sk_overlay_run_file(r->overlay));
        sk_status s = sk_overlay_run_close(&r->overlay, finished, status == SK_OK ? err : NULL);
        status = status != SK_OK ? status : s;
    }
    if (r->header.version) {
        note_file(r->report, r->settings->out, "run.json");
        sk_status s = write_run_file(r,
                                     finished             ? "finished"
                                     : r->report->stopped ? "stopped"
                                                          : "failed",
                                     status == SK_OK ? err : NULL);
        status = status != SK_OK ? status : s;
    }
    sk_journal_close(&r->journal);
    sk_detector_close(&r->detector); /* with the runner, which gives frames back to the source */
    sk_source_close(&r->source);
    sk_lock_close(&r->lock);
    sk_run_lock_close(&r->runtime_lock);
    return status;
}

static void fill_report(run *r)
{
    const sk_detector_info *about = sk_detector_about(r->detector);
    sk_predict_report *p = r->report;
    p->total_frames = r->progress.done;
    p->instances = r->progress.instances;
    if (r->source)
        sk_source_get_status(r->source, &p->source);
    p->decode = p->source.decode_seconds;
    memcpy(p->runtime, about->runtime, sizeof p->runtime);
    memcpy(p->device, about->device, sizeof p->device);
    memcpy(p->precision, about->precision, sizeof p->precision);
}

static sk_status predict(const sk_predict_settings *settings, sk_predict_watch watch, void *context,
                         sk_predict_report *report, sk_error *err)
{
    run r = {.settings = settings, .report = report};
    sk_status status = SK_OK;
    bool finished = false;
    memset(report, 0, sizeof *report);
    sk_clock_text(sk_clock_wall_ms(), r.started, sizeof r.started);
    for (int32_t i = 0; i < settings->n_formats; i++)
        if (!sk_sink_find(settings->formats[i]))
            return sk_fail(err, SK_ERR_ARG, "no result format is called '%s'", settings->formats[i]);
    SK_TRY_GOTO(lock_runtime(&r, err));
    SK_TRY_GOTO(
        sk_detector_open_models(settings->models, settings->n_models, &settings->detector, &r.detector, err));
    /* A network that fits every frame is opened, and the model's weights given back, before the decoder wants memory. */
    if (sk_detector_fits_all(r.detector))
        SK_TRY_GOTO(open_runner(&r, err));
    sk_source_settings media = media_of(&r);
    SK_TRY_GOTO(sk_source_open(settings->source, &media, &r.source, err));
    sk_source_get_info(r.source, &r.info);
    report->live = r.info.kind == SK_SOURCE_LIVE;
    SK_TRY_GOTO(lock_folder(&r, err));
    describe_settings(&r);
    fill_header(&r);
    SK_TRY_GOTO(open_journal(&r, err));
    if (r.info.kind == SK_SOURCE_LIVE && sk_journal_count(r.journal) > 0) {
        status = sk_fail(err, SK_ERR_MISMATCH,
                         "%s: holds frames of an earlier run, and a camera or stream cannot be continued. "
                         "Use --restart to "
                         "replace them, or choose another --out",
                         settings->out);
        r.header.version = NULL;
        goto done;
    }
    SK_TRY_GOTO(open_overlay(&r, err));
    finished = sk_journal_finished(r.journal);
    r.progress = (sk_predict_progress){.done = sk_journal_count(r.journal), .total = r.info.frames};
    r.progress.continued = r.progress.done;
    SK_TRY_GOTO(open_sinks(&r, err));
    SK_TRY_GOTO(write_run_file(&r, "running", err));
    if (finished) {
        report->nothing_to_do = true;
        goto done;
    }
    if (r.progress.done > 0)
        SK_TRY_GOTO(open_source(&r, r.progress.done, err));
    if (!r.runner)
        SK_TRY_GOTO(open_runner(&r, err));
    SK_TRY_GOTO(agree_on_frames(&r, r.progress.done, err));
    SK_TRY_GOTO(run_frames(&r, watch, context, err));
    if (settings->media.interrupted && settings->media.interrupted(settings->media.interrupted_context))
        report->stopped = true; /* a source that waited for its peer */
    finished = !report->stopped;
done:
    if (r.detector)
        fill_report(&r);
    return close_all(&r, finished, status, err);
}

sk_status sk_predict_run(const sk_predict_settings *settings, sk_predict_watch watch, void *context,
                         sk_predict_report *report, sk_error *err)
{
    /* A .slp stands for the video it labels: results name that. */
    sk_predict_settings resolved = *settings;
    char *video = NULL;
    if (sk_path_has_extension(settings->source, ".slp")) {
        SK_TRY(sk_slp_video(settings->source, &video, err));
        resolved.source = video;
    }
    /* Frames that stay until their result is written: enough for every instance to have one, and one to come. */
    if (resolved.media.queue == 0 && holds_frames(&resolved) && devices_of(&resolved))
        resolved.media.queue = 2 * (sk_cpu_usable_cores() < 8 ? sk_cpu_usable_cores() : 8);
    sk_status status = predict(&resolved, watch, context, report, err);
    sk_free(video);
    return status;
}
