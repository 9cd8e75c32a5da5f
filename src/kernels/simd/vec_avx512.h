/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_H
#define SK_KERNELS_SIMD_VEC_H

#include "kernels/simd/compiler.h"

#include <immintrin.h>

/* The words the kernel templates (*_impl.h) are written in; each vec_<isa>.h defines the same ones. */
typedef __m512 vec;
#define VEC_FLOATS   16
#define VEC_ISA      avx512
#define VEC_OP(name) _mm512_##name##_ps

#include "kernels/simd/vec_x86.h"

SK_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
} /* a * b + c */
SK_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm512_fnmadd_ps(a, b, c);
} /* c - a * b */
SK_INLINE vec vec_abs(vec a)
{
    return _mm512_abs_ps(a);
}
SK_INLINE float vec_sum(vec a)
{
    return _mm512_reduce_add_ps(a);
}
SK_INLINE float vec_highest(vec a)
{
    return _mm512_reduce_max_ps(a);
}
/* The sign of b on |a|. */
SK_INLINE vec vec_copysign(vec a, vec b)
{
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_set1_epi32((int)0x80000000u), _mm512_castps_si512(b), _mm512_castps_si512(a), 0xca));
}
/* x > 0 ? a : b */
SK_INLINE vec vec_if_positive(vec x, vec a, vec b)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ), b, a);
}

#include "kernels/simd/vec_exp2.h"

/* 2^t for t in [-126, 126]: exponent by scalef. */
SK_INLINE vec vec_exp2(vec t)
{
    vec f = _mm512_reduce_ps(t, 0x01); /* t - floor(t) */
    return _mm512_scalef_ps(vec_exp2_fraction(f), t);
}
/* 1 / d: 14-bit estimate and one Newton step, error below 1e-7 relative. */
SK_INLINE vec vec_reciprocal(vec d)
{
    vec r = _mm512_rcp14_ps(d);
    return vec_mul(r, vec_fnma(d, r, vec_set1(2.0f)));
}
/* 16 bytes as floats. */
SK_INLINE void vec_u8x16(const unsigned char *p, vec out[1])
{
    out[0] = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}

#endif
