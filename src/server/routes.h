/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_ROUTES_H
#define SK_SERVER_ROUTES_H

#include "server/inside.h"

/* Which request is answered by what. docs/openapi.yaml describes every one of them; a test compares the two. */

#define SK_API_PREFIX "/api/v1/"

typedef sk_status (*sk_route_serve)(sk_server *server, const sk_request *request, sk_reply *reply,
                                    sk_error *err);

typedef struct sk_route {
    sk_method method;
    const char *path; /* behind the prefix; {…} stands for any part */
    sk_route_serve serve;
} sk_route;

const sk_route *sk_route_at(size_t index); /* null past the end */

/* May this request, of which the headers are known, be answered at all? If not, the reply says why. */
bool sk_routes_admit(sk_server *server, const sk_request *request, sk_reply *reply);
/* Answers a request that was admitted, whatever it asks for. */
void sk_routes_serve(sk_server *server, sk_request *request, sk_reply *reply);
const char *sk_routes_policy(const sk_reply *reply); /* Content-Security-Policy */
/* Headers that every reply has: name, value, …, null. */
const char *const *sk_routes_headers(void);

/* --- the routes, by the file they are in --- */
#define SK_SERVE(name)                                                                                       \
    sk_status sk_serve_##name(sk_server *server, const sk_request *request, sk_reply *reply, sk_error *err)
SK_SERVE(about);
SK_SERVE(command);
SK_SERVE(config);
SK_SERVE(config_save);
SK_SERVE(demo);
SK_SERVE(doctor);
SK_SERVE(events);
SK_SERVE(files);
SK_SERVE(frame);
SK_SERVE(probe);
SK_SERVE(recent);
SK_SERVE(recent_post);
SK_SERVE(run);
SK_SERVE(run_continue);
SK_SERVE(run_preview);
SK_SERVE(run_remove);
SK_SERVE(run_start);
SK_SERVE(run_stop);
SK_SERVE(runs);
SK_SERVE(runtime_put);
SK_SERVE(runtime_reset);
SK_SERVE(runtimes);
SK_SERVE(settings);
SK_SERVE(test_frame);
SK_SERVE(troubleshooting);
SK_SERVE(view);
SK_SERVE(view_correct);
SK_SERVE(view_download);
SK_SERVE(view_frames);
SK_SERVE(view_picture);
SK_SERVE(view_redo);
SK_SERVE(view_save);
SK_SERVE(view_series);
SK_SERVE(view_suspects);
SK_SERVE(view_tracks);
SK_SERVE(view_undo);

#endif
