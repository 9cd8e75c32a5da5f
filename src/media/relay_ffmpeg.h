/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_RELAY_FFMPEG_H
#define SK_MEDIA_RELAY_FFMPEG_H

#include "media/decoder_ffmpeg.h"

/* Inside media/: several decoders of one GPU that take turns at one file. A GPU has more than one decoding engine, and a video uses
 * one of them; but from a key frame that resets a decoder (H.264 and HEVC: an IDR picture) to the next a stretch of it stands alone.
 * The file is read once, in order; stretches go to the decoders in turn, and frames come out in the file's order. No decoder is
 * ever flushed, as that starts the engine anew (a quarter of a second): a stretch's last frames come when its next one goes in.
 *
 * Whatever is not as foreseen (a frame too few, a damaged one, stretches without end) ends the relay, and the caller goes on by
 * itself from the frame after the last one it was given. */

typedef struct sk_relay sk_relay;

typedef struct sk_relay_settings {
    const char *uri;  /* borrowed, as `main` */
    sk_decoder *main; /* its file is read, from where it stands: the first packet; its codec is left alone */
    sk_pixel_format format;  /* of frames that do not stay on the device */
    int32_t decoders, ahead; /* how many, and frames each may decode ahead */
    int32_t rounds;          /* how often the file is played */
    int64_t first_pts;       /* where it begins */
} sk_relay_settings;

typedef enum sk_relayed {
    SK_RELAYED_FRAME = 0,
    SK_RELAYED_END, /* all rounds are played */
    SK_RELAYED_LOST /* something else came than was foreseen */
} sk_relayed;

/* Has this file stretches, and do they end soon? By its first packets, behind which it stands afterwards. */
bool sk_relay_suits(sk_decoder *main);
sk_status sk_relay_open(const sk_relay_settings *settings, sk_relay **out, sk_error *err) SK_MUST_CHECK;
/* The next frame in the slot, which gives its own memory for it; `pts` and `round` (from 0) are its. */
sk_relayed sk_relay_next(sk_relay *relay, const atomic_bool *stop, sk_slot *slot, int64_t *pts,
                         int32_t *round);
void sk_relay_close(sk_relay **relay);

#endif
