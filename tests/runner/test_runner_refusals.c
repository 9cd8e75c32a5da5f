/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "graph/builder.h"
#include "runner/network.h"

/* Nothing where something is needed, engines that break while the runner warms up, precisions that a model or an engine has not. */

static void nothing_is_refused_with_words(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_result result;
    const sk_model *models[] = {model, model, model};
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.timeline = 4;
    assert_int_equal(sk_runner_open(NULL, 1, &s, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_open(models, 0, &s, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_open(models, SK_PIPELINE_MAX_MODELS + 1, &s, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_open(models, 1, NULL, &r, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_open(models, 1, &s, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_submit(NULL, NULL, NULL, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_wait(NULL, &result, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_run(NULL, NULL, NULL, &result, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_write_timeline(NULL, "x", &err), SK_ERR_ARG);
    r = open_runner(model, &s);
    assert_int_equal(sk_runner_wait(r, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_next(r, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_take(r, 0, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_write_timeline(r, NULL, &err), SK_ERR_ARG);
    sk_frame f = make_frame(48, 40, 0);
    assert_int_equal(sk_runner_run(r, &f, NULL, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_in_flight(r), 0);
    char path[512];
    snprintf(path, sizeof path, "%s/kept.json", test_folder());
    assert_ok(sk_runner_write_timeline(r, path, &err), &err);
    sk_runner_release(r);
    assert_int_equal(sk_runner_write_timeline(r, path, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "the pipeline was released, and its timeline with it");
    sk_runner_close(&r);
    s.timeline = 0;
    r = open_runner(model, &s);
    assert_int_equal(sk_runner_write_timeline(r, path, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "no timeline was kept: set settings.timeline before opening");
    sk_runner_close(&r);
    free(f.data);
}

/* A device that breaks while the runner is opened, at whichever of its runs: opening fails with its words, and comes to an end. */
static void engines_that_break_while_opening(void **state)
{
    (void)state;
    int opened = 0, failed = 0;
    for (int devices = 1; devices <= 2; devices++)
        for (int after = 0; after < 12; after++) {
            sk_error err = {0};
            sk_runner *r = NULL;
            sk_runner_settings s = tiny_settings();
            const sk_model *m = model;
            s.devices = devices == 1 ? "reference" : "reference,reference";
            fault_reset();
            atomic_store(&faults[0].quiet, 0);
            atomic_store(&faults[0].fail_after, after);
            const sk_status status = sk_runner_open_on(&m, 1, &s, fault_engines, &r, &err);
            if (status == SK_OK) {
                opened++;
                sk_runner_close(&r);
                continue;
            }
            failed++;
            assert_int_equal(status, SK_ERR_RUNTIME);
            assert_non_null(strstr(err.message, "the device was unplugged"));
            assert_null(r);
        }
    /* three runs to make the trace, and two a device to rehearse it, of which another may take some */
    assert_true(failed >= 2 * 3 + 2 && opened >= 2);
    fault_reset();
}

static sk_status never_built(const void *onnx, size_t length, int32_t batch, const char *metadata,
                             const sk_session_settings *settings,
                             void (*progress)(void *context, double part), void *context, uint8_t **out,
                             size_t *out_length, sk_error *err)
{
    (void)onnx, (void)length, (void)batch, (void)metadata, (void)settings, (void)progress, (void)context,
        (void)out, (void)out_length;
    return sk_fail(err, SK_ERR_INTERNAL, "nobody asked for it");
}

typedef enum bits { BITS_NONE, BITS_I8, BITS_F8 } bits;

/* A graph of one value that goes through bytes of a kind. */
static sk_graph *graph_in(bits kind)
{
    sk_error err = {0};
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, 1, 3, 4, 4), one = {.rank = 0};
    const uint8_t zero = 0;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &shape);
    if (kind != BITS_NONE) {
        sk_value s = sk_b_f32(&b, 0.1f),
                 z = sk_b_constant(&b, "", kind == BITS_F8 ? SK_DTYPE_F8 : SK_DTYPE_U8, &one, &zero);
        sk_value q = sk_b_node(&b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, z}, 3, "q");
        x = sk_b_node(&b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, z}, 3, "dq");
    }
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_RELU, x), "y");
    assert_ok(b.status, &b.error);
    return g;
}

/* A model in fewer bits stays in them where nobody says otherwise and the engine has them; one that is not is not made so. */
static void bits_of_models_and_engines(void **state)
{
    (void)state;
    static const sk_engine_form builds = {.build = never_built}, reads;
    enum { F32 = 1u << SK_PRECISION_F32, I8 = 1u << SK_PRECISION_I8, F8 = 1u << SK_PRECISION_FP8 };
    static const struct {
        bits model;
        uint32_t engine;
        const sk_engine_form *form;
        bool for_checking;
        sk_precision wish, got;
        const char *why; /* null: it is taken */
    } cases[] = {
        {BITS_NONE, F32 | I8, NULL, false, SK_PRECISION_AUTO, SK_PRECISION_AUTO, NULL},
        {BITS_I8, F32 | I8, NULL, false, SK_PRECISION_AUTO, SK_PRECISION_I8, NULL},
        {BITS_I8, F32 | I8, &reads, false, SK_PRECISION_AUTO, SK_PRECISION_I8, NULL},
        {BITS_I8, F32 | I8, &builds, false, SK_PRECISION_AUTO, SK_PRECISION_AUTO, NULL},
        {BITS_I8, F32, NULL, false, SK_PRECISION_AUTO, SK_PRECISION_AUTO, NULL},
        {BITS_I8, F32 | I8, NULL, false, SK_PRECISION_F32, SK_PRECISION_F32, NULL},
        {BITS_I8, F32 | I8, NULL, false, SK_PRECISION_I8, SK_PRECISION_I8, NULL},
        {BITS_NONE, F32 | I8, NULL, false, SK_PRECISION_I8, SK_PRECISION_I8, "is not in eight bits (i8)"},
        {BITS_NONE, F32 | I8, &builds, false, SK_PRECISION_I8, SK_PRECISION_I8, NULL},
        {BITS_F8, F32 | F8, NULL, false, SK_PRECISION_AUTO, SK_PRECISION_FP8, NULL},
        {BITS_F8, F32, NULL, false, SK_PRECISION_AUTO, SK_PRECISION_FP8, "does not compute in"},
        {BITS_F8, F32, NULL, true, SK_PRECISION_AUTO, SK_PRECISION_AUTO, NULL},
        {BITS_F8, F32 | I8, NULL, true, SK_PRECISION_I8, SK_PRECISION_I8, "is in fp8, not in i8"},
        {BITS_F8, F32, NULL, false, SK_PRECISION_F32, SK_PRECISION_F32, NULL},
        {BITS_I8, F32 | F8, NULL, false, SK_PRECISION_FP8, SK_PRECISION_FP8, "is not in fp8"},
        {BITS_I8, F32 | F8, NULL, false, SK_PRECISION_FP8, SK_PRECISION_FP8, "quantize MODEL --data"},
        {BITS_NONE, F32 | F8, NULL, false, SK_PRECISION_FP8, SK_PRECISION_FP8, "is not in fp8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_graph *g = graph_in(cases[i].model);
        sk_model m = {.path = model->path, .graph = g};
        const sk_engine e = {.name = "toy",
                             .form = cases[i].form,
                             .can = {.precisions = cases[i].engine, .for_checking = cases[i].for_checking}};
        const sk_precision got = sk_net_precision(cases[i].wish, &m, &e);
        if (got != cases[i].got)
            fail_msg("case %zu: %d", i, (int)got);
        const sk_status status = sk_net_check_precision(got, &m, &e, &err);
        if ((status == SK_OK) != !cases[i].why || (cases[i].why && !strstr(err.message, cases[i].why)))
            fail_msg("case %zu: %s", i, err.message);
        if (cases[i].why)
            assert_ptr_equal(strstr(err.message, model->path), err.message);
        sk_graph_close(&g);
    }
}

/* Another one is made of what a model in eight bits was made from: of itself it cannot be. */
static void of_which_model_another_is_made(void **state)
{
    (void)state;
    static const struct {
        bits model;
        const char *source;
        sk_precision wish;
        const char *words;
    } cases[] = {
        {BITS_I8, "net.pt", SK_PRECISION_FP8, "skitter quantize net.pt --data VIDEO --precision fp8"},
        {BITS_I8, "", SK_PRECISION_FP8, "skitter quantize MODEL --data VIDEO --precision fp8"},
        {BITS_F8, "net.pt", SK_PRECISION_I8, "skitter quantize net.pt --data VIDEO -o MODEL.skq"},
        {BITS_F8, "", SK_PRECISION_I8, "skitter quantize MODEL --data VIDEO -o MODEL.skq"},
        {BITS_NONE, NULL, SK_PRECISION_FP8, "skitter quantize x.pt --data VIDEO --precision fp8"},
        {BITS_NONE, NULL, SK_PRECISION_I8, "skitter quantize x.pt --data VIDEO -o MODEL.skq"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_graph *g = graph_in(cases[i].model);
        sk_quantised q = {.precision = "i8"};
        snprintf(q.source, sizeof q.source, "%s", cases[i].source ? cases[i].source : "");
        char path[] = "x.pt";
        sk_model m = {.path = path, .graph = g, .quantised = cases[i].source ? &q : NULL};
        const sk_engine e = {.name = "toy", .can = {.precisions = ~0u}};
        assert_int_equal(sk_net_check_precision(cases[i].wish, &m, &e, &err), SK_ERR_ARG);
        if (!strstr(err.message, cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, err.message);
        sk_graph_close(&g);
    }
}

/* In latency mode a frame that waited for a millisecond too long is given up; with no limit it is not. */
static void frames_grow_old(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        sk_error err = {0};
        sk_runner_settings s = tiny_settings();
        s.mode = SK_PIPELINE_LATENCY;
        s.when_full = SK_FULL_BLOCK;
        s.depth = 4;
        s.max_age_ms = 0;
        s.devices = "reference";
        fault_reset();
        sk_runner *r = open_faulty(model, &s);
        frames set = make_frames(3, 48, 40);
        const int32_t before = atomic_load(&faults[0].submits);
        atomic_store(&faults[0].gate, 1);
        assert_ok(sk_runner_submit(r, &set.frames[0], NULL, NULL, &err), &err);
        while (atomic_load(&faults[0].submits) == before)
            sk_clock_sleep_ns(100000);
        pthread_mutex_lock(&r->lock); /* now: a busy machine is not to make the first one too old */
        r->settings.max_age_ms = limit;
        pthread_mutex_unlock(&r->lock);
        for (int i = 1; i < 3; i++)
            assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
        const int64_t begin = sk_clock_ns();
        while (sk_clock_ns() - begin < 3000000) /* until they are older than that */
            sk_clock_sleep_ns(500000);
        atomic_store(&faults[0].gate, 0);
        sk_runner_finish(r);
        int got = 0;
        sk_runner_result result;
        for (;;) {
            assert_ok(sk_runner_next(r, &result, &err), &err);
            if (result.ticket < 0)
                break;
            got++;
        }
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_int_equal(got, limit ? 1 : 3);
        assert_int_equal(stats.expired, limit ? 2 : 0);
        sk_runner_close(&r);
        free_frames(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_refused_with_words),
        cmocka_unit_test(engines_that_break_while_opening),
        cmocka_unit_test(bits_of_models_and_engines),
        cmocka_unit_test(of_which_model_another_is_made),
        cmocka_unit_test(frames_grow_old),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
