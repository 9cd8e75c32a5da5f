/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "engines/foreign/foreign.h"
#include "engines/openvino/openvino_api.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* OpenVINO on the CPU, Intel's graphics or NPU. One compiled model; a request for each slot, whose tensors are buffers of
 * ours. With the throughput hint the slots' requests run side by side, else one after the other. */

typedef struct ov_engine_session {
    sk_foreign_session foreign;
    const ov_api *api;
    ov_compiled *compiled;
    ov_tensor *inputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_INPUTS];
    ov_tensor *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
    ov_request *requests[SK_SESSION_MAX_SLOTS];
} ov_engine_session;

static const sk_engine_option options[] = {
    {.key = "device",
     .kind = SK_ENGINE_OPTION_TEXT,
     .choices = "CPU|GPU|GPU.1|NPU|AUTO|AUTO:GPU,CPU",
     .usual = "CPU",
     .changes_results = true,
     .help = "OpenVINO's device"},
    {.key = "hint",
     .kind = SK_ENGINE_OPTION_WORD,
     .choices = "latency|throughput",
     .usual = "latency",
     .changes_results = true,
     .help = "what OpenVINO compiles for: one answer soon, or many at once; submits are then asynchronous"},
    {0}};

typedef struct device_name {
    char text[64];
} device_name;

static device_name device_of(const sk_session_settings *settings)
{
    device_name device;
    sk_options_value(sk_engine_openvino.name, &options[0], settings->options, device.text,
                     sizeof device.text);
    return device;
}

static bool for_throughput(const sk_session_settings *settings)
{
    char hint[16];
    return strcmp(
               sk_options_value(sk_engine_openvino.name, &options[1], settings->options, hint, sizeof hint),
               "throughput") == 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* OpenVINO's words for a precision of 16 bits: in its hint, and in a device's list of what it can; null for the others. */
typedef struct sixteen_bits {
    const char *hint, *capability;
} sixteen_bits;

static const sixteen_bits *sixteen(sk_precision precision)
{
    static const sixteen_bits f16 = {"f16", "FP16"}, bf16 = {"bf16", "BF16"};
    return precision == SK_PRECISION_F16 ? &f16 : precision == SK_PRECISION_BF16 ? &bf16 : NULL;
}

/* What a device says it can; asked before anything is made for it. Silence is no refusal: the compiled model is asked
 * again. */
static sk_status check_device(const char *device, const sixteen_bits *wanted, sk_error *err)
{
    const ov_api *api = NULL;
    char *value = NULL;
    if (strchr(device, ':') || begins(device, "AUTO"))
        return SK_OK; /* which device it will be is not known yet */
    SK_TRY(ov_load(&api, err));
    if (!api->get_property ||
        api->get_property(api->core, device, "OPTIMIZATION_CAPABILITIES", &value) != 0 || !value)
        return SK_OK;
    /* a list that names no floats says nothing */
    bool can = !strstr(value, "FP32") || strstr(value, wanted->capability);
    if (api->free_text)
        api->free_text(value);
    return can ? SK_OK
               : sk_fail(err, SK_ERR_UNSUPPORTED,
                         "OpenVINO %s: the device %s does not compute in %s; set the precision to f32",
                         api->version, device, wanted->hint);
}

static sk_status ov_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    const device_name asked = device_of(settings);
    const char *device = asked.text;
    if (!begins(device, "CPU") && !begins(device, "GPU") && !begins(device, "NPU") && !begins(device, "AUTO"))
        return sk_fail(err, SK_ERR_ARG,
                       "OpenVINO has no device '%s'; there are CPU, GPU, GPU.1, NPU, AUTO, AUTO:GPU,CPU",
                       device);
    /* what no library could keep is told without one; in bf16 the file is that of f32, and OpenVINO rounds */
    sk_session_settings file = *settings;
    if (file.precision == SK_PRECISION_BF16)
        file.precision = SK_PRECISION_F32;
    SK_TRY(sk_foreign_supports("openvino", graph, &file, err));
    const sixteen_bits *wanted = sixteen(settings->precision);
    return wanted ? check_device(device, wanted, err) : SK_OK;
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
        for (int i = 0; i < SK_SESSION_MAX_INPUTS; i++)
            if (s->inputs[k][i])
                s->api->free_tensor(s->inputs[k][i]);
    }
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

/* Pairs of texts; a call takes a fixed number of them, so the list is filled up with one that changes nothing. */
#define PAIRS 5
typedef struct property_list {
    const char *text[2 * PAIRS];
    size_t count;
} property_list;

static void add(property_list *list, const char *key, const char *value)
{
    if (list->count + 2 <= 2 * PAIRS) {
        list->text[list->count++] = key;
        list->text[list->count++] = value;
    }
}

static int call_compile(const ov_api *api, const ov_model *model, const char *device, const property_list *p,
                        ov_compiled **out)
{
    const char *const *t = p->text;
    return api->compile(api->core, model, device, p->count, out, t[0], t[1], t[2], t[3], t[4], t[5], t[6],
                        t[7], t[8], t[9]);
}

/* A hint is no order: some devices take it and compute in f32 all the same. */
static sk_status check_precision(const ov_engine_session *s, const sk_session_settings *settings,
                                 sk_error *err)
{
    const ov_api *api = s->api;
    const sixteen_bits *wanted = sixteen(settings->precision);
    char *value = NULL, found[32] = "";
    if (!wanted)
        return SK_OK;
    if (api->get_compiled_property(s->compiled, "INFERENCE_PRECISION_HINT", &value) == 0 && value)
        snprintf(found, sizeof found, "%.31s", value);
    if (value && api->free_text)
        api->free_text(value);
    if (!found[0] || strcmp(found, wanted->hint) == 0)
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "OpenVINO %s: the device %s computes in %s, not in %s; set the precision to f32",
                   api->version, device_of(settings).text, found, wanted->hint);
}

static sk_status compile(ov_engine_session *s, const sk_graph *graph, const sk_session_settings *settings,
                         sk_error *err)
{
    const ov_api *api = s->api;
    const device_name asked = device_of(settings);
    const char *device = asked.text;
    const bool throughput = for_throughput(settings);
    ov_model *model = NULL;
    sk_foreign_model onnx = {0};
    property_list list = {.count = 0};
    char threads[16], what[400], *cache = cache_folder(settings);
    snprintf(threads, sizeof threads, "%d", s->foreign.base.info.threads);
    const sixteen_bits *halves = sixteen(settings->precision);
    add(&list, "INFERENCE_PRECISION_HINT", halves ? halves->hint : "f32");
    add(&list, "PERFORMANCE_HINT", throughput ? "THROUGHPUT" : "LATENCY");
    if (begins(device, "CPU")) /* the others have no threads to speak of */
        add(&list, "INFERENCE_NUM_THREADS", threads);
    if (begins(device, "CPU") && !throughput)
        add(&list, "NUM_STREAMS", "1");
    if (cache)
        add(&list, "CACHE_DIR", cache);
    sk_status status;
    SK_TRY_GOTO(sk_foreign_model_open(graph, settings, &onnx, err));
    SK_TRY_GOTO(ov_check(api, api->read_model(api->core, onnx.bytes, onnx.length, NULL, &model),
                         "the model was refused", err));
    snprintf(what, sizeof what, "the model could not be compiled for the device %.20s (here are: %.200s)",
             device, api->devices);
    SK_TRY_GOTO(ov_check(api, call_compile(api, model, device, &list, &s->compiled), what, err));
    SK_TRY_GOTO(check_precision(s, settings, err));
done:
    if (model)
        api->free_model(model);
    sk_foreign_model_close(&onnx);
    sk_free(cache);
    return status;
}

/* Where it really runs: AUTO decides by itself. */
static void describe(const ov_engine_session *s, const sk_session_settings *settings, char *text,
                     size_t capacity)
{
    const ov_api *api = s->api;
    char *value = NULL, found[64] = "";
    const device_name asked = device_of(settings);
    const char *device = asked.text;
    if (api->get_compiled_property(s->compiled, "EXECUTION_DEVICES", &value) == 0 && value)
        snprintf(found, sizeof found, "%.60s", value);
    if (value && api->free_text)
        api->free_text(value);
    bool same = !found[0] || strcmp(found, device) == 0;
    snprintf(text, capacity, "OpenVINO %s, %s device%s%s%s, %s", api->version, found[0] ? found : device,
             same ? "" : " (asked for ", same ? "" : device, same ? "" : ")",
             for_throughput(settings) ? "throughput" : "latency");
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
    for (int32_t k = 0; k < s->foreign.input_sets; k++)
        for (int32_t i = 0; i < s->foreign.n_inputs; i++)
            SK_TRY(wrap(s, false, i, &s->foreign.inputs[k][i], &s->inputs[k][i], err));
    for (int32_t k = 0; k < s->foreign.slots; k++) {
        ov_tensor **inputs = s->inputs[s->foreign.input_sets > 1 ? k : 0];
        SK_TRY(ov_check(api, api->create_request(s->compiled, &s->requests[k]), "no request", err));
        for (int32_t i = 0; i < s->foreign.n_inputs; i++)
            SK_TRY(ov_check(api, api->set_input(s->requests[k], (size_t)i, inputs[i]),
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
    SK_TRY_GOTO(sk_foreign_alloc(&s->foreign, graph, settings, for_throughput(settings), err));
    SK_TRY_GOTO(compile(s, graph, settings, err));
    SK_TRY_GOTO(set_tensors(s, err));
    describe(s, settings, info->detail, sizeof info->detail);
    *out = &s->foreign.base;
    return SK_OK;
done:
    ov_close(&s->foreign.base);
    return status;
}

static sk_status ov_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    ov_engine_session *s = (ov_engine_session *)session;
    const ov_api *api = s->api;
    sk_foreign_fill_inputs(&s->foreign, slot, inputs);
    int status = session->info.asynchronous ? api->start(s->requests[slot]) : api->infer(s->requests[slot]);
    return ov_check(api, status, "the run failed", err);
}

static sk_status ov_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    ov_engine_session *s = (ov_engine_session *)session;
    if (session->info.asynchronous)
        SK_TRY(ov_check(s->api, s->api->finish(s->requests[slot]), "the run failed", err));
    return sk_foreign_wait(session, slot, outputs, err);
}

/* Of what the engine can, what a session computes in that names no device: processors without halves have none. */
static uint32_t usual_precisions(void)
{
    static const sk_precision asked[] = {SK_PRECISION_F16, SK_PRECISION_BF16};
    uint32_t can = sk_engine_openvino.can.precisions;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (check_device(options[0].usual, sixteen(asked[i]), NULL) != SK_OK)
            can &= ~(1u << asked[i]);
    return can;
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
    sk_foreign_report(status, &found, "OpenVINO", api ? api->version : "", api ? api->path : "",
                      status == SK_OK ? usual_precisions() : 0, out);
    return SK_OK;
}

const sk_engine sk_engine_openvino = {
    .name = "openvino",
    .title = "OpenVINO on the CPU, Intel's graphics or NPU",
    .can = {.device = SK_DEVICE_CPU,
            .reads = SK_READS(SK_PLACE_HOST),
            .precisions = 1u << SK_PRECISION_F32 | 1u << SK_PRECISION_F16 | 1u << SK_PRECISION_BF16 |
                          1u << SK_PRECISION_I8,
            .usual = SK_PRECISION_F32,
            .asynchronous = true},
    .options = options,
    .probe = ov_probe,
    .supports = ov_supports,
    .open = ov_open,
    .submit = ov_submit,
    .wait = ov_wait,
    .close = ov_close,
    .form = &sk_foreign_form_onnx,
};
