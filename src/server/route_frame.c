/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pictures.h"
#include "server/routes.h"

sk_status sk_serve_frame(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *path = sk_request_query(r, "source");
    char *real = NULL;
    int64_t n = 0, width = 0;
    if (!path || !path[0])
        return sk_fail(err, SK_ERR_ARG, "source= names the video, n= the frame");
    SK_TRY(sk_request_query_int(r, "n", 0, INT64_MAX / 4, 0, &n, err));
    SK_TRY(sk_request_query_int(r, "width", 16, 16384, 0, &width, err));
    SK_TRY(sk_roots_resolve_source(&server->roots, path, &real, err));
    sk_status status = sk_serve_picture_of(server, real, n, (int32_t)width, reply, err);
    sk_free(real);
    return status;
}
