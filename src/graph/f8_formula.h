/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_F8_FORMULA_H
#define SK_GRAPH_F8_FORMULA_H

#include "base/formula.h"

/* Numbers of eight bits with an exponent (e4m3, ONNX's FLOAT8E4M3FN): a sign, four bits of exponent with a bias of 7, three of
 * mantissa. The largest is 448; there is no infinity, and what is no number is all ones but for the sign. Below 2^-6 steps
 * are 2^-9. */

#define SK_F8_LARGEST 448.0f
#define SK_F8_NONE    0x7Fu /* no number */

/* To nearest, half to even; what lies beyond the largest becomes it, infinities too; what is no number stays none. As tensor cores'
 * cvt.rn.satfinite and ONNX with saturate = 1 have it. */
SK_FORMULA uint8_t sk_f8_of(float value)
{
    const uint32_t bits = sk_float_bits(value), sign = (bits >> 24) & 0x80u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return (uint8_t)SK_F8_NONE;
    if (magnitude > 0x43E00000u) /* 448 */
        return (uint8_t)(sign | 0x7Eu);
    if (magnitude <
        0x3C800000u) /* 2^-6: beside 2^14 a float has steps of 2^-9, and rounds to them by itself */
        return (uint8_t)(sign | (sk_float_bits(sk_bits_float(magnitude) + 16384.0f) - 0x46800000u));
    magnitude += 0x7FFFFu + ((magnitude >> 20) & 1u); /* may carry into the exponent: that is right */
    return (uint8_t)(sign | ((magnitude - 0x3C000000u) >> 20));
}

SK_FORMULA float sk_f8_number(uint8_t code)
{
    const uint32_t sign = (uint32_t)(code & 0x80u) << 24, exponent = (code >> 3) & 15u, mantissa = code & 7u;
    if ((code & 0x7Fu) == SK_F8_NONE)
        return sk_bits_float(0x7FC00000u);
    if (exponent == 0) /* whole steps of 2^-9 */
        return sk_bits_float(sk_float_bits((float)mantissa * 0.001953125f) | sign);
    return sk_bits_float(sign | ((exponent + 120u) << 23) | (mantissa << 20));
}

#endif
