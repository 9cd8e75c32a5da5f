/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "engines/engine_header.h"
#include "engines/offload.h"

#include <math.h>
#include <string.h>

/* Which work around a network an engine may be asked to do, by what the model is and what is wanted; and the description that stands
 * before a plan in an engine's file. */

/* Two levels: class and box heads of each, and what the task adds. */
static sk_model model_of(sk_task task)
{
    sk_model m = {.task = task};
    sk_yolo_spec *y = &m.yolo;
    y->n_levels = 2, y->reg_max = 16, y->n_classes = 40, y->n_keypoints = 5, y->keypoint_dims = 3;
    y->stride[0] = 8, y->stride[1] = 16;
    for (int32_t k = 0; k < 2; k++) {
        y->heads[y->n_heads++] = (sk_head_spec){.kind = SK_HEAD_BOX, .level = k};
        y->heads[y->n_heads++] = (sk_head_spec){.kind = SK_HEAD_CLASS, .level = k};
        if (task != SK_TASK_DETECT)
            y->heads[y->n_heads++] =
                (sk_head_spec){.kind = task == SK_TASK_OBB ? SK_HEAD_ANGLE : SK_HEAD_KEYPOINTS, .level = k};
    }
    return m;
}

static void places_that_can_pass(void **state)
{
    (void)state;
    sk_sparse_outputs out;
    sk_model m = model_of(SK_TASK_POSE);
    assert_true(sk_offload_sparse(&m, 0.25f, &out));
    assert_int_equal(out.n_levels, 2);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(out.level[k].scores, 3 * k + 1);
        assert_int_equal(out.level[k].n_others, 2);
        assert_int_equal(out.level[k].others[0], 3 * k);
        assert_int_equal(out.level[k].others[1], 3 * k + 2);
    }
    assert_true((double)out.bound < log(0.25 / 0.75) && (double)out.bound > log(0.25 / 0.75) - 0.1);
    static const struct {
        float confidence;
        bool good;
    } confidences[] = {{0.001f, false}, {0.0011f, true}, {0.999f, true},
                       {1, false},      {0, false},      {NAN, false}};
    for (size_t i = 0; i < sizeof confidences / sizeof *confidences; i++)
        assert_int_equal(sk_offload_sparse(&m, confidences[i].confidence, &out), confidences[i].good);
    m.yolo.heads[m.yolo.n_heads++] = (sk_head_spec){.kind = SK_HEAD_PROTO, .level = -1};
    assert_true(sk_offload_sparse(&m, 0.25f, &out)); /* what belongs to no level is left alone */
    m = model_of(SK_TASK_POSE);
    m.yolo.heads[4].kind = SK_HEAD_BOX; /* a level without classes */
    assert_false(sk_offload_sparse(&m, 0.25f, &out));
    m = model_of(SK_TASK_POSE);
    m.yolo.heads[0].level = 2;
    assert_false(sk_offload_sparse(&m, 0.25f, &out));
    m.yolo.heads[0].level = -1;
    assert_false(sk_offload_sparse(&m, 0.25f, &out));
    m = model_of(SK_TASK_POSE);
    for (int i = 0; i < 2; i++) {
        m.yolo.heads[m.yolo.n_heads++] = (sk_head_spec){.kind = SK_HEAD_BOX, .level = 0};
        assert_int_equal(sk_offload_sparse(&m, 0.25f, &out), i == 0); /* three others, not four */
    }
    m = model_of(SK_TASK_POSE);
    m.yolo.n_heads = 0;
    assert_false(sk_offload_sparse(&m, 0.25f, &out));
    m = model_of(SK_TASK_POSE);
    m.yolo.n_levels = 0;
    assert_false(sk_offload_sparse(&m, 0.25f, &out));
    m.yolo.n_levels = SK_SPARSE_LEVELS + 1;
    assert_false(sk_offload_sparse(&m, 0.25f, &out));
    m = model_of(SK_TASK_DETECT);
    m.yolo.n_levels = 1, m.yolo.n_heads = 1, m.yolo.heads[0].kind = SK_HEAD_CLASS;
    assert_true(sk_offload_sparse(&m, 0.25f, &out));
}

static void detections_that_are_found(void **state)
{
    (void)state;
    static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_POSE, SK_TASK_OBB};
    sk_yolo_settings s = sk_yolo_settings_defaults();
    sk_found_outputs out;
    s.confidence = 0.125f, s.max_det = 77;
    for (int i = 0; i < 3; i++) {
        sk_model m = model_of(tasks[i]);
        assert_true(sk_offload_found(&m, &s, &out));
        const int32_t each = tasks[i] == SK_TASK_DETECT ? 2 : 3;
        for (int32_t k = 0; k < 2; k++) {
            assert_int_equal(out.level[k].box, each * k);
            assert_int_equal(out.level[k].scores, each * k + 1);
            assert_int_equal(out.level[k].extra, each == 3 ? each * k + 2 : -1);
            assert_true(out.level[k].stride == 8.0f * (float)(k + 1));
        }
        assert_int_equal(out.oriented, tasks[i] == SK_TASK_OBB);
        assert_int_equal(out.n_keypoints, tasks[i] == SK_TASK_POSE ? 5 : 0);
        assert_true(out.max_det == 77 && out.reg_max == 16 && out.confidence == 0.125f &&
                    out.one_to_one == 0 && out.filter == 0 && out.most > 77);
        m.yolo.heads[each].kind = SK_HEAD_CLASS; /* the second level has no box */
        assert_false(sk_offload_found(&m, &s, &out));
        m = model_of(tasks[i]);
        m.yolo.heads[each + 1].kind = SK_HEAD_BOX; /* … and no scores */
        assert_false(sk_offload_found(&m, &s, &out));
        m = model_of(tasks[i]);
        if (each == 3) {
            m.yolo.heads[5].kind = SK_HEAD_BOX; /* … and none of what the task adds */
            assert_false(sk_offload_found(&m, &s, &out));
        }
        m = model_of(tasks[i]);
        m.yolo.heads[0].level = 2;
        assert_false(sk_offload_found(&m, &s, &out));
        m.yolo.heads[0].level = -1;
        assert_false(sk_offload_found(&m, &s, &out));
        m = model_of(tasks[i]);
        m.yolo.nms_tail = 1;
        assert_false(sk_offload_found(&m, &s, &out));
    }
    sk_model m = model_of(SK_TASK_DETECT);
    m.task = SK_TASK_SEGMENT;
    assert_false(sk_offload_found(&m, &s, &out));
    m = model_of(SK_TASK_DETECT);
    m.yolo.n_levels = SK_FOUND_MOST_LEVELS + 1;
    assert_false(sk_offload_found(&m, &s, &out));
    m.yolo.n_levels = 0;
    assert_false(sk_offload_found(&m, &s, &out));
    m = model_of(SK_TASK_DETECT);
    m.yolo.n_heads = 0;
    assert_false(sk_offload_found(&m, &s, &out));
    s.max_det = 1000000;
    m = model_of(SK_TASK_DETECT);
    assert_true(sk_offload_found(&m, &s, &out));
    assert_int_equal(out.max_det, out.most);
}

static void classes_that_are_wanted(void **state)
{
    (void)state;
    const int32_t classes[] = {0, 31, 32, 39}, beyond[] = {40}, below[] = {-1};
    sk_yolo_settings s = sk_yolo_settings_defaults();
    sk_found_outputs out;
    sk_model m = model_of(SK_TASK_DETECT);
    s.classes = classes, s.n_classes = 4;
    assert_true(sk_offload_found(&m, &s, &out));
    assert_int_equal(out.filter, 1);
    assert_int_equal(out.wanted[0], 1u | 1u << 31);
    assert_int_equal(out.wanted[1], 1u | 1u << 7);
    m.yolo.n_classes = SK_FOUND_MOST_CLASSES;
    assert_true(sk_offload_found(&m, &s, &out));
    m.yolo.n_classes = SK_FOUND_MOST_CLASSES + 1;
    assert_false(sk_offload_found(&m, &s, &out));
    m = model_of(SK_TASK_DETECT);
    s.classes = beyond, s.n_classes = 1;
    assert_false(sk_offload_found(&m, &s, &out));
    s.classes = below;
    assert_false(sk_offload_found(&m, &s, &out));
    /* one-to-one heads rank as many as the model says, as long as the pairs fit */
    s = sk_yolo_settings_defaults();
    m.yolo.end2end = 1;
    assert_true(sk_offload_found(&m, &s, &out));
    assert_true(out.one_to_one == 40 && out.max_det == 300 && out.most == 300);
    m.yolo.max_det = SK_FOUND_MOST_PAIRS / 40;
    assert_true(sk_offload_found(&m, &s, &out));
    assert_int_equal(out.max_det, SK_FOUND_MOST_PAIRS / 40);
    m.yolo.max_det++;
    assert_false(sk_offload_found(&m, &s, &out));
}

static void crops_and_frames(void **state)
{
    (void)state;
    const sk_crop_form form = {.rule = SK_CROP_LETTERBOX, .width = 9};
    static const struct {
        sk_pixel_format format;
        bool good;
        int32_t channels, swap;
    } cases[] = {{SK_PIXEL_RGB, true, 3, 0},
                 {SK_PIXEL_BGR, true, 3, 1},
                 {SK_PIXEL_GRAY, true, 1, 0},
                 {SK_PIXEL_NV12, false, 0, 0},
                 {SK_PIXEL_RGBA, false, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_frame like = {.format = cases[i].format};
        sk_crop_wish wish = {0};
        assert_int_equal(sk_offload_crops(&form, &like, &wish), cases[i].good);
        assert_int_equal(wish.channels, cases[i].channels);
        assert_int_equal(wish.swap, cases[i].swap);
        assert_int_equal(wish.form.width, cases[i].good ? 9 : 0);
        assert_false(sk_offload_crops(NULL, &like, &wish));
    }
}

/* How frames of every format are fitted, and what of it is asked for in other words by a stage. */
static void frames_that_are_fitted(void **state)
{
    (void)state;
    static const struct {
        sk_pixel_format format;
        bool good;
        int32_t channels, swap, nv12;
    } cases[] = {{SK_PIXEL_RGB, true, 3, 0, 0},   {SK_PIXEL_BGR, true, 3, 1, 0},
                 {SK_PIXEL_GRAY, true, 1, 0, 0},  {SK_PIXEL_NV12, true, 3, 0, 1},
                 {SK_PIXEL_I420, false, 0, 0, 0}, {SK_PIXEL_RGBA, false, 0, 0, 0},
                 {SK_PIXEL_YUYV, false, 0, 0, 0}};
    const sk_letterbox_geometry box = {.frame_width = 11,
                                       .frame_height = 12,
                                       .width = 13,
                                       .height = 14,
                                       .resized_width = 15,
                                       .resized_height = 16,
                                       .left = 17,
                                       .top = 18};
    sk_sleap_geometry sizes = {.frame_width = 21,
                               .frame_height = 22,
                               .fitted_width = 23,
                               .fitted_height = 24,
                               .sized_width = 25,
                               .sized_height = 26,
                               .scaled_width = 27,
                               .scaled_height = 28,
                               .input_scale = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int how = 0; how < 4; how++) {
            const sk_frame like = {
                .format = cases[i].format, .matrix = SK_COLOUR_BT2020, .full_range = how & 1};
            sk_frame_fit fit, stage;
            const int32_t nv12 = cases[i].nv12;
            assert_int_equal(sk_offload_fit(&box, &like, &fit), cases[i].good);
            if (cases[i].good) {
                assert_true(fit.frame_width == 11 && fit.frame_height == 12 && fit.resized_width == 15 &&
                            fit.resized_height == 16 && fit.left == 17 && fit.top == 18 &&
                            fit.border == 114 && fit.rule == SK_FIT_LETTERBOX && !fit.whole);
                assert_true(fit.channels == cases[i].channels && fit.swap == cases[i].swap &&
                            fit.nv12 == nv12);
                assert_true(fit.matrix == (nv12 ? SK_COLOUR_BT2020 : 0) &&
                            fit.full_range == (nv12 && (how & 1)));
            }
            /* a network that wants B, G, R: what is so already is left, the rest is exchanged */
            const sk_task_fit way = {.rule = SK_TASK_FIT_LETTERBOX, .box = box, .bgr = how & 2};
            assert_int_equal(sk_offload_fit_stage(&way, &like, &stage), cases[i].good);
            if (cases[i].good) {
                const bool bgr = how & 2;
                const int32_t swap = nv12 ? bgr : cases[i].channels == 3 ? cases[i].swap != (int)bgr : 0;
                assert_true(stage.swap == swap && stage.nv12 == nv12 && stage.channels == cases[i].channels &&
                            stage.left == 17);
            }
            sizes.input_scale = how & 1 ? 0.5f : 1.0f;
            const sk_task_fit sleap = {.rule = SK_TASK_FIT_SLEAP,
                                       .sizes = sizes,
                                       .legacy = how & 2,
                                       .grey = SK_SLEAP_GREY_LAST,
                                       .bgr = true};
            assert_int_equal(sk_offload_fit_stage(&sleap, &like, &stage), cases[i].good);
            if (cases[i].good) {
                assert_true(stage.frame_width == 21 && stage.frame_height == 22 && stage.fitted_width == 23 &&
                            stage.fitted_height == 24 && stage.sized_width == 25 &&
                            stage.sized_height == 26 && stage.resized_width == 27 &&
                            stage.resized_height == 28);
                assert_true(stage.rule == (how & 2 ? SK_FIT_SLEAP_OLD : SK_FIT_SLEAP) &&
                            stage.scales == (how & 1) && stage.grey == SK_SLEAP_GREY_LAST &&
                            stage.left == 0 && stage.border == 0);
                assert_true(stage.channels == cases[i].channels && stage.swap == cases[i].swap &&
                            stage.nv12 == nv12);
                assert_true(stage.matrix == (nv12 ? SK_COLOUR_BT2020 : 0) &&
                            stage.full_range == (nv12 && (how & 1)));
            }
        }
    /* rows that a letterbox does not read stay where they are, unless crops will be cut */
    for (int how = 0; how < 3; how++) {
        sk_error err = {0};
        sk_row_strips strips = {9, 9, 9, 9}, wanted = {0};
        const sk_frame_fit fit = {.frame_width = 1920,
                                  .frame_height = 1080,
                                  .resized_width = 320,
                                  .resized_height = 180,
                                  .rule = how == 1 ? SK_FIT_SLEAP : SK_FIT_LETTERBOX,
                                  .whole = how == 2};
        if (how == 0)
            assert_ok(sk_row_strips_find(1920, 1080, 320, 180, &wanted, &err), &err);
        assert_ok(sk_offload_strips(&fit, &strips, &err), &err);
        assert_true(strips.first == wanted.first && strips.step == wanted.step &&
                    strips.height == wanted.height && strips.count == wanted.count);
        assert_true((strips.count > 0) == (how == 0));
    }
}

/* --- the description before a plan --- */

static void descriptions_are_joined_and_found(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", "{\"a\": 1}", "{\"a\": 1}\n", "{}  \n \n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t plan = 0; plan < 3; plan++) {
            uint8_t *file = NULL;
            size_t length = 0, begin = 9, end = 9;
            sk_error err = {0};
            assert_ok(sk_engine_header_join(texts[i], "PLAN", plan, &file, &length, &err), &err);
            const size_t json = strrchr(texts[i], '}') + 1 - texts[i];
            assert_int_equal(length, 4 + json + plan);
            assert_memory_equal(file + 4, texts[i], json);
            assert_memory_equal(file + 4 + json, "PLAN", plan);
            assert_true(sk_engine_header_find(file, length, &begin, &end));
            assert_int_equal(begin, 4);
            assert_int_equal(end, 4 + json);
            for (size_t cut = 0; cut < 4 + json; cut++) {
                assert_false(sk_engine_header_find(file, cut, &begin, &end));
                assert_true(begin == 0 && end == 0);
            }
            file[4] = '[';
            assert_false(sk_engine_header_find(file, length, &begin, &end));
            file[4] = '{', file[3 + json] = ']';
            assert_false(sk_engine_header_find(file, length, &begin, &end));
            sk_free(file);
        }
    size_t begin, end;
    assert_false(sk_engine_header_find("\1\0\0\0{}", 6, &begin, &end));        /* shorter than two brackets */
    assert_false(sk_engine_header_find("\2\0\0\1{}......", 12, &begin, &end)); /* longer than the file */
    assert_true(sk_engine_header_find("\2\0\0\0{}", 6, &begin, &end));
    const size_t most = (size_t)16 << 20;
    char *longest = sk_malloc(most + 8);
    memset(longest, 'x', most + 8);
    longest[most] = '\0';
    uint8_t *file = NULL;
    size_t length = 0;
    sk_error err = {0};
    assert_ok(sk_engine_header_join(longest, "", 0, &file, &length, &err), &err);
    sk_free(file);
    longest[most] = 'x', longest[most + 1] = '\0';
    assert_int_equal(sk_engine_header_join(longest, "", 0, &file, &length, &err), SK_ERR_LIMIT);
    assert_null(file);
    sk_free(longest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_can_pass),    cmocka_unit_test(detections_that_are_found),
        cmocka_unit_test(classes_that_are_wanted), cmocka_unit_test(crops_and_frames),
        cmocka_unit_test(frames_that_are_fitted),  cmocka_unit_test(descriptions_are_joined_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
