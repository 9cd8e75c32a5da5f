#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `skitter node` at the door, and against PyPI's cyclonedds as an independent peer, where one is there: a Python that has it is
# named by SKITTER_ROS_PYTHON, lies in ../venv/ros, or is python3.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
cd "$work" || exit 1
model=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt

test_without_the_library_it_says_what_helps() {
    SKITTER_DDS_LIBRARY=$work run node "$model"
    expect_code 3 && expect_in "Eclipse Cyclone DDS" "$err" && expect_in "apt-get install libddsc0debian" "$err"
}

test_what_cannot_be_is_refused_before_anything_is_opened() {
    run node "$model" -p confidence:=2 && expect_code 2 && expect_in "there is no parameter 'confidence'" "$err" || return 1
    printf '/**:\n  ros__parameters:\n    qos_depth: 0\n    frame_skip: 1.5\n' >wrong.yaml
    run node "$model" --params-file wrong.yaml -p iou_threshold:=7 -p tracker:=sort -p clases:=[1]
    expect_code 2 && expect_in "qos_depth: '0' is not a whole number from 1 to 10000" "$err" && expect_in "frame_skip: '1.5' is not" "$err" &&
        expect_in "iou_threshold: '7' is not a number from 0 to 1" "$err" && expect_in "tracker: 'sort' is not one of skitter, bytetrack, ocsort" "$err" &&
        expect_in "did you mean 'classes'?" "$err" && expect_in "5 parameters are wrong" "$err" || return 1
    run node "$model" --messages a-b && expect_code 2 && expect_in "no name of a package" "$err" || return 1
    ROS_AUTOMATIC_DISCOVERY_RANGE=far run node "$model" && expect_code 2 && expect_in "ROS_AUTOMATIC_DISCOVERY_RANGE" "$err" || return 1
    run node "$model" -r __node:=2d && expect_code 2 && expect_in "no name for a node" "$err" || return 1
    run node "$model" -p compute_runtime:=cuda -p execution_provider:=CPUExecutionProvider
    expect_in "cuda" "$err" && expect_in "CPUExecutionProvider" "$err" || return 1
    if [ ! -e /dev/kfd ] && [[ $err != *"Cyclone DDS"* ]]; then
        run node "$model" -p compute_runtime:=rocm && expect_code 3 && expect_in "'rocm' (compute_runtime) cannot be used here" "$err" &&
            expect_in "compute_runtime:=cpu" "$err" || return 1
        [[ $err != *--allow-fallback* ]] || fail "a flag that the node does not have" || return 1
    fi
    ROS_DOMAIN_ID=x run node "$model" && expect_code 2 && expect_in "ROS_DOMAIN_ID" "$err" || return 1
    run node && expect_code 2 && expect_in "needs a model" "$err"
}

test_parameters_are_listed() {
    printf '/**:\n  ros__parameters:\n    confidence_threshold: 0.5\n' >p.yaml
    run node --list-params --params-file p.yaml -p frame_skip:=2 && expect_code 0 &&
        expect_in "confidence_threshold: 0.5  #" "$out" && expect_in "frame_skip: 2  #" "$out"
}

peer_python() {
    local python
    for python in "${SKITTER_ROS_PYTHON:-}" "$SKITTER_TEST_SOURCE/../venv/ros/bin/python" python3; do
        [ -n "$python" ] && "$python" -c 'import cyclonedds' 2>/dev/null && echo "$python" && return 0
    done
    return 1
}

test_a_peer_of_another_making_gets_what_predict_gives() {
    local python
    python=$(peer_python) || {
        echo "skipped: no Python with cyclonedds here (pip install cyclonedds; SKITTER_ROS_PYTHON names another)"
        return 0
    }
    PYTHONPATH=$SKITTER_TEST_SOURCE/tests/ros timeout -k 2 120 "$python" "$SKITTER_TEST_SOURCE/tests/ros/node_agrees.py" \
        "$SKITTER_TEST_BINARY" "$SKITTER_TEST_SOURCE/share/models" "$work" || fail "the peer got something else"
}

run_tests
