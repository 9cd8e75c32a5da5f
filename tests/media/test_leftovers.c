/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is left of what was read or written, or could not be, in the memory of any library: everything is done many times. */
#include "made_video.h"
#include "support/fault.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/pattern.h"
#include "media/picture.h"
#include "media/picture_size.h"
#include "media/video_sink.h"

#include <signal.h>
#include <sys/resource.h>
#include <tiffio.h>
#include <unistd.h>

static sk_status expect(sk_status got, sk_status wanted, sk_error *err)
{
    if (got == wanted)
        return SK_OK;
    return got == SK_OK ? sk_fail(err, SK_ERR_MISMATCH, "it was done") : got;
}

static const char *in_folder(const char *name)
{
    static char paths[8][700];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

/* --- pictures --- */

static uint8_t pixels[3 * 40 * 30];

static sk_frame picture(sk_pixel_format format)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = format, f.width = 40, f.height = 30, f.data = pixels;
    f.stride = format == SK_PIXEL_RGB ? 120 : 40;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 7 + i / 40);
    return f;
}

typedef struct written {
    const char *path;
    bool drawing;
    sk_status status;
} written;

static sk_status write_one(void *context, sk_error *err)
{
    const written *w = context;
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_GRAY, SK_PIXEL_NV12};
    sk_status status = SK_OK;
    for (int i = 0; i < (w->drawing ? 1 : 2) && status == SK_OK; i++) {
        const sk_frame f = picture(formats[i]);
        sk_error own = {0};
        status = expect(w->drawing ? sk_picture_write_drawing(w->path, &f, &own)
                                   : sk_picture_write(w->path, &f, &own),
                        w->status, err);
        if (status == SK_OK && (w->status == SK_OK) != !own.message[0])
            status = sk_fail(err, SK_ERR_MISMATCH, "said: %s", own.message);
    }
    return status;
}

static void written_pictures(void **state)
{
    (void)state;
    const char *missing = test_missing("a.png"), *missing_jpeg = test_missing("a.jpg");
    written all[] = {{in_folder("d.png"), true, SK_OK},
                     {in_folder("a.png"), false, SK_OK},
                     {in_folder("a.jpg"), false, SK_OK},
                     {missing, false, SK_ERR_IO},
                     {missing_jpeg, false, SK_ERR_NOT_FOUND}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        test_leaves_nothing(write_one, &all[i]);
}

/* A disk that is full when the file is closed, and before. */
static void full_disks(void **state)
{
    (void)state;
    struct rlimit before, little;
    static uint8_t noise[3 * 200 * 200];
    unsigned chance = 1;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)((chance = chance * 1664525u + 1013904223u) >> 24);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int large = 0; large < 2; large++) {
        sk_frame f = picture(SK_PIXEL_RGB);
        if (large)
            f.width = f.height = 200, f.stride = 600, f.data = noise;
        const char *path = in_folder("full.png");
        sk_error err = {0};
        little = before;
        little.rlim_cur = 20;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        const sk_status status = sk_picture_write_drawing(path, &f, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, SK_ERR_IO);
        if (!strstr(err.message,
                    large ? "full.png: cannot be written: " : "full.png: cannot be written: File too large"))
            fail_msg("%s", err.message);
    }
    (void)signal(SIGXFSZ, handler);
}

static unsigned char bytes[1 << 16];
typedef struct decoding {
    size_t length;
    int64_t max_pixels;
    bool good;
} decoding;

static sk_status decode(void *context, sk_error *err)
{
    const decoding *d = context;
    sk_slot slot = {0};
    const sk_picture_task task = {
        .path = "p", .format = SK_PIXEL_RGB, .max_pixels = d->max_pixels, .data = bytes, .length = d->length};
    const sk_status status = sk_picture_decode_bytes(&task, &slot, err);
    sk_slot_free(&slot);
    return (status == SK_OK) == d->good ? SK_OK : sk_fail(err, SK_ERR_MISMATCH, "%d bytes", (int)d->length);
}

static sk_status decode_file(void *context, sk_error *err)
{
    sk_slot slot = {0};
    int32_t width = 0, height = 0;
    sk_status status = sk_picture_decode(context, SK_PIXEL_RGB, 0, &slot, err);
    sk_slot_free(&slot);
    return status == SK_OK ? sk_picture_size(context, &width, &height, err) : status;
}

static const char *write_tiff(const char *name, int bits, int compression)
{
    const char *path = in_folder(name);
    static uint8_t row[80];
    TIFF *t = TIFFOpen(path, "w");
    assert_non_null(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 40);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 30);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 10);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    for (uint32_t y = 0; y < 30; y++)
        assert_int_equal(TIFFWriteScanline(t, row, y, 0), 1);
    TIFFClose(t);
    return path;
}

/* Whole, cut off in the middle and near the beginning, and refused for its size. */
static void read_pictures(void **state)
{
    (void)state;
    sk_error err = {0};
    const sk_frame f = picture(SK_PIXEL_RGB);
    const char *paths[4] = {in_folder("r.jpg"), in_folder("r.png"), write_tiff("r8.tif", 8, COMPRESSION_LZW),
                            write_tiff("r16.tif", 16, COMPRESSION_NONE)};
    assert_ok(sk_picture_write(paths[0], &f, &err), &err);
    assert_ok(sk_picture_write(paths[1], &f, &err), &err);
    for (int i = 0; i < 4; i++) {
        char *read = NULL;
        size_t length = 0;
        assert_ok(sk_file_read(paths[i], sizeof bytes, &read, &length, &err), &err);
        memcpy(bytes, read, length);
        sk_free(read);
        decoding all[] = {{length, 0, true},
                          {length / 2, 0, false},
                          {40, 0, false},
                          {length, 1199, false},
                          {length, 1200, true}};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            test_leaves_nothing(decode, &all[k]);
        test_leaves_nothing(decode_file, (void *)(uintptr_t)paths[i]);
    }
}

static sk_status find(void *context, sk_error *err)
{
    sk_pattern_files files = {0};
    const sk_status status = sk_pattern_find(context, &files, err);
    sk_pattern_free(&files);
    return status;
}

static void patterns(void **state)
{
    (void)state;
    static const char *const ways[] = {"*", "**", "**/*.png", "no*such", "*/**"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        test_leaves_nothing(find, (void *)(uintptr_t)in_folder(ways[i]));
}

/* --- videos --- */

#ifdef SKITTER_HAVE_FFMPEG
typedef struct reading {
    const char *path;
    sk_source_settings settings;
    sk_status status; /* of opening */
    int64_t jump;
} reading;

static sk_status read_video(void *context, sk_error *err)
{
    const reading *r = context;
    atomic_bool stop = false;
    sk_reader *reader = NULL;
    sk_slot slot = {0};
    const sk_status opened = strncmp(r->path, "http", 4) == 0
                                 ? sk_reader_open_live(r->path, &r->settings, &stop, &reader, err)
                                 : sk_reader_open_video(r->path, &r->settings, &reader, err);
    if (opened != SK_OK || r->status != SK_OK)
        return expect(opened, r->status, err);
    reader->stop = &stop;
    sk_status status = SK_OK;
    bool end = false;
    for (int i = 0; i < 3 && status == SK_OK; i++)
        status = reader->read(reader, &slot, &end, err);
    if (status == SK_OK && r->jump)
        status = reader->seek(reader, r->jump, err);
    if (status == SK_OK && r->jump)
        status = reader->read(reader, &slot, &end, err);
    reader->close(reader);
    sk_slot_free(&slot);
    return status;
}

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    s.reconnect_seconds = 0;
    return s;
}

static void read_videos(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *video = made_video("v.mp4", 100, "-c:v mpeg4 -q:v 2 -g 20 -pix_fmt yuv420p");
    const char *short_one = made_video("s.mp4", 2, "-c:v mpeg4 -q:v 2 -pix_fmt yuv420p");
    const char *cut = in_folder("cut.mp4"), *text = in_folder("text.mp4");
    char *read = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(video, (size_t)1 << 24, &read, &length, &err), &err);
    assert_ok(sk_file_put(cut, read, length / 2, &err), &err);
    sk_free(read);
    assert_ok(sk_file_put(text, "no video", 8, &err), &err);
    const sk_frame_kind two = {.format = SK_PIXEL_NV12};
    reading all[] = {
        {video, usual(), SK_OK, 0},
        {video, usual(), SK_OK, 95}, /* listed, sought */
        {video, usual(), SK_OK, 1},
        {short_one, usual(), SK_OK, 0}, /* played again */
        {video, usual(), SK_OK, 0},
        {made_video("m.mkv", 5, "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p"), usual(), SK_ERR_LIMIT, 0},
        {video, usual(), SK_ERR_ARG, 0},
        {cut, usual(), SK_ERR_FORMAT, 0},
        {text, usual(), SK_ERR_FORMAT, 0},
        {in_folder("not there.mp4"), usual(), SK_ERR_NOT_FOUND, 0},
        {"http://127.0.0.1:9/x", usual(), SK_ERR_IO, 0}};
    all[3].settings.loop = 5;
    all[4].settings.accepts = &two, all[4].settings.n_accepts = 1;
    all[5].settings.max_pixels = 64 * 48 - 1;
    all[6].settings.hwaccel = "nonsense";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        test_leaves_nothing(read_video, &all[i]);
}

typedef struct joining {
    const char *parts[2], *out;
    sk_status status;
} joining;

static sk_status join(void *context, sk_error *err)
{
    const joining *j = context;
    return expect(sk_video_join(j->parts, 2, j->out, err), j->status, err);
}

static void joined_videos(void **state)
{
    (void)state;
    const char *part = made_video("p.mp4", 5, "-c:v mpeg4 -q:v 2 -pix_fmt yuv420p");
    joining all[] = {{{part, part}, in_folder("j.mp4"), SK_OK},
                     {{in_folder("none.mp4"), part}, in_folder("j.mp4"), SK_ERR_FORMAT},
                     {{part, in_folder("none.mp4")}, in_folder("j.mp4"), SK_ERR_FORMAT},
                     {{part, part}, test_missing("j.mp4"), SK_ERR_NOT_FOUND}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        test_leaves_nothing(join, &all[i]);
}

static sk_status open_sink(void *context, sk_error *err)
{
    sk_video_sink *sink = NULL;
    sk_error own = {0};
    const sk_status status = sk_video_sink_open(context, 32, 32, 25, &sink, &own);
    return expect(status, SK_ERR_NOT_FOUND, err);
}

static void sinks_that_cannot_be(void **state)
{
    (void)state;
    test_leaves_nothing(open_sink, (void *)(uintptr_t)test_missing("s.mp4"));
}
#endif

int main(int argc, char **argv)
{
    /* blocks that the C library keeps for the next one who asks would count as used */
    if (argc == 1 && !getenv("GLIBC_TUNABLES") &&
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1) == 0)
        (void)execv("/proc/self/exe", argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_pictures),    cmocka_unit_test(full_disks),
                                       cmocka_unit_test(read_pictures),       cmocka_unit_test(patterns),
#ifdef SKITTER_HAVE_FFMPEG
                                       cmocka_unit_test(read_videos),         cmocka_unit_test(joined_videos),
                                       cmocka_unit_test(sinks_that_cannot_be)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
