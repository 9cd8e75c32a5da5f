#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shared library shows exactly the functions that the public headers declare with SK_API, and skitter.h has them all.
set -euo pipefail
for header in "$SKITTER_TEST_SOURCE"/include/skitter/*.h; do
    name=${header##*/}
    [ "$name" = skitter.h ] || grep -q "#include \"skitter/$name\"" "$SKITTER_TEST_SOURCE/include/skitter/skitter.h" ||
        { echo "include/skitter/skitter.h does not include $name"; exit 1; }
done
library=$SKITTER_TEST_BUILD/libskitter.so
command -v nm >/dev/null || { echo "skipped: no nm"; exit 77; }
shown=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(cat "$SKITTER_TEST_SOURCE"/include/skitter/*.h | tr '\n' ' ' |
    grep -oE 'SK_API [^;{}]*\(' | grep -oE 'sk_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
[ -n "$shown" ] && [ -n "$declared" ]
surplus=$(comm -23 <(echo "$shown") <(echo "$declared"))
lacking=$(comm -13 <(echo "$shown") <(echo "$declared"))
if [ -n "$surplus" ]; then
    echo "exported, but in no public header:" $surplus
    exit 1
fi
if [ -n "$lacking" ]; then
    echo "declared in a public header, but not in the library:" $lacking
    exit 1
fi
echo "$(echo "$shown" | wc -l) functions"
