/* SPDX-License-Identifier: Apache-2.0 */
#include "track/life.h"

#include "track/cost.h"

#include <math.h>
#include <string.h>

/* What it may cost that one found is one that is away, against its being new: */
#define RETURN_MOST   1.0 /* away for a moment only, which other ways would have found */
#define RETURN_LOST   3.0
#define RETURN_BORDER 0.0  /* at the border others come and go */
#define RETURN_ANY    1e3  /* the number is fixed: somebody it must be */
#define FILL          1e6  /* what using a detection is worth, where all of them are somebody */
#define SETTLE        4    /* looks at one that may be a lost one, before it is said which */
#define SURE_LOOKS    6    /* so often seen is beyond doubt, however faintly … */
#define SURE_SCORE    0.25 /* … and so is a score by so much of the way from `birth` to 1 above it */
#define FEW_SEEN      3    /* looks: with fewer, not to be seen again ends it */

static void give_identity(sk_following *s, sk_follower *f)
{
    int32_t place = 0;
    while (s->place_taken[place])
        place++;
    s->place_taken[place] = 1;
    f->place = place;
    f->track = s->next_track++;
    s->n_told++;
}

/* Is it an animal beyond doubt? What is false seldom looks well, and mostly not for long; who was there when all began is believed, so
 * are poses, whose scores say little. */
static bool is_sure(const sk_following *s, const sk_follower *f)
{
    const double birth = s->settings.life.birth;
    return f->pointed || f->seen >= SURE_LOOKS || f->age + 1 >= s->watched ||
           f->score >= birth + SURE_SCORE * (1 - birth) || s->settings.animals > 0;
}

/* Is this one to be named in this step? */
static bool is_waiting(const sk_following *s, const sk_follower *f)
{
    return f->track < 0 && f->missed <= 0 && f->seen >= s->start && is_sure(s, f);
}

/* How much it may cost that the one found is the one lost. Within the picture nobody appears from nowhere; over its border
 * others come, and who has gone out there seldom comes back. */
static double return_most(const sk_following *s, const sk_follower *lost, const sk_follower *found)
{
    if (lost->missed <= 2 * s->covered)
        return RETURN_MOST;
    if (s->settings.animals > 0)
        return RETURN_ANY;
    return found->came_in || lost->went_out ? RETURN_BORDER : RETURN_LOST;
}

static bool may_return(const sk_following *s, const sk_follower *lost, const sk_follower *found)
{
    if (lost->track < 0 || lost->gaps < 1 || lost->missed <= found->age)
        return false;
    const double far = s->settings.life.recovery * lost->body;
    return far <= 0 || hypot(found->last_x - lost->last_x, found->last_y - lost->last_y) <= far;
}

static sk_status pair_returns(sk_following *s, int32_t i, sk_error *err)
{
    const sk_follower *found = &s->all[i];
    const int32_t before = s->n_pairs;
    bool away = false; /* somebody is: poses jump, so it may be that one wherever it is */
    for (int32_t j = 0; j < s->n; j++) {
        const sk_follower *lost = &s->all[j];
        if (!may_return(s, lost, found))
            continue;
        away = true;
        const double cost =
            sk_return_cost(&s->rules, lost, found, sk_following_room(s, lost), sk_following_room(s, found)) -
            return_most(s, lost, found);
        if (cost < 0)
            SK_TRY(sk_following_add_pair(s, i, j, cost, err));
    }
    if ((s->n_pairs > before || (away && found->pointed)) && found->seen < SETTLE && !sk_following_all(s))
        s->n_pairs = before; /* a few looks more tell who it is */
    else
        s->named[i] = 1;
    return SK_OK;
}

sk_status sk_life_name(sk_following *s, sk_error *err)
{
    s->n_pairs = 0;
    int32_t waiting = 0;
    for (int32_t i = 0; i < s->n; i++) {
        s->named[i] = 0;
        if (!is_waiting(s, &s->all[i]))
            continue;
        SK_TRY(pair_returns(s, i, err));
        waiting += s->named[i];
    }
    if (!waiting)
        return SK_OK;
    SK_TRY(sk_following_solve(s, s->n, s->n, err));
    for (int32_t i = 0; i < s->n; i++) {
        sk_follower *f = &s->all[i];
        if (!s->named[i])
            continue;
        const int32_t j = s->match[i];
        if (j >= 0) { /* found again: the lost one goes on here */
            sk_follower *lost = &s->all[j];
            const int32_t slot = lost->slot;
            sk_follower_become(lost, f);
            f->slot = slot;
            f->seen = -1; /* ends */
        } else if (s->settings.animals <= 0 || s->n_told < s->settings.animals) {
            give_identity(s, f);
        }
    }
    return SK_OK;
}

/* Is somebody that is told of seen within `reach`? */
static bool beside_another(const sk_following *s, const sk_look *look, double reach)
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

sk_status sk_life_fill(sk_following *s, sk_error *err)
{
    int32_t over = 0;
    for (int32_t j = 0; j < s->n_looks; j++)
        over += s->looks[j].taken_by < 0 && sk_detection_is_sure(&s->settings, s->most_looks, s->looks[j].d);
    if (!over || s->n_told + over <= s->settings.animals)
        return SK_OK; /* there is room for all of them as new ones */
    memcpy(s->by_place, s->match, (size_t)s->n * sizeof *s->match); /* the choice so far */
    s->n_pairs = 0;
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < s->n_looks && s->all[i].track >= 0 && s->by_place[i] < 0; j++)
            if (s->looks[j].taken_by < 0 && sk_detection_is_sure(&s->settings, s->most_looks, s->looks[j].d))
                SK_TRY(sk_following_add_pair(
                    s, i, j,
                    sk_pair_cost(&s->rules, &s->all[i], &s->looks[j], sk_following_room(s, &s->all[i])) -
                        FILL,
                    err));
    SK_TRY(sk_following_solve(s, s->n, s->n_looks, err));
    for (int32_t i = 0; i < s->n; i++)
        if (s->by_place[i] >= 0)
            s->match[i] = s->by_place[i];
        else if (s->match[i] >= 0)
            s->all[i].certainty = 0; /* somebody it must be: nothing says who */
    return SK_OK;
}

void sk_life_begin(sk_following *s)
{
    const bool all = sk_following_all(s);
    for (int32_t j = 0; j < s->n_looks; j++) {
        const sk_look *look = &s->looks[j];
        const bool sure = all && sk_detection_is_sure(&s->settings, s->most_looks, look->d);
        if (look->taken_by >= 0 || (!sure && (look->twin || look->d->score < s->settings.life.birth)))
            continue;
        const double body = s->settings.body > 0 ? s->settings.body : look->d->major;
        if (!sure && s->settings.life.apart > 0 && beside_another(s, look, s->settings.life.apart * body))
            continue;
        sk_follower *f = &s->all[s->n++];
        f->slot = s->n_free ? s->free_slots[--s->n_free] : s->slots++;
        sk_follower_begin(f, &s->rules, look, sk_following_room(s, f));
        f->detection = j;
    }
}

static bool has_ended(const sk_following *s, const sk_follower *f)
{
    if (f->seen < 0)
        return true;
    if (f->track < 0)
        return f->gaps > (f->seen < FEW_SEEN ? 0 : 2);
    return s->settings.animals <= 0 && f->missed > s->covered + s->lost;
}

void sk_life_end(sk_following *s)
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
