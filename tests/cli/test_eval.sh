#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter eval as people use it: tables, JSON, notes and refusals.
source "$(dirname "$0")/../support/shell.sh"
fixtures=$SKITTER_TEST_SOURCE/tests/fixtures/coco_eval

test_table_and_json_agree() {
    run eval "$fixtures/result.json" "$fixtures/truth.json" --sigmas 0.03,0.05,0.08,0.05,0.1
    expect_code 0 && expect_in "oriented boxes" "$out" && expect_in "0.1828" "$out" && expect_in "PCK@0.05" "$out" || return
    run eval "$fixtures/result.json" "$fixtures/truth.json" --sigmas 0.03,0.05,0.08,0.05,0.1 --json
    expect_code 0 && expect_in '"ap": 0.1828303306521' "$out"
}
test_notes_say_what_was_left_out() {
    printf 'frame,x1,y1,x2,y2,mood\n0,0,0,9,9,good\n7,0,0,9,9,bad\n' >"$work/r.csv"
    printf 'frame,x1,y1,x2,y2\n0,0,0,9,9\n' >"$work/t.csv"
    run eval "$work/r.csv" "$work/t.csv"
    expect_code 0 && expect_in "mood" "$err" && expect_in "1 detections in 1 frames" "$err" || return
    run eval "$work/r.csv" "$work/t.csv" --json -q
    expect_code 0 && expect_in "mood" "$out" && [ -z "$err" ]
}
# An oriented model's upright boxes are those around the oriented ones: that their line is worse says nothing about it.
test_upright_boxes_of_oriented_ones() {
    local head=frame,score,class,name,x1,y1,x2,y2,cx,cy,w,h,angle
    printf '%s\n0,0.9,0,fish,8.79,8.79,51.21,51.21,30,30,50,10,0.785398\n' "$head" >"$work/turned.csv"
    printf '%s\n0,1,0,fish,15,15,45,45,30,30,50,10,0.785398\n' "$head" >"$work/own.csv"
    run eval "$work/turned.csv" "$work/own.csv" && expect_code 0 && expect_in "those around its oriented ones" "$err" || return
    run eval "$work/turned.csv" "$work/turned.csv" && expect_code 0 && [ "${err/around its oriented/}" = "$err" ]
}

test_folders_that_lead_round() {
    cp -r "$SKITTER_TEST_SOURCE/tests/fixtures/yolo_val/obb" "$work/round" || return
    run eval "$work/round/found" "$work/round/data.yaml" --json -q
    local straight=$out
    expect_code 0 && expect_in '"oriented_boxes"' "$out" || return
    for name in a b c d; do ln -s . "$work/round/images/$name"; ln -s .. "$work/round/labels/$name"; done
    out=$(timeout 20 "$skitter" eval "$work/round/found" "$work/round/data.yaml" --json -q 2>/dev/null)
    [ "$out" = "$straight" ] || fail "links that lead round: $out"
}
test_refusals() {
    echo hello >"$work/x.txt"
    run eval "$work/x.txt" "$fixtures/truth.json"
    expect_code 1 && expect_in "x.txt" "$err" || return
    run eval "$fixtures/result.json" "$work/absent.csv"
    expect_code 1 && expect_in "absent.csv" "$err" || return
    run eval "$fixtures/result.json" "$fixtures/truth.json" --sigmas 1,2
    expect_code 2 && expect_in "2 sigmas for 5 keypoints" "$err" || return
    run eval "$fixtures/result.json" "$fixtures/truth.json" --pck 0.1,zero
    expect_code 2 && expect_in "--pck" "$err" || return
    run eval "$fixtures/result.json" "$fixtures/truth.json" --body k0,nose
    expect_code 2 && expect_in "nose" "$err"
}
# SLEAP's truth has keypoints and no boxes: their own extent is what distances are measured by, in both tables.
test_poses_without_boxes() {
    printf 'frame,a_x,a_y,b_x,b_y\n0,10,10,90,70\n' >"$work/truth_poses.csv"
    printf 'frame,score,a_x,a_y,b_x,b_y\n0,0.9,11,10,90,71\n' >"$work/found_poses.csv"
    run eval "$work/found_poses.csv" "$work/truth_poses.csv"
    expect_code 0 && [ "$(grep -c 'poses .* 1\.0000 *1\.0000' <<<"$out")" -eq 1 ] || fail "$out" || return
    grep -q 'poses .* 1\.000 *1\.000 *0\.995 *0\.995' <<<"$out" || fail "as yolo val: $out"
}

run_tests
