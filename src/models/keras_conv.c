/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keras_layer.h"

/* The bias vector when the layer has one. */
static sk_status read_bias(sk_keras_layer *l, int64_t count, sk_value *bias)
{
    *bias = SK_VALUE_NONE;
    if (!sk_config_bool_or(l->config, "use_bias", true))
        return SK_OK;
    return sk_keras_constant(l, "bias", 1, &count, NULL, bias, NULL);
}

sk_status sk_keras_conv2d(sk_keras_layer *l)
{
    static const int oihw[] = {3, 2, 0, 1}; /* from HWIO */
    SK_TRY(sk_keras_need_image(l));
    sk_window w;
    sk_shape shape;
    sk_value kernel, bias;
    int64_t filters = sk_config_int_or(l->config, "filters", -1);
    int64_t groups = sk_config_int_or(l->config, "groups", 1);
    int64_t channels = l->in[0].channels;
    if (groups < 1 || groups > 65536 || (channels > 0 && channels % groups))
        return sk_keras_fail(l, SK_ERR_FORMAT, "%lld groups do not fit its channels", (long long)groups);
    SK_TRY(sk_keras_window(l, "kernel_size", 0, false, &w));
    int64_t dims[] = {w.kernel[0], w.kernel[1], channels > 0 ? channels / groups : -1, filters};
    SK_TRY(sk_keras_constant(l, "kernel", 4, dims, oihw, &kernel, &shape));
    SK_TRY(read_bias(l, shape.dim[3], &bias));
    l->out = l->in[0];
    l->out.v = sk_b_conv(l->b, l->in[0].v, kernel, bias, &w, (int)groups, NULL);
    l->out.channels = shape.dim[3];
    l->out.stride *= w.stride[0];
    return sk_keras_activate(l, sk_config_get(l->config, "activation"), &l->out);
}

/* Depthwise kernel (H, W, C, M) to [C*M][1][H][W]: output channel c*M + m. */
static sk_status depthwise(sk_keras_layer *l, const sk_window *w, bool with_bias, int64_t *channels,
                           sk_value *out)
{
    static const int cmhw[] = {2, 3, 0, 1};
    sk_value kernel, bias = SK_VALUE_NONE;
    int64_t multiplier = sk_config_int_or(l->config, "depth_multiplier", 1), groups = l->in[0].channels;
    if (multiplier < 1 || multiplier > 4096 || groups < 1)
        return sk_keras_fail(l, SK_ERR_FORMAT,
                             "\"depth_multiplier\" or the number of channels is out of range");
    int64_t dims[] = {w->kernel[0], w->kernel[1], groups, multiplier}, count = groups * multiplier;
    if (groups > 65536 || count > 1 << 20)
        return sk_keras_fail(l, SK_ERR_LIMIT, "%lld channels", (long long)groups);
    if (with_bias)
        SK_TRY(read_bias(l, count, &bias));
    SK_TRY(sk_keras_constant(l, "depthwise_kernel", 4, dims, cmhw, &kernel, NULL));
    /* [C][M][H][W] is the same memory as [C*M][1][H][W]. */
    sk_keras_reshape_constant(l, kernel,
                              &(sk_shape){.rank = 4, .dim = {count, 1, w->kernel[0], w->kernel[1]}});
    *out = sk_b_conv(l->b, l->in[0].v, kernel, bias, w, (int)groups, NULL);
    *channels = count;
    return SK_OK;
}

sk_status sk_keras_depthwise_conv2d(sk_keras_layer *l)
{
    SK_TRY(sk_keras_need_image(l));
    sk_window w;
    SK_TRY(sk_keras_window(l, "kernel_size", 0, false, &w));
    l->out = l->in[0];
    SK_TRY(depthwise(l, &w, true, &l->out.channels, &l->out.v));
    l->out.stride *= w.stride[0];
    return sk_keras_activate(l, sk_config_get(l->config, "activation"), &l->out);
}

sk_status sk_keras_separable_conv2d(sk_keras_layer *l)
{
    static const int oihw[] = {3, 2, 0, 1};
    static const sk_window point = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    SK_TRY(sk_keras_need_image(l));
    sk_window w;
    sk_shape shape;
    sk_value kernel, bias, middle = SK_VALUE_NONE;
    int64_t channels = -1;
    SK_TRY(sk_keras_window(l, "kernel_size", 0, false, &w));
    SK_TRY(depthwise(l, &w, false, &channels, &middle));
    int64_t dims[] = {1, 1, channels, sk_config_int_or(l->config, "filters", -1)};
    SK_TRY(sk_keras_constant(l, "pointwise_kernel", 4, dims, oihw, &kernel, &shape));
    SK_TRY(read_bias(l, shape.dim[3], &bias));
    l->out = l->in[0];
    l->out.v = sk_b_conv(l->b, middle, kernel, bias, &point, 1, NULL);
    l->out.channels = shape.dim[3];
    l->out.stride *= w.stride[0];
    return sk_keras_activate(l, sk_config_get(l->config, "activation"), &l->out);
}

/* Keras' transposed convolution is the gradient of a SAME convolution: of the kernel - stride surplus
 * pixels, the smaller half is cropped at the start. For k3 s2 nothing is, where torch's padding=1 would
 * crop one. */
sk_status sk_keras_conv2d_transpose(sk_keras_layer *l)
{
    static const int iohw[] = {3, 2, 0, 1}; /* from (H, W, out, in) */
    SK_TRY(sk_keras_need_image(l));
    sk_attrs a = {.conv_transpose = {.groups = 1}};
    sk_window *w = &a.conv_transpose.window;
    sk_shape shape;
    sk_value in[3] = {l->in[0].v};
    SK_TRY(sk_keras_window(l, "kernel_size", 0, false, w));
    if (!sk_config_is_null(sk_config_get(l->config, "output_padding")))
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "an explicit \"output_padding\"");
    if (sk_config_int_or(l->config, "groups", 1) != 1)
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "a grouped transposed convolution");
    for (int i = 0; i < 2; i++) {
        int32_t surplus = (w->kernel[i] - 1) * w->dilation[i] + 1 - w->stride[i];
        if (w->same && surplus > 0) {
            w->pad[i] = surplus / 2;
            w->pad[i + 2] = surplus - surplus / 2;
        }
        a.conv_transpose.output_pad[i] = surplus < 0 ? -surplus : 0;
    }
    w->same = 0;
    int64_t dims[] = {w->kernel[0], w->kernel[1], sk_config_int_or(l->config, "filters", -1),
                      l->in[0].channels};
    SK_TRY(sk_keras_constant(l, "kernel", 4, dims, iohw, &in[1], &shape));
    SK_TRY(read_bias(l, shape.dim[2], &in[2]));
    l->out = l->in[0];
    l->out.v = sk_b_node(l->b, SK_OP_CONV_TRANSPOSE, &a, in, in[2] == SK_VALUE_NONE ? 2 : 3, NULL);
    l->out.channels = shape.dim[2];
    l->out.stride /= w->stride[0];
    return sk_keras_activate(l, sk_config_get(l->config, "activation"), &l->out);
}

sk_status sk_keras_dense(sk_keras_layer *l)
{
    static const int oi[] = {1, 0};
    static const sk_window point = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    bool image = l->in[0].rank == 4;
    if (!image && l->in[0].rank != 2)
        return sk_keras_fail(l, SK_ERR_UNSUPPORTED, "a dense layer over %d dimensions", l->in[0].rank);
    sk_shape shape;
    sk_value kernel, bias;
    int64_t dims[] = {l->in[0].channels, sk_config_int_or(l->config, "units", -1)};
    SK_TRY(sk_keras_constant(l, "kernel", 2, dims, image ? oi : NULL, &kernel, &shape));
    SK_TRY(read_bias(l, shape.dim[1], &bias));
    l->out = l->in[0];
    l->out.channels = shape.dim[1];
    if (image) { /* acts on the last axis: a 1x1 convolution */
        sk_keras_reshape_constant(l, kernel,
                                  &(sk_shape){.rank = 4, .dim = {shape.dim[1], shape.dim[0], 1, 1}});
        l->out.v = sk_b_conv(l->b, l->in[0].v, kernel, bias, &point, 1, NULL);
    } else {
        sk_attrs a = {.gemm = {.alpha = 1, .beta = 1}};
        sk_value in[3] = {l->in[0].v, kernel, bias};
        l->out.v = sk_b_node(l->b, SK_OP_GEMM, &a, in, bias == SK_VALUE_NONE ? 2 : 3, NULL);
    }
    return sk_keras_activate(l, sk_config_get(l->config, "activation"), &l->out);
}
