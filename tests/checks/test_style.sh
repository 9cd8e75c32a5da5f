#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sources' form: clang-format, a licence line first, no marks of unfinished work, shell scripts that parse.
set -uo pipefail
cd "$SKITTER_TEST_SOURCE" || exit 1
bad=0
complain() {
    echo "$*"
    bad=1
}
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: not a git checkout"; exit 77; }
while IFS= read -r -d '' file; do
    [ -e "$file" ] || continue
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || complain "$file: no SPDX line at the top"
done < <(git ls-files -z -- 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'fuzz/*.c' 'cmake/*.cmake')
marks='TO''DO|FIX''ME|XX''X'
if git grep -nwE "$marks" -- src include tests fuzz scripts cmake docs '*.md'; then
    complain "unfinished work is marked above: finish it, or say in the documentation what is missing"
fi
places='(^|[^A-Za-z0-9_.}])/(wo''rk|ro''ot)/'
if git grep -nE "$places" -- . ':!LICENSE'; then
    complain "paths of somebody's machine in the lines above"
fi
while read -r lines file; do
    limit=800
    case $file in src/kernels/* | tests/kernels/*) limit=1500 ;; esac
    [ "$file" = total ] || [ "$lines" -le $limit ] || complain "$file: $lines lines; more than $limit is two files"
done < <(git ls-files -z -- '*.[ch]' | xargs -0 wc -l)
if git grep -nE $'[ \t]+$' -- '*.[ch]' '*.cmake' '*.sh' '*.md' scripts Makefile; then
    complain "spaces at the end of the lines above"
fi
while IFS= read -r -d '' file; do
    case $(head -n 1 "$file") in '#!'*bash* | '') bash -n "$file" || complain "$file does not parse" ;; esac
done < <(git ls-files -z -- scripts '*.sh' .ci)
if command -v clang-format >/dev/null; then
    scripts/format --check || complain "style"
else
    echo "clang-format is not installed: the C style was not checked"
fi
exit $bad
