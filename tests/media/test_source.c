/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"
#include "support/test.h"

#include "base/memory.h"
#include "kernels/nv12.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A picture whose every pixel is (number, 2*number, 3*number). */
static void write_png(const char *path, int number, int width, int height)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    uint8_t pixels[64 * 64 * 3];
    for (int i = 0; i < width * height; i++) {
        pixels[3 * i] = (uint8_t)number;
        pixels[3 * i + 1] = (uint8_t)(2 * number);
        pixels[3 * i + 2] = (uint8_t)(3 * number);
    }
    assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

static const char *picture_folder(void)
{
    static char folder[4200];
    char path[4300];
    snprintf(folder, sizeof folder, "%s/pictures", test_folder());
    if (mkdir(folder, 0755) == 0)
        for (int i = 1; i <= 12; i++) {
            snprintf(path, sizeof path, "%s/img%d.png", folder, i);
            write_png(path, i, 20 + i, 10);
        }
    return folder;
}

static void reads_a_folder_in_human_order(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.queue = 2;
    sk_source *source = NULL;
    assert_ok(sk_source_open(picture_folder(), &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(info.frames, 12);
    for (int i = 1; i <= 12; i++) {
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->index, i - 1);
        assert_int_equal(frame->width, 20 + i);
        assert_int_equal(frame->data[0], i);
        assert_int_equal(frame->data[2], 3 * i);
        char ending[32];
        snprintf(ending, sizeof ending, "img%d.png", i);
        assert_non_null(strstr(sk_source_frame_name(source, frame), ending));
        sk_source_release(source, frame);
    }
    const sk_frame *frame = NULL;
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    sk_source_close(&source);
    assert_null(source);
}

static void takes_ranges_globs_patterns_and_formats(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.first = 2;
    settings.last = 9;
    settings.step = 3;
    settings.format = SK_PIXEL_BGR;
    const char *patterns[] = {"*.png", "img%d.png", "img?*.png"};
    for (size_t p = 0; p < 3; p++) {
        char uri[4300];
        snprintf(uri, sizeof uri, "%s/%s", picture_folder(), patterns[p]);
        sk_source *source = NULL;
        assert_ok(sk_source_open(uri, &settings, &source, &err), &err);
        for (int i = 2; i < 9; i += 3) {
            const sk_frame *frame = NULL;
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_int_equal(frame->index, i);
            assert_int_equal(frame->data[0], 3 * (i + 1)); /* blue first */
            sk_source_release(source, frame);
        }
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_null(frame);
        sk_source_close(&source);
    }
}

static void turns_pictures(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_slot from = {0}, to = {0};
    assert_ok(sk_slot_prepare(&from, SK_PIXEL_GRAY, 3, 2, &err), &err);
    memcpy(from.frame.data, (uint8_t[]){1, 2, 3}, 3);
    memcpy(from.frame.data + from.frame.stride, (uint8_t[]){4, 5, 6}, 3);
    assert_ok(sk_slot_rotate(&from, 1, false, &to, &err),
              &err); /* clockwise: left column from the bottom row */
    assert_int_equal(to.frame.width, 2);
    assert_memory_equal(to.frame.data, ((uint8_t[]){4, 1}), 2);
    assert_memory_equal(to.frame.data + 2 * to.frame.stride, ((uint8_t[]){6, 3}), 2);
    assert_ok(sk_slot_rotate(&from, 2, false, &to, &err), &err);
    assert_memory_equal(to.frame.data, ((uint8_t[]){6, 5, 4}), 3);
    assert_ok(sk_slot_rotate(&from, 3, false, &to, &err), &err);
    assert_memory_equal(to.frame.data, ((uint8_t[]){3, 6}), 2);
    assert_ok(sk_slot_rotate(&from, 0, true, &to, &err), &err);
    assert_memory_equal(to.frame.data, ((uint8_t[]){3, 2, 1}), 3);
    sk_free(from.frame.data);
    sk_free(to.frame.data);
}

static void bad_sources_are_explained(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
#ifdef SKITTER_HAVE_FFMPEG
    assert_int_equal(sk_source_open("/nowhere/x.mp4", &settings, &source, &err), SK_ERR_NOT_FOUND);
#else
    assert_int_equal(sk_source_open("/nowhere/x.mp4", &settings, &source, &err), SK_ERR_UNSUPPORTED);
#endif
    assert_non_null(strstr(err.message, "/nowhere/x.mp4"));
    assert_int_equal(sk_source_open("/nowhere/x.png", &settings, &source, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_source_open("/nowhere/*.png", &settings, &source, &err), SK_ERR_NOT_FOUND);
    char path[4300];
    snprintf(path, sizeof path, "%s/broken.mp4", test_folder());
    FILE *file = fopen(path, "wb");
    fputs("this is no video", file);
    fclose(file);
    assert_int_not_equal(sk_source_open(path, &settings, &source, &err), SK_OK);
    assert_null(source);
    snprintf(path, sizeof path, "%s/broken.jpg", test_folder());
    file = fopen(path, "wb");
    fwrite("\xff\xd8\xff\xe0oops", 1, 8, file);
    fclose(file);
    assert_ok(sk_source_open(path, &settings, &source, &err), &err);
    const sk_frame *frame = NULL;
    assert_int_equal(sk_source_next(source, &frame, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "broken.jpg"));
    sk_source_close(&source);
}

#ifdef SKITTER_HAVE_FFMPEG
static uint64_t picture_sum(const sk_frame *frame)
{
    uint64_t sum = 14695981039346656037u;
    for (int32_t y = 0; y < frame->height; y++)
        for (int32_t x = 0; x < frame->width * 3; x++)
            sum = (sum ^ frame->data[y * frame->stride + x]) * 1099511628211u;
    return sum;
}

/* A video tagged BT.709 is converted by that matrix: the first frame has OpenCV 5's pixels. */
static void colours_follow_the_tags(void **state)
{
    (void)state;
    test_data_or_skip();
    static const uint8_t expected[2][3] = {{134, 88, 44}, {210, 97, 3}}; /* at (200, 100) and (300, 250) */
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    assert_ok(sk_source_open(test_data("video/small_robot.mp4"), &settings, &source, &err), &err);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_non_null(frame);
    for (int c = 0; c < 3; c++) {
        /* swscale rounds differently from processor to processor; another matrix is ten levels off */
        assert_in_range(frame->data[100 * frame->stride + 200 * 3 + c], expected[0][c] - 2,
                        expected[0][c] + 2);
        assert_in_range(frame->data[250 * frame->stride + 300 * 3 + c], expected[1][c] - 2,
                        expected[1][c] + 2);
    }
    sk_source_release(source, frame);
    sk_source_close(&source);
}

/* Frame k is the same picture whether reached by playing or by seeking. */
static void seeks_to_the_exact_frame(void **state)
{
    (void)state;
    test_data_or_skip();
    static uint64_t sums[1200];
    static int64_t times[1200];
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    const char *video = test_data("video/centered_pair_small.mp4");
    assert_ok(sk_source_open(video, &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(info.width, 384);
    int64_t count = 0;
    for (const sk_frame *frame = NULL;; count++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        sums[count] = picture_sum(frame);
        times[count] = frame->time_ns;
        assert_int_equal(frame->index, count);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    assert_int_equal(count, 1100);
    assert_int_equal(info.frames, count);
    const int64_t starts[] = {1, 63, 64, 65, 249, 250, 251, 500, 777, 1099};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        settings.first = starts[i];
        settings.last = starts[i] + 2;
        assert_ok(sk_source_open(video, &settings, &source, &err), &err);
        for (int64_t k = starts[i]; k < settings.last && k < count; k++) {
            const sk_frame *frame = NULL;
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_non_null(frame);
            assert_int_equal(frame->index, k);
            assert_true(picture_sum(frame) == sums[k]);
            assert_true(frame->time_ns == times[k]);
            sk_source_release(source, frame);
        }
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_null(frame);
        sk_source_close(&source);
    }
}

/* Played twice, the file opened anew or, where a device is to decode, its bytes gone back: the same pictures at the same times. */
static void plays_again_from_the_start(void **state)
{
    (void)state;
    test_data_or_skip();
    static uint64_t sums[2][200];
    static int64_t times[2][200];
    for (int k = 0; k < 2; k++) {
        sk_error err = {0};
        sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
        sk_source_defaults(&settings);
        sk_source *source = NULL;
        int count = 0;
        settings.loop = 2;
        settings.last = 70;
        settings.hwaccel = k ? "auto" : "none";
        assert_ok(sk_source_open(test_data("video/small_robot.mp4"), &settings, &source, &err), &err);
        for (const sk_frame *frame = NULL; count < 200; count++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            if (!frame)
                break;
            sums[k][count] = picture_sum(frame);
            times[k][count] = frame->time_ns;
            sk_source_release(source, frame);
        }
        sk_source_close(&source);
        assert_int_equal(count, 140);
    }
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    assert_memory_equal(times[0], times[1], sizeof times[0]);
    assert_memory_equal(sums[0], sums[0] + 70, 70 * sizeof sums[0][0]);
}

/* Frames as planes, shared with the decoder, and as it converts them: the same pixels, also while several are held and when
 * the file begins anew. */
static void planes_are_the_same_pixels(void **state)
{
    (void)state;
    test_data_or_skip();
    static const char *const videos[] = {"video/small_robot.mp4", "video/clip.mp4",
                                         "video/centered_pair_small.mp4"};
    enum { HELD = 3, FRAMES = 24 };
    for (int v = 0; v < 3; v++) {
        sk_error err = {0};
        sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
        sk_source_defaults(&settings);
        settings.last = 15;
        settings.loop = 2;
        settings.queue = HELD + 1;
        sk_source *plain = NULL, *shared = NULL;
        assert_ok(sk_source_open(test_data(videos[v]), &settings, &plain, &err), &err);
        sk_frame_kind planes_above = {.format = SK_PIXEL_I420, .above_width = 100, .above_height = 100};
        settings.accepts = &planes_above;
        settings.n_accepts = 1;
        assert_ok(sk_source_open(test_data(videos[v]), &settings, &shared, &err), &err);
        const sk_frame *held[HELD] = {0};
        int planes = 0;
        for (int i = 0; i < FRAMES; i++) {
            const sk_frame *a = NULL, *b = NULL;
            if (held[i % HELD])
                sk_source_release(shared, held[i % HELD]);
            assert_ok(sk_source_next(plain, &a, &err), &err);
            assert_ok(sk_source_next(shared, &b, &err), &err);
            assert_true(a && b && a->index == b->index && a->time_ns == b->time_ns);
            held[i % HELD] = b;
            if (b->format == SK_PIXEL_I420) {
                uint8_t *rgb = malloc((size_t)b->width * (size_t)b->height * 3);
                sk_yuv_to_rgb(b, rgb);
                for (int32_t y = 0; y < a->height; y++)
                    assert_memory_equal(rgb + (size_t)y * (size_t)a->width * 3, a->data + a->stride * y,
                                        (size_t)a->width * 3);
                free(rgb);
                planes++;
            }
            sk_source_release(plain, a);
        }
#if defined(__x86_64__)
        assert_int_equal(planes, FRAMES); /* elsewhere FFmpeg rounds otherwise, and frames come converted */
#endif
        sk_source_close(&shared); /* with frames still held */
        sk_source_close(&plain);
        planes_above.above_width = planes_above.above_height =
            4000; /* smaller frames than that come converted */
        const sk_frame *frame = NULL;
        assert_ok(sk_source_open(test_data(videos[v]), &settings, &shared, &err), &err);
        assert_ok(sk_source_next(shared, &frame, &err), &err);
        assert_int_equal(frame->format, SK_PIXEL_RGB);
        sk_source_release(shared, frame);
        sk_source_close(&shared);
    }
}

static void stops_from_outside(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.loop = 1000;
    sk_source *source = NULL;
    assert_ok(sk_source_open(test_data("video/clip.mp4"), &settings, &source, &err), &err);
    const sk_frame *frame = NULL;
    assert_ok(sk_source_next(source, &frame, &err), &err);
    sk_source_release(source, frame);
    sk_source_stop(source);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    sk_source_close(&source);
}
#endif

/* FFmpeg's converters write whole blocks of columns and leave out the last one where it does not fit the row. */
static void rows_have_room_for_whole_blocks(void **state)
{
    (void)state;
    sk_slot slot = {0};
    sk_error err = {0};
    for (int32_t width = 1; width < 1300; width++) {
        assert_ok(sk_slot_prepare(&slot, SK_PIXEL_RGB, width, 2, &err), &err);
        assert_true(slot.frame.stride >= (width + 31) / 32 * 32 * 3);
    }
    sk_free(slot.memory);
}

/* A program compiled when the structs were shorter: what it knew of is read and filled, nothing behind it is touched. */
static void structs_of_a_shorter_age(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source *source = NULL;
    struct {
        sk_source_settings settings;
        sk_source_info info;
    } old;
    memset(&old, 0x55, sizeof old);
    old.settings.size = offsetof(sk_source_settings, queue);
    old.info.size = offsetof(sk_source_info, rate);
    sk_source_defaults(&old.settings);
    assert_int_equal(old.settings.format, SK_PIXEL_RGB);
    assert_int_equal(old.settings.queue, 0x55555555);
    assert_ok(sk_source_open(picture_folder(), &old.settings, &source, &err), &err);
    sk_source_get_info(source, &old.info);
    assert_int_equal(old.info.kind, SK_SOURCE_PICTURES);
    assert_memory_equal(&old.info.total, "UUUUUUUU", 8);
    sk_source_close(&source);
    old.settings.size = 0;
    assert_int_equal(sk_source_open(picture_folder(), &old.settings, &source, &err), SK_ERR_ARG);
    assert_null(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_room_for_whole_blocks),
        cmocka_unit_test(reads_a_folder_in_human_order),
        cmocka_unit_test(takes_ranges_globs_patterns_and_formats),
        cmocka_unit_test(turns_pictures),
        cmocka_unit_test(structs_of_a_shorter_age),
        cmocka_unit_test(bad_sources_are_explained),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(colours_follow_the_tags),
        cmocka_unit_test(seeks_to_the_exact_frame),
        cmocka_unit_test(plays_again_from_the_start),
        cmocka_unit_test(planes_are_the_same_pixels),
        cmocka_unit_test(stops_from_outside),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
