/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_HALVE_BF16_H
#define SK_KERNELS_HALVE_BF16_H

#include "kernels/kernels.h"

/* sk_halve_bf16_fn as plain loops that compilers turn into vectors; whole numbers, so the same for all instruction sets. */

static inline int16_t bf16_order(uint16_t bits)
{
    return (int16_t)(bits ^ ((uint16_t) - (bits >> 15) & 0x7fff));
}

static void halve_bf16(const uint16_t *restrict top, const uint16_t *restrict below, uint16_t *restrict out,
                       int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, top += 2 * SK_BLOCK, below += 2 * SK_BLOCK, out += SK_BLOCK)
        for (int i = 0; i < SK_BLOCK; i++) {
            const int16_t a = bf16_order(top[i]), b = bf16_order(top[i + SK_BLOCK]), c = bf16_order(below[i]),
                          d = bf16_order(below[i + SK_BLOCK]);
            const int16_t e = a > b ? a : b, g = c > d ? c : d, most = e > g ? e : g;
            out[i] = (uint16_t)bf16_order((uint16_t)most);
        }
}

#endif
