/* SPDX-License-Identifier: Apache-2.0 */
/* What the cuda engine finds, on a GPU of loops (gpu_emulate.c), against the tasks' own decoding and suppression. */
#include "support/test.h"

#include "found_cases.h"
#include "runner/internal.h"
#include "support/yolo_writer.h"

extern const sk_engine gpu_engine;
extern int64_t gpu_emulate_live;

static found_result check(const found_case *c, uint64_t seed)
{
    found_result r;
    sk_error err = {0};
    assert_ok(found_case_run(c, seed, &gpu_engine, &r, &err), &err);
    if (r.want != r.got || r.different || r.worst > 0 || r.score > 0)
        fail_msg("case %d: %d instances, %d expected, %d differ, by %g px and %g in score", (int)seed, r.got,
                 r.want, r.different, r.worst, r.score);
    assert_int_equal(gpu_emulate_live, 0);
    return r;
}

/* The host rounds alike on both sides: the same detections, bit for bit. */
static void test_random_heads(void **state)
{
    (void)state;
    int instances = 0, none = 0;
    for (uint64_t seed = 0; seed < 90; seed++) {
        const found_case c = found_case_random(seed);
        const found_result r = check(&c, seed);
        instances += r.want;
        none += r.want == 0;
    }
    assert_true(instances > 1000);
    assert_true(none > 0 && none < 45);
}

static void test_one_to_one(void **state)
{
    (void)state;
    int instances = 0, none = 0;
    for (uint64_t seed = 0; seed < 45; seed++) {
        const found_case c = found_case_one_to_one(seed);
        const found_result r = check(&c, seed);
        instances += r.want;
        none += r.want == 0;
    }
    assert_true(instances > 500);
    assert_true(none > 0 && none < 22);
}

/* More candidates than are settled together, and more than may take part; some suppress nearly all others, some few. */
static void test_many_candidates(void **state)
{
    (void)state;
    static const struct {
        sk_task task;
        int side, max_det;
        double iou;
    } cases[] = {
        {SK_TASK_DETECT, 36, 1000, 0.7},
        {SK_TASK_DETECT, 48, 1000, 0.05},
        {SK_TASK_DETECT, 64, 1000, 0.3},
        {SK_TASK_DETECT, 64, 1000, 0.01},
        {SK_TASK_DETECT, 64, 300, 0.7},
        {SK_TASK_DETECT, 176, 100, 0.4},
        {SK_TASK_DETECT, 176, 1000, 0.0},
        {SK_TASK_OBB, 48, 1000, 0.7},
        {SK_TASK_OBB, 64, 1000, 0.3},
        /* more instances than are settled together, and more than may take part */
        {SK_TASK_DETECT, 64, 2500, 0.9},
        {SK_TASK_OBB, 64, 5000, 0.9},
        {SK_TASK_DETECT, 100, 40000, 0.9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        found_case c = {
            .task = cases[i].task, .side = cases[i].side, .levels = 1, .classes = 1, .reg = 1, .batch = 1};
        c.settings = sk_yolo_settings_defaults();
        c.settings.confidence = 0.02f;
        c.settings.iou = cases[i].iou;
        c.settings.max_det = cases[i].max_det;
        c.density = 1;
        c.precision = SK_PRECISION_F16;
        const found_result r = check(&c, i + 7);
        assert_true(r.want > (cases[i].max_det > 1024 ? 1024 : 20));
    }
}

/* What cannot be had is said. */
static void test_refusals(void **state)
{
    (void)state;
    found_case c = found_case_random(1);
    sk_model model = {.task = c.task};
    sk_graph *g = found_graph(&c, &model.yolo);
    sk_session_settings s = sk_session_defaults();
    sk_found_outputs wish;
    sk_session *session = NULL;
    sk_error err = {0};
    const sk_shape shape = sk_shape_of(4, 1, 4 * c.reg + c.classes + found_extra(&c), 24, 24);
    assert_true(sk_offload_found(&model, &c.settings, &wish));
    s.cache_dir = "";
    s.stages.found = &wish;
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "cut the tail"));
    s.tail = SK_TAIL_CUT;
    assert_int_equal(sk_session_open(sk_engine_find("reference"), g, &shape, 1, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    wish.level[0].box = wish.level[0].scores;
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no head of a detector"));
    model.yolo.end2end = 1; /* more pairs of place and class than are ranked on a device */
    model.yolo.max_det = 300;
    model.yolo.n_classes = 365;
    assert_true(sk_offload_found(&model, &c.settings, &wish));
    model.yolo.n_classes = 1203;
    assert_false(sk_offload_found(&model, &c.settings, &wish));
    model.task = SK_TASK_SEGMENT;
    model.yolo.n_classes = 1;
    assert_false(sk_offload_found(&model, &c.settings, &wish));
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

static sk_runner *open_runner(const sk_model *model, bool whole)
{
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s;
    const sk_engine *engines[] = {&gpu_engine};
    sk_runner_defaults(&s);
    s.detector.runtime = "reference"; /* replaced by the list */
    s.detector.height = s.detector.width = 64;
    s.detector.confidence = 0.01f;
    s.detector.max_det = 20;
    s.frame_width = 192;
    s.frame_height = 108;
    s.keep_outputs = whole;
    assert_ok(sk_runner_open_on(&model, 1, &s, engines, &r, &err), &err);
    assert_int_equal(r->lanes[0].trace.key.frames, 1);
    assert_int_equal(r->lanes[0].trace.key.found, !whole);
    return r;
}

/* The runner lets the engine decode and suppress, unless outputs are wanted whole; what comes out is the same. */
static void test_runner(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB"};
    int found = 0;
    for (int k = 0; k < 3; k++) {
        sk_error err = {0};
        sk_model *model = NULL;
        const yolo_fixture fixture = {.head = heads[k], .f32 = true};
        assert_ok(sk_model_open(yolo_save(&fixture, "found.pt"), &model, &err), &err);
        sk_runner *runners[2] = {open_runner(model, false), open_runner(model, true)};
        static uint8_t pixels[192 * 108 * 3];
        for (int i = 0; i < 4; i++) {
            random_source r = {(uint64_t)(k * 10 + i)};
            for (size_t p = 0; p < sizeof pixels; p++)
                pixels[p] = (uint8_t)random_next(&r);
            const sk_frame frame = {.format = SK_PIXEL_RGB,
                                    .width = 192,
                                    .height = 108,
                                    .stride = 192 * 3,
                                    .data = pixels,
                                    .index = i};
            sk_runner_result final, whole;
            assert_ok(sk_runner_run(runners[0], &frame, NULL, &final, &err), &err);
            assert_ok(sk_runner_run(runners[1], &frame, NULL, &whole, &err), &err);
            found_result d = {0};
            found_compare(whole.instances, final.instances, &d);
            assert_int_equal(d.want, d.got);
            assert_int_equal(d.different, 0);
            assert_true(d.worst == 0 && d.score == 0);
            found += d.want;
        }
        sk_runner_close(&runners[0]);
        sk_runner_close(&runners[1]);
        sk_model_close(&model);
    }
    assert_true(found > 0);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_heads),    cmocka_unit_test(test_one_to_one),
        cmocka_unit_test(test_many_candidates), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_runner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
