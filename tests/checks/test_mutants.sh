#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `make mutants` takes for a place to change: operators, constants, conditions and calls that run, and nothing in comments,
# texts, macros or declarations.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-mutants-XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/a.c" <<'C'
#define LIMIT 7 /* 1 + 1 */
static const char *name(const char *text, int n); // a < b
int f(const int *a, int n)
{
    /* if (n == 3) */
    const char *s = "n == 3 && 4";
    if (n < 2 && !*a)
        return 5;
    while (n-- > 0)
        report("0 * 1", &n);
    return *a * n;
}
C
python3 - "$SKITTER_TEST_SOURCE/tests/mutants" "$work/a.c" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import places
text = open(sys.argv[2]).read()
got = sorted({(places.line_of(text, c.start), text[c.start:c.end], c.text) for p in places.changes(text) for c in p})
want = sorted({
    (7, "n < 2 && !*a", "!(n < 2 && !*a)"), (7, "n < 2 && !*a", "0"), (7, "<", "<="), (7, "<", ">"), (7, "2", "3"), (7, "2", "1"),
    (7, "&&", "||"), (7, "!", ""), (8, "5", "6"), (8, "5", "4"), (9, "n-- > 0", "!(n-- > 0)"), (9, "--", "++"), (9, ">", ">="),
    (9, ">", "<"), (9, "0", "1"), (10, 'report("0 * 1", &n);', ";"), (11, "*", "/")})
for g in got:
    if g not in want:
        sys.exit(f"a place that is none: {g}")
for w in want:
    if w not in got:
        sys.exit(f"not found: {w}")
for p in places.changes(text):
    for c in p:
        assert places.applied(text, c) != text
assert places.number_changes("0x10u") == ["0x11u"] and places.number_changes("0.5f") == ["(0.5f * 2)", "(-(0.5f))"]
assert places.number_changes("010") == []
# a change is named by its line's words, its function is found around it, and lines that moved are followed
import mutants, reach
first = places.changes(text)[1][0]
assert mutants.key_of(text, first) == "if (n < 2 && !*a) => if (n <= 2 && !*a)", mutants.key_of(text, first)
assert mutants.function_at(text, 7) == (2, 12), mutants.function_at(text, 7)
assert mutants.function_at("int t[] = {\n    1,\n};\n", 2) == (1, 3)
assert reach.moved("a\nb\nc\n", "a\nx\ny\nb\nc\n") == {1: 1, 2: 4, 3: 5}
PY
# what is no change's fault is not told as one
python3 - "$SKITTER_TEST_SOURCE/tests/mutants" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import mutants, workshop
assert workshop.compiled(["true"], ".", None)
assert not workshop.compiled(["sh", "-c", "echo 'a.c:1: error: no' >&2; exit 1"], ".", None)
for ended in ("kill -9 $$", "exit 1", "echo 'a.c:1: error: No space left on device' >&2; exit 1"):
    try:
        workshop.compiled(["sh", "-c", ended], ".", None)
        sys.exit(f"a compiler that ended by '{ended}' is taken for a change that does not build")
    except workshop.Trouble:
        pass
none = dict.fromkeys(mutants.KINDS, 0)
assert "100 %" not in mutants.row_of("graph", none)
assert mutants.row_of("graph", {**none, "caught": 3, "survived": 1, "no build": 2, "same": 1}) == "| graph | 7 | 3 | 1 | 1 | 2 | 75 % |"
PY
# what cannot be tried is one sentence
for wrong in "--count 0" "--count -3" "--room nonsense" "--only nonsense" "--only README.md:3" "--only src/graph/fuse.c:99999"; do
    # shellcheck disable=SC2086
    if told=$("$SKITTER_TEST_SOURCE/tests/mutants/mutants.py" $wrong 2>&1); then
        echo "mutants.py $wrong is taken"
        exit 1
    fi
    case $told in error:*) ;; *) echo "mutants.py $wrong says: $told"; exit 1 ;; esac
done
