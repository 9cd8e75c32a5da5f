/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"
#include "base/library.h"
#include "base/log.h"
#include "engines/openvino/openvino_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY                                                                                               \
    "python3 -m venv ~/.skitter-openvino && ~/.skitter-openvino/bin/pip install openvino && "                \
    "export SKITTER_OPENVINO=~/.skitter-openvino"

static const char *const sonames[] = {"libopenvino_c.so", NULL};
static const char *const folders[] = {"/usr/lib/*-linux-gnu",
                                      "/usr/lib64",
                                      "/usr/local/lib",
                                      "/opt/intel/openvino*/runtime/lib/intel64",
                                      "/opt/intel/openvino*/runtime/lib/aarch64",
                                      NULL};
static const sk_library_wish wish = {
    .title = "OpenVINO",
    .variable = "SKITTER_OPENVINO",
    .file = "libopenvino_c.so",
    .sonames = sonames,
    .package = "openvino/libs",
    .folders = folders,
    .remedy = REMEDY,
};

sk_status ov_check(const ov_api *api, int status, const char *what, sk_error *err)
{
    if (status == 0)
        return SK_OK;
    const char *kind = api->get_error_info(status);
    const char *text = api->get_last_error ? api->get_last_error() : NULL;
    char line[400];
    snprintf(line, sizeof line, "%s", text && text[0] ? text : "no reason given");
    for (char *c = line; *c; c++)
        if (*c == '\n')
            *c = ' ';
    if (text && api->free_text)
        api->free_text(text);
    return sk_fail(err, SK_ERR_RUNTIME, "OpenVINO %s: %s: %s (%s)", api->version, what, line,
                   kind ? kind : "unknown status");
}

static void list_devices(ov_api *api)
{
    ov_devices found = {0};
    size_t used = 0;
    if (api->get_devices(api->core, &found) != 0)
        return;
    for (size_t i = 0; i < found.count && used + 1 < sizeof api->devices; i++)
        used += (size_t)snprintf(api->devices + used, sizeof api->devices - used, "%s%s", i ? ", " : "",
                                 found.names[i]);
    api->free_devices(&found);
}

static sk_status fill(void *handle, void *context, sk_error *err)
{
    ov_api *api = context;
    void *symbol;
#define OV_TAKE(name, text, result, arguments)                                                               \
    symbol = dlsym(handle, #text);                                                                           \
    if (!symbol)                                                                                             \
        return sk_fail(err, SK_ERR_UNSUPPORTED,                                                              \
                       "%s: not OpenVINO, or an old one: it has no %s. To get it: %s", api->path, #text,     \
                       REMEDY);                                                                              \
    memcpy(&api->name, &symbol, sizeof api->name);
    OV_FUNCTIONS(OV_TAKE)
#undef OV_TAKE
    symbol = dlsym(handle, "ov_get_last_err_msg");
    memcpy(&api->get_last_error, &symbol, sizeof api->get_last_error);
    symbol = dlsym(handle, "ov_free");
    memcpy(&api->free_text, &symbol, sizeof api->free_text);
    symbol = dlsym(handle, "ov_core_get_property");
    memcpy(&api->get_property, &symbol, sizeof api->get_property);
    ov_version version = {0};
    snprintf(api->version, sizeof api->version, "unknown");
    if (api->get_version(&version) == 0) {
        /* "2026.4.0-21877-…": people know the first part. */
        if (version.build)
            snprintf(api->version, sizeof api->version, "%.*s", (int)strcspn(version.build, "-"),
                     version.build);
        api->free_version(&version);
    }
    SK_TRY(ov_check(api, api->create_core(&api->core), "no core", err));
    list_devices(api);
    return SK_OK;
}

/* OpenVINO's kernels take the shape of AMX's tiles from the processor's description of itself. Where a virtual machine leaves that out,
 * the first network in eight bits or bf16 ends the process with an illegal instruction; without AMX it runs. */
static void avoid_hidden_tiles(void)
{
    static const char limit[] = "ONEDNN_MAX_CPU_ISA";
    if (!sk_cpu_hides_tiles() || getenv(limit))
        return;
    setenv(limit, "AVX512_CORE_FP16", 0);
    sk_log(SK_LOG_INFO,
           "this machine does not tell the size of its AMX tiles, which OpenVINO needs: it goes without (%s)",
           limit);
}

sk_status ov_load(const ov_api **out, sk_error *err)
{
    static pthread_once_t before = PTHREAD_ONCE_INIT;
    pthread_once(&before, avoid_hidden_tiles);
    static sk_library_once once = {PTHREAD_MUTEX_INITIALIZER, 0};
    static ov_api loaded;
    sk_status status = sk_library_load(&wish, &once, &loaded, sizeof loaded, loaded.path, fill, err);
    *out = status == SK_OK ? &loaded : NULL;
    return status;
}
