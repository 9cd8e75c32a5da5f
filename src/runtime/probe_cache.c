/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe found, kept for the next start. Only good news of a library is kept: bad news may be cured any moment,
 * and asking again costs little when there is nothing to load. */
#include "base/file.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "formats/config.h"
#include "runtime/probe.h"
#include "skitter/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEY 160

/* Drivers and devices come and go without the library changing. */
static uint64_t add_machine(uint64_t hash)
{
    static const char *const devices[] = {"/dev/nvidia0", "/dev/kfd", "/dev/dri/renderD128",
                                          "/dev/accel/accel0"};
    static const char *const drivers[] = {"/proc/driver/nvidia/version", "/sys/module/amdgpu/version"};
    char bytes[4096];
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        const bool there = sk_file_exists(devices[i]);
        hash = sk_hash_xxh3(&there, sizeof there, hash);
    }
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        FILE *file = fopen(drivers[i], "re"); /* such files have no length of their own */
        size_t got = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file)
            fclose(file);
        hash = sk_hash_xxh3(bytes, got, hash);
    }
    return hash;
}

/* The library as it lies on disk, and what steers the search for it. False when it is gone. */
static bool make_key(const char *library, char key[KEY])
{
    static const char *const variables[] = {"VIRTUAL_ENV",         "CONDA_PREFIX",      "SKITTER_RUNTIME_DIR",
                                            "SKITTER_ONNXRUNTIME", "SKITTER_OPENVINO",  "LD_LIBRARY_PATH",
                                            "SKITTER_TENSORRT",    "SKITTER_PLUGIN_DIR"};
    struct stat info;
    if (stat(library, &info) != 0)
        return false;
    uint64_t environment = 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        value = value ? value : "";
        environment = sk_hash_xxh3(value, strlen(value) + 1, environment);
    }
    environment = add_machine(environment);
    snprintf(key, KEY, "skitter %s size %" PRId64 " mtime %" PRId64 ".%09ld env %016" PRIx64,
             sk_version_text(), (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
             (long)info.st_mtim.tv_nsec, environment);
    return true;
}

static char *cache_path(sk_runtime runtime)
{
    char *folder = NULL;
    char name[48];
    if (sk_folder_cache(&folder, NULL) != SK_OK)
        return NULL;
    snprintf(name, sizeof name, "probe-%s.json", sk_runtime_name(runtime));
    char *path = sk_path_join(folder, name);
    sk_free(folder);
    return path;
}

static void copy(const sk_config_value *root, const char *key, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s", sk_config_text_or(root, key, ""));
}

static bool take(const sk_config_value *root, sk_runtime runtime, sk_probe_row *row)
{
    char key[KEY];
    const char *library = sk_config_text_or(root, "library", "");
    if (!library[0] || !make_key(library, key) || strcmp(sk_config_text_or(root, "key", ""), key) != 0)
        return false;
    memset(row, 0, sizeof *row);
    row->runtime = runtime;
    row->available = row->cached = true;
    copy(root, "library", row->library, sizeof row->library);
    copy(root, "version", row->version, sizeof row->version);
    copy(root, "reason", row->reason, sizeof row->reason);
    const int64_t precisions = sk_config_int_or(root, "precisions", 0);
    row->precisions = precisions > 0 && precisions <= UINT32_MAX ? (uint32_t)precisions : 0;
    const sk_config_value *devices = sk_config_get(root, "devices");
    for (size_t i = 0; i < sk_config_count(devices) && i < SK_ENGINE_MAX_DEVICES; i++) {
        const char *name = sk_config_text(sk_config_at(devices, i));
        snprintf(row->devices[row->n_devices++], sizeof row->devices[0], "%s", name ? name : "");
    }
    return true;
}

bool sk_probe_cache_read(sk_runtime runtime, sk_probe_row *row)
{
    char *path = cache_path(runtime), *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    bool good = path && sk_file_read_own(path, 65536, &text, &bytes, NULL) == SK_OK &&
                sk_config_open_json(text, bytes, path, &config, NULL) == SK_OK &&
                take(sk_config_root(config), runtime, row);
    sk_config_close(&config);
    sk_free(text);
    sk_free(path);
    return good;
}

void sk_probe_cache_write(const sk_probe_row *row)
{
    char key[KEY], *path = cache_path(row->runtime);
    if (path && make_key(row->library, key)) {
        sk_text text = {0};
        sk_json json = sk_json_to_text(&text, 2);
        sk_json_object(&json);
        sk_json_key_strings(&json, {"key", key}, {"library", row->library}, {"version", row->version},
                            {"reason", row->reason});
        sk_json_key_int(&json, "precisions", row->precisions);
        sk_json_key_array(&json, "devices");
        for (int32_t i = 0; i < row->n_devices; i++)
            sk_json_string(&json, row->devices[i]);
        sk_json_close(&json);
        sk_json_close(&json);
        if (sk_json_end(&json, NULL) == SK_OK)
            (void)!sk_file_replace(path, text.data, text.length, NULL);
        sk_text_free(&text);
    }
    sk_free(path);
}
