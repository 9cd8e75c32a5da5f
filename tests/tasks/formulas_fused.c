/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas by a compiler that fuses a product and a sum wherever it may (cmake/Tests.cmake gives the flags), as GPU compilers
 * do: but sk_mul is what __fmul_rn is there, a product by itself. */
static inline float product_by_itself(float a, float b)
{
    volatile float p = a * b;
    return p;
}
#define SK_FORMULA_MUL(a, b) product_by_itself(a, b)

#include "formula_values.h"

int formula_values_fused(uint32_t seed, float *values);
float formula_plain_fused(float a, float b, float c);

int formula_values_fused(uint32_t seed, float *values)
{
    return formula_values(seed, values);
}

/* What happens to a product that is not written sk_mul. */
float formula_plain_fused(float a, float b, float c)
{
    return a * b + c;
}
