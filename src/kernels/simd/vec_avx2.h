/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_H
#define SK_KERNELS_SIMD_VEC_H

#include "kernels/simd/compiler.h"

#include <immintrin.h>

/* AVX2 + FMA; see vec_avx512.h for the words. */
typedef __m256 vec;
#define VEC_FLOATS   8
#define VEC_ISA      avx2
#define VEC_OP(name) _mm256_##name##_ps

#include "kernels/simd/vec_x86.h"

SK_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}
SK_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm256_fnmadd_ps(a, b, c);
}
SK_INLINE vec vec_abs(vec a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
SK_INLINE float vec_sum(vec a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
SK_INLINE float vec_highest(vec a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
SK_INLINE vec vec_copysign(vec a, vec b)
{
    vec sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, b));
}
SK_INLINE vec vec_if_positive(vec x, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ));
}

#include "kernels/simd/vec_exp2.h"

SK_INLINE vec vec_exp2(vec t)
{
    vec whole = _mm256_floor_ps(t), f = vec_sub(t, whole);
    __m256i exponent =
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127)), 23);
    return vec_mul(vec_exp2_fraction(f), _mm256_castsi256_ps(exponent));
}
/* 12-bit estimate and two Newton steps. */
SK_INLINE vec vec_reciprocal(vec d)
{
    vec r = _mm256_rcp_ps(d);
    r = vec_mul(r, vec_fnma(d, r, vec_set1(2.0f)));
    return vec_mul(r, vec_fnma(d, r, vec_set1(2.0f)));
}
SK_INLINE void vec_u8x16(const unsigned char *p, vec out[2])
{
    out[0] = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
    out[1] =
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p + 8))));
}

#endif
