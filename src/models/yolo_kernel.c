/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- tensors --- */

static bool all_finite(const float *values, size_t count)
{
    /* x * 0 is NaN exactly for infinities and NaN; one sum, no branches. */
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * 0.0f;
    return sum == 0;
}

sk_blob *sk_yolo_weights(yolo_reader *y, yolo_module *module, const char *name, sk_shape *shape)
{
    if (!sk_yolo_ok(y))
        return NULL;
    const sk_pickle_value *tensor = sk_pickle_parameter(module, name);
    sk_blob *blob = NULL;
    if (!tensor) {
        sk_yolo_fail(y, SK_ERR_FORMAT, "its tensor '%s' is missing; the checkpoint is incomplete", name);
        return NULL;
    }
    sk_error error;
    sk_status status = sk_torch_file_tensor(y->file, tensor, SK_DTYPE_F32, &blob, &error);
    if (status != SK_OK) {
        sk_builder_fail(&y->b, status, "%s (tensor '%s.%s')", error.message, y->scope, name);
        return NULL;
    }
    if (!all_finite(sk_blob_data(blob), sk_blob_bytes(blob) / sizeof(float))) {
        sk_blob_unref(&blob);
        sk_yolo_fail(y, SK_ERR_FORMAT,
                     "tensor '%s.%s' holds values that are not finite (NaN or infinity): the "
                     "training diverged. Use an earlier checkpoint",
                     y->scope, name);
        return NULL;
    }
    *shape = tensor->u.tensor.shape;
    return blob;
}

/* A vector of exactly n elements, or null after failing. */
static sk_blob *vector(yolo_reader *y, yolo_module *module, const char *name, int64_t n)
{
    sk_shape shape;
    char text[SK_SHAPE_TEXT];
    sk_blob *blob = sk_yolo_weights(y, module, name, &shape);
    if (blob && (shape.rank != 1 || shape.dim[0] != n)) {
        sk_blob_unref(&blob);
        sk_yolo_fail(y, SK_ERR_MISMATCH, "tensor '%s' has shape %s where %lld elements are needed", name,
                     sk_shape_text(&shape, text, sizeof text), (long long)n);
    }
    return blob;
}

/* --- batch norm as one factor and one summand for each channel --- */

typedef struct norm_lines {
    sk_blob *factor, *summand; /* f64 [n]: weights are rounded once, after the product */
} norm_lines;

static void free_lines(norm_lines *lines)
{
    sk_blob_unref(&lines->factor);
    sk_blob_unref(&lines->summand);
}

static bool read_norm(yolo_reader *y, yolo_module *norm, int64_t n, norm_lines *lines)
{
    *lines = (norm_lines){0};
    double epsilon = 1e-5;
    sk_pickle_to_real(sk_pickle_get(norm, "eps"), &epsilon);
    bool affine = sk_pickle_parameter(norm, "weight") != NULL;
    sk_blob *mean = vector(y, norm, "running_mean", n), *variance = vector(y, norm, "running_var", n);
    sk_blob *scale = affine ? vector(y, norm, "weight", n) : NULL,
            *shift = affine ? vector(y, norm, "bias", n) : NULL;
    if (sk_yolo_ok(y) && (sk_blob_alloc((size_t)n * sizeof(double), &lines->factor, &y->b.error) != SK_OK ||
                          sk_blob_alloc((size_t)n * sizeof(double), &lines->summand, &y->b.error) != SK_OK))
        y->b.status = SK_ERR_MEMORY;
    if (sk_yolo_ok(y)) {
        const float *m = sk_blob_data(mean), *v = sk_blob_data(variance), *g = sk_blob_data(scale);
        const float *s = sk_blob_data(shift);
        double *factor = sk_blob_data(lines->factor), *summand = sk_blob_data(lines->summand);
        bool fine = true;
        for (int64_t i = 0; i < n; i++) {
            factor[i] = (g ? (double)g[i] : 1.0) / sqrt((double)v[i] + epsilon);
            summand[i] = (s ? (double)s[i] : 0.0) - (double)m[i] * factor[i];
            fine &= fabs(factor[i]) < 1e30 && fabs(summand[i]) < 1e30; /* false for NaN, too */
        }
        if (!fine)
            sk_yolo_fail(y, SK_ERR_FORMAT,
                         "the batch norm has a variance below zero or too small to divide by");
    }
    sk_blob_unref(&mean);
    sk_blob_unref(&variance);
    sk_blob_unref(&scale);
    sk_blob_unref(&shift);
    if (!sk_yolo_ok(y))
        free_lines(lines);
    return sk_yolo_ok(y);
}

sk_value sk_yolo_batch_norm(yolo_reader *y, yolo_module *norm, sk_value x)
{
    sk_shape shape;
    sk_value in[5] = {x};
    double epsilon = 1e-5;
    sk_pickle_to_real(sk_pickle_get(norm, "eps"), &epsilon);
    static const char *const names[4] = {"weight", "bias", "running_mean", "running_var"};
    for (int i = 0; i < 4; i++) {
        sk_blob *blob = sk_yolo_weights(y, norm, names[i], &shape);
        in[i + 1] = sk_b_constant_blob(&y->b, names[i], SK_DTYPE_F32, &shape, blob, 0);
        sk_blob_unref(&blob);
    }
    return sk_b_node(&y->b, SK_OP_BATCH_NORM, &(sk_attrs){.norm = {.epsilon = (float)epsilon}}, in, 5, NULL);
}

/* --- convolutions --- */

static bool small_positive(const int64_t pair[2], int64_t low)
{
    return pair[0] >= low && pair[1] >= low && pair[0] <= 1024 && pair[1] <= 1024;
}

/* The window from a Conv2d's or pool's attributes. */
static bool read_window(yolo_reader *y, yolo_module *module, sk_window *window)
{
    int64_t kernel[2], stride[2], pad[2], dilation[2] = {1, 1};
    *window = (sk_window){0};
    if (!sk_yolo_pair(module, "kernel_size", kernel) || !sk_yolo_pair(module, "stride", stride) ||
        !sk_yolo_pair(module, "padding", pad) ||
        (sk_pickle_get(module, "dilation") && !sk_yolo_pair(module, "dilation", dilation)) ||
        !small_positive(kernel, 1) || !small_positive(stride, 1) || !small_positive(pad, 0) ||
        !small_positive(dilation, 1)) {
        sk_yolo_fail(y, SK_ERR_UNSUPPORTED,
                     "its kernel size, stride, padding or dilation is missing or not plain "
                     "integers");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        window->kernel[i] = (int32_t)kernel[i];
        window->stride[i] = (int32_t)stride[i];
        window->dilation[i] = (int32_t)dilation[i];
        window->pad[i] = window->pad[i + 2] = (int32_t)pad[i];
    }
    return true;
}

bool sk_yolo_kernel_read(yolo_reader *y, yolo_module *conv, yolo_kernel *k)
{
    *k = (yolo_kernel){0};
    const char *class_name = sk_pickle_class(conv, NULL),
               *mode = sk_pickle_text(sk_pickle_get(conv, "padding_mode"));
    if (!class_name || strcmp(class_name, "Conv2d") != 0) {
        sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "a Conv2d was expected, but there is %s",
                     class_name ? class_name : "none");
        return false;
    }
    if (mode && strcmp(mode, "zeros") != 0) {
        sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "padding mode '%s' (only zeros)", mode);
        return false;
    }
    int64_t groups = sk_yolo_int(conv, "groups", 1), in = sk_yolo_int(conv, "in_channels", -1);
    int64_t out = sk_yolo_int(conv, "out_channels", -1);
    if (!read_window(y, conv, &k->window))
        return false;
    k->weight = sk_yolo_weights(y, conv, "weight", &k->shape);
    if (!k->weight)
        return false;
    const sk_shape *s = &k->shape;
    if (groups < 1 || groups > 65536 || s->rank != 4 || s->dim[0] != out || s->dim[1] * groups != in ||
        s->dim[0] % groups != 0 || s->dim[0] < 1 || s->dim[1] < 1 || s->dim[2] != k->window.kernel[0] ||
        s->dim[3] != k->window.kernel[1]) {
        char text[SK_SHAPE_TEXT];
        sk_yolo_fail(y, SK_ERR_MISMATCH,
                     "the weight has shape %s, but the module says %lld to %lld channels, kernel "
                     "%dx%d, %lld groups",
                     sk_shape_text(s, text, sizeof text), (long long)in, (long long)out, k->window.kernel[0],
                     k->window.kernel[1], (long long)groups);
        return false;
    }
    k->groups = (int)groups;
    if (sk_pickle_parameter(conv, "bias"))
        k->bias = vector(y, conv, "bias", out);
    return sk_yolo_ok(y);
}

static bool ensure_bias(yolo_reader *y, yolo_kernel *k)
{
    if (k->bias)
        return true;
    sk_status status = sk_blob_alloc((size_t)k->shape.dim[0] * sizeof(float), &k->bias, &y->b.error);
    if (status != SK_OK)
        y->b.status = status;
    return status == SK_OK;
}

/* y = (w * x + b) * f + s, so w becomes w * f and b becomes b * f + s. */
bool sk_yolo_kernel_fold(yolo_reader *y, yolo_kernel *k, yolo_module *norm)
{
    norm_lines lines;
    if (!read_norm(y, norm, k->shape.dim[0], &lines))
        return false;
    bool done = ensure_bias(y, k);
    if (done) {
        float *w = sk_blob_data(k->weight), *b = sk_blob_data(k->bias);
        const double *f = sk_blob_data(lines.factor), *s = sk_blob_data(lines.summand);
        int64_t per = k->shape.dim[1] * k->shape.dim[2] * k->shape.dim[3];
        for (int64_t o = 0; o < k->shape.dim[0]; o++) {
            for (int64_t i = 0; i < per; i++)
                w[o * per + i] = (float)((double)w[o * per + i] * f[o]);
            b[o] = (float)((double)b[o] * f[o] + s[o]);
        }
    }
    free_lines(&lines);
    return done;
}

/* Where the smaller kernel's centre tap lies, it must see the same pixel: pads differ by half the size difference. */
static bool mergeable(const yolo_kernel *k, const yolo_kernel *other, int64_t shift[2])
{
    for (int i = 0; i < 2; i++) {
        int64_t difference = k->shape.dim[2 + i] - other->shape.dim[2 + i];
        shift[i] = difference / 2;
        if (difference < 0 || difference % 2 || k->window.stride[i] != other->window.stride[i] ||
            k->window.dilation[i] != 1 || other->window.dilation[i] != 1 ||
            k->window.pad[i] - other->window.pad[i] != shift[i])
            return false;
    }
    return k->shape.dim[0] == other->shape.dim[0] && k->shape.dim[1] == other->shape.dim[1] &&
           k->groups == other->groups;
}

bool sk_yolo_kernel_merge(yolo_reader *y, yolo_kernel *k, const yolo_kernel *other)
{
    int64_t shift[2];
    if (!mergeable(k, other, shift)) {
        sk_yolo_fail(y, SK_ERR_MISMATCH, "its parallel convolutions do not fit onto each other");
        return false;
    }
    const sk_shape *big = &k->shape, *small = &other->shape;
    float *w = sk_blob_data(k->weight);
    const float *v = sk_blob_data(other->weight);
    for (int64_t plane = 0; plane < big->dim[0] * big->dim[1]; plane++) {
        for (int64_t r = 0; r < small->dim[2]; r++) {
            for (int64_t c = 0; c < small->dim[3]; c++)
                w[(plane * big->dim[2] + r + shift[0]) * big->dim[3] + c + shift[1]] +=
                    v[(plane * small->dim[2] + r) * small->dim[3] + c];
        }
    }
    if (other->bias) {
        if (!ensure_bias(y, k))
            return false;
        float *b = sk_blob_data(k->bias);
        const float *c = sk_blob_data(other->bias);
        for (int64_t o = 0; o < big->dim[0]; o++)
            b[o] += c[o];
    }
    return true;
}

bool sk_yolo_kernel_merge_identity(yolo_reader *y, yolo_kernel *k, yolo_module *norm)
{
    norm_lines lines;
    const sk_shape *s = &k->shape;
    if (s->dim[0] != s->dim[1] * k->groups || s->dim[2] % 2 == 0 || s->dim[3] % 2 == 0 ||
        k->window.stride[0] != 1 || k->window.stride[1] != 1) {
        sk_yolo_fail(y, SK_ERR_MISMATCH, "its identity branch does not fit onto the convolution");
        return false;
    }
    if (!read_norm(y, norm, s->dim[0], &lines))
        return false;
    bool done = ensure_bias(y, k);
    if (done) {
        float *w = sk_blob_data(k->weight), *b = sk_blob_data(k->bias);
        const double *factor = sk_blob_data(lines.factor), *summand = sk_blob_data(lines.summand);
        for (int64_t o = 0; o < s->dim[0]; o++) {
            int64_t plane = o * s->dim[1] + o % s->dim[1];
            w[(plane * s->dim[2] + s->dim[2] / 2) * s->dim[3] + s->dim[3] / 2] += (float)factor[o];
            b[o] += (float)summand[o];
        }
    }
    free_lines(&lines);
    return done;
}

static sk_value named_constant(yolo_reader *y, const char *name, const sk_shape *shape, sk_blob *blob)
{
    char full[sizeof y->scope + 32];
    snprintf(full, sizeof full, "%s.%s", y->scope, name);
    return sk_b_constant_blob(&y->b, full, SK_DTYPE_F32, shape, blob, 0);
}

sk_value sk_yolo_kernel_emit(yolo_reader *y, yolo_kernel *k, sk_value x)
{
    if (!sk_yolo_ok(y))
        return SK_VALUE_NONE;
    sk_value w = named_constant(y, "weight", &k->shape, k->weight), b = SK_VALUE_NONE;
    if (k->bias)
        b = named_constant(y, "bias", &(sk_shape){.rank = 1, .dim = {k->shape.dim[0]}}, k->bias);
    return sk_b_conv(&y->b, x, w, b, &k->window, k->groups, NULL);
}

void sk_yolo_kernel_free(yolo_kernel *k)
{
    sk_blob_unref(&k->weight);
    sk_blob_unref(&k->bias);
}

sk_value sk_yolo_conv2d(yolo_reader *y, yolo_module *conv, sk_value x)
{
    yolo_kernel k;
    sk_yolo_kernel_read(y, conv, &k);
    sk_value out = sk_yolo_kernel_emit(y, &k, x);
    sk_yolo_kernel_free(&k);
    return out;
}

/* Weights are [in][out/groups][kh][kw]: plane p belongs to input p / (out/groups), so to that input's group. */
static void fold_transposed(yolo_kernel *k, const norm_lines *lines)
{
    float *w = sk_blob_data(k->weight), *b = sk_blob_data(k->bias);
    const double *f = sk_blob_data(lines->factor), *s = sk_blob_data(lines->summand);
    int64_t area = k->shape.dim[2] * k->shape.dim[3], inputs = k->shape.dim[0] / k->groups,
            outs = k->shape.dim[1];
    for (int64_t plane = 0; plane < k->shape.dim[0] * outs; plane++) {
        int64_t o = plane / outs / inputs * outs + plane % outs;
        for (int64_t i = 0; i < area; i++)
            w[plane * area + i] = (float)((double)w[plane * area + i] * f[o]);
    }
    for (int64_t o = 0; o < outs * k->groups; o++)
        b[o] = (float)((double)b[o] * f[o] + s[o]);
}

static bool read_transposed(yolo_reader *y, yolo_module *conv, yolo_module *norm, yolo_kernel *k)
{
    int64_t groups = sk_yolo_int(conv, "groups", 1);
    if (!sk_yolo_ok(y) || !read_window(y, conv, &k->window))
        return false;
    k->weight = sk_yolo_weights(y, conv, "weight", &k->shape);
    if (!k->weight)
        return false;
    int64_t channels = k->shape.rank == 4 && groups >= 1 && groups <= 65536 ? k->shape.dim[1] * groups : -1;
    if (channels < 1 || channels != sk_yolo_int(conv, "out_channels", channels) || k->shape.dim[0] % groups ||
        k->shape.dim[2] != k->window.kernel[0] || k->shape.dim[3] != k->window.kernel[1]) {
        sk_yolo_fail(y, SK_ERR_MISMATCH, "the transposed convolution's weight does not fit its sizes");
        return false;
    }
    k->groups = (int)groups;
    if (sk_pickle_parameter(conv, "bias") && !(k->bias = vector(y, conv, "bias", channels)))
        return false;
    const char *norm_class = sk_pickle_class(norm, NULL);
    if (!norm_class || strcmp(norm_class, "Identity") == 0)
        return true;
    norm_lines lines;
    if (!read_norm(y, norm, channels, &lines))
        return false;
    sk_status status = SK_OK;
    if (!k->bias)
        status = sk_blob_alloc((size_t)channels * sizeof(float), &k->bias, &y->b.error);
    if (status == SK_OK)
        fold_transposed(k, &lines);
    else
        y->b.status = status;
    free_lines(&lines);
    return status == SK_OK;
}

sk_value sk_yolo_conv_transpose2d(yolo_reader *y, yolo_module *conv, yolo_module *norm, sk_value x)
{
    yolo_kernel k = {0};
    int64_t extra[2] = {0, 0};
    sk_value out = SK_VALUE_NONE;
    if (sk_pickle_get(conv, "output_padding") &&
        (!sk_yolo_pair(conv, "output_padding", extra) || !small_positive(extra, 0)))
        return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "its output padding is not plain integers");
    if (read_transposed(y, conv, norm, &k)) {
        sk_attrs attrs = {.conv_transpose = {.window = k.window,
                                             .groups = k.groups,
                                             .output_pad = {(int32_t)extra[0], (int32_t)extra[1]}}};
        sk_value in[3] = {x, named_constant(y, "weight", &k.shape, k.weight), SK_VALUE_NONE};
        if (k.bias)
            in[2] =
                named_constant(y, "bias", &(sk_shape){.rank = 1, .dim = {k.shape.dim[1] * k.groups}}, k.bias);
        out = sk_b_node(&y->b, SK_OP_CONV_TRANSPOSE, &attrs, in, k.bias ? 3 : 2, NULL);
    }
    sk_yolo_kernel_free(&k);
    return out;
}
