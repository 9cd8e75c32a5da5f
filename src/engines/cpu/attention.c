/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"
#include "graph/attention.h"
#include "graph/edit.h"

#include <stdio.h>
#include <string.h>

/* The attention of YOLO10 and later as one step: it reads the blocked map [head][q k v] and writes blocked maps, so that none of the
 * dense forms in between, the scores among them, comes into being. Work is split over 16 queries at a time. */

#define LOG2_E 1.44269504088896341f

typedef struct attention {
    sk_value x, y, v; /* v: SK_VALUE_NONE where nobody reads the values as a map */
    cpu_map in, out, values;
    int32_t heads, kd, hd, areas, pixels, tiles; /* pixels of an area, in so many times 16 */
    float factor;                                /* of the scores, for powers of two */
} attention;

/* In the place of the split, since everything that reads either result comes after it. */
static sk_status rewrite(cpu_plan *plan, const sk_attention *a, sk_error *err)
{
    sk_graph *g = plan->graph;
    SK_TRY(sk_array_reserve((void **)&plan->attention, &plan->attention_capacity, plan->n_attention + 1,
                            sizeof plan->attention[0], SK_GRAPH_MAX_NODES, err));
    plan->attention[plan->n_attention++] = (cpu_attention){.result = a->out.to,
                                                           .heads = a->heads,
                                                           .kd = a->kd,
                                                           .hd = a->hd,
                                                           .areas = a->areas,
                                                           .factor = a->factor};
    sk_attention_remove(g, a);
    sk_node_remove(g, (size_t)a->softmax);
    sk_node *node = &g->nodes[a->split];
    for (int32_t i = 0; i < node->n_out; i++)
        g->values[node->out[i]].producer = -1;
    node->op = SK_OP_SOFTMAX;
    node->a.axis = 1;
    node->in[0] = a->in.from;
    node->n_in = 1;
    node->out[0] = a->out.to;
    node->out[1] = a->values.to;
    node->n_out = a->values.n > 0 ? 2 : 1;
    for (int32_t i = 0; i < node->n_out; i++)
        g->values[node->out[i]].producer = a->split;
    return SK_OK;
}

/* Will v's blocks be full? Those of a concatenation need not be, nor those of what keeps them as they are. */
static bool fills_blocks(const sk_graph *g, sk_value v)
{
    for (;;) {
        const int32_t p = g->values[v].producer;
        if (p < 0)
            return true;
        const sk_node *node = &g->nodes[p];
        if (node->op == SK_OP_CONV && node->a.conv.groups == 1)
            return true;
        if (node->op != SK_OP_UNARY && node->op != SK_OP_QUANTIZE && node->op != SK_OP_DEQUANTIZE)
            return false;
        v = node->in[0];
    }
}

/* Blocks are full, and heads begin with one. */
static bool fits(const cpu_plan *plan, const sk_attention *a)
{
    const sk_shape *s = &plan->graph->values[a->in.from].shape;
    return a->kd % SK_BLOCK == 0 && a->hd % SK_BLOCK == 0 && a->kd > 0 && a->hd > 0 &&
           fills_blocks(plan->graph, a->in.from) && cpu_can_block(plan, a->in.from) &&
           cpu_can_block(plan, a->out.to) && s->dim[2] * s->dim[3] < INT32_MAX / (a->kd + a->hd + SK_BLOCK);
}

sk_status cpu_find_attention(cpu_plan *plan, sk_error *err)
{
    sk_graph *g = plan->graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        sk_attention found;
        sk_status status = SK_OK;
        if (g->nodes[i].op != SK_OP_SOFTMAX)
            continue;
        int32_t *uses = sk_graph_count_uses(g);
        if (!uses)
            return sk_fail_memory(err, g->n_values * sizeof *uses);
        if (sk_attention_match(g, uses, i, &found) && fits(plan, &found))
            status = rewrite(plan, &found, err);
        sk_free(uses);
        if (status != SK_OK)
            return status;
    }
    sk_graph_sweep(g);
    return SK_OK;
}

/* Of 16 queries: which image, area and head they are of, and how many they are. */
typedef struct place {
    int32_t image, area, head, first, count;
} place;

static place place_of(const attention *a, int64_t unit)
{
    place p;
    p.first = (int32_t)(unit % a->tiles) * SK_BLOCK;
    unit /= a->tiles;
    p.head = (int32_t)(unit % a->heads);
    unit /= a->heads;
    p.area = (int32_t)(unit % a->areas);
    p.image = (int32_t)(unit / a->areas);
    p.count = a->pixels - p.first < SK_BLOCK ? a->pixels - p.first : SK_BLOCK;
    return p;
}

/* Pixels from `pixel` of the image on that lie side by side in a row, `most` at most. */
static int32_t in_row(const cpu_map *map, int32_t pixel, int32_t most)
{
    const int32_t left = map->w - pixel % map->w;
    return left < most ? left : most;
}

static ptrdiff_t pixel_at(const cpu_map *map, int32_t pixel)
{
    return pixel / map->w * map->row + (ptrdiff_t)(pixel % map->w) * SK_BLOCK;
}

/* Keys or values of a head, all pixels of the area: `width` channels each, side by side. */
static void gather(const attention *a, const place *p, int32_t block, int32_t width, float *to)
{
    const float *from = a->in.data + p->image * a->in.image + block * a->in.plane;
    for (int32_t i = 0, run; i < a->pixels; i += run) {
        const int32_t pixel = p->area * a->pixels + i;
        const float *row = from + pixel_at(&a->in, pixel);
        run = in_row(&a->in, pixel, a->pixels - i);
        for (int32_t k = 0; k < run; k++)
            for (int32_t c = 0; c < width; c += SK_BLOCK)
                memcpy(to + (ptrdiff_t)(i + k) * width + c,
                       row + c / SK_BLOCK * a->in.plane + (ptrdiff_t)k * SK_BLOCK, SK_BLOCK * sizeof *to);
    }
}

/* The queries as [channel][query], scaled. */
static void gather_queries(const attention *a, const place *p, const sk_kernels_f32 *kernels, int32_t block,
                           float *to)
{
    const float *from = a->in.data + p->image * a->in.image + block * a->in.plane;
    if (p->count < SK_BLOCK)
        memset(to, 0, (size_t)a->kd * SK_BLOCK * sizeof *to);
    for (int32_t i = 0, run; i < p->count; i += run) {
        const int32_t pixel = p->area * a->pixels + p->first + i;
        run = in_row(&a->in, pixel, p->count - i);
        for (int32_t c = 0; c < a->kd; c += SK_BLOCK)
            kernels->from_blocked(from + c / SK_BLOCK * a->in.plane + pixel_at(&a->in, pixel),
                                  to + c * SK_BLOCK + i, SK_BLOCK, SK_BLOCK, run);
    }
    for (int32_t i = 0; i < a->kd * SK_BLOCK; i++)
        to[i] *= a->factor;
}

/* Where the result of each query goes; and its values, where somebody reads them as a map. */
static void place_results(const attention *a, const place *p, int32_t block, const float *v, float **out)
{
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t pixel = p->area * a->pixels + p->first + i;
        out[i] = a->out.data + p->image * a->out.image + block * a->out.plane + pixel_at(&a->out, pixel);
        if (a->v == SK_VALUE_NONE)
            continue;
        float *to = a->values.data + p->image * a->values.image + block * a->values.plane +
                    pixel_at(&a->values, pixel);
        for (int32_t c = 0; c < a->hd; c += SK_BLOCK)
            memcpy(to + c / SK_BLOCK * a->values.plane, v + (ptrdiff_t)(p->first + i) * a->hd + c,
                   SK_BLOCK * sizeof *to);
    }
}

static void run_attention(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const attention *a = step->data;
    const sk_kernels_f32 *kernels = &frame->plan->kernels;
    const int32_t per = (2 * a->kd + a->hd) / SK_BLOCK;
    float *out[SK_BLOCK], *k = frame->scratch, *v = k + (ptrdiff_t)a->pixels * a->kd,
                          *scores = v + (ptrdiff_t)a->pixels * a->hd,
                          *q = scores + (ptrdiff_t)a->pixels * SK_BLOCK;
    sk_attention_f32 p = {.q = q,
                          .k = k,
                          .v = v,
                          .keys = a->pixels,
                          .kd = a->kd,
                          .hd = a->hd,
                          .scores = scores,
                          .out = out,
                          .out_plane = a->out.plane};
    int64_t from, to, gathered = -1;
    sk_pool_split((int64_t)a->in.n * a->areas * a->heads * a->tiles, 1, part, parts, &from, &to);
    for (int64_t unit = from; unit < to; unit++) {
        const place at = place_of(a, unit);
        if (unit / a->tiles != gathered) {
            gather(a, &at, at.head * per + a->kd / SK_BLOCK, a->kd, k);
            gather(a, &at, at.head * per + 2 * a->kd / SK_BLOCK, a->hd, v);
            gathered = unit / a->tiles;
        }
        gather_queries(a, &at, kernels, at.head * per, q);
        place_results(a, &at, at.head * a->hd / SK_BLOCK, v, out);
        p.queries = at.count;
        kernels->attention(&p);
    }
}

static sk_status bind_attention(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    attention *a = step->data;
    a->in = cpu_bound_map(plan, a->x);
    a->out = cpu_bound_map(plan, a->y);
    if (a->v != SK_VALUE_NONE)
        a->values = cpu_bound_map(plan, a->v);
    return SK_OK;
}

const cpu_attention *cpu_attention_of(const cpu_plan *plan, const sk_node *node)
{
    for (size_t i = 0; i < plan->n_attention; i++)
        if (node->op == SK_OP_SOFTMAX && node->out[0] == plan->attention[i].result)
            return &plan->attention[i];
    return NULL;
}

sk_status cpu_build_attention(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    const cpu_attention *found = cpu_attention_of(plan, node);
    cpu_step *step;
    attention a = {.x = node->in[0],
                   .y = node->out[0],
                   .v = node->n_out > 1 ? node->out[1] : SK_VALUE_NONE,
                   .heads = found->heads,
                   .kd = found->kd,
                   .hd = found->hd,
                   .areas = found->areas,
                   .factor = found->factor * LOG2_E};
    const sk_shape *s = cpu_shape(plan, a.x);
    a.pixels = (int32_t)(s->dim[2] * s->dim[3]) / a.areas;
    a.tiles = (a.pixels + SK_BLOCK - 1) / SK_BLOCK;
    SK_TRY(cpu_need_blocked(plan, a.x, err));
    SK_TRY(cpu_make_blocked(plan, a.y, err));
    if (a.v != SK_VALUE_NONE)
        SK_TRY(cpu_make_blocked(plan, a.v, err));
    SK_TRY(cpu_add_step(plan, sizeof a, &step, err));
    *(attention *)step->data = a;
    step->run = run_attention;
    step->bind = bind_attention;
    step->flops = 2.0 * (double)s->dim[0] * a.areas * a.heads * a.pixels * a.pixels * (a.kd + a.hd);
    snprintf(step->kernel, sizeof step->kernel, "attention %s", plan->kernels.isa);
    snprintf(step->shape, sizeof step->shape, "%d heads, %dx%d%s", a.heads, (int)s->dim[2], (int)s->dim[3],
             a.areas > 1 ? ", areas" : "");
    const size_t scratch = (size_t)a.pixels * (size_t)(a.kd + a.hd + SK_BLOCK) + (size_t)a.kd * SK_BLOCK;
    plan->scratch_floats = scratch > plan->scratch_floats ? scratch : plan->scratch_floats;
    return cpu_step_uses(plan, step, (const sk_value[]){a.x, a.y, a.v}, node->n_out + 1, NULL, 0, err);
}
