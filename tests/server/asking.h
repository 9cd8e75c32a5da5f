/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SERVER_ASKING_H
#define SK_TESTS_SERVER_ASKING_H

/* A server without a socket, asked as a browser or a program asks. */
#include "support/test.h"

#include "base/file.h"
#include "base/text.h"
#include "cli/serve_door.h"
#include "server/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_server *asked;

/* Folders of its own below the test's: root/, outside/, and settings and caches. */
static inline const char *place(const char *name)
{
    static char paths[8][1024];
    static int at;
    char *path = paths[at++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static inline void put(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(place(name), text, strlen(text), &err), &err);
}

static inline int open_asked(void **state)
{
    sk_error err = {0};
    (void)state;
    setenv("SKITTER_CONFIG_DIR", place("config"), 1);
    setenv("SKITTER_CACHE_DIR", place("cache"), 1);
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    mkdir(place("top"), 0700);
    mkdir(place("outside"), 0700);
    static char root[1024];
    snprintf(root, sizeof root, "%s", place("top"));
    static const char *folders[] = {root};
    sk_server_settings s = {.folders = folders,
                            .n_folders = 1,
                            .state = place("state"),
                            .doors = &sk_cli_serve_doors,
                            .program = getenv("SKITTER_TEST_BINARY")};
    assert_ok(sk_server_prepare(&s, &asked, &err), &err);
    sk_auth_set_port(&asked->auth, 8765);
    return 0;
}

static inline int close_asked(void **state)
{
    (void)state;
    sk_server_close(&asked);
    return 0;
}

typedef struct asking {
    const char *method, *target, *body;
    sk_request_headers headers;
    bool strange; /* no token is added */
} asking;

/* Of the last reply: */
static size_t asked_bytes;                     /* the body's */
static char asked_type[64], asked_header[300]; /* its kind, and the first of its own headers, "Name: value" */

/* A file that is sent, as far as a test wants it. */
static inline char *read_sent(int file)
{
    enum { MOST = 1 << 20 };
    char *bytes = sk_calloc(1, MOST + 1);
    asked_bytes = 0;
    for (ssize_t n; bytes && (n = read(file, bytes + asked_bytes, MOST - asked_bytes)) > 0;)
        asked_bytes += (size_t)n;
    return bytes;
}

/* The reply's code; its body is *text (may be null), ended by sk_free. */
static inline int ask(asking a, char **text)
{
    char bearer[128];
    sk_request r = {0};
    sk_reply reply;
    sk_error err = {0};
    sk_reply_init(&reply);
    if (text)
        *text = NULL;
    snprintf(bearer, sizeof bearer, "Bearer %s", asked->auth.token);
    if (!a.strange && !a.headers.authorization && !a.headers.cookie)
        a.headers.authorization = bearer;
    if (!a.headers.host)
        a.headers.host = "127.0.0.1:8765";
    assert_true(sk_method_find(a.method, &r.method));
    if (sk_request_target(&r, a.target, &err) != SK_OK) {
        sk_reply_error(&reply, &err);
    } else {
        r.headers = a.headers;
        r.body = a.body;
        r.body_length = a.body ? strlen(a.body) : 0;
        if (sk_routes_admit(asked, &r, &reply))
            sk_routes_serve(asked, &r, &reply);
    }
    if (text && reply.file >= 0)
        *text = read_sent(reply.file);
    else if (text)
        *text = sk_strdup(reply.bytes ? (const char *)reply.bytes : sk_text_get(&reply.text));
    const int code = reply.code;
    snprintf(asked_type, sizeof asked_type, "%s", reply.type ? reply.type : "");
    snprintf(asked_header, sizeof asked_header, "%s: %s", reply.n_headers ? reply.headers[0].name : "",
             reply.n_headers ? reply.headers[0].value : "");
    sk_request_free(&r);
    sk_reply_free(&reply);
    return code;
}

static inline int get(const char *target, char **text)
{
    return ask((asking){.method = "GET", .target = target}, text);
}

/* Asks, and finds this part in the answer. */
static inline void must_answer(const char *method, const char *target, const char *body, int code,
                               const char *part)
{
    char *text = NULL;
    const int got = ask((asking){.method = method, .target = target, .body = body}, &text);
    if (got != code || !strstr(text, part))
        fail_msg("%s %s %s: %d %s", method, target, body ? body : "", got, text);
    sk_free(text);
}

#endif
