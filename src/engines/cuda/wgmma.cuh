/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_WGMMA_CUH
#define SK_ENGINES_CUDA_WGMMA_CUH

#include "mma.cuh"

/* Hopper's warpgroup product: 64 x N x 16, A from registers (the fragments of ldmatrix), B from swizzled shared memory by a
 * descriptor, sums in registers. Only sm_90a has it; elsewhere these do nothing and are never launched. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GPU_HAS_WGMMA 1
#else
#define GPU_HAS_WGMMA 0
#endif

__device__ __forceinline__ void wgmma_fence()
{
#if GPU_HAS_WGMMA
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void wgmma_commit()
{
#if GPU_HAS_WGMMA
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int N> __device__ __forceinline__ void wgmma_wait()
{
#if GPU_HAS_WGMMA
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#endif
}
/* Shared memory written by copies becomes visible to the product units. */
__device__ __forceinline__ void proxy_fence()
{
#if GPU_HAS_WGMMA
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/* Rows of RB bytes, k along the row, swizzled over RB bytes. */
template <int RB> __device__ __forceinline__ uint64_t wgmma_descriptor(uint32_t address)
{
    constexpr uint64_t layout = RB == 128 ? 1 : RB == 64 ? 2 : 3;
    return (uint64_t)((address & 0x3ffff) >> 4) | (1ull << 16) | ((uint64_t)(8 * RB >> 4) << 32) | (layout << 62);
}

template <int N> struct wgmma_product;

template <> struct wgmma_product<16> {
    static __device__ __forceinline__ void run(float (&d)[8], const uint32_t (&a)[4], uint64_t b)
    {
#if GPU_HAS_WGMMA
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9,%10,%1"
            "1},%12,1,1,1,0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
              "+f"(d[7])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
    }
};

template <> struct wgmma_product<32> {
    static __device__ __forceinline__ void run(float (&d)[16], const uint32_t (&a)[4], uint64_t b)
    {
#if GPU_HAS_WGMMA
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,"
            "%12,%13,%14,%15},{%16,%17,%18,%19},%20,1,1,1,0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
              "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
              "+f"(d[14]), "+f"(d[15])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
    }
};

template <> struct wgmma_product<64> {
    static __device__ __forceinline__ void run(float (&d)[32], const uint32_t (&a)[4], uint64_t b)
    {
#if GPU_HAS_WGMMA
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,"
            "%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,"
            "%34,%35},%36,1,1,1,0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
              "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
              "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
              "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
              "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
    }
};

template <> struct wgmma_product<128> {
    static __device__ __forceinline__ void run(float (&d)[64], const uint32_t (&a)[4], uint64_t b)
    {
#if GPU_HAS_WGMMA
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11"
            ",%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%"
            "34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56"
            ",%57,%58,%59,%60,%61,%62,%63},{%64,%65,%66,%67},%68,1,1,1,0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
              "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
              "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
              "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
              "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
              "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
              "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
              "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
              "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
              "+f"(d[63])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
    }
};

/* The sums of one warp's 16 x N: rows pixel and pixel + 8 of the thread. */
template <int NI>
__device__ __forceinline__ void wgmma_store(const float (&acc)[NI * 4], const gpu_conv_args &p, int c0, int t, long long pixel0,
                                            long long pixel1, bool valid0, bool valid1)
{
    constexpr int G = NI < 4 ? NI : 4;
    const float *bias = (const float *)p.p[3];
#pragma unroll
    for (int gg = 0; gg < NI / G; gg++) {
        const int c = c0 + gg * 8 * G + t * 2 * G;
        if (c >= p.cout8)
            continue;
        float b[2 * G];
#pragma unroll
        for (int e = 0; e < 2 * G; e++)
            b[e] = __ldg(bias + c + e);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            if (!(h ? valid1 : valid0))
                continue;
            float v[2 * G];
#pragma unroll
            for (int j = 0; j < G; j++) {
                v[2 * j] = acc[(gg * G + j) * 4 + 2 * h] + b[2 * j];
                v[2 * j + 1] = acc[(gg * G + j) * 4 + 2 * h + 1] + b[2 * j + 1];
            }
            store_channels<2 * G>(p, h ? pixel1 : pixel0, c, v);
        }
    }
}

#endif
