/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_PICTURE_FFMPEG_H
#define SK_MEDIA_PICTURE_FFMPEG_H

#include "media/picture.h"

#ifdef SKITTER_HAVE_FFMPEG
/* The first frame of a picture format only FFmpeg knows (bmp, webp, pnm …). */
sk_status sk_picture_decode_ffmpeg(const sk_picture_task *task, sk_slot *slot, sk_error *err) SK_MUST_CHECK;
#else
static inline sk_status sk_picture_decode_ffmpeg(const sk_picture_task *task, sk_slot *slot, sk_error *err)
{
    (void)slot;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: only JPEG, PNG and TIFF pictures can be read: this skitter was built without FFmpeg",
                   task->path);
}
#endif

#endif
