/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "scene/scene.h"
#include "skitter/skitter.h"

#include <stdlib.h>
#include <string.h>

/* What programs of others need beside a pipeline: the runtime that the user chose, who is who as frames come, and a picture with it
 * drawn in. */

#define WIDTH   320
#define HEIGHT  240
#define ANIMALS 3

static uint8_t pixels[WIDTH * HEIGHT * 3], drawn[WIDTH * HEIGHT * 3], plain[WIDTH * HEIGHT * 3];

static sk_frame frame_of(uint8_t *data)
{
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_RGB;
    frame.width = WIDTH, frame.height = HEIGHT, frame.stride = 3 * WIDTH, frame.data = data;
    return frame;
}

static sk_pipeline *open_pipeline(void)
{
    sk_error err = {0};
    sk_pipeline *pipeline = NULL;
    const char *path = test_source("share/models/demo-obb.pt");
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&how);
    how.width = how.height = 320;
    how.confidence = 0.4f;
    assert_ok(sk_pipeline_open(&path, 1, &how, &pipeline, &err), &err);
    return pipeline;
}

/* The same animals keep their numbers, and no number is another animal's in the same frame. */
static void keeps_numbers(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline *pipeline = open_pipeline();
    sk_scene *scene = NULL;
    sk_scene_animal animals[ANIMALS];
    sk_scene_settings how = sk_scene_defaults();
    how.animals = ANIMALS, how.width = WIDTH, how.height = HEIGHT;
    assert_ok(sk_scene_open(&how, &scene, &err), &err);
    sk_live_tracks_settings s = SK_LIVE_TRACKS_SETTINGS_INIT;
    sk_live_tracks_defaults(&s);
    assert_string_equal(s.tracker, "skitter");
    s.animals = ANIMALS;
    sk_live_tracks *tracks = NULL;
    assert_ok(sk_live_tracks_open(sk_pipeline_about(pipeline), &s, &tracks, &err), &err);
    int32_t ids[300], last = 0, told = 0;
    for (int i = 0; i < 12; i++) {
        sk_frame frame = frame_of(pixels);
        const sk_result *result = NULL;
        sk_scene_next(scene, &frame, animals);
        frame.index = i;
        assert_ok(sk_pipeline_run(pipeline, &frame, &result, &err), &err);
        assert_ok(sk_live_tracks_tell(tracks, result, ids, 300, &err), &err);
        const int32_t n = sk_instances_count(result->instances);
        for (int32_t k = 0; k < n; k++) {
            for (int32_t j = 0; j < k; j++)
                assert_true(ids[k] < 0 || ids[j] != ids[k]);
            last = ids[k] > last ? ids[k] : last;
            told += ids[k] >= 0;
        }
        if (n > 0)
            assert_int_equal(sk_live_tracks_tell(tracks, result, ids, n - 1, &err), SK_ERR_ARG);
        sk_pipeline_give_back(pipeline, result);
    }
    assert_true(told >= 12);
    assert_true(last < ANIMALS);
    sk_live_tracks_close(&tracks);
    s.tracker = "no such";
    assert_int_equal(sk_live_tracks_open(sk_pipeline_about(pipeline), &s, &tracks, &err), SK_ERR_ARG);
    assert_null(tracks);
    sk_scene_close(&scene);
    sk_pipeline_close(&pipeline);
}

static void draws(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline *pipeline = open_pipeline();
    sk_scene *scene = NULL;
    sk_scene_animal animals[ANIMALS];
    sk_scene_settings how = sk_scene_defaults();
    how.animals = ANIMALS, how.width = WIDTH, how.height = HEIGHT;
    assert_ok(sk_scene_open(&how, &scene, &err), &err);
    sk_frame frame = frame_of(pixels), canvas = frame_of(drawn);
    const sk_result *result = NULL;
    int32_t ids[300];
    sk_scene_next(scene, &frame, animals);
    assert_ok(sk_pipeline_run(pipeline, &frame, &result, &err), &err);
    assert_true(sk_instances_count(result->instances) > 0);
    memcpy(drawn, pixels, sizeof drawn);
    assert_ok(sk_draw_instances(sk_pipeline_about(pipeline), result->instances, NULL, &canvas, &err), &err);
    assert_memory_not_equal(drawn, pixels, sizeof drawn);
    memcpy(plain, drawn, sizeof drawn);
    memcpy(drawn, pixels, sizeof drawn);
    for (int i = 0; i < 300; i++)
        ids[i] = 7 + i;
    assert_ok(sk_draw_instances(sk_pipeline_about(pipeline), result->instances, ids, &canvas, &err), &err);
    assert_memory_not_equal(drawn, plain, sizeof drawn); /* numbers of tracks are there, too */
    canvas.format = SK_PIXEL_NV12;
    assert_int_equal(sk_draw_instances(sk_pipeline_about(pipeline), result->instances, NULL, &canvas, &err),
                     SK_ERR_ARG);
    sk_pipeline_give_back(pipeline, result);
    sk_scene_close(&scene);
    sk_pipeline_close(&pipeline);
}

static void picks(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *path = test_source("share/models/demo-obb.pt");
    sk_runtime_pick pick = SK_RUNTIME_PICK_INIT;
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    assert_ok(sk_runtime_pick_for(&path, 1, NULL, false, &pick, &err), &err);
    assert_string_equal(pick.runtime, "cpu");
    assert_false(pick.fell_back);
    assert_ok(sk_runtime_pick_for(&path, 1, "reference", false, &pick, &err), &err);
    assert_string_equal(pick.runtime, "reference");
    assert_int_not_equal(sk_runtime_pick_for(&path, 1, "mps", false, &pick, &err), SK_OK);
    assert_ok(sk_runtime_pick_for(&path, 1, "mps", true, &pick, &err), &err);
    assert_true(pick.fell_back);
    assert_true(pick.notice[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_numbers),
        cmocka_unit_test(draws),
        cmocka_unit_test(picks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
