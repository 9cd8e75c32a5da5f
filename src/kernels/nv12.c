/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "kernels/nv12.h"

/* In 1 / 65536, for the ranges of video (luma 219 steps, chroma 224): red from v, blue from u, green from u, green from v. */
static const int32_t matrices[][4] = {
    [SK_COLOUR_BT601] = {104597, 132201, 25675, 53279},
    [SK_COLOUR_BT709] = {117489, 138438, 13975, 34925},
    [SK_COLOUR_FCC] = {104448, 132798, 24759, 53109},
    [SK_COLOUR_SMPTE240M] = {117579, 136230, 16907, 35559},
    [SK_COLOUR_BT2020] = {110013, 140363, 12277, 42626},
};

/* From 1 / 65536 to 1 / 8192, rounded. */
static int32_t shorter(int32_t x)
{
    const int64_t sum = (int64_t)x * 8192 + 32768;
    return (int32_t)(sum >= 0 ? sum / 65536 : -((-sum + 65535) / 65536));
}

sk_nv12_weights sk_nv12_weights_of(sk_colour_matrix matrix, int32_t full_range)
{
    const int32_t *m = matrices[(unsigned)matrix <= SK_COLOUR_BT2020 ? matrix : SK_COLOUR_BT601];
    const int32_t chroma = full_range ? 224 : 255; /* of 255 */
    int32_t part[4];
    for (int i = 0; i < 4; i++)
        part[i] = (int32_t)((int64_t)m[i] * chroma / 255);
    return (sk_nv12_weights){.offset = full_range ? 0 : 128,
                             .luma = shorter(full_range ? 65536 : 65536 * 255 / 219),
                             .red_v = shorter(part[0]),
                             .blue_u = shorter(part[1]),
                             .green_u = shorter(-part[2]),
                             .green_v = shorter(-part[3])};
}

/* One row; chroma values lie `step` bytes apart. */
static void row_to_rgb(const sk_nv12_weights *w, const uint8_t *luma, const uint8_t *u, const uint8_t *v,
                       int32_t step, int32_t width, uint8_t *rgb)
{
    for (int32_t x = 0; x < width; x++, rgb += 3) {
        const sk_rgb p = sk_nv12_pixel(w, luma[x], u[x / 2 * step], v[x / 2 * step]);
        rgb[0] = (uint8_t)p.red;
        rgb[1] = (uint8_t)p.green;
        rgb[2] = (uint8_t)p.blue;
    }
}

void sk_nv12_to_rgb(const sk_frame *frame, uint8_t *rgb)
{
    const sk_nv12_weights w = sk_nv12_weights_of(frame->matrix, frame->full_range);
    const uint8_t *chroma = sk_frame_chroma(frame);
    for (int32_t y = 0; y < frame->height; y++, rgb += 3 * (ptrdiff_t)frame->width) {
        const uint8_t *uv = chroma + sk_frame_chroma_stride(frame) * (y / 2);
        row_to_rgb(&w, frame->data + frame->stride * y, uv, uv + 1, 2, frame->width, rgb);
    }
}

void sk_i420_to_rgb(const sk_frame *frame, uint8_t *rgb)
{
    const sk_nv12_weights w = sk_nv12_weights_of(frame->matrix, frame->full_range);
    for (int32_t y = 0; y < frame->height; y++, rgb += 3 * (ptrdiff_t)frame->width) {
        const ptrdiff_t row = frame->chroma_stride * (y / 2);
        row_to_rgb(&w, frame->data + frame->stride * y, frame->chroma + row, frame->chroma_v + row, 1,
                   frame->width, rgb);
    }
}
