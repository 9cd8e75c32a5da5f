/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include "base/file.h"
#include "base/object.h"
#include "server/inside.h"
#include "server/runs.h"
#include "server/pictures.h"
#include "server/views.h"

#include <stdio.h>
#include <string.h>

/* Requests a second of all clients together: a page that scrubs asks some dozens. */
#define REQUESTS_A_SECOND 500
#define REQUESTS_AT_ONCE  1500

static bool is_loopback(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

static sk_status add_roots(sk_server *server, const sk_server_settings *s, sk_error *err)
{
    for (int32_t i = 0; i < s->n_folders; i++)
        SK_TRY(sk_roots_add(&server->roots, s->folders[i], true, err));
    if (s->n_folders == 0)
        SK_TRY(sk_roots_add(&server->roots, ".", true, err));
    for (int i = 0; i < 2; i++) { /* models that come with skitter */
        char *models = sk_folder_models(i);
        if (models && sk_file_is_directory(models)) {
            sk_status status = sk_roots_add(&server->roots, models, false, err);
            sk_free(models);
            return status;
        }
        sk_free(models);
    }
    return SK_OK;
}

static sk_status find_state(sk_server *server, const char *given, sk_error *err)
{
    if (given) {
        server->state = sk_strdup(given);
    } else {
        char *cache = NULL;
        SK_TRY(sk_folder_cache(&cache, err));
        server->state = sk_path_join(cache, "serve");
        sk_free(cache);
    }
    if (!server->state)
        return sk_fail_memory(err, 64);
    return sk_folder_make(server->state, err);
}

sk_status sk_server_prepare(const sk_server_settings *s, sk_server **out, sk_error *err)
{
    sk_status status;
    const char *host = s->host ? s->host : "127.0.0.1";
    const bool loopback = is_loopback(host), tls = s->certificate && s->key;
    *out = NULL;
    if (!loopback && !(s->password && s->password[0]))
        return sk_fail(err, SK_ERR_ARG,
                       "%s is reached by other machines: a password is needed\ngive --password FILE, whose "
                       "first line is the password",
                       host);
    if (!s->certificate != !s->key)
        return sk_fail(err, SK_ERR_ARG, "--certificate and --key belong together");
    sk_server *server = sk_calloc(1, sizeof *server);
    if (!server)
        return sk_fail_memory(err, sizeof *server);
    /* all locks first, so that a close finds them */
    const bool locks = sk_rate_open(&server->rate, REQUESTS_A_SECOND, REQUESTS_AT_ONCE);
    if (!locks || !sk_probes_open(&server->probes) || pthread_mutex_init(&server->testing, NULL) != 0) {
        sk_free(server);
        return sk_fail_memory(err, sizeof *server);
    }
    if (s->doors)
        server->doors = *s->doors;
    SK_TRY_GOTO(sk_auth_open(&server->auth, host, loopback, tls, s->password, err));
    SK_TRY_GOTO(sk_events_open(&server->events, err));
    SK_TRY_GOTO(add_roots(server, s, err));
    SK_TRY_GOTO(find_state(server, s->state, err));
    SK_TRY_GOTO(sk_views_open(&server->views, err));
    SK_TRY_GOTO(sk_pictures_open(&server->pictures, err));
    SK_TRY_GOTO(sk_runs_open(server, s->program, &server->runs, err));
    if (!loopback && !tls)
        snprintf(server->notice, sizeof server->notice,
                 "nothing is encrypted: whoever is on the way between here and the browser can read and "
                 "change everything, the password too; --certificate and --key turn on TLS");
done:
    return SK_HAND_OVER(status, server, out, sk_server_close);
}

sk_status sk_server_open(const sk_server_settings *s, sk_server **out, sk_error *err)
{
    SK_TRY(sk_server_prepare(s, out, err));
    sk_server *server = *out;
    sk_status status = sk_listener_open(server, s, &server->listener, err);
    if (status != SK_OK) {
        sk_server_close(out);
        return status;
    }
    const int32_t port = sk_listener_port(server->listener);
    const bool six = strchr(server->auth.host, ':') != NULL;
    snprintf(server->link, sizeof server->link, "%s://%s%s%s:%d/?token=%s",
             server->auth.tls ? "https" : "http", six ? "[" : "", server->auth.host, six ? "]" : "", port,
             server->auth.token);
    return SK_OK;
}

const char *sk_server_link(const sk_server *server)
{
    return server->link;
}

const char *sk_server_notice(const sk_server *server)
{
    return server->notice;
}

void sk_server_close(sk_server **pointer)
{
    SK_TAKE_OR_RETURN(server, pointer);
    sk_listener_close(&server->listener);
    sk_runs_close(&server->runs);
    sk_views_close(&server->views);
    sk_pictures_close(&server->pictures);
    sk_events_close(&server->events);
    sk_auth_close(&server->auth);
    sk_roots_free(&server->roots);
    sk_probes_close(&server->probes);
    sk_rate_close(&server->rate);
    pthread_mutex_destroy(&server->testing);
    sk_free_all(server->state, server);
}
