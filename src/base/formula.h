/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_FORMULA_H
#define SK_BASE_FORMULA_H

#include <math.h>
#include <stdint.h>

/* The words in which formulas are written that C, CUDA and HIP compile alike: the headers named *_formula.h in graph/, tasks/
 * and kernels/. A formula takes numbers and tiny structures, never whole maps: how values are stored is the business of those who
 * call it. The C that decodes on the processor, the kernels and the emulated GPU of the tests include the same text, so the
 * rule is there once.
 *
 * Rounding is the processor's everywhere. A product and a sum must therefore not become one instruction that rounds once,
 * which GPU compilers do by themselves: products in formulas are written sk_mul(a, b), unless they are exact. Nothing else is
 * needed, a sum may use + (tasks_formulas checks that every formula holds where the compiler fuses what it may). */

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#if defined(__CUDACC__) || defined(__HIP__) || defined(__HIPCC__)
#define SK_FORMULA    static __host__ __device__ __forceinline__
#define SK_UNROLL     _Pragma("unroll")
#define SK_UNROLL_FEW _Pragma("unroll 5")
#else
#define SK_FORMULA static inline
#define SK_UNROLL
#define SK_UNROLL_FEW
#endif

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define SK_FORMULA_DEVICE 1
#else
#define SK_FORMULA_DEVICE 0
#endif

/* a times b, rounded by itself. A test may say it otherwise. */
#ifndef SK_FORMULA_MUL
#if defined(__CUDA_ARCH__)
#define SK_FORMULA_MUL(a, b) __fmul_rn(a, b)
#else
#define SK_FORMULA_MUL(a, b) ((a) * (b))
#endif
#endif

SK_FORMULA float sk_mul(float a, float b)
{
#if defined(__HIP_DEVICE_COMPILE__)
#pragma clang fp contract(off) /* AMD's __fmul_rn is no more than this */
#endif
    return SK_FORMULA_MUL(a, b);
}

SK_FORMULA int sk_is_finite(float v)
{
    return v - v == 0.0f;
}

SK_FORMULA uint32_t sk_float_bits(float v)
{
#if SK_FORMULA_DEVICE
    return __float_as_uint(v);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    return bits;
#endif
}

SK_FORMULA float sk_bits_float(uint32_t bits)
{
#if SK_FORMULA_DEVICE
    return __uint_as_float(bits);
#else
    float v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
#endif
}

/* A whole number as a byte: below 0 is 0, above 255 is 255. */
SK_FORMULA int32_t sk_to_byte(int32_t v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

#endif
