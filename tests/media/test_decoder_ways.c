/* SPDX-License-Identifier: Apache-2.0 */
/* One decoder, step by step: which packets it takes and counts, what it leaves out, which bounds it hands on, how pictures lie, and when
 * they can go on as they are. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/decoder_ffmpeg.h"

static sk_ffmpeg real;

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    real = sk_ff;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sk_ff = real;
    return 0;
}

static const char *video(void)
{
    static char path[600];
    if (!path[0])
        snprintf(path, sizeof path, "%s",
                 made_video("way.mp4", 40, "-c:v libx264 -qp 0 -g 20 -bf 2 -b_strategy 0 -pix_fmt yuv420p"));
    return path;
}

static sk_decoder opened(const char *path, const sk_decoder_settings *how)
{
    sk_error err = {0};
    sk_decoder d = {0};
    assert_ok(sk_decoder_open(path, how, &d, &err), &err);
    d.codec->opaque = NULL; /* the decoder is copied: nobody listens to what its codec says */
    return d;
}

/* --- packets --- */

static int n_read, n_sent, n_lean;
static int64_t needed;
static bool wrong;

/* Every third packet is of another stream. */
static int read_mixed(AVFormatContext *format, AVPacket *packet)
{
    static uint8_t rubbish[64];
    if (++n_read % 3)
        return real.av_read_frame(format, packet);
    packet->data = rubbish, packet->size = sizeof rubbish, packet->stream_index = 1;
    return 0;
}

static int send_noted(AVCodecContext *codec, const AVPacket *packet)
{
    const bool early = packet && needed != INT64_MIN && packet->pts < needed;
    n_sent += packet != NULL;
    n_lean += codec->skip_frame == AVDISCARD_NONREF;
    wrong = wrong || (packet && (codec->skip_frame == AVDISCARD_NONREF) != early) ||
            (packet && codec->skip_frame != AVDISCARD_NONREF && codec->skip_frame != AVDISCARD_DEFAULT);
    return real.avcodec_send_packet(codec, packet);
}

static int frames_of(sk_decoder *d)
{
    sk_error err = {0};
    int frames = 0;
    for (bool end = false;; frames++) {
        assert_ok(sk_decoder_next(d, "v", &end, &err), &err);
        if (end)
            return frames;
    }
}

static void packets_of_others_are_passed_over(void **state)
{
    (void)state;
    const sk_decoder_settings how = {.threads = 1};
    sk_decoder d = opened(video(), &how);
    n_read = n_sent = n_lean = 0;
    wrong = false;
    needed = INT64_MIN;
    sk_ff.av_read_frame = read_mixed;
    sk_ff.avcodec_send_packet = send_noted;
    assert_int_equal(frames_of(&d), 40);
    assert_int_equal(n_sent, 40);
    assert_int_equal(d.packets, 40);
    assert_int_equal(d.damaged, 0);
    assert_true(d.draining && !wrong && n_lean == 0);
    sk_decoder_close(&d);
}

/* Frames before the one that is needed are left out where nothing is made of them. */
static void what_nobody_needs_is_left_out(void **state)
{
    (void)state;
    const sk_decoder_settings how = {.threads = 1};
    for (int lean = 0; lean < 2; lean++) {
        sk_decoder d = opened(video(), &how);
        const int64_t step = llrint(1 / (25 * av_q2d(d.stream->time_base)));
        d.lean = lean;
        d.needed_from = 30 * step;
        needed = lean ? d.needed_from : INT64_MIN;
        n_sent = n_lean = 0;
        wrong = false;
        sk_ff.avcodec_send_packet = send_noted;
        const int frames = frames_of(&d);
        assert_false(wrong);
        assert_int_equal(n_sent, 40);
        if (lean ? n_lean < 30 || frames < 10 : n_lean || frames != 40)
            fail_msg("%d frames of which %d were not needed", frames, n_lean);
        sk_decoder_close(&d);
        sk_ff = real;
    }
}

/* The latest time that a packet lasts until; one without a time has none, and is not the latest unless it is the first. */
static void packets_are_counted(void **state)
{
    (void)state;
    static const struct {
        int64_t pts, duration, end;
    } steps[] = {{100, 40, 140}, {20, 10, 140}, {130, 10, 140}, {130, 11, 141}, {AV_NOPTS_VALUE, 900, 141},
                 {-50, 40, 141}, {141, 0, 141}, {142, 0, 142}};
    AVPacket packet = {0};
    sk_decoder d = {.packet = &packet, .packets_end = 7777};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        packet.pts = steps[i].pts, packet.duration = steps[i].duration;
        sk_decoder_count(&d);
        assert_int_equal(d.packets, i + 1);
        assert_int_equal(d.packets_end, steps[i].end);
    }
    d = (sk_decoder){.packet = &packet};
    packet.pts = AV_NOPTS_VALUE, packet.duration = 40;
    sk_decoder_count(&d);
    assert_true(d.packets_end == INT64_MIN);
    packet.pts = -500;
    sk_decoder_count(&d);
    assert_int_equal(d.packets_end, -460);
}

/* --- streams --- */

static char told[8][24];
static unsigned n_told;
static int look(AVFormatContext *format, AVDictionary **options)
{
    n_told = format->nb_streams;
    for (unsigned i = 0; i < n_told && i < 8; i++) {
        const AVDictionaryEntry *e = real.av_dict_get(options[i], "max_pixels", NULL, 0);
        snprintf(told[i], sizeof told[i], "%s", e ? e->value : "none");
    }
    return real.avformat_find_stream_info(format, options);
}

/* Every stream is bound alike, and only one is read. */
static void streams_are_bound(void **state)
{
    (void)state;
    char path[600], command[1500];
    snprintf(path, sizeof path, "%s/two.mkv", test_folder());
    snprintf(command, sizeof command,
             "ffmpeg -v error -nostdin -y -f lavfi -i color=s=64x48:r=25 -f lavfi -i color=s=32x20:r=25 -map "
             "1:v -map 0:v "
             "-map 1:v -frames:v 5 -c:v mjpeg -pix_fmt yuvj420p '%s' >/dev/null 2>&1",
             path);
    if (system(command) != 0) /* NOLINT */
        skip();
    sk_ff.avformat_find_stream_info = look;
    const sk_decoder_settings how = {.threads = 1, .max_pixels = 64 * 48};
    sk_decoder d = opened(path, &how);
    assert_int_equal(n_told, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(told[i], "3072");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(d.format->streams[i]->discard,
                         i == (unsigned)d.stream->index ? AVDISCARD_DEFAULT : AVDISCARD_ALL);
    sk_decoder_close(&d);
    const sk_decoder_settings less = {.threads = 1, .max_pixels = 64 * 48 - 1};
    sk_error err = {0};
    d = (sk_decoder){0};
    assert_int_equal(sk_decoder_open(path, &less, &d, &err), SK_ERR_LIMIT);
    assert_string_equal(err.message + strlen(path),
                        ": claims 64 x 48 pixels; at most 3071 are read. If it is right, "
                        "max_pixels 3072 reads it");
    assert_null(d.format);
}

/* --- how pictures lie --- */

static double degrees;
static bool has_matrix;
static uint8_t *side_data(const AVStream *stream, enum AVPacketSideDataType type, size_t *size)
{
    static int32_t matrix[9];
    (void)stream, (void)size;
    return has_matrix && type == AV_PKT_DATA_DISPLAYMATRIX ? (uint8_t *)matrix : NULL;
}
static double rotation(const int32_t matrix[9])
{
    (void)matrix;
    return degrees;
}

static void quarters_are_counted_clockwise(void **state)
{
    (void)state;
    static const struct {
        double degrees;
        int turns;
    } cases[] = {{0, 0},   {-90, 1}, {90, 3}, {180, 2}, {-180, 2}, {270, 1},  {-270, 3},
                 {360, 0}, {44, 0},  {46, 3}, {-46, 1}, {-134, 1}, {-136, 2}, {(double)NAN, 0}};
    const sk_decoder_settings how = {.threads = 1};
    sk_ff.av_stream_get_side_data = (__typeof__(sk_ff.av_stream_get_side_data))(void (*)(void))side_data;
    sk_ff.av_display_rotation_get = rotation;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        degrees = cases[i].degrees;
        has_matrix = true;
        sk_decoder d = opened(video(), &how);
        assert_int_equal(d.quarter_turns, cases[i].turns);
        sk_decoder_close(&d);
    }
    has_matrix = false;
    degrees = 90;
    sk_decoder d = opened(video(), &how);
    assert_int_equal(d.quarter_turns, 0);
    sk_decoder_close(&d);
}

/* --- colours --- */

/* Pictures of even sides whose planes we read as FFmpeg does are promised as they are. */
static void promises(void **state)
{
    (void)state;
    static const struct {
        int format, width, height, turns;
        bool wanted, agree, promised;
    } cases[] = {{AV_PIX_FMT_NV12, 64, 48, 0, true, false, true},
                 {AV_PIX_FMT_NV12, 64, 48, 0, false, false, false},
                 {AV_PIX_FMT_NV12, 63, 48, 0, true, false, false},
                 {AV_PIX_FMT_NV12, 64, 47, 0, true, false, false},
                 {AV_PIX_FMT_NV12, 64, 48, 2, true, false, false},
                 {AV_PIX_FMT_YUV420P, 64, 48, 0, true, true, true},
                 {AV_PIX_FMT_YUVJ420P, 64, 48, 0, true, true, true},
                 {AV_PIX_FMT_YUV420P, 64, 48, 0, true, false, false},
                 {AV_PIX_FMT_YUV444P, 64, 48, 0, true, true, false},
                 {AV_PIX_FMT_YUV422P, 64, 48, 0, true, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVCodecContext codec = {.pix_fmt = cases[i].format,
                                .width = cases[i].width,
                                .height = cases[i].height,
                                .colorspace = AVCOL_SPC_BT709,
                                .color_range = i & 1 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG};
        sk_decoder d = {.codec = &codec, .nv12 = cases[i].wanted, .quarter_turns = cases[i].turns};
        d.planes = (sk_planes){.width = cases[i].width,
                               .format = cases[i].format,
                               .colourspace = AVCOL_SPC_BT709,
                               .range = codec.color_range,
                               .agree = cases[i].agree};
        sk_frame like = {.format = SK_PIXEL_NONE};
        sk_decoder_promise_nv12(&d, &like);
        if ((like.format == SK_PIXEL_NV12) != cases[i].promised)
            fail_msg("case %zu", i);
        if (cases[i].promised)
            assert_true(like.matrix == SK_COLOUR_BT709 && like.full_range == (i % 2 == 1));
    }
}

static int set_calls, set_range;
static int set_details(struct SwsContext *scaler, const int *from, int from_range, const int *to,
                       int to_range, int brightness, int contrast, int saturation)
{
    (void)scaler;
    set_calls++;
    set_range = from_range;
    wrong =
        wrong || !from || !to || to_range != 1 || brightness != 0 || contrast != 65536 || saturation != 65536;
    return 0;
}

/* Converters are told of colours where there are such. */
static void converters_are_told_of_colours(void **state)
{
    (void)state;
    static const struct {
        int format, calls;
    } cases[] = {{AV_PIX_FMT_YUV420P, 1}, {AV_PIX_FMT_NV12, 1},  {AV_PIX_FMT_YUVA420P, 1},
                 {AV_PIX_FMT_GRAY8, 0},   {AV_PIX_FMT_RGB24, 0}, {AV_PIX_FMT_GBRP, 0},
                 {AV_PIX_FMT_YA8, 0},     {AV_PIX_FMT_NONE, 0}};
    sk_ff.sws_setColorspaceDetails = set_details;
    wrong = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int full = 0; full < 2; full++) {
            const AVFrame frame = {.format = cases[i].format,
                                   .colorspace = AVCOL_SPC_BT709,
                                   .color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG};
            set_calls = 0;
            sk_colours_set(NULL, &frame);
            if (set_calls != cases[i].calls || (set_calls && set_range != full))
                fail_msg("case %zu: %d calls", i, set_calls);
        }
    assert_false(wrong);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, finish)
    const struct CMUnitTest tests[] = {CASE(packets_of_others_are_passed_over),
                                       CASE(what_nobody_needs_is_left_out),
                                       CASE(packets_are_counted),
                                       CASE(streams_are_bound),
                                       CASE(quarters_are_counted_clockwise),
                                       CASE(promises),
                                       CASE(converters_are_told_of_colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
