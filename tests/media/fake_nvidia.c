/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for NVIDIA's driver and its decoder (libcuda.so.1 and, with VIDEO, libnvcuvid.so.1), so that FFmpeg's way through them is
 * walked on a machine without a GPU: "device" memory is the host's, and every picture decodes to a slope that begins with a grey by
 * its bytes.
 * Somebody else has made the primary context already, with other flags than FFmpeg wants: as the cuda engine does. */
#include "fake_nvidia.h"

#include <stdint.h>
#include <string.h>

extern fake_nvidia fake_nvidia_state;
fake_nvidia fake_nvidia_state = {.devices = 1, .engines = 3, .unused = (size_t)8 << 30};
#define STATE fake_nvidia_state /* of the library that was loaded first */

/* Functions that may be told to fail begin with this. */
#define MAY_FAIL()                                                                                           \
    if (STATE.fails && strcmp(STATE.fails, __func__) == 0)                                                   \
    return STATE.error

#define WORKS(name)                                                                                          \
    int name(void);                                                                                          \
    int name(void)                                                                                           \
    {                                                                                                        \
        return 0;                                                                                            \
    }

#ifdef VIDEO
/* clang-format off */
#define REST(F)                                                                                              \
    F(cuvidCreateVideoParser) F(cuvidCreateVideoSource) F(cuvidCreateVideoSourceW) F(cuvidCtxLock)           \
    F(cuvidCtxLockCreate) F(cuvidCtxLockDestroy) F(cuvidCtxUnlock) F(cuvidDestroyVideoParser)                \
    F(cuvidDestroyVideoSource) F(cuvidGetDecodeStatus) F(cuvidGetSourceAudioFormat)                          \
    F(cuvidGetSourceVideoFormat) F(cuvidGetVideoSourceState) F(cuvidParseVideoData)                          \
    F(cuvidReconfigureDecoder) F(cuvidSetVideoSourceState) F(cuvidUnmapVideoFrame64)
/* clang-format on */
REST(WORKS)

typedef struct caps { /* CUVIDDECODECAPS */
    int codec, chroma;
    unsigned depth, reserved[3];
    unsigned char supported, engines;
    unsigned short formats;
    unsigned most_width, most_height, most_blocks;
    unsigned short least_width, least_height;
} caps;
typedef struct picture_parameters { /* CUVIDPICPARAMS, its beginning */
    int width, height, index, field, bottom, second;
    unsigned bytes;
    const unsigned char *data;
} picture_parameters;
typedef struct decoder {
    unsigned char greys[64];
    unsigned char picture[3 << 16];
} decoder;

int cuvidGetDecoderCaps(caps *c);
int cuvidGetDecoderCaps(caps *c)
{
    enum { H264 = 4, HEVC = 8, VP9 = 10, CHROMA_420 = 1 };
    MAY_FAIL();
    const int fewer = c->codec == H264 ? 0 : c->codec == HEVC ? 1 : c->codec == VP9 ? 2 : 99;
    c->supported = fewer < 99 && c->chroma == CHROMA_420 && c->depth == 0;
    c->engines = (unsigned char)(STATE.engines > fewer ? STATE.engines - fewer : 0);
    c->formats = 1;
    c->most_width = c->most_height = 4096;
    c->most_blocks = 65536;
    c->least_width = c->least_height = 16;
    return 0;
}

int cuvidCreateDecoder(void **out, void *how);
int cuvidCreateDecoder(void **out, void *how)
{
    (void)how;
    *out = calloc(1, sizeof(decoder));
    return *out ? 0 : 2;
}

int cuvidDestroyDecoder(void *d);
int cuvidDestroyDecoder(void *d)
{
    free(d);
    return 0;
}

int cuvidDecodePicture(decoder *d, const picture_parameters *p);
int cuvidDecodePicture(decoder *d, const picture_parameters *p)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < p->bytes; i++)
        sum = sum * 31 + p->data[i];
    d->greys[p->index & 63] = (unsigned char)(sum ^ sum >> 8 ^ sum >> 16);
    return 0;
}

int cuvidMapVideoFrame64(decoder *d, int index, uint64_t *address, unsigned *pitch, void *how);
int cuvidMapVideoFrame64(decoder *d, int index, uint64_t *address, unsigned *pitch, void *how)
{
    (void)how;
    for (size_t i = 0; i < sizeof d->picture; i++)
        d->picture[i] = (unsigned char)(d->greys[index & 63] + i % 512 / 2 + i / 512);
    *address = (uint64_t)(uintptr_t)d->picture;
    *pitch = 512;
    return 0;
}
#else
/* clang-format off */
#define REST(F)                                                                                              \
    F(cuArray3DCreate_v2) F(cuArrayDestroy) F(cuCtxCreate_v2) F(cuCtxDestroy_v2) F(cuCtxGetDevice)           \
    F(cuCtxSetLimit) F(cuDestroyExternalMemory) F(cuDestroyExternalSemaphore) F(cuDeviceComputeCapability)   \
    F(cuDeviceGet) F(cuDeviceGetUuid) F(cuDevicePrimaryCtxRelease) F(cuDevicePrimaryCtxReset)                \
    F(cuDevicePrimaryCtxSetFlags) F(cuEGLStreamConsumerDisconnect) F(cuEGLStreamProducerConnect)             \
    F(cuEGLStreamProducerDisconnect) F(cuEGLStreamProducerPresentFrame) F(cuEGLStreamProducerReturnFrame)    \
    F(cuEventCreate) F(cuEventDestroy_v2) F(cuEventQuery) F(cuEventRecord) F(cuEventSynchronize)             \
    F(cuExternalMemoryGetMappedBuffer) F(cuExternalMemoryGetMappedMipmappedArray) F(cuGLGetDevices_v2)       \
    F(cuGraphicsGLRegisterImage) F(cuGraphicsMapResources) F(cuGraphicsResourceGetMappedPointer_v2)          \
    F(cuGraphicsSubResourceGetMappedArray) F(cuGraphicsUnmapResources) F(cuGraphicsUnregisterResource)       \
    F(cuImportExternalMemory) F(cuImportExternalSemaphore) F(cuLaunchKernel) F(cuLinkAddData)                \
    F(cuLinkComplete) F(cuLinkCreate) F(cuLinkDestroy) F(cuMemAllocManaged) F(cuMemcpy) F(cuMemcpyAsync)     \
    F(cuMemcpyDtoDAsync_v2) F(cuMemcpyDtoD_v2) F(cuMemcpyDtoHAsync_v2) F(cuMemcpyDtoH_v2)                    \
    F(cuMemcpyHtoDAsync_v2) F(cuMemcpyHtoD_v2) F(cuMemsetD8Async) F(cuMipmappedArrayDestroy)                 \
    F(cuMipmappedArrayGetLevel) F(cuModuleGetFunction) F(cuModuleGetGlobal) F(cuModuleLoadData)              \
    F(cuModuleUnload) F(cuSignalExternalSemaphoresAsync) F(cuStreamAddCallback) F(cuStreamQuery)             \
    F(cuTexObjectCreate) F(cuTexObjectDestroy) F(cuWaitExternalSemaphoresAsync) F(cuCtxGetCurrent)
/* clang-format on */
REST(WORKS)

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

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    MAY_FAIL();
    *count = STATE.devices;
    return 0;
}

int cuDeviceGetAttribute(int *value, int which, int device);
int cuDeviceGetAttribute(int *value, int which, int device)
{
    (void)which;
    (void)device;
    *value = 256; /* how pictures are aligned */
    return 0;
}

int cuDeviceGetName(char *name, int room, int device);
int cuDeviceGetName(char *name, int room, int device)
{
    (void)device;
    memset(name, 0, (size_t)room);
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    static int it;
    MAY_FAIL();
    STATE.last_index = device;
    __atomic_fetch_add(&STATE.contexts, 1, __ATOMIC_SEQ_CST);
    *context = &it;
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device)
{
    STATE.contexts -= device == STATE.last_index;
    return 0;
}

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    MAY_FAIL();
    return flags == 0 ? 0 : 1;
}

int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context)
{
    MAY_FAIL();
    if (!context)
        return 201;
    __atomic_fetch_add(&STATE.pushed, 1, __ATOMIC_SEQ_CST);
    return 0;
}

int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context)
{
    __atomic_fetch_sub(&STATE.pushed, 1, __ATOMIC_SEQ_CST);
    *context = NULL;
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags);
int cuStreamCreate(void **stream, unsigned flags)
{
    enum { NON_BLOCKING = 1 };
    MAY_FAIL();
    *stream = malloc(1);
    STATE.streams += flags == NON_BLOCKING;
    return *stream ? 0 : 2;
}

int cuStreamDestroy_v2(void *stream);
int cuStreamDestroy_v2(void *stream)
{
    free(stream);
    STATE.streams--;
    return 0;
}

int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream)
{
    (void)stream;
    MAY_FAIL();
    __atomic_fetch_add(&STATE.waits, 1, __ATOMIC_SEQ_CST);
    return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 1;
    return 0;
}

int cuMemAlloc_v2(uintptr_t *address, size_t bytes);
int cuMemAlloc_v2(uintptr_t *address, size_t bytes)
{
    MAY_FAIL();
    *address = (uintptr_t)malloc(bytes);
    __atomic_fetch_add(&STATE.blocks, 1, __ATOMIC_SEQ_CST);
    return *address ? 0 : 2;
}

int cuMemAllocPitch_v2(uintptr_t *address, size_t *pitch, size_t width, size_t height, unsigned element);
int cuMemAllocPitch_v2(uintptr_t *address, size_t *pitch, size_t width, size_t height, unsigned element)
{
    (void)element;
    *pitch = (width + 511) / 512 * 512;
    return cuMemAlloc_v2(address, *pitch * height);
}

int cuMemFree_v2(uintptr_t address);
int cuMemFree_v2(uintptr_t address)
{
    free((void *)address);
    __atomic_fetch_sub(&STATE.blocks, 1, __ATOMIC_SEQ_CST);
    return 0;
}

int cuMemcpy2DAsync_v2(const copy_2d *c, void *stream);
int cuMemcpy2DAsync_v2(const copy_2d *c, void *stream)
{
    (void)stream;
    MAY_FAIL();
    enum { HOST = 1, DEVICE = 2 };
    if ((c->from_kind != HOST && c->from_kind != DEVICE) || (c->to_kind != HOST && c->to_kind != DEVICE))
        return 1;
    const char *from = c->from_kind == HOST ? c->from_host : (const char *)c->from_device;
    char *to = c->to_kind == HOST ? c->to_host : (char *)c->to_device;
    for (size_t y = 0; y < c->height; y++)
        memcpy(to + (c->to_y + y) * c->to_pitch + c->to_x, from + (c->from_y + y) * c->from_pitch + c->from_x,
               c->width);
    return 0;
}

int cuMemcpy2D_v2(const copy_2d *c);
int cuMemcpy2D_v2(const copy_2d *c)
{
    return cuMemcpy2DAsync_v2(c, NULL);
}

int cuMemGetInfo_v2(size_t *unused, size_t *all);
int cuMemGetInfo_v2(size_t *unused, size_t *all)
{
    *unused = STATE.unused;
    *all = (size_t)80 << 30;
    MAY_FAIL();
    return 0;
}

int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text)
{
    MAY_FAIL();
    *text = error ? "something is wrong" : "no error";
    return 0;
}

int cuGetErrorName(int error, const char **text);
int cuGetErrorName(int error, const char **text)
{
    return cuGetErrorString(error, text);
}
#endif
