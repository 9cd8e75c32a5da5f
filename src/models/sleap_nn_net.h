/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_SLEAP_NN_NET_H
#define SK_MODELS_SLEAP_NN_NET_H

#include "formats/config.h"
#include "formats/torch_file.h"
#include "graph/builder.h"

/* sleap-nn's networks, rebuilt from the names in the checkpoint's state_dict. Sizes come from the tensors,
 * structure from the configuration; a tensor that no layer used is an error, because then the two do not
 * belong together. */

typedef struct sk_nn_tensor {
    const char *name; /* without the checkpoint's prefix: "backbone.…", "head_layers.…" */
    const sk_pickle_value *value;
    bool used;
} sk_nn_tensor;

#define SK_NN_MAX_TENSORS 16384
#define SK_NN_MAX_LEVELS  16

/* A feature map on its way. */
typedef struct sk_nn_map {
    sk_value v;
    int64_t channels;
    int32_t stride;
} sk_nn_map;

typedef struct sk_nn_net {
    sk_builder b;
    sk_torch_file *file;
    const char *what;
    sk_nn_tensor *tensors; /* in order of name */
    size_t n_tensors;
    /* What the backbone leaves for the heads. */
    sk_nn_map middle;
    sk_nn_map decoded[SK_NN_MAX_LEVELS];
    int32_t n_decoded;
    sk_error *err;
} sk_nn_net;

sk_status sk_nn_net_open(sk_nn_net *net, sk_torch_file *file, sk_graph *graph, const char *what,
                         sk_error *err) SK_MUST_CHECK;
void sk_nn_net_close(sk_nn_net *net);
/* The input, with the channel count of the first convolution. */
sk_status sk_nn_input(sk_nn_net *net, const char *first_weight, sk_nn_map *out) SK_MUST_CHECK;
/* Refuses a network that left tensors over. */
sk_status sk_nn_check_all_used(const sk_nn_net *net) SK_MUST_CHECK;

/* Lookups by name. find_ending: the one tensor in `folder` whose name ends so ("…decoder_stack.0.blocks.",
 * "_trans_conv.weight"); null when there is none. */
sk_nn_tensor *sk_nn_find(sk_nn_net *net, const char *name);
sk_nn_tensor *sk_nn_find_ending(sk_nn_net *net, const char *folder, const char *ending);
bool sk_nn_has_folder(sk_nn_net *net, const char *folder); /* any tensor whose name begins so */

/* A tensor as a constant of the given rank; dims of -1 are any. Refuses NaN and infinity, naming the
 * tensor. */
sk_status sk_nn_constant(sk_nn_net *net, sk_nn_tensor *tensor, const char *name, int rank,
                         const int64_t *dims, sk_value *out, sk_shape *shape) SK_MUST_CHECK;
/* The same as plain numbers: *blob is the caller's. */
sk_status sk_nn_numbers(sk_nn_net *net, sk_nn_tensor *tensor, const char *name, int rank, const int64_t *dims,
                        sk_blob **blob, sk_shape *shape) SK_MUST_CHECK;

/* Layers. `name` is the module's ("….conv0"): its .weight and .bias. */
typedef struct sk_nn_conv_spec {
    int32_t stride;
    int32_t pad;       /* -1: "same" */
    int32_t depthwise; /* 1: one group a channel */
} sk_nn_conv_spec;
sk_status sk_nn_conv(sk_nn_net *net, const char *name, sk_nn_conv_spec spec, sk_nn_map *x) SK_MUST_CHECK;
void sk_nn_relu(sk_nn_net *net, sk_nn_map *x);
void sk_nn_pool(sk_nn_net *net, sk_nn_map *x); /* 2x2, stride 2, SAME */
/* All <folder>*_conv0, conv1 … with a ReLU after each: sleap-nn's SimpleConvBlock without its pool. */
sk_status sk_nn_conv_block(sk_nn_net *net, const char *folder, sk_nn_map *x) SK_MUST_CHECK;
/* Middle blocks <folder>0.blocks., <folder>1.blocks. … */
sk_status sk_nn_middle(sk_nn_net *net, const char *folder, sk_nn_map *x) SK_MUST_CHECK;

/* The decoder under <folder>: upsampling, skip, refinement; fills net->decoded. `resize_to_skip`: the
 * sizes may not meet by themselves. */
sk_status sk_nn_decoder(sk_nn_net *net, const char *folder, sk_nn_map x, const sk_nn_map *skips, int n_skips,
                        bool interpolate, bool resize_to_skip) SK_MUST_CHECK;

/* The backbones; each fills net->middle and net->decoded. */
sk_status sk_nn_unet(sk_nn_net *net, const sk_config_value *config) SK_MUST_CHECK;
sk_status sk_nn_convnext(sk_nn_net *net, const sk_config_value *config) SK_MUST_CHECK;

#endif
