/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "app/node_core_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "scene/scene.h"
#include "skitter/skitter.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What a robot's node is made of: what comes out is what the pipeline says of the same pixels, pictures that were lent come back
 * once, parameters are checked by name. */

#define WIDTH  320
#define HEIGHT 240

static uint8_t pixels[WIDTH * HEIGHT * 3];

/* The next frame of a scene into `pixels`. */
static void draw_next(sk_scene *scene)
{
    sk_scene_animal animals[3];
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_RGB;
    frame.width = WIDTH, frame.height = HEIGHT, frame.stride = 3 * WIDTH, frame.data = pixels;
    sk_scene_next(scene, &frame, animals);
}

static sk_scene *open_scene(void)
{
    sk_error err = {0};
    sk_scene *scene = NULL;
    sk_scene_settings how = sk_scene_defaults();
    how.animals = 3;
    how.width = WIDTH, how.height = HEIGHT;
    assert_ok(sk_scene_open(&how, &scene, &err), &err);
    return scene;
}

static sk_node_settings *settings_of(const char *model)
{
    sk_error err = {0};
    sk_node_settings *s = NULL;
    assert_ok(sk_node_settings_open(&s, &err), &err);
    if (model)
        assert_ok(sk_node_settings_set(s, "weights_path", test_source(model), &err), &err);
    return s;
}

static void set(sk_node_settings *s, const char *name, const char *value)
{
    sk_error err = {0};
    assert_ok(sk_node_settings_set(s, name, value, &err), &err);
}

static sk_node_core *open_core(sk_node_settings *s)
{
    sk_error err = {0};
    sk_node_core *core = NULL;
    assert_ok(sk_node_core_open(s, &core, &err), &err);
    sk_node_settings_close(&s);
    return core;
}

static sk_node_image image_of(const char *encoding, const void *data, size_t length)
{
    sk_node_image image = SK_NODE_IMAGE_INIT;
    image.width = WIDTH, image.height = HEIGHT;
    image.encoding = encoding;
    image.data = data;
    image.length = length;
    return image;
}

/* --- parameters --- */

static void parameters_are_checked_by_name(void **state)
{
    static const char *const wrong[][3] = {{"confidence_treshold", "0.5", "confidence_threshold"},
                                           {"confidence_threshold", "1.5", "from 0 to 1"},
                                           {"confidence_threshold", "high", "number"},
                                           {"max_detections", "3.5", "whole"},
                                           {"use_compile", "maybe", "true"},
                                           {"qos_reliability", "sometimes", "best_effort"},
                                           {"classes", "0, x", "list"},
                                           {"classes", "-1", "list"},
                                           {"precision", "f8", "fp16"},
                                           {"qos_depth", "0", "from 1 to 10000"}};
    sk_error err = {0};
    sk_node_settings *s = settings_of(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(sk_node_settings_set(s, wrong[i][0], wrong[i][1], &err), SK_OK);
        assert_non_null(strstr(err.message, wrong[i][2]));
    }
    sk_node_param p = SK_NODE_PARAM_INIT;
    for (int32_t i = 0; sk_node_param_get(i, &p); i++) { /* every default is allowed, and found by its name */
        assert_string_equal(sk_node_settings_get(s, p.name), p.fallback);
        set(s, p.name, p.fallback);
        assert_true(strlen(p.help) > 5);
    }
    set(s, "classes", "[0, 2]");
    set(s, "classes", "");
    assert_null(sk_node_settings_get(s, "nothing"));
    sk_node_settings_close(&s);
}

static void contradictions_name_both(void **state)
{
    sk_error err = {0};
    sk_node_core *core = NULL;
    sk_node_settings *s = settings_of(NULL);
    (void)state;
    assert_int_equal(sk_node_core_open(s, &core, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "weights_path"));
    set(s, "weights_path", test_source("share/models/demo-obb.pt"));
    set(s, "compute_runtime", "cuda");
    set(s, "execution_provider", "CPUExecutionProvider");
    assert_int_equal(sk_node_core_open(s, &core, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "cuda"));
    assert_non_null(strstr(err.message, "CPUExecutionProvider"));
    set(s, "execution_provider", "");
    set(s, "compute_runtime", "cpu");
    set(s, "device", "1");
    assert_int_equal(sk_node_core_open(s, &core, &err), SK_ERR_ARG);
    set(s, "device", "");
    set(s, "image_width", "640");
    assert_int_equal(sk_node_core_open(s, &core, &err), SK_ERR_ARG);
    assert_null(core);
    sk_node_settings_close(&s);
}

/* --- pictures in, results out --- */

static void compare(const sk_node_result *got, const sk_result *wanted)
{
    assert_int_equal(got->n_objects, sk_instances_count(wanted->instances));
    assert_true(got->n_objects > 0);
    for (int32_t i = 0; i < got->n_objects; i++) {
        sk_node_object o = SK_NODE_OBJECT_INIT;
        sk_instance w = SK_INSTANCE_INIT;
        assert_true(sk_node_result_object(got, i, &o) && sk_instances_get(wanted->instances, i, &w));
        assert_int_equal(o.class_id, w.class_id);
        assert_true(o.score == w.score);
        if (w.has & SK_HAS_OBB)
            assert_true(o.x == (double)w.obb[0] && o.size_x == (double)w.obb[2] &&
                        o.theta == (double)w.obb[4]);
        else
            assert_true(o.x == ((double)w.box[0] + (double)w.box[2]) / 2 && o.theta == 0);
        const sk_keypoint *p = sk_instances_keypoints(wanted->instances, i);
        const size_t bytes = (size_t)sk_instances_keypoint_count(wanted->instances) * sizeof *p;
        assert_true(bytes == 0 || memcmp(o.points, p, bytes) == 0);
    }
    sk_node_object none = SK_NODE_OBJECT_INIT;
    assert_false(sk_node_result_object(got, got->n_objects, &none));
}

static _Atomic int released;
static void count_release(void *user)
{
    assert_ptr_equal(user, &released);
    atomic_fetch_add(&released, 1);
}

static void what_comes_out_is_what_the_pipeline_says(void **state)
{
    static const char *const models[] = {"share/models/demo-obb.pt", "share/models/demo-pose.pt"};
    sk_error err = {0};
    sk_scene *scene = open_scene();
    (void)state;
    draw_next(scene);
    for (int m = 0; m < 2; m++) {
        const char *path = test_source(models[m]);
        sk_pipeline *pipeline = NULL;
        const sk_result *wanted = NULL;
        const sk_node_result *got = NULL;
        sk_frame frame = SK_FRAME_INIT;
        frame.format = SK_PIXEL_RGB;
        frame.width = WIDTH, frame.height = HEIGHT, frame.stride = 3 * WIDTH, frame.data = pixels;
        assert_ok(sk_pipeline_open(&path, 1, NULL, &pipeline, &err), &err);
        assert_ok(sk_pipeline_run(pipeline, &frame, &wanted, &err), &err);
        sk_node_core *core = open_core(settings_of(models[m]));
        sk_node_image image = image_of("rgb8", pixels, sizeof pixels);
        image.stamp_ns = 1234567890123456789;
        image.user = &released;
        image.release = count_release;
        atomic_store(&released, 0);
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
        assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
        assert_int_equal(got->stamp_ns, image.stamp_ns);
        assert_ptr_equal(got->user, &released);
        assert_int_equal(atomic_load(&released), 0);
        compare(got, wanted);
        sk_node_core_give_back(core, got);
        assert_int_equal(atomic_load(&released), 1);
        sk_node_core_close(&core);
        sk_pipeline_give_back(pipeline, wanted);
        sk_pipeline_close(&pipeline);
    }
    sk_scene_close(&scene);
}

/* The same picture as a PNG, as grey that was copied, and drawn on. */
static void pictures_come_in_many_forms(void **state)
{
    sk_error err = {0};
    sk_scene *scene = open_scene();
    const sk_node_result *got = NULL;
    char *png = NULL;
    size_t length = 0;
    static uint8_t bgr[sizeof pixels], drawn[sizeof pixels];
    char path[512];
    (void)state;
    draw_next(scene);
    sk_scene_close(&scene);
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_RGB;
    frame.width = WIDTH, frame.height = HEIGHT, frame.stride = 3 * WIDTH, frame.data = pixels;
    snprintf(path, sizeof path, "%s/frame.png", test_folder());
    assert_ok(sk_picture_write(path, &frame, &err), &err);
    assert_ok(sk_file_read(path, (size_t)1 << 24, &png, &length, &err), &err);
    for (size_t i = 0; i < sizeof pixels; i += 3)
        bgr[i] = pixels[i + 2], bgr[i + 1] = pixels[i + 1], bgr[i + 2] = pixels[i];
    sk_node_core *core = open_core(settings_of("share/models/demo-obb.pt"));
    sk_node_image images[] = {image_of("rgb8", pixels, sizeof pixels), image_of("bgr8", bgr, sizeof bgr),
                              image_of(NULL, png, length)};
    sk_node_object first = SK_NODE_OBJECT_INIT;
    for (int i = 0; i < 3; i++) {
        sk_node_object o = SK_NODE_OBJECT_INIT;
        assert_ok(sk_node_core_submit(core, &images[i], &err), &err);
        if (i == 1)
            memset(bgr, 0, sizeof bgr); /* it was copied */
        assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
        assert_int_equal(got->width, WIDTH);
        assert_true(sk_node_result_object(got, 0, &o));
        if (i == 0)
            first = o;
        assert_true(o.x == first.x && o.y == first.y && o.score == first.score && o.theta == first.theta);
        assert_ok(sk_node_core_draw(core, got, drawn, sizeof drawn, &err), &err);
        int changed = 0;
        for (size_t k = 0; k < sizeof drawn; k++)
            changed += drawn[k] != pixels[k];
        assert_in_range(changed, 100, sizeof drawn / 2);
        sk_node_core_give_back(core, got);
    }
    /* what is no picture is told, counted, and the next one passes */
    sk_node_image bad = image_of("rgb8", pixels, 10);
    assert_int_equal(sk_node_core_submit(core, &bad, &err), SK_ERR_FORMAT);
    char message[256];
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_ERROR);
    assert_non_null(strstr(message, "too few"));
    /* one row that claims a step of 4 GiB takes what it has */
    sk_node_image flat = image_of("rgb8", pixels, (size_t)3 * WIDTH);
    flat.height = 1;
    flat.step = UINT32_MAX;
    const int64_t before = sk_memory_live_bytes();
    assert_ok(sk_node_core_submit(core, &flat, &err), &err);
    assert_true(sk_memory_live_bytes() - before < (int64_t)64 << 20);
    assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
    assert_int_equal(got->status, SK_OK);
    sk_node_core_give_back(core, got);
    sk_node_core_close(&core);
    sk_free(png);
}

static void animals_are_followed(void **state)
{
    sk_error err = {0};
    sk_scene *scene = open_scene();
    sk_node_settings *s = settings_of("share/models/demo-obb.pt");
    int seen = 0;
    (void)state;
    sk_node_settings_follow(s, true);
    set(s, "qos_reliability", "reliable");
    sk_node_core *core = open_core(s);
    for (int64_t f = 0; f < 12; f++) {
        const sk_node_result *got = NULL;
        draw_next(scene);
        sk_node_image image = image_of("rgb8", pixels, sizeof pixels);
        image.stamp_ns = 1000000000000 + f * 33333333 + (f > 9 ? 5000000000 : 0); /* a pause */
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
        assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
        /* what was found is told, whatever the tracker makes of it */
        assert_int_equal(got->n_objects, sk_instances_count(got->instances));
        assert_true(got->n_objects > 0);
        for (int32_t i = 0; i < got->n_tracks; i++) {
            sk_node_track t = SK_NODE_TRACK_INIT;
            assert_true(sk_node_result_track(got, i, &t));
            assert_int_equal(t.id, t.object.track);
            assert_true(strcmp(t.state, "active") == 0 || strcmp(t.state, "covered") == 0);
            assert_true(isfinite(t.x) && isfinite(t.heading));
            seen++;
        }
        sk_node_core_give_back(core, got);
    }
    assert_true(seen > 12);
    sk_node_core_close(&core);
    sk_scene_close(&scene);
}

/* Who says how animals are followed has them followed; who says that they are not, has not. */
static void a_parameter_of_following_follows(void **state)
{
    static const char *const names[] = {"tracker", "animals"}, *const values[] = {"bytetrack", "3"};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int not_at_all = 0; not_at_all < 2; not_at_all++) {
            sk_error err = {0};
            const sk_node_result *got = NULL;
            sk_node_track t = SK_NODE_TRACK_INIT;
            sk_scene *scene = open_scene();
            sk_node_settings *s = settings_of("share/models/demo-obb.pt");
            int32_t seen = 0;
            if (i < 2)
                set(s, names[i], values[i]);
            if (not_at_all)
                sk_node_settings_follow(s, false);
            sk_node_core *core = open_core(s);
            for (int64_t f = 0; f < 4; f++) {
                draw_next(scene);
                sk_node_image image = image_of("rgb8", pixels, sizeof pixels);
                image.stamp_ns = 1000000000000 + f * 33333333;
                assert_ok(sk_node_core_submit(core, &image, &err), &err);
                assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
                seen += sk_node_result_track(got, 0, &t);
                sk_node_core_give_back(core, got);
            }
            assert_int_equal(seen > 0, i < 2 && !not_at_all);
            sk_node_core_close(&core);
            sk_scene_close(&scene);
        }
}

/* Pictures come faster than they are looked at: none waits for long, the last one is looked at, and all come back. */
static void the_newest_picture_wins(void **state)
{
    enum { MANY = 60 };
    sk_error err = {0};
    sk_scene *scene = open_scene();
    int64_t last = -1;
    int taken = 0;
    (void)state;
    draw_next(scene);
    sk_scene_close(&scene);
    sk_node_core *core = open_core(settings_of("share/models/demo-obb.pt")); /* best effort */
    atomic_store(&released, 0);
    for (int64_t i = 0; i < MANY; i++) {
        sk_node_image image = image_of("rgb8", pixels, sizeof pixels);
        image.stamp_ns = i;
        image.user = &released;
        image.release = count_release;
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
    }
    sk_node_core_finish(core);
    for (const sk_node_result *got = NULL;; taken++) {
        assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
        if (!got)
            break;
        assert_true(got->stamp_ns > last);
        last = got->stamp_ns;
        sk_node_core_give_back(core, got);
    }
    assert_int_equal(last, MANY - 1);
    assert_in_range(taken, 1, MANY / 2);
    assert_int_equal(atomic_load(&released), MANY);
    sk_node_core_close(&core);
}

/* As if what was, had been so many seconds before. */
static void let_pass(sk_node_core *core, int64_t seconds)
{
    const int64_t ns = seconds * 1000000000;
    core->quiet.from_ns -= ns;
    core->quiet.seen_ns -= ns;
    atomic_store(&core->last_came_ns, atomic_load(&core->last_came_ns) - ns);
}

/* When no picture comes: after 5 s, then rarely; a camera that is slow is let be. */
static void it_tells_that_nothing_comes(void **state)
{
    sk_error err = {0};
    double seconds = 0;
    sk_node_core *core = open_core(settings_of("share/models/demo-obb.pt"));
    const int64_t second = 1000000000;
    static const int64_t told_after[] = {5, 30, 120, 600, 1200, 1800};
    (void)state;
    sk_node_core_listen(core);
    assert_false(sk_node_core_is_quiet(core, &seconds));
    int64_t waited = 0;
    for (size_t i = 0; i < sizeof told_after / sizeof *told_after; i++) {
        core->quiet.from_ns -= (told_after[i] - waited - 1) * second;
        assert_false(sk_node_core_is_quiet(core, &seconds));
        core->quiet.from_ns -= second;
        assert_true(sk_node_core_is_quiet(core, &seconds));
        assert_int_equal((int)seconds, told_after[i]);
        assert_false(sk_node_core_is_quiet(core, NULL));
        waited = told_after[i];
    }
    sk_node_image image = image_of("rgb8", pixels, sizeof pixels);
    for (int i = 0; i < 2; i++) { /* 10 s apart */
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
        assert_false(sk_node_core_is_quiet(core, NULL));
        let_pass(core, i == 0 ? 10 : 30);
    }
    assert_false(sk_node_core_is_quiet(core, NULL));
    let_pass(core, 15);
    assert_true(sk_node_core_is_quiet(core, NULL));
    sk_node_core_close(&core);
}

static sk_node_speaker speaker_of(const char *topic, const char *type, bool reliable)
{
    sk_node_speaker s = SK_NODE_SPEAKER_INIT;
    s.topic = topic;
    s.type = type;
    s.reliable = reliable;
    return s;
}

static void it_tells_why_nothing_may_come(void **state)
{
    static const char image[] = "sensor_msgs/msg/Image", packed[] = "sensor_msgs/msg/CompressedImage";
    const struct {
        const char *reliability;
        sk_node_speaker speakers[6];
        int32_t n;
        const char *told;
    } cases[] = {
        {"best_effort",
         {{0}},
         0,
         "no image on /cam/image for 5 s: nobody publishes on it, nor images on any topic: is the"},
        {"best_effort",
         {speaker_of("/usb/x", image, true), speaker_of("/usb/x", image, true),
          speaker_of("/cam/image_raw", image, true),
          speaker_of("/cam/info", "sensor_msgs/msg/CameraInfo", true)},
         4,
         "nobody publishes on it; such images come on /cam/image_raw, /usb/x: input_topic:=/cam/image_raw"},
        {"best_effort",
         {speaker_of("/a/image/compressed", packed, true)},
         1,
         "compressed ones come on /a/image/compressed: input_transport:=compressed input_topic:=/a/image"},
        {"best_effort",
         {speaker_of("/cam/image", packed, true)},
         1,
         "1 publisher there, of type sensor_msgs/msg/CompressedImage, where sensor_msgs/msg/Image is asked "
         "for "
         "(input_transport:=compressed takes it)"},
        {"reliable",
         {speaker_of("/cam/image", image, false), speaker_of("/cam/image", image, false)},
         2,
         "2 publishers there, and what comes is not let through: it is offered best effort, and "
         "qos_reliability:=reliable asks"},
        {"reliable",
         {speaker_of("/cam/image", image, true), speaker_of("/x", image, true)},
         2,
         "1 publisher there, of the right type and quality of service, and nothing is sent"},
        {"best_effort",
         {speaker_of("/a1", image, true), speaker_of("/a2", image, true), speaker_of("/a3", image, true),
          speaker_of("/a4", image, true), speaker_of("/a5", image, true), speaker_of("/cam/a6", image, true)},
         6,
         "come on /cam/a6, /a1, /a2, /a3 and 2 more: input_topic:=/cam/a6"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_node_settings *s = settings_of("share/models/demo-obb.pt");
        char text[1024], tiny[20];
        set(s, "qos_reliability", cases[i].reliability);
        sk_node_core *core = open_core(s);
        sk_node_core_explain_quiet(core, "/cam/image", 5, cases[i].speakers, cases[i].n, text, sizeof text);
        if (!strstr(text, cases[i].told))
            fail_msg("case %zu: %s", i, text);
        sk_node_core_explain_quiet(core, "/cam/image", 5, cases[i].speakers, cases[i].n, tiny, sizeof tiny);
        assert_string_equal(tiny, "no image on /cam/im");
        sk_node_core_close(&core);
    }
}

static void it_tells_how_it_is(void **state)
{
    sk_error err = {0};
    sk_scene *scene = open_scene();
    sk_node_settings *s = settings_of("share/models/demo-obb.pt");
    const sk_node_result *got = NULL;
    sk_node_fact fact = SK_NODE_FACT_INIT;
    bool network = false, requested = false, received = false;
    char message[256];
    (void)state;
    draw_next(scene);
    sk_scene_close(&scene);
    set(s, "frame_skip", "1");
    set(s, "compute_runtime", "cpu");
    sk_node_core *core = open_core(s);
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_OK);
    atomic_store(&released, 0);
    for (int i = 0; i < 2; i++) { /* the second is left out, and comes back at once */
        sk_node_image image = image_of("rgb8", pixels, sizeof pixels);
        image.user = &released;
        image.release = count_release;
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
    }
    assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
    assert_int_equal(atomic_load(&released), 1);
    sk_node_core_give_back(core, got);
    sk_node_core_finish(core);
    assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
    assert_null(got);
    for (int32_t i = 0; sk_node_core_fact(core, i, &fact); i++) {
        network |= strcmp(fact.key, "network ms") == 0;
        requested |= strcmp(fact.key, "compute_runtime requested") == 0 && strcmp(fact.value, "cpu") == 0;
        received |= strcmp(fact.key, "pictures received") == 0 && strcmp(fact.value, "2") == 0;
    }
    assert_true(network && requested && received);
    assert_ok(sk_node_core_set(core, "frame_skip", "0", &err), &err);
    assert_int_equal(sk_node_core_set(core, "imgsz", "320", &err), SK_ERR_BUSY);
    assert_int_equal(sk_node_core_set(core, "frame_skip", "-1", &err), SK_ERR_ARG);
    sk_node_core_close(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_checked_by_name),
        cmocka_unit_test(contradictions_name_both),
        cmocka_unit_test(what_comes_out_is_what_the_pipeline_says),
        cmocka_unit_test(pictures_come_in_many_forms),
        cmocka_unit_test(animals_are_followed),
        cmocka_unit_test(a_parameter_of_following_follows),
        cmocka_unit_test(the_newest_picture_wins),
        cmocka_unit_test(it_tells_how_it_is),
        cmocka_unit_test(it_tells_that_nothing_comes),
        cmocka_unit_test(it_tells_why_nothing_may_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
