/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_CONVERT_H
#define SK_KERNELS_CONVERT_H

#include <stddef.h>
#include <stdint.h>

/* Rows of numbers from one type to another. No alignment is needed; dst and src do not overlap; nothing
 * outside `count` elements is touched. */
typedef struct sk_convert_kernels {
    /* dst = src * scale + bias, rounded after each operation: the same bits on every level. */
    void (*u8_to_f32)(float *dst, const uint8_t *src, size_t count, float scale, float bias);
    /* IEEE half floats; to half rounds to nearest, ties to even. */
    void (*f16_to_f32)(float *dst, const uint16_t *src, size_t count);
    void (*f32_to_f16)(uint16_t *dst, const float *src, size_t count);
} sk_convert_kernels;

/* The best functions for these sk_cpu flags; 0 gives plain C. */
void sk_convert_kernels_fill(sk_convert_kernels *kernels, uint32_t flags);

/* One per level; each overwrites the entries it has. */
void sk_convert_kernels_ref(sk_convert_kernels *kernels);
void sk_convert_kernels_sse42(sk_convert_kernels *kernels);
void sk_convert_kernels_avx2(sk_convert_kernels *kernels);
void sk_convert_kernels_avx512(sk_convert_kernels *kernels);
void sk_convert_kernels_neon(sk_convert_kernels *kernels);

#endif
