/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "frame_hash.h"
#include "scene/scene_internal.h"
#include "support/fault.h"

#include <math.h>
#include <string.h>

/* Scenes: the same bytes everywhere, and a truth that is true. */

static void bytes_are_known(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN_SCENES; i++) {
        uint64_t hash = hash_scene(&known_scenes[i]);
        if (hash != known_scenes[i].hash)
            fail_msg("scene %d: 0x%016llx, not 0x%016llx", i, (unsigned long long)hash,
                     (unsigned long long)known_scenes[i].hash);
    }
}

/* Words and numbers that files of truth have in them. */
static void names_are_known(void **state)
{
    (void)state;
    static const char *const species[] = {"fish", "fly", "mouse", "mixed"}, *const points[] = {
                                                                                "nose", "neck", "centre",
                                                                                "tail_base", "tail_tip"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(sk_species_names[i], species[i]);
    for (int i = 0; i < SK_SCENE_KEYPOINTS; i++)
        assert_string_equal(sk_scene_keypoint_names[i], points[i]);
    assert_int_equal(SK_SCENE_EDGES, SK_SCENE_KEYPOINTS - 1);
    for (int i = 0; i < SK_SCENE_EDGES; i++) /* a chain from nose to tail */
        assert_true(sk_scene_edges[i][0] == i && sk_scene_edges[i][1] == i + 1);
    const sk_scene_settings s = sk_scene_defaults();
    assert_true(s.species == SK_SPECIES_FISH && s.animals == 4 && s.width == 640 && s.height == 480);
    assert_true(s.rate == 30.0 && s.seed == 1 && s.behaviour == 0 && s.hides == 0 && !s.open_border);
}

static void seeds_differ(void **state)
{
    (void)state;
    known_scene a = known_scenes[0], b = a;
    b.settings.seed++;
    assert_true(hash_scene(&a) != hash_scene(&b));
}

/* The oriented box's own coordinates of a point, in half sides: inside is within [-1, 1]. */
static void in_obb(const float obb[5], double x, double y, double *u, double *v)
{
    double c = cos((double)obb[4]), s = sin((double)obb[4]), dx = x - (double)obb[0], dy = y - (double)obb[1];
    *u = (dx * c + dy * s) / (0.5 * (double)obb[2]);
    *v = (dy * c - dx * s) / (0.5 * (double)obb[3]);
}

static void check_animal(const sk_scene_animal *a, const sk_scene_settings *s)
{
    assert_in_range(a->species, 0, SK_SPECIES_COUNT - 1);
    assert_true(a->box[0] >= 0 && a->box[1] >= 0 && a->box[2] <= (float)s->width &&
                a->box[3] <= (float)s->height);
    assert_true(a->box[0] < a->box[2] && a->box[1] < a->box[3]);
    assert_true(a->obb[2] >= a->obb[3] && a->obb[3] > 0);
    assert_true(a->obb[4] >= 0 && a->obb[4] < 3.1415927f);
    assert_true(a->visible >= 0 && a->visible <= 1);
    double along = 0;
    for (int k = 0; k < SK_SCENE_KEYPOINTS; k++) {
        double x = (double)a->points[k][0], y = (double)a->points[k][1], u, v;
        in_obb(a->obb, x, y, &u, &v);
        assert_true(fabs(u) < 1.001 && fabs(v) < 1.001);
        if (a->seen[k] != SK_POINT_OUTSIDE)
            assert_true(x >= (double)a->box[0] - 0.01 && x <= (double)a->box[2] + 0.01 &&
                        y >= (double)a->box[1] - 0.01 && y <= (double)a->box[3] + 0.01);
        else
            assert_true(x < 0 || y < 0 || x >= s->width || y >= s->height);
        if (k > 0)
            along += hypot(x - (double)a->points[k - 1][0], y - (double)a->points[k - 1][1]);
    }
    /* a bent spine is longer than the lines between its keypoints, not by much */
    assert_true(along <= (double)a->length * 1.0001 && along > 0.8 * (double)a->length);
}

/* What changes between the empty ground and the animal's picture lies in its boxes (legs and shadow aside). */
static void truth_is_consistent(void **state)
{
    (void)state;
    for (int species = 0; species <= SK_SPECIES_COUNT; species++) {
        sk_scene_settings s = {(sk_species)species, 6, 256, 192, 30.0, (uint64_t)(40 + species), 0, 0, false};
        sk_scene *scene = NULL;
        sk_error err = {0};
        assert_ok(sk_scene_open(&s, &scene, &err), &err);
        static uint8_t pixels[256 * 192 * 3];
        sk_frame frame = {.format = SK_PIXEL_RGB, .width = 256, .height = 192, .stride = 768, .data = pixels};
        sk_scene_animal animals[6], before[6];
        for (int i = 0; i < 90; i++) {
            sk_scene_next(scene, &frame, animals);
            assert_int_equal(frame.index, i);
            for (int k = 0; k < 6; k++) {
                assert_int_equal(animals[k].track, k);
                check_animal(&animals[k], &s);
                if (i > 0) { /* nobody jumps: under a fifth of a body length a frame */
                    double dx = (double)(animals[k].points[2][0] - before[k].points[2][0]);
                    double dy = (double)(animals[k].points[2][1] - before[k].points[2][1]);
                    assert_true(hypot(dx, dy) < 0.2 * (double)animals[k].length);
                }
            }
            memcpy(before, animals, sizeof animals);
        }
        sk_scene_close(&scene);
    }
}

/* Many animals in a small picture: some are covered, and the uppermost never is. */
static void covering_is_told(void **state)
{
    (void)state;
    sk_scene_settings s = {SK_SPECIES_FISH, 40, 128, 128, 30.0, 5, 0, 0, false};
    sk_scene *scene = NULL;
    sk_error err = {0};
    assert_ok(sk_scene_open(&s, &scene, &err), &err);
    static uint8_t pixels[128 * 128 * 3];
    sk_frame frame = {.format = SK_PIXEL_RGB, .width = 128, .height = 128, .stride = 384, .data = pixels};
    static sk_scene_animal animals[40];
    int covered = 0, hidden = 0;
    for (int i = 0; i < 60; i++) {
        sk_scene_next(scene, &frame, animals);
        for (int k = 0; k < 40; k++) {
            covered += animals[k].visible < 0.9f;
            for (int p = 0; p < SK_SCENE_KEYPOINTS; p++) {
                hidden += animals[k].seen[p] == SK_POINT_HIDDEN;
                if (k == 39)
                    assert_int_not_equal(animals[k].seen[p], SK_POINT_HIDDEN);
            }
        }
    }
    assert_true(covered > 20);
    assert_true(hidden > 20);
    sk_scene_close(&scene);
}

/* As many as there may be: every one is there, its own, and of a size that can be seen. */
static void two_hundred_have_room(void **state)
{
    (void)state;
    sk_scene_settings s = {SK_SPECIES_MIXED, SK_SCENE_MAX_ANIMALS, 640, 480, 30.0, 6, 0, 0, false};
    sk_scene *scene = NULL;
    sk_error err = {0};
    assert_int_equal(SK_SCENE_MAX_ANIMALS, 200);
    assert_ok(sk_scene_open(&s, &scene, &err), &err);
    static uint8_t pixels[640 * 480 * 3];
    sk_frame frame = {.format = SK_PIXEL_RGB, .width = 640, .height = 480, .stride = 1920, .data = pixels};
    static sk_scene_animal animals[SK_SCENE_MAX_ANIMALS];
    sk_scene_skip(scene, 60);
    sk_scene_next(scene, &frame, animals);
    int seen = 0;
    for (int k = 0; k < SK_SCENE_MAX_ANIMALS; k++) {
        assert_int_equal(animals[k].track, k);
        check_animal(&animals[k], &s);
        assert_true(animals[k].length > 12);
        seen += animals[k].visible > 0.5f;
    }
    assert_true(seen > 150);
    sk_scene_close(&scene);
}

/* Truth without drawing is the truth of the drawing, bit for bit: in frames and at their borders, crowded and tiny. */
static void truth_needs_no_drawing(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN_SCENES; i++) {
        const sk_scene_settings *s = &known_scenes[i].settings;
        sk_scene *drawn = NULL, *told = NULL;
        sk_error err = {0};
        static uint8_t pixels[640 * 480 * 3];
        static sk_scene_animal a[SK_SCENE_MAX_ANIMALS], b[SK_SCENE_MAX_ANIMALS];
        sk_frame frame = {.format = SK_PIXEL_RGB,
                          .width = s->width,
                          .height = s->height,
                          .stride = 3 * s->width,
                          .data = pixels};
        assert_ok(sk_scene_open(s, &drawn, &err), &err);
        assert_ok(sk_scene_open(s, &told, &err), &err);
        for (int k = 0; k < 20; k++) {
            int32_t count = sk_scene_next(drawn, &frame, a);
            assert_int_equal(sk_scene_tell(told, b), count);
            assert_memory_equal(a, b, (size_t)count * sizeof *a);
            sk_scene_skip(drawn, known_scenes[i].skip);
            sk_scene_skip(told, known_scenes[i].skip);
        }
        sk_scene_close(&drawn);
        sk_scene_close(&told);
    }
}

/* There is room for the longest animal that may still come by a border. */
static void who_comes_has_room(void **state)
{
    (void)state;
    static const float longest[] = {0.25f, 0.21f, 0.40f}; /* of the picture's shorter side */
    for (int species = 0; species <= SK_SPECIES_MIXED; species++)
        for (int wide = 0; wide < 2; wide++) {
            sk_scene *scene = NULL;
            sk_error err = {0};
            sk_scene_settings s = {
                (sk_species)species, 1, wide ? 400 : 300, wide ? 300 : 400, 30.0, 3, 0, 0, true};
            assert_ok(sk_scene_open(&s, &scene, &err), &err);
            const float most = scene->fit * longest[species == SK_SPECIES_MIXED ? 2 : species] * 300.0f;
            assert_int_equal(scene->canvas.field_capacity, sk_canvas_field_size(most));
            sk_scene_close(&scene);
            s.open_border = false; /* nobody comes */
            assert_ok(sk_scene_open(&s, &scene, &err), &err);
            assert_int_equal(scene->canvas.field_capacity, sk_canvas_field_size(scene->looks[0].length));
            sk_scene_close(&scene);
        }
    assert_int_equal(sk_canvas_field_size(100.0f), 140 * 140);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    const sk_scene_settings wrong[] = {
        {SK_SPECIES_FISH, 0, 640, 480, 30, 1, 0, 0, false},
        {SK_SPECIES_FISH, 201, 640, 480, 30, 1, 0, 0, false},
        {SK_SPECIES_FISH, 1, 63, 480, 30, 1, 0, 0, false},
        {SK_SPECIES_FISH, 1, 640, 5000, 30, 1, 0, 0, false},
        {SK_SPECIES_FISH, 1, 640, 480, 0, 1, 0, 0, false},
        {SK_SPECIES_FISH, 1, 640, 480, (double)NAN, 1, 0, 0, false},
        {(sk_species)4, 1, 640, 480, 30, 1, 0, 0, false},
        {SK_SPECIES_FISH, 1, 640, 480, 30, 1, 8, 0, false},
        {SK_SPECIES_FISH, 1, 640, 480, 30, 1, 0, 17, false},
        {SK_SPECIES_FISH, 1, 640, 480, 30, 1, 0, -1, false},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sk_scene *scene = NULL;
        sk_error err = {0};
        assert_int_equal(sk_scene_open(&wrong[i], &scene, &err), SK_ERR_ARG);
        assert_null(scene);
        assert_non_null(strstr(err.message, "scene"));
    }
}

static sk_status open_and_draw(void *context, sk_error *err)
{
    const sk_scene_settings *s = context;
    sk_scene *scene = NULL;
    static uint8_t pixels[96 * 80 * 3];
    static sk_scene_animal animals[3];
    sk_frame frame = {.format = SK_PIXEL_RGB, .width = 96, .height = 80, .stride = 288, .data = pixels};
    SK_TRY(sk_scene_open(s, &scene, err));
    sk_scene_next(scene, &frame, animals);
    sk_scene_close(&scene);
    return SK_OK;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    sk_scene_settings s = {SK_SPECIES_MIXED, 3, 96, 80, 30.0, 8, 0, 0, false};
    assert_in_range(test_every_allocation(open_and_draw, &s), 8, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_known),
        cmocka_unit_test(names_are_known),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(truth_is_consistent),
        cmocka_unit_test(covering_is_told),
        cmocka_unit_test(two_hundred_have_room),
        cmocka_unit_test(truth_needs_no_drawing),
        cmocka_unit_test(who_comes_has_room),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
