/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_kernel.cuh"

GPU_TILE_LIST(u8_then, GATHER_THEN_U8)
