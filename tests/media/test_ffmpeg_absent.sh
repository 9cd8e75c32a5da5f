#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# FFmpeg is loaded when a video is opened: where it cannot be, pictures still work, and a video ends in one clear sentence.
# shellcheck source=tests/support/shell.sh
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
library=$(grep -ao 'libavutil\.so\.[0-9]*' "$skitter" | head -n 1)
[ -n "$library" ] || { echo "skipped: built without FFmpeg"; exit 77; }
mkdir "$work/broken"
: >"$work/broken/$library" # found first, and no library

without_ffmpeg() {
    out=$(LD_LIBRARY_PATH=$work/broken "$skitter" "$@" 2>"$work/stderr")
    code=$?
    err=$(cat "$work/stderr")
}

test_pictures_need_none() {
    without_ffmpeg predict "$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png" -m "$model" -o "$work/o"
    expect_code 0
}
test_a_video_says_what_is_missing() {
    : >"$work/x.mp4"
    without_ffmpeg predict "$work/x.mp4" -m "$model" -o "$work/v"
    expect_code 3 && expect_in "$work/x.mp4" "$err" && expect_in "$library" "$err" && expect_in "apt-get install" "$err"
}
run_tests
