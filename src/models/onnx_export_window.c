/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_exporter.h"

#include "graph/infer.h"

/* Convolutions, pooling, resizing, matrices, normalisation, anchors. */

/* Borders of the kind "same" do not depend on the input's size where the stride is 1. They are then written as numbers:
 * ONNX Runtime refuses the word together with dilations. */
static bool same_as_pads(const sk_window *w, int32_t pads[4])
{
    if (!w->same || w->stride[0] != 1 || w->stride[1] != 1 || w->kernel[0] < 1 || w->kernel[1] < 1)
        return false;
    for (int d = 0; d < 2; d++) {
        int32_t total = (w->kernel[d] - 1) * w->dilation[d];
        pads[d] = w->same == 1 ? total / 2 : total - total / 2;
        pads[2 + d] = total - pads[d];
    }
    return true;
}

/* kernel (0 = as the weights), strides, dilations, pads; returns how many attributes. */
static int window_attrs(sk_exporter *e, const sk_window *w, bool dilations, sk_onnx_attr *attrs)
{
    int n = 0;
    if (w->kernel[0] > 0 && w->kernel[1] > 0)
        attrs[n++] = sk_ex_attr_ints(e, "kernel_shape", w->kernel, 2);
    attrs[n++] = sk_ex_attr_ints(e, "strides", w->stride, 2);
    if (dilations)
        attrs[n++] = sk_ex_attr_ints(e, "dilations", w->dilation, 2);
    int32_t pads[4];
    if (same_as_pads(w, pads))
        attrs[n++] = sk_ex_attr_ints(e, "pads", pads, 4);
    else if (w->same)
        attrs[n++] = sk_ex_attr_text(e, "auto_pad", w->same == 1 ? "SAME_UPPER" : "SAME_LOWER");
    else
        attrs[n++] = sk_ex_attr_ints(e, "pads", w->pad, 4);
    return n;
}

/* What the fuse passes put into a convolution is taken apart again: act(conv) + residual, or act(conv +
 * residual). */
void sk_export_conv(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[6];
    sk_window window = a->conv.window;
    const sk_shape *weights = &e->graph->values[e->node->in[1]].shape;
    for (int d = 0; d < 2 && weights->rank == 4; d++)
        if (window.kernel[d] == 0 && weights->dim[2 + d] > 0)
            window.kernel[d] = (int32_t)weights->dim[2 + d];
    int n = window_attrs(e, &window, true, attrs);
    bool act = a->conv.act.kind != 0, residual = *sk_ex_in(e, 3) != '\0';
    const char *out = sk_ex_out(e, 0), *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2)};
    attrs[n++] = sk_ex_attr_int("group", a->conv.groups);
    const char *y = sk_ex_emit(e, "Conv", in, 3, attrs, n, act || residual ? NULL : out);
    if (residual && a->conv.residual_before_act)
        y = sk_ex_2(e, "Add", y, sk_ex_in(e, 3), act ? NULL : out);
    bool last = !(residual && !a->conv.residual_before_act);
    if (act)
        y = sk_ex_unary(e, a->conv.act.kind, a->conv.act.alpha, a->conv.act.beta, y, sk_ex_type(e, 0),
                        last ? out : NULL);
    if (!last)
        sk_ex_2(e, "Add", y, sk_ex_in(e, 3), out);
}

void sk_export_conv_transpose(sk_exporter *e)
{
    sk_attrs a = e->node->a;
    sk_onnx_attr attrs[7];
    const sk_shape *weight = &e->graph->values[e->node->in[1]].shape;
    if (weight->rank == 4)
        sk_conv_transpose_resolve(&a, weight->dim[2], weight->dim[3]);
    else if (a.conv_transpose.same_output || a.conv_transpose.window.same)
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "the size of its weights is not known");
    int n = window_attrs(e, &a.conv_transpose.window, true, attrs);
    bool act = a.conv_transpose.act.kind != 0;
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2)};
    attrs[n++] = sk_ex_attr_int("group", a.conv_transpose.groups);
    attrs[n++] = sk_ex_attr_ints(e, "output_padding", a.conv_transpose.output_pad, 2);
    const char *y = sk_ex_emit(e, "ConvTranspose", in, 3, attrs, n, act ? NULL : sk_ex_out(e, 0));
    if (act)
        sk_ex_unary(e, a.conv_transpose.act.kind, a.conv_transpose.act.alpha, a.conv_transpose.act.beta, y,
                    sk_ex_type(e, 0), sk_ex_out(e, 0));
}

void sk_export_pool(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    bool average = e->node->op == SK_OP_AVG_POOL;
    sk_onnx_attr attrs[6];
    int n = window_attrs(e, &a->pool.window, !average, attrs);
    if (average && (a->pool.window.dilation[0] != 1 || a->pool.window.dilation[1] != 1))
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "averages with dilation have no form in opset %d", e->opset);
    attrs[n++] = sk_ex_attr_int("ceil_mode", a->pool.ceil_mode);
    if (average)
        attrs[n++] = sk_ex_attr_int("count_include_pad", a->pool.count_include_pad);
    const char *x = sk_ex_in(e, 0);
    sk_ex_emit(e, average ? "AveragePool" : "MaxPool", &x, 1, attrs, n, sk_ex_out(e, 0));
}

/* ONNX wants all four sizes; ours may be height and width only. */
static const char *resize_sizes(sk_exporter *e)
{
    const sk_shape *shape = &e->graph->values[e->node->in[1]].shape;
    if (!(shape->rank == 1 && shape->dim[0] == 2))
        return sk_ex_in(e, 1);
    const int64_t zero = 0, two = 2;
    const char *slice[] = {sk_ex_1(e, "Shape", sk_ex_in(e, 0), NULL), sk_ex_ints(e, &zero, 1),
                           sk_ex_ints(e, &two, 1)};
    const char *first = sk_ex_emit(e, "Slice", slice, 3, NULL, 0, NULL);
    sk_onnx_attr axis = sk_ex_attr_int("axis", 0);
    return sk_ex_emit(e, "Concat", (const char *[]){first, sk_ex_in(e, 1)}, 2, &axis, 1, NULL);
}

void sk_export_resize(sk_exporter *e)
{
    static const char *const modes[] = {"", "nearest", "linear", "cubic"};
    static const char *const coords[] = {"", "half_pixel", "asymmetric", "align_corners",
                                         "pytorch_half_pixel"};
    static const char *const rounds[] = {"round_prefer_floor", "floor", "round_prefer_floor",
                                         "round_prefer_ceil", "ceil"};
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[5];
    int n = 0;
    attrs[n++] = sk_ex_attr_text(e, "mode", modes[a->resize.mode]);
    attrs[n++] = sk_ex_attr_text(e, "coordinate_transformation_mode", coords[a->resize.coords]);
    if (a->resize.mode == SK_RESIZE_NEAREST)
        attrs[n++] = sk_ex_attr_text(e, "nearest_mode", rounds[a->resize.round]);
    if (a->resize.mode == SK_RESIZE_CUBIC)
        attrs[n++] = sk_ex_attr_float("cubic_coeff_a", a->resize.cubic_a);
    if (a->resize.antialias && e->opset < 18)
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "resizing with antialias needs opset 18, not %d", e->opset);
    if (a->resize.antialias)
        attrs[n++] = sk_ex_attr_int("antialias", 1);
    if (a->resize.exclude_outside)
        attrs[n++] = sk_ex_attr_int("exclude_outside", 1);
    const char *in[] = {sk_ex_in(e, 0), "", "", ""};
    if (*sk_ex_in(e, 1))
        in[3] = resize_sizes(e);
    else
        in[2] = sk_ex_floats(e, (float[]){1, 1, a->resize.scale[0], a->resize.scale[1]}, 4);
    sk_ex_emit(e, "Resize", in, 4, attrs, n, sk_ex_out(e, 0));
}

void sk_export_grid_sample(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    if (e->opset < 16)
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "needs opset 16, not %d", e->opset);
    sk_onnx_attr attrs[] = {sk_ex_attr_text(e, "mode", a->grid_sample.mode ? "nearest" : "bilinear"),
                            sk_ex_attr_text(e, "padding_mode", a->grid_sample.padding ? "border" : "zeros"),
                            sk_ex_attr_int("align_corners", a->grid_sample.align_corners)};
    sk_ex_emit(e, "GridSample", (const char *[]){sk_ex_in(e, 0), sk_ex_in(e, 1)}, 2, attrs, 3,
               sk_ex_out(e, 0));
}

void sk_export_gemm(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[] = {sk_ex_attr_float("alpha", a->gemm.alpha), sk_ex_attr_float("beta", a->gemm.beta),
                            sk_ex_attr_int("transA", a->gemm.transpose_a),
                            sk_ex_attr_int("transB", a->gemm.transpose_b)};
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2)};
    sk_ex_emit(e, "Gemm", in, 3, attrs, 4, sk_ex_out(e, 0));
}

void sk_export_einsum(sk_exporter *e)
{
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1)};
    sk_onnx_attr equation = sk_ex_attr_text(e, "equation", e->node->a.einsum.equation);
    sk_ex_emit(e, "Einsum", in, 2, &equation, 1, sk_ex_out(e, 0));
}

/* (x - mean) / sqrt(variance + epsilon), both over `axes`. */
static const char *standardise(sk_exporter *e, const int32_t *axes, int n_axes, const char *out)
{
    sk_dtype type = sk_ex_type(e, 0);
    const char *x = sk_ex_in(e, 0);
    const char *mean = sk_ex_reduce(e, SK_REDUCE_MEAN, x, axes, n_axes, true, NULL);
    const char *centred = sk_ex_2(e, "Sub", x, mean, NULL);
    const char *square = sk_ex_2(e, "Mul", centred, centred, NULL);
    const char *variance = sk_ex_reduce(e, SK_REDUCE_MEAN, square, axes, n_axes, true, NULL);
    variance = sk_ex_2(e, "Add", variance, sk_ex_scalar(e, type, (double)e->node->a.norm.epsilon), NULL);
    return sk_ex_2(e, "Div", centred, sk_ex_1(e, "Sqrt", variance, NULL), out);
}

static void export_layer_norm(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2)}, *out = sk_ex_out(e, 0);
    if (e->opset >= 17 && *in[1]) {
        sk_onnx_attr attrs[] = {sk_ex_attr_int("axis", a->norm.axis),
                                sk_ex_attr_float("epsilon", a->norm.epsilon)};
        sk_ex_emit(e, "LayerNormalization", in, 3, attrs, 2, out);
        return;
    }
    int32_t axes[SK_MAX_RANK], rank = e->graph->values[e->node->in[0]].shape.rank;
    int32_t count = a->norm.axis < 0 ? -a->norm.axis : rank - a->norm.axis;
    if (count < 1 || count > SK_MAX_RANK) {
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "needs opset 17, not %d", e->opset);
        return;
    }
    for (int32_t i = 0; i < count; i++)
        axes[i] = i - count;
    const char *y = standardise(e, axes, count, *in[1] || *in[2] ? NULL : out);
    if (*in[1])
        y = sk_ex_2(e, "Mul", y, in[1], *in[2] ? NULL : out);
    if (*in[2])
        sk_ex_2(e, "Add", y, in[2], out);
}

void sk_export_norm(sk_exporter *e)
{
    sk_onnx_attr epsilon = sk_ex_attr_float("epsilon", e->node->a.norm.epsilon);
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2), sk_ex_in(e, 3), sk_ex_in(e, 4)};
    if (e->node->op == SK_OP_BATCH_NORM)
        sk_ex_emit(e, "BatchNormalization", in, 5, &epsilon, 1, sk_ex_out(e, 0));
    else if (e->node->op == SK_OP_LAYER_NORM)
        export_layer_norm(e);
    else if (*in[1] && *in[2])
        sk_ex_emit(e, "InstanceNormalization", in, 3, &epsilon, 1, sk_ex_out(e, 0));
    else if (!*in[1] && !*in[2])
        standardise(e, (int32_t[]){2, 3}, 2, sk_ex_out(e, 0));
    else
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "needs both a scale and a shift");
}

/* --- anchors, from the levels' shapes --- */

/* 0.5, 1.5, … as long as the size, in the given shape, spread over the grid, as [1][1][cells]. */
static const char *coordinates(sk_exporter *e, const char *size, const char *grid, const int64_t shape[2])
{
    static const int64_t flat[] = {1, 1, -1};
    sk_onnx_attr to = sk_ex_attr_int("to", sk_onnx_type_of(sk_onnx_written_type(SK_DTYPE_F32, e->half)));
    const char *range[] = {sk_ex_int(e, 0), size, sk_ex_int(e, 1)};
    const char *v = sk_ex_emit(e, "Range", range, 3, NULL, 0, NULL);
    v = sk_ex_emit(e, "Cast", &v, 1, &to, 1, NULL);
    v = sk_ex_2(e, "Add", v, sk_ex_scalar(e, SK_DTYPE_F32, 0.5), NULL);
    v = sk_ex_2(e, "Reshape", v, sk_ex_ints(e, shape, 2), NULL);
    v = sk_ex_2(e, "Expand", v, grid, NULL);
    return sk_ex_2(e, "Reshape", v, sk_ex_ints(e, flat, 3), NULL);
}

/* One level: centres [1][2][cells] and strides [1][1][cells]. */
static void anchor_level(sk_exporter *e, int level, const char **centres, const char **strides)
{
    static const int64_t from = 2, to = 4, row[] = {1, -1}, column[] = {-1, 1};
    sk_onnx_attr axis0 = sk_ex_attr_int("axis", 0), axis1 = sk_ex_attr_int("axis", 1);
    const char *shape = sk_ex_1(e, "Shape", sk_ex_in(e, level), NULL);
    const char *slice[] = {shape, sk_ex_ints(e, &from, 1), sk_ex_ints(e, &to, 1)};
    const char *grid = sk_ex_emit(e, "Slice", slice, 3, NULL, 0, NULL);
    const char *height =
        sk_ex_emit(e, "Gather", (const char *[]){shape, sk_ex_int(e, 2)}, 2, &axis0, 1, NULL);
    const char *width = sk_ex_emit(e, "Gather", (const char *[]){shape, sk_ex_int(e, 3)}, 2, &axis0, 1, NULL);
    const char *x = coordinates(e, width, grid, row), *y = coordinates(e, height, grid, column);
    *centres = sk_ex_emit(e, "Concat", (const char *[]){x, y}, 2, &axis1, 1, NULL);
    const char *same = sk_ex_1(e, "Shape", x, NULL);
    *strides = sk_ex_2(e, "Expand", sk_ex_scalar(e, SK_DTYPE_F32, (double)e->node->a.anchors.stride[level]),
                       same, NULL);
}

void sk_export_anchors(sk_exporter *e)
{
    const char *centres[8], *strides[8];
    sk_onnx_attr axis = sk_ex_attr_int("axis", 2);
    int n = e->node->n_in < 8 ? e->node->n_in : 8;
    for (int i = 0; i < n; i++)
        anchor_level(e, i, &centres[i], &strides[i]);
    sk_ex_emit(e, "Concat", centres, n, &axis, 1, sk_ex_out(e, 0));
    sk_ex_emit(e, "Concat", strides, n, &axis, 1, sk_ex_out(e, 1));
}
