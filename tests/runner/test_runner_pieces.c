/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/memory.h"
#include "runner/check.h"
#include "runner/kept_traces.h"
#include "runner/network.h"

#include <math.h>

/* Traces that are put away and come back, verdicts, sizes that a model takes: without a frame. */

static int closed;

static void close_toy(sk_session *session)
{
    closed++;
    sk_free(session);
}

static const sk_engine_form no_form;
static sk_engine toy = {.name = "toy", .title = "the toy", .close = close_toy};

static sk_trace trace_of(int32_t width, size_t bytes)
{
    sk_trace t = {.generation = 1, .key = {.engine = &toy, .width = width}};
    t.session = sk_calloc(1, sizeof *t.session);
    t.session->engine = &toy;
    t.session->info.activation_bytes = bytes;
    return t;
}

static sk_trace_key key_of(int32_t width)
{
    return (sk_trace_key){.engine = &toy, .width = width};
}

/* Widths of what is kept, the newest first. */
static void expect(const sk_kept_traces *kept, const char *widths)
{
    char text[32] = "";
    for (int32_t i = 0; i < kept->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d", kept->traces[i].key.width);
    assert_string_equal(text, widths);
}

static void traces_are_put_away_and_come_back(void **state)
{
    (void)state;
    sk_kept_traces kept = {0};
    closed = 0;
    for (int32_t i = 1; i <= SK_KEPT_TRACES; i++) {
        sk_trace t = trace_of(i, 1000);
        sk_kept_traces_put(&kept, &t);
        assert_null(t.session);
        assert_int_equal(t.generation, 0);
    }
    expect(&kept, "654321");
    assert_int_equal(closed, 0);
    sk_trace now = trace_of(7, 1000);
    sk_trace_key key = key_of(9);
    assert_false(sk_kept_traces_swap(&kept, &now, &key));
    assert_int_equal(now.key.width, 7);
    key = key_of(3);
    assert_true(sk_kept_traces_swap(&kept, &now, &key)); /* from the middle */
    assert_int_equal(now.key.width, 3);
    assert_non_null(now.session);
    expect(&kept, "765421");
    key = key_of(7);
    assert_true(sk_kept_traces_swap(&kept, &now, &key)); /* the newest */
    expect(&kept, "365421");
    key = key_of(1);
    assert_true(sk_kept_traces_swap(&kept, &now, &key)); /* the oldest */
    expect(&kept, "736542");
    assert_int_equal(closed, 0);
    sk_trace more = trace_of(8, 1000);
    sk_kept_traces_put(&kept, &more); /* one too many: the oldest goes */
    expect(&kept, "873654");
    assert_int_equal(closed, 1);
    sk_kept_traces_release(&kept);
    assert_int_equal(kept.count, 0);
    assert_int_equal(closed, 1 + SK_KEPT_TRACES);
    sk_trace_release(&now);
    assert_int_equal(closed, 2 + SK_KEPT_TRACES);
}

static void only_small_ones_of_our_own_are_kept(void **state)
{
    (void)state;
    const size_t most = (size_t)64 << 20;
    sk_kept_traces kept = {0};
    closed = 0;
    sk_trace t = trace_of(1, most / 2);
    sk_kept_traces_put(&kept, &t);
    t = trace_of(2, most / 2);
    sk_kept_traces_put(&kept, &t);
    expect(&kept, "21"); /* exactly as much as there may be */
    t = trace_of(3, 1);
    sk_kept_traces_put(&kept, &t);
    expect(&kept, "32");
    t = trace_of(4, most + 1);
    sk_kept_traces_put(&kept, &t); /* itself too large: nothing is left */
    expect(&kept, "");
    assert_int_equal(closed, 4);
    t = trace_of(5, 1);
    t.generation = 0; /* it never was one */
    sk_kept_traces_put(&kept, &t);
    expect(&kept, "");
    assert_int_equal(closed, 5);
    toy.form = &no_form;
    t = trace_of(6, 1);
    sk_kept_traces_put(&kept, &t);
    expect(&kept, "");
    assert_int_equal(closed, 6);
    toy.form = NULL;
}

/* The one that is furthest below its own limit decides, and is named; one that is no number is worst. */
static void verdicts_name_the_worst(void **state)
{
    (void)state;
    sk_model *both[] = {model, model};
    const sk_model *const *models = (const sk_model *const *)both;
    sk_frame frame = {.index = 12};
    static const struct {
        double pcc[3], limit[3];
        int worst; /* -1: passed */
    } cases[] = {{{1, 0.99, 0.9}, {0.9, 0.9, 0.9}, -1},           {{1, 0.89, 0.95}, {0.9, 0.9, 0.9}, 1},
                 {{0.5, 0.98, 0.9}, {0.4, 0.99, 0.9}, 1},         {{0.8, 0.7, 0.6}, {0.9, 0.9, 0.9}, 2},
                 {{(double)NAN, 0.1, 0.95}, {0.9, 0.05, 0.9}, 0}, {{1, 1, (double)NAN}, {0.9, 0.9, 0.9}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n_models = 1; n_models <= 2; n_models++) {
            static sk_check check;
            sk_error err = {0};
            check = (sk_check){.pcc = 1, .n_outputs = 3};
            for (int k = 0; k < 3; k++) {
                check.outputs[k] = (sk_output_check){.model = n_models - 1,
                                                     .output = k + 4,
                                                     .pcc = cases[i].pcc[k],
                                                     .pcc_min = cases[i].limit[k],
                                                     .max_diff = 5};
                snprintf(check.outputs[k].name, sizeof check.outputs[k].name, "head%d", k);
            }
            const sk_checker_call call = {.models = models, .frame = &frame, .pcc_min = 0.7, .out = &check};
            const sk_status status = sk_checker_verdict(&call, n_models, &err);
            assert_int_equal(status, cases[i].worst < 0 ? SK_OK : SK_ERR_MISMATCH);
            assert_true(check.ran && check.passed == (status == SK_OK));
            if (cases[i].worst < 0)
                continue;
            char words[64];
            snprintf(words, sizeof words, "frame 12: output %d head%d", cases[i].worst + 4, cases[i].worst);
            assert_non_null(strstr(err.message, words));
            assert_int_equal(strstr(err.message, model->path) != NULL, n_models > 1);
            assert_true(check.pcc_min == cases[i].limit[cases[i].worst]);
        }
    static sk_check none;
    sk_error err = {0};
    const sk_checker_call call = {.models = models, .frame = &frame, .pcc_min = 0.7, .out = &none};
    assert_ok(sk_checker_verdict(&call, 1, &err), &err);
    assert_true(none.passed && none.pcc_min == 0.7);
}

static void sizes_that_a_model_takes(void **state)
{
    (void)state;
    static const struct {
        bool fixed;
        int32_t fixed_batch, stride;
        int64_t batch, height, width;
        const char *why; /* null: taken */
    } cases[] = {{false, 0, 32, 1, 64, 96, NULL},
                 {false, 0, 32, 7, 32, 32, NULL},
                 {false, 0, 32, 1, 65, 96, "multiples of 32, not 65 x 96; the next is 96 x 96"},
                 {false, 0, 32, 1, 64, 97, "the next is 64 x 128"},
                 {false, 0, 0, 1, 13, 17, NULL},
                 {true, 0, 32, 1, 48, 80, NULL},
                 {true, 0, 32, 1, 80, 48, "48 x 80 (height x width) only, not 80 x 48"},
                 {true, 0, 32, 1, 48, 81, "only, not 48 x 81"},
                 {false, 4, 32, 4, 64, 64, NULL},
                 {false, 4, 32, 3, 64, 64, "batches of exactly 4, not 3"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model m = {.path = model->path};
        sk_error err = {0};
        m.input.fixed_size = cases[i].fixed, m.input.fixed_batch = cases[i].fixed_batch,
        m.input.stride = cases[i].stride;
        m.input.height = 48, m.input.width = 80;
        const sk_status status = sk_net_check_size(&m, cases[i].batch, cases[i].height, cases[i].width, &err);
        if (status != (cases[i].why ? SK_ERR_MISMATCH : SK_OK) ||
            (cases[i].why && !strstr(err.message, cases[i].why)))
            fail_msg("case %zu: %s", i, err.message);
    }
    sk_model m = {0};
    m.input.scale = 0.5f;
    for (int c = 0; c < 3; c++)
        m.input.mean[c] = (float)c, m.input.std[c] = (float)c;
    sk_session_settings s = sk_session_defaults();
    sk_net_pixel_values(&m, &s);
    assert_true(s.scale == 0.5f && s.mean[0] == 0 && s.mean[2] == 2 && s.std[0] == 1 && s.std[1] == 1 &&
                s.std[2] == 2);
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

/* Rectangles where the runtime takes any shape, or an ONNX file does and is run as it is. */
static void shapes_of_inputs(void **state)
{
    (void)state;
    static const sk_engine_form reads, builds = {.build = never_built};
    static const struct {
        sk_rect wish;
        bool fixed, free_shapes, onnx;
        const sk_engine_form *form;
        sk_rect got;
    } cases[] = {{SK_RECT_OFF, false, true, false, NULL, SK_RECT_OFF},
                 {SK_RECT_ON, false, false, false, NULL, SK_RECT_ON},
                 {SK_RECT_ON, true, true, false, NULL, SK_RECT_OFF},
                 {SK_RECT_AUTO, false, true, false, NULL, SK_RECT_ON},
                 {SK_RECT_AUTO, false, false, false, NULL, SK_RECT_OFF},
                 {SK_RECT_AUTO, false, false, true, &reads, SK_RECT_ON},
                 {SK_RECT_AUTO, false, false, true, NULL, SK_RECT_OFF},
                 {SK_RECT_AUTO, false, false, false, &reads, SK_RECT_OFF},
                 {SK_RECT_AUTO, false, false, true, &builds, SK_RECT_OFF}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model m = {.format = cases[i].onnx ? SK_FORMAT_ONNX : (sk_model_format)(SK_FORMAT_ONNX + 1)};
        m.input.fixed_size = cases[i].fixed;
        const sk_engine e = {.can = {.free_shapes = cases[i].free_shapes}, .form = cases[i].form};
        if (sk_net_rect(cases[i].wish, &m, &e) != cases[i].got)
            fail_msg("case %zu", i);
    }
    /* a network that is in eight bits stays so where the engine has them and does not make its own */
    const struct {
        uint32_t precisions;
        const sk_engine_form *form;
        sk_precision wish, got;
    } eight[] = {{1u << SK_PRECISION_I8, NULL, SK_PRECISION_F32, SK_PRECISION_F32},
                 {1u << SK_PRECISION_I8, NULL, SK_PRECISION_AUTO, SK_PRECISION_AUTO},
                 {0, NULL, SK_PRECISION_AUTO, SK_PRECISION_AUTO}};
    for (size_t i = 0; i < sizeof eight / sizeof *eight; i++) {
        const sk_engine e = {.can = {.precisions = eight[i].precisions}, .form = eight[i].form};
        assert_int_equal(sk_net_precision(eight[i].wish, model, &e), eight[i].got);
    }
    const sk_engine *found = NULL;
    sk_error err = {0};
    assert_ok(sk_net_engine("cpu", &found, &err), &err);
    assert_ptr_equal(found, &sk_engine_cpu);
    assert_int_equal(sk_net_engine("zebra", &found, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "no compute runtime is called 'zebra'; there are: cpu"));
    assert_int_equal(sk_net_engine("mps", &found, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'mps' cannot be used here"));
    assert_ok(sk_net_engine(" CPU", &found, &err), &err); /* a name as people write it */
    assert_ptr_equal(found, &sk_engine_cpu);
}

/* What cannot be opened is told with the model's path, and with the runtime's name once that was asked. */
static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    sk_session *session = NULL;
    sk_error err = {0};
    sk_session_settings s = sk_session_defaults();
    char words[700];
    sk_model broken = *model;
    broken.truncated = true;
    assert_int_equal(sk_net_open(&broken, &sk_engine_cpu, 1, 32, 32, &s, &session, &err), SK_ERR_FORMAT);
    snprintf(words, sizeof words, "%s: the file is cut off and cannot be run; fetch it again", model->path);
    assert_string_equal(err.message, words);
    broken.truncated = false;
    broken.graph = NULL;
    assert_int_equal(sk_net_open(&broken, &sk_engine_cpu, 1, 32, 32, &s, &session, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, words);
    s.precision = SK_PRECISION_I8;
    assert_int_equal(sk_net_open(model, &sk_engine_cpu, 1, 32, 32, &s, &session, &err), SK_ERR_ARG);
    snprintf(words, sizeof words, "%s: is not in eight bits (i8)", model->path);
    assert_ptr_equal(strstr(err.message, words), err.message);
    assert_int_equal(sk_net_open(model, &sk_engine_cpu, 1, 33, 32, NULL, &session, &err), SK_ERR_MISMATCH);
    s = sk_session_defaults();
    snprintf(s.options, sizeof s.options, "nonsense=1");
    assert_int_not_equal(sk_net_open(model, &sk_engine_cpu, 1, 32, 32, &s, &session, &err), SK_OK);
    assert_null(session);
    snprintf(words, sizeof words, "%s on cpu: ", model->path);
    assert_ptr_equal(strstr(err.message, words), err.message);
    assert_ok(sk_net_open(model, &sk_engine_cpu, 1, 32, 32, NULL, &session, &err), &err);
    assert_string_equal(session->engine->name, "cpu");
    sk_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_put_away_and_come_back),
        cmocka_unit_test(only_small_ones_of_our_own_are_kept),
        cmocka_unit_test(verdicts_name_the_worst),
        cmocka_unit_test(sizes_that_a_model_takes),
        cmocka_unit_test(shapes_of_inputs),
        cmocka_unit_test(what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
