/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_preload.h"

#include "base/text.h"
#include "engines/ort/ort_explain.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MISSING 16 /* cuBLAS, cuDNN and its parts, cuFFT, cuRAND … one is named at a time */

/* What the library says of the failure goes to its log; the status has only the result. */
typedef struct heard {
    char text[1024];
} heard;

static void hear(void *context, const char *message)
{
    heard *h = context;
    char meaning[8];
    if (!h->text[0] && ort_explain(message, 0, meaning, sizeof meaning))
        snprintf(h->text, sizeof h->text, "%s", message);
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

static sk_status explain(const ort_api *api, const ort_provider *provider, const char *meaning, sk_error *err)
{
    return sk_fail(err, SK_ERR_UNSUPPORTED, "ONNX Runtime %s in %s, its %s provider: %s", api->version,
                   api->path, provider->word, meaning);
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
        const char *text = h.text[0] ? h.text : refused.message;
        /* the same name again: it was loaded, and is not what was wanted */
        if (ort_missing_library(text, name, sizeof name) && tries < MOST_MISSING && strcmp(name, last) != 0 &&
            load_from_packages(api, name)) {
            memcpy(last, name, sizeof last);
            continue;
        }
        char meaning[768];
        if (ort_explain(text, ort_cuda_here(), meaning, sizeof meaning))
            return explain(api, provider, meaning, err);
        if (err)
            *err = refused;
        return status;
    }
}
