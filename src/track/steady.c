/* SPDX-License-Identifier: Apache-2.0 */
#include "track/steady.h"

#include "base/memory.h"
#include "track/boxes.h"
#include "track/follower.h"

#include <math.h>

enum { LEVELS = SK_STEADY_LEVELS, VALUES = SK_STEADY_VALUES };
enum { ACROSS, DOWN, LONG, SHORT }; /* spreads: by which side of the box */

/* How wildly speeds change: their variance a frame at 30 frames a second, bodies², of a detection's, sides². */
static const double levels[LEVELS] = {0.03, 0.12, 0.6, 12};
#define LEVEL_AT_FIRST 1

static const struct {
    uint8_t spread, group;
} kinds[VALUES] = {{ACROSS, 0}, {DOWN, 0}, {ACROSS, 1}, {DOWN, 1}, {ACROSS, 2},
                   {DOWN, 2},   {LONG, 3}, {SHORT, 3},  {LONG, 4}};
enum { UPRIGHT = 4, CENTRE = 4, SIDES = 6, ANGLE = 8 }; /* values: how many are upright; of the turned box */

#define FORGET    0.995 /* of the errors, a frame */
#define LOOKS     100.0 /* before anything is chosen */
#define MOST_OFF  0.25  /* sides: larger errors count as so large; it was no jitter */
#define ROUND     1.3   /* aspect below which the long side may be the other one */
#define TURNED_BY 0.6   /* radians: more is another look, not a turn */
#define GAP       0.67  /* s: unseen for longer begins anew */

void sk_steady_close(sk_steady *s)
{
    sk_free(s->tracks);
    *s = (sk_steady){0};
}

void sk_box_values(const sk_detection *d, const double *like, double *v)
{
    v[0] = (d->box[0] + d->box[2]) / 2;
    v[1] = (d->box[1] + d->box[3]) / 2;
    v[2] = d->box[2] - d->box[0];
    v[3] = d->box[3] - d->box[1];
    v[4] = d->x;
    v[5] = d->y;
    v[6] = d->major;
    v[7] = d->minor;
    v[8] = d->angle;
    if (!like)
        return;
    if (d->major < ROUND * d->minor) {
        sk_box box = {.w = d->major, .h = d->minor, .angle = d->angle};
        const sk_box before = {.w = like[6], .h = like[7], .angle = like[8]};
        sk_box_align(&box, &before);
        v[6] = box.w;
        v[7] = box.h;
        v[8] = box.angle;
    } else {
        v[8] += SK_PI_D * round((like[8] - v[8]) / SK_PI_D);
    }
}

sk_told_box sk_box_from_values(const double *v, bool turned)
{
    sk_told_box box = {.upright = {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2}};
    const double *t = turned ? v + 4 : v; /* upright ones: their own sides, not turned */
    const double angle = turned ? v[8] : 0;
    const bool swap = t[2] < t[3];
    box.turned[0] = t[0];
    box.turned[1] = t[1];
    box.turned[2] = swap ? t[3] : t[2];
    box.turned[3] = swap ? t[2] : t[3];
    box.turned[4] = sk_angle_axis(angle + (swap ? SK_PI_D / 2 : 0));
    return box;
}

/* Has it all that can be filtered? */
static bool has_box(const sk_detection *d)
{
    return !d->pointed && d->box[2] > d->box[0] && d->box[3] > d->box[1];
}

static void begin_values(sk_steady_track *t, const double *values, int from, int to)
{
    for (int i = from; i < to; i++)
        for (int k = 0; k < LEVELS; k++) {
            t->at[i][k] = values[i];
            t->speed[i][k] = 0;
        }
}

static void begin(sk_steady_track *t, const double *values, bool turned, const double *level)
{
    t->begun = true;
    t->turned = turned;
    t->body = hypot(values[2], values[3]);
    begin_values(t, values, 0, VALUES);
    for (int i = 0; i < SK_STEADY_SPREADS; i++)
        for (int k = 0; k < LEVELS; k++) {
            t->spread[i].place[k] = 1;
            t->spread[i].both[k] = 0;
            t->spread[i].speed[k] = 10 * level[k];
        }
}

/* n frames later: place += n speed, speed *= damping. */
static void spread_out(sk_steady_spread *s, const double *level, double wilder, double n, double damping)
{
    for (int k = 0; k < LEVELS; k++) {
        const double q = level[k] * wilder;
        s->place[k] += 2 * n * s->both[k] + n * n * s->speed[k] + q * n * n * n / 3;
        s->both[k] = damping * (s->both[k] + n * s->speed[k] + q * n * n / 2);
        s->speed[k] = damping * damping * (s->speed[k] + q * n);
    }
}

/* A look `n` frames after the last; `doubt`: variance of its measurement, of a good one's. Squared errors are added to `errors`. */
static void correct(sk_steady_track *t, const double *values, const double *sides, double n, double damping,
                    double doubt, double (*errors)[LEVELS])
{
    const int count = t->turned ? VALUES : UPRIGHT;
    double gain[SK_STEADY_SPREADS][LEVELS], push[SK_STEADY_SPREADS][LEVELS];
    for (int i = 0; i < SK_STEADY_SPREADS; i++) {
        sk_steady_spread *s = &t->spread[i];
        for (int k = 0; k < LEVELS; k++) {
            const double whole = 1 / (s->place[k] + doubt);
            gain[i][k] = s->place[k] * whole;
            push[i][k] = s->both[k] * whole;
            s->speed[k] -= push[i][k] * s->both[k];
            s->both[k] -= gain[i][k] * s->both[k];
            s->place[k] -= gain[i][k] * s->place[k];
        }
    }
    for (int i = 0; i < count; i++) {
        const int spread = kinds[i].spread;
        const double unit = i == ANGLE ? 1 : 1 / (sides[spread] * sides[spread]);
        double *at = t->at[i], *speed = t->speed[i], *error = errors[kinds[i].group];
        for (int k = 0; k < LEVELS; k++) {
            const double off = values[i] - (at[k] + n * speed[k]), square = off * off * unit / doubt;
            at[k] = values[i] - (1 - gain[spread][k]) * off;
            speed[k] = damping * speed[k] + push[spread][k] * off;
            error[k] += square < MOST_OFF * MOST_OFF ? square : MOST_OFF * MOST_OFF;
        }
    }
}

static void look(sk_steady *s, sk_steady_track *t, const sk_track_settings *settings, const sk_detection *d)
{
    const double n = s->clock - t->last, slower = 30 / settings->fps;
    double values[VALUES], like[VALUES], level[LEVELS], unused[SK_STEADY_GROUPS][LEVELS] = {{0}};
    const bool turned = !d->upright;
    for (int k = 0; k < LEVELS; k++)
        level[k] = levels[k] * slower * slower * slower;
    t->last = s->clock;
    for (int i = 0; i < VALUES; i++)
        like[i] = t->at[i][s->best[kinds[i].group]] + n * t->speed[i][s->best[kinds[i].group]];
    sk_box_values(d, t->begun && t->turned ? like : NULL, values);
    if (!t->begun || n > GAP * settings->fps || turned != t->turned) {
        begin(t, values, turned, level);
        return;
    }
    if (turned && fabs(values[ANGLE] - like[ANGLE]) > TURNED_BY)
        begin_values(t, values, SIDES, VALUES);
    const double sides[SK_STEADY_SPREADS] = {values[2], values[3], d->major, d->minor};
    const double damping = pow(settings->motion.damping, n * 25 / settings->fps);
    const double worse = sk_score_worse(d->score);
    for (int i = 0; i < SK_STEADY_SPREADS; i++) {
        const double wilder = t->body / sides[i];
        spread_out(&t->spread[i], level, fmin(wilder * wilder, 400), n, damping);
    }
    t->body += 0.2 * (hypot(values[2], values[3]) - t->body);
    correct(t, values, sides, n, damping, worse * worse, n < 1.5 ? s->errors : unused);
    s->looks += n < 1.5;
}

static sk_told_box told(const sk_steady *s, const sk_steady_track *t)
{
    double values[VALUES];
    const double n = s->clock - t->last;
    for (int i = 0; i < VALUES; i++) {
        const int32_t k = s->best[kinds[i].group];
        values[i] = t->at[i][k] + n * t->speed[i][k];
    }
    for (int i = 0; i < 2; i++) { /* a box has sides */
        values[2 + i] = fmax(values[2 + i], 1e-3);
        values[SIDES + i] = fmax(values[SIDES + i], 1e-3);
    }
    return sk_box_from_values(values, t->turned);
}

static void choose(sk_steady *s, double passed)
{
    const double keep = pow(FORGET, passed);
    for (int g = 0; g < SK_STEADY_GROUPS; g++) {
        int32_t best = LEVEL_AT_FIRST;
        for (int32_t k = 0; k < LEVELS && s->looks >= LOOKS; k++)
            best = s->errors[g][k] < s->errors[g][best] ? k : best;
        s->best[g] = best;
        for (int k = 0; k < LEVELS; k++)
            s->errors[g][k] *= keep;
    }
    s->looks *= keep;
}

static sk_status reserve(sk_steady *s, const sk_sighting *sightings, int32_t n, sk_error *err)
{
    int32_t places = 0;
    for (int32_t i = 0; i < n; i++)
        places = sightings[i].place >= places ? sightings[i].place + 1 : places;
    const size_t before = s->capacity;
    void *tracks = s->tracks;
    SK_TRY(sk_array_reserve(&tracks, &s->capacity, (size_t)places, sizeof *s->tracks, (size_t)1 << 28, err));
    s->tracks = tracks;
    for (size_t i = before; i < s->capacity; i++)
        s->tracks[i] = (sk_steady_track){.track = -1};
    return SK_OK;
}

sk_status sk_steady_step(sk_steady *s, const sk_track_settings *settings, double passed,
                         const sk_detection *detections, sk_sighting *sightings, int32_t n, sk_error *err)
{
    SK_TRY(reserve(s, sightings, n, err));
    s->clock += passed;
    choose(s, passed);
    for (int32_t i = 0; i < n; i++) {
        sk_sighting *now = &sightings[i];
        sk_steady_track *t = &s->tracks[now->place];
        const sk_detection *d = now->detection >= 0 ? &detections[now->detection] : NULL;
        if (t->track != now->track) {
            t->track = now->track;
            t->begun = false;
            t->classes = (sk_votes){0};
        }
        if (d)
            sk_votes_add(&t->classes, d->class_id, d->score);
        now->class_id = sk_votes_best(&t->classes);
        if (settings->steady && d && has_box(d))
            look(s, t, settings, d);
        if (settings->steady && t->begun && (!d || has_box(d)))
            now->box = told(s, t);
        else
            now->box =
                d ? sk_told_box_of(d) : sk_told_box_make(now->x, now->y, now->major, now->minor, now->angle);
    }
    return SK_OK;
}
