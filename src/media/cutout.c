/* SPDX-License-Identifier: Apache-2.0 */
#include "media/cutout.h"

#include "base/frame.h"
#include "base/memory.h"

#include <math.h>

#define GAIN   1.02 /* Ultralytics' save_one_box */
#define MARGIN 10.0

static int channels_of(const sk_frame *frame)
{
    return (int)sk_frame_row_bytes(frame->format, 1);
}

static int32_t clamp(double value, int32_t most)
{
    return (int32_t)fmin(fmax(value, 0), (double)most);
}

bool sk_cutout_box(const sk_frame *frame, const double box[4], sk_frame *out)
{
    double w = (box[2] - box[0]) * GAIN + MARGIN, h = (box[3] - box[1]) * GAIN + MARGIN;
    double cx = (box[0] + box[2]) / 2, cy = (box[1] + box[3]) / 2;
    if (!(w > 0) || !(h > 0) || !isfinite(cx + cy + w + h))
        return false;
    int32_t x1 = clamp(trunc(cx - w / 2), frame->width), x2 = clamp(trunc(cx + w / 2), frame->width);
    int32_t y1 = clamp(trunc(cy - h / 2), frame->height), y2 = clamp(trunc(cy + h / 2), frame->height);
    if (x2 <= x1 || y2 <= y1)
        return false;
    *out = *frame;
    out->data = frame->data + y1 * frame->stride + (ptrdiff_t)x1 * channels_of(frame);
    out->width = x2 - x1;
    out->height = y2 - y1;
    return true;
}

/* The pixel whose centre is at (x, y), counted in whole pixels, mixed from its four neighbours. */
static void sample(const sk_frame *frame, double x, double y, int channels, uint8_t *to)
{
    int32_t x0 = (int32_t)floor(x), y0 = (int32_t)floor(y);
    double fx = x - x0, fy = y - y0;
    for (int c = 0; c < channels; c++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            int32_t px = x0 + (k & 1), py = y0 + (k >> 1);
            if (px < 0 || py < 0 || px >= frame->width || py >= frame->height)
                continue;
            double weight = (k & 1 ? fx : 1 - fx) * (k >> 1 ? fy : 1 - fy);
            sum += weight * frame->data[py * frame->stride + (ptrdiff_t)px * channels + c];
        }
        to[c] = (uint8_t)(sum + 0.5);
    }
}

sk_status sk_cutout_turned(const sk_frame *frame, const float obb[5], sk_frame *canvas, size_t *capacity,
                           bool *any, sk_error *err)
{
    const double cx = (double)obb[0], cy = (double)obb[1], w = round((double)obb[2]),
                 h = round((double)obb[3]);
    const double most = 2.0 * ((double)frame->width + (double)frame->height);
    *any = isfinite(obb[4]) && w >= 1 && h >= 1 && w <= most && h <= most && fabs(cx) < 1e6 && fabs(cy) < 1e6;
    if (!*any)
        return SK_OK;
    const int channels = channels_of(frame);
    const int32_t width = (int32_t)w, height = (int32_t)h;
    const size_t bytes = (size_t)width * (size_t)height * (size_t)channels;
    if (bytes > *capacity) {
        sk_free(canvas->data);
        canvas->data = sk_malloc(bytes);
        *capacity = canvas->data ? bytes : 0;
        if (!canvas->data)
            return sk_fail_memory(err, bytes);
    }
    *canvas = (sk_frame){.format = frame->format,
                         .width = width,
                         .height = height,
                         .stride = (ptrdiff_t)width * channels,
                         .data = canvas->data};
    const double c = cos((double)obb[4]), s = sin((double)obb[4]);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            double u = x + 0.5 - w / 2, v = y + 0.5 - h / 2; /* from the middle, to the pixel's centre */
            sample(frame, cx + u * c - v * s - 0.5, cy + u * s + v * c - 0.5, channels,
                   canvas->data + y * canvas->stride + (ptrdiff_t)x * channels);
        }
    return SK_OK;
}
