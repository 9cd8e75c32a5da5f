/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/infer.h"

#include <math.h>

static sk_status do_not_fit(const sk_node *node, const sk_tensor *x, const sk_tensor *indices, sk_error *err)
{
    char a[SK_SHAPE_TEXT], b[SK_SHAPE_TEXT];
    return sk_node_fail(node, err, SK_ERR_MISMATCH, "indices of shape %s do not fit data of shape %s",
                        sk_shape_text(&indices->shape, b, sizeof b), sk_shape_text(&x->shape, a, sizeof a));
}

sk_status sk_infer_gather(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *at = &ins[1].shape;
    int axis;
    SK_TRY(sk_axis_resolve(node, node->a.axis, x->rank, &axis, err));
    if (x->rank - 1 + at->rank > SK_MAX_RANK)
        return do_not_fit(node, &ins[0], &ins[1], err);
    sk_shape out = {.rank = 0};
    for (int d = 0; d < axis; d++)
        out.dim[out.rank++] = x->dim[d];
    for (int d = 0; d < at->rank; d++)
        out.dim[out.rank++] = at->dim[d];
    for (int d = axis + 1; d < x->rank; d++)
        out.dim[out.rank++] = x->dim[d];
    outs[0].shape = out;
    return SK_OK;
}

/* Indices may be smaller than the data beside the axis, never larger. */
static sk_status check_elements(const sk_node *node, const sk_tensor *ins, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *at = &ins[1].shape;
    int axis;
    SK_TRY(sk_axis_resolve(node, node->a.axis, x->rank, &axis, err));
    bool fits = at->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++)
        fits = d == axis || at->dim[d] <= x->dim[d];
    return fits ? SK_OK : do_not_fit(node, &ins[0], &ins[1], err);
}

sk_status sk_infer_gather_elements(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    SK_TRY(check_elements(node, ins, err));
    outs[0].shape = ins[1].shape;
    return SK_OK;
}

sk_status sk_infer_scatter_elements(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    SK_TRY(check_elements(node, ins, err));
    if (!sk_shape_equal(&ins[1].shape, &ins[2].shape))
        return do_not_fit(node, &ins[2], &ins[1], err);
    outs[0].shape = ins[0].shape;
    return SK_OK;
}

sk_status sk_infer_gather_nd(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *at = &ins[1].shape;
    int batch = node->a.axis;
    if (x->rank < 1 || at->rank < 1 || batch < 0 || batch >= at->rank || batch >= x->rank)
        return do_not_fit(node, &ins[0], &ins[1], err);
    int64_t depth = at->dim[at->rank - 1];
    if (depth < 1 || depth > x->rank - batch || at->rank - 1 + x->rank - batch - depth > SK_MAX_RANK)
        return do_not_fit(node, &ins[0], &ins[1], err);
    for (int d = 0; d < batch; d++)
        if (x->dim[d] != at->dim[d])
            return do_not_fit(node, &ins[0], &ins[1], err);
    sk_shape out = {.rank = 0};
    for (int d = 0; d < at->rank - 1; d++)
        out.dim[out.rank++] = at->dim[d];
    for (int d = batch + (int)depth; d < x->rank; d++)
        out.dim[out.rank++] = x->dim[d];
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_scatter_nd(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *at = &ins[1].shape, *updates = &ins[2].shape;
    if (x->rank < 1 || at->rank < 1 || at->dim[at->rank - 1] < 1 || at->dim[at->rank - 1] > x->rank)
        return do_not_fit(node, &ins[0], &ins[1], err);
    int depth = (int)at->dim[at->rank - 1];
    bool fits = updates->rank == at->rank - 1 + x->rank - depth;
    for (int d = 0; fits && d < at->rank - 1; d++)
        fits = updates->dim[d] == at->dim[d];
    for (int d = depth; fits && d < x->rank; d++)
        fits = updates->dim[at->rank - 1 + d - depth] == x->dim[d];
    if (!fits)
        return do_not_fit(node, &ins[2], &ins[1], err);
    outs[0].shape = *x;
    return SK_OK;
}

sk_status sk_infer_shape(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    outs[0].shape = (sk_shape){.rank = 1, .dim = {ins[0].shape.rank}};
    return SK_OK;
}

sk_status sk_infer_size(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)ins;
    (void)err;
    outs[0].shape.rank = 0;
    return SK_OK;
}

sk_status sk_infer_range(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int64_t count = -1;
    for (int i = 0; i < 3; i++)
        if (sk_shape_count(&ins[i].shape) != 1)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "input %d must be a single number", i);
    if (ins[0].data && ins[1].data && ins[2].data) {
        double start = sk_tensor_at(&ins[0], 0), limit = sk_tensor_at(&ins[1], 0),
               delta = sk_tensor_at(&ins[2], 0);
        double steps = ceil((limit - start) / delta);
        if (delta == 0 || !isfinite(steps) || steps > (double)SK_DIM_MAX)
            return sk_node_fail(node, err, SK_ERR_LIMIT, "from %g to %g by %g", start, limit, delta);
        count = steps > 0 ? (int64_t)steps : 0;
    }
    outs[0].shape = (sk_shape){.rank = 1, .dim = {count}};
    return SK_OK;
}

sk_status sk_infer_constant_of_shape(const sk_node *node, const sk_tensor *ins, sk_tensor *outs,
                                     sk_error *err)
{
    sk_shape out;
    int rank;
    if (!ins[0].data)
        return SK_OK;
    SK_TRY(sk_integers_read(node, &ins[0], "the shape", out.dim, SK_MAX_RANK, &rank, err));
    out.rank = rank;
    for (int d = 0; d < rank; d++)
        if (out.dim[d] < 0)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "dimension %lld is negative",
                                (long long)out.dim[d]);
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_one_hot(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *at = &ins[0].shape;
    int axis;
    if (at->rank + 1 > SK_MAX_RANK || sk_shape_count(&ins[1].shape) != 1 ||
        sk_shape_count(&ins[2].shape) != 2)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "depth must be one number, the values two");
    SK_TRY(sk_axis_resolve(node, node->a.axis, at->rank + 1, &axis, err));
    int64_t depth = ins[1].data ? sk_tensor_int_at(&ins[1], 0) : -1;
    if (ins[1].data && depth < 0)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "a depth of %lld", (long long)depth);
    sk_shape out = {.rank = at->rank + 1};
    for (int d = 0, from = 0; d < out.rank; d++)
        out.dim[d] = d == axis ? depth : at->dim[from++];
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_eye_like(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    if (ins[0].shape.rank != 2)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the input has %d dimensions where 2 are needed",
                            ins[0].shape.rank);
    outs[0].shape = ins[0].shape;
    return SK_OK;
}
