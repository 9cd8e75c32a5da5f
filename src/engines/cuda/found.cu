/* SPDX-License-Identifier: Apache-2.0 */
#include "on_device.cuh"

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
/* Bits of one word from 32 threads; whether any is other than before. */
__device__ __forceinline__ void gpu_vote(uint32_t *to, uint32_t before, int32_t bit, bool value, int32_t *changed)
{
#if GPU_IS_HIP
    const uint32_t word = (uint32_t)(__ballot(value) >> ((threadIdx.x & (warpSize - 1)) & 32));
#else
    const uint32_t word = __ballot_sync(0xffffffffu, value);
#endif
    if (bit != 0)
        return;
    *to = word;
    if (word != before)
        *changed = 1;
}
__device__ __forceinline__ void gpu_clear_bits(uint32_t *word, uint32_t bits)
{
    atomicAnd(word, ~bits);
}
__device__ __forceinline__ int32_t gpu_bits(uint32_t word)
{
    return __popc(word);
}
#include "found_element.h"

enum { SCAN_THREADS = 128, RANK_THREADS = 256, RANK_KEYS = 4, OVERLAP_THREADS = 256, SUPPRESS_THREADS = 1024, FINAL_THREADS = 256 };

__device__ __forceinline__ int sum_of_warp(int v)
{
    for (int step = 16; step > 0; step /= 2)
#if GPU_IS_HIP
        v += __shfl_xor(v, step, 32);
#else
        v += __shfl_xor_sync(0xffffffffu, v, step);
#endif
    return v;
}

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
    const int side = threadIdx.x % 4;
    for (int i = threadIdx.x / 4; i < (count + 7) / 8 * 8; i += SCAN_THREADS / 4) { /* whole warps */
        const bool mine = i < count;
        const float r = mine ? gpu_scan_side(&a, (int64_t)image * a.places + found[i], side) : 0.0f;
        float all[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
#if GPU_IS_HIP
            all[k] = __shfl(r, (int)(threadIdx.x & 28) + k, 32);
#else
            all[k] = __shfl_sync(0xffffffffu, r, (int)(threadIdx.x & 28) + k);
#endif
        if (mine && side == 0)
            gpu_scan_enter(&a, image, found[i], label[i], score[i], all);
    }
}

/* A warp counts for a few keys at a time how many are smaller. */
__global__ void __launch_bounds__(RANK_THREADS) rank_boxes(const __grid_constant__ gpu_args u)
{
    const gpu_rank_args &a = u.rank;
    const int in_warp = threadIdx.x & 31, warps = (int)gridDim.x * (RANK_THREADS / 32);
    gpu_chain();
    int32_t *words = gpu_found_image(a.p[0], &a.space, blockIdx.y);
    const uint64_t *keys = gpu_rank_keys(&a, words);
    const int n = gpu_rank_count(&a, words);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        gpu_rank_begin(&a, words);
    for (int first = ((int)blockIdx.x * (RANK_THREADS / 32) + (int)threadIdx.x / 32) * RANK_KEYS; first < n;
         first += warps * RANK_KEYS) {
        uint64_t own[RANK_KEYS], key = 0;
        int smaller[RANK_KEYS], rank = 0;
#pragma unroll
        for (int k = 0; k < RANK_KEYS; k++) {
            own[k] = first + k < n ? keys[first + k] : 0;
            smaller[k] = 0;
        }
        for (int i = in_warp; i < n; i += 32) {
            const uint64_t other = keys[i];
#pragma unroll
            for (int k = 0; k < RANK_KEYS; k++)
                smaller[k] += other < own[k];
        }
#pragma unroll
        for (int k = 0; k < RANK_KEYS; k++) {
            const int sum = sum_of_warp(smaller[k]);
            if (in_warp == k) {
                key = own[k];
                rank = sum;
            }
        }
        if (in_warp < RANK_KEYS && first + in_warp < n)
            gpu_rank_enter(&a, words, key, rank);
    }
}

__global__ void __launch_bounds__(OVERLAP_THREADS) overlap_boxes(const __grid_constant__ gpu_args u)
{
    const gpu_rank_args &a = u.rank;
    gpu_chain();
    int32_t *words = gpu_found_image(a.p[0], &a.space, blockIdx.y);
    int n = gpu_found_count(words, &a.space);
    n = n < a.most ? n : a.most;
    const int items = a.oriented ? gpu_drop_items(n) : gpu_mask_items(n);
    for (int i = (int)(blockIdx.x * OVERLAP_THREADS + threadIdx.x); i < items; i += (int)gridDim.x * OVERLAP_THREADS)
        if (a.oriented)
            gpu_drop_item(&a, words, n, i);
        else
            gpu_mask_item(&a, words, n, i);
}

__global__ void __launch_bounds__(OVERLAP_THREADS) pair_classes(const __grid_constant__ gpu_args u)
{
    const gpu_pairs_args &a = u.pairs;
    gpu_chain();
    int32_t *words = gpu_found_image(a.p[0], &a.space, blockIdx.y);
    const int items = gpu_pairs_places(&a, words) * a.classes;
    for (int i = (int)(blockIdx.x * OVERLAP_THREADS + threadIdx.x); i < items; i += (int)gridDim.x * OVERLAP_THREADS)
        gpu_pairs_item(&a, words, blockIdx.y, i);
}

__global__ void __launch_bounds__(SUPPRESS_THREADS) suppress_boxes(const __grid_constant__ gpu_args u)
{
    __shared__ gpu_found_shared shared;
    gpu_chain();
    gpu_suppress_block(&u.rank, &shared, blockIdx.x);
}

/* A warp a found one. */
__global__ void __launch_bounds__(FINAL_THREADS) final_found(const __grid_constant__ gpu_args u)
{
    const gpu_final_args &a = u.final;
    const int index = (int)blockIdx.x * (FINAL_THREADS / 32) + (int)threadIdx.x / 32;
    gpu_chain();
    if (index >= a.max_det)
        return;
    const int32_t *words = gpu_found_image(a.p[1], &a.space, blockIdx.y);
    float *to = (float *)a.p[0] + ((int64_t)blockIdx.y * a.max_det + index) * a.words;
    for (int c = threadIdx.x & 31; c < a.words; c += 32)
        to[c] = gpu_final_value(&a, words, blockIdx.y, index, c);
}

/* Blocks an image for work whose size is known on the device only: all the device for few images, some for many. */
static unsigned blocks_of(int images, int most)
{
    const int blocks = 1056 / images < 16 ? 16 : 1056 / images;
    return (unsigned)(blocks < most ? blocks : most);
}

cudaError_t gpu_start_found(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_args *a = l->args;
    const unsigned images = (unsigned)a->rank.n; /* of all but the scan */
    switch (l->kind) {
    case GPU_SCAN:
        return gpu_start((const void *)scan_places,
                         dim3((unsigned)((a->scan.places + SCAN_THREADS - 1) / SCAN_THREADS * a->scan.n)), dim3(SCAN_THREADS),
                         0, a, 1, l->pdl, stream);
    case GPU_RANKING: {
        const int keys = a->rank.what == GPU_RANK_PAIRS ? a->rank.most * a->rank.classes : a->rank.space.total;
        const int most = (keys + RANK_KEYS * RANK_THREADS / 32 - 1) / (RANK_KEYS * RANK_THREADS / 32);
        return gpu_start((const void *)rank_boxes, dim3(blocks_of(a->rank.n, most), images), dim3(RANK_THREADS), 0, a, 1,
                         l->pdl, stream);
    }
    case GPU_OVERLAPS:
        return gpu_start((const void *)overlap_boxes, dim3(blocks_of(a->rank.n, 1056), images), dim3(OVERLAP_THREADS), 0, a, 1,
                         l->pdl, stream);
    case GPU_PAIRS:
        return gpu_start((const void *)pair_classes,
                         dim3(blocks_of(a->pairs.n, (a->pairs.most * a->pairs.classes + OVERLAP_THREADS - 1) / OVERLAP_THREADS),
                              (unsigned)a->pairs.n),
                         dim3(OVERLAP_THREADS), 0, a, 1, l->pdl, stream);
    case GPU_SUPPRESS:
        return gpu_start((const void *)suppress_boxes, dim3(images), dim3(SUPPRESS_THREADS), 0, a, 1, l->pdl, stream);
    case GPU_FINAL:
        return gpu_start((const void *)final_found, dim3((unsigned)(a->final.max_det + 7) / 8, (unsigned)a->final.n),
                         dim3(FINAL_THREADS), 0, a, 1, l->pdl, stream);
    default: return cudaErrorInvalidValue;
    }
}
