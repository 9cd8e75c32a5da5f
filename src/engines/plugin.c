/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/plugin.h"

#include "base/file.h"
#include "skitter/version.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SKITTER_LIBDIR
#define SKITTER_LIBDIR "/usr/local/lib"
#endif

enum { PATH = 4096, MAX_LOADED = 8 };

/* Plugins stay loaded: their engines are used until the process ends, and drivers do not like to be unloaded. */
typedef struct loaded {
    const char *engine;
    const sk_engine *table;
    char path[PATH];
} loaded;

static struct {
    pthread_mutex_t lock;
    loaded items[MAX_LOADED];
    int count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static sk_status check_table(const char *path, const char *engine, const sk_plugin *table, sk_error *err)
{
    if (!table)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: not a skitter plugin (%s gives nothing)", path,
                       SK_PLUGIN_SYMBOL);
    if (table->border != SK_BORDER_VERSION || table->size != sizeof *table || table->hash != SK_BORDER_HASH)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: a plugin of skitter %.32s with border %u-%016llx, and this is skitter %s with "
            "border %u-%016llx. Install the plugin of the same release, or build both from the same "
            "sources: make install plugin-%s",
            path, table->version ? table->version : "of an unknown version", (unsigned)table->border,
            (unsigned long long)table->hash, sk_version_text(), SK_BORDER_VERSION,
            (unsigned long long)SK_BORDER_HASH, engine);
    const sk_engine *e = table->engine;
    if (!e || !e->name || strcmp(e->name, engine) != 0 || !e->probe || !e->supports || !e->open ||
        !e->submit || !e->wait || !e->close || (e->can.replay == SK_REPLAY_CAPTURED && !e->capture))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: holds no complete engine '%s'", path, engine);
    return SK_OK;
}

sk_status sk_plugin_open_file(const char *path, const char *engine, void **handle, const sk_engine **out,
                              sk_error *err)
{
    *out = NULL;
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) {
        const char *text = dlerror();
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s could not be loaded: %s", path,
                       text ? text : "no reason given");
    }
    sk_plugin_entry_function entry = NULL;
    void *symbol = dlsym(*handle, SK_PLUGIN_SYMBOL);
    memcpy(&entry, &symbol, sizeof entry);
    const sk_plugin *table = entry ? entry() : NULL;
    sk_status status = entry ? check_table(path, engine, table, err)
                             : sk_fail(err, SK_ERR_UNSUPPORTED, "%s: not a skitter plugin (no %s in it)",
                                       path, SK_PLUGIN_SYMBOL);
    if (status != SK_OK) {
        dlclose(*handle);
        *handle = NULL;
        return status;
    }
    *out = table->engine;
    return SK_OK;
}

/* The folder of the file `path`, cut in place; false when there is none. */
static bool cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

static bool folder_of_program(char folder[PATH])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH - 1);
    if (n <= 0)
        return false;
    folder[n] = '\0';
    return cut_to_folder(folder);
}

/* Where the library lies that holds this very code; the program's folder when it is linked statically. */
static bool folder_of_code(char folder[PATH])
{
    Dl_info about;
    char *real = NULL;
    if (!dladdr((const void *)&all, &about) || !about.dli_fname || !strchr(about.dli_fname, '/') ||
        !(real = realpath(about.dli_fname, NULL)))
        return false;
    int n = snprintf(folder, PATH, "%s", real);
    free(real);
    return n < PATH && cut_to_folder(folder);
}

static bool in_folder(const char *folder, const char *below, const char *file, char path[PATH])
{
    return snprintf(path, PATH, "%s%s/%s", folder, below, file) < PATH && sk_file_is_regular(path);
}

static bool find_file(const char *file, char path[PATH])
{
    static const char *const below[] = {
        "",
        "/../lib",
        "/../lib64",
        "/../lib/skitter",
#if defined(__x86_64__)
        "/../lib/x86_64-linux-gnu"
#else
        "/../lib/aarch64-linux-gnu"
#endif
    };
    const char *named = getenv("SKITTER_PLUGIN_DIR");
    char folder[PATH];
    if (named && named[0])
        return in_folder(named, "", file, path);
    for (int k = 0; k < 2; k++) {
        if (!(k == 0 ? folder_of_code(folder) : folder_of_program(folder)))
            continue;
        for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
            if (in_folder(folder, below[i], file, path))
                return true;
    }
    return in_folder(SKITTER_LIBDIR, "", file, path);
}

static sk_status load_new(const sk_plugin_wish *wish, loaded *item, sk_error *err)
{
    if (!find_file(wish->file, item->path)) {
        const char *named = getenv("SKITTER_PLUGIN_DIR");
        char where[512];
        if (named && named[0])
            snprintf(where, sizeof where, "in %.400s, which SKITTER_PLUGIN_DIR names", named);
        else
            snprintf(where, sizeof where, "beside the program nor in " SKITTER_LIBDIR);
        return sk_fail(err, SK_ERR_NOT_FOUND, "skitter's %s plugin (%s) is not %s. To get it: %s",
                       wish->engine, wish->file, where, wish->remedy);
    }
    void *handle = NULL;
    SK_TRY(sk_plugin_open_file(item->path, wish->engine, &handle, &item->table, err));
    item->engine = wish->engine;
    return SK_OK;
}

sk_status sk_plugin_load(const sk_plugin_wish *wish, const sk_engine **out, char *path, size_t capacity,
                         sk_error *err)
{
    sk_status status = SK_OK;
    const loaded *found = NULL;
    pthread_mutex_lock(&all.lock);
    for (int i = 0; i < all.count && !found; i++)
        if (strcmp(all.items[i].engine, wish->engine) == 0)
            found = &all.items[i];
    if (!found && all.count == MAX_LOADED) {
        status = sk_fail(err, SK_ERR_LIMIT, "more than %d engine plugins in one process", (int)MAX_LOADED);
    } else if (!found) {
        status = load_new(wish, &all.items[all.count], err);
        if (status == SK_OK)
            found = &all.items[all.count++];
    }
    if (found) {
        *out = found->table;
        if (path)
            snprintf(path, capacity, "%s", found->path);
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

bool sk_plugin_has_driver(const sk_plugin_wish *wish, char *why, size_t capacity)
{
    void *handle = dlopen(wish->driver, RTLD_LAZY | RTLD_LOCAL);
    bool file = sk_file_exists(wish->device);
    if (handle)
        dlclose(handle);
    if (handle &&
        (file || !wish->device_is_needed || sk_file_exists("/dev/dxg"))) /* dxg: GPUs under Windows */
        return true;
    if (handle) {
        snprintf(why, capacity, "no %s device: %s is there, but %s is absent. To get it: %s", wish->vendor,
                 wish->driver, wish->device, wish->driver_remedy);
        return false;
    }
    snprintf(why, capacity, "no %s driver: %s cannot be loaded%s%s%s. To get it: %s", wish->vendor,
             wish->driver, file ? "" : " and ", file ? "" : wish->device, file ? "" : " is absent",
             wish->driver_remedy);
    return false;
}

sk_status sk_plugin_probe(const sk_plugin_wish *wish, sk_engine_probe *out)
{
    const sk_engine *real = NULL;
    sk_error found = {0};
    char path[PATH];
    *out = (sk_engine_probe){0};
    if (!sk_plugin_has_driver(wish, out->detail, sizeof out->detail))
        return SK_OK;
    sk_status status = sk_plugin_load(wish, &real, path, sizeof path, &found);
    if (status == SK_OK)
        status = real->probe(out, &found);
    if (status != SK_OK) {
        out->available = 0;
        snprintf(out->detail, sizeof out->detail, "%.511s", found.message);
    } else if (out->available && !out->detail[0]) {
        snprintf(out->detail, sizeof out->detail, "%.511s", path);
    }
    return SK_OK;
}
