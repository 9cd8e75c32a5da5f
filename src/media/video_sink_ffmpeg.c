/* SPDX-License-Identifier: Apache-2.0 */
#include "media/video_sink.h"

#include "base/file.h"
#include "base/frame.h"
#include "base/log.h"
#include "base/memory.h"
#include "kernels/plain.h"
#include "media/decoder_ffmpeg.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define TIME_BASE     90000
#define LONGEST_PAUSE 2000000000 /* ticks */
#define NO_DTS        (INT64_MIN / 2)
#define GPU_ENCODER   "h264_nvenc"

struct sk_video_sink {
    char *path;
    AVFormatContext *format;
    AVCodecContext *codec;
    AVStream *stream;
    AVFrame *frame;
    AVPacket *packet;
    struct SwsContext *scaler;
    int64_t last_pts;
    double left_out; /* ticks of pauses */
    bool scaled;     /* a frame of another size came, and it was said */
    uint8_t *plain;  /* room for frames in other formats */
    size_t plain_bytes;
};

/* A new file in place of what an earlier run left; FFmpeg itself would follow a link that lies there. */
static sk_status create(const char *path, AVFormatContext *format, sk_error *err)
{
    int file;
    if (unlink(path) != 0 && errno != ENOENT)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be replaced: %s", path, strerror(errno));
    SK_TRY(sk_file_open_own(path, O_RDWR | O_CREAT | O_EXCL, &file, err));
    close(file);
    int code = sk_ffmpeg_create(&format->pb, path);
    if (code >= 0)
        return SK_OK;
    return sk_fail(err, code == AVERROR(ENOMEM) ? SK_ERR_MEMORY : SK_ERR_IO, "%s: cannot be written: %s",
                   path, sk_ffmpeg_text(code));
}

/* FFmpeg writes behind its callers' backs: what failed last is found out here. */
static sk_status check_output(const char *path, int code, const AVFormatContext *format, sk_error *err)
{
    if (code >= 0 && format->pb)
        code = format->pb->error;
    if (code >= 0)
        return SK_OK;
    return sk_fail(err, SK_ERR_IO,
                   "%s: writing failed: %s. What was done before is kept; make room and run the same command "
                   "again to continue",
                   path, sk_ffmpeg_text(code));
}

static sk_status failed(const sk_video_sink *sink, const char *what, int code, sk_error *err)
{
    return sk_fail(err, SK_ERR_IO, "%s: %s failed: %s", sink->path, what, sk_ffmpeg_text(code));
}

static void release(sk_video_sink *sink)
{
    sk_free(sink->plain);
    sk_ff.sws_freeContext(sink->scaler);
    sk_ff.av_packet_free(&sink->packet);
    sk_ff.av_frame_free(&sink->frame);
    sk_ff.avcodec_free_context(&sink->codec);
    if (sink->format) {
        sk_ff.avio_closep(&sink->format->pb);
        sk_ff.avformat_free_context(sink->format);
    }
    sk_free(sink->path);
    sk_free(sink);
}

static const AVCodec *choose_encoder(void)
{
    static const char *const names[] = {"libx264", "libopenh264", "mpeg4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const AVCodec *codec = sk_ff.avcodec_find_encoder_by_name(names[i]);
        if (codec)
            return codec;
    }
    return NULL;
}

static sk_status start_encoder(sk_video_sink *sink, const AVCodec *codec, int32_t width, int32_t height,
                               double rate, int *code, sk_error *err)
{
    sink->codec = sk_ff.avcodec_alloc_context3(codec);
    if (!sink->codec)
        return sk_fail_memory(err, sizeof *sink->codec);
    sink->codec->width = width & ~1;
    sink->codec->height = height & ~1;
    sink->codec->pix_fmt = AV_PIX_FMT_YUV420P;
    sink->codec->time_base = (AVRational){1, TIME_BASE};
    sink->codec->framerate = sk_ff.av_d2q(rate > 0 ? rate : 25, 100000);
    sink->codec->gop_size = 60;
    sink->codec->thread_count = 1; /* the network wants the other cores */
    if (strcmp(codec->name, "libx264") == 0) {
        sk_ff.av_opt_set(sink->codec->priv_data, "preset", "veryfast", 0);
        sk_ff.av_opt_set(sink->codec->priv_data, "crf", "23", 0);
    } else if (strcmp(codec->name, GPU_ENCODER) == 0) {
        sk_ff.av_opt_set(sink->codec->priv_data, "preset", "p4", 0);
        sk_ff.av_opt_set(sink->codec->priv_data, "rc", "vbr", 0);
        sk_ff.av_opt_set(sink->codec->priv_data, "cq", "25", 0); /* about libx264's crf 23 */
    } else {
        sink->codec->bit_rate = (int64_t)width * height * 4;
        if (strcmp(codec->name, "mpeg4") == 0) /* MPEG-4 part 2 keeps the time base in 16 bits */
            sink->codec->time_base = av_inv_q(sk_ff.av_d2q(rate > 0 ? rate : 25, 60000));
    }
    if (sink->format->oformat->flags & AVFMT_GLOBALHEADER)
        sink->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    *code = sk_ff.avcodec_open2(sink->codec, codec, NULL);
    return SK_OK;
}

/* The GPU's encoder; false where there is none that can be had, and the person is told. */
static sk_status try_gpu(sk_video_sink *sink, int32_t width, int32_t height, double rate, bool *started,
                         sk_error *err)
{
    const AVCodec *codec = sk_ff.avcodec_find_encoder_by_name(GPU_ENCODER);
    int code = -1;
    char reason[160] = "";
    sk_ffmpeg_said said = {{0}};
    *started = false;
    if (codec) {
        sk_ffmpeg_listen(&said);
        const sk_status status = start_encoder(sink, codec, width, height, rate, &code, err);
        sk_ffmpeg_listen(NULL);
        SK_TRY(status);
    }
    *started = codec && code >= 0;
    if (*started)
        return SK_OK;
    sk_ff.avcodec_free_context(&sink->codec);
    sk_ffmpeg_reason(&said, code, reason, sizeof reason);
    sk_log(
        SK_LOG_WARN, "%s: encoded by the processor, not by the GPU: %s%s", sink->path,
        codec
            ? "its encoder (NVENC) cannot be started; not every GPU has one (A100, H100 and H200 have none): "
            : "this FFmpeg is built without " GPU_ENCODER,
        codec ? reason : "");
    return SK_OK;
}

static sk_status open_encoder(sk_video_sink *sink, int32_t width, int32_t height, double rate, bool gpu,
                              sk_error *err)
{
    bool started = false;
    int code = 0;
    sink->frame = sk_ff.av_frame_alloc();
    sink->packet = sk_ff.av_packet_alloc();
    if (!sink->frame || !sink->packet)
        return sk_fail_memory(err, sizeof *sink->frame);
    if (gpu)
        SK_TRY(try_gpu(sink, width, height, rate, &started, err));
    const AVCodec *codec = started ? NULL : choose_encoder();
    if (!started && !codec)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: this FFmpeg has no H.264 or MPEG-4 encoder", sink->path);
    if (!started)
        SK_TRY(start_encoder(sink, codec, width, height, rate, &code, err));
    if (code < 0)
        return failed(sink, "starting the encoder", code, err);
    sink->frame->format = sink->codec->pix_fmt;
    sink->frame->width = sink->codec->width;
    sink->frame->height = sink->codec->height;
    code = sk_ff.av_frame_get_buffer(sink->frame, 0);
    return code < 0 ? failed(sink, "allocating a frame", code, err) : SK_OK;
}

static sk_status open_file(sk_video_sink *sink, sk_error *err)
{
    sink->stream = sk_ff.avformat_new_stream(sink->format, NULL);
    if (!sink->stream)
        return sk_fail_memory(err, sizeof *sink->stream);
    sink->stream->time_base = sink->codec->time_base;
    sink->stream->avg_frame_rate = sink->codec->framerate;
    sk_ff.avcodec_parameters_from_context(sink->stream->codecpar, sink->codec);
    SK_TRY(create(sink->path, sink->format, err));
    AVDictionary *options = NULL;
    sk_ff.av_dict_set(&options, "movflags", "frag_keyframe+empty_moov+default_base_moof", 0);
    int code = sk_ff.avformat_write_header(sink->format, &options);
    sk_ff.av_dict_free(&options);
    return check_output(sink->path, code, sink->format, err);
}

/* An FFmpeg without the mp4 muxer is told from one without memory. */
static sk_status open_container(const char *path, AVFormatContext **out, sk_error *err)
{
    const int code = sk_ff.avformat_alloc_output_context2(out, NULL, "mp4", path);
    if (code >= 0)
        return SK_OK;
    if (code == AVERROR(ENOMEM))
        return sk_fail_memory(err, sizeof **out);
    return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: this FFmpeg cannot write mp4 files: %s", path,
                   sk_ffmpeg_text(code));
}

static sk_status open_sink(const char *path, int32_t width, int32_t height, double rate, bool gpu,
                           sk_video_sink **out, sk_error *err)
{
    *out = NULL;
    if (width < 2 || height < 2)
        return sk_fail(err, SK_ERR_ARG, "%s: a video needs at least 2 x 2 pixels", path);
    SK_TRY(sk_ffmpeg_load(path, err));
    sk_video_sink *sink = sk_calloc(1, sizeof *sink);
    if (!sink)
        return sk_fail_memory(err, sizeof *sink);
    sink->last_pts = -1;
    sink->path = sk_strdup(path);
    sk_status status = SK_OK;
    if (!sink->path) {
        status = sk_fail_memory(err, strlen(path) + 1);
        goto done;
    }
    SK_TRY_GOTO(open_container(path, &sink->format, err));
    SK_TRY_GOTO(open_encoder(sink, width, height, rate, gpu, err));
    SK_TRY_GOTO(open_file(sink, err));
    *out = sink;
    return SK_OK;
done:
    release(sink);
    return status;
}

sk_status sk_video_sink_open(const char *path, int32_t width, int32_t height, double rate,
                             sk_video_sink **out, sk_error *err)
{
    return open_sink(path, width, height, rate, false, out, err);
}

sk_status sk_video_sink_open_gpu(const char *path, int32_t width, int32_t height, double rate,
                                 sk_video_sink **out, sk_error *err)
{
    return open_sink(path, width, height, rate, true, out, err);
}

const char *sk_video_sink_encoder(const sk_video_sink *sink)
{
    return sink->codec->codec->name;
}

/* Sends one frame (or null: the end) and writes what comes out. */
static sk_status encode(sk_video_sink *sink, const AVFrame *frame, sk_error *err)
{
    int code = sk_ff.avcodec_send_frame(sink->codec, frame);
    if (code < 0)
        return failed(sink, "encoding", code, err);
    for (;;) {
        code = sk_ff.avcodec_receive_packet(sink->codec, sink->packet);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return SK_OK;
        if (code < 0)
            return failed(sink, "encoding", code, err);
        sk_ff.av_packet_rescale_ts(sink->packet, sink->codec->time_base, sink->stream->time_base);
        sink->packet->stream_index = sink->stream->index;
        code = sk_ff.av_interleaved_write_frame(sink->format, sink->packet);
        SK_TRY(check_output(sink->path, code, sink->format, err));
    }
}

/* mp4 counts the ticks between two frames in 31 bits, 6.6 hours. A longer pause, or a jump back (a clock that was set, a
 * header that lies), is left out: the frame follows the one before. */
static int64_t next_pts(sk_video_sink *sink, double seconds)
{
    const double tick = av_q2d(sink->codec->time_base), last = (double)sink->last_pts;
    double ticks = seconds / tick - sink->left_out + 0.5;
    const double pause = sink->last_pts < 0 ? 0 : ticks - last;
    if (pause > LONGEST_PAUSE || ticks - last < -1 / tick) {
        const double rate = av_q2d(sink->codec->framerate);
        const double follow = sink->last_pts < 0 ? 0.5 : last + (rate >= 1 ? 1 / (rate * tick) : 1) + 0.5;
        if (pause > LONGEST_PAUSE)
            sk_log(SK_LOG_WARN, "%s: a pause of %.0f s is left out", sink->path, pause * tick);
        sink->left_out += ticks - follow;
        ticks = follow;
    }
    sink->last_pts = ticks >= last + 1 ? (int64_t)ticks : sink->last_pts + 1;
    return sink->last_pts;
}

sk_status sk_video_sink_write(sk_video_sink *sink, const sk_frame *frame, sk_error *err)
{
    sk_frame view;
    if (sk_plain_format(frame->format) != frame->format) {
        SK_TRY(sk_frame_check(frame, err));
        SK_TRY(sk_array_reserve((void **)&sink->plain, &sink->plain_bytes, sk_plain_bytes(frame), 1,
                                sk_plain_bytes(frame), err));
        sk_plain_convert(frame, sink->plain, &view);
        frame = &view;
    }
    bool same = (frame->width & ~1) == sink->codec->width && (frame->height & ~1) == sink->codec->height;
    if (!same && !sink->scaled)
        sk_log(SK_LOG_WARN, "%s: frame %lld is %d x %d; it and others of that size are scaled to %d x %d",
               sink->path, (long long)frame->index, frame->width, frame->height, sink->codec->width,
               sink->codec->height);
    sink->scaled = sink->scaled || !same;
    const int width = same ? sink->codec->width : frame->width;
    const int height = same ? sink->codec->height : frame->height;
    int code = sk_ff.av_frame_make_writable(sink->frame);
    if (code < 0)
        return failed(sink, "allocating a frame", code, err);
    enum AVPixelFormat from = frame->format == SK_PIXEL_BGR    ? AV_PIX_FMT_BGR24
                              : frame->format == SK_PIXEL_GRAY ? AV_PIX_FMT_GRAY8
                                                               : AV_PIX_FMT_RGB24;
    sink->scaler =
        sk_ff.sws_getCachedContext(sink->scaler, width, height, from, sink->codec->width, sink->codec->height,
                                   AV_PIX_FMT_YUV420P, SWS_BILINEAR, NULL, NULL, NULL);
    if (!sink->scaler)
        return sk_fail_memory(err, sizeof(void *));
    const uint8_t *planes[4] = {frame->data};
    int strides[4] = {(int)frame->stride};
    sk_ff.sws_scale(sink->scaler, planes, strides, 0, height, sink->frame->data, sink->frame->linesize);
    sink->frame->pts = next_pts(sink, sk_time_seconds(frame->time_ns));
    return encode(sink, sink->frame, err);
}

sk_status sk_video_sink_close(sk_video_sink **pointer, sk_error *err)
{
    sk_video_sink *sink = *pointer;
    if (!sink)
        return SK_OK;
    *pointer = NULL;
    sk_status status = encode(sink, NULL, err);
    int code = sk_ff.av_write_trailer(sink->format);
    if (status == SK_OK)
        status = check_output(sink->path, code, sink->format, err);
    release(sink);
    return status;
}

/* What was joined so far ends there, in ticks of the joined stream. */
typedef struct joint {
    int64_t last_dts, last_pts, frame;
} joint;

/* A file begins at 0, wherever its frames were: its first frame follows the last one of the part before. */
static int64_t ticks_before(const AVPacket *first, const joint *end)
{
    return end->last_dts > NO_DTS ? first->pts - end->last_pts - (end->frame > 0 ? end->frame : 1) : 0;
}

/* Copies one part's packets behind what is already there. */
static sk_status append_part(const char *part, AVFormatContext *out, AVStream **stream, bool *begun,
                             joint *end, const char *path, sk_error *err)
{
    AVFormatContext *in = NULL;
    AVPacket *packet = sk_ff.av_packet_alloc();
    sk_status status = SK_OK;
    char *address = sk_file_address(part);
    int code = address ? sk_ff.avformat_open_input(&in, address, NULL, NULL) : AVERROR(ENOMEM);
    sk_free(address);
    if (code >= 0)
        code = sk_ff.avformat_find_stream_info(in, NULL);
    if (code < 0 || in->nb_streams < 1 || !packet) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: this part of the overlay cannot be read: %s", part,
                         sk_ffmpeg_text(code));
        goto done;
    }
    if (!*stream) {
        *stream = sk_ff.avformat_new_stream(out, NULL);
        if (!*stream || sk_ff.avcodec_parameters_copy((*stream)->codecpar, in->streams[0]->codecpar) < 0) {
            status = sk_fail_memory(err, sizeof **stream);
            goto done;
        }
        (*stream)->time_base = in->streams[0]->time_base;
        (*stream)->avg_frame_rate = in->streams[0]->avg_frame_rate;
        SK_TRY_GOTO(create(path, out, err));
        code = sk_ff.avformat_write_header(out, NULL);
        *begun = code >= 0;
        SK_TRY_GOTO(check_output(path, code, out, err));
    }
    const AVRational rate = in->streams[0]->avg_frame_rate;
    if (rate.num > 0 && rate.den > 0)
        end->frame = llrint(1 / (av_q2d(rate) * av_q2d((*stream)->time_base)));
    int64_t left_out = 0;
    bool first = true;
    while (status == SK_OK && sk_ff.av_read_frame(in, packet) >= 0) {
        sk_ff.av_packet_rescale_ts(packet, in->streams[0]->time_base, (*stream)->time_base);
        if (first)
            left_out = ticks_before(packet, end);
        first = false;
        packet->dts -= left_out;
        packet->pts -= left_out;
        if (packet->dts <= end->last_dts) { /* reordering delay where two parts meet */
            packet->dts = end->last_dts + 1;
            if (packet->pts < packet->dts)
                packet->pts = packet->dts;
        }
        end->last_dts = packet->dts;
        end->last_pts = packet->pts > end->last_pts ? packet->pts : end->last_pts;
        packet->stream_index = 0;
        packet->pos = -1;
        status = check_output(path, sk_ff.av_interleaved_write_frame(out, packet), out, err);
    }
done:
    sk_ff.av_packet_free(&packet);
    sk_ff.avformat_close_input(&in);
    return status;
}

sk_status sk_video_join(const char *const *parts, int32_t count, const char *path, sk_error *err)
{
    AVFormatContext *out = NULL;
    AVStream *stream = NULL;
    joint end = {NO_DTS, NO_DTS, 0};
    bool begun = false; /* a trailer belongs to a header that was written */
    SK_TRY(sk_ffmpeg_load(path, err));
    SK_TRY(open_container(path, &out, err));
    sk_status status = SK_OK;
    for (int32_t i = 0; i < count && status == SK_OK; i++)
        status = append_part(parts[i], out, &stream, &begun, &end, path, err);
    if (begun) {
        int code = sk_ff.av_write_trailer(out);
        if (status == SK_OK)
            status = check_output(path, code, out, err);
    }
    sk_ff.avio_closep(&out->pb);
    sk_ff.avformat_free_context(out);
    return status;
}
