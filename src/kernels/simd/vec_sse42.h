/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_H
#define SK_KERNELS_SIMD_VEC_H

#include "kernels/simd/compiler.h"

#include <nmmintrin.h>

/* SSE4.2, no fused multiply-add; see vec_avx512.h for the words. */
typedef __m128 vec;
#define VEC_FLOATS   4
#define VEC_ISA      sse42
#define VEC_OP(name) _mm_##name##_ps

#include "kernels/simd/vec_x86.h"

SK_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}
SK_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}
SK_INLINE vec vec_abs(vec a)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}
SK_INLINE float vec_sum(vec a)
{
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}
SK_INLINE float vec_highest(vec a)
{
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(a, _mm_movehdup_ps(a)));
}
SK_INLINE vec vec_copysign(vec a, vec b)
{
    vec sign = _mm_set1_ps(-0.0f);
    return _mm_or_ps(_mm_andnot_ps(sign, a), _mm_and_ps(sign, b));
}
SK_INLINE vec vec_if_positive(vec x, vec a, vec b)
{
    return _mm_blendv_ps(b, a, _mm_cmpgt_ps(x, _mm_setzero_ps()));
}

#include "kernels/simd/vec_exp2.h"

SK_INLINE vec vec_exp2(vec t)
{
    vec whole = _mm_floor_ps(t), f = vec_sub(t, whole);
    __m128i exponent = _mm_slli_epi32(_mm_add_epi32(_mm_cvtps_epi32(whole), _mm_set1_epi32(127)), 23);
    return vec_mul(vec_exp2_fraction(f), _mm_castsi128_ps(exponent));
}
SK_INLINE vec vec_reciprocal(vec d)
{
    return _mm_div_ps(_mm_set1_ps(1.0f), d);
}
SK_INLINE void vec_u8x16(const unsigned char *p, vec out[4])
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    out[0] = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(bytes));
    out[1] = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_srli_si128(bytes, 4)));
    out[2] = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
    out[3] = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_srli_si128(bytes, 12)));
}

#endif
