/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/foreign/library.h"
#include "engines/ort/ort_api.h"

#include <dlfcn.h>
#include <pthread.h>
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

sk_status ort_check(const ort_api *api, ort_status *status, const char *what, sk_error *err)
{
    if (!status)
        return SK_OK;
    const char *text = api->get_error_message(status);
    sk_status code = sk_fail(err, SK_ERR_RUNTIME, "ONNX Runtime %s: %s: %s", api->version, what,
                             text ? text : "no reason given");
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

static sk_status fill(void *handle, ort_api *api, sk_error *err)
{
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
    return ort_check(api, api->create_env(ORT_LOG_ERROR, "skitter", &api->env), "no environment", err);
}

sk_status ort_load(const ort_api **out, sk_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static ort_api loaded;
    static int ready;
    sk_status status = SK_OK;
    pthread_mutex_lock(&lock);
    if (!ready) {
        void *handle = NULL;
        memset(&loaded, 0, sizeof loaded);
        status = sk_library_open(&wish, &handle, loaded.path, sizeof loaded.path, err);
        if (status == SK_OK)
            status = fill(handle, &loaded, err);
        ready = status == SK_OK;
        if (!ready && handle)
            dlclose(handle);
    }
    pthread_mutex_unlock(&lock);
    *out = status == SK_OK ? &loaded : NULL;
    return status;
}
