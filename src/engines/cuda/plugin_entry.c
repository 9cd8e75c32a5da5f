/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/border.h"

#include "skitter/version.h"

extern const sk_engine gpu_engine;

__attribute__((visibility("default"))) const sk_plugin *SK_PLUGIN_ENTRY(void);
const sk_plugin *SK_PLUGIN_ENTRY(void)
{
    static sk_plugin table;
    table = (sk_plugin)SK_PLUGIN_TABLE(sk_version_text(), &gpu_engine);
    return &table;
}
