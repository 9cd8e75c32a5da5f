/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keras_layer.h"

#include "base/named.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    sk_unary kind;
    float alpha, beta;
} activations[] = {
    {"relu", SK_UNARY_RELU, 0, 0},
    {"relu6", SK_UNARY_RELU6, 0, 0},
    {"sigmoid", SK_UNARY_SIGMOID, 0, 0},
    {"tanh", SK_UNARY_TANH, 0, 0},
    {"swish", SK_UNARY_SILU, 0, 0},
    {"silu", SK_UNARY_SILU, 0, 0},
    {"elu", SK_UNARY_ELU, 1, 0},
    {"gelu", SK_UNARY_GELU, 0, 0},
    {"softplus", SK_UNARY_SOFTPLUS, 0, 0},
    {"exponential", SK_UNARY_EXP, 0, 0},
    {"hard_sigmoid", SK_UNARY_HARD_SIGMOID, 0.2f, 0.5f},
};

sk_status sk_keras_activate(sk_keras_layer *layer, const sk_config_value *activation, sk_keras_tensor *x)
{
    const char *name = sk_config_text(activation);
    if (sk_config_is_null(activation) || (name && strcmp(name, "linear") == 0))
        return SK_OK;
    if (name && strcmp(name, "softmax") == 0) {
        if (x->rank != 2 && x->rank != 4)
            return sk_keras_fail(layer, SK_ERR_UNSUPPORTED, "softmax over %d dimensions", x->rank);
        x->v = sk_b_softmax(layer->b, x->v, 1); /* Keras' last axis: channel 1 of NCHW and of [N][C] */
        return SK_OK;
    }
    int32_t i = SK_ROW_NAMED(activations, name);
    if (i < 0)
        return sk_keras_fail(layer, SK_ERR_UNSUPPORTED,
                             "activation \"%s\" is not supported; please report this model",
                             name ? name : "(an object)");
    x->v = sk_b_unary_alpha(layer->b, activations[i].kind, x->v, activations[i].alpha, activations[i].beta);
    return SK_OK;
}

sk_status sk_keras_relu(sk_keras_layer *layer)
{
    double slope = sk_config_real_or(layer->config, "negative_slope", 0);
    double threshold = sk_config_real_or(layer->config, "threshold", 0);
    double high = sk_config_real_or(layer->config, "max_value", INFINITY);
    layer->out = layer->in[0];
    if (threshold != 0 || (slope != 0 && isfinite(high)))
        return sk_keras_fail(layer, SK_ERR_UNSUPPORTED,
                             "a ReLU with a threshold, or with both a slope and a limit");
    if (slope != 0) {
        layer->out.v = sk_b_unary_alpha(layer->b, SK_UNARY_LEAKY, layer->in[0].v, (float)slope, 0);
    } else if (isfinite(high)) {
        sk_attrs a = {.clip = {.low = 0, .high = high}};
        layer->out.v = sk_b_node(layer->b, SK_OP_CLIP, &a, &layer->in[0].v, 1, NULL);
    } else {
        layer->out.v = sk_b_unary(layer->b, SK_UNARY_RELU, layer->in[0].v);
    }
    return SK_OK;
}

sk_status sk_keras_leaky_relu(sk_keras_layer *layer)
{
    /* "alpha" in Keras 2, "negative_slope" in Keras 3; sometimes an array scalar. */
    double slope = sk_config_real_or(layer->config, "negative_slope", 0.3);
    slope = sk_config_real_or(layer->config, "alpha", slope);
    slope = sk_config_real_or(layer->config, "alpha.value", slope);
    layer->out = layer->in[0];
    layer->out.v = sk_b_unary_alpha(layer->b, SK_UNARY_LEAKY, layer->in[0].v, (float)slope, 0);
    return SK_OK;
}
