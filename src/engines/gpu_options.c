/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/capabilities.h"

/* Apart from the engine, which is a plugin: the program lists and checks them without having it. */
const sk_engine_option sk_gpu_options[] = {
    {.key = "tune",
     .kind = SK_ENGINE_OPTION_SWITCH,
     .usual = "on",
     .help = "time the kernels for each convolution when a network is opened, and remember the fastest"},
    {0}};
