/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/memory.h"
#include "media/decoder_ffmpeg.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* Cameras and network streams. The newest frame wins (the source drops the oldest unread one); a stream that stops is
 * opened again with growing pauses until it answers or `reconnect_seconds` have passed. */

typedef struct live_reader {
    sk_reader base;
    sk_decoder decoder;
    char *uri; /* what FFmpeg opens: a number n has become /dev/video<n> */
    bool camera;
    bool connected;
    sk_source_settings settings;
    double started;    /* clock at the first frame */
    double last_frame; /* clock when the last frame came */
    double deadline;   /* blocking calls give up then */
    int64_t count;
} live_reader;

#define CONNECT_SECONDS 10.0
#define READ_SECONDS    10.0

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool is_rtsp(const live_reader *reader)
{
    return strncasecmp(reader->uri, "rtsp", 4) == 0;
}

/* Does somebody want this source to end? */
static bool is_stopped(const live_reader *reader)
{
    const sk_source_settings *s = &reader->settings;
    return (reader->base.stop && atomic_load(reader->base.stop)) ||
           (s->interrupted && s->interrupted(s->interrupted_context));
}

static int interrupted(void *context)
{
    const live_reader *reader = context;
    return is_stopped(reader) || now_seconds() > reader->deadline;
}

static sk_status open_stream(live_reader *reader, const char *transport, sk_error *err)
{
    AVDictionary *options = NULL;
    sk_decoder_settings settings = {.threads = reader->settings.threads,
                                    .hwaccel = reader->settings.hwaccel,
                                    .colours = reader->settings.colours,
                                    .max_pixels = reader->settings.max_pixels,
                                    .low_delay = true,
                                    .options = &options,
                                    .interrupt = {interrupted, reader}};
    if (reader->camera) {
        settings.input_format = sk_ff.av_find_input_format("v4l2");
        if (!settings.input_format)
            return sk_fail(err, SK_ERR_UNSUPPORTED,
                           "%s: this FFmpeg reads no cameras (it has no v4l2 device)", reader->uri);
    }
    if (transport)
        sk_ff.av_dict_set(&options, "rtsp_transport", transport, 0);
    sk_ff.av_dict_set(&options, "fflags", "nobuffer", 0);
    reader->deadline = now_seconds() + CONNECT_SECONDS;
    sk_status status = sk_decoder_open(reader->uri, &settings, &reader->decoder, err);
    sk_ff.av_dict_free(&options);
    reader->connected = status == SK_OK;
    return status;
}

/* RTSP comes over TCP where the server has it, since UDP loses packets and so pictures; over UDP where it has not. */
static sk_status connect_stream(live_reader *reader, sk_error *err)
{
    SK_TRY(sk_ffmpeg_load(reader->uri, err));
    if (reader->camera)
        SK_TRY(sk_ffmpeg_load_cameras(reader->uri, err));
    if (!is_rtsp(reader))
        return open_stream(reader, NULL, err);
    sk_status status = open_stream(reader, "tcp", err);
    sk_error second = {0};
    if (status != SK_OK && !is_stopped(reader) && open_stream(reader, "udp", &second) == SK_OK)
        status = SK_OK;
    return status;
}

static void set_away(live_reader *reader, bool away)
{
    reader->base.away = away;
    if (reader->base.publish)
        reader->base.publish(reader->base.publish_context);
}

/* Waits and connects anew until it works, the source is stopped or the patience ends. */
static sk_status reconnect(live_reader *reader, bool *end, sk_error *err)
{
    double pause = 0.25;
    int32_t before = reader->base.reconnects;
    reader->base.outages++;
    sk_log(SK_LOG_WARN, "%s: %s; connecting again", reader->uri, reader->base.last_problem);
    for (;;) {
        if (reader->connected)
            sk_decoder_close(&reader->decoder);
        reader->connected = false;
        set_away(reader, true);
        if (is_stopped(reader)) {
            *end = true;
            return SK_OK;
        }
        if (now_seconds() - reader->last_frame > reader->settings.reconnect_seconds)
            return sk_fail(err, SK_ERR_IO,
                           "%s: no frame for %.0f s and %d attempts to connect again; last problem: %s",
                           reader->uri, now_seconds() - reader->last_frame, reader->base.reconnects,
                           reader->base.last_problem);
        for (double until = now_seconds() + pause; now_seconds() < until && !is_stopped(reader);)
            usleep(20000);
        pause = pause < 8 ? pause * 2 : 8;
        reader->base.reconnects++;
        sk_error problem = {0};
        if (connect_stream(reader, &problem) == SK_OK) {
            sk_log(SK_LOG_WARN, "%s: connected again after %.1f s, at attempt %d", reader->uri,
                   now_seconds() - reader->last_frame, reader->base.reconnects - before);
            set_away(reader, false);
            return SK_OK;
        }
        snprintf(reader->base.last_problem, sizeof reader->base.last_problem, "%.255s", problem.message);
    }
}

static sk_status live_read(sk_reader *base, sk_slot *slot, bool *end, sk_error *err)
{
    live_reader *reader = (live_reader *)base;
    int64_t last = reader->settings.last;
    if (last >= 0 && reader->count >= last) {
        *end = true;
        return SK_OK;
    }
    for (;;) {
        if (is_stopped(reader)) {
            *end = true;
            return SK_OK;
        }
        bool stream_end = false;
        sk_error problem = {0};
        reader->deadline = now_seconds() + READ_SECONDS;
        sk_status status = sk_decoder_next(&reader->decoder, reader->uri, &stream_end, &problem);
        if (status == SK_OK && !stream_end) {
            int64_t number = reader->count++;
            if (number < reader->settings.first ||
                (number - reader->settings.first) % reader->settings.step != 0)
                continue;
            double now = now_seconds();
            reader->last_frame = now;
            if (reader->started == 0)
                reader->started = now;
            SK_TRY(sk_decoder_convert(&reader->decoder, reader->uri, reader->settings.format, slot, err));
            slot->frame.index = number;
            slot->frame.time = now - reader->started;
            base->damaged = reader->decoder.damaged;
            return SK_OK;
        }
        snprintf(base->last_problem, sizeof base->last_problem, "%.255s",
                 stream_end ? "the stream ended" : problem.message);
        SK_TRY(reconnect(reader, end, err));
        if (*end)
            return SK_OK;
    }
}

static void live_close(sk_reader *base)
{
    live_reader *reader = (live_reader *)base;
    if (reader->connected)
        sk_decoder_close(&reader->decoder);
    sk_free(reader->uri);
    sk_free(reader);
}

/* A file with an end, behind a server: every frame of it is wanted, and its end is no outage. */
static bool is_file(const live_reader *reader)
{
    const AVFormatContext *format = reader->decoder.format;
    if (reader->camera || is_rtsp(reader))
        return false;
    return format->duration > 0 || (format->pb && sk_ff.avio_size(format->pb) > 0);
}

sk_status sk_reader_open_live(const char *uri, const sk_source_settings *settings, const atomic_bool *stop,
                              sk_reader **out, sk_error *err)
{
    *out = NULL;
    live_reader *reader = sk_calloc(1, sizeof *reader);
    if (!reader)
        return sk_fail_memory(err, sizeof *reader);
    sk_status status = SK_OK;
    reader->base.read = live_read;
    reader->base.close = live_close;
    reader->base.stop = stop;
    reader->settings = *settings;
    char path[64];
    bool number =
        isdigit((unsigned char)uri[0]) && strspn(uri, "0123456789") == strlen(uri) && strlen(uri) < 4;
    snprintf(path, sizeof path, "/dev/video%.3s", uri);
    reader->uri = sk_strdup(number ? path : uri);
    reader->camera = number || strncmp(uri, "/dev/", 5) == 0;
    if (!reader->uri) {
        status = sk_fail_memory(err, strlen(uri) + 1);
        goto done;
    }
    SK_TRY_GOTO(connect_stream(reader, err));
    if (is_file(reader))
        goto done;
    reader->last_frame = now_seconds();
    reader->base.info = (sk_source_info){
        .kind = SK_SOURCE_LIVE,
        .width = reader->decoder.codec->width,
        .height = reader->decoder.codec->height,
        .rate = av_q2d(reader->decoder.stream->avg_frame_rate.num ? reader->decoder.stream->avg_frame_rate
                                                                  : (AVRational){0, 1}),
        .frames = settings->last >= 0 ? settings->last - settings->first : -1,
        .total = -1,
        .decoder = reader->decoder.codec->codec->name,
        .hwaccel = reader->decoder.device_name};
    *out = &reader->base;
    return SK_OK;
done:
    live_close(&reader->base);
    return status;
}
