/* SPDX-License-Identifier: Apache-2.0 */
#include "on_device.cuh"

#include "sleap_element.h"

/* SLEAP's frames into the network: sleap_element.h, a pixel a thread; one kernel for each thing it does. */
template <int WHAT> __global__ void __launch_bounds__(256) sleap_input(const __grid_constant__ gpu_args u)
{
    gpu_sleap_args a = u.sleap;
    a.what = WHAT;
    gpu_chain();
    const int64_t count = gpu_sleap_count(&a);
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 256)
        gpu_sleap_element(&a, i);
}

static const void *kernel_of(int32_t what)
{
    switch (what) {
    case GPU_SLEAP_CLEAR: return (const void *)sleap_input<GPU_SLEAP_CLEAR>;
    case GPU_SLEAP_GREY_FLAG: return (const void *)sleap_input<GPU_SLEAP_GREY_FLAG>;
    case GPU_SLEAP_COLOURS: return (const void *)sleap_input<GPU_SLEAP_COLOURS>;
    case GPU_SLEAP_ACROSS: return (const void *)sleap_input<GPU_SLEAP_ACROSS>;
    case GPU_SLEAP_DOWN: return (const void *)sleap_input<GPU_SLEAP_DOWN>;
    case GPU_SLEAP_PLACE: return (const void *)sleap_input<GPU_SLEAP_PLACE>;
    case GPU_SLEAP_MIX: return (const void *)sleap_input<GPU_SLEAP_MIX>;
    case GPU_SLEAP_GREY_PLANES: return (const void *)sleap_input<GPU_SLEAP_GREY_PLANES>;
    case GPU_SLEAP_CUT: return (const void *)sleap_input<GPU_SLEAP_CUT>;
    case GPU_SLEAP_NV12: return (const void *)sleap_input<GPU_SLEAP_NV12>;
    case GPU_SLEAP_CUT_MIX: return (const void *)sleap_input<GPU_SLEAP_CUT_MIX>;
    default: return (const void *)sleap_input<GPU_SLEAP_MIX_PLANES>;
    }
}

cudaError_t gpu_start_sleap(const gpu_launch *l, cudaStream_t stream)
{
    const int64_t blocks = (gpu_sleap_count(&l->args->sleap) + 255) / 256;
    return gpu_start(kernel_of(l->args->sleap.what), dim3((unsigned)(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks)),
                     dim3(256), 0, l->args, 1, l->pdl, stream);
}
