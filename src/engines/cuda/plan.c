/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "engines/offload.h"
#include "graph/edit.h"
#include "graph/quantise.h"

#include <stdio.h>
#include <string.h>

sk_status gpu_add_step(gpu_plan *plan, gpu_kind kind, const sk_node *node, gpu_step **out, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&plan->steps, &plan->steps_capacity, plan->n_steps + 1,
                            sizeof plan->steps[0], SK_GRAPH_MAX_NODES, err));
    gpu_step *step = &plan->steps[plan->n_steps++];
    memset(step, 0, sizeof *step);
    step->kind = kind;
    step->node = node;
    step->name = plan->node_name;
    step->config = -1;
    step->n_written = 1;
    for (int i = 0; i < GPU_MAX_POINTERS; i++)
        step->refs[i].buffer = GPU_NO_BUFFER;
    *out = step;
    return SK_OK;
}

sk_status gpu_add_buffer(gpu_plan *plan, size_t bytes, int32_t pitch, int32_t *out, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&plan->buffers, &plan->buffers_capacity, plan->n_buffers + 1,
                            sizeof plan->buffers[0], SK_GRAPH_MAX_VALUES * 2, err));
    *out = (int32_t)plan->n_buffers;
    plan->buffers[plan->n_buffers++] = (gpu_buffer){.bytes = bytes ? bytes : 1, .pitch = pitch};
    return SK_OK;
}

sk_status gpu_add_weights(gpu_plan *plan, size_t bytes, void **data, gpu_ref *ref, sk_error *err)
{
    size_t at = (plan->weight_bytes + 255) / 256 * 256, end;
    if (!sk_add_size(at, bytes, &end))
        return sk_fail_memory(err, bytes);
    SK_TRY(sk_array_reserve((void **)&plan->weights, &plan->weights_capacity, end, 1, (size_t)1 << 40, err));
    memset(plan->weights + plan->weight_bytes, 0, end - plan->weight_bytes);
    plan->weight_bytes = end;
    *data = plan->weights + at;
    *ref = (gpu_ref){.buffer = GPU_WEIGHTS, .offset = at};
    return SK_OK;
}

static sk_status build_node(gpu_plan *plan, size_t index, sk_error *err)
{
    const sk_node *node = &plan->graph->nodes[index];
    const gpu_attention *attention = gpu_attention_of(plan, index);
    bool done = false;
    if (node->op == SK_OP_NONE)
        return SK_OK;
    plan->node_name = node->name[0] ? node->name : sk_op_name(node->op);
    if (attention)
        return gpu_build_attention(plan, attention, err);
    if (node->op == SK_OP_CONV && plan->values[node->out[0]].pair >= 0)
        return SK_OK; /* with the one that reads it */
    SK_TRY(gpu_build_pair(plan, node, &done, err));
    if (done)
        return SK_OK;
    if (node->op == SK_OP_CONV) {
        SK_TRY(gpu_build_conv_bytes(plan, node, &done, err));
        if (!done)
            SK_TRY(gpu_build_head(plan, node, &done, err));
        if (!done)
            SK_TRY(gpu_build_conv(plan, node, &done, err));
    } else if (node->op == SK_OP_CONV_TRANSPOSE) {
        SK_TRY(gpu_build_upconv(plan, node, &done, err));
        if (!done)
            SK_TRY(gpu_build_deconv(plan, node, &done, err));
    } else {
        const int32_t type = plan->type;
        if (gpu_moves_bytes(plan, node))
            plan->type = plan->low;
        const sk_status status = gpu_build_map_op(plan, node, &done, err);
        plan->type = type;
        SK_TRY(status);
    }
    if (done)
        SK_TRY(gpu_lower_outputs(plan, node, err));
    for (int32_t i = 0; !done && i < node->n_out; i++)
        if (gpu_is_map(plan, node->out[i]))
            return sk_fail(err, SK_ERR_INTERNAL, "%s: no kernel makes the map that was planned for this %s",
                           plan->node_name, sk_op_name(node->op));
    if (!done)
        SK_TRY(gpu_build_dense_op(plan, node, &done, err));
    if (!done)
        SK_TRY(gpu_build_by_reference(plan, node, err));
    return SK_OK;
}

/* The first convolution reads 4-channel pictures directly: 3x3, stride 2, from at most 3 channels, alone. */
static bool first_conv_fits(const gpu_plan *plan, sk_value input)
{
    const sk_graph *g = plan->graph;
    const sk_node *user = NULL;
    if (gpu_config_count() == 0 || !gpu_is_narrow(plan->type) || plan->uses[input] != 1 ||
        gpu_shape(plan, input)->dim[1] > 3)
        return false;
    for (size_t i = 0; i < g->n_nodes && !user; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].op != SK_OP_NONE && g->nodes[i].in[k] == input)
                user = &g->nodes[i];
    if (!user || user->op != SK_OP_CONV || user->in[0] != input || user->a.conv.groups != 1 ||
        (user->n_in > 3 && user->in[3] != SK_VALUE_NONE) || !sk_value_is_constant(g, user->in[1]))
        return false;
    const sk_window *w = &user->a.conv.window;
    const int64_t cout = gpu_shape(plan, user->out[0])->dim[1], ow = gpu_shape(plan, user->out[0])->dim[3];
    const int32_t act = user->a.conv.act.kind;
    return w->kernel[0] == 3 && w->kernel[1] == 3 && w->stride[0] == 2 && w->stride[1] == 2 &&
           w->dilation[0] == 1 && w->dilation[1] == 1 && (cout == 16 || cout == 32 || cout == 64) &&
           ow % 16 == 0 && (act == 0 || act == SK_UNARY_SILU || act == SK_UNARY_RELU);
}

/* Byte pictures can stay bytes until the first convolution's registers when the normalisation is one factor. */
static bool same_gain(const sk_session_settings *s)
{
    for (int c = 0; c < 3; c++)
        if (s->mean[c] != 0.0f || s->std[c] != s->std[0])
            return false;
    const sk_frame_fit *fit = s->input == SK_INPUT_FRAMES ? s->stages.fit : NULL;
    const sk_crop_form *crops = s->input == SK_INPUT_CROPS ? &s->stages.crops->form : NULL;
    const bool fractions = (fit && fit->rule == SK_FIT_SLEAP_OLD && fit->scales) ||
                           (fit && fit->rule == SK_FIT_SLEAP && fit->grey == SK_SLEAP_GREY_LAST) ||
                           (crops && crops->rule == SK_CROP_PIXELS && crops->grey == SK_SLEAP_GREY_LAST);
    return s->input != SK_INPUT_TENSOR && !fractions;
}

static sk_status add_input_step(gpu_plan *plan, int32_t index, int32_t to, int32_t pitch, int32_t type,
                                sk_error *err)
{
    const sk_session_settings *s = &plan->settings;
    const sk_shape *shape = gpu_shape(plan, plan->graph->inputs[index]);
    gpu_step *step;
    int32_t from = plan->inputs[index];
    bool planes = s->input == SK_INPUT_TENSOR;
    if (s->input == SK_INPUT_FRAMES && plan->fit.rule == SK_FIT_LETTERBOX)
        return gpu_add_letterbox(plan, index, to, pitch, type, err);
    if (s->input == SK_INPUT_CROPS && plan->crops.form.rule == SK_CROP_LETTERBOX)
        return gpu_add_box_crops(plan, index, to, pitch, type, err);
    if (s->input == SK_INPUT_FRAMES)
        SK_TRY(gpu_add_sleap_input(plan, index, &from, &planes, err));
    if (s->input == SK_INPUT_CROPS)
        SK_TRY(gpu_add_sleap_crops(plan, index, &from, &planes, err));
    SK_TRY(gpu_add_step(plan, GPU_INPUT, NULL, &step, err));
    gpu_input_args *a = &step->args.input;
    a->n = (int32_t)shape->dim[0];
    a->c = (int32_t)shape->dim[1];
    a->h = (int32_t)shape->dim[2];
    a->w = (int32_t)shape->dim[3];
    a->ld = pitch;
    a->type = type;
    a->planes = planes;
    a->row_bytes = (int64_t)a->w * a->c;
    a->picture_bytes = a->row_bytes * a->h;
    for (int c = 0; c < 4; c++) {
        a->gain[c] = s->scale / s->std[c];
        a->shift[c] = s->mean[c] / s->std[c];
    }
    step->refs[0] = (gpu_ref){.buffer = to};
    step->refs[1] = (gpu_ref){.buffer = from};
    step->n_refs = 2;
    snprintf(step->kernel, sizeof step->kernel, "input %s", a->planes ? "f32" : "u8");
    snprintf(step->shape, sizeof step->shape, "%dx%dx%d", a->c, a->h, a->w);
    return SK_OK;
}

static sk_status build_input(gpu_plan *plan, int32_t index, sk_error *err)
{
    const sk_graph *g = plan->graph;
    sk_value v = g->inputs[index];
    gpu_value *value = &plan->values[v];
    const sk_value_info *info = &g->values[v];
    const bool picture = info->dtype == SK_DTYPE_F32 && info->shape.rank == 4;
    size_t count = (size_t)sk_shape_count(&info->shape);
    size_t bytes =
        picture && plan->settings.input == SK_INPUT_U8_HWC ? count : count * sk_dtype_bytes(info->dtype);
    if (picture && plan->settings.input == SK_INPUT_FRAMES)
        bytes = gpu_frame_bytes(plan) * (size_t)info->shape.dim[0];
    if (picture && plan->settings.input == SK_INPUT_CROPS)
        bytes = gpu_crop_frame_bytes(plan);
    plan->node_name = info->name;
    value->input = index;
    SK_TRY(gpu_add_buffer(plan, bytes, 0, &plan->inputs[index], err));
    plan->buffers[plan->inputs[index]].per_slot = 1;
    if (picture && plan->settings.input == SK_INPUT_CROPS) {
        SK_TRY(
            gpu_add_buffer(plan, gpu_crop_list_bytes(plan, info->shape.dim[0]), 0, &plan->crop_places, err));
        plan->buffers[plan->crop_places].per_slot = 1;
    }
    if (!picture || plan->settings.input == SK_INPUT_TENSOR)
        value->dense = plan->inputs[index];
    if (!picture || plan->uses[v] == 0)
        return SK_OK;
    size_t pixels = count / (size_t)info->shape.dim[1];
    if (first_conv_fits(plan, v)) {
        const bool as_bytes = same_gain(&plan->settings);
        if (as_bytes && plan->settings.input == SK_INPUT_U8_HWC &&
            info->shape.dim[1] == 3) { /* as they come */
            value->picture = plan->inputs[index];
            value->picture_bytes = 3;
            return SK_OK;
        }
        value->picture_bytes = as_bytes ? 4 : 8;
        SK_TRY(gpu_add_buffer(plan, pixels * (size_t)value->picture_bytes, 0, &value->picture, err));
        return add_input_step(plan, index, value->picture, 4, as_bytes ? 0 : GPU_F16, err);
    }
    if (!value->map && value->dense >= 0)
        return SK_OK;
    value->map = true;
    SK_TRY(gpu_make_map(plan, v, err));
    return add_input_step(plan, index, value->buffer, gpu_map_pitch(plan, v), plan->type, err);
}

static sk_status build_outputs(gpu_plan *plan, sk_error *err)
{
    const sk_graph *g = plan->graph;
    for (int32_t i = 0; i < g->n_outputs; i++) {
        sk_value v = g->outputs[i];
        gpu_ref ref;
        plan->node_name = g->values[v].name;
        plan->outputs[i] = -1;
        if (gpu_is_sparse(plan, i) || gpu_is_looked_at(plan, i) || plan->found.wish.n_levels > 0)
            continue;
        if (g->values[v].blob || plan->values[v].input >= 0)
            return sk_fail(err, SK_ERR_UNSUPPORTED, "output %s does not depend on the network",
                           g->values[v].name);
        SK_TRY(gpu_dense_ref(plan, v, &ref, err));
        if (ref.offset != 0 || plan->buffers[ref.buffer].per_slot) { /* two outputs in one buffer: a copy */
            int32_t copy;
            gpu_step *step;
            size_t bytes = (size_t)sk_shape_count(&g->values[v].shape) * sk_dtype_bytes(g->values[v].dtype);
            SK_TRY(gpu_add_buffer(plan, bytes, 0, &copy, err));
            SK_TRY(gpu_add_step(plan, GPU_ND_COPY, NULL, &step, err));
            step->args.nd = (gpu_nd_args){.count = (int64_t)bytes, .rank = 1, .bytes = 1};
            step->args.nd.dims[0] = (int64_t)bytes;
            step->args.nd.so[0] = step->args.nd.sa[0] = 1;
            step->refs[0] = (gpu_ref){.buffer = copy};
            step->refs[1] = ref;
            step->n_refs = 2;
            ref = (gpu_ref){.buffer = copy};
        }
        plan->outputs[i] = ref.buffer;
        plan->buffers[ref.buffer].per_slot = 1;
    }
    return SK_OK;
}

static sk_status build_steps(gpu_plan *plan, sk_error *err)
{
    const sk_graph *g = plan->graph;
    for (int32_t i = 0; i < g->n_inputs; i++)
        SK_TRY(build_input(plan, i, err));
    for (size_t i = 0; i < g->n_nodes; i++)
        SK_TRY(build_node(plan, i, err));
    if (plan->sparse.wish.n_levels > 0)
        SK_TRY(gpu_build_sparse(plan, err));
    if (plan->found.wish.n_levels > 0)
        SK_TRY(gpu_build_found(plan, err));
    if (plan->settings.stages.peaks)
        SK_TRY(gpu_build_peaks(plan, err));
    return build_outputs(plan, err);
}

sk_status gpu_plan_open(const sk_graph *graph, const sk_session_settings *settings, gpu_plan *plan,
                        sk_error *err)
{
    plan->settings = *settings;
    if (settings->precision == SK_PRECISION_FP8 && !gpu_has_f8(plan->device_major, plan->device_minor))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "fp8 needs a GPU of compute capability 8.9 or newer, and this one has %d.%d; --precision f16 "
            "computes the model with its rounded weights, `skitter quantize` makes one in i8",
            plan->device_major, plan->device_minor);
    if (settings->stages.fit && settings->input == SK_INPUT_FRAMES)
        plan->fit = *settings->stages.fit;
    if (settings->input == SK_INPUT_CROPS) {
        plan->crops = *settings->stages.crops;
        if (graph->n_inputs != 1 || (plan->without & GPU_WITHOUT_CROPS))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "these crops are cut by the host");
    }
    if (settings->stages.sparse) {
        if (settings->stages.sparse->n_levels < 0 || settings->stages.sparse->n_levels > SK_SPARSE_LEVELS)
            return sk_fail(err, SK_ERR_ARG, "sparse outputs with %d levels",
                           settings->stages.sparse->n_levels);
        plan->sparse.wish = *settings->stages.sparse;
    }
    if (settings->stages.found)
        plan->found.wish = *settings->stages.found;
    if (settings->input == SK_INPUT_FRAMES && !plan->fit.nv12)
        SK_TRY(sk_offload_strips(&plan->fit, &plan->strips, err));
    plan->tf32 = settings->precision == SK_PRECISION_TF32;
    plan->type = settings->precision == SK_PRECISION_F32 || plan->tf32 ? GPU_F32
                 : settings->precision == SK_PRECISION_BF16            ? GPU_BF16
                                                                       : GPU_F16;
    SK_TRY(sk_arena_open(1 << 16, &plan->arena, err));
    SK_TRY(sk_graph_clone(graph, &plan->graph, err));
    plan->low = settings->precision == SK_PRECISION_FP8 ? GPU_F8 : GPU_U8;
    if (settings->precision == SK_PRECISION_I8 || settings->precision == SK_PRECISION_FP8)
        SK_TRY(gpu_take_quantised(plan, err));
    else
        SK_TRY(sk_graph_dequantise(plan->graph, err));
    SK_TRY(sk_graph_optimise(plan->graph, err));
    SK_TRY(gpu_find_attention(plan, err));
    SK_TRY(gpu_find_upconv(plan, err));
    SK_TRY(gpu_find_upsample(plan, err));
    plan->uses = sk_graph_count_uses(plan->graph);
    plan->values = sk_calloc(plan->graph->n_values + 1, sizeof *plan->values);
    if (!plan->uses || !plan->values)
        return sk_fail_memory(err, plan->graph->n_values * sizeof *plan->values);
    gpu_clear_values(plan);
    SK_TRY(gpu_mark_bytes(plan, err));
    gpu_place_values(plan);
    gpu_find_pairs(plan);
    SK_TRY(build_steps(plan, err));
    return gpu_order_steps(plan, err);
}

void gpu_plan_close(gpu_plan *plan)
{
    sk_free(plan->values);
    sk_free(plan->uses);
    sk_free(plan->buffers);
    sk_free(plan->steps);
    sk_free(plan->weights);
    sk_free(plan->attention);
    sk_free(plan->upconv);
    sk_free(plan->rules);
    sk_free(plan->scales);
    sk_graph_close(&plan->graph);
    sk_arena_close(&plan->arena);
    memset(plan, 0, sizeof *plan);
}
