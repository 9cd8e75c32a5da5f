/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIGMOID_FORMULA_H
#define SK_KERNELS_SIGMOID_FORMULA_H

#include "base/formula.h"

/* The networks' sigmoid. Stays below 1 as long as a float can say so: two classes that are nearly sure can still be told
 * apart. For C, CUDA and HIP: base/formula.h. YOLO's scores have the original's own form of it: tasks/yolo_formula.h. */
SK_FORMULA float sk_sigmoid(float x)
{
    const float e = expf(-fabsf(x)), low = e / (1.0f + e);
    return x > 0 ? 1.0f - low : low;
}

#endif
