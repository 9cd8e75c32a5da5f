/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx_bench.h"

/* --- forms of older and newer opsets --- */

static void reads_attribute_forms(void **state)
{
    (void)state;
    expect(run_one(9, "Slice", ATTRS(attr_ints("starts", 1), attr_ints("ends", 9), attr_ints("axes", 3))),
           DIMS(1, 2, 2, 2), VALUES(-1, 1.5, 2.5, -3));
    expect(run_one(11, "Squeeze", ATTRS(attr_ints("axes", 0))), DIMS(2, 2, 3), VALUES(0.5, -1));
    expect(run_one(11, "Unsqueeze", ATTRS(attr_ints("axes", 0, 5))), DIMS(1, 1, 2, 2, 3, 1), VALUES(0.5, -1));
    expect(run_one(11, "ReduceSum", ATTRS(attr_ints("axes", 3), attr_int("keepdims", 0))), DIMS(1, 2, 2),
           VALUES(1, -2.5, 4, -5.5));
    expect(run_one(7, "Relu", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5, 0, 1.5));
}

static void reads_old_clip_pad_topk_softmax(void **state)
{
    (void)state;
    expect(run_one(7, "Clip", ATTRS(attr_float("min", -1.5f), attr_float("max", 2))), DIMS(1, 2, 2, 3),
           VALUES(0.5, -1, 1.5, -1.5, 2, -1.5));
    expect(run_one(10, "Pad", ATTRS(attr_ints("pads", 0, 0, 0, 1, 0, 0, 0, 0), attr_float("value", 9))),
           DIMS(1, 2, 2, 4), VALUES(9, 0.5, -1, 1.5, 9, -2));
    expect(run_one(9, "TopK", ATTRS(attr_int("k", 2))), DIMS(1, 2, 2, 2), VALUES(1.5, 0.5, 2.5, -2));
    /* before opset 13 the axes from 2 on count as one: sums over 2x3 are 1 */
    bench t;
    sk_onnx_node nodes[2] = {node_with("Softmax", NAMES("x"), OUT("s"), ATTRS(attr_int("axis", 2))),
                             node_with("ReduceSum", NAMES("s"), OUT("y"), ATTRS(attr_ints("axes", 2, 3)))};
    bench_open(&t, 11, nodes, 2);
    expect(bench_run(&t), DIMS(1, 2, 1, 1), VALUES(1, 1));
    sk_onnx_node newer[2] = {node_with("Softmax", NAMES("x"), OUT("s"), ATTRS(attr_int("axis", 2))),
                             node_with("ReduceMean", NAMES("s"), OUT("y"), ATTRS(attr_ints("axes", 2)))};
    bench_open(&t, 13, newer, 2);
    expect(bench_run(&t), DIMS(1, 2, 1, 3), VALUES(0.5, 0.5, 0.5));
}

static void reads_upsample_and_resize(void **state)
{
    (void)state;
    bench t;
    const float scales[4] = {1, 1, 2, 1};
    expect(run_one(7, "Upsample", ATTRS(attr_floats("scales", 1, 1, 2, 1))), DIMS(1, 2, 4, 3),
           VALUES(0.5, -1, 1.5, 0.5, -1, 1.5, -2));
    for (int64_t opset = 9; opset <= 10; opset++) {
        sk_onnx_node n = node(opset == 9 ? "Upsample" : "Resize", NAMES("x", "s"), OUT("y"));
        bench_open(&t, opset, &n, 1);
        bench_weight(&t, "s", SK_DTYPE_F32, 1, (int64_t[]){4}, scales);
        expect(bench_run(&t), DIMS(1, 2, 4, 3), VALUES(0.5, -1, 1.5, 0.5, -1, 1.5, -2));
    }
    /* opset 18: sizes for some axes; an empty tensor stands for "left out" */
    sk_onnx_node n =
        node_with("Resize", NAMES("x", "", "none", "s"), OUT("y"),
                  ATTRS(attr_ints("axes", 2, 3), attr_text("coordinate_transformation_mode", "asymmetric"),
                        attr_text("nearest_mode", "floor")));
    bench_open(&t, 18, &n, 1);
    bench_weight(&t, "none", SK_DTYPE_F32, 1, (int64_t[]){0}, scales);
    weight_i64(&t, "s", 2, (int64_t[]){4, 3});
    expect(bench_run(&t), DIMS(1, 2, 4, 3), VALUES(0.5, -1, 1.5, 0.5, -1, 1.5, -2));
}

static void reads_pad_for_some_axes(void **state)
{
    (void)state;
    bench t;
    sk_onnx_node n = node("Pad", NAMES("x", "p", "", "a"), OUT("y"));
    bench_open(&t, 18, &n, 1);
    weight_i64(&t, "p", 4, (int64_t[]){1, 0, 0, 1}); /* before axis 3: 1; after axis 0: 1 */
    weight_i64(&t, "a", 2, (int64_t[]){-1, 0});
    expect(bench_run(&t), DIMS(2, 2, 2, 4), VALUES(0, 0.5, -1, 1.5, 0, -2));
}

static void computes_composed_operators(void **state)
{
    (void)state;
    expect(run_one(17, "Softsign", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5 / 1.5, -0.5, 0.6));
    expect(run_one(17, "Selu", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5253505, -1.1113307));
    expect(run_one(17, "Mean", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5, -1));
    expect(run_one(17, "Shape", ATTRS(attr_int("start", 1), attr_int("end", -1))), DIMS(2), VALUES(2, 2));
    expect(run_one(17, "Trilu", ATTRS(attr_int("upper", 0))), DIMS(1, 2, 2, 3),
           VALUES(0.5, 0, 0, -2, 2.5, 0));
    expect(run_one(17, "Trilu", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5, -1, 1.5, 0, 2.5, -3));
    expect(run_one(17, "Dropout", 0, NULL), DIMS(1, 2, 2, 3), VALUES(0.5, -1));
    expect(run_one(17, "GlobalMaxPool", 0, NULL), DIMS(1, 2, 1, 1), VALUES(2.5, 5.5));
    bench t;
    const float slope[2] = {0.1f, 10};
    sk_onnx_node n = node("PRelu", NAMES("x", "s"), OUT("y"));
    bench_open(&t, 17, &n, 1);
    bench_weight(&t, "s", SK_DTYPE_F32, 3, (int64_t[]){2, 1, 1}, slope);
    expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(0.5, -0.1, 1.5, -0.2, 2.5, -0.3, 3.5, -40));
}

static void reads_half_precision_as_float(void **state)
{
    (void)state;
    bench t;
    const uint16_t two = 0x4000;
    sk_onnx_node nodes[2] = {node_with("Cast", NAMES("x"), OUT("h"), ATTRS(attr_int("to", 10))),
                             node("Mul", NAMES("h", "two"), OUT("y"))};
    bench_open(&t, 17, nodes, 2);
    bench_weight(&t, "two", SK_DTYPE_F16, 0, NULL, &two);
    t.input.dtype = SK_DTYPE_F32;
    sk_tensor out = bench_run(&t);
    assert_int_equal(out.dtype, SK_DTYPE_F32);
    expect(out, DIMS(1, 2, 2, 3), VALUES(1, -2, 3));
}

/* --- order, functions, branches --- */

static void sorts_nodes(void **state)
{
    (void)state;
    bench t;
    sk_onnx_node nodes[3] = {node("Add", NAMES("a", "b"), OUT("y")), node("Neg", NAMES("a"), OUT("b")),
                             node("Abs", NAMES("x"), OUT("a"))};
    bench_open(&t, 17, nodes, 3);
    expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(0, 0, 0));
}

static void inlines_functions(void **state)
{
    (void)state;
    bench t;
    sk_onnx_attr inner_attr = {.name = "alpha", .type = SK_ONNX_FLOAT, .ref = "slope", .s = ""};
    sk_onnx_attr fallback = attr_float("slope", 0.5f), given = attr_float("slope", 0.25f);
    sk_onnx_node body[2] = {node_with("LeakyRelu", NAMES("in"), OUT("mid"), 1, &inner_attr),
                            node("Neg", NAMES("mid"), OUT("out"))};
    sk_onnx_function f = {.domain = "mine",
                          .name = "Act",
                          .n_in = 1,
                          .n_out = 1,
                          .n_nodes = 2,
                          .n_defaults = 1,
                          .in = OUT("in"),
                          .out = OUT("out"),
                          .nodes = body,
                          .defaults = &fallback};
    for (int with = 0; with < 2; with++) {
        sk_onnx_node call = node_with("Act", NAMES("x"), OUT("y"), with, &given);
        call.domain = "mine";
        bench_open(&t, 17, &call, 1);
        t.model->functions = &f;
        t.model->n_functions = 1;
        double slope = with ? 0.25 : 0.5;
        expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(-0.5, slope, -1.5, 2 * slope));
    }
}

static void takes_the_branch_that_shapes_decide(void **state)
{
    (void)state;
    bench t;
    sk_onnx_node yes_node = node("Abs", NAMES("x"), OUT("yes")), no_node = node("Neg", NAMES("x"), OUT("no"));
    sk_onnx_value yes_value = {.name = "yes"}, no_value = {.name = "no"};
    sk_onnx_graph yes = {
        .name = "t", .n_nodes = 1, .nodes = &yes_node, .n_outputs = 1, .outputs = &yes_value};
    sk_onnx_graph no = {.name = "e", .n_nodes = 1, .nodes = &no_node, .n_outputs = 1, .outputs = &no_value};
    for (int64_t wanted = 2; wanted <= 3; wanted++) {
        sk_onnx_node nodes[3] = {
            node_with("Shape", NAMES("x"), OUT("s"), ATTRS(attr_int("start", 2), attr_int("end", 3))),
            node("Equal", NAMES("s", "w"), OUT("c")),
            node_with("If", NAMES("c"), OUT("y"),
                      ATTRS(attr_graph("then_branch", &yes), attr_graph("else_branch", &no)))};
        bench_open(&t, 17, nodes, 3);
        weight_i64(&t, "w", 1, &wanted);
        double sign = wanted == 2 ? 1 : -1;
        expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(sign * 0.5, 1));
        /* with open sizes it cannot be decided */
        sk_error err;
        sk_graph *graph = NULL;
        bench_open(&t, 17, nodes, 3);
        weight_i64(&t, "w", 1, &wanted);
        t.input.shape.dim[2] = -1;
        assert_int_equal(sk_onnx_import(t.model, "test.onnx", &graph, &err), SK_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "If node 'y'"));
        sk_onnx_close(&t.model);
    }
}

/* A branch may make more than the node hands on, and not less. */
static void branches_of_several_outputs(void **state)
{
    (void)state;
    bench t;
    sk_error err;
    sk_graph *graph = NULL;
    sk_onnx_node inside[2] = {node("Abs", NAMES("x"), OUT("a")), node("Neg", NAMES("x"), OUT("b"))};
    sk_onnx_value made[2] = {{.name = "a"}, {.name = "b"}};
    sk_onnx_graph both = {.name = "t", .n_nodes = 2, .nodes = inside, .n_outputs = 2, .outputs = made};
    const sk_onnx_attr branches[] = {attr_graph("then_branch", &both), attr_graph("else_branch", &both)};
    static const char *const handed_on[] = {"y", "z"};
    const int64_t yes = 1;
    for (int less = 0; less < 2; less++) {
        sk_onnx_node nodes[2] = {node("Equal", NAMES("w", "w"), OUT("c")),
                                 node_with("If", NAMES("c"), handed_on, 2, branches)};
        nodes[1].n_out = 1 + less;
        both.n_outputs = 2 - less;
        bench_open(&t, 17, nodes, 2);
        weight_i64(&t, "w", 1, &yes);
        if (!less) {
            expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(0.5, 1));
            continue;
        }
        assert_int_equal(sk_onnx_import(t.model, "test.onnx", &graph, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "a branch is missing or has too few outputs"));
        sk_onnx_close(&t.model);
    }
}

/* Where data decide a size, the declared one is taken, and must turn out right. */
static void takes_declared_sizes(void **state)
{
    (void)state;
    for (int64_t count = 5; count <= 6; count++) {
        bench t;
        sk_error err;
        sk_graph *graph = NULL, *fixed = NULL;
        float data[12];
        sk_shape shape = {.rank = 4, .dim = {1, 2, 2, 3}};
        sk_tensor in = {SK_DTYPE_F32, shape, data}, out;
        sk_onnx_node nodes[2] = {node("Relu", NAMES("x"), OUT("r")), node("NonZero", NAMES("r"), OUT("y"))};
        fill_input(data);
        bench_open(&t, 17, nodes, 2);
        t.input.shape.dim[0] = -1;
        t.input.param[0] = "batch";
        t.output.shape =
            (sk_shape){.rank = 3, .dim = {-1, 4, count}}; /* 4 indices of 6 elements, one batch */
        for (int i = 0; i < SK_MAX_RANK; i++)
            t.output.param[i] = i == 0 ? "batch" : "";
        assert_ok(sk_onnx_import(t.model, "test.onnx", &graph, &err), &err);
        assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
        assert_true(sk_shape_equal(&fixed->values[fixed->outputs[0]].shape, &(sk_shape){3, {1, 4, count}}));
        assert_int_equal(sk_reference_run(fixed, &in, 1, &out, 1, &err),
                         count == 6 ? SK_OK : SK_ERR_MISMATCH);
        if (count == 6)
            sk_free(out.data);
        sk_graph_close(&fixed);
        sk_graph_close(&graph);
        sk_onnx_close(&t.model);
    }
}

/* --- errors --- */

static void expect_error(const sk_onnx_node *nodes, int32_t n, int64_t opset, sk_status status,
                         const char *says)
{
    bench t;
    sk_error err = {0};
    sk_graph *graph = NULL;
    bench_open(&t, opset, nodes, n);
    bench_weight(&t, "w", SK_DTYPE_F32, 4, (int64_t[]){1, 2, 1, 1}, (float[]){1, 1});
    assert_int_equal(sk_onnx_import(t.model, "bad.onnx", &graph, &err), status);
    assert_null(graph);
    if (!strstr(err.message, says) || !strstr(err.message, "bad.onnx"))
        fail_msg("\"%s\" does not say \"%s\" of bad.onnx", err.message, says);
    sk_onnx_close(&t.model);
}

static void explains_bad_graphs(void **state)
{
    (void)state;
    sk_onnx_node cycle[2] = {node("Neg", NAMES("b"), OUT("y")), node("Add", NAMES("y", "x"), OUT("b"))};
    expect_error(cycle, 2, 17, SK_ERR_FORMAT, "cycle");
    sk_onnx_node missing = node("Neg", NAMES("nowhere"), OUT("y"));
    expect_error(&missing, 1, 17, SK_ERR_FORMAT, "'nowhere' is made by no node");
    sk_onnx_node twice[2] = {node("Neg", NAMES("x"), OUT("y")), node("Abs", NAMES("x"), OUT("y"))};
    expect_error(twice, 2, 17, SK_ERR_FORMAT, "made twice");
    sk_onnx_node shadow[2] = {node("Neg", NAMES("x"), OUT("w")), node("Abs", NAMES("w"), OUT("y"))};
    expect_error(shadow, 2, 17, SK_ERR_FORMAT, "made twice");
    sk_onnx_node no_output = node("Neg", NAMES("x"), OUT("z"));
    expect_error(&no_output, 1, 17, SK_ERR_FORMAT, "output 'y' is made by no node");
    sk_onnx_node arity = node("Add", NAMES("x"), OUT("y"));
    expect_error(&arity, 1, 17, SK_ERR_FORMAT, "input 1 is missing");
    sk_onnx_node mask[2] = {{.op = "Dropout",
                             .domain = "",
                             .name = "d",
                             .n_in = 1,
                             .n_out = 2,
                             .in = OUT("x"),
                             .out = (const char *const[]){"z", "mask"}},
                            node("Not", NAMES("mask"), OUT("y"))};
    expect_error(mask, 2, 17, SK_ERR_UNSUPPORTED, "does not compute");
    sk_onnx_node kernel =
        node_with("Conv", NAMES("x", "w"), OUT("y"), ATTRS(attr_ints("kernel_shape", 3, 3)));
    expect_error(&kernel, 1, 17, SK_ERR_MISMATCH, "the weights have 1");
    sk_onnx_node line = node_with("MaxPool", NAMES("x"), OUT("y"), ATTRS(attr_ints("kernel_shape", 3)));
    expect_error(&line, 1, 17, SK_ERR_UNSUPPORTED, "two dimensions");
    sk_onnx_node axes = node("ReduceSum", NAMES("x", "x"), OUT("y"));
    expect_error(&axes, 1, 17, SK_ERR_UNSUPPORTED, "known before the network runs");
}

static void names_what_is_not_supported(void **state)
{
    (void)state;
    sk_onnx_node quantised = node("QLinearConv", NAMES("x"), OUT("y"));
    expect_error(&quantised, 1, 17, SK_ERR_UNSUPPORTED, "quantised");
    sk_onnx_node loop = node("Loop", NAMES("x"), OUT("y"));
    expect_error(&loop, 1, 17, SK_ERR_UNSUPPORTED, "loops");
    sk_onnx_node foreign = node("FusedConv", NAMES("x"), OUT("y"));
    foreign.domain = "com.microsoft";
    expect_error(&foreign, 1, 17, SK_ERR_UNSUPPORTED, "com.microsoft.FusedConv");
    sk_onnx_node fine = node("Neg", NAMES("x"), OUT("y"));
    expect_error(&fine, 1, 6, SK_ERR_UNSUPPORTED, "operator set 6");
    expect_error(&fine, 1, 99, SK_ERR_UNSUPPORTED, "operator set 99");
}

/* x, kept in eight bits and read again. */
static void reads_quantised_values(void **state)
{
    (void)state;
    bench t;
    sk_onnx_node nodes[2] = {
        node_with("QuantizeLinear", NAMES("x", "s", "z"), OUT("q"), ATTRS(attr_int("axis", 1))),
        node_with("DequantizeLinear", NAMES("q", "s", "z"), OUT("y"), ATTRS(attr_int("axis", 1)))};
    bench_open(&t, 17, nodes, 2);
    bench_weight(&t, "s", SK_DTYPE_F32, 1, (int64_t[]){2}, (float[]){1, 0.03125f});
    bench_weight(&t, "z", SK_DTYPE_I8, 1, (int64_t[]){2}, (int8_t[]){-1, 100});
    expect(bench_run(&t), DIMS(1, 2, 2, 3),
           VALUES(0, -1, 2, -2, 2, -3, 0.84375, -4, 0.84375, -5, 0.84375, -6));
}

/* The same in fp8: each number the nearest of e4m3 times its scale; the type by a zero point, or by the attribute. */
static void reads_values_in_fp8(void **state)
{
    (void)state;
    for (int by_attribute = 0; by_attribute < 2; by_attribute++) {
        bench t;
        sk_onnx_node nodes[2] = {by_attribute ? node_with("QuantizeLinear", NAMES("x", "s"), OUT("q"),
                                                          ATTRS(attr_int("output_dtype", 17)))
                                              : node("QuantizeLinear", NAMES("x", "s", "z"), OUT("q")),
                                 node("DequantizeLinear", NAMES("q", "s", "z"), OUT("y"))};
        bench_open(&t, by_attribute ? 21 : 19, nodes, 2);
        bench_weight(&t, "s", SK_DTYPE_F32, 1, (int64_t[]){2}, (float[]){1, 0.0078125f});
        bench_weight(&t, "z", SK_DTYPE_F8, 1, (int64_t[]){2}, (uint8_t[]){0, 0});
        /* x is 0.5, -1, 1.5 … -6; the second channel ends at 448 / 128 */
        expect(bench_run(&t), DIMS(1, 2, 2, 3),
               VALUES(0.5, -1, 1.5, -2, 2.5, -3, 3.5, -3.5, 3.5, -3.5, 3.5, -3.5));
    }
    sk_onnx_node cast =
        node_with("Cast", NAMES("x"), OUT("y"), ATTRS(attr_int("to", 17), attr_int("saturate", 0)));
    expect_error(&cast, 1, 19, SK_ERR_UNSUPPORTED, "without saturation");
}

static void expect_bad_scale(const char *op, sk_dtype dtype, const void *zero, float scale, const char *says)
{
    bench t;
    sk_error err = {0};
    sk_graph *graph = NULL;
    sk_onnx_node n = node(op, NAMES("x", "s", "z"), OUT("y"));
    n.name = "hostile";
    bench_open(&t, 17, &n, 1);
    bench_weight(&t, "s", SK_DTYPE_F32, 0, NULL, &scale);
    bench_weight(&t, "z", dtype, 0, NULL, zero);
    assert_int_not_equal(sk_onnx_import(t.model, "bad.onnx", &graph, &err), SK_OK);
    if (!strstr(err.message, says) || !strstr(err.message, "bad.onnx") || !strstr(err.message, "hostile"))
        fail_msg("\"%s\" does not say \"%s\" of hostile in bad.onnx", err.message, says);
    sk_onnx_close(&t.model);
}

static void refuses_hostile_scales(void **state)
{
    (void)state;
    static const uint8_t zero = 3;
    static const float wrong = 3;
    const struct {
        float scale;
        const char *says;
    } bad[] = {{0, "scale 0 is 0"},          {-0.0f, "scale 0 is -0"},
               {-1, "scale 0 is -1"},        {NAN, "nan"},
               {INFINITY, "scale 0 is inf"}, {-INFINITY, "scale 0 is -inf"},
               {3e38f, "scale 0 is 3e+38"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_bad_scale("QuantizeLinear", SK_DTYPE_U8, &zero, bad[i].scale, bad[i].says);
        expect_bad_scale("DequantizeLinear", SK_DTYPE_U8, &zero, bad[i].scale, bad[i].says);
        expect_bad_scale("QuantizeLinear", SK_DTYPE_F8, "", bad[i].scale, bad[i].says);
    }
    expect_bad_scale("QuantizeLinear", SK_DTYPE_F8, &zero, 1, "of f8 it must be 0");
    expect_bad_scale("QuantizeLinear", SK_DTYPE_F32, &wrong, 1, "u8, i8 and f8 are possible");
    sk_onnx_node computed = node("QuantizeLinear", NAMES("x", "x"), OUT("y"));
    expect_error(&computed, 1, 17, SK_ERR_UNSUPPORTED, "scale must be known");
    sk_onnx_node list = node("QuantizeLinear", NAMES("x", "w"), OUT("y"));
    expect_error(&list, 1, 17, SK_ERR_UNSUPPORTED, "a list of them");
    sk_onnx_node blocks =
        node_with("QuantizeLinear", NAMES("x", "x"), OUT("y"), ATTRS(attr_int("block_size", 8)));
    expect_error(&blocks, 1, 21, SK_ERR_UNSUPPORTED, "known before");
}

/* Functions that call themselves, and functions that double 24 times. */
static void bounds_inlining(void **state)
{
    (void)state;
    bench t;
    sk_error err;
    sk_graph *graph = NULL;
    static sk_onnx_function f[24];
    static sk_onnx_node body[24][2], call;
    static char names[25][8];
    static const char *const a[] = {"a"}, *const mid[] = {"b"}, *const c[] = {"c"};
    for (int i = 0; i < 24; i++) {
        snprintf(names[i], sizeof names[i], "f%d", i);
        snprintf(names[i + 1], sizeof names[i + 1], "f%d", i + 1);
        body[i][0] = node(i == 23 ? "Neg" : names[i + 1], 1, a, mid);
        body[i][1] = node(i == 23 ? "Neg" : names[i + 1], 1, mid, c);
        f[i] = (sk_onnx_function){.domain = "",
                                  .name = names[i],
                                  .n_in = 1,
                                  .n_out = 1,
                                  .n_nodes = 2,
                                  .in = a,
                                  .out = c,
                                  .nodes = body[i]};
    }
    call = node("f0", NAMES("x"), OUT("y"));
    bench_open(&t, 17, &call, 1);
    t.model->functions = f;
    t.model->n_functions = 24;
    assert_int_equal(sk_onnx_import(t.model, "many.onnx", &graph, &err), SK_ERR_LIMIT);
    body[0][0].op = "f0";
    assert_int_equal(sk_onnx_import(t.model, "self.onnx", &graph, &err), SK_ERR_LIMIT);
    sk_onnx_close(&t.model);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    bench t;
    sk_error err;
    sk_graph *graph = NULL;
    sk_onnx_node nodes[3] = {node("Add", NAMES("a", "b"), OUT("y")), node("Neg", NAMES("a"), OUT("b")),
                             node("Mul", NAMES("x", "w"), OUT("a"))};
    bench_open(&t, 17, nodes, 3);
    bench_weight(&t, "w", SK_DTYPE_F16, 1, (int64_t[]){1}, &(uint16_t){0x4000});
    int64_t before = sk_memory_live_bytes();
    size_t n = 1;
    for (;; n++) {
        sk_memory_fail_nth(n);
        sk_status status = sk_onnx_import(t.model, "m.onnx", &graph, &err);
        sk_memory_fail_nth(0);
        if (status == SK_OK)
            break;
        assert_null(graph);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    assert_true(n > 5);
    sk_graph_close(&graph);
    sk_onnx_close(&t.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_attribute_forms),
        cmocka_unit_test(reads_old_clip_pad_topk_softmax),
        cmocka_unit_test(reads_upsample_and_resize),
        cmocka_unit_test(reads_pad_for_some_axes),
        cmocka_unit_test(computes_composed_operators),
        cmocka_unit_test(reads_half_precision_as_float),
        cmocka_unit_test(sorts_nodes),
        cmocka_unit_test(inlines_functions),
        cmocka_unit_test(takes_the_branch_that_shapes_decide),
        cmocka_unit_test(branches_of_several_outputs),
        cmocka_unit_test(takes_declared_sizes),
        cmocka_unit_test(explains_bad_graphs),
        cmocka_unit_test(names_what_is_not_supported),
        cmocka_unit_test(reads_quantised_values),
        cmocka_unit_test(reads_values_in_fp8),
        cmocka_unit_test(refuses_hostile_scales),
        cmocka_unit_test(bounds_inlining),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
