/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_X86_TABLES_H
#define SK_KERNELS_X86_TABLES_H

#include "kernels/kernels.h"

/* Parts of a set's table that live in files of their own, for the compiler's sake. */
void sk_kernels_f32_conv_avx512(sk_kernels_f32 *table);
void sk_kernels_f32_conv3_avx512(sk_kernels_f32 *table);
void sk_kernels_f32_conv_avx2(sk_kernels_f32 *table);
void sk_kernels_f32_conv3_avx2(sk_kernels_f32 *table);
/* Needs AVX512-VNNI besides. */
void sk_kernels_f32_words_avx512bf16(sk_kernels_f32 *table, uint32_t flags);
void sk_kernels_f32_conv_sse42(sk_kernels_f32 *table);

#endif
