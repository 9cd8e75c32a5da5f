/* SPDX-License-Identifier: Apache-2.0 */
#include "track/track.h"

#include "base/memory.h"
#include "base/order.h"
#include "track/counted.h"
#include "track/extent.h"
#include "track/filter.h"
#include "track/kind.h"
#include "track/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const sk_tracker_kind *const kinds[] = {&sk_tracker_skitter, &sk_tracker_bytetrack,
                                               &sk_tracker_ocsort};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Cameras that give an image a second, bags at half a hertz: life times and motion are in seconds, and yet a track must live for
 * some looks, and an animal is looked for near where it was. So what is slower than this counts as being as slow as this; no video
 * is. */
#define SLOW_LOOK 0.2 /* s from one look to the next */
#define PACES     9   /* looks that tell how far they are apart, usually */

struct sk_tracker {
    const sk_tracker_kind *kind;
    void *state;
    sk_track_settings settings;
    int32_t *kept; /* indices of the detections that pass the filters */
    sk_detection *passed;
    size_t kept_capacity, passed_capacity;
    sk_steady steady;
    sk_extents extents;  /* of animals that are known by keypoints alone */
    sk_counted counted;  /* of a method that does not know of a fixed number */
    double paces[PACES]; /* frames by the clock before the last looks, in a ring */
    int32_t n_paces;
    bool begun;
    int64_t frame;
    double time;
};

bool sk_track_method_counts(const char *method)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, method) == 0)
            return kinds[i]->counts;
    return false;
}

const char *const *sk_track_methods(void)
{
    static const char *names[KINDS + 1];
    for (int i = 0; i < KINDS; i++)
        names[i] = kinds[i]->name;
    return names;
}

static sk_status check(const sk_track_settings *s, sk_error *err)
{
    const struct {
        const char *name;
        double value, least, most;
    } rules[] = {
        {"fps", s->fps, 0, 1e6},
        {"body", s->body, 0, 1e6},
        {"steady", s->steady, 0, 1},
        {"animals", s->animals, 0, SK_TRACK_MOST},
        {"filter.score", s->filter.score, 0, 1e6},
        {"filter.area_least", s->filter.area_least, 0, 1e12},
        {"filter.area_most", s->filter.area_most, 0, 1e12},
        {"filter.aspect_least", s->filter.aspect_least, 0, 1e9},
        {"filter.aspect_most", s->filter.aspect_most, 0, 1e9},
        {"filter.overlap", s->filter.overlap, 0, 1},
        {"filter.most", s->filter.most, 0, SK_TRACK_MOST},
        {"motion.process_noise", s->motion.process_noise, 0, 1e6},
        {"motion.longitudinal_noise", s->motion.longitudinal_noise, 0, 1e6},
        {"motion.lateral_noise", s->motion.lateral_noise, 0, 1e6},
        {"motion.measurement_noise", s->motion.measurement_noise, 0, 1e6},
        {"motion.damping", s->motion.damping, 0, 1},
        {"motion.maturity", s->motion.maturity, 0, 1e6},
        {"motion.young_retention", s->motion.young_retention, 0, 1},
        {"motion.most_speed", s->motion.most_speed, 0, 1e6},
        {"weights.position", s->weights.position, 0, 1e6},
        {"weights.heading", s->weights.heading, 0, 1e6},
        {"weights.overlap", s->weights.overlap, 0, 1e6},
        {"weights.area", s->weights.area, 0, 1e6},
        {"weights.aspect", s->weights.aspect, 0, 1e6},
        {"weights.pose", s->weights.pose, 0, 1e6},
        {"weights.looks", s->weights.looks, 0, 1e6},
        {"weights.identity", s->weights.identity, 0, 1e6},
        {"life.gate", s->life.gate, 0, 1e6},
        {"life.strong", s->life.strong, 0, 1e6},
        {"life.birth", s->life.birth, 0, 1e6},
        {"life.start", s->life.start, 0, 1e6},
        {"life.covered", s->life.covered, 0, 1e6},
        {"life.lost", s->life.lost, 0, 1e9},
        {"life.recovery", s->life.recovery, 0, 1e6},
        {"life.apart", s->life.apart, 0, 1e6},
        {"boxes.strong", s->boxes.strong, 0, 1e6},
        {"boxes.match", s->boxes.match, 0, 0.9999},
        {"boxes.overlap", s->boxes.overlap, 0, 1},
        {"boxes.kept", s->boxes.kept, 0, 1e4},
        {"boxes.inertia", s->boxes.inertia, 0, 1e3},
        {"boxes.span", s->boxes.span, 1, 30},
        {"boxes.hits", s->boxes.hits, 0, 1e6},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!(rules[i].value >= rules[i].least && rules[i].value <= rules[i].most))
            return sk_fail(err, SK_ERR_ARG, "tracking: %s is %g; it must be between %g and %g", rules[i].name,
                           rules[i].value, rules[i].least, rules[i].most);
    return SK_OK;
}

sk_status sk_tracker_open(const sk_track_settings *settings, sk_tracker **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(settings && settings->method, err);
    SK_TRY(check(settings, err));
    const sk_tracker_kind *kind = NULL;
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, settings->method) == 0)
            kind = kinds[i];
    if (!kind)
        return sk_fail(err, SK_ERR_ARG, "there is no tracker \"%s\"", settings->method);
    sk_tracker *t = sk_calloc(1, sizeof *t);
    if (!t)
        return sk_fail_memory(err, sizeof *t);
    t->kind = kind;
    t->settings = *settings;
    t->settings.method = kind->name;
    if (t->settings.fps <= 0)
        t->settings.fps = 25;
    t->settings.fps = fmax(t->settings.fps, 1 / SLOW_LOOK);
    sk_status status = kind->open(&t->settings, &t->state, err);
    if (status == SK_OK && t->settings.animals > 0 && !kind->counts)
        status = sk_counted_open(t->settings.animals, t->settings.fps, &t->counted, err);
    if (status != SK_OK)
        sk_tracker_close(&t);
    *out = t;
    return status;
}

void sk_tracker_close(sk_tracker **tracker)
{
    if (!tracker || !*tracker)
        return;
    (*tracker)->kind->close((*tracker)->state);
    sk_free((*tracker)->kept);
    sk_free((*tracker)->passed);
    sk_counted_free(&(*tracker)->counted);
    sk_steady_close(&(*tracker)->steady);
    sk_free(*tracker);
    *tracker = NULL;
}

/* Frames since the last step: by the clock where it runs, else by the numbers. What is nearly whole is whole, so that a
 * video's rounded times do not matter. */
static double frames_passed(const sk_tracker *t, int64_t frame, double time)
{
    if (!t->begun)
        return 1;
    double passed = (double)(frame - t->frame);
    if (isfinite(time) && isfinite(t->time) && time > t->time)
        passed = (time - t->time) * t->settings.fps;
    const double whole = round(passed);
    if (whole >= 1 && fabs(passed - whole) < 0.25)
        passed = whole;
    return fmin(fmax(passed, 0.25), 1e9);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return SK_ORDER(x, y);
}

/* Of looks that are usually far apart (by the middle one of the last) the usual time counts as SLOW_LOOK, and others in proportion;
 * a pause of a video is a pause. */
static double at_its_pace(sk_tracker *t, double passed)
{
    double sorted[PACES];
    if (!t->begun)
        return passed;
    t->paces[t->n_paces++ % PACES] = passed;
    const int32_t n = t->n_paces < PACES ? t->n_paces : PACES;
    t->n_paces = t->n_paces == 2 * PACES ? PACES : t->n_paces;
    memcpy(sorted, t->paces, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    const double usual = sorted[(n - 1) / 2], slow = SLOW_LOOK * t->settings.fps;
    return usual > slow ? passed / usual * slow : passed;
}

sk_status sk_tracker_step(sk_tracker *t, int64_t frame, double time, const sk_detection *detections,
                          int32_t n, const sk_sighting **out, int32_t *n_out, sk_error *err)
{
    SK_CHECK_ARG(t && out && n_out && n >= 0 && (detections || n == 0), err);
    *out = NULL;
    *n_out = 0;
    if (n > SK_TRACK_MOST)
        return sk_fail(
            err, SK_ERR_LIMIT,
            "frame %lld has %d detections; at most %d can be followed. A higher score threshold helps",
            (long long)frame, n, SK_TRACK_MOST);
    if (t->begun && frame <= t->frame)
        return sk_fail(err, SK_ERR_ARG, "frame %lld comes after frame %lld: frames are tracked in order",
                       (long long)frame, (long long)t->frame);
    void *kept = t->kept, *passed = t->passed;
    SK_TRY(sk_array_reserve(&kept, &t->kept_capacity, (size_t)n, sizeof *t->kept, SK_TRACK_MOST * 2, err));
    t->kept = kept;
    SK_TRY(
        sk_array_reserve(&passed, &t->passed_capacity, (size_t)n, sizeof *t->passed, SK_TRACK_MOST * 2, err));
    t->passed = passed;
    const int32_t left = sk_track_filter_apply(&t->settings.filter, detections, n, t->kept);
    for (int32_t i = 0; i < left; i++)
        t->passed[i] = detections[t->kept[i]];
    sk_extents_even(&t->extents, t->passed, left);
    sk_sighting *sightings = NULL;
    const double since = at_its_pace(t, frames_passed(t, frame, time));
    SK_TRY(t->kind->step(t->state, frame, since, t->passed, left, &sightings, n_out, err));
    if (t->counted.animals)
        *n_out = sk_counted_step(&t->counted, since, sightings, *n_out);
    SK_TRY(sk_steady_step(&t->steady, &t->settings, since, t->passed, sightings, *n_out, err));
    for (int32_t i = 0; i < *n_out; i++)
        if (sightings[i].detection >= 0) {
            sightings[i].detection = t->kept[sightings[i].detection];
            sightings[i].score = detections[sightings[i].detection].score; /* as it was given */
        }
    *out = sightings;
    t->begun = true;
    t->frame = frame;
    t->time = time;
    return SK_OK;
}
