/* SPDX-License-Identifier: Apache-2.0 */
#include "media/packet_list_ffmpeg.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

static int compare_pts(const void *a, const void *b)
{
    const sk_listed_frame *x = a, *y = b;
    return (x->pts > y->pts) - (x->pts < y->pts);
}

/* Two frames at one time cannot be told apart. */
static bool differ(const sk_packet_list *list)
{
    for (size_t i = 1; list->frames && i < list->count; i++)
        if (list->frames[i].pts == list->frames[i - 1].pts)
            return false;
    return true;
}

static sk_status add(sk_packet_list *list, const AVPacket *packet, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&list->frames, &list->capacity, list->count + 1, sizeof *list->frames,
                            (size_t)1 << 32, err));
    list->frames[list->count++] = (sk_listed_frame){packet->pts, (packet->flags & AV_PKT_FLAG_KEY) != 0};
    return SK_OK;
}

sk_status sk_packet_list_read(sk_packet_list *list, sk_decoder *d, int64_t by_ns, sk_error *err)
{
    bool usable = true;
    if (!list->begun)
        list->packets = list->end = -1;
    list->begun = true;
    while (usable && sk_ff.av_read_frame(d->format, d->packet) >= 0) {
        sk_status status = SK_OK;
        if (d->packet->stream_index == d->stream->index && !(d->packet->flags & AV_PKT_FLAG_DISCARD)) {
            usable = d->packet->pts != AV_NOPTS_VALUE;
            sk_decoder_count(d);
            status = add(list, d->packet, err);
        }
        sk_ff.av_packet_unref(d->packet);
        SK_TRY(status);
        if (usable && by_ns && sk_clock_ns() >= by_ns)
            return SK_OK;
    }
    if (usable) {
        list->packets = d->packets;
        list->end = d->packets_end;
    }
    if (list->frames)
        qsort(list->frames, list->count, sizeof *list->frames, compare_pts);
    list->complete = true;
    if (!usable || !differ(list))
        sk_packet_list_distrust(list);
    return SK_OK;
}

int64_t sk_packet_list_number(const sk_packet_list *list, int64_t pts)
{
    const sk_listed_frame wanted = {pts, false};
    const sk_listed_frame *at =
        list->count ? bsearch(&wanted, list->frames, list->count, sizeof wanted, compare_pts) : NULL;
    return at ? at - list->frames : -1;
}

void sk_packet_list_distrust(sk_packet_list *list)
{
    list->count = 0;
}

void sk_packet_list_free(sk_packet_list *list)
{
    sk_free(list->frames);
    *list = (sk_packet_list){0};
}
