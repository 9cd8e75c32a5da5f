/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "base/memory.h"
#include "base/clock.h"
#include "media/frame_choice.h"
#include "base/log.h"
#include "media/packet_list_ffmpeg.h"
#include "media/relay_ffmpeg.h"

#include <stdio.h>
#include <string.h>

/* Video files. Frames are numbered in presentation order. To begin in the middle, or where wanted frames lie far apart, the
 * packets are listed once without decoding; their sorted presentation times are the frame numbers, so a seek lands on
 * exactly the wanted frame whatever the frame rate does. Files without usable times are decoded from the beginning instead. */

/* Fewer frames than this are quicker decoded than the packets are listed. */
#define SEEK_WORTHWHILE 64

typedef struct video_reader {
    sk_reader base;
    sk_decoder decoder;
    char *uri;
    sk_source_settings settings;
    int64_t next;     /* number of the next decoded frame within this play */
    bool holds_frame; /* the decoder's frame is number `next` already */
    sk_frame_choice choice;
    int64_t skip_to;    /* first number wanted next; -1: none */
    int64_t considered; /* a seek to this one was thought about */
    int64_t offset;     /* added to numbers and times on later plays of a loop */
    double time_offset;
    int32_t rounds;
    int64_t first_pts; /* of the first frame that was ever decoded */
    int64_t start_pts;
    sk_packet_list list; /* where seeking was needed */
    bool listing;        /* it is not complete: the file is where its reading goes on */
    int64_t aim;         /* of a walk that was left before it was there; -1: none was */
    int64_t promised;    /* packets, by the container's own index; -1: it has none */
    double seconds;      /* that the stream lasts, by its header; 0: it does not say */
    char refused[224];   /* info.hwaccel_refused */
    sk_relay *relay;     /* several decoders take turns; null: the one does it */
    int32_t relay_round;
} video_reader;

static int interrupted(void *context)
{
    const video_reader *reader = context;
    const sk_source_settings *s = &reader->settings;
    return (reader->base.stop && atomic_load(reader->base.stop)) ||
           (s->interrupted && s->interrupted(s->interrupted_context));
}

/* A file behind a server that stops answering must not hold up the program for ever. */
static sk_status open_file(video_reader *reader, sk_decoder *before, sk_decoder *decoder, sk_error *err)
{
    AVDictionary *options = NULL;
    SK_TRY(sk_ffmpeg_load(reader->uri, err));
    if (sk_uri_is_address(reader->uri))
        sk_ff.av_dict_set(&options, "rw_timeout", "20000000", 0); /* us */
    const sk_frame_wishes wishes = sk_frame_wishes_of(&reader->settings);
    sk_decoder_settings settings = {.threads = reader->settings.threads,
                                    .hwaccel = reader->settings.hwaccel,
                                    .max_pixels = reader->settings.max_pixels,
                                    .on_device = wishes.on_device,
                                    .nv12 = wishes.nv12,
                                    .colours = reader->settings.colours,
                                    .before = before,
                                    .planes_above_width = wishes.planes_above_width,
                                    .planes_above_height = wishes.planes_above_height,
                                    .options = &options,
                                    .interrupt = {interrupted, reader}};
    sk_status status = sk_decoder_open(reader->uri, &settings, decoder, err);
    sk_ff.av_dict_free(&options);
    return status;
}

static sk_status rewind_file(video_reader *reader, sk_error *err)
{
    sk_decoder *d = &reader->decoder;
    int64_t damaged = d->damaged;
    sk_decoder device = {0};
    sk_decoder_keep_device(d, &device);
    sk_decoder_close(d); /* reopening is the one rewind every container understands */
    sk_status status = open_file(reader, &device, d, err);
    sk_decoder_close(&device); /* where it was not taken over */
    SK_TRY(status);
    d->damaged = damaged;
    reader->next = 0;
    reader->aim = -1;
    reader->holds_frame = false;
    return SK_OK;
}

/* The same without a new decoder, which takes a device a quarter of a second (so where one was asked for): the file's bytes go
 * back, and the first frame must be the one it was. Where it is another, or none, the file is opened anew. */
static sk_status play_from_start(video_reader *reader, sk_error *err)
{
    sk_decoder *d = &reader->decoder;
    bool end = false;
    const char *hwaccel = reader->settings.hwaccel;
    if (!hwaccel || strcmp(hwaccel, "none") == 0 || reader->first_pts == AV_NOPTS_VALUE ||
        sk_ff.av_seek_frame(d->format, d->stream->index, reader->first_pts, AVSEEK_FLAG_BACKWARD) < 0)
        return rewind_file(reader, err);
    sk_ff.avcodec_flush_buffers(d->codec);
    d->draining = false;
    d->packets = 0;
    if (sk_decoder_next(d, reader->uri, &end, NULL) != SK_OK || end || sk_decoder_pts(d) != reader->first_pts)
        return rewind_file(reader, err);
    /* FFmpeg may have changed to the processor on the way, which nobody would be told */
    if (reader->base.info.hwaccel && reader->base.info.hwaccel[0] && d->frame->format != d->hardware_format)
        return rewind_file(reader, err);
    reader->next = 0;
    reader->aim = -1;
    reader->holds_frame = true;
    return SK_OK;
}

/* Is the decoder better moved to `skip_to` than let through the frames before it? */
static bool seek_is_worthwhile(const video_reader *reader)
{
    if (reader->skip_to - reader->next < SEEK_WORTHWHILE || reader->base.info.once)
        return false;
    if (!reader->list.complete)
        return true;
    if ((uint64_t)reader->skip_to >= reader->list.count)
        return false; /* not indexed, or beyond the end: decode through */
    for (int64_t i = reader->skip_to; i > reader->next; i--)
        if (reader->list.frames[i].key)
            return true;
    return false; /* decoding would begin before where it is now */
}

static void count_frames(video_reader *reader, int64_t total, bool exact)
{
    sk_source_info *info = &reader->base.info;
    info->total = total;
    info->exact = exact;
    info->frames = total >= 0 ? sk_frames_wanted(&reader->settings, total) : -1;
    if (info->frames > 0)
        info->frames *= reader->settings.loop;
}

static bool is_late(const video_reader *reader)
{
    return reader->base.give_by_ns && sk_clock_ns() >= reader->base.give_by_ns;
}

/* All frames, for who wants one far away. */
static sk_status list_frames(video_reader *reader, sk_error *err)
{
    if (!reader->listing && reader->next > 0)
        SK_TRY(rewind_file(reader, err));
    reader->listing = true;
    if (!reader->list.complete)
        SK_TRY(sk_packet_list_read(&reader->list, &reader->decoder, reader->base.give_by_ns, err));
    if (!reader->list.complete || is_late(reader))
        return SK_OK;
    reader->listing = false;
    SK_TRY(rewind_file(reader, err));
    if (reader->list.count > 0)
        count_frames(reader, (int64_t)reader->list.count, true);
    return SK_OK;
}

/* Decodes on to `skip_to`, or as far as there is time, and holds that frame; frames before it that none is made from are left
 * out. Where the file misleads, it is at its beginning afterwards. */
static sk_status walk(video_reader *reader, sk_error *err)
{
    sk_decoder *d = &reader->decoder;
    sk_status status = SK_OK;
    int64_t number = -1;
    bool end = false;
    d->lean = true;
    d->needed_from = reader->list.frames[reader->skip_to].pts;
    do {
        status = sk_decoder_next(d, reader->uri, &end, err);
        number = status != SK_OK || end ? -1 : sk_packet_list_number(&reader->list, sk_decoder_pts(d));
    } while (number >= 0 && number < reader->skip_to && !is_late(reader));
    d->lean = false;
    SK_TRY(status);
    if (number < 0 || number > reader->skip_to) {
        sk_packet_list_distrust(&reader->list); /* its times mislead: count from the beginning */
        return rewind_file(reader, err);
    }
    reader->aim = number < reader->skip_to ? reader->skip_to : -1;
    reader->holds_frame = true;
    reader->next = number;
    return SK_OK;
}

/* Lands on `skip_to`, which was found worthwhile. */
static sk_status seek_forward(video_reader *reader, sk_error *err)
{
    sk_decoder *d = &reader->decoder;
    if (!reader->list.complete || reader->listing) {
        SK_TRY(list_frames(reader, err));
        if (reader->listing || (uint64_t)reader->skip_to >= reader->list.count)
            return SK_OK; /* not indexed, or beyond the end: decode through, from the beginning */
    }
    if (sk_ff.av_seek_frame(d->format, d->stream->index, reader->list.frames[reader->skip_to].pts,
                            AVSEEK_FLAG_BACKWARD) < 0)
        return rewind_file(reader, err);
    sk_ff.avcodec_flush_buffers(d->codec);
    d->draining = false;
    return walk(reader, err);
}

/* Asked once for every wanted frame. */
static sk_status seek_to_wanted(video_reader *reader, sk_error *err)
{
    if (reader->considered == reader->skip_to)
        return SK_OK;
    reader->considered = reader->skip_to;
    return seek_is_worthwhile(reader) ? seek_forward(reader, err) : SK_OK;
}

static void begin_choice(video_reader *reader)
{
    reader->choice = sk_frame_choice_of(&reader->settings);
    reader->skip_to = sk_frame_choice_next(&reader->choice, 0);
    reader->considered = -1;
}

/* One frame, forwards or back: for who jumps about in a video. */
static sk_status video_seek(sk_reader *base, int64_t frame, sk_error *err)
{
    video_reader *reader = (video_reader *)base;
    if (reader->relay) {
        sk_relay_close(&reader->relay);
        SK_TRY(rewind_file(reader, err));
    }
    reader->settings.first = frame;
    reader->settings.last = frame + 1;
    reader->settings.step = 1;
    reader->settings.n_ranges = 0;
    reader->rounds = 1;
    begin_choice(reader);
    const int64_t at = reader->next; /* of the frame that is held, or of the next */
    if (frame >= at && reader->aim < 0 && !reader->decoder.draining && !reader->listing)
        return SK_OK; /* the read finds its way */
    if (reader->base.info.once)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: is read once, and cannot be gone back in", reader->uri);
    reader->considered = frame;
    if (reader->aim >= 0 && frame >= reader->aim && (uint64_t)frame < reader->list.count &&
        !seek_is_worthwhile(reader))
        return walk(reader, err); /* on; of frames before its aim some are missing */
    if (!reader->listing &&
        (frame < SEEK_WORTHWHILE || (reader->list.complete && (uint64_t)frame >= reader->list.count)))
        return rewind_file(reader, err);
    return seek_forward(reader, err);
}

/* Seconds before the first frame that Matroska counts as part of the video: a part of a recording may begin late. */
static double late_start(const video_reader *reader)
{
    const sk_decoder *d = &reader->decoder;
    const bool counted = strstr(d->format->iformat->name, "matroska") && reader->start_pts > 0;
    return counted ? (double)reader->start_pts * av_q2d(d->stream->time_base) : 0;
}

/* What the container promises, as far as it can be believed. */
static void read_promise(video_reader *reader)
{
    const sk_decoder *d = &reader->decoder;
    const char *kind = d->format->iformat->name;
    reader->promised = -1;
    if (strstr(kind, "mov") && d->stream->nb_frames > 0) /* with what its edit list leaves out taken off */
        reader->promised = sk_ff.avformat_index_get_entries_count(d->stream);
    /* An .avi that is shorter than its header says: the time is then by what is left of it, the number is the header's. */
    if (strcmp(kind, "avi") == 0 && d->stream->duration > 0 && d->stream->duration < d->stream->nb_frames)
        reader->promised = d->stream->nb_frames;
    const AVDictionaryEntry *tag = sk_ff.av_dict_get(d->stream->metadata, "DURATION", NULL, 0);
    int hours, minutes;
    double seconds;
    if (tag && sscanf(tag->value, "%d:%d:%lf", &hours, &minutes, &seconds) == 3)
        reader->seconds = hours * 3600.0 + minutes * 60.0 + seconds - late_start(reader);
    else if (d->stream->duration > 0)
        reader->seconds = (double)d->stream->duration * av_q2d(d->stream->time_base);
    else if (d->format->duration > 0 && d->format->nb_streams == 1)
        reader->seconds = (double)d->format->duration / AV_TIME_BASE - late_start(reader);
}

/* Frames that were promised and did not come, at the end of the file. Times are less exact than an index: where they are all
 * there is, the last fiftieth and three frames are left to rounding. */
static int64_t count_missing(const video_reader *reader)
{
    const sk_decoder *d = &reader->decoder;
    const int64_t seen =
        reader->list.complete && reader->list.packets >= 0 ? reader->list.packets : d->packets;
    const int64_t end =
        reader->list.complete && reader->list.packets >= 0 ? reader->list.end : d->packets_end;
    if (reader->promised >= 0)
        return seen < reader->promised ? reader->promised - seen : 0;
    const double rate = reader->base.info.rate;
    if (reader->seconds <= 0 || rate <= 0 || (seen > 0 && end == INT64_MIN))
        return 0;
    const double got = seen > 0 ? (double)(end - reader->start_pts) * av_q2d(d->stream->time_base) : 0;
    const double lost = (reader->seconds - got) * rate;
    return lost > 3 + reader->seconds * rate / 50 ? (int64_t)(lost + 0.5) : 0;
}

static void next_round(video_reader *reader)
{
    const double rate = reader->base.info.rate > 0 ? reader->base.info.rate : 25;
    reader->offset += reader->next;
    reader->time_offset += (double)reader->next / rate;
}

static sk_status play_again(video_reader *reader, bool *end, sk_error *err)
{
    if (--reader->rounds <= 0 || reader->next == 0 || reader->base.info.once) {
        *end = true;
        return SK_OK;
    }
    next_round(reader);
    SK_TRY(play_from_start(reader, err));
    begin_choice(reader);
    return seek_to_wanted(reader, err);
}

/* When frames of a device's memory, or of ours, are decoded ahead for the relay: bytes for each decoder, frames. */
#define RELAY_BYTES     ((size_t)384 << 20)
#define RELAY_MOST      256
#define RELAY_LEAST     16
#define RELAY_OF_MEMORY 8 /* a share of the GPU's free memory, for all of them */

/* A whole file on a GPU that has several decoding engines. Where the file does not suit, or another decoder cannot be had, one
 * decodes as ever. */
static sk_status begin_relay(video_reader *reader, sk_error *err)
{
    sk_decoder *d = &reader->decoder;
    const sk_source_settings *s = &reader->settings;
    if (!d->cuda || !reader->holds_frame || !reader->base.info.hwaccel[0] || reader->base.info.once ||
        d->quarter_turns || s->n_ranges || s->first > 0 || s->last >= 0 || s->step != 1 ||
        sk_uri_is_address(reader->uri))
        return SK_OK;
    int32_t engines = sk_cuda_engines(d->cuda, d->codec->codec_id);
    engines = engines > 3 ? 3 : engines;
    if (engines < 2)
        return SK_OK;
    const size_t frame = ((size_t)d->codec->width + 255) * ((size_t)d->codec->height + 1) * 3 / 2;
    const size_t share = sk_cuda_free_bytes(d->cuda) / RELAY_OF_MEMORY / (size_t)engines;
    size_t ahead = (share < RELAY_BYTES ? share : RELAY_BYTES) / frame;
    ahead = ahead > RELAY_MOST ? RELAY_MOST : ahead;
    const int64_t first = sk_decoder_pts(d);
    if (ahead < RELAY_LEAST || first == AV_NOPTS_VALUE)
        return SK_OK;
    const sk_relay_settings how = {.uri = reader->uri,
                                   .main = d,
                                   .format = s->format,
                                   .decoders = engines,
                                   .ahead = (int32_t)ahead,
                                   .rounds = s->loop,
                                   .first_pts = first};
    const int index = d->stream->index;
    reader->holds_frame = false;
    if (sk_ff.av_seek_frame(d->format, index, first, AVSEEK_FLAG_BACKWARD) < 0 || !sk_relay_suits(d) ||
        sk_ff.av_seek_frame(d->format, index, first, AVSEEK_FLAG_BACKWARD) < 0 ||
        sk_relay_open(&how, &reader->relay, NULL) != SK_OK)
        return rewind_file(reader, err);
    d->packets = 0;
    sk_log(SK_LOG_INFO, "%s: %d decoders of the GPU take turns", reader->uri, engines);
    return SK_OK;
}

/* From the frame that comes next, by one decoder. */
static sk_status end_relay(video_reader *reader, sk_error *err)
{
    const int64_t number = reader->next;
    sk_log(SK_LOG_INFO, "%s: from frame %lld on one decoder", reader->uri, (long long)number);
    sk_relay_close(&reader->relay);
    SK_TRY(rewind_file(reader, err));
    reader->rounds = reader->settings.loop - reader->relay_round;
    reader->skip_to = sk_frame_choice_next(&reader->choice, number);
    return SK_OK;
}

static int64_t time_of(const video_reader *reader, int64_t pts, int64_t number)
{
    const sk_source_info *info = &reader->base.info;
    const double seconds = pts != AV_NOPTS_VALUE
                               ? (double)(pts - reader->start_pts) * av_q2d(reader->decoder.stream->time_base)
                           : info->rate > 0 ? (double)number / info->rate
                                            : 0;
    return sk_time_ns(seconds + reader->time_offset);
}

/* *again: the relay has ended, and the other way goes on. */
static sk_status read_relayed(video_reader *reader, sk_slot *slot, bool *end, bool *again, sk_error *err)
{
    int64_t pts = 0;
    int32_t round = 0;
    const sk_relayed what = sk_relay_next(reader->relay, reader->base.stop, slot, &pts, &round);
    *again = what == SK_RELAYED_LOST;
    if (*again)
        return end_relay(reader, err);
    *end = what == SK_RELAYED_END;
    if (*end) {
        reader->base.missing = atomic_load(reader->base.stop) ? 0 : count_missing(reader);
        return SK_OK;
    }
    for (; reader->relay_round < round; reader->relay_round++) {
        next_round(reader);
        reader->next = 0;
    }
    const int64_t number = reader->next++;
    slot->frame.index = number + reader->offset;
    slot->frame.time_ns = time_of(reader, pts, number);
    return SK_OK;
}

static sk_status video_read(sk_reader *base, sk_slot *slot, bool *end, sk_error *err)
{
    video_reader *reader = (video_reader *)base;
    sk_decoder *d = &reader->decoder;
    bool again = true;
    if (reader->relay)
        SK_TRY(read_relayed(reader, slot, end, &again, err));
    if (!again)
        return SK_OK;
    for (;;) {
        if (atomic_load(base->stop)) {
            *end = true;
            return SK_OK;
        }
        bool file_end = reader->skip_to < 0;
        if (!file_end && !reader->holds_frame && reader->next < reader->skip_to)
            SK_TRY(seek_to_wanted(reader, err));
        if (reader->listing) { /* nothing is decoded before that is done */
            *end = true;
            return SK_OK;
        }
        if (!file_end && !reader->holds_frame)
            SK_TRY(sk_decoder_next(d, reader->uri, &file_end, err));
        if (file_end && d->draining)
            base->missing = count_missing(reader);
        reader->holds_frame = false;
        if (file_end) {
            SK_TRY(play_again(reader, end, err));
            if (*end)
                return SK_OK;
            continue;
        }
        int64_t number = reader->next++;
        if (number == 0)
            reader->first_pts = sk_decoder_pts(d);
        if (number < reader->skip_to && !is_late(reader))
            continue;
        reader->skip_to = sk_frame_choice_next(&reader->choice, number + 1);
        SK_TRY(sk_decoder_convert(d, reader->uri, reader->settings.format, slot, err));
        int64_t pts = sk_decoder_pts(d);
        slot->frame.index = number + reader->offset;
        slot->frame.time_ns = time_of(reader, pts, number);
        base->damaged = d->damaged;
        memcpy(base->last_problem, d->last_problem, sizeof base->last_problem);
        return SK_OK;
    }
}

static void video_close(sk_reader *base)
{
    video_reader *reader = (video_reader *)base;
    sk_relay_close(&reader->relay); /* it reads the decoder's file */
    sk_decoder_close(&reader->decoder);
    sk_packet_list_free(&reader->list);
    sk_free_all(reader->uri, reader);
}

static void fill_info(video_reader *reader)
{
    sk_decoder *d = &reader->decoder;
    sk_source_info *info = &reader->base.info;
    info->kind = SK_SOURCE_VIDEO;
    info->once = d->input && sk_input_is_once(d->input);
    bool sideways = d->quarter_turns & 1;
    info->width = sideways ? d->codec->height : d->codec->width;
    info->height = sideways ? d->codec->width : d->codec->height;
    AVRational rate = d->stream->avg_frame_rate.num ? d->stream->avg_frame_rate : d->stream->r_frame_rate;
    info->rate = rate.num && rate.den ? av_q2d(rate) : 0;
    int64_t total = d->stream->nb_frames;
    const bool exact = total > 0;
    if (!exact) {
        double seconds = d->stream->duration > 0 ? (double)d->stream->duration * av_q2d(d->stream->time_base)
                         : d->format->duration > 0
                             ? (double)d->format->duration / AV_TIME_BASE - late_start(reader)
                             : 0;
        total = seconds > 0 && info->rate > 0 ? (int64_t)(seconds * info->rate + 0.5) : -1;
    }
    count_frames(reader, total, exact);
    info->decoder = d->codec->codec->name;
    info->hwaccel = d->device_name;
    memcpy(reader->refused, d->refusal, sizeof reader->refused);
    info->hwaccel_refused = reader->refused;
    sk_decoder_promise_nv12(d, &reader->base.like);
}

/* Whether a device decodes, and whether frames stay there, is known when the first one is decoded: until then FFmpeg may still
 * change its mind. */
static sk_status look_at_first(video_reader *reader, sk_error *err)
{
    sk_decoder *d = &reader->decoder;
    bool end = false;
    if (!d->device)
        return SK_OK;
    if (!reader->holds_frame)
        SK_TRY(sk_decoder_next(d, reader->uri, &end, err));
    if (end && !reader->base.info.once)
        return rewind_file(reader, err);
    reader->holds_frame = !end;
    if (end)
        return SK_OK;
    if (sk_decoder_on_device(d))
        reader->base.like = (sk_frame){.format = SK_PIXEL_NV12,
                                       .matrix = sk_colour_matrix_of((int)d->frame->colorspace),
                                       .full_range = d->frame->color_range == AVCOL_RANGE_JPEG,
                                       .place = SK_PLACE_CUDA,
                                       .device = sk_frame_wishes_of(&reader->settings).on_device - 1};
    if (d->frame->format != d->hardware_format)
        reader->base.info.hwaccel = "";
    memcpy(reader->refused, d->refusal, sizeof reader->refused);
    return SK_OK;
}

sk_status sk_reader_open_video(const char *uri, const sk_source_settings *settings, sk_reader **out,
                               sk_error *err)
{
    video_reader *reader = sk_calloc(1, sizeof *reader);
    if (!reader)
        return sk_fail_memory(err, sizeof *reader);
    sk_status status = SK_OK;
    reader->base.read = video_read;
    reader->base.close = video_close;
    reader->base.seek = video_seek;
    reader->settings = *settings;
    reader->rounds = settings->loop;
    reader->aim = -1;
    reader->first_pts = AV_NOPTS_VALUE;
    begin_choice(reader);
    reader->uri = sk_strdup(uri);
    if (!reader->uri) {
        status = sk_fail_memory(err, strlen(uri) + 1);
        goto done;
    }
    SK_TRY_GOTO(open_file(reader, NULL, &reader->decoder, err));
    /* FFmpeg gives up looking at the beginning, and gives frames all the same, with times that are not those of this video. */
    if (settings->interrupted && settings->interrupted(settings->interrupted_context)) {
        status = sk_fail(err, SK_ERR_CANCELLED, "%s: interrupted while it was opened", uri);
        goto done;
    }
    reader->start_pts =
        reader->decoder.stream->start_time != AV_NOPTS_VALUE ? reader->decoder.stream->start_time : 0;
    fill_info(reader);
    read_promise(reader);
    SK_TRY_GOTO(seek_to_wanted(reader, err));
    SK_TRY_GOTO(look_at_first(reader, err));
    SK_TRY_GOTO(begin_relay(reader, err));
    *out = &reader->base;
    return SK_OK;
done:
    video_close(&reader->base);
    return status;
}
