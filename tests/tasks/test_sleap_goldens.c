/* SPDX-License-Identifier: Apache-2.0 */
/* sleap-nn's own results over eight frames, from the frames on: stages and network together. */
#include "support/test.h"

#include "engines/engine.h"
#include "npy_test.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>
#include <string.h>

/* A model, its stages and a network for one input at a time. */
typedef struct runner {
    sk_model *model;
    sk_task_stage *stage;
    sk_session *session;
    sk_instances found;
    float *input;
} runner;

static void open_runner(runner *r, const char *name, float threshold, int w, int h, const runner *first)
{
    sk_error err;
    char path[256];
    snprintf(path, sizeof path, "sleap/nn/%s", name);
    assert_ok(sk_model_open(test_data(path), &r->model, &err), &err);
    sk_task_settings s = sk_task_settings_defaults();
    s.sleap.peak_threshold = threshold;
    s.sleap.keep_empty = 1;
    if (first)
        assert_ok(sk_task_stage_open_second(r->model, first->stage, &s, &r->stage, &err), &err);
    else
        assert_ok(sk_task_stage_open(r->model, &s, w, h, &r->stage, &err), &err);
    const sk_task_plan *p = sk_task_stage_plan(r->stage);
    print_message("%s: %s\n", name, p->steps);
    sk_shape shape = sk_shape_of(4, 1, p->channels, p->height, p->width);
    sk_session_settings settings = sk_session_defaults();
    settings.threads = 1;
    strcpy(settings.options, "tune=off");
    settings.cache_dir = "";
    assert_ok(
        sk_session_open(sk_engine_find("cpu"), r->model->graph, &shape, 1, &settings, &r->session, &err),
        &err);
    assert_ok(sk_instances_alloc(p->capacity, p->n_keypoints, &r->found, &err), &err);
    r->input = malloc(sizeof(float) * (size_t)(p->width * p->height * p->channels));
}

static void close_runner(runner *r)
{
    sk_task_stage_close(&r->stage);
    sk_session_close(&r->session);
    sk_model_close(&r->model);
    sk_instances_free(&r->found);
    free(r->input);
}

static int32_t run_network(runner *r, sk_tensor outputs[8])
{
    sk_error err;
    sk_session_input in = {.data = r->input};
    int32_t n = sk_session_about(r->session)->n_outputs;
    assert_ok(sk_session_run(r->session, &in, 1, outputs, n, &err), &err);
    return n;
}

static void run_frame(runner *r, const sk_frame *frame)
{
    sk_error err;
    sk_tensor outputs[8];
    assert_ok(sk_task_stage_input(r->stage, frame, SK_TASK_INPUT_F32, r->input, &err), &err);
    int32_t n = run_network(r, outputs);
    uint64_t before = sk_memory_allocations();
    assert_ok(sk_task_stage_result(r->stage, outputs, n, 0, SK_OUTPUTS_WHOLE, &r->found, &err), &err);
    assert_int_equal(sk_memory_allocations(), before);
}

static void run_crops(runner *r, const sk_frame *frame, const sk_instances *first)
{
    sk_error err;
    sk_tensor outputs[8];
    int32_t crops;
    assert_ok(sk_task_stage_crops(r->stage, frame, first, &r->found, &crops, &err), &err);
    for (int32_t i = 0; i < crops; i++) {
        assert_ok(sk_task_stage_crop_input(r->stage, i, SK_TASK_INPUT_F32, r->input, &err), &err);
        int32_t n = run_network(r, outputs);
        assert_ok(sk_task_stage_crop_result(r->stage, i, outputs, n, 0, SK_OUTPUTS_WHOLE, &r->found, &err),
                  &err);
    }
    assert_ok(sk_task_stage_crops_end(r->stage, &r->found, &err), &err);
}

static npy golden(const char *name, int batch, const char *key)
{
    char path[256];
    snprintf(path, sizeof path, "sleap/goldens/%s/b%d_%s.npy", name, batch, key);
    return npy_load(test_data(path));
}

static double worst_px, worst_value;

static void close_to(float x, float y, float value, float gx, float gy, float gvalue)
{
    assert_int_equal(isnan(x) != 0, isnan(gx) != 0);
    if (!isnan(gx)) {
        double d = fmax(fabs((double)x - gx), fabs((double)y - gy));
        worst_px = fmax(worst_px, d);
        if (d > 0.01)
            fail_msg("(%g, %g), but (%g, %g) was expected", (double)x, (double)y, (double)gx, (double)gy);
    }
    double d = fabs((double)value - (isnan(gvalue) ? 0 : gvalue));
    worst_value = fmax(worst_value, d);
    if (d > 1e-4)
        fail_msg("value %g, but %g was expected", (double)value, (double)gvalue);
}

static void report(const char *what)
{
    print_message("%s: at most %.2g px, %.2g in value\n", what, worst_px, worst_value);
    worst_px = worst_value = 0;
}

/* The recorded pictures of this case are already scaled, so they go in behind the stage that scales. */
static void single_instance(void **state)
{
    (void)state;
    test_data_or_skip();
    runner r;
    open_runner(&r, "minimal_instance_single_instance", 0.3f, 560, 320, NULL);
    const sk_task_plan *p = sk_task_stage_plan(r.stage);
    sk_error err;
    for (int b = 0; b < 2; b++) {
        npy image = golden("single_instance", b, "image"),
            peaks = golden("single_instance", b, "pred_instance_peaks");
        npy values = golden("single_instance", b, "pred_peak_values");
        int count = (int)(image.dim[2] * image.dim[3] * image.dim[4]);
        assert_int_equal(count, p->width * p->height * p->channels);
        for (int f = 0; f < 4; f++) {
            for (int i = 0; i < count; i++)
                r.input[i] = (float)((uint8_t *)image.data)[f * count + i] / 255.0f;
            sk_tensor outputs[8];
            int32_t n = run_network(&r, outputs);
            assert_ok(sk_task_stage_result(r.stage, outputs, n, 0, SK_OUTPUTS_WHOLE, &r.found, &err), &err);
            assert_int_equal(r.found.count, 1);
            for (int k = 0; k < 2; k++) {
                const float *g = (float *)peaks.data + (f * 2 + k) * 2;
                sk_keypoint q = r.found.keypoints[k];
                close_to(q.x, q.y, q.score, g[0], g[1], ((float *)values.data)[f * 2 + k]);
            }
        }
        free(image.data);
        free(peaks.data);
        free(values.data);
    }
    report("single instance");
    close_runner(&r);
}

static void bottomup(void **state)
{
    (void)state;
    test_data_or_skip();
    runner r;
    open_runner(&r, "minimal_instance_bottomup", 0.05f, 384, 384, NULL);
    for (int b = 0; b < 2; b++) {
        npy image = golden("bottomup", b, "image");
        for (int f = 0; f < 4; f++) {
            char key[64];
            snprintf(key, sizeof key, "pred_instance_peaks_%d", f);
            npy peaks = golden("bottomup", b, key);
            snprintf(key, sizeof key, "pred_peak_values_%d", f);
            npy values = golden("bottomup", b, key);
            snprintf(key, sizeof key, "instance_scores_%d", f);
            npy scores = golden("bottomup", b, key);
            sk_frame frame = {.format = SK_PIXEL_GRAY,
                              .width = 384,
                              .height = 384,
                              .stride = 384,
                              .data = (uint8_t *)image.data + f * 384 * 384};
            run_frame(&r, &frame);
            assert_int_equal(r.found.count, peaks.dim[0]);
            for (int i = 0; i < r.found.count; i++) {
                assert_true(fabsf(r.found.items[i].score - ((float *)scores.data)[i]) < 1e-4f);
                for (int k = 0; k < 2; k++) {
                    const float *g = (float *)peaks.data + (i * 2 + k) * 2;
                    sk_keypoint q = r.found.keypoints[r.found.items[i].first_keypoint + k];
                    close_to(q.x, q.y, q.score, g[0], g[1], ((float *)values.data)[i * 2 + k]);
                }
            }
            free(peaks.data);
            free(values.data);
            free(scores.data);
        }
        free(image.data);
    }
    report("bottom-up");
    close_runner(&r);
}

/* Centroids, then crops; the recorded keypoints are relative to the crop's fractional corner. The recorded
 * crops of frames 2, 3 and 5 lack their last column, ours do not. */
static void topdown(void **state)
{
    (void)state;
    test_data_or_skip();
    runner first, second;
    open_runner(&first, "minimal_instance_centroid", 0.03f, 384, 384, NULL);
    open_runner(&second, "minimal_instance_centered_instance", 0.03f, 0, 0, &first);
    for (int b = 0; b < 8; b++) {
        npy image = golden("topdown", b, "image"), peaks = golden("topdown", b, "pred_instance_peaks");
        npy values = golden("topdown", b, "pred_peak_values"),
            corners = golden("topdown", b, "instance_bbox");
        npy centroids = golden("topdown", b, "pred_centroids"), scores = golden("topdown", b, "centroid_val");
        sk_frame frame = {
            .format = SK_PIXEL_GRAY, .width = 384, .height = 384, .stride = 384, .data = image.data};
        run_frame(&first, &frame);
        assert_int_equal(first.found.count, centroids.dim[0]);
        run_crops(&second, &frame, &first.found);
        assert_int_equal(second.found.count, peaks.dim[0]);
        for (int i = 0; i < second.found.count; i++) {
            const float *c = (float *)centroids.data + 2 * i, *corner = (float *)corners.data + 8 * i;
            sk_keypoint q = first.found.keypoints[i];
            close_to(q.x, q.y, q.score, c[0], c[1], ((float *)scores.data)[i]);
            assert_true(fabsf(second.found.items[i].score - ((float *)scores.data)[i]) < 1e-4f);
            for (int k = 0; k < 2; k++) {
                const float *g = (float *)peaks.data + (i * 2 + k) * 2;
                q = second.found.keypoints[second.found.items[i].first_keypoint + k];
                close_to(q.x, q.y, ((float *)values.data)[i * 2 + k], g[0] + corner[0], g[1] + corner[1],
                         ((float *)values.data)[i * 2 + k]);
                /* Values where the crop is complete. */
                if (b != 2 && b != 3 && b != 5)
                    close_to(q.x, q.y, q.score, g[0] + corner[0], g[1] + corner[1],
                             ((float *)values.data)[i * 2 + k]);
            }
        }
        npy all[6] = {image, peaks, values, corners, centroids, scores};
        for (int i = 0; i < 6; i++)
            free(all[i].data);
    }
    report("top-down");
    close_runner(&second);
    close_runner(&first);
}

/* The frames are those of the top-down case; only identities were found in them. */
static void multiclass_topdown(void **state)
{
    (void)state;
    test_data_or_skip();
    runner first, second;
    open_runner(&first, "minimal_instance_centroid", 0.03f, 384, 384, NULL);
    open_runner(&second, "minimal_instance_multiclass_centered_instance", 0.03f, 0, 0, &first);
    for (int b = 0; b < 8; b++) {
        npy image = golden("topdown", b, "image"),
            scores = golden("multiclass_topdown", b, "instance_scores");
        npy classes = golden("multiclass_topdown", b, "pred_class_inds");
        sk_frame frame = {
            .format = SK_PIXEL_GRAY, .width = 384, .height = 384, .stride = 384, .data = image.data};
        run_frame(&first, &frame);
        run_crops(&second, &frame, &first.found);
        assert_int_equal(second.found.count, classes.dim[0]);
        for (int i = 0; i < second.found.count; i++) {
            assert_int_equal(second.found.items[i].class_id, ((int64_t *)classes.data)[i]);
            close_to(0, 0, second.found.items[i].tracking_score, 0, 0, ((float *)scores.data)[i]);
        }
        free(image.data);
        free(scores.data);
        free(classes.data);
    }
    report("multi-class top-down");
    close_runner(&second);
    close_runner(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(single_instance), cmocka_unit_test(bottomup),
                                       cmocka_unit_test(topdown), cmocka_unit_test(multiclass_topdown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
