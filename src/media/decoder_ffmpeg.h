/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_DECODER_FFMPEG_H
#define SK_MEDIA_DECODER_FFMPEG_H

#include "media/colours_ffmpeg.h"
#include "media/cuda_frames_ffmpeg.h"
#include "media/input_ffmpeg.h"
#include "media/library_ffmpeg.h"
#include "media/planes_ffmpeg.h"
#include "media/reader.h"

/* Inside media/: one opened FFmpeg input with its video decoder and colour converter. */
typedef struct sk_decoder {
    sk_ffmpeg_said said; /* by the codec, whose `opaque` this is: so it comes first */
    sk_input *input;     /* a file's bytes; null: FFmpeg opened an address or a camera itself */
    AVFormatContext *format;
    AVCodecContext *codec;
    AVStream *stream;
    AVPacket *packet;
    AVFrame *frame;    /* as decoded */
    AVFrame *transfer; /* downloaded from a hardware decoder */
    struct SwsContext *scaler;
    sk_source_colours colours; /* as of sk_source_settings */
    int quarter_turns;         /* clockwise, from the container's display matrix */
    bool draining;             /* the end of the file was reached: the decoder is being emptied */
    int hardware_format;       /* AV_PIX_FMT_… of the device, AV_PIX_FMT_NONE for software */
    AVBufferRef *device;
    sk_cuda *cuda;                /* an NVIDIA device's context; null: it is none */
    bool stays;                   /* … where frames stay */
    bool told;                    /* that the device does not decode, and why */
    char refusal[224];            /* why not; "" it does, or none was asked for */
    bool nv12;                    /* as of sk_source_settings */
    const char *device_name;      /* "" when the processor decodes; FFmpeg's own text */
    sk_slot upright;              /* scratch for rotation */
    sk_planes planes;             /* frames that are passed on as they were decoded */
    int64_t packets, packets_end; /* of the stream, read so far; the latest time one of them lasts until */
    bool lean;                    /* frames before this time are left out where none is made from them: */
    int64_t needed_from;
    int64_t damaged;
    char last_problem[256];
} sk_decoder;

/* Twice the frames of a 12K camera; a head that claims more is a trap until somebody says otherwise. */
#define SK_VIDEO_MOST_PIXELS ((int64_t)1 << 27)

typedef struct sk_decoder_settings {
    int32_t threads;
    const char *hwaccel;                             /* as of sk_source_settings */
    int32_t on_device;                               /* likewise */
    int32_t planes_above_width, planes_above_height; /* likewise */
    bool nv12;                                       /* likewise */
    sk_source_colours colours;                       /* likewise */
    int64_t max_pixels;                              /* likewise; 0: SK_VIDEO_MOST_PIXELS */
    struct sk_decoder *before; /* one that was closed but for its device, which is taken over; null: none */
    const AVInputFormat *input_format; /* of a camera; null: probe */
    AVDictionary **options;            /* may be null */
    AVIOInterruptCB interrupt;         /* callback null: none */
    bool low_delay;
} sk_decoder_settings;

/* The decoder is zeroed memory before the first call; sk_decoder_close may be called on any state. */
sk_status sk_decoder_open(const char *uri, const sk_decoder_settings *settings, sk_decoder *decoder,
                          sk_error *err) SK_MUST_CHECK;
/* Moves the device, if there is one, out of a decoder about to be closed: opening one takes a tenth of a second. */
void sk_decoder_keep_device(sk_decoder *from, sk_decoder *to);
/* One more codec for the same stream, on the same device: without a file of its own. */
sk_status sk_decoder_open_beside(const sk_decoder *main, const char *uri, sk_decoder *decoder,
                                 sk_error *err) SK_MUST_CHECK;
void sk_decoder_close(sk_decoder *decoder);
void sk_decoder_count(sk_decoder *decoder); /* the packet it holds */

/* The next picture in presentation order, in decoder->frame; *end at the end of the file. Damaged packets are counted
 * and passed over. */
sk_status sk_decoder_next(sk_decoder *decoder, const char *uri, bool *end, sk_error *err) SK_MUST_CHECK;
/* Will frames come as NV12, as far as the file's head tells? Where that was asked for, and our conversion of it gives FFmpeg's
 * pixels (x86; FFmpeg's code for ARM rounds otherwise). `like` then gets format and colours; else it is left as it is. */
void sk_decoder_promise_nv12(sk_decoder *decoder, sk_frame *like);
/* Will the decoder's frame stay on the device that decoded it? */
bool sk_decoder_on_device(const sk_decoder *decoder);
/* Converts decoder->frame into the slot, upright; one that stays on its device is copied there as it is, and one of which
 * planes are wanted is shared. */
sk_status sk_decoder_convert(sk_decoder *decoder, const char *uri, sk_pixel_format format, sk_slot *slot,
                             sk_error *err) SK_MUST_CHECK;
/* Presentation time of decoder->frame in the stream's units; AV_NOPTS_VALUE when the file has none. */
int64_t sk_decoder_pts(const sk_decoder *decoder);

#endif
