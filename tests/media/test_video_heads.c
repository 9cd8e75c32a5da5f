/* SPDX-License-Identifier: Apache-2.0 */
/* What a video's head says of it, field by field: how many frames there are, how many a second, when they are shown, and how many are
 * missing at its end. The fields are put in after FFmpeg has read the file. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"

#define NO AV_NOPTS_VALUE

typedef struct head {
    int64_t nb_frames, duration, whole, start; /* of the stream: frames, ticks; of the file: us; ticks */
    AVRational average, guess;                 /* rates */
    const char *tag;                           /* DURATION; null: none */
    int entries;                               /* of the index */
} head;

static sk_ffmpeg real;
static const head *now;
static bool timeless;

static int look(AVFormatContext *format, AVDictionary **options)
{
    const int code = real.avformat_find_stream_info(format, options);
    AVStream *s = format->streams[0];
    s->nb_frames = now->nb_frames;
    s->duration = now->duration;
    s->start_time = now->start;
    s->avg_frame_rate = now->average;
    s->r_frame_rate = now->guess;
    format->duration = now->whole;
    return code;
}

static AVDictionaryEntry *tag_of(const AVDictionary *all, const char *key, const AVDictionaryEntry *before,
                                 int flags)
{
    static AVDictionaryEntry entry;
    if (strcmp(key, "DURATION") != 0)
        return real.av_dict_get(all, key, before, flags);
    entry.value = (char *)(uintptr_t)now->tag;
    return now->tag ? &entry : NULL;
}

static int entries_of(const AVStream *stream)
{
    (void)stream;
    return now->entries;
}

static int read_packet(AVFormatContext *format, AVPacket *packet)
{
    const int code = real.av_read_frame(format, packet);
    if (timeless)
        packet->pts = packet->dts = NO;
    return code;
}

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    real = sk_ff;
    sk_ff.avformat_find_stream_info = look;
    sk_ff.av_dict_get = tag_of;
    sk_ff.avformat_index_get_entries_count = entries_of;
    sk_ff.av_read_frame = read_packet;
    timeless = false;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sk_ff = real;
    return 0;
}

static atomic_bool stop;
static sk_reader *opened(const char *path, int loop)
{
    sk_error err = {0};
    sk_reader *reader = NULL;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    s.loop = loop;
    assert_ok(sk_reader_open_video(path, &s, &reader, &err), &err);
    reader->stop = &stop;
    return reader;
}

/* Ten frames, 0.4 seconds, in milliseconds; FFmpeg's name of it is matroska's. */
static const char *mkv(void)
{
    return made_video("ten.mkv", 10, "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p");
}

#define R(n, d)                                                                                              \
    {                                                                                                        \
        n, d                                                                                                 \
    }

static void frames_are_counted(void **state)
{
    (void)state;
    static const struct {
        head head;
        int64_t total;
        bool exact;
        double rate;
    } cases[] = {
        {{10, 400, 400000, 0, R(25, 1), R(30, 1), NULL, 0}, 10, true, 25},
        {{1, 400, 400000, 0, R(25, 1), R(30, 1), NULL, 0}, 1, true, 25},
        {{0, 400, 800000, 0, R(25, 1), R(30, 1), NULL, 0}, 10, false, 25},
        {{0, 400, 800000, 0, R(0, 0), R(10, 1), NULL, 0}, 4, false, 10},
        {{0, 450, 0, 0, R(0, 1), R(10, 1), NULL, 0}, 5, false, 10}, /* 4.5 frames */
        {{0, 449, 0, 0, R(0, 1), R(10, 1), NULL, 0}, 4, false, 10},
        {{0, NO, 800000, 0, R(25, 1), R(30, 1), NULL, 0}, 20, false, 25},
        {{0, 0, 800000, 100, R(25, 1), R(30, 1), NULL, 0},
         18,
         false,
         25}, /* matroska: it begins 0.1 s late */
        {{0, 0, 800000, NO, R(25, 1), R(30, 1), NULL, 0}, 20, false, 25},
        {{0, 0, 800000, -100, R(25, 1), R(30, 1), NULL, 0}, 20, false, 25},
        {{0, NO, NO, 0, R(25, 1), R(30, 1), NULL, 0}, -1, false, 25},
        {{0, 0, 0, 0, R(25, 1), R(30, 1), NULL, 0}, -1, false, 25},
        {{0, 400, 400000, 0, R(0, 1), R(0, 1), NULL, 0}, -1, false, 0},
        {{0, 400, 400000, 0, R(25, 0), R(30, 1), NULL, 0}, -1, false, 0},
    };
    const char *path = mkv();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int loop = 1; loop < 4; loop += 2) {
            now = &cases[i].head;
            sk_reader *reader = opened(path, loop);
            const sk_source_info *info = &reader->info;
            const int64_t frames = cases[i].total < 0 ? -1 : cases[i].total * loop;
            if (info->total != cases[i].total || info->frames != frames || info->exact != cases[i].exact ||
                !(fabs(info->rate - cases[i].rate) < 1e-9))
                fail_msg("case %zu: %lld, %lld frames, %g a second", i, (long long)info->total,
                         (long long)info->frames, info->rate);
            reader->close(reader);
        }
}

/* Reads all ten; what is missing then. */
static int64_t missing_of(const char *path)
{
    sk_error err = {0};
    sk_slot slot = {0};
    sk_reader *reader = opened(path, 1);
    int frames = 0;
    for (bool end = false;; frames++) {
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        if (end)
            break;
    }
    assert_int_equal(frames, 10);
    const int64_t missing = reader->missing;
    reader->close(reader);
    sk_slot_free(&slot);
    return missing;
}

/* By time, where that is all there is: more than three frames and a fiftieth of them. */
static void missing_frames_are_counted(void **state)
{
    (void)state;
    static const struct {
        head head;
        int64_t missing;
    } cases[] = {
        {{10, 0, 0, 0, R(25, 1), R(0, 1), "00:00:00.400", 99}, 0},
        {{10, 0, 0, 0, R(25, 1), R(0, 1), "00:00:02.000", 99}, 40},
        {{10, 0, 0, 0, R(25, 1), R(0, 1), "00:00:00.530", 99}, 0}, /* 3.25 of 3.265 */
        {{10, 0, 0, 0, R(25, 1), R(0, 1), "00:00:00.540", 99}, 4}, /* 3.5 of 3.27 */
        {{10, 0, 0, 0, R(25, 1), R(0, 1), "01:02:03.000", 99}, (3723 * 25) - 10},
        {{10, 0, 0, 100, R(25, 1), R(0, 1), "00:00:02.000", 99}, 40}, /* from 0.1 to 2, and 0.1 to 0.4 came */
        {{10, 4000, 0, 0, R(25, 1), R(0, 1), "00:00:02.000", 99}, 40},
        {{10, 2000, 4000000, 0, R(25, 1), R(0, 1), NULL, 99}, 40},
        {{10, 2000, 4000000, 0, R(25, 1), R(0, 1), "two seconds", 99}, 40},
        {{10, 2000, 4000000, 0, R(25, 1), R(0, 1), "00:09", 99}, 40},
        {{10, 0, 2000000, 0, R(25, 1), R(0, 1), NULL, 99}, 40},
        {{10, NO, 2000000, 100, R(25, 1), R(0, 1), NULL, 99}, 40},
        {{10, 0, 0, 0, R(25, 1), R(0, 1), NULL, 99}, 0},
        {{10, NO, NO, 0, R(25, 1), R(0, 1), NULL, 99}, 0},
        {{10, 0, 0, 0, R(0, 1), R(0, 1), "00:00:02.000", 99}, 0}, /* no rate */
        {{99, 0, 0, 0, R(25, 1), R(0, 1), NULL, 99}, 0},          /* such numbers are not believed */
    };
    const char *path = mkv();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        now = &cases[i].head;
        const int64_t missing = missing_of(path);
        if (missing != cases[i].missing)
            fail_msg("case %zu: %lld are missing", i, (long long)missing);
    }
    timeless = true;
    now = &cases[1].head;
    assert_int_equal(missing_of(path), 0); /* nobody knows */
}

/* By their index, where a container has one. */
static void indexes_are_believed(void **state)
{
    (void)state;
    static const struct {
        head head;
        int64_t mp4, avi;
    } cases[] = {
        {{10, 0, 0, 0, R(25, 1), R(0, 1), NULL, 10}, 0, 0},
        {{10, 0, 0, 0, R(25, 1), R(0, 1), NULL, 11}, 1, 0},
        {{3, 0, 0, 0, R(25, 1), R(0, 1), NULL, 15}, 5, 0},
        {{10, 0, 0, 0, R(25, 1), R(0, 1), NULL, 4}, 0, 0},
        {{0, 0, 0, 0, R(25, 1), R(0, 1), NULL, 99}, 0, 0},
        {{1, 0, 0, 0, R(25, 1), R(0, 1), NULL, 12}, 2, 0},
        {{12, 11, 0, 0, R(25, 1), R(0, 1), NULL, 10}, 0, 2},
        {{12, 1, 0, 0, R(25, 1), R(0, 1), NULL, 10}, 0, 2},
        {{12, 12, 0, 0, R(25, 1), R(0, 1), NULL, 10}, 0, 0},
        {{12, 0, 0, 0, R(25, 1), R(0, 1), NULL, 10}, 0, 0},
    };
    const char *mp4 = made_video("ten.mp4", 10, "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p"),
               *avi = made_video("ten.avi", 10, "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        now = &cases[i].head;
        const int64_t first = missing_of(mp4), second = missing_of(avi);
        if (first != cases[i].mp4 || second != cases[i].avi)
            fail_msg("case %zu: %lld and %lld are missing", i, (long long)first, (long long)second);
    }
}

/* From the stream's beginning, by its clock; without times by the rate; without that nobody knows. */
static void times_are_by_the_clock_or_the_rate(void **state)
{
    (void)state;
    static const struct {
        head head;
        bool timeless;
        int64_t first, step; /* ms */
    } cases[] = {{{10, 400, 0, 0, R(25, 1), R(0, 1), NULL, 0}, false, 0, 40},
                 {{10, 400, 0, NO, R(25, 1), R(0, 1), NULL, 0}, false, 0, 40},
                 {{10, 400, 0, 100, R(25, 1), R(0, 1), NULL, 0}, false, -100, 40},
                 {{10, 400, 0, 0, R(10, 1), R(0, 1), NULL, 0}, false, 0, 40},
                 {{10, 400, 0, 0, R(10, 1), R(0, 1), NULL, 0}, true, 0, 100},
                 {{10, 400, 0, 0, R(0, 1), R(0, 1), NULL, 0}, true, 0, 0}};
    const char *path = mkv();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_slot slot = {0};
        now = &cases[i].head;
        timeless = cases[i].timeless;
        sk_reader *reader = opened(path, 2);
        int64_t round = 0;
        for (int k = 0; k < 20; k++) {
            bool end = false;
            assert_ok(reader->read(reader, &slot, &end, &err), &err);
            assert_false(end);
            if (k == 10) /* ten frames at the rate, or at 25 a second, later */
                round = llrint(10 * 1000 / (reader->info.rate > 0 ? reader->info.rate : 25));
            const int64_t wanted = (cases[i].first + cases[i].step * (k % 10) + round) * 1000000;
            if (llabs(slot.frame.time_ns - wanted) > 1000)
                fail_msg("case %zu: frame %d comes at %lld ns", i, k, (long long)slot.frame.time_ns);
            assert_int_equal(slot.frame.index, k);
        }
        reader->close(reader);
        sk_slot_free(&slot);
    }
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, finish)
    const struct CMUnitTest tests[] = {CASE(frames_are_counted), CASE(missing_frames_are_counted),
                                       CASE(indexes_are_believed), CASE(times_are_by_the_clock_or_the_rate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
