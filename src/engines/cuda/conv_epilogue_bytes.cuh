/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_EPILOGUE_BYTES_CUH
#define SK_ENGINES_CUDA_CONV_EPILOGUE_BYTES_CUH

#include "bytes.cuh"

/* The end of convolutions of bytes and of e4m3: sums, exact ones of bytes, become numbers by a factor and an addend for each channel, then as everywhere:
 * residual, activation, residual, store, as bytes or as the session's maps. */

/* 2 G channels from c on, of G products: what sums are multiplied with and what is added. */
template <int N> struct channel_factors {
    float2 f[N];
    __device__ __forceinline__ channel_factors(const gpu_conv_args &p, int c)
    {
#pragma unroll
        for (int e = 0; e < N; e += 2)
            *(float4 *)&f[e] = __ldg((const float4 *)((const float2 *)p.p[3] + c + e));
    }
    template <class SUM> __device__ __forceinline__ float number(int e, SUM sum) const
    {
        return fmaf((float)sum, f[e].x, f[e].y);
    }
};

enum { ANY_END = -1 }; /* besides half_end */

template <class SUM> struct __align__(8) pair_of {
    SUM x, y;
};

/* Everything that is added is fetched first: what is stored might lie in the same memory, for all that the compiler knows. */
template <int END, class PRODUCT, class LOADER>
__device__ __forceinline__ void store_counts(const gpu_conv_args &p, const LOADER &load, const PRODUCT &product,
                                             const typename PRODUCT::sum (&acc)[PRODUCT::MI][PRODUCT::NI][4])
{
    typedef typename PRODUCT::element E;
    constexpr int MI = PRODUCT::MI, NI = PRODUCT::NI, G = NI < 4 ? NI : 4;
    const int in_warp = threadIdx.x & 31, g = in_warp >> 2, t = in_warp & 3;
    const auto tile = load.where();
    int pixels[MI][2];
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            pixels[i][h] = tile.pixel(product.row(i) + h * 8 + g);
#pragma unroll
    for (int gg = 0; gg < NI / G; gg++) {
        const int c = load.n0 + product.column() + gg * 8 * G + t * 2 * G;
        if (c >= p.cout8)
            continue;
        const channel_factors<2 * G> factors(p, c);
        beside<END == ANY_END ? SILU_ALONE : END, 2 * G> more[MI][2];
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                if (pixels[i][h] >= 0)
                    more[i][h].template load<LOADER::POINT>(p, pixels[i][h], c);
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                if (pixels[i][h] < 0)
                    continue;
                float v[2 * G];
#pragma unroll
                for (int e = 0; e < 2 * G; e++)
                    v[e] = factors.number(e, acc[i][gg * G + e / 2][2 * h + e % 2]);
                if constexpr (END != ANY_END)
                    put_silu<E>((uint8_t *)p.p[0] + (long long)pixels[i][h] * p.ldo + c, p.bytes, v, more[i][h]);
                else
                    finish_bytes<E, 2 * G, true, LOADER::POINT>(p, pixels[i][h], c, v);
            }
    }
}

/* A tile out of the registers, as store_tile of others; what is special is asked for pixel by pixel. */
template <class PRODUCT, class LOADER>
__device__ __forceinline__ void store_low_tile(const gpu_conv_args &p, const LOADER &load, const PRODUCT &product,
                                               const typename PRODUCT::sum (&acc)[PRODUCT::MI][PRODUCT::NI][4])
{
    constexpr bool FEW = LOADER::POINT && LOADER::WALKS; /* tiles.c: for these two ends only, as registers are few */
    if (!FEW && !p.bytes.half)
        store_counts<ANY_END>(p, load, product, acc);
    else if (!p.p[4])
        store_counts<SILU_ALONE>(p, load, product, acc);
    else if (!FEW && !p.residual_before)
        store_counts<SILU_THEN_ADD>(p, load, product, acc);
    else if constexpr (LOADER::POINT) /* plan: of no other */
        store_counts<ADD_THEN_SILU>(p, load, product, acc);
}

/* Eight counts at `from` in block z of the cluster, as of floats. */
template <int SPLIT> __device__ __forceinline__ void add_sums(const int *from, int z, int (&v)[8])
{
    int4 u[2];
#if __CUDA_ARCH__ >= 900
    if (SPLIT > 1) {
        uint32_t remote;
        asm("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(remote) : "r"(shared_address(from)), "r"(z));
#pragma unroll
        for (int e = 0; e < 2; e++)
            asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3},[%4];"
                         : "=r"(u[e].x), "=r"(u[e].y), "=r"(u[e].z), "=r"(u[e].w)
                         : "r"(remote + 16 * e)
                         : "memory");
    } else
#endif
    {
        u[0] = *(const int4 *)from;
        u[1] = *(const int4 *)(from + 4);
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
        v[4 * e] += u[e].x;
        v[4 * e + 1] += u[e].y;
        v[4 * e + 2] += u[e].z;
        v[4 * e + 3] += u[e].w;
    }
}

/* Where k groups of warps and the blocks of a cluster hold parts of the sums, as store_sums of others. */
template <class PRODUCT, class LOADER>
__device__ __forceinline__ void store_low_sums(const gpu_conv_args &p, const LOADER &load, const PRODUCT &product, void *shared,
                                               const typename PRODUCT::sum (&acc)[PRODUCT::MI][PRODUCT::NI][4])
{
    typedef typename PRODUCT::element E;
    typedef typename PRODUCT::sum SUM;
    constexpr int BM = PRODUCT::BM, BN = PRODUCT::BN, NI = PRODUCT::NI, G = NI < 4 ? NI : 4, LD = BN + 4;
    constexpr int SPLIT = LOADER::SPLIT, OWN = BM / SPLIT;
    const int in_warp = threadIdx.x & 31, g = in_warp >> 2, t = in_warp & 3;
    SUM *const sums = (SUM *)shared;
    copy_wait<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < PRODUCT::MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int gg = 0; gg < NI / G; gg++) {
                SUM *d = sums + (product.wk * BM + product.row(i) + h * 8 + g) * LD + product.column() + gg * 8 * G + t * 2 * G;
#pragma unroll
                for (int j = 0; j < G; j++)
                    *(pair_of<SUM> *)(d + 2 * j) = {acc[i][gg * G + j][2 * h], acc[i][gg * G + j][2 * h + 1]};
            }
    sync_split<SPLIT>();
    const auto tile = load.where();
    for (int x = threadIdx.x; x < OWN * BN / 8; x += PRODUCT::THREADS) {
        const int r = (SPLIT > 1 ? blockIdx.z : 0) * OWN + x / (BN / 8), c8 = x % (BN / 8) * 8, c = load.n0 + c8;
        const channel_factors<8> factors(p, c);
        SUM v[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll
        for (int z = 0; z < SPLIT; z++)
#pragma unroll
            for (int w = 0; w < PRODUCT::WK; w++)
                add_sums<SPLIT>(sums + (w * BM + r) * LD + c8, z, v);
        const int pixel = tile.pixel(r);
        if (pixel >= 0 && c < p.cout8) {
            float numbers[8];
#pragma unroll
            for (int e = 0; e < 8; e++)
                numbers[e] = factors.number(e, v[e]);
            if (p.bytes.half)
                finish_silu<E, 8, LOADER::POINT>(p, pixel, c, numbers);
            else
                finish_bytes<E, 8, true, LOADER::POINT>(p, pixel, c, numbers);
        }
    }
    if (SPLIT > 1) /* nobody leaves while others still read his shared memory */
        sync_split<SPLIT>();
}

#endif
