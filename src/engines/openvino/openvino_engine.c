/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "engines/foreign/foreign.h"
#include "engines/openvino/openvino_api.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* OpenVINO on the CPU. One compiled model; a request for each slot, whose tensors are buffers of ours. */

typedef struct ov_engine_session {
    sk_foreign_session foreign;
    const ov_api *api;
    ov_compiled *compiled;
    ov_tensor *inputs[SK_SESSION_MAX_INPUTS];
    ov_tensor *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
    ov_request *requests[SK_SESSION_MAX_SLOTS];
} ov_engine_session;

static sk_status ov_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    return sk_foreign_supports("openvino", graph, settings, err);
}

static void ov_close(sk_session *session)
{
    ov_engine_session *s = (ov_engine_session *)session;
    for (int k = 0; k < SK_SESSION_MAX_SLOTS; k++) {
        if (s->requests[k])
            s->api->free_request(s->requests[k]);
        for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            if (s->outputs[k][i])
                s->api->free_tensor(s->outputs[k][i]);
    }
    for (int i = 0; i < SK_SESSION_MAX_INPUTS; i++)
        if (s->inputs[i])
            s->api->free_tensor(s->inputs[i]);
    if (s->compiled)
        s->api->free_compiled(s->compiled);
    sk_foreign_free(&s->foreign);
    sk_free(s);
}

/* Where OpenVINO keeps compiled models; null when nothing is to be kept, or there is no place for it. */
static char *cache_folder(const sk_session_settings *settings)
{
    char *root = NULL, *folder = NULL;
    sk_error ignored;
    if (settings->cache_dir)
        return settings->cache_dir[0] ? sk_path_join(settings->cache_dir, "openvino") : NULL;
    if (sk_folder_cache(&root, &ignored) == SK_OK)
        folder = sk_path_join(root, "openvino");
    sk_free(root);
    return folder;
}

static sk_status compile(ov_engine_session *s, const sk_graph *graph, const sk_session_settings *settings,
                         sk_error *err)
{
    const ov_api *api = s->api;
    ov_model *model = NULL;
    sk_foreign_model onnx = {0};
    char threads[16], *cache = cache_folder(settings);
    snprintf(threads, sizeof threads, "%d", s->foreign.base.info.threads);
    sk_status status;
    SK_TRY_GOTO(sk_foreign_model_open(graph, settings, &onnx, err));
    SK_TRY_GOTO(ov_check(api, api->read_model(api->core, onnx.bytes, onnx.length, NULL, &model),
                         "the model was refused", err));
    /* Pairs of texts; the cache folder comes last, so that the count can leave it out. */
    SK_TRY_GOTO(ov_check(api,
                         api->compile(api->core, model, "CPU", cache ? 10 : 8, &s->compiled,
                                      "INFERENCE_PRECISION_HINT", "f32", "PERFORMANCE_HINT", "LATENCY",
                                      "INFERENCE_NUM_THREADS", threads, "NUM_STREAMS", "1", "CACHE_DIR",
                                      cache ? cache : ""),
                         "the model could not be compiled for the CPU", err));
done:
    if (model)
        api->free_model(model);
    sk_foreign_model_close(&onnx);
    sk_free(cache);
    return status;
}

/* An OpenVINO tensor over one of our buffers, of the type the compiled model's port has. */
static sk_status wrap(ov_engine_session *s, bool output, int32_t index, const sk_tensor *tensor,
                      ov_tensor **out, sk_error *err)
{
    const ov_api *api = s->api;
    ov_port *port = NULL;
    int type = 0;
    size_t bytes = 0;
    int64_t dims[SK_MAX_RANK];
    memcpy(dims, tensor->shape.dim, sizeof dims);
    SK_TRY(ov_check(api, (output ? api->get_output : api->get_input)(s->compiled, (size_t)index, &port),
                    "an end of the model is missing", err));
    sk_status status = ov_check(api, api->get_port_type(port, &type), "an end of the model has no type", err);
    api->free_port(port);
    SK_TRY(status);
    SK_TRY(ov_check(api,
                    api->create_tensor_over(type, (ov_shape){tensor->shape.rank, dims}, tensor->data, out),
                    "a buffer could not be wrapped", err));
    SK_TRY(ov_check(api, api->get_tensor_bytes(*out, &bytes), "a tensor has no size", err));
    if (bytes != sk_tensor_bytes(tensor))
        return sk_fail(err, SK_ERR_MISMATCH, "OpenVINO %s: %s %d takes %zu bytes where the model has %zu",
                       api->version, output ? "output" : "input", index, bytes, sk_tensor_bytes(tensor));
    return SK_OK;
}

static sk_status set_tensors(ov_engine_session *s, sk_error *err)
{
    const ov_api *api = s->api;
    for (int32_t i = 0; i < s->foreign.n_inputs; i++)
        SK_TRY(wrap(s, false, i, &s->foreign.inputs[i], &s->inputs[i], err));
    for (int32_t k = 0; k < s->foreign.slots; k++) {
        SK_TRY(ov_check(api, api->create_request(s->compiled, &s->requests[k]), "no request", err));
        for (int32_t i = 0; i < s->foreign.n_inputs; i++)
            SK_TRY(ov_check(api, api->set_input(s->requests[k], (size_t)i, s->inputs[i]),
                            "an input could not be set", err));
        for (int32_t i = 0; i < s->foreign.n_outputs; i++) {
            SK_TRY(wrap(s, true, i, &s->foreign.outputs[k][i], &s->outputs[k][i], err));
            SK_TRY(ov_check(api, api->set_output(s->requests[k], (size_t)i, s->outputs[k][i]),
                            "an output could not be set", err));
        }
    }
    return SK_OK;
}

static sk_status ov_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                         sk_error *err)
{
    const ov_api *api = NULL;
    SK_TRY(ov_load(&api, err));
    ov_engine_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->api = api;
    sk_session_info *info = &s->foreign.base.info;
    sk_status status;
    SK_TRY_GOTO(sk_foreign_alloc(&s->foreign, graph, settings, err));
    SK_TRY_GOTO(compile(s, graph, settings, err));
    SK_TRY_GOTO(set_tensors(s, err));
    snprintf(info->detail, sizeof info->detail, "OpenVINO %s, CPU device", api->version);
    *out = &s->foreign.base;
    return SK_OK;
done:
    ov_close(&s->foreign.base);
    return status;
}

static sk_status ov_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    ov_engine_session *s = (ov_engine_session *)session;
    sk_foreign_fill_inputs(&s->foreign, inputs);
    return ov_check(s->api, s->api->infer(s->requests[slot]), "the run failed", err);
}

static sk_status ov_probe(sk_engine_probe *out, sk_error *err)
{
    static atomic_int works; /* once is enough: the library stays loaded */
    const ov_api *api = NULL;
    sk_error found = {0};
    (void)err;
    sk_status status = ov_load(&api, &found);
    if (status == SK_OK && !atomic_load(&works)) {
        status = sk_foreign_try(&sk_engine_openvino, &found);
        atomic_store(&works, status == SK_OK);
    }
    sk_foreign_report(status, &found, "OpenVINO", api ? api->version : "", api ? api->path : "", out);
    return SK_OK;
}

const sk_engine sk_engine_openvino = {
    .name = "openvino",
    .title = "OpenVINO on the CPU",
    .probe = ov_probe,
    .supports = ov_supports,
    .open = ov_open,
    .submit = ov_submit,
    .wait = sk_foreign_wait,
    .close = ov_close,
    .form = &sk_foreign_form_onnx,
};
