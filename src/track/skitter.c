/* SPDX-License-Identifier: Apache-2.0 */
#include "track/kind.h"

#include "base/memory.h"
#include "track/assign.h"
#include "track/cost.h"
#include "track/near.h"

#include <math.h>
#include <string.h>

/* The tracker of our own: docs/tracking.md describes the method. */

#define STRONG_ALONE 12.0
#define WEAK_ALONE   5.0
#define TWIN_ALONE   (-1.0)
#define MISS_SEEN    3.0
#define MISS_COVERED 1.0
#define YOUNG_LAST   1.0
#define RETURN_MOST  1.0
#define RETURN_ANY   1e3
#define FEW_SEEN     3

typedef struct state {
    sk_track_settings settings;
    sk_follow_rules rules;
    double covered, lost; /* frames */
    int32_t start;        /* looks */
    sk_follower *all;     /* those told of and those that are not yet, in the order of their beginnings */
    int32_t n, n_told, next_track;
    int32_t *free_slots;
    int32_t n_free, slots;
    int32_t points_most; /* keypoints of a pose */
    float *points, *appearance;
    sk_look *looks;
    int32_t n_looks;
    sk_near near;
    sk_assign_pair *pairs;
    int32_t n_pairs;
    int32_t *match, *by_place;
    uint8_t *place_taken;
    sk_sighting *sightings;
    sk_assign *solver;
    size_t all_capacity, slots_capacity, points_capacity, appearance_capacity, looks_capacity, pairs_capacity,
        match_capacity, by_place_capacity, taken_capacity, sightings_capacity;
} state;

#define RESERVE(field, capacity, wanted)                                                                     \
    do {                                                                                                     \
        void *block_ = (field);                                                                              \
        SK_TRY(sk_array_reserve(&block_, &(capacity), (size_t)(wanted), sizeof *(field), (size_t)1 << 31,    \
                                err));                                                                       \
        (field) = block_;                                                                                    \
    } while (0)

static double in_frames(const sk_track_settings *s, double seconds)
{
    return round(seconds * s->fps);
}

static sk_status open(const sk_track_settings *settings, void **out, sk_error *err)
{
    state *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->settings = *settings;
    sk_follow_rules_make(&s->settings, &s->rules);
    s->covered = in_frames(settings, settings->life.covered);
    s->lost = in_frames(settings, settings->life.lost);
    s->start = (int32_t)fmax(in_frames(settings, settings->life.start), 1);
    const sk_status status = sk_assign_open(&s->solver, err);
    if (status != SK_OK)
        sk_free(s);
    *out = status == SK_OK ? s : NULL;
    return status;
}

static void close(void *opaque)
{
    state *s = opaque;
    if (!s)
        return;
    sk_free(s->all);
    sk_free(s->free_slots);
    sk_free(s->points);
    sk_free(s->appearance);
    sk_free(s->looks);
    sk_near_free(&s->near);
    sk_free(s->pairs);
    sk_free(s->match);
    sk_free(s->by_place);
    sk_free(s->place_taken);
    sk_free(s->sightings);
    sk_assign_close(&s->solver);
    sk_free(s);
}

/* Keypoints are kept at a stride of points_most: a larger pose moves those that are there. */
static sk_status reserve_points(state *s, const sk_detection *detections, int32_t n, size_t slots,
                                sk_error *err)
{
    int32_t most = s->points_most;
    for (int32_t i = 0; i < n; i++)
        if (detections[i].points && detections[i].n_points > most)
            most = detections[i].n_points;
    RESERVE(s->points, s->points_capacity, slots * 3 * (size_t)most);
    const size_t old = 3 * (size_t)s->points_most, new = 3 * (size_t)most;
    if (most > s->points_most)
        for (size_t i = (size_t)s->slots; i-- > 0;)
            memmove(s->points + i * new, s->points + i * old, old * sizeof *s->points);
    s->points_most = most;
    return SK_OK;
}

static sk_status reserve(state *s, const sk_detection *detections, int32_t n, sk_error *err)
{
    const size_t wanted = (size_t)s->n + (size_t)n + 1;
    RESERVE(s->all, s->all_capacity, wanted);
    RESERVE(s->free_slots, s->slots_capacity, wanted);
    RESERVE(s->looks, s->looks_capacity, n);
    RESERVE(s->match, s->match_capacity, wanted);
    RESERVE(s->by_place, s->by_place_capacity, wanted);
    const size_t places = s->taken_capacity;
    RESERVE(s->place_taken, s->taken_capacity, wanted + 1);
    memset(s->place_taken + places, 0, s->taken_capacity - places);
    RESERVE(s->sightings, s->sightings_capacity, wanted);
    SK_TRY(reserve_points(s, detections, n, wanted, err));
    for (int32_t i = 0; i < n; i++)
        if (detections[i].looks) {
            RESERVE(s->appearance, s->appearance_capacity, wanted * SK_TRACK_LOOKS);
            break;
        }
    return SK_OK;
}

static sk_follower_room room_of(const state *s, const sk_follower *f)
{
    return (sk_follower_room){s->points ? s->points + (size_t)f->slot * 3 * (size_t)s->points_most : NULL,
                              s->appearance ? s->appearance + (size_t)f->slot * SK_TRACK_LOOKS : NULL};
}

/* --- pairs --- */

static sk_status add_pair(state *s, int32_t row, int32_t column, double cost, sk_error *err)
{
    RESERVE(s->pairs, s->pairs_capacity, s->n_pairs + 1);
    s->pairs[s->n_pairs++] = (sk_assign_pair){row, column, cost};
    return SK_OK;
}

/* Costs are below 0: a pair is worth so much more than both alone. match[row]: its column or -1. */
static sk_status solve(state *s, int32_t rows, int32_t columns, sk_error *err)
{
    return sk_assign_solve(s->solver, rows, columns, s->pairs, s->n_pairs, NULL, s->match, err);
}

/* --- detections --- */

static bool is_twin(const sk_look *a, const sk_look *b)
{
    const sk_detection *p = a->d, *q = b->d;
    const double size = fmin(p->major, q->major), dx = p->x - q->x, dy = p->y - q->y;
    return dx * dx + dy * dy < 0.04 * size * size &&
           (p->upright || sk_axis_between(p->angle, q->angle) < 0.35) &&
           fabs(a->log_area - b->log_area) < 0.4;
}

static void look_around(state *s, int32_t i)
{
    sk_look *a = &s->looks[i];
    const double reach = 0.75 * a->d->major;
    const sk_near_cells c = sk_near_around(&s->near, a->d->x, a->d->y, reach);
    for (int32_t row = c.top; row <= c.bottom; row++) {
        const int32_t *cell = s->near.start + row * s->near.across;
        for (int32_t k = cell[c.left]; k < cell[c.right + 1]; k++) {
            const int32_t j = s->near.order[k];
            const sk_look *b = &s->looks[j];
            const double dx = a->d->x - b->d->x, dy = a->d->y - b->d->y;
            if (j == i || dx * dx + dy * dy > reach * reach)
                continue;
            a->crowded = true;
            const bool worse = a->d->score < b->d->score || (a->d->score == b->d->score && i > j);
            if (worse && is_twin(a, b))
                a->twin = true;
        }
    }
}

static sk_status look_at_all(state *s, const sk_detection *detections, int32_t n, sk_error *err)
{
    s->n_looks = n;
    if (!n)
        return SK_OK;
    for (int32_t i = 0; i < n; i++)
        sk_look_make(&s->rules, &detections[i], &s->looks[i]);
    SK_TRY(sk_near_fill(&s->near, &detections[0].x, &detections[0].y, sizeof *detections / sizeof(double), n,
                        err));
    for (int32_t i = 0; i < n; i++) {
        look_around(s, i);
        sk_look *a = &s->looks[i];
        const double strength = fmin(a->d->score / fmax(s->settings.life.strong, 1e-9), 1);
        a->alone = a->twin ? TWIN_ALONE : WEAK_ALONE + (STRONG_ALONE - WEAK_ALONE) * strength;
    }
    return SK_OK;
}

/* --- a step --- */

static sk_status pair_up(state *s, sk_error *err)
{
    s->n_pairs = 0;
    for (int32_t i = 0; i < s->n && s->n_looks; i++) {
        const sk_follower *f = &s->all[i];
        if (f->missed > 2 * s->covered + 1)
            continue; /* lost: it comes back another way */
        const double x = f->kalman.at[0], y = f->kalman.at[1], reach = sk_pair_reach(&s->rules, f);
        const double own = (f->gaps ? MISS_COVERED : MISS_SEEN) - (f->track < 0 ? YOUNG_LAST : 0);
        const sk_near_cells c = sk_near_around(&s->near, x, y, reach);
        for (int32_t row = c.top; row <= c.bottom; row++) {
            const int32_t *cell = s->near.start + row * s->near.across;
            for (int32_t k = cell[c.left]; k < cell[c.right + 1]; k++) {
                const sk_look *look = &s->looks[s->near.order[k]];
                const double dx = look->d->x - x, dy = look->d->y - y;
                if (dx * dx + dy * dy > reach * reach)
                    continue;
                const double cost = sk_pair_cost(&s->rules, f, look, room_of(s, f)) - own - look->alone;
                if (cost < 0)
                    SK_TRY(add_pair(s, i, s->near.order[k], cost, err));
            }
        }
    }
    return solve(s, s->n, s->n_looks, err);
}

/* How much better a follower's pair is than the next best choice for it or for its detection, as a probability. */
static void tell_certainty(state *s)
{
    for (int32_t i = 0; i < s->n; i++)
        s->all[i].certainty = 0; /* the best other choice; alone it is 0 */
    for (int32_t i = 0; i < s->n; i++)
        if (s->match[i] >= 0)
            s->looks[s->match[i]].taken_by = i;
    for (int32_t k = 0; k < s->n_pairs; k++) {
        const sk_assign_pair *p = &s->pairs[k];
        if (s->match[p->row] == p->column)
            continue;
        s->all[p->row].certainty = fmin(s->all[p->row].certainty, p->cost);
        const int32_t owner = s->looks[p->column].taken_by;
        if (owner >= 0)
            s->all[owner].certainty = fmin(s->all[owner].certainty, p->cost);
    }
    for (int32_t k = 0; k < s->n_pairs; k++) {
        sk_follower *f = &s->all[s->pairs[k].row];
        if (s->match[s->pairs[k].row] == s->pairs[k].column)
            f->certainty = 1 / (1 + exp(s->pairs[k].cost - f->certainty));
    }
}

static void take_matches(state *s, double passed)
{
    for (int32_t i = 0; i < s->n; i++) {
        sk_follower *f = &s->all[i];
        const int32_t j = s->match[i];
        if (j < 0) {
            f->gaps++;
            f->score = NAN;
            f->certainty = 0;
            continue;
        }
        sk_follower_correct(f, &s->rules, &s->looks[j], passed, room_of(s, f));
        f->detection = j;
        s->looks[j].taken_by = i;
    }
}

static void give_identity(state *s, sk_follower *f)
{
    int32_t place = 0;
    while (s->place_taken[place])
        place++;
    s->place_taken[place] = 1;
    f->place = place;
    f->track = s->next_track++;
    s->n_told++;
}

/* Those found newly, and seen often enough, are animals that were lost, or new ones. */
static sk_status name_the_new(state *s, sk_error *err)
{
    const bool fixed = s->settings.animals > 0;
    s->n_pairs = 0;
    int32_t waiting = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const sk_follower *found = &s->all[i];
        if (found->track >= 0 || found->missed > 0 || found->seen < s->start)
            continue;
        waiting++;
        for (int32_t j = 0; j < s->n; j++) {
            const sk_follower *lost = &s->all[j];
            if (lost->track < 0 || lost->gaps < 1 || lost->missed <= found->age)
                continue;
            const double far = s->settings.life.recovery * lost->body;
            if (far > 0 && hypot(found->last_x - lost->last_x, found->last_y - lost->last_y) > far)
                continue;
            const double cost = sk_return_cost(&s->rules, lost, found, room_of(s, lost), room_of(s, found));
            const bool any = fixed && lost->missed > 2 * s->covered; /* somebody it must be */
            const double net = cost - (any ? RETURN_ANY : RETURN_MOST);
            if (net < 0)
                SK_TRY(add_pair(s, i, j, net, err));
        }
    }
    if (!waiting)
        return SK_OK;
    SK_TRY(solve(s, s->n, s->n, err));
    for (int32_t i = 0; i < s->n; i++) {
        sk_follower *f = &s->all[i];
        if (f->track >= 0 || f->missed > 0 || f->seen < s->start)
            continue;
        const int32_t j = s->match[i];
        if (j >= 0) { /* found again: the lost one goes on here */
            sk_follower *lost = &s->all[j];
            const int32_t slot = lost->slot;
            sk_follower_become(lost, f);
            f->slot = slot;
            f->seen = -1; /* ends */
        } else if (!fixed || s->n_told < s->settings.animals) {
            give_identity(s, f);
        }
    }
    return SK_OK;
}

/* Is somebody that is told of seen within `reach`? */
static bool beside_another(const state *s, const sk_look *look, double reach)
{
    const sk_near_cells c = sk_near_around(&s->near, look->d->x, look->d->y, reach);
    for (int32_t row = c.top; row <= c.bottom; row++) {
        const int32_t *cell = s->near.start + row * s->near.across;
        for (int32_t k = cell[c.left]; k < cell[c.right + 1]; k++) {
            const sk_look *other = &s->looks[s->near.order[k]];
            if (other->taken_by >= 0 && s->all[other->taken_by].track >= 0 &&
                hypot(other->d->x - look->d->x, other->d->y - look->d->y) < reach)
                return true;
        }
    }
    return false;
}

static void begin_new(state *s)
{
    for (int32_t j = 0; j < s->n_looks; j++) {
        const sk_look *look = &s->looks[j];
        if (look->taken_by >= 0 || look->twin || look->d->score < s->settings.life.birth)
            continue;
        const double body = s->settings.body > 0 ? s->settings.body : look->d->major;
        if (s->settings.life.apart > 0 && beside_another(s, look, s->settings.life.apart * body))
            continue;
        sk_follower *f = &s->all[s->n++];
        f->slot = s->n_free ? s->free_slots[--s->n_free] : s->slots++;
        sk_follower_begin(f, &s->rules, look, room_of(s, f));
        f->detection = j;
    }
}

static bool has_ended(const state *s, const sk_follower *f)
{
    if (f->seen < 0)
        return true;
    if (f->track < 0)
        return f->gaps > (f->seen < FEW_SEEN ? 0 : 2);
    return s->settings.animals <= 0 && f->missed > s->covered + s->lost;
}

static void end_some(state *s)
{
    int32_t left = 0;
    for (int32_t i = 0; i < s->n; i++) {
        sk_follower *f = &s->all[i];
        if (has_ended(s, f)) {
            if (f->track >= 0) {
                s->place_taken[f->place] = 0;
                s->n_told--;
            }
            s->free_slots[s->n_free++] = f->slot;
        } else {
            s->all[left++] = *f;
        }
    }
    s->n = left;
}

static int32_t tell(state *s, int64_t frame)
{
    int32_t places = 0, told = 0;
    for (int32_t i = 0; i < s->n; i++)
        if (s->all[i].track >= 0 && s->all[i].place >= places)
            places = s->all[i].place + 1;
    for (int32_t i = 0; i < places; i++)
        s->by_place[i] = -1;
    for (int32_t i = 0; i < s->n; i++)
        if (s->all[i].track >= 0)
            s->by_place[s->all[i].place] = i;
    for (int32_t p = 0; p < places; p++) {
        if (s->by_place[p] < 0)
            continue;
        const sk_follower *f = &s->all[s->by_place[p]];
        const sk_track_state now = f->missed <= 0            ? SK_TRACK_ACTIVE
                                   : f->missed <= s->covered ? SK_TRACK_COVERED
                                                             : SK_TRACK_LOST;
        if ((now == SK_TRACK_COVERED && !s->settings.tell_covered) ||
            (now == SK_TRACK_LOST && !s->settings.tell_lost))
            continue;
        const sk_cov2 place = sk_kalman_place(&f->kalman);
        s->sightings[told++] = (sk_sighting){
            .frame = frame,
            .track = f->track,
            .place = f->place,
            .detection = f->detection,
            .state = now,
            .x = f->kalman.at[0],
            .y = f->kalman.at[1],
            .heading = f->heading.angle,
            .major = f->major,
            .minor = f->minor,
            .angle = f->missed > 0 && f->heading.known ? sk_angle_axis(f->heading.angle) : f->angle,
            .score = f->missed > 0 ? NAN : f->score,
            .certainty = f->missed > 0 ? 0 : f->certainty,
            .uncertainty = sqrt(0.5 * (place.xx + place.yy)),
        };
    }
    return told;
}

static sk_status step(void *opaque, int64_t frame, double passed, const sk_detection *detections, int32_t n,
                      sk_sighting **out, int32_t *n_out, sk_error *err)
{
    state *s = opaque;
    SK_TRY(reserve(s, detections, n, err));
    for (int32_t i = 0; i < s->n; i++)
        sk_follower_predict(&s->all[i], &s->rules, passed);
    SK_TRY(look_at_all(s, detections, n, err));
    SK_TRY(pair_up(s, err));
    tell_certainty(s);
    take_matches(s, passed);
    begin_new(s);
    SK_TRY(name_the_new(s, err));
    end_some(s);
    *n_out = tell(s, frame);
    *out = s->sightings;
    return SK_OK;
}

const sk_tracker_kind sk_tracker_skitter = {"skitter", open, step, close};
