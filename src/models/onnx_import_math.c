/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_importer.h"

#include <math.h>
#include <string.h>

/* Element by element, reductions and order. */

void sk_import_unary(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {.unary.kind = (sk_unary)m->op->kind};
    switch (a.unary.kind) {
    case SK_UNARY_LEAKY: a.unary.alpha = sk_im_float(m, "alpha", 0.01f); break;
    case SK_UNARY_ELU: a.unary.alpha = sk_im_float(m, "alpha", 1); break;
    case SK_UNARY_HARD_SIGMOID:
        a.unary.alpha = sk_im_float(m, "alpha", 0.2f);
        a.unary.beta = sk_im_float(m, "beta", 0.5f);
        break;
    default: break;
    }
    sk_im_out(m, 0, sk_im_node(m, SK_OP_UNARY, &a, &x, 1));
}

void sk_import_gelu(sk_importer *m)
{
    bool tanh = strcmp(sk_im_text(m, "approximate", "none"), "tanh") == 0;
    sk_im_out(m, 0, sk_im_unary(m, tanh ? SK_UNARY_GELU_TANH : SK_UNARY_GELU, sk_im_in(m, 0)));
}

/* gamma * elu(x, alpha) */
void sk_import_selu(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {
        .unary = {.kind = SK_UNARY_ELU, .alpha = sk_im_float(m, "alpha", 1.67326319217681884765625f)}};
    sk_value gamma = sk_b_f32(&m->b, sk_im_float(m, "gamma", 1.05070102214813232421875f));
    sk_im_out(m, 0, sk_im_binary(m, SK_BINARY_MUL, sk_im_node(m, SK_OP_UNARY, &a, &x, 1), gamma));
}

/* x / (1 + |x|) */
void sk_import_softsign(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_value below = sk_im_binary(m, SK_BINARY_ADD, sk_im_unary(m, SK_UNARY_ABS, x), sk_b_f32(&m->b, 1));
    sk_im_out(m, 0, sk_im_binary(m, SK_BINARY_DIV, x, below));
}

/* relu(x) - slope * relu(-x) */
void sk_import_prelu(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_value below = sk_im_unary(m, SK_UNARY_RELU, sk_im_unary(m, SK_UNARY_NEG, x));
    below = sk_im_binary(m, SK_BINARY_MUL, sk_im_in(m, 1), below);
    sk_im_out(m, 0, sk_im_binary(m, SK_BINARY_SUB, sk_im_unary(m, SK_UNARY_RELU, x), below));
}

void sk_import_is_inf(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    bool below = sk_im_int(m, "detect_negative", 1) != 0, above = sk_im_int(m, "detect_positive", 1) != 0;
    if (below && above)
        x = sk_im_unary(m, SK_UNARY_ABS, x);
    else if (!below && !above)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "asks for no infinity at all");
    sk_value limit = sk_b_f32(&m->b, above ? INFINITY : -INFINITY);
    sk_im_out(m, 0, sk_im_binary(m, SK_BINARY_EQUAL, x, limit));
}

void sk_import_binary(sk_importer *m)
{
    sk_im_out(m, 0, sk_im_binary(m, (sk_binary)m->op->kind, sk_im_in(m, 0), sk_im_in(m, 1)));
}

void sk_import_variadic(sk_importer *m)
{
    sk_binary kind = m->op->kind ? (sk_binary)m->op->kind : SK_BINARY_ADD;
    sk_value v = sk_im_in(m, 0);
    for (int i = 1; i < m->node->n_in; i++)
        v = sk_im_binary(m, kind, v, sk_im_in(m, i));
    if (m->op->kind == 0)
        v = sk_im_binary(m, SK_BINARY_MUL, v, sk_b_f32(&m->b, 1.0f / (float)m->node->n_in));
    sk_im_out(m, 0, v);
}

void sk_import_mod(sk_importer *m)
{
    sk_binary kind = sk_im_int(m, "fmod", 0) ? SK_BINARY_FMOD : SK_BINARY_MOD;
    sk_im_out(m, 0, sk_im_binary(m, kind, sk_im_in(m, 0), sk_im_in(m, 1)));
}

/* One bound of Clip from opset 11 on: constant, absent, or a value of its own. */
static sk_value clip_bound(sk_importer *m, int index, double *bound)
{
    sk_tensor tensor;
    if (!sk_im_has(m, index))
        return SK_VALUE_NONE;
    if (!sk_im_constant(m, index, &tensor))
        return sk_im_in(m, index);
    if (sk_shape_count(&tensor.shape) != 1)
        return sk_im_fail(m, SK_ERR_FORMAT, "a bound has %lld elements",
                          (long long)sk_shape_count(&tensor.shape));
    *bound = sk_tensor_at(&tensor, 0);
    return SK_VALUE_NONE;
}

void sk_import_clip(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0), low = SK_VALUE_NONE, high = SK_VALUE_NONE;
    sk_attrs a = {.clip = {.low = -INFINITY, .high = INFINITY}};
    if (m->opset < 11) {
        a.clip.low = (double)sk_im_float(m, "min", -INFINITY);
        a.clip.high = (double)sk_im_float(m, "max", INFINITY);
    } else {
        low = clip_bound(m, 1, &a.clip.low);
        high = clip_bound(m, 2, &a.clip.high);
    }
    if (low != SK_VALUE_NONE)
        x = sk_im_binary(m, SK_BINARY_MAX, x, low);
    if (!isinf(a.clip.low) || !isinf(a.clip.high))
        x = sk_im_node(m, SK_OP_CLIP, &a, &x, 1);
    if (high != SK_VALUE_NONE)
        x = sk_im_binary(m, SK_BINARY_MIN, x, high);
    sk_im_out(m, 0, x);
}

void sk_import_cast(sk_importer *m)
{
    int64_t to = sk_im_int(m, "to", 0);
    sk_dtype dtype = sk_im_dtype(to);
    if (dtype == SK_DTYPE_NONE || (dtype == SK_DTYPE_F8 && sk_im_int(m, "saturate", 1) == 0))
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "conversion to type %lld%s is not supported", (long long)to,
                   dtype == SK_DTYPE_F8 ? " without saturation" : "");
    else
        sk_im_out(m, 0, sk_im_cast(m, sk_im_in(m, 0), dtype));
}

void sk_import_cast_like(sk_importer *m)
{
    sk_value like = sk_im_in(m, 1);
    sk_dtype dtype = like != SK_VALUE_NONE ? m->b.graph->values[like].dtype : SK_DTYPE_NONE;
    if (dtype == SK_DTYPE_NONE)
        sk_im_fail(m, SK_ERR_UNSUPPORTED,
                   "the type of '%.120s' is not known here; export with plain Cast nodes", m->node->in[1]);
    else
        sk_im_out(m, 0, sk_im_cast(m, sk_im_in(m, 0), dtype));
}

void sk_import_where(sk_importer *m)
{
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in(m, 2)};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_WHERE, NULL, in, 3));
}

void sk_import_softmax(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_op op = (sk_op)m->op->kind;
    sk_attrs a = {.axis = sk_im_int32(m, "axis", m->opset < 13 ? 1 : -1)};
    if (m->opset >= 13 || a.axis == -1) {
        sk_im_out(m, 0, sk_im_node(m, op, &a, &x, 1));
        return;
    }
    /* Before opset 13 the axes from `axis` on count as one. */
    sk_attrs last = {.axis = 1};
    sk_value flat = sk_im_node(m, SK_OP_FLATTEN, &a, &x, 1);
    flat = sk_im_node(m, op, &last, &flat, 1);
    sk_value shape = sk_im_node(m, SK_OP_SHAPE, NULL, &x, 1);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_RESHAPE, NULL, (sk_value[]){flat, shape}, 2));
}

void sk_import_reduce(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    bool log_sum = m->op->kind == 0;
    sk_attrs a = {.reduce = {.kind = log_sum ? SK_REDUCE_SUM : (sk_reduction)m->op->kind,
                             .keep_dims = sk_im_int(m, "keepdims", 1) != 0}};
    int64_t axes[SK_MAX_RANK];
    bool by_input = m->opset >= 18 || (a.reduce.kind == SK_REDUCE_SUM && !log_sum && m->opset >= 13);
    int count = sk_im_ints(m, by_input ? 1 : -1, by_input ? NULL : "axes", axes, SK_MAX_RANK);
    if (count <= 0 && sk_im_int(m, "noop_with_empty_axes", 0) != 0) {
        sk_im_out(m, 0, x);
        return;
    }
    a.reduce.n_axes = count > 0 ? count : 0;
    for (int i = 0; i < count; i++) {
        if (axes[i] < -SK_MAX_RANK || axes[i] >= SK_MAX_RANK)
            sk_im_fail(m, SK_ERR_FORMAT, "axis %lld does not exist", (long long)axes[i]);
        a.reduce.axes[i] = (int32_t)axes[i];
    }
    sk_value v = sk_im_node(m, SK_OP_REDUCE, &a, &x, 1);
    sk_im_out(m, 0, log_sum ? sk_im_unary(m, SK_UNARY_LOG, v) : v);
}

void sk_import_arg(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {.arg = {.axis = sk_im_int32(m, "axis", 0),
                          .keep_dims = sk_im_int(m, "keepdims", 1) != 0,
                          .select_last = sk_im_int(m, "select_last_index", 0) != 0}};
    sk_im_out(m, 0, sk_im_node(m, (sk_op)m->op->kind, &a, &x, 1));
}

void sk_import_top_k(sk_importer *m)
{
    sk_value in[] = {sk_im_in(m, 0), SK_VALUE_NONE}, outs[2];
    sk_attrs a = {.top_k = {.axis = sk_im_int32(m, "axis", -1),
                            .largest = sk_im_int(m, "largest", 1) != 0,
                            .sorted = sk_im_int(m, "sorted", 1) != 0}};
    int64_t k = sk_im_int(m, "k", 0);
    in[1] = m->opset < 10 ? sk_b_i64s(&m->b, &k, 1) : sk_im_in_i64(m, 1);
    if (in[1] == SK_VALUE_NONE)
        sk_im_fail(m, SK_ERR_FORMAT, "the count k is missing");
    sk_im_node_n(m, SK_OP_TOP_K, &a, in, 2, outs, 2);
    sk_im_out(m, 0, outs[0]);
    sk_im_out(m, 1, outs[1]);
}

void sk_import_cum_sum(sk_importer *m)
{
    sk_attrs a = {.cum_sum = {.exclusive = sk_im_int(m, "exclusive", 0) != 0,
                              .reverse = sk_im_int(m, "reverse", 0) != 0}};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_CUM_SUM, &a, (sk_value[]){sk_im_in(m, 0), sk_im_in_i64(m, 1)}, 2));
}

void sk_import_non_zero(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_NON_ZERO, NULL, &x, 1));
}

void sk_import_non_max_suppression(sk_importer *m)
{
    sk_attrs a = {.nms = {.center_point_box = sk_im_int(m, "center_point_box", 0) != 0}};
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in_i64(m, 2), sk_im_in(m, 3), sk_im_in(m, 4)};
    int count = 5;
    while (count > 2 && in[count - 1] == SK_VALUE_NONE)
        count--;
    sk_im_out(m, 0, sk_im_node(m, SK_OP_NON_MAX_SUPPRESSION, &a, in, count));
}

/* One of the last two sizes of x, as a range 0, 1, …. */
static sk_value range_over(sk_importer *m, sk_value shape, int64_t axis)
{
    sk_attrs a = {.axis = 0};
    sk_value size = sk_im_node(m, SK_OP_GATHER, &a, (sk_value[]){shape, sk_b_i64(&m->b, axis)}, 2);
    sk_value in[] = {sk_b_i64(&m->b, 0), size, sk_b_i64(&m->b, 1)};
    return sk_im_node(m, SK_OP_RANGE, NULL, in, 3);
}

/* A triangle of a float matrix: where(column - row >= k, x, 0). */
void sk_import_trilu(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_value k = sk_im_has(m, 1) ? sk_im_in_i64(m, 1) : sk_b_i64(&m->b, 0);
    bool upper = sk_im_int(m, "upper", 1) != 0;
    int64_t last = -1;
    sk_value shape = sk_im_node(m, SK_OP_SHAPE, NULL, &x, 1);
    sk_value rows = sk_im_node(m, SK_OP_UNSQUEEZE, NULL,
                               (sk_value[]){range_over(m, shape, -2), sk_b_i64s(&m->b, &last, 1)}, 2);
    sk_value distance = sk_im_binary(m, SK_BINARY_SUB, range_over(m, shape, -1), rows);
    sk_value keep = sk_im_binary(m, upper ? SK_BINARY_GREATER_EQUAL : SK_BINARY_LESS_EQUAL, distance, k);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_WHERE, NULL, (sk_value[]){keep, x, sk_b_f32(&m->b, 0)}, 3));
}
