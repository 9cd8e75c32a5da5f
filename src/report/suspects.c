/* SPDX-License-Identifier: Apache-2.0 */
#include "report/suspects.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 0.8 /* bodies: closer begins a moment … */
#define FAR  1.2 /* … and farther ends it, so that a tremble does not make ten of one */
#define JUMP 1.5 /* bodies a frame beyond the last place: nobody walks like that */

void sk_suspects_free(sk_suspects *s)
{
    sk_free(s->last);
    sk_free(s->order);
    *s = (sk_suspects){0};
}

/* --- the list of what is over --- */

static double weigh(const sk_suspect *moment)
{
    double weight = 0.25 * fmax(0, 1 - moment->distance / fmax(moment->body, 1e-9));
    if (moment->why & SK_SUSPECT_UNSEEN)
        weight += 0.3;
    if (moment->why & SK_SUSPECT_JUMPED)
        weight += 0.25;
    return weight + 0.2 * (1 - moment->certainty);
}

/* Those that only passed by each other deserve no look. */
static void file(sk_suspects *s, sk_suspect *moment)
{
    if (!(moment->why & (SK_SUSPECT_UNSEEN | SK_SUSPECT_UNSURE | SK_SUSPECT_JUMPED)))
        return;
    moment->weight = weigh(moment);
    s->count++;
    int32_t at = 0;
    while (at < s->n_worst && s->worst[at].weight >= moment->weight)
        at++;
    if (at >= SK_SUSPECTS_MOST)
        return;
    const int32_t moved = (s->n_worst < SK_SUSPECTS_MOST ? s->n_worst++ : SK_SUSPECTS_MOST - 1) - at;
    memmove(&s->worst[at + 1], &s->worst[at], (size_t)moved * sizeof *s->worst);
    s->worst[at] = *moment;
}

void sk_suspects_end(sk_suspects *s)
{
    for (int32_t i = 0; i < s->n_open; i++)
        file(s, &s->open[i]);
    s->n_open = 0;
}

/* --- pairs --- */

static void look_closer(sk_suspect *moment, const sk_sighting *a, const sk_sighting *b)
{
    const double d = hypot(a->x - b->x, a->y - b->y);
    moment->last = a->frame;
    moment->body = fmax(moment->body, fmax(a->major, b->major));
    if (d < 0.5 * moment->body)
        moment->why |= SK_SUSPECT_TOUCHED;
    if (a->detection < 0 || b->detection < 0)
        moment->why |= SK_SUSPECT_UNSEEN;
    for (int i = 0; i < 2; i++) {
        const sk_sighting *one = i ? b : a;
        if (one->detection >= 0 && one->certainty < moment->certainty)
            moment->certainty = one->certainty;
    }
    if (moment->certainty < 0.5)
        moment->why |= SK_SUSPECT_UNSURE;
    if (d < moment->distance) {
        moment->distance = d;
        moment->frame = a->frame;
        moment->x = 0.5 * (a->x + b->x);
        moment->y = 0.5 * (a->y + b->y);
    }
}

static sk_suspect *open_pair(sk_suspects *s, const sk_sighting *a, const sk_sighting *b)
{
    const sk_sighting *low = a->track < b->track ? a : b, *high = a->track < b->track ? b : a;
    for (int32_t i = 0; i < s->n_open; i++)
        if (s->open[i].a == low->track && s->open[i].b == high->track)
            return &s->open[i];
    const int32_t room = (int32_t)(sizeof s->open / sizeof *s->open);
    if (hypot(a->x - b->x, a->y - b->y) > NEAR * fmax(a->major, b->major) || s->n_open == room)
        return NULL; /* a huddle of hundreds: what is open already says enough */
    sk_suspect *moment = &s->open[s->n_open++];
    *moment = (sk_suspect){.a = low->track,
                           .b = high->track,
                           .first = a->frame,
                           .frame = a->frame,
                           .distance = INFINITY,
                           .certainty = 1};
    return moment;
}

static void look_at_pairs(sk_suspects *s, const sk_sighting *now, int32_t n)
{
    double longest = 0;
    for (int32_t i = 0; i < n; i++) { /* from left to right, by insertion */
        longest = fmax(longest, now[i].major);
        int32_t k = i;
        for (; k > 0 && now[s->order[k - 1]].x > now[i].x; k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = i;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k < n; k++) {
            const sk_sighting *a = &now[s->order[i]], *b = &now[s->order[k]];
            if (b->x - a->x > FAR * longest)
                break;
            if (hypot(a->x - b->x, a->y - b->y) > FAR * fmax(a->major, b->major))
                continue;
            sk_suspect *moment = open_pair(s, a, b);
            if (moment)
                look_closer(moment, a, b);
        }
}

/* --- jumps --- */

static sk_status look_at_jumps(sk_suspects *s, const sk_sighting *now, int32_t n, sk_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        SK_CHECK_ARG(now[i].track >= 0, err);
        const size_t number = (size_t)now[i].track;
        SK_TRY(sk_array_reserve((void **)&s->last, &s->last_capacity, number + 1, sizeof *s->last,
                                (size_t)1 << 22, err));
        for (; s->n_last <= number; s->n_last++)
            s->last[s->n_last] = (sk_sighting){.frame = -1};
        sk_sighting *before = &s->last[number];
        if (now[i].detection < 0)
            continue;
        const int64_t frames = now[i].frame - before->frame;
        const double d = hypot(now[i].x - before->x, now[i].y - before->y), body = now[i].major;
        if (before->frame >= 0 && d > JUMP * body * (double)frames) {
            sk_suspect moment = {.a = now[i].track,
                                 .b = -1,
                                 .first = before->frame,
                                 .last = now[i].frame,
                                 .frame = now[i].frame,
                                 .x = now[i].x,
                                 .y = now[i].y,
                                 .body = body,
                                 .distance = d,
                                 .certainty = now[i].certainty,
                                 .why = SK_SUSPECT_JUMPED | (frames > 1 ? SK_SUSPECT_UNSEEN : 0)};
            file(s, &moment);
        }
        *before = now[i];
    }
    return SK_OK;
}

sk_status sk_suspects_take(sk_suspects *s, const sk_sighting *now, int32_t n, sk_error *err)
{
    SK_TRY(look_at_jumps(s, now, n, err));
    SK_TRY(sk_array_reserve((void **)&s->order, &s->order_capacity, (size_t)n + 1, sizeof *s->order,
                            SK_TRACK_MOST + 1, err));
    look_at_pairs(s, now, n);
    if (n == 0)
        return SK_OK;
    int32_t kept = 0;
    for (int32_t i = 0; i < s->n_open; i++) { /* apart again, or one has gone */
        if (s->open[i].last == now[0].frame)
            s->open[kept++] = s->open[i];
        else
            file(s, &s->open[i]);
    }
    s->n_open = kept;
    return SK_OK;
}
