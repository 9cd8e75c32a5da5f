/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"
#include "media/video_sink.h"

#include <errno.h>
#include <sys/stat.h>

/* Stands in for the FFmpeg readers in builds without it, so that the answer is a sentence and not a missing symbol. */
#ifndef SKITTER_HAVE_FFMPEG

sk_status sk_reader_open_video(const char *uri, const sk_source_settings *settings, sk_reader **out,
                               sk_error *err)
{
    (void)settings;
    (void)out;
    struct stat info;
    if (!sk_uri_is_live(uri) && !sk_uri_is_input(uri) && stat(uri, &info) != 0 && errno == ENOENT)
        return sk_uri_fail_missing(uri, err); /* whatever it was to be: no other build would find it */
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: video cannot be read: this skitter was built without FFmpeg (-DSKITTER_FFMPEG=ON)",
                   uri);
}

sk_status sk_reader_open_live(const char *uri, const sk_source_settings *settings, const atomic_bool *stop,
                              sk_reader **out, sk_error *err)
{
    (void)stop;
    return sk_reader_open_video(uri, settings, out, err);
}

static sk_status no_video(const char *path, sk_error *err)
{
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: video cannot be written: this skitter was built without FFmpeg (-DSKITTER_FFMPEG=ON)",
                   path);
}

sk_status sk_video_sink_open(const char *path, int32_t width, int32_t height, double rate,
                             sk_video_sink **out, sk_error *err)
{
    (void)width;
    (void)height;
    (void)rate;
    *out = NULL;
    return no_video(path, err);
}

sk_status sk_video_sink_open_gpu(const char *path, int32_t width, int32_t height, double rate,
                                 sk_video_sink **out, sk_error *err)
{
    return sk_video_sink_open(path, width, height, rate, out, err);
}

const char *sk_video_sink_encoder(const sk_video_sink *sink)
{
    (void)sink;
    return "";
}

sk_status sk_video_sink_write(sk_video_sink *sink, const sk_frame *frame, sk_error *err)
{
    (void)sink;
    (void)frame;
    return no_video("overlay", err);
}

sk_status sk_video_sink_close(sk_video_sink **sink, sk_error *err)
{
    (void)err;
    *sink = NULL;
    return SK_OK;
}

sk_status sk_video_join(const char *const *parts, int32_t count, const char *path, sk_error *err)
{
    (void)parts;
    (void)count;
    return no_video(path, err);
}

#else
typedef int sk_without_ffmpeg_is_empty; /* ISO C wants at least one declaration */
#endif
