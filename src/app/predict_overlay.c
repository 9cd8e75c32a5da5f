/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_internal.h"

sk_status predict_open_overlay(predict_run *r, sk_error *err)
{
    if (r->settings->crops)
        SK_TRY(sk_crop_run_open(r->folder.path, &r->header, &r->crops, err));
    if (!r->settings->overlay)
        return SK_OK;
    const sk_detector_info *about = sk_detector_about(r->detector);
    sk_overlay_settings o;
    sk_overlay_defaults(&o);
    o.n_classes = about->n_classes;
    o.class_names = about->class_names;
    o.n_edges = about->n_edges;
    o.edges = about->edges;
    o.what = r->settings->draw;
    o.line_width = r->settings->line_width;
    const sk_overlay_place place = {.folder = r->folder.path,
                                    .id = sk_journal_id(r->folder.journal),
                                    .pictures = r->info.kind == SK_SOURCE_PICTURES,
                                    .width = r->info.width,
                                    .height = r->info.height,
                                    .rate = r->info.rate};
    SK_TRY(sk_overlay_run_open(&place, &o, &r->overlay, err));
    const int64_t known = sk_journal_count(r->folder.journal);
    if (sk_journal_finished(r->folder.journal) && sk_overlay_run_is_there(r->overlay)) {
        r->drawn = known;
        return SK_OK;
    }
    return sk_overlay_run_begin(r->overlay, known, &r->drawn, err);
}

typedef struct drawing {
    predict_run *run;
    sk_source *source; /* opened for the first frame that is to be drawn */
    int64_t entry;     /* of the journal */
} drawing;

/* Frames come in the journal's order; what lies between them was not looked at. */
static sk_status find_frame(drawing *d, const sk_result_frame *known, const sk_frame **frame, sk_error *err)
{
    predict_run *r = d->run;
    if (!d->source) {
        sk_source_settings m = predict_media_of(r);
        if (m.loop <= 1)
            m.first = known->index;
        SK_TRY(sk_source_open(r->settings->source, &m, &d->source, err));
    }
    for (;;) {
        SK_TRY(sk_source_next(d->source, frame, err));
        if (!*frame || (*frame)->index > known->index)
            return sk_fail(err, SK_ERR_MISMATCH,
                           "%s: frame %lld, which the earlier run looked at, cannot be read again for what "
                           "is drawn or cut out. "
                           "Begin anew with --restart",
                           r->settings->source, (long long)known->index);
        if ((*frame)->index == known->index)
            return SK_OK;
        sk_source_release(d->source, *frame);
    }
}

static bool overlay_lacks(predict_run *r, int64_t entry, const sk_result_frame *known)
{
    if (!r->overlay || entry < r->drawn)
        return false;
    return r->info.kind != SK_SOURCE_PICTURES || !sk_overlay_run_has(r->overlay, known->source, known->index);
}

static sk_status draw(void *context, const sk_result_frame *known, sk_error *err)
{
    drawing *d = context;
    predict_run *r = d->run;
    const int64_t entry = d->entry++;
    if (known->problem)
        return SK_OK;
    const bool undrawn = overlay_lacks(r, entry, known);
    bool cut = true;
    if (r->crops)
        SK_TRY(sk_crop_run_has(r->crops, known, &cut, err));
    if (!undrawn && cut)
        return SK_OK;
    const sk_frame *frame = NULL;
    SK_TRY(find_frame(d, known, &frame, err));
    sk_status status = cut ? SK_OK : sk_crop_run_write(r->crops, frame, known, err);
    if (status == SK_OK && undrawn)
        status = predict_write_overlay(r, frame, known->source, known->instances, err);
    sk_source_release(d->source, frame);
    return status;
}

sk_status predict_draw_known(predict_run *r, sk_error *err)
{
    const int64_t known = sk_journal_count(r->folder.journal);
    if (known == 0 || (!r->crops && (!r->overlay || r->drawn >= known)))
        return SK_OK;
    drawing d = {.run = r};
    sk_status status = sk_journal_replay(r->folder.journal, draw, &d, err);
    sk_source_close(&d.source);
    return status;
}
