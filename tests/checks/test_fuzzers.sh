#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every fuzzer takes its seeds and then a few seconds of new inputs, about 15 seconds in all. `make fuzz` runs longer.
set -euo pipefail
build=$SKITTER_TEST_BUILD-asan
if [ ! -e "$build/build.ninja" ]; then
    echo "skipped: no build with sanitizers ('make test' makes one)"
    exit 77
fi
ninja -C "$build" sanitized >"$build/sanitized.log" 2>&1 || { tail -n 40 "$build/sanitized.log"; exit 1; }
shopt -s nullglob
fuzzers=("$build"/fuzz/fuzz_*)
[ ${#fuzzers[@]} -gt 0 ] || { echo "skipped: there are no fuzzers"; exit 77; }
seconds=$((15 / ${#fuzzers[@]}))
# what a stranger's browser sends gets twenty seconds, beside the others
BUILD=$SKITTER_TEST_BUILD "$SKITTER_TEST_SOURCE/scripts/fuzz" 20 http &
http=$!
BUILD=$SKITTER_TEST_BUILD "$SKITTER_TEST_SOURCE/scripts/fuzz" $((seconds > 0 ? seconds : 1)) $(printf '%s\n' "${fuzzers[@]##*/fuzz_}" | grep -vx http) runs
wait $http
