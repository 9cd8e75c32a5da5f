/* SPDX-License-Identifier: Apache-2.0 */
/* Sources that a GPU decodes, on a stand-in for NVIDIA's driver and decoder (fake_nvidia.c): where frames lie, how many decoders take
 * turns, and that playing again needs no new one. */
#include "fake_nvidia.h"
#include "made_video.h"

#include "skitter/log.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"

static fake_nvidia *gpu;
static int turns; /* how many decoders took turns; 0: one decodes */
static char warned[600];

static void listen(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    const char *at = strstr(text, ".mp4: ");
    if (level == SK_LOG_INFO && at && strstr(at, "decoders of the GPU take turns"))
        turns = atoi(at + 6);
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", text);
}

static sk_source_settings on_gpu(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.hwaccel = "cuda";
    s.format = SK_PIXEL_GRAY;
    return s;
}

static sk_source *opened(const char *video, const sk_source_settings *s)
{
    sk_error err = {0};
    sk_source *source = NULL;
    turns = 0;
    warned[0] = 0;
    assert_ok(sk_source_open(video, s, &source, &err), &err);
    return source;
}

/* Frames up to the end. */
static int count(sk_source *source)
{
    int n = 0;
    for (const sk_frame *frame = NULL;; n++) {
        sk_error err = {0};
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            return n;
        sk_source_release(source, frame);
    }
}

static void everything_was_given_back(void)
{
    assert_int_equal(gpu->contexts + gpu->streams + gpu->blocks, 0);
    assert_int_equal(gpu->pushed, 0);
}

/* The whole way: a source whose reader takes frames of a GPU, the same as on the host; "auto" tries that GPU first. */
static void a_source_leaves_frames_where_they_are(void **state)
{
    (void)state;
    static const char *const ways[] = {"cuda", "auto"};
    sk_error err = {0};
    const char *video =
        made_video("kept.mp4", 12, "-c:v libx264 -g 5 -bf 0 -pix_fmt yuv420p -colorspace bt709");
    for (int i = 0; i < 2; i++) {
        const sk_frame_kind kind = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA};
        const sk_frame_kind host = {.format = SK_PIXEL_NV12};
        sk_source_settings s = on_gpu();
        sk_source_info info = SK_SOURCE_INFO_INIT;
        const sk_frame *a = NULL, *b = NULL;
        s.hwaccel = ways[i], s.accepts = &kind, s.n_accepts = 1;
        sk_source *on = opened(video, &s);
        s.hwaccel = "cuda", s.accepts = &host;
        sk_source *off = opened(video, &s);
        sk_source_get_info(on, &info);
        assert_string_equal(info.hwaccel, "cuda");
        assert_true(info.like->place == SK_PLACE_CUDA && info.like->device == 0);
        assert_int_equal(info.like->format, SK_PIXEL_NV12);
        assert_int_equal(info.like->matrix, SK_COLOUR_BT709);
        assert_false(info.like->full_range);
        for (int n = 0; n < 12; n++) {
            assert_ok(sk_source_next(on, &a, &err), &err);
            assert_ok(sk_source_next(off, &b, &err), &err);
            assert_non_null(a);
            assert_non_null(b);
            assert_int_equal(a->place, SK_PLACE_CUDA);
            assert_int_equal(b->place, SK_PLACE_HOST);
            assert_int_equal(a->index, n);
            assert_int_equal(a->matrix, b->matrix);
            for (int y = 0; y < a->height; y++)
                assert_memory_equal(a->data + a->stride * y, b->data + b->stride * y, (size_t)a->width);
            const uint8_t *chroma = b->data + b->stride * b->height;
            for (int y = 0; y < a->height / 2; y++)
                assert_memory_equal((const uint8_t *)a->chroma + a->stride * y, chroma + b->stride * y,
                                    (size_t)a->width);
            sk_source_release(on, a);
            sk_source_release(off, b);
        }
        assert_int_equal(count(on), 0);
        sk_source_close(&on);
        sk_source_close(&off);
        everything_was_given_back();
    }
}

/* Where several GPUs are, the one that the reader is on decodes. */
static void the_readers_gpu_decodes(void **state)
{
    (void)state;
    const char *video = made_video("which.mp4", 4, "-c:v libx264 -bf 0 -pix_fmt yuv420p");
    sk_frame_kind kind = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = 2};
    sk_source_settings s = on_gpu();
    s.accepts = &kind, s.n_accepts = 1;
    gpu->devices = 4;
    sk_source *source = opened(video, &s);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(gpu->last_index, 2);
    assert_int_equal(info.like->device, 2);
    assert_string_equal(warned, "");
    assert_int_equal(count(source), 4);
    sk_source_close(&source);
    kind.device = 4; /* there is none: the processor decodes, and says why */
    source = opened(video, &s);
    sk_source_get_info(source, &info);
    assert_string_equal(info.hwaccel, "");
    assert_string_equal(info.hwaccel_refused, "cuda: GPU 4: there is no such GPU");
    assert_non_null(
        strstr(warned, "which.mp4: decoded by the processor, not on a device (cuda): cuda: GPU 4"));
    assert_int_equal(info.like->place, SK_PLACE_HOST);
    assert_int_equal(count(source), 4);
    sk_source_close(&source);
    gpu->devices = 1;
    everything_was_given_back();
}

/* A picture that lies on its side is turned by the processor, so it does not stay. */
static void turned_frames_come_to_the_host(void **state)
{
    (void)state;
    char turned[600], command[1500];
    const char *video = made_video("upright.mp4", 90, "-c:v libx264 -g 40 -bf 0 -pix_fmt yuv420p");
    snprintf(turned, sizeof turned, "%s/turned.mp4", test_folder());
    snprintf(command, sizeof command,
             "ffmpeg -v error -nostdin -y -display_rotation 90 -i '%s' -c copy '%s' >/dev/null 2>&1", video,
             turned);
    if (system(command) != 0) { /* NOLINT */
        snprintf(command, sizeof command,
                 "ffmpeg -v error -nostdin -y -i '%s' -c copy -metadata:s:v rotate=270 '%s' >/dev/null 2>&1",
                 video, turned);
        if (system(command) != 0) /* NOLINT */
            skip();
    }
    const sk_frame_kind kind = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA};
    sk_source_settings s = on_gpu();
    s.accepts = &kind, s.n_accepts = 1;
    sk_source *source = opened(turned, &s);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    if (info.width != 48)
        skip(); /* this program does not write it down */
    assert_int_equal(info.height, 64);
    assert_string_equal(info.hwaccel, "cuda");
    assert_int_equal(info.like->place, SK_PLACE_HOST);
    const sk_frame *frame = NULL;
    sk_error err = {0};
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_int_equal(frame->place, SK_PLACE_HOST);
    assert_int_equal(frame->width, 48);
    sk_source_release(source, frame);
    assert_int_equal(count(source), 89);
    assert_int_equal(turns, 0); /* frames of several decoders are not turned */
    sk_source_close(&source);
    everything_was_given_back();
}

static int decoders; /* codecs that were opened */
static int (*open_codec)(AVCodecContext *, const AVCodec *, AVDictionary **);
static int count_decoders(AVCodecContext *context, const AVCodec *codec, AVDictionary **options)
{
    decoders++;
    return open_codec(context, codec, options);
}

/* As many as the GPU has engines for, three at most, where a share of its memory holds enough frames. */
static void how_many_take_turns(void **state)
{
    (void)state;
    const size_t frame = (size_t)(64 + 255) * (48 + 1) * 3 / 2; /* bytes that one may take */
    const size_t least = 8 * 16 * frame; /* an eighth of what is free, for 16 of each decoder */
    const struct {
        int engines;
        size_t unused;
        int turns;
    } cases[] = {{0, (size_t)8 << 30, 0},
                 {1, (size_t)8 << 30, 0},
                 {2, (size_t)8 << 30, 2},
                 {3, (size_t)8 << 30, 3},
                 {4, (size_t)8 << 30, 3},
                 {9, (size_t)8 << 30, 3},
                 {2, 2 * least, 2},
                 {2, 2 * least - 16, 0},
                 {3, 3 * least, 3},
                 {3, 3 * least - 24, 0},
                 {2, 0, 0}};
    const char *video = made_video("turns.mp4", 90, "-c:v libx264 -g 40 -bf 0 -pix_fmt yuv420p");
    sk_error err = {0};
    if (sk_ffmpeg_load(video, &err) != SK_OK)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_source_settings s = on_gpu();
        gpu->engines = cases[i].engines;
        gpu->unused = cases[i].unused;
        decoders = 0;
        open_codec = sk_ff.avcodec_open2;
        sk_ff.avcodec_open2 = count_decoders;
        sk_source *source = opened(video, &s);
        sk_ff.avcodec_open2 = open_codec;
        const int told = turns;
        assert_int_equal(decoders, 1 + told); /* the one that looked at the file, and these */
        assert_int_equal(count(source), 90);
        sk_source_close(&source);
        gpu->engines = 3;
        gpu->unused = (size_t)8 << 30;
        if (told != cases[i].turns)
            fail_msg("%d engines and %zu bytes: %d take turns", cases[i].engines, cases[i].unused, told);
        everything_was_given_back();
    }
}

/* Only who reads a whole file gains by it. */
static void parts_of_a_file_are_read_by_one(void **state)
{
    (void)state;
    static const sk_frame_range ranges[] = {{0, 10, 1}, {20, 30, 1}};
    static const struct {
        int64_t first, last, step;
        int32_t n_ranges;
        int turns, frames;
    } cases[] = {{0, -1, 1, 0, 3, 90}, {1, -1, 1, 0, 0, 89}, {0, 0, 1, 0, 0, 0},
                 {0, 90, 1, 0, 0, 90}, {0, -1, 2, 0, 0, 45}, {0, -1, 1, 2, 0, 20}};
    const char *video = made_video("parts.mp4", 90, "-c:v libx264 -g 40 -bf 0 -pix_fmt yuv420p");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_source_settings s = on_gpu();
        s.first = cases[i].first;
        s.last = cases[i].last;
        s.step = cases[i].step;
        s.n_ranges = cases[i].n_ranges;
        s.ranges = ranges;
        sk_source *source = opened(video, &s);
        const int told = turns, frames = count(source);
        sk_source_close(&source);
        if (told != cases[i].turns || frames != cases[i].frames)
            fail_msg("case %zu: %d take turns, %d frames", i, told, frames);
    }
    everything_was_given_back();
}

static int opens;
static int (*open_input)(AVFormatContext **, const char *, const AVInputFormat *, AVDictionary **);

static int count_opens(AVFormatContext **format, const char *uri, const AVInputFormat *kind,
                       AVDictionary **options)
{
    opens++;
    return open_input(format, uri, kind, options);
}

/* To play it again the file is gone back in, not opened anew. */
static void playing_again_keeps_the_decoder(void **state)
{
    (void)state;
    static int numbers[3][40];
    const char *video = made_video("again.mp4", 40, "-c:v libx264 -g 250 -bf 0 -pix_fmt yuv420p");
    sk_error err = {0};
    sk_source_settings s = on_gpu();
    s.loop = 3;
    s.last = 1000; /* by one decoder */
    if (sk_ffmpeg_load(video, &err) != SK_OK)
        skip();
    open_input = sk_ff.avformat_open_input;
    sk_ff.avformat_open_input = count_opens;
    sk_source *source = opened(video, &s);
    for (int i = 0; i < 120; i++) {
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->index, i);
        assert_true(llabs(frame->time_ns - (int64_t)i * 40000000) < 1000);
        numbers[i / 40][i % 40] = frame->data[0];
        sk_source_release(source, frame);
    }
    assert_int_equal(count(source), 0);
    sk_source_close(&source);
    sk_ff.avformat_open_input = open_input;
    assert_int_equal(opens, 1);
    for (int i = 1; i < 3; i++)
        assert_memory_equal(numbers[i], numbers[0], sizeof numbers[0]);
    everything_was_given_back();
}

/* Parts of a file, again: the same frames each time, though the decoder left out some on its way; and nothing is missing. */
static void parts_are_played_again(void **state)
{
    (void)state;
    static const sk_frame_range ranges[] = {{0, 8, 1}, {100, 108, 1}};
    static int greys[3][16];
    const char *video = made_video("parts_again.mp4", 150, "-c:v libx264 -g 30 -bf 3 -pix_fmt yuv420p");
    sk_error err = {0};
    sk_source_settings s = on_gpu();
    s.loop = 3;
    s.n_ranges = 2;
    s.ranges = ranges;
    sk_source *source = opened(video, &s);
    for (int i = 0; i < 48; i++) {
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        greys[i / 16][i % 16] = frame->data[0];
        sk_source_release(source, frame);
    }
    assert_int_equal(count(source), 0);
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &status);
    assert_int_equal(status.missing, 0);
    assert_int_equal(status.damaged, 0);
    sk_source_close(&source);
    for (int i = 1; i < 3; i++)
        assert_memory_equal(greys[i], greys[0], sizeof greys[0]);
    everything_was_given_back();
}

/* A file whose head says that its first frames are not shown: the same by one decoder as by several. */
static void frames_that_are_not_shown(void **state)
{
    (void)state;
    static int64_t seen[2][200][2];
    char cut[600], command[1500];
    int frames[2] = {0};
    const char *video = made_video("whole.mp4", 150, "-c:v libx264 -g 40 -bf 2 -pix_fmt yuv420p");
    snprintf(cut, sizeof cut, "%s/cut.mp4", test_folder());
    snprintf(command, sizeof command,
             "ffmpeg -v error -nostdin -y -ss 0.6 -i '%s' -c copy '%s' >/dev/null 2>&1", video, cut);
    if (system(command) != 0) /* NOLINT */
        skip();
    for (int k = 0; k < 2; k++) {
        sk_error err = {0};
        sk_source_settings s = on_gpu();
        s.last = k ? -1 : 1000; /* a range is read by one */
        sk_source *source = opened(cut, &s);
        for (const sk_frame *frame = NULL;; frames[k]++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            if (!frame)
                break;
            assert_true(frames[k] < 200);
            seen[k][frames[k]][0] = frame->time_ns;
            seen[k][frames[k]][1] = frame->data[0];
            sk_source_release(source, frame);
        }
        sk_source_close(&source);
    }
    assert_true(frames[0] == 135 && frames[1] == 135);
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
    everything_was_given_back();
}

int main(void)
{
    sk_log_listener *listener = NULL;
    if (!(gpu = fake_nvidia_load()) || sk_log_listen(SK_LOG_INFO, listen, NULL, &listener, NULL) != SK_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_leaves_frames_where_they_are),
        cmocka_unit_test(the_readers_gpu_decodes),
        cmocka_unit_test(turned_frames_come_to_the_host),
        cmocka_unit_test(how_many_take_turns),
        cmocka_unit_test(parts_of_a_file_are_read_by_one),
        cmocka_unit_test(playing_again_keeps_the_decoder),
        cmocka_unit_test(parts_are_played_again),
        cmocka_unit_test(frames_that_are_not_shown),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_log_unlisten(&listener);
    return failed;
}
#else
int main(void)
{
    return 0;
}
#endif
