/* SPDX-License-Identifier: Apache-2.0 */
#include "media/decoder_ffmpeg.h"

#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A container may say that its pictures lie on their side (phones do). OpenCV turns them upright, and so do we. */
static int display_turns(const AVStream *stream)
{
    const int32_t *matrix =
        (const int32_t *)(const void *)sk_ff.av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    if (!matrix)
        return 0;
    double degrees = sk_ff.av_display_rotation_get(matrix); /* counter-clockwise */
    if (isnan(degrees))
        return 0;
    return (int)((lrint(-degrees / 90) % 4 + 4) % 4);
}

static enum AVPixelFormat choose_format(AVCodecContext *codec, const enum AVPixelFormat *formats)
{
    sk_decoder *decoder = codec->opaque;
    for (const enum AVPixelFormat *f = formats; *f != AV_PIX_FMT_NONE; f++)
        if (*f == (enum AVPixelFormat)decoder->hardware_format) {
            sk_ffmpeg_forget(&decoder->said); /* FFmpeg now tries, and asks again where that fails */
            return *f;
        }
    return sk_ff.avcodec_default_get_format(codec, formats);
}

/* Once a decoder, and once a source that is opened again: who asked for a device is told that the processor decodes. */
static void tell_refusal(sk_decoder *decoder, const char *uri, const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[512];
    char text[512] = "";
    snprintf(text, sizeof text, "%.200s: decoded by the processor, not on a device (%.20s): %.220s", uri,
             name, decoder->refusal);
    decoder->told = true;
    decoder->device_name = "";
    pthread_mutex_lock(&lock);
    const bool known = strcmp(text, last) == 0;
    memcpy(last, text, sizeof last);
    pthread_mutex_unlock(&lock);
    if (!known)
        sk_log(SK_LOG_WARN, "%s", text);
}

static bool open_one(sk_decoder *decoder, enum AVHWDeviceType type, int32_t on_device, char *why, size_t room)
{
    sk_ffmpeg_said said = {{0}};
    if (type == AV_HWDEVICE_TYPE_CUDA) {
        decoder->cuda = sk_cuda_open(on_device > 0 ? on_device - 1 : 0, &decoder->device, why, room);
        return decoder->cuda != NULL;
    }
    sk_ffmpeg_listen(&said);
    const int code = sk_ff.av_hwdevice_ctx_create(&decoder->device, type, NULL, NULL, 0);
    sk_ffmpeg_listen(NULL);
    if (code != 0)
        sk_ffmpeg_reason(&said, code, why, room);
    return code == 0;
}

/* Devices this codec can be decoded on, in FFmpeg's order: the one of this name, or any. False: none can be had. */
static bool open_device(sk_decoder *decoder, const AVCodec *codec, const char *name, int32_t on_device,
                        char *why, size_t room)
{
    bool any = strcmp(name, "auto") == 0;
    snprintf(why, room, "FFmpeg decodes %s on no such device", codec->name);
    for (int i = 0;; i++) {
        const AVCodecHWConfig *config = sk_ff.avcodec_get_hw_config(codec, i);
        if (!config)
            return false;
        const char *type = sk_ff.av_hwdevice_get_type_name(config->device_type);
        if (!(config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) || !type ||
            (!any && strcmp(type, name) != 0))
            continue;
        char reason[160];
        if (open_one(decoder, config->device_type, on_device, reason, sizeof reason)) {
            decoder->hardware_format = config->pix_fmt;
            decoder->codec->hw_device_ctx = sk_ff.av_buffer_ref(decoder->device);
            decoder->codec->get_format = choose_format;
            decoder->device_name = type;
            return true;
        }
        snprintf(why, room, "%s: %s", type, reason);
    }
}

void sk_decoder_keep_device(sk_decoder *from, sk_decoder *to)
{
    to->device = from->device;
    to->cuda = from->cuda;
    to->hardware_format = from->hardware_format;
    to->told = from->told;
    to->device_name = from->device_name;
    from->device = NULL;
    from->cuda = NULL;
}

/* Decoding on a device where it was asked for and can be had; software decodes otherwise, and the person is told. */
static sk_status try_hardware(const char *uri, const char *name, int32_t on_device, const AVCodec *codec,
                              sk_decoder *before, sk_decoder *decoder, sk_error *err)
{
    char known[256] = "";
    decoder->device_name = "";
    decoder->stays = on_device > 0;
    if (!name || strcmp(name, "none") == 0)
        return SK_OK;
    if (strcmp(name, "auto") != 0 && sk_ff.av_hwdevice_find_type_by_name(name) == AV_HWDEVICE_TYPE_NONE) {
        enum AVHWDeviceType type = AV_HWDEVICE_TYPE_NONE;
        while ((type = sk_ff.av_hwdevice_iterate_types(type)) != AV_HWDEVICE_TYPE_NONE) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, ", %s", sk_ff.av_hwdevice_get_type_name(type));
        }
        return sk_fail(err, SK_ERR_ARG,
                       "%s: FFmpeg knows no device for decoding called '%s'; there are none, auto%s", uri,
                       name, known);
    }
    if (before && before->device) {
        sk_decoder_keep_device(before, decoder);
        decoder->codec->hw_device_ctx = sk_ff.av_buffer_ref(decoder->device);
        decoder->codec->get_format = choose_format;
        return SK_OK;
    }
    const bool any = strcmp(name, "auto") == 0;
    if (any && on_device > 0 &&
        open_device(decoder, codec, "cuda", on_device, decoder->refusal, sizeof decoder->refusal))
        decoder->refusal[0] = 0;
    else if (open_device(decoder, codec, name, on_device, decoder->refusal, sizeof decoder->refusal))
        decoder->refusal[0] = 0;
    else
        tell_refusal(decoder, uri, name);
    return SK_OK;
}

static int64_t most_pixels(const sk_decoder_settings *settings)
{
    return settings->max_pixels > 0 ? settings->max_pixels : SK_VIDEO_MOST_PIXELS;
}

/* FFmpeg decodes a little of every stream to know it: within the same bound. */
static int look_at_streams(AVFormatContext *format, int64_t most)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)most);
    unsigned count = format->nb_streams; /* it may find more, which have no options then */
    AVDictionary **options = sk_calloc(count + 1, sizeof(AVDictionary *));
    for (unsigned i = 0; options && i < count; i++)
        sk_ff.av_dict_set(&options[i], "max_pixels", number, 0);
    int code = options ? sk_ff.avformat_find_stream_info(format, options) : AVERROR(ENOMEM);
    for (unsigned i = 0; options && i < count; i++)
        sk_ff.av_dict_free(&options[i]);
    sk_free(options);
    return code;
}

static sk_status check_pixels(const char *uri, const AVCodecParameters *video, int64_t most, sk_error *err)
{
    if (video->width <= 0 || video->height <= 0 || (int64_t)video->width * video->height <= most)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_LIMIT,
        "%s: claims %d x %d pixels; at most %lld are read. If it is right, max_pixels %lld reads it", uri,
        video->width, video->height, (long long)most, (long long)video->width * video->height);
}

static sk_status open_input(const char *uri, const sk_decoder_settings *settings, sk_decoder *decoder,
                            sk_error *err)
{
    const bool address = sk_uri_is_address(uri);
    if (!address && !settings->input_format)
        SK_TRY(sk_input_open(uri, &settings->interrupt, &decoder->input, err));
    decoder->format = sk_ff.avformat_alloc_context();
    if (!decoder->format)
        return sk_fail_memory(err, sizeof *decoder->format);
    decoder->format->interrupt_callback = settings->interrupt;
    if (decoder->input)
        decoder->format->pb = sk_input_bytes(decoder->input);
    AVDictionary *own = NULL, **options = settings->options ? settings->options : &own;
    if (!settings->input_format)
        sk_input_protocols(options, address);
    int code = sk_ff.avformat_open_input(&decoder->format, uri, settings->input_format, options);
    sk_ff.av_dict_free(&own);
    if (code < 0)
        return sk_input_failed(uri, code, err);
    for (unsigned i = 0; i < decoder->format->nb_streams; i++)
        SK_TRY(check_pixels(uri, decoder->format->streams[i]->codecpar, most_pixels(settings), err));
    code = look_at_streams(decoder->format, most_pixels(settings));
    if (code == AVERROR(ENOMEM))
        return sk_fail_memory(err, decoder->format->nb_streams * sizeof(AVDictionary *));
    if (code < 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: no stream could be understood: %s (damaged or cut off?)", uri,
                       sk_ffmpeg_text(code));
    return SK_OK;
}

/* Every thread holds pictures of its own, and a network that runs on the same cores is slower than any decoder. */
static int32_t default_threads(void)
{
    int32_t half = (sk_cpu_usable_cores() + 1) / 2;
    return half > 8 ? 8 : half;
}

static sk_status open_codec(const char *uri, const sk_decoder_settings *settings, sk_decoder *decoder,
                            sk_error *err)
{
    const AVCodec *codec = NULL;
    int index = sk_ff.av_find_best_stream(decoder->format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (index == AVERROR_DECODER_NOT_FOUND)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: this FFmpeg has no decoder for its video; convert it first, e.g. "
                       "ffmpeg -i IN -c:v libx264 -crf 18 OUT.mp4",
                       uri);
    if (index < 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: holds no video stream", uri);
    for (unsigned i = 0; i < decoder->format->nb_streams; i++)
        decoder->format->streams[i]->discard = (int)i == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    decoder->stream = decoder->format->streams[index];
    decoder->codec = sk_ff.avcodec_alloc_context3(codec);
    decoder->packet = sk_ff.av_packet_alloc();
    decoder->frame = sk_ff.av_frame_alloc();
    decoder->transfer = sk_ff.av_frame_alloc();
    if (!decoder->codec || !decoder->packet || !decoder->frame || !decoder->transfer)
        return sk_fail_memory(err, sizeof *decoder->codec);
    int code = sk_ff.avcodec_parameters_to_context(decoder->codec, decoder->stream->codecpar);
    decoder->codec->max_pixels = most_pixels(settings);
    decoder->codec->opaque = decoder;
    decoder->codec->thread_count = settings->threads ? settings->threads : default_threads();
    decoder->codec->thread_type = settings->low_delay ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
    if (settings->low_delay)
        decoder->codec->flags |= AV_CODEC_FLAG_LOW_DELAY;
    decoder->codec->pkt_timebase = decoder->stream->time_base;
    decoder->hardware_format = AV_PIX_FMT_NONE;
    decoder->nv12 = settings->nv12;
    decoder->colours = settings->colours;
    SK_TRY(try_hardware(uri, settings->hwaccel, settings->on_device, codec, settings->before, decoder, err));
    if (code >= 0)
        code = sk_ff.avcodec_open2(decoder->codec, codec, NULL);
    if (code < 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the %s decoder cannot be started: %s", uri, codec->name,
                       sk_ffmpeg_text(code));
    decoder->quarter_turns = display_turns(decoder->stream);
    decoder->planes = (sk_planes){settings->planes_above_width, settings->planes_above_height, .width = 0};
    return SK_OK;
}

sk_status sk_decoder_open(const char *uri, const sk_decoder_settings *settings, sk_decoder *decoder,
                          sk_error *err)
{
    SK_TRY(sk_ffmpeg_load(uri, err));
    sk_status status = open_input(uri, settings, decoder, err);
    if (status == SK_OK)
        status = open_codec(uri, settings, decoder, err);
    if (status != SK_OK)
        sk_decoder_close(decoder);
    return status;
}

sk_status sk_decoder_open_beside(const sk_decoder *main, const char *uri, sk_decoder *d, sk_error *err)
{
    enum { THREADS = 4 }; /* a device decodes; these only read the heads of pictures */
    d->codec = sk_ff.avcodec_alloc_context3(main->codec->codec);
    d->frame = sk_ff.av_frame_alloc();
    d->transfer = sk_ff.av_frame_alloc();
    if (!d->codec || !d->frame || !d->transfer)
        return sk_fail_memory(err, sizeof *d->codec);
    d->stream = main->stream;
    d->nv12 = main->nv12;
    d->colours = main->colours;
    d->stays = main->stays;
    d->hardware_format = main->hardware_format;
    d->device_name = main->device_name;
    d->planes = (sk_planes){main->planes.above_width, main->planes.above_height, .width = 0};
    d->cuda = sk_cuda_hold(main->cuda);
    d->device = main->device ? sk_ff.av_buffer_ref(main->device) : NULL;
    int code = sk_ff.avcodec_parameters_to_context(d->codec, main->stream->codecpar);
    d->codec->max_pixels = main->codec->max_pixels;
    d->codec->opaque = d;
    d->codec->thread_count = THREADS;
    d->codec->thread_type = FF_THREAD_FRAME;
    d->codec->pkt_timebase = main->stream->time_base;
    if (d->device) {
        d->codec->hw_device_ctx = sk_ff.av_buffer_ref(d->device);
        d->codec->get_format = choose_format;
    }
    if (code >= 0)
        code = sk_ff.avcodec_open2(d->codec, d->codec->codec, NULL);
    return code >= 0 ? SK_OK
                     : sk_fail(err, SK_ERR_RUNTIME, "%s: another decoder cannot be started: %s", uri,
                               sk_ffmpeg_text(code));
}

void sk_decoder_close(sk_decoder *decoder)
{
    if (!decoder->format && !decoder->codec && !decoder->device && !decoder->input)
        return; /* never opened: FFmpeg may not be here at all */
    sk_ff.sws_freeContext(decoder->scaler);
    sk_ff.av_frame_free(&decoder->transfer);
    sk_ff.av_frame_free(&decoder->frame);
    sk_ff.av_packet_free(&decoder->packet);
    sk_ff.avcodec_free_context(&decoder->codec);
    sk_ff.av_buffer_unref(&decoder->device);
    sk_cuda_release(decoder->cuda); /* after the decoder, which works on its stream */
    sk_ff.avformat_close_input(&decoder->format);
    sk_input_close(&decoder->input);
    sk_slot_free(&decoder->upright);
    memset(decoder, 0, sizeof *decoder);
}

static void note_damage(sk_decoder *decoder, int code)
{
    decoder->damaged++;
    snprintf(decoder->last_problem, sizeof decoder->last_problem, "decoder: %s", sk_ffmpeg_text(code));
}

void sk_decoder_count(sk_decoder *decoder)
{
    const AVPacket *p = decoder->packet;
    int64_t end = p->pts != AV_NOPTS_VALUE ? p->pts + p->duration : INT64_MIN;
    decoder->packets++;
    if (end > decoder->packets_end || decoder->packets == 1)
        decoder->packets_end = end;
}

/* Feeds one packet of our stream, or the end. */
static sk_status feed(sk_decoder *decoder, const char *uri, sk_error *err)
{
    for (;;) {
        int code = sk_ff.av_read_frame(decoder->format, decoder->packet);
        if (code == AVERROR_EOF) {
            decoder->draining = true;
            sk_ff.avcodec_send_packet(decoder->codec, NULL);
            return SK_OK;
        }
        if (code == AVERROR_EXIT)
            return sk_fail(err, SK_ERR_CANCELLED, "%s: reading was interrupted", uri);
        if (code < 0 && decoder->packets == 0 && sk_uri_is_once(uri)) /* an .mp4 whose index comes last */
            return sk_input_failed(uri, code, err);
        if (code < 0)
            return sk_fail(err, SK_ERR_IO, "%s: reading failed: %s%s", uri, sk_ffmpeg_text(code),
                           strstr(uri, "://")
                               ? ". A server that cannot send parts of a file cannot serve every "
                                 "video: download it and give the file"
                               : "");
        if (decoder->packet->stream_index != decoder->stream->index) {
            sk_ff.av_packet_unref(decoder->packet);
            continue;
        }
        sk_decoder_count(decoder);
        const int64_t pts = decoder->packet->pts;
        decoder->codec->skip_frame = decoder->lean && pts != AV_NOPTS_VALUE && pts < decoder->needed_from
                                         ? AVDISCARD_NONREF
                                         : AVDISCARD_DEFAULT;
        code = sk_ff.avcodec_send_packet(decoder->codec, decoder->packet);
        sk_ff.av_packet_unref(decoder->packet);
        if (code < 0 && code != AVERROR(EAGAIN))
            note_damage(decoder, code);
        return SK_OK;
    }
}

/* There is a device, and the processor decodes all the same: FFmpeg changed its mind. */
static void note_refusal(sk_decoder *decoder, const char *uri)
{
    char said[160];
    sk_ffmpeg_reason(&decoder->said, AVERROR(ENOSYS), said, sizeof said);
    snprintf(decoder->refusal, sizeof decoder->refusal, "it does not take this video: %.120s%s", said,
             strstr(said, "nvcuvid") ? " (a part of NVIDIA's driver; containers need its 'video' capability)"
                                     : "");
    tell_refusal(decoder, uri, decoder->device_name);
}

sk_status sk_decoder_next(sk_decoder *decoder, const char *uri, bool *end, sk_error *err)
{
    for (;;) {
        int code = sk_ff.avcodec_receive_frame(decoder->codec, decoder->frame);
        if (code == 0) {
            if (decoder->device && decoder->frame->format != decoder->hardware_format && !decoder->told)
                note_refusal(decoder, uri);
            sk_colours_read_as(decoder->frame, decoder->colours);
            if (decoder->frame->flags & AV_FRAME_FLAG_CORRUPT)
                note_damage(decoder, AVERROR_INVALIDDATA);
            return SK_OK;
        }
        if (code == AVERROR_EOF) {
            *end = true;
            return SK_OK;
        }
        if (code == AVERROR(EAGAIN)) {
            SK_TRY(feed(decoder, uri, err));
            continue;
        }
        if (code == AVERROR(ENOMEM))
            return sk_fail(err, SK_ERR_MEMORY, "%s: the decoder ran out of memory", uri);
        note_damage(decoder, code);
    }
}

int64_t sk_decoder_pts(const sk_decoder *decoder)
{
    return decoder->frame->best_effort_timestamp;
}

bool sk_decoder_on_device(const sk_decoder *decoder)
{
    return decoder->cuda && decoder->stays && !decoder->quarter_turns && sk_cuda_holds(decoder->frame);
}

/* Can frames of this format and size be handed on as NV12? */
static bool gives_nv12(const sk_decoder *decoder, int format, int width, int height)
{
    return decoder->nv12 && !decoder->quarter_turns && width % 2 == 0 && height % 2 == 0 &&
           (format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_NV12);
}

void sk_decoder_promise_nv12(sk_decoder *decoder, sk_frame *out)
{
    const AVCodecContext *codec = decoder->codec;
    AVFrame *like;
    if (!gives_nv12(decoder, codec->pix_fmt, codec->width, codec->height) || !(like = sk_ff.av_frame_alloc()))
        return;
    like->width = codec->width;
    like->height = codec->height;
    like->format = codec->pix_fmt;
    like->colorspace = codec->colorspace;
    like->color_range = codec->color_range;
    sk_colours_read_as(like, decoder->colours);
    if (codec->pix_fmt == AV_PIX_FMT_NV12 || sk_planes_agree(&decoder->planes, like, sk_colours_set))
        *out = (sk_frame){.format = SK_PIXEL_NV12,
                          .matrix = sk_colour_matrix_of((int)like->colorspace),
                          .full_range = like->color_range == AVCOL_RANGE_JPEG};
    sk_ff.av_frame_free(&like);
}

/* Luma as it is; chroma planes together, where they are not already. */
static sk_status take_nv12(const AVFrame *frame, sk_slot *slot, sk_error *err)
{
    SK_TRY(sk_slot_prepare(slot, SK_PIXEL_NV12, frame->width, frame->height, err));
    sk_frame *f = &slot->frame;
    uint8_t *chroma = f->data + f->stride * f->height;
    const size_t width = (size_t)f->width;
    for (int32_t y = 0; y < f->height; y++)
        memcpy(f->data + f->stride * y, frame->data[0] + (ptrdiff_t)frame->linesize[0] * y, width);
    for (int32_t y = 0; y < f->height / 2; y++) {
        uint8_t *to = chroma + f->stride * y;
        const uint8_t *u = frame->data[1] + (ptrdiff_t)frame->linesize[1] * y;
        if (frame->format == AV_PIX_FMT_NV12) {
            memcpy(to, u, width);
            continue;
        }
        const uint8_t *v = frame->data[2] + (ptrdiff_t)frame->linesize[2] * y;
        for (size_t x = 0; x < width / 2; x++) {
            to[2 * x] = u[x];
            to[2 * x + 1] = v[x];
        }
    }
    f->matrix = sk_colour_matrix_of((int)frame->colorspace);
    f->full_range = frame->color_range == AVCOL_RANGE_JPEG;
    return SK_OK;
}

/* FFmpeg's converter rounds most formats otherwise to RGB than to BGR, which OpenCV asks for; of these they are the same. */
static bool rounds_alike(int format)
{
    return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_NV12;
}

static void swap_red_and_blue(const sk_frame *f)
{
    for (int32_t y = 0; y < f->height; y++) {
        uint8_t *p = f->data + f->stride * y;
        for (int32_t x = 0; x < f->width; x++, p += 3) {
            const uint8_t red = p[2];
            p[2] = p[0];
            p[0] = red;
        }
    }
}

sk_status sk_decoder_convert(sk_decoder *decoder, const char *uri, sk_pixel_format format, sk_slot *slot,
                             sk_error *err)
{
    static const enum AVPixelFormat wanted[] = {[SK_PIXEL_RGB] = AV_PIX_FMT_RGB24,
                                                [SK_PIXEL_BGR] = AV_PIX_FMT_BGR24,
                                                [SK_PIXEL_GRAY] = AV_PIX_FMT_GRAY8};
    const AVFrame *frame = decoder->frame;
    if (sk_decoder_on_device(decoder))
        return sk_cuda_take(decoder->cuda, uri, frame, slot, err);
    if (frame->format == decoder->hardware_format && decoder->hardware_format != AV_PIX_FMT_NONE) {
        sk_ff.av_frame_unref(decoder->transfer);
        int code = sk_ff.av_hwframe_transfer_data(decoder->transfer, frame, 0);
        if (code < 0)
            return sk_fail(err, SK_ERR_RUNTIME,
                           "%s: a frame could not be fetched from the decoding device: %s", uri,
                           sk_ffmpeg_text(code));
        decoder->transfer->colorspace = frame->colorspace; /* pixels come alone */
        decoder->transfer->color_range = frame->color_range;
        frame = decoder->transfer;
    }
    if (gives_nv12(decoder, frame->format, frame->width, frame->height) &&
        (frame->format == AV_PIX_FMT_NV12 || sk_planes_agree(&decoder->planes, frame, sk_colours_set)))
        return take_nv12(frame, slot, err);
    if (format == SK_PIXEL_RGB && !decoder->quarter_turns &&
        sk_planes_fit(&decoder->planes, frame, sk_colours_set))
        return sk_planes_take(frame, slot, err);
    sk_slot *target = decoder->quarter_turns ? &decoder->upright : slot;
    SK_TRY(sk_slot_prepare(target, format, frame->width, frame->height, err));
    /* The same converter with the same settings as OpenCV's reader, so that pixels agree with what the models' original
     * programs see: OpenCV 5's by the file's matrix, and OpenCV's up to 4.11 by BT.601. */
    const bool by_bgr = format == SK_PIXEL_RGB && !rounds_alike(frame->format);
    decoder->scaler = sk_ff.sws_getCachedContext(
        decoder->scaler, frame->width, frame->height, frame->format, frame->width, frame->height,
        by_bgr ? AV_PIX_FMT_BGR24 : wanted[format], SWS_BICUBIC, NULL, NULL, NULL);
    if (!decoder->scaler)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: pixel format %s cannot be converted", uri,
                       sk_ff.av_get_pix_fmt_name(frame->format));
    /* Told every time: of yuvj420p the converter is made anew for every frame, often at the same address. */
    sk_colours_set(decoder->scaler, frame);
    uint8_t *planes[4] = {target->frame.data};
    int strides[4] = {(int)target->frame.stride};
    sk_ff.sws_scale(decoder->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
                    planes, strides);
    if (by_bgr)
        swap_red_and_blue(&target->frame);
    if (decoder->quarter_turns)
        return sk_slot_rotate(target, decoder->quarter_turns, false, slot, err);
    return SK_OK;
}
