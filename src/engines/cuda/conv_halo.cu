/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_halo.cuh"

#define FUNCTION(...) (const void *)conv_halo<__VA_ARGS__>,
GPU_TILE_LIST(halo, FUNCTION)
