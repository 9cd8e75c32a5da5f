/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_SIGMOID_H
#define SK_ENGINES_CUDA_SIGMOID_H

#include <math.h>

#if defined(__CUDACC__) || defined(__HIP__) || defined(__HIPCC__)
#define GPU_SIGMOID_HERE __device__ __forceinline__
#else
#define GPU_SIGMOID_HERE static inline
#endif

/* Stays below 1 as long as a float can say so: two classes that are nearly sure can still be told apart. */
GPU_SIGMOID_HERE float gpu_sigmoid(float x)
{
    const float e = expf(-fabsf(x)), low = e / (1.0f + e);
    return x > 0 ? 1.0f - low : low;
}

#endif
