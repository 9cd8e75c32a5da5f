/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_exporter.h"

#include <math.h>

/* Element by element, reductions and order. */

/* Functions ONNX has under one name without attributes. */
static const char *const plain_unary[SK_UNARY_COUNT] = {
    [SK_UNARY_SIGMOID] = "Sigmoid", [SK_UNARY_RELU] = "Relu",    [SK_UNARY_SOFTPLUS] = "Softplus",
    [SK_UNARY_TANH] = "Tanh",       [SK_UNARY_ERF] = "Erf",      [SK_UNARY_EXP] = "Exp",
    [SK_UNARY_LOG] = "Log",         [SK_UNARY_SQRT] = "Sqrt",    [SK_UNARY_RECIPROCAL] = "Reciprocal",
    [SK_UNARY_NEG] = "Neg",         [SK_UNARY_ABS] = "Abs",      [SK_UNARY_FLOOR] = "Floor",
    [SK_UNARY_CEIL] = "Ceil",       [SK_UNARY_ROUND] = "Round",  [SK_UNARY_SIGN] = "Sign",
    [SK_UNARY_SIN] = "Sin",         [SK_UNARY_COS] = "Cos",      [SK_UNARY_ATAN] = "Atan",
    [SK_UNARY_NOT] = "Not",         [SK_UNARY_IS_NAN] = "IsNaN",
};

/* x/2 * (1 + inner) */
static const char *half_times_one_plus(sk_exporter *e, const char *x, const char *inner, sk_dtype type,
                                       const char *out)
{
    const char *sum = sk_ex_2(e, "Add", inner, sk_ex_scalar(e, type, 1), NULL);
    const char *half = sk_ex_2(e, "Mul", x, sk_ex_scalar(e, type, 0.5), NULL);
    return sk_ex_2(e, "Mul", half, sum, out);
}

static const char *gelu_tanh(sk_exporter *e, const char *x, sk_dtype type, const char *out)
{
    const char *cube = sk_ex_2(e, "Mul", sk_ex_2(e, "Mul", x, x, NULL), x, NULL);
    const char *small = sk_ex_2(e, "Mul", cube, sk_ex_scalar(e, type, 0.044715), NULL);
    const char *inner = sk_ex_2(e, "Add", x, small, NULL);
    inner = sk_ex_2(e, "Mul", inner, sk_ex_scalar(e, type, 0.7978845608028654), NULL); /* sqrt(2 / pi) */
    return half_times_one_plus(e, x, sk_ex_1(e, "Tanh", inner, NULL), type, out);
}

static const char *hard_sigmoid(sk_exporter *e, float alpha, float beta, const char *x, const char *out)
{
    sk_onnx_attr attrs[] = {sk_ex_attr_float("alpha", alpha), sk_ex_attr_float("beta", beta)};
    return sk_ex_emit(e, "HardSigmoid", &x, 1, attrs, 2, out);
}

const char *sk_ex_unary(sk_exporter *e, int32_t kind, float alpha, float beta, const char *x, sk_dtype type,
                        const char *out)
{
    sk_onnx_attr slope = sk_ex_attr_float("alpha", alpha);
    const char *inner;
    if (kind > 0 && kind < SK_UNARY_COUNT && plain_unary[kind])
        return sk_ex_1(e, plain_unary[kind], x, out);
    switch (kind) {
    case SK_UNARY_SILU: return sk_ex_2(e, "Mul", x, sk_ex_1(e, "Sigmoid", x, NULL), out);
    case SK_UNARY_GELU:
        inner = sk_ex_2(e, "Mul", x, sk_ex_scalar(e, type, 0.7071067811865476), NULL); /* 1 / sqrt(2) */
        return half_times_one_plus(e, x, sk_ex_1(e, "Erf", inner, NULL), type, out);
    case SK_UNARY_GELU_TANH: return gelu_tanh(e, x, type, out);
    case SK_UNARY_LEAKY: return sk_ex_emit(e, "LeakyRelu", &x, 1, &slope, 1, out);
    case SK_UNARY_ELU: return sk_ex_emit(e, "Elu", &x, 1, &slope, 1, out);
    case SK_UNARY_RELU6: {
        const char *in[] = {x, sk_ex_scalar(e, type, 0), sk_ex_scalar(e, type, 6)};
        return sk_ex_emit(e, "Clip", in, 3, NULL, 0, out);
    }
    case SK_UNARY_HARD_SIGMOID: return hard_sigmoid(e, alpha, beta, x, out);
    case SK_UNARY_HARD_SWISH:
        if (e->opset >= 14)
            return sk_ex_1(e, "HardSwish", x, out);
        return sk_ex_2(e, "Mul", x, hard_sigmoid(e, 1.0f / 6, 0.5f, x, NULL), out);
    case SK_UNARY_MISH:
        inner = sk_ex_1(e, "Tanh", sk_ex_1(e, "Softplus", x, NULL), NULL);
        return sk_ex_2(e, "Mul", x, inner, out);
    default: sk_ex_fail(e, SK_ERR_UNSUPPORTED, "the function %d has no form in ONNX", kind); return "";
    }
}

void sk_export_unary(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_ex_unary(e, (int32_t)a->unary.kind, a->unary.alpha, a->unary.beta, sk_ex_in(e, 0), sk_ex_type(e, 0),
                sk_ex_out(e, 0));
}

void sk_export_binary(sk_exporter *e)
{
    static const char *const names[SK_BINARY_COUNT] = {
        [SK_BINARY_ADD] = "Add",         [SK_BINARY_SUB] = "Sub",
        [SK_BINARY_MUL] = "Mul",         [SK_BINARY_DIV] = "Div",
        [SK_BINARY_POW] = "Pow",         [SK_BINARY_MIN] = "Min",
        [SK_BINARY_MAX] = "Max",         [SK_BINARY_MOD] = "Mod",
        [SK_BINARY_FMOD] = "Mod",        [SK_BINARY_EQUAL] = "Equal",
        [SK_BINARY_LESS] = "Less",       [SK_BINARY_LESS_EQUAL] = "LessOrEqual",
        [SK_BINARY_GREATER] = "Greater", [SK_BINARY_GREATER_EQUAL] = "GreaterOrEqual",
        [SK_BINARY_AND] = "And",         [SK_BINARY_OR] = "Or",
        [SK_BINARY_XOR] = "Xor",
    };
    sk_onnx_attr fmod = sk_ex_attr_int("fmod", 1);
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1)};
    sk_ex_emit(e, names[e->node->a.binary.kind], in, 2, &fmod, e->node->a.binary.kind == SK_BINARY_FMOD,
               sk_ex_out(e, 0));
}

void sk_export_clip(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_dtype type = sk_ex_type(e, 0);
    const char *in[] = {sk_ex_in(e, 0), "", ""};
    if (!isinf(a->clip.low))
        in[1] = sk_ex_scalar(e, type, a->clip.low);
    if (!isinf(a->clip.high))
        in[2] = sk_ex_scalar(e, type, a->clip.high);
    sk_ex_emit(e, "Clip", in, 3, NULL, 0, sk_ex_out(e, 0));
}

void sk_export_cast(sk_exporter *e)
{
    sk_onnx_attr to =
        sk_ex_attr_int("to", sk_onnx_type_of(sk_onnx_written_type(e->node->a.cast.to, e->half)));
    const char *x = sk_ex_in(e, 0);
    sk_ex_emit(e, "Cast", &x, 1, &to, 1, sk_ex_out(e, 0));
}

void sk_export_axis(sk_exporter *e)
{
    static const char *const names[SK_OP_COUNT] = {
        [SK_OP_SOFTMAX] = "Softmax",
        [SK_OP_LOG_SOFTMAX] = "LogSoftmax",
        [SK_OP_CONCAT] = "Concat",
        [SK_OP_FLATTEN] = "Flatten",
        [SK_OP_GATHER] = "Gather",
        [SK_OP_GATHER_ELEMENTS] = "GatherElements",
        [SK_OP_SCATTER_ELEMENTS] = "ScatterElements",
    };
    sk_onnx_attr axis = sk_ex_attr_int("axis", e->node->a.axis);
    int n = e->node->n_in;
    const char **in = sk_arena_alloc(e->model->arena, (size_t)n * sizeof *in);
    if (!in) {
        sk_ex_fail(e, SK_ERR_MEMORY, "out of memory");
        return;
    }
    for (int i = 0; i < n; i++)
        in[i] = sk_ex_in(e, i);
    sk_ex_emit(e, names[e->node->op], in, n, &axis, 1, sk_ex_out(e, 0));
}

const char *sk_ex_reduce(sk_exporter *e, sk_reduction kind, const char *x, const int32_t *axes, int n_axes,
                         bool keep_dims, const char *out)
{
    static const char *const names[] = {
        "",           "ReduceSum", "ReduceMean", "ReduceMax",       "ReduceMin",
        "ReduceProd", "ReduceL1",  "ReduceL2",   "ReduceSumSquare", "ReduceLogSumExp",
    };
    sk_onnx_attr attrs[2] = {sk_ex_attr_int("keepdims", keep_dims)};
    const char *in[] = {x, ""};
    int n = 1;
    /* The axes are an input of ReduceSum since opset 13 and of the others since 18. */
    if (n_axes > 0 && (e->opset >= 18 || kind == SK_REDUCE_SUM)) {
        int64_t wide[SK_MAX_RANK];
        for (int i = 0; i < n_axes; i++)
            wide[i] = axes[i];
        in[1] = sk_ex_ints(e, wide, n_axes);
    } else if (n_axes > 0) {
        attrs[n++] = sk_ex_attr_ints(e, "axes", axes, n_axes);
    }
    return sk_ex_emit(e, names[kind], in, 2, attrs, n, out);
}

void sk_export_reduce(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_ex_reduce(e, a->reduce.kind, sk_ex_in(e, 0), a->reduce.axes, a->reduce.n_axes,
                 a->reduce.keep_dims != 0, sk_ex_out(e, 0));
}

void sk_export_arg(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[] = {sk_ex_attr_int("axis", a->arg.axis), sk_ex_attr_int("keepdims", a->arg.keep_dims),
                            sk_ex_attr_int("select_last_index", a->arg.select_last)};
    const char *x = sk_ex_in(e, 0);
    sk_ex_emit(e, e->node->op == SK_OP_ARG_MAX ? "ArgMax" : "ArgMin", &x, 1, attrs, 3, sk_ex_out(e, 0));
}

void sk_export_top_k(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[] = {sk_ex_attr_int("axis", a->top_k.axis),
                            sk_ex_attr_int("largest", a->top_k.largest),
                            sk_ex_attr_int("sorted", a->top_k.sorted)};
    const char *k = sk_ex_in_list(e, 1);
    if (!sk_ex_constant(e, 1).data) {
        static const int64_t one = 1; /* a computed k may be a scalar; ONNX wants a list */
        k = sk_ex_2(e, "Reshape", k, sk_ex_ints(e, &one, 1), NULL);
    }
    const char *outs[] = {sk_ex_out(e, 0), sk_ex_out(e, 1)};
    sk_ex_emit_n(e, "TopK", (const char *[]){sk_ex_in(e, 0), k}, 2, attrs, 3, outs, 2);
}

void sk_export_cum_sum(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[] = {sk_ex_attr_int("exclusive", a->cum_sum.exclusive),
                            sk_ex_attr_int("reverse", a->cum_sum.reverse)};
    sk_ex_emit(e, "CumSum", (const char *[]){sk_ex_in(e, 0), sk_ex_in(e, 1)}, 2, attrs, 2, sk_ex_out(e, 0));
}

/* Boxes, scores and thresholds are float32 by ONNX's rules, whatever the rest of the network is. */
void sk_export_nms(sk_exporter *e)
{
    sk_onnx_attr center = sk_ex_attr_int("center_point_box", e->node->a.nms.center_point_box);
    sk_onnx_attr to = sk_ex_attr_int("to", sk_onnx_type_of(SK_DTYPE_F32));
    const char *in[5];
    for (int i = 0; i < 5; i++) {
        in[i] = sk_ex_in_list(e, i);
        if (e->half && i != 2 && *in[i])
            in[i] = sk_ex_emit(e, "Cast", &in[i], 1, &to, 1, NULL);
    }
    sk_ex_emit(e, "NonMaxSuppression", in, 5, &center, 1, sk_ex_out(e, 0));
}
