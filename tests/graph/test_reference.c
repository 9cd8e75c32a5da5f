/* SPDX-License-Identifier: Apache-2.0 */
/* What the fixture file cannot say: refusals, hostile shapes, hand-computed corners, watching a run. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sk_tensor floats(sk_shape shape, const float *data)
{
    return (sk_tensor){SK_DTYPE_F32, shape, (void *)(uintptr_t)data};
}

static sk_tensor integers(const int64_t *data, int n)
{
    return (sk_tensor){SK_DTYPE_I64, {.rank = 1, .dim = {n}}, (void *)(uintptr_t)data};
}

/* A node over inputs 0, 1, 2 …; outputs are not named, inference does not look at them. */
static sk_node node_of(sk_op op, int n_in, int n_out, const sk_attrs *a)
{
    static sk_value in[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8] = {8, 9, 10, 11, 12, 13, 14, 15};
    sk_node node = {.op = op, .n_in = n_in, .n_out = n_out, .in = in, .out = out, .name = "n"};
    memset(&node.a, 0, sizeof node.a);
    if (a)
        node.a = *a;
    return node;
}

#define refuses(node, ins, status_, text)                                                                    \
    do {                                                                                                     \
        sk_error refuses_ = {0};                                                                             \
        sk_tensor outs_[8];                                                                                  \
        assert_int_equal(sk_node_infer(&(node), (ins), outs_, &refuses_), (status_));                        \
        if (!strstr(refuses_.message, (text)))                                                               \
            fail_msg("'%s' lacks '%s'", refuses_.message, (text));                                           \
    } while (0)

static void errors_name_the_node_and_the_cause(void **state)
{
    (void)state;
    const float zeros[64] = {0};
    sk_attrs a = {.conv = {.window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}}, .groups = 1}};
    sk_node conv = node_of(SK_OP_CONV, 2, 1, &a);
    sk_tensor ins[4] = {floats(sk_shape_of(4, 1, 2, 8, 8), zeros), floats(sk_shape_of(4, 4, 3, 3, 3), zeros)};
    refuses(conv, ins, SK_ERR_MISMATCH, "conv 'n': the input has 2 channels");
    ins[1].shape = sk_shape_of(4, 4, 2, 5, 5);
    refuses(conv, ins, SK_ERR_MISMATCH, "kernel");
    ins[1].shape = sk_shape_of(4, 4, 2, 3, 3);
    ins[0].shape = sk_shape_of(4, 1, 2, 2, 8);
    refuses(conv, ins, SK_ERR_MISMATCH, "larger image");
    ins[0].shape = sk_shape_of(3, 2, 8, 8);
    refuses(conv, ins, SK_ERR_MISMATCH, "four dimensions");
    ins[0] = (sk_tensor){SK_DTYPE_I64, sk_shape_of(4, 1, 2, 8, 8), NULL};
    refuses(conv, ins, SK_ERR_MISMATCH, "cast");

    sk_attrs add = {.binary.kind = SK_BINARY_ADD};
    sk_node binary = node_of(SK_OP_BINARY, 2, 1, &add);
    ins[0] = floats(sk_shape_of(2, 3, 4), zeros);
    ins[1] = floats(sk_shape_of(1, 3), zeros);
    refuses(binary, ins, SK_ERR_MISMATCH, "add 'n': shapes 3x4 and 3");
    ins[1] = (sk_tensor){SK_DTYPE_F16, sk_shape_of(1, 4), NULL};
    refuses(binary, ins, SK_ERR_MISMATCH, "f32 and f16");

    sk_node matmul = node_of(SK_OP_MATMUL, 2, 1, NULL);
    ins[1] = floats(sk_shape_of(2, 3, 4), zeros);
    refuses(matmul, ins, SK_ERR_MISMATCH, "do not go together");
    sk_attrs axis = {.axis = 2};
    sk_node concat = node_of(SK_OP_CONCAT, 2, 1, &axis);
    refuses(concat, ins, SK_ERR_MISMATCH, "axis 2");
    axis.axis = 0;
    concat = node_of(SK_OP_CONCAT, 2, 1, &axis);
    ins[1].shape = sk_shape_of(2, 3, 5);
    refuses(concat, ins, SK_ERR_MISMATCH, "differ");
    sk_attrs einsum = {.einsum.equation = "ab,bc->"};
    sk_node sums = node_of(SK_OP_EINSUM, 2, 1, &einsum);
    refuses(sums, ins, SK_ERR_MISMATCH, "do not go together");
    memcpy(einsum.einsum.equation, "...a,ab->b", 11);
    sums = node_of(SK_OP_EINSUM, 2, 1, &einsum);
    refuses(sums, ins, SK_ERR_UNSUPPORTED, "...a,ab->b");
}

static void hostile_shapes_end_in_errors(void **state)
{
    (void)state;
    const float zeros[64] = {0};
    const int64_t tile[2] = {INT64_MAX, 2}, expand[2] = {INT32_MAX, INT32_MAX}, negative[1] = {-7};
    const int64_t pads[4] = {INT64_MAX, 0, 0, 0}, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1},
                  two_open[2] = {-1, -1};
    sk_tensor ins[4] = {floats(sk_shape_of(2, 1, 8), zeros), integers(tile, 2)};
    sk_node node = node_of(SK_OP_TILE, 2, 1, NULL);
    refuses(node, ins, SK_ERR_LIMIT, "tile 'n'");
    ins[1] = integers(expand, 2);
    node = node_of(SK_OP_EXPAND, 2, 1, NULL);
    ins[0].shape = sk_shape_of(2, 1, 1);
    refuses(node, ins, SK_ERR_LIMIT, "MiB");
    ins[1] = integers(negative, 1);
    refuses(node, ins, SK_ERR_MISMATCH, "negative");
    ins[1] = integers(pads, 4);
    node = node_of(SK_OP_PAD, 2, 1, NULL);
    refuses(node, ins, SK_ERR_MISMATCH, "pads");
    node = node_of(SK_OP_RESHAPE, 2, 1, NULL);
    ins[1] = integers(nine, 9);
    refuses(node, ins, SK_ERR_MISMATCH, "at most 8");
    ins[1] = integers(two_open, 2);
    refuses(node, ins, SK_ERR_MISMATCH, "open");
    sk_attrs fill = {.fill = {.dtype = SK_DTYPE_F32}};
    node = node_of(SK_OP_CONSTANT_OF_SHAPE, 1, 1, &fill);
    ins[0] = integers(expand, 2);
    refuses(node, ins, SK_ERR_LIMIT, "MiB");
    const float range[3] = {0, INFINITY, 1};
    sk_tensor range_ins[3] = {floats(sk_shape_of(0), range), floats(sk_shape_of(0), range + 1),
                              floats(sk_shape_of(0), range + 2)};
    node = node_of(SK_OP_RANGE, 3, 1, NULL);
    refuses(node, range_ins, SK_ERR_LIMIT, "range 'n'");
    sk_attrs resize = {
        .resize = {.mode = SK_RESIZE_LINEAR, .coords = SK_COORDS_HALF_PIXEL, .scale = {1e30f, 1}}};
    node = node_of(SK_OP_RESIZE, 1, 1, &resize);
    ins[0] = floats(sk_shape_of(4, 1, 1, 4, 4), zeros);
    refuses(node, ins, SK_ERR_LIMIT, "resize 'n'");
    resize.resize.scale[0] = NAN;
    node = node_of(SK_OP_RESIZE, 1, 1, &resize);
    refuses(node, ins, SK_ERR_FORMAT, "scale");
}

static void bad_indices_end_in_errors(void **state)
{
    (void)state;
    sk_error err = {0};
    const float data[4] = {1, 2, 3, 4};
    const int64_t index[1] = {4}, zero[2] = {1, 0};
    sk_attrs axis = {.axis = 0};
    sk_node gather = node_of(SK_OP_GATHER, 2, 1, &axis);
    float y[4];
    sk_tensor ins[2] = {floats(sk_shape_of(1, 4), data), integers(index, 1)}, out;
    assert_ok(sk_node_infer(&gather, ins, &out, &err), &err);
    out.data = y;
    assert_int_equal(sk_node_execute(&gather, ins, &out, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "index 4 is outside of 4"));

    sk_attrs div = {.binary.kind = SK_BINARY_DIV};
    sk_node divide = node_of(SK_OP_BINARY, 2, 1, &div);
    int64_t z[2];
    sk_tensor whole[2] = {integers(zero, 2), integers(zero, 2)};
    assert_ok(sk_node_infer(&divide, whole, &out, &err), &err);
    out.data = z;
    assert_int_equal(sk_node_execute(&divide, whole, &out, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "divided by zero"));

    /* outputs that are not what inference says are refused before anything is written */
    out.shape.dim[0] = 5;
    assert_int_equal(sk_node_execute(&divide, whole, &out, &err), SK_ERR_ARG);
}

static void extremes_of_activations(void **state)
{
    (void)state;
    sk_error err = {0};
    const float x[4] = {-1000, 1000, -INFINITY, INFINITY};
    float y[4];
    sk_attrs a = {.unary.kind = SK_UNARY_SIGMOID};
    sk_node node = node_of(SK_OP_UNARY, 1, 1, &a);
    sk_tensor in = floats(sk_shape_of(1, 4), x), out = floats(sk_shape_of(1, 4), y);
    assert_ok(sk_node_execute(&node, &in, &out, &err), &err);
    assert_true(y[0] == 0 && y[1] == 1 && y[2] == 0 && y[3] == 1);
    node.a.unary.kind = SK_UNARY_SOFTPLUS;
    assert_ok(sk_node_execute(&node, &in, &out, &err), &err);
    assert_true(y[0] == 0 && y[1] == 1000 && y[2] == 0 && y[3] == INFINITY);
    const float big[3] = {1e30f, 1e30f, -1e30f};
    float s[3];
    sk_attrs axis = {.axis = 0};
    node = node_of(SK_OP_SOFTMAX, 1, 1, &axis);
    in = floats(sk_shape_of(1, 3), big);
    out = floats(sk_shape_of(1, 3), s);
    assert_ok(sk_node_execute(&node, &in, &out, &err), &err);
    assert_true(s[0] == 0.5f && s[1] == 0.5f && s[2] == 0);
    sk_attrs lse = {.reduce = {.kind = SK_REDUCE_LOG_SUM_EXP}};
    node = node_of(SK_OP_REDUCE, 1, 1, &lse);
    out = floats(sk_shape_of(0), s);
    assert_ok(sk_node_execute(&node, &in, &out, &err), &err);
    assert_true(s[0] == 1e30f);
}

typedef struct watched {
    int calls, stop_at;
    double first;
} watched;

static sk_status watch(void *context, const sk_graph *graph, int32_t node, const sk_tensor *outs)
{
    watched *w = context;
    (void)graph;
    assert_int_equal(node, w->calls);
    if (node == 0)
        w->first = sk_tensor_at(&outs[0], 0);
    return ++w->calls == w->stop_at ? SK_ERR_CANCELLED : SK_OK;
}

static void runs_are_watched_and_stopped(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = NULL, *special = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    sk_value y = sk_b_unary(&b, SK_UNARY_NEG, x);
    sk_value outs[2];
    sk_b_split(&b, sk_b_add(&b, y, y), 0, NULL, 2, outs);
    sk_b_output(&b, outs[0], "a");
    sk_b_output(&b, outs[0], "a"); /* the same value twice */
    sk_b_output(&b, x, "x");       /* an input handed through */
    assert_ok(b.status, &b.error);
    float data[2] = {3, 4};
    sk_shape shape = sk_shape_of(1, 2);
    sk_tensor in = floats(shape, data), results[3];
    assert_int_equal(sk_reference_run(graph, &in, 1, results, 3, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "specialise"));
    assert_ok(sk_graph_specialise(graph, &shape, 1, &special, &err), &err);
    watched w = {0};
    assert_ok(sk_reference_run_watched(special, &in, 1, results, 3, watch, &w, &err), &err);
    assert_int_equal(w.calls, 3);
    assert_true(w.first == -3);
    assert_true(sk_tensor_at(&results[0], 0) == -6 && sk_tensor_at(&results[1], 0) == -6);
    assert_true(sk_tensor_at(&results[2], 1) == 4);
    assert_ptr_not_equal(results[0].data, results[1].data);
    for (int i = 0; i < 3; i++)
        sk_free(results[i].data);
    int64_t before = sk_memory_live_bytes();
    w = (watched){.stop_at = 2};
    assert_int_equal(sk_reference_run_watched(special, &in, 1, results, 3, watch, &w, &err),
                     SK_ERR_CANCELLED);
    assert_null(results[0].data);
    assert_int_equal(sk_memory_live_bytes(), before);
    in.shape.dim[0] = 1;
    assert_int_equal(sk_reference_run(special, &in, 1, results, 3, &err), SK_ERR_MISMATCH);
    assert_int_equal(sk_reference_run(special, &in, 1, results, 2, &err), SK_ERR_ARG);
    sk_graph_close(&special);
    sk_graph_close(&graph);
}

/* Constants may lie anywhere in a file; kernels read them aligned. */
static void unaligned_constants_are_copied(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = NULL;
    sk_blob *blob = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    assert_ok(sk_blob_alloc(16, &blob, &err), &err);
    const float value = 2.5f;
    memcpy((char *)sk_blob_data(blob) + 3, &value, sizeof value);
    sk_builder b;
    sk_builder_init(&b, graph);
    sk_shape scalar = sk_shape_of(0);
    sk_value v = sk_b_constant_blob(&b, "v", SK_DTYPE_F32, &scalar, blob, 3);
    assert_ok(b.status, &b.error);
    sk_tensor t = sk_value_tensor(graph, v);
    assert_int_equal((uintptr_t)t.data % sizeof(float), 0);
    assert_true(*(float *)t.data == 2.5f);
    sk_blob_unref(&blob);
    sk_graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_node_and_the_cause),
        cmocka_unit_test(hostile_shapes_end_in_errors),
        cmocka_unit_test(bad_indices_end_in_errors),
        cmocka_unit_test(extremes_of_activations),
        cmocka_unit_test(runs_are_watched_and_stopped),
        cmocka_unit_test(unaligned_constants_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
