/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/ops.h"

#include <string.h>

static const sk_window window3 = {
    .kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};

/* x -> conv -> relu -> output, with a weight of ones. */
static sk_graph *small_graph(void)
{
    sk_error err = {0};
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    b.scope = "model.0";
    sk_shape any = sk_shape_of(4, -1, 2, -1, -1), w_shape = sk_shape_of(4, 1, 2, 3, 3);
    float ones[18];
    for (int i = 0; i < 18; i++)
        ones[i] = 1;
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &any);
    sk_value w = sk_b_constant(&b, "w", SK_DTYPE_F32, &w_shape, ones);
    sk_value y = sk_b_conv(&b, x, w, SK_VALUE_NONE, &window3, 1, "conv");
    b.node_flags = SK_NODE_TAIL;
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_RELU, y), "y");
    assert_ok(b.status, &b.error);
    return graph;
}

static void builds_and_verifies(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_graph();
    assert_ok(sk_graph_verify(graph, &err), &err);
    assert_int_equal(graph->n_nodes, 2);
    assert_string_equal(graph->nodes[0].name, "model.0.conv");
    assert_string_equal(graph->nodes[1].name, "model.0");
    assert_int_equal(graph->nodes[0].flags, 0);
    assert_int_equal(graph->nodes[1].flags, SK_NODE_TAIL);
    assert_string_equal(graph->values[graph->outputs[0]].name, "y");
    sk_tensor w = sk_value_tensor(graph, 1);
    assert_true(sk_tensor_at(&w, 17) == 1.0);
    assert_null(sk_value_tensor(graph, 0).data);
    assert_null(sk_value_tensor(graph, 99).data);
    sk_graph_close(&graph);
    assert_null(graph);
}

static void clones_share_constants(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_graph(), *copy = NULL;
    assert_ok(sk_graph_clone(graph, &copy, &err), &err);
    const void *weights = sk_value_tensor(graph, 1).data;
    assert_ptr_equal(weights, sk_value_tensor(copy, 1).data);
    assert_ptr_not_equal(graph->nodes[0].in, copy->nodes[0].in);
    sk_graph_close(&graph);
    assert_ok(sk_graph_verify(copy, &err), &err);
    sk_tensor w = sk_value_tensor(copy, 1);
    assert_true(sk_tensor_at(&w, 0) == 1.0);
    assert_string_equal(copy->nodes[0].name, "model.0.conv");
    sk_graph_close(&copy);
}

/* A shape may be that of another value, also when the list of values grows and moves. */
static void a_value_takes_the_shape_of_another(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_graph();
    const sk_shape wanted = graph->values[1].shape;
    for (int i = 0; i < 300; i++) {
        sk_value v = SK_VALUE_NONE;
        assert_ok(sk_graph_add_value(graph, "", SK_DTYPE_F32, &graph->values[1].shape, &v, &err), &err);
        assert_true(sk_shape_equal(&graph->values[v].shape, &wanted));
    }
    sk_graph_close(&graph);
}

/* Inputs are values that nobody makes, each once and of a type; outputs are made. */
static void ends_are_checked(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_graph();
    const sk_value in = graph->inputs[0], out = graph->outputs[0];
    const sk_value wrong[] = {-1, -2, (sk_value)graph->n_values, 1 /* the weight */};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        graph->inputs[0] = wrong[i];
        assert_int_equal(sk_graph_verify(graph, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "graph input 0 is value "));
    }
    graph->inputs[0] = in;
    for (size_t i = 0; i < 3; i++) {
        graph->outputs[0] = wrong[i];
        assert_int_equal(sk_graph_verify(graph, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "graph output 0 is value "));
    }
    graph->outputs[0] = out;
    graph->values[in].dtype = SK_DTYPE_NONE;
    assert_int_equal(sk_graph_verify(graph, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "has no type"));
    graph->values[in].dtype = SK_DTYPE_F32;
    assert_ok(sk_graph_verify(graph, &err), &err);
    sk_graph_close(&graph);
}

static void every_op_has_a_name(void **state)
{
    (void)state;
    for (int op = 1; op < SK_OP_COUNT; op++)
        assert_non_null(sk_op_info_of((sk_op)op)->name);
    for (int kind = 1; kind < SK_UNARY_COUNT; kind++)
        assert_non_null(sk_unary_name((sk_unary)kind));
    for (int kind = 1; kind < SK_BINARY_COUNT; kind++)
        assert_non_null(sk_binary_name((sk_binary)kind));
    assert_null(sk_op_info_of((sk_op)-1));
    assert_null(sk_op_info_of(SK_OP_COUNT));
    assert_string_equal(sk_unary_name((sk_unary)1000), "no function");
}

/* How many values each operation takes and gives, as ONNX has them (a convolution may add a residual besides). */
static void every_op_takes_so_many(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int in_least, in_most, out_least, out_most; /* -1: any number */
    } others[] = {
        {"conv", 2, 4, 1, 1},
        {"conv_transpose", 2, 3, 1, 1},
        {"resize", 1, 2, 1, 1},
        {"grid_sample", 2, 2, 1, 1},
        {"matmul", 2, 2, 1, 1},
        {"gemm", 2, 3, 1, 1},
        {"einsum", 1, 2, 1, 1},
        {"batch_norm", 5, 5, 1, 1},
        {"layer_norm", 1, 3, 1, 1},
        {"instance_norm", 1, 3, 1, 1},
        {"binary", 2, 2, 1, 1},
        {"where", 3, 3, 1, 1},
        {"top_k", 2, 2, 2, 2},
        {"cum_sum", 2, 2, 1, 1},
        {"non_max_suppression", 2, 5, 1, 1},
        {"concat", 1, -1, 1, 1},
        {"split", 1, 1, 1, -1},
        {"slice", 3, 5, 1, 1},
        {"reshape", 2, 2, 1, 1},
        {"squeeze", 1, 2, 1, 1},
        {"unsqueeze", 2, 2, 1, 1},
        {"expand", 2, 2, 1, 1},
        {"tile", 2, 2, 1, 1},
        {"pad", 2, 3, 1, 1},
        {"gather", 2, 2, 1, 1},
        {"gather_elements", 2, 2, 1, 1},
        {"gather_nd", 2, 2, 1, 1},
        {"scatter_elements", 3, 3, 1, 1},
        {"scatter_nd", 3, 3, 1, 1},
        {"range", 3, 3, 1, 1},
        {"one_hot", 3, 3, 1, 1},
        {"anchors", 1, 8, 2, 2},
        {"quantise", 3, 3, 1, 1},
        {"dequantise", 2, 3, 1, 1},
    };
    for (int op = 1; op < SK_OP_COUNT; op++) {
        const sk_op_info *info = sk_op_info_of((sk_op)op);
        int want[4] = {1, 1, 1, 1};
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (strcmp(others[i].name, info->name) == 0)
                memcpy(want, &others[i].in_least, sizeof want);
        const int has[4] = {info->min_in, info->max_in, info->min_out, info->max_out};
        for (int i = 0; i < 4; i++)
            if (has[i] != want[i])
                fail_msg("%s: %d where %d is right (%d)", info->name, has[i], want[i], i);
    }
}

static void builder_keeps_the_first_failure(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    assert_int_equal(sk_builder_fail(&b, SK_ERR_UNSUPPORTED, "layer %d", 7), SK_VALUE_NONE);
    assert_int_equal(sk_b_unary(&b, SK_UNARY_RELU, x), SK_VALUE_NONE);
    assert_int_equal(sk_b_f32(&b, 1), SK_VALUE_NONE);
    sk_b_output(&b, x, "y");
    sk_builder_fail(&b, SK_ERR_FORMAT, "later");
    assert_int_equal(b.status, SK_ERR_UNSUPPORTED);
    assert_string_equal(b.error.message, "layer 7");
    assert_int_equal(graph->n_nodes, 0);
    assert_int_equal(graph->n_outputs, 0);
    sk_graph_close(&graph);
}

static void builder_refuses_what_does_not_fit(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    for (int i = 0; i < 9; i++)
        sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    assert_int_equal(b.status, SK_ERR_LIMIT);
    assert_int_equal(graph->n_inputs, 8);
    sk_builder_init(&b, graph);
    sk_b_output(&b, 1000, "nothing");
    assert_int_equal(b.status, SK_ERR_ARG);
    sk_builder_init(&b, graph);
    sk_b_unary(&b, SK_UNARY_RELU, 1000);
    assert_int_equal(b.status, SK_ERR_ARG);
    sk_blob *blob = NULL;
    assert_ok(sk_blob_alloc(16, &blob, &err), &err);
    sk_builder_init(&b, graph);
    sk_shape five = sk_shape_of(1, 5), four = sk_shape_of(1, 4), unknown = sk_shape_of(1, -1);
    assert_true(sk_b_constant_blob(&b, "fits", SK_DTYPE_F32, &four, blob, 0) >= 0);
    sk_b_constant_blob(&b, "beyond", SK_DTYPE_F32, &five, blob, 0);
    assert_int_equal(b.status, SK_ERR_FORMAT);
    assert_non_null(strstr(b.error.message, "beyond"));
    sk_builder_init(&b, graph);
    sk_b_constant_blob(&b, "offset", SK_DTYPE_F32, &four, blob, SIZE_MAX);
    assert_int_equal(b.status, SK_ERR_FORMAT);
    sk_builder_init(&b, graph);
    sk_b_constant_blob(&b, "unknown", SK_DTYPE_F32, &unknown, blob, 0);
    assert_int_equal(b.status, SK_ERR_FORMAT);
    sk_blob_unref(&blob);
    sk_graph_close(&graph);
}

#define rejects(graph, code, text)                                                                           \
    do {                                                                                                     \
        sk_error rejects_ = {0};                                                                             \
        assert_int_equal(sk_graph_verify((graph), &rejects_), (code));                                       \
        if (!strstr(rejects_.message, (text)))                                                               \
            fail_msg("'%s' lacks '%s'", rejects_.message, (text));                                           \
    } while (0)

/* Each change is undone before the next, so every refusal has one cause. */
static void verify_rejects(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_graph();
    sk_node *conv = &graph->nodes[0], *relu = &graph->nodes[1];
    sk_value kept;

    kept = conv->in[0];
    conv->in[0] = relu->out[0];
    rejects(graph, SK_ERR_FORMAT, "used before it is made");
    conv->in[0] = 1000;
    rejects(graph, SK_ERR_FORMAT, "does not exist");
    conv->in[0] = SK_VALUE_NONE;
    rejects(graph, SK_ERR_FORMAT, "conv 'model.0.conv': input 0 is missing");
    conv->in[0] = kept;

    kept = relu->out[0];
    relu->out[0] = conv->out[0];
    rejects(graph, SK_ERR_FORMAT, "made twice");
    relu->out[0] = kept;

    conv->a.conv.window.stride[1] = 0;
    rejects(graph, SK_ERR_FORMAT, "stride 0");
    conv->a.conv.window.stride[1] = 1;
    conv->a.conv.window.pad[2] = -1;
    rejects(graph, SK_ERR_FORMAT, "padding -1");
    conv->a.conv.window.pad[2] = 1;
    conv->a.conv.groups = 0;
    rejects(graph, SK_ERR_FORMAT, "0 groups");
    conv->a.conv.groups = 1;
    conv->a.conv.act.kind = SK_UNARY_COUNT;
    rejects(graph, SK_ERR_FORMAT, "activation");
    conv->a.conv.act.kind = 0;
    relu->a.unary.kind = SK_UNARY_COUNT;
    rejects(graph, SK_ERR_FORMAT, "unknown");
    relu->a.unary.kind = SK_UNARY_RELU;
    relu->op = SK_OP_COUNT;
    rejects(graph, SK_ERR_FORMAT, "operation number");
    relu->op = SK_OP_UNARY;
    conv->n_in = 1;
    rejects(graph, SK_ERR_FORMAT, "1 inputs");
    conv->n_in = 2;

    graph->values[1].offset = 8;
    rejects(graph, SK_ERR_FORMAT, "beyond");
    graph->values[1].offset = 0;
    graph->values[0].shape.rank = SK_MAX_RANK + 1;
    rejects(graph, SK_ERR_FORMAT, "dimensions");
    graph->values[0].shape.rank = 4;
    graph->values[0].shape.dim[1] = -2;
    rejects(graph, SK_ERR_FORMAT, "negative");
    graph->values[0].shape.dim[1] = 2;

    kept = graph->outputs[0];
    graph->outputs[0] = 1000;
    rejects(graph, SK_ERR_FORMAT, "output 0");
    graph->outputs[0] = kept;
    graph->inputs[0] = 1;
    rejects(graph, SK_ERR_FORMAT, "input 0");
    graph->inputs[0] = 0;

    assert_ok(sk_graph_verify(graph, &err), &err);
    sk_graph_close(&graph);
}

/* Every allocation may fail: nothing leaks and the failure is reported. */
static void survives_allocation_failure(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_graph();
    int64_t before = sk_memory_live_bytes();
    int failures = 0;
    for (uint64_t nth = 1; nth < 100; nth++) {
        sk_graph *copy = NULL;
        sk_memory_fail_nth(nth);
        sk_status status = sk_graph_clone(graph, &copy, &err);
        sk_memory_fail_nth(0);
        if (status == SK_OK) {
            sk_graph_close(&copy);
            break;
        }
        failures++;
        assert_int_equal(status, SK_ERR_MEMORY);
        assert_null(copy);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    assert_true(failures >= 4);
    assert_int_equal(sk_memory_live_bytes(), before);
    sk_graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_and_verifies),
        cmocka_unit_test(clones_share_constants),
        cmocka_unit_test(a_value_takes_the_shape_of_another),
        cmocka_unit_test(ends_are_checked),
        cmocka_unit_test(every_op_has_a_name),
        cmocka_unit_test(every_op_takes_so_many),
        cmocka_unit_test(builder_keeps_the_first_failure),
        cmocka_unit_test(builder_refuses_what_does_not_fit),
        cmocka_unit_test(verify_rejects),
        cmocka_unit_test(survives_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
