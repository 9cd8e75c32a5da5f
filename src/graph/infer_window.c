/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/infer.h"

#include <math.h>

static sk_status need_nchw(const sk_node *node, const sk_tensor *t, const char *what, sk_error *err)
{
    char text[SK_SHAPE_TEXT];
    if (t->shape.rank != 4)
        return sk_node_fail(node, err, SK_ERR_MISMATCH,
                            "%s has the shape %s where four dimensions are needed", what,
                            sk_shape_text(&t->shape, text, sizeof text));
    return SK_OK;
}

/* SAME: ceil(in / stride) outputs; the odd pixel goes to the end (1) or to the beginning (2). */
static void resolve_same(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int same,
                         int32_t *begin, int32_t *end)
{
    int64_t out = (in + stride - 1) / stride;
    int64_t total = (out - 1) * stride + dilation * (kernel - 1) + 1 - in;
    if (in == 0 || total < 0)
        total = 0;
    if (total > INT32_MAX)
        total = INT32_MAX;
    *begin = (int32_t)(same == 1 ? total / 2 : total - total / 2);
    *end = (int32_t)total - *begin;
}

sk_window sk_window_resolve(const sk_window *window, int64_t h, int64_t w)
{
    sk_window r = *window;
    if (r.same) {
        resolve_same(h, r.kernel[0], r.stride[0], r.dilation[0], r.same, &r.pad[0], &r.pad[2]);
        resolve_same(w, r.kernel[1], r.stride[1], r.dilation[1], r.same, &r.pad[1], &r.pad[3]);
        r.same = 0;
    }
    return r;
}

static sk_status window_output(const sk_node *node, const sk_window *w, int axis, int64_t in, bool ceil_mode,
                               int64_t *out, sk_error *err)
{
    int64_t reach = (int64_t)w->dilation[axis] * (w->kernel[axis] - 1) + 1;
    int64_t room = in + w->pad[axis] + w->pad[axis + 2] - reach;
    if (room < 0)
        return sk_node_fail(
            node, err, SK_ERR_MISMATCH,
            "the window reaches over %lld pixels but the padded input has %lld; a larger image helps",
            (long long)reach, (long long)(room + reach));
    int64_t stride = w->stride[axis];
    *out = (ceil_mode ? room + stride - 1 : room) / stride + 1;
    /* torch, ONNX: the last window must begin inside the image or its leading padding */
    if (ceil_mode && (*out - 1) * stride >= in + w->pad[axis])
        --*out;
    return SK_OK;
}

static sk_status check_bias(const sk_node *node, const sk_tensor *bias, int64_t channels, sk_error *err)
{
    char text[SK_SHAPE_TEXT];
    if (bias && (bias->shape.rank != 1 || bias->shape.dim[0] != channels))
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the bias has the shape %s for %lld channels",
                            sk_shape_text(&bias->shape, text, sizeof text), (long long)channels);
    return SK_OK;
}

static sk_status check_kernel(const sk_node *node, const sk_window *window, const sk_tensor *w, sk_error *err)
{
    for (int i = 0; i < 2; i++)
        if (w->shape.dim[2 + i] < 1 || (window->kernel[i] && window->kernel[i] != w->shape.dim[2 + i]))
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "the kernel is %dx%d but the weights are %lldx%lld", window->kernel[0],
                                window->kernel[1], (long long)w->shape.dim[2], (long long)w->shape.dim[3]);
    return SK_OK;
}

sk_status sk_infer_conv(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *x = &ins[0], *w = &ins[1], *residual = sk_node_input(node, ins, 3);
    int64_t groups = node->a.conv.groups;
    SK_TRY(need_nchw(node, x, "the input", err));
    SK_TRY(need_nchw(node, w, "the weight", err));
    SK_TRY(check_kernel(node, &node->a.conv.window, w, err));
    if (x->shape.dim[1] != w->shape.dim[1] * groups || w->shape.dim[0] % groups)
        return sk_node_fail(
            node, err, SK_ERR_MISMATCH,
            "the input has %lld channels, the weights are made for %lld (%lld groups, %lld outputs)",
            (long long)x->shape.dim[1], (long long)(w->shape.dim[1] * groups), (long long)groups,
            (long long)w->shape.dim[0]);
    SK_TRY(check_bias(node, sk_node_input(node, ins, 2), w->shape.dim[0], err));
    sk_window window = node->a.conv.window;
    window.kernel[0] = (int32_t)w->shape.dim[2];
    window.kernel[1] = (int32_t)w->shape.dim[3];
    window = sk_window_resolve(&window, x->shape.dim[2], x->shape.dim[3]);
    sk_shape out = {.rank = 4, .dim = {x->shape.dim[0], w->shape.dim[0]}};
    SK_TRY(window_output(node, &window, 0, x->shape.dim[2], false, &out.dim[2], err));
    SK_TRY(window_output(node, &window, 1, x->shape.dim[3], false, &out.dim[3], err));
    if (residual && !sk_shape_equal(&residual->shape, &out)) {
        char a[SK_SHAPE_TEXT], b[SK_SHAPE_TEXT];
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the residual has the shape %s, the output %s",
                            sk_shape_text(&residual->shape, a, sizeof a), sk_shape_text(&out, b, sizeof b));
    }
    outs[0].shape = out;
    return SK_OK;
}

void sk_conv_transpose_resolve(sk_attrs *a, int64_t kh, int64_t kw)
{
    sk_window *w = &a->conv_transpose.window;
    w->kernel[0] = (int32_t)kh;
    w->kernel[1] = (int32_t)kw;
    if (!a->conv_transpose.same_output && !w->same)
        return;
    /* The output is input * stride. What the kernel reaches beyond a stride is cropped, half of it
     * (rounded down) at the start, as the gradient of a SAME convolution does; what is missing is added at
     * the end. */
    for (int i = 0; i < 2; i++) {
        int64_t total = (int64_t)w->dilation[i] * (w->kernel[i] - 1) + 1 - w->stride[i];
        int64_t crop = total > 0 ? total : 0;
        int64_t begin = w->same == 2 ? crop - crop / 2 : crop / 2;
        w->pad[i] = (int32_t)(begin < INT32_MAX ? begin : INT32_MAX);
        w->pad[i + 2] = (int32_t)(crop - begin < INT32_MAX ? crop - begin : INT32_MAX);
        a->conv_transpose.output_pad[i] = (int32_t)(total < 0 ? -total : 0);
    }
    w->same = 0;
    a->conv_transpose.same_output = 0;
}

sk_status sk_infer_conv_transpose(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *x = &ins[0], *w = &ins[1];
    sk_attrs a = node->a;
    SK_TRY(need_nchw(node, x, "the input", err));
    SK_TRY(need_nchw(node, w, "the weight", err));
    SK_TRY(check_kernel(node, &a.conv_transpose.window, w, err));
    if (x->shape.dim[1] != w->shape.dim[0] || w->shape.dim[0] % a.conv_transpose.groups)
        return sk_node_fail(node, err, SK_ERR_MISMATCH,
                            "the input has %lld channels, the weights are made for %lld in %d groups",
                            (long long)x->shape.dim[1], (long long)w->shape.dim[0], a.conv_transpose.groups);
    int64_t channels = w->shape.dim[1] * a.conv_transpose.groups;
    SK_TRY(check_bias(node, sk_node_input(node, ins, 2), channels, err));
    sk_conv_transpose_resolve(&a, w->shape.dim[2], w->shape.dim[3]);
    const sk_window *win = &a.conv_transpose.window;
    sk_shape out = {.rank = 4, .dim = {x->shape.dim[0], channels}};
    for (int i = 0; i < 2; i++) {
        int64_t in = x->shape.dim[2 + i];
        out.dim[2 + i] = (in - 1) * win->stride[i] - win->pad[i] - win->pad[i + 2] +
                         (int64_t)win->dilation[i] * (win->kernel[i] - 1) + a.conv_transpose.output_pad[i] +
                         1;
        if (in < 1 || out.dim[2 + i] < 1)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "an input of %lld pixels leaves no output",
                                (long long)in);
    }
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_pool(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *x = &ins[0];
    SK_TRY(need_nchw(node, x, "the input", err));
    sk_window window = sk_window_resolve(&node->a.pool.window, x->shape.dim[2], x->shape.dim[3]);
    sk_shape out = x->shape;
    SK_TRY(window_output(node, &window, 0, x->shape.dim[2], node->a.pool.ceil_mode, &out.dim[2], err));
    SK_TRY(window_output(node, &window, 1, x->shape.dim[3], node->a.pool.ceil_mode, &out.dim[3], err));
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_resize(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *x = &ins[0], *sizes = sk_node_input(node, ins, 1);
    SK_TRY(need_nchw(node, x, "the input", err));
    sk_shape out = x->shape;
    if (sizes && !sizes->data) {
        out.dim[2] = out.dim[3] = -1;
        outs[0].shape = out;
        return SK_OK;
    }
    if (sizes) {
        int64_t list[4];
        int n;
        SK_TRY(sk_integers_read(node, sizes, "the sizes", list, 4, &n, err));
        if (n != 2 && n != 4)
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "%d sizes where 4 (or 2: height, width) are needed", n);
        if (n == 4 && (list[0] != x->shape.dim[0] || list[1] != x->shape.dim[1]))
            return sk_node_fail(node, err, SK_ERR_UNSUPPORTED, "only height and width can be resized");
        out.dim[2] = list[n - 2];
        out.dim[3] = list[n - 1];
    } else {
        for (int i = 0; i < 2; i++) {
            double size = floor((double)x->shape.dim[2 + i] * (double)node->a.resize.scale[i]);
            out.dim[2 + i] = size > (double)SK_DIM_MAX ? INT64_MAX : (int64_t)size;
        }
    }
    for (int i = 2; i < 4; i++)
        if (out.dim[i] < 1 || x->shape.dim[i] < 1)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "%lld pixels cannot become %lld",
                                (long long)x->shape.dim[i], (long long)out.dim[i]);
    outs[0].shape = out;
    return SK_OK;
}

sk_status sk_infer_grid_sample(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *x = &ins[0], *grid = &ins[1];
    SK_TRY(need_nchw(node, x, "the input", err));
    SK_TRY(need_nchw(node, grid, "the grid", err));
    if (grid->shape.dim[3] != 2 || grid->shape.dim[0] != x->shape.dim[0] || x->shape.dim[2] < 1 ||
        x->shape.dim[3] < 1) {
        char a[SK_SHAPE_TEXT], b[SK_SHAPE_TEXT];
        return sk_node_fail(node, err, SK_ERR_MISMATCH,
                            "a grid of shape %s does not fit an input of shape %s",
                            sk_shape_text(&grid->shape, a, sizeof a), sk_shape_text(&x->shape, b, sizeof b));
    }
    outs[0].shape = (sk_shape){
        .rank = 4, .dim = {x->shape.dim[0], x->shape.dim[1], grid->shape.dim[1], grid->shape.dim[2]}};
    return SK_OK;
}

sk_status sk_infer_blocks(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    SK_TRY(need_nchw(node, &ins[0], "the input", err));
    sk_shape s = ins[0].shape;
    int64_t b = node->a.blocks.block;
    bool to_space = node->op == SK_OP_DEPTH_TO_SPACE;
    if (to_space ? s.dim[1] % (b * b) != 0 : s.dim[2] % b != 0 || s.dim[3] % b != 0)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "%lldx%lldx%lld cannot be cut into blocks of %lld",
                            (long long)s.dim[1], (long long)s.dim[2], (long long)s.dim[3], (long long)b);
    s.dim[1] = to_space ? s.dim[1] / (b * b) : s.dim[1] * b * b;
    s.dim[2] = to_space ? s.dim[2] * b : s.dim[2] / b;
    s.dim[3] = to_space ? s.dim[3] * b : s.dim[3] / b;
    outs[0].shape = s;
    return SK_OK;
}

sk_status sk_infer_anchors(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int64_t total = 0;
    for (int i = 0; i < node->n_in; i++) {
        SK_TRY(need_nchw(node, &ins[i], "a level", err));
        int64_t cells = ins[i].shape.dim[2] * ins[i].shape.dim[3];
        if (cells > SK_DIM_MAX - total)
            return sk_node_fail(node, err, SK_ERR_LIMIT, "too many anchors");
        total += cells;
    }
    outs[0].shape = (sk_shape){.rank = 3, .dim = {1, 2, total}};
    outs[1].shape = (sk_shape){.rank = 3, .dim = {1, 1, total}};
    return SK_OK;
}
