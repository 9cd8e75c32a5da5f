#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generated packages: their node is compiled as it is, runs with the double of rclcpp around it and the real library in it, and
# publishes what predict and track say of the same frames. docs/ros2.md, "The package".
source "${SKITTER_TEST_SOURCE:?run through ctest}/tests/support/shell.sh"
here=$SKITTER_TEST_SOURCE/tests/ros
build=$SKITTER_TEST_BUILD
export PYTHONDONTWRITEBYTECODE=1
cxx=${CXX:-c++}
case ${SKITTER_TEST_SANITIZE:-} in ?*) echo "skipped: the package links the plain library" && exit 77 ;; esac
command -v "$cxx" >/dev/null && command -v python3 >/dev/null || { echo "skipped: it needs a C++ compiler and python3"; exit 77; }
[ -f "$build/libskitter.so" ] || { echo "skipped: the shared library is not built"; exit 77; }
"$skitter" scene --animals 3 --size 320x240 --seconds 0.3 -o "$work/scene.mp4" -q >/dev/null 2>&1 ||
    { echo "skipped: this FFmpeg writes no such video"; exit 77; }
"$build/tests/ros_msg_texts" "$work/texts" && python3 "$here/rclcpp_double/make_prefix.py" "$work/texts" "$work/prefix" || exit 1

# generate MODEL: package fly_watch in $work/MODEL; compile MODEL FLAGS…: its node with the driver, $work/MODEL/drive
generate() {
    run ros generate --model "$1" --backend cpu --package-name fly_watch --format dir --output "$work/$1" && expect_code 0
}
compile() {
    local model=$1 package=$work/$1/fly_watch
    shift
    [ ! -d "$package/msg" ] || python3 "$here/rclcpp_double/msg2hpp.py" fly_watch "$work/$model/own" "$package"/msg/*.msg || return 1
    "$cxx" -std=c++17 -O0 -Wall -Wextra -Werror "$@" -I"$package/src" -I"$package/include" -I"$work/$model/own" \
        -I"$work/prefix/include" -I"$SKITTER_TEST_SOURCE/include" "$here/drive_node.cpp" -o "$work/$model/drive" \
        -L"$build" -lskitter -Wl,-rpath,"$build" -pthread || fail "the node of $model does not compile"
}
# drive MODEL WEIGHTS TRANSPORT SOURCE: what it publishes, $work/MODEL/published; no WEIGHTS: the package's own
drive() {
    "$work/$1/drive" "$4" "$3" ${2:+weights_path:="$SKITTER_TEST_SOURCE/share/models/$2"} compute_runtime:=cpu \
        >"$work/$1/published" 2>"$work/$1/said" || fail "the node of $1: $(tail -5 "$work/$1/said")"
}

test_pose_and_tracks() {
    local model=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt
    generate yolo_pose_track && compile yolo_pose_track -DPOSE || return 1
    "$work/yolo_pose_track/drive" none quiet weights_path:="$model" compute_runtime:=cpu >"$work/quiet" 2>&1 &
    local quiet=$!
    drive yolo_pose_track demo-pose.pt raw "$work/scene.mp4" || return 1
    "$skitter" predict "$work/scene.mp4" -m "$model" -o - -q >"$work/predicted" && "$skitter" track "$work/scene.mp4" -m "$model" \
        -o - -q --fps 25 >"$work/tracked" || return 1
    python3 "$here/compare_published.py" "$work/yolo_pose_track/published" "$work/predicted" "$work/tracked" || return 1
    wait $quiet || fail "nothing came: $(cat "$work/quiet")" || return 1
    expect_in "[WARN] [fly_watch_node]: no image on /usb/image/compressed for" "$(cat "$work/quiet")" &&
        expect_in "nobody publishes on it; such images come on /lab/image/compressed: input_topic:=/lab/image/compressed" "$(cat "$work/quiet")"
}

# The package of a model of one's own, on a machine that has the model only in the package.
test_turned_boxes_of_compressed_images() {
    local model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
    "$skitter" scene --animals 4 --size 320x240 --pictures 8 --picture-format png -o "$work/pictures" -q || return 1
    mkdir -p "$work/home" "$work/robot/share/fly_watch/models" && cp "$model" "$work/home/boxes.pt" &&
        cp "$model" "$work/robot/share/fly_watch/models/boxes.pt" || return 1
    run ros manifest "$work/home/boxes.pt" -o "$work/own" && expect_code 0 && rm -r "$work/home" || return 1
    run ros generate --models "$work/own" --model boxes --backend cpu --package-name fly_watch --format dir --output "$work/boxes" &&
        expect_code 0 && compile boxes || return 1
    AMENT_PREFIX_PATH=$work/robot drive boxes "" compressed "$work/pictures/images" || return 1
    "$skitter" predict "$work/pictures/images" -m "$model" -o - -q >"$work/predicted" || return 1
    python3 "$here/compare_published.py" "$work/boxes/published" "$work/predicted"
}

run_tests
