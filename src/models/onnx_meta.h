/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_META_H
#define SK_MODELS_ONNX_META_H

#include "formats/onnx.h"
#include "models/model.h"

/* What the texts in and beside an ONNX file say about it: shared by onnx_model.c, onnx_meta_ultralytics.c and
 * onnx_meta_sleap.c. */

typedef struct sk_onnx_reading {
    sk_model *model; /* graph imported; input and outputs filled from the file alone */
    const sk_onnx_model *onnx;
    const char *path;
    sk_error *err;
    bool shapes_known;
    sk_shape shapes[32]; /* of the outputs at the default size, once sk_onnx_learn_shapes has run */
} sk_onnx_reading;

/* The whole way in, from bytes. `path` names them in errors; `folder` holds external data and sleap-nn's
 * description, null when there is none. */
sk_status sk_onnx_read_model(const void *bytes, size_t length, const char *path, const char *folder,
                             sk_model *model, sk_error *err) SK_MUST_CHECK;

/* Specialises once at the model's default size and notes the outputs' shapes. */
sk_status sk_onnx_learn_shapes(sk_onnx_reading *r) SK_MUST_CHECK;

/* Ultralytics' metadata_props. */
bool sk_onnx_is_ultralytics(const sk_onnx_model *onnx);
sk_status sk_onnx_read_ultralytics(sk_onnx_reading *r) SK_MUST_CHECK;
/* Class names from the metadata 'names'. */
sk_status sk_onnx_read_classes(sk_onnx_reading *r) SK_MUST_CHECK;
/* The specification's levels, told by the number of anchors. */
void sk_onnx_read_levels(sk_onnx_reading *r, int64_t anchors);

/* Marks the suppression of overlaps inside a network as its tail (onnx_nms.c), where without it dense rows of `values`
 * values each are left; *anchors is their number, 0 when there is nothing of the kind. */
sk_status sk_onnx_find_nms(sk_onnx_reading *r, int64_t values, int64_t *anchors) SK_MUST_CHECK;

/* No task written down (onnx_guess.c): from the outputs' shapes, and a fact that says so. */
sk_status sk_onnx_guess(sk_onnx_reading *r) SK_MUST_CHECK;

/* sleap-nn's export_metadata.json, given its text. */
sk_status sk_onnx_read_sleap(sk_onnx_reading *r, const char *json, size_t length,
                             const char *what) SK_MUST_CHECK;

/* Unnamed classes ("") where a file only tells how many. */
sk_status sk_onnx_unnamed_classes(sk_onnx_reading *r, int32_t count) SK_MUST_CHECK;

#endif
