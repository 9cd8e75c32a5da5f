/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/border.h"
#include "engines/tensorrt/tensorrt_engine.h"
#include "skitter/version.h"

__attribute__((visibility("default"))) const sk_plugin *SK_PLUGIN_ENTRY(void);
const sk_plugin *SK_PLUGIN_ENTRY(void)
{
    static sk_plugin table;
    table = (sk_plugin)SK_PLUGIN_TABLE(sk_version_text(), &sk_engine_tensorrt_plugin);
    return &table;
}
