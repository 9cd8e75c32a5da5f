/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_view_internal.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SEEN_MOST   ((size_t)1 << 27) /* 4 GB: three days of twenty animals at 25 frames a second */
#define FRAMES_MOST ((size_t)1 << 28)

void view_forget_sums(sk_run_view *v)
{
    if (v->summed) {
        sk_movement_free(&v->movement);
        sk_suspects_free(&v->suspects);
    }
    v->summed = false;
}

void view_forget(sk_run_view *v)
{
    view_forget_sums(v);
    v->n_seen = v->n_frames = 0;
    v->round = v->reader ? sk_result_reader_round(v->reader) : 0;
}

/* --- gathering --- */

static sk_status gather_frame(sk_run_view *v, int64_t place, sk_error *err)
{
    sk_result_frame f;
    SK_TRY(sk_result_reader_read(v->reader, place, &f, err));
    if (!sk_run_header_fits(&v->header, &f))
        return sk_fail(err, SK_ERR_FORMAT, "%s/%s: frame %lld does not fit what run.json says of the run",
                       v->folder, v->told_by, (long long)f.index);
    const int32_t n = f.sightings ? f.instances->count : 0;
    SK_TRY(sk_array_reserve((void **)&v->frames, &v->frames_capacity, v->n_frames + 2, sizeof *v->frames,
                            FRAMES_MOST, err));
    SK_TRY(sk_array_reserve((void **)&v->seen, &v->seen_capacity, v->n_seen + (size_t)n, sizeof *v->seen,
                            SEEN_MOST, err));
    for (int32_t i = 0; i < f.instances->count; i++)
        v->header.has |= f.instances->items[i].has;
    v->frames[v->n_frames++] = (view_frame){f.time, v->n_seen};
    for (int32_t i = 0; i < n; i++) {
        const sk_sighting *s = &f.sightings[i];
        v->seen[v->n_seen++] = (sk_run_seen){.track = s->track,
                                             .x = (float)s->x,
                                             .y = (float)s->y,
                                             .heading = (float)s->heading,
                                             .major = (float)s->major,
                                             .certainty = (float)s->certainty,
                                             .score = (float)s->score,
                                             .state = (int32_t)s->state};
    }
    v->frames[v->n_frames].first = v->n_seen;
    return SK_OK;
}

static sk_status gather(sk_run_view *v, sk_error *err)
{
    const int64_t n = sk_result_reader_count(v->reader);
    while (v->tracked && (int64_t)v->n_frames < n)
        SK_TRY(gather_frame(v, (int64_t)v->n_frames, err));
    return SK_OK;
}

/* Of a place whose frame is gathered. */
static int32_t seen_at(const sk_run_view *v, size_t place, sk_run_seen *out, int32_t *ids)
{
    const size_t first = v->frames[place].first;
    const int32_t n = (int32_t)(v->frames[place + 1].first - first);
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        ids[i] = v->seen[first + (size_t)i].track;
    sk_corrections_apply(&v->corrections, sk_run_view_number(v, (int64_t)place), ids, n);
    for (int32_t i = 0; i < n; i++) {
        if (ids[i] < 0)
            continue;
        out[kept] = v->seen[first + (size_t)i];
        out[kept++].track = ids[i];
    }
    return kept;
}

static size_t most_in_frame(const sk_run_view *v)
{
    size_t most = 1;
    for (size_t i = 0; i < v->n_frames; i++) {
        const size_t n = v->frames[i + 1].first - v->frames[i].first;
        most = n > most ? n : most;
    }
    return most;
}

/* Every sighting is gathered, and there is room for the tracks of any frame. */
static sk_status gather_all(sk_run_view *v, sk_error *err)
{
    SK_TRY(gather(v, err));
    return sk_array_reserve((void **)&v->ids, &v->ids_capacity, most_in_frame(v), sizeof *v->ids,
                            SIZE_MAX / 4096, err);
}

sk_status sk_run_view_seen(sk_run_view *v, int64_t place, sk_run_seen *out, int32_t *n, double *time,
                           sk_error *err)
{
    *n = 0;
    SK_TRY(gather_all(v, err));
    if (place < 0 || (size_t)place >= v->n_frames)
        return SK_OK;
    *n = seen_at(v, (size_t)place, out, v->ids);
    *time = v->frames[place].time;
    return SK_OK;
}

/* --- sums --- */

static sk_status sum_frame(sk_run_view *v, size_t place, sk_run_seen *seen, sk_sighting *told, sk_error *err)
{
    const int64_t frame = sk_run_view_number(v, (int64_t)place);
    const int32_t n = seen_at(v, place, seen, v->ids);
    for (int32_t i = 0; i < n; i++) {
        const sk_run_seen *s = &seen[i];
        const bool active = s->state == SK_TRACK_ACTIVE;
        told[i] = (sk_sighting){.frame = frame,
                                .track = s->track,
                                .place = s->track,
                                .detection = active ? i : -1,
                                .state = (sk_track_state)s->state,
                                .x = (double)s->x,
                                .y = (double)s->y,
                                .heading = (double)s->heading,
                                .major = (double)s->major,
                                .score = (double)s->score,
                                .certainty = (double)s->certainty};
    }
    SK_TRY(sk_movement_take(&v->movement, frame, v->frames[place].time, told, n, err));
    return sk_suspects_take(&v->suspects, told, n, err);
}

static sk_status sum(sk_run_view *v, sk_error *err)
{
    SK_TRY(gather_all(v, err));
    const size_t most = most_in_frame(v);
    sk_run_seen *seen = sk_malloc(most * sizeof *seen);
    sk_sighting *told = sk_malloc(most * sizeof *told);
    sk_status status = seen && told ? SK_OK : sk_fail_memory(err, most * sizeof *told);
    sk_movement_begin(&v->movement, v->header.width, v->header.height, v->header.rate);
    v->suspects = (sk_suspects){0};
    v->summed = true;
    for (size_t i = 0; i < v->n_frames && status == SK_OK; i++)
        status = sum_frame(v, i, seen, told, err);
    sk_suspects_end(&v->suspects);
    sk_free_all(seen, told);
    if (status != SK_OK)
        view_forget_sums(v);
    return status;
}

sk_status sk_run_view_movement(sk_run_view *v, const sk_movement **movement, const sk_suspects **suspects,
                               sk_error *err)
{
    if (!v->summed)
        SK_TRY(sum(v, err));
    *movement = &v->movement;
    *suspects = &v->suspects;
    return SK_OK;
}

/* --- one track, or two --- */

/* Where the track is in the frame of this place; null: it is not there. */
static const sk_run_seen *find_track(const sk_run_view *v, size_t place, int32_t track, sk_run_seen *work)
{
    const int32_t n = seen_at(v, place, work, v->ids);
    for (int32_t i = 0; i < n; i++)
        if (work[i].track == track)
            return &work[i];
    return NULL;
}

static sk_status ready(sk_run_view *v, sk_run_seen **work, sk_error *err)
{
    SK_TRY(gather_all(v, err));
    const size_t bytes = most_in_frame(v) * sizeof **work;
    *work = sk_malloc(bytes);
    return *work ? SK_OK : sk_fail_memory(err, bytes);
}

static sk_run_point point_at(const sk_run_view *v, size_t place, const sk_run_series *which,
                             sk_run_seen *work)
{
    sk_run_point p = {
        sk_run_view_number(v, (int64_t)place), v->frames[place].time, NAN, NAN, NAN, NAN, NAN, -1};
    const sk_run_seen *s = find_track(v, place, which->track, work);
    if (!s)
        return p;
    p.x = (double)s->x, p.y = (double)s->y, p.heading = (double)s->heading, p.state = s->state;
    s = which->other >= 0 ? find_track(v, place, which->other, work) : NULL;
    if (s)
        p.distance = hypot(p.x - (double)s->x, p.y - (double)s->y);
    s = place > 0 ? find_track(v, place - 1, which->track, work) : NULL;
    const double past = place > 0 ? p.time - v->frames[place - 1].time : 0;
    const double step = past > 0 ? past : v->header.rate > 0 ? 1 / v->header.rate : 0.04; /* pictures */
    if (s)
        p.speed = hypot(p.x - (double)s->x, p.y - (double)s->y) / step;
    return p;
}

sk_status sk_run_view_series(sk_run_view *v, const sk_run_series *which, sk_run_point *out, int32_t *n,
                             sk_error *err)
{
    sk_run_seen *work = NULL;
    *n = 0;
    if (which->most < 1 || which->most > 100000)
        return sk_fail(err, SK_ERR_ARG, "%d points: 1 to 100000 can be had", which->most);
    SK_TRY(ready(v, &work, err));
    const int64_t first = sk_run_view_place(v, which->from);
    const int64_t end = which->to < 0 ? (int64_t)v->n_frames : sk_run_view_place(v, which->to + 1);
    const int64_t count = end - first;
    const int64_t points = count < which->most ? count : which->most;
    for (int64_t i = 0; i < points; i++)
        out[(*n)++] = point_at(v, (size_t)(first + i * count / points), which, work);
    sk_free(work);
    return SK_OK;
}

sk_status sk_run_view_both(sk_run_view *v, int32_t a, int32_t b, int64_t *count, char *words, size_t capacity,
                           sk_error *err)
{
    sk_run_seen *work = NULL;
    int64_t begin = -1, last = -1, stretches = 0;
    *count = 0;
    words[0] = '\0';
    SK_TRY(ready(v, &work, err));
    for (size_t i = 0; i <= v->n_frames; i++) {
        const bool both = i < v->n_frames && find_track(v, i, a, work) && find_track(v, i, b, work);
        const int64_t frame = sk_run_view_number(v, (int64_t)i);
        *count += both;
        if (both && begin < 0)
            begin = frame;
        if (both)
            last = frame;
        if (both || begin < 0)
            continue;
        const size_t used = strlen(words);
        if (stretches < 5)
            snprintf(words + used, capacity - used, begin == last ? "%s%lld" : "%s%lld-%lld",
                     used ? ", " : "", (long long)begin, (long long)last);
        else if (stretches == 5)
            snprintf(words + used, capacity - used, ", …");
        stretches++;
        begin = -1;
    }
    sk_free(work);
    return SK_OK;
}

sk_status sk_run_view_has(sk_run_view *v, int32_t track, int64_t from, int64_t to, bool *out, sk_error *err)
{
    sk_run_seen *work = NULL;
    *out = false;
    SK_TRY(ready(v, &work, err));
    const int64_t end = to < 0 ? (int64_t)v->n_frames : sk_run_view_place(v, to + 1);
    for (int64_t i = sk_run_view_place(v, from); i < end && i < (int64_t)v->n_frames && !*out; i++)
        *out = find_track(v, (size_t)i, track, work);
    sk_free(work);
    return SK_OK;
}
