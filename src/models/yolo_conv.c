/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include "base/named.h"

#include <string.h>

/* Ultralytics' convolution blocks and their activations. The activation is always the one in the file: families and
 * versions differ in where they leave it out. */

/* --- activations --- */

static const sk_named activations[] = {
    {"SiLU", SK_UNARY_SILU},
    {"ReLU", SK_UNARY_RELU},
    {"GELU", SK_UNARY_GELU},
    {"LeakyReLU", SK_UNARY_LEAKY},
    {"ELU", SK_UNARY_ELU},
    {"ReLU6", SK_UNARY_RELU6},
    {"Mish", SK_UNARY_MISH},
    {"Hardswish", SK_UNARY_HARD_SWISH},
    {"Hardsigmoid", SK_UNARY_HARD_SIGMOID},
    {"Sigmoid", SK_UNARY_SIGMOID},
    {"Tanh", SK_UNARY_TANH},
};

bool sk_yolo_is_activation(const char *class_name)
{
    return SK_ROW_NAMED(activations, class_name) >= 0;
}

sk_value sk_yolo_activation(yolo_reader *y, yolo_module *act, sk_value x)
{
    const char *class_name = sk_pickle_class(act, NULL);
    if (!act || act->kind == SK_PICKLE_NONE || (class_name && strcmp(class_name, "Identity") == 0))
        return x;
    int32_t i = SK_ROW_NAMED(activations, class_name);
    if (i < 0)
        return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "activation '%s' is not known",
                            class_name ? class_name : "?");
    sk_unary kind = (sk_unary)activations[i].value;
    double alpha = 0, beta = 0;
    const char *approximate = sk_pickle_text(sk_pickle_get(act, "approximate"));
    if (kind == SK_UNARY_GELU && approximate && strcmp(approximate, "tanh") == 0)
        kind = SK_UNARY_GELU_TANH;
    if (kind == SK_UNARY_LEAKY) {
        alpha = 0.01;
        sk_pickle_to_real(sk_pickle_get(act, "negative_slope"), &alpha);
    } else if (kind == SK_UNARY_ELU) {
        alpha = 1;
        sk_pickle_to_real(sk_pickle_get(act, "alpha"), &alpha);
    } else if (kind == SK_UNARY_HARD_SIGMOID) { /* torch: relu6(x + 3) / 6 */
        alpha = 1.0 / 6.0;
        beta = 0.5;
    }
    return sk_b_unary_alpha(&y->b, kind, x, (float)alpha, (float)beta);
}

/* --- Ultralytics' convolution blocks --- */

/* conv, then bn unless it was fused away. */
static bool read_folded(yolo_reader *y, yolo_module *block, yolo_kernel *k)
{
    yolo_module *norm = sk_yolo_find(block, "bn"), *second = sk_yolo_find(block, "cv2");
    if (!sk_yolo_kernel_read(y, sk_yolo_find(block, "conv"), k))
        return false;
    if (second) { /* Conv2: a 1x1 convolution beside it, before the norm */
        yolo_kernel other;
        bool fine = sk_yolo_kernel_read(y, second, &other) && sk_yolo_kernel_merge(y, k, &other);
        sk_yolo_kernel_free(&other);
        if (!fine)
            return false;
    }
    return !norm || sk_yolo_kernel_fold(y, k, norm);
}

sk_value sk_yolo_conv_block(yolo_reader *y, yolo_module *block, sk_value x)
{
    yolo_kernel k = {0};
    sk_value out = SK_VALUE_NONE;
    if (read_folded(y, block, &k)) {
        out = sk_yolo_kernel_emit(y, &k, x);
        if (!sk_yolo_find(block, "act"))
            sk_yolo_fail(y, SK_ERR_FORMAT, "its activation 'act' is missing");
        out = sk_yolo_activation(y, sk_yolo_find(block, "act"), out);
    }
    sk_yolo_kernel_free(&k);
    return out;
}

/* Two parallel blocks (conv, bn) and perhaps an identity with a norm, or one fused convolution. */
static sk_value merged_blocks(yolo_reader *y, yolo_module *module, const char *first, const char *second,
                              sk_value x)
{
    yolo_kernel k = {0}, other = {0};
    yolo_module *norm = sk_yolo_find(module, "bn"), *a = sk_yolo_find(module, first);
    yolo_module *b = sk_yolo_find(module, second);
    sk_value out = SK_VALUE_NONE;
    bool fine;
    if (!b) { /* fused: 'conv' is a bare Conv2d, or still a block of its own */
        yolo_module *conv = sk_yolo_find(module, "conv");
        const char *class_name = sk_pickle_class(conv, NULL);
        fine = class_name && strcmp(class_name, "Conv2d") != 0 ? read_folded(y, conv, &k)
                                                               : sk_yolo_kernel_read(y, conv, &k);
    } else {
        fine = read_folded(y, a, &k) && read_folded(y, b, &other) && sk_yolo_kernel_merge(y, &k, &other) &&
               (!norm || sk_yolo_kernel_merge_identity(y, &k, norm));
    }
    if (fine)
        out = sk_yolo_activation(y, sk_yolo_find(module, "act"), sk_yolo_kernel_emit(y, &k, x));
    sk_yolo_kernel_free(&k);
    sk_yolo_kernel_free(&other);
    return out;
}

sk_value sk_yolo_rep_conv(yolo_reader *y, yolo_module *module, sk_value x)
{
    return merged_blocks(y, module, "conv1", "conv2", x);
}

sk_value sk_yolo_rep_vgg_dw(yolo_reader *y, yolo_module *module, sk_value x)
{
    return merged_blocks(y, module, "conv", "conv1", x);
}
