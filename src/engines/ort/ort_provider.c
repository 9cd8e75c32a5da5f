/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_provider.h"

#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- appending --- */

static sk_status append_cpu(const ort_api *api, ort_session_options *options, const ort_request *request,
                            sk_error *err)
{
    (void)api;
    (void)options;
    (void)request;
    (void)err;
    return SK_OK; /* always there */
}

/* Keys and values of a provider's options, in the order they are put. */
#define MOST_KEYS 8
typedef struct key_list {
    const char *keys[MOST_KEYS], *values[MOST_KEYS];
    size_t n;
} key_list;

static void put(key_list *list, const char *key, const char *value)
{
    if (list->n < MOST_KEYS) {
        list->keys[list->n] = key;
        list->values[list->n++] = value;
    }
}

static const char *option_of(const ort_request *request, const char *key, char *value, size_t capacity)
{
    return sk_options_value("onnx_cuda", sk_options_find(ort_cuda_options_table, key),
                            request->settings->options, value, capacity);
}

static sk_status append_cuda(const ort_api *api, ort_session_options *options, const ort_request *request,
                             sk_error *err)
{
    const sk_session_settings *settings = request->settings;
    char device[16], search[16], limit[16], bytes[32];
    key_list list = {0};
    snprintf(device, sizeof device, "%d", settings->device);
    option_of(request, "conv_search", search, sizeof search);
    for (char *c = search; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    snprintf(bytes, sizeof bytes, "%lld",
             strtoll(option_of(request, "memory_limit", limit, sizeof limit), NULL, 10) * 1048576);
    put(&list, "device_id", device);
    put(&list, "cudnn_conv_use_max_workspace", "1");
    put(&list, "cudnn_conv_algo_search", search);
    if (strcmp(bytes, "0") != 0)
        put(&list, "gpu_mem_limit", bytes);
    if (request->graph)
        put(&list, "enable_cuda_graph", "1");
    /* f32 is f32: no TF32 behind one's back. Libraries from before that option do not know it. */
    put(&list, "use_tf32", settings->precision == SK_PRECISION_F32 ? "0" : "1");
    ort_cuda_options *cuda = NULL;
    sk_status status;
    SK_TRY(ort_check(api, api->create_cuda_options(&cuda), "the CUDA provider", err));
    ort_status *refused = api->set_cuda_options(cuda, list.keys, list.values, list.n);
    if (refused) {
        api->release_status(refused);
        SK_TRY_GOTO(ort_check(api, api->set_cuda_options(cuda, list.keys, list.values, list.n - 1),
                              "the CUDA provider's options", err));
    }
    /* by value: as text it is left out unless another key says that it is there, and runs are on no stream of ours then */
    if (request->stream)
        SK_TRY_GOTO(ort_check(api, api->set_cuda_value(cuda, "user_compute_stream", request->stream),
                              "the CUDA provider's stream", err));
    status = ort_check(api, api->append_cuda(options, cuda), "the CUDA provider", err);
done:
    api->release_cuda_options(cuda);
    return status;
}

/* Where TensorRT's provider keeps its engines and timings; without it every start builds anew. */
static char *engine_folder(const sk_session_settings *settings)
{
    char *root = NULL, *folder = NULL;
    if (settings->cache_dir)
        folder = settings->cache_dir[0] ? sk_path_join(settings->cache_dir, "ort_tensorrt") : NULL;
    else if (sk_folder_cache(&root, NULL) == SK_OK)
        folder = sk_path_join(root, "ort_tensorrt");
    sk_free(root);
    if (folder && sk_folder_make(folder, NULL) != SK_OK) {
        sk_free(folder);
        folder = NULL;
    }
    return folder;
}

static sk_status append_tensorrt(const ort_api *api, ort_session_options *options, const ort_request *request,
                                 sk_error *err)
{
    const sk_session_settings *settings = request->settings;
    char device[16], *folder = engine_folder(settings);
    snprintf(device, sizeof device, "%d", settings->device);
    const char *keys[] = {"device_id",
                          "trt_fp16_enable",
                          "trt_engine_cache_enable",
                          "trt_timing_cache_enable",
                          "trt_engine_cache_path",
                          "trt_timing_cache_path"};
    const char *values[] = {device,
                            settings->precision == SK_PRECISION_F16 ? "1" : "0",
                            folder ? "1" : "0",
                            folder ? "1" : "0",
                            folder,
                            folder};
    ort_tensorrt_options *rt = NULL;
    sk_status status;
    SK_TRY_GOTO(ort_check(api, api->create_tensorrt_options(&rt), "the TensorRT provider", err));
    SK_TRY_GOTO(ort_check(api, api->set_tensorrt_options(rt, keys, values, folder ? 6 : 4),
                          "the TensorRT provider's options", err));
    SK_TRY_GOTO(ort_check(api, api->append_tensorrt(options, rt), "the TensorRT provider", err));
    status = append_cuda(api, options, request, err); /* for the nodes it leaves */
done:
    if (rt)
        api->release_tensorrt_options(rt);
    sk_free(folder);
    return status;
}

/* By name in newer libraries, by a function of its own in older ones. */
static sk_status append_amd(const ort_api *api, ort_session_options *options, const char *name,
                            ort_status *(*old)(ort_session_options *, int),
                            const sk_session_settings *settings, sk_error *err)
{
    char device[16], what[64];
    snprintf(device, sizeof device, "%d", settings->device);
    snprintf(what, sizeof what, "the %s provider", name);
    const char *keys[] = {"device_id", "migraphx_fp16_enable"};
    const char *values[] = {device, settings->precision == SK_PRECISION_F16 ? "1" : "0"};
    if (old)
        return ort_check(api, old(options, settings->device), what, err);
    const size_t known = strcmp(name, "MIGraphX") == 0 ? 2 : 1; /* the second key is its own */
    return ort_check(api, api->append_by_name(options, name, keys, values, known), what, err);
}

static sk_status append_migraphx(const ort_api *api, ort_session_options *options, const ort_request *request,
                                 sk_error *err)
{
    return append_amd(api, options, "MIGraphX", api->append_migraphx_old, request->settings, err);
}

static sk_status append_rocm(const ort_api *api, ort_session_options *options, const ort_request *request,
                             sk_error *err)
{
    return append_amd(api, options, "ROCM", api->append_rocm_old, request->settings, err);
}

static sk_status append_openvino(const ort_api *api, ort_session_options *options, const ort_request *request,
                                 sk_error *err)
{
    const sk_session_settings *settings = request->settings;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", settings->threads > 0 ? settings->threads : 8);
    const char *keys[] = {"device_type", "precision", "num_of_threads"};
    const char *values[] = {"CPU", "FP32", threads};
    return ort_check(api, api->append_openvino(options, keys, values, settings->threads > 0 ? 3 : 2),
                     "the OpenVINO provider", err);
}

static sk_status append_coreml(const ort_api *api, ort_session_options *options, const ort_request *request,
                               sk_error *err)
{
    (void)request;
    if (api->append_coreml_old)
        return ort_check(api, api->append_coreml_old(options, 0), "the CoreML provider", err);
    return ort_check(api, api->append_by_name(options, "CoreML", NULL, NULL, 0), "the CoreML provider", err);
}

/* In the order of choice within a runtime. MIGraphX before ROCm: libraries from 1.30 on have only the former. */
static const ort_provider providers[] = {
    {"CPU", "CPUExecutionProvider", "onnx_cpu", "onnxruntime", append_cpu, ORT_ENDS_ON_HOST, false, false},
    {"OpenVINO", "OpenVINOExecutionProvider", "onnx_cpu", "onnxruntime-openvino", append_openvino,
     ORT_ENDS_ON_HOST, false, false},
    {"CoreML", "CoreMLExecutionProvider", "onnx_cpu", "onnxruntime", append_coreml, ORT_ENDS_ON_HOST, false,
     false},
    {"CUDA", "CUDAExecutionProvider", "onnx_cuda", "onnxruntime-gpu", append_cuda, ORT_ENDS_ON_DEVICE, true,
     false},
    {"TensorRT", "TensorrtExecutionProvider", "onnx_cuda", "onnxruntime-gpu", append_tensorrt,
     ORT_ENDS_ON_DEVICE, false, false},
    {"MIGraphX", "MIGraphXExecutionProvider", "onnx_rocm", "onnxruntime-migraphx", append_migraphx,
     ORT_ENDS_BOUND_EACH_RUN, false, true},
    {"ROCm", "ROCMExecutionProvider", "onnx_rocm", "onnxruntime-rocm", append_rocm, ORT_ENDS_BOUND_EACH_RUN,
     false, false},
};
#define COUNT (sizeof providers / sizeof providers[0])

#define PROVIDER_OPTION                                                                                      \
    {                                                                                                        \
        .key = "provider", .kind = SK_ENGINE_OPTION_TEXT,                                                    \
        .choices = "CPU|OpenVINO|CoreML|CUDA|TensorRT|MIGraphX|ROCm", .changes_results = true,               \
        .changes_files = true,                                                                               \
        .help = "ONNX Runtime's execution provider; each belongs to one of the onnx runtimes"                \
    }

const sk_engine_option ort_options[] = {PROVIDER_OPTION, {0}};

const sk_engine_option ort_cuda_options_table[] = {
    PROVIDER_OPTION,
    {.key = "cuda_graph",
     .kind = SK_ENGINE_OPTION_SWITCH,
     .usual = "on",
     .help = "the whole model replayed as one CUDA graph, where all of it is on the GPU"},
    {.key = "conv_search",
     .kind = SK_ENGINE_OPTION_WORD,
     .choices = "exhaustive|heuristic|default",
     .usual = "exhaustive",
     .changes_results = true,
     .help = "how the CUDA provider chooses cuDNN's algorithms; exhaustive opens slowest and runs fastest"},
    {.key = "memory_limit",
     .kind = SK_ENGINE_OPTION_NUMBER,
     .least = 0,
     .most = 1 << 20,
     .usual = "0",
     .help = "MB of the GPU's memory that ONNX Runtime may take; 0: all of it"},
    {0}};

/* A provider by a person's word: "cuda", "CUDAExecutionProvider". */
static sk_status find_provider(const char *word, const ort_provider **out, sk_error *err)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcasecmp(word, providers[i].word) == 0 || strcasecmp(word, providers[i].listed) == 0) {
            *out = &providers[i];
            return SK_OK;
        }
    return sk_fail(err, SK_ERR_ARG,
                   "no execution provider is called '%s'; there are CPU, CUDA, TensorRT, ROCm, MIGraphX, "
                   "OpenVINO, CoreML",
                   word);
}

sk_status sk_engine_of_provider(const char *provider, const char **engine, sk_error *err)
{
    const ort_provider *found = NULL;
    SK_TRY(find_provider(provider, &found, err));
    *engine = found->runtime;
    return SK_OK;
}

bool ort_provider_listed(const ort_api *api, const ort_provider *provider)
{
    return strstr(api->providers, provider->listed) != NULL;
}

static sk_status not_built_in(const ort_api *api, const ort_provider *p, sk_error *err)
{
    if (strcmp(p->word, "CoreML") == 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "ONNX Runtime %s in %s was built without the CoreML provider, which only Macs have",
                       api->version, api->path);
    return sk_fail(
        err, SK_ERR_UNSUPPORTED,
        "ONNX Runtime %s in %s was built without the %s provider (it has %s). To get it: python3 -m venv "
        "~/.skitter-%s && ~/.skitter-%s/bin/pip install %s && export SKITTER_ONNXRUNTIME=~/.skitter-%s",
        api->version, api->path, p->word, api->providers[0] ? api->providers : "none", p->runtime, p->runtime,
        p->package, p->runtime);
}

sk_status ort_provider_choose(const ort_api *api, const char *runtime, const sk_session_settings *settings,
                              const ort_provider **out, sk_error *err)
{
    const ort_provider *first = NULL;
    char word[64];
    sk_options_value(runtime, ort_options, settings->options, word, sizeof word);
    *out = NULL;
    if (word[0]) {
        const ort_provider *p = NULL;
        SK_TRY(find_provider(word, &p, err));
        if (strcmp(p->runtime, runtime) != 0)
            return sk_fail(err, SK_ERR_ARG,
                           "the execution provider %s belongs to the compute runtime '%s', not '%s'", p->word,
                           p->runtime, runtime);
        if (api && !ort_provider_listed(api, p))
            return not_built_in(api, p, err);
        *out = p;
        return SK_OK;
    }
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(providers[i].runtime, runtime) != 0)
            continue;
        first = first ? first : &providers[i];
        /* "lists nothing" is not "has none": the CPU is always there */
        if (!api || ort_provider_listed(api, &providers[i]) || providers[i].append == append_cpu) {
            *out = &providers[i];
            return SK_OK;
        }
        if (!providers[i].or_next)
            break;
    }
    return not_built_in(api, first, err);
}

/* --- placements --- */

void ort_placement_hear(void *context, const char *message)
{
    ort_placement *p = context;
    const char *on = strstr(message, " placed on ["), *number = strstr(message, "Number of nodes: ");
    if (on && number) {
        char name[48];
        on += strlen(" placed on [");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(on, "]"), on);
        int32_t count = (int32_t)strtol(number + strlen("Number of nodes: "), NULL, 10);
        p->reading_other = strcmp(name, p->wanted) != 0;
        if (p->reading_other) {
            p->other_nodes += count;
            memcpy(p->other, name, sizeof p->other);
        } else {
            p->wanted_nodes += count;
        }
        return;
    }
    /* "  Resize (name)" */
    const char *open = strstr(message, " (");
    if (!p->reading_other || strncmp(message, "  ", 2) != 0 || !open) {
        p->reading_other = p->reading_other && strncmp(message, "  ", 2) == 0;
        return;
    }
    char op[32];
    snprintf(op, sizeof op, "%.*s", (int)(open - (message + 2)), message + 2);
    for (int32_t i = 0; i < p->n_kinds; i++)
        if (strcmp(p->kinds[i].op, op) == 0) {
            p->kinds[i].count++;
            return;
        }
    if (p->n_kinds < (int32_t)(sizeof p->kinds / sizeof p->kinds[0])) {
        memcpy(p->kinds[p->n_kinds].op, op, sizeof op);
        p->kinds[p->n_kinds++].count = 1;
    }
}

void ort_placement_text(const ort_placement *p, char *text, size_t capacity)
{
    text[0] = '\0';
    if (p->other_nodes == 0)
        return;
    size_t used = (size_t)snprintf(text, capacity, "%s runs %d of %d nodes", p->other, p->other_nodes,
                                   p->other_nodes + p->wanted_nodes);
    for (int32_t i = 0; i < p->n_kinds && used + 1 < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s x%d", i ? ", " : ": ", p->kinds[i].op,
                                 p->kinds[i].count);
}
