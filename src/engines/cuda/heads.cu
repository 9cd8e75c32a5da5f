/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.cuh"
#include "kernels/sigmoid_formula.h"

/* Outputs in fp32 from maps of fp16 or bf16: a pixel a thread, four channels at a time, all weights in shared memory. */

enum { THREADS = 128, AT_ONCE = 4 };

__device__ __forceinline__ float head_act(float x, int32_t act, float alpha)
{
    switch (act) {
    case GPU_ACT_RELU: return x < 0 ? 0 : x;
    case GPU_ACT_LEAKY: return x < 0 ? alpha * x : x;
    case GPU_ACT_SIGMOID: return sk_sigmoid(x);
    default: return x;
    }
}

/* BRAIN: of bf16, the upper half of a float's bits. */
template <bool BRAIN> __global__ void __launch_bounds__(THREADS) head(const __grid_constant__ gpu_args u)
{
    extern __shared__ float4 shared[];
    const gpu_head_args &a = u.head;
    float *weights = (float *)shared;
    for (int i = (int)threadIdx.x; i < a.cin * a.cout / 4; i += THREADS)
        shared[i] = ((const float4 *)a.p[2])[i];
    __syncthreads();
    gpu_chain();
    const int64_t pixel = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (pixel >= a.n * a.plane)
        return;
    const uint4 *in = (const uint4 *)((const uint16_t *)a.p[1] + pixel * a.ld);
    float *out = (float *)a.p[0] + pixel / a.plane * a.cout * a.plane + pixel % a.plane;
    for (int c = 0; c < a.cout; c += AT_ONCE) {
        float sum[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            sum[k] = c + k < a.cout ? ((const float *)a.p[3])[c + k] : 0.0f;
        for (int chunk = 0; chunk < a.cin / 8; chunk++) {
            const uint4 bits = in[chunk];
            const uint32_t *words = (const uint32_t *)&bits;
            float x[8];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float2 two = BRAIN ? make_float2(__uint_as_float(words[j] << 16), __uint_as_float(words[j] & 0xffff0000u))
                                         : __half22float2(*(const __half2 *)&words[j]);
                x[2 * j] = two.x;
                x[2 * j + 1] = two.y;
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                if (c + k >= a.cout)
                    break;
                const float4 *w = (const float4 *)(weights + (c + k) * a.cin + chunk * 8);
                const float4 l = w[0], r = w[1];
                sum[k] += l.x * x[0] + l.y * x[1] + l.z * x[2] + l.w * x[3] + r.x * x[4] + r.y * x[5] + r.z * x[6] + r.w * x[7];
            }
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (c + k < a.cout)
                out[(int64_t)(c + k) * a.plane] = head_act(sum[k], a.act, a.alpha);
    }
}

cudaError_t gpu_start_head(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_head_args *a = &l->args->head;
    const int64_t blocks = (a->n * a->plane + THREADS - 1) / THREADS;
    const void *function = a->type == GPU_BF16 ? (const void *)head<true> : (const void *)head<false>;
    return gpu_start(function, dim3((unsigned)(blocks < 1 ? 1 : blocks)), dim3(THREADS), a->cin * a->cout * 4, l->args, 1,
                     l->pdl, stream);
}
