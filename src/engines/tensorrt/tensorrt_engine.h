/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_TENSORRT_TENSORRT_ENGINE_H
#define SK_ENGINES_TENSORRT_TENSORRT_ENGINE_H

#include "engines/engine.h"

/* What it can, also for the program, which says it without having the plugin. */
#define SK_TENSORRT_CAN                                                                                      \
    {                                                                                                        \
        .device = SK_DEVICE_NVIDIA, .reads = SK_READS(SK_PLACE_HOST),                                        \
        .precisions = 1u << SK_PRECISION_F32 | 1u << SK_PRECISION_TF32 | 1u << SK_PRECISION_F16 |            \
                      1u << SK_PRECISION_I8,                                                                 \
        .usual = SK_PRECISION_F16, .asynchronous = true                                                      \
    }

/* The engine inside the plugin; the program's own sk_engine_tensorrt forwards to it. */
extern const sk_engine sk_engine_tensorrt_plugin;

#endif
