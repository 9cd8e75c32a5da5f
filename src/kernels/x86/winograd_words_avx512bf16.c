/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"
#include "kernels/simd/winograd_words_avx512.h"
#include "kernels/x86/tables.h"

/* Processors that also have AVX-VNNI (Zen 5) multiply two vectors of pairs a cycle, others (Zen 4) one: there the transforms at stride 2 cost
 * more than the products they save. */
void sk_kernels_f32_words_avx512bf16(sk_kernels_f32 *table, uint32_t flags)
{
    table->winograd_words = winograd_words;
    table->words_native = flags & SK_CPU_AVXVNNI ? 1 : 2;
}
