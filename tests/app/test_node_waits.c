/* SPDX-License-Identifier: Apache-2.0 */
/* A robot's node that waits: how long without a picture is worth a word, what may change meanwhile, pictures in packets, and animals
 * that are covered. */
#include "node_fixture.h"
#include "support/fault.h"

#include "base/file.h"
#include "base/instances.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND ((int64_t)1000000000)

/* --- patience --- */

static void begin_waiting(sk_node_core *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
}

/* Nothing came for so long, and it was told so often: is it worth a word? */
static bool worth_a_word(sk_node_core *c, int32_t told, int64_t gap_ns, int64_t silent_ns)
{
    double seconds = -1;
    c->quiet.times_told = told;
    c->quiet.longest_gap_ns = gap_ns;
    c->quiet.from_ns = sk_node_now_ns() - silent_ns;
    const bool tell = sk_node_core_is_quiet(c, &seconds);
    assert_int_equal(c->quiet.times_told, told + tell);
    assert_true(seconds >= (double)silent_ns * 1e-9 && seconds < (double)silent_ns * 1e-9 + 60);
    return tell;
}

static void when_silence_is_told(void **state)
{
    (void)state;
    /* after 5 s, half a minute, two minutes, and every ten minutes from there */
    static const int64_t after[] = {5, 30, 120, 600, 1200, 1800, 2400};
    sk_node_core c;
    begin_waiting(&c);
    for (int32_t i = 0; i < 7; i++) {
        assert_false(worth_a_word(&c, i, 0, after[i] * SECOND - SECOND * 9 / 10));
        assert_true(worth_a_word(&c, i, 0, after[i] * SECOND));
    }
    /* a slow camera has four of its longest pauses, once */
    assert_false(worth_a_word(&c, 0, 10 * SECOND, 40 * SECOND - SECOND * 9 / 10));
    assert_true(worth_a_word(&c, 0, 10 * SECOND, 40 * SECOND));
    assert_true(worth_a_word(&c, 1, 10 * SECOND, 30 * SECOND));
    assert_false(worth_a_word(&c, 0, 1 * SECOND, 5 * SECOND - SECOND * 9 / 10)); /* a quick one as all */
    assert_true(worth_a_word(&c, 0, 1 * SECOND, 5 * SECOND));
    c.quiet.from_ns = sk_node_now_ns() - 31 * SECOND; /* who does not ask how long it is, is told the same */
    assert_true(sk_node_core_is_quiet(&c, NULL));
    assert_false(sk_node_core_is_quiet(&c, NULL));
    assert_int_equal(c.quiet.times_told, 2);
    pthread_mutex_destroy(&c.lock);
}

static void silence_ends_with_a_picture(void **state)
{
    (void)state;
    sk_node_core c;
    double seconds = -1;
    begin_waiting(&c);
    int64_t before = sk_node_now_ns();
    assert_false(sk_node_core_is_quiet(&c, &seconds)); /* it counts from the first question */
    assert_true(c.quiet.from_ns >= before && c.quiet.from_ns <= sk_node_now_ns() && seconds < 60);
    c.quiet.from_ns = before - 100 * SECOND;
    c.quiet.times_told = 3;
    atomic_store(&c.last_came_ns, before - 20 * SECOND); /* the first one: a pause has two ends */
    assert_true(sk_node_core_is_quiet(&c, &seconds) && seconds >= 20 && seconds < 80);
    assert_true(c.quiet.longest_gap_ns == 0 && c.quiet.times_told == 1);
    assert_true(c.quiet.seen_ns == before - 20 * SECOND && c.quiet.from_ns == before - 20 * SECOND);
    atomic_store(&c.last_came_ns, before - 13 * SECOND);
    assert_false(sk_node_core_is_quiet(&c, &seconds)); /* 4 times 7 s is patience now */
    assert_true(c.quiet.longest_gap_ns == 7 * SECOND && c.quiet.times_told == 0 && seconds < 73);
    atomic_store(&c.last_came_ns, before - 11 * SECOND);
    assert_false(sk_node_core_is_quiet(&c, &seconds)); /* a shorter pause is no news */
    assert_true(c.quiet.longest_gap_ns == 7 * SECOND && c.quiet.seen_ns == before - 11 * SECOND);
    assert_false(sk_node_core_is_quiet(&c, &seconds)); /* nor is the same picture */
    assert_true(c.quiet.longest_gap_ns == 7 * SECOND && c.quiet.from_ns == before - 11 * SECOND);
    /* it listens anew: what came before does not count, nor how long that is ago */
    c.quiet.times_told = 2;
    before = sk_node_now_ns();
    sk_node_core_listen(&c);
    assert_true(c.quiet.from_ns >= before && c.quiet.times_told == 0);
    assert_false(sk_node_core_is_quiet(&c, &seconds));
    const int64_t began = c.quiet.from_ns = before - SECOND;
    atomic_store(&c.last_came_ns, before);
    assert_false(sk_node_core_is_quiet(&c, &seconds));
    assert_true(c.quiet.longest_gap_ns == 7 * SECOND && c.quiet.seen_ns == before && began < before);
    pthread_mutex_destroy(&c.lock);
}

/* --- what may change --- */

static void what_changes_while_it_runs(void **state)
{
    (void)state;
    sk_node_core *core = open_core("Detect", false);
    assert_int_equal(atomic_load(&core->frame_skip), 0);
    assert_ok(sk_node_core_set(core, "frame_skip", "3", &err), &err);
    assert_int_equal(atomic_load(&core->frame_skip), 3);
    assert_ok(sk_node_core_set(core, "frame_id", "left", &err), &err);
    assert_string_equal(sk_node_settings_text(core->settings, "frame_id"), "left");
    assert_int_equal(atomic_load(&core->frame_skip), 3);
    assert_ok(sk_node_core_set(core, "publish_annotated", "false", &err), &err);
    assert_int_equal(sk_node_core_set(core, "frame_skip", "-1", &err), SK_ERR_ARG);
    assert_int_equal(sk_node_core_set(core, "frame_skip", "many", &err), SK_ERR_ARG);
    assert_int_equal(atomic_load(&core->frame_skip), 3);
    static const char *const fixed[] = {"weights_path", "imgsz", "tracker", "qos_depth",
                                        "diagnostics_period"};
    for (int i = 0; i < 5; i++) {
        char words[256];
        const char *was = sk_node_settings_get(core->settings, fixed[i]);
        assert_int_equal(sk_node_core_set(core, fixed[i], "8", &err), SK_ERR_BUSY);
        snprintf(words, sizeof words,
                 "%s cannot change while the node is configured: deactivate it, clean it up and configure it "
                 "again",
                 fixed[i]);
        assert_string_equal(err.message, words);
        assert_ptr_equal(sk_node_settings_get(core->settings, fixed[i]), was);
    }
    assert_int_equal(sk_node_core_set(core, "frame_skipp", "1", &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "there is no parameter 'frame_skipp'; did you mean 'frame_skip'?");
    assert_int_equal(sk_node_core_set(core, NULL, "1", &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "there is no parameter ''");
    sk_node_core_close(&core);
}

static sk_status copy_settings(void *context, sk_error *error)
{
    sk_node_settings *s = NULL, *copy = NULL;
    int32_t *list = NULL, count = 0;
    (void)context;
    SK_TRY(sk_node_settings_open(&s, error));
    sk_status status = sk_node_settings_set(s, "frame_id", "a", error);
    if (status == SK_OK)
        status = sk_node_settings_set(s, "classes", "[3, 4]", error);
    if (status == SK_OK)
        status = sk_node_settings_set(s, "frame_id", "b", error);
    if (status == SK_OK)
        status = sk_node_settings_ints(s, "classes", &list, &count, error);
    if (status == SK_OK && !(copy = sk_node_settings_copy(s)))
        status = sk_fail_memory(error, 1);
    if (status == SK_OK)
        assert_true(count == 2 && list[0] == 3 && list[1] == 4 &&
                    strcmp(sk_node_settings_get(copy, "frame_id"), "b") == 0);
    sk_free(list);
    sk_node_settings_close(&copy);
    sk_node_settings_close(&s);
    return status;
}

static void settings_without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(copy_settings, NULL) >= 7);
}

/* --- pictures in packets --- */

static void packets_are_unpacked(void **state)
{
    (void)state;
    char path[4300], *bytes = NULL;
    size_t length = 0;
    put_noise();
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB, f.width = WIDTH, f.height = HEIGHT, f.stride = 3 * WIDTH, f.data = rgb;
    snprintf(path, sizeof path, "%s/one.png", test_folder());
    assert_ok(sk_picture_write(path, &f, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &bytes, &length, &err), &err);
    sk_node_image image = SK_NODE_IMAGE_INIT;
    sk_node_held held = {0};
    image.data = (const uint8_t *)bytes, image.length = length;
    assert_ok(sk_node_image_frame(&image, &held, &err), &err);
    assert_true(held.frame.width == WIDTH && held.frame.height == HEIGHT &&
                held.frame.format == SK_PIXEL_RGB);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal(held.frame.data + y * held.frame.stride, rgb + (ptrdiff_t)y * 3 * WIDTH,
                            3 * WIDTH);
    sk_slot_free(&held.slot);
    /* and through a whole node: what it finds is what it finds in the plain picture */
    sk_node_core *core = open_core("Detect", false);
    const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 4);
    assert_true(got->n_objects > 0);
    const sk_found plain = got->instances->items[0];
    const int32_t n = got->n_objects;
    sk_node_core_give_back(core, got);
    got = look(core, NULL, bytes, length, 5);
    assert_int_equal(got->n_objects, n);
    assert_memory_equal(got->instances->items[0].box, plain.box, sizeof plain.box);
    sk_node_core_give_back(core, got);
    sk_node_core_close(&core);
    sk_free(bytes);
}

/* --- covered --- */

static sk_found items[2];
static sk_keypoint points[6];
static sk_instances all = {.items = items, .count = 2, .capacity = 2};
static sk_result found = {.instances = &all, .width = 640, .height = 480};

static void follow_at(sk_node_core *c, int64_t frame, int32_t count)
{
    for (int i = 0; i < 2; i++) {
        const float x = 200.0F * (float)i + (float)frame;
        items[i] = (sk_found){.score = 0.9F,
                              .track_id = -1,
                              .has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                              .first_keypoint = 3 * i,
                              .box = {x, 50, x + 40, 70}};
        for (int k = 0; k < 3; k++)
            points[3 * i + k] = (sk_keypoint){x + 10 * (float)k, 60, 1};
    }
    all.count = count;
    all.keypoints = points, all.n_keypoints = 3;
    c->out.of = &found;
    c->out.told = (sk_node_result){.size = sizeof c->out.told, .stamp_ns = SECOND + frame * SECOND / 25};
    assert_ok(sk_node_follow(c, &err), &err);
}

/* Two are followed, the second is not found any more: it is told as covered, without points, and is nobody's that was found. */
static void one_that_is_covered(void **state)
{
    (void)state;
    sk_node_core *core = open_core("Pose", true), *c = core;
    int32_t ids[2] = {-1, -1}, covered = 0;
    for (int64_t f = 0; f < 20; f++)
        follow_at(c, f, 2);
    assert_int_equal(c->out.told.n_tracks, 2);
    for (int32_t i = 0; i < 2; i++) {
        sk_node_object o = SK_NODE_OBJECT_INIT;
        assert_true(sk_node_result_object(&c->out.told, i, &o));
        ids[i] = o.track;
        assert_non_null(o.points);
    }
    assert_true(ids[0] >= 0 && ids[1] >= 0 && ids[0] != ids[1]);
    for (int64_t f = 20; f < 24; f++) {
        follow_at(c, f, 1);
        sk_node_object o = SK_NODE_OBJECT_INIT;
        assert_true(sk_node_result_object(&c->out.told, 0, &o) && o.track == ids[0] && o.points);
        assert_false(sk_node_result_object(&c->out.told, 1, &o));
        for (int32_t i = 0; i < c->out.told.n_tracks; i++) {
            sk_node_track t = SK_NODE_TRACK_INIT;
            assert_true(sk_node_result_track(&c->out.told, i, &t));
            if (t.id == ids[1]) {
                assert_string_equal(t.state, "covered");
                assert_null(t.object.points);
                assert_true(t.object.track == ids[1]);
                covered++;
            } else {
                assert_string_equal(t.state, "active");
                assert_non_null(t.object.points);
                assert_true(t.id == ids[0] && t.certainty > 0);
                assert_true(fabs(t.x - ((double)f + 20)) < 5 && fabs(t.y - 60) < 5);
            }
        }
        sk_node_track t = SK_NODE_TRACK_INIT;
        assert_false(sk_node_result_track(&c->out.told, c->out.told.n_tracks, &t) ||
                     sk_node_result_track(&c->out.told, -1, &t));
    }
    assert_int_equal(covered, 4);
    c->out.of = NULL; /* it was not the pipeline's */
    sk_node_core_close(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_silence_is_told),       cmocka_unit_test(silence_ends_with_a_picture),
        cmocka_unit_test(what_changes_while_it_runs), cmocka_unit_test(settings_without_memory),
        cmocka_unit_test(packets_are_unpacked),       cmocka_unit_test(one_that_is_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
