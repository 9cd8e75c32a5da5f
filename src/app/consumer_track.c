/* SPDX-License-Identifier: Apache-2.0 */
#include "app/retell.h"
#include "app/track_internal.h"
#include "base/memory.h"

#include <string.h>

/* At once: every frame is told on as tracks to the consumers behind this one. Else nothing happens while frames pass; once they
 * are all in the folder, tracks are made from there, the files written, and last the overlay drawn. */

typedef struct tracking {
    sk_consumer base;
    sk_track_run *run;
    const sk_predict_settings *settings;
    const sk_predict_report *report; /* of the run; null: none */
    bool at_once;
    sk_run_folder *folder;
    const sk_run_header *header;
    sk_track_teller *teller;
    int64_t entry;        /* at once: frames so far */
    sk_result_frame told; /* … the last */
} tracking;

static void settle(sk_consumer *base, const sk_run_header *header)
{
    tracking *t = (tracking *)base;
    int n = 0;
    for (int32_t i = 0; i < t->settings->n_formats && !t->at_once; i++) {
        const sk_sink_kind *kind = sk_sink_find(t->settings->formats[i]);
        if (n + 2 > SK_CONSUMER_FILES - 1)
            break;
        base->files[n++] = kind->file;
        if (kind->beside)
            base->files[n++] = kind->beside;
    }
    if (t->settings->overlay && !t->at_once)
        base->files[n++] = strcmp(header->source_kind, "pictures") == 0 ? "overlay/" : "overlay.mp4";
    if (t->run->wish.report && !t->at_once && n + 2 <= SK_CONSUMER_FILES) {
        base->files[n++] = "report.html";
        base->files[n++] = "plots/";
    }
    base->files[n] = NULL;
}

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    tracking *t = (tracking *)base;
    t->folder = folder;
    t->header = header;
    t->run->figures = (sk_track_figures){0};
    return sk_track_teller_open(&t->run->wish, t->header, &t->teller, err);
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    tracking *t = (tracking *)base;
    if (!t->at_once)
        return SK_OK;
    SK_TRY(sk_track_teller_tell(t->teller, t->entry++, passing->result, &t->told, err));
    passing->result = &t->told; /* for those behind */
    return SK_OK;
}

/* --- from the folder --- */

static sk_status tell(void *context, int64_t entry, const sk_result_frame *known, sk_result_frame *told,
                      sk_error *err)
{
    return sk_track_teller_tell(((tracking *)context)->teller, entry, known, told, err);
}

static sk_status retell_to(tracking *t, sk_consumers *list, sk_error *err)
{
    sk_source_settings media = t->settings->media;
    const bool drawn = sk_consumers_needs(list) & SK_NEEDS_PIXELS;
    media.skip_unreadable = !t->settings->strict;
    const sk_retell how = {.folder = t->folder,
                           .header = t->header,
                           .consumers = list,
                           .source = t->settings->source,
                           .media = &media,
                           .tell = tell,
                           .context = t,
                           .side_by_side = true,
                           .drawn_only = drawn};
    SK_TRY(sk_consumers_begin(list, t->header, t->folder, err));
    return sk_retell_run(&how, err);
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    tracking *t = (tracking *)base;
    sk_consumers files = {0};
    sk_status status = SK_OK;
    bool raw = false; /* of both passes: the offline steps tell it */
    if (!t->teller || t->at_once)
        goto done;
    for (int32_t i = 0; i < t->settings->n_formats; i++)
        raw |= strcmp(t->settings->formats[i], "raw") == 0 && !t->run->wish.online;
    SK_TRY_GOTO(sk_track_teller_settle(t->teller, t->folder, raw, err));
    for (int32_t i = 0; i < t->settings->n_formats; i++)
        if (!raw || strcmp(t->settings->formats[i], "raw") != 0)
            SK_TRY_GOTO(
                sk_consumers_add(&files, sk_consumer_file(sk_sink_find(t->settings->formats[i])), err));
    if (t->run->wish.report)
        SK_TRY_GOTO(sk_consumers_add(&files, sk_consumer_report(t->run, t->settings, t->report), err));
    status = retell_to(t, &files, err);
    t->run->figures = *sk_track_teller_figures(t->teller); /* the report tells them */
    status = sk_consumers_complete(&files, status, err);
    status = sk_consumers_end(&files, status == SK_OK, status, err);
done:
    sk_consumers_close(&files);
    if (t->teller)
        t->run->figures = *sk_track_teller_figures(t->teller);
    return status;
}

/* With the identities that are final: those of a video that was looked at to its end. */
static sk_status end(sk_consumer *base, bool finished, sk_error *err)
{
    tracking *t = (tracking *)base;
    sk_consumers drawn = {0};
    if (!finished || !t->settings->overlay || t->at_once)
        return SK_OK;
    const sk_overlay_wish wish = {t->settings->draw, t->settings->line_width, sk_overlay_on_gpu(t->settings)};
    SK_TRY(sk_consumers_add(&drawn, sk_consumer_overlay(&wish), err));
    sk_consumers_settle(&drawn, t->header);
    sk_status status = retell_to(t, &drawn, err);
    status = sk_consumers_complete(&drawn, status, err);
    status = sk_consumers_end(&drawn, status == SK_OK, status, err);
    sk_consumers_close(&drawn);
    return status;
}

static void close_tracking(sk_consumer *base)
{
    sk_track_teller_close(&((tracking *)base)->teller);
}

static const sk_consumer_kind kind = {.name = "track",
                                      .settle = settle,
                                      .begin = begin,
                                      .take = take,
                                      .complete = complete,
                                      .end = end,
                                      .close = close_tracking};

sk_consumer *sk_consumer_track(sk_track_run *run, const sk_predict_settings *settings,
                               const sk_predict_report *report, bool at_once)
{
    tracking *t = sk_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_PROBLEMS};
    t->run = run;
    t->settings = settings;
    t->report = report;
    t->at_once = at_once;
    return &t->base;
}
