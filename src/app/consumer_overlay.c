/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "app/overlay_run.h"
#include "base/memory.h"

#include <string.h>

typedef struct overlay {
    sk_consumer base;
    sk_overlay_wish wish;
    bool pictures; /* one for each frame, instead of a video */
    sk_run_folder *folder;
    sk_overlay_run *run;
    sk_overlay_track *tracks; /* of the frame */
    size_t capacity;
} overlay;

static void settle(sk_consumer *base, const sk_run_header *header)
{
    overlay *o = (overlay *)base;
    o->pictures = strcmp(header->source_kind, "pictures") == 0;
    base->files[0] = o->pictures ? "overlay/" : "overlay.mp4";
}

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    overlay *o = (overlay *)base;
    sk_overlay_settings how;
    sk_overlay_defaults(&how);
    how.n_classes = header->n_classes;
    how.class_names = header->class_names;
    how.n_edges = header->n_edges;
    how.edges = header->edges;
    how.what = o->wish.draw;
    how.line_width = o->wish.line_width;
    const sk_overlay_place place = {.folder = sk_run_folder_path(folder),
                                    .id = sk_run_folder_id(folder),
                                    .pictures = o->pictures,
                                    .width = header->width,
                                    .height = header->height,
                                    .rate = header->rate,
                                    .gpu = o->wish.gpu};
    o->folder = folder;
    SK_TRY(sk_overlay_run_open(&place, &how, &o->run, err));
    const int64_t known = sk_run_folder_known(folder);
    if (sk_run_folder_stage(folder) == SK_RUN_COMPLETE && sk_overlay_run_is_there(o->run)) {
        base->has = known;
        return SK_OK;
    }
    return sk_overlay_run_begin(o->run, known, &base->has, err);
}

static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    const overlay *o = (const overlay *)base;
    (void)err;
    *lacks = entry >= base->has && (!o->pictures || !sk_overlay_run_has(o->run, known->source, known->index));
    return SK_OK;
}

static sk_status note_tracks(overlay *o, const sk_result_frame *result, sk_error *err)
{
    const int32_t n = result->sightings ? result->instances->count : 0;
    SK_TRY(sk_array_reserve((void **)&o->tracks, &o->capacity, (size_t)n, sizeof *o->tracks, SIZE_MAX / 64,
                            err));
    for (int32_t i = 0; i < n; i++)
        o->tracks[i] = sk_overlay_track_of(&result->sightings[i]);
    return SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    overlay *o = (overlay *)base;
    const sk_result_frame *result = passing->result;
    SK_TRY(note_tracks(o, result, err));
    SK_TRY(sk_overlay_run_write(o->run, passing->frame, result->source, result->instances,
                                result->sightings ? o->tracks : NULL, err));
    if (!sk_overlay_run_part_is_full(o->run))
        return SK_OK;
    /* A part whose frames the journal has not got could never be continued. */
    SK_TRY(sk_run_folder_flush(o->folder, true, err));
    return sk_overlay_run_end_part(o->run, err);
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    return sk_overlay_run_end_part(((overlay *)base)->run, err);
}

static sk_status end(sk_consumer *base, bool finished, sk_error *err)
{
    return sk_overlay_run_join(((overlay *)base)->run, finished, err);
}

static void close_overlay(sk_consumer *base)
{
    sk_overlay_run_close(&((overlay *)base)->run);
    sk_free(((overlay *)base)->tracks);
}

static const sk_consumer_kind kind = {.name = "overlay",
                                      .begin = begin,
                                      .retell = retell,
                                      .take = take,
                                      .complete = complete,
                                      .end = end,
                                      .close = close_overlay,
                                      .settle = settle};

sk_consumer *sk_consumer_overlay(const sk_overlay_wish *wish)
{
    overlay *o = sk_calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_PIXELS | SK_NEEDS_NAMES};
    o->wish = *wish;
    return &o->base;
}
