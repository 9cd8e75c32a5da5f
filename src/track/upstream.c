/* SPDX-License-Identifier: Apache-2.0 */
#include "track/upstream.h"

#include "base/memory.h"

#include <math.h>

/* The tracklet of this number; those below it are made, too, and may stay empty. */
static sk_status room_for(sk_tracklets *list, int32_t number, sk_error *err)
{
    while (list->count <= (size_t)number) {
        sk_tracklet empty = {.id = (int64_t)list->count};
        SK_TRY(sk_tracklets_take(list, &empty, err));
    }
    return SK_OK;
}

static sk_status add(sk_tracklets *list, int32_t number, const sk_seen *seen, sk_error *err)
{
    if (number < 0)
        return SK_OK;
    SK_TRY(room_for(list, number, err));
    return sk_tracklet_append(&list->items[number], seen, err);
}

/* What each pass saw; *body: the mean length of a body. */
static sk_status gather(sk_seen_store *store, const int32_t *track, const int32_t *other,
                        sk_tracklets passes[2], double *body, sk_error *err)
{
    const int64_t frames = sk_seen_store_frames(store), all = sk_seen_store_detections(store);
    double sum = 0;
    for (int64_t at = 0; at < frames; at++) {
        sk_stored_frame f;
        SK_TRY(sk_seen_store_read(store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++) {
            const sk_detection *d = &f.detections[i];
            const sk_seen seen = {.frame = f.frame,
                                  .detection = f.first + i,
                                  .x = d->x,
                                  .y = d->y,
                                  .heading = d->directed ? d->heading : d->angle,
                                  .state = SK_SEEN_ACTIVE,
                                  .columns = SK_SEEN_DETECTION};
            sum += d->major;
            SK_TRY(add(&passes[0], track[f.first + i], &seen, err));
            if (other)
                SK_TRY(add(&passes[1], other[f.first + i], &seen, err));
        }
    }
    *body = all > 0 ? sum / (double)all : 1;
    return SK_OK;
}

static sk_status join(const sk_offline_settings *s, double fps, double body, sk_tracklets passes[2],
                      sk_tracklets *joined, sk_error *err)
{
    sk_clean_settings clean;
    sk_resolve_settings resolve;
    sk_clean_defaults(&clean);
    sk_resolve_defaults(&resolve);
    clean.shortest = resolve.shortest = (int64_t)fmax(1, round(s->shortest * fps));
    clean.covered_gap = 0; /* a pass tells what it saw */
    if (s->velocity_limit > 0)
        clean.velocity_limit = resolve.velocity_limit = s->velocity_limit;
    resolve.agreement = (s->track.body > 0 ? s->track.body : body) / 2;
    for (int i = 0; i < 2; i++)
        SK_TRY(sk_tracklets_clean(&passes[i], &clean, err));
    return sk_tracklets_resolve(&passes[0], &passes[1], &resolve, joined, err);
}

sk_status sk_upstream_tracks(sk_seen_store *store, const sk_offline_settings *settings, double fps,
                             int32_t *track, const int32_t *other, int32_t *tracks, sk_error *err)
{
    sk_tracklets passes[2] = {{0}}, joined = {0};
    double body = 1;
    sk_status status = gather(store, track, other, passes, &body, err);
    if (status == SK_OK)
        status = join(settings, fps, body, passes, &joined, err);
    if (status == SK_OK) {
        const int64_t all = sk_seen_store_detections(store);
        for (int64_t i = 0; i < all; i++)
            track[i] = -1;
        for (size_t k = 0; k < joined.count; k++)
            for (size_t i = 0; i < joined.items[k].count; i++)
                if (joined.items[k].items[i].detection >= 0)
                    track[joined.items[k].items[i].detection] = (int32_t)k;
        *tracks = (int32_t)joined.count;
    }
    for (int i = 0; i < 2; i++)
        sk_tracklets_free(&passes[i]);
    sk_tracklets_free(&joined);
    return status;
}
