/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Stands in for NVIDIA's driver: "device" memory is the host's, and copies are done at once. A device number above 7 is not
 * there. Its name for the loader is the driver's own, so whoever loads it first has it found by everybody. */

#define HANDLE ((void *)(uintptr_t)4096)

#define YES(name, arguments)                                                                                 \
    int name arguments;                                                                                      \
    int name arguments                                                                                       \
    {                                                                                                        \
        return 0;                                                                                            \
    }

YES(cuInit, (unsigned flags __attribute__((unused))))
YES(cuDevicePrimaryCtxRelease_v2, (int device __attribute__((unused))))
YES(cuCtxPushCurrent_v2, (void *context __attribute__((unused))))
YES(cuCtxPopCurrent_v2, (void **context __attribute__((unused))))
YES(cuStreamDestroy_v2, (void *stream __attribute__((unused))))
YES(cuStreamSynchronize, (void *stream __attribute__((unused))))
YES(cuEventDestroy_v2, (void *event __attribute__((unused))))
YES(cuEventRecord, (void *event __attribute__((unused)), void *stream __attribute__((unused))))
YES(cuEventSynchronize, (void *event __attribute__((unused))))
YES(cuMemHostRegister_v2, (void *host __attribute__((unused)), size_t bytes __attribute__((unused)),
                           unsigned flags __attribute__((unused))))
YES(cuMemHostUnregister, (void *host __attribute__((unused))))

int cuDeviceGet(int *device, int index);
int cuDeviceGet(int *device, int index)
{
    *device = index;
    return index > 7 ? 101 : 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = HANDLE;
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags);
int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = HANDLE;
    return 0;
}

int cuEventCreate(void **event, unsigned flags);
int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = HANDLE;
    return 0;
}

int cuEventElapsedTime(float *ms, void *from, void *to);
int cuEventElapsedTime(float *ms, void *from, void *to)
{
    (void)from;
    (void)to;
    *ms = 2;
    return 0;
}

int cuMemAlloc_v2(uintptr_t *memory, size_t bytes);
int cuMemAlloc_v2(uintptr_t *memory, size_t bytes)
{
    void *block = calloc(1, bytes);
    *memory = (uintptr_t)block;
    return block ? 0 : 2;
}

int cuMemFree_v2(uintptr_t memory);
int cuMemFree_v2(uintptr_t memory)
{
    free((void *)memory);
    return 0;
}

int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)to, from, bytes);
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(to, (const void *)from, bytes);
    return 0;
}

int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text)
{
    *text = error == 101 ? "invalid device ordinal" : "out of memory";
    return 0;
}
