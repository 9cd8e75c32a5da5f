/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out at any point while videos, pictures and lists of them are read or written: it is said, and
 * nothing is left; nor is it where there is enough. */
#include "made_video.h"
#include "support/fault.h"

#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/video_sink.h"

#include <unistd.h>

typedef sk_status (*opener)(const char *, const sk_source_settings *, sk_reader **, sk_error *);
typedef struct reading {
    opener open;
    const char *path;
    sk_source_settings settings;
    int frames;
    bool numbered; /* they show which they are */
} reading;

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    return s;
}

static sk_status read_some(void *context, sk_error *err)
{
    const reading *how = context;
    atomic_bool stop = false;
    sk_reader *reader = NULL;
    sk_slot slot = {0};
    SK_TRY(how->open(how->path, &how->settings, &reader, err));
    reader->stop = &stop;
    sk_status status = SK_OK;
    bool end = false;
    for (int i = 0; i < how->frames && status == SK_OK && !end; i++)
        status = reader->read(reader, &slot, &end, err);
    if (how->numbered && status == SK_OK && !end && made_number(&slot.frame) != slot.frame.index)
        status = sk_fail(err, SK_ERR_MISMATCH, "frame %lld shows %d", (long long)slot.frame.index,
                         made_number(&slot.frame));
    reader->close(reader);
    sk_slot_free(&slot);
    return status == SK_OK && end ? sk_fail(err, SK_ERR_MISMATCH, "ended too early") : status;
}

#ifdef SKITTER_HAVE_FFMPEG
static void videos(void **state)
{
    (void)state;
    const char *path = made_video("v.mp4", 110, "-c:v libx264 -qp 0 -g 30 -bf 2 -pix_fmt yuv420p");
    const sk_frame_kind planes = {.format = SK_PIXEL_I420, .lent = 1}, two = {.format = SK_PIXEL_NV12};
    const sk_frame_kind *const kinds[] = {NULL, &planes, &two};
    for (int i = 0; i < 3; i++) {
        reading how = {sk_reader_open_video, path, usual(), 3, i != 1};
        how.settings.accepts = kinds[i];
        how.settings.n_accepts = kinds[i] != NULL;
        how.settings.first = i == 0 ? 100 : 0; /* its packets are listed */
        assert_true(test_every_allocation(read_some, &how) >= 5);
        test_leaves_nothing(read_some, &how);
    }
}

static sk_status write_video(void *context, sk_error *err)
{
    static uint8_t pixels[32 * 32 * 3 + SK_VIDEO_SINK_SPARE];
    sk_video_sink *sink = NULL;
    SK_TRY(sk_video_sink_open(context, 32, 32, 25, &sink, err));
    sk_status status = SK_OK;
    for (int i = 0; i < 3 && status == SK_OK; i++) {
        const sk_frame frame = {.size = sizeof(sk_frame),
                                .format = SK_PIXEL_RGB,
                                .width = 32,
                                .height = 32,
                                .stride = 96,
                                .data = pixels,
                                .index = i,
                                .time_ns = i * 40000000};
        status = sk_video_sink_write(sink, &frame, err);
    }
    const sk_status closed = sk_video_sink_close(&sink, status == SK_OK ? err : NULL);
    return status == SK_OK ? closed : status;
}

static void written_videos(void **state)
{
    (void)state;
    char path[600];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/w.mp4", test_folder());
    if (write_video(path, &err) == SK_ERR_UNSUPPORTED)
        skip();
    assert_true(test_every_allocation(write_video, path) >= 2);
    test_leaves_nothing(write_video, path);
}
#endif

static void draw_to(const char *path)
{
    static uint8_t pixels[12 * 9 * 3];
    sk_error err = {0};
    sk_frame drawing = SK_FRAME_INIT;
    drawing.format = SK_PIXEL_RGB, drawing.width = 12, drawing.height = 9, drawing.stride = 36;
    drawing.data = pixels;
    assert_ok(sk_picture_write_drawing(path, &drawing, &err), &err);
}

static sk_status write_picture(void *context, sk_error *err)
{
    static uint8_t pixels[12 * 9 * 3];
    sk_frame drawing = SK_FRAME_INIT;
    drawing.format = SK_PIXEL_RGB, drawing.width = 12, drawing.height = 9, drawing.stride = 36;
    drawing.data = pixels;
    return sk_picture_write_drawing(context, &drawing, err);
}

static void pictures(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.webp"};
    for (int i = 0; i < 3; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", test_folder(), names[i]);
        draw_to(path);
        (void)test_every_allocation(write_picture, path);
        for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++) {
            reading how = {sk_reader_open_pictures, path, usual(), 1, false};
            how.settings.format = (sk_pixel_format)format;
            assert_true(test_every_allocation(read_some, &how) >= 3);
            test_leaves_nothing(read_some, &how);
        }
        assert_int_equal(unlink(path), 0);
    }
}

static void folders(void **state)
{
    (void)state;
    char path[700];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/p%d.png", test_folder(), i);
        draw_to(path);
    }
    const char *const ways[] = {"%s", "%s/p*.png", "%s/p%%d.png"};
    for (int i = 0; i < 3; i++) {
        char uri[700];
        snprintf(uri, sizeof uri, ways[i], test_folder());
        reading how = {sk_reader_open_pictures, uri, usual(), 3, false};
        assert_true(test_every_allocation(read_some, &how) >= 5);
    }
}

static sk_status parse(void *context, sk_error *err)
{
    sk_source_settings s = usual();
    sk_frame_range *ranges = NULL;
    const sk_status status = sk_frames_parse(context, &s, &ranges, err);
    sk_free(ranges);
    return status;
}

static void lists_of_frames(void **state)
{
    (void)state;
    char text[] = "1,5,9,20:30:2,7-8,100";
    assert_true(test_every_allocation(parse, text) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(videos), cmocka_unit_test(written_videos),
#endif
        cmocka_unit_test(pictures), cmocka_unit_test(folders), cmocka_unit_test(lists_of_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
