/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pictures.h"
#include "server/routes.h"

sk_status sk_serve_frame(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *path = sk_request_query(r, "source");
    char *real = NULL;
    if (!path || !path[0])
        return sk_fail(err, SK_ERR_ARG, "source= names the video, n= the frame");
    SK_TRY(sk_roots_resolve_source(&server->roots, path, &real, err));
    const char *topic = sk_request_query(r, "topic");
    sk_status status = sk_serve_picture_of(server, r, real, topic && topic[0] ? topic : NULL, reply, err);
    sk_free(real);
    return status;
}
