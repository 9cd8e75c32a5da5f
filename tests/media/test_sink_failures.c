/* SPDX-License-Identifier: Apache-2.0 */
/* How videos are encoded, and what is said when a step of it fails: functions of FFmpeg are taken away one by one. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"
#include "media/video_sink.h"
#include "skitter/log.h"

#include <stdio.h>
#include <string.h>

static sk_ffmpeg real;
static char path[600];
static uint8_t pixels[3 * 64 * 48 + SK_VIDEO_SINK_SPARE];

/* Opens, writes frames and closes; the first failure. */
static sk_status write_video(int32_t width, int32_t height, double rate, bool gpu, sk_error *err)
{
    sk_video_sink *sink = NULL;
    sk_status status = gpu ? sk_video_sink_open_gpu(path, width, height, rate, &sink, err)
                           : sk_video_sink_open(path, width, height, rate, &sink, err);
    for (int i = 0; i < 3 && status == SK_OK; i++) {
        sk_frame f = SK_FRAME_INIT;
        f.format = SK_PIXEL_RGB, f.width = 64, f.height = 48, f.stride = 192, f.data = pixels;
        f.index = i, f.time_ns = (int64_t)i * 40000000;
        status = sk_video_sink_write(sink, &f, err);
    }
    const sk_status closed = sk_video_sink_close(&sink, status == SK_OK ? err : NULL);
    return status == SK_OK ? closed : status;
}

static void prepare(void)
{
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK || !sk_ff.avcodec_find_encoder_by_name("libx264"))
        skip();
    if (!real.avcodec_open2)
        real = sk_ff;
    snprintf(path, sizeof path, "%s/v.mp4", test_folder());
}

/* --- failures --- */

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
static AVStream *no_stream(AVFormatContext *format, const AVCodec *codec)
{
    (void)format;
    (void)codec;
    return NULL;
}
static const AVCodec *no_encoder(const char *name)
{
    (void)name;
    return NULL;
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
static int no_open(AVCodecContext *context, const AVCodec *codec, AVDictionary **options)
{
    (void)context, (void)codec, (void)options;
    return AVERROR(ENOSYS);
}
static int no_buffer(AVFrame *frame, int align)
{
    (void)frame, (void)align;
    return AVERROR(ENOMEM);
}
static int not_writable(AVFrame *frame)
{
    (void)frame;
    return AVERROR(ENOMEM);
}
static int no_head(AVFormatContext *format, AVDictionary **options)
{
    (void)format, (void)options;
    return AVERROR(ENOSPC);
}
static int no_send(AVCodecContext *codec, const AVFrame *frame)
{
    (void)codec, (void)frame;
    return AVERROR(EPIPE);
}
static int no_receive(AVCodecContext *codec, AVPacket *packet)
{
    (void)codec, (void)packet;
    return AVERROR(EPIPE);
}
static int no_write(AVFormatContext *format, AVPacket *packet)
{
    (void)format;
    real.av_packet_unref(packet);
    return AVERROR(ENOSPC);
}
static int late_write(AVFormatContext *format, AVPacket *packet) /* it said that it had worked */
{
    real.av_packet_unref(packet);
    format->pb->error = AVERROR(ENOSPC);
    return 0;
}
static int no_trailer(AVFormatContext *format)
{
    (void)real.av_write_trailer(format);
    return AVERROR(ENOSPC);
}
static int no_container(AVFormatContext **out, const AVOutputFormat *kind, const char *name, const char *file)
{
    (void)kind, (void)file;
    *out = NULL;
    assert_string_equal(name, "mp4");
    return AVERROR(EINVAL);
}
static int no_memory(AVFormatContext **out, const AVOutputFormat *kind, const char *name, const char *file)
{
    (void)kind, (void)file, (void)name;
    *out = NULL;
    return AVERROR(ENOMEM);
}

static void every_step_may_fail(void **state)
{
    (void)state;
    prepare();
    static const char full[] =
        "writing failed: No space left on device. What was done before is kept; make room";
#define STEP(member, with, status, text)                                                                     \
    do {                                                                                                     \
        sk_error err = {0};                                                                                  \
        sk_ff.member = with;                                                                                 \
        const sk_status got = write_video(64, 48, 25, false, &err);                                          \
        sk_ff = real;                                                                                        \
        if (got != (status) || !strstr(err.message, text))                                                   \
            fail_msg(#with ": %s: '%s'", sk_status_text(got), err.message);                                  \
    } while (0)
    STEP(av_frame_alloc, no_frame, SK_ERR_MEMORY, "memory");
    STEP(av_packet_alloc, no_packet, SK_ERR_MEMORY, "memory");
    STEP(avcodec_alloc_context3, no_context, SK_ERR_MEMORY, "memory");
    STEP(avformat_new_stream, no_stream, SK_ERR_MEMORY, "memory");
    STEP(sws_getCachedContext, no_scaler, SK_ERR_MEMORY, "memory");
    STEP(avformat_alloc_output_context2, no_memory, SK_ERR_MEMORY, "memory");
    STEP(avformat_alloc_output_context2, no_container, SK_ERR_UNSUPPORTED,
         "v.mp4: this FFmpeg cannot write mp4 files: Invalid argument");
    STEP(avcodec_find_encoder_by_name, no_encoder, SK_ERR_UNSUPPORTED,
         "v.mp4: this FFmpeg has no H.264 or MPEG-4 encoder");
    STEP(avcodec_open2, no_open, SK_ERR_IO, "v.mp4: starting the encoder failed: Function not implemented");
    STEP(av_frame_get_buffer, no_buffer, SK_ERR_IO,
         "v.mp4: allocating a frame failed: Cannot allocate memory");
    STEP(av_frame_make_writable, not_writable, SK_ERR_IO,
         "v.mp4: allocating a frame failed: Cannot allocate memory");
    STEP(avcodec_send_frame, no_send, SK_ERR_IO, "v.mp4: encoding failed: Broken pipe");
    STEP(avcodec_receive_packet, no_receive, SK_ERR_IO, "v.mp4: encoding failed: Broken pipe");
    STEP(avformat_write_header, no_head, SK_ERR_IO, full);
    STEP(av_interleaved_write_frame, no_write, SK_ERR_IO, full);
    STEP(av_interleaved_write_frame, late_write, SK_ERR_IO, full);
    STEP(av_write_trailer, no_trailer, SK_ERR_IO, full);
    sk_error err = {0};
    assert_ok(write_video(64, 48, 25, false, &err), &err);
    /* the same of parts that are joined */
    const char *const parts[] = {path};
    char whole[600];
    snprintf(whole, sizeof whole, "%s/whole.mp4", test_folder());
#define JOIN(member, with, status, text)                                                                     \
    do {                                                                                                     \
        err = (sk_error){0};                                                                                 \
        sk_ff.member = with;                                                                                 \
        const sk_status got = sk_video_join(parts, 1, whole, &err);                                          \
        sk_ff = real;                                                                                        \
        if (got != (status) || !strstr(err.message, text))                                                   \
            fail_msg(#with ", joined: %s: '%s'", sk_status_text(got), err.message);                          \
    } while (0)
    JOIN(avformat_new_stream, no_stream, SK_ERR_MEMORY, "memory");
    JOIN(avformat_write_header, no_head, SK_ERR_IO, full);
    JOIN(av_interleaved_write_frame, no_write, SK_ERR_IO, full);
    JOIN(av_interleaved_write_frame, late_write, SK_ERR_IO, full);
    JOIN(av_write_trailer, no_trailer, SK_ERR_IO, full);
    JOIN(avformat_alloc_output_context2, no_container, SK_ERR_UNSUPPORTED,
         "whole.mp4: this FFmpeg cannot write mp4 files");
    assert_ok(sk_video_join(parts, 1, whole, &err), &err);
}

/* A frame of planes that are not there is refused before it is looked at. */
static void frames_are_looked_at(void **state)
{
    (void)state;
    prepare();
    sk_error err = {0};
    sk_video_sink *sink = NULL;
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_I420, f.width = 64, f.height = 48, f.stride = 10, f.data = pixels;
    assert_ok(sk_video_sink_open(path, 64, 48, 25, &sink, &err), &err);
    assert_int_equal(sk_video_sink_write(sink, &f, &err), SK_ERR_ARG);
    assert_ok(sk_video_sink_close(&sink, &err), &err);
}

/* --- how --- */

static char options[600];
static AVCodecContext asked; /* as the encoder was opened */
static int refusals;         /* encoders that cannot be started */

static int note_option(void *object, const char *name, const char *value, int flags)
{
    snprintf(options + strlen(options), sizeof options - strlen(options), "%s=%s ", name, value);
    return real.av_opt_set(object, name, value, flags);
}
static int note_entry(AVDictionary **all, const char *name, const char *value, int flags)
{
    snprintf(options + strlen(options), sizeof options - strlen(options), "%s=%s ", name, value);
    return real.av_dict_set(all, name, value, flags);
}
static int note_open(AVCodecContext *context, const AVCodec *codec, AVDictionary **with)
{
    asked = *context;
    return refusals-- > 0 ? AVERROR(ENOSYS) : real.avcodec_open2(context, codec, with);
}
static const AVCodec *only_mpeg4(const char *name)
{
    return strcmp(name, "mpeg4") == 0 ? real.avcodec_find_encoder_by_name(name) : NULL;
}
static const AVCodec *as_if_gpu(const char *name) /* by name a GPU's, else the one that is there */
{
    static AVCodec like;
    if (strcmp(name, "h264_nvenc") != 0)
        return real.avcodec_find_encoder_by_name(name);
    like = *real.avcodec_find_encoder_by_name("libx264");
    like.name = "h264_nvenc";
    return &like;
}
static AVCodecContext *real_context(const AVCodec *codec)
{
    const bool gpu = strcmp(codec->name, "h264_nvenc") == 0;
    return real.avcodec_alloc_context3(gpu ? real.avcodec_find_encoder_by_name("libx264") : codec);
}

static char warned[600];
static void listen(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", text);
}

static void recorded(const AVCodec *(*find)(const char *), int32_t width, int32_t height, double rate,
                     bool gpu)
{
    sk_error err = {0};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen, NULL, &listener, &err), &err);
    options[0] = warned[0] = 0;
    sk_ff.av_opt_set = note_option;
    sk_ff.av_dict_set = note_entry;
    sk_ff.avcodec_open2 = note_open;
    sk_ff.avcodec_find_encoder_by_name = find;
    sk_ff.avcodec_alloc_context3 = real_context;
    const sk_status status = write_video(width, height, rate, gpu, &err);
    sk_ff = real;
    sk_log_unlisten(&listener);
    assert_ok(status, &err);
}

#define MOVFLAGS "movflags=frag_keyframe+empty_moov+default_base_moof "

static void encoders_are_told_how(void **state)
{
    (void)state;
    prepare();
    recorded(real.avcodec_find_encoder_by_name, 65, 49, 10, false);
    assert_string_equal(options, "preset=veryfast crf=23 " MOVFLAGS);
    assert_int_equal(asked.width, 64);
    assert_int_equal(asked.height, 48);
    assert_true(asked.time_base.num == 1 && asked.time_base.den == 90000);
    assert_true(asked.framerate.num == 10 && asked.framerate.den == 1);
    assert_int_equal(asked.gop_size, 60);
    assert_int_equal(asked.thread_count, 1);
    assert_int_equal(asked.pix_fmt, AV_PIX_FMT_YUV420P);
    assert_true(asked.flags & AV_CODEC_FLAG_GLOBAL_HEADER);
    recorded(real.avcodec_find_encoder_by_name, 64, 48, 0, false); /* unknown: 25 */
    assert_true(asked.framerate.num == 25 && asked.framerate.den == 1);
    recorded(real.avcodec_find_encoder_by_name, 64, 48, 0.5, false);
    assert_true(asked.framerate.num == 1 && asked.framerate.den == 2);
    if (real.avcodec_find_encoder_by_name("mpeg4")) {
        recorded(only_mpeg4, 65, 48, 12.5, false);
        assert_string_equal(options, MOVFLAGS);
        assert_int_equal(asked.bit_rate, 65 * 48 * 4);
        assert_true(asked.time_base.num == 2 && asked.time_base.den == 25);
        recorded(only_mpeg4, 64, 48, -1, false);
        assert_true(asked.time_base.num == 1 && asked.time_base.den == 25);
    }
}

/* The GPU's encoder where it starts; where it does not, and where FFmpeg has none, the processor's, and it is said why. */
static void gpus_encode_where_they_can(void **state)
{
    (void)state;
    prepare();
    char says[900];
    refusals = 1;
    recorded(as_if_gpu, 64, 48, 25, true);
    refusals = 0;
    assert_string_equal(options, "preset=p4 rc=vbr cq=25 preset=veryfast crf=23 " MOVFLAGS);
    snprintf(says, sizeof says,
             "%s: encoded by the processor, not by the GPU: its encoder (NVENC) cannot be started; not every "
             "GPU has one (A100, H100 "
             "and H200 have none): Function not implemented",
             path);
    assert_string_equal(warned, says);
    recorded(only_mpeg4, 64, 48, 25, true);
    snprintf(says, sizeof says,
             "%s: encoded by the processor, not by the GPU: this FFmpeg is built without h264_nvenc", path);
    assert_string_equal(warned, says);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_may_fail), cmocka_unit_test(frames_are_looked_at),
        cmocka_unit_test(encoders_are_told_how), cmocka_unit_test(gpus_encode_where_they_can)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
