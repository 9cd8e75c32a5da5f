/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"
#include "app/runtimes.h"
#include "app/slp_video.h"
#include "app/source_identity.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

void sk_predict_defaults(sk_predict_settings *settings)
{
    *settings = (sk_predict_settings){
        .formats = {"csv", "jsonl"}, .n_formats = 2, .runtime_requested = "cpu", .draw = SK_DRAW_ALL};
    sk_detector_defaults(&settings->detector);
    sk_source_defaults(&settings->media);
}

static sk_status play_into_sinks(void *context, const sk_result_frame *frame, sk_error *err)
{
    predict_run *r = context;
    if (frame->problem)
        return sk_run_folder_unreadable(&r->folder, frame->index, frame->source, frame->problem, err);
    if (!sk_run_header_fits(&r->header, frame))
        return sk_fail(err, SK_ERR_FORMAT, "%s: its journal does not fit its run; run again with --restart",
                       r->settings->out);
    for (int32_t i = 0; i < r->n_sinks; i++)
        SK_TRY(r->sinks[i]->write(r->sinks[i], frame, err));
    r->progress.instances += frame->instances->count;
    return SK_OK;
}

/* --- pictures of a run that is continued --- */

typedef struct picture_check {
    predict_run *run;
    int64_t entry;
    int64_t
        mended; /* the first entry of a picture that could not be read and may be readable now; -1: none */
} picture_check;

static sk_status check_picture(void *context, const sk_result_frame *frame, sk_error *err)
{
    picture_check *check = context;
    const bool same = !frame->picture || frame->picture == sk_picture_stamp(frame->source);
    const int64_t entry = check->entry++;
    if (frame->problem && (!same || check->run->settings->strict) && check->mended < 0)
        check->mended = entry;
    if (frame->problem || same || check->mended >= 0)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "%s: was changed after this run had looked at it (frame %lld). Begin anew with --restart, or choose "
        "another --out",
        frame->source, (long long)frame->index);
}

/* Pictures that were looked at must be as they were; from one that could not be read and was changed since, the run is done
 * again. */
static sk_status check_pictures(predict_run *r, sk_error *err)
{
    if (r->info.kind != SK_SOURCE_PICTURES)
        return SK_OK;
    picture_check check = {.run = r, .mended = -1};
    SK_TRY(sk_journal_replay(r->folder.journal, check_picture, &check, err));
    if (check.mended < 0)
        return SK_OK;
    sk_log(SK_LOG_INFO, "%s: a picture that could not be read was changed; the run goes on from there",
           r->settings->source);
    return sk_journal_truncate(r->folder.journal, check.mended, err);
}

static sk_status begin_folder(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    const char *files[2 * SK_PREDICT_MAX_FORMATS + 4];
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_formats; i++) {
        files[n++] = sk_sink_find(s->formats[i])->file;
        if (sk_sink_find(s->formats[i])->beside)
            files[n++] = sk_sink_find(s->formats[i])->beside;
    }
    if (s->crops)
        files[n++] = "crops/";
    if (s->overlay)
        files[n++] = r->info.kind == SK_SOURCE_PICTURES ? "overlay/" : "overlay.mp4";
    files[n++] = "run.json";
    files[n] = NULL;
    const sk_run_begin how = {.identity = sk_text_get(&r->identity.text),
                              .files = files,
                              .restart = s->restart,
                              .overwrite = s->overwrite};
    SK_TRY(sk_run_folder_begin(&r->folder, &how, err));
    sk_status status = check_pictures(r, err);
    if (status != SK_OK)
        sk_journal_close(&r->folder.journal); /* refused: nothing in the folder is touched */
    return status;
}

static void note_file(sk_predict_report *report, const char *folder, const char *file)
{
    if (folder && report->n_files < (int32_t)(sizeof report->files / sizeof *report->files))
        snprintf(report->files[report->n_files++], sizeof report->files[0], "%.4096s/%.200s", folder, file);
}

static sk_status open_sinks(predict_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    for (int32_t i = 0; i < s->n_formats; i++) {
        const sk_sink_kind *kind = sk_sink_find(s->formats[i]);
        if (!kind)
            return sk_fail(err, SK_ERR_ARG, "no result format is called '%s'", s->formats[i]);
        char *path = s->out ? sk_path_join(s->out, kind->file) : sk_strdup("-");
        if (!path)
            return sk_fail_memory(err, strlen(kind->file));
        sk_status status = kind->open(path, &r->header, &r->sinks[r->n_sinks], err);
        sk_free(path);
        SK_TRY(status);
        r->n_sinks++;
        note_file(r->report, s->out, kind->file);
        if (kind->beside)
            note_file(r->report, s->out, kind->beside);
    }
    return sk_journal_replay(r->folder.journal, play_into_sinks, r, err);
}

static sk_status note_standing(predict_run *r, const char *state, sk_error *err)
{
    if (!r->settings->out)
        return SK_OK;
    sk_run_files_note(&r->files, r->runner, &r->header); /* frames of another size may have added one */
    sk_run_standing standing = {.state = state,
                                .identity = sk_text_get(&r->identity.text),
                                .frames = r->progress.done - r->folder.n_unreadable,
                                .instances = r->progress.instances,
                                .part_frames = r->report->frames,
                                .part_seconds = r->report->seconds,
                                .decoder = r->info.decoder,
                                .hwaccel = r->info.hwaccel};
    if (r->source)
        sk_source_get_status(r->source, &standing.source);
    return sk_run_folder_note(&r->folder, &r->header, &standing, err);
}

/* Closes what is open; after a failure the first error stays. */
static sk_status close_all(predict_run *r, bool finished, sk_status status, sk_error *err)
{
/* What follows a failure goes on, but its own failure is not told. */
#define KEEP_FIRST(call)                                                                                     \
    do {                                                                                                     \
        sk_error *report_to = status == SK_OK ? err : NULL;                                                  \
        sk_status s = (call);                                                                                \
        status = status != SK_OK ? status : s;                                                               \
    } while (0)
    if (r->folder.journal)
        KEEP_FIRST(sk_journal_flush(r->folder.journal, true, report_to));
    for (int32_t i = 0; i < r->n_sinks; i++)
        KEEP_FIRST(r->sinks[i]->close(r->sinks[i], report_to));
    if (r->overlay)
        KEEP_FIRST(sk_overlay_run_end_part(r->overlay, report_to));
    if (r->folder.journal && finished && status == SK_OK)
        status = sk_journal_finish(r->folder.journal, err);
    if (r->overlay) {
        KEEP_FIRST(sk_overlay_run_join(r->overlay, finished && status == SK_OK, report_to));
        note_file(r->report, r->settings->out, sk_overlay_run_file(r->overlay));
        sk_overlay_run_close(&r->overlay);
    }
    if (r->crops)
        note_file(r->report, r->settings->out, "crops/");
    sk_crop_run_close(&r->crops);
    if (r->folder.journal && r->header.version)
        note_file(r->report, r->settings->out, "run.json");
    if (r->folder.journal && r->header.version &&
        !(r->report->nothing_to_do &&
          sk_run_folder_says_finished(&r->folder))) { /* which knows what computed */
        const char *state = status != SK_OK      ? "failed"
                            : finished           ? "finished"
                            : r->report->stopped ? "stopped"
                            : r->report->missing ? "incomplete"
                                                 : "failed";
        KEEP_FIRST(note_standing(r, state, report_to));
    }
#undef KEEP_FIRST
    sk_detector_close(&r->detector); /* with the runner, which gives frames back to the source */
    sk_source_close(&r->source);
    sk_run_folder_close(&r->folder);
    sk_run_identity_free(&r->identity);
    sk_run_lock_close(&r->runtime_lock);
    return status;
}

static void fill_report(predict_run *r)
{
    const sk_detector_info *about = sk_detector_about(r->detector);
    sk_predict_report *p = r->report;
    p->total_frames = r->progress.done - r->folder.n_unreadable;
    p->unreadable = r->folder.n_unreadable;
    p->instances = r->progress.instances;
    if (r->source)
        sk_source_get_status(r->source, &p->source);
    p->decode = p->source.decode_seconds;
    memcpy(p->runtime, about->runtime, sizeof p->runtime);
    memcpy(p->device, about->device, sizeof p->device);
    memcpy(p->precision, about->precision, sizeof p->precision);
}

/* A video has told its frames' size; the network comes first here, too, and then the decoder's memory. */
static void make_room(predict_run *r)
{
    if (r->info.kind != SK_SOURCE_VIDEO || r->info.once) /* a pipe is opened once */
        return;
    sk_source_close(&r->source);
    sk_memory_give_back();
}

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

static sk_status predict(const sk_predict_settings *settings, sk_predict_watch watch, void *context,
                         sk_predict_report *report, sk_error *err)
{
    predict_run r = {.settings = settings, .report = report};
    sk_status status = SK_OK;
    bool finished = false;
    memset(report, 0, sizeof *report);
    SK_TRY(check_formats(settings, err));
    SK_TRY_GOTO(sk_runtimes_hold(settings->out ? settings->out : "standard output", &r.runtime_lock,
                                 report->notice, err));
    SK_TRY_GOTO(
        sk_detector_open_models(settings->models, settings->n_models, &settings->detector, &r.detector, err));
    /* A network that fits every frame is opened, and the model's weights given back, before the decoder wants memory. */
    if (sk_detector_fits_all(r.detector))
        SK_TRY_GOTO(predict_open_runner(&r, err));
    sk_source_settings media = predict_media_of(&r);
    SK_TRY_GOTO(sk_source_open(settings->source, &media, &r.source, err));
    sk_source_get_info(r.source, &r.info);
    SK_TRY_GOTO(predict_check_frames(&r, err));
    report->live = r.info.kind == SK_SOURCE_LIVE || r.info.once;
    if (settings->out)
        SK_TRY_GOTO(sk_run_folder_open(settings->out, &r.folder, err));
    const sk_run_facts facts = {settings, sk_detector_about(r.detector), r.source, r.info};
    SK_TRY_GOTO(sk_run_identity_of(&facts, &r.identity, err));
    sk_run_header_of(&facts, &r.identity, &r.header);
    r.header.started = r.folder.started;
    r.header.goes_on = settings->goes_on;
    if (settings->out)
        SK_TRY_GOTO(begin_folder(&r, err));
    if (report->live && sk_journal_count(r.folder.journal) > 0) {
        status =
            sk_fail(err, SK_ERR_MISMATCH,
                    "%s: holds frames of an earlier run, and a camera, stream or pipe cannot be continued. "
                    "Use --restart to "
                    "replace them, or choose another --out",
                    settings->out);
        r.header.version = NULL;
        goto done;
    }
    SK_TRY_GOTO(predict_open_overlay(&r, err));
    finished = sk_journal_finished(r.folder.journal);
    r.progress = (sk_predict_progress){.done = sk_journal_count(r.folder.journal), .total = r.info.frames};
    r.progress.continued = r.progress.done;
    if (!finished && !r.runner) { /* the files' headers name what computes */
        make_room(&r);
        SK_TRY_GOTO(predict_open_runner(&r, err));
    }
    if (r.progress.done > 0)
        sk_run_files_read(settings->out, &r.files);
    sk_run_files_note(&r.files, r.runner, &r.header);
    SK_TRY_GOTO(open_sinks(&r, err));
    SK_TRY_GOTO(predict_draw_known(&r, err));
    if (finished) {
        report->nothing_to_do = true;
        goto done;
    }
    SK_TRY_GOTO(note_standing(&r, "running", err));
    if (r.progress.done > 0 || !r.source)
        SK_TRY_GOTO(predict_open_source(&r, err));
    SK_TRY_GOTO(predict_agree_on_frames(&r, err));
    SK_TRY_GOTO(predict_frames(&r, watch, context, err));
    if (settings->media.interrupted && settings->media.interrupted(settings->media.interrupted_context))
        report->stopped = true; /* a source that waited for its peer */
    sk_source_get_status(r.source, &report->source);
    report->missing = report->stopped ? 0 : report->source.missing;
    if (!report->stopped && report->missing == 0)
        SK_TRY_GOTO(predict_check_done(&r, err));
    finished = !report->stopped && report->missing == 0;
    if (finished && r.folder.n_unreadable > 0 && r.progress.done == r.folder.n_unreadable) {
        finished = false;
        status =
            sk_fail(err, SK_ERR_FORMAT, "%s: none of its %lld pictures can be read: %s", settings->source,
                    (long long)r.folder.n_unreadable, sk_run_folder_first_problem(&r.folder));
    }
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
    if (resolved.media.queue == 0 && predict_holds_frames(&resolved) && predict_devices_of(&resolved))
        resolved.media.queue = 2 * (sk_cpu_usable_cores() < 8 ? sk_cpu_usable_cores() : 8);
    sk_status status = predict(&resolved, watch, context, report, err);
    sk_free(video);
    return status;
}
