#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same scene has the same bytes whatever compiles it: gcc and clang, with and without optimisation.
set -u
cd "$SKITTER_TEST_SOURCE" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
tried=0
try() { # compiler flags…
    command -v "$1" >/dev/null || return
    tried=$((tried + 1))
    if ! "$@" -std=c17 -D_GNU_SOURCE -ffp-contract=off -Iinclude -Isrc -Itests/scene -o "$work/hash" \
        tests/scene/hash_scenes.c src/scene/*.c src/base/memory.c src/base/error.c -lpthread -lm; then
        echo "FAILED: $* does not compile it"
        failures=$((failures + 1))
    elif ! "$work/hash" >"$work/out"; then
        printf 'FAILED: other bytes with %s\n%s\n' "$*" "$(cat "$work/out")"
        failures=$((failures + 1))
    fi
}
try gcc -O0
# what training builds upon the scenes
cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Isrc -c -o "$work/renderer.o" training/renderer.c ||
    { echo "FAILED: training/renderer.c does not compile"; failures=$((failures + 1)); }
if [ "$(uname -m)" = x86_64 ]; then try gcc -O3 -march=x86-64-v3; else try gcc -O3; fi # v3 has fused operations
try clang -O2
[ "$tried" -gt 0 ] || { echo "skipped: neither gcc nor clang here"; exit 77; }
exit $((failures > 0))
