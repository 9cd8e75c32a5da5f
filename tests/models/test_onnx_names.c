/* SPDX-License-Identifier: Apache-2.0 */
/* Names: those that a graph's ends, values and nodes have in a file; casts at the ends of a network in half precision; makers of names
 * and the order they ask for. */
#include "onnx_written.h"

#include "models/onnx_names.h"
#include "models/onnx_order.h"

static sk_error err;

/* --- scopes --- */

static void scopes_find_what_was_added(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static char names[MANY][8];
    sk_onnx_scope *outer = NULL, *inner = NULL;
    int32_t number = -7;
    assert_ok(sk_onnx_scope_open(NULL, &outer, &err), &err);
    assert_ok(sk_onnx_scope_open(outer, &inner, &err), &err);
    assert_false(sk_onnx_scope_find(inner, "n0", &number));
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        assert_ok(sk_onnx_scope_add(i % 3 ? outer : inner, names[i], i, &err), &err);
        for (int k = i; k >= 0; k -= 7) { /* also those of before it grew */
            assert_true(sk_onnx_scope_find(inner, names[k], &number) && number == k);
            assert_int_equal(sk_onnx_scope_find_here(inner, names[k], &number), k % 3 == 0);
            assert_int_equal(sk_onnx_scope_find(outer, names[k], &number), k % 3 != 0);
        }
    }
    number = -7;
    assert_false(sk_onnx_scope_find(inner, "n300", &number));
    assert_false(sk_onnx_scope_find(inner, "", &number));
    assert_int_equal(number, -7);
    assert_int_equal(sk_onnx_scope_add(outer, "n1", 9, &err), SK_ERR_MISMATCH);
    assert_string_equal(err.message, "'n1' is made twice");
    assert_ok(sk_onnx_scope_add(inner, "n1", 9, &err), &err); /* hides the outer one */
    assert_true(sk_onnx_scope_find(inner, "n1", &number) && number == 9);
    assert_true(sk_onnx_scope_find(outer, "n1", &number) && number == 1);
    sk_onnx_scope_close(&inner);
    sk_onnx_scope_close(&outer);
    sk_onnx_scope_close(&outer);
    assert_null(outer);
}

/* --- what a graph's names become --- */

static sk_status name_all(const sk_graph *g, const char *const *ins, const char *const *outs,
                          sk_onnx_model **onnx)
{
    assert_ok(sk_onnx_create(onnx, &err), &err);
    return sk_onnx_from_graph(g, 17, false, ins, outs, *onnx, &err);
}

static void open_graph(sk_graph **g, sk_builder *b)
{
    assert_ok(sk_graph_open(g, &err), &err);
    sk_builder_init(b, *g);
}

/* Ends have the names that were asked for, whatever weights and nodes are called. */
static void ends_go_first(void **state)
{
    (void)state;
    static const char *const ins[] = {"w", "v3"}, *const outs[] = {"t1", "same", "given", "again"};
    const sk_shape two = {.rank = 1, .dim = {2}};
    const float data[2] = {1, 2};
    sk_graph *g = NULL;
    sk_builder b;
    sk_onnx_model *onnx = NULL;
    sk_text text = {0};
    open_graph(&g, &b);
    const sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &two), y = sk_b_input(&b, "y", SK_DTYPE_F32, &two);
    const sk_value w = sk_b_constant(&b, "w", SK_DTYPE_F32, &two, data),
                   plain = sk_b_constant(&b, "", SK_DTYPE_F32, &two, data);
    const sk_value sum = sk_b_add(&b, x, w), more = sk_b_add(&b, sum, plain);
    const sk_value last = sk_b_unary(&b, SK_UNARY_SILU, sk_b_add(&b, more, y));
    sk_b_output(&b, last, "a");
    sk_b_output(&b, x, "b");    /* an input */
    sk_b_output(&b, w, "w");    /* a weight */
    sk_b_output(&b, last, "d"); /* an output already */
    assert_ok(b.status, &b.error);
    assert_ok(name_all(g, ins, outs, &onnx), &err);
    tell_onnx(&text, &onnx->graph);
    assert_string_equal(sk_text_get(&text), "    w_1: f32[2] 1 2\n"
                                            "    v3_2: f32[2] 1 2\n"
                                            "    v4 = Add(w, w_1)  # Add\n"
                                            "    v5 = Add(v4, v3_2)  # Add_3\n"
                                            "    v6 = Add(v5, v3)  # Add_4\n"
                                            "    t5 = Sigmoid(v6)  # Sigmoid\n"
                                            "    t1 = Mul(v6, t5)  # Mul\n"
                                            "    same = Identity(w)  # Identity\n"
                                            "    given = Identity(w_1)  # Identity_6\n"
                                            "    again = Identity(t1)  # Identity_7\n");
    sk_onnx_close(&onnx);
    sk_text_free(&text);
    static const char *const twice[] = {"t1", "same", "t1", "again"};
    assert_int_equal(name_all(g, ins, twice, &onnx), SK_ERR_MISMATCH);
    assert_string_equal(err.message, "'t1' is made twice");
    sk_onnx_close(&onnx);
    static const char *const as_input[] = {"t1", "same", "v3", "again"};
    assert_int_equal(name_all(g, ins, as_input, &onnx), SK_ERR_MISMATCH);
    sk_onnx_close(&onnx);
    sk_graph_close(&g);
}

/* Nodes of the tail are marked once, others never; names may be long, and then come to an end. */
static void names_of_nodes(void **state)
{
    (void)state;
    static const char *const in = "x", *const out = "y";
    const sk_shape two = {.rank = 1, .dim = {2}};
    const sk_attrs neg = {.unary = {SK_UNARY_NEG, 0, 0}};
    char large[700], expected[700];
    memset(large, 'n', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    const struct {
        const char *name;
        bool tail;
        const char *written;
    } cases[] = {{"", false, "Neg"},
                 {"one", false, "one"},
                 {"one", true, "tail/one"},
                 {"tail/one", true, "tail/one_1"},
                 {"tail/two", false, "tail/two"},
                 {"tail", true, "tail/tail"},
                 {"", true, "tail/Neg"},
                 {"", false, "Neg_2"},
                 {large, false, expected},
                 {"one", false, "one_3"}};
    sk_graph *g = NULL;
    sk_builder b;
    sk_onnx_model *onnx = NULL;
    memset(expected, 'n', 500);
    expected[500] = '\0';
    open_graph(&g, &b);
    sk_value v = sk_b_input(&b, "x", SK_DTYPE_F32, &two);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b.node_flags = cases[i].tail ? SK_NODE_TAIL : 0;
        v = sk_b_node(&b, SK_OP_UNARY, &neg, &v, 1, cases[i].name);
    }
    sk_b_output(&b, v, "y");
    assert_ok(b.status, &b.error);
    assert_ok(name_all(g, &in, &out, &onnx), &err);
    assert_int_equal(onnx->graph.n_nodes, (int)(sizeof cases / sizeof *cases));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strlen(cases[i].name) < 100)
            assert_string_equal(onnx->graph.nodes[i].name, cases[i].written);
        else
            assert_true(strlen(onnx->graph.nodes[i].name) <= strlen(expected));
    }
    sk_onnx_close(&onnx);
    sk_graph_close(&g);
}

/* --- half precision inside --- */

static void casts_at_the_ends(void **state)
{
    (void)state;
    const sk_shape four = {.rank = 1, .dim = {4}};
    sk_graph *g = NULL;
    sk_builder b;
    sk_onnx_model *onnx = NULL;
    sk_text text = {0};
    open_graph(&g, &b);
    const sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &four),
                   at = sk_b_input(&b, "at", SK_DTYPE_I64, &four);
    const sk_attrs first = {.axis = 0};
    sk_b_output(&b, sk_b_node(&b, SK_OP_GATHER, &first, (sk_value[]){x, at}, 2, "pick"), "");
    sk_b_output(&b, sk_b_add(&b, at, at), "");
    assert_ok(b.status, &b.error);
    sk_onnx_value ins[2] = {{"x", SK_DTYPE_F32, four, {""}}, {"at", SK_DTYPE_I64, four, {""}}};
    sk_onnx_value outs[2] = {{"y", SK_DTYPE_F32, four, {""}}, {"z", SK_DTYPE_I64, four, {""}}};
    for (int n_in = 2; n_in >= 1; n_in--) {
        assert_ok(sk_onnx_create(&onnx, &err), &err);
        onnx->graph = (sk_onnx_graph){.n_inputs = n_in, .inputs = ins, .n_outputs = 2, .outputs = outs};
        if (n_in == 1) { /* a single input is called images inside */
            sk_graph_close(&g);
            open_graph(&g, &b);
            const sk_value only = sk_b_input(&b, "x", SK_DTYPE_F32, &four);
            sk_b_output(&b, sk_b_unary(&b, SK_UNARY_ABS, only), "");
            sk_b_output(&b, sk_b_node(&b, SK_OP_SIZE, NULL, &only, 1, ""), "");
        }
        assert_ok(sk_onnx_from_graph_half(g, 17, onnx, &err), &err);
        sk_text_clear(&text);
        tell_onnx(&text, &onnx->graph);
        assert_string_equal(sk_text_get(&text), n_in == 2
                                                    ? "    half/x = Cast(x) to=10  # narrow_input\n"
                                                      "    half/at = Identity(at)  # \n"
                                                      "    half/y = Gather(half/x, half/at) axis=0  # pick\n"
                                                      "    half/z = Add(half/at, half/at)  # Add\n"
                                                      "    y = Cast(half/y) to=1  # \n"
                                                      "    z = Identity(half/z)  # \n"
                                                    : "    half/images = Cast(x) to=10  # narrow_input\n"
                                                      "    half/y = Abs(half/images)  # Abs\n"
                                                      "    half/z = Size(half/images)  # Size\n"
                                                      "    y = Cast(half/y) to=1  # \n"
                                                      "    z = Identity(half/z)  # \n");
        sk_onnx_close(&onnx);
    }
    sk_text_free(&text);
    sk_graph_close(&g);
}

/* A weight that lies somewhere in a larger block, as it is and narrowed. */
static void weights_of_a_larger_block(void **state)
{
    (void)state;
    static const char *const in = "x", *const out = "y";
    const sk_shape two = {.rank = 1, .dim = {2}};
    for (int half = 0; half < 2; half++) {
        sk_graph *g = NULL;
        sk_builder b;
        sk_onnx_model *onnx = NULL;
        sk_blob *block = NULL;
        sk_text text = {0};
        open_graph(&g, &b);
        assert_ok(sk_blob_alloc(6 * sizeof(float), &block, &err), &err);
        for (int i = 0; i < 6; i++)
            ((float *)sk_blob_data(block))[i] = (float)i + 0.5f;
        const sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &two);
        sk_b_output(
            &b, sk_b_add(&b, x, sk_b_constant_blob(&b, "w", SK_DTYPE_F32, &two, block, 3 * sizeof(float))),
            "");
        sk_blob_unref(&block);
        assert_ok(b.status, &b.error);
        assert_ok(sk_onnx_create(&onnx, &err), &err);
        assert_ok(sk_onnx_from_graph(g, 17, half, &in, &out, onnx, &err), &err);
        tell_onnx(&text, &onnx->graph);
        assert_string_equal(sk_text_get(&text), half ? "    w: f16[2] 3.5 4.5\n    y = Add(x, w)  # Add\n"
                                                     : "    w: f32[2] 3.5 4.5\n    y = Add(x, w)  # Add\n");
        sk_text_free(&text);
        sk_onnx_close(&onnx);
        sk_graph_close(&g);
    }
}

static void as_many_ends_as_there_may_be(void **state)
{
    (void)state;
    const sk_shape one = {.rank = 1, .dim = {1}};
    sk_graph *g = NULL;
    sk_builder b;
    sk_onnx_model *onnx = NULL;
    static sk_onnx_value ends[65];
    open_graph(&g, &b);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_ABS, sk_b_input(&b, "x", SK_DTYPE_F32, &one)), "");
    assert_ok(b.status, &b.error);
    for (int i = 0; i < 65; i++)
        ends[i] = (sk_onnx_value){"e", SK_DTYPE_F32, one, {""}};
    assert_ok(sk_onnx_create(&onnx, &err), &err);
    onnx->graph = (sk_onnx_graph){.n_inputs = 1, .inputs = ends, .n_outputs = 64, .outputs = ends};
    assert_int_equal(sk_onnx_from_graph_half(g, 17, onnx, &err), SK_ERR_LIMIT);
    assert_string_equal(err.message, "a network of 1 inputs and 64 outputs");
    onnx->graph.n_outputs = 63;
    assert_ok(sk_onnx_from_graph_half(g, 17, onnx, &err), &err);
    sk_onnx_close(&onnx);
    sk_graph_close(&g);
}

/* --- order --- */

static sk_onnx_node made(const char *op, const char *name, int32_t n_in, const char *const *in, int32_t n_out,
                         const char *const *out)
{
    return (sk_onnx_node){
        .op = op, .domain = "", .name = name, .n_in = n_in, .n_out = n_out, .in = in, .out = out};
}

#define LIST(...)                                                                                            \
    (int32_t)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *const[])                 \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define NOTHING 0, NULL

static void order_is(const sk_onnx_node *nodes, int32_t n, const char *wanted)
{
    int32_t *order = NULL;
    char text[16] = "";
    assert_ok(sk_onnx_order(nodes, n, "f", &order, &err), &err);
    for (int32_t i = 0; i < n; i++)
        text[i] = (char)('0' + order[i]);
    assert_string_equal(text, wanted);
    sk_free(order);
}

static void no_order(const sk_onnx_node *nodes, int32_t n, const char *words)
{
    int32_t *order = NULL;
    assert_int_equal(sk_onnx_order(nodes, n, "f", &order, &err), SK_ERR_FORMAT);
    assert_null(order);
    assert_string_equal(err.message, words);
}

static void order_of_makers_and_users(void **state)
{
    (void)state;
    /* a result behind one that is left out counts; the empty name is made by nobody, however often */
    const sk_onnx_node behind[] = {made("B", "", LIST("a"), LIST("y")),
                                   made("A", "", LIST("x"), LIST("", "a", ""))};
    order_is(behind, 2, "10");
    const sk_onnx_node optional[] = {made("A", "", LIST("", "x"), LIST("a", "")),
                                     made("B", "", LIST("", "a", ""), LIST("b", ""))};
    order_is(optional, 2, "01");
    /* any input counts; one asked for twice counts twice and is satisfied twice */
    const sk_onnx_node fan[] = {made("D", "", LIST("b", "c", "b"), LIST("d")),
                                made("C", "", LIST("a"), LIST("c")), made("B", "", LIST("a", "a"), LIST("b")),
                                made("A", "", LIST("x"), LIST("a"))};
    order_is(fan, 4, "3120");
    /* in order already: as it is, also where another order were possible */
    const sk_onnx_node kept[] = {made("A", "", LIST("x"), LIST("a")), made("B", "", LIST("a"), LIST("b")),
                                 made("C", "", LIST("x"), LIST("c")),
                                 made("D", "", LIST("c", "b"), LIST("d"))};
    order_is(kept, 4, "0123");
    /* none of them needs the others */
    const sk_onnx_node free_ones[] = {made("A", "", NOTHING, LIST("a")), made("B", "", NOTHING, NOTHING)};
    order_is(free_ones, 2, "01");
}

static void order_that_there_is_not(void **state)
{
    (void)state;
    const sk_onnx_node itself[] = {made("A", "", LIST("x"), LIST("a")), made("B", "", LIST("b"), LIST("b"))};
    no_order(itself, 2, "f: the graph has a cycle: B node 'b' needs what is made from its own result");
    const sk_onnx_node named[] = {made("A", "", LIST("x"), LIST("a")),
                                  made("B", "first", LIST("c"), LIST("b")),
                                  made("C", "second", LIST("b"), LIST("c"))};
    no_order(named, 3, "f: the graph has a cycle: B node 'first' needs what is made from its own result");
    const sk_onnx_node twice[] = {made("A", "maker", LIST("x"), LIST("a")),
                                  made("B", "", LIST("x"), LIST("b", "a"))};
    no_order(twice, 2, "f: 'a' is made twice, by the nodes 'maker' and 'b'");
    const sk_onnx_node same[] = {made("A", "", LIST("x"), LIST("a", "a"))};
    no_order(same, 1, "f: 'a' is made twice, by the nodes 'a' and 'a'");
}

static sk_status order_some(void *context, sk_error *problem)
{
    const sk_onnx_node nodes[] = {made("C", "", LIST("b"), LIST("c")), made("B", "", LIST("a"), LIST("b")),
                                  made("A", "", LIST("x"), LIST("a"))};
    int32_t *order = NULL;
    (void)context;
    const sk_status status = sk_onnx_order(nodes, 3, "f", &order, problem);
    if (status != SK_OK && order)
        return SK_OK; /* never: nothing is handed over then */
    sk_free(order);
    return status;
}

static void order_without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(order_some, NULL) >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_find_what_was_added),
        cmocka_unit_test(ends_go_first),
        cmocka_unit_test(names_of_nodes),
        cmocka_unit_test(casts_at_the_ends),
        cmocka_unit_test(weights_of_a_larger_block),
        cmocka_unit_test(as_many_ends_as_there_may_be),
        cmocka_unit_test(order_of_makers_and_users),
        cmocka_unit_test(order_that_there_is_not),
        cmocka_unit_test(order_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
