/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_kernel.cuh"

GPU_TILE_LIST(bf_walk, WALK_BF)
