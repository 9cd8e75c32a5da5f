/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_FINISH_U8_AVX512_H
#define SK_KERNELS_SIMD_FINISH_U8_AVX512_H

#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"
#include "kernels/simd/compiler.h"

#include <immintrin.h>

/* Dot products and what follows the sums, sixteen or sixty-four at once; conv_u8_impl.h says what each word is. */

#define SUM_COUNT  16
#define BYTE_SHIFT 0
typedef __m512i sum_vec, byte_vec, weight_vec;

/* Compilers keep sums on the stack when the dot product is an intrinsic; written out they stay in registers. */
#define sum_dot(sum, bytes, weights) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(weights))

SK_INLINE byte_vec byte_spread(const uint8_t *p)
{
    byte_vec v;
    __asm__("vpbroadcastd %1, %0" : "=v"(v) : "m"(*(const int32_t(*)[1])(const void *)p));
    return v;
}
SK_INLINE weight_vec weight_load(const int8_t *p)
{
    return _mm512_loadu_si512(p);
}
SK_INLINE sum_vec sum_start(const int32_t *sums, int32_t by)
{
    return _mm512_mullo_epi32(_mm512_loadu_si512(sums), _mm512_set1_epi32(by));
}
SK_INLINE sum_vec sum_add(sum_vec sum, const int32_t *p)
{
    return _mm512_add_epi32(sum, _mm512_loadu_si512(p));
}
SK_INLINE void sum_store(sum_vec sum, int32_t *out)
{
    _mm512_storeu_si512(out, sum);
}
SK_INLINE __m512 sum_scaled(sum_vec sum, const float *scale, const float *bias)
{
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(scale), _mm512_loadu_ps(bias));
}
SK_INLINE void sum_to_x(sum_vec sum, const float *scale, const float *bias, int16_t *out)
{
    __m512i x = _mm512_cvtps_epi32(sum_scaled(sum, scale, bias));
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtsepi32_epi16(x));
}
SK_INLINE void sum_to_f32(sum_vec sum, const float *scale, const float *bias, float *out)
{
    _mm512_storeu_ps(out, sum_scaled(sum, scale, bias));
}
SK_INLINE sum_vec sum_multiply_add(sum_vec sum, const uint8_t *p, const int32_t *w)
{
    __m512i x = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(x), "m"(*(const __m512i_u *)(const void *)w));
    return sum;
}

/* --- x to bytes, 64 at once --- */

typedef struct finish_set {
    __m512i level0, level1, slope0, slope1, gain, high, offset, residual_gain, residual_zero;
    __m128i shift;
} finish_set;

SK_INLINE __m512i finish_act(const finish_set *s, __m512i x, const int relu, const int folded)
{
    if (!relu)
        return x;
    __m512i y = _mm512_max_epi16(x, _mm512_setzero_si512());
    if (!folded)
        return _mm512_min_epi16(y, s->high);
    __m512i a = _mm512_abs_epi16(x);
    __m512i i = _mm512_min_epu16(_mm512_mulhi_epu16(a, s->gain), _mm512_set1_epi16(SK_I16_SEGMENTS - 1));
    __m512i f = _mm512_srli_epi16(_mm512_mullo_epi16(a, s->gain), 1);
    __m512i level = _mm512_permutex2var_epi16(s->level0, i, s->level1);
    __m512i slope = _mm512_permutex2var_epi16(s->slope0, i, s->slope1);
    return _mm512_subs_epi16(y, _mm512_adds_epi16(level, _mm512_mulhrs_epi16(slope, f)));
}

/* `added`: the residual's bytes, each as a word; with_residual 0: none. */
SK_INLINE __m512i finish_32(const finish_set *s, __m512i x, __m512i added, const int with_residual,
                            const int first, const int relu, const int folded)
{
    __m512i r = _mm512_slli_epi16(_mm512_sub_epi16(added, s->residual_zero), 7);
    r = _mm512_mulhrs_epi16(r, s->residual_gain);
    if (with_residual && first)
        x = _mm512_adds_epi16(x, r);
    __m512i y = finish_act(s, x, relu, folded);
    if (with_residual && !first)
        y = _mm512_adds_epi16(y, r);
    return _mm512_sra_epi16(_mm512_adds_epi16(y, s->offset), s->shift);
}

SK_INLINE __m512i residual_32(const uint8_t *residual, __mmask32 valid)
{
    return residual ? _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(valid, residual)) : _mm512_setzero_si512();
}

SK_INLINE void finish_all(const finish_set *s, const int16_t *x, const uint8_t *residual, uint8_t *out,
                          size_t count, const int first, const int relu, const int folded)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    for (size_t i = 0; i < count; i += 64) {
        const size_t left = count - i;
        const __mmask32 low = left >= 32 ? 0xffffffffu : (1u << left) - 1u;
        const __mmask32 high = left >= 64 ? 0xffffffffu : left <= 32 ? 0 : (1u << (left - 32)) - 1u;
        __m512i a = _mm512_maskz_loadu_epi16(low, x + i), b = _mm512_maskz_loadu_epi16(high, x + i + 32);
        const __m512i ra = residual_32(residual ? residual + i : NULL, low),
                      rb = residual_32(residual ? residual + i + 32 : NULL, high);
        a = finish_32(s, a, ra, residual != NULL, first, relu, folded);
        b = finish_32(s, b, rb, residual != NULL, first, relu, folded);
        __m512i bytes = _mm512_permutexvar_epi64(order, _mm512_packus_epi16(a, b));
        _mm512_mask_storeu_epi8(out + i, (__mmask64)high << 32 | low, bytes);
    }
}

SK_INLINE finish_set finish_set_of(const sk_finish_u8 *f)
{
    const sk_act_i16 *a = f->act;
    return (finish_set){
        .level0 = _mm512_loadu_si512(a->level),
        .level1 = _mm512_loadu_si512(a->level + 32),
        .slope0 = _mm512_loadu_si512(a->slope),
        .slope1 = _mm512_loadu_si512(a->slope + 32),
        .gain = _mm512_set1_epi16((short)a->gain),
        .high = _mm512_set1_epi16(a->high),
        .offset = _mm512_set1_epi16((short)((f->shift ? 1 << (f->shift - 1) : 0) + (f->zero << f->shift))),
        .residual_gain = _mm512_set1_epi16(f->residual_gain),
        .residual_zero = _mm512_set1_epi16((short)f->residual_zero),
        .shift = _mm_cvtsi32_si128(f->shift)};
}

static void finish_row(const sk_finish_u8 *f, const int16_t *x, const uint8_t *residual, uint8_t *out,
                       size_t count)
{
    const sk_act_i16 *a = f->act;
    const finish_set s = finish_set_of(f);
    if (a->folded && !residual)
        finish_all(&s, x, NULL, out, count, 0, 1, 1);
    else if (a->folded && !f->residual_first)
        finish_all(&s, x, residual, out, count, 0, 1, 1);
    else if (!residual)
        finish_all(&s, x, NULL, out, count, 0, a->relu, a->folded);
    else
        finish_all(&s, x, residual, out, count, f->residual_first, a->relu, a->folded);
}

/* Sixteen x / scale, as whole numbers. A product with 1 / scale is much quicker, and up to 512 off the quotient by less than a
 * 2^13th: the same number comes out unless it lies that near to where rounding turns (*near), and beyond 512 all are the same. What
 * is no number, or too large for one of 32 bits, is near, too. */
SK_INLINE __m512i quotients(__m512 x, __m512 inverse, __mmask16 *near)
{
    const __m512 t = _mm512_mul_ps(x, inverse), least = _mm512_set1_ps(0.5f - 0x1p-13f);
    const __m512i whole = _mm512_cvtps_epi32(t);
    const __m512 off = _mm512_sub_ps(t, _mm512_cvtepi32_ps(whole));
    *near |= _mm512_cmp_ps_mask(_mm512_abs_ps(off), least, _CMP_NLT_UQ);
    return whole;
}

/* What packing twice puts in turns, four bytes of each vector, in order again; and the other way round. */
SK_INLINE __m512i in_order(__m512i bytes)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, bytes);
}

/* 64 at a time, where none of them is near; how many were done. */
static size_t quantise_quickly(const float *in, uint8_t *out, size_t count, float scale, int32_t zero)
{
    const float inverse = 1.0f / scale;
    const __m512 by = _mm512_set1_ps(inverse);
    const __m512i add = _mm512_set1_epi16((short)zero);
    size_t i = 0;
    for (; i + 64 <= count && inverse < 1e38f; i += 64) {
        __mmask16 near = 0;
        __m512i q[4];
        SK_UNROLL
        for (int k = 0; k < 4; k++)
            q[k] = quotients(_mm512_loadu_ps(in + i + 16 * k), by, &near);
        if (near)
            break;
        const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(q[0], q[1]), add),
                      high = _mm512_adds_epi16(_mm512_packs_epi32(q[2], q[3]), add);
        _mm512_storeu_si512(out + i, in_order(_mm512_packus_epi16(low, high)));
    }
    return i;
}

static void quantise(const float *in, uint8_t *out, size_t count, float scale, int32_t zero)
{
    const __m512 by = _mm512_set1_ps(scale), low = _mm512_set1_ps(-512.0f), high = _mm512_set1_ps(512.0f);
    const __m512i add = _mm512_set1_epi32(zero), none = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 16) {
        if (i % 64 == 0)
            i += quantise_quickly(in + i, out + i, count - i, scale, zero);
        if (i >= count)
            break;
        const __mmask16 valid = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1u);
        __m512 x = _mm512_maskz_loadu_ps(valid, in + i);
        x = _mm512_maskz_div_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, by);
        x = _mm512_min_ps(_mm512_max_ps(x, low),
                          high); /* of NaN and a number max gives the number behind it */
        __m512i q = _mm512_max_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(x), add), none);
        _mm512_mask_cvtusepi32_storeu_epi8(out + i, valid, q);
    }
}

static void dequantise(const uint8_t *in, float *out, size_t count, float scale, int32_t zero)
{
    const __m512 by = _mm512_set1_ps(scale);
    const __m512i off = _mm512_set1_epi32(zero);
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 valid = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1u);
        __m512i q = _mm512_sub_epi32(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(valid, in + i)), off);
        _mm512_mask_storeu_ps(out + i, valid, _mm512_mul_ps(_mm512_cvtepi32_ps(q), by));
    }
}

#endif
