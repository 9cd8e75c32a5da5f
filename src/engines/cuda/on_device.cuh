/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_ON_DEVICE_CUH
#define SK_ENGINES_CUDA_ON_DEVICE_CUH

#include "kernels.cuh"

#include <math.h>

/* The words of the functions written once for device and host (element.h, found_element.h, peak_element.h, sleap_element.h), as
 * the device says them; tests say them for the host. The formulas in them have words of their own: base/formula.h. */

#define GPU_HD      __device__ __forceinline__
#define GPU_HD_BOTH __host__ __device__ inline

GPU_HD float gpu_half_load(const void *p, int64_t i)
{
    return __half2float(((const __half *)p)[i]);
}
GPU_HD void gpu_half_store(void *p, int64_t i, float v)
{
    ((__half *)p)[i] = __float2half(v);
}
GPU_HD int32_t gpu_next(int32_t *counter)
{
    return atomicAdd(counter, 1);
}

#endif
