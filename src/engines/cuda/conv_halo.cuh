/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_HALO_CUH
#define SK_ENGINES_CUDA_CONV_HALO_CUH

#include "mma.cuh"

/* 3x3 convolution with the input patch of a TH x TW tile, borders included, in shared memory: it is read once and the nine
 * taps are nine shifted views. All weights of the block's BN channels stay in shared memory while the block walks over its
 * tiles; patches are loaded ahead. CB channels are worked on at a time. */

/* Loads the weights [block][tap][BN rows][CB]. */
template <int CB, int BN, int T>
__device__ __forceinline__ void load_halo_weights(const gpu_conv_args &p, uint32_t to, int n0)
{
    constexpr int CH = CB / 8, RB = CB * 2;
    const __half *weights = (const __half *)p.p[2];
    const int cin = p.blocks * CB;
    for (int x = threadIdx.x; x < p.blocks * 9 * BN * CH; x += T) {
        const int c = x % CH, r = (x / CH) % BN, ct = x / (CH * BN), cb = ct / 9, tap = ct - cb * 9;
        copy16(to + ct * BN * RB + r * RB + ((c ^ swizzle<RB>(r)) << 4),
               weights + (size_t)(n0 + r) * p.kpad + tap * cin + cb * CB + c * 8, true);
    }
}

/* Loads one patch of one channel block. */
template <int TH, int TW, int CB, int S, int T>
__device__ __forceinline__ void load_patch(const gpu_conv_args &p, uint32_t to, int tile, int cb)
{
    constexpr int CH = CB / 8, RB = CB * 2, HH = (TH - 1) * S + 3, HW = (TW - 1) * S + 3, SH = S == 2 ? 1 : 0;
    const int n = tile / (p.tx * p.ty), q = tile - n * p.tx * p.ty, ty = q / p.tx, tx = q - ty * p.tx;
    const int iy0 = ty * TH * S - p.pad_y, ix0 = tx * TW * S - p.pad_x;
    const __half *in = (const __half *)p.p[1], *from = in + (size_t)n * p.h * p.w * p.ldi + cb * CB;
    for (int x = threadIdx.x; x < HH * HW * CH; x += T) {
        const int c = x % CH, pq = x / CH, hy = pq / HW, hx = pq - hy * HW, iy = iy0 + hy, ix = ix0 + hx;
        const bool valid = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w && cb * CH + c < p.c8;
        copy16(to + pq * RB + ((c ^ swizzle<RB>(pq >> SH)) << 4), valid ? from + (iy * p.w + ix) * p.ldi + c * 8 : in,
               valid);
    }
}

template <int TH, int TW, int CB, int BN, int WM, int WN, int S>
__global__ void __launch_bounds__((TH * TW / WM) * (BN / WN) * 32) conv_halo(const __grid_constant__ gpu_conv_args p)
{
    constexpr int BM = TH * TW, NWM = BM / WM, NWN = BN / WN, T = NWM * NWN * 32, RB = CB * 2;
    constexpr int HH = (TH - 1) * S + 3, HW = (TW - 1) * S + 3, SA = HH * HW * RB, SBT = BN * RB;
    constexpr int MI = WM / 16, NI = WN / 8, G = NI < 4 ? NI : 4, NG = NI / G, SH = S == 2 ? 1 : 0;
    extern __shared__ __align__(1024) char shared[];
    const uint32_t weights = shared_address(shared), patch = weights + p.blocks * 9 * SBT;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wm = warp % NWM, wn = warp / NWM;
    const int n0 = blockIdx.y * BN;
    const float *bias = (const float *)p.p[3];
    load_halo_weights<CB, BN, T>(p, weights, n0);
    int q0[MI];
#pragma unroll
    for (int i = 0; i < MI; i++) {
        const int pp = wm * WM + i * 16 + (lane & 15);
        q0[i] = (pp / TW) * S * HW + (pp % TW) * S;
    }
    const int b_lane = NI == 1 ? lane & 7 : ((lane >> 4) << 3) + (lane & 7);
    const int b_swizzle = swizzle<RB>(b_lane), a_half = lane >> 4, b_half = (lane >> 3) & 1;
    const uint32_t b_row = weights + (wn * WN + b_lane) * RB;
    const int g = lane >> 2, t = lane & 3;
    float acc[MI][NI][4];
    int tile = blockIdx.x, cb = 0, buffer = 0;
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
        if (next_tile < p.tiles) {
            load_patch<TH, TW, CB, S, T>(p, patch + (buffer ^ 1) * SA, next_tile, next_cb);
            copy_commit();
            copy_wait<1>();
        } else {
            copy_wait<0>();
        }
        __syncthreads();
        if (cb == 0)
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int j = 0; j < NI; j++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        acc[i][j][e] = 0;
        const uint32_t from = patch + buffer * SA;
#pragma unroll 1
        for (int r = 0; r < 3; r++) {
#pragma unroll
            for (int s = 0; s < 3; s++) {
                const uint32_t tap = b_row + (cb * 9 + r * 3 + s) * SBT;
                uint32_t a_base[MI];
                int a_swizzle[MI];
#pragma unroll
                for (int i = 0; i < MI; i++) {
                    const int q = q0[i] + r * HW + s;
                    a_base[i] = from + q * RB;
                    a_swizzle[i] = swizzle<RB>(q >> SH);
                }
#pragma unroll
                for (int kk = 0; kk < CB / 16; kk++) {
                    uint32_t a[MI][4], b[NI][2];
#pragma unroll
                    for (int i = 0; i < MI; i++)
                        load_matrix4(a[i], a_base[i] + (((kk * 2 + a_half) ^ a_swizzle[i]) << 4));
                    if constexpr (NI == 1) {
                        load_matrix2(b[0][0], b[0][1], tap + (((kk * 2 + b_half) ^ b_swizzle) << 4));
                    } else {
#pragma unroll
                        for (int j = 0; j < NI / 2; j++) {
                            uint32_t x[4];
                            load_matrix4(x, tap + j * 16 * RB + (((kk * 2 + b_half) ^ b_swizzle) << 4));
                            b[2 * j][0] = x[0];
                            b[2 * j][1] = x[1];
                            b[2 * j + 1][0] = x[2];
                            b[2 * j + 1][1] = x[3];
                        }
                    }
#pragma unroll
                    for (int i = 0; i < MI; i++)
#pragma unroll
                        for (int j = 0; j < NI; j++)
                            mma(acc[i][j], a[i], b[j][0], b[j][1]);
                }
            }
        }
        if (next_cb == 0) {
            const int n = tile / (p.tx * p.ty), q = tile - n * p.tx * p.ty, ty = q / p.tx, tx = q - ty * p.tx;
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
                        const int pp = wm * WM + i * 16 + h * 8 + g, oy = ty * TH + pp / TW, ox = tx * TW + pp % TW;
                        if (oy >= p.oh || ox >= p.ow)
                            continue;
                        float v[2 * G];
#pragma unroll
                        for (int j = 0; j < G; j++) {
                            v[2 * j] = acc[i][gg * G + j][2 * h] + b[2 * j];
                            v[2 * j + 1] = acc[i][gg * G + j][2 * h + 1] + b[2 * j + 1];
                        }
                        store_channels<2 * G>(p, ((long long)n * p.oh + oy) * p.ow + ox, c, v);
                    }
            }
        }
        __syncthreads();
        buffer ^= 1;
        tile = next_tile;
        cb = next_cb;
    }
}

#endif
