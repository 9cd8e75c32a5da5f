/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_importer.h"

#include <math.h>
#include <string.h>

/* Convolutions, pooling, resizing, matrices, normalisation. */

/* Copies a list attribute of `count` numbers into int32s; absent leaves `to` as it is. */
static void read_pair_list(sk_importer *m, const char *name, int count, int32_t *to)
{
    const sk_onnx_attr *attr = sk_im_attr(m, name);
    if (!attr || attr->type != SK_ONNX_INTS || attr->count == 0)
        return;
    if (attr->count != count) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "%s has %d numbers: only windows over two dimensions are supported",
                   name, attr->count);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (attr->ints[i] < 0 || attr->ints[i] > 1 << 20)
            sk_im_fail(m, SK_ERR_FORMAT, "%s holds %lld", name, (long long)attr->ints[i]);
        to[i] = (int32_t)attr->ints[i];
    }
}

static sk_window read_window(sk_importer *m)
{
    sk_window w = {.stride = {1, 1}, .dilation = {1, 1}};
    const char *auto_pad = sk_im_text(m, "auto_pad", "NOTSET");
    read_pair_list(m, "kernel_shape", 2, w.kernel);
    read_pair_list(m, "strides", 2, w.stride);
    read_pair_list(m, "dilations", 2, w.dilation);
    if (strcmp(auto_pad, "SAME_UPPER") == 0)
        w.same = 1;
    else if (strcmp(auto_pad, "SAME_LOWER") == 0)
        w.same = 2;
    else if (strcmp(auto_pad, "NOTSET") == 0 || !*auto_pad)
        read_pair_list(m, "pads", 4, w.pad);
    else if (strcmp(auto_pad, "VALID") != 0)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "auto_pad '%.40s' is unknown", auto_pad);
    return w;
}

/* Weights are nearly always constant, and their shape then gives the kernel. */
static void read_kernel(sk_importer *m, sk_value weight, sk_window *w)
{
    if (weight == SK_VALUE_NONE || !sk_value_is_constant(m->b.graph, weight))
        return;
    const sk_shape *shape = &m->b.graph->values[weight].shape;
    if (shape->rank != 4) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED,
                   "the weights have %d dimensions: only windows over two dimensions are supported",
                   shape->rank);
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (w->kernel[i] == 0 && shape->dim[2 + i] <= 1 << 20)
            w->kernel[i] = (int32_t)shape->dim[2 + i];
        if (w->kernel[i] != shape->dim[2 + i])
            sk_im_fail(m, SK_ERR_MISMATCH, "kernel_shape says %d but the weights have %lld", w->kernel[i],
                       (long long)shape->dim[2 + i]);
    }
}

void sk_import_conv(sk_importer *m)
{
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in(m, 2)};
    sk_attrs a = {.conv = {.window = read_window(m), .groups = sk_im_int32(m, "group", 1)}};
    read_kernel(m, in[1], &a.conv.window);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_CONV, &a, in, in[2] == SK_VALUE_NONE ? 2 : 3));
}

void sk_import_conv_transpose(sk_importer *m)
{
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in(m, 2)};
    sk_attrs a = {.conv_transpose = {.window = read_window(m), .groups = sk_im_int32(m, "group", 1)}};
    read_kernel(m, in[1], &a.conv_transpose.window);
    read_pair_list(m, "output_padding", 2, a.conv_transpose.output_pad);
    if (sk_im_attr(m, "output_shape"))
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "output_shape is not supported; export with pads");
    sk_im_out(m, 0, sk_im_node(m, SK_OP_CONV_TRANSPOSE, &a, in, in[2] == SK_VALUE_NONE ? 2 : 3));
}

void sk_import_pool(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {.pool = {.window = read_window(m),
                           .ceil_mode = sk_im_int(m, "ceil_mode", 0) != 0,
                           .count_include_pad = sk_im_int(m, "count_include_pad", 0) != 0}};
    if (a.pool.window.kernel[0] == 0 || a.pool.window.kernel[1] == 0)
        sk_im_fail(m, SK_ERR_FORMAT, "kernel_shape is missing");
    sk_im_out(m, 0, sk_im_node(m, (sk_op)m->op->kind, &a, &x, 1));
    sk_im_out(m, 1, SK_VALUE_NONE);
}

void sk_import_global_pool(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {.reduce = {.kind = (sk_reduction)m->op->kind, .n_axes = 2, .axes = {2, 3}, .keep_dims = 1}};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_REDUCE, &a, &x, 1));
}

/* --- resizing --- */

static void read_resize_mode(sk_importer *m, sk_attrs *a)
{
    const char *mode = sk_im_text(m, "mode", "nearest");
    if (strcmp(mode, "nearest") == 0)
        a->resize.mode = SK_RESIZE_NEAREST;
    else if (strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0)
        a->resize.mode = SK_RESIZE_LINEAR;
    else if (strcmp(mode, "cubic") == 0)
        a->resize.mode = SK_RESIZE_CUBIC;
    else
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "resize mode '%.40s' is not supported", mode);
}

static void read_resize_rules(sk_importer *m, sk_attrs *a)
{
    static const char *const coords[] = {"", "half_pixel", "asymmetric", "align_corners",
                                         "pytorch_half_pixel"};
    static const char *const rounds[] = {"", "floor", "round_prefer_floor", "round_prefer_ceil", "ceil"};
    const char *coord = sk_im_text(m, "coordinate_transformation_mode", "half_pixel");
    const char *round = sk_im_text(m, "nearest_mode", "round_prefer_floor");
    for (int i = 1; i <= 4; i++) {
        if (strcmp(coord, coords[i]) == 0)
            a->resize.coords = (sk_resize_coords)i;
        if (strcmp(round, rounds[i]) == 0)
            a->resize.round = (sk_resize_round)i;
    }
    if (!a->resize.coords || !a->resize.round)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "resizing by '%.40s' and '%.40s' is not supported", coord, round);
    a->resize.exclude_outside = sk_im_int(m, "exclude_outside", 0) != 0;
    if (strcmp(sk_im_text(m, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "keep_aspect_ratio_policy is not supported");
    a->resize.antialias = sk_im_int(m, "antialias", 0) != 0;
    a->resize.cubic_a = sk_im_float(m, "cubic_coeff_a", -0.75f);
}

/* Opset 18 may list the resized axes; only height and width can be. Returns how many factors or sizes
 * there are. */
static int read_resize_axes(sk_importer *m)
{
    int64_t axes[4];
    int count = sk_im_ints(m, -1, "axes", axes, 4);
    if (count < 0)
        return 4;
    for (int i = 0; i < count; i++)
        if (axes[i] < 0)
            axes[i] += 4;
    if (count == 2 && axes[0] == 2 && axes[1] == 3)
        return 2;
    for (int i = 0; i < count; i++)
        if (count != 4 || axes[i] != i)
            sk_im_fail(m, SK_ERR_UNSUPPORTED, "only height and width can be resized");
    return 4;
}

static void set_factors(sk_importer *m, const sk_tensor *scales, int expected, sk_attrs *a)
{
    int64_t count = sk_shape_count(&scales->shape);
    if (count != expected) {
        sk_im_fail(m, SK_ERR_FORMAT, "%lld factors where %d are needed", (long long)count, expected);
        return;
    }
    if (count == 4 && (sk_tensor_at(scales, 0) != 1 || sk_tensor_at(scales, 1) != 1))
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "only height and width can be resized");
    a->resize.scale[0] = (float)sk_tensor_at(scales, count - 2);
    a->resize.scale[1] = (float)sk_tensor_at(scales, count - 1);
}

/* Factors that are only known when the sizes are: size = floor(shape * factor). */
static sk_value sizes_from_factors(sk_importer *m, sk_value x, sk_value scales, int expected)
{
    sk_value shape = sk_im_node(m, SK_OP_SHAPE, NULL, &x, 1);
    if (expected == 2) {
        int64_t from = 2, to = 4;
        sk_value in[] = {shape, sk_b_i64s(&m->b, &from, 1), sk_b_i64s(&m->b, &to, 1)};
        shape = sk_im_node(m, SK_OP_SLICE, NULL, in, 3);
    }
    sk_value size = sk_im_binary(m, SK_BINARY_MUL, sk_im_cast(m, shape, SK_DTYPE_F32), scales);
    return sk_im_cast(m, sk_im_unary(m, SK_UNARY_FLOOR, size), SK_DTYPE_I64);
}

/* True for an input that is there and not the empty tensor old exporters put for "left out". */
static bool has_elements(sk_importer *m, int index)
{
    sk_value v = sk_im_in(m, index);
    return v != SK_VALUE_NONE &&
           !(sk_value_is_constant(m->b.graph, v) && sk_shape_count(&m->b.graph->values[v].shape) == 0);
}

static void finish_resize(sk_importer *m, sk_attrs *a, int scales, int sizes, int expected)
{
    sk_value in[] = {sk_im_in(m, 0), SK_VALUE_NONE};
    sk_tensor factors;
    if (sizes >= 0 && has_elements(m, sizes))
        in[1] = sk_im_in_i64(m, sizes);
    else if (!has_elements(m, scales))
        sk_im_fail(m, SK_ERR_FORMAT, "neither factors nor sizes are given");
    else if (sk_im_constant(m, scales, &factors))
        set_factors(m, &factors, expected, a);
    else
        in[1] = sizes_from_factors(m, in[0], sk_im_in(m, scales), expected);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_RESIZE, a, in, in[1] == SK_VALUE_NONE ? 1 : 2));
}

void sk_import_resize(sk_importer *m)
{
    sk_attrs a = {.resize = {.cubic_a = -0.75f}};
    read_resize_mode(m, &a);
    if (m->opset >= 11) {
        read_resize_rules(m, &a);
        finish_resize(m, &a, 2, 3, read_resize_axes(m));
        return;
    }
    a.resize.coords = SK_COORDS_ASYMMETRIC;
    a.resize.round = SK_ROUND_FLOOR;
    finish_resize(m, &a, 1, -1, 4);
}

void sk_import_upsample(sk_importer *m)
{
    sk_attrs a = {.resize = {.coords = SK_COORDS_ASYMMETRIC, .round = SK_ROUND_FLOOR, .cubic_a = -0.75f}};
    const sk_onnx_attr *scales = sk_im_attr(m, "scales");
    read_resize_mode(m, &a);
    if (m->opset >= 9) {
        finish_resize(m, &a, 1, -1, 4);
        return;
    }
    if (!scales || scales->type != SK_ONNX_FLOATS || scales->count != 4 || scales->floats[0] != 1 ||
        scales->floats[1] != 1) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "only height and width can be resized");
        return;
    }
    a.resize.scale[0] = scales->floats[2];
    a.resize.scale[1] = scales->floats[3];
    sk_value x = sk_im_in(m, 0);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_RESIZE, &a, &x, 1));
}

void sk_import_grid_sample(sk_importer *m)
{
    const char *mode = sk_im_text(m, "mode", "bilinear");
    const char *padding = sk_im_text(m, "padding_mode", "zeros");
    sk_attrs a = {.grid_sample = {.align_corners = sk_im_int(m, "align_corners", 0) != 0}};
    a.grid_sample.mode = strcmp(mode, "nearest") == 0;
    a.grid_sample.padding = strcmp(padding, "border") == 0;
    if ((!a.grid_sample.mode && strcmp(mode, "bilinear") != 0 && strcmp(mode, "linear") != 0) ||
        (!a.grid_sample.padding && strcmp(padding, "zeros") != 0))
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "sampling by '%.40s' with padding '%.40s' is not supported", mode,
                   padding);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_GRID_SAMPLE, &a, (sk_value[]){sk_im_in(m, 0), sk_im_in(m, 1)}, 2));
}

/* --- matrices --- */

void sk_import_matmul(sk_importer *m)
{
    sk_im_out(m, 0, sk_im_node(m, SK_OP_MATMUL, NULL, (sk_value[]){sk_im_in(m, 0), sk_im_in(m, 1)}, 2));
}

void sk_import_gemm(sk_importer *m)
{
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in(m, 2)};
    sk_attrs a = {.gemm = {.alpha = sk_im_float(m, "alpha", 1),
                           .beta = sk_im_float(m, "beta", 1),
                           .transpose_a = sk_im_int(m, "transA", 0) != 0,
                           .transpose_b = sk_im_int(m, "transB", 0) != 0}};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_GEMM, &a, in, in[2] == SK_VALUE_NONE ? 2 : 3));
}

void sk_import_einsum(sk_importer *m)
{
    sk_attrs a = {.einsum = {.equation = ""}};
    const char *equation = sk_im_text(m, "equation", "");
    size_t length = 0;
    for (const char *c = equation; *c; c++) {
        if (*c == ' ')
            continue;
        if (length + 1 >= sizeof a.einsum.equation) {
            sk_im_fail(m, SK_ERR_UNSUPPORTED, "the equation '%.60s' is too long", equation);
            return;
        }
        a.einsum.equation[length++] = *c;
    }
    if (m->node->n_in > 2)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "only one or two inputs are supported");
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1)};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_EINSUM, &a, in, in[1] == SK_VALUE_NONE ? 1 : 2));
}

/* --- normalisation --- */

void sk_import_norm(sk_importer *m)
{
    sk_op op = (sk_op)m->op->kind;
    sk_value in[5];
    int count = op == SK_OP_BATCH_NORM ? 5 : 3;
    for (int i = 0; i < count; i++)
        in[i] = sk_im_in(m, i);
    while (count > 1 && in[count - 1] == SK_VALUE_NONE)
        count--;
    sk_attrs a = {.norm = {.axis = op == SK_OP_LAYER_NORM ? sk_im_int32(m, "axis", -1) : 1,
                           .epsilon = sk_im_float(m, "epsilon", 1e-5f)}};
    if (op == SK_OP_BATCH_NORM && (sk_im_int(m, "training_mode", 0) != 0 || sk_im_int(m, "spatial", 1) == 0))
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "the model was exported for training; export it for inference");
    sk_im_out(m, 0, sk_im_node(m, op, &a, in, count));
    for (int i = 1; i < m->node->n_out; i++)
        sk_im_out(m, i, SK_VALUE_NONE);
}
