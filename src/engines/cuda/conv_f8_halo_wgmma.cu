/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_kernel.cuh"

GPU_TILE_LIST(f8_halo_wgmma, HALO_WGMMA_F8)
