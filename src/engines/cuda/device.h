/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_DEVICE_H
#define SK_ENGINES_CUDA_DEVICE_H

#include "args.h"

/* The device as the planning C sees it. device.cu and the kernels implement it on CUDA (and HIP); tests implement it with
 * loops on the host. Functions return 0 or an error number for gpu_error_text; nothing here allocates host memory that
 * outlives its call, except what a handle owns. */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpu_stream gpu_stream; /* cudaStream_t */
typedef struct gpu_event gpu_event;   /* cudaEvent_t */
typedef struct gpu_graph gpu_graph;   /* cudaGraphExec_t */

typedef struct gpu_device_info {
    char name[96];
    uint64_t memory, free_memory;
    int32_t major, minor, sms, l2_bytes, shared_bytes; /* shared memory a block may have */
    int32_t driver;                                    /* 12040 = 12.4 */
} gpu_device_info;

int gpu_device_count(int32_t *count);
int gpu_device_about(int32_t device, gpu_device_info *out);
int gpu_use(int32_t device); /* for the calling thread */
const char *gpu_error_text(int error);
int gpu_error_is_memory(int error);
int gpu_error_is_lost(
    int error); /* the context is broken: nothing of this process works on the device any more */
int gpu_runtime_version(void);

int gpu_memory_free(uint64_t *bytes);    /* on the device in use */
int gpu_alloc(void **out, size_t bytes); /* device */
void gpu_free(void *block);
int gpu_host_alloc(void **out, size_t bytes); /* pinned */
void gpu_host_free(void *block);
int gpu_is_pinned(const void *address); /* may copies read it directly? */

int gpu_stream_open(gpu_stream **out);
void gpu_stream_close(gpu_stream *stream);
int gpu_stream_wait(gpu_stream *stream); /* the host waits */
int gpu_event_open(gpu_event **out, int timing);
void gpu_event_close(gpu_event *event);
int gpu_event_record(gpu_event *event, gpu_stream *stream);
int gpu_event_wait(gpu_event *event); /* the host waits */
int gpu_event_elapsed(gpu_event *from, gpu_event *to, float *ms);
int gpu_stream_wait_event(gpu_stream *stream, gpu_event *event);

int gpu_copy_up(void *device, const void *host, size_t bytes, gpu_stream *stream);
int gpu_copy_down(void *host, const void *device, size_t bytes, gpu_stream *stream);
/* `rows` pieces of `width` bytes. */
int gpu_copy_up_2d(void *device, size_t device_pitch, const void *host, size_t host_pitch, size_t width,
                   size_t rows, gpu_stream *stream);
/* `rows` pieces of `width` bytes, `pitch` apart on both sides. */
int gpu_copy_down_2d(void *host, const void *device, size_t pitch, size_t width, size_t rows,
                     gpu_stream *stream);
/* `rows` pieces of `width` bytes from one place on the device to another. */
int gpu_copy_across_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t rows, gpu_stream *stream);
int gpu_fill(void *device, int byte, size_t bytes, gpu_stream *stream);

int gpu_capture_begin(gpu_stream *stream);
int gpu_capture_end(gpu_stream *stream, gpu_graph **out); /* out null: throws it away */
int gpu_graph_launch(gpu_graph *graph, gpu_stream *stream);
void gpu_graph_close(gpu_graph *graph);

/* A fast kernel for convolutions, and for what it can be used. */
typedef enum gpu_config_kind {
    GPU_CONFIG_POINTWISE = 1, /* implicit GEMM, 1x1 */
    GPU_CONFIG_3X3,           /* implicit GEMM, 3x3 */
    GPU_CONFIG_HALO,          /* 3x3 with the input patch in shared memory */
    GPU_CONFIG_WALK           /* 1x1 with the weights in shared memory */
} gpu_config_kind;

enum { GPU_TF32 = 1, GPU_EXACT, GPU_BYTES, GPU_BRAIN, GPU_E4M3 };

typedef struct gpu_config {
    const char *name;
    gpu_config_kind kind;
    int32_t bm, bn, bk, threads, group, split; /* group: a thread stores 2 * group consecutive channels */
    int32_t stride, th, tw, cb, buffers;       /* halo */
    int32_t shared_bytes;                      /* implicit GEMM; halo kernels' depend on the layer */
    int32_t wgmma;                             /* 1: needs compute capability 9.0 exactly */
    int32_t sets; /* halo: groups of threads of a block that walk over tiles by themselves; 0: one */
    int32_t then; /* 1: for a convolution with a 1x1 convolution behind it, and for no other */
    int32_t
        floats; /* 0: maps and weights of halves; GPU_TF32, GPU_EXACT: of floats, multiplied so; GPU_BYTES: of bytes; GPU_BRAIN: of bf16; GPU_E4M3: of fp8 */
} gpu_config;

/* tile_table.c: all there are; none where the device has no kernels for them. */
int32_t gpu_config_count(void);
const gpu_config *gpu_config_at(int32_t index);
int32_t gpu_config_index(const gpu_config *config);
int gpu_has_tiles(void); /* of the device */

/* One launch. `config`, grid and shared memory: GPU_CONV only. `pdl`: may begin before the kernel ahead of it in the stream
 * has ended (it waits by itself before it reads). */
typedef struct gpu_launch {
    gpu_kind kind;
    const gpu_args *args;
    const gpu_config *config;
    int32_t grid[3], shared_bytes;
    int32_t pdl;
    int32_t variant; /* kernels with few variants: pixels a thread, … */
} gpu_launch;

int gpu_launch_step(const gpu_launch *launch, gpu_stream *stream);
/* Blocks of this kernel that fit on one multiprocessor; also readies the kernel for that much shared memory. */
int gpu_occupancy(const gpu_config *config, int32_t shared_bytes, int32_t *blocks);

#ifdef __cplusplus
}
#endif

#endif
