/* SPDX-License-Identifier: Apache-2.0 */
#include "wgmma.cuh"

/* conv_igemm with Hopper's warpgroup product: NWG groups of four warps share BM rows of BN columns. */
template <int BM, int BN, int NWG, int ST, int KS>
__global__ void __launch_bounds__(NWG * 128) conv_wgmma(const __grid_constant__ gpu_conv_args p)
{
#if GPU_HAS_WGMMA
    constexpr int BK = 64, MI = BM / (64 * NWG), T = NWG * 128, CH = 8, RB = 128, SA = BM * RB, SS = SA + BN * RB;
    constexpr int NI = BN / 8, RS = T / CH, NA = BM / RS, NB = (BN + RS - 1) / RS;
    extern __shared__ __align__(1024) char shared[];
    const uint32_t base0 = shared_address(shared);
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, group = warp >> 2, w4 = warp & 3;
    const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN, nk = p.nk, col = tid % CH, row0 = tid / CH;
    const __half *in = (const __half *)p.p[1];
    const __half *weights = (const __half *)p.p[2] + (size_t)(n0 + row0) * p.kpad + col * 8;
    auto load_weights = [&](int it, int stage) {
#pragma unroll
        for (int i = 0; i < NB; i++) {
            const int r = row0 + i * RS;
            if (BN % RS == 0 || r < BN)
                copy16(base0 + stage * SS + SA + r * RB + ((col ^ (r & 7)) << 4),
                       weights + (size_t)i * RS * p.kpad + it * BK, true);
        }
    };
#pragma unroll
    for (int s = 0; s < ST - 1; s++)
        if (s < nk)
            load_weights(s, s);
    int offset[NA];
    uint32_t mask[NA];
#pragma unroll
    for (int i = 0; i < NA; i++)
        locate_row<KS>(p, m0 + row0 + i * RS, m0 + row0 + i * RS < p.m, offset[i], mask[i]);
    int chunk = col, tap = 0;
    if (KS == 3) {
        tap = chunk / p.c8;
        chunk -= tap * p.c8;
    }
    auto load_input = [&](int stage) {
        const bool inside = KS == 1 ? chunk < p.c8 : tap < 9;
        int to = chunk * 8;
        if (KS == 3) {
            const int ty = (tap * 11) >> 5;
            to += (ty * p.w + tap - 3 * ty) * p.ldi;
        }
#pragma unroll
        for (int i = 0; i < NA; i++) {
            const int r = row0 + i * RS;
            const bool valid = inside && ((mask[i] >> tap) & 1);
            copy16(base0 + stage * SS + r * RB + ((col ^ (r & 7)) << 4), valid ? in + offset[i] + to : in, valid);
        }
        chunk += CH;
        if (KS == 3)
            while (chunk >= p.c8) {
                chunk -= p.c8;
                tap++;
            }
    };
    gpu_chain();
#pragma unroll
    for (int s = 0; s < ST - 1; s++) {
        if (s < nk)
            load_input(s);
        copy_commit();
    }
    float acc[MI][NI * 4];
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI * 4; j++)
            acc[i][j] = 0;
    const uint32_t a_row = (group * MI * 64 + w4 * 16 + (lane & 15)) * RB;
    const int a_swizzle = lane & 7, a_half = lane >> 4;
    int stage = 0;
    for (int it = 0; it < nk; it++) {
        copy_wait<ST - 2>();
        proxy_fence();
        __syncthreads();
        if (it + ST - 1 < nk) {
            int next = stage + ST - 1;
            if (next >= ST)
                next -= ST;
            load_weights(it + ST - 1, next);
            load_input(next);
        }
        copy_commit();
        const uint32_t base = base0 + stage * SS;
        if (++stage == ST)
            stage = 0;
        uint32_t a[MI][4][4];
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int kk = 0; kk < 4; kk++)
                load_matrix4(a[i][kk], base + a_row + i * 64 * RB + (((kk * 2 + a_half) ^ a_swizzle) << 4));
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            const uint64_t d = wgmma_descriptor<128>(base + SA + kk * 32);
#pragma unroll
            for (int i = 0; i < MI; i++)
                wgmma_product<BN>::run(acc[i], a[i][kk], d);
        }
        wgmma_commit();
        wgmma_wait<0>(); /* the stage is free for the copies of the next round */
    }
    const int g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int i = 0; i < MI; i++) {
        const int m = m0 + (group * MI + i) * 64 + w4 * 16 + g;
        wgmma_store<NI>(acc[i], p, n0, t, m, m + 8, m < p.m, m + 8 < p.m);
    }
#endif
}

#define FUNCTION(...) (const void *)conv_wgmma<__VA_ARGS__>,
GPU_TILE_LIST(wgmma, FUNCTION)
