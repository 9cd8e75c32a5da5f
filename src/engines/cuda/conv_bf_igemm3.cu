/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_kernel.cuh"

GPU_TILE_LIST(bf_igemm3, GATHER_MMA_BF)
