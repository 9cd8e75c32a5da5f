#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formulas are there once: every *_formula.h compiles alone as C17 and C++17, knows nothing but base/formula.h, and is used by C
# and by the GPU's sources; and those have no formula of their own again.
set -euo pipefail
check=$SKITTER_TEST_SOURCE/scripts/check_formulas
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-formulas-XXXXXX")
trap 'rm -rf "$work"' EXIT

tree() { # a small tree in order
    rm -rf "$work/src"
    mkdir -p "$work"/src/{base,tasks,kernels,engines/cuda}
    cp "$SKITTER_TEST_SOURCE/src/base/formula.h" "$work/src/base/"
    printf '#ifndef A\n#define A\n#include "base/formula.h"\nSK_FORMULA float sk_a(float x)\n{\n    return sk_mul(x, x);\n}\n#endif\n' \
        >"$work/src/tasks/a_formula.h"
    echo '#include "tasks/a_formula.h"' >"$work/src/tasks/a.c"
    echo '#include "tasks/a_formula.h"' >"$work/src/engines/cuda/found_element.h"
    for name in peak_element.h sleap_element.h found.cu peaks.cu sleap_input.cu; do
        : >"$work/src/engines/cuda/$name"
    done
}
caught() { # what the complaint must say; the tree is as the caller left it
    if "$check" "$work" >"$work/out" 2>&1; then
        echo "not found: $1"
        exit 1
    fi
    grep -qF "$1" "$work/out" || { echo "found, but not as '$1':"; cat "$work/out"; exit 1; }
}
tree
"$check" "$work" >"$work/out" 2>&1 || { echo "a tree in order was refused:"; cat "$work/out"; exit 1; }
echo 'float sk_b(float x) { return expf(x); }' >>"$work/src/engines/cuda/found_element.h"
caught 'found_element.h:2: computes expf by itself'
tree
sed -i 's/#include "base/#include <stdlib.h>\n#include "base/' "$work/src/tasks/a_formula.h"
caught 'includes <stdlib.h>'
tree
sed -i 's/float x)/const float class[2])/' "$work/src/tasks/a_formula.h"
caught 'alone as C++17'
tree
: >"$work/src/engines/cuda/found_element.h"
caught 'a_formula.h is used by C only'
tree
: >"$work/src/tasks/a.c"
caught 'a_formula.h is used by the GPU only'
tree
sed -i 's/sk_mul(x, x)/x * x + 1.0f/' "$work/src/tasks/a_formula.h"
caught 'a product beside a sum'

"$check" "$SKITTER_TEST_SOURCE"
