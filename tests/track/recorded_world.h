/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TRACK_RECORDED_WORLD_H
#define SK_TESTS_TRACK_RECORDED_WORLD_H

#include "recorded_scene.h"

#include <stddef.h>

/* Small worlds by chance that is the same everywhere: each with other animals, seen by another detector, with other settings. What
 * one scene never comes to (crowds, borders, jumps, pauses, equal scores, places on a grid), some world does. */

enum { MOST_ANIMALS = 14, MOST_FOUND = 48 };

typedef struct animal {
    double x, y, way, speed, turn, size;
    int unseen;
} animal;

/* How a world is: chances are a frame's. */
typedef struct world {
    scene_kind kind;
    int animals, frames, at;
    double wide, high, noise, fps;
    double missed, twice, false_ones, flipped, covered, jumps;
    double swell; /* how much larger and smaller animals become */
    double grid;  /* places and sizes are multiples of it; 0: anything */
    double skipped, paused;
    animal all[MOST_ANIMALS];
    unsigned dice;
} world;

static inline double one_of(unsigned *dice, double a, double b, double c)
{
    const double luck = recorded_chance(dice);
    return luck < 1.0 / 3 ? a : luck < 2.0 / 3 ? b : c;
}

static inline void make_world(world *w, unsigned seed, int frames)
{
    *w = (world){.dice = 4242u + 9973u * seed, .frames = frames};
    unsigned *dice = &w->dice;
    w->kind = (scene_kind)(seed % SCENE_KINDS);
    w->animals = 1 + (int)(recorded_chance(dice) * (MOST_ANIMALS - 1));
    const double size = recorded_between(dice, 14, 50);
    w->wide = size * recorded_between(dice, 4, 14);
    w->high = size * recorded_between(dice, 2, 12);
    w->noise = one_of(dice, 0, 1, 4);
    w->missed = one_of(dice, 0, 0.08, 0.3);
    w->twice = one_of(dice, 0, 0.04, 0.2);
    w->false_ones = one_of(dice, 0, 0.1, 0.6);
    w->flipped = one_of(dice, 0, 0.05, 0.3);
    w->covered = one_of(dice, 0, 0.01, 0.04);
    w->jumps = one_of(dice, 0, 0.004, 0.02);
    w->grid = one_of(dice, 0, 0, 0.5);
    w->skipped = one_of(dice, 0, 0.02, 0.15);
    w->paused = one_of(dice, 0, 0.01, 0.05);
    w->fps = one_of(dice, 25, 60, 8);
    w->swell = one_of(dice, 0, 0, 0.85);
    const double fast = one_of(dice, 0.02, 0.1, 0.3), turning = one_of(dice, 0, 0.1, 0.5);
    for (int i = 0; i < w->animals; i++) {
        animal *a = &w->all[i];
        a->x = recorded_between(dice, 0, w->wide);
        a->y = recorded_between(dice, 0, w->high);
        a->way = recorded_between(dice, 0, 6.28);
        a->size = size * recorded_between(dice, 0.8, 1.25);
        a->speed = recorded_chance(dice) < 0.2 ? 0 : a->size * fast * recorded_between(dice, 0.5, 1.5);
        a->turn = turning * recorded_between(dice, -1, 1);
    }
}

static inline double on_grid(const world *w, double value)
{
    return w->grid > 0 ? round(value / w->grid) * w->grid : value;
}

static inline void move(world *w, animal *a)
{
    unsigned *dice = &w->dice;
    a->way += a->turn + 0.2 * (recorded_chance(dice) - 0.5);
    if (recorded_chance(dice) < w->jumps) {
        a->x = recorded_between(dice, 0, w->wide);
        a->y = recorded_between(dice, 0, w->high);
    }
    a->x += a->speed * cos(a->way);
    a->y += a->speed * sin(a->way);
    if (a->x < 0 || a->x > w->wide)
        a->way = 3.14159265358979 - a->way;
    if (a->y < 0 || a->y > w->high)
        a->way = -a->way;
    a->x = fmin(fmax(a->x, 0), w->wide);
    a->y = fmin(fmax(a->y, 0), w->high);
    if (a->unseen > 0)
        a->unseen--;
    else if (recorded_chance(dice) < w->covered)
        a->unseen = (int)recorded_between(dice, 2, 40);
}

typedef struct seen_frame {
    sk_detection found[MOST_FOUND];
    sk_keypoint points[MOST_FOUND][SCENE_POINTS];
    float looks[MOST_FOUND][SK_TRACK_LOOKS];
    int32_t n;
} seen_frame;

static inline void find(world *w, seen_frame *out, int who, const animal *a)
{
    unsigned *dice = &w->dice;
    if (out->n == MOST_FOUND)
        return;
    const int32_t at = out->n++;
    sk_detection *d = &out->found[at];
    double luck[8];
    for (int i = 0; i < 8; i++)
        luck[i] = recorded_chance(dice);
    const double way = a->way + 0.05 * w->noise * (luck[4] - 0.5);
    const bool flip = luck[5] < w->flipped;
    const double size = a->size * (1 + w->swell * sin(0.45 * w->at + who));
    *d = (sk_detection){.class_id = -1, .identity = -1};
    d->score = round((who < 0 ? 0.1 + 0.6 * luck[6] : 0.4 + 0.6 * luck[6]) * 20) / 20; /* some are alike */
    d->x = on_grid(w, a->x + w->noise * (luck[0] - 0.5));
    d->y = on_grid(w, a->y + w->noise * (luck[1] - 0.5));
    sk_detection_set_oriented(d, on_grid(w, 1 + size + w->noise * luck[2]),
                              on_grid(w, 1 + size / 3 + w->noise * luck[3] / 2), way);
    sk_detection_set_box(d);
    for (int i = 0; i < SCENE_POINTS; i++) {
        const double along = (flip ? i - 2 : 2 - i) * a->size / 5;
        const bool there = recorded_chance(dice) >= 0.1;
        const double score = recorded_chance(dice);
        out->points[at][i] = there
                                 ? (sk_keypoint){(float)(d->x + along * cos(way)),
                                                 (float)(d->y + along * sin(way)), (float)(0.3 + 0.7 * score)}
                                 : (sk_keypoint){NAN, NAN, 0};
    }
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        out->looks[at][i] = (float)(0.06 * recorded_chance(dice) + (i % 9 == (who + 9) % 9 ? 0.3 : 0.02));
    if (w->kind == SCENE_UPRIGHT || w->kind == SCENE_UPRIGHT_POSED) {
        sk_detection_set_oriented(d, d->box[2] - d->box[0], d->box[3] - d->box[1], 0);
        d->upright = true;
    }
    if (w->kind == SCENE_POSED || w->kind == SCENE_UPRIGHT_POSED || w->kind == SCENE_POINTED) {
        d->points = out->points[at];
        d->n_points = SCENE_POINTS;
    }
    d->pointed = w->kind == SCENE_POINTED;
    if (w->kind == SCENE_POSED || w->kind == SCENE_KNOWN) {
        d->directed = luck[7] < 0.9;
        d->heading = fmod(way + (flip ? 3.14159265358979 : 0) + 62.83185307179586, 6.283185307179586);
    }
    if (w->kind == SCENE_KNOWN) {
        d->class_id = who < 0 ? -1 : (who + (luck[7] > 0.93)) % 3;
        d->identity = luck[7] < 0.6 ? (who + (luck[7] < 0.05)) % w->animals : -1;
        d->identity_score = 0.3 + 0.7 * luck[6];
        d->looks = out->looks[at];
    }
}

static inline void look(world *w, seen_frame *out)
{
    unsigned *dice = &w->dice;
    memset(out, 0, sizeof *out);
    w->at++;
    for (int i = 0; i < w->animals; i++) {
        animal *a = &w->all[i];
        move(w, a);
        const double luck = recorded_chance(dice);
        if (a->unseen > 0 || luck < w->missed)
            continue;
        find(w, out, i, a);
        if (recorded_chance(dice) < w->twice)
            find(w, out, i, a);
    }
    if (recorded_chance(dice) < w->false_ones) {
        animal nobody = {.size = w->all[0].size * 1.1};
        nobody.x = recorded_between(dice, 0, w->wide);
        nobody.y = recorded_between(dice, 0, w->high);
        nobody.way = recorded_between(dice, 0, 6);
        find(w, out, -1, &nobody);
    }
}

/* Every setting may be another one, several at a time. */
static const struct {
    size_t offset;
    bool whole;
    double from, to;
} ranges[] = {
#define RANGE(field, from, to)                                                                               \
    {                                                                                                        \
        offsetof(sk_track_settings, field), false, from, to                                                  \
    }
#define COUNTS(field, from, to)                                                                              \
    {                                                                                                        \
        offsetof(sk_track_settings, field), true, from, to                                                   \
    }
    RANGE(body, 10, 60),
    COUNTS(steady, 0, 2),
    RANGE(filter.score, 0, 0.5),
    RANGE(filter.area_least, 0, 400),
    RANGE(filter.area_most, 200, 1500),
    RANGE(filter.aspect_least, 1, 3),
    RANGE(filter.aspect_most, 2, 4),
    RANGE(filter.overlap, 0, 1),
    COUNTS(filter.most, 1, 15),
    RANGE(motion.process_noise, 0, 0.5),
    RANGE(motion.longitudinal_noise, 0.1, 8),
    RANGE(motion.lateral_noise, 0.01, 3),
    RANGE(motion.measurement_noise, 0.01, 0.2),
    RANGE(motion.damping, 0.3, 1),
    RANGE(motion.maturity, 0, 2),
    RANGE(motion.young_retention, 0, 1),
    RANGE(motion.most_speed, 0, 1),
    RANGE(weights.position, 0, 3),
    RANGE(weights.heading, 0, 3),
    RANGE(weights.overlap, 0, 3),
    RANGE(weights.area, 0, 3),
    RANGE(weights.aspect, 0, 3),
    RANGE(weights.pose, 0, 3),
    RANGE(weights.looks, 0, 3),
    RANGE(weights.identity, 0, 6),
    RANGE(life.gate, 0.3, 4),
    RANGE(life.strong, 0, 1),
    RANGE(life.birth, 0.2, 0.9),
    RANGE(life.start, 0, 0.5),
    RANGE(life.covered, 0, 1),
    RANGE(life.lost, 0, 3),
    RANGE(life.recovery, 0, 4),
    RANGE(life.apart, 0, 2),
    RANGE(boxes.strong, 0.2, 0.9),
    RANGE(boxes.match, 0.3, 0.99),
    RANGE(boxes.overlap, 0, 0.7),
    RANGE(boxes.kept, 0, 2),
    RANGE(boxes.inertia, 0, 1),
    COUNTS(boxes.span, 1, 31),
    COUNTS(boxes.hits, 0, 6),
};

static inline void choose_settings(world *w, sk_track_settings *s, double share)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const double luck = recorded_chance(&w->dice);
        const double value = recorded_between(&w->dice, ranges[i].from, ranges[i].to);
        char *at = (char *)s + ranges[i].offset;
        if (luck >= share)
            continue;
        if (ranges[i].whole)
            memcpy(at, &(int32_t){(int32_t)value}, sizeof(int32_t));
        else
            memcpy(at, &value, sizeof value);
    }
    s->fps = w->fps;
    s->animals = (int32_t)one_of(&w->dice, 0, 0, w->animals + one_of(&w->dice, -1, 0, 1));
    s->tell_covered = recorded_chance(&w->dice) < 0.6;
    s->tell_lost = recorded_chance(&w->dice) < 0.4;
    s->boxes.weak = recorded_chance(&w->dice) < 0.5;
}

/* What passes until the next look, in frames, and whether anybody looks at this one. */
static inline bool next_moment(world *w, int64_t *frame, double *time)
{
    const bool skip = recorded_chance(&w->dice) < w->skipped;
    const double pause = recorded_chance(&w->dice) < w->paused ? recorded_between(&w->dice, 0, 3) : 0;
    ++*frame;
    *time += 1 / w->fps + pause;
    return !skip;
}

#endif
