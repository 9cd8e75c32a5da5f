/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "track/sightings.h"

/* Rule 8 of docs/tracking_offline.md: tracklets that overlap in time and agree become one. Only sightings with a position are looked
 * at. */

typedef struct joining {
    const sk_resolve_settings *settings;
    const sk_seen_index *a, *b;
    bool by_detection;
    double farthest; /* 5 D */
    sk_tracklet now; /* what grows */
    sk_tracklet apart_a, apart_b;
    sk_tracklets done;
} joining;

/* Whether the sighting is within `distance` of the last one; an empty tracklet is continued by anything. */
static bool continues(const sk_tracklet *piece, const sk_seen *seen, double distance)
{
    if (!piece->count)
        return true;
    return sk_seen_distance(&piece->items[piece->count - 1], seen) <= distance;
}

/* Ends the tracklet that grows: kept if it is long enough, else dropped. */
static sk_status end_piece(joining *j, sk_tracklet *piece, sk_error *err)
{
    if (piece->count && (int64_t)piece->count >= j->settings->shortest)
        return sk_tracklets_take(&j->done, piece, err);
    sk_tracklet_free(piece);
    return SK_OK;
}

static sk_status append_or_begin(joining *j, const sk_seen *seen, double distance, sk_error *err)
{
    if (!continues(&j->now, seen, distance))
        SK_TRY(end_piece(j, &j->now, err));
    return sk_tracklet_append(&j->now, seen, err);
}

static bool hidden(const sk_seen *seen)
{
    return seen->state == SK_SEEN_COVERED || seen->state == SK_SEEN_LOST;
}

static sk_status disagree(joining *j, const sk_seen *a, const sk_seen *b, sk_error *err)
{
    const double distance = j->farthest * 2;
    if (a->state == SK_SEEN_ACTIVE && hidden(b))
        return append_or_begin(j, a, distance, err);
    if (b->state == SK_SEEN_ACTIVE && hidden(a))
        return append_or_begin(j, b, distance, err);
    const bool a_fits = continues(&j->now, a, distance), b_fits = continues(&j->now, b, distance);
    if (!a_fits && !b_fits) {
        SK_TRY(end_piece(j, &j->now, err));
        SK_TRY(sk_tracklet_append(&j->apart_a, a, err));
        return sk_tracklet_append(&j->apart_b, b, err);
    }
    bool take_a = a_fits;
    if (a_fits && b_fits && j->now.count) {
        const sk_seen *last = &j->now.items[j->now.count - 1];
        take_a = sk_seen_distance(last, a) <= sk_seen_distance(last, b);
    }
    SK_TRY(sk_tracklet_append(&j->now, take_a ? a : b, err));
    return sk_tracklet_append(take_a ? &j->apart_b : &j->apart_a, take_a ? b : a, err);
}

static sk_status both(joining *j, const sk_seen *a, const sk_seen *b, sk_error *err)
{
    const sk_seen mean = sk_seen_average(a, j->a->columns, b, j->b->columns);
    if (j->by_detection && sk_seen_same_detection(a, b))
        return sk_tracklet_append(&j->now, &mean, err);
    if (!(sk_seen_distance(a, b) <= j->settings->agreement)) {
        sk_seen x = *a, y = *b;
        x.columns = j->a->columns;
        y.columns = j->b->columns;
        return disagree(j, &x, &y, err);
    }
    double distance = j->farthest;
    if (j->by_detection && j->now.count) {
        const int64_t last = j->now.items[j->now.count - 1].detection;
        if (last != SK_SEEN_NO_DETECTION && mean.detection != SK_SEEN_NO_DETECTION && last != mean.detection)
            distance *= 2;
    }
    return append_or_begin(j, &mean, distance, err);
}

static sk_status finish_apart(joining *j, const sk_tracklet *apart, sk_error *err)
{
    sk_tracklet piece = {0};
    sk_status status = SK_OK;
    for (size_t i = 0; i < apart->count; i++) {
        const sk_seen *seen = &apart->items[i];
        if (piece.count && (seen->frame - piece.items[piece.count - 1].frame > 5 ||
                            !continues(&piece, seen, j->farthest * 3)))
            SK_TRY_GOTO(end_piece(j, &piece, err));
        SK_TRY_GOTO(sk_tracklet_append(&piece, seen, err));
    }
    SK_TRY_GOTO(end_piece(j, &piece, err));
done:
    sk_tracklet_free(&piece);
    return status;
}

static bool pair_agrees(const joining *j)
{
    const sk_seen_index *a = j->a, *b = j->b;
    if (!a->count || !b->count || a->items[0]->frame > b->items[b->count - 1]->frame ||
        b->items[0]->frame > a->items[a->count - 1]->frame)
        return false;
    int64_t common = 0, agreeing = 0, same = 0;
    for (size_t i = 0; i < a->count; i++) {
        const sk_seen *other = sk_seen_find(b, a->items[i]->frame);
        if (!other)
            continue;
        common++;
        const bool same_one = j->by_detection && sk_seen_same_detection(a->items[i], other);
        same += same_one;
        agreeing += same_one || sk_seen_distance(a->items[i], other) <= j->settings->agreement;
    }
    const int64_t overlap = j->settings->overlap;
    const int64_t needed = same < 2 ? overlap : overlap / 2 > 2 ? overlap / 2 : 2;
    return common > 0 && common >= overlap && agreeing >= needed && (same >= 2 || 2 * agreeing >= common);
}

/* Joins the two if they agree: j->done has the pieces, or none. */
static sk_status join_pair(joining *j, sk_error *err)
{
    if (!pair_agrees(j))
        return SK_OK;
    sk_status status = SK_OK;
    size_t i = 0, k = 0;
    while (i < j->a->count || k < j->b->count) {
        const sk_seen *x = i < j->a->count ? j->a->items[i] : NULL;
        const sk_seen *y = k < j->b->count ? j->b->items[k] : NULL;
        if (x && y && x->frame == y->frame) {
            SK_TRY_GOTO(both(j, x, y, err));
            i++, k++;
            continue;
        }
        const bool from_a = x && (!y || x->frame < y->frame);
        const sk_seen *from = from_a ? x : y;
        if (!from)
            break;
        sk_seen one = *from;
        one.columns = from_a ? j->a->columns : j->b->columns;
        SK_TRY_GOTO(append_or_begin(j, &one, j->farthest, err));
        i += from_a, k += !from_a;
    }
    SK_TRY_GOTO(end_piece(j, &j->now, err));
    SK_TRY_GOTO(finish_apart(j, &j->apart_a, err));
    SK_TRY_GOTO(finish_apart(j, &j->apart_b, err));
done:
    sk_tracklet_free(&j->now);
    sk_tracklet_free(&j->apart_a);
    sk_tracklet_free(&j->apart_b);
    if (status != SK_OK)
        sk_tracklets_free(&j->done);
    return status;
}

/* One round over all pairs: the list that results, and whether anything was joined. */
static sk_status join_round(const sk_tracklets *list, const sk_seen_index *seen, const sk_resolve_settings *s,
                            bool *used, sk_tracklets *out, bool *any, sk_error *err)
{
    const bool by_detection = list->items[0].columns & SK_SEEN_DETECTION;
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = i + 1; k < list->count && !used[i]; k++) {
            if (used[k])
                continue;
            joining j = {.settings = s,
                         .a = &seen[i],
                         .b = &seen[k],
                         .by_detection = by_detection,
                         .farthest = s->agreement * 5};
            SK_TRY(join_pair(&j, err));
            if (!j.done.count) {
                sk_tracklets_free(&j.done);
                continue;
            }
            used[i] = used[k] = *any = true;
            sk_status status = SK_OK;
            for (size_t p = 0; p < j.done.count && status == SK_OK; p++)
                status = sk_tracklets_take(out, &j.done.items[p], err);
            sk_tracklets_free(&j.done);
            SK_TRY(status);
        }
        if (!used[i])
            SK_TRY(sk_tracklets_copy(out, &list->items[i], err));
    }
    return SK_OK;
}

sk_status sk_tracklets_join_overlaps(sk_tracklets *list, const sk_resolve_settings *s, sk_error *err)
{
    for (int round = 0; round < 50 && list->count; round++) {
        const size_t n = list->count;
        sk_tracklets out = {0};
        bool any = false;
        sk_seen_index *seen = sk_calloc(n, sizeof *seen);
        bool *used = sk_calloc(n, sizeof *used);
        sk_status status = seen && used ? SK_OK : sk_fail_memory(err, n * sizeof *seen);
        for (size_t i = 0; i < n && status == SK_OK; i++)
            status = sk_seen_index_make(&list->items[i], SK_SEEN_LAST_VALID, &seen[i], err);
        if (status == SK_OK)
            status = join_round(list, seen, s, used, &out, &any, err);
        for (size_t i = 0; seen && i < n; i++)
            sk_seen_index_free(&seen[i]);
        sk_free(seen);
        sk_free(used);
        if (status != SK_OK || !any) {
            sk_tracklets_free(&out);
            return status;
        }
        sk_tracklets_free(list);
        *list = out;
    }
    return SK_OK;
}
