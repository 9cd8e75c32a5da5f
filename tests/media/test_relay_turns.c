/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders that take turns, on the processor: frames, times and rounds are those of the file; what is not foreseen is said, so that
 * one decoder goes on; whoever stops it waits for nobody. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/relay_ffmpeg.h"

#include <pthread.h>
#include <unistd.h>

static sk_ffmpeg real;

/* What a test does to the packets as they are read, and to the frames as they are decoded. */
static void (*touch)(AVPacket *packet, int number);
static int n_packets;
static atomic_int n_frames;
static int odd_frame;   /* the frame of this number … */
static int odd_code;    /* … fails so; 0: it is marked as damaged */
static int odd_packets; /* packets from this one on are refused; 0: none */
static bool no_frames;  /* none ever comes */
static bool no_converter;

static int read_packet(AVFormatContext *format, AVPacket *packet)
{
    const int code = real.av_read_frame(format, packet);
    if (code >= 0 && touch)
        touch(packet, n_packets);
    n_packets++;
    return code;
}

static int receive(AVCodecContext *codec, AVFrame *frame)
{
    if (no_frames)
        return AVERROR(EAGAIN);
    const int code = real.avcodec_receive_frame(codec, frame);
    if (code == 0 && odd_frame && atomic_fetch_add(&n_frames, 1) + 1 == odd_frame) {
        frame->flags |= odd_code ? 0 : AV_FRAME_FLAG_CORRUPT;
        return odd_code;
    }
    return code;
}

static int send(AVCodecContext *codec, const AVPacket *packet)
{
    if (no_frames)
        return 0;
    if (odd_packets && atomic_fetch_add(&n_frames, 1) + 1 >= odd_packets)
        return AVERROR_INVALIDDATA;
    return real.avcodec_send_packet(codec, packet);
}

static struct SwsContext *converter(struct SwsContext *before, int width, int height, enum AVPixelFormat from,
                                    int w, int h, enum AVPixelFormat to, int flags, SwsFilter *a,
                                    SwsFilter *b, const double *c)
{
    if (!no_converter)
        return real.sws_getCachedContext(before, width, height, from, w, h, to, flags, a, b, c);
    real.sws_freeContext(before);
    return NULL;
}

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    if (!real.av_read_frame)
        real = sk_ff;
    sk_ff.av_read_frame = read_packet;
    sk_ff.avcodec_receive_frame = receive;
    sk_ff.avcodec_send_packet = send;
    sk_ff.sws_getCachedContext = converter;
    touch = NULL;
    n_packets = odd_frame = odd_code = odd_packets = 0;
    no_frames = no_converter = false;
    atomic_store(&n_frames, 0);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sk_ff = real;
    return 0;
}

typedef struct turns {
    int frames;        /* that came */
    sk_relayed answer; /* the last one */
} turns;

static atomic_bool stop;

/* Reads all there is; frames must be those of the file, in order, round after round. */
static turns take_turns(const char *path, int decoders, int ahead, int rounds, int frames)
{
    sk_error err = {0};
    sk_decoder main = {0};
    sk_relay *relay = NULL;
    sk_slot slot = {.name = NULL};
    turns out = {0};
    const sk_decoder_settings how = {.threads = 1};
    assert_ok(sk_decoder_open(path, &how, &main, &err), &err);
    const sk_relay_settings settings = {.uri = path,
                                        .main = &main,
                                        .format = SK_PIXEL_GRAY,
                                        .decoders = decoders,
                                        .ahead = ahead,
                                        .rounds = rounds,
                                        .first_pts = 0};
    n_packets = 0;
    assert_ok(sk_slot_set_name(&slot, "its own", &err), &err);
    assert_ok(sk_relay_open(&settings, &relay, &err), &err);
    const int64_t step = llrint(1 / (25 * av_q2d(main.stream->time_base)));
    for (;; out.frames++) {
        int64_t pts = -1;
        int32_t round = -1;
        out.answer = sk_relay_next(relay, &stop, &slot, &pts, &round);
        if (out.answer != SK_RELAYED_FRAME)
            break;
        const int k = out.frames;
        if (made_number(&slot.frame) != k % frames || pts != k % frames * step || round != k / frames ||
            strcmp(slot.name, "its own") != 0)
            fail_msg("frame %d with %d decoders shows %d at %lld in round %d", k, decoders,
                     made_number(&slot.frame), (long long)pts, round);
    }
    sk_relay_close(&relay);
    assert_null(relay);
    sk_slot_free(&slot);
    sk_decoder_close(&main);
    return out;
}

static const char *usual(void)
{
    return made_video("turns.mp4", 200,
                      "-c:v libx264 -qp 10 -g 40 -keyint_min 40 -sc_threshold 0 -bf 2 -pix_fmt yuv420p");
}

static void frames_come_in_order(void **state)
{
    (void)state;
    const char *path = usual();
    for (int decoders = 2; decoders < 6; decoders++)
        for (int rounds = 1; rounds < 4; rounds++) {
            const turns t = take_turns(path, decoders, decoders == 3 ? 3 : 64, rounds, 200);
            assert_int_equal(t.answer, SK_RELAYED_END);
            assert_int_equal(t.frames, 200 * rounds);
        }
}

/* Quick decoders are not given more than the two turns each for which there is room. */
static void nobody_runs_too_far_ahead(void **state)
{
    (void)state;
    const char *path = made_video(
        "many.mp4", 250, "-c:v libx264 -qp 10 -g 4 -keyint_min 4 -sc_threshold 0 -bf 0 -pix_fmt yuv420p");
    for (int decoders = 2; decoders < 5; decoders++) {
        const turns t = take_turns(path, decoders, 256, 3, 250);
        assert_int_equal(t.answer, SK_RELAYED_END);
        assert_int_equal(t.frames, 750);
    }
}

static int touched;
static void without_time(AVPacket *packet, int number)
{
    packet->pts = number == touched ? AV_NOPTS_VALUE : packet->pts;
}
static void to_be_left_out(AVPacket *packet, int number)
{
    packet->flags |= number == touched ? AV_PKT_FLAG_DISCARD : 0;
}
static void too_late(AVPacket *packet, int number)
{
    packet->pts += number == touched ? 80 * packet->duration : 0;
}
static void too_early(AVPacket *packet, int number)
{
    packet->pts -= number == touched ? 80 * packet->duration : 0;
}
static void never_anew(AVPacket *packet, int number)
{
    packet->flags &= number >= touched ? ~AV_PKT_FLAG_KEY : ~0;
}

/* What comes otherwise than the file's beginning made believe: the frames before it are right, and one decoder goes on. */
static void surprises(void **state)
{
    (void)state;
    static const struct {
        void (*touch)(AVPacket *, int);
        int at, least; /* frames that come before at least */
    } cases[] = {{without_time, 0, 0},     {without_time, 150, 0}, {to_be_left_out, 0, 0},
                 {to_be_left_out, 150, 0}, {too_late, 30, 1},      {too_early, 130, 80},
                 {never_anew, 0, 0}};
    const char *path = usual();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        touch = cases[i].touch;
        touched = cases[i].at;
        const turns t = take_turns(path, 2, 64, 1, 200);
        if (t.answer != SK_RELAYED_LOST || t.frames < cases[i].least || t.frames >= 200)
            fail_msg("case %zu: %d after %d frames", i, (int)t.answer, t.frames);
    }
    /* a stretch of six hundred packets is the longest there may be: with two rounds of 300 it just is, with 250 and three not */
    touch = never_anew;
    touched = 1;
    turns t = take_turns(path, 2, 64, 3, 200);
    assert_int_equal(t.answer, SK_RELAYED_END);
    assert_int_equal(t.frames, 600);
}

/* Decoders that fail, each in its way. */
static void failing_decoders(void **state)
{
    (void)state;
    const char *path = usual();
    odd_frame = 50;
    assert_int_equal(take_turns(path, 2, 64, 1, 200).answer, SK_RELAYED_LOST);
    atomic_store(&n_frames, 0);
    odd_code = AVERROR(ENOMEM);
    assert_int_equal(take_turns(path, 2, 64, 1, 200).answer, SK_RELAYED_LOST);
    odd_frame = 0;
    atomic_store(&n_frames, 0);
    odd_packets = 50;
    assert_int_equal(take_turns(path, 2, 64, 1, 200).answer, SK_RELAYED_LOST);
    odd_packets = 0;
    no_converter = true;
    const turns t = take_turns(path, 2, 64, 1, 200);
    assert_int_equal(t.answer, SK_RELAYED_LOST);
    assert_int_equal(t.frames, 0);
}

static void *stop_soon(void *context)
{
    (void)context;
    usleep(60000);
    atomic_store(&stop, true);
    return NULL;
}

/* … while it waits for a frame that does not come. */
static void stopped_while_waiting(void **state)
{
    (void)state;
    const char *path = usual();
    pthread_t thread;
    no_frames = true;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    const turns t = take_turns(path, 2, 64, 1, 200);
    assert_int_equal(pthread_join(thread, NULL), 0);
    atomic_store(&stop, false);
    assert_int_equal(t.answer, SK_RELAYED_END);
    assert_int_equal(t.frames, 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, finish)
    const struct CMUnitTest tests[] = {CASE(frames_come_in_order), CASE(nobody_runs_too_far_ahead),
                                       CASE(surprises), CASE(failing_decoders), CASE(stopped_while_waiting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
