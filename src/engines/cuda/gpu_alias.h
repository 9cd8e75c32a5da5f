/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_GPU_ALIAS_H
#define SK_ENGINES_CUDA_GPU_ALIAS_H

/* The one place that knows whose compiler this is. The sources speak CUDA; under HIP its names are theirs. Tensor-core
 * kernels are NVIDIA's instructions and absent there: convolutions then run by the simple kernels. */
#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#define GPU_IS_HIP 1
#define __grid_constant__
#if HIP_VERSION_MAJOR >= 6
#define GPU_POINTER_KIND type
#else
#define GPU_POINTER_KIND memoryType
#endif
#define cudaError_t                                 hipError_t
#define cudaSuccess                                 hipSuccess
#define cudaErrorMemoryAllocation                   hipErrorOutOfMemory
#define cudaErrorIllegalAddress                     hipErrorIllegalAddress
#define cudaErrorLaunchFailure                      hipErrorLaunchFailure
#define cudaErrorInvalidValue                       hipErrorInvalidValue
#define cudaGetErrorString                          hipGetErrorString
#define cudaGetLastError                            hipGetLastError
#define cudaGetDeviceCount                          hipGetDeviceCount
#define cudaGetDeviceProperties                     hipGetDeviceProperties
#define cudaDeviceProp                              hipDeviceProp_t
#define cudaSetDevice                               hipSetDevice
#define cudaMemGetInfo                              hipMemGetInfo
#define cudaMalloc                                  hipMalloc
#define cudaFree                                    hipFree
#define cudaHostAlloc                               hipHostMalloc
#define cudaHostAllocPortable                       hipHostMallocPortable
#define cudaFreeHost                                hipHostFree
#define cudaPointerAttributes                       hipPointerAttribute_t
#define cudaPointerGetAttributes                    hipPointerGetAttributes
#define cudaMemoryTypeHost                          hipMemoryTypeHost
#define cudaStream_t                                hipStream_t
#define cudaStreamCreateWithFlags                   hipStreamCreateWithFlags
#define cudaStreamNonBlocking                       hipStreamNonBlocking
#define cudaStreamDestroy                           hipStreamDestroy
#define cudaStreamSynchronize                       hipStreamSynchronize
#define cudaStreamWaitEvent                         hipStreamWaitEvent
#define cudaEvent_t                                 hipEvent_t
#define cudaEventCreateWithFlags                    hipEventCreateWithFlags
#define cudaEventDisableTiming                      hipEventDisableTiming
#define cudaEventDefault                            hipEventDefault
#define cudaEventDestroy                            hipEventDestroy
#define cudaEventRecord                             hipEventRecord
#define cudaEventSynchronize                        hipEventSynchronize
#define cudaEventElapsedTime                        hipEventElapsedTime
#define cudaMemcpyAsync                             hipMemcpyAsync
#define cudaMemcpyHostToDevice                      hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost                      hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice                    hipMemcpyDeviceToDevice
#define cudaMemcpy2DAsync                           hipMemcpy2DAsync
#define cudaMemsetAsync                             hipMemsetAsync
#define cudaGraph_t                                 hipGraph_t
#define cudaGraphExec_t                             hipGraphExec_t
#define cudaStreamBeginCapture                      hipStreamBeginCapture
#define cudaStreamEndCapture                        hipStreamEndCapture
#define cudaStreamCaptureModeThreadLocal            hipStreamCaptureModeThreadLocal
#define cudaGraphInstantiate(exec, graph, flags)    hipGraphInstantiateWithFlags(exec, graph, flags)
#define cudaGraphDestroy                            hipGraphDestroy
#define cudaGraphLaunch                             hipGraphLaunch
#define cudaGraphExecDestroy                        hipGraphExecDestroy
#define cudaRuntimeGetVersion                       hipRuntimeGetVersion
#define cudaDriverGetVersion                        hipDriverGetVersion
#define cudaFuncSetAttribute                        hipFuncSetAttribute
#define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define GPU_IS_HIP       0
#define GPU_POINTER_KIND type
#endif

/* Programmatic dependent launch: a kernel may begin while the one before it ends; it waits here before it reads, and then
 * lets the next begin. Nothing where it does not exist. */
#if !GPU_IS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ __forceinline__ void gpu_chain()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#elif defined(__CUDACC__) || GPU_IS_HIP
__device__ __forceinline__ void gpu_chain()
{
}
#endif

#endif
