/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators whose attributes are left out, computed with what the standard says they are then; and what is refused of them, in
 * words. The input is .5 -1 1.5 / -2 2.5 -3 and 3.5 -4 4.5 / -5 5.5 -6. */
#include "onnx_bench.h"

/* Nodes from x to y, with the weights `w` (1 2 3 4), `two` (1 1 2 2), `pair` (2 2), `zero`, `one` and `k` (1, a whole number). */
static void open_all(bench *t, int64_t opset, const sk_onnx_node *nodes, int32_t n)
{
    bench_open(t, opset, nodes, n);
    bench_weight(t, "w", SK_DTYPE_F32, 1, (int64_t[]){4}, (float[]){1, 2, 3, 4});
    bench_weight(t, "two", SK_DTYPE_F32, 1, (int64_t[]){4}, (float[]){1, 1, 2, 2});
    bench_weight(t, "pair", SK_DTYPE_F32, 1, (int64_t[]){2}, (float[]){2, 2});
    bench_weight(t, "zero", SK_DTYPE_F32, 1, (int64_t[]){1}, (float[]){0});
    bench_weight(t, "one", SK_DTYPE_F32, 1, (int64_t[]){1}, (float[]){1});
    weight_i64(t, "k", 1, (int64_t[]){1});
    weight_i64(t, "holes", 2, (int64_t[]){0, 12});
    weight_i64(t, "whole", 2, (int64_t[]){3, 4});
    bench_weight(t, "line", SK_DTYPE_F32, 3, (int64_t[]){1, 2, 1}, (float[]){1, 1});
    bench_weight(t, "dot", SK_DTYPE_F32, 4, (int64_t[]){1, 2, 1, 1}, (float[]){1, 1});
    bench_weight(t, "each", SK_DTYPE_F32, 4, (int64_t[]){2, 1, 1, 1}, (float[]){1, 10});
    bench_weight(t, "halves", SK_DTYPE_F32, 1, (int64_t[]){2}, (float[]){0.5f, 0.5f});
    bench_weight(t, "ones", SK_DTYPE_F32, 1, (int64_t[]){2}, (float[]){1, 1});
    bench_weight(t, "none", SK_DTYPE_F32, 1, (int64_t[]){2}, (float[]){0, 0});
}

static sk_tensor run_all(int64_t opset, const sk_onnx_node *nodes, int32_t n)
{
    bench t;
    open_all(&t, opset, nodes, n);
    return bench_run(&t);
}

#define RUN(opset, ...) run_all(opset, (sk_onnx_node[]){__VA_ARGS__}, COUNT(((sk_onnx_node[]){__VA_ARGS__})))
#define AS_FLOAT        node_with("Cast", NAMES("i"), OUT("y"), ATTRS(attr_int("to", 1)))

static void axes_that_are_left_out(void **state)
{
    (void)state;
    /* of equal ones the first, unless the last is asked for */
    expect(RUN(17, node("Sub", NAMES("x", "x"), OUT("e")),
               node_with("ArgMax", NAMES("e"), OUT("i"), ATTRS(attr_int("axis", 3))), AS_FLOAT),
           DIMS(1, 2, 2, 1), VALUES(0, 0, 0, 0));
    expect(
        RUN(17, node("Sub", NAMES("x", "x"), OUT("e")),
            node_with("ArgMin", NAMES("e"), OUT("i"),
                      ATTRS(attr_int("axis", 3), attr_int("select_last_index", 1), attr_int("keepdims", 0))),
            AS_FLOAT),
        DIMS(1, 2, 2), VALUES(2, 2, 2, 2));
    expect(RUN(17, node("ArgMax", NAMES("x"), OUT("i")), AS_FLOAT), DIMS(1, 2, 2, 3), VALUES(0, 0));
    expect(RUN(17, node("ReduceMax", NAMES("x"), OUT("y"))), DIMS(1, 1, 1, 1), VALUES(5.5));
    expect(RUN(17, node("Flatten", NAMES("x"), OUT("y"))), DIMS(1, 12), VALUES(0.5, -1));
    const sk_onnx_node top = {.op = "TopK",
                              .domain = "",
                              .name = "",
                              .n_in = 2,
                              .n_out = 2,
                              .in = (const char *const[]){"x", "k"},
                              .out = (const char *const[]){"y", "at"}};
    expect(RUN(17, top), DIMS(1, 2, 2, 1), VALUES(1.5, 2.5, 4.5, 5.5)); /* the largest of each row */
    const sk_onnx_node parts = {.op = "Split",
                                .domain = "",
                                .name = "",
                                .n_in = 1,
                                .n_out = 2,
                                .in = (const char *const[]){"w"},
                                .out = (const char *const[]){"z", "y"}};
    expect(RUN(13, parts), DIMS(2), VALUES(3, 4));
    expect(RUN(17, node("CumSum", NAMES("w", "zero_i"), OUT("y")),
               node_with("Cast", NAMES("zero"), OUT("zero_i"), ATTRS(attr_int("to", 7)))),
           DIMS(4), VALUES(1, 3, 6, 10));
    expect(RUN(17, node_with("Shape", NAMES("x"), OUT("i"), ATTRS(attr_int("start", 2))), AS_FLOAT), DIMS(2),
           VALUES(2, 3));
    expect(RUN(17, node_with("Shape", NAMES("x"), OUT("i"), ATTRS(attr_int("end", 2))), AS_FLOAT), DIMS(2),
           VALUES(1, 2));
    expect(RUN(17, node("Transpose", NAMES("x"), OUT("y"))), DIMS(3, 2, 2, 1), VALUES(0.5, 3.5, -2, -5));
    expect(RUN(17, node_with("DepthToSpace", NAMES("s"), OUT("y"), ATTRS(attr_int("blocksize", 2))),
               node("Reshape", NAMES("x", "cells"), OUT("s")),
               node_with("Constant", 0, NULL, OUT("cells"), ATTRS(attr_ints("value_ints", 1, 12, 1, 1)))),
           DIMS(1, 3, 2, 2), VALUES(0.5, -2, 3.5, -5)); /* depth before columns: every third */
}

static void numbers_that_are_left_out(void **state)
{
    (void)state;
    expect(RUN(10, node_with("Pad", NAMES("x"), OUT("y"), ATTRS(attr_ints("pads", 0, 0, 0, 1, 0, 0, 0, 0)))),
           DIMS(1, 2, 2, 4), VALUES(0, 0.5, -1, 1.5, 0, -2));
    expect(RUN(17, node("BatchNormalization", NAMES("x", "ones", "none", "none", "none"), OUT("b")),
               node("Mul", NAMES("b", "small"), OUT("y")),
               node_with("Constant", 0, NULL, OUT("small"), ATTRS(attr_float("value_float", 0.0031622776f)))),
           DIMS(1, 2, 2, 3), VALUES(0.5, -1, 1.5, -2)); /* divided by the root of 1e-5 */
    expect(RUN(17, node("Trilu", NAMES("x"), OUT("y"))), DIMS(1, 2, 2, 3),
           VALUES(0.5, -1, 1.5, 0, 2.5, -3, 3.5, -4, 4.5, 0, 5.5, -6));
    expect(RUN(17, node_with("Trilu", NAMES("x"), OUT("y"), ATTRS(attr_int("upper", 0)))), DIMS(1, 2, 2, 3),
           VALUES(0.5, 0, 0, -2, 2.5, 0));
    expect(RUN(17, node("Trilu", NAMES("x", "k"), OUT("y"))), DIMS(1, 2, 2, 3), VALUES(0, -1, 1.5, 0, 0, -3));
    expect(RUN(17, node("Flatten", NAMES("x"), OUT("f")),
               node_with("Gemm", NAMES("f", "f"), OUT("y"), ATTRS(attr_int("transB", 1)))),
           DIMS(1, 1), VALUES(162.5)); /* the sum of squares, once */
    /* infinities of both signs, or of one */
    for (int which = 0; which < 3; which++) {
        const sk_onnx_node nodes[] = {
            node("Div", NAMES("x", "zero"), OUT("e")),
            node_with("IsInf", NAMES("e"), OUT("i"), which != 0,
                      (sk_onnx_attr[]){attr_int(which == 1 ? "detect_negative" : "detect_positive", 0)}),
            AS_FLOAT};
        expect(run_all(17, nodes, 3), DIMS(1, 2, 2, 3), VALUES(which != 2, which != 1, which != 2));
    }
    expect(RUN(17, node("Mod", NAMES("h", "k"), OUT("m")),
               node_with("Cast", NAMES("m"), OUT("y"), ATTRS(attr_int("to", 1))),
               node_with("Cast", NAMES("x"), OUT("h"), ATTRS(attr_int("to", 7)))),
           DIMS(1, 2, 2, 3), VALUES(0, 0, 0));
    expect(RUN(17, node_with("Constant", 0, NULL, OUT("c"), ATTRS(attr_int("value_int", 3))),
               node_with("Cast", NAMES("c"), OUT("f"), ATTRS(attr_int("to", 1))),
               node("Mul", NAMES("x", "f"), OUT("y"))),
           DIMS(1, 2, 2, 3), VALUES(1.5, -3, 4.5));
    expect(RUN(17, node("CastLike", NAMES("x", "k"), OUT("i")), AS_FLOAT), DIMS(1, 2, 2, 3),
           VALUES(0, -1, 1, -2, 2));
}

/* Bounds, factors and sizes that only a run can know. */
static void values_of_the_run(void **state)
{
    (void)state;
    const sk_onnx_node mean = node("ReduceMean", NAMES("x"), OUT("m")); /* -0.25 */
    expect(RUN(17, mean, node("Clip", NAMES("x", "m"), OUT("y"))), DIMS(1, 2, 2, 3),
           VALUES(0.5, -0.25, 1.5, -0.25, 2.5));
    expect(RUN(17, mean, node("Clip", NAMES("x", "", "m"), OUT("y"))), DIMS(1, 2, 2, 3),
           VALUES(-0.25, -1, -0.25, -2, -0.25));
    expect(RUN(17, node("Clip", NAMES("x", "zero"), OUT("y"))), DIMS(1, 2, 2, 3),
           VALUES(0.5, 0, 1.5, 0, 2.5));
    expect(RUN(17, node("Clip", NAMES("x", "", "one"), OUT("y"))), DIMS(1, 2, 2, 3),
           VALUES(0.5, -1, 1, -2, 1));
    const sk_onnx_node all = node_with("ReduceMean", NAMES("x"), OUT("m"), ATTRS(attr_int("keepdims", 0))),
                       nothing = node("Sub", NAMES("m", "m"), OUT("n")),
                       four = node("Add", NAMES("two", "n"), OUT("by")),
                       sides = node("Add", NAMES("pair", "n"), OUT("by"));
    expect(RUN(17, all, nothing, four, node("Resize", NAMES("x", "", "by"), OUT("y"))), DIMS(1, 2, 4, 6),
           VALUES(0.5, 0.5, -1, -1, 1.5, 1.5, 0.5, 0.5));
    for (int from = -2; from <= 2; from += 4) {
        const sk_onnx_node by_axes =
            node_with("Resize", NAMES("x", "", "by"), OUT("y"), ATTRS(attr_ints("axes", from, from + 1)));
        expect(RUN(18, all, nothing, sides, by_axes), DIMS(1, 2, 4, 6),
               VALUES(0.5, 0.5, -1, -1, 1.5, 1.5, 0.5, 0.5));
    }
    expect(RUN(18, node_with("Resize", NAMES("x", "", "pair"), OUT("y"), ATTRS(attr_ints("axes", 2, 3)))),
           DIMS(1, 2, 4, 6), VALUES(0.5, 0.5, -1, -1));
    expect(
        RUN(18, node_with("Resize", NAMES("x", "", "two"), OUT("y"), ATTRS(attr_ints("axes", 0, 1, 2, 3)))),
        DIMS(1, 2, 4, 6), VALUES(0.5, 0.5, -1, -1));
    expect(RUN(17, node_with("Conv", NAMES("x", "each"), OUT("y"), ATTRS(attr_int("group", 2)))),
           DIMS(1, 2, 2, 3), VALUES(0.5, -1, 1.5, -2, 2.5, -3, 35, -40));
    expect(RUN(17, node("Conv", NAMES("x", "dot"), OUT("y"))), DIMS(1, 1, 2, 3), VALUES(4, -5, 6, -7, 8, -9));
    expect(RUN(17, node_with("Reshape", NAMES("x", "whole"), OUT("y"), ATTRS(attr_int("allowzero", 1)))),
           DIMS(3, 4), VALUES(0.5, -1));
}

/* Weights in halves that do not lie at the beginning of what they lie in. */
static void halves_of_a_larger_block(void **state)
{
    (void)state;
    static const uint16_t halves[6] = {0x3c00, 0x3c00, 0x4000, 0x4200, 0x4400, 0x3800}; /* 1 1 2 3 4 0.5 */
    const sk_onnx_node add = node("Add", NAMES("x", "part"), OUT("y"));
    bench t;
    bench_open(&t, 17, &add, 1);
    bench_weight(&t, "part", SK_DTYPE_F16, 1, (int64_t[]){6}, halves);
    t.tensors[0].shape.dim[0] = 3;
    t.tensors[0].offset = 2 * sizeof *halves;
    expect(bench_run(&t), DIMS(1, 2, 2, 3), VALUES(2.5, 2, 5.5, 0, 5.5, 1));
}

static void refuse(int64_t opset, const sk_onnx_node *nodes, int32_t n, sk_status status, const char *says)
{
    bench t;
    sk_error err = {0};
    sk_graph *graph = NULL;
    open_all(&t, opset, nodes, n);
    const sk_status got = sk_onnx_import(t.model, "bad.onnx", &graph, &err);
    if (got != status || !strstr(err.message, says))
        fail_msg("\"%s\" (%d) does not say \"%s\" (%d)", err.message, got, says, status);
    assert_null(graph);
    sk_onnx_close(&t.model);
}

#define ONE(...) 17, (sk_onnx_node[]){__VA_ARGS__}, COUNT(((sk_onnx_node[]){__VA_ARGS__}))

static void what_is_refused(void **state)
{
    (void)state;
    const sk_status no = SK_ERR_UNSUPPORTED, bad = SK_ERR_FORMAT;
    refuse(
        ONE(node_with("ConvTranspose", NAMES("x", "dot"), OUT("y"), ATTRS(attr_ints("output_shape", 4, 4)))),
        no, "output_shape is not supported");
    refuse(ONE(node("Conv", NAMES("x", "line"), OUT("y"))), no, "the weights have 3 dimensions");
    refuse(ONE(node_with("Conv", NAMES("x", "dot"), OUT("y"), ATTRS(attr_ints("strides", 1, -1)))), bad,
           "strides holds -1");
    refuse(ONE(node_with("Conv", NAMES("x", "dot"), OUT("y"), ATTRS(attr_ints("strides", 1, (1 << 20) + 1)))),
           bad, "strides holds 1048577");
    refuse(ONE(node_with("Conv", NAMES("x", "dot"), OUT("y"), ATTRS(attr_text("auto_pad", "SOME")))), no,
           "auto_pad 'SOME' is unknown");
    refuse(ONE(node("MaxPool", NAMES("x"), OUT("y"))), bad, "kernel_shape is missing");
    refuse(ONE(node_with("MaxPool", NAMES("x"), OUT("y"), ATTRS(attr_ints("kernel_shape", 2, 0)))), bad,
           "kernel_shape is missing");
    refuse(ONE(node_with("Resize", NAMES("x", "", "two"), OUT("y"), ATTRS(attr_text("mode", "lanczos")))), no,
           "resize mode 'lanczos'");
    refuse(ONE(node_with("Resize", NAMES("x", "", "two"), OUT("y"), ATTRS(attr_text("nearest_mode", "any")))),
           no, "resizing by 'half_pixel' and 'any'");
    refuse(ONE(node_with("Resize", NAMES("x", "", "two"), OUT("y"),
                         ATTRS(attr_text("keep_aspect_ratio_policy", "not_larger")))),
           no, "keep_aspect_ratio_policy is not supported");
    refuse(ONE(node("Resize", NAMES("x", "", "w"), OUT("y"))), no, "only height and width can be resized");
    refuse(ONE(node("Resize", NAMES("x", "", "pair"), OUT("y"))), bad, "2 factors where 4 are needed");
    refuse(ONE(node("Resize", NAMES("x"), OUT("y"))), bad, "neither factors nor sizes are given");
    refuse(ONE(node_with("Resize", NAMES("x", "", "pair"), OUT("y"), ATTRS(attr_ints("axes", 1, 2)))), no,
           "only height and width can be resized");
    refuse(ONE(node_with("Resize", NAMES("x", "", "two"), OUT("y"), ATTRS(attr_ints("axes", 0, 1, 3, 2)))),
           no, "only height and width can be resized");
    refuse(ONE(node_with("GridSample", NAMES("x", "x"), OUT("y"), ATTRS(attr_text("mode", "bicubic")))), no,
           "sampling by 'bicubic' with padding 'zeros'");
    refuse(ONE(node_with("GridSample", NAMES("x", "x"), OUT("y"),
                         ATTRS(attr_text("padding_mode", "reflection")))),
           no, "sampling by 'bilinear' with padding 'reflection'");
    refuse(ONE(node_with("Einsum", NAMES("w", "w", "w"), OUT("y"), ATTRS(attr_text("equation", "a,a,a->a")))),
           no, "only one or two inputs");
    refuse(ONE(node_with("BatchNormalization", NAMES("x", "ones", "none", "none", "ones"), OUT("y"),
                         ATTRS(attr_int("training_mode", 1)))),
           no, "exported for training");
    refuse(ONE(node_with("BatchNormalization", NAMES("x", "ones", "none", "none", "ones"), OUT("y"),
                         ATTRS(attr_int("spatial", 0)))),
           no, "exported for training");
    refuse(ONE(node_with("Reshape", NAMES("x", "holes"), OUT("y"), ATTRS(attr_int("allowzero", 1)))), no,
           "allowzero with sizes of zero");
    refuse(ONE(node("ReduceMean", NAMES("x"), OUT("m")),
               node_with("Cast", NAMES("m"), OUT("s"), ATTRS(attr_int("to", 7))),
               node_with("Reshape", NAMES("x", "s"), OUT("y"), ATTRS(attr_int("allowzero", 1)))),
           no, "allowzero with sizes of zero");
    refuse(ONE(node_with("Transpose", NAMES("x"), OUT("y"), ATTRS(attr_ints("perm", 0, 1, 2, 2)))), bad,
           "perm is no permutation");
    refuse(ONE(node_with("Transpose", NAMES("x"), OUT("y"), ATTRS(attr_ints("perm", 0, 1, 2, 4)))), bad,
           "perm is no permutation");
    refuse(ONE(node_with("Transpose", NAMES("x"), OUT("y"), ATTRS(attr_ints("perm", 0, 1, 2, -1)))), bad,
           "perm is no permutation");
    refuse(ONE(node_with("Transpose", NAMES("x"), OUT("y"), ATTRS(attr_int("perm", 1)))), bad,
           "perm is no list of axes");
    refuse(ONE(node_with("Transpose", NAMES("x"), OUT("y"),
                         ATTRS(attr_ints("perm", 0, 1, 2, 3, 4, 5, 6, 7, 8)))),
           no, "the order of the axes is missing or has more than 8");
    refuse(ONE(node("Unsqueeze", NAMES("x"), OUT("y"))), bad, "the axes are missing");
    refuse(ONE(node("Slice", NAMES("x", "k"), OUT("y"))), bad, "starts or ends are missing");
    refuse(ONE(node("Pad", NAMES("x"), OUT("y"))), bad, "the amounts are missing");
    refuse(ONE(node_with("Pad", NAMES("x", "k"), OUT("y"), ATTRS(attr_text("mode", "wrap")))), no,
           "padding by 'wrap'");
    refuse(ONE(node_with("ScatterElements", NAMES("w", "k", "one"), OUT("y"),
                         ATTRS(attr_text("reduction", "add")))),
           no, "scattering with a reduction");
    refuse(ONE(node("TopK", NAMES("x"), OUT("y"))), bad, "the count k is missing");
    refuse(ONE(node("Clip", NAMES("x", "w"), OUT("y"))), bad, "a bound has 4 elements");
    refuse(ONE(node_with("IsInf", NAMES("x"), OUT("y"),
                         ATTRS(attr_int("detect_negative", 0), attr_int("detect_positive", 0)))),
           no, "asks for no infinity at all");
    refuse(ONE(node_with("Cast", NAMES("x"), OUT("y"), ATTRS(attr_int("to", 8)))), no,
           "conversion to type 8");
    refuse(ONE(node_with("Constant", 0, NULL, OUT("y"), ATTRS(attr_text("value_string", "a")))), no,
           "a constant that is neither numbers nor a tensor");
    refuse(ONE(node_with("ReduceMax", NAMES("x"), OUT("y"), ATTRS(attr_ints("axes", 8)))), bad,
           "axis 8 does not exist");
    refuse(ONE(node_with("ReduceMax", NAMES("x"), OUT("y"), ATTRS(attr_ints("axes", -9)))), bad,
           "axis -9 does not exist");
    refuse(ONE(node_with("EyeLike", NAMES("w"), OUT("y"), ATTRS(attr_int("dtype", 8)))), no,
           "type 8 is not supported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_that_are_left_out), cmocka_unit_test(numbers_that_are_left_out),
        cmocka_unit_test(values_of_the_run),      cmocka_unit_test(halves_of_a_larger_block),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
