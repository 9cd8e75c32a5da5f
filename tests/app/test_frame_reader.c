/* SPDX-License-Identifier: Apache-2.0 */
#include "app/frame_reader.h"
#include "media/video_sink.h"
#include "skitter/source.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frames by number, in any order, are the very pixels that reading from the first one on gives. */

#define WIDTH  96
#define HEIGHT 64
#define FRAMES 400

static char video[4300];
static uint64_t sums[FRAMES];

static uint64_t sum_of(const sk_frame *frame)
{
    uint64_t sum = 1469598103934665603u;
    for (int32_t y = 0; y < frame->height; y++)
        for (int32_t x = 0; x < 3 * frame->width; x++)
            sum = (sum ^ frame->data[frame->stride * y + x]) * 1099511628211u;
    return sum;
}

static int make_video(void **state)
{
    (void)state;
    sk_error err = {0};
    static uint8_t pixels[WIDTH * HEIGHT * 3 + SK_VIDEO_SINK_SPARE];
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_RGB;
    frame.width = WIDTH;
    frame.height = HEIGHT;
    frame.stride = 3 * WIDTH;
    frame.data = pixels;
    sk_video_sink *sink = NULL;
    snprintf(video, sizeof video, "%s/v.mp4", test_folder());
    const sk_status status = sk_video_sink_open(video, WIDTH, HEIGHT, 25, &sink, &err);
    if (status == SK_ERR_UNSUPPORTED) { /* built, or run, without FFmpeg */
        video[0] = '\0';
        return 0;
    }
    assert_ok(status, &err);
    for (int64_t i = 0; i < FRAMES; i++) {
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            memset(pixels + 3 * p, (int)(((uint32_t)p * 2654435761u ^ (uint32_t)i * 40503u) >> 13 & 255),
                   3); /* a large file */
        frame.index = i;
        frame.time_ns = i * 40000000;
        assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
    sk_source *source = NULL;
    const sk_frame *got = NULL;
    assert_ok(sk_source_open(video, NULL, &source, &err), &err);
    for (int64_t i = 0; i < FRAMES; i++) {
        assert_ok(sk_source_next(source, &got, &err), &err);
        assert_non_null(got);
        sums[i] = sum_of(got);
        sk_source_release(source, got);
    }
    sk_source_close(&source);
    return 0;
}

#define need_video()                                                                                         \
    do {                                                                                                     \
        if (!video[0]) {                                                                                     \
            print_message("skipped: no FFmpeg\n");                                                           \
            skip();                                                                                          \
        }                                                                                                    \
    } while (0)

static void expect(sk_frame_reader *reader, int64_t n)
{
    sk_error err = {0};
    const sk_frame *frame = NULL;
    assert_ok(sk_frame_reader_get(reader, n, &frame, &err), &err);
    assert_int_equal(frame->index, n);
    if (sum_of(frame) != sums[n])
        fail_msg("frame %d has other pixels", (int)n);
}

static void test_any_order(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame_reader *reader = NULL;
    static const int64_t jumps[] = {0,  1,  2,   399, 398, 0,   200, 199, 201, 63,
                                    64, 65, 399, 64,  5,   330, 5,   5,   6,   120};
    uint64_t bits = 5;
    need_video();
    assert_ok(sk_frame_reader_open(video, NULL, &reader, &err), &err);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        expect(reader, jumps[i]);
    for (int i = 0; i < 60; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        expect(reader, (int64_t)((bits >> 33) % FRAMES));
    }
    const sk_frame *frame = NULL;
    assert_int_equal(sk_frame_reader_get(reader, FRAMES, &frame, &err), SK_ERR_NOT_FOUND);
    expect(reader, 3); /* it goes on from there */
    assert_int_equal(sk_frame_reader_get(reader, FRAMES + 1000, &frame, &err), SK_ERR_NOT_FOUND);
    expect(reader, 398);
    sk_frame_reader_close(&reader);
}

static void test_pictures(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame_reader *reader = NULL;
    sk_blob *one = NULL, *two = NULL, *small = NULL;
    int64_t given = -1;
    need_video();
    assert_ok(sk_frame_reader_open(video, NULL, &reader, &err), &err);
    const sk_frame_wanted wanted = {.n = 10}, narrow = {.n = 10, .width = 32};
    assert_ok(sk_frame_reader_jpeg(reader, &wanted, &one, &given, &err), &err);
    assert_ok(sk_frame_reader_jpeg(reader, &wanted, &two, &given, &err), &err);
    assert_ptr_equal(one, two); /* kept */
    assert_ok(sk_frame_reader_jpeg(reader, &narrow, &small, &given, &err), &err);
    assert_true(sk_blob_bytes(small) < sk_blob_bytes(one));
    assert_memory_equal(sk_blob_data(one), "\xff\xd8\xff", 3);
    sk_blob_unref(&one);
    sk_blob_unref(&two);
    sk_blob_unref(&small);
    for (int64_t n = 0; n < 80; n++) { /* more than are kept */
        const sk_frame_wanted next = {.n = n};
        assert_ok(sk_frame_reader_jpeg(reader, &next, &one, &given, &err), &err);
        sk_blob_unref(&one);
    }
    sk_frame_reader_close(&reader);
}

/* Who rather sees an earlier frame than waits comes nearer each time, and to the very pixels in the end. */
static void test_no_long_wait(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame_reader *reader = NULL;
    sk_blob *jpeg = NULL;
    static const int64_t jumps[] = {0, 370, 30, 399, 310, 311, 250, 249, 248, 120, 59, 58};
    int early = 0;
    need_video();
    assert_ok(sk_frame_reader_open(video, NULL, &reader, &err), &err);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        int64_t given = -1, before = -1;
        for (int asked = 0; given != jumps[i]; asked++) {
            const sk_frame_wanted wanted = {.n = jumps[i], .within = asked < 300 ? 1 : 0};
            assert_ok(sk_frame_reader_jpeg(reader, &wanted, &jpeg, &given, &err), &err);
            assert_non_null(jpeg);
            sk_blob_unref(&jpeg);
            assert_true(given == jumps[i] || asked == 0 || given >= before || before > jumps[i]);
            early += given != jumps[i];
            before = given;
        }
        expect(reader, jumps[i]);
    }
    assert_true(early > 0);
    sk_frame_reader_close(&reader);
}

/* One step back costs the way from a key frame, the next ones nothing: what was passed is kept. */
static void test_steps_back(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame_reader *reader = NULL;
    sk_blob *jpeg = NULL;
    int64_t given = -1;
    need_video();
    assert_ok(sk_frame_reader_open(video, NULL, &reader, &err), &err);
    for (int64_t n = 355; n > 340; n--) {
        const sk_frame_wanted wanted = {.n = n};
        assert_ok(sk_frame_reader_jpeg(reader, &wanted, &jpeg, &given, &err), &err);
        assert_int_equal(given, n);
        sk_blob_unref(&jpeg);
    }
    char away[4400];
    snprintf(away, sizeof away, "%s.away", video);
    assert_int_equal(rename(video, away), 0);
    assert_int_equal(truncate(away, 0), 0); /* nothing can be decoded any more */
    const sk_frame_wanted passed = {.n = 335}, other = {.n = 100};
    assert_ok(sk_frame_reader_jpeg(reader, &passed, &jpeg, &given, &err), &err);
    assert_int_equal(given, 335);
    sk_blob_unref(&jpeg);
    assert_int_not_equal(sk_frame_reader_jpeg(reader, &other, &jpeg, &given, &err), SK_OK);
    sk_frame_reader_close(&reader);
}

static void test_what_is_none(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame_reader *reader = NULL;
    assert_int_equal(sk_frame_reader_open("rtsp://nowhere/1", NULL, &reader, &err), SK_ERR_UNSUPPORTED);
    assert_int_equal(sk_frame_reader_open("-", NULL, &reader, &err), SK_ERR_UNSUPPORTED);
    assert_int_not_equal(sk_frame_reader_open(test_missing("v.mp4"), NULL, &reader, &err), SK_OK);
    assert_null(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_order), cmocka_unit_test(test_pictures),
                                       cmocka_unit_test(test_no_long_wait), cmocka_unit_test(test_steps_back),
                                       cmocka_unit_test(test_what_is_none)};
    return cmocka_run_group_tests(tests, make_video, NULL);
}
