#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bags both ways with PyPI's rosbags, an independent reader and writer: SKITTER_TEST_ROS_PYTHON, ../venv/ros/bin/python, or
# python3, the first that has it.
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
pose=$SKITTER_TEST_DATA/yolo/yolov8t-pose/yolov8t-pose.pt
[ -f "$model" ] || { echo "skipped: the demo's models are not here"; exit 77; }
for python in "${SKITTER_TEST_ROS_PYTHON:-}" "$SKITTER_TEST_SOURCE/../venv/ros/bin/python" python3; do
    [ -n "$python" ] && PYTHONDONTWRITEBYTECODE=1 "$python" -c 'import rosbags, numpy' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "skipped: no Python here has rosbags (pip install rosbags numpy)"; exit 77; }
run scene -o "$work/scene.mp4" --seconds 0.25 --size 320x240 --animals 4 -q
[ "$code" -eq 3 ] && { echo "skipped: this build writes no video"; exit 77; }
cd "$work" || exit 1
peer() { PYTHONDONTWRITEBYTECODE=1 "$python" "$SKITTER_TEST_SOURCE/tests/app/bags_rosbags.py" "$@"; }

# the frames of a scene, which the peer puts into bags, each in another encoding
ffmpeg -v error -i scene.mp4 -f rawvideo -pix_fmt rgb24 frames.rgb 2>/dev/null || { echo "skipped: no ffmpeg here"; exit 77; }
peer write frames.rgb 320 240 || exit 1

test_every_encoding_and_container_gives_the_frames() {
    local bag
    for bag in mcap_rgb8 db3_bgr8 mcap_bgra8_zstd db3_jpeg_message mcap_png; do
        run predict "$bag" -m "$model" -o "out_$bag" -f jsonl -q
        expect_code 0 || fail "$bag: $err" || return
    done
    # rgb8, bgr8, bgra8 and PNG lose nothing: the same results
    for bag in db3_bgr8 mcap_bgra8_zstd mcap_png; do
        diff <(sed 's/"source":"[^"]*"//' out_mcap_rgb8/results.jsonl) <(sed 's/"source":"[^"]*"//' "out_$bag/results.jsonl") \
            >/dev/null || fail "$bag differs from mcap_rgb8" || return
    done
    [ "$(grep -c '"instances":\[{' out_db3_jpeg_message/results.jsonl)" -gt 3 ] || fail "nothing found in JPEG"
}

test_the_peer_reads_what_predict_and_track_say() {
    local poses=()
    run predict mcap_rgb8 -m "$model" -o found -f jsonl,mcap,db3,rosbag2 -q
    expect_code 0 || return
    run track mcap_rgb8 -m "$model" -o tracked -f jsonl,rosbag2 -q --no-report
    expect_code 0 || return
    if [ -f "$pose" ]; then
        run predict mcap_rgb8 -m "$pose" --conf 0.01 --max-det 5 --frames 0:3 -o poses -f jsonl,rosbag2 -q
        expect_code 0 || return
        poses=(poses/results.jsonl poses/rosbag2)
    fi
    peer compare found/results.jsonl found/results.mcap found/results.jsonl found/results.db3 found/results.jsonl found/rosbag2 \
        tracked/results.jsonl tracked/rosbag2 "${poses[@]}"
}

run_tests
