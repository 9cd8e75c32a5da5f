/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_device.h"

#include "base/memory.h"
#include "engines/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define STREAM_NON_BLOCKING 1u
#define EVENT_WITH_TIMES    0u
#define MOST_BUFFERS        (SK_SESSION_MAX_SLOTS * (SK_SESSION_MAX_INPUTS + SK_SESSION_MAX_OUTPUTS))

typedef void *cu_handle; /* a context, a stream, an event */
typedef uintptr_t cu_memory;

/* name, arguments; all return 0 on success */
#define CU_FUNCTIONS(X)                                                                                      \
    X(cuInit, (unsigned))                                                                                    \
    X(cuDeviceGet, (int *, int))                                                                             \
    X(cuDevicePrimaryCtxRetain, (cu_handle *, int))                                                          \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                   \
    X(cuCtxPushCurrent_v2, (cu_handle))                                                                      \
    X(cuCtxPopCurrent_v2, (cu_handle *))                                                                     \
    X(cuStreamCreate, (cu_handle *, unsigned))                                                               \
    X(cuStreamDestroy_v2, (cu_handle))                                                                       \
    X(cuStreamSynchronize, (cu_handle))                                                                      \
    X(cuEventCreate, (cu_handle *, unsigned))                                                                \
    X(cuEventDestroy_v2, (cu_handle))                                                                        \
    X(cuEventRecord, (cu_handle, cu_handle))                                                                 \
    X(cuEventElapsedTime, (float *, cu_handle, cu_handle))                                                   \
    X(cuEventSynchronize, (cu_handle))                                                                       \
    X(cuMemAlloc_v2, (cu_memory *, size_t))                                                                  \
    X(cuMemFree_v2, (cu_memory))                                                                             \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned))                                                      \
    X(cuMemHostUnregister, (void *))                                                                         \
    X(cuMemcpyHtoDAsync_v2, (cu_memory, const void *, size_t, cu_handle))                                    \
    X(cuMemcpyDtoHAsync_v2, (void *, cu_memory, size_t, cu_handle))                                          \
    X(cuGetErrorString, (int, const char **))

static struct {
#define CU_MEMBER(name, arguments) int(*name) arguments;
    CU_FUNCTIONS(CU_MEMBER)
#undef CU_MEMBER
} cu;
static char missing[160]; /* why the driver cannot be used; "" = it can */

struct ort_device {
    int number;
    cu_handle context, stream;
    int32_t n_events, n_buffers, n_pinned;
    cu_handle events[SK_SESSION_MAX_SLOTS * ORT_MARKS]; /* of a slot one after the other */
    cu_memory buffers[MOST_BUFFERS];
    void *pinned[MOST_BUFFERS];
};

static void load_driver(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        snprintf(missing, sizeof missing, "no NVIDIA driver: libcuda.so.1 cannot be loaded");
        return;
    }
#define CU_TAKE(name, arguments)                                                                             \
    {                                                                                                        \
        void *symbol = dlsym(handle, #name);                                                                 \
        if (!symbol && !missing[0])                                                                          \
            snprintf(missing, sizeof missing, "the NVIDIA driver is too old: libcuda.so.1 has no " #name);   \
        memcpy(&cu.name, &symbol, sizeof symbol);                                                            \
    }
    CU_FUNCTIONS(CU_TAKE)
#undef CU_TAKE
}

static sk_status done(int error, const char *what, sk_error *err)
{
    const char *text = NULL;
    if (error == 0)
        return SK_OK;
    if (cu.cuGetErrorString(error, &text) != 0 || !text)
        text = "an error the driver has no words for";
    return sk_fail(err, SK_ERR_RUNTIME, "the NVIDIA driver: %s: %s", what, text);
}

/* Calls are made with the context current, and the caller's own is put back. */
sk_status ort_device_enter(const ort_device *d, sk_error *err)
{
    return done(cu.cuCtxPushCurrent_v2(d->context), "its context", err);
}

void ort_device_leave(void)
{
    cu_handle before = NULL;
    (void)cu.cuCtxPopCurrent_v2(&before);
}

static sk_status make_queue(ort_device *d, int32_t slots, sk_error *err)
{
    SK_TRY(done(cu.cuStreamCreate(&d->stream, STREAM_NON_BLOCKING), "a stream", err));
    for (; d->n_events < slots * (int32_t)ORT_MARKS; d->n_events++)
        SK_TRY(done(cu.cuEventCreate(&d->events[d->n_events], EVENT_WITH_TIMES), "an event", err));
    return SK_OK;
}

sk_status ort_device_open(int32_t index, int32_t slots, ort_device **out, sk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *out = NULL;
    pthread_once(&once, load_driver);
    if (missing[0])
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s", missing);
    ort_device *d = sk_calloc(1, sizeof *d);
    if (!d)
        return sk_fail_memory(err, sizeof *d);
    sk_status status = done(cu.cuInit(0), "it does not start", err);
    if (status == SK_OK)
        status = done(cu.cuDeviceGet(&d->number, index), "the device", err);
    if (status == SK_OK)
        status = done(cu.cuDevicePrimaryCtxRetain(&d->context, d->number), "its context", err);
    if (status == SK_OK && (status = ort_device_enter(d, err)) == SK_OK) {
        status = make_queue(d, slots, err);
        ort_device_leave();
    }
    if (status != SK_OK)
        ort_device_close(&d);
    *out = d;
    return status;
}

void ort_device_close(ort_device **device)
{
    ort_device *d = *device;
    *device = NULL;
    if (!d)
        return;
    if (d->context && ort_device_enter(d, NULL) == SK_OK) {
        if (d->stream)
            (void)cu.cuStreamSynchronize(d->stream);
        for (int32_t i = 0; i < d->n_pinned; i++)
            (void)cu.cuMemHostUnregister(d->pinned[i]);
        for (int32_t i = 0; i < d->n_buffers; i++)
            (void)cu.cuMemFree_v2(d->buffers[i]);
        for (int32_t i = 0; i < d->n_events; i++)
            (void)cu.cuEventDestroy_v2(d->events[i]);
        if (d->stream)
            (void)cu.cuStreamDestroy_v2(d->stream);
        ort_device_leave();
    }
    if (d->context)
        (void)cu.cuDevicePrimaryCtxRelease_v2(d->number);
    sk_free(d);
}

void *ort_device_stream(const ort_device *device)
{
    return device->stream;
}

sk_status ort_device_buffer(ort_device *d, size_t bytes, void **out, sk_error *err)
{
    cu_memory memory = 0;
    *out = NULL;
    if (d->n_buffers >= MOST_BUFFERS)
        return sk_fail(err, SK_ERR_LIMIT, "more than %d buffers on one device", MOST_BUFFERS);
    SK_TRY(ort_device_enter(d, err));
    sk_status status = done(cu.cuMemAlloc_v2(&memory, bytes ? bytes : 1), "memory on the device", err);
    ort_device_leave();
    SK_TRY(status);
    d->buffers[d->n_buffers++] = memory;
    memcpy(out, &memory, sizeof memory);
    return SK_OK;
}

void ort_device_pin(ort_device *d, void *host, size_t bytes)
{
    if (d->n_pinned >= MOST_BUFFERS || ort_device_enter(d, NULL) != SK_OK)
        return;
    if (cu.cuMemHostRegister_v2(host, bytes, 0) == 0)
        d->pinned[d->n_pinned++] = host;
    ort_device_leave();
}

sk_status ort_device_upload(ort_device *d, void *to, const void *host, size_t bytes, sk_error *err)
{
    SK_TRY(ort_device_enter(d, err));
    int error = cu.cuMemcpyHtoDAsync_v2((cu_memory)to, host, bytes, d->stream);
    ort_device_leave();
    return done(error, "an upload", err);
}

sk_status ort_device_download(ort_device *d, void *host, const void *from, size_t bytes, sk_error *err)
{
    SK_TRY(ort_device_enter(d, err));
    int error = cu.cuMemcpyDtoHAsync_v2(host, (cu_memory)from, bytes, d->stream);
    ort_device_leave();
    return done(error, "a download", err);
}

static cu_handle event_of(const ort_device *d, int32_t slot, int32_t mark)
{
    return d->events[slot * (int32_t)ORT_MARKS + mark];
}

sk_status ort_device_mark(ort_device *d, int32_t slot, ort_mark mark, sk_error *err)
{
    SK_TRY(ort_device_enter(d, err));
    int error = cu.cuEventRecord(event_of(d, slot, mark), d->stream);
    ort_device_leave();
    return done(error, "an event", err);
}

sk_status ort_device_wait(ort_device *d, int32_t slot, sk_error *err)
{
    SK_TRY(ort_device_enter(d, err));
    int error = cu.cuEventSynchronize(event_of(d, slot, ORT_MARK_DOWN));
    ort_device_leave();
    return done(error, "waiting for a run", err);
}

sk_status ort_device_times(ort_device *d, int32_t slot, double *seconds, sk_error *err)
{
    int error = 0;
    SK_TRY(ort_device_enter(d, err));
    for (int32_t i = 0; i + 1 < ORT_MARKS && !error; i++) {
        float ms = 0;
        error = cu.cuEventElapsedTime(&ms, event_of(d, slot, i), event_of(d, slot, i + 1));
        seconds[i] = (double)ms * 1e-3;
    }
    ort_device_leave();
    return done(error, "times", err);
}

sk_status ort_device_settle(ort_device *d, sk_error *err)
{
    SK_TRY(ort_device_enter(d, err));
    int error = cu.cuStreamSynchronize(d->stream);
    ort_device_leave();
    return done(error, "waiting for the device", err);
}
