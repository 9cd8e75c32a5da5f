/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/conv.h"

#include "graph/f8_formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Convolutions of bytes with weights of eight bits: exact sums, which a factor and an addend for each output channel make numbers
 * of. The input's zero is in the addend. In fp8 the same, with sums of floats. */

#define MOST_PRODUCTS 65000 /* of 255 * 128 each still fit 31 bits */

/* A weight in steps of its scale: a whole number, or one of e4m3. */
static float steps_of(const gpu_plan *plan, float weight, float scale)
{
    return plan->low == GPU_F8 ? sk_f8_number(sk_f8_of(weight / scale)) : rintf(weight / scale);
}

/* Weights are what their scales say: numbers of eight bits. Folding something into them would have changed that. */
static bool are_whole(const gpu_plan *plan, sk_value weights, const gpu_scales *s)
{
    const sk_tensor t = sk_value_tensor(plan->graph, weights);
    const int64_t rows = t.shape.dim[0], columns = sk_shape_count(&t.shape) / rows;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            const float w = ((const float *)t.data)[r * columns + c], scale = s->scales[s->n > 1 ? r : 0];
            const float q = steps_of(plan, w, scale);
            const bool fits = plan->low == GPU_F8 || (q >= -128.0f && q <= 127.0f);
            if (!fits || !(fabsf(q * scale - w) <= 1e-5f * scale * fmaxf(1.0f, fabsf(q))))
                return false;
        }
    return true;
}

static bool is_depthwise(const gpu_plan *plan, const gpu_conv_shape *s)
{
    return gpu_conv_is_depthwise(plan, s) && s->kh == 3 && s->window.stride[0] == 1 && s->cin % 16 == 0 &&
           !gpu_conv_has_half(plan, s);
}

/* Of fp8, depthwise ones multiply numbers one by one: their weights may be any. */
bool gpu_conv_is_bytes(const gpu_plan *plan, const sk_node *node)
{
    const gpu_scales *scales = node->n_in > 1 ? gpu_scales_of(plan, node->in[1]) : NULL;
    if ((!scales && plan->low != GPU_F8) || node->n_in < 2 ||
        !sk_value_is_constant(plan->graph, node->in[1]) ||
        plan->graph->values[node->in[1]].dtype != SK_DTYPE_F32 || gpu_rule_of(plan, node->in[0]).scale == 0)
        return false;
    gpu_conv_shape s;
    gpu_conv_read(plan, node, &s);
    if (s.bias != SK_VALUE_NONE &&
        (!sk_value_is_constant(plan->graph, s.bias) || plan->graph->values[s.bias].dtype != SK_DTYPE_F32))
        return false;
    if (!scales)
        return s.act >= 0 && gpu_config_count() > 0 && is_depthwise(plan, &s);
    return s.act >= 0 && gpu_config_count() > 0 && (gpu_conv_by_tiles(plan, &s) || is_depthwise(plan, &s)) &&
           s.cin / s.groups * s.kh * s.kw <= MOST_PRODUCTS && are_whole(plan, node->in[1], scales);
}

static float weight_of(const gpu_plan *plan, const gpu_conv_shape *s, const gpu_scales *scales, int64_t row,
                       int64_t column)
{
    const float *w = sk_value_tensor(plan->graph, s->weights).data;
    const int64_t columns = (int64_t)(s->cin / s->groups) * s->kh * s->kw;
    const float weight = w[row * columns + column];
    return scales ? steps_of(plan, weight, scales->scales[scales->n > 1 ? row : 0]) : weight;
}

/* How it ends. Halves that are added before the activation: of 1x1 convolutions only (conv_epilogue_bytes.cuh). */
static gpu_bytes ends_of(const gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s)
{
    const bool before = node->a.conv.residual_before_act;
    gpu_bytes b = gpu_bytes_to(plan, s->y, s->residual, s->act, before);
    if (s->residual != SK_VALUE_NONE && before && s->kh != 1)
        b.half = 0;
    b.fill = (uint32_t)gpu_rule_of(plan, s->x).zero * 0x01010101u;
    return b;
}

/* [channels][2], zeros for as many more as the widest tile has. */
static sk_status add_factors(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s,
                             const gpu_scales *scales, gpu_ref *ref, sk_error *err)
{
    const gpu_rule rule = gpu_rule_of(plan, s->x);
    const double half = ends_of(plan, node, s).half ? 0.5 : 1.0;
    const float *bias = s->bias == SK_VALUE_NONE ? NULL : sk_value_tensor(plan->graph, s->bias).data;
    const int64_t columns = (int64_t)(s->cin / s->groups) * s->kh * s->kw;
    void *data;
    SK_TRY(gpu_add_weights(plan, ((size_t)s->cout + 256) * 2 * sizeof(float), &data, ref, err));
    for (int32_t o = 0; o < s->cout; o++) {
        const double factor =
            half * (double)rule.scale * (scales ? (double)scales->scales[scales->n > 1 ? o : 0] : 1.0);
        double sum = 0;
        for (int64_t c = 0; c < columns; c++)
            sum += (double)weight_of(plan, s, scales, o, c);
        ((float *)data)[2 * o] = (float)factor;
        ((float *)data)[2 * o + 1] =
            (float)((bias ? half * (double)bias[o] : 0.0) - factor * sum * rule.zero);
    }
    return SK_OK;
}

static sk_status build_depthwise(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s,
                                 gpu_ref factors, sk_error *err)
{
    const gpu_scales *scales = gpu_scales_of(plan, s->weights);
    gpu_ref weights;
    gpu_step *step;
    void *data;
    const bool f8 = plan->low == GPU_F8;
    SK_TRY(gpu_add_weights(plan, (size_t)(f8 ? 9 : 3) * (size_t)s->cin * 4, &data, &weights, err));
    for (int32_t k = 0; k < 9; k++)
        for (int32_t c = 0; c < s->cin; c++) {
            const float w = weight_of(plan, s, scales, c, k);
            if (f8)
                ((float *)data)[k * s->cin + c] = w;
            else
                ((int8_t *)data)[((k / 3) * s->cin + c) * 4 + k % 3] = (int8_t)w;
        }
    SK_TRY(gpu_add_step(plan, GPU_DEPTHWISE, node, &step, err));
    gpu_conv_set_maps(plan, step, s, true);
    step->args.depthwise = gpu_depthwise_args_of(plan, node, s, true);
    step->args.depthwise.type = plan->low;
    step->args.depthwise.bytes = ends_of(plan, node, s);
    step->refs[2] = weights;
    step->refs[3] = factors;
    gpu_conv_describe(step, s, f8 ? "depthwise fp8" : "depthwise u8");
    return SK_OK;
}

static sk_status build_tile(gpu_plan *plan, const sk_node *node, const gpu_conv_shape *s, gpu_ref factors,
                            const sk_node *then, bool *done, sk_error *err)
{
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_CONV, node, &step, err));
    gpu_conv_set_maps(plan, step, s, true);
    step->bytes = 1;
    step->refs[3] = factors;
    step->args.conv = gpu_conv_args_of(plan, node, s, true);
    step->args.conv.bytes = ends_of(plan, node, s);
    gpu_conv_describe(step, s, plan->low == GPU_F8 ? "conv fp8" : "conv u8");
    if (then)
        gpu_conv_set_then(plan, step, then);
    *done = gpu_config_guess(plan, step) >= 0;
    if (!*done && then)
        plan->n_steps--; /* one after the other */
    else if (!*done)
        return sk_fail(err, SK_ERR_INTERNAL, "%s: no tile for this convolution of bytes", plan->node_name);
    return SK_OK;
}

bool gpu_conv_reads_bytes(const gpu_plan *plan, const sk_node *node)
{
    return plan->rules && plan->values[node->in[0]].low && gpu_conv_is_bytes(plan, node);
}

sk_status gpu_build_bytes_then(gpu_plan *plan, const sk_node *node, const sk_node *then, bool *done,
                               sk_error *err)
{
    gpu_conv_shape s;
    gpu_ref factors;
    gpu_conv_read(plan, node, &s);
    SK_TRY(add_factors(plan, node, &s, gpu_scales_of(plan, s.weights), &factors, err));
    return build_tile(plan, node, &s, factors, then, done, err);
}

sk_status gpu_build_conv_bytes(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    gpu_conv_shape s;
    gpu_ref factors;
    *done = gpu_is_map(plan, node->out[0]) && gpu_conv_reads_bytes(plan, node);
    if (!*done)
        return SK_OK;
    gpu_conv_read(plan, node, &s);
    if (s.residual != SK_VALUE_NONE && !plan->values[s.residual].low)
        SK_TRY(gpu_need_map(plan, s.residual, err));
    SK_TRY(gpu_make_kept(plan, s.y, err));
    SK_TRY(add_factors(plan, node, &s, gpu_scales_of(plan, s.weights), &factors, err));
    return is_depthwise(plan, &s) ? build_depthwise(plan, node, &s, factors, err)
                                  : build_tile(plan, node, &s, factors, NULL, done, err);
}
