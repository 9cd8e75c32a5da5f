#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names in a stranger's files do not command the terminal, and reach result files exactly.
source "$(dirname "$0")/../support/shell.sh"
escape=$'\e'

# A model whose first class is called ESC [ 2 J, "clear the screen": the same bytes but for the names.
hostile_model() {
    LC_ALL=C sed 's/\["fish","fly","mouse"\]/["\\u001b[2J","f","mo"]/' \
        "$SKITTER_TEST_SOURCE/share/models/onnx/demo-obb.onnx" >"$work/strange.onnx"
}
no_codes() { case $1 in *"$escape"*) fail "an escape code came through: ${1//"$escape"/ESC}" ;; esac }

test_info_shows_codes() {
    hostile_model && run info "$work/strange.onnx"
    expect_code 0 && no_codes "$out" && expect_in 'classes      3: \x1b[2J, f, mo' "$out" || return
    run info "$work/strange.onnx" --json
    expect_code 0 && no_codes "$out" && expect_in '"\u001B[2J"' "$out"
}

test_on_a_terminal_too() {
    command -v script >/dev/null || { echo "skipped: no script(1)"; return 0; }
    hostile_model
    local shown
    shown=$(TERM=xterm script -qec "'$skitter' info '$work/strange.onnx'" /dev/null </dev/null)
    no_codes "$shown" && expect_in '\x1b[2J' "$shown" || return
    shown=$(TERM=xterm NO_COLOR='' script -qec "'$skitter' help" /dev/null </dev/null) # our own styles are sent
    expect_in "$escape[1m" "$shown"
}

test_errors_show_codes() {
    run info "$work/$escape[31m.pt"
    expect_code 1 && no_codes "$err" && expect_in '\x1b[31m.pt' "$err" || return
    run predict "$work/in.png" -m "$SKITTER_TEST_SOURCE/share/models/onnx/demo-obb.onnx" -o "$work/o" --classes "$escape[2J"
    expect_code 2 && no_codes "$err" && expect_in '\x1b[2J' "$err"
}

test_tables_show_codes() {
    printf 'frame,name,x1,y1,x2,y2\n0,%s,0,0,9,9\n0,b,20,20,29,29\n' "$escape[2J" >"$work/t.csv"
    run eval "$work/t.csv" "$work/t.csv"
    expect_code 0 && no_codes "$out$err" && expect_in '\x1b[2J' "$out"
}

test_files_hold_the_name() {
    hostile_model
    "$skitter" scene --pictures 1 --size 512x512 --animals 6 --species mixed -o "$work/scene" -q >/dev/null || return
    run predict "$work/scene/images" -m "$work/strange.onnx" -o "$work/run" -f csv,jsonl,coco --conf 0.05
    expect_code 0 && no_codes "$out$err" || return
    expect_in '"\u001b[2J"' "$(cat "$work/run/run.json")" && expect_in '"name":"\u001b[2J"' "$(cat "$work/run/results.coco.json")" ||
        return
    grep -q "$escape\\[2J" "$work/run/results.csv" || grep -q ',f,\|,mo,' "$work/run/results.csv" || fail "no name in the table"
}

# Every printf of src/cli goes the one way: cli.h makes it sk_cli_print.
test_no_file_prints_otherwise() {
    local file
    for file in "$SKITTER_TEST_SOURCE"/src/cli/*.c; do
        grep -qE '(^|[^a-z_])printf\(' "$file" || continue
        grep -q '"cli/cli.h"' "$file" || fail "$file prints without cli.h" || return
    done
}
run_tests
