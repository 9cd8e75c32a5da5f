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

/* 64 x N x 16 (of e4m3, 32), added to d: the sums of N columns, and their numbers in the text. */
#define SUMS_8(d, j)                                                                                                   \
    "+f"((d)[j][0]), "+f"((d)[j][1]), "+f"((d)[j][2]), "+f"((d)[j][3]), "+f"((d)[(j) + 1][0]), "+f"((d)[(j) + 1][1]), \
        "+f"((d)[(j) + 1][2]), "+f"((d)[(j) + 1][3])
#define SUMS_16(d, j) SUMS_8(d, j), SUMS_8(d, (j) + 2)
#define SUMS_32(d, j) SUMS_16(d, j), SUMS_16(d, (j) + 4)
#define SUMS_64(d, j) SUMS_32(d, j), SUMS_32(d, (j) + 8)
#define SUMS_128(d, j) SUMS_64(d, j), SUMS_64(d, (j) + 16)
#define TEXT_8        "%0,%1,%2,%3,%4,%5,%6,%7"
#define TEXT_16       TEXT_8 "," "%8,%9,%10,%11,%12,%13,%14,%15"
#define TEXT_32       TEXT_16 "," "%16,%17,%18,%19,%20,%21,%22,%23" "," "%24,%25,%26,%27,%28,%29,%30,%31"
#define TEXT_64                                                                                                        \
    TEXT_32 "," "%32,%33,%34,%35,%36,%37,%38,%39" "," "%40,%41,%42,%43,%44,%45,%46,%47" "," "%48,%49,%50,%51,%52,%53,%54,%55" \
            "," "%56,%57,%58,%59,%60,%61,%62,%63"
#define TEXT_128 TEXT_64 "," "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79" "," "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95" "," "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" "," "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#if GPU_HAS_WGMMA
#define WGMMA_RUN(n, types, end, texts, sums, a0, a1, a2, a3, b0)                                                      \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n types " {" texts "},{%" #a0 ",%" #a1 ",%" #a2 ",%" #a3         \
                 "},%" #b0 end ";"                                                                                     \
                 : sums                                                                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#else
#define WGMMA_RUN(n, types, end, texts, sums, a0, a1, a2, a3, b0) ((void)d, (void)a, (void)b)
#endif
#define WGMMA_WIDTHS(types, end)                                                                                         \
    if constexpr (N == 16)                                                                                             \
        WGMMA_RUN(16, types, end, TEXT_8, SUMS_8(d, 0), 8, 9, 10, 11, 12);                                                  \
    else if constexpr (N == 32)                                                                                        \
        WGMMA_RUN(32, types, end, TEXT_16, SUMS_16(d, 0), 16, 17, 18, 19, 20);                                              \
    else if constexpr (N == 64)                                                                                        \
        WGMMA_RUN(64, types, end, TEXT_32, SUMS_32(d, 0), 32, 33, 34, 35, 36);                                              \
    else if constexpr (N == 128)                                                                                       \
        WGMMA_RUN(128, types, end, TEXT_64, SUMS_64(d, 0), 64, 65, 66, 67, 68);                                             \
    else                                                                                                               \
        WGMMA_RUN(256, types, end, TEXT_128, SUMS_128(d, 0), 128, 129, 130, 131, 132)
template <int N, class E>
__device__ __forceinline__ void wgmma_product(float (&d)[N / 8][4], const uint32_t (&a)[4], uint64_t b)
{
    static_assert(N == 16 || N == 32 || N == 64 || N == 128 || N == 256, "columns");
    if constexpr (sizeof(E) == 1) {
        WGMMA_WIDTHS("k32.f32.e4m3.e4m3", ",1,1,1");
    } else if constexpr (two_of<E>::LOWEST == two_of<__half>::LOWEST) {
        WGMMA_WIDTHS("k16.f32.f16.f16", ",1,1,1,0");
    } else {
        WGMMA_WIDTHS("k16.f32.bf16.bf16", ",1,1,1,0");
    }
}

#endif
