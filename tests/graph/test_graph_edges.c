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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_have_so_many_ends), cmocka_unit_test(scopes_stand_in_front),
        cmocka_unit_test(constants_lie_anywhere), cmocka_unit_test(the_most_that_lives_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
