/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks found by the cuda engine, on a GPU of loops whose threads come in any order: the same tables as the CPU's stages make
 * of the whole outputs, bit for bit; more peaks than a table holds bring the maps. */
#include "painted_maps.h"
#include "random_graph.h"

#include "engines/engine.h"
#include "graph/reference.h"
#include "models/model.h"
#include "runner/internal.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <string.h>

extern const sk_engine gpu_engine;
extern int64_t gpu_emulate_live;

static void test_tables(void **state)
{
    (void)state;
    painter p = {.engine = &gpu_engine, .random = {77}, .nodes = 8, .batch = 2, .height = 30, .width = 43};
    for (int round = 0; round < 24; round++)
        if (!painted_round(&p, round))
            fail_msg("round %d: %s", round, p.problem);
    assert_true(p.tables[0] > 60 && p.wholes[0] == 0 && p.rows[0] > 200);
    assert_true(p.tables[1] > 20 && p.wholes[1] > 5 && p.rows[1] > 500 && p.lines > 200);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Wishes that do not fit the network, and engines that find no peaks. */
static void test_refusals(void **state)
{
    (void)state;
    enum { NODES = 8 };
    painter p = {.engine = &gpu_engine, .random = {5}, .nodes = NODES, .batch = 2, .height = 30, .width = 43};
    sk_error err = {0};
    sk_graph *g = painted_graph(&p, 0);
    const sk_shape *shapes = p.shapes;
    sk_session *session = NULL;
    sk_session_settings s = sk_session_defaults();
    s.cache_dir = "";
    sk_peak_wish wish = painted_wish(&p, 1);
    s.stages.peaks = &wish;
    assert_int_equal(sk_session_open(sk_engine_find("reference"), g, shapes, PAINT_PARTS, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    wish.maps = 7;
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PAINT_PARTS, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    wish.maps = 2; /* has another number of channels */
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PAINT_PARTS, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    wish.maps = 0;
    wish.capacity = 0;
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PAINT_PARTS, &s, &session, &err), SK_ERR_ARG);
    wish = painted_wish(&p, 1);
    wish.n_edges = 1;
    wish.edges[0][1] = NODES;
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PAINT_PARTS, &s, &session, &err), SK_ERR_ARG);
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Models of all kinds: instances from the engine's tables are those from its maps. */
static void check_model(const char *path, int size, float threshold, int fine, int *found)
{
    sk_error err = {0};
    sk_model *m = NULL;
    sk_task_stage *stage = NULL;
    sk_task_settings settings = sk_task_settings_defaults();
    settings.sleap.peak_threshold = threshold;
    settings.sleap.paf.min_line_score = -1;
    assert_ok(sk_model_open(test_data(path), &m, &err), &err);
    m->sleap.target_size[0] = m->sleap.target_size[1] = 0; /* small frames stay small */
    assert_ok(sk_task_stage_open(m, &settings, size, size, &stage, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(stage);
    sk_peak_wish wish;
    assert_true(sk_task_stage_peaks(stage, &wish));
    const sk_shape shape = sk_shape_of(4, 1, plan->channels, plan->height, plan->width);
    sk_session_settings s = sk_session_defaults();
    s.cache_dir = "";
    strcpy(s.options, "tune=off");
    s.fine_outputs = fine;
    s.input = SK_INPUT_TENSOR;
    sk_session *dense = NULL, *sparse = NULL;
    assert_ok(sk_session_open(&gpu_engine, m->graph, &shape, 1, &s, &dense, &err), &err);
    assert_ok(sk_session_capture(dense, &err), &err);
    s.stages.peaks = &wish;
    assert_ok(sk_session_open(&gpu_engine, m->graph, &shape, 1, &s, &sparse, &err), &err);
    assert_ok(sk_session_capture(sparse, &err), &err);
    random_source r = {9};
    uint8_t *pixels = malloc((size_t)(size * size * 3));
    for (int i = 0; i < size * size * 3; i++)
        pixels[i] = (uint8_t)random_next(&r);
    const sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = size, .height = size, .stride = size * 3, .data = pixels};
    float *x = malloc((size_t)sk_shape_count(&shape) * sizeof *x);
    sk_session_input in = {.data = x};
    sk_tensor want[SK_SESSION_MAX_OUTPUTS], got[SK_SESSION_MAX_OUTPUTS];
    sk_instances a, b;
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &a, &err), &err);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &b, &err), &err);
    assert_ok(sk_task_stage_input(stage, &frame, SK_TASK_INPUT_F32, x, &err), &err);
    assert_ok(sk_session_run(dense, &in, 1, want, SK_SESSION_MAX_OUTPUTS, &err), &err);
    assert_ok(sk_session_run(sparse, &in, 1, got, SK_SESSION_MAX_OUTPUTS, &err), &err);
    assert_ok(sk_task_stage_result(stage, want, m->n_outputs, 0, SK_OUTPUTS_WHOLE, &a, &err), &err);
    assert_ok(sk_task_stage_result(stage, got, m->n_outputs + 1, 0, SK_OUTPUTS_WHOLE, &b, &err), &err);
    assert_false(sk_task_outputs_whole(want, m->n_outputs, 0));
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.keypoints, b.keypoints, (size_t)(a.count * a.n_keypoints) * sizeof *a.keypoints);
    for (int32_t i = 0; i < a.count; i++)
        assert_true(a.items[i].score == b.items[i].score &&
                    a.items[i].tracking_score == b.items[i].tracking_score);
    *found += a.count;
    sk_instances_free(&a);
    sk_instances_free(&b);
    free(x);
    free(pixels);
    sk_session_close(&dense);
    sk_session_close(&sparse);
    sk_task_stage_close(&stage);
    sk_model_close(&m);
}

static void test_models(void **state)
{
    (void)state;
    test_data_or_skip();
    int found = 0;
    for (int fine = 0; fine < 2; fine++) {
        check_model("sleap/legacy/minimal_instance.UNet.bottomup", 64, 0.01f, fine, &found);
        check_model("sleap/legacy/minimal_instance.UNet.centroid", 64, 0.01f, fine, &found);
        check_model("sleap/nn/minimal_instance_bottomup", 64, 0.01f, fine, &found);
        check_model("sleap/nn/minimal_instance_single_instance", 64, 0.0f, fine, &found);
    }
    assert_true(found > 5);
}

/* Outputs in fp32 from maps of fp16: more than rounded ones, and not only with the digits those have. */
static void test_fine_outputs(void **state)
{
    (void)state;
    random_source r = {3};
    sk_error err = {0};
    sk_graph *g = NULL, *fixed = NULL;
    sk_builder b;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_shape shape = sk_shape_of(4, 2, 5, 18, 22);
    random_map x = {sk_b_input(&b, "x", SK_DTYPE_F32, &shape), 5, 18, 22};
    x = random_conv(&b, &r, x, 20, 3, 1, 1);
    const sk_value heads[2] = {random_conv(&b, &r, x, 3, 1, 1, 1).v,
                               sk_b_unary(&b, SK_UNARY_SIGMOID, random_conv(&b, &r, x, 11, 1, 1, 1).v)};
    for (int i = 0; i < 2; i++)
        sk_b_output(&b, heads[i], i ? "b" : "a");
    assert_int_equal(b.status, SK_OK);
    float *data = malloc((size_t)sk_shape_count(&shape) * sizeof *data);
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        data[i] = random_unit(&r);
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = data}, want[2] = {{0}}, got[2];
    assert_ok(sk_graph_specialise(g, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, want, 2, &err), &err);
    double errors[2] = {0};
    int64_t odd[2] = {0};
    for (int fine = 0; fine < 2; fine++) {
        sk_session_settings s = sk_session_defaults();
        sk_session *session = NULL;
        sk_session_input given = {.data = data};
        s.cache_dir = "";
        s.fine_outputs = fine;
        assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), &err);
        assert_ok(sk_session_capture(session, &err), &err);
        assert_ok(sk_session_run(session, &given, 1, got, 2, &err), &err);
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < sk_shape_count(&want[k].shape); i++) {
                const float v = ((const float *)got[k].data)[i];
                errors[fine] += fabs((double)v - (double)((const float *)want[k].data)[i]);
                odd[fine] += v != sk_f16_to_f32(sk_f32_to_f16(v));
            }
        sk_session_close(&session);
    }
    assert_true(odd[0] == 0 && odd[1] > 2000);
    assert_true(errors[1] < errors[0]);
    for (int k = 0; k < 2; k++)
        sk_free(want[k].data);
    free(data);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* --- through the runner: with peaks, and with the maps kept --- */

enum { FRAMES = 5, FRAME_W = 72, FRAME_H = 56 };

/* keep: 1 the maps come back and are kept, 2 and are checked; and the host cuts crops. */
static sk_runner *open_runner(const sk_model *const *models, int n_models, float threshold, int keep)
{
    static sk_engine host_cuts;
    host_cuts = gpu_engine;
    host_cuts.can.offers &= ~SK_OFFERS_CROPS;
    const sk_engine *const engines[] = {keep ? &host_cuts : &gpu_engine};
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s;
    sk_runner_defaults(&s);
    s.detector.runtime = "reference";
    s.detector.peak_threshold = threshold;
    s.detector.max_instances = 40;
    s.frame_width = FRAME_W;
    s.frame_height = FRAME_H;
    s.keep_outputs = keep == 1;
    s.check_every = keep == 2;
    s.frames = keep == 2 ? SK_RUNNER_HOLD : s.frames;
    assert_ok(sk_runner_open_on(models, n_models, &s, engines, &r, &err), &err);
    return r;
}

/* Many frames on their way: each has its own crops, cut from its own pixels. */
static void stream_both(sk_runner *const *runners, uint8_t (*pixels)[FRAME_W * FRAME_H * 3])
{
    enum { MANY = 12 };
    static sk_frame frames[MANY]; /* held by one of them */
    sk_error err = {0};
    sk_runner_result results[2];
    int submitted[2] = {0, 0};
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < 2; k++) {
            for (; submitted[k] < MANY && sk_runner_in_flight(runners[k]) < sk_runner_depth(runners[k]);
                 submitted[k]++) {
                sk_frame *frame = &frames[submitted[k]];
                *frame = (sk_frame){.format = SK_PIXEL_RGB,
                                    .width = FRAME_W,
                                    .height = FRAME_H,
                                    .stride = FRAME_W * 3,
                                    .data = pixels[submitted[k] * 3 % FRAMES],
                                    .index = submitted[k]};
                assert_ok(sk_runner_submit(runners[k], frame, NULL, NULL, &err), &err);
            }
            assert_ok(sk_runner_wait(runners[k], &results[k], &err), &err);
            assert_int_equal(results[k].index, i);
        }
        const sk_instances *a = results[0].instances, *b = results[1].instances;
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->keypoints, b->keypoints,
                            (size_t)(a->count * a->n_keypoints) * sizeof(sk_keypoint));
    }
}

static void check_runner(const char *first, const char *second, float threshold, int keep, int64_t *whole,
                         int *found)
{
    sk_error err = {0};
    sk_model *models[2] = {NULL, NULL};
    random_source r = {31};
    static uint8_t pixels[FRAMES][FRAME_W * FRAME_H * 3];
    assert_ok(sk_model_open(test_source(first), &models[0], &err), &err);
    if (second)
        assert_ok(sk_model_open(test_source(second), &models[1], &err), &err);
    sk_runner *runners[2];
    for (int k = 0; k < 2; k++) {
        runners[k] = open_runner((const sk_model *const *)models, second ? 2 : 1, threshold, k ? 0 : keep);
        assert_true(runners[k]->lanes[0].trace.key.peaks == k && runners[k]->lanes[0].trace.key.frames);
        assert_true(!second || runners[k]->lanes[0].second.trace.key.peaks == k);
        assert_true(!second || runners[k]->lanes[0].second.trace.key.crops == k);
        assert_false(sk_runner_takes_device_frames(runners[k], 0));
    }
    for (int i = 0; i < FRAMES; i++)
        for (int k = 0; k < FRAME_W * FRAME_H * 3; k++)
            pixels[i][k] = (uint8_t)(random_next(&r) >> 3);
    for (int i = 0; i < FRAMES; i++) {
        const sk_frame frame = {.format = SK_PIXEL_RGB,
                                .width = FRAME_W,
                                .height = FRAME_H,
                                .stride = FRAME_W * 3,
                                .data = pixels[i],
                                .index = i};
        sk_runner_result a, b;
        assert_ok(sk_runner_run(runners[0], &frame, NULL, &a, &err), &err);
        assert_ok(sk_runner_run(runners[1], &frame, NULL, &b, &err), &err);
        assert_int_equal(a.instances->count, b.instances->count);
        for (int32_t n = 0; n < a.instances->count; n++)
            assert_memory_equal(&a.instances->items[n].score, &b.instances->items[n].score, sizeof(float));
        assert_memory_equal(a.instances->keypoints, b.instances->keypoints,
                            (size_t)(a.instances->count * a.instances->n_keypoints) * sizeof(sk_keypoint));
        *found += a.instances->count;
    }
    stream_both(runners, pixels);
    sk_runner_stats stats;
    sk_runner_get_stats(runners[0], &stats);
    assert_int_equal(stats.whole, 0);
    sk_runner_get_stats(runners[1], &stats);
    *whole += stats.whole;
    for (int k = 0; k < 2; k++)
        sk_runner_close(&runners[k]);
    for (int k = 0; k < 2; k++)
        sk_model_close(&models[k]);
}

static void test_runner(void **state)
{
    (void)state;
    static const char *const models[][2] = {
        {"tests/fixtures/sleap_keras/transposed", NULL},
        {"tests/fixtures/sleap_keras/pooling_and_merging", NULL},
        {"tests/fixtures/sleap_keras/convolutions", NULL},
        {"tests/fixtures/sleap_keras/encoder", "tests/fixtures/sleap_keras/vectors"},
        {"tests/fixtures/sleap_nn/unet_bottomup_transposed", NULL},
        {"tests/fixtures/sleap_nn/unet_class_maps", NULL},
    };
    int64_t whole = 0;
    int found = 0;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        for (int k = 0; k < 3; k++)
            check_runner(models[i][0], models[i][1], (float)k * 0.1f - 0.1f, k == 2 ? 2 : 1, &whole, &found);
    assert_true(found > 100);
    assert_true(whole > 0);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_models), cmocka_unit_test(test_fine_outputs),
                                       cmocka_unit_test(test_runner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
