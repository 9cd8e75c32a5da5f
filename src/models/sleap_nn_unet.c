/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sleap_nn_net.h"

#include <stdio.h>

static int log2_of(int64_t value)
{
    int log = 0;
    while (value > 1 && value % 2 == 0) {
        value /= 2;
        log++;
    }
    return value == 1 ? log : -1;
}

sk_status sk_nn_unet(sk_nn_net *net, const sk_config_value *config)
{
    int64_t max_stride = sk_config_int_or(config, "max_stride", 16);
    int stem = log2_of(sk_config_int_or(config, "stem_stride", 1));
    int down = log2_of(max_stride) - stem;
    if (log2_of(max_stride) < 0 || stem < 0 || down < 1 || down + stem >= SK_NN_MAX_LEVELS)
        return sk_fail(net->err, SK_ERR_FORMAT,
                       "%s: max_stride or stem_stride is not a power of two in range", net->what);
    if (sk_config_int_or(config, "stacks", 1) != 1)
        return sk_fail(net->err, SK_ERR_UNSUPPORTED,
                       "%s: a stacked U-Net (stacks: %lld); only one stack works in sleap-nn itself. Train "
                       "with stacks: 1",
                       net->what, (long long)sk_config_int_or(config, "stacks", 1));
    sk_nn_map x, skips[SK_NN_MAX_LEVELS + 1], stem_out = {0};
    char folder[200];
    sk_nn_tensor *first = sk_nn_find_ending(
        net, stem ? "backbone.stem.stem_stack.0.blocks." : "backbone.encoders.0.encoder_stack.0.blocks.",
        "_conv0.weight");
    SK_TRY(sk_nn_input(net, first ? first->name : "backbone.encoders.0.encoder_stack.0.blocks.*_conv0.weight",
                       &x));

    for (int i = 0; i < stem; i++) {
        if (i > 0)
            sk_nn_pool(net, &x);
        snprintf(folder, sizeof folder, "backbone.stem.stem_stack.%d.blocks.", i);
        SK_TRY(sk_nn_conv_block(net, folder, &x));
    }
    if (stem) {
        sk_nn_pool(net, &x);
        stem_out = x;
    }
    for (int i = 0; i < down; i++) {
        if (i + stem > 0)
            sk_nn_pool(net, &x);
        snprintf(folder, sizeof folder, "backbone.encoders.0.encoder_stack.%d.blocks.", i);
        SK_TRY(sk_nn_conv_block(net, folder, &x));
        skips[down - 1 - i] = x;
    }
    sk_nn_pool(net, &x);
    int n_skips = down;
    if (stem)
        skips[n_skips++] = stem_out;
    SK_TRY(sk_nn_middle(net, "backbone.middle_blocks.", &x));
    /* With a stem the network is twice as coarse as max_stride, to which inputs are padded: sizes need not
     * meet. */
    return sk_nn_decoder(net, "backbone.decoders.0.decoder_stack.", x, skips, n_skips,
                         sk_config_bool_or(config, "up_interpolate", true), stem > 0);
}
