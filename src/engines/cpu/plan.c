/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include "engines/cpu/conv.h"
#include "engines/cpu/tune_cache.h"
#include "graph/edit.h"
#include "graph/quantise.h"

#include <string.h>

sk_status cpu_add_step(cpu_plan *plan, size_t data_bytes, cpu_step **out, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&plan->steps, &plan->steps_capacity, plan->n_steps + 1,
                            sizeof plan->steps[0], SK_GRAPH_MAX_NODES, err));
    cpu_step *step = &plan->steps[plan->n_steps];
    memset(step, 0, sizeof *step);
    step->name = plan->node_name;
    step->data = sk_arena_alloc(plan->arena, data_bytes);
    if (!step->data)
        return sk_fail_memory(err, data_bytes);
    plan->n_steps++;
    *out = step;
    return SK_OK;
}

sk_status cpu_step_uses(cpu_plan *plan, cpu_step *step, const sk_value *blocked, int32_t n_blocked,
                        const sk_value *dense, int32_t n_dense, sk_error *err)
{
    step->buffers = sk_arena_alloc(plan->arena, (size_t)(n_blocked + n_dense + 1) * sizeof *step->buffers);
    if (!step->buffers)
        return sk_fail_memory(err, sizeof *step->buffers);
    for (int32_t i = 0; i < n_blocked; i++)
        step->buffers[step->n_buffers++] = plan->values[blocked[i]].map;
    for (int32_t i = 0; i < n_dense; i++)
        if (plan->values[dense[i]].dense >= 0)
            step->buffers[step->n_buffers++] = plan->values[dense[i]].dense;
    return SK_OK;
}

bool cpu_read_at_half(const cpu_plan *plan, sk_value v)
{
    const sk_graph *g = plan->graph;
    const int32_t p = g->values[v].producer;
    if (p < 0 || plan->uses[v] != 1 || !cpu_is_doubling(g, &g->nodes[p]))
        return false;
    for (size_t i = (size_t)p + 1; i < g->n_nodes; i++)
        if (g->nodes[i].op == SK_OP_CONV && g->nodes[i].n_in > 3 && g->nodes[i].in[3] == v)
            return cpu_conv_is_known(plan, &g->nodes[i]);
    return false;
}

static sk_status build_node(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    bool done = false;
    if ((node->op == SK_OP_RESIZE && cpu_read_at_half(plan, node->out[0])) || cpu_pass_join(plan, node))
        return SK_OK;
    plan->node_name = node->name[0] ? node->name : sk_op_name(node->op);
    if (node->op == SK_OP_QUANTIZE || node->op == SK_OP_DEQUANTIZE)
        SK_TRY(cpu_build_low(plan, node, &done, err));
    else if (node->op == SK_OP_CONV)
        SK_TRY(cpu_build_conv(plan, node, &done, err));
    else if (node->op == SK_OP_CONV_TRANSPOSE)
        SK_TRY(cpu_build_conv_transpose(plan, node, &done, err));
    else if (cpu_attention_of(plan, node))
        return cpu_build_attention(plan, node, err);
    else
        SK_TRY(cpu_build_map_op(plan, node, &done, err));
    if (!done)
        SK_TRY(cpu_build_dense_op(plan, node, &done, err));
    if (!done)
        SK_TRY(cpu_build_by_reference(plan, node, err));
    return SK_OK;
}

/* Bytes of the input: DEQUANTIZE, and then convolutions that take bytes? */
static bool bytes_in_place(const cpu_plan *plan, const sk_node *quantise)
{
    const sk_graph *g = plan->graph;
    const sk_value bytes = quantise->out[0];
    if (!cpu_stays_bytes(plan, quantise))
        return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            if (g->nodes[i].in[k] != bytes)
                continue;
            if (g->nodes[i].op != SK_OP_DEQUANTIZE || !cpu_read_in_place(plan, g->nodes[i].out[0]))
                return false;
        }
    return true;
}

bool cpu_read_in_place(const cpu_plan *plan, sk_value input)
{
    const sk_graph *g = plan->graph;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == input)
            return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            if (g->nodes[i].in[k] != input)
                continue;
            const sk_node *node = &g->nodes[i];
            const sk_window *w = &node->a.conv.window;
            const bool widened = plan->values[input].input < 0; /* of bytes */
            if (plan->low == CPU_LOW_U8 && !widened && node->op == SK_OP_QUANTIZE && k == 0 &&
                bytes_in_place(plan, node))
                continue;
            if (widened && !cpu_conv_is_first_u8(plan, node))
                return false;
            if (node->op != SK_OP_CONV || k != 0 || node->a.conv.groups != 1 || w->kernel[0] > 16 ||
                w->dilation[0] != 1 || w->dilation[1] != 1 || cpu_shape(plan, input)->dim[1] > 4 ||
                (node->n_in > 3 && node->in[3] != SK_VALUE_NONE))
                return false;
        }
    return true;
}

static sk_status build_steps(cpu_plan *plan, sk_error *err)
{
    const sk_graph *g = plan->graph;
    for (size_t i = 0; i < 3 * g->n_values; i++) {
        plan->values[i] = (cpu_value){.map = -1, .dense = -1, .input = -1, .half = SK_VALUE_NONE};
        if (i < g->n_values && g->values[i].blob)
            plan->values[i].constant = sk_value_tensor(g, (sk_value)i).data;
    }
    for (int32_t i = 0; i < g->n_inputs; i++) {
        sk_value v = g->inputs[i];
        plan->node_name = g->values[v].name;
        plan->values[v].input = i;
        if (plan->settings.input == SK_INPUT_U8_HWC && cpu_can_block(plan, v) && !cpu_read_in_place(plan, v))
            SK_TRY(cpu_add_input(plan, i, err));
    }
    for (size_t i = 0; i < g->n_nodes; i++)
        SK_TRY(build_node(plan, &g->nodes[i], err));
    plan->node_name = "outputs";
    for (int32_t i = 0; i < g->n_outputs; i++) {
        sk_value v = g->outputs[i];
        cpu_value *value = &plan->values[v];
        if (value->dense < 0 && (value->constant || value->input >= 0))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "output %s does not depend on the network",
                           g->values[v].name);
        plan->node_name = g->values[v].name;
        SK_TRY(cpu_need_dense(plan, v, err));
        plan->outputs[i] = value->dense;
        plan->buffers[value->dense].keep = true;
    }
    return SK_OK;
}

/* One block for activations and scratch, in large pages where they are given. */
static sk_status map_memory(cpu_plan *plan, sk_error *err)
{
    size_t scratch = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].run == cpu_conv_run) {
            const cpu_conv *c = plan->steps[i].data;
            size_t need = cpu_conv_scratch(plan, c, &c->choice);
            scratch = need > scratch ? need : scratch;
        }
    scratch = plan->scratch_floats > scratch ? plan->scratch_floats : scratch;
    plan->scratch_floats = (scratch + 63) / 64 * 64 + 64;
    size_t bytes = plan->memory_bytes + (size_t)plan->threads * plan->scratch_floats * sizeof(float) + 4096;
    plan->memory = sk_aligned_calloc(bytes >= SK_LARGE_PAGE ? SK_LARGE_PAGE : 4096, bytes);
    if (!plan->memory)
        return sk_fail_memory(err, bytes);
    plan->scratch = (float *)(void *)(plan->memory + (plan->memory_bytes + 4095) / 4096 * 4096);
    return SK_OK;
}

static sk_status bind_steps(cpu_plan *plan, sk_error *err)
{
    for (size_t i = 0; i < plan->n_steps; i++)
        SK_TRY(plan->steps[i].bind(plan, &plan->steps[i], err));
    return SK_OK;
}

static sk_status pack_weights(cpu_plan *plan, sk_error *err)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].run != cpu_conv_run)
            continue;
        cpu_conv *c = plan->steps[i].data;
        SK_TRY(cpu_conv_pack(plan, c, err));
        cpu_conv_describe(plan, &plan->steps[i]);
        plan->n_winograd += c->choice.form == CPU_CONV_WINOGRAD || c->choice.form == CPU_CONV_WORDS;
    }
    return SK_OK;
}

/* The graph's own copies of weights that only convolutions read are not needed once packed. */
static void drop_weights(cpu_plan *plan)
{
    for (size_t i = 0; i < plan->graph->n_nodes; i++) {
        const sk_node *node = &plan->graph->nodes[i];
        if (node->op != SK_OP_CONV && node->op != SK_OP_CONV_TRANSPOSE)
            continue;
        sk_value w = node->in[1];
        const int32_t made_by =
            plan->graph->values[w].producer; /* weights in eight bits are made by DEQUANTIZE */
        if (!plan->values[w].packed || plan->uses[w] != 1)
            continue;
        sk_blob_unref(&plan->graph->values[w].blob);
        if (made_by >= 0 && plan->uses[plan->graph->nodes[made_by].in[0]] == 1)
            sk_blob_unref(&plan->graph->values[plan->graph->nodes[made_by].in[0]].blob);
    }
}

sk_status cpu_plan_open(const sk_graph *graph, const sk_session_settings *settings, sk_pool *pool,
                        cpu_plan *plan, sk_error *err)
{
    plan->settings = *settings;
    plan->threads = sk_pool_threads(pool);
    plan->bf16 = settings->precision == SK_PRECISION_BF16;
    plan->low = settings->precision == SK_PRECISION_I8    ? CPU_LOW_U8
                : plan->bf16 && plan->kernels.bf16_native ? CPU_LOW_BF16
                                                          : CPU_LOW_NONE;
    SK_TRY(sk_graph_clone(graph, &plan->graph, err));
    if (settings->precision != SK_PRECISION_I8)
        SK_TRY(sk_graph_dequantise(plan->graph, err));
    SK_TRY(sk_graph_optimise(plan->graph, err));
    SK_TRY(cpu_rewrite(plan, err));
    SK_TRY(cpu_find_attention(plan, err));
    plan->uses = sk_graph_count_uses(plan->graph);
    if (!plan->uses)
        return sk_fail_memory(err, plan->graph->n_values * sizeof *plan->uses);
    SK_TRY(sk_arena_open(1 << 16, &plan->arena, err));
    plan->n_values = (sk_value)plan->graph->n_values;
    plan->values = sk_arena_alloc(plan->arena, (3 * plan->graph->n_values + 1) * sizeof *plan->values);
    if (!plan->values)
        return sk_fail_memory(err, plan->graph->n_values * sizeof *plan->values);
    SK_TRY(build_steps(plan, err));
    SK_TRY(cpu_place_buffers(plan, err));
    SK_TRY(cpu_tune_load(plan, err));
    SK_TRY(map_memory(plan, err));
    SK_TRY(bind_steps(plan, err));
    SK_TRY(cpu_tune(plan, err));
    cpu_tune_cache_close(&plan->tune_cache);
    SK_TRY(pack_weights(plan, err));
    drop_weights(plan);
    return cpu_replay_open(plan, err);
}

void cpu_plan_close(cpu_plan *plan)
{
    cpu_tune_cache_close(&plan->tune_cache);
    for (size_t i = 0; i < plan->n_packed; i++)
        cpu_packed_unref(&plan->packed[i]);
    sk_free(plan->packed);
    sk_free(plan->attention);
    sk_free(plan->uses);
    sk_free(plan->buffers);
    sk_free(plan->steps);
    sk_free(plan->memory);
    sk_free(plan->progress);
    sk_arena_close(&plan->arena);
    sk_graph_close(&plan->graph);
    memset(plan, 0, sizeof *plan);
}
