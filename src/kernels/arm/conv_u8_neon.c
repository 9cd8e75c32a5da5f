/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/arm/tables.h"
#include "kernels/simd/finish_u8_neon.h"
#include "kernels/simd/tiles.h"

/* Without dot products: products of 16-bit numbers, added in pairs. */

#define BYTE_SHIFT 0
typedef int16x4_t byte_vec;
typedef int8x16_t weight_vec;

SK_INLINE byte_vec byte_spread(const uint8_t *p)
{
    return vget_low_s16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(four_spread(p)))));
}
SK_INLINE weight_vec weight_load(const int8_t *p)
{
    return vld1q_s8(p);
}
SK_INLINE sum_vec dot_pairs(sum_vec sum, byte_vec x, weight_vec w)
{
    const int16x8_t a = vmovl_s8(vget_low_s8(w)), b = vmovl_s8(vget_high_s8(w));
    const int32x4_t low = vpaddq_s32(vmull_s16(vget_low_s16(a), x), vmull_s16(vget_high_s16(a), x));
    const int32x4_t high = vpaddq_s32(vmull_s16(vget_low_s16(b), x), vmull_s16(vget_high_s16(b), x));
    return vaddq_s32(sum, vpaddq_s32(low, high));
}
#define sum_dot(sum, bytes, weights) ((sum) = dot_pairs(sum, bytes, weights))

#define SUM_TILES(M, S)              SK_TILES_4(M, u8, S, 1)
#define SUM_PIXELS                   0, 4, 0, 0, 0
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/table_u8_impl.h"

void sk_kernels_u8_neon(sk_kernels_u8 *table)
{
    table_u8_fill(table, "neon");
}
