/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "server/kinds.h"
#include "server/routes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MOST 5000

typedef struct entry {
    char *name;
    bool folder, readable;
    int64_t bytes, modified_ms;
    const char *kind;
} entry;

typedef struct listing {
    entry *items;
    size_t count, capacity;
    bool cut;
} listing;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->folder != y->folder ? (x->folder ? -1 : 1) : strverscmp(x->name, y->name);
}

static sk_status add(listing *l, int folder, const char *name, sk_error *err)
{
    struct stat s;
    if (fstatat(folder, name, &s, 0) != 0) /* a link that leads nowhere */
        return SK_OK;
    if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
        return SK_OK;
    if (l->count == ENTRIES_MOST) {
        l->cut = true;
        return SK_OK;
    }
    SK_TRY(sk_array_reserve((void **)&l->items, &l->capacity, l->count + 1, sizeof *l->items, ENTRIES_MOST,
                            err));
    entry *e = &l->items[l->count];
    *e = (entry){.folder = S_ISDIR(s.st_mode),
                 .readable = faccessat(folder, name, R_OK, 0) == 0,
                 .bytes = (int64_t)s.st_size,
                 .modified_ms = (int64_t)s.st_mtim.tv_sec * 1000}; /* told to the second */
    e->name = sk_strdup(name);
    if (!e->name)
        return sk_fail_memory(err, strlen(name));
    e->kind = e->folder ? sk_kind_of_folder(folder, name) : sk_kind_of_file(name);
    l->count++;
    return SK_OK;
}

static sk_status list(int file, bool hidden, listing *l, sk_error *err)
{
    DIR *folder = fdopendir(file);
    sk_status status = SK_OK;
    if (!folder) {
        close(file);
        return sk_fail(err, SK_ERR_IO, "the folder cannot be read: %s", strerror(errno));
    }
    for (struct dirent *e; status == SK_OK && !l->cut && (e = readdir(folder));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && (hidden || e->d_name[0] != '.'))
            status = add(l, dirfd(folder), e->d_name, err);
    closedir(folder);
    if (l->count)
        qsort(l->items, l->count, sizeof *l->items, compare);
    return status;
}

static sk_status put_entry(sk_json *j, const char *folder, const entry *e, sk_error *err)
{
    char at[SK_CLOCK_TEXT];
    char *path = sk_path_join(folder, e->name);
    if (!path)
        return sk_fail_memory(err, strlen(folder));
    sk_json_object(j);
    sk_json_key_strings(j, {"name", e->name}, {"path", path}, {"kind", e->kind},
                        {"modified", sk_clock_text(e->modified_ms, at, sizeof at)});
    sk_json_key_bools(j, {"folder", e->folder}, {"readable", e->readable});
    if (!e->folder)
        sk_json_key_int(j, "bytes", e->bytes);
    sk_json_close(j);
    sk_free(path);
    return SK_OK;
}

/* Without a path: where to begin. */
static sk_status put_roots(const sk_roots *roots, sk_reply *reply, sk_error *err)
{
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_string(&j, "path", "");
    sk_json_key_string(&j, "parent", NULL);
    sk_json_key_bool(&j, "cut", false);
    sk_json_key_array(&j, "entries");
    for (int32_t i = 0; i < roots->count; i++) {
        sk_json_object(&j);
        sk_json_key_strings(&j, {"name", roots->items[i].path}, {"path", roots->items[i].path},
                            {"kind", "folder"});
        sk_json_key_bools(&j, {"folder", true}, {"readable", true}, {"writable", roots->items[i].writable});
        sk_json_close(&j);
    }
    sk_json_close(&j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

sk_status sk_serve_files(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *path = sk_request_query(r, "path"), *hidden = sk_request_query(r, "hidden");
    listing l = {0};
    char *real = NULL, *parent = NULL;
    int file = -1;
    sk_status status;
    if (!path || !path[0])
        return put_roots(&server->roots, reply, err);
    SK_TRY_GOTO(sk_roots_resolve(&server->roots, path, &real, err));
    SK_TRY_GOTO(sk_roots_open(&server->roots, real, true, &file, err));
    SK_TRY_GOTO(list(file, hidden && strcmp(hidden, "1") == 0, &l, err));
    parent = sk_path_folder(real);
    if (!parent) {
        status = sk_fail_memory(err, strlen(real));
        goto done;
    }
    const bool within = strcmp(parent, real) != 0 && sk_roots_of(&server->roots, parent) >= 0;
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_string(&j, "path", real);
    sk_json_key_string(&j, "parent", within ? parent : ""); /* "": the list of folders */
    sk_json_key_bool(&j, "cut", l.cut);
    sk_json_key_array(&j, "entries");
    for (size_t i = 0; i < l.count; i++)
        SK_TRY_GOTO(put_entry(&j, real, &l.items[i], err));
    sk_json_close(&j);
    sk_json_close(&j);
    status = sk_json_end(&j, err);
done:
    for (size_t i = 0; i < l.count; i++)
        sk_free(l.items[i].name);
    sk_free_all(l.items, real, parent);
    return status;
}
