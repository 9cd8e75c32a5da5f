/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_THEN_CUH
#define SK_ENGINES_CUDA_CONV_THEN_CUH

#include "conv_epilogue_bytes.cuh"
#include "wgmma.cuh"

/* A 1x1 convolution behind another, without a map between them: a group of warps holds all channels of its pixels, and sums of
 * a product lie in registers as the factors of the next one must. Columns of the second's weights are in the order in which the
 * first's sums lie (tiles.c). */

/* Bytes of a row of the weights in shared memory: blocks of up to 64 channels, one behind the other. */
template <int BN> constexpr int then_row_bytes = BN < 64 ? BN * 2 : 128;

template <int BN, int THREADS> __device__ __forceinline__ void load_then(const gpu_conv_args &p, uint32_t to)
{
    constexpr int RB = then_row_bytes<BN>, CH = BN / 8, PIECES = RB / 16;
    const uint16_t *weights = (const uint16_t *)((const char *)p.p[2] + p.then_at + p.then_rows * 4);
    for (int x = threadIdx.x; x < p.then_rows * CH; x += THREADS) {
        const int c = x % CH, r = x / CH;
        copy16(to + ((c / PIECES) * p.then_rows + r) * RB + ((c % PIECES ^ swizzle<RB>(r)) << 4), weights + (size_t)r * BN + c * 8,
               true);
    }
}

/* The bias of N channels from c on, as channel_factors of bytes. */
template <int N> struct channel_biases {
    float f[N];
    __device__ __forceinline__ channel_biases(const gpu_conv_args &p, int c)
    {
#pragma unroll
        for (int e = 0; e < N; e++)
            f[e] = __ldg((const float *)p.p[3] + c + e);
    }
    __device__ __forceinline__ float number(int e, float sum) const
    {
        return sum + f[e];
    }
};
template <class E, int N> __device__ __forceinline__ auto numbers_of(const gpu_conv_args &p, int c)
{
    if constexpr (sizeof(E) == 1)
        return channel_factors<N>(p, c);
    else
        return channel_biases<N>(p, c);
}

/* The first's sums with bias and activation, as factors: pieces of 16 channels of each 16 rows. */
template <class PRODUCT>
__device__ __forceinline__ void make_factors(const gpu_conv_args &p,
                                             const typename PRODUCT::sum (&acc)[PRODUCT::MI][PRODUCT::NI][4],
                                             uint32_t (&a)[PRODUCT::MI][PRODUCT::NI / 2][4])
{
    constexpr int MI = PRODUCT::MI, NI = PRODUCT::NI, G = NI < 4 ? NI : 4;
    const int t = threadIdx.x & 3;
#pragma unroll
    for (int gg = 0; gg < NI / G; gg++) {
        const auto b = numbers_of<typename PRODUCT::element, 2 * G>(p, gg * 8 * G + t * 2 * G);
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float v[2 * G];
#pragma unroll
                for (int e = 0; e < 2 * G; e++)
                    v[e] = b.number(e, acc[i][gg * G + e / 2][2 * h + e % 2]);
                activate<typename PRODUCT::behind>(v, p.act, p.alpha);
#pragma unroll
                for (int j = 0; j < G; j++)
                    a[i][(gg * G + j) / 2][(gg * G + j) % 2 * 2 + h] =
                        two_of<typename PRODUCT::behind>::pack(v[2 * j], v[2 * j + 1]);
            }
    }
}

/* What lies in PRODUCT's registers through the second convolution, 32 channels at a time, to where it belongs. */
template <class PRODUCT, class LOADER>
__device__ __forceinline__ void store_then(const gpu_conv_args &p, const LOADER &load, const PRODUCT &product,
                                           const typename PRODUCT::sum (&acc)[PRODUCT::MI][PRODUCT::NI][4])
{
    typedef typename PRODUCT::behind E;
    constexpr int MI = PRODUCT::MI, KK = PRODUCT::NI / 2, RB = then_row_bytes<PRODUCT::BN>, PASS = 32;
    static_assert(PRODUCT::WGMMA && PRODUCT::NI % 2 == 0, "all channels of a pixel in one group");
    const int in_warp = threadIdx.x & 31, g = in_warp >> 2, t = in_warp & 3;
    const float *bias = (const float *)((const char *)p.p[2] + p.then_at);
    const auto tile = load.where();
    uint32_t a[MI][KK][4];
    make_factors<PRODUCT>(p, acc, a);
    int pixels[MI][2];
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            pixels[i][h] = tile.pixel(product.row(i) + h * 8 + g);
#pragma unroll 1
    for (int n = 0; n < p.then8; n += PASS) {
        float sum[MI][PASS / 8][4];
        clear(sum);
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < KK; kk++) {
            const uint32_t at = load.then() + (kk * 32 / RB * p.then_rows + n) * RB + kk * 32 % RB;
#pragma unroll
            for (int i = 0; i < MI; i++)
                wgmma_product<PASS, E>(sum[i], a[i][kk], wgmma_descriptor<RB>(at));
        }
        wgmma_commit();
        wgmma_wait<0>();
        const int c = n + t * 8;
        if (c < p.then8) {
            float b[8];
#pragma unroll
            for (int e = 0; e < 8; e++)
                b[e] = __ldg(bias + c + e);
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float v[8];
#pragma unroll
                    for (int e = 0; e < 8; e++)
                        v[e] = sum[i][e / 2][2 * h + e % 2] + b[e];
                    activate<E>(v, p.then_act, p.then_alpha);
                    if (pixels[i][h] < 0)
                        continue;
                    if (p.plane > 0)
                        store_planes<E>(p, pixels[i][h], c, v);
                    else
                        map_of<E>::store((E *)p.p[0] + (long long)pixels[i][h] * p.ldo + c, v);
                }
        }
        __syncwarp();
    }
}

#endif
