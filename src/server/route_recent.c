/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "server/kinds.h"
#include "server/routes.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* What was chosen last, newest first, in recent.json of the state folder. */

#define KEPT       20
#define MOST_BYTES ((size_t)1 << 20)

static const char *const lists[] = {"videos", "models", "runs"};
enum { LISTS = sizeof lists / sizeof *lists };

/* The list that a path belongs to; -1: none. */
static int list_of(const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0)
        return -1;
    const char *kind = S_ISDIR(is.st_mode) ? sk_kind_of_folder(AT_FDCWD, path) : sk_kind_of_file(path);
    return strcmp(kind, "model") == 0                                                                ? 1
           : strcmp(kind, "run") == 0                                                                ? 2
           : strcmp(kind, "video") == 0 || strcmp(kind, "image") == 0 || strcmp(kind, "folder") == 0 ? 0
                                                                                                     : -1;
}

/* No list yet, or one that cannot be read, is an empty one. */
static sk_config *read_lists(const sk_server *server)
{
    sk_config *config = NULL;
    char *text = NULL, *path = sk_path_join(server->state, "recent.json");
    size_t bytes = 0;
    if (path && sk_file_read(path, MOST_BYTES, &text, &bytes, NULL) == SK_OK &&
        sk_config_open_json(text, bytes, "recent.json", &config, NULL) != SK_OK)
        config = NULL;
    sk_free_all(text, path);
    return config;
}

/* The lists with `first` (may be null) at the head of list `which`. Only what is there and may be used, when shown. */
static void put_lists(const sk_server *server, const sk_config *old, int which, const char *first, bool shown,
                      sk_json *j)
{
    sk_json_object(j);
    for (int i = 0; i < LISTS; i++) {
        const sk_config_value *list = old ? sk_config_get(sk_config_root(old), lists[i]) : NULL;
        size_t n = 0;
        sk_json_key_array(j, lists[i]);
        if (i == which && first) {
            sk_json_string(j, first);
            n++;
        }
        for (size_t k = 0; k < sk_config_count(list) && n < KEPT; k++) {
            const char *path = sk_config_text(sk_config_at(list, k));
            char *real = NULL;
            if (!path || (i == which && first && strcmp(path, first) == 0))
                continue;
            if (!shown || sk_roots_resolve(&server->roots, path, &real, NULL) == SK_OK) {
                sk_json_string(j, path);
                n++;
            }
            sk_free(real);
        }
        sk_json_close(j);
    }
    sk_json_close(j);
}

sk_status sk_serve_recent(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    (void)r;
    sk_config *old = read_lists(server);
    sk_json j = sk_reply_json(reply);
    put_lists(server, old, -1, NULL, true, &j);
    sk_config_close(&old);
    return sk_json_end(&j, err);
}

sk_status sk_serve_recent_post(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL, *old = NULL;
    char *real = NULL, *file = NULL;
    sk_text text = {.limit = MOST_BYTES};
    sk_status status;
    SK_TRY(sk_request_json(r, &body, err));
    const char *path = sk_config_text(sk_config_get(sk_config_root(body), "path"));
    if (!path) {
        status = sk_fail(err, SK_ERR_ARG, "\"path\" names what was chosen");
        goto done;
    }
    SK_TRY_GOTO(sk_roots_resolve(&server->roots, path, &real, err));
    const int which = list_of(real);
    old = read_lists(server);
    sk_json kept = sk_json_to_text(&text, 0);
    put_lists(server, old, which, which >= 0 ? real : NULL, false, &kept);
    SK_TRY_GOTO(sk_json_end(&kept, err));
    file = sk_path_join(server->state, "recent.json");
    if (!file) {
        status = sk_fail_memory(err, 0);
        goto done;
    }
    SK_TRY_GOTO(sk_file_replace(file, sk_text_get(&text), strlen(sk_text_get(&text)), err));
    sk_json j = sk_reply_json(reply);
    put_lists(server, old, which, which >= 0 ? real : NULL, true, &j);
    status = sk_json_end(&j, err);
done:
    sk_config_close(&body);
    sk_config_close(&old);
    sk_text_free(&text);
    sk_free_all(real, file);
    return status;
}
