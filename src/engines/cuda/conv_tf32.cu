/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_igemm.cuh"

config_list gpu_tf32_configs()
{
    static const gpu_config items[] = {
        TF32_IGEMM(16, 32, 64, 16, 32, 4, 6, 1, 1),  TF32_IGEMM(32, 8, 64, 16, 8, 2, 4, 1, 1),
        TF32_IGEMM(64, 16, 64, 16, 16, 1, 4, 1, 1),  TF32_IGEMM(64, 64, 64, 32, 32, 1, 4, 1, 1),
        TF32_IGEMM(128, 32, 64, 32, 32, 1, 3, 1, 1), TF32_IGEMM(128, 128, 64, 64, 32, 1, 3, 1, 1),
        TF32_IGEMM(16, 32, 64, 16, 32, 4, 6, 3, 1),  TF32_IGEMM(32, 8, 64, 16, 8, 2, 4, 3, 1),
        TF32_IGEMM(64, 16, 64, 16, 16, 1, 4, 3, 1),  TF32_IGEMM(16, 64, 64, 16, 32, 2, 6, 3, 4),
        TF32_IGEMM(64, 64, 64, 32, 32, 1, 4, 3, 1),  TF32_IGEMM(128, 32, 64, 32, 32, 1, 3, 3, 1),
        TF32_IGEMM(128, 128, 64, 64, 32, 1, 3, 3, 1),
    };
    return {items, (int)(sizeof items / sizeof items[0])};
}
