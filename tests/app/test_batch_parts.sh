#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A video found in parts, by --find-only over ranges of its frames, and put together by --found, gives the bytes of a run over
# all of it; what is missing is computed, what was found otherwise is refused.
# shellcheck source=tests/support/shell.sh
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
export SKITTER_CACHE_DIR=$work/cache
cd "$work" || exit 1
run scene -o v.mp4 --seconds 0.5 --size 96x64 -q
if [ "$code" -eq 3 ]; then
    echo "skipped: this build writes no video"
    exit 77
fi
same() { # folders: the same files, but for what says when and how fast
    [ "$(ls "$1")" = "$(ls "$2")" ] || fail "$(ls "$1") / $(ls "$2")" || return
    diff -r -x run.json -x journal.skj -x report.html -x .skitter.lock "$1" "$2" || fail "$1 and $2 differ"
}
find_parts() { # command, name, ranges…
    local command=$1 name=$2 r
    shift 2
    for r in "$@"; do
        run "$command" v.mp4 -m "$model" --find-only --frames "$r" -o "$name/$r" -q
        expect_code 0 && [ "$(ls "$name/$r")" = "journal.skj
run.json" ] || fail "$(ls "$name/$r")" || return
    done
}

test_predict_of_parts() {
    run predict v.mp4 -m "$model" -o whole --save-overlay --save-crops -q && expect_code 0 || return
    find_parts predict a 0:5 5:9 9: || return
    run predict v.mp4 -m "$model" -o parts --save-overlay --save-crops --found a/9: --found a/0:5 --found a/5:9 --json
    expect_code 0 && same whole parts || return
    expect_in '"total_frames": 15' "$out"
}

test_track_of_parts() {
    run track v.mp4 -m "$model" -o tracks -q --no-cache && expect_code 0 || return
    find_parts track b 0:7 7: || return
    run track v.mp4 -m "$model" -o tracks_parts -q --found b/0:7 --found b/7: && expect_code 0 && same tracks tracks_parts || return
    run track v.mp4 -m "$model" -o tracks_again && expect_code 0 && expect_in "from the cache" "$out$err" && same tracks tracks_again
}

test_every_other_frame() {
    run predict v.mp4 -m "$model" -o every --frames ::2 -q && find_parts predict c 0:6:2 6::2 || return
    run predict v.mp4 -m "$model" -o every_parts --frames ::2 --found c/0:6:2 --found c/6::2 -q && expect_code 0 && same every every_parts
}

test_what_is_missing_is_computed() {
    run predict v.mp4 -m "$model" -o w2 -q && find_parts predict d 0:4 8: || return
    run predict v.mp4 -m "$model" -o gap --found d/0:4 --found d/8:
    expect_code 0 && expect_in "frame 4 is in no --found" "$err" && same w2 gap
}

test_refusals() {
    find_parts predict e 0:4 || return
    run predict v.mp4 -m "$model" -o never --found e/0:4 --peak-threshold 0.5
    expect_code 1 && expect_in "e/0:4: was found with other settings than these: peak_threshold 0.2 -> 0.5" "$err" || return
    run predict v.mp4 -m "$model" -o never --found nowhere
    expect_code 1 && expect_in "nowhere: --found needs the folder of a run with --find-only" "$err" || return
    run track v.mp4 --detector background -o never --find-only
    expect_code 2 && expect_in "here --detector background finds" "$err" || return
    run predict v.mp4 -m "$model" -o - --found e/0:4
    expect_code 2 && expect_in "--found needs a folder" "$err"
}
run_tests
