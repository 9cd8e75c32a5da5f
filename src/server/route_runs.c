/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "server/routes.h"
#include "server/runs.h"

#include <string.h>

#define PICTURE_MOST ((size_t)8 << 20)

static sk_status reply_one(sk_server *server, const char *id, sk_reply *reply, sk_error *err)
{
    sk_json j = sk_reply_json(reply);
    SK_TRY(sk_runs_put_one(server->runs, id, &j, err));
    return sk_json_end(&j, err);
}

sk_status sk_serve_runs(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    (void)r;
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_array(&j, "runs");
    sk_runs_put_all(server->runs, &j);
    sk_json_close(&j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

sk_status sk_serve_run(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return reply_one(server, r->part[0], reply, err);
}

sk_status sk_serve_run_start(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL;
    sk_wish wish = {0};
    char id[24];
    SK_TRY(sk_request_json(r, &body, err));
    sk_status status = sk_wish_read(server, sk_config_root(body), true, &wish, err);
    if (status == SK_OK)
        status = sk_runs_add(server->runs, &wish, id, err);
    sk_config_close(&body);
    sk_wish_free(&wish);
    return status == SK_OK ? reply_one(server, id, reply, err) : status;
}

sk_status sk_serve_run_stop(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    SK_TRY(sk_runs_stop(server->runs, r->part[0], err));
    return reply_one(server, r->part[0], reply, err);
}

sk_status sk_serve_run_continue(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    SK_TRY(sk_runs_continue(server->runs, r->part[0], err));
    return reply_one(server, r->part[0], reply, err);
}

sk_status sk_serve_run_remove(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    SK_TRY(sk_runs_remove(server->runs, r->part[0], err));
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_string(&j, "id", r->part[0]);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

static void release(void *bytes)
{
    sk_free(bytes);
}

sk_status sk_serve_run_preview(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    SK_TRY(sk_runs_preview(server->runs, r->part[0], &path, err));
    sk_status status = sk_file_read_own(path, PICTURE_MOST, &bytes, &length, err);
    sk_free(path);
    if (status == SK_ERR_MEMORY)
        return status;
    if (status != SK_OK)
        return sk_fail(err, SK_ERR_NOT_FOUND, "there is no picture of run %.24s yet", r->part[0]);
    reply->type = "image/jpeg";
    status = sk_blob_wrap(bytes, length, release, bytes, &reply->blob, err);
    if (status != SK_OK)
        sk_free(bytes);
    return status;
}

sk_status sk_serve_command(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL;
    sk_wish wish = {0};
    SK_TRY(sk_request_json(r, &body, err));
    sk_status status = sk_wish_read(server, sk_config_root(body), false, &wish, err);
    if (status == SK_OK) {
        sk_json j = sk_reply_json(reply);
        sk_json_object(&j);
        sk_json_key_string(&j, "command_line", wish.line);
        sk_json_close(&j);
        status = sk_json_end(&j, err);
    }
    sk_config_close(&body);
    sk_wish_free(&wish);
    return status;
}
