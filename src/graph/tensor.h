/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_TENSOR_H
#define SK_GRAPH_TENSOR_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Element types. The values are part of caches and sidecars: append, never renumber. */
typedef enum sk_dtype {
    SK_DTYPE_NONE = 0,
    SK_DTYPE_F32 = 1,
    SK_DTYPE_F16 = 2,
    SK_DTYPE_BF16 = 3,
    SK_DTYPE_F64 = 4,
    SK_DTYPE_I8 = 5,
    SK_DTYPE_U8 = 6,
    SK_DTYPE_I16 = 7,
    SK_DTYPE_U16 = 8,
    SK_DTYPE_I32 = 9,
    SK_DTYPE_U32 = 10,
    SK_DTYPE_I64 = 11,
    SK_DTYPE_U64 = 12,
    SK_DTYPE_BOOL = 13, /* one byte, 0 or 1 */
    SK_DTYPE_F8 = 14    /* e4m3 (f8_formula.h): how values in eight bits are kept; nothing computes in it */
} sk_dtype;

size_t sk_dtype_bytes(sk_dtype dtype);     /* 0 for SK_DTYPE_NONE */
const char *sk_dtype_name(sk_dtype dtype); /* "f32", "u8", … */
bool sk_dtype_is_float(sk_dtype dtype);    /* that networks compute in: not f8 */

#define SK_MAX_RANK 8

/* rank -1: nothing known; a dimension of -1: not known yet. Rank 0 is a scalar (one element). */
typedef struct sk_shape {
    int32_t rank;
    int64_t dim[SK_MAX_RANK];
} sk_shape;

/* sk_shape_of(4, 1, 3, 640, 640) */
sk_shape sk_shape_of(int rank, ...);
bool sk_shape_known(const sk_shape *shape);
bool sk_shape_equal(const sk_shape *a, const sk_shape *b);
/* Product of the dimensions; -1 when unknown or beyond 2^48 elements. */
int64_t sk_shape_count(const sk_shape *shape);
/* "1x3x640x640", "?" for unknown. Returns buffer. */
const char *sk_shape_text(const sk_shape *shape, char *buffer, size_t capacity);
#define SK_SHAPE_TEXT 96

/* A dense row-major array somebody else owns. Activations are NCHW throughout the graph. */
typedef struct sk_tensor {
    sk_dtype dtype;
    sk_shape shape;
    void *data;
} sk_tensor;

size_t sk_tensor_bytes(const sk_tensor *tensor);

/* One element as a double / int64, whatever the type; for attributes, tests and slow code. */
double sk_tensor_at(const sk_tensor *tensor, int64_t index);
int64_t sk_tensor_int_at(const sk_tensor *tensor, int64_t index);

float sk_f16_to_f32(uint16_t half);
uint16_t sk_f32_to_f16(float value); /* round to nearest even */
static inline float sk_bf16_to_f32(uint16_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)bits << 16};
    return v.f;
}
/* To nearest, ties to even; what is no number stays none. */
static inline uint16_t sk_f32_to_bf16(float value)
{
    union {
        float f;
        uint32_t u;
    } v = {value};
    if ((v.u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(v.u >> 16 | 0x40u);
    return (uint16_t)((v.u + 0x7fffu + (v.u >> 16 & 1u)) >> 16);
}
/* Converts `count` elements between any two types; floats to integers truncate toward zero and saturate, and so do numbers to f8,
 * which are rounded. */
void sk_convert(sk_dtype from, const void *src, sk_dtype to, void *dst, size_t count);

#endif
