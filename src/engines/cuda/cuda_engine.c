/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/capabilities.h"
#include "engines/cuda/session.h"
#include "engines/cuda/vendor.h"

#include "base/cpu.h"
#include "engines/plugin.h"
#include "graph/quantise.h"
#include "graph/reference.h"
#include "skitter/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sk_status gpu_check(gpu_session *s, int error, const char *what, sk_error *err)
{
    if (error == 0)
        return SK_OK;
    if (gpu_error_is_memory(error))
        return sk_fail(
            err, SK_ERR_MEMORY,
            "%s: the GPU's memory is full (%s). A smaller batch, fewer slots or a smaller input size needs "
            "less; " GPU_TOOL " says who else uses it",
            what, gpu_error_text(error));
    if (s && gpu_error_is_lost(error)) {
        s->lost = true;
        return sk_fail(
            err, SK_ERR_RUNTIME,
            "%s: the GPU does not answer any more (%s). Its other sessions in this program are lost too; "
            "start the program again, and look at the driver's log (dmesg)",
            what, gpu_error_text(error));
    }
    return sk_fail(err, SK_ERR_RUNTIME, "%s: %s", what, gpu_error_text(error));
}

/* --- probe --- */

static sk_status probe(sk_engine_probe *out, sk_error *err)
{
    (void)err;
    int32_t count = 0;
    *out = (sk_engine_probe){0};
    const int error = gpu_device_count(&count);
    const int version = gpu_runtime_version(), major = version / GPU_VERSION_MAJOR,
              minor = version % GPU_VERSION_MAJOR / GPU_VERSION_MINOR;
    snprintf(out->version, sizeof out->version, "%s, runtime %d.%d", sk_version_text(), major, minor);
    if (error || count < 1) {
        snprintf(out->detail, sizeof out->detail,
                 "the driver is there, but no " GPU_VENDOR " GPU can be used (%s). To get it: " GPU_TOOL
                 " shows what the driver sees; a driver older than the plugin's " GPU_TOOLKIT
                 " %d.%d must be updated; " GPU_VISIBLE " may hide devices",
                 error ? gpu_error_text(error) : "none found", major, minor);
        return SK_OK;
    }
    for (int32_t i = 0; i < count && out->n_devices < SK_ENGINE_MAX_DEVICES; i++) {
        gpu_device_info about;
        if (gpu_device_about(i, &about) != 0)
            continue;
        sk_engine_device *d = &out->devices[out->n_devices++];
        const bool f8 = GPU_HAS_F8 && gpu_has_f8(about.major, about.minor);
        snprintf(d->name, sizeof d->name, "%.48s, %.0f GiB, compute %d.%d%s", about.name,
                 (double)about.memory / 1073741824.0, about.major, about.minor,
                 GPU_HAS_F8 && !f8 ? ", without fp8" : "");
        d->memory = about.memory;
        d->precisions = 1u << SK_PRECISION_F32 | 1u << SK_PRECISION_F16 |
                        (GPU_HAS_TF32 ? 1u << SK_PRECISION_TF32 : 0) |
                        (GPU_HAS_I8 ? 1u << SK_PRECISION_I8 : 0) |
                        (GPU_HAS_BF16 ? 1u << SK_PRECISION_BF16 : 0) | (f8 ? 1u << SK_PRECISION_FP8 : 0);
        out->available |= about.major >= GPU_LEAST_MAJOR;
    }
    if (!out->available)
        snprintf(out->detail, sizeof out->detail,
                 "%s: too old, the kernels need " GPU_LEAST ". To get it: use another runtime",
                 out->n_devices ? out->devices[0].name : "no device answered");
    return SK_OK;
}

static sk_status supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    if (settings->precision != SK_PRECISION_F32 && settings->precision != SK_PRECISION_F16 &&
        (settings->precision != SK_PRECISION_TF32 || !GPU_HAS_TF32) &&
        (settings->precision != SK_PRECISION_BF16 || !GPU_HAS_BF16) &&
        (settings->precision != SK_PRECISION_FP8 || !GPU_HAS_F8) &&
        (settings->precision != SK_PRECISION_I8 || !GPU_HAS_I8))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "the " GPU_ENGINE_NAME
                       " engine computes in f16 (with f32 sums)%s%s%s%s or f32, not in %s",
                       GPU_HAS_TF32 ? ", tf32" : "", GPU_HAS_BF16 ? ", bf16" : "", GPU_HAS_I8 ? ", i8" : "",
                       GPU_HAS_F8 ? ", fp8" : "", sk_precision_name(settings->precision));
    if (settings->precision == SK_PRECISION_FP8 && !sk_graph_is_f8(graph))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "this model is not in fp8, and precision fp8 needs one that is; `skitter quantize MODEL --data "
            "VIDEO --precision fp8 -o MODEL.skq` makes one, --precision f16 runs this one as it is");
    if (settings->precision == SK_PRECISION_I8 && sk_graph_is_f8(graph))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "this model is in fp8, not in i8; --precision fp8 computes it so");
    if (settings->precision == SK_PRECISION_I8 && !sk_graph_is_quantised(graph))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "this model is not quantised, and precision i8 needs one that is; `skitter quantize MODEL "
            "--data VIDEO -o MODEL.skq` makes one, --precision f16 runs this one as it is");
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int32_t k = 0; k < graph->nodes[i].n_out; k++)
            if (!sk_shape_known(&graph->values[graph->nodes[i].out[k]].shape))
                return sk_fail(
                    err, SK_ERR_UNSUPPORTED,
                    "%s: the size of this %s's result depends on the data; the " GPU_ENGINE_NAME
                    " engine plans all sizes ahead. Use the runtime reference or onnx_cpu for this model",
                    graph->nodes[i].name, sk_op_name(graph->nodes[i].op));
    return SK_OK;
}

/* --- launching --- */

void *gpu_address(const gpu_session *s, const gpu_ref *ref, int32_t slot)
{
    if (ref->buffer == GPU_NO_BUFFER)
        return NULL;
    if (ref->buffer == GPU_WEIGHTS)
        return s->weights + ref->offset;
    const gpu_buffer *b = &s->plan.buffers[ref->buffer];
    return (b->per_slot ? s->slots[slot].device : s->slots[slot].memory) + b->offset + ref->offset;
}

int gpu_run_step(const gpu_session *s, const gpu_step *step, int32_t slot, bool pdl, gpu_stream *stream)
{
    gpu_args args = step->args;
    for (int32_t i = 0; i < GPU_MAX_POINTERS; i++)
        args.p[i] = i < step->n_refs ? gpu_address(s, &step->refs[i], slot) : NULL;
    const gpu_launch launch = {.kind = step->kind,
                               .args = &args,
                               .config = step->config >= 0 ? gpu_config_at(step->config) : NULL,
                               .grid = {step->grid[0], step->grid[1], step->grid[2]},
                               .shared_bytes = step->shared_bytes,
                               .pdl = pdl,
                               .variant = step->variant};
    return gpu_launch_step(&launch, stream);
}

/* One node on the host. Allocates; only graphs with operations no kernel knows come here. */
static sk_status run_by_reference(gpu_session *s, const gpu_step *step, int32_t slot, sk_error *err)
{
    const sk_graph *g = s->plan.graph;
    const sk_node *node = step->node;
    sk_tensor ins[32] = {{0}}, outs[32] = {{0}};
    sk_status status = SK_OK;
    if (node->n_in > 32 || node->n_out > 32)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s with %d inputs and %d outputs", node->name,
                       sk_op_name(node->op), node->n_in, node->n_out);
    for (int32_t i = 0; i < node->n_in; i++) {
        const sk_value v = node->in[i];
        if (v == SK_VALUE_NONE)
            continue;
        ins[i] = (sk_tensor){.dtype = g->values[v].dtype, .shape = g->values[v].shape};
        if (g->values[v].blob) {
            ins[i].data = sk_value_tensor(g, v).data;
            continue;
        }
        const gpu_ref ref = {.buffer = s->plan.values[v].dense};
        ins[i].data = sk_malloc(sk_tensor_bytes(&ins[i]));
        if (!ins[i].data) {
            status = sk_fail_memory(err, sk_tensor_bytes(&ins[i]));
            goto done;
        }
        SK_TRY_GOTO(gpu_check(
            s, gpu_copy_down(ins[i].data, gpu_address(s, &ref, slot), sk_tensor_bytes(&ins[i]), s->compute),
            "download", err));
    }
    SK_TRY_GOTO(gpu_check(s, gpu_stream_wait(s->compute), "wait", err));
    for (int32_t i = 0; i < node->n_out; i++) {
        const sk_value v = node->out[i];
        outs[i] = (sk_tensor){.dtype = g->values[v].dtype, .shape = g->values[v].shape};
        outs[i].data = sk_malloc(sk_tensor_bytes(&outs[i]));
        if (!outs[i].data) {
            status = sk_fail_memory(err, sk_tensor_bytes(&outs[i]));
            goto done;
        }
    }
    SK_TRY_GOTO(sk_node_execute(node, ins, outs, err));
    for (int32_t i = 0; i < node->n_out; i++) {
        const gpu_ref ref = {.buffer = s->plan.values[node->out[i]].dense};
        SK_TRY_GOTO(gpu_check(
            s, gpu_copy_up(gpu_address(s, &ref, slot), outs[i].data, sk_tensor_bytes(&outs[i]), s->compute),
            "upload", err));
    }
    status = gpu_check(s, gpu_stream_wait(s->compute), "wait", err);
done:
    for (int32_t i = 0; i < node->n_in && i < 32; i++)
        if (node->in[i] != SK_VALUE_NONE && !g->values[node->in[i]].blob)
            sk_free(ins[i].data);
    for (int32_t i = 0; i < node->n_out && i < 32; i++)
        sk_free(outs[i].data);
    return status;
}

/* All steps on the compute stream, one after the other. */
static sk_status run_serial(gpu_session *s, int32_t slot, sk_error *err)
{
    for (size_t i = 0; i < s->plan.n_steps; i++) {
        const gpu_step *step = &s->plan.steps[i];
        if (step->kind == GPU_BY_REFERENCE)
            SK_TRY(run_by_reference(s, step, slot, err));
        else
            SK_TRY(gpu_check(s, gpu_run_step(s, step, slot, false, s->slots[slot].compute), step->name, err));
    }
    return SK_OK;
}

/* --- capturing --- */

static int launch_all(gpu_session *s, int32_t slot, bool pdl, bool forked)
{
    gpu_plan *plan = &s->plan;
    int error = 0;
    for (int32_t b = 1; forked && b < plan->n_streams && !error; b++) {
        if (b == 1)
            error = gpu_event_record(s->branch_begin, s->compute);
        if (!error)
            error = gpu_stream_wait_event(s->branches[b], s->branch_begin);
    }
    for (size_t i = 0; i < plan->n_steps && !error; i++) {
        const gpu_step *step = &plan->steps[i];
        gpu_stream *stream = forked ? s->branches[step->stream] : s->compute;
        for (int32_t k = 0; forked && k < step->n_after && !error; k++)
            if (plan->steps[step->after[k]].stream != step->stream)
                error = gpu_stream_wait_event(stream, s->step_events[step->after[k]]);
        if (!error)
            error = gpu_run_step(s, step, slot, pdl && i > 0 && (forked ? step->chained : 1), stream);
        if (!error && forked && step->recorded)
            error = gpu_event_record(s->step_events[i], stream);
    }
    for (int32_t b = 1; forked && b < plan->n_streams && !error; b++) {
        error = gpu_event_record(s->branch_end[b], s->branches[b]);
        if (!error)
            error = gpu_stream_wait_event(s->compute, s->branch_end[b]);
    }
    return error;
}

static sk_status capture_slot(gpu_session *s, int32_t slot, sk_error *err)
{
    if (s->plan.n_by_reference > 0 || (s->plan.without & GPU_WITHOUT_GRAPH))
        return SK_OK;
    SK_TRY(gpu_check(s, gpu_capture_begin(s->compute), "capture", err));
    int error = launch_all(s, slot, !(s->plan.without & GPU_WITHOUT_PDL),
                           s->plan.n_streams > 1 && !(s->plan.without & GPU_WITHOUT_BRANCHES));
    gpu_graph **graph = &s->slots[slot].graph;
    const int ended = gpu_capture_end(s->compute, error ? NULL : graph);
    return gpu_check(s, error ? error : ended, "capturing the launches", err);
}

static sk_status open_streams(gpu_session *s, int32_t slots, sk_error *err)
{
    gpu_plan *plan = &s->plan;
    SK_TRY(gpu_check(s, gpu_stream_open(&s->compute), "stream", err));
    s->up = s->down = s->branches[0] = s->compute;
    SK_TRY(gpu_check(s, gpu_stream_open(&s->rest), "stream", err));
    if (slots > 1) {
        SK_TRY(gpu_check(s, gpu_stream_open(&s->up), "stream", err));
        SK_TRY(gpu_check(s, gpu_stream_open(&s->down), "stream", err));
    }
    for (int32_t b = 1; b < plan->n_streams; b++) {
        SK_TRY(gpu_check(s, gpu_stream_open(&s->branches[b]), "stream", err));
        SK_TRY(gpu_check(s, gpu_event_open(&s->branch_end[b], 0), "event", err));
    }
    SK_TRY(gpu_check(s, gpu_event_open(&s->branch_begin, 0), "event", err));
    for (int i = 0; i < 2; i++)
        SK_TRY(gpu_check(s, gpu_event_open(&s->timer[i], 1), "event", err));
    s->step_events = sk_calloc(plan->n_steps + 1, sizeof *s->step_events);
    if (!s->step_events)
        return sk_fail_memory(err, plan->n_steps * sizeof *s->step_events);
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].recorded)
            SK_TRY(gpu_check(s, gpu_event_open(&s->step_events[i], 0), "event", err));
    return SK_OK;
}

/* --- open and close --- */

static void engine_close(sk_session *session)
{
    gpu_session *s = (gpu_session *)session;
    (void)gpu_use(s->device);
    if (s->compute && !s->lost)
        (void)gpu_stream_wait(s->compute);
    for (int32_t k = 1; k < s->n_sites; k++) {
        if (s->sites[k].compute && !s->lost)
            (void)gpu_stream_wait(s->sites[k].compute);
        gpu_stream_close(s->sites[k].compute);
        gpu_free(s->sites[k].memory);
    }
    for (int32_t k = 0; k < SK_SESSION_MAX_SLOTS; k++) {
        gpu_slot *slot = &s->slots[k];
        gpu_graph_close(slot->graph);
        gpu_event_close(slot->begun);
        gpu_event_close(slot->uploaded);
        gpu_event_close(slot->started);
        gpu_event_close(slot->computed);
        gpu_event_close(slot->downloaded);
        gpu_free(slot->device);
        gpu_host_free(slot->host);
    }
    gpu_upload_close(s);
    sk_free(s->taps);
    gpu_peaks_close(s);
    gpu_sparse_close(s);
    for (size_t i = 0; s->step_events && i < s->plan.n_steps; i++)
        gpu_event_close(s->step_events[i]);
    sk_free(s->step_events);
    gpu_event_close(s->branch_begin);
    for (int i = 0; i < 2; i++)
        gpu_event_close(s->timer[i]);
    for (int32_t b = 1; b < GPU_MAX_STREAMS; b++) {
        gpu_event_close(s->branch_end[b]);
        gpu_stream_close(s->branches[b]);
    }
    if (s->up != s->compute)
        gpu_stream_close(s->up);
    if (s->down != s->compute)
        gpu_stream_close(s->down);
    gpu_stream_close(s->rest);
    gpu_stream_close(s->compute);
    gpu_free(s->memory);
    gpu_free(s->weights);
    gpu_plan_close(&s->plan);
    sk_free(s);
}

/* How many submits compute side by side: small ones do not fill the device, and need little memory each. */
static int32_t count_sites(const gpu_session *s, int32_t slots)
{
    enum { MOST = 3, MOST_BYTES = 192 << 20 };
    int32_t sites = slots < MOST ? slots : MOST;
    while (sites > 1 && s->plan.memory_bytes * (size_t)sites > MOST_BYTES)
        sites--;
    return s->plan.n_by_reference > 0 || (s->plan.without & GPU_WITHOUT_SITES) ? 1 : sites;
}

static sk_status open_sites(gpu_session *s, int32_t slots, sk_error *err)
{
    char what[96];
    const int32_t sites = count_sites(s, slots);
    snprintf(what, sizeof what, "%.1f MB of activations", (double)s->plan.memory_bytes / 1e6);
    SK_TRY(gpu_check(s, gpu_alloc((void **)&s->memory, s->plan.memory_bytes + 256), what, err));
    /* nothing reads what was not written, but NaN patterns of others would make a mistake hard to see */
    SK_TRY(gpu_check(s, gpu_fill(s->memory, 0, s->plan.memory_bytes, s->compute), "clearing", err));
    for (s->n_sites = 1; s->n_sites < sites;) {
        const int32_t k = s->n_sites++; /* from here on it is closed */
        SK_TRY(gpu_check(s, gpu_stream_open(&s->sites[k].compute), "stream", err));
        SK_TRY(gpu_check(s, gpu_alloc((void **)&s->sites[k].memory, s->plan.memory_bytes + 256), what, err));
        SK_TRY(
            gpu_check(s, gpu_fill(s->sites[k].memory, 0, s->plan.memory_bytes, s->compute), "clearing", err));
    }
    return SK_OK;
}

static sk_status open_memory(gpu_session *s, int32_t slots, sk_error *err)
{
    SK_TRY(open_sites(s, slots, err));
    s->n_slots = slots;
    for (int32_t k = 0; k < slots; k++) {
        gpu_slot *slot = &s->slots[k];
        slot->memory = k % s->n_sites ? s->sites[k % s->n_sites].memory : s->memory;
        slot->compute = k % s->n_sites ? s->sites[k % s->n_sites].compute : s->compute;
        SK_TRY(gpu_check(s, gpu_alloc((void **)&slot->device, s->plan.slot_bytes + 256), "inputs and outputs",
                         err));
        /* the run before capturing reads inputs that nobody has brought, and tables come back with rows that hold nothing */
        SK_TRY(
            gpu_check(s, gpu_fill(slot->device, 0, s->plan.slot_bytes + 256, s->compute), "clearing", err));
        SK_TRY(gpu_check(s, gpu_host_alloc((void **)&slot->host, s->plan.slot_bytes + 256),
                         "pinned memory for inputs and outputs", err));
        gpu_event **events[] = {&slot->begun, &slot->uploaded, &slot->started, &slot->computed,
                                &slot->downloaded};
        for (int i = 0; i < 5; i++)
            SK_TRY(gpu_check(s, gpu_event_open(events[i], 1), "event", err));
    }
    SK_TRY(gpu_upload_open(s, err));
    SK_TRY(gpu_sparse_open(s, err));
    SK_TRY(gpu_peaks_open(s, err));
    const sk_crop_form *crops = &s->plan.crops.form; /* all zero where there are none */
    const size_t taps = 2 * (size_t)(crops->width > crops->height ? crops->width : crops->height);
    s->taps = taps ? sk_calloc(taps, sizeof *s->taps) : NULL;
    if (taps && !s->taps)
        return sk_fail_memory(err, taps * sizeof *s->taps);
    return gpu_check(s, gpu_stream_wait(s->compute), "clearing", err);
}

/* Packs the weights of the chosen tiles behind the others and brings all up. */
static sk_status open_weights(gpu_session *s, sk_error *err)
{
    gpu_plan *plan = &s->plan;
    char what[96];
    for (size_t i = 0; i < plan->n_steps; i++) {
        gpu_step *step = &plan->steps[i];
        void *data;
        if (step->kind != GPU_CONV)
            continue;
        const gpu_config *config = gpu_config_at(step->config);
        SK_TRY(gpu_add_weights(plan, gpu_packed_bytes(step, config), &data, &step->refs[2], err));
        gpu_pack(plan, step, config, data);
    }
    gpu_free(s->weights); /* those of tuning */
    s->weights = NULL;
    snprintf(what, sizeof what, "%.1f MB of weights", (double)plan->weight_bytes / 1e6);
    SK_TRY(gpu_check(s, gpu_alloc((void **)&s->weights, plan->weight_bytes + 256), what, err));
    SK_TRY(gpu_check(s, gpu_copy_up(s->weights, plan->weights, plan->weight_bytes, s->compute), what, err));
    SK_TRY(gpu_check(s, gpu_stream_wait(s->compute), what, err));
    sk_free(plan->weights);
    plan->weights = NULL;
    return SK_OK;
}

static void *output_address(const gpu_session *s, int32_t slot, int32_t output)
{
    const int32_t buffer = s->plan.found.wish.n_levels > 0 ? s->plan.found.buffer : s->plan.outputs[output];
    return buffer < 0 ? (void *)s->slots[slot].whole[output]
                      : s->slots[slot].host + s->plan.buffers[buffer].offset;
}

static void describe(gpu_session *s)
{
    sk_session_info *info = &s->base.info;
    const gpu_plan *plan = &s->plan;
    size_t used = 0;
    int32_t tensor = 0, wgmma = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == GPU_CONV) {
            tensor++;
            wgmma += gpu_config_at(plan->steps[i].config)->wgmma;
        }
    info->threads = 1;
    info->asynchronous = plan->n_by_reference == 0; /* the reference executor runs in submit */
    info->activation_bytes = plan->memory_bytes * (size_t)s->n_sites + plan->slot_bytes * (size_t)s->n_slots;
    info->weight_bytes = plan->weight_bytes;
    snprintf(info->detail, sizeof info->detail,
             "%.60s, %s, %zu steps on %d branches, %d tensor-core convolutions, %d by wgmma%s", s->about.name,
             sk_precision_name(plan->settings.precision), plan->n_steps, plan->n_streams, tensor, wgmma,
             s->slots[0].graph ? ", one graph" : "");
    for (int op = 0; op < SK_OP_COUNT; op++)
        if (plan->by_reference[op] && used + 32 < sizeof info->elsewhere)
            used += (size_t)snprintf(info->elsewhere + used, sizeof info->elsewhere - used, "%s%s x%d",
                                     used ? ", " : "", sk_op_name((sk_op)op), plan->by_reference[op]);
    info->asynchronous = 1;
    for (int32_t i = 0; i < gpu_output_count(plan); i++)
        info->outputs[i].data = output_address(s, 0, i);
    if (plan->peaks.n > 0)
        info->outputs[plan->graph->n_outputs].data = s->slots[0].table;
}

static sk_status engine_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                             sk_error *err)
{
    gpu_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status;
    s->device = settings->device;
    /* for some microseconds, in which the GPU waits for them */
    s->copiers.threads = settings->threads > 0 ? settings->threads : sk_cpu_usable_cores() * 3 / 8;
    s->copiers.most = 6;
    SK_TRY_GOTO(gpu_check(s, gpu_use(settings->device), "the chosen GPU cannot be used", err));
    SK_TRY_GOTO(
        gpu_check(s, gpu_device_about(settings->device, &s->about), "the chosen GPU cannot be used", err));
    SK_TRY_GOTO(gpu_switched_off(getenv("SKITTER_CUDA_WITHOUT"), &s->plan.without, err));
    s->plan.tune = sk_options_on(GPU_ENGINE_NAME, sk_gpu_options, settings->options, "tune");
    s->plan.device_major = s->about.major;
    s->plan.device_minor = s->about.minor;
    s->plan.sms = s->about.sms;
    s->plan.shared_bytes = s->about.shared_bytes;
    SK_TRY_GOTO(gpu_plan_open(graph, settings, &s->plan, err));
    SK_TRY_GOTO(open_streams(s, settings->slots, err));
    SK_TRY_GOTO(open_memory(s, settings->slots, err));
    SK_TRY_GOTO(gpu_choose_tiles(s, err));
    SK_TRY_GOTO(open_weights(s, err));
    describe(s);
    *out = &s->base;
    return SK_OK;
done:
    engine_close(&s->base);
    return status;
}

/* From here on a submit is one launch. Until then it is launch by launch. */
static sk_status engine_capture(sk_session *session, sk_error *err)
{
    gpu_session *s = (gpu_session *)session;
    if (s->lost)
        return sk_fail(err, SK_ERR_RUNTIME, "the GPU of this session was lost before; open it again");
    SK_TRY(gpu_check(s, gpu_use(s->device), "the GPU cannot be used", err));
    /* once step by step: kernels are loaded, which must not happen while capturing, and a failing one is named */
    if (!s->plan.n_by_reference)
        SK_TRY(run_serial(s, 0, err));
    SK_TRY(gpu_check(s, gpu_stream_wait(s->compute), "the first run", err));
    for (int32_t k = 0; k < s->n_slots; k++)
        SK_TRY(capture_slot(s, k, err));
    describe(s);
    return SK_OK;
}

/* --- running --- */

/* All that comes behind the upload. */
static sk_status launch_rest(gpu_session *s, int32_t slot, sk_error *err)
{
    gpu_slot *at = &s->slots[slot];
    const gpu_plan *plan = &s->plan;
    SK_TRY(gpu_check(s, gpu_event_record(at->uploaded, s->up), "upload", err));
    if (s->up != at->compute)
        SK_TRY(gpu_check(s, gpu_stream_wait_event(at->compute, at->uploaded), "upload", err));
    SK_TRY(gpu_check(s, gpu_event_record(at->started, at->compute), "launch", err));
    if (at->graph)
        SK_TRY(gpu_check(s, gpu_graph_launch(at->graph, at->compute), "launch", err));
    else
        SK_TRY(run_serial(s, slot, err));
    SK_TRY(gpu_check(s, gpu_event_record(at->computed, at->compute), "launch", err));
    if (s->down != at->compute)
        SK_TRY(gpu_check(s, gpu_stream_wait_event(s->down, at->computed), "launch", err));
    if (plan->sparse.wish.n_levels > 0)
        SK_TRY(gpu_check(s, gpu_sparse_download(s, slot), "download", err));
    if (plan->found.wish.n_levels > 0) {
        const gpu_buffer *b = &plan->buffers[plan->found.buffer];
        SK_TRY(gpu_check(s, gpu_download(s, slot, b->offset, b->bytes, 1, 0), "download", err));
    }
    if (plan->peaks.n > 0)
        SK_TRY(gpu_check(s, gpu_peaks_download(s, slot), "download", err));
    for (int32_t i = 0; i < plan->graph->n_outputs; i++) {
        if (plan->outputs[i] < 0)
            continue;
        const gpu_buffer *b = &plan->buffers[plan->outputs[i]];
        SK_TRY(gpu_check(s, gpu_download(s, slot, b->offset, b->bytes, 1, 0), "download", err));
    }
    return gpu_check(s, gpu_event_record(at->downloaded, s->down), "download", err);
}

static sk_status run_submit(gpu_session *s, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    SK_TRY(gpu_check(s, gpu_event_record(s->slots[slot].begun, s->up), "upload", err));
    if (s->slots[slot].graph && gpu_is_early(s, inputs))
        return gpu_upload_early(s, slot, inputs, launch_rest, err);
    for (int32_t i = 0; i < s->plan.graph->n_inputs; i++)
        SK_TRY(gpu_upload(s, i, slot, &inputs[i], err));
    return launch_rest(s, slot, err);
}

/* Of a submit that failed half way something may be on its way: copies out of the caller's memory, and a kernel whose flags the
 * next submit would write anew before it has seen them. */
static void wait_for_pieces(gpu_session *s, int32_t slot)
{
    gpu_stream *const streams[] = {s->up, s->slots[slot].compute, s->down};
    for (size_t i = 0; i < sizeof streams / sizeof *streams && !s->lost; i++)
        (void)!gpu_check(s, gpu_stream_wait(streams[i]), "wait", NULL);
}

static sk_status engine_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,
                               sk_error *err)
{
    gpu_session *s = (gpu_session *)session;
    if (s->lost)
        return sk_fail(err, SK_ERR_RUNTIME, "the GPU of this session was lost before; open it again");
    SK_TRY(gpu_check(s, gpu_use(s->device), "the GPU cannot be used", err));
    s->overlapped = s->base.submitted != s->base.waited;
    gpu_stream *const up = s->up, *const down = s->down;
    if (!s->overlapped) /* all in one stream, where nobody waits for another's event */
        s->up = s->down = s->slots[slot].compute;
    const sk_status status = run_submit(s, slot, inputs, err);
    s->up = up;
    s->down = down;
    if (status != SK_OK)
        wait_for_pieces(s, slot);
    return status;
}

static sk_status engine_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    gpu_session *s = (gpu_session *)session;
    if (s->lost)
        return sk_fail(err, SK_ERR_RUNTIME, "the GPU of this session was lost before; open it again");
    SK_TRY(gpu_check(s, gpu_use(s->device), "the GPU cannot be used", err));
    SK_TRY(gpu_check(s, gpu_event_wait(s->slots[slot].downloaded), "waiting for the GPU", err));
    if (s->plan.sparse.wish.n_levels > 0)
        SK_TRY(gpu_sparse_unpack(s, slot, err));
    if (s->plan.peaks.n > 0)
        SK_TRY(gpu_peaks_unpack(s, slot, err));
    for (int32_t i = 0; i < gpu_output_count(&s->plan); i++)
        outputs[i] = output_address(s, slot, i);
    if (s->plan.peaks.n > 0)
        outputs[s->plan.graph->n_outputs] = s->slots[slot].table;
    return SK_OK;
}

static sk_status engine_resident(sk_session *session, int32_t slot, int32_t image, sk_frame *out,
                                 sk_error *err)
{
    const gpu_session *s = (const gpu_session *)session;
    const sk_frame_fit *fit = &s->plan.fit;
    if (s->plan.strips.count || fit->nv12)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "not all of the frame was brought up");
    *out = (sk_frame){.format = fit->channels == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB,
                      .width = fit->frame_width,
                      .height = fit->frame_height,
                      .stride = (ptrdiff_t)sk_frame_fit_row(fit),
                      .place = GPU_PLACE,
                      .device = s->device,
                      .data = s->slots[slot].device + s->plan.buffers[s->plan.inputs[0]].offset +
                              (size_t)image * gpu_frame_bytes(&s->plan)};
    return SK_OK;
}

/* Of a slot that has been waited for. */
static sk_status engine_times(sk_session *session, int32_t slot, sk_session_times *out, sk_error *err)
{
    gpu_session *s = (gpu_session *)session;
    gpu_slot *at = &s->slots[slot];
    float up = 0, network = 0, down = 0;
    SK_TRY(gpu_check(s, gpu_use(s->device), "the GPU cannot be used", err));
    SK_TRY(gpu_check(s, gpu_event_elapsed(at->begun, at->uploaded, &up), "timing", err));
    SK_TRY(gpu_check(s, gpu_event_elapsed(at->started, at->computed, &network), "timing", err));
    SK_TRY(gpu_check(s, gpu_event_elapsed(at->computed, at->downloaded, &down), "timing", err));
    *out = (sk_session_times){(double)up * 1e-3, (double)network * 1e-3, (double)down * 1e-3};
    return SK_OK;
}

/* --- measuring --- */

sk_status gpu_time_step(gpu_session *s, const gpu_step *step, int32_t repeats, float *us, sk_error *err)
{
    gpu_graph *graph = NULL;
    float best = 0;
    SK_TRY(gpu_check(s, gpu_capture_begin(s->compute), "capture", err));
    int error = 0;
    for (int32_t i = 0; i < repeats && !error; i++)
        error = gpu_run_step(s, step, 0, i > 0, s->compute);
    const int ended = gpu_capture_end(s->compute, error ? NULL : &graph);
    SK_TRY(gpu_check(s, error ? error : ended, step->name, err));
    for (int i = 0; i < 4 && !error; i++) {
        float ms = 0;
        error = gpu_event_record(s->timer[0], s->compute);
        error = error ? error : gpu_graph_launch(graph, s->compute);
        error = error ? error : gpu_event_record(s->timer[1], s->compute);
        error = error ? error : gpu_event_wait(s->timer[1]);
        error = error ? error : gpu_event_elapsed(s->timer[0], s->timer[1], &ms);
        if (i == 1 || (i > 1 && ms < best)) /* the first is for warming up */
            best = ms;
    }
    gpu_graph_close(graph);
    *us = best * 1000.0f / (float)repeats;
    return gpu_check(s, error, step->name, err);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

sk_status gpu_time_graph(gpu_session *s, int32_t slot, int32_t runs, float *us, sk_error *err)
{
    enum { MOST = 256, LEAST = 5, LONG_ENOUGH = 3000 /* ms; a slow chain needs no 200 runs */ };
    float times[MOST];
    const int32_t n = runs < MOST ? runs : MOST;
    int32_t done = 0;
    float spent = 0;
    for (int32_t i = -3; i < n && (i < LEAST || spent < LONG_ENOUGH); i++) {
        float ms = 0;
        SK_TRY(gpu_check(s, gpu_event_record(s->timer[0], s->compute), "timing", err));
        if (s->slots[slot].graph)
            SK_TRY(gpu_check(s, gpu_graph_launch(s->slots[slot].graph, s->compute), "timing", err));
        else
            SK_TRY(run_serial(s, slot, err));
        SK_TRY(gpu_check(s, gpu_event_record(s->timer[1], s->compute), "timing", err));
        SK_TRY(gpu_check(s, gpu_event_wait(s->timer[1]), "timing", err));
        SK_TRY(gpu_check(s, gpu_event_elapsed(s->timer[0], s->timer[1], &ms), "timing", err));
        if (i >= 0)
            times[done++] = ms * 1000.0f;
        spent += ms;
    }
    qsort(times, (size_t)done, sizeof times[0], by_size);
    *us = done ? times[done / 2] : 0;
    return SK_OK;
}

static sk_status profile_start(sk_session *session, sk_error *err)
{
    (void)session;
    (void)err;
    return SK_OK; /* single steps are timed when asked for, in graphs of their own */
}

/* Every step timed alone, then, as the last row, the whole chain as it runs, without transfers. */
static sk_status profile(sk_session *session, sk_profile_row *rows, int32_t capacity, int32_t *count,
                         sk_error *err)
{
    gpu_session *s = (gpu_session *)session;
    const gpu_plan *plan = &s->plan;
    float us = 0;
    SK_TRY(gpu_check(s, gpu_use(s->device), "the GPU cannot be used", err));
    *count = (int32_t)plan->n_steps + 1;
    for (int32_t i = 0; i < (int32_t)plan->n_steps && i < capacity; i++) {
        const gpu_step *step = &plan->steps[i];
        if (step->kind != GPU_BY_REFERENCE)
            SK_TRY(gpu_time_step(s, step, 10, &us, err));
        rows[i] = (sk_profile_row){.flops = step->flops, .min_us = (double)us, .mean_us = (double)us};
        snprintf(rows[i].name, sizeof rows[i].name, "%.63s", step->name);
        snprintf(rows[i].kernel, sizeof rows[i].kernel, "%s", step->kernel);
        snprintf(rows[i].shape, sizeof rows[i].shape, "%s", step->shape);
    }
    if (*count <= capacity) {
        SK_TRY(gpu_time_graph(s, 0, 200, &us, err));
        rows[*count - 1] =
            (sk_profile_row){.flops = s->base.info.flops, .min_us = (double)us, .mean_us = (double)us};
        snprintf(rows[*count - 1].name, sizeof rows[0].name, "(all)");
        snprintf(rows[*count - 1].kernel, sizeof rows[0].kernel,
                 "the whole graph on the device, median of 200");
    }
    return SK_OK;
}

static void *host_alloc(size_t bytes)
{
    void *block = NULL;
    return gpu_host_alloc(&block, bytes) == 0 ? block : NULL;
}

const sk_engine gpu_engine = {
    .name = GPU_ENGINE_NAME,
    .title = GPU_ENGINE_TITLE,
    .can = GPU_ENGINE_CAN,
    .options = sk_gpu_options,
    .probe = probe,
    .supports = supports,
    .open = engine_open,
    .submit = engine_submit,
    .wait = engine_wait,
    .close = engine_close,
    .capture = engine_capture,
    .profile_start = profile_start,
    .profile = profile,
    .times = engine_times,
    .host_alloc = host_alloc,
    .host_free = gpu_host_free,
    .resident = engine_resident,
};
