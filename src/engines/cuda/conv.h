/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_H
#define SK_ENGINES_CUDA_CONV_H

#include "engines/cuda/plan.h"

/* A convolution as conv.c and conv_bytes.c see it. */
typedef struct gpu_conv_shape {
    int32_t n, h, w, cin, oh, ow, cout, kh, kw;
    sk_window window;
    int32_t groups, act;
    float alpha;
    sk_value x, weights, bias, residual, y;
} gpu_conv_shape;

void gpu_conv_read(const gpu_plan *plan, const sk_node *node,
                   gpu_conv_shape *s); /* act -1: a step of its own */
bool gpu_conv_by_tiles(const gpu_plan *plan, const gpu_conv_shape *s);
bool gpu_conv_is_depthwise(const gpu_plan *plan, const gpu_conv_shape *s);
bool gpu_conv_has_half(const gpu_plan *plan, const gpu_conv_shape *s);
/* The step makes what a 1x1 convolution behind makes of it, too. */
void gpu_conv_set_then(const gpu_plan *plan, gpu_step *step, const sk_node *then);
void gpu_conv_describe(gpu_step *step, const gpu_conv_shape *s, const char *kernel);

/* Common to convolution steps: output, input, residual, and what a kernel is told of them. `kept`: values as they are kept, bytes
 * where they have a rule; else their maps of f16. */
void gpu_conv_set_maps(const gpu_plan *plan, gpu_step *step, const gpu_conv_shape *s, bool kept);
gpu_conv_args gpu_conv_args_of(const gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, bool kept);
gpu_depthwise_args gpu_depthwise_args_of(const gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s,
                                         bool kept);

#endif
