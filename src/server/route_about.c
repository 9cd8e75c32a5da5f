/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes.h"
#include "skitter/version.h"

#include <unistd.h>

sk_status sk_serve_about(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    char machine[256] = "";
    (void)r;
    if (gethostname(machine, sizeof machine - 1) != 0)
        machine[0] = '\0';
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_strings(&j, {"name", "skitter"}, {"version", sk_version_text()}, {"machine", machine},
                        {"notice", server->notice[0] ? server->notice : NULL});
    sk_json_key_array(&j, "folders");
    for (int32_t i = 0; i < server->roots.count; i++)
        sk_json_string(&j, server->roots.items[i].path);
    sk_json_close(&j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

sk_status sk_serve_events(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    (void)server, (void)r, (void)err;
    reply->type = "text/event-stream";
    reply->stream = true;
    return SK_OK;
}
