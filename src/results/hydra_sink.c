/* SPDX-License-Identifier: Apache-2.0 */
#include "results/hydra_csv.h"
#include "results/sink.h"

#include "base/memory.h"

/* hydra-suite's tables as formats of a run that tracks. */

static const sk_sink_kind sk_sink_tracks, sk_sink_final, sk_sink_raw;

typedef struct hydra_sink {
    sk_sink base;
    sk_run_header header; /* borrowed texts */
    sk_hydra_csv *csv;
    sk_hydra_more *more; /* of one frame */
    size_t capacity;
} hydra_sink;

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    hydra_sink *sink = (hydra_sink *)base;
    const sk_instances *all = frame->instances;
    const int32_t n = frame->sightings ? all->count : 0;
    SK_TRY(sk_array_reserve((void **)&sink->more, &sink->capacity, (size_t)n, sizeof *sink->more,
                            SIZE_MAX / 256, err));
    for (int32_t i = 0; i < n; i++) {
        const sk_found *in = &all->items[i];
        const bool known =
            sink->header.identities && in->class_id >= 0 && in->class_id < sink->header.n_classes;
        sink->more[i] = (sk_hydra_more){.points = in->has & SK_HAS_KEYPOINTS && all->keypoints
                                                      ? all->keypoints + in->first_keypoint
                                                      : NULL,
                                        .identity = known ? in->class_id : -1,
                                        .label = known ? sink->header.class_names[in->class_id] : NULL,
                                        .identity_score = known ? (double)in->tracking_score : 0};
    }
    return sk_hydra_csv_add(sink->csv, frame->sightings, sink->more, n, err);
}

static sk_status flush(sk_sink *base, sk_error *err)
{
    (void)base, (void)err;
    return SK_OK; /* the table goes by tracks: it is there when all frames are */
}

static sk_status close_sink(sk_sink *base, sk_error *err)
{
    hydra_sink *sink = (hydra_sink *)base;
    sk_status status = sink->csv ? sk_hydra_csv_finish(&sink->csv, err) : SK_OK;
    sk_free(sink->more);
    sk_free(sink);
    return status;
}

static sk_status open_table(const sk_sink_kind *kind, sk_hydra_table table, const char *path,
                            const sk_run_header *header, sk_sink **out, sk_error *err)
{
    *out = NULL;
    if (!header->tracked)
        return sk_fail(err, SK_ERR_ARG, "format %s is a table of tracks, which 'skitter track' makes",
                       kind->name);
    hydra_sink *sink = sk_calloc(1, sizeof *sink);
    if (!sink)
        return sk_fail_memory(err, sizeof *sink);
    sink->base = (sk_sink){.kind = kind, .write = write_frame, .flush = flush, .close = close_sink};
    sink->header = *header;
    const sk_hydra_csv_header how = {header->rate, header->identities, header->n_keypoints,
                                     header->keypoint_names};
    sk_status status = sk_hydra_csv_open(path, table, &how, &sink->csv, err);
    if (status == SK_OK)
        *out = &sink->base;
    else
        sk_free(sink);
    return status;
}

static sk_status open_user(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_table(&sk_sink_tracks, SK_HYDRA_USER, path, header, out, err);
}

static sk_status open_final(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_table(&sk_sink_final, SK_HYDRA_FINAL, path, header, out, err);
}

static sk_status open_raw(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_table(&sk_sink_raw, SK_HYDRA_RAW, path, header, out, err);
}

static const sk_sink_kind sk_sink_tracks = {
    .name = "tracks",
    .file = "tracks.csv",
    .help = "track: one row an animal and frame, one animal after another, for reading",
    .open = open_user,
    .no_shapes = true};
static const sk_sink_kind sk_sink_final = {
    .name = "final",
    .file = "tracks_final.csv",
    .help = "track: the same with the columns of hydra-suite's final table",
    .open = open_final,
    .no_shapes = true};
static const sk_sink_kind sk_sink_raw = {
    .name = "raw",
    .file = SK_HYDRA_FORWARD,
    .beside = SK_HYDRA_BACKWARD,
    .help = "track: what each pass over the video saw, as hydra-suite's raw tables",
    .open = open_raw,
    .no_shapes = true};

const sk_sink_kind *const sk_sink_track_kinds[] = {&sk_sink_tracks, &sk_sink_final, &sk_sink_raw, NULL};
