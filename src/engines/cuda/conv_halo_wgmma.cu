/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_halo.cuh"
#include "wgmma.cuh"

/* conv_halo with Hopper's warpgroup product: the next tap's fragments are fetched while this tap's product runs. */
template <int TH, int TW, int CB, int BN, int NWG, int S>
__global__ void __launch_bounds__(NWG * 128) conv_halo_wgmma(const __grid_constant__ gpu_conv_args p)
{
#if GPU_HAS_WGMMA
    constexpr int BM = TH * TW, MI = BM / (64 * NWG), T = NWG * 128, RB = CB * 2, KK = CB / 16, NI = BN / 8;
    constexpr int HH = (TH - 1) * S + 3, HW = (TW - 1) * S + 3, SA = HH * HW * RB, SBT = BN * RB, SH = S == 2 ? 1 : 0;
    extern __shared__ __align__(1024) char shared[];
    const uint32_t weights = shared_address(shared), patch = weights + p.blocks * 9 * SBT;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, group = warp >> 2, w4 = warp & 3;
    const int n0 = blockIdx.y * BN;
    load_halo_weights<CB, BN, T>(p, weights, n0);
    int q0[MI];
#pragma unroll
    for (int i = 0; i < MI; i++) {
        const int pp = (group * MI + i) * 64 + w4 * 16 + (lane & 15);
        q0[i] = (pp / TW) * S * HW + (pp % TW) * S;
    }
    const int a_half = lane >> 4, g = lane >> 2, t = lane & 3;
    float acc[MI][NI * 4];
    int tile = blockIdx.x, cb = 0, buffer = 0;
    const bool ahead = p.buffers == 2;
    gpu_chain();
    if (tile < p.tiles)
        load_patch<TH, TW, CB, S, T>(p, patch, tile, 0);
    copy_commit();
    while (tile < p.tiles) {
        int next_tile = tile, next_cb = cb + 1;
        if (next_cb == p.blocks) {
            next_cb = 0;
            next_tile += gridDim.x;
        }
        if (ahead && next_tile < p.tiles) {
            load_patch<TH, TW, CB, S, T>(p, patch + (buffer ^ 1) * SA, next_tile, next_cb);
            copy_commit();
            copy_wait<1>();
        } else {
            copy_wait<0>();
        }
        proxy_fence();
        __syncthreads();
        if (cb == 0)
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int j = 0; j < NI * 4; j++)
                    acc[i][j] = 0;
        const uint32_t from = patch + buffer * SA;
        uint32_t a[2][MI][KK][4];
        auto fetch = [&](int tap, uint32_t(&d)[MI][KK][4]) {
#pragma unroll
            for (int i = 0; i < MI; i++) {
                const int q = q0[i] + (tap / 3) * HW + tap % 3, sw = swizzle<RB>(q >> SH);
#pragma unroll
                for (int kk = 0; kk < KK; kk++)
                    load_matrix4(d[i][kk], from + q * RB + (((kk * 2 + a_half) ^ sw) << 4));
            }
        };
        fetch(0, a[0]);
#pragma unroll
        for (int tap = 0; tap < 9; tap++) {
            wgmma_fence();
#pragma unroll
            for (int kk = 0; kk < KK; kk++) {
                const uint64_t d = wgmma_descriptor<RB>(weights + (cb * 9 + tap) * SBT + kk * 32);
#pragma unroll
                for (int i = 0; i < MI; i++)
                    wgmma_product<BN>::run(acc[i], a[tap & 1][i][kk], d);
            }
            wgmma_commit();
            if (tap < 8) {
                if (tap > 0)
                    wgmma_wait<1>();
                fetch(tap + 1, a[(tap + 1) & 1]);
            }
        }
        wgmma_wait<0>();
        if (!ahead) {
            __syncthreads();
            if (next_tile < p.tiles) {
                load_patch<TH, TW, CB, S, T>(p, patch, next_tile, next_cb);
                copy_commit();
            }
        }
        if (next_cb == 0) {
            const int n = tile / (p.tx * p.ty), q = tile - n * p.tx * p.ty, ty = q / p.tx, tx = q - ty * p.tx;
#pragma unroll
            for (int i = 0; i < MI; i++) {
                const int pp = (group * MI + i) * 64 + w4 * 16 + g, oy = ty * TH + pp / TW, ox = tx * TW + pp % TW;
                const int p2 = pp + 8, oy2 = ty * TH + p2 / TW, ox2 = tx * TW + p2 % TW;
                wgmma_store<NI>(acc[i], p, n0, t, ((long long)n * p.oh + oy) * p.ow + ox,
                                ((long long)n * p.oh + oy2) * p.ow + ox2, oy < p.oh && ox < p.ow,
                                oy2 < p.oh && ox2 < p.ow);
            }
        }
        if (ahead) {
            __syncthreads();
            buffer ^= 1;
        }
        tile = next_tile;
        cb = next_cb;
    }
#endif
}

#define FUNCTION(...) (const void *)conv_halo_wgmma<__VA_ARGS__>, (const void *)conv_halo_wgmma<__VA_ARGS__>,
GPU_TILE_LIST(halo_wgmma, FUNCTION)
