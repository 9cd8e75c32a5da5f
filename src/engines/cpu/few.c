/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"

#include <stdio.h>
#include <string.h>

/* A 1x1 convolution with few outputs that nobody reads as a map: a network's last, one output a keypoint. Blocks of sixteen would
 * be mostly empty, and would be taken apart again afterwards. Instead the input's pixels are turned into rows of one channel each,
 * some at a time, which stay in the first cache, and products of rows give the dense result. Several of one input are one step: what
takes the time is to read it. */

#define FEW_OUTPUTS 8
#define MOST_HEADS  4
#define ROWS_BYTES  (24 << 10) /* of the rows that are there at once */

typedef struct few_head {
    sk_value y;
    int32_t outputs;
    float *weights; /* [output][channel], and the bias as that of one channel more, whose inputs are 1 */
    sk_act_f32 act;
} few_head;

typedef struct few {
    sk_value x; /* maybe its low form */
    cpu_map in;
    int32_t products; /* channels and one more */
    int32_t pixels;   /* at once */
    few_head heads[MOST_HEADS];
    int32_t n_heads;
    float scale; /* of bytes */
    int32_t zero;
} few;

/* Is v read by what wants it dense only? */
static bool stays_dense(const cpu_plan *plan, sk_value v)
{
    const sk_graph *g = plan->graph;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v && g->nodes[i].op != SK_OP_TRANSPOSE &&
                g->nodes[i].op != SK_OP_RESHAPE)
                return false;
    return true;
}

bool cpu_conv_is_few(const cpu_plan *plan, const sk_node *node)
{
    const sk_window *w = &node->a.conv.window;
    const sk_value x = node->in[0];
    if (plan->values[x].input >= 0 || plan->values[cpu_low(plan, x)].input >= 0)
        return false; /* the caller's picture is not here as a map: first.c reads it */
    return cpu_conv_is_known(plan, node) && sk_value_is_constant(plan->graph, node->in[1]) &&
           (node->n_in < 4 || node->in[3] == SK_VALUE_NONE) && node->a.conv.groups == 1 &&
           w->kernel[0] == 1 && w->kernel[1] == 1 && w->stride[0] == 1 && w->stride[1] == 1 &&
           w->pad[0] == 0 && w->pad[1] == 0 && w->pad[2] == 0 && w->pad[3] == 0 &&
           cpu_shape(plan, node->out[0])->dim[1] <= FEW_OUTPUTS && stays_dense(plan, node->out[0]);
}

static sk_status bind_few(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    few *f = step->data;
    f->in = cpu_bound_map(plan, f->x);
    return SK_OK;
}

/* `count` pixels from (y, x) of image n on, a row a channel; low forms by way of `raised`, one block at a time. */
static void spread(const few *f, const cpu_plan *plan, ptrdiff_t at, int32_t count, float *rows,
                   float *raised)
{
    const cpu_map *in = &f->in;
    for (int32_t b = 0; b < in->blocks; at += in->plane, rows += (ptrdiff_t)in->fill[b++] * f->pixels) {
        const float *from = in->data + at;
        if (in->size == 2)
            plan->kernels.from_bf16((const uint16_t *)(const void *)in->bytes + at, raised,
                                    (size_t)count * SK_BLOCK);
        else if (in->size == 1)
            plan->kernels_u8.dequantise(in->bytes + at, raised, (size_t)count * SK_BLOCK, f->scale, f->zero);
        plan->kernels.from_blocked(in->size == sizeof(float) ? from : raised, rows, f->pixels, in->fill[b],
                                   count);
    }
}

static void run_head(const few *f, const few_head *head, const sk_kernels_f32 *k, const float *rows,
                     int32_t count, float *out)
{
    const ptrdiff_t plane = (ptrdiff_t)f->in.h * f->in.w;
    const sk_gemm_f32 g = {.a = head->weights,
                           .a_row = f->products,
                           .a_col = 1,
                           .b = rows,
                           .b_row = f->pixels,
                           .c = out,
                           .c_row = plane,
                           .m = head->outputs,
                           .n = count,
                           .k = f->products};
    k->gemm(&g, 0, head->outputs);
    for (int32_t o = 0; o < head->outputs && head->act.kind; o++)
        k->unary(out + o * plane, out + o * plane, (size_t)count, &head->act);
}

/* Work is split over (image, row). */
static void run_few(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const few *f = step->data;
    const cpu_map *in = &f->in;
    float *rows = frame->scratch, *raised = rows + (ptrdiff_t)f->products * f->pixels;
    int64_t from, to;
    for (int32_t i = 1; i <= f->pixels; i++)
        raised[-i] = 1.0f;
    sk_pool_split((int64_t)in->n * in->h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to; at++) {
        const ptrdiff_t n = at / in->h, y = at % in->h;
        for (int32_t x = 0; x < in->w; x += f->pixels) {
            const int32_t count = in->w - x < f->pixels ? in->w - x : f->pixels;
            spread(f, frame->plan, n * in->image + y * in->row + (ptrdiff_t)x * SK_BLOCK, count, rows,
                   raised);
            for (int32_t i = 0; i < f->n_heads; i++) {
                const few_head *head = &f->heads[i];
                float *out = cpu_bound_dense(frame->plan, frame, head->y);
                run_head(f, head, &frame->plan->kernels, rows, count,
                         out + (n * head->outputs * in->h + y) * in->w + x);
            }
        }
    }
}

static sk_status add_head(cpu_plan *plan, few *f, const sk_node *node, sk_error *err)
{
    const int32_t channels = f->products - 1, outputs = (int32_t)cpu_shape(plan, node->out[0])->dim[1];
    const float *w = sk_value_tensor(plan->graph, node->in[1]).data, *bias = NULL;
    const size_t bytes = (size_t)outputs * (size_t)f->products * sizeof(float);
    float *to = sk_arena_alloc(plan->arena, bytes);
    if (!to)
        return sk_fail_memory(err, bytes);
    if (node->n_in > 2 && node->in[2] != SK_VALUE_NONE)
        bias = sk_value_tensor(plan->graph, node->in[2]).data;
    f->heads[f->n_heads++] = (few_head){
        .y = node->out[0],
        .outputs = outputs,
        .weights = to,
        .act = {node->a.conv.act.kind, node->a.conv.act.alpha, node->a.conv.act.beta},
    };
    for (int32_t o = 0; o < outputs; o++, to += f->products) {
        memcpy(to, w + (ptrdiff_t)o * channels, (size_t)channels * sizeof(float));
        to[channels] = bias ? bias[o] : 0.0f;
    }
    plan->values[node->in[1]].packed = true;
    return cpu_make_dense(plan, node->out[0], err);
}

/* This node and those after it that read the same. */
static sk_status add_heads(cpu_plan *plan, few *f, const sk_node *node, double *flops, sk_error *err)
{
    const sk_graph *g = plan->graph;
    for (const sk_node *other = node; other < g->nodes + g->n_nodes && f->n_heads < MOST_HEADS; other++)
        if (other->op == SK_OP_CONV && other->in[0] == node->in[0] && cpu_conv_is_few(plan, other)) {
            SK_TRY(add_head(plan, f, other, err));
            *flops += sk_node_flops(g, other);
        }
    return SK_OK;
}

static sk_status add_few(cpu_plan *plan, const few *f, double flops, sk_error *err)
{
    sk_value results[MOST_HEADS];
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof *f, &step, err));
    *(few *)step->data = *f;
    step->run = run_few;
    step->bind = bind_few;
    step->flops = flops;
    snprintf(step->kernel, sizeof step->kernel, "conv few %s", plan->kernels.isa);
    int at = snprintf(step->shape, sizeof step->shape, "%d->", f->products - 1);
    for (int32_t i = 0; i < f->n_heads; i++) {
        results[i] = f->heads[i].y;
        at += snprintf(step->shape + at, sizeof step->shape - (size_t)at, i ? "+%d" : "%d",
                       f->heads[i].outputs);
    }
    const int64_t *d = cpu_shape(plan, f->x)->dim;
    snprintf(step->shape + at, sizeof step->shape - (size_t)at, " 1x1 s1 %dx%d", (int)d[2], (int)d[3]);
    return cpu_step_uses(plan, step, &f->x, 1, results, f->n_heads, err);
}

sk_status cpu_build_few(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    if (plan->values[node->out[0]].dense >= 0) /* with one before it */
        return SK_OK;
    const sk_value x = node->in[0], low = cpu_low(plan, x);
    const bool raise = plan->values[x].map < 0 && plan->values[low].map >= 0;
    few f = {.x = raise ? low : x,
             .products = (int32_t)cpu_shape(plan, x)->dim[1] + 1,
             .scale = plan->values[low].scale,
             .zero = plan->values[low].zero};
    f.pixels = ROWS_BYTES / (int32_t)sizeof(float) / f.products / SK_BLOCK * SK_BLOCK;
    f.pixels = f.pixels < SK_BLOCK ? SK_BLOCK : f.pixels;
    const size_t scratch = (size_t)(f.products + SK_BLOCK) * (size_t)f.pixels;
    plan->scratch_floats = plan->scratch_floats > scratch ? plan->scratch_floats : scratch;
    double flops = 0;
    SK_TRY(cpu_need_blocked(plan, f.x, err));
    SK_TRY(add_heads(plan, &f, node, &flops, err));
    return add_few(plan, &f, flops, err);
}
