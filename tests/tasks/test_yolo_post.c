/* SPDX-License-Identifier: Apache-2.0 */
/* What a YOLO network found, chosen by its settings and put into the frame. */
#include "support/test.h"

#include "base/instances.h"
#include "tasks/yolo_post.h"

#include <math.h>
#include <string.h>

static sk_error err;
static sk_yolo_post *post;
static sk_instances out;

/* A frame of 400 x 200 in an input of 40 x 40: a tenth, with a border of 10 above and below. */
static const sk_letterbox_geometry tenth = {.frame_width = 400,
                                            .frame_height = 200,
                                            .width = 40,
                                            .height = 40,
                                            .resized_width = 40,
                                            .resized_height = 20,
                                            .top = 10,
                                            .bottom = 10,
                                            .gain = 0.1};

static sk_yolo_spec spec_of(sk_task task)
{
    sk_yolo_spec s = {.n_levels = 1, .stride = {8}, .reg_max = 1, .n_classes = 3};
    if (task == SK_TASK_POSE)
        s.n_keypoints = 2, s.keypoint_dims = 3;
    return s;
}

static void open_post(sk_task task, const sk_yolo_settings *settings)
{
    const sk_yolo_spec s = spec_of(task);
    assert_ok(sk_yolo_post_open(&s, task, settings, 40, 40, &post, &err), &err);
    assert_ok(sk_instances_alloc(300, s.n_keypoints, &out, &err), &err);
}

static void close_post(void)
{
    sk_yolo_post_close(&post);
    sk_instances_free(&out);
}

/* Rows as they are found: each its values one behind the other. */
static void run(const float *rows, int32_t each, int32_t count)
{
    const sk_map map = {rows, each, 1, count, 1, each};
    assert_ok(sk_yolo_post_run(post, SK_YOLO_FOUND, &map, 1, &tenth, &out, &err), &err);
}

/* Oriented boxes that are no numbers in the frame are left out; those behind them are not. */
static void boxes_beyond_all_numbers(void **state)
{
    (void)state;
    static const float rows[][7] = {
        {20, 20, 4, 2, 0.9f, 1, 0},    {20, 20, 3e38f, 2, 0.8f, 1, 0}, {10, 15, 4, 2, 0.7f, 2, 0},
        {3e38f, 20, 4, 2, 0.6f, 1, 0}, {20, -3e38f, 4, 2, 0.5f, 1, 0}, {30, 25, 2, 4, 0.4f, 0, 0},
    };
    static const float wanted[][6] = {
        {200, 100, 40, 20, 0.9f, 1}, {100, 50, 40, 20, 0.7f, 2}, {300, 150, 40, 20, 0.4f, 0}};
    open_post(SK_TASK_OBB, NULL);
    run(rows[0], 7, 6);
    assert_int_equal(out.count, 3);
    for (int i = 0; i < 3; i++) {
        const sk_found *f = &out.items[i];
        const float *w = wanted[i];
        assert_true(f->has == (SK_HAS_OBB | SK_HAS_BOX) && f->score == w[4] && f->class_id == (int)w[5]);
        for (int k = 0; k < 4; k++)
            assert_true(fabsf(f->obb[k] - w[k]) < 1e-3f);
        const float half_x = i == 2 ? 10 : 20, half_y = i == 2 ? 20 : 10; /* the last one stands upright */
        assert_true(fabsf(fabsf(f->obb[4]) - (i == 2 ? 1.5707963f : 0)) < 1e-5f);
        assert_true(fabsf(f->box[0] - (w[0] - half_x)) < 1e-3f && fabsf(f->box[1] - (w[1] - half_y)) < 1e-3f);
        assert_true(fabsf(f->box[2] - (w[0] + half_x)) < 1e-3f && fabsf(f->box[3] - (w[1] + half_y)) < 1e-3f);
    }
    close_post();
}

/* Each of a point's three numbers that is none makes it a point that was not found; others stay. */
static void points_without_numbers(void **state)
{
    (void)state;
    float rows[5][12];
    for (int i = 0; i < 5; i++) {
        const float row[12] = {10, 15, 20, 25, 0.9f - 0.1f * (float)i, 1, 12, 16, 0.5f, 14, 18, 0.25f};
        memcpy(rows[i], row, sizeof row);
        if (i > 0 && i < 4)
            rows[i][5 + i] = NAN;
    }
    rows[4][6] = 39, rows[4][7] = 5; /* in the border: put at the frame's edge */
    open_post(SK_TASK_POSE, NULL);
    run(rows[0], 12, 5);
    assert_int_equal(out.count, 5);
    for (int i = 0; i < 5; i++) {
        const sk_found *f = &out.items[i];
        const sk_keypoint *p = out.keypoints + f->first_keypoint;
        assert_true(f->has == (SK_HAS_BOX | SK_HAS_KEYPOINTS) && f->class_id == 1);
        assert_true(fabsf(f->box[0] - 100) < 1e-3f && fabsf(f->box[1] - 50) < 1e-3f &&
                    fabsf(f->box[2] - 200) < 1e-3f && fabsf(f->box[3] - 150) < 1e-3f);
        if (i > 0 && i < 4)
            assert_true(isnan(p[0].x) && isnan(p[0].y) && p[0].score == 0);
        else if (i == 0)
            assert_true(fabsf(p[0].x - 120) < 1e-3f && fabsf(p[0].y - 60) < 1e-3f && p[0].score == 0.5f);
        else
            assert_true(fabsf(p[0].x - 390) < 1e-3f && p[0].y == 0 && p[0].score == 0.5f);
        assert_true(fabsf(p[1].x - 140) < 1e-3f && fabsf(p[1].y - 80) < 1e-3f && p[1].score == 0.25f);
    }
    close_post();
}

/* Only what is above the confidence, of a class that there is and that is wanted, and no more than asked for. */
static void what_is_kept(void **state)
{
    (void)state;
    static const float rows[][6] = {
        {10, 15, 20, 25, 0.9f, 1}, {10, 15, 20, 25, 0.8f, 0},   {10, 15, 20, 25, 0.7f, -1},
        {10, 15, 20, 25, 0.7f, 3}, {10, 15, 20, 25, 0.7f, NAN}, {10, 15, 20, 25, 0.6f, 2.5f},
        {10, 15, 20, 25, 0.5f, 1}, {10, 15, NAN, 25, 0.45f, 1}, {10, 15, INFINITY, 25, 0.45f, 1},
        {10, 15, 20, 25, NAN, 1},  {10, 15, 20, 25, 0.25f, 1},  {10, 15, 20, 25, 0.2f, 1},
        {1, 15, 20, 25, 0.26f, 2},
    };
    static const int32_t some[] = {2, 1};
    static const struct {
        const int32_t *classes;
        int32_t n, max_det;
        float confidence;
        int count;
        float scores[6];
    } cases[] = {{NULL, 0, 300, 0.25f, 5, {0.9f, 0.8f, 0.6f, 0.5f, 0.26f}},
                 {NULL, 0, 2, 0.25f, 2, {0.9f, 0.8f}},
                 {NULL, 5, 300, 0.5f, 3, {0.9f, 0.8f, 0.6f}},
                 {some, 2, 300, 0.25f, 4, {0.9f, 0.6f, 0.5f, 0.26f}},
                 {some, 1, 300, 0.25f, 2, {0.6f, 0.26f}},
                 {some, 0, 300, 0.25f, 0, {0}},
                 {some, 2, 1, 0, 1, {0.9f}},
                 {NULL, 0, 300, 1, 0, {0}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sk_yolo_settings s = sk_yolo_settings_defaults();
        s.classes = cases[c].classes;
        s.n_classes = cases[c].n;
        s.max_det = cases[c].max_det;
        s.confidence = cases[c].confidence;
        open_post(SK_TASK_DETECT, &s);
        run(rows[0], 6, sizeof rows / sizeof *rows);
        assert_int_equal(out.count, cases[c].count);
        for (int i = 0; i < out.count; i++)
            assert_true(out.items[i].score == cases[c].scores[i] && out.items[i].has == SK_HAS_BOX);
        close_post();
    }
}

/* What the network's own tail decoded: centres and sizes, corners, or centres, sizes and angles; in either order of memory. */
static void boxes_of_whole_outputs(void **state)
{
    (void)state;
    enum { PLACES = 20, AT = 13 };
    for (int form = 0; form < 3; form++)
        for (int turned = 0; turned < 2; turned++) {
            static float values[8 * PLACES];
            const int32_t n = form == 2 ? 8 : 7;
            static const float given[3][4] = {{20, 20, 4, 2}, {18, 19, 22, 21}, {20, 20, 4, 2}};
            sk_yolo_spec spec = spec_of(SK_TASK_DETECT);
            memset(values, 0, sizeof values);
            const float wanted[8] = {given[form][0], given[form][1], given[form][2], given[form][3],
                                     0.3f,           0.9f,           0.1f,           0.5f};
            for (int32_t c = 0; c < n; c++)
                values[turned ? AT * n + c : c * PLACES + AT] = wanted[c];
            sk_map map = sk_map_planar(values, n, 1, PLACES);
            if (turned)
                map = (sk_map){values, n, 1, PLACES, 1, n};
            spec.dense_corners = form == 1;
            assert_ok(
                sk_yolo_post_open(&spec, form == 2 ? SK_TASK_OBB : SK_TASK_DETECT, NULL, 40, 40, &post, &err),
                &err);
            assert_ok(sk_instances_alloc(300, 0, &out, &err), &err);
            assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &map, 1, &tenth, &out, &err), &err);
            assert_int_equal(out.count, 1);
            const sk_found *f = &out.items[0];
            assert_true(f->score == 0.9f && f->class_id == 1);
            if (form == 2) {
                static const float box[5] = {200, 100, 40, 20, 0.5f};
                for (int k = 0; k < 5; k++)
                    assert_true(fabsf(f->obb[k] - box[k]) < 1e-3f);
            } else {
                static const float box[4] = {180, 90, 220, 110};
                for (int k = 0; k < 4; k++)
                    assert_true(fabsf(f->box[k] - box[k]) < 1e-3f);
            }
            map.channels--;
            assert_int_equal(sk_yolo_post_run(post, SK_YOLO_DENSE, &map, 1, &tenth, &out, &err),
                             SK_ERR_MISMATCH);
            close_post();
        }
}

/* As many rows as the model was opened for: its own anchors, or what is asked for at most, where that is more. */
static void how_many_there_may_be(void **state)
{
    (void)state;
    static float rows[400][6];
    static const struct {
        int32_t most, max_det, side, places;
    } cases[] = {
        {0, 300, 40, 300}, {0, 310, 40, 310}, {320, 5, 40, 320}, {0, 300, 144, 324}, {0, 300, 145, 361}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sk_yolo_settings s = sk_yolo_settings_defaults();
        sk_yolo_spec spec = spec_of(SK_TASK_DETECT);
        spec.max_det = cases[c].most;
        s.max_det = cases[c].max_det;
        assert_ok(sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, cases[c].side, cases[c].side, &post, &err),
                  &err);
        assert_ok(sk_instances_alloc(s.max_det, 0, &out, &err), &err);
        run(rows[0], 6, cases[c].places);
        const sk_map more = {rows[0], 6, 1, cases[c].places + 1, 1, 6};
        assert_int_equal(sk_yolo_post_run(post, SK_YOLO_FOUND, &more, 1, &tenth, &out, &err),
                         SK_ERR_MISMATCH);
        close_post();
    }
}

static void settings_that_are_refused(void **state)
{
    (void)state;
    const sk_yolo_settings good = sk_yolo_settings_defaults();
    const sk_yolo_spec spec = spec_of(SK_TASK_DETECT);
    static const int32_t ids[] = {0, 2, -1, 3};
    assert_true(good.confidence == 0.25f && good.iou == 0.7 && good.max_det == 300 && !good.agnostic &&
                !good.classes && good.obb_form == SK_OBB_LONG_SIDE && good.size == sizeof good);
    for (int i = 0; i < 15; i++) {
        sk_yolo_settings s = good;
        const char *why = NULL;
        switch (i) {
        case 0: s.confidence = 0; break;
        case 1: s.confidence = 1; break;
        case 2: s.confidence = -0.01f, why = "confidence -0.01 is outside"; break;
        case 3: s.confidence = 1.01f, why = "confidence 1.01 is outside"; break;
        case 4: s.confidence = NAN, why = "confidence nan is outside"; break;
        case 5: s.iou = 0; break;
        case 6: s.iou = 1; break;
        case 7: s.iou = -0.01, why = "iou -0.01 is outside"; break;
        case 8: s.iou = 1.01, why = "iou 1.01 is outside"; break;
        case 9: s.max_det = 1; break;
        case 10: s.max_det = 100000; break;
        case 11: s.max_det = 100001, why = "max_det 100001 is outside 1 … 100000"; break;
        case 12:
            s.max_det = 0, why = "outside 1 … 100000; sk_pipeline_defaults() fills the settings in";
            break;
        case 13: s.classes = ids, s.n_classes = 2; break;
        default:
            s.classes = ids, s.n_classes = 3, why = "class -1 does not exist; the model has classes 0 to 2";
        }
        const sk_status status = sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 40, 40, &post, &err);
        assert_int_equal(status, why ? SK_ERR_ARG : SK_OK);
        if (why && !strstr(err.message, why))
            fail_msg("'%s' is not in: %s", why, err.message);
        sk_yolo_post_close(&post);
    }
    sk_yolo_settings s = good;
    s.classes = ids + 3, s.n_classes = 1;
    assert_int_equal(sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 40, 40, &post, &err), SK_ERR_ARG);
    for (int task = 0; task < 16; task++) {
        const sk_status status = sk_yolo_post_open(&spec, (sk_task)task, &good, 40, 40, &post, &err);
        const bool boxes =
            task == SK_TASK_DETECT || task == SK_TASK_POSE || task == SK_TASK_OBB || task == SK_TASK_SEGMENT;
        assert_int_equal(status, boxes ? SK_OK : SK_ERR_UNSUPPORTED);
        sk_yolo_post_close(&post);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_beyond_all_numbers),
        cmocka_unit_test(points_without_numbers),
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(how_many_there_may_be),
        cmocka_unit_test(settings_that_are_refused),
        cmocka_unit_test(boxes_of_whole_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
