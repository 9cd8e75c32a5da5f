/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convert.h"

#include <arm_neon.h>

static void sk_u8_to_f32_neon(float *dst, const uint8_t *src, size_t count, float scale, float bias)
{
    const float32x4_t s = vdupq_n_f32(scale), b = vdupq_n_f32(bias);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint16x8_t wide = vmovl_u8(vld1_u8(src + i));
        float32x4_t low = vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide)));
        float32x4_t high = vcvtq_f32_u32(vmovl_u16(vget_high_u16(wide)));
        vst1q_f32(dst + i, vaddq_f32(vmulq_f32(low, s), b));
        vst1q_f32(dst + i + 4, vaddq_f32(vmulq_f32(high, s), b));
    }
    for (; i < count; i++)
        dst[i] = (float)src[i] * scale + bias;
}

static void sk_f16_to_f32_neon(float *dst, const uint16_t *src, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(dst + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(src + i))));
    for (; i < count; i++)
        dst[i] = vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(src[i]))), 0);
}

static void sk_f32_to_f16_neon(uint16_t *dst, const float *src, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1_u16(dst + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(src + i))));
    for (; i < count; i++)
        dst[i] = vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(src[i]))), 0);
}

void sk_convert_kernels_neon(sk_convert_kernels *kernels)
{
    kernels->u8_to_f32 = sk_u8_to_f32_neon;
    kernels->f16_to_f32 = sk_f16_to_f32_neon;
    kernels->f32_to_f16 = sk_f32_to_f16_neon;
}
