/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_TILES_H
#define SK_ENGINES_CUDA_CONV_TILES_H

/* Every tile of the tensor-core convolutions, written down once. A row is a tile; tile_table.c makes of it what the planning
 * C knows about it, conv_SECTION.cu the kernel: a new row is a new tile, and nothing else names it. A section is a file,
 * so that sections compile side by side.
 *
 * GATHER_MMA, GATHER_TF32, GATHER_F32 (BM, BN, BK, WM, WN, WK, ST, KS, SPLIT)
 *   BM pixels x BN channels a block, BK channels (halves; half as many floats) a k step, ST of these in shared memory;
 *   a warp has WM x WN of it, WK groups of warps share a k step; KS: 1x1 or 3x3; SPLIT blocks of a cluster share k
 * GATHER_WGMMA (BM, BN, NWG, ST, KS)          NWG groups of four warps; k steps of 64
 * HALO_MMA (TH, TW, CB, BN, WM, WN, S)        TH x TW pixels with their borders, CB channels at a time, stride S
 * HALO_WGMMA (TH, TW, CB, BN, NWG, S)         two tiles a row: with one patch in shared memory, and with two
 * GATHER_THEN (as GATHER_WGMMA)               with a 1x1 convolution behind it; all channels of a pixel in one block
 * HALO_SETS (TH, TW, CB, BN, NWG, S, SETS, COLUMNS, BUFFERS, THEN)
 *   SETS of NWG groups a block, each with tiles of its own and BUFFERS patches; COLUMNS: TW 16, S 1, see conv_product.cuh;
 *   THEN: as above
 * GATHER_U8, HALO_U8, GATHER_WGMMA_U8, GATHER_THEN_U8 (BM, BN, BK, NWG, ST, KS), HALO_WGMMA_U8, HALO_SETS_U8: the same of bytes; BK
 *   and CB are 32, 64 or 128
 * WALK, WALK_U8 (BM, BN, CB, NWG, SETS, BUFFERS)   1x1: all weights in shared memory, SETS of NWG groups walk over tiles of BM pixels
 * the same names with _BF: of bf16; with _F8 instead of _U8: of fp8
 *
 * What a row must keep: WM, BM / NWM and 64 NWG multiples of 16, WN and BN of 8, BK and CB 16, 32 or 64; wgmma has BN 16, 32, 64,
 * 128 and 256 (wgmma.cuh). Order: the first of several that seem equal is taken where nothing is timed. */

/* section, kind of its rows */
#define GPU_TILE_SECTIONS(S)                                                                                 \
    S(igemm1, GATHER_MMA)                                                                                    \
    S(igemm3, GATHER_MMA)                                                                                    \
    S(halo, HALO_MMA)                                                                                        \
    S(wgmma, GATHER_WGMMA)                                                                                   \
    S(halo_wgmma, HALO_WGMMA)                                                                                \
    S(tf32, GATHER_TF32)                                                                                     \
    S(f32, GATHER_F32)                                                                                       \
    S(then, GATHER_THEN)                                                                                     \
    S(halo_sets, HALO_SETS)                                                                                  \
    S(u8_igemm1, GATHER_U8)                                                                                  \
    S(u8_igemm3, GATHER_U8)                                                                                  \
    S(u8_halo, HALO_U8)                                                                                      \
    S(u8_wgmma, GATHER_WGMMA_U8)                                                                             \
    S(u8_halo_wgmma, HALO_WGMMA_U8)                                                                          \
    S(u8_then, GATHER_THEN_U8)                                                                               \
    S(u8_halo_sets, HALO_SETS_U8)                                                                            \
    S(u8_walk, WALK_U8)                                                                                      \
    S(bf_igemm1, GATHER_MMA_BF)                                                                              \
    S(bf_igemm3, GATHER_MMA_BF)                                                                              \
    S(bf_halo, HALO_MMA_BF)                                                                                  \
    S(bf_wgmma, GATHER_WGMMA_BF)                                                                             \
    S(bf_halo_wgmma, HALO_WGMMA_BF)                                                                          \
    S(bf_then, GATHER_THEN_BF)                                                                               \
    S(bf_halo_sets, HALO_SETS_BF)                                                                            \
    S(walk, WALK)                                                                                            \
    S(bf_walk, WALK_BF)                                                                                      \
    S(f8_igemm1, GATHER_F8)                                                                                  \
    S(f8_igemm3, GATHER_F8)                                                                                  \
    S(f8_halo, HALO_F8)                                                                                      \
    S(f8_wgmma, GATHER_WGMMA_F8)                                                                             \
    S(f8_halo_wgmma, HALO_WGMMA_F8)                                                                          \
    S(f8_then, GATHER_THEN_F8)                                                                               \
    S(f8_halo_sets, HALO_SETS_F8)                                                                            \
    S(f8_walk, WALK_F8)

#define GPU_TILES_igemm1(T)                                                                                  \
    T(16, 32, 64, 16, 32, 4, 6, 1, 1)                                                                        \
    T(32, 32, 64, 32, 32, 4, 6, 1, 1)                                                                        \
    T(32, 32, 64, 16, 32, 2, 6, 1, 1)                                                                        \
    T(16, 64, 64, 16, 32, 2, 6, 1, 1)                                                                        \
    T(32, 8, 64, 16, 8, 2, 4, 1, 1)                                                                          \
    T(128, 8, 64, 32, 8, 1, 3, 1, 1)                                                                         \
    T(64, 16, 64, 16, 16, 1, 4, 1, 1)                                                                        \
    T(128, 32, 32, 32, 32, 1, 4, 1, 1)                                                                       \
    T(64, 64, 64, 32, 32, 1, 4, 1, 1)                                                                        \
    T(128, 64, 32, 32, 32, 1, 4, 1, 1)                                                                       \
    T(256, 64, 32, 64, 32, 1, 4, 1, 1)                                                                       \
    T(128, 128, 32, 64, 32, 1, 4, 1, 1)

#define GPU_TILES_igemm3(T)                                                                                  \
    T(16, 32, 64, 16, 32, 4, 6, 3, 1)                                                                        \
    T(32, 32, 64, 32, 32, 4, 6, 3, 1)                                                                        \
    T(32, 32, 64, 16, 32, 2, 6, 3, 1)                                                                        \
    T(16, 64, 64, 16, 32, 2, 6, 3, 1)                                                                        \
    T(16, 64, 64, 16, 32, 2, 6, 3, 2)                                                                        \
    T(16, 64, 64, 16, 32, 2, 6, 3, 4)                                                                        \
    T(32, 128, 64, 32, 32, 2, 4, 3, 2)                                                                       \
    T(32, 8, 64, 16, 8, 2, 4, 3, 1)                                                                          \
    T(64, 16, 64, 16, 16, 1, 4, 3, 1)                                                                        \
    T(128, 16, 32, 32, 16, 1, 4, 3, 1)                                                                       \
    T(128, 32, 32, 32, 32, 1, 4, 3, 1)                                                                       \
    T(64, 64, 64, 32, 32, 1, 4, 3, 1)                                                                        \
    T(128, 64, 64, 64, 32, 1, 3, 3, 1)                                                                       \
    T(128, 128, 32, 64, 32, 1, 4, 3, 1)

#define GPU_TILES_halo(T)                                                                                    \
    T(8, 16, 16, 8, 32, 8, 1)                                                                                \
    T(16, 16, 16, 8, 64, 8, 1)                                                                               \
    T(16, 16, 16, 16, 64, 16, 1)                                                                             \
    T(8, 16, 16, 16, 32, 16, 1)                                                                              \
    T(8, 8, 16, 32, 16, 32, 1)                                                                               \
    T(16, 16, 16, 32, 64, 32, 1)                                                                             \
    T(8, 8, 32, 16, 16, 16, 1)                                                                               \
    T(8, 16, 32, 16, 32, 16, 1)                                                                              \
    T(4, 8, 32, 32, 16, 16, 1)                                                                               \
    T(8, 16, 32, 32, 32, 32, 1)                                                                              \
    T(8, 8, 64, 32, 16, 32, 1)                                                                               \
    T(8, 16, 64, 64, 32, 32, 1)                                                                              \
    T(4, 4, 64, 32, 16, 8, 1)                                                                                \
    T(8, 16, 16, 32, 32, 32, 2)

#define GPU_TILES_wgmma(T)                                                                                   \
    T(64, 32, 1, 4, 1)                                                                                       \
    T(128, 32, 2, 4, 1)                                                                                      \
    T(128, 32, 1, 3, 1)                                                                                      \
    T(64, 64, 1, 4, 1)                                                                                       \
    T(128, 64, 2, 3, 1)                                                                                      \
    T(256, 64, 4, 3, 1)                                                                                      \
    T(64, 128, 1, 4, 1)                                                                                      \
    T(128, 128, 2, 3, 1)                                                                                     \
    T(256, 128, 4, 3, 1)                                                                                     \
    T(128, 256, 2, 3, 1)                                                                                     \
    T(64, 32, 1, 4, 3)                                                                                       \
    T(128, 32, 2, 4, 3)                                                                                      \
    T(64, 64, 1, 4, 3)                                                                                       \
    T(128, 64, 2, 3, 3)                                                                                      \
    T(256, 64, 4, 3, 3)                                                                                      \
    T(64, 128, 1, 4, 3)                                                                                      \
    T(128, 128, 2, 3, 3)                                                                                     \
    T(256, 128, 4, 3, 3)                                                                                     \
    T(128, 256, 2, 3, 3)

#define GPU_TILES_halo_wgmma(T)                                                                              \
    T(8, 8, 64, 32, 1, 1)                                                                                    \
    T(8, 16, 64, 32, 2, 1)                                                                                   \
    T(16, 20, 64, 64, 5, 1)                                                                                  \
    T(8, 16, 64, 64, 2, 1)                                                                                   \
    T(8, 16, 64, 128, 2, 1)                                                                                  \
    T(8, 8, 32, 32, 1, 1)                                                                                    \
    T(8, 8, 32, 64, 1, 1)                                                                                    \
    T(16, 16, 16, 16, 4, 1)                                                                                  \
    T(16, 16, 16, 32, 2, 1)                                                                                  \
    T(8, 16, 16, 32, 1, 2)                                                                                   \
    T(8, 16, 16, 32, 2, 2)

#define GPU_TILES_tf32(T)                                                                                    \
    T(16, 32, 64, 16, 32, 4, 6, 1, 1)                                                                        \
    T(32, 8, 64, 16, 8, 2, 4, 1, 1)                                                                          \
    T(64, 16, 64, 16, 16, 1, 4, 1, 1)                                                                        \
    T(64, 64, 64, 32, 32, 1, 4, 1, 1)                                                                        \
    T(128, 32, 64, 32, 32, 1, 3, 1, 1)                                                                       \
    T(128, 128, 64, 64, 32, 1, 3, 1, 1)                                                                      \
    T(16, 32, 64, 16, 32, 4, 6, 3, 1)                                                                        \
    T(32, 8, 64, 16, 8, 2, 4, 3, 1)                                                                          \
    T(64, 16, 64, 16, 16, 1, 4, 3, 1)                                                                        \
    T(16, 64, 64, 16, 32, 2, 6, 3, 4)                                                                        \
    T(64, 64, 64, 32, 32, 1, 4, 3, 1)                                                                        \
    T(128, 32, 64, 32, 32, 1, 3, 3, 1)                                                                       \
    T(128, 128, 64, 64, 32, 1, 3, 3, 1)

#define GPU_TILES_f32(T)                                                                                     \
    T(32, 32, 64, 16, 32, 4, 4, 1, 1)                                                                        \
    T(64, 16, 64, 32, 16, 2, 4, 1, 1)                                                                        \
    T(64, 64, 64, 32, 32, 2, 3, 1, 1)                                                                        \
    T(128, 32, 64, 64, 32, 2, 3, 1, 1)                                                                       \
    T(128, 64, 64, 64, 32, 1, 3, 1, 1)                                                                       \
    T(128, 128, 64, 64, 32, 1, 3, 1, 1)                                                                      \
    T(32, 32, 64, 16, 32, 4, 4, 3, 1)                                                                        \
    T(32, 64, 64, 32, 32, 4, 4, 3, 4)                                                                        \
    T(64, 16, 64, 32, 16, 2, 4, 3, 1)                                                                        \
    T(64, 64, 64, 32, 32, 2, 3, 3, 1)                                                                        \
    T(128, 32, 64, 64, 32, 2, 3, 3, 1)                                                                       \
    T(128, 64, 64, 64, 32, 1, 3, 3, 1)                                                                       \
    T(128, 128, 64, 64, 32, 1, 3, 3, 1)

#define GPU_TILES_then(T)                                                                                    \
    T(128, 64, 2, 3, 1)                                                                                      \
    T(128, 128, 2, 3, 1)                                                                                     \
    T(64, 64, 1, 4, 1)                                                                                       \
    T(64, 128, 1, 4, 1)                                                                                      \
    T(128, 32, 2, 4, 3)                                                                                      \
    T(64, 32, 1, 4, 3)                                                                                       \
    T(128, 64, 2, 3, 3)                                                                                      \
    T(64, 64, 1, 4, 3)                                                                                       \
    T(256, 64, 4, 3, 3)                                                                                      \
    T(128, 128, 2, 3, 3)                                                                                     \
    T(64, 128, 1, 4, 3)

#define GPU_TILES_halo_sets(T)                                                                               \
    T(8, 16, 64, 64, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 16, 64, 64, 1, 1, 3, 1, 1, 0)                                                                       \
    T(16, 16, 64, 64, 1, 1, 2, 1, 1, 0)                                                                      \
    T(8, 16, 64, 32, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 16, 32, 64, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 16, 32, 32, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 8, 64, 64, 1, 1, 3, 0, 2, 0)                                                                        \
    T(8, 16, 32, 64, 2, 2, 1, 0, 1, 0)                                                                       \
    T(8, 16, 32, 64, 2, 2, 2, 0, 1, 0)                                                                       \
    T(8, 16, 64, 64, 1, 1, 3, 1, 2, 1)                                                                       \
    T(8, 8, 64, 64, 1, 1, 3, 0, 2, 1)                                                                        \
    T(8, 8, 64, 64, 1, 1, 1, 0, 1, 1)                                                                        \
    T(16, 20, 64, 64, 5, 1, 1, 0, 2, 1)                                                                      \
    T(8, 16, 32, 64, 2, 2, 1, 0, 1, 1)                                                                       \
    T(8, 16, 32, 64, 2, 2, 2, 0, 1, 1)                                                                       \
    T(8, 16, 16, 32, 2, 2, 1, 0, 2, 1)                                                                       \
    T(8, 16, 16, 32, 2, 2, 2, 0, 2, 1)

#define GPU_TILES_u8_igemm1(T)                                                                               \
    T(16, 32, 128, 16, 32, 4, 6, 1, 1)                                                                       \
    T(32, 32, 128, 32, 32, 4, 6, 1, 1)                                                                       \
    T(32, 32, 64, 16, 32, 2, 6, 1, 1)                                                                        \
    T(16, 64, 128, 16, 32, 2, 6, 1, 1)                                                                       \
    T(64, 16, 64, 16, 16, 1, 4, 1, 1)                                                                        \
    T(128, 32, 32, 32, 32, 1, 4, 1, 1)                                                                       \
    T(128, 32, 64, 32, 32, 1, 4, 1, 1)                                                                       \
    T(64, 64, 64, 32, 32, 1, 4, 1, 1)                                                                        \
    T(128, 64, 64, 32, 32, 1, 4, 1, 1)                                                                       \
    T(256, 64, 64, 64, 32, 1, 3, 1, 1)                                                                       \
    T(128, 128, 64, 64, 32, 1, 4, 1, 1)

#define GPU_TILES_u8_igemm3(T)                                                                               \
    T(16, 32, 128, 16, 32, 4, 6, 3, 1)                                                                       \
    T(32, 32, 128, 32, 32, 4, 6, 3, 1)                                                                       \
    T(32, 32, 128, 16, 32, 2, 6, 3, 1)                                                                       \
    T(16, 64, 128, 16, 32, 2, 6, 3, 1)                                                                       \
    T(16, 64, 128, 16, 32, 2, 6, 3, 2)                                                                       \
    T(16, 64, 128, 16, 32, 2, 6, 3, 4)                                                                       \
    T(32, 128, 128, 32, 32, 2, 4, 3, 2)                                                                      \
    T(64, 16, 64, 16, 16, 1, 4, 3, 1)                                                                        \
    T(128, 32, 64, 32, 32, 1, 4, 3, 1)                                                                       \
    T(64, 64, 128, 32, 32, 1, 4, 3, 1)                                                                       \
    T(128, 64, 128, 64, 32, 1, 3, 3, 1)                                                                      \
    T(128, 128, 64, 64, 32, 1, 4, 3, 1)

#define GPU_TILES_u8_halo(T)                                                                                 \
    T(8, 16, 32, 8, 32, 8, 1)                                                                                \
    T(16, 16, 32, 8, 64, 8, 1)                                                                               \
    T(16, 16, 32, 16, 64, 16, 1)                                                                             \
    T(8, 16, 32, 16, 32, 16, 1)                                                                              \
    T(8, 8, 32, 16, 16, 16, 1)                                                                               \
    T(8, 8, 32, 32, 16, 32, 1)                                                                               \
    T(4, 8, 32, 32, 16, 16, 1)                                                                               \
    T(16, 16, 32, 32, 64, 32, 1)                                                                             \
    T(8, 16, 32, 32, 32, 32, 1)                                                                              \
    T(8, 8, 64, 32, 16, 32, 1)                                                                               \
    T(8, 16, 64, 64, 32, 32, 1)                                                                              \
    T(4, 4, 64, 32, 16, 8, 1)                                                                                \
    T(8, 8, 128, 32, 16, 32, 1)                                                                              \
    T(8, 16, 32, 32, 32, 32, 2)

#define GPU_TILES_u8_wgmma(T)                                                                                \
    T(64, 32, 64, 1, 4, 1)                                                                                   \
    T(128, 32, 64, 2, 4, 1)                                                                                  \
    T(128, 64, 64, 2, 4, 1)                                                                                  \
    T(256, 64, 64, 4, 3, 1)                                                                                  \
    T(128, 128, 64, 2, 4, 1)                                                                                 \
    T(64, 64, 128, 1, 4, 1)                                                                                  \
    T(128, 64, 128, 2, 3, 1)                                                                                 \
    T(64, 128, 128, 1, 4, 1)                                                                                 \
    T(128, 128, 128, 2, 3, 1)                                                                                \
    T(64, 32, 128, 1, 4, 3)                                                                                  \
    T(128, 32, 128, 2, 4, 3)                                                                                 \
    T(64, 64, 128, 1, 4, 3)                                                                                  \
    T(128, 64, 64, 2, 4, 3)                                                                                  \
    T(128, 64, 128, 2, 3, 3)                                                                                 \
    T(256, 64, 128, 4, 3, 3)                                                                                 \
    T(64, 128, 128, 1, 4, 3)                                                                                 \
    T(128, 128, 128, 2, 3, 3)

#define GPU_TILES_u8_halo_wgmma(T)                                                                           \
    T(8, 8, 64, 32, 1, 1)                                                                                    \
    T(8, 16, 64, 32, 2, 1)                                                                                   \
    T(16, 20, 64, 64, 5, 1)                                                                                  \
    T(8, 16, 64, 64, 2, 1)                                                                                   \
    T(8, 16, 64, 128, 2, 1)                                                                                  \
    T(8, 8, 32, 32, 1, 1)                                                                                    \
    T(8, 8, 32, 64, 1, 1)                                                                                    \
    T(16, 16, 32, 16, 4, 1)                                                                                  \
    T(16, 16, 32, 32, 2, 1)                                                                                  \
    T(8, 8, 128, 32, 1, 1)                                                                                   \
    T(16, 20, 128, 64, 5, 1)                                                                                 \
    T(8, 16, 32, 32, 1, 2)                                                                                   \
    T(8, 16, 32, 32, 2, 2)

#define GPU_TILES_u8_then(T)                                                                                 \
    T(128, 64, 64, 2, 4, 1)                                                                                  \
    T(64, 64, 64, 1, 4, 1)                                                                                   \
    T(64, 128, 128, 1, 4, 1)                                                                                 \
    T(128, 64, 128, 2, 3, 3)                                                                                 \
    T(64, 64, 128, 1, 4, 3)

#define GPU_TILES_u8_halo_sets(T)                                                                            \
    T(8, 16, 64, 64, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 8, 64, 64, 1, 1, 4, 0, 2, 0)                                                                        \
    T(8, 16, 64, 32, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 16, 32, 64, 1, 1, 3, 1, 2, 0)                                                                       \
    T(8, 16, 32, 32, 1, 1, 4, 1, 2, 0)                                                                       \
    T(8, 16, 32, 16, 1, 1, 4, 1, 2, 0)                                                                       \
    T(8, 16, 64, 64, 1, 1, 3, 1, 2, 1)                                                                       \
    T(8, 8, 64, 64, 1, 1, 3, 0, 2, 1)                                                                        \
    T(16, 20, 64, 64, 5, 1, 1, 0, 2, 1)

#define GPU_TILES_u8_walk(T)                                                                                 \
    T(128, 32, 32, 1, 3, 2)                                                                                  \
    T(64, 32, 32, 1, 3, 2)                                                                                   \
    T(128, 64, 64, 1, 2, 2)                                                                                  \
    T(64, 64, 64, 1, 3, 2)                                                                                   \
    T(128, 32, 64, 1, 3, 2)                                                                                  \
    T(64, 64, 128, 1, 3, 2)                                                                                  \
    T(128, 64, 128, 1, 2, 2)                                                                                 \
    T(64, 128, 128, 1, 2, 2)                                                                                 \
    T(128, 128, 128, 2, 2, 2)

#define GPU_TILES_walk(T)                                                                                    \
    T(128, 128, 64, 2, 2, 2)                                                                                 \
    T(64, 128, 64, 1, 3, 2)                                                                                  \
    T(128, 64, 64, 1, 3, 2)                                                                                  \
    T(128, 256, 64, 2, 1, 2)

/* bf16: the tiles of halves. */
#define GPU_TILES_bf_walk(T)       GPU_TILES_walk(T)
#define GPU_TILES_bf_igemm1(T)     GPU_TILES_igemm1(T)
#define GPU_TILES_bf_igemm3(T)     GPU_TILES_igemm3(T)
#define GPU_TILES_bf_halo(T)       GPU_TILES_halo(T)
#define GPU_TILES_bf_wgmma(T)      GPU_TILES_wgmma(T)
#define GPU_TILES_bf_halo_wgmma(T) GPU_TILES_halo_wgmma(T)
#define GPU_TILES_bf_then(T)       GPU_TILES_then(T)
#define GPU_TILES_bf_halo_sets(T)  GPU_TILES_halo_sets(T)
/* fp8: the tiles of bytes. */
#define GPU_TILES_f8_igemm1(T)     GPU_TILES_u8_igemm1(T)
#define GPU_TILES_f8_igemm3(T)     GPU_TILES_u8_igemm3(T)
#define GPU_TILES_f8_halo(T)       GPU_TILES_u8_halo(T)
#define GPU_TILES_f8_wgmma(T)      GPU_TILES_u8_wgmma(T)
#define GPU_TILES_f8_halo_wgmma(T) GPU_TILES_u8_halo_wgmma(T)
#define GPU_TILES_f8_then(T)       GPU_TILES_u8_then(T)
#define GPU_TILES_f8_halo_sets(T)  GPU_TILES_u8_halo_sets(T)
#define GPU_TILES_f8_walk(T)       GPU_TILES_u8_walk(T)

#endif
