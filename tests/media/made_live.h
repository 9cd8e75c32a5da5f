/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_MEDIA_MADE_LIVE_H
#define SK_TESTS_MEDIA_MADE_LIVE_H

/* Cameras, servers and the time, made up: what they send is a video of the test's, and the clock moves where the test moves it. For
 * one file of a program: the system's functions are defined here. */
#include "made_video.h"

#include "skitter/log.h"

#include "media/library_ffmpeg.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- the system, as the test has it --- */

static int64_t now_ns = 1000000000000; /* CLOCK_MONOTONIC */

int clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    *out = (struct timespec){now_ns / 1000000000, now_ns % 1000000000};
    return 0;
}

int usleep(useconds_t us)
{
    now_ns += (int64_t)us * 1000;
    return 0;
}

static struct {
    bool there, character, allowed;
    int others; /* … that are connected */
} camera;
static int globs_held;

int stat(const char *restrict path, struct stat *restrict out)
{
    if (strncmp(path, "/dev/video", 10) != 0)
        return fstatat(AT_FDCWD, path, out, 0);
    memset(out, 0, sizeof *out);
    out->st_mode = camera.character ? S_IFCHR : S_IFREG;
    errno = ENOENT;
    return camera.there ? 0 : -1;
}

int access(const char *path, int mode)
{
    if (strncmp(path, "/dev/video", 10) != 0)
        return faccessat(AT_FDCWD, path, mode, 0);
    errno = EACCES;
    return camera.allowed && mode == (R_OK | W_OK) ? 0 : -1;
}

int glob(const char *restrict pattern, int flags, int (*on_error)(const char *, int), glob_t *restrict out)
{
    static char names[9][16];
    static char *list[10];
    for (int i = 0; i < camera.others; i++) {
        snprintf(names[i], sizeof names[i], "/dev/video%d", i);
        list[i] = names[i];
    }
    (void)flags, (void)on_error;
    assert_string_equal(pattern, "/dev/video*");
    out->gl_pathc = (size_t)camera.others;
    out->gl_pathv = list;
    globs_held++;
    return camera.others ? 0 : GLOB_NOMATCH;
}

void globfree(glob_t *found)
{
    globs_held -= found->gl_pathv != NULL;
}

/* --- FFmpeg, as the test has it --- */

static sk_ffmpeg real;
static const char *video;
static int64_t begun_ns;

static struct {
    int refused;     /* of attempts to open: so many fail first */
    bool silent;     /* … by not answering */
    bool lacks_v4l2; /* FFmpeg reads no cameras */
    int packets;     /* then reading fails; 0: up to the video's end */
    bool stalls;     /* … by not answering */
    bool gone;       /* for good then; else it comes back at the third attempt */
    int64_t duration, bytes;
} server;

static int attempts, n_read;
static double at[64], lasted[64]; /* seconds since the test began, and how long until somebody had enough */
static char transports[64], wanted_format[32];
static bool whitelisted, buffered;

static double seconds_now(void)
{
    return (double)(now_ns - begun_ns) * 1e-9;
}

/* Nothing comes until the caller has enough; seconds that it took. */
static double wait_for_nothing(const AVIOInterruptCB *who)
{
    const double from = seconds_now();
    while (!who->callback(who->opaque) && seconds_now() < 1000)
        now_ns += 50000000;
    return seconds_now() - from;
}

static const AVInputFormat *find_format(const char *name)
{
    snprintf(wanted_format, sizeof wanted_format, "%s", name);
    return server.lacks_v4l2 ? NULL : real.av_find_input_format("mpegts");
}

static int open_it(AVFormatContext **format, const char *uri, const AVInputFormat *input,
                   AVDictionary **options)
{
    const AVDictionaryEntry *e = real.av_dict_get(*options, "rtsp_transport", NULL, 0);
    (void)uri;
    if (e)
        snprintf(transports + strlen(transports), sizeof transports - strlen(transports), "%s ", e->value);
    e = real.av_dict_get(*options, "fflags", NULL, 0);
    buffered = !e || strcmp(e->value, "nobuffer") != 0;
    whitelisted = real.av_dict_get(*options, "protocol_whitelist", NULL, 0) != NULL;
    const int n = attempts++;
    at[n] = seconds_now();
    if (n >= server.refused)
        return real.avformat_open_input(format, video, input, NULL);
    if (server.silent)
        lasted[n] = wait_for_nothing(&(*format)->interrupt_callback);
    real.avformat_free_context(*format);
    *format = NULL;
    return server.silent ? AVERROR_EXIT : AVERROR(ECONNREFUSED);
}

static int look(AVFormatContext *format, AVDictionary **options)
{
    const int code = real.avformat_find_stream_info(format, options);
    format->duration = server.duration;
    return code;
}

static int64_t size_of(AVIOContext *bytes)
{
    (void)bytes;
    return server.bytes;
}

static int read_it(AVFormatContext *format, AVPacket *packet)
{
    if (server.packets && n_read >= server.packets) {
        if (server.stalls)
            lasted[attempts] = wait_for_nothing(&format->interrupt_callback);
        n_read = 0;
        server.refused = server.gone ? 1000 : attempts + 2;
        return server.stalls ? AVERROR_EXIT : AVERROR(EIO);
    }
    n_read++;
    now_ns += 40000000;
    return real.av_read_frame(format, packet);
}

static char said[4][300];
static int n_said;
static void listen_for(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    if (level == SK_LOG_WARN && n_said < 4)
        snprintf(said[n_said++], sizeof said[0], "%s", text);
}

static sk_source_settings settings;
static atomic_bool stop;
static sk_log_listener *listener;

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    if (!real.av_read_frame)
        real = sk_ff;
    if (!video)
        video = made_video("live.ts", 30, "-c:v mpeg2video -q:v 2 -g 5 -bf 0 -pix_fmt yuv420p");
    sk_ff.av_find_input_format = find_format;
    sk_ff.avformat_open_input = open_it;
    sk_ff.avformat_find_stream_info = look;
    sk_ff.avio_size = size_of;
    sk_ff.av_read_frame = read_it;
    memset(&server, 0, sizeof server);
    memset(&camera, 0, sizeof camera);
    server.duration = AV_NOPTS_VALUE;
    server.bytes = -1;
    attempts = n_read = n_said = 0;
    transports[0] = 0;
    begun_ns = now_ns;
    atomic_store(&stop, false);
    settings = (sk_source_settings)SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.threads = 1;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen_for, NULL, &listener, &err), &err);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sk_log_unlisten(&listener);
    sk_ff = real;
    assert_int_equal(globs_held, 0);
    return 0;
}

static sk_reader *reader;
static sk_slot slot;

static sk_status open_live(const char *uri, sk_error *err)
{
    *err = (sk_error){0};
    attempts = 0;
    begun_ns = now_ns;
    const sk_status status = sk_reader_open_live(uri, &settings, &stop, &reader, err);
    if (status == SK_OK && reader)
        reader->stop = &stop;
    return status;
}

#define MADE_LIVE(f) cmocka_unit_test_setup_teardown(f, begin, finish)

static void close_live(void)
{
    reader->close(reader);
    sk_slot_free(&slot);
}

#endif
