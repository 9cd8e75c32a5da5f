/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_given.h"

#include "app/preview.h"
#include "app/retell.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <string.h>

typedef struct given_run {
    const sk_given *given;
    const sk_predict_settings *settings;
    sk_predict_report *report;
    sk_run_header header;
    sk_text identity;
    sk_run_folder *folder;
    sk_consumers consumers;
    sk_inference_cache *cache;
    sk_predict_progress progress;
    int64_t begin, last; /* ns; the last frame that was taken, -1 */
} given_run;

static sk_status list_consumers(given_run *r, sk_predict_watch watch, void *context, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    const bool at_once = !s->out;
    sk_consumers *list = &r->consumers;
    SK_TRY(sk_consumers_add(list, sk_consumer_journal(), err));
    SK_TRY(sk_consumers_add(list, sk_consumer_cache(&r->cache), err));
    SK_TRY(sk_consumers_add(list, sk_consumer_track(r->given->run, s, NULL, at_once), err));
    for (int32_t i = 0; i < s->n_formats && at_once; i++)
        SK_TRY(sk_consumers_add(list, sk_consumer_file(sk_sink_find(s->formats[i])), err));
    if (s->preview && r->given->preview)
        SK_TRY(sk_consumers_add(list, *r->given->preview = sk_consumer_preview(s->preview), err));
    return sk_consumers_add(list, sk_consumer_progress(&r->progress, watch, context), err);
}

static sk_status open_cache(given_run *r, sk_error *err)
{
    const sk_track_wish *wish = &r->given->run->wish;
    char why[512];
    if (r->given->cache_source && wish->cached) {
        const sk_inference_wish how = {wish->cache, r->given->cache_source, r->given->identity};
        SK_TRY(sk_inference_cache_open(&how, &r->cache, why, err));
        if (why[0])
            sk_log(SK_LOG_INFO, "%s: %s", r->given->name, why);
    }
    sk_text_append(&r->identity, r->given->identity);
    sk_text_append(&r->identity, r->given->run->more.identity);
    return sk_text_status(&r->identity, err);
}

static sk_status begin(given_run *r, sk_error *err)
{
    const sk_predict_settings *s = r->settings;
    SK_TRY(open_cache(r, err));
    SK_TRY(sk_run_folder_open(s->out, &r->folder, err));
    r->header.started = sk_run_folder_started(r->folder);
    sk_run_header_rate(&r->header, r->given->run->more.rate);
    sk_consumers_settle(&r->consumers, &r->header);
    const char *files[SK_CONSUMER_FILES * SK_CONSUMERS_MOST + 2];
    sk_consumers_files(&r->consumers, files);
    const sk_run_begin how = {.identity = sk_text_get(&r->identity),
                              .source = r->given->name,
                              .files = files,
                              .restart = s->restart,
                              .overwrite = s->overwrite};
    SK_TRY(sk_run_folder_begin(r->folder, &how, err));
    r->progress.total = r->given->frames;
    r->progress.done = r->progress.continued = sk_run_folder_known(r->folder);
    r->last = sk_run_folder_last_index(r->folder);
    SK_TRY(sk_consumers_begin(&r->consumers, &r->header, r->folder, err));
    const sk_retell known = {.folder = r->folder,
                             .header = &r->header,
                             .consumers = &r->consumers,
                             .source = s->source,
                             .media = &s->media};
    return sk_retell_run(&known, err);
}

static sk_status take(given_run *r, sk_result_frame *frame, sk_error *err)
{
    if (!r->given->named)
        frame->source = r->settings->source;
    sk_passing passing = {.result = frame};
    SK_TRY(sk_consumers_take(&r->consumers, &passing, r->begin, err));
    r->last = frame->index;
    r->report->frames++;
    r->report->seconds = passing.seconds;
    r->report->stopped = passing.stop;
    return SK_OK;
}

static sk_status take_cached(void *context, const sk_result_frame *known, sk_error *err)
{
    given_run *r = context;
    sk_result_frame frame = *known;
    if (r->report->stopped)
        return SK_OK;
    r->report->cached++;
    return take(r, &frame, err);
}

static sk_status feed(given_run *r, sk_error *err)
{
    bool any = true;
    r->begin = sk_clock_ns();
    SK_TRY(sk_inference_cache_replay(r->cache, r->progress.done, take_cached, r, err));
    while (any && !r->report->stopped && !sk_inference_cache_complete(r->cache)) {
        sk_result_frame frame;
        SK_TRY(r->given->next(r->given->context, r->last, &frame, &any, err));
        if (any)
            SK_TRY(take(r, &frame, err));
    }
    return SK_OK;
}

static sk_status note(given_run *r, sk_run_state state, sk_error *err)
{
    const sk_run_standing standing = {.state = state,
                                      .nothing_to_do = r->report->nothing_to_do,
                                      .frames = r->progress.done,
                                      .instances = r->progress.instances,
                                      .part_frames = r->report->frames,
                                      .part_seconds = r->report->seconds,
                                      .source = r->report->source};
    return sk_run_folder_note(r->folder, &r->header, &standing, err);
}

static sk_status close_all(given_run *r, bool finished, sk_status status, sk_error *err)
{
    sk_predict_report *p = r->report;
    p->total_frames = r->progress.done;
    p->instances = r->progress.instances;
    status = sk_consumers_complete(&r->consumers, status, err);
    if (finished && status == SK_OK)
        status = sk_run_folder_finish(r->folder, err);
    status = sk_consumers_end(&r->consumers, finished && status == SK_OK, status, err);
    sk_predict_report_files(p, &r->consumers, r->folder);
    if (r->folder) {
        const sk_run_state state = status != SK_OK ? SK_RUN_FAILED
                                   : finished      ? SK_RUN_FINISHED
                                   : p->stopped    ? SK_RUN_STOPPED
                                   : p->missing    ? SK_RUN_INCOMPLETE
                                                   : SK_RUN_FAILED;
        const sk_status noted = note(r, state, status == SK_OK ? err : NULL);
        status = status != SK_OK ? status : noted;
    }
    sk_consumers_close(&r->consumers);
    sk_inference_cache_close(&r->cache);
    if (status != SK_OK)
        sk_run_folder_abandon(&r->folder);
    else
        sk_run_folder_close(&r->folder);
    sk_text_free(&r->identity);
    return status;
}

static sk_status follow(given_run *r, bool *finished, sk_error *err)
{
    SK_TRY(begin(r, err));
    *finished = r->report->nothing_to_do = sk_run_folder_stage(r->folder) == SK_RUN_COMPLETE;
    if (*finished)
        return SK_OK;
    SK_TRY(note(r, SK_RUN_RUNNING, err));
    SK_TRY(feed(r, err));
    sk_predict_report *p = r->report;
    if (r->given->standing && !sk_inference_cache_complete(r->cache))
        p->source = r->given->standing(r->given->context);
    p->missing = p->stopped ? 0 : p->source.missing;
    *finished = !p->stopped && !p->missing;
    return SK_OK;
}

sk_status sk_track_given_run(const sk_given *given, sk_predict_watch watch, void *context,
                             sk_predict_report *report, sk_error *err)
{
    given_run r = {
        .given = given, .settings = given->settings, .report = report, .header = given->header, .last = -1};
    bool finished = false;
    memset(report, 0, sizeof *report);
    sk_status status = list_consumers(&r, watch, context, err);
    if (status == SK_OK)
        status = follow(&r, &finished, err);
    return close_all(&r, finished, status, err);
}
