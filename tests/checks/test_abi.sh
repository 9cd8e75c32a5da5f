#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shared library shows exactly the functions that the public headers declare with SK_API, and skitter.h has them all.
# What the last release promised is kept, or the version is raised; and the check that says so notices.
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

cd "$SKITTER_TEST_SOURCE"
scripts/abi --check
IFS=. read -r major minor _ <VERSION
[ "$major" != 0 ] || major=0.$minor
readelf -d "$library" | grep -qF "[libskitter.so.$major]" || { echo "libskitter.so is not libskitter.so.$major"; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter abi-XXXXXX")
trap 'rm -rf "$work"' EXIT
# A release of its own, made of the headers as they are; then changed as people change headers.
mkdir -p "$work/scripts" "$work/tests/abi"
cp scripts/abi "$work/scripts/"
cp -r include VERSION "$work/"
(cd "$work" && scripts/abi --write && scripts/abi --check >/dev/null)
refused() { # what was done, what the check must name
    local said
    said=$(cd "$work" && scripts/abi --check) && { echo "not noticed: $1"; exit 1; }
    grep -q "$2" <<<"$said" || { echo "$1: $said"; exit 1; }
    cp -r include "$work/"
}
sed -i 's/^SK_API const char \*sk_version_text/SK_API const char *sk_version_words/' "$work/include/skitter/version.h"
refused "a function renamed" "gone: function sk_version_text"
sed -i 's/^    int line;/    int column;\n    int line;/' "$work/include/skitter/status.h"
refused "a field put in between" "changed: field sk_error.line"
sed -i 's/^    SK_ERR_IO = 3/    SK_ERR_IO = 30/' "$work/include/skitter/status.h"
refused "a value changed" "changed: value SK_ERR_IO"
sed -i 's/^    SK_ERR_IO = 3/    SK_ERR_IO = 30/' "$work/include/skitter/status.h"
(cd "$work" && VERSION_IS=99.0.0 scripts/abi --check >/dev/null) || { echo "a raised version was refused"; exit 1; }
