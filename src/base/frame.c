/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"

#include <string.h>

static sk_status wrong(const sk_frame *frame, const char *what, sk_error *err)
{
    return sk_fail(err, SK_ERR_ARG, "frame %lld: %s", (long long)frame->index, what);
}

static sk_status check_format(const sk_frame *frame, sk_error *err)
{
    switch (frame->format) {
    case SK_PIXEL_RGB:
    case SK_PIXEL_BGR:
    case SK_PIXEL_GRAY:
    case SK_PIXEL_NV12: return SK_OK;
    case SK_PIXEL_I420:
    case SK_PIXEL_RGBA:
    case SK_PIXEL_BGRA:
    case SK_PIXEL_GRAY16:
    case SK_PIXEL_YUYV: break;
    default:
        return sk_fail(err, SK_ERR_ARG,
                       "frame %lld: no pixel format has the number %d (sk_frame.format; SK_PIXEL_…)",
                       (long long)frame->index, (int)frame->format);
    }
    if (sk_frame_on_device(frame))
        return wrong(frame, "in a GPU's memory RGB, BGR, grey and NV12 are taken", err);
    return SK_OK;
}

static bool has_chroma(sk_pixel_format format)
{
    return format == SK_PIXEL_NV12 || format == SK_PIXEL_I420 || format == SK_PIXEL_YUYV;
}

sk_status sk_frame_check_kind(const sk_frame *frame, sk_error *err)
{
    SK_TRY(check_format(frame, err));
    if ((unsigned)frame->place > SK_PLACE_ROCM)
        return sk_fail(err, SK_ERR_ARG, "frame %lld: no place has the number %d (sk_frame.place; SK_PLACE_…)",
                       (long long)frame->index, (int)frame->place);
    if (has_chroma(frame->format) && (unsigned)frame->matrix > SK_COLOUR_BT2020)
        return sk_fail(err, SK_ERR_ARG,
                       "frame %lld: no matrix of colours has the number %d (sk_frame.matrix; SK_COLOUR_…)",
                       (long long)frame->index, (int)frame->matrix);
    return SK_OK;
}

sk_status sk_frame_check(const sk_frame *frame, sk_error *err)
{
    SK_CHECK_ARG(frame, err);
    if (!frame->data)
        return wrong(frame, "it has no pixels (sk_frame.data is null)", err);
    SK_TRY(sk_frame_check_kind(frame, err));
    if (frame->width < 1 || frame->height < 1 || frame->width > 65535 || frame->height > 65535)
        return sk_fail(err, SK_ERR_ARG, "frame %lld: %dx%d pixels; allowed are 1 to 65535 a side",
                       (long long)frame->index, frame->width, frame->height);
    const size_t row = sk_frame_row_bytes(frame->format, frame->width);
    if (frame->stride < (ptrdiff_t)row)
        return sk_fail(
            err, SK_ERR_ARG,
            "frame %lld: %lld bytes from row to row (sk_frame.stride); %d pixels of this format take "
            "%zu, and rows run from top to bottom",
            (long long)frame->index, (long long)frame->stride, frame->width, row);
    const ptrdiff_t half = (frame->width + 1) / 2;
    if (frame->format == SK_PIXEL_I420 && (!frame->chroma || !frame->chroma_v || frame->chroma_stride < half))
        return wrong(frame, "I420 needs chroma, chroma_v and chroma_stride (at least half the width)", err);
    if (frame->format == SK_PIXEL_NV12 && sk_frame_chroma_stride(frame) < 2 * half)
        return wrong(frame, "NV12 whose rows of chroma are too short", err);
    if (frame->format == SK_PIXEL_YUYV && frame->width % 2)
        return wrong(frame, "YUYV has an even width", err);
    return SK_OK;
}

static size_t luma_stride(const sk_frame *frame)
{
    const size_t row = sk_frame_row_bytes(frame->format, frame->width);
    return frame->format == SK_PIXEL_NV12 ? (row + 1) / 2 * 2 : row;
}

/* Rows of one plane of chroma, and its bytes a row. */
static size_t chroma_rows(const sk_frame *frame, size_t *row)
{
    const size_t half = ((size_t)frame->width + 1) / 2;
    *row = frame->format == SK_PIXEL_NV12 ? 2 * half : half;
    return ((size_t)frame->height + 1) / 2;
}

size_t sk_frame_copy_bytes(const sk_frame *frame)
{
    size_t row, rows = chroma_rows(frame, &row);
    const int planes = frame->format == SK_PIXEL_I420 ? 2 : frame->format == SK_PIXEL_NV12;
    return luma_stride(frame) * (size_t)frame->height + (size_t)planes * rows * row;
}

static void copy_rows(const uint8_t *from, ptrdiff_t stride, size_t row, size_t rows, uint8_t *to,
                      size_t step)
{
    if (stride == (ptrdiff_t)row && step == row) {
        memcpy(to, from, row * rows);
        return;
    }
    for (size_t y = 0; y < rows; y++)
        memcpy(to + step * y, from + stride * (ptrdiff_t)y, row);
}

void sk_frame_copy(const sk_frame *frame, uint8_t *to, sk_frame *copy)
{
    const size_t step = luma_stride(frame), luma = step * (size_t)frame->height;
    size_t row, rows = chroma_rows(frame, &row);
    *copy = *frame;
    copy->data = to;
    copy->stride = (ptrdiff_t)step;
    copy->chroma = copy->chroma_v = NULL;
    copy->chroma_stride = 0;
    copy_rows(frame->data, frame->stride, sk_frame_row_bytes(frame->format, frame->width),
              (size_t)frame->height, to, step);
    if (frame->format == SK_PIXEL_NV12)
        copy_rows(sk_frame_chroma(frame), sk_frame_chroma_stride(frame), row, rows, to + luma, row);
    if (frame->format == SK_PIXEL_I420) {
        copy_rows(frame->chroma, frame->chroma_stride, row, rows, to + luma, row);
        copy_rows(frame->chroma_v, frame->chroma_stride, row, rows, to + luma + rows * row, row);
        copy->chroma = to + luma;
        copy->chroma_v = copy->chroma + rows * row;
        copy->chroma_stride = (ptrdiff_t)row;
    }
}
