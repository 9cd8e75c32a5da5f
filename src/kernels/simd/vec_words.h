/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_VEC_WORDS_H
#define SK_KERNELS_SIMD_VEC_WORDS_H

/* The words that are one instruction everywhere. Before it is included, `vec` is the type and VEC_OP(name) the
 * intrinsic: VEC_OP(add) is _mm256_add_ps, or vaddq_f32. */
#define VEC_WORD(name)                                                                                       \
    SK_INLINE vec vec_##name(vec a, vec b)                                                                   \
    {                                                                                                        \
        return VEC_OP(name)(a, b);                                                                           \
    }
VEC_WORD(add)
VEC_WORD(sub)
VEC_WORD(mul)
VEC_WORD(div)
VEC_WORD(min)
VEC_WORD(max)
#undef VEC_WORD

#endif
