/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_DEVICES_H
#define SK_RUNNER_DEVICES_H

#include "engines/engine.h"
#include "runner/runner.h"

/* Where a runner runs: one entry of its device list, resolved. */
#define SK_DEVICE_MAX_CORES 256

typedef struct sk_device {
    char name[48]; /* as results and messages call it: "cpu:0-3", "cuda:1" */
    const sk_engine *engine;
    int32_t index;   /* of a GPU */
    int32_t threads; /* 0: as many as cores, or as the settings say */
    int32_t n_cores;
    int32_t cores[SK_DEVICE_MAX_CORES]; /* threads are bound to these; none: left to the system */
} sk_device;

/* Reads a list such as "cpu:0-1,cpu:2-3", "cpu:x2", "cpu*2", "cpu:numa", "cuda:0,cuda:1"; an empty one means
 * `runtime`, and "auto" as many instances of it as there are cores, or lanes on every GPU it finds. */
sk_status sk_devices_read(const char *list, const char *runtime, sk_device *devices, int32_t *count,
                          sk_error *err) SK_MUST_CHECK;

/* Does it compute on the cores that also decode and pre-process? */
bool sk_device_on_cpu(const sk_device *device);

/* "0-3,8" of the system, or "0-3+8" of ours, as numbers; -1 when it is not such a list. */
int32_t sk_devices_cores(const char *text, int32_t *cores, int32_t capacity);

#endif
