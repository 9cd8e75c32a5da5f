/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_MMA_CUH
#define SK_ENGINES_CUDA_MMA_CUH

#include "args.h"
#include "conv_tiles.h"
#include "device.h"
#include "gpu_alias.h"
#include "kernels/sigmoid_formula.h"

/* What the tensor-core kernels share: asynchronous copies, fragments, the swizzle, the epilogue. */

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
/* 16 bytes to shared memory; zeros where not `valid` (the source is not read then). */
__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool valid)
{
    const int bytes = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
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

/* The same for tf32, k = 8: what lies in a 16-byte piece is 4 floats instead of 8 halves, and everything else is alike. */
__device__ __forceinline__ void mma_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* The tensor cores would cut the lower bits off. */
__device__ __forceinline__ uint32_t round_tf32(uint32_t bits)
{
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0,%1;" : "=r"(r) : "f"(__uint_as_float(bits)));
    return r;
}

/* x * sigmoid(x) as h + h tanh(h), h = x / 2: one special-function instruction; within 1e-5 of the exact value. */
__device__ __forceinline__ float fast_silu(float x)
{
    const float h = 0.5f * x;
    float t;
    asm("tanh.approx.f32 %0,%1;" : "=f"(t) : "f"(h));
    return fmaf(h, t, h);
}
__device__ __forceinline__ float fast_act(float x, int act, float alpha)
{
    if (act == GPU_ACT_SILU)
        return fast_silu(x);
    if (act == GPU_ACT_RELU)
        return fmaxf(x, 0.0f);
    if (act == GPU_ACT_LEAKY)
        return x < 0.0f ? alpha * x : x;
    if (act == GPU_ACT_SIGMOID)
        return __fdividef(1.0f, 1.0f + __expf(-x));
    return x;
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

/* A row of ROW bytes in shared memory has its 16-byte pieces exchanged by this number, so that ldmatrix meets no bank twice;
 * it is also the hardware's swizzle for wgmma. */
template <int ROW> __device__ __forceinline__ int swizzle(int row)
{
    return ROW >= 128 ? row & 7 : ROW == 64 ? (row >> 1) & 3 : ROW == 32 ? (row >> 2) & 1 : 0;
}

/* N (2, 4 or 8) consecutive channels: bias has been added; activation, residual, one store. */
template <int N>
__device__ __forceinline__ void store_channels(const gpu_conv_args &p, long long pixel, int c, float (&v)[N])
{
    const __half *residual = (const __half *)p.p[4];
    float r[N];
    if (residual) {
        const __half *from = residual + pixel * p.ldr + c;
        uint32_t bits[N / 2];
        if constexpr (N == 8)
            *(uint4 *)bits = *(const uint4 *)from;
        else if constexpr (N == 4)
            *(uint2 *)bits = *(const uint2 *)from;
        else
            bits[0] = *(const uint32_t *)from;
#pragma unroll
        for (int e = 0; e < N / 2; e++) {
            const float2 f = unpack_halves(bits[e]);
            r[2 * e] = f.x;
            r[2 * e + 1] = f.y;
        }
        if (p.residual_before)
#pragma unroll
            for (int e = 0; e < N; e++)
                v[e] += r[e];
    }
#pragma unroll
    for (int e = 0; e < N; e++)
        v[e] = fast_act(v[e], p.act, p.alpha);
    if (residual && !p.residual_before)
#pragma unroll
        for (int e = 0; e < N; e++)
            v[e] += r[e];
    __half *to = (__half *)p.p[0] + pixel * p.ldo + c;
    if constexpr (N == 8)
        *(uint4 *)to = make_uint4(pack_halves(v[0], v[1]), pack_halves(v[2], v[3]), pack_halves(v[4], v[5]),
                                  pack_halves(v[6], v[7]));
    else if constexpr (N == 4)
        *(uint2 *)to = make_uint2(pack_halves(v[0], v[1]), pack_halves(v[2], v[3]));
    else
        *(uint32_t *)to = pack_halves(v[0], v[1]);
}

/* Activation with the accuracy of fp32 maps. */
__device__ __forceinline__ float exact_act(float x, int act, float alpha)
{
    if (act == GPU_ACT_SILU)
        return x / (1.0f + __expf(-x));
    if (act == GPU_ACT_SIGMOID)
        return sk_sigmoid(x);
    return fast_act(x, act, alpha);
}

/* store_channels for fp32 maps. */
template <int N>
__device__ __forceinline__ void store_floats(const gpu_conv_args &p, long long pixel, int c, float (&v)[N])
{
    const float *residual = (const float *)p.p[4];
    float *to = (float *)p.p[0] + pixel * p.ldo + c;
#pragma unroll
    for (int e = 0; e < N; e += 2) {
        float2 r = make_float2(0.0f, 0.0f);
        if (residual)
            r = *(const float2 *)(residual + pixel * p.ldr + c + e);
        float2 x = make_float2(v[e], v[e + 1]);
        if (p.residual_before)
            x = make_float2(x.x + r.x, x.y + r.y);
        x = make_float2(exact_act(x.x, p.act, p.alpha), exact_act(x.y, p.act, p.alpha));
        if (!p.residual_before)
            x = make_float2(x.x + r.x, x.y + r.y);
        *(float2 *)(to + e) = x;
    }
}
template <bool TF32, int N>
__device__ __forceinline__ void store_result(const gpu_conv_args &p, long long pixel, int c, float (&v)[N])
{
    if constexpr (TF32)
        store_floats<N>(p, pixel, c, v);
    else
        store_channels<N>(p, pixel, c, v);
}

/* Where a row of the implicit matrix begins in the input, and which of its 9 taps lie inside. */
template <int KS>
__device__ __forceinline__ void locate_row(const gpu_conv_args &p, int m, bool valid, int &offset, uint32_t &mask)
{
    if (KS == 1) {
        offset = m * p.ldi;
        mask = valid;
        return;
    }
    const int plane = p.oh * p.ow, n = m / plane, q = m - n * plane, oy = q / p.ow, ox = q - oy * p.ow;
    const int iy = oy * p.stride - p.pad_y, ix = ox * p.stride - p.pad_x;
    mask = 0;
#pragma unroll
    for (int t = 0; t < 9; t++) {
        const int y = iy + t / 3, x = ix + t % 3;
        if (valid && y >= 0 && y < p.h && x >= 0 && x < p.w)
            mask |= 1u << t;
    }
    offset = ((n * p.h + iy) * p.w + ix) * p.ldi;
}

/* Kernels of a section of conv_tiles.h, in the order of its rows: gpu_igemm1_tiles and so on. */
struct tile_list {
    const void *const *functions;
    int count;
};
#define SECTION(name, kind) extern const tile_list gpu_##name##_tiles;
GPU_TILE_SECTIONS(SECTION)
#undef SECTION
/* Written once in the file of each section; FUNCTION(row) gives the kernels' addresses, a comma behind each. */
#define GPU_TILE_LIST(name, FUNCTION)                                                                                  \
    static const void *const name##_functions[] = {GPU_TILES_##name(FUNCTION)};                                        \
    const tile_list gpu_##name##_tiles = {name##_functions, (int)(sizeof name##_functions / sizeof name##_functions[0])};

#endif
