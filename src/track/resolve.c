/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/order.h"
#include "track/sightings.h"

#include <math.h>
#include <stdlib.h>

/* Forward and backward tracklets become one list: docs/tracking_offline.md, the numbers of rules are its. */

void sk_resolve_defaults(sk_resolve_settings *settings)
{
    *settings = (sk_resolve_settings){.agreement = 15,
                                      .overlap = 5,
                                      .shortest = 5,
                                      .stitch_gap = 3,
                                      .velocity_limit = 100,
                                      .stitch_margin = 0.5,
                                      .heading_gate = M_PI / 3,
                                      .density_tighten = 0.5};
}

/* --- rule 2: candidates --- */

typedef struct side {
    sk_tracklets list;
    sk_seen_index *last, *first; /* of each tracklet */
} side;

typedef struct candidate {
    size_t forward, backward;
    int64_t agreeing;
} candidate;

static void close_side(side *s)
{
    for (size_t i = 0; i < s->list.count; i++) {
        if (s->last)
            sk_seen_index_free(&s->last[i]);
        if (s->first)
            sk_seen_index_free(&s->first[i]);
    }
    sk_free(s->last);
    sk_free(s->first);
    sk_tracklets_free(&s->list);
}

static sk_status open_side(const sk_tracklets *from, bool forward, int64_t shortest, side *s, sk_error *err)
{
    for (size_t i = 0; i < from->count; i++)
        SK_TRY(sk_tracklets_copy(&s->list, &from->items[i], err));
    for (size_t i = 0; forward && i < s->list.count; i++)
        for (size_t k = 0; k < s->list.items[i].count; k++) {
            double *heading = &s->list.items[i].items[k].heading;
            *heading = fmod(*heading, 2 * M_PI);
            *heading += *heading < 0 ? 2 * M_PI : 0;
        }
    sk_tracklets_trim(&s->list, shortest);
    s->last = sk_calloc(s->list.count, sizeof *s->last);
    s->first = sk_calloc(s->list.count, sizeof *s->first);
    if (!s->last || !s->first)
        return sk_fail_memory(err, s->list.count * sizeof *s->last);
    for (size_t i = 0; i < s->list.count; i++) {
        SK_TRY(sk_seen_index_make(&s->list.items[i], SK_SEEN_LAST, &s->last[i], err));
        SK_TRY(sk_seen_index_make(&s->list.items[i], SK_SEEN_FIRST, &s->first[i], err));
    }
    return SK_OK;
}

/* Agreeing frames if the pair is a candidate, else 0. `each`: every forward sighting counts, also of one frame. */
static int64_t pair_agrees(const side *f, size_t fi, const side *b, size_t bi, bool each,
                           const sk_resolve_settings *s)
{
    const sk_tracklet *forward = &f->list.items[fi];
    const sk_seen_index *of_f = &f->last[fi], *of_b = each ? &b->first[bi] : &b->last[bi];
    if (!of_f->count || !of_b->count || of_f->items[0]->frame > of_b->items[of_b->count - 1]->frame ||
        of_b->items[0]->frame > of_f->items[of_f->count - 1]->frame)
        return 0;
    const bool by_detection = of_f->columns & of_b->columns & SK_SEEN_DETECTION;
    int64_t agreeing = 0, common = 0, same = 0;
    const size_t n = each ? forward->count : of_f->count;
    for (size_t i = 0; i < n; i++) {
        const sk_seen *x = each ? &forward->items[i] : of_f->items[i];
        const sk_seen *y = sk_seen_find(of_b, x->frame);
        if (!y)
            continue;
        common++;
        if (by_detection && sk_seen_same_detection(x, y)) {
            same++;
            agreeing++;
        } else if (sk_seen_distance(x, y) <= s->agreement) {
            agreeing++;
        }
    }
    int64_t needed = s->overlap;
    if (by_detection && same >= 2)
        needed = s->overlap / 2 > 2 ? s->overlap / 2 : 2;
    if (agreeing < needed || (by_detection && same < 2 && 2 * agreeing < common))
        return 0;
    return agreeing;
}

static int most_agreeing_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const int by = SK_ORDER(y->agreeing, x->agreeing), then = SK_ORDER(x->forward, y->forward);
    return by ? by : then ? then : SK_ORDER(x->backward, y->backward);
}

static sk_status find_candidates(const side *f, const side *b, const sk_resolve_settings *s, candidate **out,
                                 size_t *count, sk_error *err)
{
    size_t capacity = 0;
    const bool each = f->list.count > 1 && b->list.count > 1;
    for (size_t fi = 0; fi < f->list.count; fi++)
        for (size_t bi = 0; bi < b->list.count; bi++) {
            const int64_t agreeing = pair_agrees(f, fi, b, bi, each, s);
            if (agreeing <= 0)
                continue;
            SK_TRY(
                sk_array_reserve((void **)out, &capacity, *count + 1, sizeof **out, SK_TRACKLET_LIMIT, err));
            (*out)[(*count)++] = (candidate){fi, bi, agreeing};
        }
    if (*count)
        qsort(*out, *count, sizeof **out, most_agreeing_first);
    return SK_OK;
}

/* --- rule 4: one pair --- */

typedef struct merging {
    const sk_resolve_settings *settings;
    sk_tracklet together, a, b; /* what grows */
    sk_tracklets long_ones, short_ones;
} merging;

static sk_status finish(merging *m, sk_tracklet *piece, sk_error *err)
{
    if (!piece->count) {
        sk_tracklet_free(piece);
        return SK_OK;
    }
    const bool is_long = (int64_t)piece->count >= m->settings->shortest;
    return sk_tracklets_take(is_long ? &m->long_ones : &m->short_ones, piece, err);
}

static sk_status append_from(sk_tracklet *piece, const sk_seen *seen, uint32_t columns, sk_error *err)
{
    if (!seen)
        return SK_OK;
    sk_seen copy = *seen;
    copy.columns = columns;
    return sk_tracklet_append(piece, &copy, err);
}

/* One frame; a or b may be null. */
static sk_status merge_frame(merging *m, const sk_seen *a, uint32_t a_columns, const sk_seen *b,
                             uint32_t b_columns, bool *apart, sk_error *err)
{
    if (a && b) {
        const bool a_seen = !isnan(a->x), b_seen = !isnan(b->x);
        if (a_seen == b_seen && (!a_seen || sk_seen_distance(a, b) <= m->settings->agreement)) {
            const sk_seen mean = sk_seen_average(a, a_columns, b, b_columns);
            if (*apart) {
                SK_TRY(finish(m, &m->a, err));
                SK_TRY(finish(m, &m->b, err));
                *apart = false;
            }
            return sk_tracklet_append(&m->together, &mean, err);
        }
        if (a_seen && b_seen) {
            if (!*apart)
                SK_TRY(finish(m, &m->together, err));
            *apart = true;
            SK_TRY(append_from(&m->a, a, a_columns, err));
            return append_from(&m->b, b, b_columns, err);
        }
        if (a_seen)
            b = NULL;
        else
            a = NULL;
    }
    sk_tracklet *piece = !*apart ? &m->together : a ? &m->a : &m->b;
    return append_from(piece, a ? a : b, a ? a_columns : b_columns, err);
}

/* Cuts at more than 5 missing frames, or a way of more than 5 D. */
static sk_status cut(const sk_tracklet *piece, double farthest, sk_tracklets *out, sk_error *err)
{
    sk_tracklet part = {0};
    for (size_t i = 0; i < piece->count; i++) {
        const sk_seen *now = &piece->items[i], *before = i ? now - 1 : NULL;
        if (before && (now->frame - before->frame > 5 || sk_seen_distance(now, before) > farthest))
            SK_TRY(sk_tracklets_take(out, &part, err));
        sk_status status = sk_tracklet_append(&part, now, err);
        if (status != SK_OK) {
            sk_tracklet_free(&part);
            return status;
        }
    }
    return sk_tracklets_take(out, &part, err);
}

static sk_status merge_pair(const sk_seen_index *a, const sk_seen_index *b, const sk_resolve_settings *s,
                            sk_tracklets *out, sk_error *err)
{
    merging m = {.settings = s};
    bool apart = false;
    size_t i = 0, k = 0;
    sk_status status = SK_OK;
    while (i < a->count || k < b->count) {
        const sk_seen *x = i < a->count ? a->items[i] : NULL, *y = k < b->count ? b->items[k] : NULL;
        if (x && y && x->frame != y->frame) {
            if (x->frame < y->frame)
                y = NULL;
            else
                x = NULL;
        }
        i += x != NULL;
        k += y != NULL;
        SK_TRY_GOTO(merge_frame(&m, x, a->columns, y, b->columns, &apart, err));
    }
    SK_TRY_GOTO(finish(&m, &m.together, err));
    SK_TRY_GOTO(finish(&m, &m.a, err));
    SK_TRY_GOTO(finish(&m, &m.b, err));
    for (size_t p = 0; p < m.long_ones.count; p++)
        SK_TRY_GOTO(cut(&m.long_ones.items[p], s->agreement * 5, out, err));
    for (size_t p = 0; p < m.short_ones.count; p++)
        SK_TRY_GOTO(sk_tracklets_take(out, &m.short_ones.items[p], err));
done:
    sk_tracklet_free(&m.together);
    sk_tracklet_free(&m.a);
    sk_tracklet_free(&m.b);
    sk_tracklets_free(&m.long_ones);
    sk_tracklets_free(&m.short_ones);
    return status;
}

/* --- rules 3 and 6 --- */

static sk_status merge_all(const side *f, const side *b, const sk_resolve_settings *s, sk_tracklets *out,
                           sk_error *err)
{
    candidate *candidates = NULL;
    size_t n = 0;
    bool *f_used = sk_calloc(f->list.count, sizeof *f_used), *b_used = sk_calloc(b->list.count, 1);
    sk_status status = SK_OK;
    if (!f_used || !b_used) {
        status = sk_fail_memory(err, f->list.count + b->list.count);
        goto done;
    }
    SK_TRY_GOTO(find_candidates(f, b, s, &candidates, &n, err));
    for (size_t i = 0; i < n; i++) {
        const candidate *c = &candidates[i];
        if (f_used[c->forward] || b_used[c->backward])
            continue;
        f_used[c->forward] = b_used[c->backward] = true;
        SK_TRY_GOTO(merge_pair(&f->last[c->forward], &b->last[c->backward], s, out, err));
    }
    for (size_t i = 0; i < f->list.count; i++)
        if (!f_used[i])
            SK_TRY_GOTO(sk_tracklets_copy(out, &f->list.items[i], err));
    for (size_t i = 0; i < b->list.count; i++)
        if (!b_used[i])
            SK_TRY_GOTO(sk_tracklets_copy(out, &b->list.items[i], err));
done:
    sk_free(candidates);
    sk_free(f_used);
    sk_free(b_used);
    return status;
}

static sk_status copy_all(const sk_tracklets *from, sk_tracklets *out, sk_error *err)
{
    for (size_t i = 0; i < from->count; i++)
        SK_TRY(sk_tracklets_copy(out, &from->items[i], err));
    return SK_OK;
}

sk_status sk_tracklets_resolve(const sk_tracklets *forward, const sk_tracklets *backward,
                               const sk_resolve_settings *s, sk_tracklets *out, sk_error *err)
{
    side f = {0}, b = {0};
    sk_status status = SK_OK;
    *out = (sk_tracklets){0};
    SK_TRY_GOTO(open_side(forward, true, s->shortest, &f, err));
    SK_TRY_GOTO(open_side(backward, false, s->shortest, &b, err));
    if (!f.list.count || !b.list.count) {
        SK_TRY_GOTO(copy_all(f.list.count ? &f.list : &b.list, out, err));
        goto done;
    }
    SK_TRY_GOTO(merge_all(&f, &b, s, out, err));
    SK_TRY_GOTO(sk_tracklets_drop_duplicates(out, s, err));
    SK_TRY_GOTO(sk_tracklets_join_overlaps(out, s, err));
    SK_TRY_GOTO(sk_tracklets_stitch_near(out, s, err));
    SK_TRY_GOTO(sk_tracklets_drop_duplicates(out, s, err));
    sk_tracklets_trim(out, s->shortest);
    for (size_t i = 0; i < out->count; i++)
        out->items[i].id = (int64_t)i;
done:
    close_side(&f);
    close_side(&b);
    if (status != SK_OK)
        sk_tracklets_free(out);
    return status;
}
