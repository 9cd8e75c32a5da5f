#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What crosses between the program and an engine plugin is hashed whole: a structure that changes anywhere in it makes another
# hash, and a plugin built from the changed headers is refused, with both versions and the remedy.
set -euo pipefail
source=$SKITTER_TEST_SOURCE build=$SKITTER_TEST_BUILD
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-border-XXXXXX")
trap 'rm -rf "$work"' EXIT
hash_of() { # root, out
    cmake -DROOT="$1" -DOUT="$2" -DLIST="$work/list" -P "$source/cmake/Border.cmake"
}
hash_of "$source" "$work/here.h"
cmp "$work/here.h" "$build/generated/border_hash.h" || { echo "the build's number is not that of the sources"; exit 1; }

# A copy of the headers that cross, and each structure in it changed in turn.
cp "$work/list" "$work/files"
(cd "$source" && tar cf - -T "$work/files") | tar xf - -C "$work" --one-top-level=copy
hash_of "$work/copy" "$work/copy.h"
cmp "$work/here.h" "$work/copy.h"
count=0
while read -r file; do
    for name in $(sed -nE 's/^\} (sk_[a-z0-9_]+);$/\1/p; s/^struct (sk_[a-z0-9_]+) \{$/\1/p' "$work/copy/$file"); do
        sed -i -E "s/^\} $name;\$/int32_t one_more; } $name;/; s/^struct $name \{\$/struct $name { int32_t one_more;/" \
            "$work/copy/$file"
        hash_of "$work/copy" "$work/changed.h"
        ! cmp -s "$work/here.h" "$work/changed.h" || { echo "$name of $file may change unseen"; exit 1; }
        cp "$source/$file" "$work/copy/$file"
        count=$((count + 1))
        [ "$count" -lt 12 ] || break 2 # the rest is the same text in the same way
    done
done < <(grep -E 'engines/|peak_table|skitter/frame|graph/graph' "$work/files")
[ "$count" -ge 8 ] || { echo "only $count structures were found"; exit 1; }
for needed in engines/engine.h engines/stages.h engines/capabilities.h engines/options.h tasks/peak_table.h graph/graph.h; do
    grep -qx "src/$needed" "$work/files" || { echo "$needed crosses, but is not in the hash"; exit 1; }
done
grep -qx include/skitter/frame.h "$work/files"

# A plugin from the changed copy.
sed -i -E 's/^\} sk_session_times;$/double one_more; } sk_session_times;/' "$work/copy/src/engines/engine.h"
hash_of "$work/copy" "$work/copy/border_hash.h"
${CC:-cc} -std=c17 -D_GNU_SOURCE -DFAKE=6 -shared -fPIC -I"$work/copy" -I"$work/copy/include" -I"$work/copy/src" \
    "$source/tests/engines/fake_plugin.c" -o "$work/libother.so"
"$build/tests/test_engines_plugin" "$work/libother.so" >"$work/said" || { echo "it was not refused:"; cat "$work/said"; exit 1; }
ours=$(sed -nE 's/.*0x([0-9a-f]+)u.*/\1/p' "$work/here.h") theirs=$(sed -nE 's/.*0x([0-9a-f]+)u.*/\1/p' "$work/copy/border_hash.h")
for words in "border 2-$ours" "border 2-$theirs" "skitter 0.0.1" "make install plugin-fake"; do
    grep -qF "$words" "$work/said" || { echo "'$words' is not in: $(cat "$work/said")"; exit 1; }
done
cat "$work/said"
