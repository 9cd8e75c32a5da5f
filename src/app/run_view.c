/* SPDX-License-Identifier: Apache-2.0 */
#include "app/correct.h"
#include "app/run_view_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"

#include <stdio.h>
#include <string.h>

/* --- opening --- */

static sk_status open_one(sk_run_view *v, bool lines, sk_error *err)
{
    const char *name = lines ? "results.jsonl" : "journal.skj";
    char *path = sk_path_join(v->folder, name);
    if (!path)
        return sk_fail_memory(err, strlen(name));
    sk_status status = lines ? sk_result_reader_open_jsonl(path, v->header.n_keypoints, &v->reader, err)
                             : sk_result_reader_open_journal(path, &v->reader, err);
    sk_free(path);
    if (status == SK_OK)
        v->told_by = name;
    return status;
}

/* Corrections that cannot be read, or are of another run, do not keep anybody from looking. */
static sk_status load_corrections(sk_run_view *v, sk_error *err)
{
    sk_corrections now = {0};
    sk_error why = {0};
    v->notice[0] = '\0';
    const sk_status status = v->tracked ? sk_corrections_load(v, &now, &why) : SK_OK;
    if (status == SK_ERR_MEMORY)
        return sk_fail(err, status, "%s", why.message);
    if (status != SK_OK)
        snprintf(v->notice, sizeof v->notice, "%.500s", why.message);
    if (!sk_corrections_same(&now, &v->corrections))
        view_forget_sums(v);
    sk_corrections_free(&v->corrections);
    v->corrections = now;
    return SK_OK;
}

/* Tracks are in results.jsonl once the run has made them, or, of a live source, as they come. */
static sk_status open_frames(sk_run_view *v, sk_error *err)
{
    const bool working = strcmp(sk_run_record_state(v->record), "running") == 0;
    const bool live = strcmp(v->header.source_kind, "live") == 0;
    const bool lines_first = v->header.tracked && (!working || live);
    sk_error first = {0}, second = {0};
    for (int i = 0; i < 2; i++) {
        const bool lines = (i == 0) == lines_first;
        const sk_status status = open_one(v, lines, i ? &second : &first);
        if (status == SK_OK) {
            v->tracked = v->header.tracked && lines;
            return SK_OK;
        }
        if (status == SK_ERR_MEMORY)
            return sk_fail(err, status, "%s", i ? second.message : first.message);
    }
    return sk_fail(err, first.code == SK_ERR_NOT_FOUND ? second.code : first.code,
                   "%s: its frames cannot be read: %.300s; %.300s. 'skitter %s' with the run's own arguments "
                   "and --format jsonl writes results.jsonl again",
                   v->folder, first.message, second.message, v->header.tracked ? "track" : "predict");
}

static sk_status open_record(sk_run_view *v, sk_error *err)
{
    sk_run_record *record = NULL;
    SK_TRY(sk_run_record_open(v->folder, &record, err));
    const uint32_t had = v->header.has;
    sk_run_record_close(&v->record);
    v->record = record;
    v->header = *sk_run_record_header(record);
    v->header.has |= had;
    return SK_OK;
}

sk_status sk_run_view_open(const char *folder, sk_run_view **out, sk_error *err)
{
    *out = NULL;
    sk_run_view *v = sk_calloc(1, sizeof *v);
    if (!v)
        return sk_fail_memory(err, sizeof *v);
    v->folder = sk_strdup(folder);
    sk_status status = v->folder ? open_record(v, err) : sk_fail_memory(err, strlen(folder));
    if (status == SK_OK)
        status = open_frames(v, err);
    if (status == SK_OK)
        status = load_corrections(v, err);
    return SK_HAND_OVER(status, v, out, sk_run_view_close);
}

void sk_run_view_close(sk_run_view **pointer)
{
    SK_TAKE_OR_RETURN(v, pointer);
    view_forget(v);
    sk_result_reader_close(&v->reader);
    sk_run_record_close(&v->record);
    sk_corrections_free(&v->corrections);
    sk_free_all(v->folder, v->told.items, v->sightings, v->ids, v->seen, v->frames, v);
}

/* --- what came since --- */

sk_status sk_run_view_refresh(sk_run_view *v, sk_error *err)
{
    const int64_t before = sk_result_reader_count(v->reader);
    char state[16], started[64];
    snprintf(state, sizeof state, "%s", sk_run_record_state(v->record));
    snprintf(started, sizeof started, "%s", v->header.started);
    SK_TRY(open_record(v, err));
    if (strcmp(state, sk_run_record_state(v->record)) != 0 || strcmp(started, v->header.started) != 0) {
        sk_result_reader *old = v->reader; /* another file may have them now */
        v->reader = NULL;
        const sk_status status = open_frames(v, err);
        if (status != SK_OK) {
            v->reader = old;
            return status;
        }
        sk_result_reader_close(&old);
        view_forget(v);
    } else {
        SK_TRY(sk_result_reader_refresh(v->reader, err));
        if (sk_result_reader_round(v->reader) != v->round)
            view_forget(v);
        else if (sk_result_reader_count(v->reader) != before)
            view_forget_sums(v);
    }
    return load_corrections(v, err);
}

/* --- telling --- */

void sk_run_view_get_info(const sk_run_view *v, sk_run_view_info *info)
{
    const int64_t n = sk_result_reader_count(v->reader);
    *info = (sk_run_view_info){.folder = v->folder,
                               .header = &v->header,
                               .state = sk_run_record_state(v->record),
                               .tracked = v->tracked,
                               .told_by = v->told_by,
                               .tracks = v->summed ? (int64_t)v->movement.n_tracks : -1,
                               .frames = n,
                               .first = sk_result_reader_number(v->reader, 0),
                               .last = sk_result_reader_number(v->reader, n - 1),
                               .corrections = &v->corrections,
                               .notice = v->notice};
}

const sk_run_record *sk_run_view_record(const sk_run_view *v)
{
    return v->record;
}

int64_t sk_run_view_number(const sk_run_view *v, int64_t place)
{
    return sk_result_reader_number(v->reader, place);
}

int64_t sk_run_view_place(const sk_run_view *v, int64_t frame)
{
    return sk_result_reader_find(v->reader, frame);
}

/* The frame with the tracks that corrections leave it. */
static sk_status put_right(sk_run_view *v, sk_result_frame *out, sk_error *err)
{
    const sk_instances *all = out->instances;
    const size_t n = (size_t)all->count;
    int32_t kept = 0;
    SK_TRY(sk_array_reserve((void **)&v->told.items, &v->told_capacity, n + 1, sizeof *v->told.items,
                            SIZE_MAX / 4096, err));
    SK_TRY(sk_array_reserve((void **)&v->sightings, &v->sightings_capacity, n + 1, sizeof *v->sightings,
                            SIZE_MAX / 4096, err));
    SK_TRY(sk_array_reserve((void **)&v->ids, &v->ids_capacity, n + 1, sizeof *v->ids, SIZE_MAX / 4096, err));
    for (size_t i = 0; i < n; i++)
        v->ids[i] = all->items[i].track_id;
    sk_corrections_apply(&v->corrections, out->index, v->ids, all->count);
    for (size_t i = 0; i < n; i++) {
        if (v->ids[i] < 0 && all->items[i].track_id >= 0)
            continue;
        v->told.items[kept] = all->items[i];
        v->told.items[kept].track_id = v->ids[i];
        if (out->sightings) {
            v->sightings[kept] = out->sightings[i];
            v->sightings[kept].track = v->sightings[kept].place = v->ids[i];
            if (v->sightings[kept].detection >= 0)
                v->sightings[kept].detection = kept;
        }
        kept++;
    }
    v->told.count = v->told.capacity = kept;
    v->told.n_keypoints = all->n_keypoints;
    v->told.keypoints = all->keypoints;
    out->instances = &v->told;
    out->sightings = out->sightings ? v->sightings : NULL;
    return SK_OK;
}

sk_status sk_run_view_frame(sk_run_view *v, int64_t frame, sk_result_frame *out, sk_error *err)
{
    const int64_t place = sk_run_view_place(v, frame), n = sk_result_reader_count(v->reader);
    if (sk_result_reader_number(v->reader, place) != frame)
        return n ? sk_fail(
                       err, SK_ERR_NOT_FOUND,
                       "%s: the run did not look at frame %lld; it has %lld of the frames from %lld to %lld",
                       v->folder, (long long)frame, (long long)n,
                       (long long)sk_result_reader_number(v->reader, 0),
                       (long long)sk_result_reader_number(v->reader, n - 1))
                 : sk_fail(err, SK_ERR_NOT_FOUND, "%s: no frame of the run is there yet", v->folder);
    SK_TRY(sk_result_reader_read(v->reader, place, out, err));
    if (!sk_run_header_fits(&v->header, out))
        return sk_fail(err, SK_ERR_FORMAT, "%s/%s: frame %lld does not fit what run.json says of the run",
                       v->folder, v->told_by, (long long)frame);
    out->width = out->width > 0 ? out->width : v->header.width;
    out->height = out->height > 0 ? out->height : v->header.height;
    return v->tracked && v->corrections.count ? put_right(v, out, err) : SK_OK;
}
