/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.cuh"
#include "pull.h"

/* pull.h: a block a part. */

enum { THREADS = 256, UNROLL = 8 };

typedef struct pull_args {
    gpu_piece piece[GPU_MAX_PIECES];
    uint32_t first[GPU_MAX_PIECES + 1]; /* block of each piece */
    uint32_t parts[GPU_MAX_PIECES];     /* of a row */
    uint32_t part, value;
    const uint32_t *ready;
} pull_args;

/* Never from a cache: the host has written it after the kernel began. */
__device__ __forceinline__ uint4 read_through(const uint4 *p)
{
#if GPU_IS_HIP
    return *p; /* pinned memory is not cached there */
#else
    return __ldcv(p);
#endif
}

__device__ __forceinline__ void await(const uint32_t *flag, uint32_t value)
{
    if (threadIdx.x == 0) {
        /* later values mean that this one was there, too */
        while ((int32_t)(*(const volatile uint32_t *)flag - value) < 0) {
#if !GPU_IS_HIP
            __nanosleep(100);
#endif
        }
        __threadfence_system();
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS) pull(const __grid_constant__ pull_args a)
{
    uint32_t k = 0;
    while (blockIdx.x >= a.first[k + 1])
        k++;
    const uint32_t index = blockIdx.x - a.first[k], row = index / a.parts[k];
    const size_t begin = (size_t)(index % a.parts[k]) * a.part, left = a.piece[k].bytes - begin;
    const size_t bytes = left < a.part ? left : a.part, at = row * a.piece[k].pitch + begin;
    const uint4 *from = (const uint4 *)((const char *)a.piece[k].from + at);
    uint4 *to = (uint4 *)((char *)a.piece[k].to + at);
    if (a.ready)
        await(a.ready + (size_t)index * GPU_FLAG_WORDS, a.value);
    const uint32_t words = (uint32_t)(bytes / 16);
    for (uint32_t i = threadIdx.x; i < words; i += THREADS * UNROLL) {
        uint4 v[UNROLL];
#pragma unroll
        for (uint32_t u = 0; u < UNROLL; u++)
            if (i + u * THREADS < words)
                v[u] = read_through(from + i + u * THREADS);
#pragma unroll
        for (uint32_t u = 0; u < UNROLL; u++)
            if (i + u * THREADS < words)
                to[i + u * THREADS] = v[u];
    }
    if (threadIdx.x < bytes % 16)
        ((volatile uint8_t *)to)[(size_t)words * 16 + threadIdx.x] =
            ((const volatile uint8_t *)from)[(size_t)words * 16 + threadIdx.x];
}

extern "C" int gpu_pull(const gpu_piece *pieces, int32_t n, size_t part, const uint32_t *ready, uint32_t value,
                        gpu_stream *stream)
{
    pull_args a = {};
    for (int32_t k = 0; k < GPU_MAX_PIECES; k++) {
        a.first[k + 1] = a.first[k];
        if (k >= n)
            continue;
        a.piece[k] = pieces[k];
        a.parts[k] = (uint32_t)((pieces[k].bytes + part - 1) / part);
        a.first[k + 1] += a.parts[k] * (uint32_t)(pieces[k].rows > 1 ? pieces[k].rows : 1);
    }
    a.part = (uint32_t)part;
    a.value = value;
    a.ready = ready;
    if (a.first[GPU_MAX_PIECES] == 0)
        return 0;
    const cudaError_t e = gpu_start((const void *)pull, dim3(a.first[GPU_MAX_PIECES]), dim3(THREADS), 0, &a, 1, 0,
                                    (cudaStream_t)stream);
    if (e != cudaSuccess)
        (void)cudaGetLastError();
    return (int)e;
}
