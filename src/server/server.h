/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_SERVER_H
#define SK_SERVER_SERVER_H

#include "base/json_write.h"

#include <stdbool.h>
#include <stdint.h>

/* The page for people who do not live in a terminal: an HTTP server on this machine that shows folders, starts runs as
 * processes of the same program and looks at their results. docs/serve.md has what it promises. */

typedef struct sk_server sk_server;

/* What only the command line knows, and the server shows: the options of commands, from their own tables. */
typedef struct sk_server_doors {
    /* Every option of the command ("track", "predict") as members of an array that is open. False: no such command. */
    bool (*options)(const char *command, sk_json *json);
    /* What an option takes: '-' nothing, 'f' a file, 'd' a folder, 'v' another value; 0: there is none of this name. */
    char (*kind)(const char *command, const char *option);
    /* The option's default as a person would type it; null: none. */
    const char *(*fallback)(const char *command, const char *option);
    /* Would the command take these words? The text of the error is the command line's own. */
    sk_status (*check)(const char *command, int n_words, const char *const *words, sk_error *err);
} sk_server_doors;

typedef struct sk_server_settings {
    const char *host; /* null: 127.0.0.1. Others than this machine's own need a password */
    int32_t port;     /* 0: any that is free */
    const char *password;
    const char *certificate, *key; /* PEM files; null: no TLS */
    const char *const *folders;    /* that may be used; none: the current one */
    int32_t n_folders;
    const char *state; /* folder for the list of runs; null: in the user's cache folder */
    const sk_server_doors *doors;
    const char *program; /* that runs are started with; null: this very one */
} sk_server_settings;

/* Listens when it returns. Settings are copied but for the doors. SK_ERR_UNSUPPORTED in builds without libmicrohttpd. */
sk_status sk_server_open(const sk_server_settings *settings, sk_server **out, sk_error *err) SK_MUST_CHECK;
/* The link with the token, for the browser. */
const char *sk_server_link(const sk_server *server);
/* "" or what the person should know: that nothing is encrypted. */
const char *sk_server_notice(const sk_server *server);
/* No new requests; those under way are answered; runs go on by themselves. */
void sk_server_close(sk_server **server);

#endif
