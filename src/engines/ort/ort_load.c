/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"
#include "engines/ort/ort_api.h"
#include "engines/ort/ort_explain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define REMEDY                                                                                               \
    "python3 -m venv ~/.skitter-ort && ~/.skitter-ort/bin/pip install onnxruntime && "                       \
    "export SKITTER_ONNXRUNTIME=~/.skitter-ort"

static const char *const sonames[] = {"libonnxruntime.so.1", "libonnxruntime.so", NULL};
static const char *const folders[] = {"/usr/local/lib", "/opt/onnxruntime/lib", NULL};
static const sk_library_wish wish = {
    .title = "ONNX Runtime",
    .variable = "SKITTER_ONNXRUNTIME",
    .file = "libonnxruntime.so",
    .sonames = sonames,
    .package = "onnxruntime/capi",
    .folders = folders,
    .remedy = REMEDY,
};

/* A failure of NVIDIA's libraries stands behind lines of C++: "… CUDA failure 2: out of memory ; GPU=0 ; hostname=… ; expr=…". */
static const char *plain_text(const char *text, char *buffer, size_t capacity)
{
    static const char *const kinds[] = {"CUDA failure ", "CUDNN failure ", "CUBLAS failure ",
                                        "CUFFT failure "};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *found = strstr(text, kinds[i]);
        if (!found)
            continue;
        const char *expression = strstr(found, "expr=");
        const size_t reason = strcspn(found, ";");
        snprintf(buffer, capacity, "%.*s%s%.*s%s", (int)(reason < 300 ? reason : 300), found,
                 expression ? "(" : "", expression ? (int)strcspn(expression + 5, ";") : 0,
                 expression ? expression + 5 : "", expression ? ")" : "");
        return buffer;
    }
    return text;
}

sk_status ort_check(const ort_api *api, ort_status *status, const char *what, sk_error *err)
{
    if (!status)
        return SK_OK;
    char buffer[512], meaning[768];
    const char *text = api->get_error_message(status);
    const bool known = text && ort_explain(text, 0, meaning, sizeof meaning);
    sk_status code = sk_fail(err, SK_ERR_RUNTIME, "ONNX Runtime %s: %s: %s%s%s", api->version, what,
                             text ? plain_text(text, buffer, sizeof buffer) : "no reason given",
                             known ? ": " : "", known ? meaning : "");
    api->release_status(status);
    return code;
}

/* The table's functions by their positions. */
static sk_status take_functions(const void *const *table, ort_api *api, sk_error *err)
{
#define ORT_TAKE(name, position, result, arguments)                                                          \
    if (!table[position])                                                                                    \
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: function %d of ONNX Runtime %s is missing", api->path,  \
                       position, api->version);                                                              \
    memcpy(&api->name, &table[position], sizeof api->name);
    ORT_FUNCTIONS(ORT_TAKE)
#undef ORT_TAKE
    return SK_OK;
}

static void take_others(void *handle, ort_api *api)
{
    void *symbol = dlsym(handle, "OrtSessionOptionsAppendExecutionProvider_MIGraphX");
    memcpy(&api->append_migraphx_old, &symbol, sizeof symbol);
    symbol = dlsym(handle, "OrtSessionOptionsAppendExecutionProvider_ROCM");
    memcpy(&api->append_rocm_old, &symbol, sizeof symbol);
    symbol = dlsym(handle, "OrtSessionOptionsAppendExecutionProvider_CoreML");
    memcpy(&api->append_coreml_old, &symbol, sizeof symbol);
}

static void list_providers(ort_api *api)
{
    char **names = NULL;
    int count = 0;
    size_t used = 0;
    ort_status *failed = api->get_providers(&names, &count);
    if (failed) {
        api->release_status(failed);
        return;
    }
    for (int i = 0; names && i < count && used + 1 < sizeof api->providers; i++)
        used += (size_t)snprintf(api->providers + used, sizeof api->providers - used, "%s%s", i ? ", " : "",
                                 names[i]);
    failed = names ? api->release_providers(names, count) : NULL;
    if (failed)
        api->release_status(failed);
}

/* --- what the library says --- */

static _Thread_local void (*listener)(void *context, const char *message);
static _Thread_local void *listener_context;

void ort_listen(void (*fn)(void *context, const char *message), void *context)
{
    listener = fn;
    listener_context = context;
}

static void hear(void *param, int severity, const char *category, const char *id, const char *place,
                 const char *message)
{
    (void)param;
    (void)severity;
    (void)category;
    (void)id;
    (void)place;
    if (listener && message)
        listener(listener_context, message);
}

static sk_status fill(void *handle, void *context, sk_error *err)
{
    ort_api *api = context;
    const ort_api_base *(*get_base)(void) = NULL;
    void *symbol = dlsym(handle, "OrtGetApiBase");
    memcpy(&get_base, &symbol, sizeof get_base);
    const ort_api_base *base = symbol ? get_base() : NULL;
    if (!base)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: not ONNX Runtime (%s). To get it: %s", api->path,
                       symbol ? "OrtGetApiBase gives nothing" : "it has no OrtGetApiBase", REMEDY);
    const char *version = base->get_version ? base->get_version() : NULL;
    snprintf(api->version, sizeof api->version, "%.63s", version ? version : "unknown");
    int major = 0, minor = 0;
    if (sscanf(api->version, "%d.%d", &major, &minor) == 2 &&
        (major < 1 || (major == 1 && minor < ORT_INTERFACE)))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: ONNX Runtime %s is too old, 1.%d is needed. To get it: %s", api->path,
                       api->version, ORT_INTERFACE, REMEDY);
    const void *const *table = base->get_api ? base->get_api(ORT_INTERFACE) : NULL;
    if (!table)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: ONNX Runtime %s has no interface of version %d. To get it: %s", api->path,
                       api->version, ORT_INTERFACE, REMEDY);
    SK_TRY(take_functions(table, api, err));
    take_others(handle, api);
    SK_TRY(ort_check(api, api->create_env(hear, NULL, ORT_LOG_ERROR, "skitter", &api->env), "no environment",
                     err));
    list_providers(api);
    return SK_OK;
}

sk_status ort_load(const ort_api **out, sk_error *err)
{
    static sk_library_once once = {PTHREAD_MUTEX_INITIALIZER, 0};
    static ort_api loaded;
    sk_status status = sk_library_load(&wish, &once, &loaded, sizeof loaded, loaded.path, fill, err);
    *out = status == SK_OK ? &loaded : NULL;
    return status;
}
