/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/predict_session.h"

#include "base/json_write.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/predict_print.h"
#include "cli/run_told.h"

#include <stdio.h>

/* What the run over all sources tells on its way. */
typedef struct session {
    sk_progress *progress;
    bool opened, many, json;
    const sk_predict_show *show;
    FILE *say; /* where summaries go: standard output is the results' where they go there */
    const char *requested;
    sk_json *list;    /* --json of many: the array that is open */
    sk_status status; /* of the only source, or of the first that failed */
    sk_error error;
    int64_t missing, frames; /* of the only source */
    bool live;
} session;

/* Opened by the first frame, so that the rate does not count the opening of models. Without memory for a bar there is none. */
static void open_progress(session *w)
{
    sk_progress_settings p = sk_progress_defaults();
    p.stream = stderr;
    p.mode = sk_cli_verbosity() == 0 ? SK_PROGRESS_NONE : SK_PROGRESS_AUTO;
    p.label = w->show->label;
    p.unit = "frames";
    if (sk_progress_open(&p, &w->progress, NULL) != SK_OK)
        w->progress = NULL;
    w->opened = true;
}

static bool watch_frame(void *context, const sk_predict_progress *p)
{
    session *w = context;
    char note[64];
    sk_run_events_progress(sk_cli_told(), p);
    if (!w->opened)
        open_progress(w);
    if (!w->progress)
        return sk_cli_interrupted();
    snprintf(note, sizeof note, "%lld found", (long long)p->instances);
    if (p->total > 0)
        sk_progress_set_total(w->progress, p->total - p->continued);
    sk_progress_update(w->progress, p->done - p->continued, note);
    sk_progress_set_seconds(w->progress, p->seconds);
    return sk_cli_interrupted();
}

static void begin_source(void *context, const sk_predict_item *item)
{
    session *w = context;
    w->opened = false;
    sk_run_events_begin(sk_cli_told(), item->source, item->out, item->number, item->count, w->requested);
    if (w->many)
        sk_cli_say("[%zu/%zu] %s", item->number + 1, item->count, item->source);
}

static const char *state_of(const sk_predict_item *item)
{
    const sk_predict_report *r = &item->report;
    return item->status != SK_OK ? "failed"
           : r->stopped          ? "stopped"
           : r->missing > 0      ? "incomplete"
           : r->nothing_to_do    ? "finished already"
                                 : "finished";
}

static void tell_of_many(session *w, const sk_predict_item *item)
{
    if (w->json) {
        sk_json_object(w->list);
        sk_json_key_strings(w->list, {"source", item->source}, {"out", item->out ? item->out : "-"},
                            {"state", state_of(item)});
        if (item->status != SK_OK)
            sk_json_key_string(w->list, "error", item->error.message);
        sk_cli_predict_json(w->list, &item->report, w->requested);
        if (w->show->json)
            w->show->json(w->show->context, w->list);
        sk_json_close(w->list);
    } else if (sk_cli_verbosity() > 0 && item->status == SK_OK) {
        fprintf(w->say, "%s: %s, %lld frames, %lld instances, %.2f s%s%s\n", item->source, state_of(item),
                (long long)item->report.total_frames, (long long)item->report.instances, item->report.seconds,
                item->out ? ": " : "", item->out ? item->out : "");
        if (w->show->summary)
            w->show->summary(w->show->context, w->say);
        fflush(w->say);
    }
    if (item->status != SK_OK && item->status != SK_ERR_CANCELLED)
        sk_cli_print_error(&item->error);
}

static void tell_of_one(session *w, const sk_predict_item *item)
{
    if (w->json) {
        sk_cli_predict_json(w->list, &item->report, w->requested);
        if (w->show->json)
            w->show->json(w->show->context, w->list);
    } else if (sk_cli_verbosity() > 0) {
        if (w->show->summary)
            w->show->summary(w->show->context, w->say);
        sk_cli_predict_summary(w->say, &item->report, w->requested);
    }
}

static void end_source(void *context, const sk_predict_item *item)
{
    session *w = context;
    const sk_predict_report *r = &item->report;
    if (w->progress && item->status == SK_OK) /* what was looked at: not the pictures that were left out */
        sk_progress_update(w->progress, r->frames == r->cached ? 0 : r->frames, NULL);
    sk_progress_close(&w->progress);
    if (item->report.notice[0])
        sk_cli_warn("%s", item->report.notice);
    if (item->status == SK_OK)
        sk_run_events_result(sk_cli_told(), state_of(item), item->out, &item->report);
    if (w->status == SK_OK && item->status != SK_OK) {
        w->status = item->status;
        w->error = item->error;
    }
    w->missing = item->report.missing;
    w->frames = item->report.total_frames;
    w->live = item->report.live;
    if (w->many)
        tell_of_many(w, item);
    else if (item->status == SK_OK)
        tell_of_one(w, item);
}

sk_status sk_cli_fail_cut_off(const char *source, int64_t missing, int64_t there, sk_error *err)
{
    return sk_fail(
        err, SK_ERR_INCOMPLETE,
        "%s: cut off: %lld of the frames its header promises are not in the file. The %lld that are "
        "there are written, but the run is not finished. With the whole file, begin anew: --restart",
        source, (long long)missing, (long long)there);
}

sk_status sk_cli_fail_cut_off_some(size_t incomplete, size_t sources, sk_error *err)
{
    return sk_fail(
        err, SK_ERR_INCOMPLETE,
        "%zu of %zu videos are cut off: frames that their headers promise are not in the files. With "
        "whole files, begin anew: --restart",
        incomplete, sources);
}

/* How it went, as a status: the exit code. */
static sk_status judge(const session *w, const sk_predict_many_report *r, const char *source,
                       const char *fresh, sk_error *err)
{
    const char *again = fresh ? "the same command with --out " : "the same command";
    const bool ends = w->live || w->say == stderr;                   /* nothing is kept that could go on */
    if (r->stopped && !(r->failed && w->status != SK_ERR_CANCELLED)) /* else not everything is written */
        return sk_fail(err, SK_ERR_CANCELLED,
                       "interrupted after %lld frames; everything up to there is written%s%s%s%s",
                       (long long)r->frames, ends ? "" : ", and ", ends ? "" : again,
                       ends || !fresh ? "" : fresh, ends ? "" : " goes on from there");
    if (w->many && r->failed && ends)
        return sk_fail(err, SK_ERR_IO, "%zu of %zu sources failed", r->failed, r->sources);
    if (w->many && r->failed)
        return sk_fail(err, SK_ERR_IO,
                       "%zu of %zu sources failed; %s%s tries them again and leaves the others as they are",
                       r->failed, r->sources, again, fresh ? fresh : "");
    if (r->failed) {
        if (err)
            *err = w->error;
        return w->status;
    }
    if (w->many && r->incomplete)
        return sk_cli_fail_cut_off_some(r->incomplete, r->sources, err);
    if (r->incomplete)
        return sk_cli_fail_cut_off(source, w->missing, w->frames, err);
    return SK_OK;
}

sk_status sk_cli_predict_all(const sk_args *args, const sk_predict_settings *s, const sk_source_list *list,
                             const char *fresh, const sk_predict_show *show, sk_error *err)
{
    sk_json json = sk_json_to_file(stdout, 2);
    session w = {.many = list->many,
                 .json = sk_args_flag(args, "json"),
                 .show = show,
                 .say = s->out ? stdout : stderr,
                 .requested = s->runtime_requested,
                 .list = &json};
    const sk_predict_many_watch watch = {begin_source, watch_frame, end_source, &w};
    sk_predict_many_report report;
    (void)sk_cli_interrupted(); /* from here on Ctrl-C ends the run in order */
    if (w.json)
        sk_json_object(&json);
    if (w.json && w.many) {
        sk_json_key_array(&json, "sources");
    }
    sk_status status = sk_predict_many(s, list, &watch, &report, err);
    sk_progress_close(&w.progress);
    if (w.json && w.many) {
        sk_json_close(&json);
        sk_json_key_ints(&json, {"frames", report.frames}, {"instances", report.instances},
                         {"failed", (int64_t)report.failed}, {"incomplete", (int64_t)report.incomplete});
    } else if (w.many && status == SK_OK && sk_cli_verbosity() > 0) {
        fprintf(w.say, "%zu of %zu sources finished: %lld frames, %lld instances%s%s\n", report.done,
                report.sources, (long long)report.frames, (long long)report.instances, s->out ? "; in " : "",
                s->out ? s->out : "");
    }
    const bool printed = w.json && status == SK_OK && (w.many || report.failed == 0);
    if (printed) {
        sk_json_close(&json);
        status = sk_json_end(&json, err);
    }
    return status == SK_OK ? judge(&w, &report, sk_args_text(args, "source"), fresh, err) : status;
}
