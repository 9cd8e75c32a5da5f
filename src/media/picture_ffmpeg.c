/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_ffmpeg.h"

#include "media/decoder_ffmpeg.h"

sk_status sk_picture_decode_ffmpeg(const char *path, sk_pixel_format format, sk_slot *slot, sk_error *err)
{
    sk_decoder decoder = {0};
    sk_decoder_settings settings = {.threads = 1};
    SK_TRY(sk_decoder_open(path, &settings, &decoder, err));
    bool end = false;
    sk_status status = sk_decoder_next(&decoder, path, &end, err);
    if (status == SK_OK && end)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: holds no picture", path);
    if (status == SK_OK)
        status = sk_decoder_convert(&decoder, path, format, slot, err);
    sk_decoder_close(&decoder);
    return status;
}
