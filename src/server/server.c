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
#include <unistd.h>

/* Requests a second of all clients together: a page that scrubs asks some dozens. */
#define REQUESTS_A_SECOND 500
#define REQUESTS_AT_ONCE  1500

#define SERVERS_MOST      32 /* of one user */

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

/* Makes the folder and holds it. SK_ERR_BUSY: another server does. */
static sk_status hold_state(sk_server *server, const char *folder, sk_error *err)
{
    SK_TRY(sk_folder_make(folder, err));
    char *lock = sk_path_join(folder, "lock");
    sk_status status = lock ? sk_lock_open(lock, 0, &server->state_lock, NULL, err) : sk_fail_memory(err, 64);
    sk_free(lock);
    if (status != SK_OK)
        return status;
    server->state = sk_strdup(folder);
    return server->state ? SK_OK : sk_fail_memory(err, strlen(folder));
}

/* serve/ in the user's cache folder, or serve-2/ beside another server, and so on. */
static sk_status find_state(sk_server *server, const char *given, sk_error *err)
{
    char *cache = NULL;
    if (given)
        return hold_state(server, given, err);
    SK_TRY(sk_folder_cache(&cache, err));
    sk_status status = SK_ERR_BUSY;
    for (int i = 1; i <= SERVERS_MOST && status == SK_ERR_BUSY; i++) {
        char name[32] = "serve";
        if (i > 1)
            snprintf(name, sizeof name, "serve-%d", i);
        char *folder = sk_path_join(cache, name);
        status = folder ? hold_state(server, folder, err) : sk_fail_memory(err, 64);
        sk_free(folder);
    }
    sk_free(cache);
    return status;
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

unsigned sk_server_connections(uint64_t descriptors)
{
    if (descriptors >= SK_CONNECTIONS_MOST + SK_DESCRIPTORS_BESIDES)
        return SK_CONNECTIONS_MOST;
    const unsigned half = (unsigned)descriptors / 2;
    return half > SK_CONNECTIONS_LEAST ? half : SK_CONNECTIONS_LEAST;
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
    const bool any = strcmp(server->auth.host, "0.0.0.0") == 0 || strcmp(server->auth.host, "::") == 0;
    char host[256] = "";
    if (!any || gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "%s", server->auth.host);
    const bool six = strchr(host, ':') != NULL;
    snprintf(server->link, sizeof server->link, "%s://%s%s%s:%d/?token=%s",
             server->auth.tls ? "https" : "http", six ? "[" : "", host, six ? "]" : "", port,
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
    sk_lock_close(&server->state_lock);
    sk_free_all(server->state, server);
}
