#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who decodes is told as it is: on a stand-in for NVIDIA's driver and decoder (fake_nvidia.c), and where one of them is missing.
# shellcheck source=tests/support/shell.sh
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without FFmpeg"; exit 77; }
command -v ffmpeg >/dev/null || { echo "skipped: no ffmpeg to make a video (apt-get install ffmpeg)"; exit 77; }
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
stand_ins=$(dirname "$SKITTER_TEST_BINARY")/tests
ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=160x128:r=20:d=1 -c:v libx264 -g 5 -pix_fmt yuv420p "$work/v.mp4" ||
    { echo "skipped: this ffmpeg encodes no H.264"; exit 77; }
[ -e /usr/lib/x86_64-linux-gnu/libnvcuvid.so.1 ] && { echo "skipped: NVIDIA's own driver is here"; exit 77; }

# predicts WITH NAME [OPTION…]: the video, with the stand-ins of this folder; what the run says lies in $work/NAME.
predicts() {
    LD_LIBRARY_PATH=$stand_ins/$1 run predict "$work/v.mp4" -m "$model" -o "$work/$2" --hwaccel cuda --format jsonl "${@:3}"
    expect_code 0 && [ "$(lines "$2")" -ge 20 ]
}
lines() { wc -l <"$work/$1/results.jsonl"; }

test_a_context_that_is_in_use_is_shared() {
    predicts nvidia on && expect_in "decoded on cuda" "$out" && expect_in '"hwaccel": "cuda"' "$(cat "$work/on/run.json")" &&
        [ -z "$(grep refused "$work/on/run.json")$(grep warning <<<"$err")" ]
}
test_without_the_video_part() {
    predicts nvidia_without_video off || return
    expect_in "decoded by the processor: it does not take this video: Cannot load libnvcuvid.so.1" "$out" &&
        expect_in "not on a device (cuda)" "$err" && expect_in "'video' capability" "$err" &&
        [ "$(grep -c "decoded by the processor" <<<"$err")" -eq 1 ] && expect_in '"hwaccel": ""' "$(cat "$work/off/run.json")" &&
        expect_in '"hwaccel_refused": "it does not take this video' "$(cat "$work/off/run.json")"
}
test_without_a_driver() {
    predicts none no && expect_in "decoded by the processor: cuda: libcuda.so.1 cannot be loaded" "$out" &&
        expect_in '"hwaccel": ""' "$(cat "$work/no/run.json")"
}
test_played_again() {
    predicts nvidia twice --loop 3 && [ "$(lines twice)" -eq 60 ] && expect_in "decoded on cuda" "$out"
}
run_tests
