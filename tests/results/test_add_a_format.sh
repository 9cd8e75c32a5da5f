#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The writer that docs/add_a_format.md shows compiles, without a warning, against the sources of today.
set -euo pipefail
compiler=$(command -v cc || command -v gcc || command -v clang) || { echo "skipped: no compiler"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-format-XXXXXX")
trap 'rm -rf "$work"' EXIT
awk '/^   ```c$/ && !done { inside = 1; next } /^   ```$/ && inside { inside = 0; done = 1 } inside { sub(/^   /, ""); print }' \
    "$SKITTER_TEST_SOURCE/docs/add_a_format.md" >"$work/places.c"
grep -q 'sk_sink_kind sk_sink_places = {' "$work/places.c" || { echo "docs/add_a_format.md shows no writer"; exit 1; }
"$compiler" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I"$SKITTER_TEST_SOURCE/src" \
    -I"$SKITTER_TEST_SOURCE/include" "$work/places.c" || { echo "what docs/add_a_format.md shows does not compile"; exit 1; }
