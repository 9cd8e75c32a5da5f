/* SPDX-License-Identifier: Apache-2.0 */
#include "on_device.cuh"

#include "peak_element.h"

/* Peaks of maps: peak_element.h an element a thread, and, for maps of fp16, eight channels of a pixel a thread. */

__global__ void __launch_bounds__(256) peaks_simple(const __grid_constant__ gpu_args u)
{
    gpu_chain();
    const int64_t count = gpu_peaks_count(&u.peaks);
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 256)
        gpu_peaks_element(&u.peaks, i);
}

/* Values above the threshold are rare: a chunk is one load and eight comparisons. */
__global__ void __launch_bounds__(256, 4) peaks_local(const __grid_constant__ gpu_args u)
{
    const gpu_peaks_args &a = u.peaks;
    gpu_chain();
    const unsigned c8 = (unsigned)(a.channels + 7) / 8, w = (unsigned)a.maps.w, h = (unsigned)a.maps.h;
    const unsigned count = (unsigned)a.n * h * w * c8; /* below 2^31: gpu_start_peaks sees to it */
    for (unsigned i = blockIdx.x * 256u + threadIdx.x; i < count; i += gridDim.x * 256u) {
        const unsigned chunk = i % c8, pixel = i / c8;
        const uint4 bits = *(const uint4 *)((const __half *)a.p[1] + (int64_t)pixel * a.maps.pixel + chunk * 8);
        const __half *v = (const __half *)&bits;
        unsigned above = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            above |= (unsigned)(__half2float(v[k]) > a.threshold && (int)(chunk * 8) + k < a.channels) << k;
        for (; above; above &= above - 1) {
            const int32_t c = (int32_t)chunk * 8 + __ffs((int)above) - 1, y = (int32_t)(pixel / w % h), x = (int32_t)(pixel % w);
            gpu_peak_look(&a, pixel / w / h, c, y, x, gpu_view_at(a.p[1], &a.maps, pixel / w / h, c, y, x));
        }
    }
}

/* Planes of floats without gaps: a value a thread. */
__global__ void __launch_bounds__(256, 4) peaks_planes(const __grid_constant__ gpu_args u)
{
    const gpu_peaks_args &a = u.peaks;
    gpu_chain();
    const unsigned w = (unsigned)a.maps.w, h = (unsigned)a.maps.h, channels = (unsigned)a.channels;
    const unsigned count = (unsigned)a.n * h * w * channels; /* below 2^31 */
    const float *maps = (const float *)a.p[1];
    for (unsigned i = blockIdx.x * 256u + threadIdx.x; i < count; i += gridDim.x * 256u) {
        const float v = maps[i];
        if (v > a.threshold)
            gpu_peak_look(&a, i / w / h / channels, (int32_t)(i / w / h % channels), (int32_t)(i / w % h), (int32_t)(i % w), v);
    }
}

#if !GPU_IS_HIP
/* The best of a block's threads, known to all of them. */
template <int THREADS> __device__ __forceinline__ sk_highest highest_of_block(sk_highest best)
{
    __shared__ sk_highest found[THREADS / 32];
    for (int s = 16; s > 0; s /= 2) {
        const float v = __shfl_xor_sync(0xffffffffu, best.v, s);
        const int32_t x = __shfl_xor_sync(0xffffffffu, best.x, s), y = __shfl_xor_sync(0xffffffffu, best.y, s);
        sk_highest_join(&best, v, x, y);
    }
    if (threadIdx.x % 32 == 0)
        found[threadIdx.x / 32] = best;
    __syncthreads();
    for (int k = 0; k < THREADS / 32; k++)
        sk_highest_join(&best, found[k].v, found[k].x, found[k].y);
    return best;
}

/* The highest of a plane of floats, or of its slices: x slice, y channel, z image. */
template <int THREADS, bool SLICES> __global__ void __launch_bounds__(THREADS) highest_plane(const __grid_constant__ gpu_args u)
{
    const gpu_peaks_args &a = u.peaks;
    gpu_chain();
    int32_t from = 0, to = a.maps.h * a.maps.w;
    if (SLICES)
        gpu_slice_range(&a, (int32_t)blockIdx.x, &from, &to);
    const float *plane = (const float *)a.p[1] + (int64_t)blockIdx.z * a.maps.image + (int64_t)blockIdx.y * a.maps.channel;
    sk_highest best = sk_highest_begin();
#pragma unroll 4
    for (int32_t i = from + (int32_t)threadIdx.x; i < to; i += THREADS)
        sk_highest_join(&best, plane[i], i % a.maps.w, i / a.maps.w);
    best = highest_of_block<THREADS>(best);
    if (threadIdx.x == 0 && SLICES)
        gpu_slice_write(&a, blockIdx.z, (int32_t)blockIdx.x, (int32_t)blockIdx.y, &best);
    if (threadIdx.x == 0 && !SLICES)
        gpu_highest_write(&a, blockIdx.z, (int32_t)blockIdx.y, &best);
}

/* The highest of eight channels among some places of an image, by a block: in the end thread k < 8 has that of channel k. */
template <int THREADS>
__device__ __forceinline__ sk_highest highest_of_eight(const gpu_peaks_args &a, const __half *maps, int32_t from, int32_t to)
{
    __shared__ sk_highest found[THREADS / 32][8];
    sk_highest best[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        best[k] = sk_highest_begin();
#pragma unroll 4
    for (int32_t i = from + (int32_t)threadIdx.x; i < to; i += THREADS) {
        const uint4 bits = *(const uint4 *)(maps + (int64_t)i * a.maps.pixel);
        const __half *v = (const __half *)&bits;
        const int32_t x = i % a.maps.w, y = i / a.maps.w;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sk_highest_join(&best[k], __half2float(v[k]), x, y);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        for (int s = 16; s > 0; s /= 2) {
            const float v = __shfl_xor_sync(0xffffffffu, best[k].v, s);
            const int32_t x = __shfl_xor_sync(0xffffffffu, best[k].x, s), y = __shfl_xor_sync(0xffffffffu, best[k].y, s);
            sk_highest_join(&best[k], v, x, y);
        }
        if (threadIdx.x % 32 == 0)
            found[threadIdx.x / 32][k] = best[k];
    }
    __syncthreads();
    sk_highest all = found[0][threadIdx.x % 8];
    for (int k = 1; k < THREADS / 32; k++)
        sk_highest_join(&all, found[k][threadIdx.x % 8].v, found[k][threadIdx.x % 8].x, found[k][threadIdx.x % 8].y);
    return all;
}

/* x slice, y chunk of eight channels, z image. */
__global__ void __launch_bounds__(128) peaks_slices(const __grid_constant__ gpu_args u)
{
    const gpu_peaks_args &a = u.peaks;
    gpu_chain();
    int32_t from, to;
    gpu_slice_range(&a, (int32_t)blockIdx.x, &from, &to);
    const __half *maps = (const __half *)a.p[1] + (int64_t)blockIdx.z * a.maps.image + blockIdx.y * 8;
    const sk_highest best = highest_of_eight<128>(a, maps, from, to);
    const int32_t c = (int32_t)blockIdx.y * 8 + (int32_t)threadIdx.x;
    if (threadIdx.x < 8 && c < a.channels)
        gpu_slice_write(&a, blockIdx.z, (int32_t)blockIdx.x, c, &best);
}

/* Small maps at once: y chunk, z image. */
__global__ void __launch_bounds__(512) peaks_highest(const __grid_constant__ gpu_args u)
{
    const gpu_peaks_args &a = u.peaks;
    gpu_chain();
    const __half *maps = (const __half *)a.p[1] + (int64_t)blockIdx.z * a.maps.image + blockIdx.y * 8;
    const sk_highest best = highest_of_eight<512>(a, maps, 0, a.maps.h * a.maps.w);
    const int32_t c = (int32_t)blockIdx.y * 8 + (int32_t)threadIdx.x;
    if (threadIdx.x < 8 && c < a.channels)
        gpu_highest_write(&a, blockIdx.z, c, &best);
}
#endif

cudaError_t gpu_start_peaks(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_peaks_args *a = &l->args->peaks;
    const int64_t c8 = (a->channels + 7) / 8, pixels = (int64_t)a->n * a->maps.h * a->maps.w;
    const bool chunks = a->maps.type == GPU_F16 && a->maps.channel == 1 && a->maps.pixel % 8 == 0 &&
                        ((uintptr_t)a->p[1] & 15) == 0 && pixels * c8 < 0x7fffffff;
    const bool planes = a->maps.type == GPU_F32 && a->maps.pixel == 1 && a->maps.channel == a->maps.h * a->maps.w &&
                        pixels * a->channels < 0x7fffffff;
    int64_t count = gpu_peaks_count(a);
    const void *function = (const void *)peaks_simple;
#if !GPU_IS_HIP
    if (planes && a->n < 65536 && a->what == GPU_PEAKS_SLICES)
        return gpu_start((const void *)highest_plane<128, true>, dim3((unsigned)a->n_slices, (unsigned)a->channels, (unsigned)a->n),
                         dim3(128), 0, l->args, 1, l->pdl, stream);
    if (planes && a->n < 65536 && a->what == GPU_PEAKS_HIGHEST && a->n_slices == 0)
        return gpu_start((const void *)highest_plane<512, false>, dim3(1, (unsigned)a->channels, (unsigned)a->n), dim3(512), 0,
                         l->args, 1, l->pdl, stream);
    if (chunks && a->what == GPU_PEAKS_SLICES && a->n < 65536)
        return gpu_start((const void *)peaks_slices, dim3((unsigned)a->n_slices, (unsigned)c8, (unsigned)a->n), dim3(128), 0,
                         l->args, 1, l->pdl, stream);
    if (chunks && a->what == GPU_PEAKS_HIGHEST && a->n_slices == 0 && a->n < 65536)
        return gpu_start((const void *)peaks_highest, dim3(1, (unsigned)c8, (unsigned)a->n), dim3(512), 0, l->args, 1, l->pdl,
                         stream);
#endif
    if (chunks && a->what == GPU_PEAKS_LOCAL) {
        function = (const void *)peaks_local;
        count = pixels * c8;
    }
    if (planes && a->what == GPU_PEAKS_LOCAL)
        function = (const void *)peaks_planes;
    const int64_t blocks = (count + 255) / 256;
    return gpu_start(function, dim3((unsigned)(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks)), dim3(256), 0, l->args, 1,
                     l->pdl, stream);
}
