/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/infer.h"

#include <stdio.h>
#include <string.h>

/* Operations on dense tensors: what surrounds the network proper (decode tails, classifiers), by simple kernels. What is
 * not known here is run by the reference executor on the host. */

static bool all_f32(const gpu_plan *plan, const sk_node *node)
{
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE && plan->graph->values[node->in[i]].dtype != SK_DTYPE_F32)
            return false;
    for (int32_t i = 0; i < node->n_out; i++)
        if (plan->graph->values[node->out[i]].dtype != SK_DTYPE_F32)
            return false;
    return true;
}

static void strides_of(const sk_shape *s, int64_t *stride)
{
    int64_t step = 1;
    for (int32_t k = s->rank - 1; k >= 0; k--) {
        stride[k] = step;
        step *= s->dim[k];
    }
}

static void broadcast(const sk_shape *s, const sk_shape *y, int64_t *stride)
{
    int64_t step = 1;
    for (int32_t k = y->rank - 1; k >= 0; k--) {
        const int32_t own = k - (y->rank - s->rank);
        const int64_t d = own >= 0 ? s->dim[own] : 1;
        stride[k] = d == 1 ? 0 : step;
        step *= d;
    }
}

/* A step over dense values: out, then the inputs, in order. */
static sk_status add_dense(gpu_plan *plan, gpu_kind kind, const sk_node *node, sk_value out,
                           const sk_value *in, int32_t n_in, gpu_step **step, sk_error *err)
{
    gpu_ref refs[GPU_MAX_POINTERS];
    for (int32_t i = 0; i < n_in; i++) {
        refs[i] = (gpu_ref){.buffer = GPU_NO_BUFFER};
        if (in[i] != SK_VALUE_NONE)
            SK_TRY(gpu_dense_ref(plan, in[i], &refs[i], err));
    }
    SK_TRY(gpu_make_dense(plan, out, err));
    SK_TRY(gpu_add_step(plan, kind, node, step, err));
    (*step)->refs[0] = (gpu_ref){.buffer = plan->values[out].dense};
    for (int32_t i = 0; i < n_in; i++)
        (*step)->refs[1 + i] = refs[i];
    (*step)->n_refs = 1 + n_in;
    snprintf((*step)->kernel, sizeof(*step)->kernel, "%s", node ? sk_op_name(node->op) : "dense");
    sk_shape_text(gpu_shape(plan, out), (*step)->shape, sizeof(*step)->shape);
    return SK_OK;
}

static sk_status build_elementwise(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *y = gpu_shape(plan, node->out[0]);
    const int32_t n_in = node->op == SK_OP_BINARY ? 2 : node->op == SK_OP_WHERE ? 3 : 1;
    const gpu_kind kind = node->op == SK_OP_BINARY  ? GPU_ND_BINARY
                          : node->op == SK_OP_WHERE ? GPU_ND_WHERE
                          : node->op == SK_OP_CLIP  ? GPU_ND_CLIP
                                                    : GPU_ND_UNARY;
    gpu_step *step;
    if (node->op == SK_OP_WHERE)
        *done = plan->graph->values[node->in[0]].dtype == SK_DTYPE_BOOL &&
                plan->graph->values[node->in[1]].dtype == SK_DTYPE_F32 &&
                plan->graph->values[node->in[2]].dtype == SK_DTYPE_F32;
    else
        *done = all_f32(plan, node) && (node->op != SK_OP_BINARY || node->a.binary.kind <= SK_BINARY_MAX) &&
                (node->op != SK_OP_UNARY || node->a.unary.kind <= SK_UNARY_ATAN);
    *done = *done && sk_shape_count(y) > 0;
    if (!*done)
        return SK_OK;
    SK_TRY(add_dense(plan, kind, node, node->out[0], node->in, n_in, &step, err));
    gpu_nd_args *a = &step->args.nd;
    *a = (gpu_nd_args){.count = sk_shape_count(y), .rank = y->rank};
    strides_of(y, a->so);
    int64_t *strides[3] = {a->sa, a->sb, a->sc};
    for (int32_t i = 0; i < n_in; i++)
        broadcast(gpu_shape(plan, node->in[i]), y, strides[i]);
    for (int32_t k = 0; k < y->rank; k++)
        a->dims[k] = y->dim[k];
    if (node->op == SK_OP_UNARY) {
        a->op = (int32_t)node->a.unary.kind;
        a->alpha = node->a.unary.alpha;
        a->beta = node->a.unary.beta;
    } else if (node->op == SK_OP_BINARY) {
        a->op = (int32_t)node->a.binary.kind;
    } else if (node->op == SK_OP_CLIP) {
        a->low = node->a.clip.low;
        a->high = node->a.clip.high;
    }
    return SK_OK;
}

/* --- moving elements --- */

static sk_status add_box(gpu_plan *plan, const sk_node *node, sk_value from, int64_t from_start,
                         const int64_t *from_stride, sk_value to, int64_t to_start, const int64_t *to_stride,
                         const sk_shape *box, sk_error *err)
{
    const size_t bytes = sk_dtype_bytes(plan->graph->values[from].dtype);
    gpu_step *step;
    SK_TRY(add_dense(plan, GPU_ND_COPY, node, to, &from, 1, &step, err));
    gpu_nd_args *a = &step->args.nd;
    *a = (gpu_nd_args){.count = sk_shape_count(box), .rank = box->rank, .bytes = (int32_t)bytes};
    for (int32_t k = 0; k < box->rank; k++) {
        a->dims[k] = box->dim[k];
        a->sa[k] = from_stride[k];
        a->so[k] = to_stride[k];
    }
    step->refs[0].offset += (size_t)to_start * bytes;
    step->refs[1].offset += (size_t)from_start * bytes;
    return SK_OK;
}

static sk_status build_parts(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const bool concat = node->op == SK_OP_CONCAT;
    const sk_value whole = concat ? node->out[0] : node->in[0];
    const int32_t rank = gpu_shape(plan, whole)->rank, n = concat ? node->n_in : node->n_out;
    int32_t axis = concat ? node->a.axis : node->a.split.axis;
    int64_t large[SK_MAX_RANK], small[SK_MAX_RANK], at = 0;
    axis += axis < 0 ? rank : 0;
    strides_of(gpu_shape(plan, whole), large);
    for (int32_t i = 0; i < n; i++) {
        const sk_value part = concat ? node->in[i] : node->out[i];
        const sk_shape *s = gpu_shape(plan, part);
        strides_of(s, small);
        if (sk_shape_count(s) > 0 && concat)
            SK_TRY(add_box(plan, node, part, 0, small, whole, at * large[axis], large, s, err));
        else if (sk_shape_count(s) > 0)
            SK_TRY(add_box(plan, node, whole, at * large[axis], large, part, 0, small, s, err));
        at += s->dim[axis];
    }
    return SK_OK;
}

static sk_status build_slice(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    sk_tensor ins[5] = {{0}};
    sk_slice_range ranges[SK_MAX_RANK];
    bool known = false;
    int64_t from[SK_MAX_RANK], to[SK_MAX_RANK], start = 0;
    if (node->n_in > 5)
        return SK_OK;
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE)
            ins[i] = sk_value_tensor(plan->graph, node->in[i]);
    ins[0] = (sk_tensor){.dtype = plan->graph->values[node->in[0]].dtype, .shape = *x};
    sk_error ignored;
    if (sk_slice_resolve(node, ins, ranges, &known, &ignored) != SK_OK || !known || sk_shape_count(y) <= 0)
        return SK_OK;
    strides_of(x, from);
    strides_of(y, to);
    for (int32_t k = 0; k < x->rank; k++) {
        start += ranges[k].start * from[k];
        from[k] *= ranges[k].step;
    }
    *done = true;
    return add_box(plan, node, node->in[0], start, from, node->out[0], 0, to, y, err);
}

static sk_status build_transpose(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    int64_t from[SK_MAX_RANK], to[SK_MAX_RANK], turned[SK_MAX_RANK];
    strides_of(x, from);
    strides_of(y, to);
    for (int32_t k = 0; k < y->rank; k++)
        turned[k] = from[node->a.perm[k]];
    return add_box(plan, node, node->in[0], 0, turned, node->out[0], 0, to, y, err);
}

static sk_status build_expand(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_shape *y = gpu_shape(plan, node->out[0]);
    int64_t from[SK_MAX_RANK], to[SK_MAX_RANK];
    broadcast(gpu_shape(plan, node->in[0]), y, from);
    strides_of(y, to);
    return add_box(plan, node, node->in[0], 0, from, node->out[0], 0, to, y, err);
}

/* The same bytes under another shape. */
static sk_status build_alias(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    gpu_ref ref;
    SK_TRY(gpu_dense_ref(plan, node->in[0], &ref, err));
    if (ref.buffer >= 0 && ref.offset == 0) {
        plan->values[node->out[0]].dense = ref.buffer;
        return SK_OK;
    }
    int64_t one[SK_MAX_RANK] = {1};
    sk_shape flat = {.rank = 1, .dim = {sk_shape_count(gpu_shape(plan, node->out[0]))}};
    return add_box(plan, node, node->in[0], 0, one, node->out[0], 0, one, &flat, err);
}

/* --- sums --- */

static sk_status build_rows(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]);
    const bool norm = node->op == SK_OP_LAYER_NORM;
    int32_t axis = norm ? node->a.norm.axis : node->a.axis;
    gpu_step *step;
    axis += axis < 0 ? x->rank : 0;
    *done = all_f32(plan, node) && axis >= 0 && axis < x->rank && sk_shape_count(x) > 0;
    if (!*done)
        return SK_OK;
    SK_TRY(add_dense(plan, GPU_ROWS, node, node->out[0], node->in, norm ? node->n_in : 1, &step, err));
    gpu_row_args *a = &step->args.rows;
    *a = (gpu_row_args){.rows = 1,
                        .n = x->dim[axis],
                        .inner = 1,
                        .op = node->op == SK_OP_SOFTMAX ? 0
                              : norm                    ? 2
                                                        : 1,
                        .epsilon = norm ? node->a.norm.epsilon : 0};
    for (int32_t k = 0; k < axis; k++)
        a->rows *= x->dim[k];
    for (int32_t k = axis + 1; k < x->rank; k++)
        *(norm ? &a->n : &a->inner) *= x->dim[k];
    return SK_OK;
}

static sk_status build_matmul(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->in[1]),
                   *z = gpu_shape(plan, node->out[0]);
    gpu_step *step;
    *done = all_f32(plan, node) && x->rank >= 2 && y->rank >= 2 && sk_shape_count(z) > 0;
    if (!*done)
        return SK_OK;
    const int64_t m = x->dim[x->rank - 2], k = x->dim[x->rank - 1], n = y->dim[y->rank - 1];
    SK_TRY(add_dense(plan, GPU_MATMUL, node, node->out[0], node->in, 2, &step, err));
    gpu_matmul_args *a = &step->args.matmul;
    *a = (gpu_matmul_args){.count = sk_shape_count(z),
                           .m = m,
                           .n = n,
                           .k = k,
                           .a_row = k,
                           .a_col = 1,
                           .b_row = n,
                           .b_col = 1,
                           .batch_rank = z->rank - 2,
                           .alpha = 1};
    sk_shape xb = *x, yb = *y, zb = *z;
    xb.rank -= 2;
    yb.rank -= 2;
    zb.rank -= 2;
    broadcast(&xb, &zb, a->a_batch);
    broadcast(&yb, &zb, a->b_batch);
    for (int32_t d = 0; d < zb.rank; d++) {
        a->batch[d] = zb.dim[d];
        a->a_batch[d] *= m * k;
        a->b_batch[d] *= k * n;
    }
    step->flops = sk_node_flops(plan->graph, node);
    return SK_OK;
}

static sk_status build_gemm(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *z = gpu_shape(plan, node->out[0]);
    const bool ta = node->a.gemm.transpose_a, tb = node->a.gemm.transpose_b;
    gpu_step *step;
    *done = all_f32(plan, node) && sk_shape_count(z) > 0;
    if (!*done)
        return SK_OK;
    const int64_t m = z->dim[0], n = z->dim[1], k = x->dim[ta ? 0 : 1];
    SK_TRY(add_dense(plan, GPU_MATMUL, node, node->out[0], node->in, node->n_in, &step, err));
    gpu_matmul_args *a = &step->args.matmul;
    *a = (gpu_matmul_args){.count = m * n,
                           .m = m,
                           .n = n,
                           .k = k,
                           .a_row = ta ? 1 : k,
                           .a_col = ta ? m : 1,
                           .b_row = tb ? 1 : n,
                           .b_col = tb ? k : 1,
                           .alpha = node->a.gemm.alpha,
                           .beta = node->a.gemm.beta};
    if (node->n_in > 2 && node->in[2] != SK_VALUE_NONE) {
        int64_t strides[SK_MAX_RANK] = {0};
        broadcast(gpu_shape(plan, node->in[2]), z, strides);
        a->c_row = strides[0];
        a->c_col = strides[1];
    }
    step->flops = sk_node_flops(plan->graph, node);
    return SK_OK;
}

/* A 1x1 convolution of a dense tensor in full precision: [cout][cin] times [cin][h * w] of every image. */
static sk_status build_pointwise(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    gpu_step *step;
    *done = all_f32(plan, node) && node->n_in < 4 && (node->n_in < 3 || node->in[2] == SK_VALUE_NONE) &&
            node->a.conv.act.kind == 0 && gpu_conv_is_pointwise(plan, node) &&
            sk_value_is_constant(plan->graph, node->in[1]);
    if (!*done)
        return SK_OK;
    const sk_value in[2] = {node->in[1], node->in[0]};
    const int64_t cin = x->dim[1], cout = y->dim[1], plane = y->dim[2] * y->dim[3];
    SK_TRY(add_dense(plan, GPU_MATMUL, node, node->out[0], in, 2, &step, err));
    gpu_matmul_args *a = &step->args.matmul;
    *a = (gpu_matmul_args){.count = sk_shape_count(y),
                           .m = cout,
                           .n = plane,
                           .k = cin,
                           .a_row = cin,
                           .a_col = 1,
                           .b_row = plane,
                           .b_col = 1,
                           .batch_rank = 1,
                           .alpha = 1};
    a->batch[0] = y->dim[0];
    a->b_batch[0] = cin * plane;
    step->flops = sk_node_flops(plan->graph, node);
    return SK_OK;
}

static sk_status build_reduce(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]);
    const sk_reduction kind = node->a.reduce.kind;
    bool gone[SK_MAX_RANK] = {false};
    int64_t stride[SK_MAX_RANK];
    gpu_step *step;
    *done =
        all_f32(plan, node) && node->n_in == 1 && sk_shape_count(x) > 0 &&
        (kind == SK_REDUCE_SUM || kind == SK_REDUCE_MEAN || kind == SK_REDUCE_MAX || kind == SK_REDUCE_MIN);
    if (!*done)
        return SK_OK;
    for (int32_t i = 0; i < node->a.reduce.n_axes; i++) {
        int32_t axis = node->a.reduce.axes[i];
        axis += axis < 0 ? x->rank : 0;
        if (axis >= 0 && axis < x->rank)
            gone[axis] = true;
    }
    SK_TRY(add_dense(plan, GPU_REDUCE, node, node->out[0], node->in, 1, &step, err));
    gpu_reduce_args *a = &step->args.reduce;
    *a = (gpu_reduce_args){.count = 1, .reduced = 1, .op = (int32_t)kind};
    strides_of(x, stride);
    for (int32_t k = 0; k < x->rank; k++) {
        if (gone[k] || node->a.reduce.n_axes == 0) {
            a->in_dims[a->rank_in] = x->dim[k];
            a->in_strides[a->rank_in++] = stride[k];
            a->reduced *= x->dim[k];
        } else {
            a->out_dims[a->rank_out] = x->dim[k];
            a->out_strides[a->rank_out++] = stride[k];
            a->count *= x->dim[k];
        }
    }
    return SK_OK;
}

sk_status gpu_build_dense_op(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = false;
    if (node->n_out < 1 || sk_shape_count(gpu_shape(plan, node->out[0])) <= 0)
        return SK_OK;
    switch (node->op) {
    case SK_OP_CONV: return build_pointwise(plan, node, done, err);
    case SK_OP_UNARY:
    case SK_OP_BINARY:
    case SK_OP_WHERE:
    case SK_OP_CLIP: return build_elementwise(plan, node, done, err);
    case SK_OP_CONCAT:
    case SK_OP_SPLIT: *done = true; return build_parts(plan, node, err);
    case SK_OP_SLICE: return build_slice(plan, node, done, err);
    case SK_OP_TRANSPOSE: *done = true; return build_transpose(plan, node, err);
    case SK_OP_EXPAND: *done = true; return build_expand(plan, node, err);
    case SK_OP_RESHAPE:
    case SK_OP_SQUEEZE:
    case SK_OP_UNSQUEEZE:
    case SK_OP_FLATTEN:
    case SK_OP_IDENTITY: *done = true; return build_alias(plan, node, err);
    case SK_OP_SOFTMAX:
    case SK_OP_LOG_SOFTMAX:
    case SK_OP_LAYER_NORM: return build_rows(plan, node, done, err);
    case SK_OP_MATMUL: return build_matmul(plan, node, done, err);
    case SK_OP_GEMM: return build_gemm(plan, node, done, err);
    case SK_OP_REDUCE: return build_reduce(plan, node, done, err);
    default: return SK_OK;
    }
}

/* Everything else: values come to the host, the reference executor runs, results go back. */
sk_status gpu_build_by_reference(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    gpu_step *step;
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE && !plan->graph->values[node->in[i]].blob)
            SK_TRY(gpu_need_dense(plan, node->in[i], err));
    for (int32_t i = 0; i < node->n_out; i++)
        SK_TRY(gpu_make_dense(plan, node->out[i], err));
    SK_TRY(gpu_add_step(plan, GPU_BY_REFERENCE, node, &step, err));
    plan->n_by_reference++;
    plan->by_reference[node->op]++;
    snprintf(step->kernel, sizeof step->kernel, "%s, reference", sk_op_name(node->op));
    return SK_OK;
}
