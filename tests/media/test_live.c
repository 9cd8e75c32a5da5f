/* SPDX-License-Identifier: Apache-2.0 */
/* A stream from a server of the test's own: frames that come now, a server that goes away and comes back, patience that ends. */
#include "made_video.h"

#include "base/clock.h"
#include "skitter/log.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"

/* Sends the file to everybody who connects, without its length; after `most` connections it is gone. */
typedef struct server {
    int socket, port, most;
    bool with_length;
    bool late; /* nobody listens before somebody has asked for it */
    uint8_t *bytes;
    size_t length;
    pthread_t thread;
} server;

static void *serve(void *argument)
{
    server *s = argument;
    for (int i = 0; i < s->most; i++) {
        const int to = accept(s->socket, NULL, NULL);
        if (to < 0)
            break;
        char request[2048], head[200];
        if (read(to, request, sizeof request) < 0)
            request[0] = 0;
        const int n =
            s->with_length
                ? snprintf(head, sizeof head,
                           "HTTP/1.0 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", s->length)
                : snprintf(head, sizeof head, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n");
        if (send(to, head, (size_t)n, MSG_NOSIGNAL) == n)
            for (size_t at = 0; at < s->length;) {
                const ssize_t sent = send(to, s->bytes + at, s->length - at, MSG_NOSIGNAL);
                if (sent <= 0)
                    break;
                at += (size_t)sent;
            }
        close(to);
    }
    close(s->socket);
    return NULL;
}

static void begin(server *s, const char *path, int most)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    s->bytes = malloc(1 << 20);
    s->length = fread(s->bytes, 1, 1 << 20, f);
    fclose(f);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    s->most = most;
    s->socket = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->socket, (struct sockaddr *)&at, sizeof at), 0);
    if (!s->late)
        assert_int_equal(listen(s->socket, 4), 0);
    assert_int_equal(getsockname(s->socket, (struct sockaddr *)&at, &size), 0);
    s->port = ntohs(at.sin_port);
    if (!s->late)
        assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void finish(server *s)
{
    pthread_join(s->thread, NULL);
    free(s->bytes);
}

static int again, lost;
static void listen_for(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    if (level != SK_LOG_WARN)
        return;
    lost += strstr(text, "; connecting again") != NULL;
    again += strstr(text, "connected again after") != NULL;
}

/* The file twice, then nobody: frames are numbered on, times are those of their coming, the end says why. */
static void goes_on_after_an_outage(void **state)
{
    (void)state;
    sk_error err = {0};
    server s = {0};
    const char *path = made_video("live.ts", 100, "-c:v mpeg2video -q:v 2 -g 5 -bf 0 -pix_fmt yuv420p");
    begin(&s, path, 2);
    char uri[100];
    snprintf(uri, sizeof uri, "http://127.0.0.1:%d/live.ts", s.port);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.queue = 200; /* none is dropped */
    settings.threads = 1;
    settings.reconnect_seconds = 1;
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen_for, NULL, &listener, &err), &err);
    const int64_t begun = sk_clock_ns(), wall = sk_clock_wall_ns();
    sk_source *source = NULL;
    assert_ok(sk_source_open(uri, &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(info.kind, SK_SOURCE_LIVE);
    assert_int_equal(info.width, 64);
    assert_int_equal(info.height, 48);
    assert_int_equal(info.frames, -1);
    assert_int_equal(info.total, -1);
    assert_true(info.stamped);
    assert_true(fabs(info.rate - 25) < 0.01);
    assert_string_equal(info.decoder, "mpeg2video");
    int count = 0, shown = -1, begins = 0; /* what was read to know the stream is not shown */
    int64_t before = -1;
    sk_status status = SK_OK;
    for (const sk_frame *frame = NULL; status == SK_OK; count++) {
        status = sk_source_next(source, &frame, &err);
        if (status != SK_OK)
            break;
        assert_non_null(frame);
        assert_int_equal(frame->index, count);
        begins += made_number(frame) != shown + 1;
        shown = made_number(frame);
        assert_true(frame->time_ns >= before && frame->time_ns < sk_clock_ns() - begun);
        assert_true(frame->wall_ns >= wall && frame->wall_ns <= sk_clock_wall_ns());
        if (count == 0)
            assert_int_equal(frame->time_ns, 0);
        before = frame->time_ns;
        sk_source_release(source, frame);
    }
    assert_int_equal(begins, 2);
    assert_int_equal(shown, 99);
    assert_int_equal(status, SK_ERR_IO);
    assert_non_null(strstr(err.message, "no frame for 1 s and "));
    assert_non_null(strstr(err.message, " attempts to connect again; last problem: "));
    assert_non_null(strstr(err.message, "Connection refused"));
    const double waited = (double)(sk_clock_ns() - begun) * 1e-9 - (double)before * 1e-9;
    assert_true(waited > 0.9 && waited < 8);
    sk_source_status now = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &now);
    assert_int_equal(now.outages, 2);
    assert_true(now.reconnects >= 2 &&
                now.reconnects < 6); /* after 0.25, and up to 0.25, 0.5 and what is left */
    assert_false(now.connected);
    assert_int_equal(now.dropped, 0);
    assert_int_equal(now.decoded, count);
    sk_source_close(&source);
    sk_log_unlisten(&listener);
    assert_int_equal(lost, 2);
    assert_int_equal(again, 1);
    finish(&s);
}

/* Who reads slowly, or holds what it has, gets the newest: as many as there is room for, in order; the others are counted. */
static void the_newest_frames_win(void **state)
{
    (void)state;
    const char *path = made_video("newest.ts", 60, "-c:v mpeg2video -q:v 2 -g 5 -bf 0 -pix_fmt yuv420p");
    for (int row = 0; row < 4; row++) {
        const int queue = row < 2 ? 1 : 4, held = row % 2, left = queue + 1 - held;
        sk_error err = {0};
        server s = {0};
        const sk_frame *frame = NULL, *first = NULL;
        sk_source *source = NULL;
        sk_source_status now = SK_SOURCE_STATUS_INIT;
        sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
        char uri[100];
        begin(&s, path, 1);
        snprintf(uri, sizeof uri, "http://127.0.0.1:%d/newest.ts", s.port);
        sk_source_defaults(&settings);
        settings.queue = queue;
        settings.threads = 1;
        settings.reconnect_seconds = 0;
        assert_ok(sk_source_open(uri, &settings, &source, &err), &err);
        if (held)
            assert_ok(sk_source_next(source, &first, &err), &err);
        for (int i = 0; i < 4000 && now.outages == 0; i++) { /* until nothing comes any more */
            sk_clock_sleep_ns(5000000);
            sk_source_get_status(source, &now);
        }
        assert_int_equal(now.outages, 1);
        const int64_t decoded = now.decoded, index = first ? first->index : -1;
        assert_true(decoded > 20);
        for (int i = 0; i < left; i++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_non_null(frame);
            assert_int_equal(frame->index, decoded - left + i);
            if (i == left - 1)
                assert_int_equal(made_number(frame), 59);
            sk_source_release(source, frame);
        }
        assert_int_equal(sk_source_next(source, &frame, &err), SK_ERR_IO);
        if (first)
            assert_int_equal(first->index, index); /* it was not written over */
        sk_source_get_status(source, &now);
        assert_int_equal(now.dropped, decoded - left - held);
        if (first)
            sk_source_release(source, first);
        sk_source_close(&source);
        finish(&s);
    }
}

/* Every third frame of the first dozen, then it ends, whatever would come. */
static void frames_that_were_asked_for(void **state)
{
    (void)state;
    sk_error err = {0};
    server s = {0};
    begin(&s, made_video("some.ts", 100, "-c:v mpeg2video -q:v 2 -g 5 -bf 0 -pix_fmt yuv420p"), 1);
    char uri[100];
    snprintf(uri, sizeof uri, "http://127.0.0.1:%d/some.ts", s.port);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.queue = 100;
    settings.first = 2;
    settings.last = 12;
    settings.step = 3;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    assert_ok(sk_source_open(uri, &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(info.frames, 4);
    int first = 0; /* what the first frame there was shows */
    for (int i = 2; i < 12; i += 3) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->index, i);
        first = i == 2 ? made_number(frame) - 2 : first;
        assert_int_equal(made_number(frame), first + i);
        sk_source_release(source, frame);
    }
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    sk_source_close(&source);
    finish(&s);
}

/* A file behind a server has an end, and that is no outage. */
static void a_file_has_an_end(void **state)
{
    (void)state;
    sk_error err = {0};
    server s = {.with_length = true};
    begin(&s, made_video("served.ts", 30, "-c:v mpeg2video -q:v 2 -g 5 -bf 0 -pix_fmt yuv420p"), 2);
    char uri[100];
    snprintf(uri, sizeof uri, "http://127.0.0.1:%d/served.ts", s.port);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    assert_ok(sk_source_open(uri, &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(info.kind, SK_SOURCE_VIDEO);
    assert_false(info.stamped);
    int count = 0;
    for (const sk_frame *frame = NULL;; count++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        assert_int_equal(frame->index, count);
        sk_source_release(source, frame);
    }
    assert_int_equal(count, 30);
    sk_source_close(&source);
    finish(&s);
}

static server *called; /* … by a reader who found nobody */
static int waiting, joined;
static void listen_late(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    if (level != SK_LOG_WARN)
        return;
    joined += strstr(text, ": connected after 0.") && strstr(text, " s, at attempt 2");
    if (!strstr(text, "Connection refused; trying again for 30 s"))
        return;
    waiting++;
    if (listen(called->socket, 4) == 0)
        (void)pthread_create(&called->thread, NULL, serve, called);
}

/* A server that starts after its reader. */
static void waits_for_a_server(void **state)
{
    (void)state;
    sk_error err = {0};
    server s = {.late = true};
    begin(&s, made_video("late.ts", 100, "-c:v mpeg2video -q:v 2 -g 5 -bf 0 -pix_fmt yuv420p"), 1);
    char uri[100];
    snprintf(uri, sizeof uri, "http://127.0.0.1:%d/late.ts", s.port);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.reconnect_seconds = 30;
    called = &s;
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen_late, NULL, &listener, &err), &err);
    sk_source *source = NULL;
    assert_ok(sk_source_open(uri, &settings, &source, &err), &err);
    const sk_frame *frame = NULL;
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_non_null(frame);
    sk_source_release(source, frame);
    sk_log_unlisten(&listener);
    sk_source_close(&source);
    finish(&s);
    assert_int_equal(waiting, 1);
    assert_int_equal(joined, 1);
}

static char options[400];
static int (*set_option)(AVDictionary **, const char *, const char *, int);
static int note_option(AVDictionary **all, const char *key, const char *value, int flags)
{
    if (strcmp(key, "rtsp_transport") == 0 || strcmp(key, "fflags") == 0)
        snprintf(options + strlen(options), sizeof options - strlen(options), "%s=%s%d ", key, value, flags);
    return set_option(all, key, value, flags);
}

/* RTSP first over TCP, which loses nothing, then over UDP; other streams are not asked. */
static void how_streams_are_carried(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source *source = NULL;
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.reconnect_seconds = 0;
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    set_option = sk_ff.av_dict_set;
    sk_ff.av_dict_set = note_option;
    const sk_status one = sk_source_open("rtsp://127.0.0.1:9/x", &settings, &source, &err);
    char first[400];
    snprintf(first, sizeof first, "%s", options);
    options[0] = 0;
    const sk_status other = sk_source_open("http://127.0.0.1:9/x", &settings, &source, &err);
    sk_ff.av_dict_set = set_option;
    assert_int_equal(one, SK_ERR_IO);
    assert_int_equal(other, SK_ERR_IO);
    assert_string_equal(first, "rtsp_transport=tcp0 fflags=nobuffer0 rtsp_transport=udp0 fflags=nobuffer0 ");
    assert_string_equal(options, "fflags=nobuffer0 ");
}

static bool asked(void *context)
{
    return ++*(int *)context > 20;
}

static void cameras_and_nobody(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source *source = NULL;
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    assert_int_equal(sk_source_open("camera:97", &settings, &source, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/dev/video97: there is no such camera; "));
    int64_t begun = sk_clock_ns();
    settings.reconnect_seconds = 0.6;
    assert_int_equal(sk_source_open("http://127.0.0.1:9/x", &settings, &source, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "gave up after 1 s and "));
    assert_non_null(strstr(err.message, "attempts: "));
    assert_non_null(strstr(err.message, "Connection refused"));
    assert_in_range(sk_clock_ns() - begun, 500000000, 5000000000);
    settings.reconnect_seconds = 0; /* no patience: one attempt */
    begun = sk_clock_ns();
    assert_int_equal(sk_source_open("http://127.0.0.1:9/x", &settings, &source, &err), SK_ERR_IO);
    assert_null(strstr(err.message, "gave up"));
    assert_in_range(sk_clock_ns() - begun, 0, 3000000000);
    int asks = 0;
    settings.reconnect_seconds = 60;
    settings.interrupted = asked;
    settings.interrupted_context = &asks;
    begun = sk_clock_ns();
    assert_int_equal(sk_source_open("http://127.0.0.1:9/x", &settings, &source, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "http://127.0.0.1:9/x: interrupted while connecting");
    assert_in_range(sk_clock_ns() - begun, 0, 10000000000);
    assert_null(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_after_an_outage),    cmocka_unit_test(the_newest_frames_win),
        cmocka_unit_test(frames_that_were_asked_for), cmocka_unit_test(a_file_has_an_end),
        cmocka_unit_test(waits_for_a_server),         cmocka_unit_test(how_streams_are_carried),
        cmocka_unit_test(cameras_and_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
