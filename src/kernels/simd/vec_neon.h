/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_H
#define SK_KERNELS_SIMD_VEC_H

#include "kernels/simd/compiler.h"

#include <arm_neon.h>

/* AArch64 Advanced SIMD; see vec_avx512.h for the words. */
typedef float32x4_t vec;
#define VEC_FLOATS   4
#define VEC_ISA      neon
#define VEC_OP(name) v##name##q_f32

#include "kernels/simd/vec_words.h"

SK_INLINE vec vec_load(const float *p)
{
    return vld1q_f32(p);
}
SK_INLINE void vec_store(float *p, vec v)
{
    vst1q_f32(p, v);
}
SK_INLINE vec vec_set1(float x)
{
    return vdupq_n_f32(x);
}
SK_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}
SK_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return vfmsq_f32(c, a, b);
}
SK_INLINE vec vec_abs(vec a)
{
    return vabsq_f32(a);
}
SK_INLINE float vec_sum(vec a)
{
    return vaddvq_f32(a);
}
SK_INLINE float vec_highest(vec a)
{
    return vmaxvq_f32(a);
}
SK_INLINE vec vec_copysign(vec a, vec b)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), b, a);
}
SK_INLINE vec vec_if_positive(vec x, vec a, vec b)
{
    return vbslq_f32(vcgtq_f32(x, vdupq_n_f32(0.0f)), a, b);
}

#include "kernels/simd/vec_exp2.h"

SK_INLINE vec vec_exp2(vec t)
{
    vec whole = vrndmq_f32(t), f = vec_sub(t, whole);
    int32x4_t exponent = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(whole), vdupq_n_s32(127)), 23);
    return vec_mul(vec_exp2_fraction(f), vreinterpretq_f32_s32(exponent));
}
SK_INLINE vec vec_reciprocal(vec d)
{
    return vdivq_f32(vdupq_n_f32(1.0f), d);
}
SK_INLINE void vec_u8x16(const unsigned char *p, vec out[4])
{
    uint8x16_t bytes = vld1q_u8(p);
    uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_u8(vget_high_u8(bytes));
    out[0] = vcvtq_f32_u32(vmovl_u16(vget_low_u16(low)));
    out[1] = vcvtq_f32_u32(vmovl_u16(vget_high_u16(low)));
    out[2] = vcvtq_f32_u32(vmovl_u16(vget_low_u16(high)));
    out[3] = vcvtq_f32_u32(vmovl_u16(vget_high_u16(high)));
}

#endif
