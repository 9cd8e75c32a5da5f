/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_ffmpeg.h"

#include "media/decoder_ffmpeg.h"

sk_status sk_picture_decode_ffmpeg(const sk_picture_task *task, sk_slot *slot, sk_error *err)
{
    const char *path = task->path;
    sk_decoder decoder = {0};
    sk_decoder_settings settings = {.threads = 1, .max_pixels = sk_picture_most(task)};
    SK_TRY(sk_decoder_open(path, &settings, &decoder, err));
    bool end = false;
    sk_status status = sk_decoder_next(&decoder, path, &end, err);
    if (status == SK_OK && end)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: holds no picture", path);
    if (status == SK_OK)
        status = sk_picture_check_size(task, decoder.frame->width, decoder.frame->height, err);
    if (status == SK_OK)
        status = sk_decoder_convert(&decoder, path, task->format, slot, err);
    sk_decoder_close(&decoder);
    return status;
}
