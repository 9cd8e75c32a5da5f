/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/engine.h"
#include "formats/npy.h"
#include "models/model.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPU engine on whole models, against what the original program computed: boxes and keypoints within 0.01 px,
 * scores within 1e-4, with Winograd (the default) and without, at every instruction set. */

static const char *const models[] = {"yolo11n-pose", "yolo11t-detect", "yolo11t-obb", "yolov8t-obb",
                                     "yolov8t-pose"};

typedef struct golden {
    sk_model *model;
    sk_tensor input, output;
} golden;

static void open_golden(const char *name, golden *g)
{
    sk_error err = {0};
    char path[256];
    snprintf(path, sizeof path, "yolo/%s/%s.pt", name, name);
    assert_ok(sk_model_open(test_data(path), &g->model, &err), &err);
    snprintf(path, sizeof path, "yolo/%s/bus_input_u8.npy", name);
    assert_ok(sk_npy_read(test_data(path), 1 << 28, &g->input, &err), &err);
    snprintf(path, sizeof path, "yolo/%s/bus_output0.npy", name);
    assert_ok(sk_npy_read(test_data(path), 1 << 28, &g->output, &err), &err);
}

static void close_golden(golden *g)
{
    sk_free(g->input.data);
    sk_free(g->output.data);
    sk_model_close(&g->model);
}

static sk_session *open_session(const golden *g, const sk_session_settings *settings)
{
    sk_error err = {0};
    sk_session *s = NULL;
    const sk_shape *in = &g->input.shape;
    int r = in->rank;
    sk_shape shape = {.rank = 4, .dim = {1, in->dim[r - 1], in->dim[r - 3], in->dim[r - 2]}};
    assert_ok(sk_session_open(sk_engine_find("cpu"), g->model->graph, &shape, 1, settings, &s, &err), &err);
    return s;
}

static sk_session_settings pictures(int threads)
{
    sk_session_settings s = sk_session_defaults();
    s.threads = threads;
    s.input = SK_INPUT_U8_HWC;
    s.cache_dir = "";
    strcpy(s.options, "tune=off");
    return s;
}

/* Rows of output0: 4 box, classes, then keypoints or the angle. Scores are those in 0 … 1 by position. */
static void compare(const golden *g, const sk_tensor *got, const char *what)
{
    const sk_tensor *want = &g->output;
    size_t count = sk_tensor_bytes(got) / sizeof(float);
    assert_int_equal(count * sizeof(float), sk_tensor_bytes(want));
    const float *p = got->data, *q = want->data;
    const int64_t anchors = got->shape.dim[2], classes = g->model->n_classes;
    double pixels = 0, scores = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t row = (int64_t)i / anchors;
        double d = fabs((double)p[i] - (double)q[i]);
        bool score = row >= 4 && row < 4 + classes;
        double *worst = score ? &scores : &pixels;
        if (!(d <= *worst))
            *worst = d;
    }
    if (!(pixels < 0.01) || !(scores < 1e-4))
        fail_msg("%s: %g pixels, %g score", what, pixels, scores);
}

static void test_against_originals(void **state)
{
    (void)state;
    test_data_or_skip();
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        golden g = {0};
        open_golden(models[m], &g);
        for (int direct = 0; direct < 2; direct++) {
            sk_error err = {0};
            sk_session_settings settings = pictures(1 + direct);
            snprintf(settings.options, sizeof settings.options, "tune=off,winograd=%d", !direct);
            sk_session *s = open_session(&g, &settings);
            assert_string_equal(sk_session_about(s)->elsewhere, "");
            sk_session_input in = {.data = g.input.data};
            sk_tensor out[32];
            assert_ok(sk_session_run(s, &in, 1, out, 32, &err), &err);
            compare(&g, &out[0], models[m]);
            uint64_t before = sk_memory_allocations();
            assert_ok(sk_session_run(s, &in, 1, out, 32, &err), &err);
            assert_int_equal(sk_memory_allocations() - before, 0);
            sk_session_close(&s);
        }
        close_golden(&g);
    }
}

static void test_masks(void **state)
{
    (void)state;
    test_data_or_skip();
    static const char *const masks[] = {"avx512", "avx2", "sse4.2", "none"};
    golden g = {0};
    sk_error err = {0};
    open_golden("yolov8t-pose", &g);
    float *first = NULL;
    for (int m = 0; m < 4; m++) {
        sk_session_settings settings = pictures(2);
        snprintf(settings.options, sizeof settings.options, "tune=off,mask=%s", masks[m]);
        sk_session *s = open_session(&g, &settings);
        sk_session_input in = {.data = g.input.data};
        sk_tensor out[32];
        assert_ok(sk_session_run(s, &in, 1, out, 32, &err), &err);
        compare(&g, &out[0], masks[m]);
        size_t count = sk_tensor_bytes(&out[0]) / sizeof(float);
        if (!first) {
            first = malloc(count * sizeof(float));
            memcpy(first, out[0].data, count * sizeof(float));
        }
        for (size_t i = 0; i < count; i++) { /* relative to pixels of a 640 wide picture */
            double a = first[i], b = ((const float *)out[0].data)[i];
            if (!(fabs(a - b) <= 1e-4 * (fabs(a) > 10.0 ? fabs(a) / 10.0 : 1.0)))
                fail_msg("%s differs from %s by %g at %zu (%g)", masks[m], masks[0], fabs(a - b), i, a);
        }
        sk_session_close(&s);
    }
    free(first);
    close_golden(&g);
}

/* Several sessions on one model at the same time. */
typedef struct racer {
    const golden *g;
    sk_status status;
    sk_error err;
    float *result;
    size_t bytes;
} racer;

static void *race(void *context)
{
    racer *r = context;
    sk_session_settings settings = pictures(2);
    const sk_shape shape = {.rank = 4, .dim = {1, 3, 320, 320}};
    sk_session *s = NULL;
    r->status = sk_session_open(sk_engine_find("cpu"), r->g->model->graph, &shape, 1, &settings, &s, &r->err);
    sk_tensor out[32];
    for (int i = 0; i < 3 && r->status == SK_OK; i++) {
        sk_session_input in = {.data = r->g->input.data};
        r->status = sk_session_run(s, &in, 1, out, 32, &r->err);
    }
    if (r->status == SK_OK) {
        r->bytes = sk_tensor_bytes(&out[0]);
        r->result = malloc(r->bytes);
        memcpy(r->result, out[0].data, r->bytes);
    }
    sk_session_close(&s);
    return NULL;
}

static void test_sessions_at_once(void **state)
{
    (void)state;
    test_data_or_skip();
    golden g = {0};
    open_golden("yolo11t-detect", &g);
    racer racers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        racers[i] = (racer){.g = &g};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        if (racers[i].status != SK_OK)
            fail_msg("session %d: %s", i, racers[i].err.message);
        assert_memory_equal(racers[0].result, racers[i].result, racers[0].bytes);
    }
    for (int i = 0; i < 3; i++)
        free(racers[i].result);
    close_golden(&g);
}

static const char *const sleap[] = {"legacy/min_tracks_2node.UNet.topdown_multiclass",
                                    "legacy/minimal_instance.UNet.bottomup",
                                    "legacy/minimal_instance.UNet.centered_instance",
                                    "legacy/minimal_instance.UNet.centroid",
                                    "legacy/minimal_robot.UNet.single_instance",
                                    "nn/minimal_instance_bottomup",
                                    "nn/minimal_instance_centered_instance",
                                    "nn/minimal_instance_centroid",
                                    "nn/minimal_instance_multiclass_centered_instance",
                                    "nn/minimal_instance_single_instance"};

/* SLEAP's networks against the reference executor, at a size that is no multiple of 4 tiles. */
static void test_sleap_networks(void **state)
{
    (void)state;
    test_data_or_skip();
    for (size_t m = 0; m < sizeof sleap / sizeof sleap[0]; m++) {
        sk_error err = {0};
        char path[256];
        sk_model *model = NULL;
        snprintf(path, sizeof path, "sleap/%s", sleap[m]);
        assert_ok(sk_model_open(test_data(path), &model, &err), &err);
        sk_shape shape = {.rank = 4, .dim = {2, model->input.channels, 96, 160}};
        float *x = malloc((size_t)sk_shape_count(&shape) * sizeof *x);
        for (int64_t i = 0; i < sk_shape_count(&shape); i++)
            x[i] = (float)(i * 7919 % 256) / 255.0f;
        sk_session_settings settings = sk_session_defaults();
        settings.threads = 2;
        strcpy(settings.options, "tune=off");
        sk_session *cpu = NULL, *ref = NULL;
        assert_ok(sk_session_open(sk_engine_find("cpu"), model->graph, &shape, 1, &settings, &cpu, &err),
                  &err);
        settings.options[0] = '\0';
        assert_ok(
            sk_session_open(sk_engine_find("reference"), model->graph, &shape, 1, &settings, &ref, &err),
            &err);
        sk_session_input in = {.data = x};
        sk_tensor got[32], want[32];
        assert_ok(sk_session_run(cpu, &in, 1, got, 32, &err), &err);
        assert_ok(sk_session_run(ref, &in, 1, want, 32, &err), &err);
        for (int32_t i = 0; i < sk_session_about(cpu)->n_outputs; i++) {
            const float *p = got[i].data, *q = want[i].data;
            for (size_t k = 0; k < sk_tensor_bytes(&got[i]) / sizeof(float); k++)
                if (!(fabs((double)p[k] - (double)q[k]) <= 1e-4))
                    fail_msg("%s, output %d: %g and %g", sleap[m], (int)i, (double)p[k], (double)q[k]);
        }
        sk_session_close(&cpu);
        sk_session_close(&ref);
        sk_model_close(&model);
        free(x);
    }
}

/* One, two or three threads, measured kernels or fixed ones: the same bits. */
static void test_threads_leave_bits_alone(void **state)
{
    (void)state;
    test_data_or_skip();
    enum { N = sizeof models / sizeof models[0] };
    for (size_t m = 0; m < N + sizeof sleap / sizeof sleap[0]; m++) {
        sk_error err = {0};
        char path[256];
        sk_model *model = NULL;
        if (m < N)
            snprintf(path, sizeof path, "yolo/%s/%s.pt", models[m], models[m]);
        else
            snprintf(path, sizeof path, "sleap/%s", sleap[m - N]);
        assert_ok(sk_model_open(test_data(path), &model, &err), &err);
        sk_shape shape = {.rank = 4, .dim = {1, model->input.channels, 160, 224}};
        float *x = malloc((size_t)sk_shape_count(&shape) * sizeof *x);
        for (int64_t i = 0; i < sk_shape_count(&shape); i++)
            x[i] = (float)(i * 7919 % 256) / 255.0f;
        sk_tensor first[32] = {0};
        for (int threads = 1; threads <= 3; threads++) {
            sk_session_settings settings = sk_session_defaults();
            settings.threads = threads;
            strcpy(settings.options, threads != 2 ? "tune=on" : "tune=off");
            settings.cache_dir = "";
            sk_session *s = NULL;
            assert_ok(sk_session_open(sk_engine_find("cpu"), model->graph, &shape, 1, &settings, &s, &err),
                      &err);
            sk_session_input in = {.data = x};
            sk_tensor got[32];
            assert_ok(sk_session_run(s, &in, 1, got, 32, &err), &err);
            for (int32_t i = 0; i < sk_session_about(s)->n_outputs; i++) {
                size_t bytes = sk_tensor_bytes(&got[i]);
                if (threads == 1) {
                    first[i].data = malloc(bytes);
                    memcpy(first[i].data, got[i].data, bytes);
                } else if (memcmp(first[i].data, got[i].data, bytes) != 0) {
                    fail_msg("%s, output %d: other bits with %d threads", path, (int)i, threads);
                }
            }
            sk_session_close(&s);
        }
        for (int i = 0; i < 32; i++)
            free(first[i].data);
        sk_model_close(&model);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_originals),        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_sessions_at_once),         cmocka_unit_test(test_sleap_networks),
        cmocka_unit_test(test_threads_leave_bits_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
