/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_FINISH_U8_NEON_H
#define SK_KERNELS_SIMD_FINISH_U8_NEON_H

#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"
#include "kernels/simd/compiler.h"

#include <arm_neon.h>
#include <string.h>

/* What follows the sums, four or eight at once; conv_u8_impl.h says what each word is. */

#define SUM_COUNT 4
typedef int32x4_t sum_vec;

SK_INLINE uint8x16_t four_spread(const uint8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return vreinterpretq_u8_u32(vdupq_n_u32(four));
}
SK_INLINE sum_vec sum_start(const int32_t *sums, int32_t by)
{
    return vmulq_n_s32(vld1q_s32(sums), by);
}
SK_INLINE sum_vec sum_add(sum_vec sum, const int32_t *p)
{
    return vaddq_s32(sum, vld1q_s32(p));
}
SK_INLINE void sum_store(sum_vec sum, int32_t *out)
{
    vst1q_s32(out, sum);
}
SK_INLINE float32x4_t sum_scaled(sum_vec sum, const float *scale, const float *bias)
{
    return vfmaq_f32(vld1q_f32(bias), vcvtq_f32_s32(sum), vld1q_f32(scale));
}
SK_INLINE void sum_to_x(sum_vec sum, const float *scale, const float *bias, int16_t *out)
{
    vst1_s16(out, vqmovn_s32(vcvtnq_s32_f32(sum_scaled(sum, scale, bias))));
}
SK_INLINE void sum_to_f32(sum_vec sum, const float *scale, const float *bias, float *out)
{
    vst1q_f32(out, sum_scaled(sum, scale, bias));
}
SK_INLINE sum_vec sum_multiply_add(sum_vec sum, const uint8_t *p, const int32_t *w)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    const uint16x4_t x = vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))));
    return vmlaq_s32(sum, vreinterpretq_s32_u32(vmovl_u16(x)), vld1q_s32(w));
}

SK_INLINE int16x8_t finish_act(const sk_act_i16 *act, int16x8_t x)
{
    if (!act->relu)
        return x;
    const int16x8_t y = vmaxq_s16(x, vdupq_n_s16(0));
    if (!act->folded)
        return vminq_s16(y, vdupq_n_s16(act->high));
    const uint16x8_t a = vreinterpretq_u16_s16(vabsq_s16(x));
    const uint32x4_t low = vmull_n_u16(vget_low_u16(a), act->gain),
                     high = vmull_n_u16(vget_high_u16(a), act->gain);
    const uint16x8_t whole = vcombine_u16(vshrn_n_u32(low, 16), vshrn_n_u32(high, 16));
    const uint16x8_t i = vminq_u16(whole, vdupq_n_u16(SK_I16_SEGMENTS - 1));
    const uint16x8_t f = vshrq_n_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high)), 1);
    uint16_t at[8];
    int16_t level[8], slope[8];
    vst1q_u16(at, i);
    for (int k = 0; k < 8; k++) {
        level[k] = act->level[at[k]];
        slope[k] = act->slope[at[k]];
    }
    const int16x8_t part = vqrdmulhq_s16(vld1q_s16(slope), vreinterpretq_s16_u16(f));
    return vqsubq_s16(y, vqaddq_s16(vld1q_s16(level), part));
}

SK_INLINE uint8x8_t finish_8(const sk_finish_u8 *f, int16x8_t x, const uint8_t *residual)
{
    const int offset = (f->shift ? 1 << (f->shift - 1) : 0) + (f->zero << f->shift);
    int16x8_t r = vdupq_n_s16(0);
    if (residual) {
        r = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(residual)));
        r = vshlq_n_s16(vsubq_s16(r, vdupq_n_s16((int16_t)f->residual_zero)), 7);
        r = vqrdmulhq_s16(r, vdupq_n_s16(f->residual_gain));
        if (f->residual_first)
            x = vqaddq_s16(x, r);
    }
    int16x8_t y = finish_act(f->act, x);
    if (residual && !f->residual_first)
        y = vqaddq_s16(y, r);
    y = vshlq_s16(vqaddq_s16(y, vdupq_n_s16((int16_t)offset)), vdupq_n_s16((int16_t)-f->shift));
    return vqmovun_s16(y);
}

static void finish_row(const sk_finish_u8 *f, const int16_t *x, const uint8_t *residual, uint8_t *out,
                       size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        vst1_u8(out + i, finish_8(f, vld1q_s16(x + i), residual ? residual + i : NULL));
    if (i < count) {
        int16_t last[8] = {0};
        uint8_t rest[8] = {0}, done[8];
        memcpy(last, x + i, (count - i) * sizeof *x);
        if (residual)
            memcpy(rest, residual + i, count - i);
        vst1_u8(done, finish_8(f, vld1q_s16(last), residual ? rest : NULL));
        memcpy(out + i, done, count - i);
    }
}

static void quantise(const float *in, uint8_t *out, size_t count, float scale, int32_t zero)
{
    for (size_t i = 0; i < count; i += 4) {
        float values[4] = {0};
        const size_t n = count - i < 4 ? count - i : 4;
        memcpy(values, in + i, n * sizeof *values);
        float32x4_t x = vld1q_f32(values);
        const uint32x4_t number = vceqq_f32(x, x);
        x = vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(vdivq_f32(x, vdupq_n_f32(scale))), number));
        x = vminq_f32(vmaxq_f32(x, vdupq_n_f32(-512.0f)), vdupq_n_f32(512.0f));
        const int16x4_t q = vmovn_s32(vaddq_s32(vcvtnq_s32_f32(x), vdupq_n_s32(zero)));
        const uint8x8_t bytes = vqmovun_s16(vcombine_s16(q, q));
        memcpy(out + i, &bytes, n);
    }
}

static void dequantise(const uint8_t *in, float *out, size_t count, float scale, int32_t zero)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(in[i] - zero) * scale;
}

#endif
