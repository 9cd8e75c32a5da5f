/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_kernel.cuh"

GPU_TILE_LIST(bf_halo_wgmma, HALO_WGMMA_BF)
