/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_PACKET_LIST_FFMPEG_H
#define SK_MEDIA_PACKET_LIST_FFMPEG_H

#include "media/decoder_ffmpeg.h"

/* Which frames a file has, found by reading its packets without decoding any: their sorted presentation times are the frames'
 * numbers. Zeroed memory before the first call. */
typedef struct sk_listed_frame {
    int64_t pts;
    bool key; /* decoding can begin here */
} sk_listed_frame;

typedef struct sk_packet_list {
    sk_listed_frame *frames; /* by presentation time */
    size_t count, capacity;  /* count 0 once it is complete: the times are of no use */
    bool begun, complete;
    int64_t packets, end; /* that were read, and when the last ends; -1: not known */
} sk_packet_list;

/* Reads on from where the decoder's file is, which is its beginning at the first call and nobody else's in between, to its end, or
 * until the clock says `by_ns` (0: whatever it says): then it is not complete yet. */
sk_status sk_packet_list_read(sk_packet_list *list, sk_decoder *decoder, int64_t by_ns,
                              sk_error *err) SK_MUST_CHECK;
/* Number of the frame with this time; -1 when no frame has it. */
int64_t sk_packet_list_number(const sk_packet_list *list, int64_t pts);
/* The container's times mislead: they are not used any more. */
void sk_packet_list_distrust(sk_packet_list *list);
void sk_packet_list_free(sk_packet_list *list);

#endif
