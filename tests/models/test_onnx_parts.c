/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the way from and to ONNX by themselves: the order of nodes, norms that an opset has no name for, types that nodes give, what has
 * no form at all. */
#include "onnx_model_fixture.h"

#include "base/memory.h"
#include "models/onnx_exporter.h"
#include "models/onnx_order.h"
#include "support/fault.h"

static sk_error err;

/* --- order --- */

#define MOST 6

typedef struct net {
    sk_onnx_node nodes[MOST];
    int32_t count;
} net;

static void add(net *n, const char *in, const char *const *out, const sk_onnx_attr *graph)
{
    static const char *ins[64];
    static int used;
    ins[used & 63] = in;
    n->nodes[n->count++] = (sk_onnx_node){.op = "Op",
                                          .domain = "",
                                          .name = "",
                                          .n_in = 1,
                                          .n_out = 1,
                                          .in = &ins[used++ & 63],
                                          .out = out,
                                          .n_attrs = graph ? 1 : 0,
                                          .attrs = graph};
}

#define OUT(name) ((const char *const[]){name})

static void expect_order(const net *n, const char *wanted)
{
    int32_t *order = NULL;
    char text[16] = "";
    assert_ok(sk_onnx_order(n->nodes, n->count, "file", &order, &err), &err);
    for (int32_t i = 0; i < n->count; i++)
        text[i] = (char)('0' + order[i]);
    assert_string_equal(text, wanted);
    sk_free(order);
}

static void nodes_come_after_what_they_need(void **state)
{
    (void)state;
    net n = {0};
    add(&n, "x", OUT("a"), NULL);
    add(&n, "a", OUT("b"), NULL);
    expect_order(&n, "01");
    n = (net){0};
    add(&n, "b", OUT("c"), NULL);
    add(&n, "a", OUT("b"), NULL);
    add(&n, "x", OUT("a"), NULL);
    expect_order(&n, "210");
    n = (net){0};
    add(&n, "b", OUT("a"), NULL);
    add(&n, "a", OUT("b"), NULL);
    int32_t *order = NULL;
    assert_int_equal(sk_onnx_order(n.nodes, 2, "file", &order, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "file: the graph has a cycle: Op node 'a'"));
    assert_null(order);
    n = (net){0};
    add(&n, "x", OUT("a"), NULL);
    add(&n, "x", OUT("a"), NULL);
    assert_int_equal(sk_onnx_order(n.nodes, 2, "file", &order, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "'a' is made twice, by the nodes 'a' and 'a'"));
    n = (net){0};
    expect_order(&n, "");
}

/* What a branch needs, the node that has it needs: by a node inside, at any depth, and by a result that is handed through. */
static void branches_need_what_is_outside(void **state)
{
    (void)state;
    const sk_onnx_value handed = {.name = "a"}, own = {.name = "inner"};
    net inside = {0}, deep = {0}, n = {0};
    add(&inside, "a", OUT("inner"), NULL);
    const sk_onnx_graph by_node = {.name = "g",
                                   .n_nodes = 1,
                                   .nodes = inside.nodes,
                                   .n_outputs = 1,
                                   .outputs = &own},
                        by_result = {.name = "g", .n_outputs = 1, .outputs = &handed};
    const sk_onnx_attr
        with_node = {.name = "body", .type = SK_ONNX_GRAPH, .ref = "", .s = "", .graph = &by_node},
        with_result = {.name = "body", .type = SK_ONNX_GRAPH, .ref = "", .s = "", .graph = &by_result};
    add(&deep, "x", OUT("inner"), &with_node);
    const sk_onnx_graph nested = {
        .name = "g", .n_nodes = 1, .nodes = deep.nodes, .n_outputs = 1, .outputs = &own};
    const sk_onnx_attr with_nested = {
        .name = "body", .type = SK_ONNX_GRAPH, .ref = "", .s = "", .graph = &nested};
    const sk_onnx_attr *const all[] = {&with_node, &with_result, &with_nested};
    for (int i = 0; i < 3; i++) {
        n = (net){0};
        add(&n, "x", OUT("y"), all[i]);
        add(&n, "x", OUT("a"), NULL);
        expect_order(&n, "10");
    }
}

/* --- out and in again --- */

static sk_model *make_maps(void (*build)(sk_builder *), int n_outputs)
{
    static const char *const names[] = {"o0", "o1", "o2", "o3", "o4", "o5"};
    sk_model *m = make_model(build);
    m->format = SK_FORMAT_SLEAP_KERAS;
    sk_model_set_task(m, SK_TASK_SINGLE_INSTANCE);
    m->architecture = "maps";
    m->n_classes = 0;
    m->class_names = NULL;
    m->input.stride = 1;
    m->n_outputs = n_outputs;
    for (int i = 0; i < n_outputs; i++)
        m->outputs[i] = (sk_output_spec){SK_OUTPUT_OTHER, names[i], 1};
    m->sleap = (sk_sleap_spec){.input_scale = 1, .pad_to_stride = 1};
    return m;
}

static sk_value numbers(sk_builder *b, int64_t h, int64_t w, float from)
{
    static float data[96 * 64];
    sk_shape shape = {.rank = h ? 2 : 1, .dim = {h ? h : w, w}};
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        data[i] = from + (float)(i % 13) / 7.0f;
    return sk_b_constant(b, "numbers", SK_DTYPE_F32, &shape, data);
}

static void build_norms(sk_builder *b)
{
    const sk_shape fixed = {.rank = 4, .dim = {1, 3, 64, 96}};
    const sk_value x = sk_b_input(b, "image", SK_DTYPE_F32, &fixed);
    for (int axes = 1; axes <= 2; axes++) {
        const sk_attrs a = {.norm = {.axis = -axes, .epsilon = 1e-3f}};
        const sk_value scale = numbers(b, axes == 2 ? 64 : 0, 96, 0.5f),
                       bias = numbers(b, axes == 2 ? 64 : 0, 96, -1);
        const sk_value in[3] = {x, scale, bias};
        for (int n_in = 1; n_in <= 3; n_in++) {
            char name[8];
            snprintf(name, sizeof name, "o%d", (axes - 1) * 3 + n_in - 1);
            sk_b_output(b, sk_b_node(b, SK_OP_LAYER_NORM, &a, in, n_in, "norm"), name);
        }
    }
}

static void norms_come_back(void **state)
{
    (void)state;
    for (int opset = 13; opset <= 18; opset++)
        for (int axis = 0; axis < 2; axis++) {
            sk_model *model = make_maps(build_norms, 6), *again = NULL;
            sk_onnx_settings s = sk_onnx_defaults();
            s.opset = opset;
            s.optimise = 0;
            for (size_t i = 0; axis && i < model->graph->n_nodes;
                 i++) /* the same axes, counted from the front */
                model->graph->nodes[i].a.norm.axis += 4;
            assert_ok(sk_model_export_onnx(model, &s, in_folder("norms.onnx"), &err), &err);
            assert_ok(sk_model_open(in_folder("norms.onnx"), &again, &err), &err);
            compare_results(model, again, 1, 64, 96, 1e-4);
            sk_model_close(&again);
            sk_model_close(&model);
        }
}

static void what_has_no_form_is_named(void **state)
{
    (void)state;
    static const char *const in = "image", *const outs[] = {"o0", "o1", "o2", "o3", "o4", "o5"};
    for (int which = 0; which < 2; which++) {
        sk_model *model = make_maps(build_norms, 6);
        sk_onnx_model *onnx = NULL;
        assert_ok(sk_onnx_create(&onnx, &err), &err);
        model->graph->nodes[2].op = which ? (sk_op)SK_OP_COUNT : (sk_op)0;
        assert_int_equal(sk_onnx_from_graph(model->graph, 17, false, &in, outs, onnx, &err),
                         SK_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "has no form in ONNX"));
        sk_onnx_close(&onnx);
        sk_model_close(&model);
    }
}

/* What each operation gives, told without running or shaping anything. */
static void types_of_results(void **state)
{
    (void)state;
    sk_graph *g = NULL;
    sk_builder b;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_shape open = {.rank = 2, .dim = {-1, 4}}, two = {.rank = 1, .dim = {2}};
    const sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &open),
                   at = sk_b_input(&b, "at", SK_DTYPE_I64, &open);
    const sk_value whole = sk_b_constant(&b, "whole", SK_DTYPE_I64, &two, (const int64_t[]){0, 5}),
                   real = sk_b_constant(&b, "real", SK_DTYPE_F32, &two, (const float[]){0, 5}),
                   depth = sk_b_i64(&b, 4), k = sk_b_i64s(&b, (const int64_t[]){2}, 1);
    const sk_attrs equal = {.binary = {.kind = SK_BINARY_EQUAL}}, nan = {.unary = {.kind = SK_UNARY_IS_NAN}},
                   last = {.axis = -1}, to = {.cast.to = SK_DTYPE_I32}, fill = {.fill = {SK_DTYPE_I64, 3}},
                   most = {.top_k = {.axis = 1, .largest = 1, .sorted = 1}}, none = {0};
    const sk_value same = sk_b_node(&b, SK_OP_BINARY, &equal, (const sk_value[]){x, x}, 2, "");
    sk_value top[2];
    sk_b_node_n(&b, SK_OP_TOP_K, &most, (const sk_value[]){x, k}, 2, "", top, 2);
    const struct {
        sk_value v;
        sk_dtype type;
    } cases[] = {
        {x, SK_DTYPE_F32},
        {at, SK_DTYPE_I64},
        {whole, SK_DTYPE_I64},
        {same, SK_DTYPE_BOOL},
        {top[0], SK_DTYPE_F32},
        {top[1], SK_DTYPE_I64},
        {sk_b_add(&b, x, x), SK_DTYPE_F32},
        {sk_b_add(&b, at, at), SK_DTYPE_I64},
        {sk_b_node(&b, SK_OP_UNARY, &nan, &x, 1, ""), SK_DTYPE_BOOL},
        {sk_b_unary(&b, SK_UNARY_RELU, x), SK_DTYPE_F32},
        {sk_b_node(&b, SK_OP_CAST, &to, &x, 1, ""), SK_DTYPE_I32},
        {sk_b_node(&b, SK_OP_CONSTANT_OF_SHAPE, &fill, &k, 1, ""), SK_DTYPE_I64},
        {sk_b_node(&b, SK_OP_WHERE, &none, (const sk_value[]){same, at, at}, 3, ""), SK_DTYPE_I64},
        {sk_b_node(&b, SK_OP_WHERE, &none, (const sk_value[]){same, x, x}, 3, ""), SK_DTYPE_F32},
        {sk_b_node(&b, SK_OP_ONE_HOT, &last, (const sk_value[]){at, depth, whole}, 3, ""), SK_DTYPE_I64},
        {sk_b_node(&b, SK_OP_ONE_HOT, &last, (const sk_value[]){at, depth, real}, 3, ""), SK_DTYPE_F32},
        {sk_b_node(&b, SK_OP_SHAPE, &none, &x, 1, ""), SK_DTYPE_I64},
        {sk_b_node(&b, SK_OP_ARG_MAX, &none, &x, 1, ""), SK_DTYPE_I64},
    };
    assert_ok(b.status, &b.error);
    sk_dtype *types = calloc(g->n_values, sizeof *types);
    sk_onnx_types(g, types);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (types[cases[i].v] != cases[i].type)
            fail_msg("case %zu: %s", i, sk_dtype_name(types[cases[i].v]));
    free(types);
    sk_graph_close(&g);
}

static sk_status export_half(void *context, sk_error *problem)
{
    sk_onnx_model *onnx = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    s.half = 1;
    s.undated = 1;
    const sk_status status = sk_model_to_onnx(context, &s, &onnx, problem);
    sk_onnx_close(&onnx);
    return status;
}

static void halves_without_memory(void **state)
{
    (void)state;
    sk_model *model = make_yolo();
    assert_true(test_every_allocation(export_half, model) > 20);
    sk_model_close(&model);
}

/* In half precision a number beyond the largest is the largest: infinities would spoil everything behind it. */
static void halves_have_an_end(void **state)
{
    (void)state;
    static const float given[] = {-1e6f, 1e6f, 65504, -65504, 70000, -70000, 1, INFINITY, -INFINITY};
    static const uint16_t wanted[] = {0xfbff, 0x7bff, 0x7bff, 0xfbff, 0x7bff, 0xfbff, 0x3c00, 0x7c00, 0xfc00};
    static const char *const in = "x", *const out = "y";
    const sk_shape nine = {.rank = 1, .dim = {9}};
    sk_graph *g = NULL;
    sk_builder b;
    sk_onnx_model *onnx = NULL;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &nine);
    sk_b_output(&b, sk_b_add(&b, x, sk_b_constant(&b, "c", SK_DTYPE_F32, &nine, given)), "y");
    assert_ok(b.status, &b.error);
    assert_ok(sk_onnx_create(&onnx, &err), &err);
    assert_ok(sk_onnx_from_graph(g, 17, true, &in, &out, onnx, &err), &err);
    assert_int_equal(onnx->graph.n_initializers, 1);
    const sk_onnx_tensor *t = &onnx->graph.initializers[0];
    assert_int_equal(t->dtype, SK_DTYPE_F16);
    assert_memory_equal(sk_blob_data(t->blob), wanted, sizeof wanted);
    sk_onnx_close(&onnx);
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_after_what_they_need),
        cmocka_unit_test(branches_need_what_is_outside),
        cmocka_unit_test(norms_come_back),
        cmocka_unit_test(what_has_no_form_is_named),
        cmocka_unit_test(halves_without_memory),
        cmocka_unit_test(types_of_results),
        cmocka_unit_test(halves_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
