/* SPDX-License-Identifier: Apache-2.0 */
#include "media/cuda_frames_ffmpeg.h"

#include "base/memory.h"
#include "media/colours_ffmpeg.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The few types and functions of NVIDIA's driver interface that are needed; its header need not be there. */
#define CUDA_VERSION 11000
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#include <libavutil/hwcontext_cuda.h>

enum { MEMORY_IS_DEVICE = 2, STREAM_NON_BLOCKING = 1 };
typedef struct copy_2d { /* CUDA_MEMCPY2D_v2 */
    size_t from_x, from_y;
    int from_kind;
    const void *from_host;
    uintptr_t from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_kind;
    void *to_host;
    uintptr_t to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;

static struct driver {
    int (*cuInit)(unsigned);
    int (*cuDeviceGetCount)(int *);
    int (*cuCtxPushCurrent_v2)(CUcontext);
    int (*cuCtxPopCurrent_v2)(CUcontext *);
    int (*cuDevicePrimaryCtxRetain)(CUcontext *, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuMemAlloc_v2)(uintptr_t *, size_t);
    int (*cuMemFree_v2)(uintptr_t);
    int (*cuMemcpy2DAsync_v2)(const copy_2d *, CUstream);
    int (*cuStreamCreate)(CUstream *, unsigned);
    int (*cuStreamDestroy_v2)(CUstream);
    int (*cuStreamSynchronize)(CUstream);
    int (*cuGetErrorString)(int, const char **);
    int (*cuMemGetInfo_v2)(size_t *, size_t *);
} cu;
static bool loaded;
static char missing[96]; /* what the driver lacks */

struct sk_cuda {
    CUcontext context;
    CUstream stream;
    int32_t index;
    atomic_int users;
};

static void load_driver(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    bool all = handle != NULL;
    if (!all)
        snprintf(missing, sizeof missing,
                 "libcuda.so.1 cannot be loaded: NVIDIA's driver is not installed here");
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"cuInit", &cu.cuInit},
        {"cuDeviceGetCount", &cu.cuDeviceGetCount},
        {"cuCtxPushCurrent_v2", &cu.cuCtxPushCurrent_v2},
        {"cuCtxPopCurrent_v2", &cu.cuCtxPopCurrent_v2},
        {"cuDevicePrimaryCtxRetain", &cu.cuDevicePrimaryCtxRetain},
        {"cuDevicePrimaryCtxRelease_v2", &cu.cuDevicePrimaryCtxRelease_v2},
        {"cuMemAlloc_v2", &cu.cuMemAlloc_v2},
        {"cuMemFree_v2", &cu.cuMemFree_v2},
        {"cuMemcpy2DAsync_v2", &cu.cuMemcpy2DAsync_v2},
        {"cuStreamCreate", &cu.cuStreamCreate},
        {"cuStreamDestroy_v2", &cu.cuStreamDestroy_v2},
        {"cuStreamSynchronize", &cu.cuStreamSynchronize},
        {"cuGetErrorString", &cu.cuGetErrorString},
        {"cuMemGetInfo_v2", &cu.cuMemGetInfo_v2},
    };
    for (size_t i = 0; all && i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(handle, wanted[i].name);
        all = symbol != NULL;
        if (!all)
            snprintf(missing, sizeof missing, "libcuda.so.1 lacks %.40s: the driver is too old",
                     wanted[i].name);
        memcpy(wanted[i].function, &symbol, sizeof symbol); /* a function's address out of a void pointer */
    }
    loaded = all;
}

static const char *text_of(int error)
{
    const char *text = NULL;
    return cu.cuGetErrorString(error, &text) == 0 && text ? text : "unknown error";
}

/* FFmpeg's device around our context and stream. */
static int make_device(sk_cuda *cuda, AVBufferRef **device, char *why, size_t room)
{
    sk_ffmpeg_said said = {{0}};
    AVBufferRef *made = sk_ff.av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    if (!made) {
        snprintf(why, room, "this FFmpeg is built without CUDA, or memory ran out");
        return -1;
    }
    AVCUDADeviceContext *own = ((AVHWDeviceContext *)(void *)made->data)->hwctx;
    own->cuda_ctx = cuda->context;
    own->stream = cuda->stream;
    sk_ffmpeg_listen(&said);
    const int code = sk_ff.av_hwdevice_ctx_init(made);
    sk_ffmpeg_listen(NULL);
    if (code < 0) {
        sk_ffmpeg_reason(&said, code, why, room);
        sk_ff.av_buffer_unref(&made);
        return -1;
    }
    *device = made;
    return 0;
}

sk_cuda *sk_cuda_open(int32_t index, AVBufferRef **device, char *why, size_t room)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CUcontext before = NULL;
    int count = 0;
    pthread_once(&once, load_driver);
    if (!loaded) {
        snprintf(why, room, "%s", missing);
        return NULL;
    }
    sk_cuda *cuda = sk_calloc(1, sizeof *cuda);
    if (!cuda) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    cuda->index = index;
    atomic_init(&cuda->users, 1);
    int error = cu.cuInit(0);
    if (!error)
        error = cu.cuDeviceGetCount(&count);
    if (error || index >= count) {
        snprintf(why, room, "GPU %d: %s", index, error ? text_of(error) : "there is no such GPU");
        sk_free(cuda);
        return NULL;
    }
    error = cu.cuDevicePrimaryCtxRetain(&cuda->context, index);
    if (error) {
        snprintf(why, room, "GPU %d: %s", index, text_of(error));
        sk_free(cuda);
        return NULL;
    }
    if ((error = cu.cuCtxPushCurrent_v2(cuda->context)) == 0) {
        error = cu.cuStreamCreate(&cuda->stream, STREAM_NON_BLOCKING);
        (void)cu.cuCtxPopCurrent_v2(&before);
    }
    if (error) {
        snprintf(why, room, "GPU %d: %s", index, text_of(error));
        cuda->stream = NULL;
    }
    if (error || make_device(cuda, device, why, room) != 0) {
        sk_cuda_release(cuda);
        return NULL;
    }
    return cuda;
}

void sk_cuda_release(sk_cuda *cuda)
{
    if (!cuda || atomic_fetch_sub(&cuda->users, 1) > 1)
        return;
    CUcontext before = NULL;
    if (cuda->stream && cu.cuCtxPushCurrent_v2(cuda->context) == 0) {
        (void)cu.cuStreamDestroy_v2(cuda->stream);
        (void)cu.cuCtxPopCurrent_v2(&before);
    }
    (void)cu.cuDevicePrimaryCtxRelease_v2(cuda->index);
    sk_free(cuda);
}

sk_cuda *sk_cuda_hold(sk_cuda *cuda)
{
    if (cuda)
        atomic_fetch_add(&cuda->users, 1);
    return cuda;
}

typedef struct decoder_caps { /* CUVIDDECODECAPS, as far as it is read; the driver writes all of it */
    int codec, chroma;
    unsigned depth_minus_8, reserved[3];
    unsigned char supported, engines;
    unsigned char rest[62];
} decoder_caps;

int32_t sk_cuda_engines(sk_cuda *cuda, enum AVCodecID codec)
{
    enum { CHROMA_420 = 1 };
    const int number = codec == AV_CODEC_ID_H264   ? 4
                       : codec == AV_CODEC_ID_HEVC ? 8
                       : codec == AV_CODEC_ID_VP9  ? 10
                                                   : -1;
    decoder_caps caps = {.codec = number, .chroma = CHROMA_420};
    int (*ask)(decoder_caps *) = NULL;
    CUcontext before = NULL;
    void *video = number >= 0 ? dlopen("libnvcuvid.so.1", RTLD_LAZY | RTLD_LOCAL) : NULL;
    void *symbol = video ? dlsym(video, "cuvidGetDecoderCaps") : NULL;
    memcpy(&ask, &symbol, sizeof symbol);
    if (ask && cu.cuCtxPushCurrent_v2(cuda->context) == 0) {
        if (ask(&caps) != 0)
            caps.supported = 0;
        (void)cu.cuCtxPopCurrent_v2(&before);
    }
    if (video)
        dlclose(video);
    return caps.supported ? caps.engines : 0;
}

size_t sk_cuda_free_bytes(sk_cuda *cuda)
{
    size_t unused = 0, all = 0;
    CUcontext before = NULL;
    if (cu.cuCtxPushCurrent_v2(cuda->context) != 0)
        return 0;
    if (cu.cuMemGetInfo_v2(&unused, &all) != 0)
        unused = 0;
    (void)cu.cuCtxPopCurrent_v2(&before);
    return unused;
}

bool sk_cuda_holds(const AVFrame *frame)
{
    if (frame->format != AV_PIX_FMT_CUDA || !frame->hw_frames_ctx)
        return false;
    const AVHWFramesContext *frames = (const AVHWFramesContext *)(const void *)frame->hw_frames_ctx->data;
    return frames->sw_format == AV_PIX_FMT_NV12;
}

static void free_slot(sk_slot *slot)
{
    sk_cuda *cuda = slot->device;
    CUcontext before = NULL;
    if (slot->device_memory && cu.cuCtxPushCurrent_v2(cuda->context) == 0) {
        (void)cu.cuMemFree_v2((uintptr_t)slot->device_memory);
        (void)cu.cuCtxPopCurrent_v2(&before);
    }
    slot->device_memory = NULL;
    slot->device_capacity = 0;
    slot->device = NULL;
    slot->device_free = NULL;
    sk_cuda_release(cuda);
}

/* Rows begin on 256 bytes; chroma follows luma. The context is current. */
static int prepare(sk_cuda *cuda, sk_slot *slot, size_t stride, size_t rows)
{
    const size_t bytes = stride * rows;
    if (slot->device == cuda && bytes <= slot->device_capacity)
        return 0;
    if (slot->device_free)
        slot->device_free(slot);
    uintptr_t block = 0;
    const int error = cu.cuMemAlloc_v2(&block, bytes);
    if (error)
        return error;
    memcpy(&slot->device_memory, &block, sizeof block);
    slot->device_capacity = bytes;
    slot->device = cuda;
    slot->device_free = free_slot;
    atomic_fetch_add(&cuda->users, 1);
    return 0;
}

static int copy_plane(sk_cuda *cuda, const uint8_t *from, size_t from_pitch, uint8_t *to, size_t to_pitch,
                      size_t width, size_t rows)
{
    const copy_2d copy = {.from_kind = MEMORY_IS_DEVICE,
                          .from_device = (uintptr_t)from,
                          .from_pitch = from_pitch,
                          .to_kind = MEMORY_IS_DEVICE,
                          .to_device = (uintptr_t)to,
                          .to_pitch = to_pitch,
                          .width = width,
                          .height = rows};
    return cu.cuMemcpy2DAsync_v2(&copy, cuda->stream);
}

sk_status sk_cuda_take(sk_cuda *cuda, const char *uri, const AVFrame *frame, sk_slot *slot, sk_error *err)
{
    const size_t width = ((size_t)frame->width + 1) / 2 * 2, height = (size_t)frame->height;
    const size_t half = (height + 1) / 2, stride = (width + 255) / 256 * 256;
    CUcontext before = NULL;
    int error = cu.cuCtxPushCurrent_v2(cuda->context);
    if (!error) {
        error = prepare(cuda, slot, stride, height + half);
        uint8_t *to = slot->device_memory;
        if (!error)
            error = copy_plane(cuda, frame->data[0], (size_t)frame->linesize[0], to, stride, width, height);
        if (!error)
            error = copy_plane(cuda, frame->data[1], (size_t)frame->linesize[1], to + stride * height, stride,
                               width, half);
        if (!error) /* the surface goes back to the decoder, and others read the copy */
            error = cu.cuStreamSynchronize(cuda->stream);
        (void)cu.cuCtxPopCurrent_v2(&before);
    }
    if (error)
        return sk_fail(err, error == 2 ? SK_ERR_MEMORY : SK_ERR_RUNTIME,
                       "%s: a frame decoded on GPU %d could not be kept there: %s", uri, cuda->index,
                       text_of(error));
    slot->frame.format = SK_PIXEL_NV12;
    slot->frame.width = frame->width;
    slot->frame.height = frame->height;
    slot->frame.stride = (ptrdiff_t)stride;
    slot->frame.data = slot->device_memory;
    slot->frame.chroma = (const uint8_t *)slot->device_memory + stride * height;
    slot->frame.chroma_stride = 0;
    slot->frame.matrix = sk_colour_matrix_of((int)frame->colorspace);
    slot->frame.full_range = frame->color_range == AVCOL_RANGE_JPEG;
    slot->frame.place = SK_PLACE_CUDA;
    slot->frame.device = cuda->index;
    return SK_OK;
}
