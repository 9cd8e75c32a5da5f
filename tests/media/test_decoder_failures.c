/* SPDX-License-Identifier: Apache-2.0 */
/* How videos are decoded, and what is said when a step of it fails: functions of FFmpeg are taken away, or watched, one by one. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "base/cpu.h"
#include "media/decoder_ffmpeg.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static sk_ffmpeg real;
static const char *video;

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    return s;
}

/* What was never opened is closed where FFmpeg is not there at all, too. */
static void closing_needs_no_ffmpeg(void **state)
{
    (void)state;
    sk_decoder none = {0};
    assert_null(sk_ff.av_frame_free);
    sk_decoder_close(&none);
}

static void prepare(void)
{
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    if (!real.avcodec_open2)
        real = sk_ff;
    video = made_video("v.mp4", 120, "-c:v libx264 -qp 0 -g 30 -bf 2 -pix_fmt yuv420p");
}

typedef struct seen {
    int frames;
    int64_t damaged, missing;
    char problem[256];
} seen;

/* Reads to the end, or to the first failure. Every frame must be the one its number says. */
static sk_status read_all(const char *path, const sk_source_settings *s, seen *out, sk_error *err)
{
    atomic_bool stop = false;
    sk_reader *reader = NULL;
    sk_slot slot = {0};
    *out = (seen){0};
    SK_TRY(sk_reader_open_video(path, s, &reader, err));
    reader->stop = &stop;
    sk_status status = SK_OK;
    for (bool end = false;; out->frames++) {
        status = reader->read(reader, &slot, &end, err);
        if (status != SK_OK || end)
            break;
        if (made_number(&slot.frame) != slot.frame.index)
            status = sk_fail(err, SK_ERR_MISMATCH, "frame %lld shows %d", (long long)slot.frame.index,
                             made_number(&slot.frame));
        if (status != SK_OK)
            break;
    }
    out->damaged = reader->damaged;
    out->missing = reader->missing;
    snprintf(out->problem, sizeof out->problem, "%s", reader->last_problem);
    reader->close(reader);
    sk_slot_free(&slot);
    return status;
}

/* --- failures --- */

static int calls; /* of a function that is watched; it fails from the one with this number on: */
static int fails_from;
static bool due(void)
{
    return ++calls >= fails_from;
}

static AVFormatContext *no_format(void)
{
    return NULL;
}
static AVFrame *no_frame(void)
{
    return NULL;
}
static AVPacket *no_packet(void)
{
    return NULL;
}
static AVCodecContext *no_context(const AVCodec *codec)
{
    (void)codec;
    return NULL;
}
static int no_decoder(AVFormatContext *format, enum AVMediaType type, int wanted, int related,
                      const AVCodec **codec, int flags)
{
    (void)format, (void)type, (void)wanted, (void)related, (void)codec, (void)flags;
    return AVERROR_DECODER_NOT_FOUND;
}
static int no_open(AVCodecContext *context, const AVCodec *codec, AVDictionary **options)
{
    (void)context, (void)codec, (void)options;
    return AVERROR(ENOSYS);
}
static int no_parameters(AVCodecContext *context, const AVCodecParameters *parameters)
{
    (void)context, (void)parameters;
    return AVERROR(EINVAL);
}
static int no_streams(AVFormatContext *format, AVDictionary **options)
{
    (void)format, (void)options;
    return AVERROR_INVALIDDATA;
}
static int read_error;
static int no_packets(AVFormatContext *format, AVPacket *packet)
{
    return due() ? read_error : real.av_read_frame(format, packet);
}
static int no_memory(AVCodecContext *codec, AVFrame *frame)
{
    return due() ? AVERROR(ENOMEM) : real.avcodec_receive_frame(codec, frame);
}
static struct SwsContext *no_scaler(struct SwsContext *before, int width, int height, enum AVPixelFormat from,
                                    int to_width, int to_height, enum AVPixelFormat to, int flags,
                                    SwsFilter *a, SwsFilter *b, const double *c)
{
    (void)width, (void)height, (void)from, (void)to_width, (void)to_height, (void)to, (void)flags, (void)a,
        (void)b, (void)c;
    real.sws_freeContext(before);
    return NULL;
}

static void every_step_may_fail(void **state)
{
    (void)state;
    prepare();
    const sk_source_settings s = usual();
#define STEP(member, with, from, status, text)                                                               \
    do {                                                                                                     \
        sk_error err = {0};                                                                                  \
        seen out;                                                                                            \
        calls = 0, fails_from = (from);                                                                      \
        sk_ff.member = with;                                                                                 \
        const sk_status got = read_all(video, &s, &out, &err);                                               \
        sk_ff = real;                                                                                        \
        if (got != (status) || !strstr(err.message, text))                                                   \
            fail_msg(#with ": %s: '%s'", sk_status_text(got), err.message);                                  \
    } while (0)
    STEP(avformat_alloc_context, no_format, 0, SK_ERR_MEMORY, "memory");
    STEP(av_frame_alloc, no_frame, 0, SK_ERR_MEMORY, "memory");
    STEP(av_packet_alloc, no_packet, 0, SK_ERR_MEMORY, "memory");
    STEP(avcodec_alloc_context3, no_context, 0, SK_ERR_MEMORY, "memory");
    STEP(av_find_best_stream, no_decoder, 0, SK_ERR_UNSUPPORTED,
         "v.mp4: this FFmpeg has no decoder for its video; convert it first, e.g. ffmpeg -i IN");
    STEP(avcodec_open2, no_open, 0, SK_ERR_FORMAT,
         "v.mp4: the h264 decoder cannot be started: Function not implemented");
    STEP(avcodec_parameters_to_context, no_parameters, 0, SK_ERR_FORMAT,
         "v.mp4: the h264 decoder cannot be started: Invalid argument");
    STEP(avformat_find_stream_info, no_streams, 0, SK_ERR_FORMAT, "v.mp4: no stream could be understood: ");
    STEP(avcodec_receive_frame, no_memory, 30, SK_ERR_MEMORY, "v.mp4: the decoder ran out of memory");
    STEP(sws_getCachedContext, no_scaler, 0, SK_ERR_UNSUPPORTED,
         "v.mp4: pixel format yuv420p cannot be converted");
    read_error = AVERROR(EIO);
    STEP(av_read_frame, no_packets, 50, SK_ERR_IO, "v.mp4: reading failed: Input/output error");
    STEP(av_read_frame, no_packets, 1, SK_ERR_IO, "v.mp4: reading failed: Input/output error");
    read_error = AVERROR_EXIT;
    STEP(av_read_frame, no_packets, 50, SK_ERR_CANCELLED, "v.mp4: reading was interrupted");
    sk_error err = {0};
    seen out;
    assert_ok(read_all(video, &s, &out, &err), &err);
    assert_int_equal(out.frames, 120);
    assert_int_equal(out.damaged, 0);
    assert_string_equal(out.problem, "");
}

/* A file on the disk is not downloaded. */
static void advice_is_for_addresses(void **state)
{
    (void)state;
    prepare();
    sk_error err = {0};
    seen out;
    const sk_source_settings s = usual();
    calls = 0, fails_from = 3, read_error = AVERROR(EIO);
    sk_ff.av_read_frame = no_packets;
    const sk_status status = read_all(video, &s, &out, &err);
    sk_ff = real;
    assert_int_equal(status, SK_ERR_IO);
    assert_null(strstr(err.message, "download"));
}

/* --- damage --- */

static int bad_packet(AVCodecContext *codec, const AVPacket *packet)
{
    ++calls;
    return packet && (calls == 4 || calls == 9) ? AVERROR_INVALIDDATA
                                                : real.avcodec_send_packet(codec, packet);
}
static int full_decoder(AVCodecContext *codec,
                        const AVPacket *packet) /* it takes the packet, and says that it is full */
{
    const int code = real.avcodec_send_packet(codec, packet);
    return code == 0 && packet ? AVERROR(EAGAIN) : code;
}
static int bad_frame(AVCodecContext *codec, AVFrame *frame)
{
    const int code = real.avcodec_receive_frame(codec, frame);
    if (code == 0 && (++calls == 5 || calls == 6 || calls == 100))
        frame->flags |= AV_FRAME_FLAG_CORRUPT;
    return code;
}
static int bad_receive(AVCodecContext *codec, AVFrame *frame)
{
    return ++calls == 7 ? AVERROR_INVALIDDATA : real.avcodec_receive_frame(codec, frame);
}

/* Packets and frames that are damaged are counted and passed over, and the last is told. */
static void damage_is_counted(void **state)
{
    (void)state;
    prepare();
    static const char text[] = "decoder: Invalid data found when processing input";
    sk_source_settings s = usual();
    sk_error err = {0};
    seen out;
    const char *still = made_video("still.mkv", 20, "-c:v mjpeg -q:v 1 -pix_fmt yuvj420p");
    calls = 0;
    sk_ff.avcodec_send_packet = bad_packet;
    atomic_bool stop = false;
    sk_reader *reader = NULL;
    sk_slot slot = {0};
    assert_ok(sk_reader_open_video(still, &s, &reader, &err), &err);
    reader->stop = &stop;
    int frames = 0;
    for (bool end = false;; frames++) {
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        if (end)
            break;
        assert_int_equal(made_number(&slot.frame),
                         frames + (frames >= 3) + (frames >= 7)); /* two do not come */
        assert_int_equal(reader->damaged, (frames >= 3) + (frames >= 7));
        assert_string_equal(reader->last_problem, frames >= 3 ? text : "");
    }
    assert_int_equal(frames, 18);
    reader->close(reader);
    sk_slot_free(&slot);
    sk_ff = real;
    sk_ff.avcodec_send_packet = full_decoder;
    assert_ok(read_all(still, &s, &out, &err), &err);
    sk_ff = real;
    assert_int_equal(out.frames, 20);
    assert_int_equal(out.damaged, 0);
    calls = 0;
    sk_ff.avcodec_receive_frame = bad_frame;
    assert_ok(read_all(video, &s, &out, &err), &err);
    sk_ff = real;
    assert_int_equal(out.frames, 120);
    assert_int_equal(out.damaged, 3);
    assert_string_equal(out.problem, text);
    calls = 0;
    sk_ff.avcodec_receive_frame = bad_receive;
    assert_ok(read_all(video, &s, &out, &err), &err);
    sk_ff = real;
    assert_int_equal(out.frames, 120);
    assert_int_equal(out.damaged, 1);
    /* damage of earlier rounds is not forgotten */
    s.loop = 2;
    calls = 0;
    sk_ff.avcodec_receive_frame = bad_receive;
    sk_reader *again = NULL;
    assert_ok(sk_reader_open_video(still, &s, &again, &err), &err);
    again->stop = &stop;
    slot = (sk_slot){0};
    for (bool end = false; !end;)
        assert_ok(again->read(again, &slot, &end, &err), &err);
    sk_ff = real;
    assert_int_equal(again->damaged, 1);
    again->close(again);
    sk_slot_free(&slot);
}

static int without_times(AVFormatContext *format, AVPacket *packet)
{
    const int code = real.av_read_frame(format, packet);
    packet->pts = packet->dts = AV_NOPTS_VALUE;
    return code;
}

/* Packets without times: nobody knows what is missing. */
static void times_may_be_unknown(void **state)
{
    (void)state;
    prepare();
    sk_error err = {0};
    seen out;
    const sk_source_settings s = usual();
    const char *timeless = made_video("timeless.mkv", 40, "-c:v mjpeg -q:v 1 -pix_fmt yuvj420p");
    sk_ff.av_read_frame = without_times;
    const sk_status status = read_all(timeless, &s, &out, &err);
    sk_ff = real;
    assert_ok(status, &err);
    assert_int_equal(out.frames, 40);
    assert_int_equal(out.missing, 0);
}

/* Where standard input is closed, files are opened in its place: nothing is wrong with that. */
static void the_first_descriptor_is_one_as_well(void **state)
{
    (void)state;
    prepare();
    sk_error err = {0};
    seen out;
    const sk_source_settings s = usual();
    const int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    errno = ENOENT; /* of something before */
    const sk_status status = read_all(video, &s, &out, &err);
    const bool closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
    if (kept >= 0) {
        (void)dup2(kept, STDIN_FILENO);
        close(kept);
    }
    assert_ok(status, &err);
    assert_true(closed);
    assert_int_equal(out.frames, 120);
}

/* --- how --- */

static AVCodecContext asked; /* as the last decoder was opened */
static int note_open(AVCodecContext *context, const AVCodec *codec, AVDictionary **with)
{
    asked = *context;
    return real.avcodec_open2(context, codec, with);
}

static void opened_with(int32_t threads, bool low_delay, int64_t max_pixels)
{
    sk_error err = {0};
    sk_decoder decoder = {0};
    const sk_decoder_settings how = {.threads = threads, .low_delay = low_delay, .max_pixels = max_pixels};
    sk_ff.avcodec_open2 = note_open;
    const sk_status status = sk_decoder_open(video, &how, &decoder, &err);
    sk_ff = real;
    assert_ok(status, &err);
    assert_int_equal(asked.pkt_timebase.num, decoder.stream->time_base.num);
    assert_int_equal(asked.pkt_timebase.den, decoder.stream->time_base.den);
    assert_int_equal(decoder.hardware_format, AV_PIX_FMT_NONE);
    sk_decoder_close(&decoder);
    assert_null(decoder.codec);
}

static void decoders_are_told_how(void **state)
{
    (void)state;
    prepare();
    const int32_t half = (sk_cpu_usable_cores() + 1) / 2;
    opened_with(0, false, 0);
    assert_int_equal(asked.thread_count, half > 8 ? 8 : half);
    assert_int_equal(asked.thread_type, FF_THREAD_FRAME | FF_THREAD_SLICE);
    assert_false(asked.flags & AV_CODEC_FLAG_LOW_DELAY);
    assert_int_equal(asked.max_pixels, (int64_t)1 << 27);
    opened_with(3, true, 5000);
    assert_int_equal(asked.thread_count, 3);
    assert_int_equal(asked.thread_type, FF_THREAD_SLICE); /* frames would wait for one another */
    assert_true(asked.flags & AV_CODEC_FLAG_LOW_DELAY);
    assert_int_equal(asked.max_pixels, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closing_needs_no_ffmpeg),
                                       cmocka_unit_test(every_step_may_fail),
                                       cmocka_unit_test(advice_is_for_addresses),
                                       cmocka_unit_test(damage_is_counted),
                                       cmocka_unit_test(the_first_descriptor_is_one_as_well),
                                       cmocka_unit_test(times_may_be_unknown),
                                       cmocka_unit_test(decoders_are_told_how)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
