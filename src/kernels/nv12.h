/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_NV12_H
#define SK_KERNELS_NV12_H

#include "kernels/nv12_formula.h"
#include "skitter/frame.h"

/* NV12 and I420 as RGB, in whole numbers, the way FFmpeg's fast converter turns planar video of 8 bits into RGB on x86: each 2 x 2
 * pixels share their chroma, and every product is rounded down on its own. A frame decoded on a GPU so gives the same
 * pixels as one decoded by the processor. GPUs compile the same formula (nv12_formula.h). */

sk_nv12_weights sk_nv12_weights_of(sk_colour_matrix matrix, int32_t full_range);

/* One row of an NV12, I420 or YUYV frame in host memory as RGB. A row of YUYV has chroma of its own, otherwise the
 * formula is the same. */
void sk_yuv_row_to_rgb(const sk_frame *frame, const sk_nv12_weights *w, int32_t y, uint8_t *rgb);
/* All rows: RGB [height][width][3], dense. */
void sk_yuv_to_rgb(const sk_frame *frame, uint8_t *rgb);

#endif
