/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CAPABILITIES_H
#define SK_ENGINES_CUDA_CAPABILITIES_H

#include "engines/capabilities.h"
#include "engines/options.h"

/* What the two GPU plugins can, for themselves and for the program, which says it without having them. */
#define GPU_OFFERS (SK_OFFERS_FRAMES | SK_OFFERS_SPARSE | SK_OFFERS_FOUND | SK_OFFERS_PEAKS | SK_OFFERS_CROPS)
#define GPU_CAN(kind, places, its_precisions)                                                                \
    {                                                                                                        \
        .device = (kind), .reads = SK_READS(SK_PLACE_HOST) | SK_READS(SK_PLACE_PINNED) | (places),           \
        .offers = GPU_OFFERS,                                                                                \
        .precisions = 1u << SK_PRECISION_F32 | 1u << SK_PRECISION_F16 | (its_precisions),                    \
        .usual = SK_PRECISION_F16, .replay = SK_REPLAY_CAPTURED, .asynchronous = true, .free_shapes = true   \
    }
#define SK_CUDA_CAN                                                                                          \
    GPU_CAN(SK_DEVICE_NVIDIA, SK_READS(SK_PLACE_CUDA),                                                       \
            1u << SK_PRECISION_TF32 | 1u << SK_PRECISION_BF16 | 1u << SK_PRECISION_I8 |                      \
                1u << SK_PRECISION_FP8)
#define SK_ROCM_CAN GPU_CAN(SK_DEVICE_AMD, 0, 0)

extern const sk_engine_option sk_gpu_options[];

#endif
