/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of reading ONNX: for each, the largest that is taken and the next, which is refused. And ends of a file's graph. */
#include "onnx_bench.h"

#include "base/text.h"
#include "models/onnx_importer.h"

static sk_error err;
static const char *const name_a[] = {"a"}, *const name_b[] = {"b"}, *const name_w[] = {"w"},
                         *const name_x[] = {"x"};

/* "": taken, and the graph is in *out where that is not null. */
static const char *import_words(bench *t, sk_graph **out)
{
    sk_graph *graph = NULL;
    err = (sk_error){0};
    const sk_status status = sk_onnx_import(t->model, "f", &graph, &err);
    assert_int_equal(status == SK_OK, graph != NULL);
    if (status != SK_OK)
        assert_true(err.message[0] != '\0');
    if (out)
        *out = graph;
    else
        sk_graph_close(&graph);
    return status == SK_OK ? "" : err.message;
}

#define assert_words(t, words) assert_string_equal(import_words(t, NULL), words)

static const char *many_names(int i)
{
    static char names[80][8];
    snprintf(names[i], sizeof names[i], "m%d", i);
    return i == 0 ? "y" : names[i];
}

static void operator_sets(void **state)
{
    (void)state;
    static const struct {
        int64_t opset;
        const char *words;
    } cases[] = {{6, "f: operator set 6; 7 to 23 are read. Export with opset=17"},
                 {7, ""},
                 {23, ""},
                 {24, "f: operator set 24; 7 to 23 are read. Export with opset=17"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        const sk_onnx_node n = node("Neg", NAMES("x"), OUT("y"));
        bench_open(&t, cases[i].opset, &n, 1);
        assert_words(&t, cases[i].words);
        sk_onnx_close(&t.model);
    }
}

/* Parts of a split, outputs of a function and of a branch: 64. */
static void as_many_outputs(void **state)
{
    (void)state;
    const char *names[65], *inner[65];
    static sk_onnx_value values[65];
    static char inside[65][8];
    sk_onnx_node body[65];
    for (int i = 0; i < 65; i++) {
        names[i] = many_names(i);
        snprintf(inside[i], sizeof inside[i], "i%d", i);
        inner[i] = inside[i];
        values[i] = (sk_onnx_value){.name = inner[i]};
        body[i] = node("Neg", 1, name_x, &inner[i]);
    }
    for (int32_t n = 64; n <= 65; n++) {
        bench t;
        sk_onnx_node split = node("Split", NAMES("x"), names);
        split.n_out = n;
        bench_open(&t, 17, &split, 1);
        assert_words(&t, n == 64 ? "" : "f: Split node 'y': 65 parts; 1 to 64 are possible");
        sk_onnx_close(&t.model);
        const sk_onnx_function f = {.domain = "mine",
                                    .name = "Many",
                                    .n_in = 1,
                                    .n_out = n,
                                    .n_nodes = 65,
                                    .in = OUT("x"),
                                    .out = inner,
                                    .nodes = body};
        sk_onnx_node call = node("Many", NAMES("x"), names);
        call.domain = "mine";
        for (call.n_out = 1; call.n_out <= 64; call.n_out += 63) {
            bench_open(&t, 17, &call, 1);
            t.model->functions = &f;
            t.model->n_functions = 1;
            assert_words(&t,
                         n == 64 ? "" : "f: Many node 'y': does not fit the file's function of that name");
            sk_onnx_close(&t.model);
        }
        const sk_onnx_graph branch = {
            .name = "b", .n_nodes = 65, .nodes = body, .n_outputs = n, .outputs = values};
        const sk_onnx_attr branches[] = {attr_graph("then_branch", &branch),
                                         attr_graph("else_branch", &branch)};
        const int64_t yes = 1;
        sk_onnx_node nodes[2] = {node("Equal", NAMES("w", "w"), OUT("c")),
                                 node_with("If", NAMES("c"), names, 2, branches)};
        for (nodes[1].n_out = 1; nodes[1].n_out <= 64; nodes[1].n_out += 63) {
            bench_open(&t, 17, nodes, 2);
            weight_i64(&t, "w", 1, &yes);
            assert_words(&t, n == 64 ? "" : "f: If node 'y': a branch is missing or has too few outputs");
            sk_onnx_close(&t.model);
        }
    }
    bench t;
    sk_onnx_node none = node("Split", NAMES("x"), names);
    none.n_out = 0;
    bench_open(&t, 17, &none, 1);
    assert_words(&t, "f: Split node 'Split': 0 parts; 1 to 64 are possible");
    sk_onnx_close(&t.model);
}

/* Functions in functions: 24 deep. */
static void as_deep(void **state)
{
    (void)state;
    static sk_onnx_function f[25];
    static sk_onnx_node body[25];
    static char names[26][8];
    for (int i = 0; i < 26; i++)
        snprintf(names[i], sizeof names[i], "f%d", i);
    for (int depth = 24; depth <= 25; depth++) {
        bench t;
        sk_graph *graph = NULL;
        for (int i = 0; i < depth; i++) {
            body[i] = node(i + 1 == depth ? "Neg" : names[i + 1], 1, name_a, name_b);
            f[i] = (sk_onnx_function){.domain = "",
                                      .name = names[i],
                                      .n_in = 1,
                                      .n_out = 1,
                                      .n_nodes = 1,
                                      .in = name_a,
                                      .out = name_b,
                                      .nodes = &body[i]};
        }
        /* twice beside each other is no deeper */
        const sk_onnx_node calls[] = {node("f0", NAMES("x"), OUT("z")), node("f0", NAMES("z"), OUT("y"))};
        bench_open(&t, 17, calls, 2);
        t.model->functions = f;
        t.model->n_functions = depth;
        assert_string_equal(import_words(&t, &graph),
                            depth == 24 ? "" : "f: f24 node 'b': functions or subgraphs nest deeper than 24");
        if (graph)
            assert_int_equal(graph->n_nodes, 2);
        sk_graph_close(&graph);
        sk_onnx_close(&t.model);
    }
}

/* Functions: which one is called, and what it must make. */
static void functions_by_name_and_domain(void **state)
{
    (void)state;
    const sk_onnx_node neg = node("Neg", NAMES("a"), OUT("b")), abs = node("Abs", NAMES("a"), OUT("b"));
    const sk_onnx_opset old = {"", 10};
    const sk_onnx_node clip = node_with("Clip", NAMES("a"), OUT("b"), ATTRS(attr_float("max", 1)));
    sk_onnx_function f[4] = {{.domain = "one", .name = "F", .nodes = &neg},
                             {.domain = "two", .name = "F", .nodes = &abs},
                             {.domain = "two", .name = "G", .nodes = &neg},
                             {.domain = "two", .name = "Old", .nodes = &clip, .n_opsets = 1, .opsets = &old}};
    static const struct {
        const char *domain, *name;
        double first, second; /* of 0.5 and -1, and the fifth below */
        double fifth;         /* of 2.5 */
    } cases[] = {{"one", "F", -0.5, 1, -2.5},
                 {"two", "F", 0.5, 1, 2.5},
                 {"two", "G", -0.5, 1, -2.5},
                 {"two", "Old", 0.5, -1, 1}}; /* the function's own operator set counts inside it */
    for (int i = 0; i < 4; i++) {
        f[i].n_in = f[i].n_out = f[i].n_nodes = 1;
        f[i].in = name_a;
        f[i].out = name_b;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        sk_onnx_node nodes[2] = {node(cases[i].name, NAMES("x"), OUT("z")),
                                 node_with("Clip", NAMES("z"), OUT("y"), ATTRS(attr_float("max", 1)))};
        nodes[0].domain = cases[i].domain;
        bench_open(&t, 17, nodes, 2);
        t.model->functions = f;
        t.model->n_functions = 4;
        expect(bench_run(&t), DIMS(1, 2, 2, 3),
               VALUES(cases[i].first, cases[i].second,
                      i == 1   ? 1.5
                      : i == 3 ? 1
                               : -1.5,
                      i == 1   ? 2
                      : i == 3 ? -2
                               : 2,
                      cases[i].fifth));
    }
    bench t;
    sk_onnx_node call = node("G", NAMES("x"), OUT("y"));
    call.domain = "two";
    f[2].out = OUT("elsewhere");
    bench_open(&t, 17, &call, 1);
    t.model->functions = f;
    t.model->n_functions = 4;
    assert_words(&t, "f: G node 'y': the function makes no 'elsewhere'");
    sk_onnx_close(&t.model);
}

/* A branch: what it makes, what it sees and what it must make. */
static void branches_of_a_node(void **state)
{
    (void)state;
    const sk_onnx_node inside = node("Add", NAMES("x", "own"), OUT("z"));
    const sk_onnx_value made = {.name = "z"}, missing = {.name = "elsewhere"};
    bench t;
    sk_blob *blob = NULL;
    const int64_t yes = 1;
    sk_onnx_graph branch = {.name = "b", .n_nodes = 1, .nodes = &inside, .n_outputs = 1, .outputs = &made};
    const sk_onnx_attr both[] = {attr_graph("then_branch", &branch), attr_graph("else_branch", &branch)};
    const sk_onnx_node nodes[2] = {node("Equal", NAMES("w", "w"), OUT("c")),
                                   node_with("If", NAMES("c"), OUT("y"), 2, both)};
    for (int which = 0; which < 3; which++) {
        const float five = 5;
        bench_open(&t, 17, nodes, 2);
        weight_i64(&t, "w", which == 2 ? 2 : 1, (const int64_t[]){yes, yes});
        assert_ok(sk_blob_alloc(4, &blob, &err), &err);
        memcpy(sk_blob_data(blob), &five, 4);
        assert_ok(sk_onnx_keep_blob(t.model, blob, &err), &err);
        const sk_onnx_tensor own = {.name = "own", .dtype = SK_DTYPE_F32, .blob = blob};
        branch.initializers = &own; /* a weight of its own */
        branch.n_initializers = 1;
        branch.outputs = which ? &missing : &made;
        if (which == 0) {
            expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(5.5, 4));
            continue;
        }
        assert_words(&t, which == 1
                             ? "f: If node 'y': the branch makes no 'elsewhere'"
                             : "f: If node 'y': its condition 'c' is only known while the network runs (or "
                               "the file leaves its input sizes open); export with fixed sizes");
        sk_onnx_close(&t.model);
    }
}

/* A window as long as the weights: up to 2^20. */
static void as_large_kernels(void **state)
{
    (void)state;
    for (int64_t n = 1 << 20; n <= (1 << 20) + 1; n++)
        for (int along = 0; along < 2; along++) {
            bench t;
            float *zeros = calloc((size_t)n * 2, sizeof *zeros);
            const sk_onnx_node conv = node("Conv", NAMES("x", "w"), OUT("y"));
            bench_open(&t, 17, &conv, 1);
            bench_weight(&t, "w", SK_DTYPE_F32, 4, (int64_t[]){1, 2, along ? 1 : n, along ? n : 1}, zeros);
            free(zeros);
            assert_words(
                &t, n == 1 << 20 ? "" : "f: Conv node 'y': kernel_shape says 0 but the weights have 1048577");
            sk_onnx_close(&t.model);
        }
}

static void as_many_scales_without_zeros(void **state)
{
    (void)state;
    static float scales[4097];
    for (int i = 0; i < 4097; i++)
        scales[i] = 1;
    for (int64_t n = 4096; n <= 4097; n++) {
        bench t;
        const sk_onnx_node q = node("QuantizeLinear", NAMES("x", "s"), OUT("y"));
        bench_open(&t, 17, &q, 1);
        bench_weight(&t, "s", SK_DTYPE_F32, 1, &n, scales);
        assert_words(&t, n == 4096 ? ""
                                   : "f: QuantizeLinear node 'y': more than 4096 scales without zero points");
        sk_onnx_close(&t.model);
    }
}

/* --- what is computed while reading --- */

/* Results and inputs of up to 65536 elements, and 2^24 of them in all; the rest is left to specialisation. */
static void computed_while_reading(void **state)
{
    (void)state;
    static float many[65537];
    for (int64_t n = 65536; n <= 65537; n++)
        for (int by_input = 0; by_input < 2; by_input++) {
            bench t;
            sk_graph *graph = NULL;
            const sk_onnx_node sum = node_with("ReduceSum", NAMES("w"), OUT("y"),
                                               ATTRS(attr_int("keepdims", 0))),
                               fill = node("ConstantOfShape", NAMES("w"), OUT("y"));
            bench_open(&t, 17, by_input ? &sum : &fill, 1);
            if (by_input)
                bench_weight(&t, "w", SK_DTYPE_F32, 1, &n, many);
            else
                weight_i64(&t, "w", 1, &n);
            assert_string_equal(import_words(&t, &graph), "");
            assert_int_equal(graph->n_nodes, 1);
            assert_int_equal(graph->nodes[0].op, n == 65536 ? SK_OP_IDENTITY
                                                 : by_input ? SK_OP_REDUCE
                                                            : SK_OP_CONSTANT_OF_SHAPE);
            sk_graph_close(&graph);
            sk_onnx_close(&t.model);
        }
}

static void computed_in_all(void **state)
{
    (void)state;
    enum { MOST = 256 }; /* times 2^16 */
    static sk_onnx_node nodes[MOST + 2];
    static const char *outs[MOST + 2];
    static char names[MOST + 2][8];
    const int64_t n = 65536;
    const uint8_t seven = 7;
    bench t;
    sk_error problem;
    sk_graph *graph = NULL;
    sk_blob *blob = NULL;
    bench_open(&t, 17, nodes, MOST + 2);
    assert_ok(sk_blob_alloc(1, &blob, &problem), &problem);
    memcpy(sk_blob_data(blob), &seven, 1);
    assert_ok(sk_onnx_keep_blob(t.model, blob, &problem), &problem);
    const sk_onnx_tensor value = {
        .name = "", .dtype = SK_DTYPE_U8, .shape = {.rank = 1, .dim = {1}}, .blob = blob};
    const sk_onnx_attr attr = {.name = "value", .type = SK_ONNX_TENSOR, .ref = "", .s = "", .tensor = &value};
    for (int i = 0; i < MOST + 1; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        outs[i] = names[i];
        nodes[i] = node_with("ConstantOfShape", 1, name_w, &outs[i], 1, &attr);
    }
    nodes[MOST + 1] = node("Neg", NAMES("x"), OUT("y"));
    weight_i64(&t, "w", 1, &n);
    assert_string_equal(import_words(&t, &graph), "");
    assert_int_equal(graph->n_nodes, 2); /* the one that was too many, and Neg */
    assert_int_equal(graph->nodes[0].op, SK_OP_CONSTANT_OF_SHAPE);
    sk_graph_close(&graph);
    sk_onnx_close(&t.model);
}

/* --- ends --- */

static void inputs_of_every_type(void **state)
{
    (void)state;
    static const struct {
        sk_dtype given, read;
    } cases[] = {{SK_DTYPE_F32, SK_DTYPE_F32}, {SK_DTYPE_F16, SK_DTYPE_F32}, {SK_DTYPE_BF16, SK_DTYPE_F32},
                 {SK_DTYPE_U8, SK_DTYPE_U8},   {SK_DTYPE_I64, SK_DTYPE_I64}, {SK_DTYPE_NONE, SK_DTYPE_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        sk_graph *graph = NULL;
        const sk_onnx_node n = node("Neg", NAMES("x"), OUT("y"));
        bench_open(&t, 17, &n, 1);
        t.input.dtype = cases[i].given;
        const char *words = import_words(&t, &graph);
        assert_string_equal(words, cases[i].read ? "" : "f: the input 'x' is no tensor of numbers");
        if (graph)
            assert_int_equal(graph->values[graph->inputs[0]].dtype, cases[i].read);
        sk_graph_close(&graph);
        sk_onnx_close(&t.model);
    }
}

static void names_that_are_there_already(void **state)
{
    (void)state;
    bench t;
    const sk_onnx_node n = node("Neg", NAMES("x"), OUT("y"));
    bench_open(&t, 17, &n, 1);
    const sk_onnx_value twice[2] = {t.input, t.input};
    t.model->graph.inputs = twice;
    t.model->graph.n_inputs = 2;
    assert_words(&t, "f: input: 'x' is made twice");
    sk_onnx_close(&t.model);
    bench_open(&t, 17, &n, 1);
    weight_i64(&t, "w", 1, (int64_t[]){1});
    weight_i64(&t, "w", 1, (int64_t[]){1});
    assert_words(&t, "f: two weights of one name: 'w' is made twice");
    sk_onnx_close(&t.model);
    bench_open(&t, 17, &n, 1);
    t.model->graph.n_outputs = 0;
    assert_words(&t, "f: the graph has no output");
    sk_onnx_close(&t.model);
}

/* Each output is a value of its own, whatever else is the same. */
static void outputs_of_the_same(void **state)
{
    (void)state;
    bench t;
    sk_graph *graph = NULL;
    const sk_onnx_node n[] = {node("Neg", NAMES("x"), OUT("y")), node("Identity", NAMES("y"), OUT("z"))};
    bench_open(&t, 17, n, 2);
    sk_onnx_value outs[4] = {t.output, t.output, t.output, t.output};
    outs[1].name = "z";
    outs[2].name = "x";
    outs[3].name = "w";
    weight_i64(&t, "w", 1, (int64_t[]){1});
    t.model->graph.outputs = outs;
    t.model->graph.n_outputs = 4;
    assert_string_equal(import_words(&t, &graph), "");
    assert_int_equal(graph->n_outputs, 4);
    assert_int_equal(graph->n_nodes, 4);
    for (int i = 0; i < 4; i++) {
        const sk_value_info *v = &graph->values[graph->outputs[i]];
        assert_string_equal(v->name, outs[i].name);
        assert_int_equal(v->producer, i);
        assert_int_equal(graph->nodes[i].op, i ? SK_OP_IDENTITY : SK_OP_UNARY);
    }
    sk_graph_close(&graph);
    sk_onnx_close(&t.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operator_sets),
        cmocka_unit_test(as_many_outputs),
        cmocka_unit_test(as_deep),
        cmocka_unit_test(functions_by_name_and_domain),
        cmocka_unit_test(branches_of_a_node),
        cmocka_unit_test(as_large_kernels),
        cmocka_unit_test(as_many_scales_without_zeros),
        cmocka_unit_test(computed_while_reading),
        cmocka_unit_test(computed_in_all),
        cmocka_unit_test(inputs_of_every_type),
        cmocka_unit_test(names_that_are_there_already),
        cmocka_unit_test(outputs_of_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
