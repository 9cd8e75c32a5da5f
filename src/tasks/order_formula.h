/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_ORDER_FORMULA_H
#define SK_TASKS_ORDER_FORMULA_H

#include "base/formula.h"

/* Numbers that sort ascending as scores sort descending, the best first; of equal scores the one with the lower index. For C,
 * CUDA and HIP: base/formula.h. */

/* Of a score: NaN of either sign gives the largest, -0 is +0. */
SK_FORMULA uint32_t sk_descending_bits(float score)
{
    uint32_t bits = sk_float_bits(score);
    if (score != score)
        return 0xffffffffu;
    if (bits == 0x80000000u)
        bits = 0;
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ~bits;
}

SK_FORMULA uint64_t sk_order_key(float score, int32_t index)
{
    return (uint64_t)sk_descending_bits(score) << 32 | (uint32_t)index;
}

SK_FORMULA int32_t sk_order_index(uint64_t key)
{
    return (int32_t)(uint32_t)key;
}

/* The score of a key, where it was not negative. */
SK_FORMULA float sk_order_score(uint64_t key)
{
    return sk_bits_float(~(uint32_t)(key >> 32) & 0x7fffffffu);
}

#endif
