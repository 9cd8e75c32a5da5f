/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for NVIDIA's driver and its decoder (libcuda.so.1 and, with VIDEO, libnvcuvid.so.1), so that FFmpeg's way through them is
 * walked on a machine without a GPU: "device" memory is the host's, and every picture decodes to one grey, by its bytes.
 * Somebody else has made the primary context already, with other flags than FFmpeg wants: as the cuda engine does. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WORKS(name)                                                                                          \
    int name(void);                                                                                          \
    int name(void)                                                                                           \
    {                                                                                                        \
        return 0;                                                                                            \
    }

#ifdef VIDEO
/* clang-format off */
#define REST(F)                                                                                              \
    F(cuvidCreateVideoParser)                                                                                \
    F(cuvidCreateVideoSource)                                                                                \
    F(cuvidCreateVideoSourceW)                                                                               \
    F(cuvidCtxLock) F(cuvidCtxLockCreate) F(cuvidCtxLockDestroy) F(cuvidCtxUnlock)                           \
        F(cuvidDestroyVideoParser) F(cuvidDestroyVideoSource) F(cuvidGetDecodeStatus)                        \
            F(cuvidGetSourceAudioFormat) F(cuvidGetSourceVideoFormat) F(cuvidGetVideoSourceState)            \
                F(cuvidParseVideoData) F(cuvidReconfigureDecoder) F(cuvidSetVideoSourceState)                \
                    F(cuvidUnmapVideoFrame64)
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
    c->supported = 1;
    c->engines = 3;
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
    memset(d->picture, d->greys[index & 63], sizeof d->picture);
    *address = (uint64_t)(uintptr_t)d->picture;
    *pitch = 512;
    return 0;
}
#else
/* clang-format off */
#define REST(F)                                                                                              \
    F(cuArray3DCreate_v2)                                                                                    \
    F(cuArrayDestroy)                                                                                        \
    F(cuCtxCreate_v2)                                                                                        \
    F(cuCtxDestroy_v2) F(cuCtxGetDevice) F(cuCtxPopCurrent_v2) F(cuCtxPushCurrent_v2) F(cuCtxSetLimit) F(    \
        cuDestroyExternalMemory) F(cuDestroyExternalSemaphore) F(cuDeviceComputeCapability) F(cuDeviceGet)   \
        F(cuDeviceGetUuid) F(cuDevicePrimaryCtxRelease) F(                           \
            cuDevicePrimaryCtxReset) F(cuDevicePrimaryCtxSetFlags) F(cuEGLStreamConsumerDisconnect)          \
            F(cuEGLStreamProducerConnect) F(cuEGLStreamProducerDisconnect) F(                                \
                cuEGLStreamProducerPresentFrame) F(cuEGLStreamProducerReturnFrame) F(cuEventCreate)          \
                F(cuEventDestroy_v2) F(cuEventQuery) F(cuEventRecord) F(cuEventSynchronize) F(               \
                    cuExternalMemoryGetMappedBuffer) F(cuExternalMemoryGetMappedMipmappedArray)              \
                    F(cuGLGetDevices_v2) F(cuGraphicsGLRegisterImage) F(cuGraphicsMapResources) F(           \
                        cuGraphicsResourceGetMappedPointer_v2) F(cuGraphicsSubResourceGetMappedArray)        \
                        F(cuGraphicsUnmapResources) F(cuGraphicsUnregisterResource) F(                       \
                            cuImportExternalMemory) F(cuImportExternalSemaphore) F(cuInit) F(cuLaunchKernel) \
                            F(cuLinkAddData) F(cuLinkComplete) F(cuLinkCreate) F(cuLinkDestroy)              \
                                F(cuMemAllocManaged) F(cuMemcpy) F(cuMemcpyAsync) F(cuMemcpyDtoDAsync_v2)    \
                                    F(cuMemcpyDtoD_v2) F(cuMemcpyDtoHAsync_v2) F(cuMemcpyDtoH_v2)            \
                                        F(cuMemcpyHtoDAsync_v2) F(cuMemcpyHtoD_v2) F(cuMemsetD8Async) F(     \
                                            cuMipmappedArrayDestroy) F(cuMipmappedArrayGetLevel)             \
                                            F(cuModuleGetFunction) F(cuModuleGetGlobal) F(cuModuleLoadData)  \
                                                F(cuModuleUnload) F(cuSignalExternalSemaphoresAsync)         \
                                                    F(cuStreamAddCallback) F(cuStreamCreate)                 \
                                                        F(cuStreamDestroy_v2) F(cuStreamQuery)               \
                                                            F(cuStreamSynchronize) F(cuTexObjectCreate)      \
                                                                F(cuTexObjectDestroy)                        \
                                                                    F(cuWaitExternalSemaphoresAsync)         \
                                                                        F(cuDevicePrimaryCtxRelease_v2)      \
                                                                            F(cuCtxGetCurrent)
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
    *count = 1;
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
    (void)device;
    *context = &it;
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
    *address = (uintptr_t)malloc(bytes);
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
    return 0;
}

int cuMemcpy2DAsync_v2(const copy_2d *c, void *stream);
int cuMemcpy2DAsync_v2(const copy_2d *c, void *stream)
{
    (void)stream;
    const char *from = c->from_kind == 1 ? c->from_host : (const char *)c->from_device;
    char *to = c->to_kind == 1 ? c->to_host : (char *)c->to_device;
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
    *unused = *all = (size_t)8 << 30;
    return 0;
}

int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text)
{
    *text = error ? "something is wrong" : "no error";
    return 0;
}

int cuGetErrorName(int error, const char **text);
int cuGetErrorName(int error, const char **text)
{
    return cuGetErrorString(error, text);
}
#endif
