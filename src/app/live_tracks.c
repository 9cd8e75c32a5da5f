/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/live_tracks.h"

#include "app/live_header.h"
#include "app/track_teller.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/sized.h"

struct sk_live_tracks {
    sk_track_wish wish;
    sk_run_header header;
    sk_track_teller *teller;
    char *method;
    int64_t entry, last_ns;
    double time; /* of the last frame, seconds */
};

static const sk_live_tracks_settings defaults = {.size = sizeof defaults, .tracker = "skitter"};

void sk_live_tracks_defaults(sk_live_tracks_settings *settings)
{
    if (settings)
        sk_sized_write(settings, &defaults, sizeof defaults);
}

sk_status sk_live_tracks_open(const sk_pipeline_info *about, const sk_live_tracks_settings *given,
                              sk_live_tracks **out, sk_error *err)
{
    SK_CHECK_ARG(about && out, err);
    *out = NULL;
    sk_live_tracks_settings s = defaults;
    if (given)
        SK_TRY(sk_sized_read(given, &s, sizeof s, "sk_live_tracks_settings", err));
    sk_live_tracks *t = sk_calloc(1, sizeof *t);
    if (!t)
        return sk_fail_memory(err, sizeof *t);
    sk_status status = SK_OK;
    t->method = sk_strdup(s.tracker ? s.tracker : defaults.tracker);
    if (!t->method)
        status = sk_fail_memory(err, sizeof *t);
    t->header = sk_live_header_of(about);
    sk_track_wish_defaults(&t->wish);
    t->wish.online = true;
    t->wish.track.method = t->method;
    t->wish.track.animals = s.animals;
    t->wish.track.fps = s.fps;
    if (status == SK_OK)
        status = sk_track_teller_open(&t->wish, &t->header, &t->teller, err);
    return SK_HAND_OVER(status, t, out, sk_live_tracks_close);
}

void sk_live_tracks_close(sk_live_tracks **tracks)
{
    SK_TAKE_OR_RETURN(t, tracks);
    sk_track_teller_close(&t->teller);
    sk_free(t->method);
    sk_free(t);
}

/* When this frame is. Frames without times of their own are a frame apart. */
static sk_status pass_time(sk_live_tracks *t, const sk_result *result, sk_error *err)
{
    const double fps = t->wish.track.fps > 0 ? t->wish.track.fps : 25;
    const int64_t passed = t->entry > 0 ? result->time_ns - t->last_ns : 0;
    if (passed < 0)
        return sk_fail(err, SK_ERR_ARG, "frame %lld is earlier than the one before it: tracks go with time",
                       (long long)result->index);
    if (t->entry > 0)
        t->time += passed > 0 ? (double)passed * 1e-9 : 1 / fps;
    t->last_ns = result->time_ns;
    return SK_OK;
}

sk_status sk_live_tracks_tell(sk_live_tracks *t, const sk_result *result, int32_t *ids, int32_t capacity,
                              sk_error *err)
{
    SK_CHECK_ARG(t && result && (ids || capacity == 0), err);
    const int32_t n = sk_instances_count(result->instances);
    if (n > capacity)
        return sk_fail(err, SK_ERR_ARG, "there is room for the tracks of %d instances, and the frame has %d",
                       capacity, n);
    for (int32_t i = 0; i < n; i++)
        ids[i] = -1;
    if (!result->instances)
        return SK_OK;
    SK_TRY(pass_time(t, result, err));
    const sk_result_frame known = {.source = "",
                                   .index = t->entry,
                                   .time = t->time,
                                   .width = result->width,
                                   .height = result->height,
                                   .instances = result->instances};
    sk_result_frame told = {0};
    const sk_status status = sk_track_teller_tell(t->teller, t->entry, &known, &told, err);
    t->entry += t->entry > 0 || status == SK_OK; /* what could not begin begins with the next frame */
    SK_TRY(status);
    for (int32_t i = 0; told.sightings && i < told.instances->count; i++) {
        const sk_sighting *s = &told.sightings[i];
        if (s->detection >= 0 && s->detection < n)
            ids[s->detection] = s->track;
    }
    return SK_OK;
}
