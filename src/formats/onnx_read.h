/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ONNX_READ_H
#define SK_FORMATS_ONNX_READ_H

#include "formats/onnx.h"
#include "onnx.pb-c.h"

/* Shared by onnx_read.c and onnx_tensor.c; others include formats/onnx.h. */

typedef struct sk_onnx_reader {
    sk_onnx_model *model;
    const char *what;   /* names the file in errors */
    const char *folder; /* of external data; may be null */
    sk_error *err;
    uint64_t
        external_bytes; /* of external data so far: any number of tensors may lie at one place of one file */
} sk_onnx_reader;

/* Never null: "" for an absent string; on lack of memory null. */
const char *sk_onnx_copy_text(sk_onnx_reader *r, const char *text);

/* Turns a tensor message into a view with checked data. May take the raw data out of the message. */
sk_status sk_onnx_read_tensor(sk_onnx_reader *r, SkOnnx__Tensor *from, sk_onnx_tensor *to) SK_MUST_CHECK;

/* Element type of a wire number; SK_DTYPE_NONE for those skitter has no use for. */
sk_dtype sk_onnx_dtype(int32_t type);
const char *sk_onnx_type_name(int32_t type); /* "int4", … for errors */

#endif
