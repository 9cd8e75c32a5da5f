/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/capabilities.h"
#include "engines/plugin.h"
#include "engines/tensorrt/tensorrt_engine.h"

/* The engines that are plugins, as the program knows them without having them. */

#define NVIDIA_DRIVER                                                                                        \
    .vendor = "NVIDIA", .driver = "libcuda.so.1", .device = "/dev/nvidia0",                                  \
    .driver_remedy =                                                                                         \
        "install NVIDIA's driver (Debian: apt-get install nvidia-driver); in a container, start it with "    \
        "--gpus all"

static const sk_plugin_wish cuda_wish = {
    .engine = "cuda",
    .file = "libskitter_cuda.so",
    .remedy = "install skitter's CUDA package, or build it with nvcc: make plugin-cuda; "
              "SKITTER_PLUGIN_DIR names its folder",
    NVIDIA_DRIVER,
};
SK_PLUGIN_ENGINE(sk_engine_cuda, cuda_wish, cuda, "skitter on NVIDIA GPUs", NULL, sk_gpu_options, 1,
                 SK_CUDA_CAN);

static const sk_plugin_wish rocm_wish = {
    .engine = "rocm",
    .file = "libskitter_rocm.so",
    .remedy = "build it with hipcc: make plugin-rocm (compiled, but never tried on an AMD GPU); "
              "SKITTER_PLUGIN_DIR names its folder",
    .vendor = "ROCm",
    .driver = "libamdhip64.so",
    .device = "/dev/kfd",
    .device_is_needed = true,
    .driver_remedy = "install ROCm (https://rocm.docs.amd.com); in a container, start it with --device "
                     "/dev/kfd --device /dev/dri",
};
SK_PLUGIN_ENGINE(sk_engine_rocm, rocm_wish, rocm, "skitter on AMD GPUs", NULL, sk_gpu_options, 1,
                 SK_ROCM_CAN);

static const sk_plugin_wish tensorrt_wish = {
    .engine = "tensorrt",
    .file = "libskitter_tensorrt.so",
    .remedy =
        "build it where TensorRT's headers are: make plugin-tensorrt; SKITTER_PLUGIN_DIR names its folder. "
        "(--runtime onnx_cuda --execution-provider TensorRT needs no plugin)",
    NVIDIA_DRIVER,
};

static sk_status build_engine(const void *onnx, size_t length, int32_t batch, const char *metadata,
                              const sk_session_settings *settings,
                              void (*progress)(void *context, double part), void *context, uint8_t **out,
                              size_t *out_length, sk_error *err)
{
    const sk_engine *real = NULL;
    SK_TRY(sk_plugin_load(&tensorrt_wish, &real, NULL, 0, err));
    return real->form->build(onnx, length, batch, metadata, settings, progress, context, out, out_length,
                             err);
}

static sk_status device_architecture(const sk_session_settings *settings, char *text, size_t capacity,
                                     sk_error *err)
{
    const sk_engine *real = NULL;
    SK_TRY(sk_plugin_load(&tensorrt_wish, &real, NULL, 0, err));
    return real->form->architecture(settings, text, capacity, err);
}

static const sk_engine_form tensorrt_form = {.name = "tensorrt",
                                             .extension = ".engine",
                                             .folder_extension = ".tensorrt",
                                             .file = "model.engine",
                                             .build = build_engine,
                                             .architecture = device_architecture};
SK_PLUGIN_ENGINE(sk_engine_tensorrt, tensorrt_wish, tensorrt, "TensorRT on NVIDIA GPUs", &tensorrt_form, NULL,
                 0, SK_TENSORRT_CAN);
