/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "track/sightings.h"

#include <math.h>

/* Tracklets of one direction are cut where they cannot be one animal's: docs/tracking_offline.md. */

void sk_clean_defaults(sk_clean_settings *settings)
{
    *settings = (sk_clean_settings){
        .shortest = 10, .velocity_limit = 100, .outlier_window = 10, .outlier_least = 2, .covered_gap = 30};
}

static bool hidden(const sk_seen *seen)
{
    return seen->state == SK_SEEN_COVERED || seen->state == SK_SEEN_LOST;
}

/* Pixels a frame from the sighting before; NaN for the first and where a position is missing. */
static double velocity(const sk_tracklet *t, size_t i)
{
    if (!i)
        return NAN;
    return sk_seen_distance(&t->items[i], &t->items[i - 1]) /
           (double)(t->items[i].frame - t->items[i - 1].frame);
}

/* Whether the velocity at i is an outlier among those of the window before it. Standing still is no measure: from
 * three moving ones on, only those count. */
static bool is_outlier(const sk_tracklet *t, size_t i, const sk_clean_settings *s)
{
    const size_t window = s->outlier_window > 0 ? (size_t)s->outlier_window : 0;
    const double now = velocity(t, i);
    if (i < window + 1 || !(now >= s->outlier_least))
        return false;
    double sum[2] = {0}, squares[2] = {0};
    int n[2] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = i - window; k < i; k++) {
            const double v = velocity(t, k);
            for (int moving = 0; moving < 2 && !isnan(v); moving++) {
                if (moving && v < 0.25 * s->outlier_least)
                    continue;
                if (!pass) {
                    sum[moving] += v;
                    n[moving]++;
                } else {
                    const double off = v - sum[moving] / n[moving];
                    squares[moving] += off * off;
                }
            }
        }
    const int which = n[1] >= 3;
    if (n[0] < 3)
        return false;
    const double deviation = sqrt(squares[which] / (n[which] - 1));
    return (now - sum[which] / n[which]) / (deviation + 0.25 * s->outlier_least) > s->outlier;
}

typedef enum cut_kind { AT_VELOCITY, BEHIND_COVERING, AT_JUMP } cut_kind;

/* Whether the tracklet is cut before item i. */
typedef struct cutting {
    size_t covered;  /* hidden sightings right before i */
    ptrdiff_t known; /* the last item with a position, or -1 */
} cutting;

static bool is_cut(const sk_tracklet *t, size_t i, cut_kind kind, const cutting *c,
                   const sk_clean_settings *s)
{
    const sk_seen *now = &t->items[i];
    switch (kind) {
    case AT_VELOCITY: return velocity(t, i) > s->velocity_limit || (s->outlier > 0 && is_outlier(t, i, s));
    case BEHIND_COVERING: return !hidden(now) && (int64_t)c->covered > s->covered_gap;
    case AT_JUMP: break;
    }
    if (isnan(now->x) || c->known < 0)
        return false;
    const sk_seen *last = &t->items[c->known];
    const int64_t frames = now->frame - last->frame;
    return frames > 1 && sk_seen_distance(now, last) / (double)frames > s->velocity_limit;
}

/* Kept if it is long enough; empty afterwards. */
static sk_status end_piece(sk_tracklet *piece, const sk_clean_settings *s, sk_tracklets *out, sk_error *err)
{
    if (piece->count && (int64_t)piece->count >= s->shortest)
        return sk_tracklets_take(out, piece, err);
    sk_tracklet_free(piece);
    return SK_OK;
}

static sk_status cut_one(const sk_tracklet *t, cut_kind kind, const sk_clean_settings *s, sk_tracklets *out,
                         sk_error *err)
{
    cutting c = {.known = -1};
    sk_tracklet piece = {0};
    sk_status status = SK_OK;
    for (size_t i = 0; i < t->count; i++) {
        if (i && is_cut(t, i, kind, &c, s))
            SK_TRY_GOTO(end_piece(&piece, s, out, err));
        SK_TRY_GOTO(sk_tracklet_append(&piece, &t->items[i], err));
        c.covered = hidden(&t->items[i]) ? c.covered + 1 : 0;
        if (!isnan(t->items[i].x))
            c.known = (ptrdiff_t)i;
    }
    SK_TRY_GOTO(end_piece(&piece, s, out, err));
done:
    sk_tracklet_free(&piece);
    return status;
}

static sk_status cut_all(sk_tracklets *list, cut_kind kind, const sk_clean_settings *s, sk_error *err)
{
    sk_tracklets out = {0};
    for (size_t i = 0; i < list->count; i++) {
        sk_status status = cut_one(&list->items[i], kind, s, &out, err);
        if (status != SK_OK) {
            sk_tracklets_free(&out);
            return status;
        }
        sk_tracklet_free(&list->items[i]);
    }
    sk_tracklets_free(list);
    *list = out;
    return SK_OK;
}

sk_status sk_tracklets_clean(sk_tracklets *list, const sk_clean_settings *s, sk_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->items[i].count; k++) {
            sk_seen *seen = &list->items[i].items[k];
            if (hidden(seen))
                seen->x = seen->y = seen->heading = NAN;
        }
    SK_TRY(cut_all(list, AT_VELOCITY, s, err));
    if (s->covered_gap > 0)
        SK_TRY(cut_all(list, BEHIND_COVERING, s, err));
    SK_TRY(cut_all(list, AT_JUMP, s, err));
    sk_tracklets_trim(list, s->shortest);
    for (size_t i = 0; i < list->count; i++)
        list->items[i].id = (int64_t)i;
    return SK_OK;
}
