/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"

/* Stands in for the FFmpeg readers in builds without it, so that the answer is a sentence and not a missing symbol. */
#ifndef SKITTER_HAVE_FFMPEG

sk_status sk_reader_open_video(const char *uri, const sk_source_settings *settings, sk_reader **out, sk_error *err)
{
    (void)settings;
    (void)out;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: video cannot be read: this skitter was built without FFmpeg (-DSKITTER_FFMPEG=ON)", uri);
}

sk_status sk_reader_open_live(const char *uri, const sk_source_settings *settings, const atomic_bool *stop,
                              sk_reader **out, sk_error *err)
{
    (void)stop;
    return sk_reader_open_video(uri, settings, out, err);
}

#else
typedef int sk_without_ffmpeg_is_empty; /* ISO C wants at least one declaration */
#endif
