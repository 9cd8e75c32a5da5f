/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_WGMMA_BYTES_CUH
#define SK_ENGINES_CUDA_WGMMA_BYTES_CUH

#include "wgmma.cuh"

/* Hopper's warpgroup product of bytes with signed bytes: 64 x N x 32, exact sums; everything lies as for halves, k being
 * twice as long in the same bytes. */
#define COUNTS_8(d, j)                                                                                                 \
    "+r"((d)[j][0]), "+r"((d)[j][1]), "+r"((d)[j][2]), "+r"((d)[j][3]), "+r"((d)[(j) + 1][0]), "+r"((d)[(j) + 1][1]), \
        "+r"((d)[(j) + 1][2]), "+r"((d)[(j) + 1][3])
#define COUNTS_16(d, j) COUNTS_8(d, j), COUNTS_8(d, (j) + 2)
#define COUNTS_32(d, j) COUNTS_16(d, j), COUNTS_16(d, (j) + 4)
#define COUNTS_64(d, j) COUNTS_32(d, j), COUNTS_32(d, (j) + 8)
#if GPU_HAS_WGMMA
#define WGMMA_RUN_BYTES(n, texts, sums, a0, a1, a2, a3, b0)                                                            \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k32.s32.u8.s8 {" texts "},{%" #a0 ",%" #a1 ",%" #a2 ",%" #a3    \
                 "},%" #b0 ",1;"                                                                                       \
                 : sums                                                                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#else
#define WGMMA_RUN_BYTES(n, texts, sums, a0, a1, a2, a3, b0) ((void)d, (void)a, (void)b)
#endif
template <int N, class E>
__device__ __forceinline__ void wgmma_product(int (&d)[N / 8][4], const uint32_t (&a)[4], uint64_t b)
{
    static_assert(N == 16 || N == 32 || N == 64 || N == 128, "columns");
    if constexpr (N == 16)
        WGMMA_RUN_BYTES(16, TEXT_8, COUNTS_8(d, 0), 8, 9, 10, 11, 12);
    else if constexpr (N == 32)
        WGMMA_RUN_BYTES(32, TEXT_16, COUNTS_16(d, 0), 16, 17, 18, 19, 20);
    else if constexpr (N == 64)
        WGMMA_RUN_BYTES(64, TEXT_32, COUNTS_32(d, 0), 32, 33, 34, 35, 36);
    else
        WGMMA_RUN_BYTES(128, TEXT_64, COUNTS_64(d, 0), 64, 65, 66, 67, 68);
}

#endif
