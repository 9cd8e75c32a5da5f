/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_ARM_TABLES_H
#define SK_KERNELS_ARM_TABLES_H

#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"

/* Parts of the table that live in files of their own, for the compiler's sake. */
void sk_kernels_f32_conv_neon(sk_kernels_f32 *table);
void sk_kernels_f32_conv3_neon(sk_kernels_f32 *table);

#endif
