#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bags of ROS 2 as sources and as results, without anybody else's program: what predict and track make of a scene's frames goes
# into bags, and frames come out of bags with their stamps. tests/app/test_bags_rosbags.sh compares with PyPI's rosbags.
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
maker=$SKITTER_TEST_BUILD/tests/make_bag
[ -f "$model" ] || { echo "skipped: the demo's models are not here"; exit 77; }
cd "$work" || exit 1
# six grey images of 64x48 in topic /camera/image_raw, 0.1 s apart from 2023-11-14T22:13:20.5Z
"$maker" images.mcap mcap && "$maker" images.db3 db3 && "$maker" images folder || exit 1
"$maker" eyes.mcap mcap eyes && "$maker" two.mcap mcap two && "$maker" none.mcap mcap none && "$maker" killed.mcap mcap killed || exit 1
# frame_ids FILE: whose eye saw the images, in the order of the messages; each once in a row
frame_ids() { grep -a -o -E '(left|right)_eye_of_robot_0{299}7' "$1" | sed 's/_.*//' | uniq; }
predict() { run predict "$@" -m "$model" -q --overwrite; }

test_frames_come_with_their_stamps() {
    local bag
    for bag in images.mcap images.db3 images; do
        predict $bag -o "${bag/./_}_out" -f jsonl && expect_code 0 || return
        [ "$(wc -l <"${bag/./_}_out/results.jsonl")" -eq 6 ] || fail "$bag: not six frames" || return
        expect_in '"frame":5,"time":0.500000,"utc":"2023-11-14T22:13:21.000000000Z"' "$(cat "${bag/./_}_out/results.jsonl")" || return
        # the same whatever the container
        diff <(sed 's/"source":"[^"]*"//' images_mcap_out/results.jsonl) <(sed 's/"source":"[^"]*"//' "${bag/./_}_out/results.jsonl") \
            >/dev/null || fail "$bag differs" || return
    done
    expect_in '"frame_id": "made_up"' "$(cat images_mcap_out/run.json)"
}

test_some_frames_and_going_on() {
    predict images.mcap -o some -f csv,jsonl --frames 2:5:2 && expect_code 0 || return
    [ "$(grep -o '"frame":[0-9]*' some/results.jsonl | tr '\n' ' ')" = '"frame":2 "frame":4 ' ] || fail "other frames" || return
    expect_in '"time":0.200000' "$(head -1 some/results.jsonl)"
}

test_topics_are_chosen_and_named() {
    predict two.mcap -o two
    expect_code 1 && expect_in "/camera/image_raw (sensor_msgs/msg/Image, 6)" "$err" && expect_in "/second" "$err" &&
        expect_in "--topic" "$err" || return
    predict two.mcap -o two --topic second -f jsonl && expect_code 0 || fail "$err" || return
    predict two.mcap -o two --topic /camera/image_raw -f jsonl
    expect_code 1 && expect_in "another run" "$err" || return
    predict two.mcap -o two --topic /nowhere
    expect_code 1 && expect_in "has no topic '/nowhere'" "$err" && expect_in "/second" "$err" || return
    predict none.mcap -o none
    expect_code 1 && expect_in "without images" "$err" && expect_in "/chatter (std_msgs/msg/String" "$err"
}

test_options_that_mean_nothing() {
    run scene -o scene.mp4 --seconds 0.1 --size 64x64 --animals 1 -q
    [ "$code" -eq 3 ] && return 0
    predict scene.mp4 -o x --topic /camera/image_raw
    expect_code 2 && expect_in "--topic means nothing here: scene.mp4 is no bag of ROS 2" "$err" || return
    predict images.mcap -o x --hwaccel auto
    expect_code 2 && expect_in "images.mcap is not a video" "$err"
}

test_a_killed_recorder() {
    run predict killed.mcap -m "$model" -o killed -f jsonl
    expect_code 0 && expect_in "nobody finished it" "$err" || return
    [ "$(grep -c "nobody finished" <<<"$err")" -eq 1 ] || fail "told twice: $err" || return
    [ "$(wc -l <killed/results.jsonl)" -ge 4 ] || fail "$(wc -l <killed/results.jsonl) frames"
}

test_files_of_a_split_bag() {
    mkdir split && cp images.mcap split/split_0.mcap && cp two.mcap split/split_1.mcap || return
    predict split -o split_out -f jsonl --topic /camera/image_raw && expect_code 0 || return
    [ "$(wc -l <split_out/results.jsonl)" -eq 12 ] || fail "$(wc -l <split_out/results.jsonl) frames of both files"
}

test_fewer_than_promised() {
    cp -r images fewer && sed -i '/image_raw/,/message_count/ s/message_count: 6/message_count: 9/' fewer/metadata.yaml
    predict fewer -o fewer_out -f jsonl
    expect_code 4 && expect_in '"state": "incomplete"' "$(cat fewer_out/run.json)" && expect_in '"missing": 3' "$(cat fewer_out/run.json)" || return
    predict fewer -o some_of_fewer -f jsonl --frames 0:4 && expect_code 0 || return
    rm fewer/metadata.yaml
    run predict fewer -m "$model" -o without -f jsonl
    expect_code 0 && expect_in "no metadata.yaml" "$err"
}

test_damaged_images_are_left_out() {
    cp images.mcap broken.mcap
    printf 'XXXX' | dd of=broken.mcap bs=1 seek=5000 conv=notrunc 2>/dev/null
    run predict broken.mcap -m "$model" -o broken -f jsonl
    expect_in "checksum" "$(cat broken/run.json 2>/dev/null)$err" || return
    predict broken.mcap -o strict --strict
    [ "$code" -ne 0 ] && expect_in "checksum" "$err"
}

test_results_as_bags() {
    predict images.mcap -o bags -f jsonl,mcap,db3,rosbag2 && expect_code 0 || return
    [ -s bags/results.mcap ] && [ -s bags/results.db3 ] && [ -s bags/rosbag2/metadata.yaml ] || fail "$(ls bags)" || return
    expect_in "message_count: 6" "$(cat bags/rosbag2/metadata.yaml)" || return
    [ "$(ls bags/results.db3*)" = bags/results.db3 ] || fail "beside it is $(ls bags/results.db3*)" || return
    # the same bytes from a run that is asked for them later, and by track
    cp -r bags/results.mcap first.mcap
    predict images.mcap -o later -f jsonl && predict images.mcap -o later -f mcap && expect_code 0 || return
    cmp first.mcap later/results.mcap || fail "made later it differs" || return
    run track images.mcap -m "$model" -o tracked -f mcap -q --no-report
    expect_code 0 && expect_in "/skitter/tracks" "$(strings -a tracked/results.mcap 2>/dev/null || cat tracked/results.mcap)" || return
    # every message has the frame_id of its own image, also where it is told later, from what was kept of the run
    predict eyes.mcap -o eyes -f mcap && predict eyes.mcap -o eyes_later -f jsonl && predict eyes.mcap -o eyes_later -f mcap &&
        run track eyes.mcap -m "$model" -o eyes_tracked -f mcap -q --no-report && expect_code 0 || return
    cmp eyes/results.mcap eyes_later/results.mcap || fail "made later it differs" || return
    for told in eyes eyes_tracked; do
        frame_ids $told/results.mcap >$told.ids
        cmp $told.ids <(printf '%s\n' left right left right) || fail "$told: $(cat $told.ids)" || return
    done
    predict images.mcap -o bags --restart -f jsonl && [ ! -e bags/results.mcap ] && [ ! -e bags/rosbag2 ] ||
        fail "--restart leaves $(ls bags)"
}

test_what_is_no_bag() {
    cp "$SKITTER_TEST_SOURCE/fuzz/seeds/db3/computed.db3" . && predict computed.db3 -o x
    expect_code 1 && expect_in "error: computed.db3: not a bag, or damaged: SQLite says string or blob too big" "$err" || return
    echo text >a.mcap && predict a.mcap -o x
    expect_code 1 && expect_in "a.mcap: not an MCAP file" "$err" || return
    printf '#ROSBAG V2.0\nmore' >old.bag && predict old.bag -o x
    expect_code 3 && expect_in "a bag of ROS 1" "$err" && expect_in "rosbags-convert" "$err" || return
    : >b.db3 && predict b.db3 -o x
    expect_code 1 && expect_in "b.db3: not an SQLite file: it is empty" "$err"
}

run_tests
