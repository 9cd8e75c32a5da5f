/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/infer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Operations on maps besides convolutions. */

static void describe(gpu_plan *plan, gpu_step *step, const char *kernel, sk_value v)
{
    const sk_shape *s = gpu_shape(plan, v);
    snprintf(step->kernel, sizeof step->kernel, "%s", kernel);
    snprintf(step->shape, sizeof step->shape, "%lldx%lldx%lld", (long long)s->dim[1], (long long)s->dim[2],
             (long long)s->dim[3]);
}

/* --- pooling --- */

static bool same_pool(const sk_node *node)
{
    const sk_window *w = &node->a.pool.window;
    return node->op == SK_OP_MAX_POOL && w->kernel[0] == w->kernel[1] && w->kernel[0] % 2 == 1 &&
           w->stride[0] == 1 && w->stride[1] == 1 && w->dilation[0] == 1 && w->dilation[1] == 1 &&
           w->same == 0 && w->pad[0] == w->kernel[0] / 2 && w->pad[1] == w->pad[0] &&
           w->pad[2] == w->pad[0] && w->pad[3] == w->pad[0];
}

static const sk_node *pool_reading(const gpu_plan *plan, sk_value v, int32_t kernel)
{
    const sk_graph *g = plan->graph;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == SK_OP_MAX_POOL && g->nodes[i].in[0] == v && same_pool(&g->nodes[i]) &&
            g->nodes[i].a.pool.window.kernel[0] == kernel)
            return &g->nodes[i];
    return NULL;
}

bool gpu_pool_chain(const gpu_plan *plan, const sk_node *node, sk_value outs[3])
{
    const sk_shape *s = gpu_shape(plan, node->in[0]);
    if (node->op != SK_OP_MAX_POOL || !same_pool(node) || !gpu_is_map(plan, node->in[0]) ||
        s->dim[2] * s->dim[3] > 1024) /* what shared memory of every GPU holds */
        return false;
    const sk_node *second = pool_reading(plan, node->out[0], node->a.pool.window.kernel[0]);
    const sk_node *third = second ? pool_reading(plan, second->out[0], node->a.pool.window.kernel[0]) : NULL;
    if (!third || !gpu_is_map(plan, node->out[0]) || !gpu_is_map(plan, second->out[0]) ||
        !gpu_is_map(plan, third->out[0]))
        return false;
    outs[0] = node->out[0];
    outs[1] = second->out[0];
    outs[2] = third->out[0];
    return true;
}

static sk_status build_chain(gpu_plan *plan, const sk_node *node, const sk_value outs[3], sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, node->in[0]);
    gpu_step *step;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    for (int i = 0; i < 3; i++)
        SK_TRY(gpu_make_map(plan, outs[i], err));
    SK_TRY(gpu_add_step(plan, GPU_POOL_CHAIN, node, &step, err));
    step->args.pool_chain = (gpu_pool_chain_args){.n = (int32_t)s->dim[0],
                                                  .h = (int32_t)s->dim[2],
                                                  .w = (int32_t)s->dim[3],
                                                  .c8 = gpu_round8(s->dim[1]) / 8,
                                                  .k = node->a.pool.window.kernel[0],
                                                  .ldi = gpu_map_pitch(plan, node->in[0]),
                                                  .type = plan->type};
    for (int i = 0; i < 3; i++)
        step->args.pool_chain.ldo[i] = gpu_map_pitch(plan, outs[i]);
    step->refs[0] = gpu_map_ref(plan, outs[0]);
    step->refs[1] = gpu_map_ref(plan, node->in[0]);
    step->refs[2] = gpu_map_ref(plan, outs[1]);
    step->refs[3] = gpu_map_ref(plan, outs[2]);
    step->n_refs = 4;
    describe(plan, step, "pool chain", node->in[0]);
    return SK_OK;
}

static sk_status build_pool(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    const sk_window w = sk_window_resolve(&node->a.pool.window, x->dim[2], x->dim[3]);
    sk_value outs[3];
    gpu_step *step;
    if (gpu_pool_chain(plan, node, outs))
        return build_chain(plan, node, outs, err);
    for (size_t i = 0; i < plan->n_steps; i++) /* second and third of a chain are done */
        if (plan->steps[i].kind == GPU_POOL_CHAIN && gpu_pool_chain(plan, plan->steps[i].node, outs) &&
            (outs[1] == node->out[0] || outs[2] == node->out[0]))
            return SK_OK;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    SK_TRY(gpu_make_map(plan, node->out[0], err));
    SK_TRY(gpu_add_step(plan, GPU_POOL, node, &step, err));
    step->args.pool = (gpu_pool_args){.n = (int32_t)x->dim[0],
                                      .h = (int32_t)x->dim[2],
                                      .w = (int32_t)x->dim[3],
                                      .oh = (int32_t)y->dim[2],
                                      .ow = (int32_t)y->dim[3],
                                      .c8 = gpu_round8(x->dim[1]) / 8,
                                      .kh = w.kernel[0],
                                      .kw = w.kernel[1],
                                      .stride_y = w.stride[0],
                                      .stride_x = w.stride[1],
                                      .pad_y = w.pad[0],
                                      .pad_x = w.pad[1],
                                      .pad_h = w.pad[2],
                                      .pad_w = w.pad[3],
                                      .ldi = gpu_map_pitch(plan, node->in[0]),
                                      .ldo = gpu_map_pitch(plan, node->out[0]),
                                      .type = plan->type,
                                      .average = node->op == SK_OP_AVG_POOL,
                                      .include_pad = node->a.pool.count_include_pad};
    step->refs[0] = gpu_map_ref(plan, node->out[0]);
    step->refs[1] = gpu_map_ref(plan, node->in[0]);
    step->n_refs = 2;
    describe(plan, step, node->op == SK_OP_AVG_POOL ? "average pool" : "max pool", node->out[0]);
    return SK_OK;
}

/* --- resizing --- */

bool gpu_resize_is_known(const gpu_plan *plan, const sk_node *node)
{
    return gpu_shape(plan, node->in[0])->rank == 4 && node->a.resize.mode != SK_RESIZE_CUBIC &&
           !node->a.resize.antialias && !node->a.resize.exclude_outside;
}

/* Taps of every output position along one axis, as the reference executor has them. */
static void make_taps(const sk_node *node, int axis, bool sized, int64_t in, int64_t out, int32_t *index,
                      float *weight)
{
    const double ratio = sized ? (double)in / (double)out : 1 / (double)node->a.resize.scale[axis];
    for (int64_t x = 0; x < out; x++) {
        double at = ((double)x + 0.5) * ratio - 0.5;
        if (node->a.resize.coords == SK_COORDS_ASYMMETRIC)
            at = sized ? (double)x * (double)in / (double)out : (double)x * ratio;
        else if (node->a.resize.coords == SK_COORDS_ALIGN_CORNERS)
            at = out > 1 ? (double)x * (double)(in - 1) / (double)(out - 1) : 0;
        else if (node->a.resize.coords == SK_COORDS_PYTORCH_HALF_PIXEL && out == 1)
            at = 0;
        double low = floor(at);
        weight[x] = 0;
        if (node->a.resize.mode == SK_RESIZE_NEAREST) {
            switch (node->a.resize.round) {
            case SK_ROUND_CEIL: low = ceil(at); break;
            case SK_ROUND_PREFER_FLOOR: low = ceil(at - 0.5); break;
            case SK_ROUND_PREFER_CEIL: low = floor(at + 0.5); break;
            case SK_ROUND_FLOOR: break;
            }
        } else {
            weight[x] = (float)(at - low);
        }
        for (int k = 0; k < 2; k++) {
            double tap = low + k;
            index[2 * x + k] = tap < 0 ? 0 : tap > (double)(in - 1) ? (int32_t)(in - 1) : (int32_t)tap;
        }
    }
}

bool gpu_resize_doubles(const gpu_plan *plan, const sk_node *node)
{
    if (!gpu_resize_is_known(plan, node) || node->a.resize.mode != SK_RESIZE_NEAREST)
        return false;
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    for (int axis = 0; axis < 2; axis++) {
        const int64_t in = x->dim[2 + axis], out = y->dim[2 + axis];
        if (out != 2 * in || out > 4096 || x->dim[0] != y->dim[0] || x->dim[1] != y->dim[1])
            return false;
        int32_t index[2 * 4096];
        float weight[4096];
        make_taps(node, axis, node->n_in > 1 && node->in[1] != SK_VALUE_NONE, in, out, index, weight);
        for (int64_t i = 0; i < out; i++)
            if (index[2 * i] != i / 2)
                return false;
    }
    return true;
}

static sk_status build_resize(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    const bool sized = node->n_in > 1 && node->in[1] != SK_VALUE_NONE;
    gpu_ref refs[4];
    gpu_step *step;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    SK_TRY(gpu_make_map(plan, node->out[0], err));
    for (int axis = 0; axis < 2; axis++) {
        const int64_t in = x->dim[2 + axis], out = y->dim[2 + axis];
        void *data;
        float *weight;
        SK_TRY(gpu_add_weights(plan, (size_t)out * sizeof(float), &data, &refs[2 + axis], err));
        SK_TRY(gpu_add_weights(plan, (size_t)out * 2 * sizeof(int32_t), &data, &refs[axis], err));
        weight = (float *)(void *)(plan->weights + refs[2 + axis].offset);
        make_taps(node, axis, sized, in, out, data, weight);
    }
    SK_TRY(gpu_add_step(plan, GPU_RESIZE, node, &step, err));
    step->args.resize = (gpu_resize_args){.n = (int32_t)x->dim[0],
                                          .h = (int32_t)x->dim[2],
                                          .w = (int32_t)x->dim[3],
                                          .oh = (int32_t)y->dim[2],
                                          .ow = (int32_t)y->dim[3],
                                          .c8 = gpu_round8(x->dim[1]) / 8,
                                          .ldi = gpu_map_pitch(plan, node->in[0]),
                                          .ldo = gpu_map_pitch(plan, node->out[0]),
                                          .type = plan->type,
                                          .linear = node->a.resize.mode == SK_RESIZE_LINEAR};
    step->refs[0] = gpu_map_ref(plan, node->out[0]);
    step->refs[1] = gpu_map_ref(plan, node->in[0]);
    for (int i = 0; i < 4; i++)
        step->refs[2 + i] = refs[i];
    step->n_refs = 6;
    describe(plan, step, step->args.resize.linear ? "resize linear" : "resize nearest", node->out[0]);
    return SK_OK;
}

/* --- element by element --- */

static sk_status build_elementwise(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, node->out[0]);
    const bool unary = node->op == SK_OP_UNARY;
    gpu_step *step;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    if (!unary)
        SK_TRY(gpu_need_map(plan, node->in[1], err));
    SK_TRY(gpu_make_map(plan, node->out[0], err));
    SK_TRY(gpu_add_step(plan, GPU_MAP, node, &step, err));
    step->args.map = (gpu_map_args){.pixels = s->dim[0] * s->dim[2] * s->dim[3],
                                    .c8 = gpu_round8(s->dim[1]) / 8,
                                    .ldo = gpu_map_pitch(plan, node->out[0]),
                                    .lda = gpu_map_pitch(plan, node->in[0]),
                                    .ldb = unary ? 0 : gpu_map_pitch(plan, node->in[1]),
                                    .type = plan->type,
                                    .unary = unary ? (int32_t)node->a.unary.kind : 0,
                                    .binary = unary ? 0 : (int32_t)node->a.binary.kind,
                                    .alpha = unary ? node->a.unary.alpha : 0,
                                    .beta = unary ? node->a.unary.beta : 0};
    step->refs[0] = gpu_map_ref(plan, node->out[0]);
    step->refs[1] = gpu_map_ref(plan, node->in[0]);
    step->n_refs = 2;
    if (!unary) {
        step->refs[2] = gpu_map_ref(plan, node->in[1]);
        step->n_refs = 3;
    }
    describe(plan, step, unary ? sk_unary_name(node->a.unary.kind) : sk_binary_name(node->a.binary.kind),
             node->out[0]);
    return SK_OK;
}

/* --- channels --- */

/* Copies channels of `from`, starting at `from_c`, to `to` at `to_c`; zeros behind them where `zeros`. */
static sk_status add_copy(gpu_plan *plan, const sk_node *node, sk_value from, int32_t from_c, sk_value to,
                          int32_t to_c, int32_t channels, int32_t zeros, sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, to);
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_COPY, node, &step, err));
    step->args.copy = (gpu_copy_args){.pixels = s->dim[0] * s->dim[2] * s->dim[3],
                                      .c = channels,
                                      .zeros = zeros,
                                      .ldi = gpu_map_pitch(plan, from),
                                      .ldo = gpu_map_pitch(plan, to),
                                      .type = plan->type};
    step->refs[0] = gpu_map_ref(plan, to);
    step->refs[1] = gpu_map_ref(plan, from);
    step->refs[0].offset += (size_t)to_c * gpu_type_bytes(plan);
    step->refs[1].offset += (size_t)from_c * gpu_type_bytes(plan);
    step->refs[0].from += to_c;
    step->refs[0].to = step->refs[0].from + channels + zeros;
    step->refs[1].from += from_c;
    step->refs[1].to = step->refs[1].from + channels;
    step->n_refs = 2;
    describe(plan, step, "copy channels", to);
    return SK_OK;
}

static bool is_part_of(const gpu_plan *plan, sk_value v, sk_value whole)
{
    for (; v != SK_VALUE_NONE; v = plan->values[v].parent)
        if (v == whole)
            return true;
    return false;
}

static sk_status build_concat(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_value whole = node->out[0];
    const int32_t total = (int32_t)gpu_shape(plan, whole)->dim[1];
    int32_t at = 0;
    SK_TRY(gpu_make_map(plan, whole, err));
    const gpu_ref target = gpu_map_ref(plan, whole);
    for (int32_t i = 0; i < node->n_in; i++) {
        const int32_t c = (int32_t)gpu_shape(plan, node->in[i])->dim[1];
        SK_TRY(gpu_need_map(plan, node->in[i], err));
        const gpu_ref part = gpu_map_ref(plan, node->in[i]);
        const bool there = part.buffer == target.buffer && part.from == target.from + at;
        if (!there)
            SK_TRY(add_copy(plan, node, node->in[i], 0, whole, at, c,
                            at + c == total ? gpu_round8(total) - total : 0, err));
        at += c;
    }
    return SK_OK;
}

static sk_status build_split(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    int32_t at = 0;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    for (int32_t i = 0; i < node->n_out; i++) {
        const sk_value v = node->out[i];
        const int32_t c = (int32_t)gpu_shape(plan, v)->dim[1];
        if (plan->values[v].low && !gpu_is_low(plan->type) && at % 8 == 0) {
            SK_TRY(gpu_add_lower(plan, node->in[0], at, v, err));
        } else if (!is_part_of(plan, v, node->in[0])) {
            SK_TRY(gpu_make_map(plan, v, err));
            SK_TRY(add_copy(plan, node, node->in[0], at, v, 0, c, gpu_round8(c) - c, err));
        }
        at += c;
    }
    return SK_OK;
}

sk_status gpu_build_map_op(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = node->n_out > 0 && gpu_is_map(plan, node->out[0]);
    if (!*done)
        return SK_OK;
    switch (node->op) {
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL: return build_pool(plan, node, err);
    case SK_OP_RESIZE: return build_resize(plan, node, err);
    case SK_OP_UNARY:
    case SK_OP_BINARY: return build_elementwise(plan, node, err);
    case SK_OP_CONCAT: return build_concat(plan, node, err);
    case SK_OP_SPLIT: return build_split(plan, node, err);
    default: *done = false; return SK_OK;
    }
}
