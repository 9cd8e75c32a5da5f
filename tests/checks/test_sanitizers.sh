#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The quick tests of the rooms that read foreign bytes, with the address and undefined-behaviour sanitizers.
set -euo pipefail
build=$SKITTER_TEST_BUILD-asan
if [ ! -e "$build/build.ninja" ]; then
    echo "skipped: no build with sanitizers ('make test' makes one)"
    exit 77
fi
ninja -C "$build" sanitized >"$build/sanitized.log" 2>&1 || { tail -n 40 "$build/sanitized.log"; exit 1; }
exec ctest --test-dir "$build" -j "$(nproc)" --output-on-failure -LE slow -L sanitized
