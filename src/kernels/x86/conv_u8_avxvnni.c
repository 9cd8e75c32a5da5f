/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/finish_u8_avx2.h"
#include "kernels/simd/tiles.h"

/* Processors with 256-bit vectors and dot products of bytes: VEX encoding, sixteen registers. */

#define BYTE_SHIFT 0
typedef __m256i byte_vec, weight_vec;

#define sum_dot(sum, bytes, weights)                                                                         \
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(bytes), "x"(weights))

SK_INLINE byte_vec byte_spread(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm256_set1_epi32(four);
}
SK_INLINE weight_vec weight_load(const int8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

#define SUM_TILES(M, S) SK_TILES_6(M, u8, S, 1) SK_TILES_2(M, u8, S, 2)
#define SUM_PIXELS      0, 6, 2, 0, 0
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/table_u8_impl.h"

void sk_kernels_u8_avxvnni(sk_kernels_u8 *table)
{
    table_u8_fill(table, "avxvnni");
}
