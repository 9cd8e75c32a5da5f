/* SPDX-License-Identifier: Apache-2.0 */
/* How files are read and written: colours, formats, bounds, devices that are not there, pipes; times of what is written. */
#include "made_video.h"

#include "base/memory.h"
#include "media/video_sink.h"
#include "skitter/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef SKITTER_HAVE_FFMPEG

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    return s;
}

static sk_source *open_with(const char *path, const sk_source_settings *settings)
{
    sk_error err = {0};
    sk_source *source = NULL;
    assert_ok(sk_source_open(path, settings, &source, &err), &err);
    return source;
}

static char heard[4096];
static int warnings;
static void listen(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    if (level != SK_LOG_WARN)
        return;
    warnings++;
    snprintf(heard, sizeof heard, "%s", text);
}

/* A colour in every form that decoders give it in is that colour. */
static void colours_come_out(void **state)
{
    (void)state;
    static const char *const forms[] = {"yuv420p", "yuv422p", "yuv444p", "yuvj420p",
                                        "gbrp",    "bgra",    "gray",    "yuv420p10le"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[600], command[1400];
        snprintf(path, sizeof path, "%s/colour.mkv", test_folder());
        snprintf(command, sizeof command,
                 "ffmpeg -v error -nostdin -y -f lavfi -i color=s=34x18:r=25:c=0xC86432 -frames:v 2 -pix_fmt "
                 "%s -c:v ffv1 '%s' "
                 ">/dev/null 2>&1",
                 forms[i], path);
        if (system(command) != 0) /* NOLINT */
            continue;
        for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++) {
            static const int rgb[3] = {200, 100, 50};
            sk_error err = {0};
            sk_source_settings s = usual();
            s.format = (sk_pixel_format)format;
            sk_source *source = open_with(path, &s);
            const sk_frame *frame = NULL;
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_int_equal(frame->format, format);
            assert_int_equal(frame->width, 34);
            const uint8_t *p = frame->data + 17 * frame->stride + 33 * sk_pixel_bytes(frame->format);
            for (int k = 0; k < sk_pixel_bytes(frame->format); k++) {
                const int wanted = format == SK_PIXEL_GRAY || strcmp(forms[i], "gray") == 0 ? 124
                                   : format == SK_PIXEL_BGR                                 ? rgb[2 - k]
                                                                                            : rgb[k];
                if (abs(p[k] - wanted) > 4)
                    fail_msg("%s, format %d, value %d: %d instead of %d", forms[i], format, k, p[k], wanted);
            }
            sk_source_release(source, frame);
            sk_source_close(&source);
        }
    }
}

/* NV12 where the reader takes it, and only of even sizes that lie upright. */
static void two_planes(void **state)
{
    (void)state;
    static const struct {
        const char *size, *pixels;
        bool two;
    } all[] = {{"64x48", "yuv420p", true},
               {"63x48", "yuv420p", false},
               {"64x47", "yuv420p", false},
               {"64x48", "yuv444p", false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char path[600], command[1400];
        snprintf(path, sizeof path, "%s/planes.mkv", test_folder());
        snprintf(command, sizeof command,
                 "ffmpeg -v error -nostdin -y -f lavfi -i testsrc=s=%s:r=25 -frames:v 3 -pix_fmt %s -c:v "
                 "ffv1 '%s' >/dev/null 2>&1",
                 all[i].size, all[i].pixels, path);
        if (system(command) != 0) /* NOLINT */
            skip();
        sk_error err = {0};
        sk_source_settings s = usual();
        const sk_frame_kind takes = {.format = SK_PIXEL_NV12};
        sk_source *plain = open_with(path, &s);
        s.accepts = &takes;
        s.n_accepts = 1;
        sk_source *source = open_with(path, &s);
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        const sk_frame *a = NULL, *b = NULL;
        assert_ok(sk_source_next(source, &a, &err), &err);
        assert_ok(sk_source_next(plain, &b, &err), &err);
#if defined(__x86_64__) /* elsewhere FFmpeg rounds otherwise, and frames come converted */
        assert_int_equal(a->format, all[i].two ? SK_PIXEL_NV12 : SK_PIXEL_RGB);
#endif
        assert_int_equal(info.like->format, a->format);
        assert_int_equal(a->width, b->width);
        assert_int_equal(a->height, b->height);
        if (a->format == SK_PIXEL_NV12) { /* luma is what the grey picture is made of */
            assert_false(a->full_range);
            s.accepts = NULL;
            s.n_accepts = 0;
            s.format = SK_PIXEL_GRAY;
            sk_source *grey = open_with(path, &s);
            const sk_frame *g = NULL;
            assert_ok(sk_source_next(grey, &g, &err), &err);
            for (int y = 0; y < 48; y++)
                for (int x = 0; x < 64; x++)
                    assert_true(fabs(g->data[y * g->stride + x] -
                                     (a->data[y * a->stride + x] - 16) * 255.0 / 219) < 1.5);
            sk_source_release(grey, g);
            sk_source_close(&grey);
        }
        sk_source_release(source, a);
        sk_source_release(plain, b);
        sk_source_close(&source);
        sk_source_close(&plain);
    }
}

static void refused(const char *path, const sk_source_settings *s, sk_status code, const char *says)
{
    sk_error err = {0};
    sk_source *source = NULL;
    assert_int_equal(sk_source_open(path, s, &source, &err), code);
    assert_null(source);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void refusals(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *path = made_video("plain.mp4", 3, "-c:v libx264 -qp 0 -pix_fmt yuv420p");
    sk_source_settings s = usual();
    s.max_pixels = 64 * 48 - 1;
    refused(path, &s, SK_ERR_LIMIT,
            "claims 64 x 48 pixels; at most 3071 are read. If it is right, max_pixels 3072 reads it");
    s.max_pixels = 64 * 48;
    sk_source *source = open_with(path, &s);
    sk_source_close(&source);
    s = usual();
    s.hwaccel = "abacus";
    refused(path, &s, SK_ERR_ARG,
            "FFmpeg knows no device for decoding called 'abacus'; there are none, auto, ");
    char silent[600], command[1400];
    snprintf(silent, sizeof silent, "%s/sound.mp4", test_folder());
    snprintf(command, sizeof command,
             "ffmpeg -v error -nostdin -y -f lavfi -i sine=duration=0.1 -c:a aac '%s' >/dev/null 2>&1",
             silent);
    s = usual();
    if (system(command) == 0) /* NOLINT */
        refused(silent, &s, SK_ERR_FORMAT, "sound.mp4: holds no video stream");
    /* a device that this machine lacks: the processor decodes, which is said once */
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen, NULL, &listener, &err), &err);
    s.hwaccel = "vdpau";
    warnings = 0;
    char refusal[300] = "", whole[1200];
    for (int i = 0; i < 2; i++) {
        source = open_with(path, &s);
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        assert_string_equal(info.hwaccel, "");
        assert_memory_equal(info.hwaccel_refused, "vdpau: ", 7); /* which it was, and why */
        assert_true(strlen(info.hwaccel_refused) > 7);
        snprintf(refusal, sizeof refusal, "%s", info.hwaccel_refused);
        for (const sk_frame *frame = NULL;;) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            if (!frame)
                break;
            assert_int_equal(made_number(frame), frame->index);
            sk_source_release(source, frame);
        }
        sk_source_close(&source);
    }
    sk_log_unlisten(&listener);
    assert_int_equal(warnings, 1);
    snprintf(whole, sizeof whole, "%.200s: decoded by the processor, not on a device (vdpau): %.220s", path,
             refusal);
    assert_string_equal(heard, whole);
    /* a codec that no device knows; "none" and nothing at all ask for none */
    path = made_video("rare.mkv", 3, "-c:v ffv1 -pix_fmt yuv420p");
    static const char *const names[] = {"vdpau", "none", NULL};
    for (int i = 0; i < 3; i++) {
        s.hwaccel = names[i];
        source = open_with(path, &s);
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        assert_string_equal(info.hwaccel_refused, i == 0 ? "FFmpeg decodes ffv1 on no such device" : "");
        assert_string_equal(info.hwaccel, "");
        assert_string_equal(info.decoder, "ffv1");
        sk_source_close(&source);
    }
}

typedef struct pour {
    const char *from, *into;
} pour;

static void *pour_out(void *argument)
{
    const pour *p = argument;
    char bytes[4096];
    FILE *from = fopen(p->from, "rb");
    const int into = open(p->into, O_WRONLY);
    for (size_t n; from && into >= 0 && (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        if (write(into, bytes, n) != (ssize_t)n)
            break;
    if (into >= 0)
        close(into);
    if (from)
        fclose(from);
    return NULL;
}

/* What comes through a pipe is read once: on to later frames, never back. */
static void pipes(void **state)
{
    (void)state;
    sk_error err = {0};
    char pipe[600];
    snprintf(pipe, sizeof pipe, "%s/pipe.mkv", test_folder());
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const pour p = {made_video("piped.mkv", 120, "-c:v libx264 -qp 0 -g 20 -pix_fmt yuv420p"), pipe};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, pour_out, (void *)(uintptr_t)&p), 0);
    sk_source_settings s = usual();
    s.loop = 3; /* there is nothing to begin again with */
    sk_reader *reader = NULL;
    sk_slot slot = {0};
    atomic_bool stop = false;
    bool end = false;
    assert_ok(sk_reader_open_video(pipe, &s, &reader, &err), &err);
    reader->stop = &stop;
    assert_true(reader->info.once);
    for (int64_t at = 5; at < 120; at += 80) {
        assert_ok(reader->seek(reader, at, &err), &err);
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        assert_false(end);
        assert_int_equal(slot.frame.index, at);
        assert_int_equal(made_number(&slot.frame), at);
    }
    assert_int_equal(reader->seek(reader, 3, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "pipe.mkv: is read once, and cannot be gone back in"));
    assert_ok(reader->seek(reader, 119, &err), &err);
    assert_ok(reader->read(reader, &slot, &end, &err), &err);
    assert_int_equal(made_number(&slot.frame), 119);
    assert_ok(reader->read(reader, &slot, &end, &err), &err);
    assert_true(end);
    reader->close(reader);
    sk_slot_free(&slot);
    pthread_join(thread, NULL);
}

/* --- writing --- */

static uint8_t pixels[64 * 48 * 3 + SK_VIDEO_SINK_SPARE];

static void paint(uint8_t *to, int width, int height, int bytes, int number)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * bytes; x++)
            to[y * width * bytes + x] = (uint8_t)lrint(
                (MADE_GREY(x < width * bytes / 2 ? number % 16 : number / 16) - 16) * 255.0 / 219);
}

static sk_frame number_frame(int number, double seconds)
{
    paint(pixels, 64, 48, 3, number);
    return (sk_frame){.size = sizeof(sk_frame),
                      .format = SK_PIXEL_RGB,
                      .width = 64,
                      .height = 48,
                      .stride = 64 * 3,
                      .data = pixels,
                      .index = number,
                      .time_ns = (int64_t)llrint(seconds * 1e9)};
}

static sk_video_sink *sink_at(const char *path)
{
    sk_error err = {0};
    sk_video_sink *sink = NULL;
    assert_ok(sk_video_sink_open(path, 65, 49, 10, &sink, &err), &err);
    return sink;
}

static void write_frame(sk_video_sink *sink, int number, double seconds)
{
    sk_error err = {0};
    const sk_frame frame = number_frame(number, seconds);
    assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
}

static int times_of(const char *path, double *seconds)
{
    sk_error err = {0};
    const sk_source_settings s = usual();
    sk_source *source = open_with(path, &s);
    int count = 0;
    for (const sk_frame *frame = NULL;; count++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        assert_int_equal(frame->width, 64);
        assert_int_equal(frame->height, 48);
        assert_int_equal(made_number(frame), count);
        seconds[count] = (double)frame->time_ns * 1e-9;
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return count;
}

/* Frames are shown when they say; a jump back, and a pause that the file cannot hold, are left out. */
static void written_times(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[600], link[600];
    double seconds[32];
    static const double given[] = {0, 0.1, 0.25, 0.25, 1.0, 30000.0, 30000.5, 100.0, 100.2, 99.8, 100.4};
    static const double shown[] = {0, 0.1, 0.25, 0.25, 1.0, 1.1, 1.6, 1.7, 1.9, 1.9, 2.1};
    snprintf(path, sizeof path, "%s/written.mp4", test_folder());
    snprintf(link, sizeof link, "%s/elsewhere.mp4", test_folder());
    assert_int_equal(symlink(link, path), 0); /* replaced, not followed */
    sk_video_sink *sink = sink_at(path);
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen, NULL, &listener, &err), &err);
    warnings = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        write_frame(sink, (int)i, given[i]);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(heard, "written.mp4: a pause of 29999 s is left out"));
    assert_non_null(sk_video_sink_encoder(sink));
    assert_ok(sk_video_sink_close(&sink, &err), &err);
    assert_null(sink);
    assert_int_not_equal(access(link, F_OK), 0);
    assert_int_equal(times_of(path, seconds), 11);
    for (int i = 0; i < 11; i++)
        if (fabs(seconds[i] - shown[i]) > 0.0005)
            fail_msg("frame %d is shown at %g instead of %g", i, seconds[i], shown[i]);
    /* begins late, other formats and sizes */
    sink = sink_at(path);
    warnings = 0;
    for (int i = 0; i < 6; i++) {
        sk_frame f = number_frame(i, 5 + i / 10.0);
        static uint8_t large[80 * 60 * 3 + SK_VIDEO_SINK_SPARE];
        paint(large, 80, 60, 3, i);
        if (i == 2)
            paint(pixels, 64, 48, 1, i);
        f.format = i == 1 ? SK_PIXEL_BGR : i == 2 ? SK_PIXEL_GRAY : i == 5 ? SK_PIXEL_I420 : SK_PIXEL_RGB;
        f.stride = i == 2 ? 64 : i == 5 ? 64 : 64 * 3;
        if (i == 3 || i == 4) {
            f.width = 80;
            f.height = 60;
            f.stride = 80 * 3;
            f.data = large;
        }
        if (i == 5) {
            for (int k = 0; k < 64 * 48; k++)
                pixels[k] = MADE_GREY(k % 64 < 32 ? 5 : 0);
            memset(pixels + 64 * 48, 128, 64 * 24);
            f.chroma = pixels + 64 * 48;
            f.chroma_v = pixels + 64 * 60;
            f.chroma_stride = 32;
        }
        assert_ok(sk_video_sink_write(sink, &f, &err), &err);
    }
    assert_int_equal(warnings, 1);
    assert_non_null(
        strstr(heard, "written.mp4: frame 3 is 80 x 60; it and others of that size are scaled to 64 x 48"));
    assert_ok(sk_video_sink_close(&sink, &err), &err);
    sk_log_unlisten(&listener);
    assert_int_equal(times_of(path, seconds), 6);
    for (int i = 1; i < 6; i++)
        assert_true(fabs(seconds[i] - seconds[0] - i / 10.0) < 0.0005);
    assert_ok(sk_video_sink_close(&sink, &err), &err); /* none */
    /* by a GPU's encoder where there is one, else by the processor's, and it is said */
    assert_ok(sk_log_listen(SK_LOG_WARN, listen, NULL, &listener, &err), &err);
    warnings = 0;
    assert_ok(sk_video_sink_open_gpu(path, 320, 240, 10, &sink, &err), &err);
    const bool gpu = strcmp(sk_video_sink_encoder(sink), "h264_nvenc") == 0;
    assert_int_equal(warnings, gpu ? 0 : 1);
    if (!gpu)
        assert_non_null(strstr(heard, "written.mp4: encoded by the processor, not by the GPU: "));
    assert_ok(sk_video_sink_close(&sink, &err), &err);
    sk_video_sink *plain = sink_at(path);
    assert_string_not_equal(sk_video_sink_encoder(plain), "h264_nvenc");
    assert_int_equal(warnings, gpu ? 0 : 1);
    assert_ok(sk_video_sink_close(&plain, &err), &err);
    sk_log_unlisten(&listener);
    assert_int_equal(sk_video_sink_open(path, 1, 48, 10, &sink, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "written.mp4: a video needs at least 2 x 2 pixels"));
    assert_int_equal(sk_video_sink_open(path, 64, 1, 10, &sink, &err), SK_ERR_ARG);
    assert_null(sink);
    assert_int_equal(sk_video_sink_open(test_missing("x.mp4"), 64, 48, 10, &sink, &err), SK_ERR_NOT_FOUND);
    assert_null(sink);
}

/* Parts one behind the other, wherever their frames were: a frame's length apart. */
static void joined(void **state)
{
    (void)state;
    sk_error err = {0};
    char parts[3][600], whole[600];
    const char *names[3];
    double seconds[64];
    snprintf(whole, sizeof whole, "%s/whole.mp4", test_folder());
    for (int p = 0; p < 3; p++) {
        snprintf(parts[p], sizeof parts[p], "%s/part%d.mp4", test_folder(), p);
        names[p] = parts[p];
        sk_video_sink *sink = sink_at(parts[p]);
        for (int i = 0; i < 8; i++)
            write_frame(sink, 8 * p + i, 0.8 * p + 0.1 * i + (p == 2 ? 40000 : 0));
        assert_ok(sk_video_sink_close(&sink, &err), &err);
    }
    assert_ok(sk_video_join(names, 2, whole, &err), &err);
    assert_int_equal(times_of(whole, seconds), 16);
    for (int i = 0; i < 16; i++)
        if (fabs(seconds[i] - 0.1 * i) > 0.001)
            fail_msg("frame %d is shown at %g", i, seconds[i]);
    assert_ok(sk_video_join(names, 3, whole, &err), &err);
    assert_int_equal(times_of(whole, seconds), 24);
    for (int i = 0; i < 24; i++)
        if (fabs(seconds[i] - 0.1 * i) > 0.001)
            fail_msg("frame %d is shown at %g", i, seconds[i]);
    names[1] = test_missing("part.mp4");
    assert_int_equal(sk_video_join(names, 3, whole, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "part.mp4: this part of the overlay cannot be read: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(colours_come_out), cmocka_unit_test(two_planes),
                                       cmocka_unit_test(refusals),         cmocka_unit_test(pipes),
                                       cmocka_unit_test(written_times),    cmocka_unit_test(joined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
