/* SPDX-License-Identifier: Apache-2.0 */
#include "media/planes_ffmpeg.h"

#include "base/memory.h"
#include "kernels/nv12.h"
#include "media/colours_ffmpeg.h"

#include <string.h>

enum { TRIAL_ROWS = 32, SLACK = 64 };

static sk_frame describe(const AVFrame *frame)
{
    return (sk_frame){.format = SK_PIXEL_I420,
                      .width = frame->width,
                      .height = frame->height,
                      .stride = frame->linesize[0],
                      .data = frame->data[0],
                      .chroma = frame->data[1],
                      .chroma_v = frame->data[2],
                      .chroma_stride = frame->linesize[1],
                      .matrix = sk_colour_matrix_of((int)frame->colorspace),
                      .full_range = frame->color_range == AVCOL_RANGE_JPEG};
}

/* A picture of noise as wide as the frame, through FFmpeg's converter and through ours. */
static bool ask(const AVFrame *frame, void (*colour)(struct SwsContext *scaler, const AVFrame *frame))
{
    const size_t width = (size_t)frame->width, stride = (width + SLACK - 1) / SLACK * SLACK;
    const size_t luma = stride * TRIAL_ROWS, chroma = stride * TRIAL_ROWS / 2, rgb = 3 * stride * TRIAL_ROWS;
    uint8_t *memory = sk_calloc(1, luma + 2 * chroma + 2 * rgb + 2 * SLACK), *ours, *theirs;
    struct SwsContext *scaler =
        sk_ff.sws_getCachedContext(NULL, frame->width, TRIAL_ROWS, frame->format, frame->width, TRIAL_ROWS,
                                   AV_PIX_FMT_RGB24, SWS_BICUBIC, NULL, NULL, NULL);
    bool agree = memory && scaler;
    uint32_t noise = 1;
    for (size_t i = 0; agree && i < luma + 2 * chroma; i++) {
        noise = noise * 1664525u + 1013904223u;
        memory[i] = (uint8_t)(noise >> 24);
    }
    if (agree) {
        ours = memory + luma + 2 * chroma;
        theirs = ours + rgb + SLACK;
        sk_frame trial = describe(frame);
        trial.height = TRIAL_ROWS;
        trial.stride = trial.chroma_stride = (ptrdiff_t)stride;
        trial.data = memory;
        trial.chroma = memory + luma;
        trial.chroma_v = trial.chroma + chroma;
        const uint8_t *from[4] = {trial.data, trial.chroma, trial.chroma_v};
        const int strides[4] = {(int)stride, (int)stride, (int)stride}, row = (int)(3 * stride);
        uint8_t *to[4] = {theirs};
        colour(scaler, frame);
        sk_ff.sws_scale(scaler, from, strides, 0, TRIAL_ROWS, to, &row);
        sk_yuv_to_rgb(&trial, ours);
        for (size_t y = 0; agree && y < TRIAL_ROWS; y++)
            agree = memcmp(ours + 3 * width * y, theirs + 3 * stride * y, 3 * width) == 0;
    }
    sk_ff.sws_freeContext(scaler);
    sk_free(memory);
    return agree;
}

bool sk_planes_fit(sk_planes *p, const AVFrame *frame,
                   void (*colour)(struct SwsContext *scaler, const AVFrame *frame))
{
    if (p->above_width <= 0 || (frame->width <= p->above_width && frame->height <= p->above_height))
        return false;
    if ((frame->format != AV_PIX_FMT_YUV420P && frame->format != AV_PIX_FMT_YUVJ420P) || !frame->buf[0] ||
        frame->linesize[0] <= 0 || frame->linesize[1] <= 0 || frame->linesize[1] != frame->linesize[2] ||
        frame->height % 2 != 0) /* with odd heights the converter blends chroma */
        return false;
    return sk_planes_agree(p, frame, colour);
}

bool sk_planes_agree(sk_planes *p, const AVFrame *frame,
                     void (*colour)(struct SwsContext *scaler, const AVFrame *frame))
{
    if (p->width != frame->width || p->format != frame->format || p->colourspace != (int)frame->colorspace ||
        p->range != (int)frame->color_range) {
        p->width = frame->width;
        p->format = frame->format;
        p->colourspace = (int)frame->colorspace;
        p->range = (int)frame->color_range;
        p->agree = ask(frame, colour);
    }
    return p->agree;
}

static void let_go(sk_slot *slot, bool for_good)
{
    AVFrame *picture = slot->picture;
    if (for_good)
        sk_ff.av_frame_free(&picture);
    else
        sk_ff.av_frame_unref(picture);
    if (for_good)
        slot->picture = NULL;
}

sk_status sk_planes_take(const AVFrame *frame, sk_slot *slot, sk_error *err)
{
    if (!slot->picture)
        slot->picture = sk_ff.av_frame_alloc();
    if (!slot->picture)
        return sk_fail_memory(err, sizeof(AVFrame));
    slot->let_go = let_go;
    sk_ff.av_frame_unref(slot->picture);
    if (sk_ff.av_frame_ref(slot->picture, frame) < 0)
        return sk_fail_memory(err, sizeof(AVFrame));
    slot->frame = describe(slot->picture);
    return SK_OK;
}
