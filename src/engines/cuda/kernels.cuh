/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_KERNELS_CUH
#define SK_ENGINES_CUDA_KERNELS_CUH

#include "device.h"
#include "gpu_alias.h"

/* Launches with the attribute for an early start where asked for; the one way all kernels go. */
cudaError_t gpu_start(const void *function, dim3 grid, dim3 block, int shared_bytes, const void *args, int cluster, int pdl,
                      cudaStream_t stream);

cudaError_t gpu_start_list(const void *function, dim3 grid, dim3 block, int shared_bytes, void **list, int cluster, int pdl,
                           cudaStream_t stream);

/* Each returns cudaErrorInvalidValue where the step is not for its kernels. */
cudaError_t gpu_start_simple(const gpu_launch *launch, cudaStream_t stream);
cudaError_t gpu_start_map(const gpu_launch *launch, cudaStream_t stream); /* faster forms of some simple ones */
cudaError_t gpu_start_special(const gpu_launch *launch, cudaStream_t stream); /* first, depthwise, pool chain */
cudaError_t gpu_start_bytes(const gpu_launch *launch, cudaStream_t stream);   /* maps of bytes */
cudaError_t gpu_start_attention(const gpu_launch *launch, cudaStream_t stream);
cudaError_t gpu_start_found(const gpu_launch *launch, cudaStream_t stream); /* what a detector finds */
cudaError_t gpu_start_head(const gpu_launch *launch, cudaStream_t stream);  /* GPU_HEAD */
cudaError_t gpu_start_sleap(const gpu_launch *launch, cudaStream_t stream); /* all of GPU_SLEAP */
cudaError_t gpu_start_peaks(const gpu_launch *launch, cudaStream_t stream); /* all of GPU_PEAKS */

#endif
