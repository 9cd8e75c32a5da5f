/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What makes trackers fail is in the scenes that ask for it, and its truth is true: company, roofs, the open border. */

#define ANIMALS 12
#define FRAMES  900 /* 30 seconds */

typedef struct life {
    int32_t counts[FRAMES];
    sk_scene_animal animals[FRAMES][ANIMALS];
} life;

static void live(uint32_t behaviour, int32_t hides, bool open_border, uint64_t seed, life *out)
{
    sk_scene_settings s = sk_scene_defaults();
    s.animals = ANIMALS;
    s.width = 480;
    s.height = 360;
    s.seed = seed;
    s.behaviour = behaviour;
    s.hides = hides;
    s.open_border = open_border;
    sk_scene *scene = NULL;
    sk_error err = {0};
    assert_ok(sk_scene_open(&s, &scene, &err), &err);
    for (int i = 0; i < FRAMES; i++)
        out->counts[i] = sk_scene_tell(scene, out->animals[i]);
    sk_scene_close(&scene);
}

static const sk_scene_animal *find(const life *l, int frame, int32_t track)
{
    for (int32_t k = 0; k < l->counts[frame]; k++)
        if (l->animals[frame][k].track == track)
            return &l->animals[frame][k];
    return NULL;
}

static double apart(const sk_scene_animal *a, const sk_scene_animal *b)
{
    return hypot((double)(a->points[2][0] - b->points[2][0]), (double)(a->points[2][1] - b->points[2][1]));
}

/* Unit vector from the centre to the nose. */
static void facing(const sk_scene_animal *a, double out[2])
{
    double x = (double)(a->points[0][0] - a->points[2][0]), y = (double)(a->points[0][1] - a->points[2][1]);
    double n = hypot(x, y);
    out[0] = x / n;
    out[1] = y / n;
}

/* Part of the time that animals have somebody close ahead who goes the same way. */
static double following(const life *l)
{
    int64_t yes = 0, all = 0;
    for (int f = 0; f < FRAMES; f += 5)
        for (int32_t i = 0; i < l->counts[f]; i++) {
            const sk_scene_animal *a = &l->animals[f][i];
            bool found = false;
            double u[2], v[2];
            facing(a, u);
            for (int32_t j = 0; j < l->counts[f] && !found; j++) {
                const sk_scene_animal *b = &l->animals[f][j];
                double dx = (double)(b->points[2][0] - a->points[2][0]),
                       dy = (double)(b->points[2][1] - a->points[2][1]), far = hypot(dx, dy);
                facing(b, v);
                found = i != j && far < 1.3 * (double)a->length && u[0] * v[0] + u[1] * v[1] > 0.7 &&
                        (dx * u[0] + dy * u[1]) / far > 0.8;
            }
            yes += found;
            all++;
        }
    return (double)yes / (double)all;
}

static double nearest(const life *l)
{
    double sum = 0;
    int64_t all = 0;
    for (int f = 0; f < FRAMES; f += 5)
        for (int32_t i = 0; i < l->counts[f]; i++) {
            double least = 1e9;
            for (int32_t j = 0; j < l->counts[f]; j++)
                if (j != i)
                    least = fmin(least, apart(&l->animals[f][i], &l->animals[f][j]));
            sum += least / (double)l->animals[f][i].length;
            all++;
        }
    return sum / (double)all;
}

/* Part of the steps that are faster than a lone fish ever swims, body lengths a second. */
static double hurrying(const life *l, double speed)
{
    int64_t yes = 0, all = 0;
    for (int f = 1; f < FRAMES; f++)
        for (int32_t i = 0; i < l->counts[f]; i++) {
            const sk_scene_animal *now = &l->animals[f][i], *before = find(l, f - 1, now->track);
            if (!before)
                continue;
            double step = apart(now, before) / (double)now->length;
            assert_true(step < 0.2); /* nobody jumps */
            yes += step * 30 > speed;
            all++;
        }
    return (double)yes / (double)all;
}

static life *plain, *other;

static int begin(void **state)
{
    (void)state;
    plain = malloc(sizeof *plain);
    other = malloc(sizeof *other);
    if (!plain || !other)
        return 1;
    live(0, 0, false, 11, plain);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(plain);
    free(other);
    return 0;
}

static void they_follow(void **state)
{
    (void)state;
    live(SK_BEHAVE_FOLLOW, 0, false, 11, other);
    if (!(following(other) > 1.6 * following(plain)))
        fail_msg("following: %.3f of the time, %.3f without", following(other), following(plain));
    hurrying(other, 1);
}

static void they_chase(void **state)
{
    (void)state;
    live(SK_BEHAVE_CHASE, 0, false, 11, other);
    double with = hurrying(other, 2.1), without = hurrying(plain, 2.1);
    if (!(with > 0.02 && without < 0.005))
        fail_msg("hurrying: %.4f of the time, %.4f without", with, without);
}

static void they_huddle(void **state)
{
    (void)state;
    live(SK_BEHAVE_HUDDLE, 0, false, 11, other);
    if (!(nearest(other) < 0.75 * nearest(plain)))
        fail_msg("the nearest is %.3f away, %.3f without", nearest(other), nearest(plain));
    hurrying(other, 1);
}

/* Under a roof an animal is not seen at all, for seconds; it is in the truth all the same, where it really is. */
static void roofs_cover_for_long(void **state)
{
    (void)state;
    live(0, 2, false, 11, other);
    hurrying(other, 1);
    int longest = 0, coverings = 0, run[ANIMALS] = {0};
    for (int f = 0; f < FRAMES; f++) {
        assert_int_equal(other->counts[f], ANIMALS);
        for (int k = 0; k < ANIMALS; k++) {
            const sk_scene_animal *a = &other->animals[f][k];
            assert_int_equal(a->track, k);
            bool covered = a->visible <= 0;
            for (int p = 1; p < 4 && covered; p++) /* of the ends less than a pixel may look out */
                assert_int_equal(a->seen[p], SK_POINT_HIDDEN);
            run[k] = covered ? run[k] + 1 : 0;
            coverings += run[k] == 30;
            longest = run[k] > longest ? run[k] : longest;
        }
    }
    assert_true(coverings >= 5);
    assert_true(longest > 90);
    int without = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < ANIMALS; k++)
            without += plain->animals[f][k].visible <= 0;
    assert_int_equal(without, 0);
}

static bool at_border(const sk_scene_animal *a)
{
    return a->box[0] <= 0 || a->box[1] <= 0 || a->box[2] >= 480 || a->box[3] >= 360;
}

/* A number is one stretch of frames: who leaves does so over the border, and whoever comes has a number of its own. */
static void numbers_are_given_once(void **state)
{
    (void)state;
    live(SK_BEHAVE_CHASE, 0, true, 12, other);
    hurrying(other, 1);
    int32_t last = -1, come = 0, gone = 0, fewest = ANIMALS;
    for (int f = 0; f < FRAMES; f++) {
        fewest = other->counts[f] < fewest ? other->counts[f] : fewest;
        for (int32_t k = 0; k < other->counts[f]; k++) {
            const sk_scene_animal *a = &other->animals[f][k];
            assert_true(a->box[0] < a->box[2] && a->box[1] < a->box[3]);
            const bool was = f > 0 && find(other, f - 1, a->track),
                       will = f + 1 == FRAMES || find(other, f + 1, a->track);
            if (!was && f > 0) {
                come++;
                assert_true(at_border(a));
                for (int before = 0; before < f; before++)
                    assert_null(find(other, before, a->track));
            }
            if (!will) {
                gone++;
                assert_true(at_border(a));
            }
            last = a->track > last ? a->track : last;
        }
    }
    assert_true(come > 5 && gone > 5 && fewest < ANIMALS);
    assert_true(last >= ANIMALS + come - 1);
}

static void names_of_behaviours(void **state)
{
    (void)state;
    uint32_t bits = 9;
    sk_error err = {0};
    assert_ok(sk_scene_read_behaviour("wander", &bits, &err), &err);
    assert_int_equal(bits, 0);
    assert_ok(sk_scene_read_behaviour("huddle, follow,", &bits, &err), &err);
    assert_int_equal(bits, SK_BEHAVE_HUDDLE | SK_BEHAVE_FOLLOW);
    assert_int_equal(sk_scene_read_behaviour("follow,fly", &bits, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'fly'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_follow),
        cmocka_unit_test(they_chase),
        cmocka_unit_test(they_huddle),
        cmocka_unit_test(roofs_cover_for_long),
        cmocka_unit_test(numbers_are_given_once),
        cmocka_unit_test(names_of_behaviours),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
