/* SPDX-License-Identifier: Apache-2.0 */
/* Final rows of the cuda engine, on a GPU of loops (gpu_emulate.c), against the tasks' own decoding and suppression. */
#include "support/test.h"

#include "row_cases.h"

extern const sk_engine gpu_engine;
extern int64_t gpu_emulate_live;

static row_result check(const row_case *c, uint64_t seed)
{
    row_result r;
    sk_error err = {0};
    assert_ok(row_case_run(c, seed, &gpu_engine, &r, &err), &err);
    if (r.want != r.got || r.different || r.worst > 0 || r.score > 0)
        fail_msg("case %d: %d instances, %d expected, %d differ, by %g px and %g in score", (int)seed, r.got,
                 r.want, r.different, r.worst, r.score);
    assert_int_equal(gpu_emulate_live, 0);
    return r;
}

/* The host rounds alike on both sides: the same rows, bit for bit. */
static void test_random_heads(void **state)
{
    (void)state;
    int instances = 0, none = 0;
    for (uint64_t seed = 0; seed < 90; seed++) {
        const row_case c = row_case_random(seed);
        const row_result r = check(&c, seed);
        instances += r.want;
        none += r.want == 0;
    }
    assert_true(instances > 1000);
    assert_true(none > 0 && none < 45);
}

/* More candidates than fit beside the block, and more than may take part. */
static void test_many_candidates(void **state)
{
    (void)state;
    static const int sides[] = {48, 64, 176};
    static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_OBB};
    for (int size = 0; size < 3; size++)
        for (int t = 0; t < 2; t++) {
            row_case c = {
                .task = tasks[t], .side = sides[size], .levels = 1, .classes = 1, .reg = 1, .batch = 1};
            c.settings = sk_yolo_settings_defaults();
            c.settings.confidence = 0.02f;
            c.settings.iou = size == 2 ? 0.4 : 0.7;
            c.settings.max_det = size == 2 ? 100 : 1000;
            c.density = 1;
            c.precision = SK_PRECISION_F16;
            const row_result r = check(&c, (uint64_t)size + 7);
            assert_true(r.want > 20);
        }
}

/* What cannot be had is said. */
static void test_refusals(void **state)
{
    (void)state;
    row_case c = row_case_random(1);
    sk_model model = {.task = c.task};
    sk_graph *g = row_graph(&c, &model.yolo);
    sk_session_settings s = sk_session_defaults();
    sk_row_outputs wish;
    sk_session *session = NULL;
    sk_error err = {0};
    const sk_shape shape = sk_shape_of(4, 1, 4 * c.reg + c.classes + row_extra(&c), 24, 24);
    assert_true(sk_offload_rows(&model, &c.settings, &wish));
    s.cache_dir = "";
    s.rows = &wish;
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "cut the tail"));
    s.cut_tail = SK_TAIL_CUT;
    assert_int_equal(sk_session_open(sk_engine_find("reference"), g, &shape, 1, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    wish.level[0].box = wish.level[0].scores;
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no head of a detector"));
    c.settings.max_det = 2000;
    assert_false(sk_offload_rows(&model, &c.settings, &wish));
    model.yolo.end2end = 1;
    c.settings.max_det = 300;
    assert_false(sk_offload_rows(&model, &c.settings, &wish));
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_heads),
        cmocka_unit_test(test_many_candidates),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
