/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include "base/file.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const sk_library_wish *wish;
    void *handle;
    char path[4096];
    char problem[512]; /* the first file that was there and did not load: why */
} search;

static void try_file(search *s, const char *path)
{
    s->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *text = s->handle ? NULL : dlerror();
    if (s->handle) {
        struct link_map *map = NULL;
        bool known = dlinfo(s->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && map->l_name[0];
        snprintf(s->path, sizeof s->path, "%s", known ? map->l_name : path);
    } else if (text && !s->problem[0] && strchr(path, '/')) {
        snprintf(s->problem, sizeof s->problem, "%s", text);
    }
}

/* Files "<folder pattern>/<file>*", the last in order first: that is the newest version. */
static void try_folder(search *s, const char *pattern)
{
    char full[4096];
    glob_t found = {0};
    if (snprintf(full, sizeof full, "%s/%s*", pattern, s->wish->file) >= (int)sizeof full)
        return;
    if (glob(full, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !s->handle;)
            if (sk_file_is_regular(found.gl_pathv[i]))
                try_file(s, found.gl_pathv[i]);
    globfree(&found);
}

/* A folder that somebody named: the library may lie in it, in the folders of an installation, or in a Python
 * environment's package. */
static void try_root(search *s, const char *root)
{
    static const char *const inside[] = {"", "/lib", "/lib64", "/runtime/lib/intel64",
                                         "/runtime/lib/aarch64"};
    static const char *const python[] = {"/lib/python3*/site-packages/", "/lib64/python3*/site-packages/"};
    char folder[3072];
    for (size_t i = 0; i < sizeof inside / sizeof inside[0] && !s->handle; i++)
        if (snprintf(folder, sizeof folder, "%s%s", root, inside[i]) < (int)sizeof folder)
            try_folder(s, folder);
    for (size_t i = 0; i < sizeof python / sizeof python[0] && !s->handle; i++)
        if (snprintf(folder, sizeof folder, "%s%s%s", root, python[i], s->wish->package) < (int)sizeof folder)
            try_folder(s, folder);
}

/* The Python environment that the program lies in, where a wheel put it: whoever calls venv/bin/skitter means that one, whether
 * it is activated or not. */
static void try_own_environment(search *s)
{
    char *folder = sk_folder_program(), *root = folder ? sk_path_folder(folder) : NULL;
    char *mark = root ? sk_path_join(root, "pyvenv.cfg") : NULL;
    if (mark && sk_file_is_regular(mark))
        try_root(s, root);
    sk_free(mark);
    sk_free(root);
    sk_free(folder);
}

static sk_status not_found(const search *s, const char *where, sk_error *err)
{
    if (s->problem[0])
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s could not be loaded: %s", s->wish->title, s->problem);
    return sk_fail(err, SK_ERR_NOT_FOUND, "%s (%s) is not %s. To get it: %s", s->wish->title, s->wish->file,
                   where, s->wish->remedy);
}

static sk_status open_named(search *s, const char *named, sk_error *err)
{
    if (sk_file_is_directory(named)) {
        try_root(s, named);
        if (s->handle)
            return SK_OK;
        char where[512];
        snprintf(where, sizeof where, "in %.300s, which %s names", named, s->wish->variable);
        return not_found(s, where, err);
    }
    if (!sk_file_exists(named))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s=%s: there is no such file or folder; correct or unset it",
                       s->wish->variable, named);
    if (!sk_file_is_regular(named)) /* the loader would wait for a pipe's other end */
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s=%s: neither a file nor a folder; correct or unset it",
                       s->wish->variable, named);
    char *whole =
        realpath(named, NULL); /* without a slash the loader would look elsewhere than was checked here */
    try_file(s, whole ? whole : named);
    free(whole);
    return s->handle ? SK_OK : not_found(s, "there", err);
}

sk_status sk_library_open(const sk_library_wish *wish, void **handle, char *path, size_t capacity,
                          sk_error *err)
{
    static const char *const environments[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "SKITTER_RUNTIME_DIR"};
    search s = {.wish = wish};
    const char *named = getenv(wish->variable);
    if (named && named[0]) {
        SK_TRY(open_named(&s, named, err));
    } else {
        for (int i = 0; wish->sonames[i] && !s.handle; i++)
            try_file(&s, wish->sonames[i]);
        if (!s.handle)
            try_own_environment(&s);
        for (size_t i = 0; i < sizeof environments / sizeof environments[0] && !s.handle; i++) {
            const char *root = getenv(environments[i]);
            if (root && root[0] == '/') /* a relative one would mean wherever the user stands */
                try_root(&s, root);
        }
        for (int i = 0; wish->folders[i] && !s.handle; i++)
            try_folder(&s, wish->folders[i]);
        if (!s.handle)
            return not_found(&s, "on this machine", err);
    }
    *handle = s.handle;
    snprintf(path, capacity, "%s", s.path);
    return SK_OK;
}

sk_status sk_library_load(const sk_library_wish *wish, sk_library_once *once, void *api, size_t api_bytes,
                          char *path, sk_status (*fill)(void *handle, void *api, sk_error *err),
                          sk_error *err)
{
    sk_status status = SK_OK;
    pthread_mutex_lock(&once->lock);
    if (!once->ready) {
        void *handle = NULL;
        memset(api, 0, api_bytes);
        status = sk_library_open(wish, &handle, path, SK_LIBRARY_PATH, err);
        if (status == SK_OK)
            status = fill(handle, api, err);
        once->ready = status == SK_OK;
        if (!once->ready && handle)
            dlclose(handle);
    }
    pthread_mutex_unlock(&once->lock);
    return status;
}
