/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_NV12_H
#define SK_KERNELS_NV12_H

#include "skitter/frame.h"

/* NV12 and I420 as RGB, in whole numbers, the way FFmpeg's fast converter turns planar video of 8 bits into RGB on x86: each 2 x 2
 * pixels share their chroma, and every product is rounded down on its own. A frame decoded on a GPU so gives the same
 * pixels as one decoded by the processor. GPUs use the same weights (engines/cuda/element.h). */

/* y' = ((8 y - offset) luma) >> 16, u' and v' likewise from 8 (u - 128), 8 (v - 128);
 * r = y' + red_v v', g = y' + green_u u' + green_v v', b = y' + blue_u u', each product shifted by itself. */
typedef struct sk_nv12_weights {
    int32_t offset, luma, red_v, green_u, green_v, blue_u;
} sk_nv12_weights;

sk_nv12_weights sk_nv12_weights_of(sk_colour_matrix matrix, int32_t full_range);

/* A frame in host memory as RGB [height][width][3], dense. */
void sk_nv12_to_rgb(const sk_frame *frame, uint8_t *rgb);
/* The same for planes (SK_PIXEL_I420). */
void sk_i420_to_rgb(const sk_frame *frame, uint8_t *rgb);

#endif
