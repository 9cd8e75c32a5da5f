/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/plugin.h"
#include "engines/tensorrt/tensorrt_engine.h"
#include "skitter/version.h"

__attribute__((visibility("default"))) const sk_plugin *SK_PLUGIN_ENTRY(void);
const sk_plugin *SK_PLUGIN_ENTRY(void)
{
    static sk_plugin table;
    table = (sk_plugin){.abi = SK_PLUGIN_ABI,
                        .size = sizeof table,
                        .layout = sk_plugin_layout(),
                        .version = sk_version_text(),
                        .engine = &sk_engine_tensorrt_plugin};
    return &table;
}
