/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ONNX_WIRE_H
#define SK_FORMATS_ONNX_WIRE_H

#include "base/memory.h"
#include "onnx.pb-c.h"

#include <stdbool.h>

/* The careful door to protobuf-c: the bytes are walked once before it sees them, and its memory is
 * counted. */

typedef struct sk_onnx_wire {
    SkOnnx__Model *message;
    ProtobufCAllocator allocator;
    size_t used, limit;
    size_t refused; /* bytes the machine did not have; 0 = none */
    bool over_limit;
} sk_onnx_wire;

/* Fills *wire; on success it must be ended with sk_onnx_wire_close and must not move in between. */
sk_status sk_onnx_wire_open(const void *bytes, size_t length, const char *what, sk_onnx_wire *wire,
                            sk_error *err) SK_MUST_CHECK;
void sk_onnx_wire_close(sk_onnx_wire *wire);

/* Takes a bytes field's memory out of the message, to be ended with sk_free. Fields of at least
 * SK_ONNX_WIRE_ALIGNED bytes are 64-byte aligned. */
#define SK_ONNX_WIRE_ALIGNED 4096
uint8_t *sk_onnx_wire_take(ProtobufCBinaryData *field);

#endif
