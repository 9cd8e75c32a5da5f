/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sleap_nn_net.h"

#include <stdio.h>
#include <string.h>

#define N_STAGES 4
#define EPSILON  1e-6f

/* Over the channels of an NCHW map. */
static sk_status layer_norm(sk_nn_net *net, const char *name, sk_nn_map *x)
{
    static const int to_nhwc[] = {0, 2, 3, 1}, to_nchw[] = {0, 3, 1, 2};
    char weight_name[300], bias_name[300];
    snprintf(weight_name, sizeof weight_name, "%s.weight", name);
    snprintf(bias_name, sizeof bias_name, "%s.bias", name);
    sk_shape shape;
    sk_value in[3];
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, weight_name), weight_name, 1, &x->channels, &in[1], &shape));
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, bias_name), bias_name, 1, &x->channels, &in[2], &shape));
    in[0] = sk_b_transpose(&net->b, x->v, to_nhwc, 4);
    sk_attrs a = {.norm = {.axis = 3, .epsilon = EPSILON}};
    x->v = sk_b_transpose(&net->b, sk_b_node(&net->b, SK_OP_LAYER_NORM, &a, in, 3, name), to_nchw, 4);
    return SK_OK;
}

/* A Linear over the channels is a 1x1 convolution. `scale` (may be null) multiplies each output channel:
 * the block's layer_scale, folded in here. */
static sk_status pointwise(sk_nn_net *net, const char *name, const float *scale, sk_nn_map *x)
{
    char weight_name[300], bias_name[300];
    snprintf(weight_name, sizeof weight_name, "%s.weight", name);
    snprintf(bias_name, sizeof bias_name, "%s.bias", name);
    static const sk_window point = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    sk_blob *weight = NULL, *bias = NULL;
    sk_shape shape, bias_shape;
    int64_t dims[] = {-1, x->channels};
    sk_status status;
    SK_TRY_GOTO(sk_nn_numbers(net, sk_nn_find(net, weight_name), weight_name, 2, dims, &weight, &shape));
    SK_TRY_GOTO(
        sk_nn_numbers(net, sk_nn_find(net, bias_name), bias_name, 1, &shape.dim[0], &bias, &bias_shape));
    for (int64_t o = 0; scale && o < shape.dim[0]; o++) {
        float *row = (float *)sk_blob_data(weight) + o * shape.dim[1];
        for (int64_t i = 0; i < shape.dim[1]; i++)
            row[i] *= scale[o];
        ((float *)sk_blob_data(bias))[o] *= scale[o];
    }
    sk_shape kernel = {.rank = 4, .dim = {shape.dim[0], shape.dim[1], 1, 1}};
    sk_value w = sk_b_constant_blob(&net->b, weight_name, SK_DTYPE_F32, &kernel, weight, 0);
    sk_value b = sk_b_constant_blob(&net->b, bias_name, SK_DTYPE_F32, &bias_shape, bias, 0);
    x->v = sk_b_conv(&net->b, x->v, w, b, &point, 1, name);
    x->channels = shape.dim[0];
done:
    sk_blob_unref(&weight);
    sk_blob_unref(&bias);
    return status;
}

/* x + layer_scale * Linear(GELU(Linear(LayerNorm(depthwise 7x7 (x))))) */
static sk_status block(sk_nn_net *net, const char *folder, sk_nn_map *x)
{
    char name[300];
    sk_nn_map y = *x;
    sk_blob *scale = NULL;
    sk_shape shape;
    sk_status status;
    snprintf(name, sizeof name, "%sblock.0", folder);
    SK_TRY(sk_nn_conv(net, name, (sk_nn_conv_spec){.stride = 1, .pad = -1, .depthwise = 1}, &y));
    snprintf(name, sizeof name, "%sblock.2", folder);
    SK_TRY(layer_norm(net, name, &y));
    snprintf(name, sizeof name, "%sblock.3", folder);
    SK_TRY(pointwise(net, name, NULL, &y));
    y.v = sk_b_unary(&net->b, SK_UNARY_GELU, y.v);
    int64_t dims[] = {x->channels, 1, 1};
    snprintf(name, sizeof name, "%slayer_scale", folder);
    SK_TRY(sk_nn_numbers(net, sk_nn_find(net, name), name, 3, dims, &scale, &shape));
    snprintf(name, sizeof name, "%sblock.5", folder);
    SK_TRY_GOTO(pointwise(net, name, sk_blob_data(scale), &y));
    if (y.channels != x->channels) {
        status = sk_fail(net->err, SK_ERR_MISMATCH,
                         "%s: block \"%.160s\" does not return its input's channels", net->what, folder);
        goto done;
    }
    x->v = sk_b_add(&net->b, y.v, x->v);
done:
    sk_blob_unref(&scale);
    return status;
}

static sk_status stage(sk_nn_net *net, int index, sk_nn_map *x)
{
    for (int i = 0; i < 256; i++) {
        char folder[200];
        snprintf(folder, sizeof folder, "backbone.enc.features.%d.%d.", index, i);
        if (!sk_nn_has_folder(net, folder))
            return SK_OK;
        SK_TRY(block(net, folder, x));
    }
    return SK_OK;
}

static sk_status stem(sk_nn_net *net, int64_t stride, sk_nn_map *x)
{
    SK_TRY(sk_nn_input(net, "backbone.enc.features.0.0.weight", x));
    SK_TRY(sk_nn_conv(net, "backbone.enc.features.0.0",
                      (sk_nn_conv_spec){.stride = (int32_t)stride, .pad = 1}, x));
    return layer_norm(net, "backbone.enc.features.0.1", x);
}

static sk_status downsample(sk_nn_net *net, int index, sk_nn_map *x)
{
    char name[100];
    snprintf(name, sizeof name, "backbone.enc.features.%d.0", index);
    SK_TRY(layer_norm(net, name, x));
    snprintf(name, sizeof name, "backbone.enc.features.%d.1", index);
    return sk_nn_conv(net, name, (sk_nn_conv_spec){.stride = 2, .pad = 0}, x);
}

/* torchvision's ConvNeXt, its stem at half the usual stride, one more pool below it, then sleap-nn's
 * middle blocks and decoder. The skips are what the stem and the downsampling layers give, not the stages. */
sk_status sk_nn_convnext(sk_nn_net *net, const sk_config_value *config)
{
    int64_t stem_stride = sk_config_int_or(config, "stem_patch_stride", 2);
    if (stem_stride != 1 && stem_stride != 2 && stem_stride != 4)
        return sk_fail(net->err, SK_ERR_UNSUPPORTED, "%s: a stem_patch_stride of %lld", net->what,
                       (long long)stem_stride);
    sk_nn_map x, skips[N_STAGES];
    SK_TRY(stem(net, stem_stride, &x));
    for (int i = 0; i < N_STAGES; i++) {
        if (i > 0)
            SK_TRY(downsample(net, 2 * i, &x));
        skips[N_STAGES - 1 - i] = x;
        SK_TRY(stage(net, 2 * i + 1, &x));
    }
    sk_nn_pool(net, &x);
    SK_TRY(sk_nn_middle(net, "backbone.middle_blocks.", &x));
    /* The stem's kernel and padding keep sizes whole only for k = stride + 2. */
    int64_t kernel = sk_config_int_or(config, "stem_patch_kernel", 4);
    return sk_nn_decoder(net, "backbone.dec.decoder_stack.", x, skips, N_STAGES,
                         sk_config_bool_or(config, "up_interpolate", true), kernel != stem_stride + 2);
}
