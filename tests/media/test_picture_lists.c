/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures by folder, pattern, number and list: which they are, in which order, how they are counted, and what is said of those that
 * are none. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture_size.h"
#include "media/reader.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What rubbish by a picture's name is: damaged, or, without FFmpeg, perhaps of a form that only FFmpeg reads. */
#ifdef SKITTER_HAVE_FFMPEG
#define RUBBISH SK_ERR_FORMAT
#else
#define RUBBISH SK_ERR_UNSUPPORTED
#endif

static const char *at(const char *name)
{
    static char paths[8][600];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

/* A picture that is `number` grey. */
static void paint(const char *name, int number)
{
    static uint8_t pixels[8 * 6 * 3];
    sk_error err = {0};
    memset(pixels, number, sizeof pixels);
    const sk_frame frame = {
        .size = sizeof frame, .format = SK_PIXEL_RGB, .width = 8, .height = 6, .stride = 24, .data = pixels};
    assert_ok(sk_picture_write(at(name), &frame, &err), &err);
}

static void put(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(at(name), text, strlen(text), &err), &err);
}

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    return s;
}

/* "number:grey …" of all frames of a source, and what it said of itself. */
static const char *frames_of(const char *uri, const sk_source_settings *settings, sk_source_info *info)
{
    static char text[1000];
    size_t used = 0;
    sk_error err = {0};
    sk_source *source = NULL;
    text[0] = '\0';
    assert_ok(sk_source_open(uri, settings, &source, &err), &err);
    *info = (sk_source_info)SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, info);
    assert_string_equal(info->name, uri);
    info->name = info->decoder = info->hwaccel = NULL;
    for (const sk_frame *frame = NULL;;) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        assert_int_equal(frame->time_ns, 0);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld:%d", used ? " " : "",
                                 (long long)frame->index, frame->data[0]);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return text;
}

static void gives(const char *uri, const char *frames)
{
    sk_source_info info;
    const sk_source_settings s = usual();
    const char *got = frames_of(uri, &s, &info);
    if (strcmp(got, frames) != 0)
        fail_msg("%s: %s instead of %s", uri, got, frames);
    assert_int_equal(info.kind, SK_SOURCE_PICTURES);
    assert_true(info.exact && info.total == info.frames);
}

static void refused(const char *uri, sk_status status, const char *says)
{
    sk_error err = {0};
    sk_source *source = NULL;
    const sk_source_settings s = usual();
    assert_int_equal(sk_source_open(uri, &s, &source, &err), status);
    assert_null(source);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void folders_and_patterns(void **state)
{
    (void)state;
    mkdir(at("p"), 0777);
    paint("p/img10.png", 10);
    paint("p/img9.png", 9);
    paint("p/img09.png", 90);
    paint("p/img2b.png", 21);
    paint("p/B.PNG", 66);
    paint("p/.hidden.png", 1);
    put("p/notes.txt", "none of these");
    put("p/img11.mp3", "no picture");
    put("p/png", "no ending");
    gives(at("p"), "0:66 1:90 2:21 3:9 4:10");
    gives(at("p/img*.png"), "0:90 1:21 2:9 3:10");
    gives(at("p/img?.*"), "0:9");
    gives(at("p/img%d.png"), "0:90 1:9 2:10"); /* numbers only, however many digits */
    gives(at("p/img%03d.png"), "0:90 1:9 2:10");
    gives(at("p/img[19]*.png"), "0:9 1:10");
    gives(at("p/img9.png"), "0:9");
    refused(at("p/img*.mp3"), SK_ERR_NOT_FOUND, "none of the 1 matching files is a picture");
    refused(at("p/zebra*.png"), SK_ERR_NOT_FOUND, "zebra*.png: no file matches this pattern");
    refused(at("p/img2%d.png"), SK_ERR_NOT_FOUND, "img2[0-9]*.png: no file matches this pattern");
    paint("p/x1y.png", 5);
    refused(at("p/x%d.png"), SK_ERR_NOT_FOUND, "x%d.png: no numbered file matches this pattern");
    refused(at("p/absent.png"), SK_ERR_NOT_FOUND, "absent.png: No such file or directory");
    mkdir(at("empty"), 0777);
    refused(
        at("empty"), SK_ERR_NOT_FOUND,
        "empty: the folder holds no pictures (jpg, png, bmp, tiff, webp, pnm). For a video give its file; "
        "a SLEAP model's folder is a model and no source");
    static const char *const endings[] = {"jpg", "jpeg", "png", "bmp", "tif", "tiff", "webp", "pgm",
                                          "ppm", "pnm",  "jp2", "dng", "mpo", "JPG",  "TiFF"};
    static const char *const others[] = {"jp", "jpgx", "gif", "mp4", "txt", ""};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.b.%s", endings[i]);
        assert_true(sk_picture_has_ending(name));
        assert_true(sk_uri_is_pictures(name));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.%s", others[i]);
        assert_false(sk_picture_has_ending(name));
    }
    assert_false(sk_picture_has_ending("jpg"));
    assert_true(sk_uri_is_pictures("a/b_%05d.raw") && sk_uri_is_pictures("a/%d") &&
                sk_uri_is_pictures("a*") && sk_uri_is_pictures("[ab]"));
    assert_false(sk_uri_is_pictures("a%d/b.raw") || sk_uri_is_pictures("a/%s") ||
                 sk_uri_is_pictures("a/%0") || sk_uri_is_pictures("http://x/y?z=*.png"));
    assert_true(sk_uri_is_pictures(at("p")));
}

static void lists(void **state)
{
    (void)state;
    char text[2000];
    mkdir(at("l"), 0777);
    paint("l/one.png", 1);
    paint("l/two.png", 2);
    put("l/none.doc", "x");
    snprintf(text, sizeof text, "%s\n%s\n%s\n", at("l/two.png"), at("l/one.png"), at("l/two.png"));
    put("l/all.txt", text);
    gives(at("l/all.txt"), "0:2 1:1 2:2"); /* as they are named, and as often */
    put("l/bad.txt", at("l/none.doc"));
    refused(at("l/bad.txt"), SK_ERR_FORMAT,
            "bad.txt: a list is read as one source where all it names are pictures, and '");
    refused(at("l/bad.txt"), SK_ERR_FORMAT, "none.doc' is none");
    put("l/gone.txt", at("l/gone.png"));
    refused(at("l/gone.txt"), SK_ERR_NOT_FOUND, "gone.png' is not there");
}

/* Ranges, steps and rounds: numbers are the pictures', or go on where they are played again. */
static void ranges_and_rounds(void **state)
{
    (void)state;
    sk_source_info info;
    mkdir(at("r"), 0777);
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "r/%d.png", i);
        paint(name, 10 + i);
    }
    sk_source_settings s = usual();
    s.first = 1;
    s.step = 2;
    assert_string_equal(frames_of(at("r"), &s, &info), "1:11 3:13 5:15");
    assert_true(info.frames == 3 && info.total == 6);
    s.last = 5;
    s.loop = 2;
    assert_string_equal(frames_of(at("r"), &s, &info), "0:11 1:13 2:11 3:13");
    assert_true(info.frames == 4 && info.total == 6);
    s = usual();
    s.first = 6;
    assert_string_equal(frames_of(at("r"), &s, &info), "");
    assert_true(info.frames == 0 && info.total == 6);
    s.loop = 3;
    assert_string_equal(frames_of(at("r"), &s, &info), "");
    sk_error err = {0};
    sk_reader *reader = NULL;
    s = usual();
    assert_ok(sk_reader_open_pictures(at("r"), &s, &reader, &err), &err);
    for (size_t i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "r/%zu.png", i);
        const char *path = reader->picture(reader, i);
        if (i < 6)
            assert_string_equal(path, at(name));
        else
            assert_null(path);
    }
    assert_true(reader->any_size);
    reader->close(reader);
}

/* Pictures that cannot be read end a source, or are left out and told of. */
static void damaged_ones(void **state)
{
    (void)state;
    sk_error err = {0};
    mkdir(at("d"), 0777);
    paint("d/1.png", 1);
    put("d/2.png", "no picture at all");
    put("d/3.jpg", "none either");
    paint("d/4.png", 4);
    put("d/5.png", "");
    sk_source_settings s = usual();
    s.queue = 1;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    assert_ok(sk_source_open(at("d"), &s, &source, &err), &err);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_string_equal(sk_source_frame_name(source, frame), at("d/1.png"));
    sk_source_release(source, frame);
    assert_int_equal(sk_source_next(source, &frame, &err), RUBBISH);
    assert_non_null(strstr(err.message, "d/2.png"));
    sk_unreadable u = SK_UNREADABLE_INIT;
    assert_false(sk_source_next_unreadable(source, INT64_MAX, &u));
    sk_source_close(&source);
    s.skip_unreadable = true;
    assert_ok(sk_source_open(at("d"), &s, &source, &err), &err);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_int_equal(frame->index, 0);
    sk_source_release(source, frame);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_true(frame->index == 3 && frame->data[0] == 4);
    assert_false(sk_source_next_unreadable(source, 1, &u)); /* none before the second */
    assert_true(sk_source_next_unreadable(source, 2, &u));
    assert_true(u.index == 1 && strcmp(u.name, at("d/2.png")) == 0 && strstr(u.problem, "d/2.png"));
    assert_false(sk_source_next_unreadable(source, 2, &u));
    assert_true(sk_source_next_unreadable(source, 3, &u));
    assert_true(u.index == 2 && strcmp(u.name, at("d/3.jpg")) == 0);
    sk_source_release(source, frame);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    assert_true(sk_source_next_unreadable(source, INT64_MAX, &u));
    assert_int_equal(u.index, 4);
    assert_false(sk_source_next_unreadable(source, INT64_MAX, &u));
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &status);
    assert_int_equal(status.decoded, 2);
    sk_source_close(&source);
}

static void settings_have_bounds(void **state)
{
    (void)state;
    mkdir(at("s"), 0777);
    paint("s/a.png", 1);
    static const struct {
        int format, queue, loop;
        const char *says;
    } all[] = {{SK_PIXEL_RGB, 0, 1, NULL},
               {SK_PIXEL_GRAY, 256, 1, NULL},
               {SK_PIXEL_BGR, 1, 9, NULL},
               {SK_PIXEL_NV12, 0, 1, "frames can be delivered as RGB, BGR or grey"},
               {SK_PIXEL_NONE, 0, 1, "frames can be delivered as RGB, BGR or grey"},
               {SK_PIXEL_RGB, -1, 1, "queue -1, loop 1: out of range"},
               {SK_PIXEL_RGB, 257, 1, "queue 257, loop 1: out of range"},
               {SK_PIXEL_RGB, 0, 0, "queue 0, loop 0: out of range"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_error err = {0};
        sk_source *source = NULL;
        sk_source_settings s = usual();
        s.format = (sk_pixel_format)all[i].format;
        s.queue = all[i].queue;
        s.loop = all[i].loop;
        assert_int_equal(sk_source_open(at("s"), &s, &source, &err), all[i].says ? SK_ERR_ARG : SK_OK);
        if (all[i].says)
            assert_string_equal(err.message, all[i].says);
        sk_source_close(&source);
    }
    /* as many as the queue holds may be held at a time, with 0 two */
    for (int queue = 0; queue <= 3; queue++) {
        sk_error err = {0};
        sk_source *source = NULL;
        sk_source_settings s = usual();
        const sk_frame *held[3] = {0};
        s.queue = queue;
        s.loop = 20;
        assert_ok(sk_source_open(at("s"), &s, &source, &err), &err);
        for (int i = 0; i < (queue ? queue : 2); i++) {
            assert_ok(sk_source_next(source, &held[i], &err), &err);
            assert_int_equal(held[i]->index, i);
        }
        for (int i = 0; i < 3; i++)
            if (held[i])
                sk_source_release(source, held[i]);
        sk_source_close(&source);
    }
}

static int64_t decoded(sk_source *source)
{
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &status);
    return status.decoded;
}

/* Decoding runs ahead as far as there is room, and no further; a frame given back makes room for one. */
static void it_runs_ahead(void **state)
{
    (void)state;
    mkdir(at("a"), 0777);
    paint("a/a.png", 1);
    static const int queues[][2] = {
        {1, 3}, {4, 6}, {0, 8}}; /* and one in the decoder's hand, and one in the reader's */
    for (size_t i = 0; i < 3; i++) {
        sk_error err = {0};
        sk_source *source = NULL;
        sk_source_settings s = usual();
        s.queue = queues[i][0];
        s.loop = 100;
        assert_ok(sk_source_open(at("a"), &s, &source, &err), &err);
        for (int taken = 0; taken < 3; taken++) {
            for (int wait = 0; wait < 2000 && decoded(source) < queues[i][1] + taken; wait++)
                usleep(1000);
            usleep(20000);
            assert_int_equal(decoded(source), queues[i][1] + taken);
            const sk_frame *frame = NULL;
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_int_equal(frame->index, taken);
            assert_int_equal(frame->size, sizeof *frame);
            assert_ptr_equal(frame->release_context, source);
            frame->release(frame->release_context, frame);
        }
        sk_source_status status = SK_SOURCE_STATUS_INIT;
        sk_source_get_status(source, &status);
        assert_true(status.decode_seconds > 0 && status.connected && status.dropped == 0);
        sk_source_stop(source);
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_null(frame);
        sk_source_close(&source);
    }
}

static void wishes(void **state)
{
    (void)state;
    static const sk_frame_kind nv12 = {.format = SK_PIXEL_NV12},
                               gpu = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = 2},
                               other = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = 5},
                               planes = {.format = SK_PIXEL_I420, .above_width = 7},
                               more = {.format = SK_PIXEL_I420, .above_width = 9, .above_height = 8},
                               rgb = {.format = SK_PIXEL_RGB},
                               far = {.format = SK_PIXEL_RGB, .place = SK_PLACE_CUDA};
    const struct {
        sk_frame_kind kinds[4];
        int n, on_device, width, height;
        bool nv12;
    } all[] = {{{nv12}, 0, 0, 0, 0, false},
               {{nv12}, 1, 0, 0, 0, true},
               {{gpu}, 1, 3, 0, 0, false},
               {{gpu, other, nv12}, 3, 3, 0, 0, true},
               {{planes, more}, 2, 0, 7, 1, false},
               {{more, planes}, 2, 0, 9, 8, false},
               {{rgb, nv12, gpu}, 3, 0, 0, 0, false}, /* what is as wished comes first */
               {{far, nv12}, 2, 0, 0, 0, true},
               {{planes, rgb, nv12}, 3, 0, 7, 1, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_source_settings s = usual();
        s.accepts = all[i].kinds;
        s.n_accepts = all[i].n;
        const sk_frame_wishes w = sk_frame_wishes_of(&s);
        if (w.on_device != all[i].on_device || w.nv12 != all[i].nv12 ||
            w.planes_above_width != all[i].width || w.planes_above_height != all[i].height)
            fail_msg("list %zu: device %d, nv12 %d, planes above %d x %d", i, w.on_device, w.nv12,
                     w.planes_above_width, w.planes_above_height);
    }
    sk_slot slot = {0};
    sk_error err = {0};
    static const int bad[][2] = {{0, 1}, {1, 0}, {65536, 1}, {1, 65536}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sk_slot_prepare(&slot, SK_PIXEL_GRAY, bad[i][0], bad[i][1], &err), SK_ERR_LIMIT);
        assert_non_null(strstr(err.message, "pixels; at most 65535 x 65535 is read"));
    }
    assert_ok(sk_slot_prepare(&slot, SK_PIXEL_NV12, 33, 5, &err), &err);
    assert_true(slot.frame.stride == 64 && slot.capacity == 64 * 8 + 64 && slot.frame.width == 33 &&
                slot.frame.height == 5);
    const uint8_t *memory = slot.memory;
    assert_ok(sk_slot_prepare(&slot, SK_PIXEL_GRAY, 64, 7, &err), &err); /* fits */
    assert_true(slot.memory == memory && slot.frame.stride == 64 && slot.frame.format == SK_PIXEL_GRAY);
    assert_ok(sk_slot_prepare(&slot, SK_PIXEL_RGB, 65535, 1, &err), &err);
    assert_int_equal(slot.frame.stride, 196608);
    assert_ok(sk_slot_set_name(&slot, "a", &err), &err);
    assert_ok(sk_slot_set_name(&slot, "a longer one", &err), &err);
    assert_string_equal(slot.name, "a longer one");
    assert_ok(sk_slot_set_name(&slot, "b", &err), &err);
    assert_string_equal(slot.name, "b");
    sk_slot_free(&slot);
    assert_null(slot.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_and_patterns),
                                       cmocka_unit_test(lists),
                                       cmocka_unit_test(ranges_and_rounds),
                                       cmocka_unit_test(damaged_ones),
                                       cmocka_unit_test(settings_have_bounds),
                                       cmocka_unit_test(it_runs_ahead),
                                       cmocka_unit_test(wishes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
