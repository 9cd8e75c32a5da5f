/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_VENDOR_H
#define SK_ENGINES_CUDA_VENDOR_H

/* What differs between the two plugins made of these sources, for people: the kernels' differences are in gpu_alias.h. */
#ifdef GPU_FOR_ROCM
#define GPU_ENGINE_NAME   "rocm"
#define GPU_ENGINE_TITLE  "skitter on AMD GPUs"
#define GPU_VENDOR        "AMD"
#define GPU_TOOLKIT       "ROCm"
#define GPU_TOOL          "rocm-smi"
#define GPU_VISIBLE       "HIP_VISIBLE_DEVICES"
#define GPU_LEAST_MAJOR   9
#define GPU_LEAST         "gfx900 or newer"
#define GPU_HAS_TF32      0
#define GPU_HAS_I8        0
#define GPU_HAS_F8        0
#define GPU_HAS_BF16      0
#define GPU_PLACE         SK_PLACE_ROCM
#define GPU_ENGINE_CAN    SK_ROCM_CAN
#define GPU_VERSION_MINOR 100000 /* 50221153 = 5.2 */
#define GPU_VERSION_MAJOR 10000000
#else
#define GPU_ENGINE_NAME   "cuda"
#define GPU_ENGINE_TITLE  "skitter on NVIDIA GPUs"
#define GPU_VENDOR        "NVIDIA"
#define GPU_TOOLKIT       "CUDA"
#define GPU_TOOL          "nvidia-smi"
#define GPU_VISIBLE       "CUDA_VISIBLE_DEVICES"
#define GPU_LEAST_MAJOR   8
#define GPU_LEAST         "compute capability 8.0 (Ampere) or newer"
#define GPU_HAS_TF32      1
#define GPU_HAS_I8        1
#define GPU_HAS_F8        1
#define GPU_HAS_BF16      1
#define GPU_PLACE         SK_PLACE_CUDA
#define GPU_ENGINE_CAN    SK_CUDA_CAN
#define GPU_VERSION_MINOR 10 /* 13000 = 13.0 */
#define GPU_VERSION_MAJOR 1000
#endif

#endif
