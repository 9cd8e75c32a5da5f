#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter demo as a newcomer runs it: every file it names is there, its numbers are good, Ctrl-C and a second run behave.
source "$(dirname "$0")/../support/shell.sh"
if [ ! -f "$SKITTER_TEST_SOURCE/share/models/demo-obb.pt" ]; then
    echo "skipped: the demo's models are not here"
    exit 77
fi
run scene -o "$work/try.mp4" --seconds 0.1
if [ "$code" -eq 3 ]; then
    echo "skipped: this build writes no video"
    exit 77
fi
export SKITTER_MODELS=$SKITTER_TEST_SOURCE/share/models

test_names_files_that_are_there() {
    run demo --out "$work/a" --seconds 0.4
    expect_code 0 && expect_in "runtime          cpu" "$out" || return
    local count=0 file
    for file in $(grep -o "$work/a/[^ ]*" <<<"$out"); do
        [ -s "$file" ] || fail "$file is named and not there" || return
        count=$((count + 1))
    done
    [ $count -ge 3 ] || fail "only $count files are named" || return
    awk '/^oriented boxes/ { exit !($5 >= 0.9 && $6 >= 0.9) }' <<<"$out" || fail "the boxes are not good: $out" || return
    awk '/^tracks/ { exit !($4 >= 0.7 && $5 >= 0.9 && $7 == 0) }' <<<"$out" || fail "identities are not kept: $out" || return
    awk '/^keypoints/ { exit !($6 < 4) }' <<<"$out" || fail "the poses are not good: $out" || return
    # one clock: the progress's last word and the table say the same speed
    local part told shown
    for part in boxes poses; do
        told=$(sed -n "s|^$part on cpu: .*, \\(.*\\)/s\$|\\1|p" <<<"$err")
        shown=$(awk -v part=$part '$1 == part && $2 + 0 > 0 { print $2; exit }' <<<"$out")
        [ -n "$told" ] && [ "$told" = "$shown" ] || fail "$part: progress says '$told' frames/s, the table '$shown'" || return
    done
    # the page's links lead to files, and it is laid out for a telephone
    for file in $(grep -o 'href="[^"]*"' "$work/a/report.html" | cut -d'"' -f2 | grep -v '^data:'); do
        [ -s "$work/a/$file" ] || fail "the page links to $file, which is not there" || return
        count=$((count + 100))
    done
    [ $count -ge 800 ] || fail "the page has few links" || return
    grep -q 'max-width:560px' "$work/a/report.html" || fail "nothing for narrow screens" || return
    # eval says the same of the same files
    run eval "$work/a/boxes" "$work/a/truth.csv"
    expect_code 0 && expect_in "oriented boxes" "$out" || return
    local hota
    hota=$(awk '/^tracks/ { print $4 }' "$work/a/summary.txt")
    run eval --any-class "$work/a/tracks/results.csv" "$work/a/truth.csv"
    expect_code 0 && expect_in "tracks, as TrackEval counts" "$out" || return
    awk -v told="$hota" '/^tracks, as/ { on = 1 } on && /^oriented boxes/ { d = $6 - told; exit !(d < 0.001 && d > -0.001) }' <<<"$out" ||
        fail "the demo says HOTA $hota: $out" || return
    run demo --out "$work/a" --seconds 0.4
    expect_code 0 && expect_in "finished already" "$err" && expect_in "oriented boxes" "$out"
}

test_harder_to_follow() {
    run demo --out "$work/h" --behaviour swim
    expect_code 2 && expect_in "'swim'" "$err" || return
    run demo --out "$work/h" --seconds 0.1 --behaviour chase
    expect_code 0 && expect_in "identities" "$out"
}

test_json_has_every_number() {
    run demo --out "$work/b" --seconds 0.1 --species mouse --animals 2 --json -q
    expect_code 0 && expect_in '"species": "mouse"' "$out" && expect_in '"median_percent"' "$out" &&
        expect_in '"ms_per_frame"' "$out" && expect_in '"crossings"' "$out" && [ -z "$err" ]
}

test_interrupted_and_continued() {
    local i
    "$skitter" demo --out "$work/c" --seconds 1.5 -q 2>"$work/stderr" &
    local pid=$!
    for i in $(seq 1200); do [ -s "$work/c/boxes/journal.skj" ] && break; sleep 0.05; done
    kill -INT $pid
    wait $pid
    code=$? err=$(cat "$work/stderr")
    expect_code 130 && expect_in "the same command goes on" "$err" || return
    run demo --out "$work/c" --seconds 1.5 --seed 9
    expect_code 1 && expect_in "--restart" "$err" || return
    run demo --out "$work/c" --seconds 1.5
    expect_code 0 && expect_in "was continued" "$err"
}

test_refusals() {
    run demo --out "$work/d" --runtime nonsense
    expect_code 2 && expect_in "nonsense" "$err" || return
    SKITTER_MODELS=$work run demo --out "$work/d"
    expect_code 1 && expect_in "demo-obb.pt" "$err" && [ ! -e "$work/d" ]
}
run_tests
