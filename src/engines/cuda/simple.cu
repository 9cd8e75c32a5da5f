/* SPDX-License-Identifier: Apache-2.0 */
#include "on_device.cuh"

#include "element.h"

/* The simple kernels: element.h, an element a thread. */
template <int KIND> __global__ void __launch_bounds__(256) simple(const __grid_constant__ gpu_args a)
{
    gpu_chain();
    const int64_t count = gpu_element_count((gpu_kind)KIND, &a);
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 256)
        gpu_element((gpu_kind)KIND, &a, i);
}

template <int KIND> static cudaError_t start(const gpu_launch *l, int64_t count, cudaStream_t stream)
{
    const int64_t blocks = (count + 255) / 256;
    return gpu_start((const void *)simple<KIND>, dim3((unsigned)(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks)),
                     dim3(256), 0, l->args, 1, l->pdl, stream);
}

cudaError_t gpu_start_simple(const gpu_launch *l, cudaStream_t stream)
{
    const int64_t n = gpu_element_count(l->kind, l->args);
    switch (l->kind) {
    case GPU_CONV_ANY: return start<GPU_CONV_ANY>(l, n, stream);
    case GPU_DECONV: return start<GPU_DECONV>(l, n, stream);
    case GPU_DEPTHWISE: return start<GPU_DEPTHWISE>(l, n, stream);
    case GPU_SHUFFLE: return start<GPU_SHUFFLE>(l, n, stream);
    case GPU_POOL: return start<GPU_POOL>(l, n, stream);
    case GPU_POOL_CHAIN: return start<GPU_POOL_CHAIN>(l, n, stream);
    case GPU_RESIZE: return start<GPU_RESIZE>(l, n, stream);
    case GPU_COPY: return start<GPU_COPY>(l, n, stream);
    case GPU_MAP: return start<GPU_MAP>(l, n, stream);
    case GPU_TO_DENSE: return start<GPU_TO_DENSE>(l, n, stream);
    case GPU_TO_MAP: return start<GPU_TO_MAP>(l, n, stream);
    case GPU_INPUT: return start<GPU_INPUT>(l, n, stream);
    case GPU_ATTENTION: return start<GPU_ATTENTION>(l, n, stream);
    case GPU_ND_UNARY: return start<GPU_ND_UNARY>(l, n, stream);
    case GPU_ND_BINARY: return start<GPU_ND_BINARY>(l, n, stream);
    case GPU_ND_WHERE: return start<GPU_ND_WHERE>(l, n, stream);
    case GPU_ND_CLIP: return start<GPU_ND_CLIP>(l, n, stream);
    case GPU_ND_COPY: return start<GPU_ND_COPY>(l, n, stream);
    case GPU_ROWS: return start<GPU_ROWS>(l, n, stream);
    case GPU_MATMUL: return start<GPU_MATMUL>(l, n, stream);
    case GPU_REDUCE: return start<GPU_REDUCE>(l, n, stream);
    case GPU_LETTERBOX: return start<GPU_LETTERBOX>(l, n, stream);
    case GPU_GATHER: return start<GPU_GATHER>(l, n, stream);
    case GPU_ZERO: return start<GPU_ZERO>(l, n, stream);
    case GPU_HEAD: return start<GPU_HEAD>(l, n, stream);
    case GPU_CONVERT: return start<GPU_CONVERT>(l, n, stream);
    default: return cudaErrorInvalidValue;
    }
}
