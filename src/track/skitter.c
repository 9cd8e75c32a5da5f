/* SPDX-License-Identifier: Apache-2.0 */
#include "track/kind.h"

#include "base/memory.h"
#include "tasks/assignment.h"

#include <math.h>

/* The tracker of our own. */

#define TAU 6.28318530717958647692

typedef struct follower {
    int32_t track, place, seen, missed;
    double x, y, vx, vy, heading;
    double major, minor, angle;
    double certainty, variance;
    int32_t detection;
    double score;
} follower;

typedef struct state {
    sk_track_settings settings;
    follower *tracks;
    int32_t n, next_track;
    size_t capacity, sightings_capacity, cost_capacity, match_capacity, used_capacity;
    sk_sighting *sightings;
    double *cost;
    int32_t *match;
    uint8_t *used;
    sk_assignment *solver;
    int32_t solver_rows, solver_cols;
} state;

static sk_status open(const sk_track_settings *settings, void **out, sk_error *err)
{
    state *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->settings = *settings;
    *out = s;
    return SK_OK;
}

static void close(void *opaque)
{
    state *s = opaque;
    if (!s)
        return;
    sk_free(s->tracks);
    sk_free(s->sightings);
    sk_free(s->cost);
    sk_free(s->match);
    sk_free(s->used);
    sk_assignment_close(&s->solver);
    sk_free(s);
}

#define RESERVE(field, capacity, wanted)                                                                     \
    do {                                                                                                     \
        void *block_ = (field);                                                                              \
        SK_TRY(sk_array_reserve(&block_, &(capacity), (size_t)(wanted), sizeof *(field), (size_t)1 << 32,    \
                                err));                                                                       \
        (field) = block_;                                                                                    \
    } while (0)

static sk_status reserve(state *s, int32_t n, sk_error *err)
{
    const int32_t rows = s->n > 0 ? s->n : 1, cols = n > 0 ? n : 1;
    if (rows > 16384 || cols > 16384)
        return sk_fail(err, SK_ERR_LIMIT, "%d tracks and %d detections are more than the tracker can pair",
                       rows, cols);
    RESERVE(s->tracks, s->capacity, s->n + n);
    RESERVE(s->sightings, s->sightings_capacity, s->n + n);
    RESERVE(s->cost, s->cost_capacity, (size_t)rows * (size_t)cols);
    RESERVE(s->match, s->match_capacity, rows);
    RESERVE(s->used, s->used_capacity, (size_t)cols + (size_t)rows + (size_t)n);
    if (!s->solver || rows > s->solver_rows || cols > s->solver_cols) {
        sk_assignment_close(&s->solver);
        s->solver_rows = rows > s->solver_rows ? rows * 2 : s->solver_rows;
        s->solver_cols = cols > s->solver_cols ? cols * 2 : s->solver_cols;
        s->solver_rows = s->solver_rows > 16384 ? 16384 : s->solver_rows;
        s->solver_cols = s->solver_cols > 16384 ? 16384 : s->solver_cols;
        SK_TRY(sk_assignment_open(s->solver_rows, s->solver_cols, &s->solver, err));
    }
    return SK_OK;
}

static double axis_difference(double a, double b)
{
    double d = fmod(fabs(a - b), TAU / 2);
    return d > TAU / 4 ? TAU / 2 - d : d;
}

static double cost_of(const state *s, const follower *t, const sk_detection *d)
{
    const double body = s->settings.body > 0 ? s->settings.body : t->major;
    const double far = hypot(d->x - t->x, d->y - t->y) / body;
    if (far > s->settings.life.gate * fmin(1 + 0.25 * t->missed, 3))
        return INFINITY;
    const sk_track_weights *w = &s->settings.weights;
    return w->position * far + w->heading * axis_difference(t->angle, d->angle) / 2 +
           w->area * fabs(log(d->major * d->minor / (t->major * t->minor)));
}

static void correct(follower *t, const sk_detection *d, int32_t index, double passed)
{
    const double gain = 0.4;
    t->vx += gain * (d->x - t->x) / passed;
    t->vy += gain * (d->y - t->y) / passed;
    t->x = d->x;
    t->y = d->y;
    t->major = d->major;
    t->minor = d->minor;
    t->angle = d->angle;
    const double hx = cos(t->heading), hy = sin(t->heading);
    double heading = d->directed ? d->heading : d->angle;
    if (!d->directed && hx * cos(heading) + hy * sin(heading) < 0)
        heading += TAU / 2;
    t->heading = heading >= TAU ? heading - TAU : heading;
    t->detection = index;
    t->score = d->score;
    t->missed = 0;
    t->variance = 1;
    t->seen++;
}

static int32_t free_place(const state *s)
{
    int32_t place = 0;
    for (int32_t i = 0; i < s->n; i++)
        if (s->tracks[i].place == place) { /* tracks lie in the order of their places */
            place++;
        }
    return place;
}

static void begin(state *s, const sk_detection *d, int32_t index)
{
    const int32_t place = free_place(s);
    int32_t at = s->n++;
    for (; at > 0 && s->tracks[at - 1].place > place; at--)
        s->tracks[at] = s->tracks[at - 1];
    s->tracks[at] =
        (follower){.track = s->next_track++, .place = place, .x = d->x, .y = d->y, .certainty = 1};
    correct(&s->tracks[at], d, index, 1);
    s->tracks[at].vx = s->tracks[at].vy = 0;
}

static sk_status step(void *opaque, int64_t frame, double passed, const sk_detection *detections, int32_t n,
                      sk_sighting **out, int32_t *n_out, sk_error *err)
{
    state *s = opaque;
    const sk_track_life *life = &s->settings.life;
    SK_TRY(reserve(s, n, err));
    for (int32_t i = 0; i < s->n; i++) {
        follower *t = &s->tracks[i];
        t->x += t->vx * passed;
        t->y += t->vy * passed;
        t->vx *= s->settings.motion.damping;
        t->vy *= s->settings.motion.damping;
        t->detection = -1;
        t->variance += 1;
        for (int32_t j = 0; j < n; j++)
            s->cost[(size_t)i * (size_t)n + (size_t)j] = cost_of(s, t, &detections[j]);
    }
    for (int32_t j = 0; j < n; j++)
        s->used[j] = 0;
    sk_assignment_solve(s->solver, s->cost, s->n, n, s->match);
    for (int32_t i = 0; i < s->n; i++) {
        const int32_t j = s->match[i];
        if (j < 0) {
            s->tracks[i].missed++;
            s->tracks[i].score = NAN;
            continue;
        }
        s->used[j] = 1;
        s->tracks[i].certainty = exp(-s->cost[(size_t)i * (size_t)n + (size_t)j]);
        correct(&s->tracks[i], &detections[j], j, passed);
    }
    int32_t left = 0;
    const double covered = round(life->covered * s->settings.fps), lost = round(life->lost * s->settings.fps);
    for (int32_t i = 0; i < s->n; i++)
        if (s->settings.animals > 0 || s->tracks[i].missed <= covered + lost)
            s->tracks[left++] = s->tracks[i];
    s->n = left;
    for (int32_t j = 0; j < n; j++)
        if (!s->used[j] && detections[j].score >= life->birth &&
            (s->settings.animals == 0 || s->n < s->settings.animals))
            begin(s, &detections[j], j);
    int32_t told = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const follower *t = &s->tracks[i];
        const sk_track_state now = !t->missed             ? SK_TRACK_ACTIVE
                                   : t->missed <= covered ? SK_TRACK_COVERED
                                                          : SK_TRACK_LOST;
        if ((now == SK_TRACK_COVERED && !s->settings.tell_covered) ||
            (now == SK_TRACK_LOST && !s->settings.tell_lost))
            continue;
        s->sightings[told++] = (sk_sighting){.frame = frame,
                                             .track = t->track,
                                             .place = t->place,
                                             .detection = t->detection,
                                             .state = now,
                                             .x = t->x,
                                             .y = t->y,
                                             .heading = t->heading,
                                             .major = t->major,
                                             .minor = t->minor,
                                             .angle = t->angle,
                                             .score = t->score,
                                             .certainty = t->missed ? 0 : t->certainty,
                                             .uncertainty = sqrt(t->variance)};
    }
    *out = s->sightings;
    *n_out = told;
    return SK_OK;
}

const sk_tracker_kind sk_tracker_skitter = {"skitter", open, step, close};
