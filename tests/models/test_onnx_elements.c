/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that other programs write and skitter does not: each on twelve numbers, by its formula. */
#include "onnx_bench.h"

/* What it is of -inf, inf, NaN, -1, 0 and 1. */
static void infinities(void **state)
{
    (void)state;
    static const float strange[] = {-INFINITY, INFINITY, NAN, -1, 0, 1};
    static const struct {
        int below, above; /* -1: left out */
        double first, second;
    } cases[] = {{-1, -1, 1, 1}, {1, 1, 1, 1}, {0, -1, 0, 1}, {-1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        sk_onnx_attr attrs[2];
        int32_t n = 0;
        if (cases[i].below >= 0)
            attrs[n++] = attr_int("detect_negative", cases[i].below);
        if (cases[i].above >= 0)
            attrs[n++] = attr_int("detect_positive", cases[i].above);
        const sk_onnx_node nodes[] = {node_with("IsInf", NAMES("w"), OUT("i"), n, attrs),
                                      node_with("Cast", NAMES("i"), OUT("y"), ATTRS(attr_int("to", 1)))};
        bench_open(&t, 17, nodes, 2);
        bench_weight(&t, "w", SK_DTYPE_F32, 1, (int64_t[]){6}, strange);
        expect(bench_run(&t), DIMS(6), VALUES(cases[i].first, cases[i].second, 0, 0, 0, 0));
    }
    bench t;
    sk_error err;
    sk_graph *graph = NULL;
    const sk_onnx_node none = node_with(
        "IsInf", NAMES("x"), OUT("y"), ATTRS(attr_int("detect_negative", 0), attr_int("detect_positive", 0)));
    bench_open(&t, 17, &none, 1);
    assert_int_equal(sk_onnx_import(t.model, "test.onnx", &graph, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "asks for no infinity at all"));
    sk_onnx_close(&t.model);
}

/* x is 0.5, -1, 1.5 | -2, 2.5, -3 | 3.5, -4, 4.5 | -5, 5.5, -6 in rows of three, two rows a channel. */
static void reductions(void **state)
{
    (void)state;
    bench t;
    expect(run_one(17, "GlobalAveragePool", 0, NULL), DIMS(1, 2, 1, 1), VALUES(-1.5 / 6, -1.5 / 6));
    expect(run_one(17, "GlobalMaxPool", 0, NULL), DIMS(1, 2, 1, 1), VALUES(2.5, 5.5));
    const sk_onnx_node logs[] = {node("Abs", NAMES("x"), OUT("a")),
                                 node_with("ReduceLogSum", NAMES("a"), OUT("y"),
                                           ATTRS(attr_ints("axes", 3), attr_int("keepdims", 0)))};
    bench_open(&t, 13, logs, 2);
    expect(bench_run(&t), DIMS(1, 2, 2), VALUES(log(3), log(7.5), log(12), log(16.5)));
    const sk_onnx_node squares = node_with("ReduceSumSquare", NAMES("x"), OUT("y"),
                                           ATTRS(attr_ints("axes", 3), attr_int("keepdims", 1)));
    bench_open(&t, 13, &squares, 1);
    expect(bench_run(&t), DIMS(1, 2, 2, 1), VALUES(3.5, 19.25));
}

static void sums_of_several(void **state)
{
    (void)state;
    bench t;
    static const struct {
        const char *op;
        int32_t n;
        double first, second; /* of 0.5 and -1 */
    } cases[] = {{"Sum", 1, 0.5, -1},  {"Sum", 2, 1, -2},   {"Sum", 3, 1.5, -3}, {"Mean", 1, 0.5, -1},
                 {"Mean", 3, 0.5, -1}, {"Max", 1, 0.5, -1}, {"Min", 2, 0.5, -1}};
    static const char *const same[] = {"x", "x", "x"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_onnx_node n = node(cases[i].op, cases[i].n, same, OUT("y"));
        bench_open(&t, 17, &n, 1);
        expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(cases[i].first, cases[i].second));
    }
    static const char *const both[] = {"x", "n"};
    static const struct {
        const char *op;
        double first, second; /* of 0.5 and -0.5, and of -1 and 1 */
    } pairs[] = {{"Sum", 0, 0}, {"Mean", 0, 0}, {"Max", 0.5, 1}, {"Min", -0.5, -1}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const sk_onnx_node two[] = {node("Neg", NAMES("x"), OUT("n")), node(pairs[i].op, 2, both, OUT("y"))};
        bench_open(&t, 17, two, 2);
        expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(pairs[i].first, pairs[i].second));
    }
}

static double gelu(double v, bool near)
{
    return near ? v / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (v + 0.044715 * v * v * v)))
                : v / 2 * (1 + erf(v / sqrt(2.0)));
}

static void curves(void **state)
{
    (void)state;
    expect(run_one(20, "Gelu", 0, NULL), DIMS(1, 2, 2, 3), VALUES(gelu(0.5, false), gelu(-1, false)));
    expect(run_one(20, "Gelu", ATTRS(attr_text("approximate", "none"))), DIMS(1, 2, 2, 3),
           VALUES(gelu(0.5, false), gelu(-1, false)));
    expect(run_one(20, "Gelu", ATTRS(attr_text("approximate", "tanh"))), DIMS(1, 2, 2, 3),
           VALUES(gelu(0.5, true), gelu(-1, true), gelu(1.5, true), gelu(-2, true)));
    expect(run_one(17, "Softsign", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5 / 1.5, -0.5, 0.6, -2.0 / 3));
    expect(run_one(17, "Elu", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5, expm1(-1), 1.5, expm1(-2)));
    expect(run_one(17, "LeakyRelu", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5, -0.01, 1.5, -0.02));
    expect(run_one(17, "HardSigmoid", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.6, 0.3, 0.8, 0.1, 1, 0));
    expect(run_one(17, "Selu", 0, NULL), DIMS(1, 2, 2, 3),
           VALUES(0.5 * 1.0507009873554805, 1.0507009873554805 * 1.6732632423543772 * expm1(-1)));
}

static void casts_and_constants(void **state)
{
    (void)state;
    bench t;
    const int64_t one = 1;
    const sk_onnx_node like[] = {node("CastLike", NAMES("x", "w"), OUT("i")),
                                 node_with("Cast", NAMES("i"), OUT("y"), ATTRS(attr_int("to", 1)))};
    bench_open(&t, 17, like, 2);
    weight_i64(&t, "w", 1, &one);
    expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(0, -1, 1, -2, 2, -3)); /* towards 0 */
    const sk_onnx_node plus[] = {
        node_with("Constant", 0, NULL, OUT("c"), ATTRS(attr_float("value_float", 2.5f))),
        node("Add", NAMES("x", "c"), OUT("y"))};
    bench_open(&t, 17, plus, 2);
    expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(3, 1.5));
    const sk_onnx_node times[] = {
        node_with("Constant", 0, NULL, OUT("c"), ATTRS(attr_floats("value_floats", 1, 10, 100))),
        node("Mul", NAMES("x", "c"), OUT("y"))};
    bench_open(&t, 17, times, 2);
    expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(0.5, -10, 150, -2));
    const sk_onnx_node shaped[] = {
        node_with("Constant", 0, NULL, OUT("c"), ATTRS(attr_ints("value_ints", 3, 4))),
        node("Reshape", NAMES("x", "c"), OUT("y"))};
    bench_open(&t, 17, shaped, 2);
    expect(bench_run(&t), DIMS(3, 4), VALUES(0.5, -1, 1.5, -2));
}

static void scattered(void **state)
{
    (void)state;
    bench t;
    static const int64_t at[] = {2, 0};
    static const float values[] = {7, 8};
    const sk_onnx_node nodes[] = {
        node_with("Reshape", NAMES("x", "s"), OUT("flat"), 0, NULL),
        node_with("Scatter", NAMES("flat", "at", "v"), OUT("y"), ATTRS(attr_int("axis", 0)))};
    bench_open(&t, 10, nodes, 2);
    const int64_t all = 12;
    weight_i64(&t, "s", 1, &all);
    weight_i64(&t, "at", 2, at);
    bench_weight(&t, "v", SK_DTYPE_F32, 1, (int64_t[]){2}, values);
    expect(bench_run(&t), DIMS(12), VALUES(8, -1, 7, -2));
}

/* Without the last input that ONNX asks for, each is refused by its number; and with all of them that is not the reason. */
static void inputs_that_must_be_there(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        int32_t inputs;
    } all[] = {{"Abs", 1},
               {"Add", 2},
               {"And", 2},
               {"ArgMax", 1},
               {"ArgMin", 1},
               {"Atan", 1},
               {"AveragePool", 1},
               {"BatchNormalization", 5},
               {"Cast", 1},
               {"CastLike", 2},
               {"Ceil", 1},
               {"Clip", 1},
               {"Concat", 1},
               {"ConstantOfShape", 1},
               {"Conv", 2},
               {"ConvTranspose", 2},
               {"Cos", 1},
               {"CumSum", 2},
               {"DepthToSpace", 1},
               {"DequantizeLinear", 2},
               {"Div", 2},
               {"Dropout", 1},
               {"Einsum", 1},
               {"Elu", 1},
               {"Equal", 2},
               {"Erf", 1},
               {"Exp", 1},
               {"Expand", 2},
               {"EyeLike", 1},
               {"Flatten", 1},
               {"Floor", 1},
               {"Gather", 2},
               {"GatherElements", 2},
               {"GatherND", 2},
               {"Gelu", 1},
               {"Gemm", 2},
               {"GlobalAveragePool", 1},
               {"GlobalMaxPool", 1},
               {"Greater", 2},
               {"GreaterOrEqual", 2},
               {"GridSample", 2},
               {"HardSigmoid", 1},
               {"HardSwish", 1},
               {"Identity", 1},
               {"If", 1},
               {"InstanceNormalization", 3},
               {"IsInf", 1},
               {"IsNaN", 1},
               {"LayerNormalization", 2},
               {"LeakyRelu", 1},
               {"Less", 2},
               {"LessOrEqual", 2},
               {"Log", 1},
               {"LogSoftmax", 1},
               {"MatMul", 2},
               {"Max", 1},
               {"MaxPool", 1},
               {"Mean", 1},
               {"Min", 1},
               {"Mish", 1},
               {"Mod", 2},
               {"Mul", 2},
               {"Neg", 1},
               {"NonMaxSuppression", 2},
               {"NonZero", 1},
               {"Not", 1},
               {"OneHot", 3},
               {"Or", 2},
               {"PRelu", 2},
               {"Pad", 1},
               {"Pow", 2},
               {"QuantizeLinear", 2},
               {"Range", 3},
               {"Reciprocal", 1},
               {"ReduceL1", 1},
               {"ReduceL2", 1},
               {"ReduceLogSum", 1},
               {"ReduceLogSumExp", 1},
               {"ReduceMax", 1},
               {"ReduceMean", 1},
               {"ReduceMin", 1},
               {"ReduceProd", 1},
               {"ReduceSum", 1},
               {"ReduceSumSquare", 1},
               {"Relu", 1},
               {"Reshape", 2},
               {"Resize", 1},
               {"Round", 1},
               {"Scatter", 3},
               {"ScatterElements", 3},
               {"ScatterND", 3},
               {"Selu", 1},
               {"Shape", 1},
               {"Sigmoid", 1},
               {"Sign", 1},
               {"Sin", 1},
               {"Size", 1},
               {"Slice", 1},
               {"Softmax", 1},
               {"Softplus", 1},
               {"Softsign", 1},
               {"SpaceToDepth", 1},
               {"Split", 1},
               {"Sqrt", 1},
               {"Squeeze", 1},
               {"Sub", 2},
               {"Sum", 1},
               {"Tanh", 1},
               {"Tile", 2},
               {"TopK", 1},
               {"Transpose", 1},
               {"Trilu", 1},
               {"Unsqueeze", 1},
               {"Upsample", 1},
               {"Where", 3},
               {"Xor", 2}};
    static const char *const same[] = {"x", "x", "x", "x", "x"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int32_t less = 0; less < 2; less++) {
            bench t;
            char words[32];
            sk_error err = {0};
            sk_graph *graph = NULL;
            const sk_onnx_node n = node(all[i].op, all[i].inputs - less, same, OUT("y"));
            bench_open(&t, 13, &n, 1);
            const sk_status status = sk_onnx_import(t.model, "test.onnx", &graph, &err);
            snprintf(words, sizeof words, "input %d is missing", all[i].inputs - 1);
            if (less ? status != SK_ERR_FORMAT || !strstr(err.message, words)
                     : status != SK_OK && strstr(err.message, "is missing") && strstr(err.message, "input "))
                fail_msg("%s with %d inputs: %s", all[i].op, all[i].inputs - less, err.message);
            sk_graph_close(&graph);
            sk_onnx_close(&t.model);
        }
}

/* A function of the file's own takes as many inputs as it has, or fewer. */
static void functions_and_their_calls(void **state)
{
    (void)state;
    const sk_onnx_node body = node("Neg", NAMES("in"), OUT("out"));
    for (int32_t inputs = 0; inputs < 3; inputs++) {
        bench t;
        sk_error err = {0};
        sk_graph *graph = NULL;
        const sk_onnx_function f = {.domain = "mine",
                                    .name = "Act",
                                    .n_in = inputs,
                                    .n_out = 1,
                                    .n_nodes = 1,
                                    .in = (const char *const[]){"in", "more"},
                                    .out = OUT("out"),
                                    .nodes = &body};
        sk_onnx_node call = node("Act", NAMES("x"), OUT("y"));
        call.domain = "mine";
        bench_open(&t, 17, &call, 1);
        t.model->functions = &f;
        t.model->n_functions = 1;
        if (inputs) {
            expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(-0.5, 1));
            continue;
        }
        assert_int_equal(sk_onnx_import(t.model, "test.onnx", &graph, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "does not fit the file's function of that name"));
        sk_onnx_close(&t.model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infinities),
        cmocka_unit_test(reductions),
        cmocka_unit_test(sums_of_several),
        cmocka_unit_test(curves),
        cmocka_unit_test(casts_and_constants),
        cmocka_unit_test(scattered),
        cmocka_unit_test(inputs_that_must_be_there),
        cmocka_unit_test(functions_and_their_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
