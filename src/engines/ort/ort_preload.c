/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_preload.h"

#include "base/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MISSING 16 /* cuBLAS, cuDNN and its parts, cuFFT, cuRAND … one is named at a time */

/* Libraries of NVIDIA that a provider is linked to, and what people call them. `of_cuda`: the number behind .so. is CUDA's. */
static const struct {
    const char *begins, *title;
    bool of_cuda;
} known[] = {
    {"libcudnn", "cuDNN", false},          {"libcublas", "cuBLAS", true},
    {"libcudart", "CUDA's runtime", true}, {"libcufft", "cuFFT", false},
    {"libcurand", "cuRAND", false},        {"libnvrtc", "CUDA's compiler", true},
    {"libnvinfer", "TensorRT", false},     {"libnvonnxparser", "TensorRT's ONNX parser", false},
};
#define N_KNOWN (sizeof known / sizeof known[0])

/* What the library says of the failure goes to its log; the status has only the result. */
typedef struct heard {
    char text[1024];
} heard;

static void hear(void *context, const char *message)
{
    heard *h = context;
    if (!h->text[0] && strstr(message, "cannot open shared object"))
        snprintf(h->text, sizeof h->text, "%s", message);
}

bool ort_missing_library(const char *message, char *name, size_t capacity)
{
    const char *end = strstr(message, ": cannot open shared object");
    if (!end)
        return false;
    const char *begin = end;
    while (begin > message && (isalnum((unsigned char)begin[-1]) || strchr("._-+", begin[-1])))
        begin--;
    if (strncmp(begin, "lib", 3) != 0 || (size_t)(end - begin) >= capacity)
        return false;
    snprintf(name, capacity, "%.*s", (int)(end - begin), begin);
    return true;
}

/* …/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1 -> …/site-packages/nvidia/<any>/lib/<name> */
static bool load_from_packages(const ort_api *api, const char *name)
{
    char pattern[4400];
    const char *end = strstr(api->path, "/onnxruntime/capi/");
    glob_t found = {0};
    bool loaded = false;
    if (!end)
        return false;
    snprintf(pattern, sizeof pattern, "%.*s/nvidia/*/lib/%s", (int)(end - api->path), api->path, name);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !loaded; i++)
            loaded =
                dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL) != NULL; /* kept: the provider needs it */
    globfree(&found);
    return loaded;
}

static sk_status say_missing(const ort_api *api, const ort_provider *provider, const char *name,
                             sk_error *err)
{
    char what[96] = "a library";
    const char *number = strstr(name, ".so.");
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strncmp(name, known[i].begins, strlen(known[i].begins)) == 0)
            snprintf(what, sizeof what, "%s %s%.*s", known[i].title, known[i].of_cuda ? "of CUDA " : "",
                     number ? (int)strcspn(number + 4, ".") : 0, number ? number + 4 : "");
    return sk_fail(
        err, SK_ERR_UNSUPPORTED,
        "ONNX Runtime %s: the %s provider in %s was built for %s: %s is not on this machine, or not the "
        "version it wants. To get it: pip install 'onnxruntime-gpu[cuda,cudnn]' into that Python "
        "environment, or install it for the whole system and run ldconfig",
        api->version, provider->word, api->path, what, name);
}

sk_status ort_preload_and_append(const ort_api *api, const ort_provider *provider,
                                 ort_session_options *options, const ort_request *request, sk_error *err)
{
    char last[128] = "";
    for (int tries = 0;; tries++) {
        heard h = {""};
        sk_error refused = {0};
        char name[128];
        ort_listen(hear, &h);
        sk_status status = provider->append(api, options, request, &refused);
        ort_listen(NULL, NULL);
        if (status == SK_OK)
            return SK_OK;
        if (!ort_missing_library(h.text, name, sizeof name) &&
            !ort_missing_library(refused.message, name, sizeof name)) {
            if (err)
                *err = refused;
            return status;
        }
        /* the same name again: it was loaded, and is not what was wanted */
        if (tries >= MOST_MISSING || strcmp(name, last) == 0 || !load_from_packages(api, name))
            return say_missing(api, provider, name, err);
        memcpy(last, name, sizeof last);
    }
}
