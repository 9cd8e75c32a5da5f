/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_igemm.cuh"

#define FUNCTION(...) (const void *)conv_igemm<__VA_ARGS__, false>,
GPU_TILE_LIST(igemm3, FUNCTION)
