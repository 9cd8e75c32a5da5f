/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/plugin.h"

/* The engines that are plugins, as the program knows them without having them. */

static const sk_plugin_wish cuda_wish = {
    .engine = "cuda",
    .file = "libskitter_cuda.so",
    .remedy = "install skitter's CUDA package, or build it with nvcc: make plugin-cuda; "
              "SKITTER_PLUGIN_DIR names its folder",
    .vendor = "NVIDIA",
    .driver = "libcuda.so.1",
    .device = "/dev/nvidia0",
    .driver_remedy =
        "install NVIDIA's driver (Debian: apt-get install nvidia-driver); in a container, start it with "
        "--gpus all",
};
SK_PLUGIN_ENGINE(sk_engine_cuda, cuda_wish, cuda, "skitter on NVIDIA GPUs", SK_PRECISION_F16);

static const sk_plugin_wish rocm_wish = {
    .engine = "rocm",
    .file = "libskitter_rocm.so",
    .remedy = "build it with hipcc: make plugin-rocm; SKITTER_PLUGIN_DIR names its folder",
    .vendor = "ROCm",
    .driver = "libamdhip64.so",
    .device = "/dev/kfd",
    .driver_remedy = "install ROCm (https://rocm.docs.amd.com); in a container, start it with --device "
                     "/dev/kfd --device /dev/dri",
};
SK_PLUGIN_ENGINE(sk_engine_rocm, rocm_wish, rocm, "skitter on AMD GPUs", SK_PRECISION_F16);
