/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_TILES_H
#define SK_KERNELS_SIMD_TILES_H

/* Lists of tile sizes 1 … n for a width; MAKE(kind, stride, pixels, width). */
#define SK_TILES_1(M, K, S, W)  M(K, S, 1, W)
#define SK_TILES_2(M, K, S, W)  SK_TILES_1(M, K, S, W) M(K, S, 2, W)
#define SK_TILES_3(M, K, S, W)  SK_TILES_2(M, K, S, W) M(K, S, 3, W)
#define SK_TILES_4(M, K, S, W)  SK_TILES_3(M, K, S, W) M(K, S, 4, W)
#define SK_TILES_5(M, K, S, W)  SK_TILES_4(M, K, S, W) M(K, S, 5, W)
#define SK_TILES_6(M, K, S, W)  SK_TILES_5(M, K, S, W) M(K, S, 6, W)
#define SK_TILES_7(M, K, S, W)  SK_TILES_6(M, K, S, W) M(K, S, 7, W)
#define SK_TILES_8(M, K, S, W)  SK_TILES_7(M, K, S, W) M(K, S, 8, W)
#define SK_TILES_9(M, K, S, W)  SK_TILES_8(M, K, S, W) M(K, S, 9, W)
#define SK_TILES_10(M, K, S, W) SK_TILES_9(M, K, S, W) M(K, S, 10, W)
#define SK_TILES_11(M, K, S, W) SK_TILES_10(M, K, S, W) M(K, S, 11, W)
#define SK_TILES_12(M, K, S, W) SK_TILES_11(M, K, S, W) M(K, S, 12, W)
#define SK_TILES_13(M, K, S, W) SK_TILES_12(M, K, S, W) M(K, S, 13, W)
#define SK_TILES_14(M, K, S, W) SK_TILES_13(M, K, S, W) M(K, S, 14, W)
#define SK_TILES_16(M, K, S, W) SK_TILES_14(M, K, S, W) M(K, S, 15, W) M(K, S, 16, W)
#define SK_TILES_20(M, K, S, W)                                                                              \
    SK_TILES_16(M, K, S, W) M(K, S, 17, W) M(K, S, 18, W) M(K, S, 19, W) M(K, S, 20, W)

#endif
