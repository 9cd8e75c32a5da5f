/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_NV12_FORMULA_H
#define SK_KERNELS_NV12_FORMULA_H

#include "base/formula.h"

/* Video's luma and chroma as RGB, in whole numbers, the way FFmpeg's fast converter does it on x86: every product is rounded
 * down on its own. For C, CUDA and HIP: base/formula.h. */

/* y' = ((8 y - offset) luma) >> 16, u' and v' likewise from 8 (u - 128), 8 (v - 128);
 * r = y' + red_v v', g = y' + green_u u' + green_v v', b = y' + blue_u u', each product shifted by itself. */
typedef struct sk_nv12_weights {
    int32_t offset, luma, red_v, green_u, green_v, blue_u;
} sk_nv12_weights;

typedef struct sk_rgb {
    int32_t red, green, blue; /* 0 … 255 */
} sk_rgb;

SK_FORMULA sk_rgb sk_nv12_pixel(const sk_nv12_weights *w, int32_t luma, int32_t u, int32_t v)
{
    const int32_t l = ((8 * luma - w->offset) * w->luma) >> 16, cu = 8 * (u - 128), cv = 8 * (v - 128);
    sk_rgb p;
    p.red = sk_to_byte(l + ((cv * w->red_v) >> 16));
    p.green = sk_to_byte(l + ((cu * w->green_u) >> 16) + ((cv * w->green_v) >> 16));
    p.blue = sk_to_byte(l + ((cu * w->blue_u) >> 16));
    return p;
}

#endif
