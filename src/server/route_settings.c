/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track.h"
#include "server/routes.h"

#include <string.h>

/* The tracker's own settings, with the defaults of a run that says nothing. */
static void put_tracker(sk_json *j)
{
    sk_track_wish usual;
    sk_track_wish_defaults(&usual);
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        sk_json_object(j);
        sk_json_key_strings(j, {"name", s->name}, {"unit", s->unit}, {"help", s->help},
                            {"kind", s->whole ? "int" : "real"});
        sk_json_key_floats(j, {"default", sk_track_setting_get(s, &usual)}, {"min", s->least},
                           {"max", s->most});
        sk_json_close(j);
    }
}

/* Every option of a command, from its own table. */
sk_status sk_serve_settings(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *command = sk_request_query(r, "command");
    if (!command || (strcmp(command, "track") != 0 && strcmp(command, "predict") != 0))
        return sk_fail(err, SK_ERR_ARG, "command= is track or predict");
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_string(&j, "command", command);
    sk_json_key_array(&j, "options");
    if (server->doors.options)
        (void)server->doors.options(command, &j);
    sk_json_close(&j);
    sk_json_key_array(&j, "set");
    if (strcmp(command, "track") == 0)
        put_tracker(&j);
    sk_json_close(&j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}
