/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "graph/builder.h"
#include "graph/reference.h"

#include <stdlib.h>
#include <string.h>

static const sk_window same3 = {.stride = {2, 2}, .dilation = {1, 1}, .same = 1};

/* A small U: stride-2 SAME convolution, transposed back, flattened by shape arithmetic as exporters write
 * it. */
static sk_graph *small_u(void)
{
    sk_error err = {0};
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    sk_shape any = sk_shape_of(4, -1, 2, -1, -1), w_shape = sk_shape_of(4, 3, 2, 3, 3);
    sk_shape t_shape = sk_shape_of(4, 3, 1, 3, 3);
    float w[54];
    for (int i = 0; i < 54; i++)
        w[i] = (float)(i % 7) - 3;
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &any);
    sk_value down =
        sk_b_conv(&b, x, sk_b_constant(&b, "w", SK_DTYPE_F32, &w_shape, w), SK_VALUE_NONE, &same3, 1, "down");
    sk_attrs a = {
        .conv_transpose = {.window = {.stride = {2, 2}, .dilation = {1, 1}}, .same_output = 1, .groups = 1}};
    sk_value up_in[2] = {down, sk_b_constant(&b, "t", SK_DTYPE_F32, &t_shape, w)};
    sk_value up = sk_b_node(&b, SK_OP_CONV_TRANSPOSE, &a, up_in, 2, "up");
    sk_value shape = sk_b_node(&b, SK_OP_SHAPE, NULL, &x, 1, "shape");
    sk_value batch = sk_b_slice(&b, shape, 0, 0, 1);
    int64_t minus = -1;
    sk_value dims[2] = {batch, sk_b_i64s(&b, &minus, 1)};
    sk_value flat_in[2] = {up, sk_b_concat(&b, dims, 2, 0)};
    sk_b_output(&b, sk_b_node(&b, SK_OP_RESHAPE, NULL, flat_in, 2, "flat"), "y");
    sk_attrs anchors = {.anchors = {.n_levels = 1, .stride = {2}}};
    sk_value points[2];
    sk_b_node_n(&b, SK_OP_ANCHORS, &anchors, &down, 1, "anchors", points, 2);
    sk_b_output(&b, points[0], "points");
    sk_b_unary(&b, SK_UNARY_EXP, up); /* dead */
    assert_ok(b.status, &b.error);
    return graph;
}

static void makes_everything_known(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_u();
    const int sizes[4][3] = {{1, 8, 8}, {2, 7, 10}, {1, 5, 5}, {3, 16, 4}};
    for (int i = 0; i < 4; i++) {
        int n = sizes[i][0], h = sizes[i][1], w = sizes[i][2], oh = (h + 1) / 2, ow = (w + 1) / 2;
        sk_shape in = sk_shape_of(4, n, 2, h, w);
        sk_graph *special = NULL;
        assert_ok(sk_graph_specialise(graph, &in, 1, &special, &err), &err);
        assert_ok(sk_graph_verify(special, &err), &err);
        assert_int_equal(special->specialised, 1);
        assert_int_equal(special->n_nodes, 3); /* conv, transposed conv, reshape */
        sk_shape want = sk_shape_of(2, n, 4 * oh * ow);
        assert_true(sk_shape_equal(&special->values[special->outputs[0]].shape, &want));
        assert_true(sk_value_is_constant(special, special->outputs[1]));
        assert_int_equal(special->values[special->outputs[1]].shape.dim[2], oh * ow);
        const sk_window *conv = &special->nodes[0].a.conv.window;
        assert_int_equal(conv->same, 0);
        assert_int_equal(conv->kernel[0], 3);
        /* an even size lacks one pixel, at the end; an odd one lacks two */
        assert_int_equal(conv->pad[0], h % 2);
        assert_int_equal(conv->pad[2], 1);
        const sk_window *up = &special->nodes[1].a.conv_transpose.window;
        assert_int_equal(special->nodes[1].a.conv_transpose.same_output, 0);
        assert_int_equal(up->pad[0], 0);
        assert_int_equal(up->pad[2], 1);

        float *data = calloc((size_t)(n * 2 * h * w), sizeof *data);
        for (int k = 0; k < n * 2 * h * w; k++)
            data[k] = (float)(k % 5);
        sk_tensor input = {SK_DTYPE_F32, in, data}, outs[2];
        assert_ok(sk_reference_run(special, &input, 1, outs, 2, &err), &err);
        assert_true(sk_shape_equal(&outs[0].shape, &want));
        assert_true(sk_tensor_at(&outs[1], 0) == 0.5);
        sk_free(outs[0].data);
        sk_free(outs[1].data);
        free(data);
        sk_graph_close(&special);
    }
    sk_graph_close(&graph);
}

static void refuses_shapes_that_do_not_fit(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = small_u(), *special = NULL;
    sk_shape channels = sk_shape_of(4, 1, 3, 8, 8), rank = sk_shape_of(3, 2, 8, 8),
             open = sk_shape_of(4, 1, 2, -1, 8);
    sk_shape huge = {.rank = 4, .dim = {1, 2, 1 << 20, 1 << 20}};
    assert_int_equal(sk_graph_specialise(graph, &channels, 1, &special, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "1x3x8x8"));
    assert_int_equal(sk_graph_specialise(graph, &rank, 1, &special, &err), SK_ERR_MISMATCH);
    assert_int_equal(sk_graph_specialise(graph, &open, 1, &special, &err), SK_ERR_ARG);
    assert_int_equal(sk_graph_specialise(graph, &channels, 0, &special, &err), SK_ERR_ARG);
    assert_int_equal(sk_graph_specialise(graph, &huge, 1, &special, &err), SK_ERR_LIMIT);
    assert_null(special);
    sk_graph_close(&graph);
}

static sk_status specialise_and_run(void *context, sk_error *err)
{
    sk_graph *special = NULL;
    sk_shape in = sk_shape_of(4, 1, 2, 6, 6);
    float data[72] = {1, 2, 3};
    sk_tensor input = {SK_DTYPE_F32, in, data}, outs[2] = {{0}, {0}};
    sk_status status = sk_graph_specialise(context, &in, 1, &special, err);
    if (status == SK_OK)
        status = sk_graph_optimise(special, err);
    if (status == SK_OK)
        status = sk_reference_run(special, &input, 1, outs, 2, err);
    sk_free(outs[0].data);
    sk_free(outs[1].data);
    sk_graph_close(&special);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    sk_graph *graph = small_u();
    assert_true(test_every_allocation(specialise_and_run, graph) > 30);
    sk_graph_close(&graph);
}

/* Shapes that follow data stay open until the run knows them. */
static void data_dependent_shapes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = NULL, *special = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    sk_value found = sk_b_node(&b, SK_OP_NON_ZERO, NULL, &x, 1, "found"); /* [1][n] */
    int perm[2] = {1, 0};
    sk_value columns = sk_b_transpose(&b, found, perm, 2); /* [n][1] */
    sk_value gather_in[2] = {x, columns};
    sk_attrs a = {.axis = 0};
    sk_value values = sk_b_node(&b, SK_OP_GATHER_ND, &a, gather_in, 2, "values");
    sk_b_output(&b, values, "values");
    sk_b_output(&b, sk_b_node(&b, SK_OP_SIZE, NULL, &values, 1, "count"), "count");
    assert_ok(b.status, &b.error);
    sk_shape in = sk_shape_of(1, 6);
    assert_ok(sk_graph_specialise(graph, &in, 1, &special, &err), &err);
    assert_false(sk_shape_known(&special->values[special->outputs[0]].shape));
    assert_int_equal(special->values[special->outputs[0]].dtype, SK_DTYPE_F32);
    float data[6] = {0, 3, 0, 0, -1, 7};
    sk_tensor input = {SK_DTYPE_F32, in, data}, outs[2];
    for (int kept = 3; kept >= 0; kept--) {
        assert_ok(sk_reference_run(special, &input, 1, outs, 2, &err), &err);
        assert_int_equal(outs[0].shape.dim[0], kept);
        assert_int_equal(sk_tensor_int_at(&outs[1], 0), kept);
        if (kept)
            assert_true(sk_tensor_at(&outs[0], 0) == (kept == 3 ? 3 : kept == 2 ? -1 : 7));
        sk_free(outs[0].data);
        sk_free(outs[1].data);
        data[kept == 3 ? 1 : kept == 2 ? 4 : 5] = 0;
    }
    sk_graph_close(&special);
    sk_graph_close(&graph);
}

/* How many were found is known only while running, but not what they are reshaped to: sizes of 1 and more say it, 0 and -1 do not. */
static void a_fixed_shape_is_known_before(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 3}, {3, 1}, {1, -1}, {0, 1}};
    for (int k = 0; k < 4; k++) {
        sk_error err = {0};
        sk_graph *graph = NULL, *special = NULL;
        assert_ok(sk_graph_open(&graph, &err), &err);
        sk_builder b;
        sk_builder_init(&b, graph);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
        sk_value found = sk_b_node(&b, SK_OP_NON_ZERO, NULL, &x, 1, "found");
        sk_value in[2] = {found, sk_b_i64s(&b, shapes[k], 2)};
        sk_b_output(&b, sk_b_node(&b, SK_OP_RESHAPE, NULL, in, 2, "y"), "y");
        assert_ok(b.status, &b.error);
        const sk_shape shape = sk_shape_of(1, 6);
        assert_ok(sk_graph_specialise(graph, &shape, 1, &special, &err), &err);
        const sk_shape *told = &special->values[special->outputs[0]].shape;
        assert_int_equal(sk_shape_known(told), k < 2);
        if (k < 2)
            assert_true(told->rank == 2 && told->dim[0] == shapes[k][0] && told->dim[1] == shapes[k][1]);
        sk_graph_close(&special);
        sk_graph_close(&graph);
    }
}

/* Folding is for shape arithmetic and weights: what would take minutes stays a node. */
static void folding_has_a_budget(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *graph = NULL, *special = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder b;
    sk_builder_init(&b, graph);
    sk_shape square = sk_shape_of(2, 500, 500), one = sk_shape_of(1, 1);
    float *data = calloc(500 * 500, sizeof *data);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &one);
    sk_value w = sk_b_constant(&b, "w", SK_DTYPE_F32, &square, data);
    free(data);
    sk_attrs costly = {.einsum.equation = "ab,cd->ad"}, cheap = {.einsum.equation = "ab,ab->a"};
    sk_value in[2] = {w, w};
    sk_b_output(&b, sk_b_node(&b, SK_OP_EINSUM, &costly, in, 2, "6e10 steps"), "y");
    sk_b_output(&b, sk_b_transpose(&b, w, (int[]){1, 0}, 2), "z");
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, x), "x");
    assert_ok(b.status, &b.error);
    assert_ok(sk_graph_specialise(graph, &one, 1, &special, &err), &err);
    assert_int_equal(special->n_nodes, 2);
    assert_int_equal(special->nodes[0].op, SK_OP_EINSUM);
    assert_true(sk_value_is_constant(special, special->outputs[1]));
    sk_graph_close(&special);
    graph->nodes[0].a = cheap;
    assert_ok(sk_graph_specialise(graph, &one, 1, &special, &err), &err);
    assert_int_equal(special->n_nodes, 1);
    sk_graph_close(&special);
    sk_graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_everything_known),
        cmocka_unit_test(refuses_shapes_that_do_not_fit),
        cmocka_unit_test(survives_every_allocation_failure),
        cmocka_unit_test(data_dependent_shapes),
        cmocka_unit_test(a_fixed_shape_is_known_before),
        cmocka_unit_test(folding_has_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
