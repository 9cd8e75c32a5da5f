/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_halo.cuh"

config_list gpu_halo_configs()
{
    static const gpu_config items[] = {
        HALO(8, 16, 16, 8, 32, 8, 1),   HALO(16, 16, 16, 8, 64, 8, 1),   HALO(16, 16, 16, 16, 64, 16, 1),
        HALO(8, 16, 16, 16, 32, 16, 1), HALO(8, 8, 16, 32, 16, 32, 1),   HALO(16, 16, 16, 32, 64, 32, 1),
        HALO(8, 8, 32, 16, 16, 16, 1),  HALO(8, 16, 32, 16, 32, 16, 1),  HALO(4, 8, 32, 32, 16, 16, 1),
        HALO(8, 16, 32, 32, 32, 32, 1), HALO(8, 8, 64, 32, 16, 32, 1),   HALO(8, 16, 64, 64, 32, 32, 1),
        HALO(4, 4, 64, 32, 16, 8, 1),   HALO(8, 16, 16, 32, 32, 32, 2),
    };
    return {items, (int)(sizeof items / sizeof items[0])};
}
