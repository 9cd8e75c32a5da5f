/* SPDX-License-Identifier: Apache-2.0 */
/* What engines that hand a graph to somebody else's runtime have in common, without such a runtime; and how two results are compared. */
#include "support/test.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "engines/compare.h"
#include "engines/foreign/foreign.h"
#include "formats/onnx.h"
#include "graph/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two inputs, a picture and numbers; two outputs. 9 weights and a bias. */
static sk_graph *two_ends(void)
{
    sk_error err = {0};
    sk_graph *plain = NULL, *g = NULL;
    sk_builder b;
    const sk_shape picture = sk_shape_of(4, 2, 3, 4, 5), row = sk_shape_of(2, 1, 7),
                   w = sk_shape_of(4, 1, 3, 1, 3), one = sk_shape_of(1, 1);
    const float weights[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bias = 0.5f;
    const sk_window window = {{1, 3}, {1, 1}, {1, 1}, {0, 1, 0, 1}, 0};
    assert_ok(sk_graph_open(&plain, &err), &err);
    sk_builder_init(&b, plain);
    sk_value x = sk_b_input(&b, "picture", SK_DTYPE_F32, &picture),
             y = sk_b_input(&b, "numbers", SK_DTYPE_F32, &row);
    sk_b_output(&b,
                sk_b_conv(&b, x, sk_b_constant(&b, "w", SK_DTYPE_F32, &w, weights),
                          sk_b_constant(&b, "b", SK_DTYPE_F32, &one, &bias), &window, 1, "conv"),
                "map");
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_RELU, y), "positive");
    assert_ok(b.status, &b.error);
    const sk_shape shapes[] = {picture, row};
    assert_ok(sk_graph_specialise(plain, shapes, 2, &g, &err), &err);
    sk_graph_close(&plain);
    return g;
}

static void models_and_their_ends(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *g = two_ends();
    sk_foreign_model m;
    sk_session_settings s = sk_session_defaults();
    char name[SK_FOREIGN_NAME];
    assert_string_equal(sk_foreign_name(false, 0, name), "in0");
    assert_string_equal(sk_foreign_name(true, 31, name), "out31");
    for (int half = 0; half < 2; half++) {
        sk_onnx_model *onnx = NULL;
        s.precision = half ? SK_PRECISION_F16 : SK_PRECISION_F32;
        assert_ok(sk_foreign_model_open(g, &s, &m, &err), &err);
        assert_ptr_equal(m.bytes, m.owned);
        assert_string_equal(m.inputs[0], "in0");
        assert_string_equal(m.inputs[1], "in1");
        assert_string_equal(m.outputs[0], "out0");
        assert_string_equal(m.outputs[1], "out1");
        assert_ok(sk_onnx_read(m.bytes, m.length, "model", NULL, &onnx, &err), &err);
        assert_int_equal(onnx->ir_version, 8);
        assert_int_equal(onnx->n_opsets, 1);
        assert_int_equal(onnx->opsets[0].version, 17);
        assert_string_equal(onnx->producer, "skitter");
        assert_string_equal(onnx->graph.name, "main");
        assert_int_equal(onnx->graph.n_inputs, 2);
        assert_int_equal(onnx->graph.n_outputs, 2);
        for (int i = 0; i < 2; i++) { /* f32 at the ends either way */
            assert_string_equal(onnx->graph.inputs[i].name, m.inputs[i]);
            assert_string_equal(onnx->graph.outputs[i].name, m.outputs[i]);
            assert_int_equal(onnx->graph.inputs[i].dtype, SK_DTYPE_F32);
            assert_int_equal(onnx->graph.outputs[i].dtype, SK_DTYPE_F32);
            assert_true(sk_shape_equal(&onnx->graph.inputs[i].shape, &g->values[g->inputs[i]].shape));
            assert_true(sk_shape_equal(&onnx->graph.outputs[i].shape, &g->values[g->outputs[i]].shape));
        }
        sk_onnx_close(&onnx);
        sk_foreign_model_close(&m);
        assert_null(m.owned);
    }
    const sk_session_artifact file = {.bytes = "model",
                                      .length = 5,
                                      .path = "a.onnx",
                                      .input_names = {"images", "x"},
                                      .output_names = {"y", "z"}};
    s.artifact = &file;
    assert_ok(sk_foreign_model_open(g, &s, &m, &err), &err);
    assert_ptr_equal(m.bytes, file.bytes);
    assert_int_equal(m.length, 5);
    assert_string_equal(m.inputs[1], "x");
    assert_string_equal(m.outputs[0], "y");
    assert_null(m.owned);
    sk_foreign_model_close(&m);
    s.precision = SK_PRECISION_F16;
    assert_ok(sk_foreign_supports("A Runtime", g, &s, &err), &err); /* halves are in the file */
    s.artifact = NULL;
    assert_int_equal(sk_foreign_supports("A Runtime", g, &s, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(
        err.message,
        "A Runtime: does not compute this network in f16; set precision to f32, or to another that 'skitter "
        "runtimes' lists for it");
    s.precision = SK_PRECISION_I8; /* of a graph that is not */
    assert_int_equal(sk_foreign_supports("A Runtime", g, &s, &err), SK_ERR_UNSUPPORTED);
    s.precision = SK_PRECISION_F32;
    assert_ok(sk_foreign_supports("A Runtime", g, &s, &err), &err);
    g->values[g->outputs[1]].shape.dim[0] = -1;
    assert_int_equal(sk_foreign_supports("A Runtime", g, &s, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "A Runtime: the size of output positive depends on the data");
    sk_graph_close(&g);
}

/* Bytes are whole numbers: a graph in eight bits with an exponent is none of theirs, and one in f32 neither. */
static void bytes_are_whole_numbers(void **state)
{
    (void)state;
    static const sk_dtype types[] = {SK_DTYPE_U8, SK_DTYPE_I8, SK_DTYPE_F8};
    for (int i = 0; i < 3; i++) {
        sk_error err = {0};
        sk_graph *plain = NULL, *g = NULL;
        sk_builder b;
        const sk_shape shape = sk_shape_of(1, 4), one = {.rank = 0};
        const uint8_t zero = 0;
        assert_ok(sk_graph_open(&plain, &err), &err);
        sk_builder_init(&b, plain);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &shape), s = sk_b_f32(&b, 0.1f),
                 z = sk_b_constant(&b, "z", types[i], &one, &zero);
        sk_value q = sk_b_node(&b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, z}, 3, "q");
        sk_b_output(&b, sk_b_node(&b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, z}, 3, "dq"), "y");
        assert_ok(b.status, &b.error);
        assert_ok(sk_graph_specialise(plain, &shape, 1, &g, &err), &err);
        sk_graph_close(&plain);
        for (int p = SK_PRECISION_AUTO; p <= SK_PRECISION_I8; p++) {
            sk_session_settings settings = sk_session_defaults();
            settings.precision = (sk_precision)p;
            const bool can = p == SK_PRECISION_F32 || (p == SK_PRECISION_I8 && types[i] != SK_DTYPE_F8);
            assert_int_equal(sk_foreign_supports("A", g, &settings, &err), can ? SK_OK : SK_ERR_UNSUPPORTED);
        }
        sk_graph_close(&g);
    }
}

static void buffers(void **state)
{
    (void)state;
    sk_graph *g = two_ends();
    const size_t in = (2 * 3 * 4 * 5 + 7) * sizeof(float), out = (2 * 4 * 5 + 7) * sizeof(float);
    for (int how = 0; how < 12; how++) {
        const int slots = 1 + how % 3;
        const bool at_once = how / 3 % 2, pictures = how / 6;
        sk_error err = {0};
        sk_foreign_session s = {0};
        sk_session_settings settings = sk_session_defaults();
        settings.slots = slots;
        settings.threads = how % 2 ? 3 : 0;
        settings.input = pictures ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
        settings.scale = 0.5f;
        for (int k = 0; k < 4; k++) {
            settings.mean[k] = (float)k;
            settings.std[k] = 2.0f;
        }
        assert_ok(sk_foreign_alloc(&s, g, &settings, at_once, &err), &err);
        s.base.settings = settings;
        assert_int_equal(s.input_sets, at_once ? slots : 1);
        assert_int_equal(s.base.info.asynchronous, at_once);
        assert_int_equal(s.base.info.activation_bytes, (size_t)s.input_sets * in + (size_t)slots * out);
        assert_int_equal(s.base.info.weight_bytes, 10 * sizeof(float));
        assert_int_equal(s.base.info.threads, how % 2 ? 3 : sk_cpu_usable_cores());
        assert_int_equal(s.copiers.threads, how % 2 ? 3 : (sk_cpu_usable_cores() + 1) / 2);
        assert_int_equal(s.copiers.most, 8);
        assert_true(s.pictures[0] == pictures && !s.pictures[1]);
        for (int k = 0; k < slots; k++) {
            void *outputs[2];
            assert_ok(sk_foreign_wait(&s.base, k, outputs, &err), &err);
            for (int i = 0; i < 2; i++) {
                assert_true((uintptr_t)outputs[i] % 64 == 0 && outputs[i] == s.outputs[k][i].data);
                assert_true((outputs[i] == s.base.info.outputs[i].data) == (k == 0));
            }
            uint8_t bytes[2 * 4 * 5 * 3];
            float numbers[120], row[7];
            for (int i = 0; i < 120; i++) {
                bytes[i] = (uint8_t)(i * 2 + k);
                numbers[i] = (float)(i + 100 * k);
            }
            for (int i = 0; i < 7; i++)
                row[i] = (float)(i - k);
            const sk_session_input given[] = {{.data = pictures ? (const void *)bytes : numbers},
                                              {.data = row}};
            sk_foreign_fill_inputs(&s, k, given);
            const sk_tensor *to = s.inputs[at_once ? k : 0];
            assert_memory_equal(to[1].data, row, sizeof row);
            if (!pictures)
                assert_memory_equal(to[0].data, numbers, sizeof numbers);
            for (int n = 0; n < 2 && pictures; n++)
                for (int c = 0; c < 3; c++)
                    for (int i = 0; i < 20; i++)
                        assert_true(((const float *)to[0].data)[(n * 3 + c) * 20 + i] ==
                                    (float)bytes[(n * 20 + i) * 3 + c] * 0.25f - (float)c / 2.0f);
        }
        sk_foreign_free(&s);
    }
    sk_graph_close(&g);
}

/* An engine that gives one number everywhere, or a convolution's sums with one of them wrong. */
static float wrong_at;
static int wrong_index;
static sk_status toy_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    return sk_foreign_supports("toy", graph, settings, err);
}
static sk_status toy_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                          sk_error *err)
{
    sk_foreign_session *s = sk_calloc(1, sizeof *s);
    assert_non_null(s);
    assert_ok(sk_foreign_alloc(s, graph, settings, false, err), err);
    *out = &s->base;
    return SK_OK;
}
static sk_status toy_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    (void)err;
    sk_foreign_session *s = (sk_foreign_session *)session;
    for (int i = 0; i < 16; i++)
        assert_true(((const float *)inputs[0].data)[i] == 1.0f);
    float *y = s->outputs[slot][0].data;
    for (int i = 0; i < 16; i++) {
        const int edges = (i / 4 == 0 || i / 4 == 3) + (i % 4 == 0 || i % 4 == 3);
        y[i] = edges == 2 ? 4.5f : edges == 1 ? 6.5f : 9.5f;
    }
    if (wrong_index >= 0)
        y[wrong_index] = wrong_at;
    return SK_OK;
}
static void toy_close(sk_session *session)
{
    sk_foreign_free((sk_foreign_session *)session);
    sk_free(session);
}

static void runtimes_are_tried(void **state)
{
    (void)state;
    const sk_engine toy = {.name = "toy",
                           .title = "Toy",
                           .can = {.precisions = 1u << SK_PRECISION_F32, .usual = SK_PRECISION_F32},
                           .supports = toy_supports,
                           .open = toy_open,
                           .submit = toy_submit,
                           .wait = sk_foreign_wait,
                           .close = toy_close};
    sk_error err = {0};
    wrong_index = -1;
    assert_ok(sk_foreign_try(&toy, &err), &err);
    assert_ok(sk_foreign_try(sk_engine_find("reference"), &err), &err);
    for (wrong_index = 0; wrong_index < 16; wrong_index++) {
        const int edges = (wrong_index / 4 % 3 == 0) + (wrong_index % 4 % 3 == 0);
        const double right = edges == 2 ? 4.5 : edges == 1 ? 6.5 : 9.5;
        char says[100];
        wrong_at = (float)right + 0.5f;
        assert_int_equal(sk_foreign_try(&toy, &err), SK_ERR_MISMATCH);
        snprintf(says, sizeof says, "a small convolution gave %g where %g is right", right + 0.5, right);
        assert_string_equal(err.message, says);
        wrong_at = (float)right - 0.0001f;
        assert_int_equal(sk_foreign_try(&toy, &err), SK_ERR_MISMATCH);
        wrong_at = (float)right + 0.000005f;
        assert_ok(sk_foreign_try(&toy, &err), &err);
        wrong_at = NAN;
        assert_int_equal(sk_foreign_try(&toy, &err), SK_ERR_MISMATCH);
    }
    sk_engine_probe probe;
    assert_ok(sk_engine_find("reference")->probe(&probe, &err), &err);
    assert_true(probe.available == 1 && probe.n_devices == 1 && probe.devices[0].name[0] &&
                probe.devices[0].precisions == 1u << SK_PRECISION_F32);
    snprintf(err.message, sizeof err.message, "why not");
    sk_foreign_report(SK_ERR_IO, &err, "Toy", "1.2", "/lib/toy.so", 1u << SK_PRECISION_F32, &probe);
    assert_true(!probe.available && probe.n_devices == 0);
    assert_string_equal(probe.detail, "why not");
    assert_string_equal(probe.version, "1.2");
    sk_foreign_report(SK_OK, &err, "Toy", "1.2", "/lib/toy.so", 1u << SK_PRECISION_F32, &probe);
    assert_true(probe.available && probe.n_devices == 1 &&
                probe.devices[0].precisions == 1u << SK_PRECISION_F32);
    assert_string_equal(probe.detail, "/lib/toy.so");
    sk_cpu_info cpu;
    char name[200];
    sk_cpu_describe(&cpu);
    snprintf(name, sizeof name, "%.40s, %d cores, Toy 1.2", cpu.model, sk_cpu_usable_cores());
    assert_string_equal(probe.devices[0].name, name);
}

/* --- likeness, by hand --- */

static void is_like(const float *a, const float *b, size_t n, double pcc, double most, double mean,
                    double scale, bool constant)
{
    const sk_likeness l = sk_compare(a, b, n);
    if (!(fabs(l.pcc - pcc) < 1e-9) || !(l.max_diff == most) ||
        !(fabs(l.mean_diff - mean) < 1e-9 || l.mean_diff == mean) || !(l.scale == scale) ||
        l.constant != constant)
        fail_msg("pcc %.12g, differences %g and %g, scale %g, constant %d", l.pcc, l.max_diff, l.mean_diff,
                 l.scale, l.constant);
}

static void likeness(void **state)
{
    (void)state;
    const float up[] = {1, 2, 3, 4}, twice[] = {2, 4, 6, 8}, down[] = {-4, -5, -6, -7},
                across[] = {1, -1, -1, 1};
    is_like(up, up, 4, 1, 0, 0, 4, false);
    is_like(twice, up, 4, 1, 4, 2.5, 4, false);
    is_like(up, down, 4, -1, 11, 8, 7, false);
    is_like(up, across, 4, 0, 4, 2.5, 1, false);
    is_like(up, up, 0, 1, 0, 0, 0, false);
    const float same[] = {5, 5, 5, 5}, close[] = {5, 5, 5, 5.00004f}, off[] = {5, 5, 5, 5.001f};
    is_like(same, same, 4, 1, 0, 0, 5, true);
    assert_true(sk_compare(close, same, 4).constant && sk_compare(close, same, 4).pcc == 1);
    assert_true(sk_compare(off, same, 4).constant && sk_compare(off, same, 4).pcc == 0);
    assert_true(sk_compare(up, same, 4).constant && sk_compare(up, same, 4).pcc == 0);
    const float holes[] = {NAN, 1, INFINITY, 2, -INFINITY, 4}, other[] = {NAN, 2, INFINITY, 4, -INFINITY, 8};
    is_like(other, holes, 6, 1, 4, 7.0 / 3, 4, false); /* what both lack adds nothing */
    for (int i = 0; i < 6; i++) {
        float broken[6];
        memcpy(broken, holes, sizeof broken);
        broken[i] = i == 2 ? -INFINITY : i % 2 ? NAN : 1;
        is_like(broken, holes, 6, 0, INFINITY, INFINITY, 0, false);
        is_like(holes, broken, 6, 0, INFINITY, INFINITY, 0, false);
    }
    float high[100], noisy[100]; /* around a large mean: what differs are the small changes */
    for (int i = 0; i < 100; i++) {
        high[i] = 10000.0f + (float)(i % 7);
        noisy[i] = 10000.0f + (float)(i % 5);
    }
    assert_true(fabs(sk_compare(high, noisy, 100).pcc) < 0.2);
    assert_true(fabs(sk_compare(high, high, 100).pcc - 1) < 1e-9);
    /* boxes, scores and the rest: the worst counts; 7 channels of 4 places, 2 classes */
    float a[28], b[28];
    for (int bad = -1; bad < 3; bad++) {
        for (int i = 0; i < 28; i++)
            a[i] = b[i] = (float)((i * 13) % 11) * (i < 16 ? 100.0f : 0.1f);
        const int from = bad == 0 ? 0 : bad == 1 ? 16 : 24, to = bad == 0 ? 16 : bad == 1 ? 24 : 28;
        for (int i = from; bad >= 0 && i < to; i++)
            a[i] = -b[i];
        const sk_likeness l = sk_compare_dense(a, b, 7, 4, 2);
        assert_true(fabs(l.pcc - (bad < 0 ? 1 : -1)) < 1e-9);
        double most = 0, sum = 0;
        for (int i = 0; i < 28; i++) {
            most = fmax(most, fabs((double)a[i] - (double)b[i]));
            sum += fabs((double)a[i] - (double)b[i]);
        }
        assert_true(l.max_diff == most && fabs(l.mean_diff - sum / 28) < 1e-9);
    }
    a[4] = b[4] + 1; /* a part of one number counts, too */
    assert_true(sk_compare_dense(a, b, 5, 1, 1).pcc == 0);
    for (int i = 0; i < 28; i++)
        a[i] = b[i];
    assert_true(sk_compare_dense(a, b, 7, 4, 99).pcc > 1 - 1e-9); /* more classes than there are channels */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_and_their_ends),
                                       cmocka_unit_test(bytes_are_whole_numbers), cmocka_unit_test(buffers),
                                       cmocka_unit_test(runtimes_are_tried), cmocka_unit_test(likeness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
