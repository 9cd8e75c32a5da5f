/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_bound.h"

#include "base/memory.h"
#include "base/text.h"
#include "formats/onnx.h"

#include <stdio.h>

/* A value over `data`, which lies where bound->memory says. */
static sk_status make_value(const ort_bound *b, const sk_tensor *tensor, void *data, ort_value **out,
                            sk_error *err)
{
    return ort_check(b->api,
                     b->api->create_tensor_over(b->memory, data, sk_tensor_bytes(tensor), tensor->shape.dim,
                                                (size_t)tensor->shape.rank, sk_onnx_type_of(tensor->dtype),
                                                out),
                     "a buffer could not be wrapped", err);
}

/* A buffer's twin on the device, where there is one; the buffer itself otherwise. */
static sk_status place(ort_bound *b, const sk_tensor *tensor, void **out, sk_error *err)
{
    *out = tensor->data;
    if (!b->device)
        return SK_OK;
    ort_device_pin(b->device, tensor->data, sk_tensor_bytes(tensor));
    return ort_device_buffer(b->device, sk_tensor_bytes(tensor), out, err);
}

static sk_status bind_input(const ort_bound *b, int32_t slot, int32_t input, int32_t set, sk_error *err)
{
    return ort_check(b->api,
                     b->api->bind_input(b->bindings[slot], b->input_names[input], b->inputs[set][input]),
                     "an input could not be bound", err);
}

/* A CUDA graph is known by a number and bound to addresses: each slot has one of its own. Runs are not waited for one by one:
 * wait does that. */
static sk_status set_run_options(ort_bound *b, int32_t slot, sk_error *err)
{
    const ort_api *api = b->api;
    char number[16];
    snprintf(number, sizeof number, "%d", slot + 1);
    SK_TRY(ort_check(api, api->create_run_options(&b->run_options[slot]), "run options", err));
    SK_TRY(ort_check(api, api->add_run_config(b->run_options[slot], "gpu_graph_id", number), "run options",
                     err));
    return ort_check(
        api, api->add_run_config(b->run_options[slot], "disable_synchronize_execution_providers", "1"),
        "run options", err);
}

static sk_status open_slot(ort_bound *b, const sk_foreign_session *foreign, const sk_foreign_model *model,
                           int32_t slot, sk_error *err)
{
    const int32_t set = foreign->input_sets > 1 ? slot : 0;
    SK_TRY(ort_check(b->api, b->api->create_binding(b->session, &b->bindings[slot]), "binding", err));
    for (int32_t i = 0; i < foreign->n_inputs; i++) {
        const sk_tensor *tensor = &foreign->inputs[set][i];
        if (!b->inputs[set][i]) {
            SK_TRY(place(b, tensor, &b->device_inputs[set][i], err));
            SK_TRY(make_value(b, tensor, b->device_inputs[set][i], &b->inputs[set][i], err));
        }
        SK_TRY(bind_input(b, slot, i, set, err));
    }
    for (int32_t i = 0; i < foreign->n_outputs; i++) {
        const sk_tensor *tensor = &foreign->outputs[slot][i];
        SK_TRY(place(b, tensor, &b->device_outputs[slot][i], err));
        SK_TRY(make_value(b, tensor, b->device_outputs[slot][i], &b->outputs[slot][i], err));
        SK_TRY(ort_check(b->api,
                         b->api->bind_output(b->bindings[slot], model->outputs[i], b->outputs[slot][i]),
                         "an output could not be bound", err));
    }
    return b->provider->takes_stream ? set_run_options(b, slot, err) : SK_OK;
}

sk_status ort_bound_open(ort_bound *b, const ort_api *api, ort_session *session, const ort_provider *provider,
                         ort_device *device, int32_t number, const sk_foreign_session *foreign,
                         const sk_foreign_model *model, sk_error *err)
{
    b->api = api;
    b->session = session;
    b->provider = provider;
    b->device = device;
    for (int32_t i = 0; i < foreign->n_inputs; i++) {
        b->input_names[i] = sk_strdup(model->inputs[i]);
        if (!b->input_names[i])
            return sk_fail_memory(err, SK_FOREIGN_NAME);
    }
    if (device)
        SK_TRY(ort_check(
            api,
            api->create_memory_info("Cuda", ORT_DEVICE_ALLOCATOR, number, ORT_MEMORY_DEFAULT, &b->memory),
            "memory kind", err));
    else
        SK_TRY(ort_check(api,
                         api->create_cpu_memory_info(ORT_DEVICE_ALLOCATOR, ORT_MEMORY_DEFAULT, &b->memory),
                         "memory kind", err));
    for (int32_t slot = 0; slot < foreign->slots; slot++)
        SK_TRY(open_slot(b, foreign, model, slot, err));
    return SK_OK;
}

void ort_bound_close(ort_bound *b)
{
    for (int32_t k = 0; k < SK_SESSION_MAX_SLOTS; k++) {
        if (b->bindings[k])
            b->api->release_binding(b->bindings[k]);
        if (b->run_options[k])
            b->api->release_run_options(b->run_options[k]);
        for (int32_t i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            if (b->outputs[k][i])
                b->api->release_value(b->outputs[k][i]);
        for (int32_t i = 0; i < SK_SESSION_MAX_INPUTS; i++)
            if (b->inputs[k][i])
                b->api->release_value(b->inputs[k][i]);
    }
    for (int32_t i = 0; i < SK_SESSION_MAX_INPUTS; i++)
        sk_free(b->input_names[i]);
    if (b->memory)
        b->api->release_memory_info(b->memory);
}

static sk_status run(ort_bound *b, int32_t slot, sk_error *err)
{
    return ort_check(b->api, b->api->run_with_binding(b->session, b->run_options[slot], b->bindings[slot]),
                     "the run failed", err);
}

/* Up, run, down: queued on one stream where the provider works on ours, else one after the other. */
static sk_status run_on_device(ort_bound *b, const sk_foreign_session *foreign, int32_t slot, sk_error *err)
{
    SK_TRY(ort_device_mark(b->device, slot, ORT_MARK_BEGIN, err));
    for (int32_t i = 0; i < foreign->n_inputs; i++)
        SK_TRY(ort_device_upload(b->device, b->device_inputs[slot][i], foreign->inputs[slot][i].data,
                                 sk_tensor_bytes(&foreign->inputs[slot][i]), err));
    SK_TRY(ort_device_mark(b->device, slot, ORT_MARK_UP, err));
    if (!b->provider->takes_stream)
        SK_TRY(ort_device_settle(b->device, err));
    SK_TRY(ort_device_enter(b->device, err));
    sk_status status = run(b, slot, err);
    ort_device_leave();
    SK_TRY(status);
    SK_TRY(ort_device_mark(b->device, slot, ORT_MARK_RUN, err));
    for (int32_t i = 0; i < foreign->n_outputs; i++)
        SK_TRY(ort_device_download(b->device, foreign->outputs[slot][i].data, b->device_outputs[slot][i],
                                   sk_tensor_bytes(&foreign->outputs[slot][i]), err));
    return ort_device_mark(b->device, slot, ORT_MARK_DOWN, err);
}

sk_status ort_bound_run(ort_bound *b, const sk_foreign_session *foreign, int32_t slot, sk_error *err)
{
    if (b->device)
        return run_on_device(b, foreign, slot, err);
    for (int32_t i = 0; b->provider->ends == ORT_ENDS_BOUND_EACH_RUN && i < foreign->n_inputs; i++)
        SK_TRY(bind_input(b, slot, i, 0, err));
    return run(b, slot, err);
}

sk_status ort_bound_wait(ort_bound *b, int32_t slot, sk_error *err)
{
    return b->device ? ort_device_wait(b->device, slot, err) : SK_OK;
}

sk_status ort_bound_times(ort_bound *b, int32_t slot, sk_session_times *out, sk_error *err)
{
    double seconds[ORT_MARKS - 1] = {0};
    if (b->device && b->provider->takes_stream)
        SK_TRY(ort_device_times(b->device, slot, seconds, err));
    *out = (sk_session_times){.upload = seconds[0], .network = seconds[1], .download = seconds[2]};
    return SK_OK;
}
