/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_X86_H
#define SK_KERNELS_SIMD_VEC_X86_H

#include "kernels/simd/vec_words.h"

/* The words that have one name at every width of x86; VEC_OP as in vec_words.h. */
SK_INLINE vec vec_load(const float *p)
{
    return VEC_OP(loadu)(p);
}
SK_INLINE void vec_store(float *p, vec v)
{
    VEC_OP(storeu)(p, v);
}
SK_INLINE vec vec_set1(float x)
{
    return VEC_OP(set1)(x);
}

#endif
