/* SPDX-License-Identifier: Apache-2.0 */
#include "made_bag.h"
#include "support/fault.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "formats/rosbag.h"
#include "media/reader.h"
#include "media/source_told.h"
#include "media/video_sink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Images of a bag as frames: pixels in the format that is wanted, stamps, ranges, rounds, images that cannot be read. */

/* Two pixels of the next frame. */
static void expect_pixels(sk_source *source, const uint8_t *bytes, size_t count)
{
    const sk_frame *frame = NULL;
    sk_error err = {0};
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_non_null(frame);
    assert_memory_equal(frame->data, bytes, count);
    sk_source_release(source, frame);
}

static void pixels_in_every_format(void **state)
{
    (void)state;
    static const uint8_t rgb[] = {255, 0, 0, 0, 0, 255, 9, 9, 9}, bgr[] = {0, 0, 255, 255, 0, 0},
                         bgra[] = {0, 0, 255, 1, 255, 0, 0, 2}, grey[] = {10, 200}, wide[] = {1, 10, 2, 200};
    const made images[] = {{"rgb8", 2, 1, 9, rgb, sizeof rgb, BEGIN}, /* a row is longer than its pixels */
                           {"bgr8", 2, 1, 6, bgr, sizeof bgr, BEGIN},
                           {"bgra8", 2, 1, 8, bgra, sizeof bgra, BEGIN},
                           {"mono8", 2, 1, 2, grey, sizeof grey, BEGIN},
                           {"mono16", 2, 1, 4, wide, sizeof wide, BEGIN}};
    const char *path = write_bag(images, 5);
    sk_source_settings s = defaults();
    static const uint8_t red_blue[] = {255, 0, 0, 0, 0, 255}, blue_red[] = {0, 0, 255, 255, 0, 0},
                         luma[] = {76, 29}, greys[] = {10, 10, 10, 200, 200, 200};
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    const uint8_t *colour[] = {red_blue, blue_red, luma};
    for (int f = 0; f < 3; f++) {
        s.format = formats[f];
        sk_source *source = open_bag(path, &s);
        const size_t bytes = formats[f] == SK_PIXEL_GRAY ? 2 : 6;
        for (int i = 0; i < 3; i++)
            expect_pixels(source, colour[f], bytes);
        for (int i = 0; i < 2; i++)
            expect_pixels(source, formats[f] == SK_PIXEL_GRAY ? grey : greys, bytes);
        sk_source_close(&source);
    }
}

/* 0.299, 0.587 and 0.114 in parts of 65536, to the nearest: colours that lie so near to a half that each of the three counts. */
static void greys_to_the_last_bit(void **state)
{
    (void)state;
    static const uint8_t rgb[] = {195, 110, 216, 207, 236, 27, 244, 8, 218, 5, 188, 32, 1, 53, 185},
                         grey[] = {147, 204, 103, 115, 53};
    const made images[] = {{"rgb8", 5, 1, sizeof rgb, rgb, sizeof rgb, BEGIN}};
    sk_source_settings s = defaults();
    s.format = SK_PIXEL_GRAY;
    sk_source *source = open_bag(write_bag(images, 1), &s);
    expect_pixels(source, grey, sizeof grey);
    sk_source_close(&source);
}

static void stamps_ranges_and_rounds(void **state)
{
    (void)state;
    static const uint8_t grey[] = {1, 2};
    made images[4];
    for (int i = 0; i < 4; i++) /* the third has no stamp: the time of its recording counts */
        images[i] = (made){"mono8", 2, 1, 2, grey, 2, i == 2 ? 0 : BEGIN + i * STEP};
    const char *path = write_bag(images, 4);
    sk_source_settings s = defaults();
    s.first = 1;
    s.loop = 2;
    sk_source *source = open_bag(path, &s);
    const sk_source_info info = sk_source_info_of(source);
    assert_int_equal(info.kind, SK_SOURCE_VIDEO);
    assert_true(info.width == 2 && info.height == 1 && info.total == 4 && info.frames == 6 && info.exact);
    assert_true(info.rate > 19.99 && info.rate < 20.01 && info.stamped);
    assert_string_equal(info.frame_id, "eye");
    for (int i = 0; i < 6; i++) {
        const sk_frame *frame = NULL;
        sk_error err = {0};
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->index, i);
        assert_int_equal(frame->wall_ns, BEGIN + (1 + i % 3) * STEP);
        assert_int_equal(frame->time_ns, (1 + i % 3) * STEP + i / 3 * 4 * STEP);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
}

/* One reader jumped about with; frames a second where recording paused, and where it was slower than one. */
static void jumps_and_pauses(void **state)
{
    (void)state;
    static const struct {
        int64_t times[6];
        double rate;
    } all[] = {{{0, 100000000, 200000000, 300000000, 400000000, 500000000}, 10},
               {{0, 100000000, 200000000, 9000000000, 9100000000, 9200000000},
                10}, /* the usual interval, not the mean */
               {{0, 100000000, 210000000, 300000000, 400000000, 520000000}, 5 / 0.52},
               {{0, 0, 0, 0, 0, 1000000000}, 5}, /* recorded in heaps: the mean is all there is */
               {{0, 4000000000, 8000000000, 12000000000, 16000000000, 20000000000}, 0.25}};
    uint8_t greys[6];
    made images[6];
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        for (int i = 0; i < 6; i++) {
            greys[i] = (uint8_t)(20 * i);
            images[i] = (made){"mono8", 1, 1, 1, &greys[i], 1, BEGIN + all[k].times[i]};
        }
        times = all[k].times;
        const char *path = write_bag(images, 6);
        times = NULL;
        sk_error err = {0};
        sk_source_settings s = defaults();
        sk_reader *reader = NULL;
        sk_slot slot = {0};
        atomic_bool stop = false;
        bool end = false;
        s.loop = 2;
        s.format = SK_PIXEL_GRAY;
        assert_ok(sk_reader_open_bag(path, &s, &reader, &err), &err);
        reader->stop = &stop;
        if (!(fabs(reader->info.rate - all[k].rate) < 1e-6))
            fail_msg("bag %zu: %g frames a second", k, reader->info.rate);
        assert_int_equal(reader->info.frames, 12);
        const int64_t length = all[k].times[5] + (int64_t)(1e9 / reader->info.rate);
        for (int i = 0; i < 12; i++) { /* twice, one behind the other */
            assert_ok(reader->read(reader, &slot, &end, &err), &err);
            assert_true(!end && slot.frame.data[0] == 20 * (i % 6) && slot.frame.index == i);
            assert_true(llabs(slot.frame.time_ns - all[k].times[i % 6] - i / 6 * length) <= 2);
        }
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        assert_true(end);
        assert_int_equal(reader->missing, 0);
        reader->close(reader);
        s.loop = 1;
        assert_ok(sk_reader_open_bag(path, &s, &reader, &err), &err);
        reader->stop = &stop;
        static const int at[] = {5, 0, 3, 3, 4, 2, 6, 1};
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            end = false;
            assert_ok(reader->seek(reader, at[i], &err), &err);
            assert_ok(reader->read(reader, &slot, &end, &err), &err);
            assert_int_equal(end, at[i] >= 6);
            if (!end)
                assert_true(slot.frame.data[0] == 20 * at[i] &&
                            slot.frame.wall_ns == BEGIN + all[k].times[at[i]]);
        }
        reader->close(reader);
        sk_slot_free(&slot);
    }
}

static void images_that_cannot_be_read(void **state)
{
    (void)state;
    static const uint8_t grey[] = {1, 2, 3, 4};
    const made images[] = {{"mono8", 2, 1, 2, grey, 1, BEGIN}, /* too short */
                           {"mono8", 2, 1, 2, grey, 2, BEGIN + STEP},
                           {"what8", 2, 1, 2, grey, 2, BEGIN + 2 * STEP},
                           {"mono8", 4, 1, 4, grey, 4, BEGIN + 3 * STEP}, /* of another size */
                           {"mono8", 65535, 65535, 65535, grey, 4, BEGIN + 4 * STEP}};
    const char *path = write_bag(images, 5);
    static const char *const why[] = {"#0", "what8", "4x1", "#4"};
    sk_source_settings s = defaults();
    sk_error err = {0};
    const sk_frame *frame = NULL;
    s.skip_unreadable = true;
    sk_source *source = open_bag(path, &s);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_non_null(frame);
    assert_true(frame->index == 1 && frame->width == 2);
    sk_source_release(source, frame);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    for (int i = 0; i < 4; i++) {
        sk_unreadable u = SK_UNREADABLE_INIT;
        assert_true(sk_source_next_unreadable(source, INT64_MAX, &u));
        if (!strstr(u.problem, why[i]) && !strstr(u.name, why[i]))
            fail_msg("'%s' is neither in '%s' nor in '%s'", why[i], u.name, u.problem);
    }
    sk_source_close(&source);
    s.skip_unreadable = false;
    source = open_bag(path, &s);
    assert_int_not_equal(sk_source_next(source, &frame, &err), SK_OK);
    assert_non_null(strstr(err.message, "images.mcap: image 0"));
    sk_source_close(&source);
}

/* Nothing of it can be read: the first image says why. */
static void bags_of_nothing_readable(void **state)
{
    (void)state;
    static const uint8_t grey[] = {1, 2};
    const made images[] = {{"what8", 2, 1, 2, grey, 2, BEGIN}, {"what8", 2, 1, 2, grey, 2, BEGIN}};
    sk_source *source = NULL;
    sk_error err = {0};
    assert_int_not_equal(sk_source_open(write_bag(images, 2), NULL, &source, &err), SK_OK);
    assert_null(source);
    assert_non_null(strstr(err.message, "images.mcap: image 0: "));
    assert_non_null(strstr(err.message, "what8"));
    err = (sk_error){0};
    assert_int_equal(sk_source_open(write_bag(images, 0), NULL, &source, &err), SK_ERR_NOT_FOUND);
    if (!strstr(err.message, "images.mcap"))
        fail_msg("%s", err.message);
}

/* Every colour has its own weight in grey, and its own place. */
static void colours_keep_their_places(void **state)
{
    (void)state;
    static const uint8_t rgb[] = {10, 200, 30, 7, 5, 250}, bgr[] = {30, 200, 10, 250, 5, 7},
                         grey[] = {124, 34};
    const made images[] = {{"rgb8", 2, 1, 6, rgb, sizeof rgb, BEGIN},
                           {"bgr8", 2, 1, 6, bgr, sizeof bgr, BEGIN}};
    const char *path = write_bag(images, 2);
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    const uint8_t *expected[] = {rgb, bgr, grey};
    for (int f = 0; f < 3; f++) {
        sk_source_settings s = defaults();
        s.format = formats[f];
        sk_source *source = open_bag(path, &s);
        for (int i = 0; i < 2; i++)
            expect_pixels(source, expected[f], f == 2 ? 2 : 6);
        sk_source_close(&source);
    }
}

/* Images that were packed before they were recorded. */
static void compressed_images(void **state)
{
    (void)state;
    static uint8_t pixels[] = {10, 200, 30, 7, 5, 250};
    char path[512], *png = NULL;
    size_t bytes = 0, topic = 0;
    sk_error err = {0};
    sk_frame drawing = SK_FRAME_INIT;
    sk_bag_writer *writer = NULL;
    sk_cdr_writer cdr = {0};
    drawing.format = SK_PIXEL_RGB, drawing.width = 2, drawing.height = 1, drawing.stride = 6,
    drawing.data = pixels;
    snprintf(path, sizeof path, "%s/one.png", test_folder());
    assert_ok(sk_picture_write_drawing(path, &drawing, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &png, &bytes, &err), &err);
    snprintf(path, sizeof path, "%s/packed.mcap", test_folder());
    assert_ok(sk_bag_writer_open(path, SK_BAG_MCAP, &writer, &err), &err);
    assert_ok(sk_bag_writer_topic(writer, "/image/compressed",
                                  sk_msg_type_find("sensor_msgs/msg/CompressedImage"), &topic, &err),
              &err);
    for (int i = 0; i < 3; i++) {
        const sk_msg_compressed_image image = {
            .header = {sk_msg_time_of(BEGIN + i * STEP), sk_msg_text_of("eye")},
            .format = sk_msg_text_of("rgb8; png"),
            .data = {(const uint8_t *)png, i == 1 ? 9 : bytes}};
        assert_ok(sk_msg_encode(&sk_msg_compressed_image_layout, &image, &cdr, &err), &err);
        assert_ok(sk_bag_writer_write(writer, topic, BEGIN + i * STEP, cdr.data, cdr.length, &err), &err);
    }
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    sk_cdr_writer_free(&cdr);
    sk_free(png);
    sk_source *source = open_bag(path, NULL);
    const sk_source_info info = sk_source_info_of(source);
    assert_string_equal(info.decoder, "bag, compressed images");
    assert_true(info.width == 2 && info.height == 1 && info.total == 3);
    expect_pixels(source, pixels, 6);
    const sk_frame *frame = NULL;
    assert_int_not_equal(sk_source_next(source, &frame, &err), SK_OK);
    assert_non_null(strstr(err.message, "packed.mcap: image 1: format 'rgb8; png': "));
    sk_source_close(&source);
}

static sk_status read_all(void *context, sk_error *err)
{
    sk_source_settings s = defaults();
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    SK_TRY(sk_source_open(context, &s, &source, err));
    sk_status status = sk_source_next(source, &frame, err);
    sk_source_release(source, frame);
    sk_source_close(&source);
    return status;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    static const uint8_t bayer[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const made image = {"bayer_rggb8", 4, 4, 4, bayer, sizeof bayer, BEGIN};
    char path[512];
    snprintf(path, sizeof path, "%s", write_bag(&image, 1));
    assert_true(test_every_allocation(read_all, path) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_in_every_format),     cmocka_unit_test(greys_to_the_last_bit),
        cmocka_unit_test(stamps_ranges_and_rounds),   cmocka_unit_test(jumps_and_pauses),
        cmocka_unit_test(images_that_cannot_be_read), cmocka_unit_test(bags_of_nothing_readable),
        cmocka_unit_test(colours_keep_their_places),  cmocka_unit_test(compressed_images),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
