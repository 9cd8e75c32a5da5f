/* SPDX-License-Identifier: Apache-2.0 */
/* The times of written and of joined frames to the tick, as FFmpeg is given them. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"
#include "media/video_sink.h"
#include "skitter/log.h"

enum { W = 64, H = 48, MOST = 200 };

static sk_ffmpeg real;
static int64_t pts[MOST], dts[MOST];
static int count, rows_of_frame, stream_sum;
static int64_t places;
static uint8_t pixels[3 * 80 * 60 + SK_VIDEO_SINK_SPARE];

static int send_frame(AVCodecContext *codec, const AVFrame *frame)
{
    if (frame && count < MOST) {
        rows_of_frame = frame->height;
        pts[count++] = frame->pts;
    }
    return real.avcodec_send_frame(codec, frame);
}

static int write_packet(AVFormatContext *format, AVPacket *packet)
{
    if (packet && count < MOST) {
        pts[count] = packet->pts;
        dts[count++] = packet->dts;
        stream_sum += packet->stream_index;
        places += packet->pos;
    }
    return real.av_interleaved_write_frame(format, packet);
}

static char said[300];
static int warnings;
static void listen(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    if (level != SK_LOG_WARN)
        return;
    warnings++;
    snprintf(said, sizeof said, "%s", text);
}

static sk_log_listener *listener;

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK || !sk_ff.avcodec_find_encoder_by_name("libx264"))
        skip();
    if (!real.av_read_frame)
        real = sk_ff;
    count = warnings = 0;
    said[0] = 0;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen, NULL, &listener, &err), &err);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sk_ff = real;
    sk_log_unlisten(&listener);
    return 0;
}

static sk_status write_sized(sk_video_sink *sink, int index, double seconds, int width, int height,
                             sk_error *err)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB, f.width = width, f.height = height, f.stride = (ptrdiff_t)3 * width,
    f.data = pixels;
    f.index = index, f.time_ns = llrint(seconds * 1e9);
    return sk_video_sink_write(sink, &f, err);
}

/* Frames at these seconds of a video of this rate are shown at these ticks of 1/90000 s. */
typedef struct written {
    double rate;
    int n;
    double seconds[10];
    int64_t ticks[10];
    const char *said; /* null: nothing */
} written;

static void frames_are_shown_at_their_times(void **state)
{
    (void)state;
    static const written cases[] = {
        {25, 4, {0, 0.04, 0.08, 1}, {0, 3600, 7200, 90000}, NULL},
        {25, 3, {3, 3.04, 3.00001}, {270000, 273600, 273601}, NULL},
        /* at once, a little back: the next tick */
        {25, 5, {0, 0, 0.5, 0.2, 0.00001}, {0, 1, 45000, 45001, 45002}, NULL},
        {25, 4, {2, 1.1, 1.05, 2.1}, {180000, 180001, 180002, 189000}, NULL},
        /* by more than a second: one frame on, and on from there */
        {25, 5, {5, 3.5, 3.54, 3.6, 1}, {450000, 453600, 457200, 462600, 466200}, NULL},
        {10, 3, {5, 3.9, 4.9}, {450000, 459000, 549000}, NULL},
        {1, 3, {5, 2, 3}, {450000, 540000, 630000}, NULL},
        {0.5, 3, {5, 2, 3}, {450000, 450001, 540001}, NULL},
        {0, 3, {5, 2, 3}, {450000, 453600, 543600}, NULL},
        /* before the beginning */
        {25, 3, {-0.5, -0.4, 0.5}, {0, 1, 45000}, NULL},
        {25, 3, {-5, -4.96, -4}, {0, 3600, 90000}, NULL},
        /* 2 000 000 000 ticks are 22222.22 s */
        {25, 3, {0, 22222, 22222.04}, {0, 1999980000, 1999983600}, NULL},
        {25, 4, {0, 22223, 22223.04, 22224}, {0, 3600, 7200, 93600}, ": a pause of 22223 s is left out"},
        {25, 2, {30000, 30000.04}, {2700000000, 2700003600}, NULL},
    };
    char path[600];
    snprintf(path, sizeof path, "%s/written.mp4", test_folder());
    sk_ff.avcodec_send_frame = send_frame;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const written *c = &cases[i];
        sk_error err = {0};
        sk_video_sink *sink = NULL;
        assert_ok(sk_video_sink_open(path, W, H, c->rate, &sink, &err), &err);
        count = warnings = 0;
        for (int k = 0; k < c->n; k++)
            assert_ok(write_sized(sink, k, c->seconds[k], W, H, &err), &err);
        assert_ok(sk_video_sink_close(&sink, &err), &err);
        assert_int_equal(count, c->n);
        for (int k = 0; k < c->n; k++)
            if (pts[k] != c->ticks[k])
                fail_msg("case %zu: frame %d is shown at %lld, not %lld", i, k, (long long)pts[k],
                         (long long)c->ticks[k]);
        assert_int_equal(warnings, c->said ? 1 : 0);
        if (c->said)
            assert_string_equal(said + strlen(path), c->said);
    }
}

/* One side that is another is enough to be scaled, and said once; a pixel more than an even number is left out silently. */
static void other_sizes_are_scaled(void **state)
{
    (void)state;
    static const int sizes[][2] = {{W, H + 2}, {W + 2, H}, {W, H - 2}, {W - 2, H}, {80, 60}};
    char path[600], text[300];
    snprintf(path, sizeof path, "%s/sizes.mp4", test_folder());
    sk_ff.avcodec_send_frame = send_frame;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sk_error err = {0};
        sk_video_sink *sink = NULL;
        assert_ok(sk_video_sink_open(path, W + 1, H + 1, 25, &sink, &err), &err);
        warnings = 0;
        assert_ok(write_sized(sink, 0, 0, W + 1, H + 1, &err), &err);
        assert_ok(write_sized(sink, 1, 0.04, W, H, &err), &err);
        assert_int_equal(warnings, 0);
        assert_ok(write_sized(sink, 2, 0.08, sizes[i][0], sizes[i][1], &err), &err);
        assert_ok(write_sized(sink, 3, 0.12, sizes[i][0], sizes[i][1], &err), &err);
        assert_ok(sk_video_sink_close(&sink, &err), &err);
        assert_int_equal(warnings, 1);
        snprintf(text, sizeof text, ": frame 2 is %d x %d; it and others of that size are scaled to 64 x 48",
                 sizes[i][0], sizes[i][1]);
        assert_string_equal(said + strlen(path), text);
        assert_int_equal(rows_of_frame, H);
    }
    static const struct {
        int width, height;
        bool fine;
    } least[] = {{2, 48, true}, {64, 2, true}, {1, 48, false}, {64, 1, false}, {0, 0, false}};
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        sk_error err = {0};
        sk_video_sink *sink = NULL;
        assert_int_equal(sk_video_sink_open(path, least[i].width, least[i].height, 25, &sink, &err),
                         least[i].fine ? SK_OK : SK_ERR_ARG);
        assert_int_equal(sink != NULL, least[i].fine);
        assert_ok(sk_video_sink_close(&sink, &err), &err);
    }
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Parts follow each other at their rate, wherever each began and however its frames are reordered. */
static void parts_follow_each_other(void **state)
{
    (void)state;
    const char *plain = made_video("plain.mp4", 20, "-c:v libx264 -bf 0 -qp 20 -pix_fmt yuv420p");
    const char *late =
        made_video("late.mp4", 12, "-c:v libx264 -bf 0 -qp 20 -pix_fmt yuv420p -output_ts_offset 7");
    const char *reordered =
        made_video("reordered.mp4", 15, "-c:v libx264 -bf 3 -b_strategy 0 -qp 20 -pix_fmt yuv420p");
    const char *one = made_video("one.mp4", 1, "-c:v libx264 -bf 0 -qp 20 -pix_fmt yuv420p");
    const struct {
        const char *parts[4];
        int n, frames;
    } cases[] = {{{plain}, 1, 20},
                 {{plain, late}, 2, 32},
                 {{late, plain}, 2, 32},
                 {{plain, reordered}, 2, 35},
                 {{reordered, reordered, plain}, 3, 50},
                 {{plain, one, one, plain}, 4, 42},
                 {{one, plain}, 2, 21}};
    char path[600];
    snprintf(path, sizeof path, "%s/joined.mp4", test_folder());
    sk_ff.av_interleaved_write_frame = write_packet;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        count = stream_sum = 0;
        places = 0;
        assert_ok(sk_video_join(cases[i].parts, cases[i].n, path, &err), &err);
        assert_int_equal(count, cases[i].frames);
        assert_int_equal(stream_sum, 0);
        assert_int_equal(places, -count);
        for (int k = 0; k < count; k++)
            if (pts[k] < dts[k] || (k && dts[k] <= dts[k - 1]))
                fail_msg("case %zu, packet %d: %lld, %lld", i, k, (long long)pts[k], (long long)dts[k]);
        qsort(pts, (size_t)count, sizeof *pts, by_value);
        const int64_t step = pts[1] - pts[0]; /* as the first part begins */
        assert_true(step > 1);
        for (int k = 1; k < count; k++)
            if (pts[k] - pts[k - 1] != step)
                fail_msg("case %zu: frame %d comes %lld ticks later, not %lld", i, k,
                         (long long)(pts[k] - pts[k - 1]), (long long)step);
    }
    /* one of a kind begins where its file says */
    count = 0;
    sk_error err = {0};
    assert_ok(sk_video_join(&plain, 1, path, &err), &err);
    assert_int_equal(pts[0], 0);
    assert_int_equal(dts[0], 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, finish)
    const struct CMUnitTest tests[] = {CASE(frames_are_shown_at_their_times), CASE(other_sizes_are_scaled),
                                       CASE(parts_follow_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
