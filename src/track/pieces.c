/* SPDX-License-Identifier: Apache-2.0 */
#include "track/open_piece.h"

#include "base/memory.h"

#include <math.h>

#define ALONE 3 /* frames: over a longer gap no pass goes alone, as it may have gone to what is no animal */

/* Which open piece a pass' track is in. */
typedef struct track_map {
    int32_t *piece; /* index of the open piece, -1 */
    size_t capacity;
} track_map;

typedef struct making {
    sk_pieces *out;
    double fps, velocity_limit;
    const sk_track_settings *track;
    int32_t most;
    sk_open_piece **open;
    size_t n_open, open_capacity;
    track_map by_forward, by_backward;
    int32_t *claims; /* of each open piece: the detection of this frame that wants it, -2: several */
    size_t claims_capacity;
    sk_piece_lessons lessons;
} making;

static int32_t map_get(const track_map *map, int32_t track)
{
    return track >= 0 && (size_t)track < map->capacity ? map->piece[track] : -1;
}

static sk_status map_set(track_map *map, int32_t track, int32_t piece, sk_error *err)
{
    if (track < 0)
        return SK_OK;
    const size_t before = map->capacity;
    SK_TRY(sk_array_reserve((void **)&map->piece, &map->capacity, (size_t)track + 1, sizeof *map->piece,
                            (size_t)1 << 31, err));
    for (size_t i = before; i < map->capacity; i++)
        map->piece[i] = -1;
    map->piece[track] = piece;
    return SK_OK;
}

/* The pass' track that the piece is of went on in another one. */
static bool has_left(const track_map *map, int32_t track, int32_t piece)
{
    return track >= 0 && map_get(map, track) != piece;
}

/* The open piece that both passes agree on for a detection of these tracks; -1: none. */
static int32_t agreed(const making *m, int32_t forward, int32_t backward, bool pointed)
{
    const int32_t f = map_get(&m->by_forward, forward), b = map_get(&m->by_backward, backward);
    if (f >= 0 && b >= 0)
        return f == b ? f : -1;
    /* One pass does not say: the other decides, unless the piece has another track of that pass. */
    const int32_t at = f >= 0 ? f : b;
    if (at < 0)
        return -1;
    const int32_t here = f >= 0 ? backward : forward,
                  of = f >= 0 ? m->open[at]->backward : m->open[at]->forward;
    /* … nor, where points hop, if that pass has gone on elsewhere: the piece would begin as one animal and end as another. */
    if (pointed && has_left(f >= 0 ? &m->by_backward : &m->by_forward, of, at))
        return -1;
    return here < 0 || of < 0 ? at : -1;
}

static void claim(making *m, int32_t piece, int32_t detection)
{
    if (piece >= 0)
        m->claims[piece] = m->claims[piece] == -1 || m->claims[piece] == detection ? detection : -2;
}

static sk_status begin(making *m, int64_t frame, int32_t *at, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&m->out->items, &m->out->capacity, m->out->count + 1,
                            sizeof *m->out->items, (size_t)1 << 30, err));
    SK_TRY(sk_array_reserve((void **)&m->open, &m->open_capacity, m->n_open + 1, sizeof *m->open,
                            (size_t)1 << 30, err));
    sk_open_piece *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    p->piece = (int32_t)m->out->count;
    p->forward = p->backward = -1;
    m->out->items[m->out->count++] = (sk_piece){.first = frame,
                                                .last = frame,
                                                .class_id = -1,
                                                .identity = -1,
                                                .next = -1,
                                                .previous = -1,
                                                .track = -1,
                                                .from = {-1, -1},
                                                .to = {-1, -1}};
    *at = (int32_t)m->n_open;
    m->open[m->n_open++] = p;
    return SK_OK;
}

static bool too_fast(const making *m, const sk_open_piece *p, int64_t frame, const sk_detection *d)
{
    const sk_piece_spot *last = sk_open_piece_last(p);
    return m->velocity_limit > 0 &&
           hypot(d->x - last->x, d->y - last->y) > m->velocity_limit * (double)(frame - last->frame);
}

static void note_passes(sk_piece *p, int32_t forward, int32_t backward)
{
    const int32_t of[] = {forward, backward};
    for (int k = 0; k < 2; k++) {
        p->from[k] = p->from[k] < 0 ? of[k] : p->from[k];
        p->to[k] = of[k] >= 0 ? of[k] : p->to[k];
    }
}

static sk_status make_frame(making *m, const sk_stored_frame *f, const int32_t *forward,
                            const int32_t *backward, int32_t *piece, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&m->claims, &m->claims_capacity, m->n_open + 1, sizeof *m->claims,
                            (size_t)1 << 30, err));
    for (size_t i = 0; i < m->n_open; i++)
        m->claims[i] = -1;
    for (int32_t i = 0; i < f->n; i++) {
        claim(m, map_get(&m->by_forward, forward[i]), i);
        claim(m, backward ? map_get(&m->by_backward, backward[i]) : -1, i);
    }
    const size_t n_before = m->n_open;
    int32_t taken = 0;
    for (int32_t i = 0; i < f->n; i++)
        taken += forward[i] >= 0 || (backward && backward[i] >= 0);
    const bool all = m->track && taken <= m->track->animals;
    for (int32_t i = 0; i < f->n; i++) {
        const int32_t of_f = forward[i], of_b = backward ? backward[i] : -1;
        piece[i] = -1;
        if (of_f < 0 && of_b < 0)
            continue;
        int32_t at = agreed(m, of_f, of_b, f->detections[i].pointed);
        if (at >= 0 && ((size_t)at >= n_before || m->claims[at] != i ||
                        too_fast(m, m->open[at], f->frame, &f->detections[i]) ||
                        (backward && (of_f < 0 || of_b < 0) && !f->detections[i].pointed &&
                         f->frame - sk_open_piece_last(m->open[at])->frame > ALONE)))
            at = -1;
        if (at < 0)
            SK_TRY(begin(m, f->frame, &at, err));
        sk_open_piece *p = m->open[at];
        p->forward = of_f >= 0 ? of_f : p->forward;
        p->backward = of_b >= 0 ? of_b : p->backward;
        piece[i] = p->piece;
        note_passes(&m->out->items[p->piece], of_f, of_b);
        m->out->items[p->piece].sure |= all && sk_detection_is_sure(m->track, m->most, &f->detections[i]);
        sk_open_piece_append(p, &m->out->items[p->piece], f->frame, &f->detections[i], &m->lessons);
        SK_TRY(map_set(&m->by_forward, of_f, at, err));
        SK_TRY(map_set(&m->by_backward, of_b, at, err));
    }
    return SK_OK;
}

/* Those that a track of the pass leads to. */
static void mark(const track_map *map, int32_t *pieces)
{
    for (size_t i = 0; i < map->capacity; i++)
        if (map->piece[i] >= 0)
            pieces[map->piece[i]] = 0;
}

/* Pieces that no track leads to any more are ended; the others move together. */
static sk_status sweep(making *m, bool all, sk_error *err)
{
    int32_t *to = sk_malloc(m->n_open * sizeof *to);
    if (!to)
        return sk_fail_memory(err, m->n_open * sizeof *to);
    for (size_t i = 0; i < m->n_open; i++)
        to[i] = -1;
    if (!all) {
        mark(&m->by_forward, to);
        mark(&m->by_backward, to);
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->n_open; i++) {
        if (to[i] < 0) {
            sk_open_piece_end(m->open[i], &m->out->items[m->open[i]->piece], &m->lessons);
            sk_free(m->open[i]);
            continue;
        }
        to[i] = (int32_t)kept;
        m->open[kept++] = m->open[i];
    }
    m->n_open = kept;
    for (int k = 0; k < 2; k++) {
        track_map *map = k ? &m->by_backward : &m->by_forward;
        for (size_t i = 0; i < map->capacity; i++)
            map->piece[i] = map->piece[i] >= 0 ? to[map->piece[i]] : -1;
    }
    sk_free(to);
    return SK_OK;
}

/* Tracks not seen for long lead nowhere: their pieces can be ended. */
static void forget(const making *m, track_map *map, int64_t frame)
{
    const double longest = 30 * m->fps;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->piece[i] >= 0 &&
            (double)(frame - m->out->items[m->open[map->piece[i]]->piece].last) > longest)
            map->piece[i] = -1;
}

sk_status sk_pieces_make(sk_seen_store *store, const int32_t *forward, const int32_t *backward, double fps,
                         double velocity_limit, const sk_track_settings *track, int32_t most, int32_t *piece,
                         sk_pieces *out, sk_error *err)
{
    *out = (sk_pieces){0};
    making m = {.out = out, .fps = fps, .velocity_limit = velocity_limit, .track = track, .most = most};
    sk_status status = SK_OK;
    const int64_t frames = sk_seen_store_frames(store);
    for (int64_t at = 0; at < frames; at++) {
        sk_stored_frame f;
        SK_TRY_GOTO(sk_seen_store_read(store, at, &f, err));
        SK_TRY_GOTO(make_frame(&m, &f, forward + f.first, backward ? backward + f.first : NULL,
                               piece + f.first, err));
        if (at % 256 == 255) {
            forget(&m, &m.by_forward, f.frame);
            forget(&m, &m.by_backward, f.frame);
            SK_TRY_GOTO(sweep(&m, false, err));
        }
    }
    SK_TRY_GOTO(sweep(&m, true, err));
    sk_piece_lessons_conclude(&m.lessons, out);
done:
    for (size_t i = 0; i < m.n_open; i++)
        sk_free(m.open[i]);
    sk_free(m.open);
    sk_free(m.by_forward.piece);
    sk_free(m.by_backward.piece);
    sk_free(m.claims);
    if (status != SK_OK)
        sk_pieces_free(out);
    return status;
}

void sk_pieces_free(sk_pieces *pieces)
{
    sk_free(pieces->items);
    *pieces = (sk_pieces){0};
}
