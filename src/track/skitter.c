/* SPDX-License-Identifier: Apache-2.0 */
#include "track/kind.h"

#include "base/memory.h"
#include "track/cost.h"
#include "track/life.h"
#include "track/points.h"

#include <math.h>
#include <string.h>

/* The tracker of our own: docs/tracking.md describes the method. */

/* What it costs to leave a detection to nobody: minus the logarithm of how often such a one is false or new. */
#define STRONG_ALONE 12.0
#define WEAK_ALONE   5.0
#define TWIN_ALONE   (-1.0) /* lies upon a better one: mostly the same animal again */
/* What it costs a follower to be seen by nobody: one that was seen in the last frame, one that was not. */
#define MISS_SEEN    3.0
#define MISS_COVERED 1.0
#define YOUNG_LAST   1.0 /* those not told of yet stand back by so much */
/* Where boxes end is taken for the picture's border: lengths that count as at it, lengths by which it does not grow any more,
 * and for how many seconds that must have been so. */
#define BORDER_SHARE   0.15
#define BORDER_GROWS   0.05
#define BORDER_WIDTH   3 /* animals that there must be room for between two borders */
#define BORDER_SETTLES 3.0

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
    sk_following *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->settings = *settings;
    for (int i = 0; i < 4; i++)
        s->seen_box[i] = i < 2 ? INFINITY : -INFINITY;
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
    sk_following *s = opaque;
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
    sk_free(s->named);
    sk_free(s->sightings);
    sk_assign_close(&s->solver);
    sk_free(s);
}

/* Keypoints are kept at a stride of points_most: a larger pose moves those that are there. */
static sk_status reserve_points(sk_following *s, const sk_detection *detections, int32_t n, size_t slots,
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

static sk_status reserve(sk_following *s, const sk_detection *detections, int32_t n, sk_error *err)
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
    RESERVE(s->named, s->named_capacity, wanted);
    RESERVE(s->sightings, s->sightings_capacity, wanted);
    SK_TRY(reserve_points(s, detections, n, wanted, err));
    for (int32_t i = 0; i < n; i++)
        if (detections[i].looks) {
            RESERVE(s->appearance, s->appearance_capacity, wanted * SK_TRACK_LOOKS);
            break;
        }
    return SK_OK;
}

/* --- pairs --- */

sk_status sk_following_add_pair(sk_following *s, int32_t row, int32_t column, double cost, sk_error *err)
{
    RESERVE(s->pairs, s->pairs_capacity, s->n_pairs + 1);
    s->pairs[s->n_pairs++] = (sk_assign_pair){row, column, cost};
    return SK_OK;
}

sk_status sk_following_solve(sk_following *s, int32_t rows, int32_t columns, sk_error *err)
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

static void look_around(sk_following *s, int32_t i)
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

/* The upright box, also of detections that have none of their own. */
static void upright_of(const sk_look *look, double box[4])
{
    sk_detection d = *look->d;
    if (!(d.box[2] > d.box[0] && d.box[3] > d.box[1]))
        sk_detection_set_box(&d);
    memcpy(box, d.box, sizeof d.box);
}

/* The picture's border is where boxes end: what touches it may come in there, or go out. A way that is hardly wider than an animal
 * has no such border, and while nobody looked nothing was learnt about it. */
static void look_at_border(sk_following *s, double passed)
{
    double box[4];
    for (int i = 0; i < 4; i++)
        s->grown[i] += fmin(passed, s->covered);
    for (int32_t k = 0; k < s->n_looks; k++) {
        upright_of(&s->looks[k], box);
        for (int i = 0; i < 4; i++) {
            const double more = i < 2 ? s->seen_box[i] - box[i] : box[i] - s->seen_box[i];
            if (more > BORDER_GROWS * s->looks[k].d->major)
                s->grown[i] = 0;
            if (more > 0)
                s->seen_box[i] = box[i];
        }
    }
    for (int32_t k = 0; k < s->n_looks; k++) {
        const double margin = BORDER_SHARE * s->looks[k].d->major;
        upright_of(&s->looks[k], box);
        for (int i = 0; i < 4; i++)
            if (s->grown[i] > BORDER_SETTLES * s->rules.fps &&
                s->seen_box[i % 2 + 2] - s->seen_box[i % 2] > BORDER_WIDTH * s->looks[k].d->major &&
                (i < 2 ? box[i] - s->seen_box[i] : s->seen_box[i] - box[i]) < margin)
                s->looks[k].border = true;
    }
}

static sk_status look_at_all(sk_following *s, const sk_detection *detections, int32_t n, double passed,
                             sk_error *err)
{
    s->n_looks = n;
    s->watched += passed;
    s->most_looks = n > s->most_looks ? n : s->most_looks;
    if (!n)
        return SK_OK;
    s->widest = 0;
    s->n_pointed = 0;
    for (int32_t i = 0; i < n; i++) {
        sk_look_make(&s->rules, &detections[i], &s->looks[i]);
        if (detections[i].pointed) {
            s->widest = fmax(s->widest, sk_points_widest(&detections[i]));
            s->n_pointed++;
        }
    }
    look_at_border(s, passed);
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

static sk_status pair_up(sk_following *s, sk_error *err)
{
    const bool all = sk_following_all(s);
    s->n_pairs = 0;
    for (int32_t i = 0; i < s->n && s->n_looks; i++) {
        const sk_follower *f = &s->all[i];
        if (f->missed > 2 * s->covered + 1 || (f->track < 0 && s->n_told >= s->settings.animals && all))
            continue; /* lost: it comes back another way */
        const double x = f->kalman.at[0], y = f->kalman.at[1], reach = sk_pair_reach(&s->rules, f);
        const sk_follower_room own_room = sk_following_room(s, f);
        const double own = (f->gaps ? MISS_COVERED : MISS_SEEN) - (f->track < 0 ? YOUNG_LAST : 0);
        const sk_near_cells c = sk_near_around(&s->near, x, y, reach + s->widest);
        for (int32_t row = c.top; row <= c.bottom; row++) {
            const int32_t *cell = s->near.start + row * s->near.across;
            for (int32_t k = cell[c.left]; k < cell[c.right + 1]; k++) {
                const sk_look *look = &s->looks[s->near.order[k]];
                const double dx = look->d->x - x, dy = look->d->y - y;
                const double away = look->d->pointed && f->pointed
                                        ? sk_points_nearest(f, look->d, own_room.points)
                                        : dx * dx + dy * dy;
                if (away > reach * reach)
                    continue;
                const double cost = sk_pair_cost(&s->rules, f, look, own_room) - own - look->alone;
                if (cost < 0)
                    SK_TRY(sk_following_add_pair(s, i, s->near.order[k], cost, err));
            }
        }
    }
    return sk_following_solve(s, s->n, s->n_looks, err);
}

/* How much better a follower's pair is than the next best choice for it or for its detection, as a probability. */
static void tell_certainty(sk_following *s)
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

static void take_matches(sk_following *s, double passed)
{
    for (int32_t i = 0; i < s->n; i++) {
        sk_follower *f = &s->all[i];
        const int32_t j = s->match[i];
        if (j < 0) {
            f->gaps++;
            f->certainty = 0;
            continue;
        }
        sk_follower_correct(f, &s->rules, &s->looks[j], passed, sk_following_room(s, f));
        f->detection = j;
        s->looks[j].taken_by = i;
    }
}

static int32_t tell(sk_following *s, int64_t frame)
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
            .score = NAN, /* a detection's is told of it by the tracker */
            .certainty = f->missed > 0 ? 0 : f->certainty,
            .uncertainty = sqrt(0.5 * (place.xx + place.yy)),
        };
    }
    return told;
}

static sk_status step(void *opaque, int64_t frame, double passed, const sk_detection *detections, int32_t n,
                      sk_sighting **out, int32_t *n_out, sk_error *err)
{
    sk_following *s = opaque;
    SK_TRY(reserve(s, detections, n, err));
    for (int32_t i = 0; i < s->n; i++)
        sk_follower_predict(&s->all[i], &s->rules, passed);
    SK_TRY(look_at_all(s, detections, n, passed, err));
    SK_TRY(pair_up(s, err));
    tell_certainty(s);
    if (sk_following_all(s))
        SK_TRY(sk_life_fill(s, err));
    take_matches(s, passed);
    sk_life_begin(s);
    SK_TRY(sk_life_name(s, err));
    sk_life_end(s);
    *n_out = tell(s, frame);
    *out = s->sightings;
    return SK_OK;
}

const sk_tracker_kind sk_tracker_skitter = {"skitter", open, step, close, .counts = true};
