#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every word that docs/architecture.md lists is used in one sense; and the check that says so does find each kind of misuse.
set -euo pipefail
check=$SKITTER_TEST_SOURCE/scripts/check_words
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-words-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{include/skitter,src/{base,runner,pipeline,kernels/simd,engines/{cpu,cuda},eval}}

fresh() { # a small tree in order
    find "$work" -type f ! -name out -delete
    echo 'typedef struct sk_lane { int n_lanes; } sk_lane;' >"$work/src/runner/lane.h"
    echo '#define VEC_FLOATS 8' >"$work/src/kernels/simd/vec.h"
    printf '/* Borrowed until open returns. */\n/* plain C */\nint plan, plane, planes;\n' >"$work/src/engines/cpu/plan.h"
    printf 'typedef struct sk_a sk_a;\nstruct sk_a {\n    int rows;\n};\n' >"$work/src/engines/cuda/plan.h"
    printf 'typedef struct sk_b {\n    int b;\n} sk_b;\n' >"$work/include/skitter/b.h"
}
caught() { # file, line to add, what the complaint must say
    fresh
    printf '%b\n' "$2" >>"$work/$1"
    if "$check" "$work" >"$work/out" 2>&1; then
        echo "not found: $2 in $1"
        exit 1
    fi
    grep -qF "$1" "$work/out" && grep -qF "$3" "$work/out" || {
        echo "found, but badly told: $2 in $1"
        cat "$work/out"
        exit 1
    }
}

fresh
"$check" "$work" >"$work/out" || { echo "a tree in order was refused:"; cat "$work/out"; exit 1; }
caught src/kernels/simd/vec.h '#define VEC_LANES 8' "'lane' is"
caught src/engines/cuda/found.cu 'const int lane = threadIdx.x & 31;' "found.cu:1: 'lane' is"
caught src/engines/cpu/plan.h 'int n_borrowed;' "plan.h:4: 'borrowed' is"
caught src/engines/cpu/plan.h 'sk_status cpu_need_plain(void);' "plan.h:4: 'plain' is"
caught src/base/log.h '#define SK_OFFERS_ROWS 8u' "'row' is"
caught src/eval/b.h 'typedef struct sk_b {\n    int c;\n} sk_b;' 'sk_b is a type in'

"$check" "$SKITTER_TEST_SOURCE"
for word in lane borrowed plain dense row found run trace; do # the list is where people look
    grep -qE "^\| .*\`$word\`" "$SKITTER_TEST_SOURCE/docs/architecture.md" || { echo "docs/architecture.md does not list '$word'"; exit 1; }
done
