/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

/* c[m][n] = a[m][k] b[k][n]; element strides allow transposed operands. acc holds n doubles. */
typedef struct matrix {
    const float *data;
    int64_t row, column; /* element strides */
} matrix;

static void multiply(matrix a, matrix b, float *c, int64_t m, int64_t n, int64_t k, double *acc)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            acc[j] = 0;
        for (int64_t l = 0; l < k; l++) {
            double v = (double)a.data[i * a.row + l * a.column];
            const float *row = b.data + l * b.row;
            if (b.column == 1)
                for (int64_t j = 0; j < n; j++)
                    acc[j] += v * (double)row[j];
            else
                for (int64_t j = 0; j < n; j++)
                    acc[j] += v * (double)row[j * b.column];
        }
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = (float)acc[j];
    }
}

sk_status sk_ref_matmul(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    sk_shape a = ins[0].shape, b = ins[1].shape, batch = outs[0].shape;
    int64_t k = a.dim[a.rank - 1];
    int64_t m = a.rank > 1 ? a.dim[a.rank - 2] : 1, n = b.rank > 1 ? b.dim[b.rank - 1] : 1;
    batch.rank -= (a.rank > 1) + (b.rank > 1);
    a.rank = a.rank > 2 ? a.rank - 2 : 0;
    b.rank = b.rank > 2 ? b.rank - 2 : 0;
    int64_t stride_a[SK_MAX_RANK], stride_b[SK_MAX_RANK], index[SK_MAX_RANK] = {0};
    sk_broadcast_strides(&a, &batch, stride_a);
    sk_broadcast_strides(&b, &batch, stride_b);
    if (sk_shape_count(&outs[0].shape) == 0)
        return SK_OK;
    double *acc = sk_calloc((size_t)n, sizeof *acc);
    if (!acc)
        return sk_fail_memory(err, (size_t)n * sizeof *acc);
    float *c = outs[0].data;
    do {
        int64_t at_a = 0, at_b = 0;
        for (int d = 0; d < batch.rank; d++) {
            at_a += index[d] * stride_a[d];
            at_b += index[d] * stride_b[d];
        }
        matrix ma = {(const float *)ins[0].data + at_a * m * k, k, 1};
        matrix mb = {(const float *)ins[1].data + at_b * k * n, n, 1};
        multiply(ma, mb, c, m, n, k, acc);
        c += m * n;
    } while (sk_index_next(index, batch.dim, batch.rank));
    sk_free(acc);
    return SK_OK;
}

sk_status sk_ref_gemm(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *c = sk_node_input(node, ins, 2);
    bool ta = node->a.gemm.transpose_a, tb = node->a.gemm.transpose_b;
    int64_t m = outs[0].shape.dim[0], n = outs[0].shape.dim[1], k = ins[0].shape.dim[ta ? 0 : 1];
    matrix a = {ins[0].data, ta ? 1 : k, ta ? m : 1}, b = {ins[1].data, tb ? 1 : n, tb ? k : 1};
    double *acc = sk_calloc((size_t)n, sizeof *acc);
    if (!acc)
        return sk_fail_memory(err, (size_t)n * sizeof *acc);
    float *out = outs[0].data;
    multiply(a, b, out, m, n, k, acc);
    sk_free(acc);
    int64_t strides[SK_MAX_RANK] = {0};
    if (c)
        sk_broadcast_strides(&c->shape, &outs[0].shape, strides);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double v = (double)node->a.gemm.alpha * (double)out[i * n + j];
            if (c)
                v += (double)node->a.gemm.beta *
                     (double)((const float *)c->data)[i * strides[0] + j * strides[1]];
            out[i * n + j] = (float)v;
        }
    return SK_OK;
}

/* Every output element is the sum over all values of the labels it lacks. */
sk_status sk_ref_einsum(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_einsum p;
    SK_TRY(sk_einsum_resolve(node, ins, &p, err));
    int64_t index[2 * SK_MAX_RANK] = {0};
    float *out = outs[0].data;
    const float *a = ins[0].data, *b = node->n_in > 1 ? ins[1].data : NULL;
    int64_t summed = 1;
    for (int i = p.n_out; i < p.n_labels; i++)
        summed *= p.size[i] > 0 ? p.size[i] : 0;
    if (sk_shape_count(&outs[0].shape) == 0)
        return SK_OK;
    do {
        double sum = 0;
        if (summed > 0) {
            do {
                int64_t at_a = 0, at_b = 0;
                for (int i = 0; i < p.n_labels; i++) {
                    at_a += index[i] * p.stride[0][i];
                    at_b += index[i] * p.stride[1][i];
                }
                sum += (double)a[at_a] * (b ? (double)b[at_b] : 1);
            } while (sk_index_next(index + p.n_out, p.size + p.n_out, p.n_labels - p.n_out));
        }
        *out++ = (float)sum;
    } while (sk_index_next(index, p.size, p.n_out));
    return SK_OK;
}
