/* SPDX-License-Identifier: Apache-2.0 */
/* A file in eight bits is compared by how far it is from the network without roundings, beside skitter's own eight bits. */
#include "support/fault.h"
#include "support/test.h"

#include "base/memory.h"
#include "formats/onnx.h"
#include "graph/builder.h"
#include "graph/quantise.h"
#include "models/onnx_exporter.h"
#include "runtime/model_artifact_job.h"

#include <string.h>

enum { SIDE = 8, OPSET = 17 };

static sk_graph *graph;
static uint8_t *bytes;
static size_t length;
static float spoil;
static int asked[3]; /* sessions that were opened in f32, in eight bits, in others */

/* One convolution in eight bits: steps of 1/128 before it, weights of 1/64. */
static void build(void)
{
    static int8_t weights[2 * 3 * 9];
    sk_error err = {0};
    sk_builder b;
    sk_shape one = {.rank = 0}, in = sk_shape_of(4, 1, 3, SIDE, SIDE), kernel = sk_shape_of(4, 2, 3, 3, 3);
    sk_attrs attrs = {.quantise.axis = 1};
    sk_window window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof weights; i++)
        weights[i] = (int8_t)(i * 37 % 101 - 50);
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &in);
    sk_value scale = sk_b_f32(&b, 1.0f / 128), zero = sk_b_constant(&b, "", SK_DTYPE_U8, &one, "\x10");
    sk_value q = sk_b_node(&b, SK_OP_QUANTIZE, &attrs, (sk_value[]){x, scale, zero}, 3, "q");
    sk_value dq = sk_b_node(&b, SK_OP_DEQUANTIZE, &attrs, (sk_value[]){q, scale, zero}, 3, "dq");
    sk_value w = sk_b_constant(&b, "w", SK_DTYPE_I8, &kernel, weights), step = sk_b_f32(&b, 1.0f / 64);
    sk_value dw = sk_b_node(&b, SK_OP_DEQUANTIZE, &attrs, (sk_value[]){w, step}, 2, "dw");
    sk_b_output(&b, sk_b_conv(&b, dq, dw, SK_VALUE_NONE, &window, 1, "conv"), "output0");
    assert_ok(b.status, &b.error);
    assert_true(sk_graph_is_quantised(graph));
}

static void write_onnx(void)
{
    static const char *const in = "images", *const out = "output0";
    sk_error err = {0};
    sk_onnx_model *onnx = NULL;
    sk_onnx_value input = {in, SK_DTYPE_F32, sk_shape_of(4, 1, 3, SIDE, SIDE), {"", "", "", ""}};
    sk_onnx_value output = {out, SK_DTYPE_F32, sk_shape_of(4, 1, 2, SIDE, SIDE), {"", "", "", ""}};
    sk_onnx_opset set = {"", OPSET};
    assert_ok(sk_onnx_create(&onnx, &err), &err);
    assert_ok(sk_onnx_from_graph(graph, OPSET, false, &in, &out, onnx, &err), &err);
    onnx->ir_version = 8;
    onnx->opsets = &set;
    onnx->n_opsets = 1;
    onnx->graph.inputs = &input;
    onnx->graph.outputs = &output;
    onnx->graph.n_inputs = onnx->graph.n_outputs = 1;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    sk_onnx_close(&onnx);
}

static sk_status count_and_open(const sk_graph *fixed, const sk_session_settings *settings, sk_session **out,
                                sk_error *err)
{
    asked[settings->precision == SK_PRECISION_F32 ? 0 : settings->precision == SK_PRECISION_I8 ? 1 : 2]++;
    sk_session_settings plain = *settings; /* the graph rounds for itself */
    plain.precision = SK_PRECISION_F32;
    return sk_engine_reference.open(fixed, &plain, out, err);
}

static sk_status support(const sk_graph *fixed, const sk_session_settings *settings, sk_error *err)
{
    (void)fixed, (void)settings, (void)err;
    return SK_OK;
}

static sk_status wait_and_spoil(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    SK_TRY(sk_engine_reference.wait(session, slot, outputs, err));
    for (int i = 0; i < 2 * SIDE * SIDE; i++)
        ((float *)outputs[0])[i] *= 1 + spoil * (i % 2 ? 1 : -1);
    return SK_OK;
}

static sk_status check_with(sk_precision precision, sk_artifact_check *out, sk_error *err)
{
    static const sk_engine_form form = {
        .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};
    sk_engine e = sk_engine_reference;
    e.name = "reader";
    e.open = count_and_open;
    e.supports = support;
    e.wait = wait_and_spoil;
    e.form = &form;
    e.can.precisions |= 1u << SK_PRECISION_I8;
    const sk_model model = {.path = "some.pt",
                            .graph = graph,
                            .input = {.channels = 3, .width = SIDE, .height = SIDE, .dtype = SK_DTYPE_F32}};
    sk_model_artifact artifact = {0};
    sk_artifact_job job = {.model = &model,
                           .engine = &e,
                           .settings = sk_session_defaults(),
                           .batch = 1,
                           .height = SIDE,
                           .width = SIDE,
                           .out = &artifact};
    job.settings.precision = precision;
    job.settings.threads = 1;
    memset(asked, 0, sizeof asked);
    return sk_artifact_job_check(&job, "m.onnx", bytes, length, false, out, err);
}

static void as_far_as_our_own(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_artifact_check check = {0};
    spoil = 0;
    assert_ok(check_with(SK_PRECISION_I8, &check, &err), &err);
    assert_true(check.pcc > 0.999 && check.max_difference < 0.01);
    assert_true(asked[0] == 0 && asked[1] == 1 && asked[2] == 0); /* the others are our own engine's */
    spoil = 0.3f;
    assert_int_equal(check_with(SK_PRECISION_I8, &check, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "m.onnx made for reader is refused"));
    assert_non_null(strstr(err.message, "times as far from f32 as those of skitter's eight bits"));
    assert_true(check.pcc < 0.999 && check.max_difference > 0.01);
    /* in f32 its answers are compared as they are */
    assert_int_equal(check_with(SK_PRECISION_F32, &check, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "largest difference"));
    assert_null(strstr(err.message, "times as far"));
    assert_true(asked[0] == 1 && asked[1] == 0);
    spoil = 0;
}

static sk_status check_once(void *context, sk_error *err)
{
    sk_artifact_check check = {0};
    (void)context;
    return check_with(SK_PRECISION_I8, &check, err);
}

/* Whichever of the three runs finds no memory: the others are given back. */
static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(check_once, NULL) > 10);
}

int main(void)
{
    build();
    write_onnx();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_far_as_our_own),
        cmocka_unit_test(without_memory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_graph_close(&graph);
    sk_free(bytes);
    return failed;
}
