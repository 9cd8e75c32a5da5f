/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/file.h"
#include "base/memory.h"

#include <string.h>

typedef struct file {
    sk_consumer base;
    const sk_sink_kind *format;
    sk_sink *sink;
    /* A frame without those tracks of which there is nothing but a place: */
    sk_instances placed;
    sk_sighting *sightings;
    size_t items_capacity, sightings_capacity;
} file;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    file *f = (file *)base;
    const char *out = sk_run_folder_path(folder);
    char *path = out ? sk_path_join(out, f->format->file) : sk_strdup("-");
    if (!path)
        return sk_fail_memory(err, strlen(f->format->file));
    sk_status status = f->format->open(path, header, &f->sink, err);
    sk_free(path);
    return status;
}

/* Formats of boxes and keypoints have no words for a track that was not found and whose instances have no box. */
static sk_status write_frame(file *f, const sk_result_frame *frame, sk_error *err)
{
    const sk_instances *all = frame->instances;
    int32_t bare = 0, n = 0;
    for (int32_t i = 0; frame->sightings && !f->format->no_shapes && i < all->count; i++)
        bare += all->items[i].has == 0;
    if (!bare)
        return f->sink->write(f->sink, frame, err);
    SK_TRY(sk_array_reserve((void **)&f->placed.items, &f->items_capacity, (size_t)all->count,
                            sizeof *f->placed.items, SIZE_MAX / 256, err));
    SK_TRY(sk_array_reserve((void **)&f->sightings, &f->sightings_capacity, (size_t)all->count,
                            sizeof *f->sightings, SIZE_MAX / 256, err));
    for (int32_t i = 0; i < all->count; i++) {
        if (all->items[i].has == 0)
            continue;
        f->placed.items[n] = all->items[i];
        f->sightings[n++] = frame->sightings[i];
    }
    f->placed.count = f->placed.capacity = n;
    f->placed.n_keypoints = all->n_keypoints;
    f->placed.keypoints = all->keypoints;
    sk_result_frame told = *frame;
    told.instances = &f->placed;
    told.sightings = f->sightings;
    return f->sink->write(f->sink, &told, err);
}

/* A file is made anew by every part of a run, of what the journal knows and what comes. */
static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry, (void)lacks;
    return known->problem ? SK_OK : write_frame((file *)base, known, err);
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    return write_frame((file *)base, passing->result, err);
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    file *f = (file *)base;
    sk_sink *sink = f->sink;
    f->sink = NULL;
    return sink ? sink->close(sink, err) : SK_OK;
}

static void close_file(sk_consumer *base)
{
    (void)!complete(base, NULL);
    sk_free(((file *)base)->placed.items); /* its keypoints are the frame's */
    sk_free(((file *)base)->sightings);
}

static const sk_consumer_kind kind = {.name = "file",
                                      .begin = begin,
                                      .retell = retell,
                                      .take = take,
                                      .complete = complete,
                                      .close = close_file};

sk_consumer *sk_consumer_file(const sk_sink_kind *format)
{
    file *f = sk_calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_NAMES, .files = {format->file, format->beside}};
    if (format->takes_turns)
        f->base.needs |= SK_NEEDS_TURNS;
    f->format = format;
    return &f->base;
}
