/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/winograd_words_avx512.h"
#include "kernels/x86/tables.h"

void sk_kernels_f32_words_avx512bf16(sk_kernels_f32 *table)
{
    table->winograd_words = winograd_words;
    table->words_native = 1;
}
