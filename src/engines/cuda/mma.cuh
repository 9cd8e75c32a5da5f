/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_MMA_CUH
#define SK_ENGINES_CUDA_MMA_CUH

#include "args.h"
#include "conv_tiles.h"
#include "device.h"
#include "gpu_alias.h"

/* What the tensor-core kernels share: asynchronous copies, fragments, the swizzle. */

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
/* 16 bytes to shared memory; zeros where not `valid` (the source is not read then, and may be no address at all). */
__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool valid)
{
    const int bytes = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
/* The same of which only the first `bytes` are copied, and zeros come behind them. */
__device__ __forceinline__ void copy_part(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
/* The same where there is nothing to copy: the byte `fill` holds four times. */
__device__ __forceinline__ void fill16(uint32_t to, uint32_t fill)
{
    asm volatile("st.shared.v4.b32 [%0],{%1,%1,%1,%1};" ::"r"(to), "r"(fill) : "memory");
}
__device__ __forceinline__ void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> __device__ __forceinline__ void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void load_matrix4(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}
__device__ __forceinline__ void load_matrix4_turned(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}
__device__ __forceinline__ void load_matrix2(uint32_t &r0, uint32_t &r1, uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];" : "=r"(r0), "=r"(r1) : "r"(address) : "memory");
}
__device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The same for tf32, k = 8: what lies in a 16-byte piece is 4 floats instead of 8 halves, and everything else is alike. */
__device__ __forceinline__ void mma_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* Bytes times signed bytes, k = 32, exact. */
__device__ __forceinline__ void mma_bytes(int (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* Numbers of e4m3 (graph/f8_formula.h), as an element of maps and weights. Compute capability 8.9 has instructions for it; elsewhere
 * these do nothing and are never launched. */
struct e4m3 {
    uint8_t code;
};
template <class E> constexpr bool is_e4m3 = false;
template <> constexpr bool is_e4m3<e4m3> = true;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define GPU_HAS_E4M3 1
#else
#define GPU_HAS_E4M3 0
#endif
__device__ __forceinline__ void mma_e4m3(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#if GPU_HAS_E4M3
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
/* The nearest of two numbers, half to even, at most 448: sk_f8_of. */
__device__ __forceinline__ uint32_t pack_e4m3(float a, float b)
{
    uint16_t two = 0;
#if GPU_HAS_E4M3
    asm("cvt.rn.satfinite.e4m3x2.f32 %0,%1,%2;" : "=h"(two) : "f"(b), "f"(a));
#endif
    return two;
}
/* Two codes, the lower 16 bits. */
__device__ __forceinline__ float2 unpack_e4m3(uint32_t two)
{
    uint32_t halves = 0;
#if GPU_HAS_E4M3
    asm("cvt.rn.f16x2.e4m3x2 %0,%1;" : "=r"(halves) : "h"((uint16_t)two));
#endif
    return __half22float2(*(const __half2 *)&halves);
}
/* The tensor cores would cut the lower bits off. */
__device__ __forceinline__ uint32_t round_tf32(uint32_t bits)
{
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0,%1;" : "=r"(r) : "f"(__uint_as_float(bits)));
    return r;
}

__device__ __forceinline__ uint32_t pack_halves(float a, float b)
{
    const __half2 h = __floats2half2_rn(a, b);
    return *(const uint32_t *)&h;
}
__device__ __forceinline__ float2 unpack_halves(uint32_t bits)
{
    return __half22float2(*(const __half2 *)&bits);
}

/* Two neighbours of a map of halves or of bf16, in a word. */
template <class E> struct two_of;
template <> struct two_of<__half> {
    static __device__ __forceinline__ uint32_t pack(float a, float b)
    {
        return pack_halves(a, b);
    }
    static __device__ __forceinline__ float2 unpack(uint32_t bits)
    {
        return unpack_halves(bits);
    }
    static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
    {
        const __half2 m = __hmax2(*(const __half2 *)&a, *(const __half2 *)&b);
        return *(const uint32_t *)&m;
    }
    static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        mma(c, a, b0, b1);
    }
    static constexpr uint32_t LOWEST = 0xfc00fc00u;
};
template <> struct two_of<__nv_bfloat16> {
    static __device__ __forceinline__ uint32_t pack(float a, float b)
    {
        const __nv_bfloat162 h = __floats2bfloat162_rn(a, b);
        return *(const uint32_t *)&h;
    }
    static __device__ __forceinline__ float2 unpack(uint32_t bits)
    {
        return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u));
    }
    static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
    {
        const __nv_bfloat162 m = __hmax2(*(const __nv_bfloat162 *)&a, *(const __nv_bfloat162 *)&b);
        return *(const uint32_t *)&m;
    }
    static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        mma_bf16(c, a, b0, b1);
    }
    static constexpr uint32_t LOWEST = 0xff80ff80u;
};

/* Sums of a tile to zero. */
template <class SUM, int MI, int NI> __device__ __forceinline__ void clear(SUM (&acc)[MI][NI][4])
{
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                acc[i][j][e] = 0;
}

/* A row of ROW bytes in shared memory has its 16-byte pieces exchanged by this number, so that ldmatrix meets no bank twice;
 * it is also the hardware's swizzle for wgmma. */
template <int ROW> __device__ __forceinline__ int swizzle(int row)
{
    return ROW >= 128 ? row & 7 : ROW == 64 ? (row >> 1) & 3 : ROW == 32 ? (row >> 2) & 1 : 0;
}

/* Computed once and kept: without it, what is cheap to compute is computed again in every round of a loop. */
__device__ __forceinline__ void keep(uint32_t &x)
{
    asm("" : "+r"(x));
}
template <class E> __device__ __forceinline__ void keep(const E *&x)
{
    asm("" : "+l"(x));
}

/* Kernels of a section of conv_tiles.h, in the order of its rows: gpu_igemm1_tiles and so on. */
struct tile_list {
    const void *const *functions;
    int count;
};
#define SECTION(name, kind) extern const tile_list gpu_##name##_tiles;
GPU_TILE_SECTIONS(SECTION)
#undef SECTION

#endif
