/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include <stdio.h>
#include <string.h>

/* Which values are maps, and which of them are ranges of channels of another. */

static bool can_map(const gpu_plan *plan, sk_value v)
{
    const sk_value_info *info = &plan->graph->values[v];
    return info->dtype == SK_DTYPE_F32 && info->shape.rank == 4 && sk_shape_count(&info->shape) > 0 &&
           !info->blob;
}

bool gpu_is_map(const gpu_plan *plan, sk_value v)
{
    return v >= 0 && plan->values[v].map;
}

static bool along_channels(const gpu_plan *plan, const sk_node *node, int32_t axis)
{
    return gpu_shape(plan, node->in[0])->rank == 4 && (axis == 1 || axis == -3);
}

/* Weights and bias that can be packed ahead. */
static bool fixed_weights(const gpu_plan *plan, const sk_node *node)
{
    const sk_graph *g = plan->graph;
    return sk_value_is_constant(g, node->in[1]) && g->values[node->in[1]].dtype == SK_DTYPE_F32 &&
           (node->n_in < 3 || node->in[2] == SK_VALUE_NONE ||
            (sk_value_is_constant(g, node->in[2]) && g->values[node->in[2]].dtype == SK_DTYPE_F32));
}

/* Will this node's results be maps? Mirrors what the builders take. */
static bool makes_maps(const gpu_plan *plan, size_t index)
{
    const sk_node *node = &plan->graph->nodes[index];
    if (gpu_attention_of(plan, index))
        return true;
    for (int32_t i = 0; i < node->n_out; i++)
        if (!can_map(plan, node->out[i]))
            return false;
    switch (node->op) {
    case SK_OP_CONV:
        return fixed_weights(plan, node) && !gpu_is_fine_head(plan, node) && !gpu_is_plane_head(plan, node) &&
               (gpu_is_map(plan, node->in[0]) || !gpu_conv_is_pointwise(plan, node));
    case SK_OP_CONV_TRANSPOSE:
        return node->a.conv_transpose.groups == 1 && node->a.conv_transpose.window.dilation[0] == 1 &&
               node->a.conv_transpose.window.dilation[1] == 1 && fixed_weights(plan, node);
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
        return node->n_out == 1 && node->a.pool.window.dilation[0] == 1 &&
               node->a.pool.window.dilation[1] == 1 && node->a.pool.window.same == 0;
    case SK_OP_RESIZE: return gpu_resize_is_known(plan, node);
    case SK_OP_UNARY: return gpu_is_map(plan, node->in[0]);
    case SK_OP_BINARY:
        return gpu_is_map(plan, node->in[0]) && gpu_is_map(plan, node->in[1]) &&
               node->a.binary.kind <= SK_BINARY_MAX &&
               sk_shape_equal(gpu_shape(plan, node->in[0]), gpu_shape(plan, node->in[1]));
    case SK_OP_CONCAT:
        if (!along_channels(plan, node, node->a.axis))
            return false;
        for (int32_t i = 0; i < node->n_in; i++)
            if (!gpu_is_map(plan, node->in[i]))
                return false;
        return true;
    case SK_OP_SPLIT: return gpu_is_map(plan, node->in[0]) && along_channels(plan, node, node->a.split.axis);
    default: return false;
    }
}

static sk_value root_of(const gpu_plan *plan, sk_value v, int32_t *delta)
{
    *delta = 0;
    while (plan->values[v].parent != SK_VALUE_NONE) {
        *delta += plan->values[v].delta;
        v = plan->values[v].parent;
    }
    return v;
}

/* Are both kept in the same form, so that one may lie inside the other from channel `at` on? */
static bool is_alike(const gpu_plan *plan, sk_value a, sk_value b, int32_t at)
{
    const gpu_rule x = gpu_rule_of(plan, a), y = gpu_rule_of(plan, b);
    if (!plan->values[a].low && !plan->values[b].low)
        return at % 8 == 0;
    return plan->values[a].low && plan->values[b].low && x.scale == y.scale && x.zero == y.zero &&
           at % 16 == 0;
}

/* Parts of a split are ranges of the whole where they lie on multiples of 8, the last with the zeros behind it; others get
 * copies (map_ops.c). Of bytes: multiples of 16. */
static void place_split(gpu_plan *plan, const sk_node *node)
{
    int32_t at = 0;
    for (int32_t i = 0; i < node->n_out; i++) {
        const int32_t c = (int32_t)gpu_shape(plan, node->out[i])->dim[1];
        if (is_alike(plan, node->in[0], node->out[i], at) && (c % 8 == 0 || i == node->n_out - 1)) {
            plan->values[node->out[i]].parent = node->in[0];
            plan->values[node->out[i]].delta = at;
        }
        at += c;
    }
}

/* Inputs of a concatenation move into it: the whole value that a run of parts makes up, when nothing else holds it yet.
 * A part that stays outside is copied. */
static void place_concat(gpu_plan *plan, const sk_node *node)
{
    const sk_value whole = node->out[0];
    int32_t at = 0;
    for (int32_t i = 0; i < node->n_in; i++) {
        int32_t inside, run = 0;
        const sk_value root = root_of(plan, node->in[i], &inside);
        const int32_t channels = (int32_t)gpu_shape(plan, root)->dim[1];
        /* the parts from here on that continue this root without a gap */
        int32_t k = i;
        for (; k < node->n_in; k++) {
            int32_t d;
            if (root_of(plan, node->in[k], &d) != root || d != run)
                break;
            run += (int32_t)gpu_shape(plan, node->in[k])->dim[1];
        }
        const bool fits = inside == 0 && run == channels && root != whole &&
                          is_alike(plan, root, whole, at) && channels % 8 == 0 &&
                          plan->values[root].input < 0 && plan->graph->values[root].producer >= 0;
        if (fits) {
            plan->values[root].parent = whole;
            plan->values[root].delta = at;
        }
        if (fits) {
            at += run;
            i = k - 1;
        } else {
            at += (int32_t)gpu_shape(plan, node->in[i])->dim[1];
        }
    }
}

/* Does anything from node `first` on, or the caller, look into channels from `c` on of what lies in `root`? */
static bool is_read_later(const gpu_plan *plan, sk_value root, int32_t c, size_t first)
{
    const sk_graph *g = plan->graph;
    int32_t d;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (root_of(plan, g->outputs[i], &d) == root)
            return true;
    for (size_t i = first; i < g->n_nodes; i++)
        for (int32_t k = 0; g->nodes[i].op != SK_OP_NONE && k < g->nodes[i].n_in; k++) {
            const sk_value v = g->nodes[i].in[k];
            if (v != SK_VALUE_NONE && root_of(plan, v, &d) == root &&
                d + gpu_round8(gpu_shape(plan, v)->dim[1]) > c)
                return true;
        }
    return false;
}

/* A concatenation of one part of a split and of what was made of the other: that one is written over the other, which nothing
 * reads any more, and the whole lies where the whole lay. */
static void place_over(gpu_plan *plan, const sk_node *node)
{
    const sk_graph *g = plan->graph;
    const sk_value whole = node->out[0], made = node->in[node->n_in - 1];
    int32_t inside;
    if (node->n_in != 2 || plan->values[whole].parent != SK_VALUE_NONE ||
        plan->values[made].parent != SK_VALUE_NONE || plan->values[made].input >= 0 ||
        g->values[made].producer < 0)
        return;
    const sk_value root = root_of(plan, node->in[0], &inside);
    const int32_t first = (int32_t)gpu_shape(plan, node->in[0])->dim[1];
    if (!is_alike(plan, root, whole, 0) || !is_alike(plan, root, made, first))
        return;
    if (inside != 0 || root == whole || root == made || root == node->in[0] ||
        plan->values[root].input >= 0 || first % 8 != 0 ||
        gpu_shape(plan, root)->dim[1] != gpu_shape(plan, whole)->dim[1] ||
        is_read_later(plan, root, first, (size_t)g->values[made].producer))
        return;
    plan->values[whole].parent = plan->values[made].parent = root;
    plan->values[made].delta = first;
}

void gpu_clear_values(gpu_plan *plan)
{
    for (size_t i = 0; i < plan->graph->n_values; i++)
        plan->values[i] = (gpu_value){.parent = SK_VALUE_NONE,
                                      .buffer = -1,
                                      .dense = -1,
                                      .constant = -1,
                                      .input = -1,
                                      .picture = -1,
                                      .pair = -1,
                                      .raised = -1};
}

void gpu_place_values(gpu_plan *plan)
{
    const sk_graph *g = plan->graph;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        plan->values[g->inputs[i]].input = i;
        plan->values[g->inputs[i]].map = can_map(plan, g->inputs[i]);
    }
    for (size_t i = 0; i < plan->n_upconv; i++)
        plan->values[plan->upconv[i].out].map = true;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const sk_node *node = &g->nodes[i];
        if (node->op == SK_OP_NONE || !makes_maps(plan, i))
            continue;
        const gpu_attention *attention = gpu_attention_of(plan, i);
        if (attention) {
            plan->values[attention->out].map = true;
            plan->values[attention->out].low = gpu_rule_of(plan, attention->out).scale > 0;
            continue;
        }
        for (int32_t k = 0; k < node->n_out; k++) {
            plan->values[node->out[k]].map = true;
            plan->values[node->out[k]].low = gpu_rule_of(plan, node->out[k]).scale > 0;
        }
        if (node->op == SK_OP_SPLIT)
            place_split(plan, node);
        else if (node->op == SK_OP_CONCAT) {
            place_over(plan, node);
            if (plan->values[node->out[0]].parent == SK_VALUE_NONE)
                place_concat(plan, node);
        }
    }
}

int32_t gpu_kept_pitch(const gpu_plan *plan, sk_value v)
{
    int32_t delta;
    const int64_t c = gpu_shape(plan, root_of(plan, v, &delta))->dim[1];
    return plan->values[v].low ? gpu_round16(c) : gpu_round8(c);
}

static size_t map_bytes(const gpu_plan *plan, sk_value v, int32_t pitch, size_t each)
{
    const sk_shape *s = gpu_shape(plan, v);
    return (size_t)s->dim[0] * (size_t)s->dim[2] * (size_t)s->dim[3] * (size_t)pitch * each;
}

sk_status gpu_make_kept(gpu_plan *plan, sk_value v, sk_error *err)
{
    int32_t delta;
    const sk_value root = root_of(plan, v, &delta);
    gpu_value *value = &plan->values[root];
    plan->values[v].low_made = true;
    if (value->buffer >= 0)
        return SK_OK;
    const int32_t pitch = gpu_kept_pitch(plan, root);
    return gpu_add_buffer(plan, map_bytes(plan, root, pitch, value->low ? 1 : gpu_type_bytes(plan)), pitch,
                          &value->buffer, err);
}

gpu_ref gpu_kept_ref(const gpu_plan *plan, sk_value v)
{
    int32_t delta;
    const sk_value root = root_of(plan, v, &delta);
    return (gpu_ref){.buffer = plan->values[root].buffer,
                     .offset = (size_t)delta * (plan->values[v].low ? 1 : gpu_type_bytes(plan)),
                     .from = delta,
                     .to = delta + gpu_round8(gpu_shape(plan, v)->dim[1])};
}

/* Is the map that a step reads or writes now the one the value is kept in? */
static bool as_kept(const gpu_plan *plan, sk_value v)
{
    return !plan->values[v].low || gpu_is_low(plan->type);
}

int32_t gpu_map_pitch(const gpu_plan *plan, sk_value v)
{
    return as_kept(plan, v) ? gpu_kept_pitch(plan, v) : gpu_round8(gpu_shape(plan, v)->dim[1]);
}

sk_status gpu_make_map(gpu_plan *plan, sk_value v, sk_error *err)
{
    if (as_kept(plan, v))
        return gpu_make_kept(plan, v, err);
    if (plan->values[v].raised >= 0)
        return SK_OK;
    const int32_t pitch = gpu_map_pitch(plan, v);
    return gpu_add_buffer(plan, map_bytes(plan, v, pitch, gpu_type_bytes(plan)), pitch,
                          &plan->values[v].raised, err);
}

gpu_ref gpu_map_ref(const gpu_plan *plan, sk_value v)
{
    if (as_kept(plan, v))
        return gpu_kept_ref(plan, v);
    return (gpu_ref){.buffer = plan->values[v].raised, .to = gpu_round8(gpu_shape(plan, v)->dim[1])};
}

sk_status gpu_make_dense(gpu_plan *plan, sk_value v, sk_error *err)
{
    const sk_value_info *info = &plan->graph->values[v];
    if (plan->values[v].dense >= 0)
        return SK_OK;
    return gpu_add_buffer(plan, (size_t)sk_shape_count(&info->shape) * sk_dtype_bytes(info->dtype), 0,
                          &plan->values[v].dense, err);
}

static sk_status add_form_step(gpu_plan *plan, gpu_kind kind, sk_value v, sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, v);
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, kind, NULL, &step, err));
    step->args.form = (gpu_form_args){.plane = s->dim[2] * s->dim[3],
                                      .n = (int32_t)s->dim[0],
                                      .c = (int32_t)s->dim[1],
                                      .ld = gpu_map_pitch(plan, v),
                                      .type = plan->type};
    step->refs[kind == GPU_TO_DENSE ? 1 : 0] = gpu_map_ref(plan, v);
    step->refs[kind == GPU_TO_DENSE ? 0 : 1] = (gpu_ref){.buffer = plan->values[v].dense};
    step->n_refs = 2;
    snprintf(step->kernel, sizeof step->kernel, kind == GPU_TO_DENSE ? "to dense" : "to map");
    snprintf(step->shape, sizeof step->shape, "%lldx%lldx%lld", (long long)s->dim[1], (long long)s->dim[2],
             (long long)s->dim[3]);
    return SK_OK;
}

sk_status gpu_need_map(gpu_plan *plan, sk_value v, sk_error *err)
{
    int32_t delta;
    if (!as_kept(plan, v))
        return plan->values[v].raised >= 0 ? SK_OK : gpu_add_raise(plan, v, err);
    if (plan->values[root_of(plan, v, &delta)].buffer >= 0)
        return SK_OK;
    gpu_ref dense;
    SK_TRY(gpu_dense_ref(plan, v, &dense, err));
    SK_TRY(gpu_make_map(plan, v, err));
    SK_TRY(add_form_step(plan, GPU_TO_MAP, v, err));
    plan->steps[plan->n_steps - 1].refs[1] = dense;
    return SK_OK;
}

sk_status gpu_need_dense(gpu_plan *plan, sk_value v, sk_error *err)
{
    gpu_ref ref;
    return gpu_dense_ref(plan, v, &ref, err);
}

sk_status gpu_dense_ref(gpu_plan *plan, sk_value v, gpu_ref *out, sk_error *err)
{
    gpu_value *value = &plan->values[v];
    if (value->dense >= 0) {
        *out = (gpu_ref){.buffer = value->dense};
        return SK_OK;
    }
    if (plan->graph->values[v].blob) {
        if (value->constant < 0) {
            const sk_tensor t = sk_value_tensor(plan->graph, v);
            const size_t bytes = sk_tensor_bytes(&t);
            void *data;
            SK_TRY(gpu_add_weights(plan, bytes ? bytes : 1, &data, out, err));
            if (bytes)
                memcpy(data, t.data, bytes);
            value->constant = (int64_t)out->offset;
        }
        *out = (gpu_ref){.buffer = GPU_WEIGHTS, .offset = (size_t)value->constant};
        return SK_OK;
    }
    if (!value->map)
        return sk_fail(err, SK_ERR_INTERNAL, "value %d of the graph is read before it is made", (int)v);
    SK_TRY(gpu_need_map(plan, v, err));
    SK_TRY(gpu_make_dense(plan, v, err));
    SK_TRY(add_form_step(plan, GPU_TO_DENSE, v, err));
    *out = (gpu_ref){.buffer = plan->values[v].dense};
    return SK_OK;
}
