/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/finish_u8_avx2.h"
#include "kernels/simd/tiles.h"

/* Without an instruction for it: bytes and weights as 16-bit numbers, even and odd ones apart. pmaddubsw would saturate. */

#define BYTE_SHIFT 0
typedef struct pair_vec {
    __m256i even, odd;
} pair_vec;
typedef pair_vec byte_vec, weight_vec;

SK_INLINE byte_vec byte_spread(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    const __m256i v = _mm256_set1_epi32(four);
    return (byte_vec){_mm256_and_si256(v, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(v, 8)};
}
SK_INLINE weight_vec weight_load(const int8_t *p)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return (weight_vec){_mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8), _mm256_srai_epi16(v, 8)};
}
#define sum_dot(sum, bytes, weights)                                                                         \
    ((sum) = _mm256_add_epi32(_mm256_add_epi32(sum, _mm256_madd_epi16((bytes).even, (weights).even)),        \
                              _mm256_madd_epi16((bytes).odd, (weights).odd)))

#define SUM_TILES(M, S) SK_TILES_4(M, u8, S, 1)
#define SUM_PIXELS      0, 4, 0, 0, 0
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/table_u8_impl.h"

void sk_kernels_u8_avx2(sk_kernels_u8 *table)
{
    table_u8_fill(table, "avx2");
}
