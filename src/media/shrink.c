/* SPDX-License-Identifier: Apache-2.0 */
#include "media/shrink.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* Red, green and blue of the mean of some pixels, one at least. */
static void mean_of(const sk_frame *f, int x0, int y0, int x1, int y1, uint8_t rgb[3])
{
    const bool grey = f->format == SK_PIXEL_GRAY, bgr = f->format == SK_PIXEL_BGR;
    const int bytes = grey ? 1 : 3;
    uint32_t sum[3] = {0}, n = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++, n++)
            for (int c = 0; c < 3; c++)
                sum[c] += f->data[f->stride * y + (ptrdiff_t)bytes * x + (grey ? 0 : bgr ? 2 - c : c)];
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)(sum[c] / n);
}

sk_status sk_frame_shrink(const sk_frame *f, const int part[4], int width, int height, sk_frame *out,
                          sk_error *err)
{
    if (f->format != SK_PIXEL_RGB && f->format != SK_PIXEL_BGR && f->format != SK_PIXEL_GRAY)
        return sk_fail(err, SK_ERR_ARG, "a small copy is made of RGB, BGR or grey frames");
    *out = (sk_frame)SK_FRAME_INIT;
    out->format = SK_PIXEL_RGB;
    out->width = width;
    out->height = height;
    out->stride = 3 * (ptrdiff_t)width;
    out->data = sk_malloc((size_t)out->stride * (size_t)height);
    if (!out->data)
        return sk_fail_memory(err, (size_t)out->stride * (size_t)height);
    const int w = part[2] - part[0], h = part[3] - part[1];
    if (w == width && h == height && f->format == SK_PIXEL_RGB) { /* as it is */
        for (int y = 0; y < height; y++)
            memcpy(out->data + out->stride * y, f->data + f->stride * (part[1] + y) + 3 * (ptrdiff_t)part[0],
                   (size_t)out->stride);
        return SK_OK;
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int x0 = part[0] + (int)((int64_t)x * w / width),
                      y0 = part[1] + (int)((int64_t)y * h / height);
            const int x1 = part[0] + (int)((int64_t)(x + 1) * w / width),
                      y1 = part[1] + (int)((int64_t)(y + 1) * h / height);
            mean_of(f, x0, y0, x1 > x0 ? x1 : x0 + 1, y1 > y0 ? y1 : y0 + 1,
                    out->data + out->stride * y + 3 * (ptrdiff_t)x);
        }
    return SK_OK;
}
