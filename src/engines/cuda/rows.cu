/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.cuh"

#include <math.h>

#define GPU_HD __device__ __forceinline__
__device__ __forceinline__ float gpu_half_load(const void *p, int64_t i)
{
    return __half2float(((const __half *)p)[i]);
}
__device__ __forceinline__ int32_t gpu_next(int32_t *counter)
{
    return atomicAdd(counter, 1);
}
__device__ __forceinline__ int32_t gpu_thread()
{
    return (int32_t)threadIdx.x;
}
__device__ __forceinline__ int32_t gpu_threads()
{
    return (int32_t)blockDim.x;
}
__device__ __forceinline__ void gpu_sync()
{
    __syncthreads();
}
__device__ __forceinline__ void gpu_sync_warp()
{
#if GPU_IS_HIP
    __syncthreads();
#else
    __syncwarp();
#endif
}
__device__ __forceinline__ void gpu_clear_bits(uint32_t *word, uint32_t bits)
{
    atomicAnd(word, ~bits);
}
__device__ __forceinline__ int32_t gpu_bits(uint32_t word)
{
    return __popc(word);
}
__device__ __forceinline__ uint32_t gpu_float_bits(float v)
{
    return __float_as_uint(v);
}
__device__ __forceinline__ float gpu_bits_float(uint32_t bits)
{
    return __uint_as_float(bits);
}
#include "row_element.h"

enum { SCAN_THREADS = 128, BLOCK_THREADS = 1024, DROP_THREADS = 256 };

/* A place a thread; those that pass are decoded by four threads each. */
__global__ void __launch_bounds__(SCAN_THREADS) scan_places(const __grid_constant__ gpu_args u)
{
    const gpu_scan_args &a = u.scan;
    __shared__ int found[SCAN_THREADS], label[SCAN_THREADS], count;
    __shared__ float score[SCAN_THREADS];
    const int blocks = (a.places + SCAN_THREADS - 1) / SCAN_THREADS, image = blockIdx.x / blocks;
    const int place = (blockIdx.x % blocks) * SCAN_THREADS + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    gpu_chain();
    __syncthreads();
    if (place < a.places) {
        float v = 0;
        const int c = gpu_scan_class(&a, (int64_t)image * a.places + place, &v);
        if (c >= 0) {
            const int at = atomicAdd(&count, 1);
            found[at] = place;
            label[at] = c;
            score[at] = v;
        }
    }
    __syncthreads();
    const int side = threadIdx.x % 4, first = threadIdx.x & 31 & ~3;
    for (int i = threadIdx.x / 4; i < (count + 7) / 8 * 8; i += SCAN_THREADS / 4) { /* whole warps */
        const bool mine = i < count;
        const float r = mine ? gpu_scan_side(&a, (int64_t)image * a.places + found[i], side) : 0.0f;
        float all[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
#if GPU_IS_HIP
            all[k] = __shfl(r, (threadIdx.x & (warpSize - 1) & ~3) + k);
#else
            all[k] = __shfl_sync(0xffffffffu, r, first + k);
#endif
        if (mine && side == 0)
            gpu_scan_enter(&a, image, found[i], label[i], score[i], all);
    }
    (void)first;
}

__global__ void __launch_bounds__(BLOCK_THREADS) rank_boxes(const __grid_constant__ gpu_args u)
{
    __shared__ gpu_row_shared shared;
    gpu_chain();
    gpu_rank_block(&u.rank, &shared, blockIdx.x);
}

__global__ void __launch_bounds__(DROP_THREADS) drop_boxes(const __grid_constant__ gpu_args u)
{
    const gpu_rank_args &a = u.rank;
    gpu_chain();
    for (int image = 0; image < a.n; image++) {
        int32_t *words = gpu_row_image(a.p[0], &a.space, image);
        int n = words[0] < a.space.total ? words[0] : a.space.total;
        n = n < a.most ? n : a.most;
        const int64_t items = gpu_drop_items(n);
        for (int64_t i = (int64_t)blockIdx.x * DROP_THREADS + threadIdx.x; i < items; i += (int64_t)gridDim.x * DROP_THREADS)
            gpu_drop_item(&a, words, n, i);
    }
}

__global__ void __launch_bounds__(BLOCK_THREADS) final_rows(const __grid_constant__ gpu_args u)
{
    __shared__ gpu_row_shared shared;
    gpu_chain();
    gpu_final_block(&u.final, &shared, blockIdx.x);
}

cudaError_t gpu_start_rows(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_args *a = l->args;
    if (l->kind == GPU_SCAN) {
        const unsigned blocks = (unsigned)((a->scan.places + SCAN_THREADS - 1) / SCAN_THREADS * a->scan.n);
        return gpu_start((const void *)scan_places, dim3(blocks), dim3(SCAN_THREADS), 0, a, 1, l->pdl, stream);
    }
    if (l->kind == GPU_RANKING)
        return gpu_start((const void *)rank_boxes, dim3((unsigned)a->rank.n), dim3(BLOCK_THREADS), 0, a, 1, l->pdl, stream);
    if (l->kind == GPU_DROP) /* how many there are is known on the device only */
        return gpu_start((const void *)drop_boxes, dim3(264), dim3(DROP_THREADS), 0, a, 1, l->pdl, stream);
    if (l->kind == GPU_FINAL)
        return gpu_start((const void *)final_rows, dim3((unsigned)a->final.n), dim3(BLOCK_THREADS), 0, a, 1, l->pdl, stream);
    return cudaErrorInvalidValue;
}
