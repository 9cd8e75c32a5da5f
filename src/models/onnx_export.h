/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_EXPORT_H
#define SK_MODELS_ONNX_EXPORT_H

#include "formats/onnx.h"
#include "models/model.h"

/* Writing a model as ONNX: for other runtimes, and so that it comes back as the same model here. */

/* How a network in eight bits is written. */
enum {
    SK_ONNX_EIGHT_BITS_RUNTIMES =
        0, /* as ONNX Runtime and OpenVINO compute it in eight bits (graph/quantise_plan.h) */
    SK_ONNX_EIGHT_BITS_OWN = 1, /* as it is here */
    SK_ONNX_EIGHT_BITS_NONE = 2 /* in f32, with the rounded weights */
};

typedef struct sk_onnx_settings {
    uint32_t size;                /* of this struct */
    int32_t opset;                /* 13 to 18; 17. A network in fp8 is written with 19 */
    int32_t half;                 /* 1: weights and arithmetic in float16; 0 */
    int32_t half_io;              /* with half: 1 = input and outputs too; 0 = they stay float32 */
    int32_t dynamic_batch;        /* 1: any batch size; 0 */
    int32_t dynamic_size;         /* 1: any height and width; 0 */
    int32_t batch, height, width; /* where not dynamic; 0 = 1 and the model's own size */
    int32_t with_tail;            /* 0: stop at the raw heads (YOLO); 1 */
    int32_t optimise;             /* 1: batch norms folded into the convolutions; 1 */
    int32_t eight_bits;           /* networks in eight bits: SK_ONNX_EIGHT_BITS_…; 0 */
    int32_t undated;              /* 1: without the time of writing: the same model, the same bytes; 0 */
} sk_onnx_settings;

sk_onnx_settings sk_onnx_defaults(void);

/* The file as a tree; *out is ended with sk_onnx_close and shares weights with the model. Input "images";
 * outputs are named as the model's ("output0"), or head by head ("box0", "class0", …) without the tail. */
sk_status sk_model_to_onnx(const sk_model *model, const sk_onnx_settings *settings, sk_onnx_model **out,
                           sk_error *err) SK_MUST_CHECK;
/* The same, as bytes put in place of `path` in one step. */
sk_status sk_model_export_onnx(const sk_model *model, const sk_onnx_settings *settings, const char *path,
                               sk_error *err) SK_MUST_CHECK;

/* Metadata (onnx_export_metadata.c): Ultralytics' keys for YOLO tasks, and our own. `as_written` is the
 * model with the input and outputs the file has. */
sk_status sk_onnx_add_metadata(const sk_model *as_written, const sk_onnx_settings *settings,
                               sk_onnx_model *onnx, sk_error *err) SK_MUST_CHECK;

#endif
