/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/frame.h"
#include "base/log.h"
#include "base/memory.h"
#include "media/decoder_ffmpeg.h"
#include "media/frame_choice.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
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
    double last_frame; /* clock when the last frame came; before the first one when connecting began */
    double deadline;   /* blocking calls give up then */
    int64_t count;     /* frames that came */
    sk_frame_choice choice;
} live_reader;

#define CONNECT_SECONDS 10.0
#define READ_SECONDS    10.0
#define LEAST_SECONDS   0.5
#define LONGEST_PAUSE   8.0

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

/* Clock when the patience for a stream without frames ends. */
static double patience_ends(const live_reader *reader)
{
    return reader->last_frame + reader->settings.reconnect_seconds;
}

/* No attempt goes on after the patience has ended; a short one is always made. */
static double attempt_ends(const live_reader *reader, double most)
{
    const double now = now_seconds();
    return fmin(now + most, fmax(patience_ends(reader), now + LEAST_SECONDS));
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
    const double begun = now_seconds();
    reader->deadline = attempt_ends(reader, CONNECT_SECONDS);
    sk_status status = sk_decoder_open(reader->uri, &settings, &reader->decoder, err);
    sk_ff.av_dict_free(&options);
    reader->connected = status == SK_OK;
    if (status == SK_ERR_CANCELLED &&
        !is_stopped(reader)) /* by the deadline: a server that is there and does not speak */
        return sk_fail(err, SK_ERR_IO, "%s: no answer for %.1f s", reader->uri, now_seconds() - begun);
    return status;
}

/* The cameras there are, for a person who named one that is not. */
static sk_status no_camera(const live_reader *reader, sk_error *err)
{
    glob_t found = {0};
    char names[256] = "";
    if (glob("/dev/video*", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && i < 8; i++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", found.gl_pathv[i]);
        }
    globfree(&found);
    return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no such camera; %s%s", reader->uri,
                   names[0] ? "connected are " : "none is connected, or this account or container sees none",
                   names);
}

static sk_status look_for_camera(const live_reader *reader, sk_error *err)
{
    struct stat info;
    if (stat(reader->uri, &info) != 0)
        return no_camera(reader, err);
    if (access(reader->uri, R_OK | W_OK) != 0)
        return sk_fail(
            err, SK_ERR_IO,
            "%s: this camera may not be opened by this account: %s. On Linux the group 'video' may "
            "(sudo usermod -aG video $USER, then log in again)",
            reader->uri, strerror(errno));
    if (!S_ISCHR(info.st_mode))
        return sk_fail(err, SK_ERR_FORMAT, "%s: is no camera", reader->uri);
    return SK_OK;
}

/* RTSP comes over TCP where the server has it, since UDP loses packets and so pictures; over UDP where it has not. */
static sk_status connect_stream(live_reader *reader, sk_error *err)
{
    SK_TRY(sk_ffmpeg_load(reader->uri, err));
    if (reader->camera) {
        SK_TRY(look_for_camera(reader, err));
        SK_TRY(sk_ffmpeg_load_cameras(reader->uri, err));
    }
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

static void note_problem(live_reader *reader, const char *text)
{
    snprintf(reader->base.last_problem, sizeof reader->base.last_problem, "%.255s", text);
}

/* Pauses before the next attempt, longer each time; false when somebody stopped the source or the patience has ended. */
static bool may_try_again(live_reader *reader, double *pause)
{
    double now = now_seconds(), end = patience_ends(reader);
    if (is_stopped(reader) || now >= end)
        return false;
    const double until = fmin(now + *pause, end);
    while (now_seconds() < until && !is_stopped(reader))
        usleep(20000);
    *pause = fmin(*pause * 2, LONGEST_PAUSE);
    return !is_stopped(reader);
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
        if (!may_try_again(reader, &pause))
            break;
        reader->base.reconnects++;
        sk_error problem = {0};
        if (connect_stream(reader, &problem) == SK_OK) {
            sk_log(SK_LOG_WARN, "%s: connected again after %.1f s, at attempt %d", reader->uri,
                   now_seconds() - reader->last_frame, reader->base.reconnects - before);
            set_away(reader, false);
            return SK_OK;
        }
        note_problem(reader, problem.message);
    }
    *end = is_stopped(reader);
    if (*end)
        return SK_OK;
    return sk_fail(err, SK_ERR_IO,
                   "%s: no frame for %.0f s and %d attempts to connect again; last problem: %s", reader->uri,
                   now_seconds() - reader->last_frame, reader->base.reconnects - before,
                   reader->base.last_problem);
}

/* A server may start after its reader: the first connection has the same patience. What no waiting mends fails at once. */
static sk_status connect_first(live_reader *reader, sk_error *err)
{
    double pause = 0.25;
    int attempts = 1;
    sk_error problem = {0};
    reader->last_frame = now_seconds();
    sk_status status = connect_stream(reader, &problem);
    if (status == SK_ERR_IO && !reader->camera && reader->settings.reconnect_seconds > LEAST_SECONDS &&
        !is_stopped(reader))
        sk_log(SK_LOG_WARN, "%s; trying again for %.0f s", problem.message,
               reader->settings.reconnect_seconds);
    while (status == SK_ERR_IO && !reader->camera && may_try_again(reader, &pause)) {
        attempts++;
        problem = (sk_error){0};
        status = connect_stream(reader, &problem);
    }
    if (status == SK_OK && attempts > 1)
        sk_log(SK_LOG_WARN, "%s: connected after %.1f s, at attempt %d", reader->uri,
               now_seconds() - reader->last_frame, attempts);
    if (status != SK_OK && is_stopped(reader))
        return sk_fail(err, SK_ERR_CANCELLED, "%s: interrupted while connecting", reader->uri);
    if (status != SK_OK && err)
        *err = problem;
    if (status == SK_ERR_IO && attempts > 1)
        sk_error_prefix(err, "gave up after %.0f s and %d attempts", now_seconds() - reader->last_frame,
                        attempts);
    reader->last_frame = now_seconds(); /* the first frame has its own time to come */
    return status;
}

static sk_status live_read(sk_reader *base, sk_slot *slot, bool *end, sk_error *err)
{
    live_reader *reader = (live_reader *)base;
    int64_t wanted = sk_frame_choice_next(&reader->choice, reader->count);
    if (wanted < 0) {
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
        reader->deadline = attempt_ends(reader, READ_SECONDS);
        sk_status status = sk_decoder_next(&reader->decoder, reader->uri, &stream_end, &problem);
        if (status == SK_OK && !stream_end) {
            int64_t number = reader->count++;
            if (number < wanted)
                continue;
            double now = now_seconds();
            reader->last_frame = now;
            if (reader->started == 0)
                reader->started = now;
            SK_TRY(sk_decoder_convert(&reader->decoder, reader->uri, reader->settings.format, slot, err));
            slot->frame.index = number;
            slot->frame.time_ns = sk_time_ns(now - reader->started);
            slot->frame.wall_ns = sk_clock_wall_ns();
            base->damaged = reader->decoder.damaged;
            return SK_OK;
        }
        note_problem(reader, stream_end                   ? "the stream ended"
                             : status == SK_ERR_CANCELLED ? "no frame came in time"
                                                          : problem.message);
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
    reader->choice = sk_frame_choice_of(settings);
    char path[64];
    reader->camera = sk_uri_camera(uri, path, sizeof path);
    reader->uri = sk_strdup(reader->camera ? path : uri);
    if (!reader->uri) {
        status = sk_fail_memory(err, strlen(uri) + 1);
        goto done;
    }
    SK_TRY_GOTO(connect_first(reader, err));
    if (is_file(reader))
        goto done;
    reader->base.info = (sk_source_info){.kind = SK_SOURCE_LIVE,
                                         .width = reader->decoder.codec->width,
                                         .height = reader->decoder.codec->height,
                                         .rate = av_q2d(reader->decoder.stream->avg_frame_rate.num
                                                            ? reader->decoder.stream->avg_frame_rate
                                                            : (AVRational){0, 1}),
                                         .frames = sk_frames_wanted(settings, -1),
                                         .total = -1,
                                         .decoder = reader->decoder.codec->codec->name,
                                         .hwaccel = reader->decoder.device_name,
                                         .stamped = true};
    *out = &reader->base;
    return SK_OK;
done:
    live_close(&reader->base);
    return status;
}
