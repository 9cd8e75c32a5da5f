/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_MODEL_H
#define SKITTER_MODEL_H

#include "skitter/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model as its users have it: an Ultralytics .pt, a SLEAP model folder (either era; also zipped), an .onnx file.
 * Nothing in the file is executed. Immutable once open: may be shared between threads. Whoever opens something on a model
 * (a pipeline, a network) keeps a hold of its own on it, so that it may be closed at once. */
typedef struct sk_model sk_model;

typedef enum sk_task {
    SK_TASK_UNKNOWN = 0,
    SK_TASK_DETECT = 1,
    SK_TASK_POSE = 2,
    SK_TASK_OBB = 3,
    SK_TASK_SEGMENT = 4,
    SK_TASK_CLASSIFY = 5,
    /* SLEAP from here on */
    SK_TASK_SINGLE_INSTANCE = 6,
    SK_TASK_CENTROID = 7,
    SK_TASK_CENTERED_INSTANCE = 8,
    SK_TASK_BOTTOMUP = 9,
    SK_TASK_MULTICLASS_BOTTOMUP = 10,
    SK_TASK_MULTICLASS_TOPDOWN = 11
} sk_task;

/* "detect", "pose", "obb", "bottomup", … */
SK_API const char *sk_task_name(sk_task task);

/* Opens a model from a path. On failure *out is null and err says which file, where in it, and what helps. A .pt that is cut
 * off opens as far as it can be read, to be looked at; pipelines and networks refuse it. */
SK_API sk_status sk_model_open(const char *path, sk_model **out, sk_error *err) SK_MUST_CHECK;

/* YOLOv10 and YOLO26 carry their heads twice: which copy is run. */
typedef enum sk_heads {
    /* as Ultralytics: one-to-many, unless the file has only the others */
    SK_HEADS_AUTO = 0,
    /* many boxes an animal, of which suppression (NMS) leaves the best: every other YOLO */
    SK_HEADS_ONE_TO_MANY = 1,
    /* one box an animal, no suppression: Ultralytics' nms=False */
    SK_HEADS_ONE_TO_ONE = 2
} sk_heads;

/* The same with a say in the heads; of models that are no YOLO it means nothing. SK_ERR_UNSUPPORTED where the file does
 * not have them. */
SK_API sk_status sk_model_open_heads(const char *path, sk_heads heads, sk_model **out,
                                     sk_error *err) SK_MUST_CHECK;
/* From a file's bytes: a .pt, an .onnx, a SLEAP folder zipped. They are the caller's again when this returns. `name`, which may
 * be null, stands for a path in messages and results, and nothing is looked for by it. `heads`: as above. */
SK_API sk_status sk_model_open_bytes(const void *bytes, size_t length, const char *name, sk_heads heads,
                                     sk_model **out, sk_error *err) SK_MUST_CHECK;
/* Ends the caller's hold on the model, and the model with its last one. Nulls the pointer; null is fine. */
SK_API void sk_model_close(sk_model **model);

SK_API sk_task sk_model_task(const sk_model *model);
SK_API int32_t sk_model_class_count(const sk_model *model);
/* "" when unnamed */
SK_API const char *sk_model_class_name(const sk_model *model, int32_t index);
SK_API int32_t sk_model_keypoint_count(const sk_model *model);
/* "" when unnamed */
SK_API const char *sk_model_keypoint_name(const sk_model *model, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
