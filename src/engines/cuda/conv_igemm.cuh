/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_IGEMM_CUH
#define SK_ENGINES_CUDA_CONV_IGEMM_CUH

#include "mma.cuh"

template <bool TF32> struct element_of {
    typedef __half type;
};
template <> struct element_of<true> {
    typedef float type;
};

/* Convolution as a matrix product that is never written down: rows are output pixels, columns output channels, k runs over
 * (tap, input channel). A block computes BM x BN of it in steps of BK through ST buffers in shared memory. NWM x NWN warps
 * share the tile; WK groups of them share each k step instead and add up in shared memory; SPLIT blocks of a cluster
 * share the whole k and add up through each other's shared memory. Small images have few pixels: splitting k is what
 * keeps the machine busy there. Weights and indices come in before the kernel waits for the one ahead of it.
 *
 * TF32: maps and weights of floats, of which the tensor cores see 19 bits. BK counts halves all the same: a k step is 2 BK
 * bytes of a row, BK / 2 floats. */
template <int BM, int BN, int BK, int WM, int WN, int WK, int ST, int KS, int SPLIT, bool TF32>
__global__ void __launch_bounds__((BM / WM) * (BN / WN) * WK * 32) conv_igemm(const __grid_constant__ gpu_conv_args p)
{
    constexpr int NWM = BM / WM, NWN = BN / WN, T = NWM * NWN * WK * 32, CH = BK / 8, RB = BK * 2;
    constexpr int SA = BM * RB, SB = BN * RB, SS = SA + SB;
    constexpr int MI = WM / 16, NI = WN / 8, G = NI < 4 ? NI : 4, NG = NI / G;
    constexpr int RS = T / CH, NA = (BM + RS - 1) / RS, NB = (BN + RS - 1) / RS;
    typedef typename element_of<TF32>::type E;
    constexpr int V = 16 / (int)sizeof(E); /* channels of a 16-byte piece */
    const int pieces = TF32 ? 2 * p.c8 : p.c8; /* of a pixel */
    extern __shared__ __align__(1024) char shared[];
    const uint32_t base0 = shared_address(shared);
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int wm = warp % NWM, wn = (warp / NWM) % NWN, wk = warp / (NWM * NWN);
    const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;
    int k0 = 0, k1 = p.nk;
    if (SPLIT > 1) {
        k0 = blockIdx.z * p.nk / SPLIT;
        k1 = (blockIdx.z + 1) * p.nk / SPLIT;
    }
    const int nk = k1 - k0, col = tid % CH, row0 = tid / CH;
    const E *in = (const E *)p.p[1];
    const E *weights = (const E *)p.p[2] + (size_t)(n0 + row0) * p.kpad + (k0 * CH + col) * V;
    const float *bias = (const float *)p.p[3];

    auto load_weights = [&](int it, int stage) {
#pragma unroll
        for (int i = 0; i < NB; i++) {
            const int r = row0 + i * RS;
            if (BN % RS == 0 || r < BN)
                copy16(base0 + stage * SS + SA + r * RB + ((col ^ swizzle<RB>(r)) << 4),
                       weights + (size_t)i * RS * p.kpad + it * CH * V, true);
        }
    };
#pragma unroll
    for (int s = 0; s < ST - 1; s++)
        if (s < nk)
            load_weights(s, s);
    int offset[NA];
    uint32_t mask[NA];
#pragma unroll
    for (int i = 0; i < NA; i++) {
        const int r = row0 + i * RS;
        locate_row<KS>(p, m0 + r, m0 + r < p.m && (BM % RS == 0 || r < BM), offset[i], mask[i]);
    }
    int chunk = k0 * CH + col, tap = 0;
    if (KS == 3) {
        tap = chunk / pieces;
        chunk -= tap * pieces;
    }
    auto load_input = [&](int stage) { /* the next k step, in order */
        const bool inside = KS == 1 ? chunk < pieces : tap < 9;
        int to = chunk * V;
        if (KS == 3) {
            const int ty = (tap * 11) >> 5;
            to += (ty * p.w + tap - 3 * ty) * p.ldi;
        }
#pragma unroll
        for (int i = 0; i < NA; i++) {
            const int r = row0 + i * RS;
            if (BM % RS == 0 || r < BM) {
                const bool valid = inside && ((mask[i] >> tap) & 1);
                copy16(base0 + stage * SS + r * RB + ((col ^ swizzle<RB>(r)) << 4), valid ? in + offset[i] + to : in,
                       valid);
            }
        }
        chunk += CH;
        if (KS == 3)
            while (chunk >= pieces) {
                chunk -= pieces;
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
    float acc[MI][NI][4];
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                acc[i][j][e] = 0;
    const int b_lane = NI == 1 ? lane & 7 : ((lane >> 4) << 3) + (lane & 7);
    const uint32_t a_row = (wm * WM + (lane & 15)) * RB, b_row = SA + (wn * WN + b_lane) * RB;
    const int a_swizzle = swizzle<RB>(lane & 15), b_swizzle = swizzle<RB>(b_lane), a_half = lane >> 4,
              b_half = (lane >> 3) & 1;
    int stage = 0;
    for (int it = 0; it < nk; it++) {
        copy_wait<ST - 2>();
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
#pragma unroll
        for (int q = 0; q < BK / 16 / WK; q++) {
            const int kk = q * WK + wk;
            uint32_t a[MI][4], b[NI][2];
#pragma unroll
            for (int i = 0; i < MI; i++)
            {
                load_matrix4(a[i], base + a_row + i * 16 * RB + (((kk * 2 + a_half) ^ a_swizzle) << 4));
                if constexpr (TF32)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        a[i][e] = round_tf32(a[i][e]);
            }
            if constexpr (NI == 1) {
                load_matrix2(b[0][0], b[0][1], base + b_row + (((kk * 2 + b_half) ^ b_swizzle) << 4));
            } else {
#pragma unroll
                for (int j = 0; j < NI / 2; j++) {
                    uint32_t r[4];
                    load_matrix4(r, base + b_row + j * 16 * RB + (((kk * 2 + b_half) ^ b_swizzle) << 4));
                    b[2 * j][0] = r[0];
                    b[2 * j][1] = r[1];
                    b[2 * j + 1][0] = r[2];
                    b[2 * j + 1][1] = r[3];
                }
            }
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int j = 0; j < NI; j++) {
                    if constexpr (TF32)
                        mma_tf32(acc[i][j], a[i], b[j][0], b[j][1]);
                    else
                        mma(acc[i][j], a[i], b[j][0], b[j][1]);
                }
        }
    }
    const int g = lane >> 2, t = lane & 3;
    if constexpr (WK == 1 && SPLIT == 1) {
#pragma unroll
        for (int gg = 0; gg < NG; gg++) {
            const int c = n0 + wn * WN + gg * 8 * G + t * 2 * G;
            if (c >= p.cout8)
                continue;
            float b[2 * G];
#pragma unroll
            for (int e = 0; e < 2 * G; e++)
                b[e] = bias[c + e];
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int m = m0 + wm * WM + i * 16 + h * 8 + g;
                    if (m >= p.m)
                        continue;
                    float v[2 * G];
#pragma unroll
                    for (int j = 0; j < G; j++) {
                        v[2 * j] = acc[i][gg * G + j][2 * h] + b[2 * j];
                        v[2 * j + 1] = acc[i][gg * G + j][2 * h + 1] + b[2 * j + 1];
                    }
                    store_result<TF32, 2 * G>(p, m, c, v);
                }
        }
    } else { /* sums of the k groups and of the cluster's blocks, through shared memory */
        constexpr int LD = BN + 4;
        float *sums = (float *)shared;
        copy_wait<0>();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++)
#pragma unroll
                for (int gg = 0; gg < NG; gg++) {
                    float *d = sums + (wk * BM + wm * WM + i * 16 + h * 8 + g) * LD + wn * WN + gg * 8 * G + t * 2 * G;
#pragma unroll
                    for (int j = 0; j < G; j++)
                        *(float2 *)(d + 2 * j) = make_float2(acc[i][gg * G + j][2 * h], acc[i][gg * G + j][2 * h + 1]);
                }
#if __CUDA_ARCH__ >= 900
        if (SPLIT > 1)
            asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
        else
#endif
            __syncthreads();
        constexpr int RW = BM / SPLIT;
        const int rank = SPLIT > 1 ? blockIdx.z : 0;
        for (int x = tid; x < RW * BN / 8; x += T) {
            const int r = rank * RW + x / (BN / 8), c8 = x % (BN / 8) * 8, m = m0 + r, c = n0 + c8;
            float v[8];
#pragma unroll
            for (int e = 0; e < 8; e++)
                v[e] = bias[c + e];
#pragma unroll
            for (int z = 0; z < SPLIT; z++)
#pragma unroll
                for (int w = 0; w < WK; w++) {
                    const float *from = sums + (w * BM + r) * LD + c8;
                    float4 u0, u1;
#if __CUDA_ARCH__ >= 900
                    if (SPLIT > 1) {
                        uint32_t remote;
                        asm("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(remote) : "r"(shared_address(from)), "r"(z));
                        asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3},[%4];"
                                     : "=f"(u0.x), "=f"(u0.y), "=f"(u0.z), "=f"(u0.w)
                                     : "r"(remote)
                                     : "memory");
                        asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3},[%4];"
                                     : "=f"(u1.x), "=f"(u1.y), "=f"(u1.z), "=f"(u1.w)
                                     : "r"(remote + 16)
                                     : "memory");
                    } else
#endif
                    {
                        u0 = *(const float4 *)from;
                        u1 = *(const float4 *)(from + 4);
                    }
                    v[0] += u0.x;
                    v[1] += u0.y;
                    v[2] += u0.z;
                    v[3] += u0.w;
                    v[4] += u1.x;
                    v[5] += u1.y;
                    v[6] += u1.z;
                    v[7] += u1.w;
                }
            if (m < p.m && c < p.cout8)
                store_result<TF32, 8>(p, m, c, v);
        }
#if __CUDA_ARCH__ >= 900
        if (SPLIT > 1) /* nobody leaves while others still read his shared memory */
            asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
    }
}

#endif
