/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_igemm.cuh"

config_list gpu_igemm_pointwise_configs()
{
    static const gpu_config items[] = {
        IGEMM(16, 32, 64, 16, 32, 4, 6, 1, 1),  IGEMM(32, 32, 64, 32, 32, 4, 6, 1, 1),
        IGEMM(32, 32, 64, 16, 32, 2, 6, 1, 1),  IGEMM(16, 64, 64, 16, 32, 2, 6, 1, 1),
        IGEMM(32, 8, 64, 16, 8, 2, 4, 1, 1),    IGEMM(128, 8, 64, 32, 8, 1, 3, 1, 1),
        IGEMM(64, 16, 64, 16, 16, 1, 4, 1, 1),  IGEMM(128, 32, 32, 32, 32, 1, 4, 1, 1),
        IGEMM(64, 64, 64, 32, 32, 1, 4, 1, 1),  IGEMM(128, 64, 32, 32, 32, 1, 4, 1, 1),
        IGEMM(256, 64, 32, 64, 32, 1, 4, 1, 1), IGEMM(128, 128, 32, 64, 32, 1, 4, 1, 1),
    };
    return {items, (int)(sizeof items / sizeof items[0])};
}
