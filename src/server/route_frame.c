/* SPDX-License-Identifier: Apache-2.0 */
#include "media/video_sink.h"
#include "server/pictures.h"
#include "server/routes.h"
#include "skitter/source.h"

#define QUALITY 85

static void release(void *bytes)
{
    sk_free(bytes);
}

static sk_status encode(const sk_frame *frame, sk_reply *reply, sk_error *err)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    SK_TRY(sk_picture_jpeg(frame, QUALITY, &bytes, &length, err));
    reply->type = "image/jpeg";
    sk_status status = sk_blob_wrap(bytes, length, release, bytes, &reply->blob, err);
    if (status != SK_OK)
        sk_free(bytes);
    return status;
}

sk_status sk_serve_picture_of(sk_server *server, const char *path, int64_t n, int32_t width, sk_reply *reply,
                              sk_error *err)
{
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_status status;
    (void)server, (void)width;
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.first = n;
    settings.last = n + 1;
    settings.queue = 1;
    settings.threads = 1;
    SK_TRY_GOTO(sk_source_open(path, &settings, &source, err));
    SK_TRY_GOTO(sk_source_next(source, &frame, err));
    status = frame ? encode(frame, reply, err)
                   : sk_fail(err, SK_ERR_NOT_FOUND, "%.300s has no frame %lld", path, (long long)n);
    if (frame)
        sk_source_release(source, frame);
done:
    sk_source_close(&source);
    return status;
}

sk_status sk_serve_frame(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *path = sk_request_query(r, "source");
    char *real = NULL;
    int64_t n = 0, width = 0;
    if (!path || !path[0])
        return sk_fail(err, SK_ERR_ARG, "source= names the video, n= the frame");
    SK_TRY(sk_request_query_int(r, "n", 0, INT64_MAX / 4, 0, &n, err));
    SK_TRY(sk_request_query_int(r, "width", 16, 16384, 0, &width, err));
    SK_TRY(sk_roots_resolve(&server->roots, path, &real, err));
    sk_status status = sk_serve_picture_of(server, real, n, (int32_t)width, reply, err);
    sk_free(real);
    return status;
}
