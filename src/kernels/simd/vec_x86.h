/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_X86_H
#define SK_KERNELS_SIMD_VEC_X86_H

/* The words that are one instruction of the same name at every width of x86. Before it is included, `vec` is the
 * type and VEC_MM(name) that width's intrinsic: _mm_name, _mm256_name, _mm512_name. */
SK_INLINE vec vec_load(const float *p)
{
    return VEC_MM(loadu_ps)(p);
}
SK_INLINE void vec_store(float *p, vec v)
{
    VEC_MM(storeu_ps)(p, v);
}
SK_INLINE vec vec_set1(float x)
{
    return VEC_MM(set1_ps)(x);
}
SK_INLINE vec vec_add(vec a, vec b)
{
    return VEC_MM(add_ps)(a, b);
}
SK_INLINE vec vec_sub(vec a, vec b)
{
    return VEC_MM(sub_ps)(a, b);
}
SK_INLINE vec vec_mul(vec a, vec b)
{
    return VEC_MM(mul_ps)(a, b);
}
SK_INLINE vec vec_div(vec a, vec b)
{
    return VEC_MM(div_ps)(a, b);
}
SK_INLINE vec vec_min(vec a, vec b)
{
    return VEC_MM(min_ps)(a, b);
}
SK_INLINE vec vec_max(vec a, vec b)
{
    return VEC_MM(max_ps)(a, b);
}

#endif
