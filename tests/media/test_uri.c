/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"
#include "media/video_sink.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names are names: what lies on the disk is read as a file, whatever FFmpeg would make of it, and nothing on the disk
 * makes a request or reads other files. */

static void says_what_a_name_is(void **state)
{
    (void)state;
    char path[64];
    static const char *const cameras[][2] = {{"0", "/dev/video0"},
                                             {"12", "/dev/video12"},
                                             {"camera:3", "/dev/video3"},
                                             {"/dev/video9", "/dev/video9"}};
    for (size_t i = 0; i < sizeof cameras / sizeof *cameras; i++) {
        assert_true(sk_uri_camera(cameras[i][0], path, sizeof path));
        assert_string_equal(path, cameras[i][1]);
        assert_true(sk_uri_is_live(cameras[i][0]));
    }
    static const char *const addresses[] = {"rtsp://h/1", "RTSP://h/1", "http://h/a.mp4", "udp://@:5000",
                                            "srt://h:1"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        assert_true(sk_uri_is_address(addresses[i]) && sk_uri_is_live(addresses[i]));
    static const char *const files[] = {"2026",    "http:clip.ts", "cam1:trial2.ts", "concat:a|b",
                                        "data:,x", "subfile,,:a",  "a://b.mp4",      "camera:x",
                                        "pipe:0",  "file:a"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_false(sk_uri_is_live(files[i]));
    assert_string_equal(sk_uri_path("file:///tmp/a.mp4"), "/tmp/a.mp4");
    assert_true(sk_uri_is_input("-") && sk_uri_is_once("-"));
}

#ifdef SKITTER_HAVE_FFMPEG
static void write_video(const char *path)
{
    static uint8_t pixels[64 * 64 * 3];
    sk_error err = {0};
    sk_video_sink *sink = NULL;
    assert_ok(sk_video_sink_open(path, 64, 64, 25, &sink, &err), &err);
    for (int i = 0; i < 5; i++) {
        memset(pixels, 40 * i, sizeof pixels);
        sk_frame frame = {.format = SK_PIXEL_RGB,
                          .width = 64,
                          .height = 64,
                          .stride = 64 * 3,
                          .data = pixels,
                          .index = i,
                          .time_ns = i * INT64_C(40000000)};
        assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
}

/* A server that nobody may speak to. */
typedef struct listener {
    int fd;
    int port;
} listener;

static listener listen_here(void)
{
    listener l = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    assert_int_equal(bind(l.fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(l.fd, 5), 0);
    assert_int_equal(getsockname(l.fd, (struct sockaddr *)&address, &size), 0);
    l.port = ntohs(address.sin_port);
    return l;
}

static void expect_silence(const listener *l, const char *what)
{
    int guest = accept(l->fd, NULL, NULL);
    if (guest >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
        fail_msg("%s: somebody connected", what);
}

static int frames_of(const char *uri, sk_error *err)
{
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.reconnect_seconds = 0;
    sk_source *source = NULL;
    if (sk_source_open(uri, &settings, &source, err) != SK_OK)
        return -1;
    int count = 0;
    for (const sk_frame *frame = NULL; sk_source_next(source, &frame, err) == SK_OK && frame; count++)
        sk_source_release(source, frame);
    sk_source_close(&source);
    return count;
}

static void names_on_the_disk_are_files(void **state)
{
    (void)state;
    char here[4096], folder[128], name[256];
    listener l = listen_here();
    sk_error err = {0};
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_folder()), 0);
    static const char *const names[] = {"cam1:trial2.mp4", "http:clip.mp4", "concat:a.mp4", "0",
                                        "rtsp:x%03d.mp4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_video(names[i]);
        if (access(names[i], F_OK) != 0)
            fail_msg("%s: written somewhere else", names[i]);
        assert_int_equal(frames_of(names[i], &err), 5);
    }
    /* the same as a whole address: http:/127.0.0.1:port/a.mp4 is a path, too */
    snprintf(folder, sizeof folder, "http:/127.0.0.1:%d", l.port);
    assert_int_equal(mkdir("http:", 0755), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(name, sizeof name, "http://127.0.0.1:%d/a.mp4", l.port);
    write_video(name);
    assert_int_equal(frames_of(name, &err), 5);
    expect_silence(&l, name);
    /* protocols that read other files have no way in */
    static const char *const tricks[] = {"concat:cam1:trial2.mp4|0",
                                         "subfile,,start,0,end,0,,:0",
                                         "file:0",
                                         "data:video/mp4;base64,AAAA",
                                         "pipe:0",
                                         "async:0",
                                         "crypto:0"};
    for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++) {
        assert_int_equal(frames_of(tricks[i], &err), -1);
        assert_non_null(strstr(err.message, "there is no such"));
    }
    assert_int_equal(frames_of("gopher://host/x", &err), -1);
    assert_non_null(strstr(err.message, "rtsp://"));
    assert_int_equal(chdir(here), 0);
    close(l.fd);
}

static void write_text(const char *path, const char *format, int port)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, format, port, port);
    fclose(file);
}

static void playlists_are_not_followed(void **state)
{
    (void)state;
    char here[4096];
    listener l = listen_here();
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_folder()), 0);
    write_video("segment.mp4");
    static const char *const lists[][2] = {
        {"a.m3u8",
         "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:%d/a.ts\n#EXT-X-ENDLIST\n"},
        {"b.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsegment.mp4\n#EXT-X-ENDLIST\n"},
        {"c.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:%d/a.ts\n#EXT-X-ENDLIST\n"},
        {"d.ffconcat", "ffconcat version 1.0\nfile segment.mp4\n"},
        {"e.ffconcat", "ffconcat version 1.0\nfile 'http://127.0.0.1:%d/a.mp4'\n"},
        {"f.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video %d RTP/AVP 96\n"
                  "a=rtpmap:96 H264/90000\n"},
        {"g.mpd",
         "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\">"
         "<Period><AdaptationSet mimeType=\"video/mp4\"><Representation id=\"1\" bandwidth=\"1\">"
         "<BaseURL>http://127.0.0.1:%d/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>\n"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sk_error err = {0};
        write_text(lists[i][0], lists[i][1], l.port);
        if (frames_of(lists[i][0], &err) > 0)
            fail_msg("%s: gave frames", lists[i][0]);
        if (!strstr(err.message, "list of other files"))
            fail_msg("%s: not explained: %s", lists[i][0], err.message);
        expect_silence(&l, lists[i][0]);
    }
    assert_int_equal(chdir(here), 0);
    close(l.fd);
}

static void a_camera_that_is_not_there_is_called_one(void **state)
{
    (void)state;
    static const char *const names[] = {"/dev/video987", "camera:987", "987"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sk_error err = {0};
        assert_int_equal(frames_of(names[i], &err), -1);
        assert_int_equal(err.code, SK_ERR_NOT_FOUND);
        assert_non_null(strstr(err.message, "/dev/video987: there is no such camera"));
    }
}
#endif

/* Who names a kind of address that is not read is told all that are. */
static void kinds_of_addresses_are_named(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_int_equal(sk_uri_refuse_scheme("gopher://x/y.mp4", &err), SK_ERR_NOT_FOUND);
    assert_string_equal(
        err.message,
        "gopher://x/y.mp4: there is no such file, and no addresses beginning with gopher:// are read; "
        "there are rtsp://, rtsps://, rtmp://, rtmps://, rtp://, udp://, tcp://, srt://, http://, "
        "https://, ftp://");
    static const char *const fine[] = {"a.mp4", "://x", "a b://x", "http://x", "SRT://x"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        assert_ok(sk_uri_refuse_scheme(fine[i], &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_a_name_is),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(names_on_the_disk_are_files),
        cmocka_unit_test(playlists_are_not_followed),
        cmocka_unit_test(kinds_of_addresses_are_named),
        cmocka_unit_test(a_camera_that_is_not_there_is_called_one),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
