/* SPDX-License-Identifier: Apache-2.0 */
/* A robot's node at its edges: animals that are made by hand instead of found, pictures that are none, calls that are wrong. */
#include "node_fixture.h"

#include "base/instances.h"
#include "base/memory.h"
#include "skitter/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char warned[512];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", message);
}

/* Three: the second has no shape, so nobody can follow it; the third is there from the fourth frame on. */
static sk_found items[3];
static sk_instances all = {.items = items, .count = 3, .capacity = 3};
static sk_result found = {.instances = &all, .width = 640, .height = 480};

static void follow_at(sk_node_core *c, int64_t frame, int64_t stamp)
{
    for (int i = 0; i < 3; i++)
        items[i] = (sk_found){
            .score = 0.9F,
            .track_id = -1,
            .has = i == 1 ? 0 : SK_HAS_BOX,
            .box = {150.0F * (float)i + (float)frame, 50, 150.0F * (float)i + (float)frame + 40, 70}};
    all.count = frame < 3 ? 2 : 3;
    c->out.of = &found;
    c->out.told = (sk_node_result){.size = sizeof c->out.told, .stamp_ns = stamp};
    assert_ok(sk_node_follow(c, &err), &err);
    assert_true(c->out.told.n_objects == all.count && c->out.told.instances == &all);
}

static int32_t track_of(const sk_node_core *c, int32_t index)
{
    sk_node_object o = SK_NODE_OBJECT_INIT;
    assert_true(sk_node_result_object(&c->out.told, index, &o));
    return o.track;
}

static void each_has_its_track_or_none(void **state)
{
    (void)state;
    static const int64_t second = 1000000000;
    sk_node_core *core = open_core("Detect", true), *c = core;
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    int32_t first = -1, second_one = -1;
    warned[0] = '\0';
    for (int64_t f = 0; f < 12; f++) {
        follow_at(c, f, 77 * second + f * second / 25);
        assert_true(c->entry == f + 1 && c->first_ns == 77 * second && c->out.tracks.index == f);
        assert_true(fabs(c->out.tracks.time - (double)f / 25) < 1e-9);
        assert_int_equal(track_of(c, 1), -1);
        if (f > 4)
            assert_true(track_of(c, 0) == first && first >= 0);
        if (f > 8)
            assert_true(track_of(c, 2) == second_one && second_one >= 0 && second_one != first);
        first = track_of(c, 0);
        second_one = all.count > 2 ? track_of(c, 2) : -1;
        for (int32_t i = 0; i < c->out.told.n_tracks; i++) {
            sk_node_track t = SK_NODE_TRACK_INIT;
            assert_true(sk_node_result_track(&c->out.told, i, &t));
            assert_true(t.id == t.object.track && (t.id == first || t.id == second_one));
            assert_null(t.object.points);
        }
    }
    assert_string_equal(warned, "");
    follow_at(c, 12, 77 * second + 11 * second / 25); /* the same once more is not back */
    assert_true(c->entry == 13 && !warned[0]);
    follow_at(c, 13, 76 * second); /* it is told, and all begins anew there */
    assert_string_equal(warned, "stamps went back by 1.440 s: tracks begin anew");
    assert_true(c->entry == 1 && c->first_ns == 76 * second && c->last_ns == 76 * second &&
                c->out.tracks.time == 0);
    sk_log_unlisten(&listener);
    c->out.of = NULL; /* it was not the pipeline's */
    sk_node_core_close(&core);
}

static void calls_that_are_wrong(void **state)
{
    (void)state;
    sk_node_core *core = NULL;
    sk_node_settings *s = node_settings("Detect");
    assert_int_equal(sk_node_core_open(s, NULL, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "sk_node_core_open without a place for the core");
    core = (sk_node_core *)s;
    assert_int_equal(sk_node_core_open(NULL, &core, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "sk_node_core_open without settings");
    assert_null(core);
    sk_node_core_close(NULL);
    sk_node_core_close(&core);
    assert_ok(sk_node_core_open(s, &core, &err), &err);
    sk_node_settings_close(&s);
    /* pictures that are none are told and counted, also where nobody asks why; who gave them keeps them */
    sk_node_image image = SK_NODE_IMAGE_INIT;
    image.width = WIDTH, image.height = HEIGHT, image.encoding = "rgb8", image.length = sizeof rgb;
    assert_int_equal(sk_node_core_submit(core, &image, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "an image without bytes");
    image.data = rgb, image.length = 0;
    assert_int_equal(sk_node_core_submit(core, &image, NULL), SK_ERR_FORMAT);
    assert_int_equal(atomic_load(&core->refused), 2);
    assert_string_equal(core->problem, "an image without bytes");
    image.encoding = NULL, image.length = 40;
    assert_int_equal(sk_node_core_submit(core, &image, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "a compressed image"));
    assert_int_equal(atomic_load(&core->refused), 3);
    image.size = 0;
    assert_int_equal(sk_node_core_submit(core, &image, &err), SK_ERR_ARG);
    assert_int_equal(atomic_load(&core->came), 3);
    sk_node_core_close(&core);
}

/* What is out when it is closed is given back; a picture without a name of its own class is told by its number. */
static void closed_with_a_result_out(void **state)
{
    (void)state;
    put_noise();
    sk_node_core *core = open_core("Detect", false);
    const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 1);
    assert_true(got->n_objects > 0);
    assert_string_equal(core->class_numbers[0], "0");
    assert_string_equal(core->class_numbers[1], "1");
    sk_node_core_close(&core);
    assert_null(core);
}

/* Parameters that bound what is found. */
static void bounds_of_what_is_found(void **state)
{
    (void)state;
    put_noise();
    static const char *const rows[][2] = {
        {"max_detections", "1"}, {"confidence_threshold", "0.999"}, {"imgsz", "64"}};
    for (int i = 0; i < 3; i++) {
        sk_node_settings *s = node_settings("Detect");
        sk_node_core *core = NULL;
        assert_ok(sk_node_settings_set(s, rows[i][0], rows[i][1], &err), &err);
        assert_ok(sk_node_core_open(s, &core, &err), &err);
        const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 1);
        assert_in_range(got->n_objects, i == 1 ? 0 : 1, i == 1 ? 0 : i == 0 ? 1 : 4);
        sk_node_core_give_back(core, got);
        sk_node_core_close(&core);
        sk_node_settings_close(&s);
    }
}

/* A picture whose memory is not lent is copied, all of its rows and planes, into memory that is kept for the next. */
static void pictures_that_are_copied(void **state)
{
    (void)state;
    static const struct {
        const char *encoding;
        int32_t width, height;
        uint32_t step;
        size_t length, copied;
    } rows[] = {{"rgb8", 6, 4, 0, 72, 72},  {"rgb8", 6, 4, 20, 80, 80}, {"rgb8", 6, 4, 20, 78, 78},
                {"mono8", 6, 4, 8, 40, 32}, {"nv12", 6, 4, 0, 36, 36},  {"nv12", 6, 4, 8, 48, 48},
                {"nv12", 6, 5, 6, 48, 48},  {"rgb8", 2, 2, 0, 12, 12}};
    uint8_t bytes[100];
    sk_node_held held = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_node_image image = SK_NODE_IMAGE_INIT;
        const uint8_t *before = held.slot.memory;
        const size_t room = held.slot.capacity;
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(k * 7 + i);
        image.width = rows[i].width, image.height = rows[i].height;
        image.encoding = rows[i].encoding;
        image.step = rows[i].step;
        image.data = bytes, image.length = rows[i].length;
        assert_ok(sk_node_image_frame(&image, &held, &err), &err);
        assert_true(held.frame.width == rows[i].width && held.frame.height == rows[i].height);
        assert_ptr_equal(held.frame.data, held.slot.memory);
        assert_true(held.slot.capacity >= rows[i].copied);
        assert_memory_equal(held.slot.memory, bytes, rows[i].copied);
        if (room >= rows[i].copied)
            assert_true(held.slot.memory == before && held.slot.capacity == room);
    }
    sk_slot_free(&held.slot);
}

/* Which parameters a node that runs may take: at once, or with a core that is opened anew. */
static void what_may_change(void **state)
{
    (void)state;
    static const char live[] = " frame_skip frame_id publish_annotated ",
                      counts[] = " confidence_threshold iou_threshold classes max_detections peak_threshold "
                                 "max_instances ";
    sk_node_param p = SK_NODE_PARAM_INIT;
    int32_t n = 0, n_live = 0, n_found = 0;
    for (; sk_node_param_get(n, &p); n++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", p.name);
        assert_int_equal(p.live, strstr(live, word) != NULL);
        assert_int_equal(p.found, strstr(counts, word) != NULL);
        n_live += p.live;
        n_found += p.found;
    }
    assert_true(n_live == 3 && n_found == 6 && n > 20);
    assert_false(sk_node_param_get(-1, &p) || sk_node_param_get(n + 1, &p));
}

static void lists_of_numbers(void **state)
{
    (void)state;
    sk_node_settings *s = NULL;
    int32_t *list = &(int32_t){1}, count = 7;
    assert_ok(sk_node_settings_open(&s, &err), &err);
    static const char *const none[] = {"", "[]", "[ ]"};
    for (int i = 0; i < 3; i++) {
        assert_ok(sk_node_settings_set(s, "classes", none[i], &err), &err);
        assert_ok(sk_node_settings_ints(s, "classes", &list, &count, &err), &err);
        assert_true(!list && count == 0);
    }
    assert_ok(sk_node_settings_set(s, "classes", "[5, 6,7]", &err), &err);
    assert_ok(sk_node_settings_ints(s, "classes", &list, &count, &err), &err);
    assert_true(count == 3 && list[0] == 5 && list[1] == 6 && list[2] == 7);
    sk_free(list);
    sk_error wanted;
    (void)sk_fail_memory(&wanted, 3 * sizeof *list);
    sk_memory_fail_nth(1);
    assert_int_equal(sk_node_settings_ints(s, "classes", &list, &count, &err), SK_ERR_MEMORY);
    sk_memory_fail_nth(0);
    assert_string_equal(err.message, wanted.message);
    assert_null(list);
    sk_node_settings_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_track_or_none), cmocka_unit_test(calls_that_are_wrong),
        cmocka_unit_test(closed_with_a_result_out),   cmocka_unit_test(bounds_of_what_is_found),
        cmocka_unit_test(pictures_that_are_copied),   cmocka_unit_test(what_may_change),
        cmocka_unit_test(lists_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
