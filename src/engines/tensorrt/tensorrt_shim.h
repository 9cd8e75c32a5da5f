/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_TENSORRT_TENSORRT_SHIM_H
#define SK_ENGINES_TENSORRT_TENSORRT_SHIM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the engine needs of TensorRT and of CUDA's runtime, as C functions over TensorRT's C++ interface. The libraries are
 * opened at run time: libnvinfer when the engine is first used, the parser when something is built. */

/* Opens libnvinfer, once in a process. `version` gets its version, `path` (both of 64 and 4096 bytes) where it lies. */
sk_status trt_load(char version[64], char path[4096], sk_error *err) SK_MUST_CHECK;

/* "sm_90" and the device's name. */
sk_status trt_device(int32_t device, char *architecture, size_t capacity, char *name, size_t name_capacity,
                     uint64_t *memory, sk_error *err) SK_MUST_CHECK;

typedef struct trt_build_settings {
    int32_t device;
    int32_t batch;            /* largest, where the model leaves it open */
    bool tf32;                /* f32 products may be rounded to TF32 */
    bool int8;                /* with calibration; TensorRT 10 only */
    const float *calibration; /* int8: pictures as the network's input wants them … */
    int64_t calibration_pictures;
    const char *timing_cache; /* file; null: none is kept */
    void (*progress)(void *context, double part);
    void *context;
} trt_build_settings;

/* Builds a plan from ONNX; *plan is ended by sk_free. */
sk_status trt_build(const void *onnx, size_t length, const trt_build_settings *settings, uint8_t **plan,
                    size_t *plan_length, sk_error *err) SK_MUST_CHECK;

typedef struct trt_session trt_session;

sk_status trt_open(const void *plan, size_t length, int32_t device, int32_t slots, trt_session **out,
                   sk_error *err) SK_MUST_CHECK;
void trt_close(trt_session **session);
/* Connects one end, of f32 and this shape, to device memory and, per slot, to host memory that transfers fast. Inputs
 * first. */
sk_status trt_bind(trt_session *session, const char *name, bool output, const int64_t *dims, int32_t rank,
                   void **host, sk_error *err) SK_MUST_CHECK;
/* Starts upload, run and download of a slot; wait ends when its outputs are in host memory. */
sk_status trt_submit(trt_session *session, int32_t slot, sk_error *err) SK_MUST_CHECK;
sk_status trt_wait(trt_session *session, int32_t slot, sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
