/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/file.h"
#include "cli/serve_door.h"
#include "mutate.h"
#include "server/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Requests through the table of routes, without a socket: a line with method and target, headers a line each, an empty line, the
 * body. "authorization: ok" stands for the right token. Whatever is asked: an answer comes, what is JSON is whole, and what lies
 * outside the folders is neither told nor changed. Nothing is started: the program is not there, and the probes are known. */

#define SECRET "the secret that lies outside"

static char work[256], root[300], outside[300], state[300], secret[340];

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    SK_FUZZ_CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Once a process; removed at its end. */
static void remove_all(void)
{
    char line[400];
    snprintf(line, sizeof line, "rm -rf '%s'", work);
    (void)!system(line); /* NOLINT: a folder of our own making */
}

static void prepare(void)
{
    char path[400];
    if (work[0])
        return;
    const char *tmp = getenv("TMPDIR");
    snprintf(work, sizeof work, "%.200s/skitter-http-XXXXXX", tmp ? tmp : "/tmp");
    SK_FUZZ_CHECK(mkdtemp(work));
    atexit(remove_all);
    snprintf(root, sizeof root, "%s/root", work);
    snprintf(outside, sizeof outside, "%s/outside", work);
    snprintf(state, sizeof state, "%s/state", work);
    snprintf(secret, sizeof secret, "%s/secret.csv", outside);
    SK_FUZZ_CHECK(mkdir(root, 0700) == 0 && mkdir(outside, 0700) == 0);
    put(secret, SECRET);
    snprintf(path, sizeof path, "%s/a.csv", root);
    put(path, "inside");
    snprintf(path, sizeof path, "%s/out", root);
    SK_FUZZ_CHECK(symlink(outside, path) == 0);
    snprintf(path, sizeof path, "%s/run.json", outside);
    put(path, "{}");
    snprintf(path, sizeof path, "%s/config", work);
    setenv("SKITTER_CONFIG_DIR", path, 1);
    snprintf(path, sizeof path, "%s/cache", work);
    setenv("SKITTER_CACHE_DIR", path, 1);
    setenv("SKITTER_MODELS", outside, 1); /* no demo */
}

static sk_server *open_server(void)
{
    const char *folders[] = {root};
    sk_server *server = NULL;
    const sk_server_settings s = {.folders = folders,
                                  .n_folders = 1,
                                  .state = state,
                                  .doors = &sk_cli_serve_doors,
                                  .password = "pass",
                                  .program = "/nonexistent/skitter"};
    if (sk_server_prepare(&s, &server, NULL) != SK_OK)
        return NULL;
    sk_auth_set_port(&server->auth, 8765);
    server->probes.known = true;
    server->probes.at_ns = INT64_MAX;
    return server;
}

static void take_header(const sk_server *server, char *line, sk_request_headers *h, char *bearer,
                        size_t capacity)
{
    static const struct {
        const char *name;
        size_t at;
    } known[] = {{"host", offsetof(sk_request_headers, host)},
                 {"origin", offsetof(sk_request_headers, origin)},
                 {"authorization", offsetof(sk_request_headers, authorization)},
                 {"cookie", offsetof(sk_request_headers, cookie)},
                 {"sec-fetch-site", offsetof(sk_request_headers, fetch_site)},
                 {"x-skitter", offsetof(sk_request_headers, custom)},
                 {"content-type", offsetof(sk_request_headers, content_type)},
                 {"if-none-match", offsetof(sk_request_headers, known_tag)},
                 {"last-event-id", offsetof(sk_request_headers, last_event)}};
    char *colon = strchr(line, ':');
    if (!colon)
        return;
    *colon = '\0';
    char *value = colon + 1 + (colon[1] == ' ');
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(line, known[i].name) == 0) {
            const char *text = value;
            if (strcmp(known[i].name, "authorization") == 0 && strcmp(value, "ok") == 0) {
                snprintf(bearer, capacity, "Bearer %s", server->auth.token);
                text = bearer;
            }
            memcpy((char *)h + known[i].at, &text, sizeof text);
        }
}

static void check_reply(const sk_reply *reply)
{
    const char *body = reply->bytes ? reply->bytes : sk_text_get(&reply->text);
    const size_t length = reply->bytes ? reply->n_bytes : reply->text.length;
    SK_FUZZ_CHECK(reply->code >= 200 && reply->code < 600);
    SK_FUZZ_CHECK(!memmem(body, length, SECRET, strlen(SECRET)));
    if (reply->file >= 0) {
        char text[256] = "";
        (void)!read(reply->file, text, sizeof text - 1);
        SK_FUZZ_CHECK(!strstr(text, SECRET));
    }
    if (!reply->stream && reply->file < 0 && !reply->blob && reply->type &&
        strcmp(reply->type, "application/json") == 0) {
        sk_config *json = NULL;
        SK_FUZZ_CHECK(sk_config_open_json(body, length, "reply", &json, NULL) == SK_OK);
        sk_config_close(&json);
    }
}

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(http, data, size)
{
    char bearer[128], *text = sk_strndup((const char *)data, size), *line = text;
    prepare();
    if (memmem(data, size, SECRET, strlen(SECRET))) { /* one that knows it may be told it */
        sk_free(text);
        return;
    }
    sk_server *server = text ? open_server() : NULL;
    sk_request r = {.headers.host = "127.0.0.1:8765"};
    sk_reply reply;
    sk_reply_init(&reply);
    if (server) {
        char *space = line + strcspn(line, " \n"), *end = line + strcspn(line, "\n"),
             *next = *end ? end + 1 : end;
        *end = '\0';
        const char *target = *space && space < end ? space + 1 : "/";
        *space = '\0';
        if (!sk_method_find(line, &r.method))
            r.method = SK_METHOD_GET;
        while (*next && *next != '\n') {
            end = next + strcspn(next, "\n");
            char *after = *end ? end + 1 : end;
            *end = '\0';
            take_header(server, next, &r.headers, bearer, sizeof bearer);
            next = after;
        }
        r.body = *next ? next + 1 : next;
        r.body_length = size - (size_t)(r.body - text);
        r.body_length = r.body_length > SK_REQUEST_BODY ? SK_REQUEST_BODY : r.body_length;
        sk_error err = {0};
        if (sk_request_target(&r, target, &err) != SK_OK) {
            SK_FUZZ_CHECK(err.message[0]);
            sk_reply_error(&reply, &err);
        } else if (sk_routes_admit(server, &r, &reply)) {
            sk_routes_serve(server, &r, &reply);
        }
        check_reply(&reply);
        SK_FUZZ_CHECK(sk_file_size(secret) == (int64_t)strlen(SECRET));
    }
    sk_request_free(&r);
    sk_reply_free(&reply);
    sk_server_close(&server);
    sk_free(text);
}
