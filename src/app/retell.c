/* SPDX-License-Identifier: Apache-2.0 */
#include "app/retell.h"

#include "app/side_by_side.h"

typedef struct playing {
    const sk_retell *how;
    int64_t entry;     /* of the journal */
    sk_source *source; /* opened for the first frame that is read again */
    sk_result_frame told;
    sk_side_by_side *side; /* null: one after the other */
} playing;

static sk_status told_of(playing *p, const sk_result_frame **known, int64_t *entry, sk_error *err)
{
    *entry = p->entry++;
    if (!p->how->tell)
        return SK_OK;
    SK_TRY(p->how->tell(p->how->context, *entry, *known, &p->told, err));
    *known = &p->told;
    return SK_OK;
}

static sk_status tell(void *context, const sk_result_frame *known, sk_error *err)
{
    playing *p = context;
    const sk_consumers *list = p->how->consumers;
    int64_t entry;
    SK_TRY(told_of(p, &known, &entry, err));
    if (p->side)
        return sk_side_by_side_tell(p->side, entry, known, err);
    for (int32_t i = 0; i < list->count; i++) {
        sk_consumer *c = list->items[i];
        bool lacks = false;
        if (c->kind->retell && !(c->needs & SK_NEEDS_PIXELS) && entry >= c->has)
            SK_TRY(c->kind->retell(c, entry, known, &lacks, err));
    }
    return SK_OK;
}

/* Frames come in the journal's order; what lies between them was not looked at. */
static sk_status find_frame(playing *p, const sk_result_frame *known, const sk_frame **frame, sk_error *err)
{
    if (!p->source) {
        sk_source_settings m = *p->how->media;
        if (m.loop <= 1)
            m.first = known->index;
        SK_TRY(sk_source_open(p->how->source, &m, &p->source, err));
    }
    for (;;) {
        SK_TRY(sk_source_next(p->source, frame, err));
        if (!*frame || (*frame)->index > known->index)
            return sk_fail(err, SK_ERR_MISMATCH,
                           "%s: frame %lld, which the earlier run looked at, cannot be read again for what "
                           "is drawn or cut out. "
                           "Begin anew with --restart",
                           p->how->source, (long long)known->index);
        if ((*frame)->index == known->index)
            return SK_OK;
        sk_source_release(p->source, *frame);
    }
}

/* Whose this is: a consumer of pixels that may lack frames. */
static bool may_lack(const sk_consumer *c, int64_t entry)
{
    return c->kind->retell && (c->needs & SK_NEEDS_PIXELS) && entry >= c->has;
}

static sk_status show(void *context, const sk_result_frame *known, sk_error *err)
{
    playing *p = context;
    const sk_consumers *list = p->how->consumers;
    int64_t entry;
    SK_TRY(told_of(p, &known, &entry, err));
    bool lacks[SK_CONSUMERS_MOST] = {false}, any = false;
    for (int32_t i = 0; i < list->count && !known->problem; i++) {
        sk_consumer *c = list->items[i];
        if (may_lack(c, entry))
            SK_TRY(c->kind->retell(c, entry, known, &lacks[i], err));
        any = any || lacks[i];
    }
    if (!any)
        return SK_OK;
    const sk_frame *frame = NULL;
    if (p->how->media->interrupted && p->how->media->interrupted(p->how->media->interrupted_context))
        return sk_fail(err, SK_ERR_CANCELLED,
                       "%s: interrupted while drawing; the same command goes on from there", p->how->source);
    SK_TRY(find_frame(p, known, &frame, err));
    sk_status status = SK_OK;
    for (int32_t i = 0; i < list->count && status == SK_OK; i++) {
        sk_passing passing = {.result = known, .frame = frame};
        if (lacks[i])
            status = list->items[i]->kind->take(list->items[i], &passing, err);
    }
    sk_source_release(p->source, frame);
    return status;
}

sk_status sk_retell_run(const sk_retell *how, sk_error *err)
{
    playing p = {.how = how};
    bool shown = false;
    const int64_t known = sk_run_folder_known(how->folder);
    for (int32_t i = 0; i < how->consumers->count && known > 0; i++)
        shown = shown || may_lack(how->consumers->items[i], known - 1);
    if (!how->drawn_only) {
        if (how->side_by_side)
            SK_TRY(sk_side_by_side_open(how->consumers, &p.side, err));
        const sk_status told = sk_run_folder_retell(how->folder, how->header, tell, &p, err);
        SK_TRY(sk_side_by_side_end(&p.side, told, err));
    }
    if (!shown)
        return SK_OK;
    p.entry = 0;
    sk_status status = sk_run_folder_retell(how->folder, how->header, show, &p, err);
    sk_source_close(&p.source);
    return status;
}
