#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nobody decides by an engine's name: what an engine can is in its table (engines/capabilities.h). Names are compared where
# they are read (src/runtime/names.c, src/cli/).
set -uo pipefail
cd "${SKITTER_TEST_SOURCE:-$(dirname "$0")/../..}"
names='"(cpu|mps|cuda|rocm|onnx_?[a-z]*|onnxruntime|tensorrt|openvino|reference)(:|")'
who='(runtime|engine|name|value|devices|command)'

# A line that compares a runtime or an engine with a name.
compares() {
    grep -nE "str(n|case|ncase)?cmp\([^;]*$who[^;]*, $names|strstr\([^;]*$who[^;]*, $names" "$@"
}

# The check itself must see one.
printf 'if (strcmp(engine->name, "cpu") == 0)\n' | compares >/dev/null || {
    echo "the pattern finds nothing any more"
    exit 1
}
mapfile -t files < <(find src -name '*.[ch]' ! -path 'src/cli/*' ! -path 'src/runtime/names.c')
if compares "${files[@]}"; then
    echo "an engine's name decides above: ask its capabilities (sk_engine_can) instead"
    exit 1
fi
echo "no engine's name decides anything in ${#files[@]} files"
