/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_KERAS_H
#define SK_MODELS_KERAS_H

#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "graph/graph.h"

/* A Keras 2 functional model (its JSON and its weights) as a graph. Knows layers, not SLEAP.
 *
 * Keras images are NHWC; here every rank-4 value is kept NCHW from the start, weights are turned once
 * while loading, and the few layers that see the memory order (Flatten, Reshape) transpose around
 * themselves. */

/* Where weights come from: an HDF5 file, or a stand-in for tests and fuzzing. */
typedef struct sk_keras_weights {
    void *context;
    /* Reads weight `name` ("kernel", without ":0") of a layer as f32 in Keras' own layout. `group` is the
     * top-level layer that owns it: the layer itself, or the nested model around it. `wanted` is the shape
     * the network needs, -1 where any size will do; for another shape only *shape need be filled, *out
     * stays null. A weight that is not there is SK_ERR_NOT_FOUND. */
    sk_status (*read)(void *context, const char *group, const char *layer, const char *name,
                      const sk_shape *wanted, sk_blob **out, sk_shape *shape, sk_error *err);
} sk_keras_weights;

/* Weights of a saved model: /model_weights/<group>, found through the group's "weight_names". */
sk_keras_weights sk_keras_weights_of(sk_hdf5_file *file);

typedef struct sk_keras_output {
    const char *name; /* of the layer; in the graph's arena */
    int32_t rank;
    int64_t channels; /* -1: not known */
    double stride;    /* input pixels per output pixel */
} sk_keras_output;

typedef struct sk_keras_network {
    int32_t n_outputs;
    sk_keras_output outputs[32];
    int32_t channels;      /* of the input */
    int32_t height, width; /* of the input; 0: any */
    double max_stride;     /* coarsest map anywhere inside */
    int32_t fixed_size;    /* 1: a Flatten of a map makes other input sizes impossible */
} sk_keras_network;

#define SK_KERAS_MAX_LAYERS 4096

/* Builds the graph of a model's JSON ({"class_name": "Functional", "config": {…}}). Unknown layers are
 * refused by name. `what` names the file in errors. */
sk_status sk_keras_build(const sk_config_value *model, const sk_keras_weights *weights, const char *what,
                         sk_graph *graph, sk_keras_network *network, sk_error *err) SK_MUST_CHECK;

#endif
