/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/tolerance.h"

#include <stdio.h>

/* Measured on the models skitter is tested with, f32 engines agree with the reference to more than 0.9999999 on every
 * output and f16 to more than 0.9995; one damaged weight, another frame or another trace lies far below. What int8 makes of a
 * model could be any other model's, so it is never taken for it. Of demo-obb.pt in eight bits, on a picture it was not made for,
 * the cpu engine is 0.91 to 1.06 times as far from f32 as the reference executor, ONNX Runtime and OpenVINO, which round once more,
 * 1.16 to 1.36 times as far as the cpu engine. */
static const struct {
    sk_precision precision;
    sk_tolerance limits;
} table[] = {
    {SK_PRECISION_F32, {0.99999, 1e-3, 0.999999, 0.999999, 5e-5, 0}},
    {SK_PRECISION_TF32, {0.9995, 0.1, 0.9995, 0.9999, 0.02, 0}},
    {SK_PRECISION_F16, {0.999, 0.1, 0.9995, 0.9999, 0.02, 0}},
    {SK_PRECISION_BF16, {0.99, 0.1, 0.99, 0.9999, 0.02, 0}},
    {SK_PRECISION_I8, {0.97, 0.5, 0.97, 0, 0, 2}},
    {SK_PRECISION_FP8, {0.95, 0.5, 0.95, 0, 0, 2}},
};
#define COUNT (sizeof table / sizeof table[0])

const sk_tolerance *sk_tolerance_of(sk_precision precision)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].precision == precision)
            return &table[i].limits;
    return &table[0].limits;
}

const char *sk_tolerance_text(char *buffer, size_t capacity)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < COUNT && used < capacity; i++)
        used += (size_t)snprintf(buffer + used, capacity - used, "%s%s %g", i ? ", " : "",
                                 sk_precision_name(table[i].precision), table[i].limits.pcc);
    return buffer;
}
