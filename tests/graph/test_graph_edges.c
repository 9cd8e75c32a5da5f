/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs at the edges of what they hold: ends, names, constants that lie anywhere, what lives at once. */
#include "support/test.h"

#include "base/memory.h"
#include "graph/builder.h"
#include "graph/reference.h"

#include <string.h>

static sk_graph *begun(sk_builder *b)
{
    sk_error err = {0};
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(b, graph);
    return graph;
}

static void graphs_have_so_many_ends(void **state)
{
    (void)state;
    sk_builder b;
    sk_graph *graph = begun(&b);
    sk_value x[8];
    for (int i = 0; i < 8; i++)
        x[i] = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    for (int i = 0; i < 32; i++)
        sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, x[i % 8]), "y");
    assert_ok(b.status, &b.error);
    sk_b_output(&b, x[0], "one more");
    assert_int_equal(b.status, SK_ERR_LIMIT);
    assert_non_null(strstr(b.error.message, "'one more': a graph has at most 32 outputs"));
    assert_int_equal(graph->n_outputs, 32);
    sk_graph_close(&graph);
    graph = begun(&b);
    for (int i = 0; i < 9; i++)
        sk_b_input(&b, i < 8 ? "x" : "one more", SK_DTYPE_F32, NULL);
    assert_int_equal(b.status, SK_ERR_LIMIT);
    assert_non_null(strstr(b.error.message, "at most 8 inputs"));
    sk_graph_close(&graph);
}

static void nodes_have_so_many_values(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    static sk_value many[MOST + 1];
    sk_error err = {0};
    sk_builder b;
    sk_graph *graph = begun(&b);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL), out;
    for (int i = 0; i <= MOST; i++)
        many[i] = x;
    const sk_attrs a = {.axis = 0};
    assert_ok(sk_graph_add_node(graph, SK_OP_CONCAT, &a, many, MOST, 1, "most", &out, &err), &err);
    assert_int_equal(sk_graph_add_node(graph, SK_OP_CONCAT, &a, many, MOST + 1, 1, "more", &out, &err),
                     SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "has 65537 inputs and 1 outputs; at most 65536"));
    assert_int_equal(sk_graph_add_node(graph, SK_OP_SPLIT, &a, many, 1, MOST + 1, "more", many, &err),
                     SK_ERR_LIMIT);
    assert_int_equal(graph->n_nodes, 1);
    sk_graph_close(&graph);
}

static void what_must_be_given(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_builder b;
    sk_graph *graph = begun(&b);
    sk_blob *blob = NULL;
    sk_value out;
    const sk_shape scalar = sk_shape_of(0);
    assert_ok(sk_blob_alloc(8, &blob, &err), &err);
    assert_int_equal(sk_graph_add_constant(NULL, "c", SK_DTYPE_F32, &scalar, blob, 0, &out, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_graph_add_constant(graph, "c", SK_DTYPE_F32, NULL, blob, 0, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_graph_add_constant(graph, "c", SK_DTYPE_F32, &scalar, NULL, 0, &out, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_graph_add_constant(graph, "c", SK_DTYPE_F32, &scalar, blob, 0, NULL, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_graph_add_constant(graph, "c", SK_DTYPE_F32, &scalar, blob, 5, &out, &err),
                     SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "'c' reaches beyond its data of 8 bytes"));
    assert_ok(sk_graph_add_constant(graph, "c", SK_DTYPE_F32, &scalar, blob, 4, &out, &err), &err);
    const sk_value none[1] = {SK_VALUE_NONE};
    assert_int_equal(sk_graph_add_node(NULL, SK_OP_IDENTITY, NULL, &out, 1, 1, "n", &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_graph_add_node(graph, SK_OP_IDENTITY, NULL, &out, 1, 1, "n", NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_graph_add_node(graph, SK_OP_IDENTITY, NULL, NULL, 1, 1, "n", &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_graph_add_node(graph, SK_OP_IDENTITY, NULL, none, -1, 1, "n", &out, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_graph_add_node(graph, SK_OP_IDENTITY, NULL, none, 1, 0, "n", &out, &err), SK_ERR_ARG);
    sk_blob_unref(&blob);
    sk_graph_close(&graph);
}

/* What nobody reads goes, but for the graph's inputs. */
static void inputs_stay(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    sk_error err = {0};
    sk_builder b;
    sk_graph *graph = begun(&b);
    sk_value x[4];
    for (int i = 0; i < 4; i++)
        x[i] = sk_b_input(&b, names[i], SK_DTYPE_F32, NULL);
    sk_value dead = sk_b_constant(&b, "dead", SK_DTYPE_F32, &(sk_shape){.rank = 0}, &(float){1});
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, x[1]), "y");
    assert_ok(b.status, &b.error);
    assert_ok(sk_graph_remove_dead(graph, &err), &err);
    for (int i = 0; i < 4; i++)
        assert_string_equal(graph->values[graph->inputs[i]].name, names[i]);
    assert_string_equal(graph->values[dead].name, "");
    assert_null(graph->values[dead].blob);
    assert_int_equal(graph->n_nodes, 1);
    sk_graph_close(&graph);
}

/* A node that is read keeps all that it makes: what nobody reads of it still has its type and shape. */
static void outputs_of_a_read_node_stay(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *special = NULL;
    sk_builder b;
    sk_graph *graph = begun(&b);
    const sk_shape shape = sk_shape_of(2, 1, 6);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &shape), parts[3];
    sk_b_split(&b, x, 1, NULL, 3, parts);
    sk_b_output(&b, parts[1], "y");
    assert_ok(b.status, &b.error);
    assert_ok(sk_graph_specialise(graph, &shape, 1, &special, &err), &err);
    assert_ok(sk_graph_remove_dead(special, &err), &err);
    assert_ok(sk_graph_verify(special, &err), &err);
    for (int i = 0; i < 3; i++) {
        const sk_value_info *made = &special->values[special->nodes[0].out[i]];
        assert_int_equal(made->dtype, SK_DTYPE_F32);
        assert_true(made->shape.rank == 2 && made->shape.dim[1] == 2);
    }
    sk_graph_close(&special);
    sk_graph_close(&graph);
}

/* Names of nodes: the scope in front where there is one. */
static void scopes_stand_in_front(void **state)
{
    (void)state;
    static const struct {
        const char *scope, *name, *shown;
    } cases[] = {{NULL, "a", "a"}, {"", "a", "a"}, {"s", "a", "s.a"}, {"s", "", "s"}, {"s", NULL, "s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_builder b;
        sk_graph *graph = begun(&b);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
        b.scope = cases[i].scope;
        sk_b_node(&b, SK_OP_IDENTITY, NULL, &x, 1, cases[i].name);
        assert_ok(b.status, &b.error);
        assert_string_equal(graph->nodes[0].name, cases[i].shown);
        sk_graph_close(&graph);
    }
}

/* Wherever the memory begins and wherever in it the numbers lie, they are read aligned. */
static void constants_lie_anywhere(void **state)
{
    (void)state;
    _Alignas(16) static unsigned char memory[64];
    for (size_t begin = 0; begin < 8; begin++)
        for (size_t offset = 0; offset < 8; offset++) {
            sk_error err = {0};
            sk_blob *blob = NULL;
            sk_builder b;
            sk_graph *graph = begun(&b);
            const double number = 1.5;
            const sk_shape scalar = sk_shape_of(0);
            memcpy(memory + begin + offset, &number, sizeof number);
            assert_ok(sk_blob_wrap(memory + begin, 32, NULL, NULL, &blob, &err), &err);
            const sk_tensor t =
                sk_value_tensor(graph, sk_b_constant_blob(&b, "v", SK_DTYPE_F64, &scalar, blob, offset));
            assert_ok(b.status, &b.error);
            assert_int_equal((uintptr_t)t.data % sizeof(double), 0);
            assert_true(*(const double *)t.data == 1.5);
            assert_int_equal(t.data == memory + begin + offset, (begin + offset) % 8 == 0);
            sk_blob_unref(&blob);
            sk_graph_close(&graph);
        }
}

/* What lives at once, in bytes: a value that a node reads twice goes once. */
static void the_most_that_lives_at_once(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *special = NULL;
    sk_builder b;
    sk_graph *graph = begun(&b);
    const sk_shape shape = sk_shape_of(2, 1, 4); /* 16 bytes */
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &shape);
    sk_value y =
        sk_b_node(&b, SK_OP_BINARY, &(sk_attrs){.binary.kind = SK_BINARY_MUL}, (sk_value[]){x, x}, 2, "y");
    sk_value z = sk_b_node(&b, SK_OP_CONCAT, &(sk_attrs){.axis = 1}, (sk_value[]){y, y, y}, 3, "z");
    sk_b_output(&b, z, "z");
    assert_ok(b.status, &b.error);
    assert_ok(sk_graph_specialise(graph, &shape, 1, &special, &err), &err);
    assert_true(sk_graph_peak_bytes(special) == 16 + 48);
    special->outputs[special->n_outputs++] = special->nodes[0].out[0]; /* what is told stays to the end */
    assert_true(sk_graph_peak_bytes(special) == 16 + 48);
    special->outputs[special->n_outputs++] = special->inputs[0];
    assert_true(sk_graph_peak_bytes(special) == 16 + 16 + 48);
    for (size_t n = 0; n < special->n_nodes; n++) /* sums of products alone are counted */
        assert_true(sk_node_flops(special, &special->nodes[n]) == 0);
    sk_graph_close(&special);
    sk_graph_close(&graph);
}

/* Products and sums of the nodes that are made of them, by sizes that all differ. */
static void products_are_counted(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *special = NULL;
    sk_builder b;
    sk_graph *graph = begun(&b);
    static float data[2 * 3 * 5 * 7 + 12 * 11];
    const sk_shape in = sk_shape_of(4, 1, 3, 10, 12), kernel = sk_shape_of(4, 2, 3, 5, 7),
                   turned = sk_shape_of(4, 3, 2, 5, 7), right = sk_shape_of(2, 12, 11),
                   across = sk_shape_of(2, 4, 6), down = sk_shape_of(2, 4, 5);
    const sk_window window = {.kernel = {5, 7}, .stride = {1, 1}, .dilation = {1, 1}};
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    sk_b_output(&b,
                sk_b_conv(&b, x, sk_b_constant(&b, "w", SK_DTYPE_F32, &kernel, data), SK_VALUE_NONE, &window,
                          1, "conv"),
                "a");
    const sk_attrs up = {.conv_transpose = {.window = window, .groups = 1}};
    sk_b_output(&b,
                sk_b_node(&b, SK_OP_CONV_TRANSPOSE, &up,
                          (sk_value[]){x, sk_b_constant(&b, "t", SK_DTYPE_F32, &turned, data)}, 2, "up"),
                "b");
    sk_b_output(&b,
                sk_b_node(&b, SK_OP_MATMUL, NULL,
                          (sk_value[]){x, sk_b_constant(&b, "m", SK_DTYPE_F32, &right, data)}, 2, "matmul"),
                "c");
    assert_ok(b.status, &b.error);
    assert_ok(sk_graph_specialise(graph, &in, 1, &special, &err), &err);
    assert_int_equal(special->n_nodes, 3);
    const double conv = 2.0 * (2 * 6 * 6) * (3 * 5 * 7), transposed = 2.0 * (3 * 10 * 12) * (2 * 5 * 7),
                 matmul = 2.0 * (3 * 10 * 11) * 12;
    assert_true(sk_node_flops(special, &special->nodes[0]) == conv);
    assert_true(sk_node_flops(special, &special->nodes[1]) == transposed);
    assert_true(sk_node_flops(special, &special->nodes[2]) == matmul);
    assert_true(sk_graph_flops(special) == conv + transposed + matmul);
    sk_graph_close(&special);
    sk_graph_close(&graph);
    for (int flipped = 0; flipped < 2; flipped++) { /* [4][6] turned, or [6][4] as it is, times [4][5] */
        graph = begun(&b);
        const sk_shape shape = flipped ? across : sk_shape_of(2, 6, 4);
        const sk_attrs a = {.gemm = {.transpose_a = flipped, .alpha = 1, .beta = 1}};
        x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
        sk_b_output(&b,
                    sk_b_node(&b, SK_OP_GEMM, &a,
                              (sk_value[]){x, sk_b_constant(&b, "g", SK_DTYPE_F32, &down, data)}, 2, "gemm"),
                    "y");
        assert_ok(b.status, &b.error);
        assert_ok(sk_graph_specialise(graph, &shape, 1, &special, &err), &err);
        assert_true(sk_graph_flops(special) == 2.0 * 6 * 5 * 4);
        sk_graph_close(&special);
        sk_graph_close(&graph);
    }
}

/* A reduction over no axes named is one over all. */
static void reductions_have_so_many_axes(void **state)
{
    (void)state;
    static const int axes[9] = {0};
    static const struct {
        int n;
        sk_status status;
    } cases[] = {{-1, SK_ERR_ARG}, {0, SK_OK}, {1, SK_OK}, {9, SK_ERR_ARG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_builder b;
        sk_graph *graph = begun(&b);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
        sk_b_reduce(&b, SK_REDUCE_SUM, x, axes, cases[i].n, false);
        assert_int_equal(b.status, cases[i].status);
        if (b.status == SK_OK)
            assert_int_equal(graph->nodes[0].a.reduce.n_axes, cases[i].n);
        sk_graph_close(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_counted),
                                       cmocka_unit_test(reductions_have_so_many_axes),
                                       cmocka_unit_test(what_must_be_given),
                                       cmocka_unit_test(outputs_of_a_read_node_stay),
                                       cmocka_unit_test(inputs_stay),
                                       cmocka_unit_test(nodes_have_so_many_values),
                                       cmocka_unit_test(graphs_have_so_many_ends),
                                       cmocka_unit_test(scopes_stand_in_front),
                                       cmocka_unit_test(constants_lie_anywhere),
                                       cmocka_unit_test(the_most_that_lives_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
