/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes.h"

#include "server/page_files.h"

#include <stdio.h>
#include <string.h>

static const sk_route routes[] = {
    {SK_METHOD_GET, "about", sk_serve_about},
    {SK_METHOD_POST, "command", sk_serve_command},
    {SK_METHOD_GET, "config", sk_serve_config},
    {SK_METHOD_POST, "config", sk_serve_config_save},
    {SK_METHOD_POST, "demo", sk_serve_demo},
    {SK_METHOD_GET, "doctor", sk_serve_doctor},
    {SK_METHOD_GET, "events", sk_serve_events},
    {SK_METHOD_GET, "files", sk_serve_files},
    {SK_METHOD_GET, "frame", sk_serve_frame},
    {SK_METHOD_GET, "probe", sk_serve_probe},
    {SK_METHOD_GET, "recent", sk_serve_recent},
    {SK_METHOD_POST, "recent", sk_serve_recent_post},
    {SK_METHOD_GET, "runs", sk_serve_runs},
    {SK_METHOD_POST, "runs", sk_serve_run_start},
    {SK_METHOD_GET, "runs/{id}", sk_serve_run},
    {SK_METHOD_DELETE, "runs/{id}", sk_serve_run_remove},
    {SK_METHOD_POST, "runs/{id}/continue", sk_serve_run_continue},
    {SK_METHOD_GET, "runs/{id}/preview.jpg", sk_serve_run_preview},
    {SK_METHOD_POST, "runs/{id}/stop", sk_serve_run_stop},
    {SK_METHOD_PUT, "runtime", sk_serve_runtime_put},
    {SK_METHOD_POST, "runtime/reset", sk_serve_runtime_reset},
    {SK_METHOD_GET, "runtimes", sk_serve_runtimes},
    {SK_METHOD_GET, "settings", sk_serve_settings},
    {SK_METHOD_POST, "test-frame", sk_serve_test_frame},
    {SK_METHOD_GET, "troubleshooting", sk_serve_troubleshooting},
    {SK_METHOD_GET, "view", sk_serve_view},
    {SK_METHOD_POST, "view/corrections", sk_serve_view_correct},
    {SK_METHOD_GET, "view/download", sk_serve_view_download},
    {SK_METHOD_GET, "view/frame.jpg", sk_serve_view_picture},
    {SK_METHOD_GET, "view/frames", sk_serve_view_frames},
    {SK_METHOD_POST, "view/redo", sk_serve_view_redo},
    {SK_METHOD_POST, "view/save", sk_serve_view_save},
    {SK_METHOD_GET, "view/series", sk_serve_view_series},
    {SK_METHOD_GET, "view/suspects", sk_serve_view_suspects},
    {SK_METHOD_GET, "view/tracks", sk_serve_view_tracks},
    {SK_METHOD_POST, "view/undo", sk_serve_view_undo},
};

const sk_route *sk_route_at(size_t index)
{
    return index < sizeof routes / sizeof *routes ? &routes[index] : NULL;
}

const char *sk_routes_policy(const sk_reply *reply)
{
    return reply->policy
               ? reply->policy
               : "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src "
                 "'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

const char *const *sk_routes_headers(void)
{
    static const char *const headers[] = {"X-Content-Type-Options",
                                          "nosniff",
                                          "X-Frame-Options",
                                          "DENY",
                                          "Referrer-Policy",
                                          "no-referrer",
                                          "Cross-Origin-Resource-Policy",
                                          "same-origin",
                                          "Cross-Origin-Opener-Policy",
                                          "same-origin",
                                          "Permissions-Policy",
                                          "camera=(), microphone=(), geolocation=()",
                                          NULL};
    return headers;
}

/* --- the door --- */

static const char login_begin[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>skitter</title>"
    "<meta name=\"viewport\" content=\"width=device-width\"><h1>skitter</h1>";
static const char login_form[] =
    "<form method=\"post\" action=\"/login\"><label>Password <input type=\"password\" name=\"password\" "
    "autocomplete=\"current-password\" required autofocus></label> <button>Open</button></form>";

/* For a browser that comes without a token: words, or a place for the password. */
static void show_door(const sk_auth *auth, sk_admission verdict, bool tried, sk_reply *reply)
{
    sk_auth_refuse(auth, verdict, reply);
    sk_text_free(&reply->text);
    reply->bytes = NULL;
    reply->type = "text/html; charset=utf-8";
    reply->policy = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
    sk_text_append(&reply->text, login_begin);
    if (verdict == SK_ADMIT_TOO_OFTEN)
        sk_text_append(&reply->text, "<p>Too many wrong attempts. Wait some seconds, then reload.</p>");
    else if (tried)
        sk_text_append(&reply->text, "<p role=\"alert\">That is not the password.</p>");
    if (auth->has_password)
        sk_text_append(&reply->text, login_form);
    else
        sk_text_append(&reply->text, "<p>Open the link that <code>skitter serve</code> printed in its "
                                     "terminal. It ends in <code>?token=…</code></p>");
}

static bool is_api(const sk_request *r)
{
    return strncmp(r->path, "/api/", 5) == 0;
}

static bool is_login(const sk_request *r)
{
    return r->method == SK_METHOD_POST && strcmp(r->path, "/login") == 0;
}

bool sk_routes_admit(sk_server *server, const sk_request *r, sk_reply *reply)
{
    sk_auth *auth = &server->auth;
    const char *token = sk_request_query(r, "token");
    if (!sk_rate_take(&server->rate)) {
        sk_error error = {.code = SK_ERR_BUSY, .message = "too many requests at once\nwait a moment"};
        reply->code = 429;
        sk_reply_header_add(reply, "Retry-After", "1");
        sk_reply_error(reply, &error);
        return false;
    }
    sk_admission verdict;
    if (is_login(r)) {
        verdict = sk_auth_judge_place(auth, r);
    } else if (token && r->method == SK_METHOD_GET && strcmp(r->path, "/") == 0) {
        verdict = sk_auth_judge_place(auth, r);
        if (verdict == SK_ADMIT_IN)
            verdict = sk_auth_try_token(auth, token, strlen(token));
        if (verdict == SK_ADMIT_IN) {
            sk_auth_admit(auth, reply);
            return false; /* answered: the clean address follows */
        }
    } else {
        verdict = sk_auth_judge(auth, r, r->method != SK_METHOD_GET);
    }
    if (verdict == SK_ADMIT_IN)
        return true;
    if (!is_api(r) && (verdict == SK_ADMIT_NO_TOKEN || verdict == SK_ADMIT_TOO_OFTEN))
        show_door(auth, verdict, false, reply);
    else
        sk_auth_refuse(auth, verdict, reply);
    return false;
}

/* The form's only field. */
static void serve_login(sk_server *server, const sk_request *r, sk_reply *reply)
{
    sk_request form = {0};
    sk_text target = {.limit = 4096};
    sk_admission verdict = SK_ADMIT_NO_TOKEN;
    sk_text_append(&target, "/?");
    sk_text_append_bytes(&target, r->body ? r->body : "", r->body_length);
    if (target.failed == SK_OK && sk_request_target(&form, sk_text_get(&target), NULL) == SK_OK) {
        const char *password = sk_request_query(&form, "password");
        verdict = password ? sk_auth_try_password(&server->auth, password) : SK_ADMIT_NO_TOKEN;
    }
    if (verdict == SK_ADMIT_IN)
        sk_auth_admit(&server->auth, reply);
    else
        show_door(&server->auth, verdict, true, reply);
    sk_request_free(&form);
    sk_text_free(&target);
}

/* --- finding --- */

/* Does the path fit the route's? Parts in {…} are put into *memory, which has room for the path. */
static bool fits(const char *pattern, const char *path, char *memory, const char *part[SK_ROUTE_PARTS])
{
    size_t n = 0;
    while (*pattern || *path) {
        const size_t want = strcspn(pattern, "/"), have = strcspn(path, "/");
        if (pattern[0] == '{' && have > 0 && n < SK_ROUTE_PARTS) {
            memcpy(memory, path, have);
            memory[have] = '\0';
            part[n++] = memory;
            memory += have + 1;
        } else if (want != have || memcmp(pattern, path, want) != 0) {
            return false;
        }
        pattern += want;
        path += have;
        if (*pattern != *path)
            return false;
        pattern += *pattern == '/';
        path += *path == '/';
    }
    return true;
}

static sk_status serve_api(sk_server *server, sk_request *r, sk_reply *reply, sk_error *err)
{
    char allowed[64] = "";
    const size_t n = strlen(SK_API_PREFIX);
    const char *path = strncmp(r->path, SK_API_PREFIX, n) == 0 ? r->path + n : "?";
    r->part_memory = sk_malloc(strlen(path) + SK_ROUTE_PARTS + 1);
    if (!r->part_memory)
        return sk_fail_memory(err, strlen(path));
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!fits(routes[i].path, path, r->part_memory, r->part))
            continue;
        if (routes[i].method == r->method)
            return routes[i].serve(server, r, reply, err);
        snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), "%s%s", allowed[0] ? ", " : "",
                 sk_method_name(routes[i].method));
    }
    if (!allowed[0])
        return sk_fail(err, SK_ERR_NOT_FOUND,
                       "%.200s: there is no such thing here\nGET "
                       "/api/v1/openapi.yaml lists what there is",
                       r->path);
    reply->code = 405;
    sk_reply_header_add(reply, "Allow", allowed);
    return sk_fail(err, SK_ERR_ARG, "%.200s: only %s", r->path, allowed);
}

static sk_status serve_page(const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *name = r->path[1] ? r->path + 1 : "index.html";
    if (r->method != SK_METHOD_GET) {
        reply->code = 405;
        return sk_fail(err, SK_ERR_ARG, "%.200s: only GET", r->path);
    }
    for (const sk_page_file *file = sk_page_files; file->name; file++)
        if (strcmp(file->name, name) == 0) {
            reply->lasting = true;
            sk_reply_header_add(reply, "ETag", file->tag);
            const bool known = r->headers.known_tag && strstr(r->headers.known_tag, file->tag);
            reply->code = known ? 304 : 200;
            reply->type = file->type;
            reply->bytes = file->bytes;
            reply->n_bytes = known ? 0 : file->n_bytes;
            return SK_OK;
        }
    return sk_fail(err, SK_ERR_NOT_FOUND, "%.200s: there is no such page", r->path);
}

void sk_routes_serve(sk_server *server, sk_request *r, sk_reply *reply)
{
    sk_error error = {0};
    if (is_login(r)) {
        serve_login(server, r, reply);
        return;
    }
    const sk_status status = is_api(r) ? serve_api(server, r, reply, &error) : serve_page(r, reply, &error);
    if (status != SK_OK) {
        error.code = status;
        if (!reply->code && sk_roots_is_outside(&error))
            reply->code = 403;
        sk_reply_error(reply, &error);
    } else if (!reply->code) {
        reply->code = 200;
    }
}
