/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/video_sink.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --frames: what may be written, which frames that is, and that exactly these come. */

static void list(const char *text, int64_t total, char *out, size_t capacity)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_frame_range *ranges = NULL;
    sk_error err = {0};
    sk_source_defaults(&s);
    assert_ok(sk_frames_parse(text, &s, &ranges, &err), &err);
    assert_ok(sk_frames_check(&s, &err), &err);
    sk_frame_choice choice = sk_frame_choice_of(&s);
    size_t used = 0;
    int64_t count = 0;
    out[0] = '\0';
    for (int64_t at = -1; (at = sk_frame_choice_next(&choice, at + 1)) >= 0 && at < total; count++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%lld", used ? " " : "", (long long)at);
    assert_int_equal(sk_frames_wanted(&s, total), count);
    sk_free(ranges);
}

static void lists_mean_what_they_say(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"1,5,9", "1 5 9"},
        {"9,1,5,5,1", "1 5 9"},
        {"3", "3"},
        {"0-3", "0 1 2 3"},
        {"2:5", "2 3 4"},
        {"::4", "0 4 8"},
        {"7:", "7 8 9"},
        {":3", "0 1 2"},
        {"0:9:3,1:9:3,4-5", "0 1 3 4 5 6 7"},
        {"0-1,4,6:10:2", "0 1 4 6 8"},
        {"5:,0,7", "0 5 6 7 8 9"},
        {"20,30-40", ""},
        {"8-30", "8 9"},
    };
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        list(cases[i][0], 10, text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "1,",
                                      ",1",
                                      "1,,2",
                                      "5-3",
                                      "3:0",
                                      ":0",
                                      "5:3",
                                      "1:9:0",
                                      "1-",
                                      "-3",
                                      "1 2",
                                      "1:2:3:4",
                                      "1-3:2",
                                      "1.5",
                                      "1;2",
                                      "99999999999999999999",
                                      "0:99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_frame_range *ranges = NULL;
        sk_error err = {0};
        sk_source_defaults(&s);
        if (sk_frames_parse(bad[i], &s, &ranges, &err) != SK_ERR_ARG)
            fail_msg("'%s' is taken", bad[i]);
        assert_null(ranges);
        assert_non_null(strstr(err.message, "0-9,20,30:60:5"));
    }
}

/* Settings of a program: what makes no sense is said by its name. */
static void numbers_that_mean_nothing(void **state)
{
    (void)state;
    static const struct {
        int64_t first, last, step;
        const char *says;
    } bad[] = {{0, -1, 0, "step is 0"},
               {0, -1, 0, "sk_source_defaults"},
               {0, -1, -2, "step is -2"},
               {9, 4, 1, "first is 9 and last 4"},
               {1, 0, 1, "first is 1 and last 0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_error err = {0};
        sk_source_defaults(&s);
        s.first = bad[i].first, s.last = bad[i].last, s.step = bad[i].step;
        assert_int_equal(sk_frames_check(&s, &err), SK_ERR_ARG);
        assert_non_null(strstr(err.message, bad[i].says));
    }
}

/* Counting ends in time, whatever is asked for. */
static void huge_ranges_are_not_counted(void **state)
{
    (void)state;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_frame_range *ranges = NULL;
    sk_error err = {0};
    sk_source_defaults(&s);
    assert_ok(sk_frames_parse("0:9000000000000000,5:", &s, &ranges, &err), &err);
    assert_int_equal(sk_frames_wanted(&s, -1), -1);
    assert_int_equal(sk_frames_wanted(&s, INT64_MAX), -1);
    assert_int_equal(sk_frames_wanted(&s, 100), 100);
    s.first = SK_FRAME_NUMBER_MOST; /* nothing but the end is left */
    sk_frame_choice choice = sk_frame_choice_of(&s);
    (void)sk_frame_choice_next(&choice, 0);
    sk_free(ranges);
}

/* Two lists that differ somewhere differ in words, also where the words are cut short. */
static void long_lists_keep_apart(void **state)
{
    (void)state;
    char numbers[2][8192], words[2][SK_FRAMES_TEXT];
    for (int k = 0; k < 2; k++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_frame_range *ranges = NULL;
        sk_error err = {0};
        size_t used = 0;
        for (int i = 0; i < 1000; i++)
            used += (size_t)snprintf(numbers[k] + used, sizeof numbers[k] - used, "%s%d", i ? "," : "",
                                     7 * i + (i == 777 && k));
        sk_source_defaults(&s);
        assert_ok(sk_frames_parse(numbers[k], &s, &ranges, &err), &err);
        sk_frames_text(&s, words[k], sizeof words[k]);
        assert_non_null(strstr(words[k], "1000 in all"));
        sk_free(ranges);
    }
    assert_string_not_equal(words[0], words[1]);
}

#ifdef SKITTER_HAVE_FFMPEG
#define FRAMES 400

static uint64_t sum(const sk_frame *frame)
{
    uint64_t total = 0;
    for (int32_t y = 0; y < frame->height; y++)
        for (int32_t x = 0; x < frame->width * 3; x++)
            total = total * 31 + frame->data[y * frame->stride + x];
    return total;
}

static int64_t read_all(const char *path, const char *frames, int64_t *numbers, uint64_t *sums)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_frame_range *ranges = NULL;
    sk_error err = {0};
    sk_source *source = NULL;
    sk_source_defaults(&s);
    if (frames)
        assert_ok(sk_frames_parse(frames, &s, &ranges, &err), &err);
    assert_ok(sk_source_open(path, &s, &source, &err), &err);
    sk_free(ranges); /* settings are copied at open */
    int64_t count = 0;
    for (const sk_frame *frame = NULL;; count++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        numbers[count] = frame->index;
        sums[count] = sum(frame);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return count;
}

static void exactly_these_frames_of_a_video(void **state)
{
    (void)state;
    static uint8_t pixels[64 * 48 * 3];
    static int64_t numbers[2][FRAMES];
    static uint64_t sums[2][FRAMES];
    char path[4300];
    sk_error err = {0};
    sk_video_sink *sink = NULL;
    snprintf(path, sizeof path, "%s/long.mp4", test_folder());
    assert_ok(sk_video_sink_open(path, 64, 48, 25, &sink, &err), &err);
    for (int i = 0; i < FRAMES; i++) {
        for (size_t k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)((k * (size_t)(i / 16 + 3) >> 4) + (size_t)i * 7);
        sk_frame frame = {.format = SK_PIXEL_RGB,
                          .width = 64,
                          .height = 48,
                          .stride = 64 * 3,
                          .data = pixels,
                          .index = i,
                          .time_ns = i * INT64_C(40000000)};
        assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
    assert_int_equal(read_all(path, NULL, numbers[0], sums[0]), FRAMES);
    static const struct {
        const char *frames;
        int64_t count;
    } cases[] = {{"1,5,9", 3},
                 {"399", 1},
                 {"0,399", 2},
                 {"3,120,121,350", 4},
                 {"::90", 5},
                 {"10:400:130", 3},
                 {"0-2,200-202,398:", 8},
                 {"70,71,72,300:310:3", 7},
                 {"399,400,500-600", 1},
                 {"0:,7", FRAMES}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t n = read_all(path, cases[i].frames, numbers[1], sums[1]);
        if (n != cases[i].count)
            fail_msg("%s: %lld frames", cases[i].frames, (long long)n);
        for (int64_t k = 0; k < n; k++)
            if (sums[1][k] != sums[0][numbers[1][k]] || (k && numbers[1][k] <= numbers[1][k - 1]))
                fail_msg("%s: frame %lld is another", cases[i].frames, (long long)numbers[1][k]);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_mean_what_they_say),        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(numbers_that_mean_nothing),       cmocka_unit_test(huge_ranges_are_not_counted),
        cmocka_unit_test(long_lists_keep_apart),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(exactly_these_frames_of_a_video),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
