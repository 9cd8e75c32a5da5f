/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TRACK_RECORDED_SCENE_H
#define SK_TESTS_TRACK_RECORDED_SCENE_H

#include "support/recorded.h"
#include "track/track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Six animals that cross each other's ways for 90 frames, seen as detectors see: with noise, some not, some twice, some where
 * nobody is, heads taken for tails, one that leaves and comes back, one that is covered for long. */

enum { SCENE_FRAMES = 90, SCENE_ANIMALS = 6, SCENE_MOST = 16, SCENE_POINTS = 5 };

typedef enum scene_kind {
    SCENE_TURNED,
    SCENE_UPRIGHT,
    SCENE_POSED,         /* turned boxes with poses */
    SCENE_UPRIGHT_POSED, /* upright ones */
    SCENE_POINTED,       /* poses alone */
    SCENE_KNOWN, /* turned boxes of a class, of a model that tells who is who, with what they look like */
    SCENE_KINDS
} scene_kind;
static const char *const scene_names[] = {"turned", "upright", "posed", "upright_posed", "pointed", "known"};

typedef struct scene_frame {
    sk_detection found[SCENE_MOST];
    sk_keypoint points[SCENE_MOST][SCENE_POINTS];
    float looks[SCENE_MOST][SK_TRACK_LOOKS];
    int32_t n;
} scene_frame;

static inline void scene_add(scene_frame *out, scene_kind kind, int who, double x, double y, double way,
                             double score, unsigned *dice)
{
    const int32_t at = out->n++;
    sk_detection *d = &out->found[at];
    const double noise = who < 0 ? 0 : 1.5;
    const double c = cos(way), s = sin(way), size = 30 + 3 * (who < 0 ? 2 : who);
    *d = (sk_detection){.score = score, .class_id = -1, .identity = -1};
    double luck[5]; /* one after the other: arguments of a call have no order */
    for (int i = 0; i < 5; i++)
        luck[i] = recorded_chance(dice);
    d->x = x + noise * (luck[0] - 0.5);
    d->y = y + noise * (luck[1] - 0.5);
    sk_detection_set_oriented(d, size + noise * luck[2], size / 3 + noise * luck[3],
                              way + 0.1 * (luck[4] - 0.5));
    sk_detection_set_box(d);
    const bool flip = recorded_chance(dice) < 0.05;
    for (int i = 0; i < SCENE_POINTS; i++) {
        const double along = (flip ? i - 2 : 2 - i) * size / 5, across = 2 * (i % 2);
        sk_keypoint *p = &out->points[at][i];
        *p = (sk_keypoint){(float)(d->x + along * c - across * s), (float)(d->y + along * s + across * c),
                           (float)(0.5 + 0.5 * recorded_chance(dice))};
        if (recorded_chance(dice) < 0.06)
            *p = (sk_keypoint){NAN, NAN, 0};
    }
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        out->looks[at][i] = (float)(0.1 * recorded_chance(dice) + (i % 7 == (who + 7) % 7 ? 0.35 : 0.02));
    if (kind == SCENE_UPRIGHT || kind == SCENE_UPRIGHT_POSED) {
        sk_detection_set_oriented(d, d->box[2] - d->box[0], d->box[3] - d->box[1], 0);
        d->upright = true;
    }
    if (kind == SCENE_POSED || kind == SCENE_UPRIGHT_POSED || kind == SCENE_POINTED) {
        d->points = out->points[at];
        d->n_points = SCENE_POINTS;
    }
    if (kind == SCENE_POSED || kind == SCENE_KNOWN) {
        d->directed = true;
        d->heading = fmod(way + (flip ? 3.14159265358979 : 0) + 12.566370614359172, 6.283185307179586);
    }
    d->pointed = kind == SCENE_POINTED;
    if (kind == SCENE_KNOWN) {
        d->class_id = who < 0 ? 1 : who % 2;
        d->identity = recorded_chance(dice) < 0.7 ? (who + 6) % 6 : -1;
        d->identity_score = 0.4 + 0.6 * recorded_chance(dice);
        d->looks = out->looks[at];
    }
}

static inline void scene_make(scene_kind kind, int frame, scene_frame *out)
{
    unsigned dice = 9000u + 77u * (unsigned)frame;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < SCENE_ANIMALS; k++) {
        const int who = (k + frame / 7) % SCENE_ANIMALS; /* not always in one order */
        const double t = 0.045 * frame + 1.1 * who, x = 200 + 130 * cos(t + 0.3 * who) + 12 * who,
                     y = 150 + 90 * sin(2 * t) + 9 * who;
        const double dx = -130 * sin(t + 0.3 * who), dy = 180 * cos(2 * t);
        const double luck = recorded_chance(&dice);
        const double score = 0.45 + 0.5 * recorded_chance(&dice);
        if (luck < 0.07 || (who == 1 && frame >= 30 && frame < 37) ||
            (who == 4 && frame >= 40 && frame < 66) || (who == 2 && frame % 45 < 4))
            continue;
        scene_add(out, kind, who, x, y, atan2(dy, dx), score, &dice);
        if (luck > 0.95) /* twice */
            scene_add(out, kind, who, x + 2, y - 1, atan2(dy, dx) + 0.2, score * 0.8, &dice);
    }
    if (recorded_chance(&dice) < 0.25) {
        double chances[4];
        for (int i = 0; i < 4; i++)
            chances[i] = recorded_chance(&dice);
        scene_add(out, kind, -1, 400 * chances[0], 300 * chances[1], 3 * chances[2], 0.15 + 0.6 * chances[3],
                  &dice);
    }
}

/* What was told, in few numbers a stretch of frames. */
typedef struct scene_told {
    recorded_sum who, place, axes, sizes, score, certainty, uncertainty, box;
    int count;
} scene_told;

static inline void scene_note(scene_told *t, const sk_sighting *s)
{
    t->count++;
    recorded_add(&t->who, (double)s->track + 0.1 * s->place + 0.01 * s->detection + 7 * (int)s->state +
                              0.37 * s->class_id + 0.001 * (double)s->frame);
    recorded_add(&t->place, s->x);
    recorded_add(&t->place, s->y);
    recorded_add(&t->axes, s->heading);
    recorded_add(&t->axes, s->angle);
    recorded_add(&t->sizes, s->major);
    recorded_add(&t->sizes, s->minor);
    recorded_add(&t->score, s->score);
    recorded_add(&t->certainty, s->certainty);
    recorded_add(&t->uncertainty, s->uncertainty);
    for (int i = 0; i < 4; i++)
        recorded_add(&t->box, s->box.upright[i]);
    for (int i = 0; i < 5; i++)
        recorded_add(&t->box, s->box.turned[i]);
}

static inline void scene_say(scene_told *t, const char *what, int frame)
{
    recorded_say("%s to %d: %d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g", what, frame, t->count, t->who.sum,
                 t->place.sum, t->axes.sum, t->sizes.sum, t->score.sum, t->certainty.sum, t->uncertainty.sum,
                 t->box.sum);
    *t = (scene_told){0};
}

/* Every setting of the tracker with another value than the usual one. */
typedef struct scene_setting {
    const char *name;
    size_t offset;
    bool whole; /* an int32_t */
    double value;
} scene_setting;
#define SCENE_SETTING(field, value)                                                                          \
    {                                                                                                        \
#field, offsetof(sk_track_settings, field), false, value                                             \
    }
#define SCENE_WHOLE(field, value)                                                                            \
    {                                                                                                        \
#field, offsetof(sk_track_settings, field), true, value                                              \
    }

static const scene_setting scene_settings[] = {
    SCENE_SETTING(fps, 30),
    SCENE_SETTING(body, 38),
    SCENE_WHOLE(animals, 6),
    SCENE_WHOLE(animals, 3),
    SCENE_WHOLE(steady, 0),
    SCENE_SETTING(filter.score, 0.5),
    SCENE_SETTING(filter.area_least, 400),
    SCENE_SETTING(filter.area_most, 600),
    SCENE_SETTING(filter.aspect_least, 2.9),
    SCENE_SETTING(filter.aspect_most, 3.1),
    SCENE_SETTING(filter.overlap, 0.3),
    SCENE_WHOLE(filter.most, 4),
    SCENE_SETTING(motion.process_noise, 0.3),
    SCENE_SETTING(motion.longitudinal_noise, 1),
    SCENE_SETTING(motion.lateral_noise, 2),
    SCENE_SETTING(motion.measurement_noise, 0.1),
    SCENE_SETTING(motion.damping, 0.7),
    SCENE_SETTING(motion.maturity, 0.6),
    SCENE_SETTING(motion.young_retention, 0.5),
    SCENE_SETTING(motion.most_speed, 0.05),
    SCENE_SETTING(weights.position, 0.3),
    SCENE_SETTING(weights.heading, 0),
    SCENE_SETTING(weights.overlap, 0),
    SCENE_SETTING(weights.area, 0),
    SCENE_SETTING(weights.aspect, 0),
    SCENE_SETTING(weights.pose, 0),
    SCENE_SETTING(weights.looks, 0),
    SCENE_SETTING(weights.identity, 0),
    SCENE_SETTING(life.gate, 0.3),
    SCENE_SETTING(life.strong, 0.7),
    SCENE_SETTING(life.birth, 0.8),
    SCENE_SETTING(life.start, 0.2),
    SCENE_SETTING(life.covered, 0.1),
    SCENE_SETTING(life.lost, 0.4),
    SCENE_SETTING(life.recovery, 1),
    SCENE_SETTING(life.apart, 2),
    SCENE_SETTING(boxes.strong, 0.75),
    SCENE_SETTING(boxes.match, 0.6),
    SCENE_SETTING(boxes.overlap, 0.6),
    SCENE_SETTING(boxes.kept, 0.2),
    SCENE_SETTING(boxes.inertia, 0.6),
    SCENE_WHOLE(boxes.span, 1),
    SCENE_WHOLE(boxes.hits, 1),
};

static inline void scene_set(sk_track_settings *settings, const scene_setting *one)
{
    char *at = (char *)settings + one->offset;
    if (one->whole)
        memcpy(at, &(int32_t){(int32_t)one->value}, sizeof(int32_t));
    else
        memcpy(at, &one->value, sizeof(double));
}

#endif
