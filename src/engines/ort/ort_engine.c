/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/memory.h"
#include "engines/foreign/foreign.h"
#include "engines/ort/ort_bound.h"
#include "engines/ort/ort_preload.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ONNX Runtime, on its CPU, CUDA or AMD providers. Inputs and outputs are bound once, to buffers that stay; a submit fills
 * the input buffers and calls one function. */

typedef struct ort_engine_session {
    sk_foreign_session foreign;
    const ort_api *api;
    ort_session *session;
    ort_device *device; /* null: the provider computes in the host's memory */
    ort_bound bound;
} ort_engine_session;

static sk_status ort_supports(const char *runtime, const sk_graph *graph, const sk_session_settings *settings,
                              sk_error *err)
{
    const ort_provider *provider = NULL;
    SK_TRY(ort_provider_choose(NULL, runtime, settings, &provider, err));
    sk_session_settings exact =
        *settings; /* TF32 is the provider's way with models in f32; f16 is the model's own */
    if ((provider->ends == ORT_ENDS_ON_DEVICE && settings->precision == SK_PRECISION_TF32) ||
        settings->precision == SK_PRECISION_F16)
        exact.precision = SK_PRECISION_F32;
    return sk_foreign_supports(runtime, graph, &exact, err);
}

static void ort_close(sk_session *session)
{
    ort_engine_session *s = (ort_engine_session *)session;
    if (s->device && ort_device_settle(s->device, NULL) != SK_OK)
        sk_log(SK_LOG_WARN, "onnx_cuda: the device did not end its work");
    ort_bound_close(&s->bound);
    if (s->session)
        s->api->release_session(s->session);
    ort_device_close(&s->device); /* its stream was the session's, its pinned memory is the host's buffers */
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

static sk_status open_with(ort_engine_session *s, const ort_request *request, const ort_provider *provider,
                           const sk_foreign_model *model, sk_error *err)
{
    const ort_api *api = s->api;
    ort_session_options *options = NULL;
    sk_status status;
    SK_TRY(ort_check(api, api->create_session_options(&options), "session options", err));
    SK_TRY_GOTO(set_options(api, options, request->settings, s->foreign.base.info.threads, err));
    SK_TRY_GOTO(ort_preload_and_append(api, provider, options, request, err));
    SK_TRY_GOTO(create_session(s, provider, model, options, err));
done:
    api->release_session_options(options);
    return status;
}

/* With a CUDA graph where the provider can: a model of which a part is elsewhere is refused then, and opened without. */
static sk_status open_session(ort_engine_session *s, const sk_session_settings *settings,
                              const ort_provider *provider, const sk_foreign_model *model, sk_error *err)
{
    ort_request request = {.settings = settings};
    sk_error refused = {0};
    if (provider->takes_stream) {
        request.stream = ort_device_stream(s->device);
        request.graph =
            sk_options_on(provider->runtime, ort_cuda_options_table, settings->options, "cuda_graph");
    }
    sk_status status = open_with(s, &request, provider, model, request.graph ? &refused : err);
    if (status != SK_OK && request.graph && strstr(refused.message, "graph capture")) {
        request.graph = false;
        status = open_with(s, &request, provider, model, err);
    } else if (status != SK_OK && request.graph && err) {
        *err = refused;
    }
    sk_session_info *info = &s->foreign.base.info;
    snprintf(info->detail, sizeof info->detail, "ONNX Runtime %s, %s provider%s", s->api->version,
             provider->word, request.graph ? ", as a CUDA graph" : "");
    return status;
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
    const bool on_device = provider->ends == ORT_ENDS_ON_DEVICE;
    sk_foreign_model model = {0};
    sk_status status;
    SK_TRY_GOTO(sk_foreign_alloc(&s->foreign, graph, settings, on_device, err));
    if (on_device)
        SK_TRY_GOTO(ort_device_open(settings->device, settings->slots, &s->device, err));
    SK_TRY_GOTO(sk_foreign_model_open(graph, settings, &model, err));
    SK_TRY_GOTO(open_session(s, settings, provider, &model, err));
    SK_TRY_GOTO(ort_bound_open(&s->bound, api, s->session, provider, s->device, settings->device, &s->foreign,
                               &model, err));
done:
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
    return ort_bound_run(&s->bound, &s->foreign, slot, err);
}

static sk_status ort_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    SK_TRY(ort_bound_wait(&((ort_engine_session *)session)->bound, slot, err));
    return sk_foreign_wait(session, slot, outputs, err);
}

static sk_status ort_times(sk_session *session, int32_t slot, sk_session_times *out, sk_error *err)
{
    return ort_bound_times(&((ort_engine_session *)session)->bound, slot, out, err);
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
    sk_foreign_report(status, &found, "ONNX Runtime", api ? api->version : "", api ? api->path : "",
                      engine->can.precisions, out);
    if (status == SK_OK && strcmp(provider->word, "CPU") != 0)
        snprintf(out->devices[0].name, sizeof out->devices[0].name,
                 "device 0, ONNX Runtime %.40s, %s provider", api->version, provider->word);
    return SK_OK;
}

/* The three runtimes differ in the provider they are made for. */
#define ORT_ENGINE(word, engine_title, kind, further, table, in_flight)                                      \
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
                .precisions = 1u << SK_PRECISION_F32 | 1u << SK_PRECISION_F16 | (further),                   \
                .asynchronous = (in_flight),                                                                 \
                .usual = SK_PRECISION_F32},                                                                  \
        .options = (table),                                                                                  \
        .probe = word##_probe,                                                                               \
        .supports = word##_supports,                                                                         \
        .open = word##_open,                                                                                 \
        .submit = ort_submit,                                                                                \
        .wait = ort_wait,                                                                                    \
        .times = ort_times,                                                                                  \
        .close = ort_close,                                                                                  \
        .form = &sk_foreign_form_onnx,                                                                       \
    }

ORT_ENGINE(onnx_cpu, "ONNX Runtime on the CPU", SK_DEVICE_CPU, 1u << SK_PRECISION_I8, ort_options, false);
ORT_ENGINE(onnx_cuda, "ONNX Runtime on NVIDIA GPUs", SK_DEVICE_NVIDIA, 1u << SK_PRECISION_TF32,
           ort_cuda_options_table, true);
ORT_ENGINE(onnx_rocm, "ONNX Runtime on AMD GPUs", SK_DEVICE_AMD, 0u, ort_options, false);
