/* SPDX-License-Identifier: Apache-2.0 */
#include "track/final_tracks.h"

#include "base/memory.h"
#include "base/order.h"
#include "track/votes.h"

#include <stdlib.h>

#define FAINT 0.75 /* score: a track of the least length whose mean is lower was never an animal */

typedef struct length {
    int32_t track, n;
    int64_t first;
    double score; /* the sum */
    bool sure;    /* it is somebody's, however short */
} length;

static int longest_first(const void *a, const void *b)
{
    const length *x = a, *y = b;
    const int by = SK_ORDER(y->n, x->n);
    return by ? by : SK_ORDER(x->track, y->track);
}

static int earliest_first(const void *a, const void *b)
{
    const length *x = a, *y = b;
    const int by = SK_ORDER(x->first, y->first);
    return by ? by : SK_ORDER(x->track, y->track);
}

sk_status sk_final_tracks_settle(sk_seen_store *store, const sk_pieces *p, int32_t n, double shortest,
                                 int32_t animals, int32_t *track, int32_t *tracks, sk_error *err)
{
    length *lengths = sk_calloc((size_t)n, sizeof *lengths);
    int32_t *final = sk_malloc((size_t)n * sizeof *final);
    if (!lengths || !final) {
        sk_free(lengths);
        sk_free(final);
        return sk_fail_memory(err, (size_t)n * sizeof *lengths);
    }
    for (int32_t i = 0; i < n; i++) {
        lengths[i] = (length){.track = i, .first = INT64_MAX};
        final[i] = -1;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i].track < 0)
            continue;
        length *l = &lengths[p->items[i].track];
        l->n += p->items[i].n;
        l->score += p->items[i].score;
        l->sure |= p->items[i].sure;
        l->first = p->items[i].first < l->first ? p->items[i].first : l->first;
    }
    qsort(lengths, (size_t)n, sizeof *lengths, longest_first);
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const bool lasts = lengths[i].n >= shortest && lengths[i].score >= FAINT * shortest;
        if ((lasts || lengths[i].sure) && (animals <= 0 || kept < animals))
            lengths[kept++] = lengths[i];
    }
    qsort(lengths, (size_t)kept, sizeof *lengths, earliest_first);
    for (int32_t i = 0; i < kept; i++)
        final[lengths[i].track] = i;
    *tracks = kept;
    const int64_t detections = sk_seen_store_detections(store);
    for (int64_t i = 0; i < detections; i++) {
        const int32_t of = track[i] >= 0 ? p->items[track[i]].track : -1;
        track[i] = of >= 0 ? final[of] : -1;
    }
    sk_free(lengths);
    sk_free(final);
    return SK_OK;
}

sk_status sk_final_tracks_drop_doubles(sk_seen_store *store, int32_t *track, int32_t tracks, sk_error *err)
{
    typedef struct last {
        int64_t frame, detection;
        double score;
    } last;
    last *seen = sk_calloc((size_t)tracks, sizeof *seen);
    if (!seen)
        return sk_fail_memory(err, (size_t)tracks * sizeof *seen);
    for (int32_t i = 0; i < tracks; i++)
        seen[i].frame = INT64_MIN;
    sk_status status = SK_OK;
    const int64_t frames = sk_seen_store_frames(store);
    for (int64_t at = 0; at < frames; at++) {
        sk_stored_frame f;
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++) {
            const int64_t d = f.first + i;
            if (track[d] < 0)
                continue;
            last *of = &seen[track[d]];
            const bool twice = of->frame == f.frame;
            if (twice && of->score >= f.detections[i].score) {
                track[d] = -1;
                continue;
            }
            if (twice)
                track[of->detection] = -1;
            *of = (last){f.frame, d, f.detections[i].score};
        }
    }
done:
    sk_free(seen);
    return status;
}

sk_status sk_final_tracks_classes(sk_seen_store *store, const int32_t *track, int32_t tracks,
                                  int32_t **class_of, sk_error *err)
{
    sk_votes *votes = sk_calloc((size_t)tracks, sizeof *votes);
    int32_t *classes = *class_of = sk_malloc((size_t)tracks * sizeof **class_of);
    sk_status status = SK_OK;
    if (!votes || !classes) {
        status = sk_fail_memory(err, (size_t)tracks * sizeof *votes);
        goto done;
    }
    const int64_t frames = sk_seen_store_frames(store);
    for (int64_t at = 0; at < frames; at++) {
        sk_stored_frame f;
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        for (int32_t i = 0; i < f.n; i++)
            if (track[f.first + i] >= 0)
                sk_votes_add(&votes[track[f.first + i]], f.detections[i].class_id, f.detections[i].score);
    }
    for (int32_t i = 0; i < tracks; i++)
        classes[i] = sk_votes_best(&votes[i]);
done:
    sk_free(votes);
    return status;
}
