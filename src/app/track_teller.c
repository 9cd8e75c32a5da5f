/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_teller.h"

#include "app/frame_looks.h"
#include "app/track_axis.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "results/hydra_csv.h"

#include <math.h>
#include <string.h>

#define TRACKS_MOST ((size_t)1 << 28)

struct sk_track_teller {
    const sk_track_wish *wish;
    const sk_run_header *header;
    sk_track_settings settings; /* with the source's rate */
    sk_tracker *tracker;        /* of the frames since entry 0; null: offline */
    sk_offline *offline;        /* settled: its sightings are told */
    sk_hydra_csv *raw[2];       /* while it settles: what the passes see */
    int64_t frames;             /* offline: frames since entry 0, without those that could not be read */
    sk_track_axis axis;
    sk_detection *detections;       /* of one frame */
    int32_t *instance;              /* … the number of each among the frame's instances */
    float (*looks)[SK_TRACK_LOOKS]; /* … what each looks like */
    size_t detections_capacity, instance_capacity, looks_capacity;
    sk_sighting *seen; /* of one frame */
    int32_t n_seen;
    size_t seen_capacity;
    /* What is told: */
    sk_instances told;
    size_t told_capacity;
    sk_sighting *sightings; /* one an instance */
    size_t sightings_capacity;
    bool *known; /* a track was told of */
    size_t n_tracks, tracks_capacity;
    sk_track_figures figures;
};

sk_status sk_track_teller_open(const sk_track_wish *wish, const sk_run_header *header, sk_track_teller **out,
                               sk_error *err)
{
    *out = NULL;
    sk_track_teller *t = sk_calloc(1, sizeof *t);
    if (!t)
        return sk_fail_memory(err, sizeof *t);
    t->wish = wish;
    t->header = header;
    t->settings = wish->track;
    if (t->settings.fps <= 0)
        t->settings.fps = header->rate;
    if (t->settings.filter.region && header->width > 0) {
        const sk_status fits =
            sk_region_fits(t->settings.filter.region, header->source, header->width, header->height, err);
        if (fits != SK_OK) {
            sk_track_teller_close(&t);
            return fits;
        }
    }
    sk_track_axis_of(header->keypoint_names, header->n_keypoints, &t->axis);
    if (!sk_track_axis_set(wish->head_points, wish->tail_points, header->keypoint_names, header->n_keypoints,
                           &t->axis))
        sk_log(SK_LOG_WARN, "not all keypoints that are to tell the heading are among the model's: %s, %s",
               wish->head_points, wish->tail_points);
    sk_status status = sk_tracker_open(&t->settings, &t->tracker, err); /* what is wrong is said at once */
    if (status == SK_OK)
        *out = t;
    else
        sk_track_teller_close(&t);
    return status;
}

void sk_track_teller_close(sk_track_teller **pointer)
{
    sk_track_teller *t = pointer ? *pointer : NULL;
    if (!t)
        return;
    *pointer = NULL;
    sk_tracker_close(&t->tracker);
    sk_offline_close(&t->offline);
    for (int i = 0; i < 2; i++)
        sk_hydra_csv_close(&t->raw[i]);
    sk_free(t->detections);
    sk_free(t->instance);
    sk_free(t->seen);
    sk_free(t->looks);
    sk_free(t->told.items); /* its keypoints are the frame's */
    sk_free(t->sightings);
    sk_free(t->known);
    sk_free(t);
}

const sk_track_figures *sk_track_teller_figures(const sk_track_teller *t)
{
    return &t->figures;
}

/* --- following --- */

static sk_status begin_anew(sk_track_teller *t, sk_error *err)
{
    t->figures = (sk_track_figures){.seconds = t->figures.seconds};
    t->n_tracks = 0;
    t->frames = 0;
    sk_tracker_close(&t->tracker);
    return t->offline ? SK_OK : sk_tracker_open(&t->settings, &t->tracker, err);
}

/* Pictures have no times of their own; a video's are not right where somebody says how many frames a second it has. */
static double time_of(const sk_track_teller *t, const sk_result_frame *frame)
{
    const double fps = t->settings.fps > 0 ? t->settings.fps : 25;
    const bool said = t->wish->track.fps > 0 && strcmp(t->header->source_kind, "live") != 0;
    return frame->picture || said ? (double)frame->index / fps : frame->time;
}

static sk_status gather(sk_track_teller *t, const sk_result_frame *frame, int32_t *n, sk_error *err)
{
    const sk_instances *found = frame->instances;
    const uint8_t *looks = t->wish->looks ? frame->looks : NULL;
    *n = 0;
    SK_TRY(sk_array_reserve((void **)&t->looks, &t->looks_capacity, looks ? (size_t)found->count + 1 : 1,
                            sizeof *t->looks, SIZE_MAX / 4096, err));
    SK_TRY(sk_array_reserve((void **)&t->detections, &t->detections_capacity, (size_t)found->count + 1,
                            sizeof *t->detections, SIZE_MAX / 4096, err));
    SK_TRY(sk_array_reserve((void **)&t->instance, &t->instance_capacity, (size_t)found->count + 1,
                            sizeof *t->instance, SIZE_MAX / 4096, err));
    const sk_pose_axis *axis = sk_track_axis_pose(&t->axis);
    for (int32_t i = 0; i < found->count; i++) {
        if (!sk_detection_of(found, i, axis, &t->detections[*n]))
            continue;
        if (looks && sk_frame_looks_get(looks, i, t->looks[*n]))
            t->detections[*n].looks = t->looks[*n];
        if (t->header->identities) { /* classes are individuals */
            t->detections[*n].identity = found->items[i].class_id;
            t->detections[*n].identity_score = (double)found->items[i].tracking_score;
        }
        t->instance[(*n)++] = i;
    }
    return SK_OK;
}

#define SPECK 0.3 /* of the box's long side: poses of bodies reach over most of it */

/* A model that learnt from whole frames sees nothing it knows in a crop, or a small thing somewhere. */
static bool is_poseless(const sk_detection *d)
{
    double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < d->n_points; i++) {
        const double x = (double)d->points[i].x, y = (double)d->points[i].y;
        if (!isfinite(x) || !isfinite(y))
            continue;
        box[0] = fmin(box[0], x);
        box[1] = fmin(box[1], y);
        box[2] = fmax(box[2], x);
        box[3] = fmax(box[3], y);
    }
    return !d->pointed && !(hypot(box[2] - box[0], box[3] - box[1]) >= SPECK * d->major && box[2] >= box[0]);
}

static int64_t count_poseless(const sk_track_teller *t, int32_t n)
{
    int64_t count = 0;
    for (int32_t i = 0; i < n && t->header->n_keypoints > 1; i++)
        count += is_poseless(&t->detections[i]);
    return count;
}

/* --- all at once --- */

static sk_status add_frame(void *context, const sk_result_frame *known, sk_error *err)
{
    sk_track_teller *t = context;
    int32_t n = 0;
    if (known->problem)
        return SK_OK;
    SK_TRY(gather(t, known, &n, err));
    return sk_offline_add(t->offline, known->index, time_of(t, known), t->detections, n, err);
}

static sk_status tell_raw(void *context, sk_offline_pass pass, const sk_sighting *sightings, int32_t n,
                          sk_error *err)
{
    sk_track_teller *t = context;
    return sk_hydra_csv_add(t->raw[pass == SK_PASS_BACKWARD], sightings, NULL, n, err);
}

static sk_status open_raw(sk_track_teller *t, const char *folder, sk_error *err)
{
    static const char *const names[] = {SK_HYDRA_FORWARD, SK_HYDRA_BACKWARD};
    const sk_hydra_csv_header how = {.fps = t->settings.fps};
    for (int i = 0; i < (t->wish->offline.backward ? 2 : 1); i++) {
        char *path = sk_path_join(folder, names[i]);
        sk_status status = path ? sk_hydra_csv_open(path, SK_HYDRA_RAW, &how, &t->raw[i], err)
                                : sk_fail_memory(err, strlen(folder));
        sk_free(path);
        SK_TRY(status);
    }
    return SK_OK;
}

static sk_status settle(sk_track_teller *t, sk_run_folder *folder, bool raw, sk_error *err)
{
    const char *path = sk_run_folder_path(folder);
    sk_offline_settings how = t->wish->offline;
    how.track = t->settings;
    how.told = raw ? tell_raw : NULL;
    how.context = t;
    if (raw)
        SK_TRY(open_raw(t, path, err));
    char *spill = sk_path_join(path, ".tracking");
    sk_status status = spill ? sk_offline_open(&how, spill, &t->offline, err) : sk_fail_memory(err, 16);
    sk_free(spill);
    SK_TRY(status);
    SK_TRY(sk_run_folder_retell(folder, t->header, add_frame, t, err));
    SK_TRY(sk_offline_finish(t->offline, err));
    for (int i = 0; i < 2; i++)
        if (t->raw[i])
            SK_TRY(sk_hydra_csv_finish(&t->raw[i], err));
    return SK_OK;
}

sk_status sk_track_teller_settle(sk_track_teller *t, sk_run_folder *folder, bool raw, sk_error *err)
{
    const int64_t begin = sk_clock_ns();
    const bool told = t->wish->retold && t->wish->retold->told;
    sk_status status = t->wish->online || t->offline || told ? SK_OK : settle(t, folder, raw, err);
    t->figures.seconds += (double)(sk_clock_ns() - begin) * 1e-9;
    return status;
}

/* --- telling --- */

static sk_status note_track(sk_track_teller *t, const sk_sighting *s, sk_error *err)
{
    const size_t wanted = (size_t)s->track + 1;
    if (wanted > t->n_tracks) {
        SK_TRY(sk_array_reserve((void **)&t->known, &t->tracks_capacity, wanted, sizeof *t->known,
                                TRACKS_MOST, err));
        while (t->n_tracks < wanted)
            t->known[t->n_tracks++] = false;
    }
    t->figures.tracks += !t->known[s->track];
    t->known[s->track] = true;
    return SK_OK;
}

/* The track's box, in place of the detection's. */
static void put_own(const sk_sighting *s, sk_found *out)
{
    for (int i = 0; i < 4 && out->has & SK_HAS_BOX; i++)
        out->box[i] = (float)s->box.upright[i];
    for (int i = 0; i < 5 && out->has & SK_HAS_OBB; i++)
        out->obb[i] = (float)s->box.turned[i];
}

static sk_status put(sk_track_teller *t, const sk_instances *found, const sk_sighting *s, sk_error *err)
{
    const sk_found *in = s->detection >= 0 ? &found->items[s->detection] : NULL;
    const size_t wanted = (size_t)t->told.count + 1;
    SK_TRY(note_track(t, s, err));
    SK_TRY(sk_array_reserve((void **)&t->told.items, &t->told_capacity, wanted, sizeof *t->told.items,
                            SIZE_MAX / 4096, err));
    SK_TRY(sk_array_reserve((void **)&t->sightings, &t->sightings_capacity, wanted, sizeof *t->sightings,
                            SIZE_MAX / 4096, err));
    sk_found *out = &t->told.items[t->told.count];
    *out = in ? *in : (sk_found){.class_id = -1, .has = t->header->has & (SK_HAS_BOX | SK_HAS_OBB)};
    if (!in || t->settings.steady)
        put_own(s, out);
    if (s->class_id >= 0)
        out->class_id = s->class_id;
    out->track_id = s->track;
    out->tracking_score = (float)s->certainty;
    t->sightings[t->told.count++] = *s;
    t->figures.sightings++;
    t->figures.covered += !in;
    return SK_OK;
}

/* The frame's sightings: of the offline steps, the tracker, or those that were made before. */
static sk_status follow(sk_track_teller *t, const sk_result_frame *known, sk_error *err)
{
    const sk_track_retold *retold = t->wish->retold;
    const sk_sighting *seen = NULL;
    int32_t n = 0, n_seen = 0;
    int64_t frame;
    SK_TRY(gather(t, known, &n, err));
    const bool told = retold && retold->told;
    if (told)
        SK_TRY(retold->told(retold->context, known, &seen, &n_seen, err));
    else if (t->offline)
        SK_TRY(sk_offline_read(t->offline, t->frames++, &frame, &seen, &n_seen, err));
    else
        SK_TRY(sk_tracker_step(t->tracker, known->index, time_of(t, known), t->detections, n, &seen, &n_seen,
                               err));
    t->figures.found += n;
    t->figures.poseless += count_poseless(t, n);
    SK_TRY(sk_array_reserve((void **)&t->seen, &t->seen_capacity, (size_t)n_seen + 1, sizeof *t->seen,
                            SIZE_MAX / 4096, err));
    for (int32_t i = 0; i < n_seen; i++) {
        const int32_t d = seen[i].detection, most = told ? known->instances->count : n;
        t->seen[i] = seen[i];
        t->seen[i].detection = d < 0 || d >= most ? -1 : told ? d : t->instance[d];
    }
    t->n_seen = n_seen;
    return retold ? retold->correct(retold->context, known->index, t->seen, &t->n_seen, err) : SK_OK;
}

sk_status sk_track_teller_tell(sk_track_teller *t, int64_t entry, const sk_result_frame *known,
                               sk_result_frame *told, sk_error *err)
{
    const int64_t begin = sk_clock_ns();
    *told = *known;
    if (!known->picture || t->wish->track.fps > 0)
        told->time = time_of(t, known);
    told->looks = NULL; /* of the instances as they were found */
    if (entry == 0)
        SK_TRY(begin_anew(t, err));
    if (known->problem)
        return SK_OK;
    SK_TRY(follow(t, known, err));
    t->told.count = 0;
    t->told.n_keypoints = known->instances->n_keypoints;
    t->told.keypoints = known->instances->keypoints;
    for (int32_t i = 0; i < t->n_seen; i++)
        SK_TRY(put(t, known->instances, &t->seen[i], err));
    t->told.capacity = t->told.count;
    told->instances = &t->told;
    told->sightings = t->sightings;
    t->figures.seconds += (double)(sk_clock_ns() - begin) * 1e-9;
    return SK_OK;
}
