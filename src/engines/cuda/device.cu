/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.cuh"
#if !GPU_IS_HIP
#include "mma.cuh"
#endif

#include <stdio.h>
#include <string.h>

/* device.h on CUDA (or HIP, by gpu_alias.h). */

static int told(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError(); /* one that does not break the context is over with this */
    return (int)error;
}
static cudaStream_t stream_of(gpu_stream *s)
{
    return (cudaStream_t)s;
}
static cudaEvent_t event_of(gpu_event *e)
{
    return (cudaEvent_t)e;
}

extern "C" {

int gpu_device_count(int32_t *count)
{
    int n = 0;
    const cudaError_t e = cudaGetDeviceCount(&n);
    *count = e == cudaSuccess ? n : 0;
    return told(e);
}

int gpu_device_about(int32_t device, gpu_device_info *out)
{
    static_assert(sizeof(gpu_args) <= 4000, "kernel arguments are limited");
    cudaDeviceProp p;
    memset(out, 0, sizeof *out);
    const cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e != cudaSuccess)
        return told(e);
    snprintf(out->name, sizeof out->name, "%.95s", p.name);
    out->memory = p.totalGlobalMem;
    out->major = p.major;
    out->minor = p.minor;
    out->sms = p.multiProcessorCount;
    out->l2_bytes = p.l2CacheSize;
#if GPU_IS_HIP
    out->shared_bytes = (int32_t)p.sharedMemPerBlock;
#else
    out->shared_bytes = (int32_t)p.sharedMemPerBlockOptin;
#endif
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    out->driver = driver;
    return 0;
}

int gpu_use(int32_t device)
{
    return told(cudaSetDevice(device));
}
const char *gpu_error_text(int error)
{
    return cudaGetErrorString((cudaError_t)error);
}
int gpu_error_is_memory(int error)
{
    return error == (int)cudaErrorMemoryAllocation;
}
int gpu_error_is_lost(int error)
{
    return error == (int)cudaErrorIllegalAddress || error == (int)cudaErrorLaunchFailure
#if !GPU_IS_HIP
           || error == (int)cudaErrorECCUncorrectable || error == (int)cudaErrorHardwareStackError ||
           error == (int)cudaErrorIllegalInstruction || error == (int)cudaErrorMisalignedAddress ||
           error == (int)cudaErrorInvalidAddressSpace || error == (int)cudaErrorInvalidPc ||
           error == (int)cudaErrorLaunchTimeout || error == (int)cudaErrorDevicesUnavailable ||
           error == (int)cudaErrorContextIsDestroyed || error == (int)cudaErrorAssert
#endif
        ;
}
int gpu_runtime_version(void)
{
    int v = 0;
    (void)cudaRuntimeGetVersion(&v);
    return v;
}

int gpu_memory_free(uint64_t *bytes)
{
    size_t left = 0, all = 0;
    const cudaError_t e = cudaMemGetInfo(&left, &all);
    *bytes = left;
    return told(e);
}
int gpu_alloc(void **out, size_t bytes)
{
    *out = NULL;
    return told(cudaMalloc(out, bytes));
}
void gpu_free(void *block)
{
    if (block)
        (void)told(cudaFree(block));
}
int gpu_host_alloc(void **out, size_t bytes)
{
    *out = NULL;
    return told(cudaHostAlloc(out, bytes, cudaHostAllocPortable));
}
void gpu_host_free(void *block)
{
    if (block)
        (void)told(cudaFreeHost(block));
}
int gpu_is_pinned(const void *address)
{
    cudaPointerAttributes a;
    memset(&a, 0, sizeof a);
    if (cudaPointerGetAttributes(&a, address) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return a.GPU_POINTER_KIND == cudaMemoryTypeHost;
}

int gpu_stream_open(gpu_stream **out)
{
    cudaStream_t s = NULL;
    const cudaError_t e = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    *out = (gpu_stream *)s;
    return told(e);
}
void gpu_stream_close(gpu_stream *stream)
{
    if (stream)
        (void)told(cudaStreamDestroy(stream_of(stream)));
}
int gpu_stream_wait(gpu_stream *stream)
{
    return told(cudaStreamSynchronize(stream_of(stream)));
}
int gpu_event_open(gpu_event **out, int timing)
{
    cudaEvent_t e = NULL;
    const cudaError_t error = cudaEventCreateWithFlags(&e, timing ? cudaEventDefault : cudaEventDisableTiming);
    *out = (gpu_event *)e;
    return told(error);
}
void gpu_event_close(gpu_event *event)
{
    if (event)
        (void)told(cudaEventDestroy(event_of(event)));
}
int gpu_event_record(gpu_event *event, gpu_stream *stream)
{
    return told(cudaEventRecord(event_of(event), stream_of(stream)));
}
int gpu_event_wait(gpu_event *event)
{
    return told(cudaEventSynchronize(event_of(event)));
}
int gpu_event_elapsed(gpu_event *from, gpu_event *to, float *ms)
{
    return told(cudaEventElapsedTime(ms, event_of(from), event_of(to)));
}
int gpu_stream_wait_event(gpu_stream *stream, gpu_event *event)
{
    return told(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0));
}
int gpu_copy_up(void *device, const void *host, size_t bytes, gpu_stream *stream)
{
    return told(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_of(stream)));
}
int gpu_copy_down(void *host, const void *device, size_t bytes, gpu_stream *stream)
{
    return told(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_of(stream)));
}
int gpu_copy_up_2d(void *device, size_t device_pitch, const void *host, size_t host_pitch, size_t width, size_t rows,
                   gpu_stream *stream)
{
    return told(
        cudaMemcpy2DAsync(device, device_pitch, host, host_pitch, width, rows, cudaMemcpyHostToDevice, stream_of(stream)));
}
int gpu_copy_down_2d(void *host, const void *device, size_t pitch, size_t width, size_t rows, gpu_stream *stream)
{
    return told(cudaMemcpy2DAsync(host, pitch, device, pitch, width, rows, cudaMemcpyDeviceToHost, stream_of(stream)));
}
int gpu_copy_across_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                       gpu_stream *stream)
{
    return told(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDeviceToDevice, stream_of(stream)));
}
int gpu_fill(void *device, int byte, size_t bytes, gpu_stream *stream)
{
    return told(cudaMemsetAsync(device, byte, bytes, stream_of(stream)));
}

int gpu_capture_begin(gpu_stream *stream)
{
    return told(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal));
}
int gpu_capture_end(gpu_stream *stream, gpu_graph **out)
{
    cudaGraph_t graph = NULL;
    cudaError_t e = cudaStreamEndCapture(stream_of(stream), &graph);
    if (e == cudaSuccess && out) {
        cudaGraphExec_t exec = NULL;
        e = cudaGraphInstantiate(&exec, graph, 0);
        *out = (gpu_graph *)exec;
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
    return told(e);
}
int gpu_graph_launch(gpu_graph *graph, gpu_stream *stream)
{
    return told(cudaGraphLaunch((cudaGraphExec_t)graph, stream_of(stream)));
}
void gpu_graph_close(gpu_graph *graph)
{
    if (graph)
        (void)told(cudaGraphExecDestroy((cudaGraphExec_t)graph));
}

} // extern "C"

cudaError_t gpu_start(const void *function, dim3 grid, dim3 block, int shared_bytes, const void *args, int cluster, int pdl,
                      cudaStream_t stream)
{
    void *list[] = {(void *)args};
    return gpu_start_list(function, grid, block, shared_bytes, list, cluster, pdl, stream);
}

cudaError_t gpu_start_list(const void *function, dim3 grid, dim3 block, int shared_bytes, void **list, int cluster, int pdl,
                           cudaStream_t stream)
{
#if GPU_IS_HIP
    (void)cluster;
    (void)pdl;
    return hipLaunchKernel(function, grid, block, list, shared_bytes, stream);
#else
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute attributes[2];
    int n = 0;
    c.gridDim = grid;
    c.blockDim = block;
    c.dynamicSmemBytes = (size_t)shared_bytes;
    c.stream = stream;
    if (cluster > 1) {
        attributes[n].id = cudaLaunchAttributeClusterDimension;
        attributes[n].val.clusterDim.x = attributes[n].val.clusterDim.y = 1;
        attributes[n++].val.clusterDim.z = (unsigned)cluster;
    }
    if (pdl) {
        attributes[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[n++].val.programmaticStreamSerializationAllowed = 1;
    }
    c.attrs = attributes;
    c.numAttrs = (unsigned)n;
    return cudaLaunchKernelExC(&c, function, list);
#endif
}

#if GPU_IS_HIP
extern "C" int gpu_has_tiles(void)
{
    return 0;
}
extern "C" int gpu_occupancy(const gpu_config *, int32_t, int32_t *blocks)
{
    *blocks = 0;
    return (int)cudaErrorInvalidValue;
}
#else
extern "C" int gpu_has_tiles(void)
{
    return 1;
}
/* The kernel of a tile: sections in the order of the table. */
static const void *tile_function(const gpu_config *config)
{
    int32_t index = gpu_config_index(config);
#define SECTION(name, kind)                                                                                            \
    if (index < gpu_##name##_tiles.count)                                                                              \
        return gpu_##name##_tiles.functions[index];                                                                    \
    index -= gpu_##name##_tiles.count;
    GPU_TILE_SECTIONS(SECTION)
#undef SECTION
    return NULL;
}
extern "C" int gpu_occupancy(const gpu_config *config, int32_t shared_bytes, int32_t *blocks)
{
    const void *function = tile_function(config);
    int n = 0, device = 0, most = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    /* as much as there is, always: the limit is the kernel's, and another layer may need more than this one */
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (e == cudaSuccess)
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, function, config->threads, (size_t)shared_bytes);
    *blocks = n;
    return told(e);
}
#endif

extern "C" int gpu_launch_step(const gpu_launch *l, gpu_stream *s)
{
    const cudaStream_t stream = stream_of(s);
    if (l->kind == GPU_PEAKS)
        return told(gpu_start_peaks(l, stream));
    if (l->kind == GPU_SLEAP)
        return told(gpu_start_sleap(l, stream));
    if (l->kind == GPU_HEAD)
        return told(gpu_start_head(l, stream));
#if !GPU_IS_HIP
    if (l->kind == GPU_CONV)
        return told(gpu_start(tile_function(l->config), dim3(l->grid[0], l->grid[1], l->grid[2]), dim3(l->config->threads),
                              l->shared_bytes, l->args, l->config->split, l->pdl, stream));
    cudaError_t (*const fast[])(const gpu_launch *, cudaStream_t) = {gpu_start_special, gpu_start_attention,
                                                                     gpu_start_map, gpu_start_bytes};
    for (int i = 0; i < 4; i++) {
        if (i == 1 && l->kind != GPU_ATTENTION)
            continue;
        const cudaError_t e = fast[i](l, stream);
        if (e != cudaErrorInvalidValue)
            return told(e);
    }
#endif
    const cudaError_t e = gpu_start_found(l, stream);
    return told(e != cudaErrorInvalidValue ? e : gpu_start_simple(l, stream));
}
