#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An option that means nothing for the model, the runtime or the source is refused with the word that does, and one that
# does mean something is taken.
source "$(dirname "$0")/../support/shell.sh"
models=$SKITTER_TEST_SOURCE/share/models
if [ ! -f "$models/demo-obb.pt" ]; then
    echo "skipped: the demo's models are not here"
    exit 77
fi
run scene -o "$work/p" --pictures 1 --size 160x120 -q && expect_code 0 || exit 1
picture=$(find "$work/p/images" -name '*.jpg')

refused() { # option, part of the hint, arguments…
    local option=$1 hint=$2
    shift 2
    run predict "$picture" "$@" -o "$work/never"
    expect_code 2 && expect_in "--$option means nothing here" "$err" && expect_in "$hint" "$err" &&
        { [ ! -e "$work/never" ] || fail "a refused command made a folder"; }
}

test_yolo_words_for_sleap() {
    local sleap=(-m "$models/demo-bottomup")
    refused conf "use '--peak-threshold'" "${sleap[@]}" --conf 0.5 &&
        refused max-det "use '--max-instances'" "${sleap[@]}" --max-det 9 &&
        refused iou "SLEAP model" "${sleap[@]}" --iou 0.5 &&
        refused classes "SLEAP model" "${sleap[@]}" --classes 0 &&
        refused agnostic "leave it out" "${sleap[@]}" --agnostic &&
        refused obb-form "finds no oriented boxes" "${sleap[@]}" --obb-form quarter
}

test_sleap_words_for_yolo() {
    refused peak-threshold "use '--conf'" -m "$models/demo-pose.pt" --peak-threshold 0.5 &&
        refused max-instances "use '--max-det'" -m "$models/demo-pose.pt" --max-instances 3 &&
        refused obb-form "finds no oriented boxes" -m "$models/demo-pose.pt" --obb-form quarter
}

test_both_families_take_both_words() {
    run predict "$picture" -m "$models/demo-pose.pt" -o "$work/a" --conf 0.3 --iou 0.6 --max-det 9 -q
    expect_code 0 || return
    run predict "$picture" -m "$models/demo-bottomup" -o "$work/b" --peak-threshold 0.3 --max-instances 3 -q
    expect_code 0 || return
    run predict "$picture" -m "$models/demo-obb.pt" -o "$work/c" --obb-form quarter --no-winograd -q
    expect_code 0
}

test_words_for_other_runtimes_and_sources() {
    local pose=(-m "$models/demo-pose.pt")
    refused openvino-device "not OpenVINO" "${pose[@]}" --openvino-device GPU &&
        refused no-winograd "not the cpu runtime" "${pose[@]}" -r reference --no-winograd &&
        refused reconnect "no camera and no stream" "${pose[@]}" --reconnect 5 &&
        refused hwaccel "not a video" "${pose[@]}" --hwaccel auto || return
    # an engine's own option, given to an engine that has none of the kind
    run predict "$picture" "${pose[@]}" -r cpu --execution-provider CPU -o "$work/never"
    expect_code 2 && expect_in "an execution provider (CPU) is ONNX Runtime's; 'cpu' has none" "$err" || return
    run predict "$picture" "${pose[@]}" -r cpu --engine-option hint=latency -o "$work/never"
    expect_code 2 && expect_in "has no option 'hint', which is for openvino" "$err" || return
    run predict rtsp://localhost/x "${pose[@]}" -o "$work/never" --loop 3
    expect_code 2 && expect_in "cannot be played again" "$err"
}

run_tests
