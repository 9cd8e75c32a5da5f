/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_DLPACK_H
#define SKITTER_DLPACK_H

#include "skitter/frame.h"
#include "skitter/instance.h"
#include "skitter/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors of other programs, without a copy: frames in, results out. DLPack is the agreement by which NumPy, PyTorch, CuPy,
 * JAX and others hand each other memory (https://dmlc.github.io/dlpack). The structs below are its binary interface, 1.0 and
 * the one before, under names of our own, so that this header stands beside DLPack's. A pointer to DLPack's struct is cast:
 *
 *     sk_frame frame = SK_FRAME_INIT;
 *     sk_frame_from_dlpack((sk_dl_managed_versioned *)tensor, SK_PIXEL_NONE, &frame, &err);
 *
 * Threads: nothing here is shared; a tensor's deleter may be called from any thread. */

/* Where the memory lies: DLDevice. */
typedef struct sk_dl_device {
    /* one of the SK_DL_… below */
    int32_t type;
    /* number of the device, from 0 */
    int32_t id;
} sk_dl_device;
#define SK_DL_CPU          1
#define SK_DL_CUDA         2
#define SK_DL_CUDA_HOST    3 /* pinned */
#define SK_DL_ROCM         10
#define SK_DL_ROCM_HOST    11 /* pinned */
#define SK_DL_CUDA_MANAGED 13

/* What an element is: DLDataType. */
typedef struct sk_dl_type {
    /* 0 whole number, 1 without sign, 2 floating point, … */
    uint8_t code;
    /* of one lane */
    uint8_t bits;
    /* 1: no vector */
    uint16_t lanes;
} sk_dl_type;
#define SK_DL_INT   0
#define SK_DL_UINT  1
#define SK_DL_FLOAT 2

/* DLTensor. */
typedef struct sk_dl_tensor {
    void *data;
    sk_dl_device device;
    int32_t ndim;
    sk_dl_type dtype;
    /* [ndim] */
    int64_t *shape;
    /* [ndim], in elements; null: rows one after another without gaps */
    int64_t *strides;
    /* added to `data` */
    uint64_t byte_offset;
} sk_dl_tensor;

/* DLManagedTensor: what a capsule named "dltensor" holds. */
typedef struct sk_dl_managed {
    sk_dl_tensor tensor;
    /* the maker's own */
    void *manager;
    /* called once by whoever holds the tensor, when it is no longer needed; may be null */
    void (*deleter)(struct sk_dl_managed *self);
} sk_dl_managed;

/* DLManagedTensorVersioned: what a capsule named "dltensor_versioned" holds. */
typedef struct sk_dl_managed_versioned {
    /* of DLPack; only `deleter` may be used where `major` is not 1 */
    uint32_t major, minor;
    void *manager;
    /* as above */
    void (*deleter)(struct sk_dl_managed_versioned *self);
    /* SK_DL_READ_ONLY, SK_DL_IS_COPIED */
    uint64_t flags;
    sk_dl_tensor tensor;
} sk_dl_managed_versioned;
#define SK_DL_READ_ONLY 1u /* nobody may write */
#define SK_DL_IS_COPIED 2u /* the memory was made for this tensor */

/* --- In --- */

/* A frame over a tensor's memory: [height][width] or [height][width][channels] with 1, 3 or 4 channels of unsigned 8 bits, or
 * one of 16 (SK_PIXEL_GRAY16). Pixels lie together; rows may have gaps. `format` says what the channels are: SK_PIXEL_NONE
 * means grey, RGB or RGBA by their number; SK_PIXEL_BGR and BGRA are other answers. Memory of the host, pinned, of CUDA or
 * ROCm.
 *
 * Ownership: on success the frame has the tensor: its release callback, which skitter calls when the frame is no longer needed,
 * calls the deleter; a frame that is never handed in is given back by frame.release(frame.release_context, &frame). On failure
 * the tensor stays the caller's, untouched. `out` comes from SK_FRAME_INIT and keeps its index, times, matrix and range. A
 * device's memory is complete when the frame is handed over, unless the caller sets out->stream or out->event.
 *
 * SK_ERR_ARG: a tensor that cannot be a picture, and why. SK_ERR_UNSUPPORTED: a version or a device that is not known. */
SK_API sk_status sk_frame_from_dlpack(sk_dl_managed_versioned *tensor, sk_pixel_format format, sk_frame *out,
                                      sk_error *err) SK_MUST_CHECK;
/* The same for a tensor of before 1.0. */
SK_API sk_status sk_frame_from_dlpack_old(sk_dl_managed *tensor, sk_pixel_format format, sk_frame *out,
                                          sk_error *err) SK_MUST_CHECK;

/* --- Out --- */

/* A column of the results; n instances, in the list's order. */
typedef enum sk_part {
    /* float [n][keypoints][3]: x, y, score; x and y NaN: not found */
    SK_PART_KEYPOINTS = 1,
    /* float [n][4]: x1, y1, x2, y2; NaN: the instance has no box */
    SK_PART_BOXES = 2,
    /* float [n][5]: cx, cy, width, height, angle; NaN: none */
    SK_PART_OBBS = 3,
    /* float [n] */
    SK_PART_SCORES = 4,
    /* int32 [n]; -1: none */
    SK_PART_CLASSES = 5,
    /* int32 [n]; -1: not tracked */
    SK_PART_TRACKS = 6
} sk_part;

/* A part of the results as a tensor in host memory, freed by its deleter.
 *
 * Ownership: with `release` null the values are copied, without gaps, and the list may go. Otherwise they are read in the list
 * itself where they lie there evenly (the tensor is then read-only and may have strides), and copied where they do not; either
 * way release(context) is called once, when the list is no longer needed: by the deleter, or before this returns. On failure
 * it is not called and *out is null. */
SK_API sk_status sk_instances_to_dlpack(const sk_instances *list, sk_part part,
                                        void (*release)(void *context), void *context,
                                        sk_dl_managed_versioned **out, sk_error *err) SK_MUST_CHECK;
/* The same for who reads only tensors of before 1.0. */
SK_API sk_status sk_instances_to_dlpack_old(const sk_instances *list, sk_part part,
                                            void (*release)(void *context), void *context,
                                            sk_dl_managed **out, sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
