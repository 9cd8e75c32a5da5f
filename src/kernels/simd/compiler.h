/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_COMPILER_H
#define SK_KERNELS_SIMD_COMPILER_H

/* Register tiles are arrays indexed by loop counters; they live in registers only when the loops over them are
 * unrolled completely. gcc and clang spell that differently, and each ignores the other's pragma. */
#define SK_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define SK_UNROLL SK_PRAGMA(clang loop unroll(full))
#else
#define SK_UNROLL SK_PRAGMA(GCC unroll 64)
#endif

#define SK_INLINE static inline __attribute__((always_inline))

#endif
