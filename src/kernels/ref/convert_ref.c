/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convert.h"

#include "graph/tensor.h"

static void sk_u8_to_f32_ref(float *dst, const uint8_t *src, size_t count, float scale, float bias)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (float)src[i] * scale + bias;
}

static void sk_f16_to_f32_ref(float *dst, const uint16_t *src, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = sk_f16_to_f32(src[i]);
}

static void sk_f32_to_f16_ref(uint16_t *dst, const float *src, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = sk_f32_to_f16(src[i]);
}

void sk_convert_kernels_ref(sk_convert_kernels *kernels)
{
    kernels->u8_to_f32 = sk_u8_to_f32_ref;
    kernels->f16_to_f32 = sk_f16_to_f32_ref;
    kernels->f32_to_f16 = sk_f32_to_f16_ref;
}
