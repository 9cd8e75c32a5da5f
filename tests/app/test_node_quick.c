/* SPDX-License-Identifier: Apache-2.0 */
/* A robot's node with a tiny network: parameters by their words, what is told of animals of every kind, who is who, and drawings on
 * pictures of every form. */
#include "node_fixture.h"

#include "base/instances.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parameters --- */

static void values_and_words(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    sk_node_settings *s = NULL;
    assert_ok(sk_node_settings_open(&s, &err), &err);
    static const char *const tries[][2] = {{"classes", "1,2"},
                                           {"classes", "[1, 2 ]"},
                                           {"classes", "[ 1 ] "},
                                           {"classes", "1 2"},
                                           {"classes", "[1"},
                                           {"classes", "1]x"},
                                           {"classes", "100000"},
                                           {"classes", "100001"},
                                           {"classes", "-1"},
                                           {"classes", "x"},
                                           {"classes", ""},
                                           {"classes", "[]"},
                                           {"classes", "1,"},
                                           {"imgsz", "0"},
                                           {"imgsz", "16384"},
                                           {"imgsz", "16385"},
                                           {"imgsz", "-1"},
                                           {"imgsz", "1.0"},
                                           {"imgsz", ""},
                                           {"imgsz", "7x"},
                                           {"imgsz", "99999999999999999999"},
                                           {"confidence_threshold", "0"},
                                           {"confidence_threshold", "1"},
                                           {"confidence_threshold", "1.0001"},
                                           {"confidence_threshold", "nan"},
                                           {"confidence_threshold", "1e-3"},
                                           {"confidence_threshold", "0.5x"},
                                           {"use_compile", "true"},
                                           {"use_compile", "True"},
                                           {"use_compile", "1"},
                                           {"use_compile", "false"},
                                           {"use_compile", "False"},
                                           {"use_compile", "0"},
                                           {"use_compile", "yes"},
                                           {"tracker", "skitter"},
                                           {"tracker", "ocsort"},
                                           {"tracker", "ocsor"},
                                           {"tracker", "ocsort2"},
                                           {"tracker", ""},
                                           {"precision", ""},
                                           {"precision", "f16"},
                                           {"precision", "f1"},
                                           {"compute_runtime", "mps"},
                                           {"frame_id", "anything"},
                                           {"frame_skp", "1"},
                                           {"qos_depth", "0"},
                                           {"diagnostics_period", "3600.5"}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        const sk_status status = sk_node_settings_set(s, tries[i][0], tries[i][1], &err);
        sk_text_appendf(&all, "%s '%s': %s", tries[i][0], tries[i][1],
                        status == SK_OK ? "taken" : err.message);
        if (status == SK_OK && strcmp(tries[i][0], "classes") == 0) {
            int32_t *numbers = NULL, n = -1;
            assert_ok(sk_node_settings_ints(s, "classes", &numbers, &n, &err), &err);
            for (int32_t k = 0; k < n; k++)
                sk_text_appendf(&all, " %d", numbers[k]);
            sk_free(numbers);
        }
        sk_text_append(&all, "\n");
    }
    assert_true(sk_node_settings_refuse("nobody", "x", &err) == SK_ERR_ARG);
    sk_text_appendf(&all, "%s\n", err.message);
    assert_int_equal(sk_node_settings_set(s, NULL, "x", &err), SK_ERR_NOT_FOUND);
    sk_text_appendf(&all, "%s\n", err.message);
    test_text_is("tests/app/told/node_words.txt", sk_text_get(&all));
    sk_text_free(&all);
    assert_true(sk_node_settings_int(s, "imgsz") == 16384 &&
                sk_node_settings_double(s, "confidence_threshold") == 1e-3);
    assert_false(sk_node_settings_bool(s, "use_compile"));
    assert_true(sk_node_settings_bool(s, "publish_annotated"));
    assert_string_equal(sk_node_settings_text(s, "frame_id"), "anything");
    assert_null(sk_node_settings_text(s, "device"));
    sk_node_settings *copy = sk_node_settings_copy(s);
    sk_node_param p = SK_NODE_PARAM_INIT;
    for (int32_t i = 0; sk_node_param_get(i, &p); i++)
        assert_string_equal(sk_node_settings_get(s, p.name), sk_node_settings_get(copy, p.name));
    assert_true(sk_node_settings_follows(copy)); /* a tracker was named */
    sk_node_settings_follow(s, false);
    assert_false(sk_node_settings_follows(s));
    sk_node_settings_close(&copy);
    copy = sk_node_settings_copy(s);
    assert_false(sk_node_settings_follows(copy));
    sk_node_settings_close(&copy);
    sk_node_settings_close(&s);
    sk_node_settings_close(&s);
    assert_ok(sk_node_settings_open(&s, &err), &err);
    assert_false(sk_node_settings_follows(s));
    sk_node_settings_follow(s, true);
    assert_true(sk_node_settings_follows(s));
    sk_node_settings_close(&s);
}

/* --- pictures --- */

static uint8_t drawn[WIDTH * HEIGHT * 3];

static void animals_of_every_kind(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "OBB", "Pose"};
    put_noise();
    for (int h = 0; h < 3; h++) {
        sk_node_core *core = open_core(heads[h], false);
        const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 7);
        assert_true(got->n_objects > 0 && got->n_objects <= 4 && got->n_tracks == 0);
        for (int32_t i = 0; i < got->n_objects; i++) {
            sk_node_object o = SK_NODE_OBJECT_INIT;
            const sk_found *f = &got->instances->items[i];
            assert_true(sk_node_result_object(got, i, &o));
            assert_true(o.class_id == f->class_id && o.score == f->score && o.track == -1);
            assert_string_equal(o.class_name, sk_node_core_about(core)->class_names[f->class_id]);
            if (h == 1) {
                assert_true(o.x == (double)f->obb[0] && o.y == (double)f->obb[1] &&
                            o.size_x == (double)f->obb[2]);
                assert_true(o.size_y == (double)f->obb[3] && o.theta == (double)f->obb[4]);
            } else {
                assert_true(o.x == ((double)f->box[0] + (double)f->box[2]) / 2 &&
                            o.y == ((double)f->box[1] + (double)f->box[3]) / 2);
                assert_true(o.size_x == (double)f->box[2] - (double)f->box[0] &&
                            o.size_y == (double)f->box[3] - (double)f->box[1]);
                assert_true(o.theta == 0);
            }
            assert_true((o.points != NULL) == (h == 2));
        }
        sk_node_object none = SK_NODE_OBJECT_INIT;
        sk_node_track nobody = SK_NODE_TRACK_INIT;
        assert_false(sk_node_result_object(got, -1, &none) ||
                     sk_node_result_object(got, got->n_objects, &none));
        assert_false(sk_node_result_object(NULL, 0, &none) || sk_node_result_track(NULL, 0, &nobody) ||
                     sk_node_result_track(got, 0, &nobody));
        /* a pose without a box, a class that is none, and nothing at all */
        sk_found *f = &got->instances->items[0];
        const sk_found before = *f;
        if (h == 2) {
            sk_keypoint *k = &got->instances->keypoints[f->first_keypoint];
            f->has = SK_HAS_KEYPOINTS;
            k[0] = (sk_keypoint){10, 20, 1};
            k[1] = (sk_keypoint){NAN, NAN, 0};
            k[2] = (sk_keypoint){4, 28, 1};
            assert_true(sk_node_result_object(got, 0, &none));
            assert_true(none.x == 7 && none.y == 24 && none.size_x == 6 && none.size_y == 8 &&
                        none.theta == 0);
            k[0].x = k[0].y = k[2].x = k[2].y = NAN;
            assert_true(sk_node_result_object(got, 0, &none));
            assert_true(none.x == 0 && none.size_x == 0 && none.size_y == 0);
        }
        f->has = 0;
        f->class_id = 2; /* there are two */
        assert_true(sk_node_result_object(got, 0, &none));
        assert_true(none.x == 0 && none.y == 0 && none.size_x == 0 && !none.points);
        assert_string_equal(none.class_name, "");
        f->class_id = -1;
        assert_true(sk_node_result_object(got, 0, &none));
        assert_string_equal(none.class_name, "");
        *f = before;
        sk_node_core_give_back(core, got);
        sk_node_core_close(&core);
    }
}

/* The same picture over and over: the same animals; where stamps go back they begin anew. */
static void who_is_who(void **state)
{
    (void)state;
    put_noise();
    sk_node_core *core = open_core("Detect", true);
    int32_t ids[8] = {0}, n_ids = 0, told = 0;
    for (int64_t f = 0; f < 30; f++) {
        const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 1000000000 + f * 33333333);
        int32_t tracked = 0;
        for (int32_t i = 0; i < got->n_tracks; i++) {
            sk_node_track t = SK_NODE_TRACK_INIT;
            assert_true(sk_node_result_track(got, i, &t));
            assert_string_equal(t.state, "active");
            assert_true(t.id == t.object.track && t.id >= 0 && t.certainty >= 0 && t.certainty <= 1);
            assert_true(fabs(t.x - t.object.x) < 10 && fabs(t.y - t.object.y) < 10);
            told++;
        }
        for (int32_t i = 0; i < got->n_objects; i++) {
            sk_node_object o = SK_NODE_OBJECT_INIT;
            assert_true(sk_node_result_object(got, i, &o));
            tracked += o.track >= 0;
            if (f == 29 && o.track >= 0)
                ids[n_ids++] = o.track;
        }
        assert_int_equal(tracked, got->n_tracks); /* each is one of those that were found */
        assert_ok(sk_node_core_draw(core, got, drawn, sizeof drawn, &err), &err);
        sk_node_core_give_back(core, got);
    }
    assert_true(told > 10 && n_ids > 0);
    for (int32_t i = 0; i < n_ids; i++)
        for (int32_t k = 0; k < i; k++)
            assert_int_not_equal(ids[i], ids[k]);
    const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 5); /* long before: nobody is known yet */
    sk_node_track t = SK_NODE_TRACK_INIT;
    for (int32_t i = 0; i < got->n_tracks; i++)
        assert_true(sk_node_result_track(got, i, &t) && t.id < 8);
    sk_node_core_give_back(core, got);
    sk_node_core_close(&core);
}

/* What a diagnosis says: before a picture, after some, after one that was none. */
static void how_it_is(void **state)
{
    (void)state;
    static const char *const keys[] = {"compute_runtime requested",
                                       "compute_runtime effective",
                                       "device",
                                       "precision",
                                       "model",
                                       "model sha256",
                                       "task",
                                       "pictures received",
                                       "pictures processed",
                                       "pictures dropped for newer ones",
                                       "pictures skipped",
                                       "pictures failed",
                                       "seconds to get ready"};
    char message[256];
    put_noise();
    sk_node_core *core = open_core("Detect", false);
    sk_node_fact f = SK_NODE_FACT_INIT;
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_OK);
    assert_string_equal(message, "ready on cpu; no pictures yet");
    assert_false(sk_node_core_fact(core, 13, &f)); /* no stage was gone through */
    for (int i = 0; i < 3; i++)
        sk_node_core_give_back(core, look(core, "rgb8", rgb, sizeof rgb, 7 + i));
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_OK);
    assert_string_equal(message, "running on cpu");
    sk_node_image bad = SK_NODE_IMAGE_INIT;
    bad.width = WIDTH, bad.height = HEIGHT, bad.encoding = "rgb8", bad.data = rgb, bad.length = 10;
    assert_int_equal(sk_node_core_submit(core, &bad, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_ERROR);
    assert_non_null(strstr(message, "too few"));
    for (int i = 0; i < 13; i++) {
        assert_true(sk_node_core_fact(core, i, &f));
        assert_string_equal(f.key, keys[i]);
        static const char *const values[] = {NULL, "cpu", NULL, "f32", NULL, NULL, "detect",
                                             "4",  "3",   "0",  "0",   "1",  NULL};
        if (values[i])
            assert_string_equal(f.value, values[i]);
        assert_true(i == 0 || f.value[0] != '\0');
    }
    assert_true(strtod(f.value, NULL) > 0 && strtod(f.value, NULL) < 600);
    int32_t stages = 0;
    for (; sk_node_core_fact(core, 13 + stages, &f); stages++) {
        double mean, least, half, most_99, most;
        assert_true(strstr(f.key, " ms") == f.key + strlen(f.key) - 3);
        assert_int_equal(sscanf(f.value, "mean %lf, min %lf, p50 %lf, p99 %lf, max %lf", &mean, &least, &half,
                                &most_99, &most),
                         5);
        assert_true(least <= mean && mean <= most && least <= half && half <= most_99 && most_99 <= most);
    }
    assert_true(stages >= 3 && stages <= SK_STAGE_COUNT);
    assert_false(sk_node_core_fact(core, -1, &f) || sk_node_core_fact(core, 13 + stages, &f));
    sk_node_core_close(&core);
}

/* Whatever form it came in, what is drawn on is the picture. */
static void drawings(void **state)
{
    (void)state;
    static uint8_t bgr[sizeof rgb], grey[WIDTH * HEIGHT], rgba[WIDTH * HEIGHT * 4], first[sizeof rgb];
    put_noise();
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        for (int k = 0; k < 3; k++) {
            bgr[3 * i + k] = rgb[3 * i + 2 - k];
            rgba[4 * i + k] = rgb[3 * i + k];
        }
        grey[i] = rgb[3 * i];
    }
    static const struct {
        const char *encoding;
        const uint8_t *data;
        size_t length;
    } forms[] = {{"rgb8", rgb, sizeof rgb},
                 {"bgr8", bgr, sizeof bgr},
                 {"rgba8", rgba, sizeof rgba},
                 {"mono8", grey, sizeof grey}};
    sk_node_core *core = open_core("Detect", false);
    for (int i = 0; i < 4; i++) {
        const sk_node_result *got = look(core, forms[i].encoding, forms[i].data, forms[i].length, 7);
        assert_int_equal(sk_node_core_draw(core, got, drawn, sizeof drawn - 1, &err), SK_ERR_ARG);
        assert_string_equal(err.message, "5759 bytes hold no picture of 48 x 40 pixels");
        assert_int_equal(sk_node_core_draw(core, got, NULL, sizeof drawn, &err), SK_ERR_ARG);
        assert_int_equal(sk_node_core_draw(core, NULL, drawn, sizeof drawn, &err), SK_ERR_ARG);
        assert_string_equal(err.message, "there is no picture to draw on");
        memset(drawn, 0, sizeof drawn);
        assert_ok(sk_node_core_draw(core, got, drawn, sizeof drawn, &err), &err);
        int same = 0, grey_same = 0;
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            same += memcmp(drawn + 3 * k, rgb + 3 * k, 3) == 0;
            grey_same +=
                drawn[3 * k] == grey[k] && drawn[3 * k + 1] == grey[k] && drawn[3 * k + 2] == grey[k];
        }
        assert_true((i == 3 ? grey_same : same) > WIDTH * HEIGHT / 20 &&
                    (i == 3 ? grey_same : same) < WIDTH * HEIGHT);
        if (i == 0)
            memcpy(first, drawn, sizeof drawn);
        else if (i < 3)
            assert_memory_equal(first, drawn, sizeof drawn);
        sk_node_core_give_back(core, got);
    }
    assert_int_equal(sk_node_core_draw(core, NULL, drawn, sizeof drawn, &err), SK_ERR_ARG);
    sk_node_core_close(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_words), cmocka_unit_test(animals_of_every_kind),
        cmocka_unit_test(who_is_who),       cmocka_unit_test(drawings),
        cmocka_unit_test(how_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
