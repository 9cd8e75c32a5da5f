/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Stands in for NVIDIA's driver: "device" memory is the host's, and copies are done at once. A device number above 7 is not
 * there. Its name for the loader is the driver's own, so whoever loads it first has it found by everybody. It counts what it
 * gave and was not given back, and fails when it is told to. */

#define HANDLE ((void *)(uintptr_t)4096)

extern int fake_cuda_calls, fake_cuda_fails_at; /* calls that may fail, from 1; the one that does, 0: none */
extern int fake_cuda_pushed, fake_cuda_held;    /* contexts that are current; all that was given */
int fake_cuda_calls, fake_cuda_fails_at, fake_cuda_pushed, fake_cuda_held;

static int answer(int *count)
{
    if (++fake_cuda_calls == fake_cuda_fails_at)
        return 2;
    if (count)
        ++*count;
    return 0;
}

/* Calls that give something, or nothing; and those that take it back, which do not fail. */
#define GIVES(name, count, arguments)                                                                        \
    int name arguments;                                                                                      \
    int name arguments                                                                                       \
    {                                                                                                        \
        return answer(count);                                                                                \
    }
#define TAKES(name, count, arguments)                                                                        \
    int name arguments;                                                                                      \
    int name arguments                                                                                       \
    {                                                                                                        \
        --count;                                                                                             \
        return 0;                                                                                            \
    }

GIVES(cuInit, NULL, (unsigned flags __attribute__((unused))))
TAKES(cuDevicePrimaryCtxRelease_v2, fake_cuda_held, (int device __attribute__((unused))))
GIVES(cuCtxPushCurrent_v2, &fake_cuda_pushed, (void *context __attribute__((unused))))
TAKES(cuCtxPopCurrent_v2, fake_cuda_pushed, (void **context __attribute__((unused))))
TAKES(cuStreamDestroy_v2, fake_cuda_held, (void *stream __attribute__((unused))))
GIVES(cuStreamSynchronize, NULL, (void *stream __attribute__((unused))))
TAKES(cuEventDestroy_v2, fake_cuda_held, (void *event __attribute__((unused))))
GIVES(cuEventRecord, NULL, (void *event __attribute__((unused)), void *stream __attribute__((unused))))
GIVES(cuEventSynchronize, NULL, (void *event __attribute__((unused))))
GIVES(cuMemHostRegister_v2, &fake_cuda_held,
      (void *host __attribute__((unused)), size_t bytes __attribute__((unused)),
       unsigned flags __attribute__((unused))))
TAKES(cuMemHostUnregister, fake_cuda_held, (void *host __attribute__((unused))))

int cuDeviceGet(int *device, int index);
int cuDeviceGet(int *device, int index)
{
    *device = index;
    return index > 7 ? 101 : answer(NULL);
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    const int error = answer(&fake_cuda_held);
    *context = error ? NULL : HANDLE;
    return error;
}

int cuStreamCreate(void **stream, unsigned flags);
int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    const int error = answer(&fake_cuda_held);
    *stream = error ? NULL : HANDLE;
    return error;
}

int cuEventCreate(void **event, unsigned flags);
int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = HANDLE;
    return answer(&fake_cuda_held);
}

int cuEventElapsedTime(float *ms, void *from, void *to);
int cuEventElapsedTime(float *ms, void *from, void *to)
{
    (void)from;
    (void)to;
    *ms = 2;
    return answer(NULL);
}

int cuMemAlloc_v2(uintptr_t *memory, size_t bytes);
int cuMemAlloc_v2(uintptr_t *memory, size_t bytes)
{
    const int error = answer(&fake_cuda_held);
    void *block = error ? NULL : calloc(1, bytes);
    *memory = (uintptr_t)block;
    return block ? 0 : 2;
}

int cuMemFree_v2(uintptr_t memory);
int cuMemFree_v2(uintptr_t memory)
{
    fake_cuda_held--;
    free((void *)memory);
    return 0;
}

int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)to, from, bytes);
    return answer(NULL);
}

int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(to, (const void *)from, bytes);
    return answer(NULL);
}

int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text)
{
    *text = error == 101 ? "invalid device ordinal" : "out of memory";
    return 0;
}
