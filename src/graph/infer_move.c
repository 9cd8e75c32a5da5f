/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/infer.h"

sk_status sk_infer_concat(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    sk_shape out = ins[0].shape;
    SK_TRY(sk_axis_resolve(node, node->a.axis, out.rank, &axis, err));
    for (int i = 1; i < node->n_in; i++) {
        sk_shape other = ins[i].shape;
        int64_t more = other.rank == out.rank ? other.dim[axis] : 0;
        other.dim[axis] = out.dim[axis];
        if (!sk_shape_equal(&out, &other)) {
            char a[SK_SHAPE_TEXT], b[SK_SHAPE_TEXT];
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "inputs 0 and %d have the shapes %s and %s, which differ beside axis %d", i,
                                sk_shape_text(&ins[0].shape, a, sizeof a),
                                sk_shape_text(&ins[i].shape, b, sizeof b), axis);
        }
        out.dim[axis] += more; /* at most 2^16 inputs of 2^31: no overflow */
    }
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_split(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    const sk_shape *x = &ins[0].shape;
    SK_TRY(sk_axis_resolve(node, node->a.split.axis, x->rank, &axis, err));
    int64_t size = x->dim[axis], left = size;
    /* ONNX: where the parts cannot be equal the last one is smaller */
    int64_t equal = (size + node->n_out - 1) / node->n_out;
    for (int i = 0; i < node->n_out; i++) {
        int64_t part = node->a.split.n_sizes ? node->a.split.sizes[i] : equal < left ? equal : left;
        if (part > left)
            break;
        left -= part;
        outs[i].shape = *x;
        outs[i].shape.dim[axis] = part;
        if (i == node->n_out - 1 && left == 0)
            return SK_OK;
    }
    return sk_node_fail(node, err, SK_ERR_MISMATCH, "the sizes do not add up to the axis' %lld elements",
                        (long long)size);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static sk_slice_range slice_range(int64_t start, int64_t end, int64_t step, int64_t size)
{
    /* numpy: negative positions count from the end, then both are clamped into the axis. */
    if (start < 0)
        start += size;
    if (end < 0)
        end += size;
    sk_slice_range r = {.step = step};
    if (step > 0) {
        start = clamp(start, 0, size);
        end = clamp(end, 0, size);
        r.count = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
        start = clamp(start, -1, size - 1);
        end = clamp(end, -1, size - 1);
        r.count = start > end ? (start - end - 1) / -step + 1 : 0;
    }
    r.start = r.count ? start : 0;
    return r;
}

sk_status sk_slice_resolve(const sk_node *node, const sk_tensor *ins, sk_slice_range *ranges, bool *known,
                           sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    int64_t lists[4][SK_MAX_RANK]; /* starts, ends, axes, steps */
    int n[4] = {0};
    *known = true;
    for (int i = 0; i < 4; i++) {
        const sk_tensor *t = sk_node_input(node, ins, i + 1);
        if (t && !t->data)
            *known = false;
        else if (t)
            SK_TRY(
                sk_integers_read(node, t, "starts, ends, axes and steps", lists[i], SK_MAX_RANK, &n[i], err));
        if (t && t->data && n[i] != n[0] && *known)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "starts, ends, axes and steps differ in length");
    }
    if (!*known)
        return SK_OK;
    for (int d = 0; d < x->rank; d++)
        ranges[d] = (sk_slice_range){.start = 0, .step = 1, .count = x->dim[d]};
    bool has_axes = sk_node_input(node, ins, 3) != NULL, has_steps = sk_node_input(node, ins, 4) != NULL;
    for (int i = 0; i < n[0]; i++) {
        int axis;
        SK_TRY(sk_axis_resolve(node, has_axes ? lists[2][i] : i, x->rank, &axis, err));
        int64_t step = has_steps ? lists[3][i] : 1;
        if (step == 0)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "a step of 0");
        if (step < -(int64_t)SK_DIM_MAX || step > SK_DIM_MAX) /* one element at most, whichever it is */
            step = step < 0 ? -(int64_t)SK_DIM_MAX : SK_DIM_MAX;
        ranges[axis] = slice_range(lists[0][i], lists[1][i], step, x->dim[axis]);
    }
    return SK_OK;
}

sk_status sk_infer_slice(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_slice_range ranges[SK_MAX_RANK];
    bool known;
    SK_TRY(sk_slice_resolve(node, ins, ranges, &known, err));
    sk_shape out = {.rank = ins[0].shape.rank};
    for (int d = 0; d < out.rank; d++)
        out.dim[d] = known ? ranges[d].count : -1;
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_reshape(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    char from[SK_SHAPE_TEXT], to[SK_SHAPE_TEXT];
    if (!ins[1].data) {
        /* the list's length is the rank, whatever it says */
        int64_t rank = ins[1].shape.rank == 1 ? ins[1].shape.dim[0] : -1;
        if (rank >= 0 && rank <= SK_MAX_RANK) {
            outs[0].shape.rank = (int32_t)rank;
            for (int d = 0; d < rank; d++)
                outs[0].shape.dim[d] = -1;
        }
        return SK_OK;
    }
    sk_shape out;
    int rank, inferred = -1;
    SK_TRY(sk_integers_read(node, &ins[1], "the new shape", out.dim, SK_MAX_RANK, &rank, err));
    out.rank = rank;
    for (int d = 0; d < rank; d++) {
        if (out.dim[d] == 0 && d < x->rank)
            out.dim[d] = x->dim[d];
        if (out.dim[d] < -1 || (out.dim[d] == -1 && inferred >= 0))
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "the new shape has two open or negative dimensions");
        if (out.dim[d] == -1) {
            inferred = d;
            out.dim[d] = 1;
        }
    }
    int64_t count = sk_shape_count(x), rest = sk_shape_count(&out);
    if (inferred >= 0 && rest > 0 && count % rest == 0)
        out.dim[inferred] = count / rest;
    else if (inferred >= 0 && rest == 0 && count == 0)
        out.dim[inferred] = 0;
    if (count < 0 || sk_shape_count(&out) != count)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "%s cannot be reshaped to %s",
                            sk_shape_text(x, from, sizeof from), sk_shape_text(&out, to, sizeof to));
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_transpose(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    bool used[SK_MAX_RANK] = {false};
    sk_shape out = {.rank = x->rank};
    for (int d = 0; d < x->rank; d++) {
        int from = node->a.perm[d];
        if (from < 0 || from >= x->rank || used[from])
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "the order is no permutation of %d dimensions",
                                x->rank);
        used[from] = true;
        out.dim[d] = x->dim[from];
    }
    outs[0].shape = out;
    return SK_OK;
}

/* Marks the axes a list names; *given false where its values are unknown. */
static sk_status read_axes(const sk_node *node, const sk_tensor *list, int rank, bool *marked, int *count,
                           sk_error *err)
{
    int64_t axes[SK_MAX_RANK];
    SK_TRY(sk_integers_read(node, list, "the axes", axes, SK_MAX_RANK, count, err));
    for (int i = 0; i < *count; i++) {
        int axis;
        SK_TRY(sk_axis_resolve(node, axes[i], rank, &axis, err));
        if (marked[axis])
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "axis %d is named twice", axis);
        marked[axis] = true;
    }
    return SK_OK;
}

sk_status sk_infer_squeeze(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    const sk_tensor *list = sk_node_input(node, ins, 1);
    bool marked[SK_MAX_RANK] = {false};
    int count;
    if (list && !list->data)
        return SK_OK;
    if (list)
        SK_TRY(read_axes(node, list, x->rank, marked, &count, err));
    sk_shape out = {.rank = 0};
    for (int d = 0; d < x->rank; d++) {
        if (list && marked[d] && x->dim[d] != 1)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "axis %d has %lld elements, not one", d,
                                (long long)x->dim[d]);
        if (list ? !marked[d] : x->dim[d] != 1)
            out.dim[out.rank++] = x->dim[d];
    }
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_unsqueeze(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    bool marked[SK_MAX_RANK] = {false};
    int count;
    if (!ins[1].data)
        return SK_OK;
    int64_t more = sk_shape_count(&ins[1].shape);
    if (more < 0 || more + x->rank > SK_MAX_RANK)
        return sk_node_fail(node, err, SK_ERR_LIMIT, "more than %d dimensions", SK_MAX_RANK);
    sk_shape out = {.rank = x->rank + (int)more};
    SK_TRY(read_axes(node, &ins[1], out.rank, marked, &count, err));
    for (int d = 0, from = 0; d < out.rank; d++)
        out.dim[d] = marked[d] ? 1 : x->dim[from++];
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_flatten(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    int64_t axis = node->a.axis < 0 ? node->a.axis + (int64_t)x->rank : node->a.axis;
    if (axis < 0 || axis > x->rank)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "axis %d does not exist in %d dimensions",
                            node->a.axis, x->rank);
    sk_shape before = *x, after = {.rank = x->rank - (int)axis};
    before.rank = (int)axis;
    for (int d = 0; d < after.rank; d++)
        after.dim[d] = x->dim[axis + d];
    int64_t rows = sk_shape_count(&before), columns = sk_shape_count(&after);
    if (rows < 0 || columns < 0)
        return sk_node_fail(node, err, SK_ERR_LIMIT, "the flattened shape is too large");
    outs[0].shape = (sk_shape){.rank = 2, .dim = {rows, columns}};
    return SK_OK;
}

/* A list of dimensions as a shape; *known false where it has no data. */
static sk_status read_shape(const sk_node *node, const sk_tensor *list, sk_shape *shape, bool *known,
                            sk_error *err)
{
    *known = list->data != NULL;
    if (!*known)
        return SK_OK;
    int rank;
    SK_TRY(sk_integers_read(node, list, "the shape", shape->dim, SK_MAX_RANK, &rank, err));
    shape->rank = rank;
    for (int d = 0; d < rank; d++)
        if (shape->dim[d] < 0)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "dimension %lld is negative",
                                (long long)shape->dim[d]);
    return SK_OK;
}

sk_status sk_infer_expand(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_shape wanted;
    bool known;
    SK_TRY(read_shape(node, &ins[1], &wanted, &known, err));
    return known ? sk_shape_broadcast(node, &ins[0].shape, &wanted, &outs[0].shape, err) : SK_OK;
}

sk_status sk_infer_tile(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_shape repeats;
    bool known;
    SK_TRY(read_shape(node, &ins[1], &repeats, &known, err));
    if (!known)
        return SK_OK;
    sk_shape out = ins[0].shape;
    if (repeats.rank != out.rank)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "%d repeats for %d dimensions", repeats.rank,
                            out.rank);
    for (int d = 0; d < out.rank; d++)
        if (__builtin_mul_overflow(out.dim[d], repeats.dim[d], &out.dim[d]))
            return sk_node_fail(node, err, SK_ERR_LIMIT, "%lld repeats", (long long)repeats.dim[d]);
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_pad(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *value = sk_node_input(node, ins, 2);
    int64_t pads[2 * SK_MAX_RANK];
    int n;
    sk_shape out = ins[0].shape;
    if (value && sk_shape_count(&value->shape) != 1)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the padding value is not a single number");
    if (!ins[1].data) {
        for (int d = 0; d < out.rank; d++)
            out.dim[d] = -1;
        outs[0].shape = out;
        return SK_OK;
    }
    SK_TRY(sk_integers_read(node, &ins[1], "the pads", pads, 2 * SK_MAX_RANK, &n, err));
    if (n != 2 * out.rank)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "%d pads for %d dimensions", n, out.rank);
    for (int d = 0; d < out.rank; d++) {
        int64_t size = out.dim[d], before = pads[d], after = pads[d + out.rank];
        if (before < -size || before > SK_DIM_MAX || after < -size || after > SK_DIM_MAX ||
            before + after < -size)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "pads %lld and %lld on %lld elements",
                                (long long)before, (long long)after, (long long)size);
        out.dim[d] += before + after;
        bool grows = before > 0 || after > 0;
        int64_t reach = before > after ? before : after;
        if (grows && ((node->a.pad.mode == 1 && size == 0) || (node->a.pad.mode == 2 && reach >= size)))
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "pads %lld and %lld cannot be taken from %lld elements", (long long)before,
                                (long long)after, (long long)size);
    }
    outs[0].shape = out;
    return SK_OK;
}
