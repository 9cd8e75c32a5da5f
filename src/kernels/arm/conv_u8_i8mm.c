/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/arm/tables.h"
#include "kernels/simd/finish_u8_neon.h"
#include "kernels/simd/tiles.h"

/* Dot products of unsigned with signed bytes, which come with the matrix instructions. */

#define BYTE_SHIFT 0
typedef uint8x16_t byte_vec;
typedef int8x16_t weight_vec;

SK_INLINE byte_vec byte_spread(const uint8_t *p)
{
    return four_spread(p);
}
SK_INLINE weight_vec weight_load(const int8_t *p)
{
    return vld1q_s8(p);
}
#define sum_dot(sum, bytes, weights) ((sum) = vusdotq_s32(sum, bytes, weights))

#define SUM_TILES(M, S)              SK_TILES_6(M, u8, S, 1) SK_TILES_2(M, u8, S, 2)
#define SUM_PIXELS                   0, 6, 2, 0, 0
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/table_u8_impl.h"

void sk_kernels_u8_i8mm(sk_kernels_u8 *table)
{
    table_u8_fill(table, "i8mm");
}
