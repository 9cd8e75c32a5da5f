/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/infer.h"

#include <ctype.h>
#include <string.h>

static sk_status shapes_clash(const sk_node *node, const sk_tensor *a, const sk_tensor *b, sk_error *err)
{
    char ta[SK_SHAPE_TEXT], tb[SK_SHAPE_TEXT];
    return sk_node_fail(node, err, SK_ERR_MISMATCH, "shapes %s and %s do not go together",
                        sk_shape_text(&a->shape, ta, sizeof ta), sk_shape_text(&b->shape, tb, sizeof tb));
}

sk_status sk_infer_same(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    outs[0].shape = ins[0].shape;
    return SK_OK;
}

sk_status sk_infer_broadcast(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_shape shape = ins[0].shape;
    for (int i = 1; i < node->n_in; i++)
        SK_TRY(sk_shape_broadcast(node, &shape, &ins[i].shape, &shape, err));
    outs[0].shape = shape;
    return SK_OK;
}

/* numpy: a vector on the left is a row, on the right a column, and its dimension goes away again. */
sk_status sk_infer_matmul(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *a = &ins[0].shape, *b = &ins[1].shape;
    if (a->rank < 1 || b->rank < 1 || a->dim[a->rank - 1] != b->dim[b->rank > 1 ? b->rank - 2 : 0])
        return shapes_clash(node, &ins[0], &ins[1], err);
    sk_shape batch_a = *a, batch_b = *b, out;
    batch_a.rank = a->rank > 2 ? a->rank - 2 : 0;
    batch_b.rank = b->rank > 2 ? b->rank - 2 : 0;
    SK_TRY(sk_shape_broadcast(node, &batch_a, &batch_b, &out, err));
    if (a->rank > 1)
        out.dim[out.rank++] = a->dim[a->rank - 2];
    if (b->rank > 1)
        out.dim[out.rank++] = b->dim[b->rank - 1];
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_gemm(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *a = &ins[0].shape, *b = &ins[1].shape;
    const sk_tensor *c = sk_node_input(node, ins, 2);
    if (a->rank != 2 || b->rank != 2)
        return shapes_clash(node, &ins[0], &ins[1], err);
    int ta = node->a.gemm.transpose_a != 0, tb = node->a.gemm.transpose_b != 0;
    if (a->dim[!ta] != b->dim[tb])
        return shapes_clash(node, &ins[0], &ins[1], err);
    sk_shape out = {.rank = 2, .dim = {a->dim[ta], b->dim[!tb]}};
    if (c) {
        sk_shape stretched;
        SK_TRY(sk_shape_broadcast(node, &c->shape, &out, &stretched, err));
        if (!sk_shape_equal(&stretched, &out))
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "the third input does not stretch to %lldx%lld",
                                (long long)out.dim[0], (long long)out.dim[1]);
    }
    outs[0].shape = out;
    return SK_OK;
}

/* "ab,bc->ac" into label lists; -1 for text we do not understand. */
static int parse_labels(const char **text, char *labels)
{
    int n = 0;
    for (; isalpha((unsigned char)**text) || **text == ' '; ++*text) {
        if (**text == ' ')
            continue;
        if (n == SK_MAX_RANK)
            return -1;
        labels[n++] = **text;
    }
    return n;
}

sk_status sk_einsum_resolve(const sk_node *node, const sk_tensor *ins, sk_einsum *plan, sk_error *err)
{
    const char *text = node->a.einsum.equation;
    char labels[2][SK_MAX_RANK], order[2 * SK_MAX_RANK + 1];
    int n[2] = {0, 0};
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < node->n_in; i++) {
        if (i > 0 && *text++ != ',')
            goto unclear;
        n[i] = parse_labels(&text, labels[i]);
        if (n[i] < 0 || n[i] != ins[i].shape.rank)
            goto unclear;
    }
    if (strncmp(text, "->", 2) != 0)
        goto unclear;
    text += 2;
    plan->n_labels = plan->n_out = parse_labels(&text, order);
    if (plan->n_out < 0 || *text)
        goto unclear;
    for (int i = 0; i < plan->n_out; i++)
        if (memchr(order, order[i], (size_t)i))
            goto unclear;
    for (int i = 0; i < 2 * SK_MAX_RANK; i++)
        plan->size[i] = -1;
    for (int i = 0; i < node->n_in; i++) {
        int64_t stride = 1;
        for (int d = n[i] - 1; d >= 0; d--) {
            char *seen = memchr(order, labels[i][d], (size_t)plan->n_labels);
            int label = seen ? (int)(seen - order) : plan->n_labels++;
            order[label] = labels[i][d];
            int64_t size = ins[i].shape.dim[d];
            if (plan->size[label] >= 0 && plan->size[label] != size)
                return shapes_clash(node, &ins[0], &ins[node->n_in - 1], err);
            plan->size[label] = size;
            plan->stride[i][label] += stride; /* a label twice in one input walks its diagonal */
            if (__builtin_mul_overflow(stride, size, &stride))
                stride = 0; /* only where the tensor is empty */
        }
    }
    for (int i = 0; i < plan->n_out; i++)
        if (plan->size[i] < 0)
            goto unclear;
    return SK_OK;
unclear:
    return sk_node_fail(node, err, SK_ERR_UNSUPPORTED,
                        "the equation '%s' does not fit its inputs or is not understood",
                        node->a.einsum.equation);
}

sk_status sk_infer_einsum(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_einsum plan;
    SK_TRY(sk_einsum_resolve(node, ins, &plan, err));
    sk_shape out = {.rank = plan.n_out};
    for (int i = 0; i < plan.n_out; i++)
        out.dim[i] = plan.size[i];
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_norm(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    int64_t wanted;
    if (node->op == SK_OP_LAYER_NORM) {
        int axis;
        SK_TRY(sk_axis_resolve(node, node->a.norm.axis, x->rank, &axis, err));
        sk_shape inner = {.rank = x->rank - axis};
        for (int i = axis; i < x->rank; i++)
            inner.dim[i - axis] = x->dim[i];
        wanted = sk_shape_count(&inner);
    } else {
        if (x->rank < 2)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "the input has no channels");
        wanted = x->dim[1];
    }
    for (int i = 1; i < node->n_in; i++) {
        const sk_tensor *t = sk_node_input(node, ins, i);
        if (t && sk_shape_count(&t->shape) != wanted)
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "input %d has %lld elements where %lld are needed", i,
                                (long long)sk_shape_count(&t->shape), (long long)wanted);
    }
    outs[0].shape = *x;
    return SK_OK;
}

sk_status sk_infer_softmax(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    SK_TRY(sk_axis_resolve(node, node->a.axis, ins[0].shape.rank, &axis, err));
    outs[0].shape = ins[0].shape;
    return SK_OK;
}

sk_status sk_infer_reduce(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    bool reduced[SK_MAX_RANK] = {false};
    for (int i = 0; i < node->a.reduce.n_axes; i++) {
        int axis;
        SK_TRY(sk_axis_resolve(node, node->a.reduce.axes[i], x->rank, &axis, err));
        if (reduced[axis])
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "axis %d is named twice", axis);
        reduced[axis] = true;
    }
    sk_shape out = {.rank = 0};
    for (int i = 0; i < x->rank; i++) {
        bool gone = reduced[i] || node->a.reduce.n_axes == 0;
        if (!gone)
            out.dim[out.rank++] = x->dim[i];
        else if (node->a.reduce.keep_dims)
            out.dim[out.rank++] = 1;
    }
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_arg(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    int axis;
    SK_TRY(sk_axis_resolve(node, node->a.arg.axis, x->rank, &axis, err));
    if (x->dim[axis] < 1)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the axis is empty");
    sk_shape out = {.rank = 0};
    for (int i = 0; i < x->rank; i++) {
        if (i != axis)
            out.dim[out.rank++] = x->dim[i];
        else if (node->a.arg.keep_dims)
            out.dim[out.rank++] = 1;
    }
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_top_k(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    int axis, n;
    SK_TRY(sk_axis_resolve(node, node->a.top_k.axis, x->rank, &axis, err));
    int64_t k = -1;
    if (ins[1].data) {
        SK_TRY(sk_integers_read(node, &ins[1], "k", &k, 1, &n, err));
        if (n != 1 || k < 0 || k > x->dim[axis])
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "the best %lld of %lld are wanted", (long long)k,
                                (long long)x->dim[axis]);
    }
    outs[0].shape = outs[1].shape = *x;
    outs[0].shape.dim[axis] = outs[1].shape.dim[axis] = k;
    return SK_OK;
}

/* Scale and zero have been checked as such; here, that they fit the axis. */
sk_status sk_infer_quantise(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int64_t scales = sk_shape_count(&ins[1].shape);
    int axis;
    if (scales > 1) {
        SK_TRY(sk_axis_resolve(node, node->a.quantise.axis, ins[0].shape.rank, &axis, err));
        if (ins[0].shape.dim[axis] != scales)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "%lld scales for the %lld channels of axis %d",
                                (long long)scales, (long long)ins[0].shape.dim[axis], axis);
    }
    outs[0].shape = ins[0].shape;
    return SK_OK;
}

sk_status sk_infer_cum_sum(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    if (ins[1].data) {
        int64_t wanted = 0;
        int axis, n;
        SK_TRY(sk_integers_read(node, &ins[1], "the axis", &wanted, 1, &n, err));
        SK_TRY(sk_axis_resolve(node, wanted, ins[0].shape.rank, &axis, err));
    }
    outs[0].shape = ins[0].shape;
    return SK_OK;
}

sk_status sk_infer_non_zero(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    int rank = ins[0].shape.rank;
    outs[0].shape = (sk_shape){.rank = 2, .dim = {rank ? rank : 1, -1}};
    return SK_OK;
}

sk_status sk_infer_nms(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *boxes = &ins[0].shape, *scores = &ins[1].shape;
    if (boxes->rank != 3 || boxes->dim[2] != 4 || scores->rank != 3 || scores->dim[0] != boxes->dim[0] ||
        scores->dim[2] != boxes->dim[1])
        return shapes_clash(node, &ins[0], &ins[1], err);
    if (!sk_dtype_is_float(ins[0].dtype) || !sk_dtype_is_float(ins[1].dtype))
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "boxes and scores must be floating point");
    for (int i = 2; i < node->n_in; i++) {
        const sk_tensor *t = sk_node_input(node, ins, i);
        if (t && sk_shape_count(&t->shape) != 1)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "input %d must be a single number", i);
    }
    outs[0].shape = (sk_shape){.rank = 2, .dim = {-1, 3}};
    return SK_OK;
}
