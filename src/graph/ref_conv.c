/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

/* Convolution as one writes it down, with two liberties for speed: the innermost loop runs along a row of
 * double accumulators, and a 1x1 convolution without stride or padding treats the image as one long row. */

typedef struct conv_size {
    int64_t channels, h, w;       /* input */
    int64_t out_channels, oh, ow; /* output */
    int64_t kh, kw, per_group;    /* weight's inner three dimensions: per_group, kh, kw */
} conv_size;

static conv_size size_of(const sk_shape *x, const sk_shape *w, const sk_shape *y)
{
    return (conv_size){.channels = x->dim[1],
                       .h = x->dim[2],
                       .w = x->dim[3],
                       .out_channels = y->dim[1],
                       .oh = y->dim[2],
                       .ow = y->dim[3],
                       .per_group = w->dim[1],
                       .kh = w->dim[2],
                       .kw = w->dim[3]};
}

/* acc[x] += weight * row[x * stride + shift] for those x whose input lies inside 0 .. w-1. */
static void add_row(double *acc, int64_t ow, const float *row, int64_t w, int64_t stride, int64_t shift,
                    double weight)
{
    int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
    int64_t end = w - shift > 0 ? (w - shift - 1) / stride + 1 : 0;
    if (end > ow)
        end = ow;
    if (stride == 1) {
        for (int64_t x = begin; x < end; x++)
            acc[x] += weight * (double)row[x + shift];
    } else {
        for (int64_t x = begin; x < end; x++)
            acc[x] += weight * (double)row[x * stride + shift];
    }
}

static void conv_row(double *acc, const conv_size *s, const sk_window *win, const float *image,
                     const float *weight, int64_t oy)
{
    for (int64_t c = 0; c < s->per_group; c++) {
        for (int64_t ky = 0; ky < s->kh; ky++) {
            int64_t y = oy * win->stride[0] + ky * win->dilation[0] - win->pad[0];
            if (y < 0 || y >= s->h)
                continue;
            const float *row = image + (c * s->h + y) * s->w;
            const float *w = weight + (c * s->kh + ky) * s->kw;
            for (int64_t kx = 0; kx < s->kw; kx++)
                add_row(acc, s->ow, row, s->w, win->stride[1], kx * win->dilation[1] - win->pad[1],
                        (double)w[kx]);
        }
    }
}

static void finish_row(const double *acc, int64_t n, const sk_fused_act *act, const float *residual,
                       bool before, float *out)
{
    for (int64_t x = 0; x < n; x++) {
        double v = acc[x];
        if (residual && before)
            v += (double)residual[x];
        if (act->kind)
            v = sk_ref_activate(act->kind, (double)act->alpha, (double)act->beta, v);
        if (residual && !before)
            v += (double)residual[x];
        out[x] = (float)v;
    }
}

sk_status sk_ref_conv(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *w = &ins[1].shape, *y = &outs[0].shape;
    const sk_tensor *bias = sk_node_input(node, ins, 2), *residual = sk_node_input(node, ins, 3);
    sk_window win = node->a.conv.window;
    win.kernel[0] = (int32_t)w->dim[2];
    win.kernel[1] = (int32_t)w->dim[3];
    win = sk_window_resolve(&win, x->dim[2], x->dim[3]);
    conv_size s = size_of(x, w, y);
    if (s.h == s.oh && s.w == s.ow && s.kh == 1 && s.kw == 1 && win.stride[0] == 1 && win.stride[1] == 1) {
        s.ow = s.w = s.h * s.w;
        s.oh = s.h = 1;
    }
    int64_t group_outputs = s.out_channels / node->a.conv.groups;
    double *acc = sk_calloc((size_t)s.ow, sizeof *acc);
    if (!acc)
        return sk_fail_memory(err, (size_t)s.ow * sizeof *acc);
    const float *in = ins[0].data, *weights = ins[1].data;
    const float *biases = bias ? bias->data : NULL, *residuals = residual ? residual->data : NULL;
    float *out = outs[0].data;
    for (int64_t n = 0; n < y->dim[0]; n++) {
        for (int64_t o = 0; o < s.out_channels; o++) {
            int64_t first = o / group_outputs * s.per_group;
            const float *image = in + (n * s.channels + first) * s.h * s.w;
            for (int64_t oy = 0; oy < s.oh; oy++) {
                int64_t at = ((n * s.out_channels + o) * s.oh + oy) * s.ow;
                for (int64_t i = 0; i < s.ow; i++)
                    acc[i] = biases ? (double)biases[o] : 0;
                conv_row(acc, &s, &win, image, weights + o * s.per_group * s.kh * s.kw, oy);
                finish_row(acc, s.ow, &node->a.conv.act, residuals ? residuals + at : NULL,
                           node->a.conv.residual_before_act, out + at);
            }
        }
    }
    sk_free(acc);
    return SK_OK;
}

/* Output row oy of a transposed convolution gathers from the input rows that reach it:
 * out[iy * stride + ky * dilation - pad] += in[iy] * w[ky]. */
static void transpose_row(double *acc, const conv_size *s, const sk_window *win, const float *image,
                          const float *weight, int64_t weight_step, int64_t channels, int64_t oy)
{
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t ky = 0; ky < s->kh; ky++) {
            int64_t reach = oy + win->pad[0] - ky * win->dilation[0];
            if (reach < 0 || reach % win->stride[0] || reach / win->stride[0] >= s->h)
                continue;
            const float *row = image + (c * s->h + reach / win->stride[0]) * s->w;
            const float *w = weight + c * weight_step + ky * s->kw;
            for (int64_t kx = 0; kx < s->kw; kx++) {
                int64_t shift = kx * win->dilation[1] - win->pad[1];
                for (int64_t ix = 0; ix < s->w; ix++) {
                    int64_t ox = ix * win->stride[1] + shift;
                    if (ox >= 0 && ox < s->ow)
                        acc[ox] += (double)w[kx] * (double)row[ix];
                }
            }
        }
    }
}

sk_status sk_ref_conv_transpose(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *w = &ins[1].shape, *y = &outs[0].shape;
    const sk_tensor *bias = sk_node_input(node, ins, 2);
    sk_attrs a = node->a;
    sk_conv_transpose_resolve(&a, w->dim[2], w->dim[3]);
    conv_size s = size_of(x, w, y);
    int64_t group_inputs = s.channels / a.conv_transpose.groups;
    int64_t plane = s.kh * s.kw;
    double *acc = sk_calloc((size_t)s.ow, sizeof *acc);
    if (!acc)
        return sk_fail_memory(err, (size_t)s.ow * sizeof *acc);
    const float *in = ins[0].data, *weights = ins[1].data, *biases = bias ? bias->data : NULL;
    float *out = outs[0].data;
    for (int64_t n = 0; n < y->dim[0]; n++) {
        for (int64_t o = 0; o < s.out_channels; o++) {
            int64_t group = o / s.per_group, first = group * group_inputs;
            const float *image = in + (n * s.channels + first) * s.h * s.w;
            const float *weight = weights + (first * s.per_group + o % s.per_group) * plane;
            for (int64_t oy = 0; oy < s.oh; oy++) {
                for (int64_t i = 0; i < s.ow; i++)
                    acc[i] = biases ? (double)biases[o] : 0;
                transpose_row(acc, &s, &a.conv_transpose.window, image, weight, s.per_group * plane,
                              group_inputs, oy);
                finish_row(acc, s.ow, &a.conv_transpose.act, NULL, false,
                           out + ((n * s.out_channels + o) * s.oh + oy) * s.ow);
            }
        }
    }
    sk_free(acc);
    return SK_OK;
}
