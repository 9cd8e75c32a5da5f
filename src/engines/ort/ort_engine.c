/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "engines/foreign/foreign.h"
#include "engines/ort/ort_provider.h"
#include "formats/onnx.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ONNX Runtime, on its CPU, CUDA or AMD providers. Inputs and outputs are bound once, to buffers of ours; a submit fills
 * the input buffer and calls one function. */

typedef struct ort_engine_session {
    sk_foreign_session foreign;
    const ort_api *api;
    ort_session *session;
    ort_memory_info *memory;
    ort_value *inputs[SK_SESSION_MAX_INPUTS];
    ort_value *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
    ort_binding *bindings[SK_SESSION_MAX_SLOTS];
} ort_engine_session;

static sk_status ort_supports(const char *runtime, const sk_graph *graph, const sk_session_settings *settings,
                              sk_error *err)
{
    const ort_provider *provider = NULL;
    SK_TRY(ort_provider_choose(NULL, runtime, settings, &provider, err));
    return sk_foreign_supports(runtime, graph, settings, err);
}

static void ort_close(sk_session *session)
{
    ort_engine_session *s = (ort_engine_session *)session;
    for (int k = 0; k < SK_SESSION_MAX_SLOTS; k++) {
        if (s->bindings[k])
            s->api->release_binding(s->bindings[k]);
        for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            if (s->outputs[k][i])
                s->api->release_value(s->outputs[k][i]);
    }
    for (int i = 0; i < SK_SESSION_MAX_INPUTS; i++)
        if (s->inputs[i])
            s->api->release_value(s->inputs[i]);
    if (s->memory)
        s->api->release_memory_info(s->memory);
    if (s->session)
        s->api->release_session(s->session);
    sk_foreign_free(&s->foreign);
    sk_free(s);
}

/* "3;4" binds ONNX Runtime's own threads, all but the caller's, to processors counted from 1. */
static sk_status bind_threads(const ort_api *api, ort_session_options *options,
                              const sk_session_settings *settings, int32_t threads, sk_error *err)
{
    char list[2048] = "";
    size_t used = 0;
    if (!settings->cores || settings->core_count < 1 || threads < 2)
        return SK_OK;
    for (int32_t i = 1; i < threads && used + 16 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", used ? ";" : "",
                                 settings->cores[i % settings->core_count] + 1);
    return ort_check(api, api->add_session_config(options, "session.intra_op_thread_affinities", list),
                     "threads could not be bound to cores", err);
}

static sk_status set_options(const ort_api *api, ort_session_options *options,
                             const sk_session_settings *settings, int32_t threads, sk_error *err)
{
    SK_TRY(ort_check(api, api->set_optimisation(options, ORT_OPTIMISE_ALL), "optimisation level", err));
    SK_TRY(ort_check(api, api->set_intra_threads(options, threads), "number of threads", err));
    SK_TRY(ort_check(api, api->set_inter_threads(options, 1), "number of threads", err));
    SK_TRY(ort_check(api, api->add_session_config(options, "session.intra_op.allow_spinning", "1"),
                     "spinning", err));
    return bind_threads(api, options, settings, threads, err);
}

static sk_status make_value(ort_engine_session *s, const sk_tensor *tensor, ort_value **out, sk_error *err)
{
    return ort_check(s->api,
                     s->api->create_tensor_over(s->memory, tensor->data, sk_tensor_bytes(tensor),
                                                tensor->shape.dim, (size_t)tensor->shape.rank,
                                                sk_onnx_type_of(tensor->dtype), out),
                     "a buffer could not be wrapped", err);
}

static sk_status bind_buffers(ort_engine_session *s, const sk_foreign_model *model, sk_error *err)
{
    const ort_api *api = s->api;
    SK_TRY(ort_check(api, api->create_cpu_memory_info(ORT_DEVICE_ALLOCATOR, ORT_MEMORY_DEFAULT, &s->memory),
                     "memory kind", err));
    for (int32_t i = 0; i < s->foreign.n_inputs; i++)
        SK_TRY(make_value(s, &s->foreign.inputs[0][i], &s->inputs[i], err));
    for (int32_t k = 0; k < s->foreign.slots; k++) {
        SK_TRY(ort_check(api, api->create_binding(s->session, &s->bindings[k]), "binding", err));
        for (int32_t i = 0; i < s->foreign.n_inputs; i++)
            SK_TRY(ort_check(api, api->bind_input(s->bindings[k], model->inputs[i], s->inputs[i]),
                             "an input could not be bound", err));
        for (int32_t i = 0; i < s->foreign.n_outputs; i++) {
            SK_TRY(make_value(s, &s->foreign.outputs[k][i], &s->outputs[k][i], err));
            SK_TRY(ort_check(api, api->bind_output(s->bindings[k], model->outputs[i], s->outputs[k][i]),
                             "an output could not be bound", err));
        }
    }
    return SK_OK;
}

/* Opens the session; the provider's nodes are counted on the way, unless they can only be on the CPU. */
static sk_status create_session(ort_engine_session *s, const ort_provider *provider,
                                const sk_foreign_model *model, ort_session_options *options, sk_error *err)
{
    const ort_api *api = s->api;
    ort_placement placement = {.wanted = provider->listed};
    bool watch = strcmp(provider->word, "CPU") != 0;
    if (watch) {
        SK_TRY(ort_check(api, api->set_log_severity(options, ORT_LOG_VERBOSE), "logging", err));
        ort_listen(ort_placement_hear, &placement);
    }
    ort_status *made =
        api->create_session_from_array(api->env, model->bytes, model->length, options, &s->session);
    ort_listen(NULL, NULL);
    SK_TRY(ort_check(api, made, "the model was refused", err));
    sk_session_info *info = &s->foreign.base.info;
    ort_placement_text(&placement, info->elsewhere, sizeof info->elsewhere);
    if (watch && placement.wanted_nodes == 0 && placement.other_nodes > 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "ONNX Runtime %s: the %s provider took no part of the model; %s runs it all",
                       api->version, provider->word, placement.other);
    return SK_OK;
}

static sk_status ort_open(const char *runtime, const sk_graph *graph, const sk_session_settings *settings,
                          sk_session **out, sk_error *err)
{
    const ort_api *api = NULL;
    const ort_provider *provider = NULL;
    SK_TRY(ort_load(&api, err));
    SK_TRY(ort_provider_choose(api, runtime, settings, &provider, err));
    ort_engine_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->api = api;
    ort_session_options *options = NULL;
    sk_foreign_model model = {0};
    sk_status status;
    sk_session_info *info = &s->foreign.base.info;
    SK_TRY_GOTO(sk_foreign_alloc(&s->foreign, graph, settings, false, err));
    SK_TRY_GOTO(sk_foreign_model_open(graph, settings, &model, err));
    SK_TRY_GOTO(ort_check(api, api->create_session_options(&options), "session options", err));
    SK_TRY_GOTO(set_options(api, options, settings, info->threads, err));
    SK_TRY_GOTO(provider->append(api, options, settings, err));
    SK_TRY_GOTO(create_session(s, provider, &model, options, err));
    SK_TRY_GOTO(bind_buffers(s, &model, err));
    snprintf(info->detail, sizeof info->detail, "ONNX Runtime %s, %s provider", api->version, provider->word);
done:
    if (options)
        api->release_session_options(options);
    sk_foreign_model_close(&model);
    if (status == SK_OK)
        *out = &s->foreign.base;
    else
        ort_close(&s->foreign.base);
    return status;
}

static sk_status ort_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    ort_engine_session *s = (ort_engine_session *)session;
    sk_foreign_fill_inputs(&s->foreign, slot, inputs);
    return ort_check(s->api, s->api->run_with_binding(s->session, NULL, s->bindings[slot]), "the run failed",
                     err);
}

static sk_status ort_probe(const sk_engine *engine, atomic_int *works, sk_engine_probe *out, sk_error *err)
{
    const ort_api *api = NULL;
    const ort_provider *provider = NULL;
    sk_session_settings settings = sk_session_defaults();
    sk_error found = {0};
    (void)err;
    sk_status status = ort_load(&api, &found);
    if (status == SK_OK)
        status = ort_provider_choose(api, engine->name, &settings, &provider, &found);
    if (status == SK_OK && !atomic_load(works)) { /* once is enough: the library stays loaded */
        status = sk_foreign_try(engine, &found);
        atomic_store(works, status == SK_OK);
    }
    sk_foreign_report(status, &found, "ONNX Runtime", api ? api->version : "", api ? api->path : "", out);
    if (status == SK_OK && strcmp(provider->word, "CPU") != 0)
        snprintf(out->devices[0].name, sizeof out->devices[0].name,
                 "device 0, ONNX Runtime %.40s, %s provider", api->version, provider->word);
    return SK_OK;
}

/* The three runtimes differ in the provider they are made for. */
#define ORT_ENGINE(word, engine_title, kind)                                                                 \
    static atomic_int word##_works;                                                                          \
    static sk_status word##_probe(sk_engine_probe *out, sk_error *err)                                       \
    {                                                                                                        \
        return ort_probe(&sk_engine_##word, &word##_works, out, err);                                        \
    }                                                                                                        \
    static sk_status word##_supports(const sk_graph *graph, const sk_session_settings *settings,             \
                                     sk_error *err)                                                          \
    {                                                                                                        \
        return ort_supports(#word, graph, settings, err);                                                    \
    }                                                                                                        \
    static sk_status word##_open(const sk_graph *graph, const sk_session_settings *settings,                 \
                                 sk_session **out, sk_error *err)                                            \
    {                                                                                                        \
        return ort_open(#word, graph, settings, out, err);                                                   \
    }                                                                                                        \
    const sk_engine sk_engine_##word = {                                                                     \
        .name = #word,                                                                                       \
        .title = (engine_title),                                                                             \
        .can = {.device = (kind),                                                                            \
                .reads = SK_READS(SK_PLACE_HOST),                                                            \
                .precisions = 1u << SK_PRECISION_F32 | 1u << SK_PRECISION_F16,                               \
                .usual = SK_PRECISION_F32},                                                                  \
        .options = ort_options,                                                                              \
        .probe = word##_probe,                                                                               \
        .supports = word##_supports,                                                                         \
        .open = word##_open,                                                                                 \
        .submit = ort_submit,                                                                                \
        .wait = sk_foreign_wait,                                                                             \
        .close = ort_close,                                                                                  \
        .form = &sk_foreign_form_onnx,                                                                       \
    }

ORT_ENGINE(onnx_cpu, "ONNX Runtime on the CPU", SK_DEVICE_CPU);
ORT_ENGINE(onnx_cuda, "ONNX Runtime on NVIDIA GPUs", SK_DEVICE_NVIDIA);
ORT_ENGINE(onnx_rocm, "ONNX Runtime on AMD GPUs", SK_DEVICE_AMD);
