/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_BF16_ELEMENT_H
#define SK_ENGINES_CUDA_BF16_ELEMENT_H

#include <stdint.h>

/* Numbers of maps of bf16, the upper half of a float's bits, on device and host. Needs GPU_HD before it. */
GPU_HD float gpu_bf16_load(const void *p, int64_t i)
{
    union {
        uint32_t bits;
        float number;
    } v = {(uint32_t)((const uint16_t *)p)[i] << 16};
    return v.number;
}
/* To nearest, ties to even; what is no number stays none. */
GPU_HD void gpu_bf16_store(void *p, int64_t i, float number)
{
    union {
        float number;
        uint32_t bits;
    } v = {number};
    const uint32_t up = (v.bits & 0x7fffffffu) > 0x7f800000u ? 0x400000u : 0x7fffu + (v.bits >> 16 & 1u);
    ((uint16_t *)p)[i] = (uint16_t)((v.bits + up) >> 16);
}

#endif
