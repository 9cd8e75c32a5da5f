/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/letterbox.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/pixels.h"
#include "tasks/resize_linear.h"
#include "tasks/resize_planar.h"

#include <math.h>
#include <string.h>

enum { BORDER = 114, MAX_SIDE = 65536 };

struct sk_letterbox {
    sk_letterbox_geometry geometry;
    sk_pixel_format format;
    int32_t slices;
    int32_t resizes; /* 0: the frame already has the wanted size */
    sk_resize_linear *resize;
    sk_resize_planar *planar; /* planes of video; null: not with several slices, nor for grey */
};

/* Python's round: halves to even. The default rounding mode is in force everywhere. */
static int32_t round_even(double v)
{
    return (int32_t)lrint(v);
}

sk_status sk_letterbox_fit(int32_t frame_width, int32_t frame_height, int32_t net_width, int32_t net_height,
                           int32_t stride, sk_letterbox_geometry *out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    if (frame_width < 1 || frame_height < 1 || frame_width > MAX_SIDE || frame_height > MAX_SIDE)
        return sk_fail(err, SK_ERR_ARG,
                       "a frame of %dx%d pixels cannot be fitted; sides from 1 to %d are possible",
                       (int)frame_width, (int)frame_height, MAX_SIDE);
    if (net_width < 1 || net_height < 1 || net_width > MAX_SIDE || net_height > MAX_SIDE || stride < 0)
        return sk_fail(err, SK_ERR_ARG, "a network input of %dx%d pixels (stride %d) is not possible",
                       (int)net_width, (int)net_height, (int)stride);
    sk_letterbox_geometry g = {.frame_width = frame_width, .frame_height = frame_height};
    g.gain = fmin((double)net_height / frame_height, (double)net_width / frame_width);
    g.resized_width = round_even(frame_width * g.gain);
    g.resized_height = round_even(frame_height * g.gain);
    if (g.resized_width < 1)
        g.resized_width = 1;
    if (g.resized_height < 1)
        g.resized_height = 1;
    int32_t spare_w = net_width - g.resized_width, spare_h = net_height - g.resized_height;
    if (stride > 0) {
        spare_w %= stride;
        spare_h %= stride;
    }
    g.top = round_even(spare_h / 2.0 - 0.1);
    g.bottom = round_even(spare_h / 2.0 + 0.1);
    g.left = round_even(spare_w / 2.0 - 0.1);
    g.right = round_even(spare_w / 2.0 + 0.1);
    g.width = g.resized_width + g.left + g.right;
    g.height = g.resized_height + g.top + g.bottom;
    *out = g;
    return SK_OK;
}

sk_status sk_letterbox_refit(sk_letterbox *box, const sk_letterbox_geometry *g, sk_pixel_format format,
                             sk_error *err)
{
    SK_CHECK_ARG(box && g, err);
    if (format != SK_PIXEL_RGB && format != SK_PIXEL_BGR && format != SK_PIXEL_GRAY &&
        format != SK_PIXEL_I420)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "letterbox: frames must be RGB, BGR, GRAY or I420 here (format %d)", (int)format);
    if (format == SK_PIXEL_I420) {
        if (!box->planar || !sk_resize_planar_fit(box->planar, g->frame_width, g->frame_height,
                                                  g->resized_width, g->resized_height))
            return sk_fail(
                err, SK_ERR_UNSUPPORTED, "letterbox: I420 frames are not taken from %dx%d to %dx%d: give RGB",
                (int)g->frame_width, (int)g->frame_height, (int)g->resized_width, (int)g->resized_height);
        box->geometry = *g;
        box->format = format;
        return SK_OK;
    }
    int32_t resizes = g->frame_width != g->resized_width || g->frame_height != g->resized_height;
    if (resizes)
        SK_TRY(sk_resize_linear_refit(box->resize, g->frame_width, g->frame_height, g->resized_width,
                                      g->resized_height, format == SK_PIXEL_GRAY ? 1 : 3, err));
    box->geometry = *g;
    box->format = format;
    box->resizes = resizes;
    return SK_OK;
}

sk_status sk_letterbox_open(const sk_letterbox_geometry *geometry, sk_pixel_format format, int32_t slices,
                            sk_letterbox **out, sk_error *err)
{
    SK_CHECK_ARG(geometry && out, err);
    *out = NULL;
    SK_CHECK_ARG(slices >= 1, err);
    sk_letterbox *box = sk_calloc(1, sizeof *box);
    if (!box)
        return sk_fail_memory(err, sizeof *box);
    box->slices = slices;
    sk_status status;
    /* Tables for the whole input, so that a refit never needs larger ones. */
    SK_TRY_GOTO(sk_resize_linear_open(geometry->frame_width, geometry->frame_height, geometry->width,
                                      geometry->height, format == SK_PIXEL_GRAY ? 1 : 3, slices, &box->resize,
                                      err));
    if (slices == 1 && format != SK_PIXEL_GRAY)
        SK_TRY_GOTO(sk_resize_planar_open(geometry->width, geometry->height, &box->planar, err));
    SK_TRY_GOTO(sk_letterbox_refit(box, geometry, format, err));
done:
    return SK_HAND_OVER(status, box, out, sk_letterbox_close);
}

bool sk_letterbox_takes_planes(const sk_letterbox_geometry *g)
{
    return sk_resize_planar_takes(g->frame_width, g->frame_height, g->resized_width, g->resized_height);
}

void sk_letterbox_close(sk_letterbox **box)
{
    SK_TAKE_OR_RETURN(b, box);
    sk_resize_linear_close(&b->resize);
    sk_resize_planar_close(&b->planar);
    sk_free(b);
}

const sk_letterbox_geometry *sk_letterbox_geometry_of(const sk_letterbox *box)
{
    return &box->geometry;
}

sk_status sk_letterbox_run_slice(const sk_letterbox *box, const sk_frame *frame, uint8_t *out, int32_t slice,
                                 int32_t n_slices, sk_error *err)
{
    SK_CHECK_ARG(box && frame && frame->data && out, err);
    SK_CHECK_ARG(frame->format != SK_PIXEL_I420 || (frame->chroma && frame->chroma_v), err);
    SK_CHECK_ARG(slice >= 0 && slice < n_slices && n_slices <= box->slices, err);
    const sk_letterbox_geometry *g = &box->geometry;
    if (frame->width != g->frame_width || frame->height != g->frame_height || frame->format != box->format)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "frame %lld is %dx%d (format %d); this stage was opened for %dx%d (format %d)",
                       (long long)frame->index, (int)frame->width, (int)frame->height, (int)frame->format,
                       (int)g->frame_width, (int)g->frame_height, (int)box->format);
    ptrdiff_t stride = (ptrdiff_t)g->width * 3;
    int32_t y0 = (int32_t)((int64_t)g->height * slice / n_slices);
    int32_t y1 = (int32_t)((int64_t)g->height * (slice + 1) / n_slices);
    int32_t in0 = y0 < g->top ? g->top : y0, in1 = g->top + g->resized_height;
    if (in1 > y1)
        in1 = y1;
    for (int32_t y = y0; y < y1; y++) {
        uint8_t *row = out + y * stride;
        if (y < in0 || y >= in1) {
            memset(row, BORDER, (size_t)stride);
        } else {
            memset(row, BORDER, (size_t)g->left * 3);
            memset(row + (g->left + g->resized_width) * 3, BORDER, (size_t)g->right * 3);
        }
    }
    uint8_t *picture = out + g->top * stride + g->left * 3;
    if (box->format == SK_PIXEL_I420) {
        if (in0 < in1)
            sk_resize_planar_rows(box->planar, frame, picture, stride, in0 - g->top, in1 - g->top);
        return SK_OK;
    }
    if (box->resizes) {
        if (in0 < in1)
            sk_resize_linear_rows(box->resize, frame->data, frame->stride, picture, stride,
                                  box->format == SK_PIXEL_BGR, box->format == SK_PIXEL_GRAY, in0 - g->top,
                                  in1 - g->top, slice);
        return SK_OK;
    }
    for (int32_t y = in0; y < in1; y++)
        sk_pixels_row_to_rgb(box->format, frame->data + (y - g->top) * frame->stride, g->frame_width,
                             picture + (y - g->top) * stride);
    return SK_OK;
}

sk_status sk_letterbox_run(const sk_letterbox *box, const sk_frame *frame, uint8_t *out, sk_error *err)
{
    return sk_letterbox_run_slice(box, frame, out, 0, 1, err);
}
