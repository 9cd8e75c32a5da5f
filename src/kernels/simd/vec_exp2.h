/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_EXP2_H
#define SK_KERNELS_SIMD_VEC_EXP2_H

/* 2^f for f in [0, 1), in the words of the vec_<isa>.h that includes it: a minimax polynomial of degree 5, relative
 * error 2e-7. */
SK_INLINE vec vec_exp2_fraction(vec f)
{
    vec p = vec_set1(1.8775767e-3f);
    p = vec_fma(p, f, vec_set1(8.9893397e-3f));
    p = vec_fma(p, f, vec_set1(5.5826318e-2f));
    p = vec_fma(p, f, vec_set1(2.4015361e-1f));
    p = vec_fma(p, f, vec_set1(6.9315308e-1f));
    return vec_fma(p, f, vec_set1(9.9999994e-1f));
}

#endif
