/* SPDX-License-Identifier: Apache-2.0 */
#include "track/smooth.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"
#include "track/follower.h"
#include "track/headings.h"

#include <math.h>

#define WINDOW 64 /* sightings of a track that are looked at, most */

/* Numbers of a sighting: place, heading, then those of its box. */
enum { PLACE, HEADING = 2, BOX, VALUES = BOX + SK_STEADY_VALUES };
/* Which of them have one window: from … to. */
static const int groups[][2] = {{PLACE, BOX},       {BOX, BOX + 2},     {BOX + 2, BOX + 4},
                                {BOX + 4, BOX + 6}, {BOX + 6, BOX + 8}, {BOX + 8, VALUES}};
enum { GROUPS = sizeof groups / sizeof *groups };

/* Half windows that are tried for boxes, frames. */
static const double tried[] = {2, 3, 4, 5, 6, 8, 11, 15, 21, 30};
enum { TRIED = sizeof tried / sizeof *tried };
#define SAMPLES  20000 /* of sightings that windows are chosen by, about */
#define ENOUGH   200.0 /* with fewer of them the usual window is taken … */
#define USUAL    0.17  /* … s to each side */
#define MOST_OFF 0.25  /* sides: what is farther off counts as so far; it was no jitter */

#define SHARES   8     /* cores that share a video's tracks, most */
#define SHARED   20000 /* detections a core, or it is not worth waking */

typedef struct spot {
    int64_t frame, detection; /* detection: among all of the video */
    double weight;
    double values[VALUES]; /* angles go on beyond 2 pi */
} spot;

/* Of each detection its track and whether its heading is turned by pi; how many tracks. */
typedef struct tracks_of {
    const int32_t *track;
    const uint8_t *turned;
    int32_t tracks;
} tracks_of;

/* The last sightings of one track; `next` is the first one that was not looked at yet. */
typedef struct strip {
    spot items[WINDOW];
    int32_t count, next;
} strip;

typedef struct smoothing {
    double half[GROUPS]; /* frames to each side; 0: as it is */
    double widest;
    sk_smoothed *out; /* null: windows are compared */
    int64_t each, seen;
    double errors[GROUPS][TRIED], samples;
} smoothing;

void sk_smoothed_apply(const sk_smoothed *smoothed, const sk_smooth_settings *settings, const sk_detection *d,
                       sk_sighting *s)
{
    if (settings->frames > 0) {
        s->x += smoothed->dx;
        s->y += smoothed->dy;
        s->heading = fmod(s->heading + smoothed->turn + 4 * M_PI, 2 * M_PI);
    }
    if (!settings->boxes || d->pointed)
        return;
    double values[SK_STEADY_VALUES];
    for (int i = 0; i < SK_STEADY_VALUES; i++)
        values[i] = smoothed->box[i];
    s->box = sk_box_from_values(values, !d->upright);
}

/* The parabola's values at `at`: weighted least squares in time around it. False: there are too few. `own`: by how much its own
 * value counts, 0 … 1. */
static bool parabola(const strip *s, int32_t at, double half, bool soft, const int group[2], double *out,
                     double *own)
{
    double m[5] = {0}, r[VALUES][3] = {{0}};
    int32_t n = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const double t = (double)(s->items[i].frame - s->items[at].frame), far = fabs(t);
        if (far > half)
            continue;
        const double part = far / (half + 1), fade = 1 - part * part * part;
        double power = soft ? s->items[i].weight * fade * fade * fade : 1;
        n++;
        for (int k = 0; k < 5; k++, power *= t) {
            m[k] += power;
            for (int v = group[0]; k < 3 && v < group[1]; v++)
                r[v][k] += power * s->items[i].values[v];
        }
    }
    const double c0 = m[2] * m[4] - m[3] * m[3], c1 = m[1] * m[4] - m[2] * m[3],
                 c2 = m[1] * m[3] - m[2] * m[2];
    const double whole = m[0] * c0 - m[1] * c1 + m[2] * c2;
    if (n < 4 || !(fabs(whole) > 1e-9))
        return false;
    for (int v = group[0]; v < group[1]; v++)
        out[v] = (r[v][0] * c0 - m[1] * (r[v][1] * m[4] - m[3] * r[v][2]) +
                  m[2] * (r[v][1] * m[3] - m[2] * r[v][2])) /
                 whole;
    *own = (soft ? s->items[at].weight : 1) * c0 / whole;
    return true;
}

static void smooth_one(const smoothing *w, const strip *s, int32_t at)
{
    const spot *now = &s->items[at];
    double values[VALUES], own;
    for (int v = 0; v < VALUES; v++)
        values[v] = now->values[v];
    for (int g = 0; g < GROUPS; g++)
        if (w->half[g] > 0)
            (void)parabola(s, at, w->half[g], g > 0, groups[g], values, &own);
    sk_smoothed *out = &w->out[now->detection];
    *out = (sk_smoothed){(float)(values[0] - now->values[0]),
                         (float)(values[1] - now->values[1]),
                         (float)(values[2] - now->values[2]),
                         {0}};
    for (int v = BOX; v < VALUES; v++) {
        const bool side = v >= BOX + 2 && (v < BOX + 4 || v >= BOX + 6); /* the angle is written anew */
        out->box[v - BOX] = (float)(side ? fmax(values[v], 1e-3) : values[v]);
    }
    out->box[VALUES - 1 - BOX] = (float)fmod(values[VALUES - 1], 2 * M_PI);
}

/* How well each window tells this sighting from those around it. */
static void compare(smoothing *w, const strip *s, int32_t at)
{
    const spot *now = &s->items[at];
    const double *box = now->values + BOX;
    const double sides[GROUPS][2] = {{1, 1},           {box[2], box[3]}, {box[2], box[3]},
                                     {box[2], box[3]}, {box[6], box[7]}, {1, 1}};
    double errors[GROUPS][TRIED] = {{0}};
    for (int k = 0; k < TRIED; k++) {
        double values[VALUES], own;
        if (!parabola(s, at, tried[k], true, (const int[]){groups[1][0], VALUES}, values, &own) || own > 0.95)
            return; /* what the narrowest cannot tell is no comparison */
        for (int g = 1; g < GROUPS; g++)
            for (int v = groups[g][0]; v < groups[g][1]; v++) {
                const double off = (values[v] - now->values[v]) / (1 - own) / sides[g][v - groups[g][0]];
                errors[g][k] += now->weight * fmin(off * off, MOST_OFF * MOST_OFF);
            }
    }
    for (int k = 0; k < TRIED; k++)
        for (int g = 0; g < GROUPS; g++)
            w->errors[g][k] += errors[g][k];
    w->samples += 1;
}

/* Looks at what has its whole window (or all that is left of the track) and forgets what nobody needs any more. */
static void advance(smoothing *w, strip *s, bool end)
{
    const double half = w->widest;
    while (s->next < s->count && (end || s->count == WINDOW ||
                                  (double)(s->items[s->count - 1].frame - s->items[s->next].frame) > half)) {
        if (w->out)
            smooth_one(w, s, s->next);
        else if (w->seen++ % w->each == 0)
            compare(w, s, s->next);
        s->next++;
        if (s->count == WINDOW)
            break;
    }
    int32_t gone = 0;
    while (gone < s->next &&
           (s->count - gone == WINDOW ||
            (s->next < s->count && (double)(s->items[s->next].frame - s->items[gone].frame) > half)))
        gone++;
    for (int32_t i = gone; gone && i < s->count; i++)
        s->items[i - gone] = s->items[i];
    s->count -= gone;
    s->next -= gone;
}

static void add(smoothing *w, strip *s, const sk_stored_frame *f, int32_t i, bool turned)
{
    const sk_detection *d = &f->detections[i];
    const spot *before = s->count ? &s->items[s->count - 1] : NULL;
    spot *now = &s->items[s->count];
    const double worse = sk_score_worse(d->score);
    now->frame = f->frame;
    now->detection = f->first + i;
    now->weight = 1 / (worse * worse);
    now->values[PLACE] = d->x;
    now->values[PLACE + 1] = d->y;
    now->values[HEADING] = sk_heading_of(d, turned);
    if (before)
        now->values[HEADING] +=
            2 * M_PI * round((before->values[HEADING] - now->values[HEADING]) / (2 * M_PI));
    sk_box_values(d, before ? before->values + BOX : NULL, now->values + BOX);
    s->count++;
    advance(w, s, false);
}

/* Every `parts`-th track from `part` on. */
static sk_status pass(smoothing *w, sk_seen_store *store, const tracks_of *of, int32_t part, int32_t parts,
                      sk_error *err)
{
    const int64_t n = sk_seen_store_frames(store);
    const int32_t mine = (of->tracks - part + parts - 1) / parts;
    strip *strips = sk_calloc((size_t)mine, sizeof *strips);
    sk_status status = strips ? SK_OK : sk_fail_memory(err, (size_t)mine * sizeof *strips);
    for (int64_t at = 0; at < n && status == SK_OK; at++) {
        sk_stored_frame f;
        status = sk_seen_store_read(store, at, &f, err);
        for (int32_t i = 0; status == SK_OK && i < f.n; i++) {
            const int32_t track = of->track[f.first + i];
            if (track >= 0 && track % parts == part)
                add(w, &strips[track / parts], &f, i, of->turned[f.first + i]);
        }
    }
    for (int32_t i = 0; i < mine && status == SK_OK; i++)
        advance(w, &strips[i], true);
    sk_free(strips);
    return status;
}

/* Tracks do not know of each other: once windows are chosen, cores share them. */
typedef struct sharing {
    const smoothing *how;
    const tracks_of *of;
    struct share {
        sk_seen_store *frames;
        sk_status status;
        sk_error err;
    } shares[SHARES];
} sharing;

static void smooth_share(void *context, int32_t part, int32_t parts)
{
    sharing *all = context;
    struct share *own = &all->shares[part];
    smoothing w = *all->how;
    own->status = pass(&w, own->frames, all->of, part, parts, &own->err);
}

static sk_status smooth_all(const smoothing *w, sk_seen_store *store, const tracks_of *of, sk_error *err)
{
    const int64_t few = sk_seen_store_detections(store) / SHARED;
    const int32_t cores = sk_cpu_usable_cores() < SHARES ? sk_cpu_usable_cores() : SHARES;
    const int32_t n = few < cores ? (int32_t)few + 1 : cores;
    sk_pool_settings how = sk_pool_defaults();
    sk_pool *pool = NULL;
    sk_status status = SK_OK;
    sharing *all = sk_calloc(1, sizeof *all);
    if (!all)
        return sk_fail_memory(err, sizeof *all);
    all->how = w;
    all->of = of;
    how.threads = n;
    how.spin_us = 0;
    for (int32_t i = 0; i < n; i++)
        SK_TRY_GOTO(sk_seen_store_reader(store, &all->shares[i].frames, err));
    SK_TRY_GOTO(sk_pool_open(&how, &pool, err));
    sk_pool_run(pool, smooth_share, all, n);
    sk_pool_close(&pool);
    for (int32_t i = 0; i < n && status == SK_OK; i++)
        if ((status = all->shares[i].status) != SK_OK && err)
            *err = all->shares[i].err;
done:
    for (int32_t i = 0; i < n; i++)
        sk_seen_store_close(&all->shares[i].frames);
    sk_free(all);
    return status;
}

static void choose(smoothing *w, double fps)
{
    w->widest = 0;
    for (int g = 1; g < GROUPS; g++) {
        int best = 0;
        for (int k = 1; k < TRIED; k++)
            best = w->errors[g][k] < w->errors[g][best] ? k : best;
        w->half[g] = w->samples >= ENOUGH ? tried[best] : fmin(fmax(round(USUAL * fps), 2), 30);
    }
}

sk_status sk_smooth(sk_seen_store *store, const int32_t *track, const uint8_t *turned, int32_t tracks,
                    const sk_smooth_settings *settings, sk_smoothed **out, sk_error *err)
{
    const double asked = fmin(settings->frames / 2, WINDOW / 2 - 1);
    smoothing w = {.widest = tried[TRIED - 1], .each = 1 + sk_seen_store_detections(store) / SAMPLES};
    const tracks_of of = {track, turned, tracks};
    if (settings->boxes && !(asked > 0)) {
        SK_TRY(pass(&w, store, &of, 0, 1, err));
        choose(&w, settings->fps);
    }
    for (int g = 0; g < GROUPS; g++) {
        if (asked > 0)
            w.half[g] = asked;
        w.widest = g ? fmax(w.widest, w.half[g]) : w.half[g];
    }
    w.out = sk_seen_store_column(store, sizeof *w.out, err);
    *out = w.out;
    return w.out ? smooth_all(&w, store, &of, err) : err ? err->code : SK_ERR_MEMORY;
}
