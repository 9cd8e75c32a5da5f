#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --frames with lists, on a video and on pictures: exactly those frames, also when the run was killed in between; another list
# is another run; frames that are not there are told.
# shellcheck source=tests/support/shell.sh
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
run scene -o "$work/v.mp4" --seconds 5 --size 96x64 -q
if [ "$code" -eq 3 ]; then
    echo "skipped: this build writes no video"
    exit 77
fi
video=$work/v.mp4
predict() { run predict "$video" -m "$model" --format jsonl -q "$@"; } # 150 frames
numbers() { grep -o '"frame":[0-9]*' "$work/$1/results.jsonl" | cut -d: -f2 | tr '\n' ' '; }

test_lists() {
    predict -o "$work/all" && expect_code 0 || return
    predict -o "$work/list" --frames 149,1,5,9,100-102,20:30:5 && expect_code 0 || return
    [ "$(numbers list)" = "1 5 9 20 25 100 101 102 149 " ] || fail "frames $(numbers list)" || return
    grep -Fxvf "$work/all/results.jsonl" "$work/list/results.jsonl" && fail "other results than in a whole run"
    expect_in "frames 1,5,9,20:30:5,100:103,149" "$(cat "$work/list/run.json")" || return
    predict -o "$work/list" --frames 1,5,9
    [ "$code" -ne 0 ] && expect_in "--restart" "$err" || return
    predict -o "$work/all" --frames 7: # said as it is written
    [ "$code" -ne 0 ] && expect_in "frames all -> 7:." "$err"
}

test_killed_and_continued() {
    local list=0,3,7,11:140:2,141-149 i
    predict -o "$work/whole" --frames $list && expect_code 0 || return
    for i in 1 2 3; do
        timeout -s KILL 0.$((i + 1)) "$skitter" predict "$video" -m "$model" --format jsonl -q \
            -o "$work/killed" --frames $list
    done
    predict -o "$work/killed" --frames $list && expect_code 0 && cmp "$work/whole/results.jsonl" "$work/killed/results.jsonl"
}

test_pictures() {
    run scene -o "$work/p" --pictures 6 --size 96x64 -q && expect_code 0 || return
    run predict "$work/p/images" -m "$model" --format jsonl -q -o "$work/pictures" --frames 5,0,2-3
    expect_code 0 && [ "$(numbers pictures)" = "0 2 3 5 " ] || fail "pictures $(numbers pictures)"
}

test_frames_that_are_not_there() {
    run predict "$video" -m "$model" -o "$work/few" --frames 140:200 --format jsonl
    expect_code 0 && expect_in "asks for 60 frames, and 10 of them are there: it has 150" "$err" || return
    run predict "$video" -m "$model" -o "$work/none" --frames 150-160,500
    expect_code 1 && expect_in "has 150 frames, 0 to 149, and none of them is in --frames" "$err" &&
        [ ! -e "$work/none" ]
}
run_tests
