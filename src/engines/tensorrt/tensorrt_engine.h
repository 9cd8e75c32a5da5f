/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_TENSORRT_TENSORRT_ENGINE_H
#define SK_ENGINES_TENSORRT_TENSORRT_ENGINE_H

#include "engines/engine.h"

/* The engine inside the plugin; the program's own sk_engine_tensorrt forwards to it. */
extern const sk_engine sk_engine_tensorrt_plugin;

#endif
