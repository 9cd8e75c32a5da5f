/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_NV12_SSE2_H
#define SK_KERNELS_NV12_SSE2_H

#include "kernels/nv12_formula.h"

/* The vectorised form of sk_nv12_pixel, the same in every bit (tasks_letterbox and tasks_plain_frame compare). */

#if defined(__SSE2__)
#include <emmintrin.h>

/* Eight pixels' R, G, B, each 0 to 255 in 16 bits. */
typedef struct sk_nv12_eight {
    __m128i c[3];
} sk_nv12_eight;

static inline __m128i sk_nv12_bytes(__m128i v)
{
    return _mm_unpacklo_epi8(_mm_packus_epi16(v, v), _mm_setzero_si128());
}

static inline sk_nv12_eight sk_nv12_pixels(__m128i l, __m128i u, __m128i v, const sk_nv12_weights *w)
{
    const __m128i middle = _mm_set1_epi16(128);
    l = _mm_mulhi_epi16(_mm_sub_epi16(_mm_slli_epi16(l, 3), _mm_set1_epi16((int16_t)w->offset)),
                        _mm_set1_epi16((int16_t)w->luma));
    u = _mm_slli_epi16(_mm_sub_epi16(u, middle), 3);
    v = _mm_slli_epi16(_mm_sub_epi16(v, middle), 3);
    __m128i green = _mm_add_epi16(_mm_mulhi_epi16(u, _mm_set1_epi16((int16_t)w->green_u)),
                                  _mm_mulhi_epi16(v, _mm_set1_epi16((int16_t)w->green_v)));
    return (sk_nv12_eight){
        {sk_nv12_bytes(_mm_add_epi16(l, _mm_mulhi_epi16(v, _mm_set1_epi16((int16_t)w->red_v)))),
         sk_nv12_bytes(_mm_add_epi16(l, green)),
         sk_nv12_bytes(_mm_add_epi16(l, _mm_mulhi_epi16(u, _mm_set1_epi16((int16_t)w->blue_u))))}};
}
#endif

#endif
