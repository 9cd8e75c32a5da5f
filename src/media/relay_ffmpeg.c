/* SPDX-License-Identifier: Apache-2.0 */
#include "media/relay_ffmpeg.h"

#include "base/memory.h"
#include "base/object.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define MOST_DECODERS   4
#define LONGEST         600 /* packets of a stretch */
#define SHORTEST        32  /* … but for the last: more than a decoder keeps to itself */
#define MOST_PACKETS    4096
#define PACKETS_IN_HAND 16 /* for every decoder, so that none waits for the file */

typedef struct worker {
    sk_relay *relay;
    sk_decoder decoder; /* a codec of its own on the main one's device */
    pthread_t thread;
    bool running;
    AVPacket *packets[MOST_PACKETS]; /* a ring; null: the end */
    int32_t first_packet, n_packets;
    sk_slot *held; /* a ring of `ahead` frames; their times lie in frame.time_ns as presentation times */
    int32_t first_held, n_held;
    bool ended; /* all frames came, or none will */
} worker;

/* A part of the file that stands alone. */
typedef struct stretch {
    int64_t begins; /* presentation time of its key frame, with those of earlier rounds before it */
    int32_t packets;
} stretch;

struct sk_relay {
    sk_relay_settings how;
    worker *workers;
    int32_t n_workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing, lost; /* lost: by a worker; under the lock */
    /* the reading side; of the caller's thread alone */
    stretch stretches[2 * MOST_DECODERS]; /* a ring: at number % its size */
    int64_t n_stretches, at;              /* begun; the one whose frames are being given */
    int32_t taken, round;
    int64_t shift, span_end; /* added to times of this round; the latest time of it */
    int64_t period;          /* of a round; 0: the first is not read yet */
    bool file_ended;
};

/* Does decoding begin anew with this packet, whatever came before it? */
static bool resets(const AVCodecParameters *video, const AVPacket *packet)
{
    const uint8_t *head = video->extradata, *p = packet->data, *end = p + packet->size;
    const bool hevc = video->codec_id == AV_CODEC_ID_HEVC;
    if (!(packet->flags & AV_PKT_FLAG_KEY) || packet->pts == AV_NOPTS_VALUE)
        return false;
    if (video->codec_id == AV_CODEC_ID_VP9)
        return true;
    if (video->codec_id != AV_CODEC_ID_H264 && !hevc)
        return false;
    const int32_t least = hevc ? 22 : 5;
    /* in .mp4 and .mkv every unit has its length before it, elsewhere a start code */
    const int32_t bytes = video->extradata_size > least && head[0] == 1 ? (head[least - 1] & 3) + 1 : 0;
    while (end - p > 4) {
        size_t length = 0;
        if (bytes) {
            for (int32_t i = 0; i < bytes; i++)
                length = length << 8 | *p++;
        } else {
            while (end - p > 4 && !(p[0] == 0 && p[1] == 0 && p[2] == 1))
                p++;
            if (end - p <= 4)
                return false; /* no start code is left */
            p += 3;
        }
        const int32_t kind = hevc ? p[0] >> 1 & 63 : p[0] & 31;
        if (hevc ? kind == 19 || kind == 20 : kind == 5)
            return true;
        if (bytes && length > (size_t)(end - p))
            return false;
        p += length;
    }
    return false;
}

/* The next packet of the stream; false at the end of the file. */
static bool read_packet(sk_decoder *d)
{
    while (sk_ff.av_read_frame(d->format, d->packet) >= 0) {
        if (d->packet->stream_index == d->stream->index)
            return true;
        sk_ff.av_packet_unref(d->packet);
    }
    return false;
}

bool sk_relay_suits(sk_decoder *d)
{
    int32_t fresh = 0;
    bool first = true;
    for (int32_t n = 0; n < LONGEST && fresh < 2 && read_packet(d); n++) {
        const bool begins = resets(d->stream->codecpar, d->packet);
        fresh += begins && (n == 0 || n >= SHORTEST);
        sk_ff.av_packet_unref(d->packet);
        if (first && !begins)
            return false;
        first = false;
    }
    return fresh == 2;
}

/* --- a decoder's thread --- */

static void end_worker(worker *w, bool lost)
{
    sk_relay *r = w->relay;
    pthread_mutex_lock(&r->lock);
    w->ended = true;
    r->lost = r->lost || lost;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* A place for a frame, once there is one; null: the relay is closed. */
static sk_slot *wait_for_place(worker *w)
{
    sk_relay *r = w->relay;
    pthread_mutex_lock(&r->lock);
    while (!r->closing && w->n_held == r->how.ahead)
        pthread_cond_wait(&r->changed, &r->lock);
    sk_slot *slot = r->closing ? NULL : &w->held[(w->first_held + w->n_held) % r->how.ahead];
    pthread_mutex_unlock(&r->lock);
    return slot;
}

/* Frames that are ready; false: no more are wanted, or the last one was had. */
static bool take_frames(worker *w)
{
    sk_relay *r = w->relay;
    for (;;) {
        const int code = sk_ff.avcodec_receive_frame(w->decoder.codec, w->decoder.frame);
        if (code == AVERROR(EAGAIN))
            return true;
        sk_slot *slot = code == 0 ? wait_for_place(w) : NULL;
        const bool odd = code != 0 || (w->decoder.frame->flags & AV_FRAME_FLAG_CORRUPT) ||
                         (w->decoder.device && w->decoder.frame->format != w->decoder.hardware_format);
        if (!slot || odd) {
            end_worker(w, code != AVERROR_EOF && slot);
            return false;
        }
        sk_colours_read_as(w->decoder.frame, w->decoder.colours);
        if (sk_decoder_convert(&w->decoder, r->how.uri, r->how.format, slot, NULL) != SK_OK) {
            end_worker(w, true);
            return false;
        }
        slot->frame.time_ns = sk_decoder_pts(&w->decoder);
        pthread_mutex_lock(&r->lock);
        w->n_held++;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
}

static void *work(void *context)
{
    worker *w = context;
    sk_relay *r = w->relay;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        while (!r->closing && w->n_packets == 0)
            pthread_cond_wait(&r->changed, &r->lock);
        if (r->closing) {
            pthread_mutex_unlock(&r->lock);
            return NULL;
        }
        AVPacket *packet = w->packets[w->first_packet];
        w->first_packet = (w->first_packet + 1) % MOST_PACKETS;
        w->n_packets--;
        pthread_mutex_unlock(&r->lock);
        const int code = sk_ff.avcodec_send_packet(w->decoder.codec, packet);
        sk_ff.av_packet_free(&packet);
        if (code < 0) {
            end_worker(w, true);
            return NULL;
        }
        if (!take_frames(w))
            return NULL;
    }
}

/* --- the caller's thread --- */

static void give(sk_relay *r, worker *w, AVPacket *packet)
{
    pthread_mutex_lock(&r->lock);
    w->packets[(w->first_packet + w->n_packets++) % MOST_PACKETS] = packet;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static int32_t packets_of(sk_relay *r, const worker *w)
{
    pthread_mutex_lock(&r->lock);
    const int32_t n = w->n_packets;
    pthread_mutex_unlock(&r->lock);
    return n;
}

/* The file from its beginning, its times after all that were; false: it cannot be gone back in. */
static bool play_again(sk_relay *r)
{
    sk_decoder *d = r->how.main;
    r->round++;
    r->shift = r->span_end + 1 - r->how.first_pts;
    if (r->period == 0)
        r->period = r->shift;
    d->packets = 0;
    return sk_ff.av_seek_frame(d->format, d->stream->index, r->how.first_pts, AVSEEK_FLAG_BACKWARD) >= 0;
}

/* Reads one packet to the decoder whose stretch it is in; false: what comes is not foreseen. */
static bool read_one(sk_relay *r)
{
    sk_decoder *d = r->how.main;
    if (!read_packet(d)) {
        r->file_ended = r->round + 1 >= r->how.rounds;
        for (int32_t i = 0; r->file_ended && i < r->n_workers; i++)
            give(r, &r->workers[i], NULL);
        return r->file_ended || play_again(r);
    }
    AVPacket *packet = d->packet, *fresh = sk_ff.av_packet_alloc();
    const int32_t room = (int32_t)(sizeof r->stretches / sizeof *r->stretches);
    const stretch *last = r->n_stretches > 0 ? &r->stretches[(r->n_stretches - 1) % room] : NULL;
    const bool begins = (!last || last->packets >= SHORTEST) && resets(d->stream->codecpar, packet);
    sk_decoder_count(d);
    if (!fresh || packet->pts == AV_NOPTS_VALUE || (packet->flags & AV_PKT_FLAG_DISCARD) ||
        (r->n_stretches == 0 && !begins) || (begins && r->n_stretches - r->at >= room)) {
        sk_ff.av_packet_free(&fresh);
        sk_ff.av_packet_unref(packet);
        return false;
    }
    d->packet = fresh;
    packet->pts += r->shift;
    packet->dts = AV_NOPTS_VALUE; /* only presentation times are shifted alike */
    if (packet->pts + packet->duration > r->span_end)
        r->span_end = packet->pts + packet->duration;
    if (begins)
        r->stretches[r->n_stretches++ % room] = (stretch){packet->pts, 0};
    stretch *s = &r->stretches[(r->n_stretches - 1) % room];
    worker *w = &r->workers[(r->n_stretches - 1) % r->n_workers];
    if (++s->packets > LONGEST || packets_of(r, w) >= MOST_PACKETS - 1) {
        sk_ff.av_packet_free(&packet);
        return false;
    }
    give(r, w, packet);
    return true;
}

/* Every decoder gets something to do, as far as few stretches ahead reach. */
static bool feed(sk_relay *r)
{
    for (;;) {
        bool hungry = false;
        for (int32_t i = 0; i < r->n_workers; i++)
            hungry = hungry || packets_of(r, &r->workers[i]) < PACKETS_IN_HAND;
        if (!hungry || r->file_ended || r->n_stretches - r->at > 2 * r->n_workers - 1)
            return true;
        if (!read_one(r))
            return false;
    }
}

static void swap_slots(sk_slot *a, sk_slot *b)
{
    const sk_slot kept = *a;
    *a = *b;
    *b = kept;
    b->name = a->name; /* these stay where they were */
    b->name_capacity = a->name_capacity;
    b->next = a->next;
    b->decode_begin = a->decode_begin;
    b->decode_end = a->decode_end;
    a->name = kept.name;
    a->name_capacity = kept.name_capacity;
    a->next = kept.next;
    a->decode_begin = kept.decode_begin;
    a->decode_end = kept.decode_end;
}

/* The oldest frame of this decoder; false: it will have none, or somebody said stop. */
static bool wait_for_frame(sk_relay *r, worker *w, const atomic_bool *stop)
{
    pthread_mutex_lock(&r->lock);
    while (w->n_held == 0 && !w->ended && !r->lost && !atomic_load(stop)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&r->changed, &r->lock, &until);
    }
    const bool there = w->n_held > 0;
    pthread_mutex_unlock(&r->lock);
    return there;
}

sk_relayed sk_relay_next(sk_relay *r, const atomic_bool *stop, sk_slot *slot, int64_t *pts, int32_t *round)
{
    const int32_t room = (int32_t)(sizeof r->stretches / sizeof *r->stretches);
    if (!feed(r))
        return SK_RELAYED_LOST;
    const stretch *s = &r->stretches[r->at % room];
    const bool complete = r->file_ended || r->at + 1 < r->n_stretches;
    if (complete && r->taken == s->packets) {
        r->at++;
        r->taken = 0;
        if (r->at == r->n_stretches)
            return SK_RELAYED_END;
        return sk_relay_next(r, stop, slot, pts, round); /* once: a stretch has a packet at least */
    }
    worker *w = &r->workers[r->at % r->n_workers];
    if (!wait_for_frame(r, w, stop))
        return atomic_load(stop) ? SK_RELAYED_END : SK_RELAYED_LOST;
    sk_slot *held = &w->held[w->first_held];
    const int64_t at = held->frame.time_ns;
    if (at < s->begins || (r->at + 1 < r->n_stretches && at >= r->stretches[(r->at + 1) % room].begins))
        return SK_RELAYED_LOST;
    swap_slots(slot, held);
    pthread_mutex_lock(&r->lock);
    w->first_held = (w->first_held + 1) % r->how.ahead;
    w->n_held--;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    r->taken++;
    *pts = at;
    *round = r->period > 0 ? (int32_t)((at - r->how.first_pts) / r->period) : 0;
    *pts -= *round * r->period;
    return SK_RELAYED_FRAME;
}

void sk_relay_close(sk_relay **relay)
{
    sk_relay *r = *relay;
    *relay = NULL;
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    for (int32_t i = 0; r->workers && i < r->n_workers; i++) {
        worker *w = &r->workers[i];
        if (w->running)
            pthread_join(w->thread, NULL);
        for (int32_t k = 0; k < w->n_packets; k++)
            sk_ff.av_packet_free(&w->packets[(w->first_packet + k) % MOST_PACKETS]);
        for (int32_t k = 0; w->held && k < r->how.ahead; k++)
            sk_slot_free(&w->held[k]);
        sk_free(w->held);
        sk_decoder_close(&w->decoder);
    }
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    sk_free_all(r->workers, r);
}

static sk_status start_worker(sk_relay *r, worker *w, sk_error *err)
{
    w->relay = r;
    w->held = sk_calloc((size_t)r->how.ahead, sizeof *w->held);
    if (!w->held)
        return sk_fail_memory(err, (size_t)r->how.ahead * sizeof *w->held);
    SK_TRY(sk_decoder_open_beside(r->how.main, r->how.uri, &w->decoder, err));
    w->running = pthread_create(&w->thread, NULL, work, w) == 0;
    return w->running ? SK_OK : sk_fail(err, SK_ERR_RUNTIME, "%s: no thread for a decoder", r->how.uri);
}

sk_status sk_relay_open(const sk_relay_settings *settings, sk_relay **out, sk_error *err)
{
    sk_relay *r = sk_calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    sk_status status = SK_OK;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->how = *settings;
    r->span_end = settings->first_pts;
    const int32_t decoders = settings->decoders < MOST_DECODERS ? settings->decoders : MOST_DECODERS;
    r->workers = sk_calloc((size_t)decoders, sizeof *r->workers);
    if (!r->workers) {
        status = sk_fail_memory(err, (size_t)decoders * sizeof *r->workers);
        goto done;
    }
    while (r->n_workers < decoders)
        SK_TRY_GOTO(start_worker(r, &r->workers[r->n_workers++], err));
    *out = r;
    return SK_OK;
done:
    sk_relay_close(&r);
    return status;
}
