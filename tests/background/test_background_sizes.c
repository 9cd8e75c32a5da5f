/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background.h"

#include "support/test.h"

#include <math.h>
#include <string.h>

/* Rectangles of known areas on an even ground: which of them are animals, which are several, and how large one is. */

enum { W = 200, H = 90 };
static uint8_t pixels[W * H];

static sk_frame frame(void)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_GRAY, f.width = W, f.height = H, f.stride = W, f.data = pixels;
    return f;
}

static sk_background_settings plain(void)
{
    sk_background_settings s;
    sk_background_defaults(&s);
    s.threshold = 30;
    s.smallest_feature = 0;
    s.following = 0;
    s.steady_light = false;
    return s;
}

/* An area as a rectangle ten pixels high, with what is left over below it. */
static void draw(int at, int area)
{
    for (int i = 0; i < area; i++)
        pixels[(5 + i % 10 + at / W * 20) * W + at % W + i / 10] = 60;
}

static int32_t found_of(const sk_background_settings *s, const int *areas, int n, sk_instances *found)
{
    sk_error err = {0};
    sk_background *b = NULL;
    const sk_frame f = frame();
    memset(pixels, 200, sizeof pixels);
    assert_ok(sk_background_open(s, W, H, &b, &err), &err);
    assert_ok(sk_background_find(b, &f, found, &err), &err); /* the empty place */
    assert_int_equal(found->count, 0);
    for (int i = 0, at = 3; i < n; i++) {
        draw(at, areas[i]);
        at += (areas[i] + 9) / 10 + 4;
    }
    assert_ok(sk_background_find(b, &f, found, &err), &err);
    sk_background_close(&b);
    return found->count;
}

static void sizes_decide_how_many_there_are(void **state)
{
    (void)state;
    static const struct {
        double body, least;
        bool whole; /* nothing is split */
        int n, areas[5];
        int32_t found;
    } cases[] = {{0, 20, false, 3, {90, 100, 160}, 4}, /* half of all pixels are in those of 100 and more */
                 {0, 20, false, 3, {90, 100, 159}, 3}, /* not 1.6 times as large */
                 {0, 20, true, 3, {90, 100, 160}, 3},
                 {0, 20, false, 3, {40, 60, 100}, 4}, /* exactly half of them in 100: 60 is large enough */
                 {0, 20, false, 1, {500}, 1},         /* nobody knows better */
                 {0, 20, false, 2, {100, 170}, 2},
                 {0, 20, false, 4, {100, 100, 100, 250}, 5},
                 {100, 20, false, 1, {159}, 1},
                 {100, 20, false, 1, {160}, 2},
                 {100, 20, false, 1, {240}, 2},
                 {100, 20, false, 1, {260}, 3},
                 {100, 20, false, 1, {340}, 3},
                 {100, 20, false, 1, {360}, 4},
                 {0, 20, false, 1, {19}, 0},
                 {0, 20, false, 1, {20}, 1},
                 {0, 0, false, 1, {1}, 1},
                 {1000, 20, false, 1, {99}, 0}, /* a shred of one */
                 {1000, 20, false, 1, {100}, 1},
                 {1000, 120, false, 1, {110}, 0},
                 {0, 20, false, 3, {19, 19, 100}, 1}}; /* what is none does not say how large one is */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_background_settings s = plain();
        sk_instances found;
        sk_error err = {0};
        s.body_area = cases[i].body, s.least_area = cases[i].least, s.split = !cases[i].whole;
        assert_ok(sk_instances_alloc(32, 0, &found, &err), &err);
        if (found_of(&s, cases[i].areas, cases[i].n, &found) != cases[i].found)
            fail_msg("case %zu: %d were found", i, found.count);
        for (int32_t k = 1; k < found.count; k++) /* the largest first */
            assert_true(found.items[k - 1].obb[2] * found.items[k - 1].obb[3] >=
                        found.items[k].obb[2] * found.items[k].obb[3]);
        sk_instances_free(&found);
    }
}

/* More than there is room for are left out, and the score is the contrast against the threshold. */
static void scores_and_room(void **state)
{
    (void)state;
    static const int areas[] = {60, 60, 60, 60};
    sk_background_settings s = plain();
    sk_instances found;
    sk_error err = {0};
    assert_ok(sk_instances_alloc(3, 0, &found, &err), &err);
    assert_int_equal(found_of(&s, areas, 4, &found), 3);
    for (int32_t i = 0; i < 3; i++) /* 140 levels against 30 */
        assert_true(found.items[i].score > 140.0F / 170 - 1e-5F &&
                    found.items[i].score < 140.0F / 170 + 1e-5F);
    sk_instances_free(&found);
    s.most_found = 3; /* more blobs than that are the light's */
    assert_ok(sk_instances_alloc(9, 0, &found, &err), &err);
    assert_int_equal(found_of(&s, areas, 4, &found), 0);
    s.most_found = 4;
    assert_int_equal(found_of(&s, areas, 4, &found), 4);
    sk_instances_free(&found);
}

/* A pixel is one that differs by more than the threshold, whole levels of it. */
static void thresholds_are_passed_not_met(void **state)
{
    (void)state;
    static const struct {
        double threshold;
        int found;
    } cases[] = {{139, 1}, {140, 0}, {139.5, 1}, {140.5, 0}, {1, 1}, {254, 0}};
    static const int area[] = {50};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_background_settings s = plain();
        sk_instances found;
        sk_error err = {0};
        s.threshold = cases[i].threshold;
        assert_ok(sk_instances_alloc(3, 0, &found, &err), &err);
        if (found_of(&s, area, 1, &found) != cases[i].found)
            fail_msg("above %g: %d", cases[i].threshold, found.count);
        sk_instances_free(&found);
    }
}

/* A rectangle grows by so many pixels on every side, no matter whether specks were cleaned away before. An even row of n pixels has
 * a spread of n²/12, and the box is four times its root. */
static void blobs_grow_on_every_side(void **state)
{
    (void)state;
    static const int area[] = {120}; /* 12 x 10 */
    for (int feature = 0; feature < 4; feature += 3)
        for (int grow = 0; grow < 4; grow++) {
            sk_background_settings s = plain();
            sk_instances found;
            sk_error err = {0};
            s.grow = grow, s.smallest_feature = feature;
            assert_ok(sk_instances_alloc(3, 0, &found, &err), &err);
            assert_int_equal(found_of(&s, area, 1, &found), 1);
            const sk_found *one = &found.items[0];
            const double w = 12 + 2 * grow, h = 10 + 2 * grow;
            assert_true(one->obb[0] == 9 && one->obb[1] == 10 && one->obb[4] == 0);
            assert_true(fabs((double)one->obb[2] - 4 * w / sqrt(12)) < 1e-4);
            assert_true(fabs((double)one->obb[3] - 4 * h / sqrt(12)) < 1e-4);
            sk_instances_free(&found);
        }
}

/* How many frames prime it: as many as fit into 64 MiB, 9 to 31. */
static void large_frames_prime_less(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height, wanted;
    } cases[] = {{64, 64, 31}, {2048, 1057, 31}, {2048, 1058, 30}, {4096, 1820, 9}, {4096, 4096, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_background_settings s = plain();
        sk_background *b = NULL;
        sk_error err = {0};
        assert_ok(sk_background_open(&s, cases[i].width, cases[i].height, &b, &err), &err);
        if (sk_background_wanted(b) != cases[i].wanted)
            fail_msg("%d x %d: %d", cases[i].width, cases[i].height, sk_background_wanted(b));
        sk_background_close(&b);
    }
}

/* Steps of the ground are 256ths of a level: the picture is another one when half a level is passed. */
static void the_ground_follows_by_steps(void **state)
{
    (void)state;
    static const struct {
        double following;
        int frames; /* of a ground that is one level lighter, until the picture is, too */
        int level, dark;
    } cases[] = {{0.02, 26, 101, 0},   /* five 256ths a frame */
                 {0.002, 255, 101, 0}, /* one every second frame, and the first was no second one */
                 {1.0 / 256, 128, 101, 0},
                 {0.5, 1, 101, 0},
                 {0.0059, 64, 101, 0},
                 /* one and a half is two */ {3, 1, 103, 0}, /* all the way at once, no farther */
                 {0.02, 26, 99, 0},                          /* and down: half a level is the upper one's */
                 {0.1, 5, 99, 0},
                 {0.1, 22, 99, 1}}; /* what is an animal is followed by a quarter: 6 of 26 */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_background_settings s = plain();
        sk_background *b = NULL;
        sk_instances found;
        sk_error err = {0};
        const sk_frame f = frame();
        s.following = cases[i].following;
        s.threshold = cases[i].dark ? 0.5 : 30;
        s.ground = SK_GROUND_EITHER;
        assert_ok(sk_instances_alloc(3, 0, &found, &err), &err);
        assert_ok(sk_background_open(&s, W, H, &b, &err), &err);
        memset(pixels, 100, sizeof pixels);
        assert_ok(sk_background_find(b, &f, &found, &err), &err);
        memset(pixels, cases[i].level, sizeof pixels);
        int frames = 0;
        while (sk_background_picture(b)[W + 1] != cases[i].level && frames < 1000) {
            assert_ok(sk_background_find(b, &f, &found, &err), &err);
            frames++;
        }
        if (frames != cases[i].frames)
            fail_msg("case %zu: %d frames", i, frames);
        sk_background_close(&b);
        sk_instances_free(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_decide_how_many_there_are), cmocka_unit_test(scores_and_room),
        cmocka_unit_test(thresholds_are_passed_not_met),   cmocka_unit_test(large_frames_prime_less),
        cmocka_unit_test(blobs_grow_on_every_side),        cmocka_unit_test(the_ground_follows_by_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
