/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_TABLE_U8_IMPL_H
#define SK_KERNELS_SIMD_TABLE_U8_IMPL_H

/* The functions of one instruction set; included behind conv_u8_impl.h and pool_u8_impl.h. */
static void table_u8_fill(sk_kernels_u8 *table, const char *isa)
{
    static const int8_t tile[5] = {SUM_PIXELS};
    table->isa = isa;
    for (int i = 0; i < 5; i++)
        table->conv_tile[i] = tile[i];
    table->conv = u8_conv;
    table->depthwise = u8_depthwise;
    table->finish = finish_row;
    table->quantise = quantise;
    table->dequantise = dequantise;
    table->max_pool = pool_max_u8;
}

#endif
