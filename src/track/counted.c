/* SPDX-License-Identifier: Apache-2.0 */
#include "track/counted.h"

#include "base/memory.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

sk_status sk_counted_open(int32_t animals, double fps, sk_counted *out, sk_error *err)
{
    *out = (sk_counted){.animals = animals, .patience = fps};
    out->slots = sk_calloc((size_t)animals, sizeof *out->slots);
    return out->slots ? SK_OK : sk_fail_memory(err, (size_t)animals * sizeof *out->slots);
}

void sk_counted_free(sk_counted *counted)
{
    sk_free(counted->slots);
    *counted = (sk_counted){0};
}

/* What was seen before what is only thought of. */
static int by_track(const void *a, const void *b)
{
    const sk_sighting *x = a, *y = b;
    if ((x->detection < 0) != (y->detection < 0))
        return x->detection < 0 ? 1 : -1;
    return SK_ORDER(x->track, y->track);
}

static int by_place(const void *a, const void *b)
{
    const sk_sighting *x = a, *y = b;
    return SK_ORDER(x->place, y->place);
}

/* Its place is the new number; a track below zero is one that has got its own. */
static void give(sk_counted *c, sk_sighting *s, int32_t slot)
{
    c->slots[slot].seen = true;
    c->slots[slot].x = s->x;
    c->slots[slot].y = s->y;
    s->place = slot;
    s->track = -1 - s->track;
}

static void give_to_owners(sk_counted *c, sk_sighting *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < c->used; k++)
            if (c->slots[k].owner == s[i].track && !c->slots[k].seen) {
                c->slots[k].guest = s[i].detection >= 0 ? -1 : c->slots[k].guest;
                give(c, &s[i], k);
                break;
            }
}

static void give_to_guests(sk_counted *c, double passed, sk_sighting *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < c->used && s[i].track >= 0; k++) {
            sk_counted_slot *slot = &c->slots[k];
            if (slot->seen || slot->guest != s[i].track)
                continue;
            slot->stay += passed;
            if (slot->stay >= c->patience) {
                slot->owner = slot->guest;
                slot->guest = -1;
            }
            give(c, &s[i], k);
        }
}

/* The nearest pair of a new track and an unseen identity. */
static bool nearest(const sk_counted *c, const sk_sighting *s, int32_t n, int32_t *track, int32_t *slot)
{
    double least = INFINITY;
    for (int32_t k = 0; k < c->used; k++)
        for (int32_t i = 0; i < n && !c->slots[k].seen; i++) {
            const double way = hypot(s[i].x - c->slots[k].x, s[i].y - c->slots[k].y);
            if (s[i].track >= 0 && way < least) {
                least = way;
                *track = i;
                *slot = k;
            }
        }
    return isfinite(least);
}

int32_t sk_counted_step(sk_counted *c, double passed, sk_sighting *s, int32_t n)
{
    int32_t i, k, left = 0, all = n;
    if (n > 1)
        qsort(s, (size_t)n, sizeof *s, by_track);
    while (n > 0 && s[n - 1].detection < 0)
        n--;
    for (k = 0; k < c->used; k++)
        c->slots[k].seen = false;
    give_to_owners(c, s, n);
    give_to_guests(c, passed, s, n);
    for (i = 0; i < n && c->used < c->animals; i++)
        if (s[i].track >= 0) {
            c->slots[c->used] = (sk_counted_slot){.owner = s[i].track, .guest = -1};
            give(c, &s[i], c->used++);
        }
    while (nearest(c, s, n, &i, &k)) {
        c->slots[k].guest = s[i].track;
        c->slots[k].stay = passed;
        give(c, &s[i], k);
    }
    give_to_owners(c, s + n, all - n);
    for (i = 0; i < all; i++)
        if (s[i].track < 0) {
            s[left] = s[i];
            s[left].track = s[left].place;
            left++;
        }
    if (left > 1)
        qsort(s, (size_t)left, sizeof *s, by_place);
    return left;
}
