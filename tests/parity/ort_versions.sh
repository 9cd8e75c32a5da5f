#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the unit tests of the ONNX Runtime engines, and `skitter net` on one model, with several versions of the library:
#     tests/parity/ort_versions.sh BUILD MODEL INPUT.npy LIBRARY_OR_ENVIRONMENT...
# Prints one line a library: its version, how the tests went, and the largest difference of output 0 from the cpu runtime.
set -uo pipefail
build=$1 model=$2 input=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export SKITTER_ARTIFACTS=none SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
"$build/skitter" net "$model" -i "$input" -o "$work/cpu.npy" -r cpu -q || exit 1
bad=0
for library in "$@"; do
    export SKITTER_ONNXRUNTIME=$library
    version=$("$build/skitter" doctor --json | grep -A8 '"name": "onnx_cpu"' | sed -n 's/.*"version": "\(.*\)".*/\1/p')
    tests=$(ctest --test-dir "$build" -R '^engines_ort$' 2>&1 | grep -Eo 'Passed|Failed|Skipped' | head -1)
    difference=none
    if "$build/skitter" net "$model" -i "$input" -o "$work/ort.npy" -r onnx_cpu -q; then
        difference=$(python3 - "$work" <<'P'
import glob, sys, numpy as np
one = lambda n: np.load(sorted(glob.glob(f"{sys.argv[1]}/{n}*.npy"))[0]).astype(float)
a, b = one("ort"), one("cpu")
print(f"{abs(a - b).max() / max(1, abs(b).max()):.2e}")
P
)
    fi
    echo "${version:-unknown} tests $tests, net differs by $difference ($library)"
    [ "$tests" = Passed ] && [ "$difference" != none ] || bad=1
done
exit $bad
