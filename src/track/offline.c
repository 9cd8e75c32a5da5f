/* SPDX-License-Identifier: Apache-2.0 */
#include "track/offline.h"

#include "base/memory.h"
#include "base/order.h"
#include "track/final_tracks.h"
#include "track/gaps.h"
#include "track/headings.h"
#include "track/passes.h"
#include "track/pieces.h"
#include "track/smooth.h"
#include "track/upstream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sk_offline {
    sk_offline_settings settings;
    double fps;
    sk_seen_store *store;
    int64_t last_frame;
    int32_t most; /* detections of a frame */
    bool finished;
    int32_t *track; /* of each detection: forward track, then piece, then final track; -1: none */
    int32_t *other; /* backward track */
    float *certainty, *uncertainty;
    uint8_t *turned;
    sk_smooth_settings how;
    sk_smoothed *smoothed; /* null: not smoothed */
    int32_t *class_of;     /* of each final track; -1: none */
    int32_t tracks;
    sk_gaps gaps;
    sk_sighting *sightings;
    size_t sightings_capacity;
};

void sk_offline_defaults(sk_offline_settings *settings)
{
    *settings = (sk_offline_settings){.backward = true,
                                      .stitch_gap = 4,
                                      .method = SK_INTERPOLATION_LINEAR,
                                      .interpolate_gap = 0.5,
                                      .flip_burst = 5,
                                      .shortest = 0.33};
    sk_track_defaults(&settings->track);
}

sk_status sk_offline_open(const sk_offline_settings *settings, const char *spill, sk_offline **out,
                          sk_error *err)
{
    *out = NULL;
    sk_offline *o = sk_calloc(1, sizeof *o);
    if (!o)
        return sk_fail_memory(err, sizeof *o);
    o->settings = *settings;
    o->fps = settings->track.fps > 0 ? settings->track.fps : 25;
    o->last_frame = INT64_MIN;
    /* What the tracker refuses is refused now, not after hours of detecting. */
    sk_tracker *probe = NULL;
    sk_status status = sk_tracker_open(&o->settings.track, &probe, err);
    sk_tracker_close(&probe);
    if (status == SK_OK)
        status = sk_seen_store_open(spill, &o->store, err);
    if (status != SK_OK)
        sk_offline_close(&o);
    *out = o;
    return status;
}

void sk_offline_close(sk_offline **offline)
{
    sk_offline *o = *offline;
    *offline = NULL;
    if (!o)
        return;
    sk_seen_store_close(&o->store);
    sk_gaps_free(&o->gaps);
    sk_free(o->sightings);
    sk_free(o->class_of);
    sk_free(o);
}

sk_status sk_offline_add(sk_offline *o, int64_t frame, double time, const sk_detection *detections, int32_t n,
                         sk_error *err)
{
    SK_CHECK_ARG(n >= 0 && !o->finished, err);
    if (n > SK_TRACK_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "frame %lld has %d detections; at most %d can be tracked",
                       (long long)frame, n, SK_TRACK_MOST);
    if (frame <= o->last_frame)
        return sk_fail(err, SK_ERR_ARG, "frame %lld comes after frame %lld", (long long)frame,
                       (long long)o->last_frame);
    o->last_frame = frame;
    o->most = n > o->most ? n : o->most;
    return sk_seen_store_add(o->store, frame, time, detections, n, err);
}

/* --- what is told --- */

static sk_sighting sighting_of(const sk_offline *o, const sk_stored_frame *f, int32_t i)
{
    const int64_t at = f->first + i;
    const sk_detection *d = &f->detections[i];
    sk_sighting s = {.frame = f->frame,
                     .track = o->track[at],
                     .place = o->track[at],
                     .detection = i,
                     .state = SK_TRACK_ACTIVE,
                     .x = d->x,
                     .y = d->y,
                     .heading = sk_heading_of(d, o->turned[at]),
                     .major = d->major,
                     .minor = d->minor,
                     .angle = d->angle,
                     .score = d->score,
                     .certainty = o->certainty[at],
                     .uncertainty = o->uncertainty[at],
                     .box = sk_told_box_of(d),
                     .class_id = o->class_of[o->track[at]]};
    if (o->smoothed)
        sk_smoothed_apply(&o->smoothed[at], &o->how, d, &s);
    return s;
}

static sk_status find_gaps(sk_offline *o, int64_t longest, sk_error *err)
{
    SK_TRY(sk_gaps_open(&o->gaps, o->tracks, longest, o->settings.method == SK_INTERPOLATION_CUBIC, err));
    const int64_t frames = sk_seen_store_frames(o->store);
    for (int64_t at = 0; at < frames; at++) {
        sk_stored_frame f;
        SK_TRY(sk_seen_store_read(o->store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++) {
            if (o->track[f.first + i] < 0)
                continue;
            const sk_sighting now = sighting_of(o, &f, i);
            SK_TRY(sk_gaps_add(&o->gaps, at, &now, err));
        }
    }
    sk_gaps_finish(&o->gaps);
    return SK_OK;
}

static sk_status decide(sk_offline *o, sk_pieces *pieces, sk_error *err)
{
    SK_TRY(sk_pieces_make(o->store, o->track, o->settings.backward ? o->other : NULL, o->fps,
                          o->settings.velocity_limit, &o->settings.track, o->most, o->track, pieces, err));
    int32_t n = 0;
    const sk_stitch_settings stitch = {.fps = o->fps,
                                       .gap = o->settings.track.animals > 0 ? 0 : o->settings.stitch_gap,
                                       .animals = o->settings.track.animals,
                                       .prior = 6,
                                       .velocity_limit = o->settings.velocity_limit};
    if (o->settings.stitch_gap > 0) {
        SK_TRY(sk_pieces_stitch(pieces, &stitch, &n, err));
    } else {
        for (size_t i = 0; i < pieces->count; i++)
            pieces->items[i].track = (int32_t)i;
        n = (int32_t)pieces->count;
    }
    const double shortest = fmax(1, round(o->settings.shortest * o->fps));
    return sk_final_tracks_settle(o->store, pieces, n, shortest, o->settings.track.animals, o->track,
                                  &o->tracks, err);
}

sk_status sk_offline_finish(sk_offline *o, sk_error *err)
{
    SK_CHECK_ARG(!o->finished, err);
    o->finished = true;
    sk_pieces pieces = {0};
    if (!(o->track = sk_seen_store_column(o->store, sizeof *o->track, err)) ||
        !(o->other = sk_seen_store_column(o->store, sizeof *o->other, err)) ||
        !(o->certainty = sk_seen_store_column(o->store, sizeof *o->certainty, err)) ||
        !(o->uncertainty = sk_seen_store_column(o->store, sizeof *o->uncertainty, err)) ||
        !(o->turned = sk_seen_store_column(o->store, sizeof *o->turned, err)))
        return err ? err->code : SK_ERR_MEMORY;
    const sk_passes passes = {o->track, o->other, o->certainty, o->uncertainty};
    SK_TRY(sk_passes_run(o->store, &o->settings, &passes, err));
    sk_status status = o->settings.upstream
                           ? sk_upstream_tracks(o->store, &o->settings, o->fps, o->track,
                                                o->settings.backward ? o->other : NULL, &o->tracks, err)
                           : decide(o, &pieces, err);
    sk_pieces_free(&pieces);
    sk_seen_store_drop_column(o->store, o->other);
    o->other = NULL;
    SK_TRY(status);
    SK_TRY(sk_final_tracks_drop_doubles(o->store, o->track, o->tracks, err));
    SK_TRY(sk_headings_decide(o->store, o->track, o->tracks, o->settings.flip_burst, o->turned, err));
    SK_TRY(sk_final_tracks_classes(o->store, o->track, o->tracks, &o->class_of, err));
    o->how = (sk_smooth_settings){
        .frames = o->settings.smoothing * o->fps, .boxes = o->settings.track.steady != 0, .fps = o->fps};
    if (o->how.frames > 0 || o->how.boxes)
        SK_TRY(sk_smooth(o->store, o->track, o->turned, o->tracks, &o->how, &o->smoothed, err));
    const double longest = round(o->settings.interpolate_gap * o->fps);
    if (o->settings.method != SK_INTERPOLATION_NONE && longest > 0)
        SK_TRY(find_gaps(o, (int64_t)longest, err));
    return SK_OK;
}

/* --- reading --- */

int64_t sk_offline_frames(const sk_offline *o)
{
    return sk_seen_store_frames(o->store);
}

int32_t sk_offline_tracks(const sk_offline *o)
{
    return o->tracks;
}

static int by_track(const void *a, const void *b)
{
    const sk_sighting *x = a, *y = b;
    return SK_ORDER(x->track, y->track);
}

sk_status sk_offline_read(sk_offline *o, int64_t at, int64_t *frame, const sk_sighting **sightings,
                          int32_t *n, sk_error *err)
{
    SK_CHECK_ARG(o->finished && at >= 0 && at < sk_seen_store_frames(o->store), err);
    sk_stored_frame f;
    SK_TRY(sk_seen_store_read(o->store, at, &f, err));
    SK_TRY(sk_array_reserve((void **)&o->sightings, &o->sightings_capacity, (size_t)o->tracks + 1,
                            sizeof *o->sightings, SK_TRACKLET_LIMIT, err));
    int32_t count = 0;
    for (int32_t i = 0; i < f.n; i++)
        if (o->track[f.first + i] >= 0 && count < o->tracks)
            o->sightings[count++] = sighting_of(o, &f, i);
    const sk_gaps *gaps = &o->gaps;
    for (size_t i = sk_gaps_behind(gaps, at);
         i < gaps->count && gaps->items[i].to <= at + gaps->longest && count < o->tracks; i++)
        if (gaps->items[i].from < at)
            o->sightings[count++] = sk_gap_at(&gaps->items[i], f.frame);
    if (count)
        qsort(o->sightings, (size_t)count, sizeof *o->sightings, by_track);
    *frame = f.frame;
    *sightings = o->sightings;
    *n = count;
    return SK_OK;
}
