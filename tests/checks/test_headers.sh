#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as C17 and C++17; and a header that does not is found.
set -euo pipefail
check=$SKITTER_TEST_SOURCE/scripts/header_alone
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-headers-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/skitter"

refused() { # contents of a bad header, what is said
    printf '%s\n' "$1" >"$work/include/skitter/bad.h"
    if "$check" "$work" >"$work/out" 2>&1; then
        echo "not found: $1"
        exit 1
    fi
    grep -qF "$2" "$work/out" || { echo "found, but not as $2:"; cat "$work/out"; exit 1; }
}
refused 'size_t sk_x(void);' 'alone as C17'
refused 'int sk_x(int class);' 'alone as C++17'
refused 'struct sk_x { int y; };' 'alone as C17' # no guard: included twice
printf '#ifndef A\n#define A\nint sk_x(void);\n#endif\n' >"$work/include/skitter/bad.h"
"$check" "$work" >/dev/null

"$check" "$SKITTER_TEST_SOURCE"
# What the macros become in a C++ program that is strict with itself.
cat >"$work/strict.cpp" <<'CPP'
#include <skitter/skitter.h>
int main()
{
    int value = 0;
    sk_frame frame = SK_FRAME_INIT;
    sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
    sk_stage_stats stage = SK_STAGE_STATS_INIT;
    sk_device_stats device = SK_DEVICE_STATS_INIT;
    sk_pipeline_file file = SK_PIPELINE_FILE_INIT;
    return value || frame.size != sizeof frame || stats.size != sizeof stats || stage.size != sizeof stage ||
           device.size != sizeof device || file.size != sizeof file;
}
CPP
c++ -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror -I"$SKITTER_TEST_SOURCE/include" \
    "$work/strict.cpp" -o "$work/strict"
"$work/strict"
# Whoever reads a public header needs no other page: two lines of five say units, ranges, defaults, whose it is, which thread.
share=$(awk '
    /^[ \t]*$/ { next }
    { lines++ }
    inside || /^[ \t]*\/\*/ { comments++ }
    /\/\*/ && !/\*\// { inside = 1 }
    /\*\// { inside = 0 }
    END { print int(100 * comments / lines) }' "$SKITTER_TEST_SOURCE"/include/skitter/*.h)
[ "$share" -ge 40 ] || { echo "$share % of the public headers' lines are comments; 40 are wanted"; exit 1; }
