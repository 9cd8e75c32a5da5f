/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_KERNEL_CUH
#define SK_ENGINES_CUDA_CONV_KERNEL_CUH

#include "conv_epilogue.cuh"
#include "conv_epilogue_bytes.cuh"
#include "conv_gather.cuh"
#include "conv_halo.cuh"
#include "conv_product.cuh"
#include "conv_then.cuh"

/* Every convolution on the tensor cores, and of floats: loader x matrix instruction x one epilogue.
 *
 * LOADER (conv_gather.cuh, conv_halo.cuh): which tile a block computes, and its way into shared memory, step by step of k. Made
 * before the kernel waits for the one ahead of it, so it may read weights then, and nothing else. begin() starts the first
 * input; more(): there is a step to do; arrive() returns when it is in shared memory and later ones are on their way;
 * multiplied() when it is read; leave() goes on to the next. A loader that WALKS goes from tile to tile: first() and last() step
 * of one. place(), row() and weights() say the PRODUCT where its rows are, where() the epilogue which pixels they are.
 * PRODUCT (conv_product.cuh): who has which part of a tile, and the multiplication.
 * conv_epilogue.cuh: bias, activation, residual, store. conv_then.cuh, where the loader says THEN: a 1x1 convolution before that. */
template <class LOADER, class PRODUCT = typename LOADER::product>
__global__ void __launch_bounds__(PRODUCT::THREADS *PRODUCT::SETS, LOADER::LEAST)
    conv(const __grid_constant__ gpu_conv_args p)
{
    constexpr bool LOW = sizeof(typename PRODUCT::element) == 1;
    if constexpr (PRODUCT::HERE) {
        extern __shared__ __align__(1024) char shared[];
        LOADER load(p, shared_address(shared));
        const PRODUCT product;
        const auto own = product.template own<LOADER>();
        typename PRODUCT::sum acc[PRODUCT::MI][PRODUCT::NI][4];
        gpu_chain();
        load.begin();
        if constexpr (LOADER::WALKS) {
            for (; load.more(); load.leave()) {
                load.arrive();
                if (load.first())
                    clear(acc);
                product.run(load, own, acc);
                load.multiplied();
                if (load.last()) {
                    if constexpr (LOADER::THEN)
                        store_then(p, load, product, acc);
                    else if constexpr (LOW)
                        store_low_tile(p, load, product, acc);
                    else
                        store_tile<false>(p, load, product, acc);
                }
            }
        } else {
            clear(acc);
            for (; load.more(); load.leave()) {
                load.arrive();
                product.run(load, own, acc);
                load.multiplied();
            }
            if constexpr (LOADER::THEN) {
                copy_wait<0>();
                proxy_fence();
                __syncthreads();
                store_then(p, load, product, acc);
            } else if constexpr (PRODUCT::WK == 1 && LOADER::SPLIT == 1) {
                if constexpr (LOW)
                    store_low_tile(p, load, product, acc);
                else if (is_special<LOADER>(p))
                    store_tile<LOADER::POINT>(p, load, product, acc);
                else
                    store_tile<false>(p, load, product, acc);
            } else if constexpr (LOW)
                store_low_sums(p, load, product, shared, acc);
            else
                store_sums(p, load, product, shared, acc);
        }
    }
}

/* The kernel of a row of conv_tiles.h, by the row's kind; a comma behind it. */
#define GATHER_MMA(bm, bn, bk, wm, wn, wk, st, ks, split)                                                              \
    (const void *)conv<gather<mma_warps<__half, bm, bn, wm, wn, wk>, bk, st, ks, split>>,
#define GATHER_MMA_BF(bm, bn, bk, wm, wn, wk, st, ks, split)                                                           \
    (const void *)conv<gather<mma_warps<__nv_bfloat16, bm, bn, wm, wn, wk>, bk, st, ks, split>>,
#define GATHER_WGMMA_BF(bm, bn, nwg, st, ks)                                                                           \
    (const void *)conv<gather<wgmma_groups<bm, bn, nwg, 1, false, __nv_bfloat16>, 64, st, ks, 1>>,
#define HALO_MMA_BF(th, tw, cb, bn, wm, wn, s)                                                                         \
    (const void *)conv<patch<mma_warps<__nv_bfloat16, (th) * (tw), bn, wm, wn, 1>, th, tw, cb, s>>,
#define HALO_WGMMA_BF(th, tw, cb, bn, nwg, s) WGHALO_BF(th, tw, cb, bn, nwg, s) WGHALO_BF(th, tw, cb, bn, nwg, s)
#define WGHALO_BF(th, tw, cb, bn, nwg, s)                                                                              \
    (const void *)conv<patch<wgmma_groups<(th) * (tw), bn, nwg, 1, false, __nv_bfloat16>, th, tw, cb, s>>,
#define GATHER_THEN_BF(bm, bn, nwg, st, ks)                                                                            \
    (const void *)conv<gather<wgmma_groups<bm, bn, nwg, 1, false, __nv_bfloat16>, 64, st, ks, 1, true>>,
#define HALO_SETS_BF(th, tw, cb, bn, nwg, s, sets, columns, buffers, then)                                             \
    (const void *)conv<patch<wgmma_groups<(th) * (tw), bn, nwg, sets, columns, __nv_bfloat16>, th, tw, cb, s, then>>,
#define GATHER_TF32(bm, bn, bk, wm, wn, wk, st, ks, split)                                                             \
    (const void *)conv<gather<mma_warps<float, bm, bn, wm, wn, wk>, bk, st, ks, split>>,
#define GATHER_F32(bm, bn, bk, wm, wn, wk, st, ks, split)                                                              \
    (const void *)conv<gather<fma_warps<bm, bn, wm, wn, wk>, bk, st, ks, split>>,
#define GATHER_LOW(e, bm, bn, bk, wm, wn, wk, st, ks, split)                                                           \
    (const void *)conv<gather<mma_warps<e, bm, bn, wm, wn, wk>, (bk) / 2, st, ks, split>>,
#define HALO_LOW(e, th, tw, cb, bn, wm, wn, s)                                                                         \
    (const void *)conv<patch<mma_warps<e, (th) * (tw), bn, wm, wn, 1>, th, tw, (cb) / 2, s>>,
#define GATHER_WGMMA_LOW(e, bm, bn, bk, nwg, st, ks, then)                                                             \
    (const void *)conv<gather<wgmma_groups<bm, bn, nwg, 1, false, e>, (bk) / 2, st, ks, 1, then>>,
#define WGHALO_LOW(e, th, tw, cb, bn, nwg, s)                                                                          \
    (const void *)conv<patch<wgmma_groups<(th) * (tw), bn, nwg, 1, false, e>, th, tw, (cb) / 2, s>>,
#define HALO_SETS_LOW(e, th, tw, cb, bn, nwg, s, sets, columns, then)                                                  \
    (const void *)conv<patch<wgmma_groups<(th) * (tw), bn, nwg, sets, columns, e>, th, tw, (cb) / 2, s, then>>,
#define WALK_LOW(e, bm, bn, cb, nwg, sets)                                                                             \
    (const void *)conv<patch<wgmma_groups<bm, bn, nwg, sets, false, e>, 1, bm, (cb) / 2, 1, false, 1>>,
#define GATHER_U8(bm, bn, bk, wm, wn, wk, st, ks, split) GATHER_LOW(uint8_t, bm, bn, bk, wm, wn, wk, st, ks, split)
#define HALO_U8(th, tw, cb, bn, wm, wn, s)                HALO_LOW(uint8_t, th, tw, cb, bn, wm, wn, s)
#define GATHER_WGMMA_U8(bm, bn, bk, nwg, st, ks)          GATHER_WGMMA_LOW(uint8_t, bm, bn, bk, nwg, st, ks, false)
#define GATHER_THEN_U8(bm, bn, bk, nwg, st, ks)           GATHER_WGMMA_LOW(uint8_t, bm, bn, bk, nwg, st, ks, true)
#define HALO_WGMMA_U8(th, tw, cb, bn, nwg, s)                                                                         \
    WGHALO_LOW(uint8_t, th, tw, cb, bn, nwg, s) WGHALO_LOW(uint8_t, th, tw, cb, bn, nwg, s)
#define HALO_SETS_U8(th, tw, cb, bn, nwg, s, sets, columns, buffers, then)                                            \
    HALO_SETS_LOW(uint8_t, th, tw, cb, bn, nwg, s, sets, columns, then)
#define WALK_U8(bm, bn, cb, nwg, sets, buffers) WALK_LOW(uint8_t, bm, bn, cb, nwg, sets)
#define GATHER_F8(bm, bn, bk, wm, wn, wk, st, ks, split) GATHER_LOW(e4m3, bm, bn, bk, wm, wn, wk, st, ks, split)
#define HALO_F8(th, tw, cb, bn, wm, wn, s)                HALO_LOW(e4m3, th, tw, cb, bn, wm, wn, s)
#define GATHER_WGMMA_F8(bm, bn, bk, nwg, st, ks)          GATHER_WGMMA_LOW(e4m3, bm, bn, bk, nwg, st, ks, false)
#define GATHER_THEN_F8(bm, bn, bk, nwg, st, ks)           GATHER_WGMMA_LOW(e4m3, bm, bn, bk, nwg, st, ks, true)
#define HALO_WGMMA_F8(th, tw, cb, bn, nwg, s)                                                                         \
    WGHALO_LOW(e4m3, th, tw, cb, bn, nwg, s) WGHALO_LOW(e4m3, th, tw, cb, bn, nwg, s)
#define HALO_SETS_F8(th, tw, cb, bn, nwg, s, sets, columns, buffers, then)                                            \
    HALO_SETS_LOW(e4m3, th, tw, cb, bn, nwg, s, sets, columns, then)
#define WALK_F8(bm, bn, cb, nwg, sets, buffers) WALK_LOW(e4m3, bm, bn, cb, nwg, sets)
#define WALK(bm, bn, cb, nwg, sets, buffers)                                                                           \
    (const void *)conv<patch<wgmma_groups<bm, bn, nwg, sets>, 1, bm, cb, 1, false, 1>>,
#define WALK_BF(bm, bn, cb, nwg, sets, buffers)                                                                        \
    (const void *)conv<patch<wgmma_groups<bm, bn, nwg, sets, false, __nv_bfloat16>, 1, bm, cb, 1, false, 1>>,
#define GATHER_WGMMA(bm, bn, nwg, st, ks) (const void *)conv<gather<wgmma_groups<bm, bn, nwg>, 64, st, ks, 1>>,
#define HALO_MMA(th, tw, cb, bn, wm, wn, s)                                                                            \
    (const void *)conv<patch<mma_warps<__half, (th) * (tw), bn, wm, wn, 1>, th, tw, cb, s>>,
#define HALO_WGMMA(th, tw, cb, bn, nwg, s) WGHALO(th, tw, cb, bn, nwg, s) WGHALO(th, tw, cb, bn, nwg, s)
#define GATHER_THEN(bm, bn, nwg, st, ks) (const void *)conv<gather<wgmma_groups<bm, bn, nwg>, 64, st, ks, 1, true>>,
#define HALO_SETS(th, tw, cb, bn, nwg, s, sets, columns, buffers, then)                                                \
    (const void *)conv<patch<wgmma_groups<(th) * (tw), bn, nwg, sets, columns>, th, tw, cb, s, then>>,
#define WGHALO(th, tw, cb, bn, nwg, s) (const void *)conv<patch<wgmma_groups<(th) * (tw), bn, nwg>, th, tw, cb, s>>,

/* Kernels of a section, in the order of its rows: once in the file of each. */
#define GPU_TILE_LIST(name, FUNCTION)                                                                                  \
    static const void *const name##_functions[] = {GPU_TILES_##name(FUNCTION)};                                        \
    const tile_list gpu_##name##_tiles = {name##_functions, (int)(sizeof name##_functions / sizeof name##_functions[0])};

#endif
