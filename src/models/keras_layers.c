/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keras_layer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_WINDOW 4096 /* pixels of a kernel, stride, border */

sk_status sk_keras_layer_fail(const sk_keras_layer *layer, sk_status code, const char *file, int line,
                              const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sk_error_set(layer->err, code, file, line, "%s: layer \"%.120s\" (%.60s): %s", layer->what,
                        layer->name, layer->class_name, text);
}

/* --- reading a layer's settings --- */

/* "kernel_size": [3, 3] or 3. */
sk_status sk_keras_pair(const sk_keras_layer *l, const char *key, int64_t fallback, int32_t out[2])
{
    const sk_config_value *value = sk_config_get(l->config, key);
    for (size_t i = 0; i < 2; i++) {
        int64_t number = fallback;
        const sk_config_value *part = sk_config_is(value, SK_CONFIG_LIST) ? sk_config_at(value, i) : value;
        bool given = sk_config_to_int(part, &number);
        if ((!given && !(sk_config_is_null(value) && fallback > 0)) || number < 1 || number > MAX_WINDOW)
            return sk_keras_fail(l, SK_ERR_FORMAT, "\"%s\" is missing or out of range", key);
        out[i] = (int32_t)number;
    }
    return SK_OK;
}

static sk_status read_same(const sk_keras_layer *l, bool *same)
{
    const char *padding = sk_config_text_or(l->config, "padding", "valid");
    *same = strcasecmp(padding, "same") == 0;
    if (!*same && strcasecmp(padding, "valid") != 0)
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "padding \"%s\"", padding);
    return SK_OK;
}

sk_status sk_keras_window(const sk_keras_layer *l, const char *kernel_key, int64_t kernel_fallback,
                          bool stride_is_kernel, sk_window *w)
{
    bool same;
    *w = (sk_window){0};
    const char *format = sk_config_text_or(l->config, "data_format", "channels_last");
    if (strcmp(format, "channels_last") != 0)
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "data format \"%s\"; only channels_last is read", format);
    SK_TRY(sk_keras_pair(l, kernel_key, kernel_fallback, w->kernel));
    SK_TRY(sk_keras_pair(l, "strides", 1, w->stride));
    if (stride_is_kernel && sk_config_is_null(sk_config_get(l->config, "strides")))
        memcpy(w->stride, w->kernel, sizeof w->stride);
    SK_TRY(sk_keras_pair(l, "dilation_rate", 1, w->dilation));
    SK_TRY(read_same(l, &same));
    w->same = same; /* the odd pixel at the end, as TensorFlow does */
    return SK_OK;
}

sk_status sk_keras_need_image(const sk_keras_layer *l)
{
    if (l->in[0].rank != 4)
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "needs an image, but its input has %d dimensions",
                             l->in[0].rank);
    return SK_OK;
}

/* --- pooling and sizes --- */

static sk_status pool2d(sk_keras_layer *l)
{
    SK_TRY(sk_keras_need_image(l));
    sk_attrs a = {
        .pool = {.ceil_mode = 0, .count_include_pad = 0}}; /* TensorFlow leaves padding out of averages */
    SK_TRY(sk_keras_window(l, "pool_size", 2, true, &a.pool.window));
    bool is_max = strncmp(l->class_name, "Max", 3) == 0;
    l->out = l->in[0];
    l->out.v = sk_b_node(l->b, is_max ? SK_OP_MAX_POOL : SK_OP_AVG_POOL, &a, &l->in[0].v, 1, NULL);
    l->out.stride *= a.pool.window.stride[0];
    return SK_OK;
}

static sk_status global_pool2d(sk_keras_layer *l)
{
    static const int axes[] = {2, 3};
    SK_TRY(sk_keras_need_image(l));
    bool keep = sk_config_bool_or(l->config, "keepdims", false);
    bool is_max = strncmp(l->class_name, "GlobalMax", 9) == 0;
    l->out = l->in[0];
    l->out.v = sk_b_reduce(l->b, is_max ? SK_REDUCE_MAX : SK_REDUCE_MEAN, l->in[0].v, axes, 2, keep);
    l->out.rank = keep ? 4 : 2;
    return SK_OK;
}

static sk_status up_sampling2d(sk_keras_layer *l)
{
    SK_TRY(sk_keras_need_image(l));
    int32_t size[2];
    SK_TRY(sk_keras_pair(l, "size", 2, size));
    const char *method = sk_config_text_or(l->config, "interpolation", "nearest");
    sk_attrs a = {.resize = {.scale = {(float)size[0], (float)size[1]}}};
    if (strcmp(method, "bilinear") == 0) {
        a.resize.mode = SK_RESIZE_LINEAR;
        a.resize.coords = SK_COORDS_HALF_PIXEL;
    } else if (strcmp(method, "nearest") == 0) {
        a.resize.mode = SK_RESIZE_NEAREST;
        a.resize.coords = SK_COORDS_ASYMMETRIC;
        a.resize.round = SK_ROUND_FLOOR;
    } else {
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "interpolation \"%s\"", method);
    }
    l->out = l->in[0];
    l->out.v = sk_b_node(l->b, SK_OP_RESIZE, &a, &l->in[0].v, 1, NULL);
    l->out.stride /= size[0];
    return SK_OK;
}

/* [[top, bottom], [left, right]] in either layer's settings. */
static sk_status read_borders(const sk_keras_layer *l, const char *key, int64_t out[2][2])
{
    const sk_config_value *value = sk_config_get(l->config, key);
    for (size_t i = 0; i < 2; i++) {
        const sk_config_value *side = sk_config_is(value, SK_CONFIG_LIST) ? sk_config_at(value, i) : value;
        for (size_t j = 0; j < 2; j++) {
            const sk_config_value *part = sk_config_is(side, SK_CONFIG_LIST) ? sk_config_at(side, j) : side;
            if (!sk_config_to_int(part, &out[i][j]) || out[i][j] < 0 || out[i][j] > MAX_WINDOW)
                return sk_keras_fail(l, SK_ERR_FORMAT, "\"%s\" is missing or out of range", key);
        }
    }
    return SK_OK;
}

static sk_status zero_padding2d(sk_keras_layer *l)
{
    SK_TRY(sk_keras_need_image(l));
    int64_t border[2][2];
    SK_TRY(read_borders(l, "padding", border));
    int64_t pads[8] = {0, 0, border[0][0], border[1][0], 0, 0, border[0][1], border[1][1]};
    sk_attrs a = {.pad = {.mode = 0}};
    sk_value in[2] = {l->in[0].v, sk_b_i64s(l->b, pads, 8)};
    l->out = l->in[0];
    l->out.v = sk_b_node(l->b, SK_OP_PAD, &a, in, 2, NULL);
    return SK_OK;
}

static sk_status cropping2d(sk_keras_layer *l)
{
    SK_TRY(sk_keras_need_image(l));
    int64_t border[2][2];
    SK_TRY(read_borders(l, "cropping", border));
    l->out = l->in[0];
    for (int i = 0; i < 2; i++)
        l->out.v = sk_b_slice(l->b, l->out.v, 2 + i, border[i][0], border[i][1] ? -border[i][1] : INT64_MAX);
    return SK_OK;
}

/* Keras order and back, around what sees the memory order. */
static sk_value to_nhwc(sk_keras_layer *l, sk_value v)
{
    static const int perm[] = {0, 2, 3, 1};
    return sk_b_transpose(l->b, v, perm, 4);
}

static sk_status flatten(sk_keras_layer *l)
{
    l->out = l->in[0];
    if (l->in[0].rank == 2)
        return SK_OK;
    static const int64_t dims[] = {0, -1};
    sk_value v = l->in[0].rank == 4 ? to_nhwc(l, l->in[0].v) : l->in[0].v;
    l->out.v = sk_b_reshape(l->b, v, dims, 2);
    l->out.rank = 2;
    l->out.channels = -1;
    l->network->fixed_size = 1;
    return SK_OK;
}

static sk_status reshape(sk_keras_layer *l)
{
    static const int to_nchw[] = {0, 3, 1, 2};
    const sk_config_value *shape = sk_config_get(l->config, "target_shape");
    size_t count = sk_config_count(shape);
    int64_t dims[SK_MAX_RANK] = {0};
    if (!sk_config_is(shape, SK_CONFIG_LIST) || count < 1 || count > 3)
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "a reshape to %zu dimensions", count + 1);
    for (size_t i = 0; i < count; i++)
        if (!sk_config_to_int(sk_config_at(shape, i), &dims[i + 1]) || dims[i + 1] < -1 || dims[i + 1] == 0)
            return sk_keras_fail(l, SK_ERR_FORMAT, "\"target_shape\" is out of range");
    sk_value v = l->in[0].rank == 4 ? to_nhwc(l, l->in[0].v) : l->in[0].v;
    l->out = l->in[0];
    l->out.rank = (int32_t)count + 1;
    l->out.channels = dims[count];
    l->out.v = sk_b_reshape(l->b, v, dims, l->out.rank);
    if (l->out.rank == 4)
        l->out.v = sk_b_transpose(l->b, l->out.v, to_nchw, 4);
    if (l->in[0].rank == 4)
        l->network->fixed_size = 1;
    return SK_OK;
}

/* --- joining --- */

static sk_status concatenate(sk_keras_layer *l)
{
    sk_value values[64];
    int rank = l->in[0].rank;
    int64_t axis = sk_config_int_or(l->config, "axis", -1);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 1 || axis >= rank)
        return sk_keras_fail(l, SK_ERR_FORMAT, "\"axis\" is out of range");
    bool on_channels = axis == rank - 1;
    l->out = l->in[0];
    l->out.channels = on_channels ? 0 : l->in[0].channels;
    for (int i = 0; i < l->n_in; i++) {
        if (l->in[i].rank != rank)
            return sk_keras_fail(l, SK_ERR_MISMATCH, "its inputs have different numbers of dimensions");
        values[i] = l->in[i].v;
        if (on_channels)
            l->out.channels =
                l->in[i].channels < 0 || l->out.channels < 0 ? -1 : l->out.channels + l->in[i].channels;
    }
    if (rank == 4)
        axis = on_channels ? 1 : axis + 1;
    sk_attrs a = {.axis = (int32_t)axis};
    l->out.v = sk_b_node(l->b, SK_OP_CONCAT, &a, values, l->n_in, NULL);
    return SK_OK;
}

static sk_status merge(sk_keras_layer *l)
{
    static const struct {
        const char *name;
        sk_binary kind;
    } kinds[] = {{"Add", SK_BINARY_ADD},     {"Subtract", SK_BINARY_SUB}, {"Multiply", SK_BINARY_MUL},
                 {"Maximum", SK_BINARY_MAX}, {"Minimum", SK_BINARY_MIN},  {"Average", SK_BINARY_ADD}};
    sk_binary kind = SK_BINARY_ADD;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(l->class_name, kinds[i].name) == 0)
            kind = kinds[i].kind;
    l->out = l->in[0];
    for (int i = 1; i < l->n_in; i++) {
        if (l->in[i].rank != l->out.rank)
            return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "its inputs have different numbers of dimensions");
        l->out.v = sk_b_binary(l->b, kind, l->out.v, l->in[i].v);
        if (l->in[i].channels > l->out.channels)
            l->out.channels = l->in[i].channels;
    }
    if (strcmp(l->class_name, "Average") == 0)
        l->out.v = sk_b_mul(l->b, l->out.v, sk_b_f32(l->b, 1.0f / (float)l->n_in));
    return SK_OK;
}

/* --- normalisation and the rest --- */

static sk_status batch_normalization(sk_keras_layer *l)
{
    const sk_config_value *axis = sk_config_get(l->config, "axis");
    int64_t at = -1;
    sk_config_to_int(sk_config_is(axis, SK_CONFIG_LIST) ? sk_config_at(axis, 0) : axis, &at);
    if ((at != -1 && at != l->in[0].rank - 1) || (l->in[0].rank != 4 && l->in[0].rank != 2))
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "normalises another axis than the channels");
    sk_attrs a = {.norm = {.epsilon = (float)sk_config_real_or(l->config, "epsilon", 1e-3)}};
    sk_value in[5] = {l->in[0].v};
    sk_shape shape;
    int64_t count = l->in[0].channels;
    SK_TRY(sk_keras_constant(l, "moving_mean", 1, &count, NULL, &in[3], &shape));
    count = shape.dim[0];
    SK_TRY(sk_keras_constant(l, "moving_variance", 1, &count, NULL, &in[4], NULL));
    if (sk_config_bool_or(l->config, "scale", true))
        SK_TRY(sk_keras_constant(l, "gamma", 1, &count, NULL, &in[1], NULL));
    else
        SK_TRY(sk_keras_filled(l, "gamma", count, 1.0f, &in[1]));
    if (sk_config_bool_or(l->config, "center", true))
        SK_TRY(sk_keras_constant(l, "beta", 1, &count, NULL, &in[2], NULL));
    else
        SK_TRY(sk_keras_filled(l, "beta", count, 0.0f, &in[2]));
    l->out = l->in[0];
    l->out.channels = count;
    l->out.v = sk_b_node(l->b, SK_OP_BATCH_NORM, &a, in, 5, NULL);
    return SK_OK;
}

static sk_status activation_layer(sk_keras_layer *l)
{
    l->out = l->in[0];
    return sk_keras_activate(l, sk_config_get(l->config, "activation"), &l->out);
}

static sk_status softmax_layer(sk_keras_layer *l)
{
    int64_t axis = sk_config_int_or(l->config, "axis", -1);
    int rank = l->in[0].rank;
    if ((rank != 2 && rank != 4) || (axis != -1 && axis != rank - 1))
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "a softmax over another axis than the channels");
    l->out = l->in[0];
    l->out.v = sk_b_softmax(l->b, l->in[0].v, 1);
    return SK_OK;
}

static sk_status nothing(sk_keras_layer *l) /* layers that act in training only */
{
    l->out = l->in[0];
    return SK_OK;
}

static sk_status rescaling(sk_keras_layer *l)
{
    double scale, offset = sk_config_real_or(l->config, "offset", 0);
    if (!sk_config_to_real(sk_config_get(l->config, "scale"), &scale))
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "a scale that is not one number");
    l->out = l->in[0];
    l->out.v = sk_b_mul(l->b, l->in[0].v, sk_b_f32(l->b, (float)scale));
    l->out.v = sk_b_add(l->b, l->out.v, sk_b_f32(l->b, (float)offset));
    return SK_OK;
}

static void gray_to_rgb(sk_keras_layer *l)
{
    if (l->in[0].channels != 1)
        return;
    sk_value same[3] = {l->in[0].v, l->in[0].v, l->in[0].v};
    l->out.v = sk_b_concat(l->b, same, 3, 1);
    l->out.channels = 3;
}

/* x * 255, RGB to BGR, minus the means of the original ImageNet models. */
static sk_status imagenet_caffe(sk_keras_layer *l)
{
    static const float means[3] = {103.939f, 116.779f, 123.68f};
    if (l->in[0].channels != 3)
        return sk_keras_fail(l, SK_ERR_MISMATCH, "needs 3 channels");
    sk_value planes[3], reversed[3];
    sk_b_split(l->b, l->in[0].v, 1, NULL, 3, planes);
    for (int i = 0; i < 3; i++)
        reversed[i] = planes[2 - i];
    sk_value x = sk_b_concat(l->b, reversed, 3, 1);
    x = sk_b_mul(l->b, x, sk_b_f32(l->b, 255.0f));
    sk_value mean = sk_b_constant(l->b, "imagenet_mean", SK_DTYPE_F32,
                                  &(sk_shape){.rank = 4, .dim = {1, 3, 1, 1}}, means);
    l->out.v = sk_b_sub(l->b, x, mean);
    return SK_OK;
}

/* A Lambda holds Python code, which is never executed: the few that SLEAP writes are known by name, either
 * of the function or, where the file has only byte code, of the layer. */
static sk_status lambda(sk_keras_layer *l)
{
    SK_TRY(sk_keras_need_image(l));
    const sk_config_value *function = sk_config_get(l->config, "function");
    const char *name = sk_config_text(function);
    const char *type = sk_config_text_or(l->config, "function_type", "");
    if (!name || strcmp(type, "lambda") == 0)
        name = l->name;
    l->out = l->in[0];
    if (strcmp(name, "tile_channels") == 0 || strcmp(name, "ensure_rgb") == 0) {
        gray_to_rgb(l);
        return SK_OK;
    }
    if (strcmp(name, "imagenet_preproc_v1") == 0)
        return imagenet_caffe(l);
    return sk_keras_fail(l, SK_ERR_UNSUPPORTED,
                         "holds Python code, which is not executed; known are tile_channels, ensure_rgb and "
                         "imagenet_preproc_v1. Export the model to ONNX instead");
}

static const struct {
    const char *name;
    int min_inputs, max_inputs;
    sk_status (*build)(sk_keras_layer *);
} classes[] = {
    {"Conv2D", 1, 1, sk_keras_conv2d},
    {"Convolution2D", 1, 1, sk_keras_conv2d},
    {"DepthwiseConv2D", 1, 1, sk_keras_depthwise_conv2d},
    {"SeparableConv2D", 1, 1, sk_keras_separable_conv2d},
    {"Conv2DTranspose", 1, 1, sk_keras_conv2d_transpose},
    {"Dense", 1, 1, sk_keras_dense},
    {"MaxPooling2D", 1, 1, pool2d},
    {"AveragePooling2D", 1, 1, pool2d},
    {"GlobalMaxPooling2D", 1, 1, global_pool2d},
    {"GlobalAveragePooling2D", 1, 1, global_pool2d},
    {"UpSampling2D", 1, 1, up_sampling2d},
    {"ZeroPadding2D", 1, 1, zero_padding2d},
    {"Cropping2D", 1, 1, cropping2d},
    {"Flatten", 1, 1, flatten},
    {"Reshape", 1, 1, reshape},
    {"Concatenate", 1, 64, concatenate},
    {"Add", 1, 64, merge},
    {"Subtract", 2, 2, merge},
    {"Multiply", 1, 64, merge},
    {"Maximum", 1, 64, merge},
    {"Minimum", 1, 64, merge},
    {"Average", 1, 64, merge},
    {"BatchNormalization", 1, 1, batch_normalization},
    {"BatchNormalizationV1", 1, 1, batch_normalization},
    {"SyncBatchNormalization", 1, 1, batch_normalization},
    {"Activation", 1, 1, activation_layer},
    {"ReLU", 1, 1, sk_keras_relu},
    {"LeakyReLU", 1, 1, sk_keras_leaky_relu},
    {"Softmax", 1, 1, softmax_layer},
    {"Dropout", 1, 1, nothing},
    {"FixedDropout", 1, 1, nothing},
    {"SpatialDropout2D", 1, 1, nothing},
    {"GaussianDropout", 1, 1, nothing},
    {"GaussianNoise", 1, 1, nothing},
    {"ActivityRegularization", 1, 1, nothing},
    {"Rescaling", 1, 1, rescaling},
    {"Lambda", 1, 1, lambda},
};

sk_status sk_keras_layer_build(sk_keras_layer *layer)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(layer->class_name, classes[i].name) != 0)
            continue;
        if (layer->n_in < classes[i].min_inputs || layer->n_in > classes[i].max_inputs)
            return sk_keras_fail(layer, SK_ERR_FORMAT, "%d inputs", layer->n_in);
        return classes[i].build(layer);
    }
    return sk_keras_fail(
        layer, SK_ERR_UNSUPPORTED,
        "layers of class \"%.60s\" are not known to skitter; export the model to ONNX, or report it",
        layer->class_name);
}
