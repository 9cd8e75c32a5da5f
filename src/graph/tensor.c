/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/tensor.h"

#include "graph/f8_formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t sk_dtype_bytes(sk_dtype dtype)
{
    switch (dtype) {
    case SK_DTYPE_NONE: return 0;
    case SK_DTYPE_I8:
    case SK_DTYPE_U8:
    case SK_DTYPE_F8:
    case SK_DTYPE_BOOL: return 1;
    case SK_DTYPE_F16:
    case SK_DTYPE_BF16:
    case SK_DTYPE_I16:
    case SK_DTYPE_U16: return 2;
    case SK_DTYPE_F32:
    case SK_DTYPE_I32:
    case SK_DTYPE_U32: return 4;
    case SK_DTYPE_F64:
    case SK_DTYPE_I64:
    case SK_DTYPE_U64: return 8;
    }
    return 0;
}

const char *sk_dtype_name(sk_dtype dtype)
{
    switch (dtype) {
    case SK_DTYPE_NONE: return "none";
    case SK_DTYPE_F32: return "f32";
    case SK_DTYPE_F16: return "f16";
    case SK_DTYPE_BF16: return "bf16";
    case SK_DTYPE_F64: return "f64";
    case SK_DTYPE_I8: return "i8";
    case SK_DTYPE_U8: return "u8";
    case SK_DTYPE_I16: return "i16";
    case SK_DTYPE_U16: return "u16";
    case SK_DTYPE_I32: return "i32";
    case SK_DTYPE_U32: return "u32";
    case SK_DTYPE_I64: return "i64";
    case SK_DTYPE_U64: return "u64";
    case SK_DTYPE_BOOL: return "bool";
    case SK_DTYPE_F8: return "f8";
    }
    return "invalid";
}

bool sk_dtype_is_float(sk_dtype dtype)
{
    return dtype == SK_DTYPE_F32 || dtype == SK_DTYPE_F16 || dtype == SK_DTYPE_BF16 || dtype == SK_DTYPE_F64;
}

sk_shape sk_shape_of(int rank, ...)
{
    sk_shape shape = {.rank = rank};
    va_list args;
    va_start(args, rank);
    for (int i = 0; i < rank && i < SK_MAX_RANK; i++)
        shape.dim[i] = va_arg(args, int);
    va_end(args);
    return shape;
}

bool sk_shape_known(const sk_shape *shape)
{
    if (shape->rank < 0 || shape->rank > SK_MAX_RANK)
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 0)
            return false;
    return true;
}

bool sk_shape_equal(const sk_shape *a, const sk_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

int64_t sk_shape_count(const sk_shape *shape)
{
    const int64_t limit = (int64_t)1 << 48;
    if (!sk_shape_known(shape))
        return -1;
    /* A zero anywhere makes the product zero, however large the other dimensions are. */
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] == 0)
            return 0;
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] > limit / count)
            return -1;
        count *= shape->dim[i];
    }
    return count;
}

const char *sk_shape_text(const sk_shape *shape, char *buffer, size_t capacity)
{
    if (capacity == 0)
        return buffer;
    if (shape->rank < 0 || shape->rank > SK_MAX_RANK) {
        snprintf(buffer, capacity, "?");
        return buffer;
    }
    if (shape->rank == 0) {
        snprintf(buffer, capacity, "scalar");
        return buffer;
    }
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < shape->rank && used < capacity; i++) {
        const char *separator = i ? "x" : "";
        int length = shape->dim[i] < 0 ? snprintf(buffer + used, capacity - used, "%s?", separator)
                                       : snprintf(buffer + used, capacity - used, "%s%lld", separator,
                                                  (long long)shape->dim[i]);
        used += (size_t)length;
    }
    return buffer;
}

size_t sk_tensor_bytes(const sk_tensor *tensor)
{
    int64_t count = sk_shape_count(&tensor->shape);
    return count < 0 ? 0 : (size_t)count * sk_dtype_bytes(tensor->dtype);
}

/* --- half floats --- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float sk_f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = (half >> 10) & 0x1F;
    uint32_t mantissa = half & 0x3FF;
    if (exponent == 31)
        return float_of(sign | 0x7F800000u | mantissa << 13);
    if (exponent == 0) {
        /* zero or subnormal: mantissa * 2^-24, exact in f32 */
        float magnitude = (float)mantissa * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t sk_f32_to_f16(float value)
{
    uint32_t bits = bits_of(value);
    uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return sign | 0x7E00;     /* not a number */
    if (magnitude >= 0x47800000u) /* 65536 and above, infinity */
        return sign | 0x7C00;
    if (magnitude < 0x38800000u) {
        /* Subnormal half: adding 0.5 leaves round(value * 2^24) in the low mantissa bits, rounded to even. */
        uint32_t rounded = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
        return (uint16_t)(sign | rounded);
    }
    uint32_t odd = (magnitude >> 13) & 1;
    uint32_t rounded =
        magnitude + 0xFFF + odd; /* may carry into the exponent, up to infinity: that is right */
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
}

/* --- conversion: in chunks, through double for floating sources and int64 for integer ones --- */

enum { CHUNK = 256 };

#define EACH(type, expression)                                                                               \
    do {                                                                                                     \
        const type *s = src;                                                                                 \
        for (size_t i = 0; i < n; i++)                                                                       \
            dst[i] = expression;                                                                             \
    } while (0);                                                                                             \
    break

static void load_floats(sk_dtype dtype, const void *src, double *dst, size_t n)
{
    switch (dtype) {
    case SK_DTYPE_F32: EACH(float, s[i]);
    case SK_DTYPE_F64: EACH(double, s[i]);
    case SK_DTYPE_F16: EACH(uint16_t, sk_f16_to_f32(s[i]));
    case SK_DTYPE_BF16: EACH(uint16_t, sk_bf16_to_f32(s[i]));
    case SK_DTYPE_F8: EACH(uint8_t, sk_f8_number(s[i]));
    default: break;
    }
}

static void load_integers(sk_dtype dtype, const void *src, int64_t *dst, size_t n)
{
    switch (dtype) {
    case SK_DTYPE_I8: EACH(int8_t, s[i]);
    case SK_DTYPE_U8: EACH(uint8_t, s[i]);
    case SK_DTYPE_BOOL: EACH(uint8_t, s[i] != 0);
    case SK_DTYPE_I16: EACH(int16_t, s[i]);
    case SK_DTYPE_U16: EACH(uint16_t, s[i]);
    case SK_DTYPE_I32: EACH(int32_t, s[i]);
    case SK_DTYPE_U32: EACH(uint32_t, s[i]);
    case SK_DTYPE_I64: EACH(int64_t, s[i]);
    case SK_DTYPE_U64: EACH(uint64_t, (int64_t)s[i]);
    default: break;
    }
}
#undef EACH

static int64_t saturate(double value, double low, double high)
{
    if (isnan(value))
        return 0;
    /* the limits are whole numbers below 2^63, so the cast is defined */
    return (int64_t)(value < low ? low : value > high ? high : value);
}

static int64_t to_i64(double value)
{
    if (isnan(value))
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static uint64_t to_u64(double value)
{
    if (!(value > 0))
        return 0;
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

#define EACH(type, expression)                                                                               \
    do {                                                                                                     \
        type *d = dst; /* NOLINT(bugprone-macro-parentheses) */                                              \
        for (size_t i = 0; i < n; i++)                                                                       \
            d[i] = (type)(expression);                                                                       \
    } while (0);                                                                                             \
    break

static void store_floats(sk_dtype dtype, const double *v, void *dst, size_t n)
{
    switch (dtype) {
    case SK_DTYPE_NONE: break;
    case SK_DTYPE_F32: EACH(float, v[i]);
    case SK_DTYPE_F64: EACH(double, v[i]);
    case SK_DTYPE_F16: EACH(uint16_t, sk_f32_to_f16((float)v[i]));
    case SK_DTYPE_BF16: EACH(uint16_t, sk_f32_to_bf16((float)v[i]));
    case SK_DTYPE_F8: EACH(uint8_t, sk_f8_of((float)v[i]));
    case SK_DTYPE_I8: EACH(int8_t, saturate(v[i], INT8_MIN, INT8_MAX));
    case SK_DTYPE_U8: EACH(uint8_t, saturate(v[i], 0, UINT8_MAX));
    case SK_DTYPE_I16: EACH(int16_t, saturate(v[i], INT16_MIN, INT16_MAX));
    case SK_DTYPE_U16: EACH(uint16_t, saturate(v[i], 0, UINT16_MAX));
    case SK_DTYPE_I32: EACH(int32_t, saturate(v[i], INT32_MIN, INT32_MAX));
    case SK_DTYPE_U32: EACH(uint32_t, saturate(v[i], 0, UINT32_MAX));
    case SK_DTYPE_I64: EACH(int64_t, to_i64(v[i]));
    case SK_DTYPE_U64: EACH(uint64_t, to_u64(v[i]));
    case SK_DTYPE_BOOL: EACH(uint8_t, v[i] != 0);
    }
}

/* Integers to narrower integers wrap, as a cast does. `unsigned64`: the bits are those of a uint64. */
static void store_integers(sk_dtype dtype, const int64_t *v, bool unsigned64, void *dst, size_t n)
{
    switch (dtype) {
    case SK_DTYPE_NONE: break;
    case SK_DTYPE_F32: EACH(float, unsigned64 ? (float)(uint64_t)v[i] : (float)v[i]);
    case SK_DTYPE_F64: EACH(double, unsigned64 ? (double)(uint64_t)v[i] : (double)v[i]);
    case SK_DTYPE_F16: EACH(uint16_t, sk_f32_to_f16(unsigned64 ? (float)(uint64_t)v[i] : (float)v[i]));
    case SK_DTYPE_BF16: EACH(uint16_t, sk_f32_to_bf16(unsigned64 ? (float)(uint64_t)v[i] : (float)v[i]));
    case SK_DTYPE_F8: EACH(uint8_t, sk_f8_of(unsigned64 ? (float)(uint64_t)v[i] : (float)v[i]));
    case SK_DTYPE_I8: EACH(int8_t, v[i]);
    case SK_DTYPE_U8: EACH(uint8_t, v[i]);
    case SK_DTYPE_I16: EACH(int16_t, v[i]);
    case SK_DTYPE_U16: EACH(uint16_t, v[i]);
    case SK_DTYPE_I32: EACH(int32_t, v[i]);
    case SK_DTYPE_U32: EACH(uint32_t, v[i]);
    case SK_DTYPE_I64: EACH(int64_t, v[i]);
    case SK_DTYPE_U64: EACH(uint64_t, v[i]);
    case SK_DTYPE_BOOL: EACH(uint8_t, v[i] != 0);
    }
}
#undef EACH

void sk_convert(sk_dtype from, const void *src, sk_dtype to, void *dst, size_t count)
{
    if (count == 0)
        return;
    if (from == to && from != SK_DTYPE_BOOL) {
        memcpy(dst, src, count * sk_dtype_bytes(from));
        return;
    }
    const unsigned char *s = src;
    unsigned char *d = dst;
    size_t from_bytes = sk_dtype_bytes(from), to_bytes = sk_dtype_bytes(to);
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        size_t n = count - begin < CHUNK ? count - begin : CHUNK;
        if (sk_dtype_is_float(from) || from == SK_DTYPE_F8) {
            double chunk[CHUNK];
            load_floats(from, s + begin * from_bytes, chunk, n);
            store_floats(to, chunk, d + begin * to_bytes, n);
        } else if (from != SK_DTYPE_NONE) {
            int64_t chunk[CHUNK];
            load_integers(from, s + begin * from_bytes, chunk, n);
            store_integers(to, chunk, from == SK_DTYPE_U64, d + begin * to_bytes, n);
        }
    }
}

double sk_tensor_at(const sk_tensor *tensor, int64_t index)
{
    double value = 0;
    const unsigned char *bytes = tensor->data;
    sk_convert(tensor->dtype, bytes + (size_t)index * sk_dtype_bytes(tensor->dtype), SK_DTYPE_F64, &value, 1);
    return value;
}

int64_t sk_tensor_int_at(const sk_tensor *tensor, int64_t index)
{
    int64_t value = 0;
    const unsigned char *bytes = tensor->data;
    sk_convert(tensor->dtype, bytes + (size_t)index * sk_dtype_bytes(tensor->dtype), SK_DTYPE_I64, &value, 1);
    return value;
}
