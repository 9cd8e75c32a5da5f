/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_KERAS_LAYER_H
#define SK_MODELS_KERAS_LAYER_H

#include "graph/builder.h"
#include "models/keras.h"

/* Between keras_graph.c, which walks the layers, and keras_layers.c, which writes each one down. */

typedef struct sk_keras_tensor {
    sk_value v;
    int32_t rank;     /* as in Keras; rank 4 is kept NCHW, all others as they are */
    int64_t channels; /* Keras' last dimension; -1: not known */
    double stride;
} sk_keras_tensor;

typedef struct sk_keras_layer {
    sk_builder *b;
    const sk_keras_weights *weights;
    sk_keras_network *network;
    const char *what;
    const char *class_name, *name;
    const char *group; /* owner of the weights in the file */
    const sk_config_value *config;
    const sk_keras_tensor *in;
    int32_t n_in;
    sk_keras_tensor out;
    sk_error *err;
} sk_keras_layer;

/* Writes the layer's nodes and fills layer->out. SK_ERR_UNSUPPORTED, naming the class, for unknown ones. */
sk_status sk_keras_layer_build(sk_keras_layer *layer) SK_MUST_CHECK;

/* "file: layer \"name\" (Class): text" */
#ifndef __clang_analyzer__ /* see sk_fail */
#define sk_keras_fail(l, code, ...) sk_keras_layer_fail((l), (code), __FILE__, __LINE__, __VA_ARGS__)
#else
#define sk_keras_fail(l, code, ...)                                                                          \
    (sk_keras_layer_fail((l), (code), __FILE__, __LINE__, __VA_ARGS__), (code))
#endif
sk_status sk_keras_layer_fail(const sk_keras_layer *layer, sk_status code, const char *file, int line,
                              const char *format, ...) SK_PRINTF(5, 6);

/* Weights as graph constants; keras_weights.c. The shape is checked against `dims` (-1: any), numbers
 * against NaN and infinity. `perm` turns Keras' layout into the graph's. */
sk_status sk_keras_constant(sk_keras_layer *layer, const char *weight, int rank, const int64_t *dims,
                            const int *perm, sk_value *out, sk_shape *found) SK_MUST_CHECK;
/* A vector all of whose elements are `value`: a batch norm's missing gamma or beta. */
sk_status sk_keras_filled(sk_keras_layer *layer, const char *weight, int64_t count, float value,
                          sk_value *out) SK_MUST_CHECK;

/* The same elements seen in other dimensions. */
void sk_keras_reshape_constant(sk_keras_layer *layer, sk_value constant, const sk_shape *shape);

/* Settings. A pair may be written [3, 3] or 3; without one, `fallback` (0: none) counts. */
sk_status sk_keras_pair(const sk_keras_layer *layer, const char *key, int64_t fallback,
                        int32_t out[2]) SK_MUST_CHECK;
sk_status sk_keras_window(const sk_keras_layer *layer, const char *kernel_key, int64_t kernel_fallback,
                          bool stride_is_kernel, sk_window *window) SK_MUST_CHECK;
sk_status sk_keras_need_image(const sk_keras_layer *layer) SK_MUST_CHECK;

/* keras_conv.c */
sk_status sk_keras_conv2d(sk_keras_layer *layer) SK_MUST_CHECK;
sk_status sk_keras_depthwise_conv2d(sk_keras_layer *layer) SK_MUST_CHECK;
sk_status sk_keras_separable_conv2d(sk_keras_layer *layer) SK_MUST_CHECK;
sk_status sk_keras_conv2d_transpose(sk_keras_layer *layer) SK_MUST_CHECK;
sk_status sk_keras_dense(sk_keras_layer *layer) SK_MUST_CHECK;

/* Inline activations and Activation layers: "relu", "sigmoid" … ; keras_activation.c. */
sk_status sk_keras_activate(sk_keras_layer *layer, const sk_config_value *activation,
                            sk_keras_tensor *x) SK_MUST_CHECK;
sk_status sk_keras_relu(sk_keras_layer *layer) SK_MUST_CHECK;       /* ReLU layer */
sk_status sk_keras_leaky_relu(sk_keras_layer *layer) SK_MUST_CHECK; /* LeakyReLU layer */

#endif
