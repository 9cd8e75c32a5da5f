/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_EPILOGUE_CUH
#define SK_ENGINES_CUDA_CONV_EPILOGUE_CUH

#include "mma.cuh"
#include "kernels/sigmoid_formula.h"

/* The end of every convolution: bias, residual, activation, residual, store; in registers. Weights are packed so that a
 * thread owns N neighbouring channels (tiles.c), so all of it goes by the widest loads and stores there are. */

/* x * sigmoid(x) as h + h tanh(h), h = x / 2: one special-function instruction; within 1e-5 of the exact value. */
__device__ __forceinline__ float fast_silu(float x)
{
    const float h = 0.5f * x;
    float t;
    asm("tanh.approx.f32 %0,%1;" : "=f"(t) : "f"(h));
    return fmaf(h, t, h);
}
__device__ __forceinline__ float fast_sigmoid(float x)
{
    return __fdividef(1.0f, 1.0f + __expf(-x));
}

/* Maps of halves or bf16, and of floats: an activation as accurate as they are, and N neighbours at once. */
template <class E> struct map_of {
    static __device__ __forceinline__ float silu(float x)
    {
        return fast_silu(x);
    }
    static __device__ __forceinline__ float sigmoid(float x)
    {
        return fast_sigmoid(x);
    }
    template <int N> static __device__ __forceinline__ void load(const E *from, float (&v)[N])
    {
        uint32_t bits[N / 2];
        if constexpr (N == 8)
            *(uint4 *)bits = *(const uint4 *)from;
        else if constexpr (N == 4)
            *(uint2 *)bits = *(const uint2 *)from;
        else
            bits[0] = *(const uint32_t *)from;
#pragma unroll
        for (int e = 0; e < N / 2; e++) {
            const float2 f = two_of<E>::unpack(bits[e]);
            v[2 * e] = f.x;
            v[2 * e + 1] = f.y;
        }
    }
    template <int N> static __device__ __forceinline__ void store(E *to, const float (&v)[N])
    {
        if constexpr (N == 8)
            *(uint4 *)to = make_uint4(two_of<E>::pack(v[0], v[1]), two_of<E>::pack(v[2], v[3]), two_of<E>::pack(v[4], v[5]),
                                      two_of<E>::pack(v[6], v[7]));
        else if constexpr (N == 4)
            *(uint2 *)to = make_uint2(two_of<E>::pack(v[0], v[1]), two_of<E>::pack(v[2], v[3]));
        else
            *(uint32_t *)to = two_of<E>::pack(v[0], v[1]);
    }
};
template <> struct map_of<float> {
    static __device__ __forceinline__ float silu(float x)
    {
        return x / (1.0f + __expf(-x));
    }
    static __device__ __forceinline__ float sigmoid(float x)
    {
        return sk_sigmoid(x);
    }
    template <int N> static __device__ __forceinline__ void load(const float *from, float (&v)[N])
    {
#pragma unroll
        for (int e = 0; e < N; e += 2)
            *(float2 *)&v[e] = *(const float2 *)(from + e);
    }
    template <int N> static __device__ __forceinline__ void store(float *to, const float (&v)[N])
    {
#pragma unroll
        for (int e = 0; e < N; e += 2)
            *(float2 *)(to + e) = make_float2(v[e], v[e + 1]);
    }
};

/* One branch for all N: what follows it has no order among the N. */
template <class E, int N> __device__ __forceinline__ void activate(float (&v)[N], int act, float alpha)
{
    auto each = [&](auto function) {
#pragma unroll
        for (int e = 0; e < N; e++)
            v[e] = function(v[e]);
    };
    if (act == GPU_ACT_SILU)
        each([](float x) { return map_of<E>::silu(x); });
    else if (act == GPU_ACT_RELU)
        each([](float x) { return fmaxf(x, 0.0f); });
    else if (act == GPU_ACT_LEAKY)
        each([=](float x) { return x < 0.0f ? alpha * x : x; });
    else if (act == GPU_ACT_SIGMOID)
        each([](float x) { return map_of<E>::sigmoid(x); });
}

/* N channels (2, 4 or 8) of a pixel from c on to planes of floats, rounded as a map has them: neighbours in a warp are
 * neighbours there. */
template <class E, int N> __device__ __forceinline__ void store_planes(const gpu_conv_args &p, int pixel, int c, const float (&v)[N])
{
    const int image = pixel / p.plane;
    float *to = (float *)p.p[0] + ((long long)image * p.cout + c) * p.plane + (pixel - image * p.plane);
#pragma unroll
    for (int e = 0; e < N; e++)
        if (c + e < p.cout)
            to[(long long)e * p.plane] = (float)(E)v[e];
}

/* The pixel of a map of half the size; rows are even in number, so those of all images may be counted through. */
__device__ __forceinline__ int half_pixel(int pixel, int width)
{
    const int line = pixel / width;
    return (line >> 1) * (width >> 1) + ((pixel - line * width) >> 1);
}

/* N channels (2, 4 or 8) of a pixel from c on, bias added: activation, residual, one store. A: the arguments of any
 * convolution, those that never have a residual (RESIDUAL false) without its fields. SPECIAL: of 1x1 convolutions that
 * write planes or add what has half the size. */
template <class E, int N, bool RESIDUAL = true, bool SPECIAL = false, class A>
__device__ __forceinline__ void store_channels(const A &p, long long pixel, int c, float (&v)[N])
{
    if constexpr (RESIDUAL) {
        const E *residual = (const E *)p.p[4];
        float r[N];
        if (residual) {
            long long at = pixel;
            if constexpr (SPECIAL)
                if (p.residual_half)
                    at = half_pixel((int)pixel, p.ow);
            map_of<E>::load(residual + at * p.ldr + c, r);
            if (p.residual_before)
#pragma unroll
                for (int e = 0; e < N; e++)
                    v[e] += r[e];
        }
        activate<E>(v, p.act, p.alpha);
        if (residual && !p.residual_before)
#pragma unroll
            for (int e = 0; e < N; e++)
                v[e] += r[e];
    } else {
        activate<E>(v, p.act, p.alpha);
    }
    if constexpr (SPECIAL)
        if (p.plane > 0) {
            store_planes<E>(p, (int)pixel, c, v);
            return;
        }
    map_of<E>::store((E *)p.p[0] + pixel * p.ldo + c, v);
}

/* One question for a whole tile, and a copy of what follows for either answer: others are as quick as without it. */
template <class LOADER> __device__ __forceinline__ bool is_special(const gpu_conv_args &p)
{
    return LOADER::POINT && (p.plane > 0 || p.residual_half);
}

/* A tile out of the registers of PRODUCT; the loader knows which pixel a row of the tile is, or none (-1). */
template <bool SPECIAL, class PRODUCT, class LOADER>
__device__ __forceinline__ void store_tile(const gpu_conv_args &p, const LOADER &load, const PRODUCT &product,
                                           const float (&acc)[PRODUCT::MI][PRODUCT::NI][4])
{
    constexpr int MI = PRODUCT::MI, NI = PRODUCT::NI, G = NI < 4 ? NI : 4;
    constexpr bool FIRST = PRODUCT::WGMMA || SPECIAL; /* which pixels: few rows and many channels a thread want to know once */
    const int in_warp = threadIdx.x & 31, g = in_warp >> 2, t = in_warp & 3;
    const float *bias = (const float *)p.p[3];
    const auto tile = load.where();
    int pixels[MI][2];
#pragma unroll
    for (int i = 0; FIRST && i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            pixels[i][h] = tile.pixel(product.row(i) + h * 8 + g);
#pragma unroll
    for (int gg = 0; gg < NI / G; gg++) {
        const int c = load.n0 + product.column() + gg * 8 * G + t * 2 * G;
        if (c >= p.cout8)
            continue;
        float b[2 * G];
#pragma unroll
        for (int e = 0; e < 2 * G; e++)
            b[e] = __ldg(bias + c + e);
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int pixel = FIRST ? pixels[i][h] : tile.pixel(product.row(i) + h * 8 + g);
                if (pixel < 0)
                    continue;
                float v[2 * G];
#pragma unroll
                for (int j = 0; j < G; j++) {
                    v[2 * j] = acc[i][gg * G + j][2 * h] + b[2 * j];
                    v[2 * j + 1] = acc[i][gg * G + j][2 * h + 1] + b[2 * j + 1];
                }
                store_channels<typename PRODUCT::element, 2 * G, true, SPECIAL>(p, pixel, c, v);
            }
    }
}

template <int SPLIT> __device__ __forceinline__ void sync_split()
{
#if __CUDA_ARCH__ >= 900
    if (SPLIT > 1)
        asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    else
#endif
        __syncthreads();
}
/* 8 sums that lie at `from` in block z of the cluster. */
template <int SPLIT> __device__ __forceinline__ void add_sums(const float *from, int z, float (&v)[8])
{
    float4 u[2];
#if __CUDA_ARCH__ >= 900
    if (SPLIT > 1) {
        uint32_t remote;
        asm("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(remote) : "r"(shared_address(from)), "r"(z));
#pragma unroll
        for (int e = 0; e < 2; e++)
            asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3},[%4];"
                         : "=f"(u[e].x), "=f"(u[e].y), "=f"(u[e].z), "=f"(u[e].w)
                         : "r"(remote + 16 * e)
                         : "memory");
    } else
#endif
    {
        u[0] = *(const float4 *)from;
        u[1] = *(const float4 *)(from + 4);
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
        v[4 * e] += u[e].x;
        v[4 * e + 1] += u[e].y;
        v[4 * e + 2] += u[e].z;
        v[4 * e + 3] += u[e].w;
    }
}

/* The same where k groups of warps (WK) and the blocks of a cluster (SPLIT) hold parts of the sums: these meet in shared
 * memory, and each block of the cluster stores its share of the pixels. */
template <class PRODUCT, class LOADER>
__device__ __forceinline__ void store_sums(const gpu_conv_args &p, const LOADER &load, const PRODUCT &product, void *shared,
                                           const float (&acc)[PRODUCT::MI][PRODUCT::NI][4])
{
    float *const sums = (float *)shared;
    constexpr int BM = PRODUCT::BM, BN = PRODUCT::BN, NI = PRODUCT::NI, G = NI < 4 ? NI : 4, LD = BN + 4;
    constexpr int SPLIT = LOADER::SPLIT, OWN = BM / SPLIT;
    const int in_warp = threadIdx.x & 31, g = in_warp >> 2, t = in_warp & 3;
    const float *bias = (const float *)p.p[3];
    copy_wait<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < PRODUCT::MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int gg = 0; gg < NI / G; gg++) {
                float *d = sums + (product.wk * BM + product.row(i) + h * 8 + g) * LD + product.column() + gg * 8 * G + t * 2 * G;
#pragma unroll
                for (int j = 0; j < G; j++)
                    *(float2 *)(d + 2 * j) = make_float2(acc[i][gg * G + j][2 * h], acc[i][gg * G + j][2 * h + 1]);
            }
    sync_split<SPLIT>();
    const auto tile = load.where();
    for (int x = threadIdx.x; x < OWN * BN / 8; x += PRODUCT::THREADS) {
        const int r = (SPLIT > 1 ? blockIdx.z : 0) * OWN + x / (BN / 8), c8 = x % (BN / 8) * 8, c = load.n0 + c8;
        float v[8];
#pragma unroll
        for (int e = 0; e < 8; e++)
            v[e] = __ldg(bias + c + e);
#pragma unroll
        for (int z = 0; z < SPLIT; z++)
#pragma unroll
            for (int w = 0; w < PRODUCT::WK; w++)
                add_sums<SPLIT>(sums + (w * BM + r) * LD + c8, z, v);
        const int pixel = tile.pixel(r);
        if (pixel >= 0 && c < p.cout8)
            store_channels<typename PRODUCT::element, 8, true, LOADER::POINT>(p, pixel, c, v);
    }
    if (SPLIT > 1) /* nobody leaves while others still read his shared memory */
        sync_split<SPLIT>();
}

#endif
