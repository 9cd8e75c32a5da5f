# SPDX-License-Identifier: Apache-2.0
# What shell tests share; sourced. Each test is a function whose name starts with test_; run_tests runs them all and
# says which failed. A test fails by calling `fail`, or when its last command does.
set -uo pipefail
skitter=${SKITTER_TEST_BINARY:?run through ctest, or set SKITTER_TEST_BINARY}
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-test-XXXXXX") || exit 1
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT

fail() {
    echo "    $*" >&2
    return 1
}

# run ARGUMENTS…: runs skitter; its streams go to $out and $err, its exit code to $code.
run() {
    out=$("$skitter" "$@" 2>"$work/stderr")
    code=$?
    err=$(cat "$work/stderr")
}

expect_code() { [ "$code" -eq "$1" ] || fail "exit code $code, not $1; stderr: $err"; }
expect_in() { # part, whole
    case $2 in *"$1"*) return 0 ;; esac
    fail "'$1' is not in: $2"
}

run_tests() {
    local failed=0 name
    for name in $(compgen -A function test_); do
        if ! ("$name"); then
            echo "FAILED $name"
            failed=1
        fi
    done
    exit $failed
}
