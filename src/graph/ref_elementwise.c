/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <math.h>
#include <string.h>

double sk_ref_activate(int kind, double alpha, double beta, double x)
{
    switch (kind) {
    /* exp of a negative number only: never overflows, keeps small results exact */
    case SK_UNARY_SIGMOID: return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
    case SK_UNARY_SILU: return x * sk_ref_activate(SK_UNARY_SIGMOID, 0, 0, x);
    case SK_UNARY_RELU: return x < 0 ? 0 : x;
    case SK_UNARY_GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
    case SK_UNARY_GELU_TANH: return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case SK_UNARY_LEAKY: return x < 0 ? alpha * x : x;
    case SK_UNARY_ELU: return x < 0 ? alpha * expm1(x) : x;
    case SK_UNARY_RELU6: return x < 0 ? 0 : x > 6 ? 6 : x;
    case SK_UNARY_HARD_SIGMOID: {
        double v = alpha * x + beta;
        return v < 0 ? 0 : v > 1 ? 1 : v;
    }
    case SK_UNARY_HARD_SWISH: {
        double v = x / 6 + 0.5;
        return x * (v < 0 ? 0 : v > 1 ? 1 : v);
    }
    case SK_UNARY_MISH: return x * tanh(sk_ref_activate(SK_UNARY_SOFTPLUS, 0, 0, x));
    case SK_UNARY_SOFTPLUS: return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case SK_UNARY_TANH: return tanh(x);
    case SK_UNARY_ERF: return erf(x);
    case SK_UNARY_EXP: return exp(x);
    case SK_UNARY_LOG: return log(x);
    case SK_UNARY_SQRT: return sqrt(x);
    case SK_UNARY_RECIPROCAL: return 1 / x;
    case SK_UNARY_NEG: return -x;
    case SK_UNARY_ABS: return fabs(x);
    case SK_UNARY_FLOOR: return floor(x);
    case SK_UNARY_CEIL: return ceil(x);
    case SK_UNARY_ROUND: return nearbyint(x);
    case SK_UNARY_SIGN: return x > 0 ? 1 : x < 0 ? -1 : x;
    case SK_UNARY_SIN: return sin(x);
    case SK_UNARY_COS: return cos(x);
    case SK_UNARY_ATAN: return atan(x);
    default: return x;
    }
}

/* What whole numbers can do; the rest is refused by inference. */
static int64_t unary_integer(sk_unary kind, int64_t x)
{
    switch (kind) {
    case SK_UNARY_NOT: return x == 0;
    case SK_UNARY_NEG: return (int64_t)(0 - (uint64_t)x);
    case SK_UNARY_ABS: return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
    case SK_UNARY_SIGN: return (x > 0) - (x < 0);
    case SK_UNARY_RELU: return x < 0 ? 0 : x;
    default: return x;
    }
}

sk_status sk_ref_unary(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    int64_t n = sk_shape_count(&ins[0].shape);
    sk_unary kind = node->a.unary.kind;
    double alpha = (double)node->a.unary.alpha, beta = (double)node->a.unary.beta;
    if (kind == SK_UNARY_IS_NAN) {
        int64_t *y = outs[0].data; /* bool as i64 */
        for (int64_t i = 0; i < n; i++)
            y[i] = isnan(sk_tensor_at(&ins[0], i));
    } else if (ins[0].dtype == SK_DTYPE_F32) {
        const float *x = ins[0].data;
        float *y = outs[0].data;
        for (int64_t i = 0; i < n; i++)
            y[i] = (float)sk_ref_activate((int)kind, alpha, beta, (double)x[i]);
    } else if (ins[0].dtype == SK_DTYPE_F64) {
        const double *x = ins[0].data;
        double *y = outs[0].data;
        for (int64_t i = 0; i < n; i++)
            y[i] = sk_ref_activate((int)kind, alpha, beta, x[i]);
    } else {
        const int64_t *x = ins[0].data;
        int64_t *y = outs[0].data;
        for (int64_t i = 0; i < n; i++)
            y[i] = unary_integer(kind, x[i]);
    }
    return SK_OK;
}

sk_status sk_ref_clip(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    int64_t n = sk_shape_count(&ins[0].shape);
    double low = node->a.clip.low, high = node->a.clip.high;
    if (ins[0].dtype == SK_DTYPE_F32 || ins[0].dtype == SK_DTYPE_F64) {
        for (int64_t i = 0; i < n; i++) {
            double v = sk_tensor_at(&ins[0], i);
            v = v < low ? low : v;
            v = v > high ? high : v;
            if (ins[0].dtype == SK_DTYPE_F32)
                ((float *)outs[0].data)[i] = (float)v;
            else
                ((double *)outs[0].data)[i] = v;
        }
        return SK_OK;
    }
    int64_t limits[2];
    sk_convert(SK_DTYPE_F64, (double[]){low, high}, SK_DTYPE_I64, limits, 2); /* saturates the infinities */
    const int64_t *x = ins[0].data;
    int64_t *y = outs[0].data;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = x[i] < limits[0] ? limits[0] : x[i];
        y[i] = v > limits[1] ? limits[1] : v;
    }
    return SK_OK;
}

sk_status sk_ref_cast(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    sk_convert(ins[0].dtype, ins[0].data, outs[0].dtype, outs[0].data, (size_t)sk_shape_count(&ins[0].shape));
    return SK_OK;
}

/* --- two inputs --- */

static double modulo(double a, double b) /* the sign of the divisor */
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double binary_float(sk_binary kind, double a, double b)
{
    switch (kind) {
    case SK_BINARY_ADD: return a + b;
    case SK_BINARY_SUB: return a - b;
    case SK_BINARY_MUL: return a * b;
    case SK_BINARY_DIV: return a / b;
    case SK_BINARY_POW: return pow(a, b);
    case SK_BINARY_MIN: return isnan(a) || a < b ? a : b;
    case SK_BINARY_MAX: return isnan(a) || a > b ? a : b;
    case SK_BINARY_MOD: return modulo(a, b);
    case SK_BINARY_FMOD: return fmod(a, b);
    case SK_BINARY_EQUAL: return a == b;
    case SK_BINARY_LESS: return a < b;
    case SK_BINARY_LESS_EQUAL: return a <= b;
    case SK_BINARY_GREATER: return a > b;
    case SK_BINARY_GREATER_EQUAL: return a >= b;
    default: return 0;
    }
}

/* By squaring; overflow wraps. Negative exponents leave 0 except for bases 1 and -1. */
static int64_t power(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, factor = (uint64_t)base;
    for (uint64_t e = (uint64_t)exponent; e; e >>= 1) {
        if (e & 1)
            result *= factor;
        factor *= factor;
    }
    return (int64_t)result;
}

/* Division by zero is refused by the caller; the one overflowing quotient wraps. */
static int64_t binary_integer(sk_binary kind, int64_t a, int64_t b)
{
    switch (kind) {
    case SK_BINARY_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case SK_BINARY_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case SK_BINARY_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case SK_BINARY_DIV: return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
    case SK_BINARY_POW: return power(a, b);
    case SK_BINARY_MIN: return a < b ? a : b;
    case SK_BINARY_MAX: return a > b ? a : b;
    case SK_BINARY_MOD: {
        int64_t r = b == -1 ? 0 : a % b;
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case SK_BINARY_FMOD: return b == -1 ? 0 : a % b;
    case SK_BINARY_EQUAL: return a == b;
    case SK_BINARY_LESS: return a < b;
    case SK_BINARY_LESS_EQUAL: return a <= b;
    case SK_BINARY_GREATER: return a > b;
    case SK_BINARY_GREATER_EQUAL: return a >= b;
    case SK_BINARY_AND: return a && b;
    case SK_BINARY_OR: return a || b;
    case SK_BINARY_XOR: return (a != 0) != (b != 0);
    default: return 0;
    }
}

/* One row of the output. Strides are 0 or 1 element (or any, where an input is not stretched there). */
static bool binary_row(sk_binary kind, const sk_tensor *ins, const int64_t *at, const int64_t *step,
                       sk_tensor *out, int64_t to, int64_t n)
{
    if (ins[0].dtype == SK_DTYPE_I64 && ins[1].dtype == SK_DTYPE_I64) {
        const int64_t *a = (const int64_t *)ins[0].data + at[0], *b = (const int64_t *)ins[1].data + at[1];
        int64_t *y = (int64_t *)out->data + to;
        bool divides = kind == SK_BINARY_DIV || kind == SK_BINARY_MOD || kind == SK_BINARY_FMOD;
        for (int64_t i = 0; i < n; i++) {
            if (divides && b[i * step[1]] == 0)
                return false;
            y[i] = binary_integer(kind, a[i * step[0]], b[i * step[1]]);
        }
        return true;
    }
    if (ins[0].dtype == SK_DTYPE_F32 && ins[1].dtype == SK_DTYPE_F32 && out->dtype == SK_DTYPE_F32) {
        const float *a = (const float *)ins[0].data + at[0], *b = (const float *)ins[1].data + at[1];
        float *y = (float *)out->data + to;
        for (int64_t i = 0; i < n; i++)
            y[i] = (float)binary_float(kind, (double)a[i * step[0]], (double)b[i * step[1]]);
        return true;
    }
    for (int64_t i = 0; i < n; i++) { /* f64, comparisons, powers of mixed type */
        double v = binary_float(kind, sk_tensor_at(&ins[0], at[0] + i * step[0]),
                                sk_tensor_at(&ins[1], at[1] + i * step[1]));
        sk_convert(SK_DTYPE_F64, &v, out->dtype,
                   (char *)out->data + (size_t)(to + i) * sk_dtype_bytes(out->dtype), 1);
    }
    return true;
}

sk_status sk_ref_binary(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_shape out = outs[0].shape;
    int64_t strides[2][SK_MAX_RANK], index[SK_MAX_RANK] = {0}, last[2] = {0, 0}, to = 0;
    if (sk_shape_count(&out) == 0)
        return SK_OK;
    for (int i = 0; i < 2; i++) {
        sk_broadcast_strides(&ins[i].shape, &out, strides[i]);
        if (out.rank)
            last[i] = strides[i][out.rank - 1];
    }
    int64_t n = out.rank ? out.dim[out.rank - 1] : 1;
    int rows = out.rank ? out.rank - 1 : 0;
    do {
        int64_t at[2] = {0, 0};
        for (int d = 0; d < rows; d++) {
            at[0] += index[d] * strides[0][d];
            at[1] += index[d] * strides[1][d];
        }
        if (!binary_row(node->a.binary.kind, ins, at, last, &outs[0], to, n))
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "an integer is divided by zero");
        to += n;
    } while (sk_index_next(index, out.dim, rows));
    return SK_OK;
}

sk_status sk_ref_where(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    const sk_shape *out = &outs[0].shape;
    int64_t strides[3][SK_MAX_RANK], index[SK_MAX_RANK] = {0};
    size_t each = sk_dtype_bytes(outs[0].dtype);
    unsigned char *to = outs[0].data;
    if (sk_shape_count(out) == 0)
        return SK_OK;
    for (int i = 0; i < 3; i++)
        sk_broadcast_strides(&ins[i].shape, out, strides[i]);
    do {
        int64_t at[3] = {0, 0, 0};
        for (int d = 0; d < out->rank; d++)
            for (int i = 0; i < 3; i++)
                at[i] += index[d] * strides[i][d];
        int from = ((const uint8_t *)ins[0].data)[at[0]] ? 1 : 2;
        memcpy(to, (const unsigned char *)ins[from].data + (size_t)at[from] * each, each);
        to += each;
    } while (sk_index_next(index, out->dim, out->rank));
    return SK_OK;
}
