/* SPDX-License-Identifier: Apache-2.0 */
/* When a file is sought in, and when it is decoded on: FFmpeg's seeks are counted, and taken away. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"

#include <sys/stat.h>
#include <unistd.h>

static sk_ffmpeg real;
static int seeks, opens, answer;

static int count_seeks(AVFormatContext *format, int stream, int64_t pts, int flags)
{
    seeks++;
    return answer < 0 ? answer : real.av_seek_frame(format, stream, pts, flags);
}

static int count_opens(AVFormatContext **format, const char *uri, const AVInputFormat *kind,
                       AVDictionary **options)
{
    opens++;
    return real.avformat_open_input(format, uri, kind, options);
}

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    return s;
}

static void watch(void)
{
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    if (!real.av_seek_frame)
        real = sk_ff;
    sk_ff.av_seek_frame = count_seeks;
    sk_ff.avformat_open_input = count_opens;
    seeks = opens = answer = 0;
}

static atomic_bool stop;
static sk_reader *opened(const char *path, const sk_source_settings *s)
{
    sk_error err = {0};
    sk_reader *reader = NULL;
    assert_ok(sk_reader_open_video(path, s, &reader, &err), &err);
    reader->stop = &stop;
    return reader;
}

/* The next frames are these, up to -1; at -2 there are none. */
static void gives(sk_reader *reader, const int *numbers)
{
    sk_error err = {0};
    sk_slot slot = {0};
    for (int i = 0; numbers[i] != -1; i++) {
        bool end = false;
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        assert_int_equal(end, numbers[i] == -2);
        if (!end && (slot.frame.index != numbers[i] || made_number(&slot.frame) != numbers[i]))
            fail_msg("%d instead of %d", made_number(&slot.frame), numbers[i]);
    }
    sk_slot_free(&slot);
}
#define GIVES(reader, ...) gives(reader, (const int[]){__VA_ARGS__, -1})

/* Up to 63 frames are decoded through; more are jumped over, where a key frame lies between. */
static void far_frames_are_sought(void **state)
{
    (void)state;
    const char *many =
        made_video("many.mp4", 250, "-c:v libx264 -qp 0 -sc_threshold 0 -g 20 -bf 2 -pix_fmt yuv420p");
    const char *few =
        made_video("few.mp4", 250, "-c:v libx264 -qp 0 -sc_threshold 0 -g 300 -bf 2 -pix_fmt yuv420p");
    static const struct {
        bool few;
        int64_t first, second;
        int seeks, opens;
    } cases[] = {{false, 63, 70, 0, 1},   {false, 64, 70, 1, 2},  {false, 5, 69, 0, 1},  {false, 5, 70, 1, 3},
                 {false, 64, 128, 1, 2},  {false, 64, 129, 2, 2}, {true, 64, 200, 1, 2}, {true, 5, 200, 1, 3},
                 {false, 230, 240, 1, 2}, {false, 10, 300, 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_frame_range ranges[] = {{cases[i].first, cases[i].first + 1, 1},
                                         {cases[i].second, cases[i].second + 1, 1}};
        sk_source_settings s = usual();
        s.n_ranges = 2;
        s.ranges = ranges;
        watch();
        sk_reader *reader = opened(cases[i].few ? few : many, &s);
        if (cases[i].second < 250)
            GIVES(reader, (int)cases[i].first, (int)cases[i].second, -2);
        else
            GIVES(reader, (int)cases[i].first, -2);
        reader->close(reader);
        sk_ff = real;
        if (seeks != cases[i].seeks || opens != cases[i].opens)
            fail_msg("case %zu: sought %d times, opened %d times", i, seeks, opens);
    }
}

/* Who has come back from the end steps on without seeking again; the list of packets is made once. */
static void stepping_on_needs_no_seek(void **state)
{
    (void)state;
    const char *path =
        made_video("steps.mp4", 150, "-c:v libx264 -qp 0 -sc_threshold 0 -g 20 -bf 2 -pix_fmt yuv420p");
    sk_source_settings s = usual();
    sk_error err = {0};
    watch();
    s.first = 140;
    sk_reader *reader = opened(path, &s);
    GIVES(reader, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, -2);
    assert_int_equal(seeks, 1);
    const int before = opens;
    for (int at = 100; at < 106; at++) {
        assert_ok(reader->seek(reader, at, &err), &err);
        GIVES(reader, at, -2);
        assert_int_equal(seeks, 2);
    }
    assert_ok(reader->seek(reader, 110, &err), &err); /* near: decoded through */
    GIVES(reader, 110);
    assert_int_equal(seeks, 2);
    assert_ok(reader->seek(reader, 80, &err), &err);
    GIVES(reader, 80);
    assert_int_equal(seeks, 3);
    assert_int_equal(opens, before);
    assert_int_equal(reader->missing, 0);
    reader->close(reader);
    sk_ff = real;
}

/* A container that cannot be sought in is decoded from its beginning: the same frames. */
static void without_seeking_the_same_frames_come(void **state)
{
    (void)state;
    const char *path =
        made_video("deaf.mp4", 150, "-c:v libx264 -qp 0 -sc_threshold 0 -g 20 -bf 2 -pix_fmt yuv420p");
    sk_source_settings s = usual();
    sk_error err = {0};
    watch();
    answer = AVERROR(EPERM);
    s.first = 100;
    sk_reader *reader = opened(path, &s);
    GIVES(reader, 100, 101);
    static const int at[] = {149, 3, 120, 70, 71};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        assert_ok(reader->seek(reader, at[i], &err), &err);
        GIVES(reader, at[i]);
    }
    assert_true(seeks >= 2);
    reader->close(reader);
    sk_ff = real;
}

/* Who is told to stop ends at once, wherever he is, and can be closed. */
static void a_reader_that_is_stopped_ends(void **state)
{
    (void)state;
    const char *path = made_video("stopped.mp4", 30, "-c:v libx264 -qp 0 -g 20 -bf 2 -pix_fmt yuv420p");
    const sk_source_settings s = usual();
    sk_reader *reader = opened(path, &s);
    GIVES(reader, 0, 1, 2);
    atomic_store(&stop, true);
    GIVES(reader, -2, -2);
    atomic_store(&stop, false);
    GIVES(reader, 3);
    assert_int_equal(reader->missing, 0);
    reader->close(reader);
}

/* Frames that come, and what the reader says of the rest. */
static int count_all(const char *path, int64_t *missing, int64_t *total)
{
    sk_error err = {0};
    const sk_source_settings s = usual();
    sk_reader *reader = opened(path, &s);
    sk_slot slot = {0};
    int count = 0;
    for (bool end = false;; count++) {
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        if (end)
            break;
    }
    *missing = reader->missing;
    *total = reader->info.total;
    reader->close(reader);
    sk_slot_free(&slot);
    return count;
}

/* Files without an index: by their time, however short they are, and whenever they begin. */
static void missing_frames_are_told_by_time(void **state)
{
    (void)state;
    static const char *const begins[] = {"", "-output_ts_offset 10"};
    static const int frames[] = {20, 100};
    for (int b = 0; b < 2; b++)
        for (int n = 0; n < 2; n++) {
            char path[600], how[200];
            struct stat info;
            int64_t missing = 0, total = 0;
            snprintf(how, sizeof how, "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p %s", begins[b]);
            snprintf(path, sizeof path, "%s", made_video("timed.mkv", frames[n], how));
            assert_int_equal(count_all(path, &missing, &total), frames[n]);
            assert_int_equal(missing, 0);
            assert_int_equal(total, frames[n]);
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(truncate(path, info.st_size / 2), 0);
            const int count = count_all(path, &missing, &total);
            assert_in_range(count, frames[n] * 3 / 10, frames[n] * 7 / 10);
            assert_in_range(count + missing, frames[n] - 1, frames[n] + 1);
            assert_int_equal(total, frames[n]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_frames_are_sought), cmocka_unit_test(stepping_on_needs_no_seek),
        cmocka_unit_test(without_seeking_the_same_frames_come),
        cmocka_unit_test(missing_frames_are_told_by_time), cmocka_unit_test(a_reader_that_is_stopped_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
