#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter track over whole videos: identities, the inference cache, going on after kill -9, lists of videos.
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
[ -f "$model" ] || { echo "skipped: the demo's models are not here"; exit 77; }
cd "$work" || exit 1
export SKITTER_CACHE_DIR=$work/cache
run scene -o scene.mp4 --seconds 0.6 --size 320x240 --animals 4 -q
[ "$code" -eq 3 ] && { echo "skipped: this build writes no video"; exit 77; }
track() { run track scene.mp4 -m "$model" "$@"; }
results_of() { (cd "$1" && sha256sum results.csv results.jsonl); }
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }
track -o first -f csv,jsonl --online --no-report -q # computes; what it found is in the cache for the tests
[ "$code" -eq 0 ] || { echo "track failed: $err"; exit 1; }

test_animals_keep_their_numbers() {
    [ "$(column first/results.csv state | sort -u)" = active ] || fail "states: $(column first/results.csv state | sort | uniq -c)" || return
    # four animals, of which each has a row in nearly every one of the 18 frames
    [ "$(column first/results.csv track | sort | uniq -c | awk '$1 >= 15' | wc -l)" -eq 4 ] ||
        fail "$(column first/results.csv track | sort | uniq -c)" || return
    grep -q '"track":0' first/results.jsonl && grep -q '"state":"active"' first/results.jsonl
}

test_the_cache_computes_nothing_again() {
    cp scene.mp4 renamed.mp4 && touch -d 2001-01-01 renamed.mp4 || return
    run track renamed.mp4 -m "$model" -o again --online --no-report && expect_code 0 || return
    expect_in "18 of them were known" "$out" && expect_in "tracks" "$out" || return
    expect_in "instances, from the cache in" "$out" && ! grep -q "frames/s\|a frame every\|/s$" <<<"$out$err" || fail "a rate of what was not computed: $out$err" || return
    sed 's/renamed/scene/' again/results.csv | cmp - first/results.csv || return
    # something that was not looked at before, or --no-cache, is computed; so is a video of other content
    track -o other --online --no-report --conf 0.3 && expect_code 0 && [ "${out/were known/}" = "$out" ] || fail "another --conf, the same cache" || return
    track -o none --online --no-report --no-cache && expect_code 0 && [ "${out/were known/}" = "$out" ] || fail "--no-cache" || return
    cmp none/results.csv first/results.csv || return
    track -o own --online --no-report --cache mine -q && expect_code 0 && [ -n "$(ls mine)" ]
}

# What animals look like is kept with them: from the cache the same bytes, and the same tracks as if computed.
test_looks_are_kept() {
    track -o looks -f csv --no-report --looks on && expect_code 0 && [ "${out/were known/}" = "$out" ] || fail "known without having looked" || return
    track -o looks2 -f csv --no-report --looks on && expect_code 0 && expect_in "18 of them were known" "$out" || return
    cmp looks/results.csv looks2/results.csv || return
    [ "$(stat -c %s looks/journal.skj)" -gt $(($(stat -c %s first/journal.skj) + 48 * 60)) ] || fail "nothing of it in the journal" || return
    track -o looks3 -f csv --no-report --looks on --no-cache && expect_code 0 && cmp looks/results.csv looks3/results.csv
}

# Two models, and poses switched off: as the one that finds alone, in whichever order they stand, and it is known already.
test_poses_switched_off() {
    local pose=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt
    run track scene.mp4 -m "$pose" -m "$model" --pose off -o boxes --online --no-report && expect_code 0 && expect_in "18 of them were known" "$out" || return
    cmp boxes/results.csv first/results.csv || return
    run track scene.mp4 -m "$model" -m "$pose" --imgsz 96 -o posed --frames 0:4 --online --no-report && expect_code 0 || return
    grep -q nose_x posed/results.csv && grep -q '"crop_turned": "auto"' posed/run.json
}

# A pose model that knows whole frames, and not crops: what it makes of them is nothing, and that is said.
test_a_pose_model_that_knows_no_crops() {
    local pose=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt
    run track scene.mp4 -m "$model" -m "$pose" -o huge --frames 0:6 --online --no-report && expect_code 0 && expect_in "have no pose" "$err" && expect_in "--imgsz" "$err" || return
    run track scene.mp4 --detections huge -m "$pose" -o fits --frames 0:6 --online --no-report --crop-turned off --imgsz 96 && expect_code 0 && [ "${err/have no pose/}" = "$err" ]
}

test_configurations() {
    echo '{"gate": 3, "animals": 4, "online": true, "roi": ["0,0,160,240"]}' >ours.json
    track -o config --config ours.json --no-report && expect_code 0 || return
    grep -q '"track.gate": "3"' config/run.json && grep -q '"tracking": "online"' config/run.json || fail "not what the file says" || return
    track -o config2 --config ours.json --set gate=4 --no-report && grep -q '"track.gate": "4"' config2/run.json || return
    echo '{"gaet": 3}' >bad.json
    track -o x --config bad.json && expect_code 1 && expect_in "gaet" "$err" && expect_in bad.json "$err" || return
    echo '{"gate": "far"}' >bad.json
    track -o x --config bad.json && expect_code 1 && expect_in "a number" "$err" && [ ! -e x ] || return
    echo '{"max_targets": 4, "fps": 30, "reference_body_size": 50, "yolo_confidence_threshold": 0.2, "lost_threshold_seconds": 0.5,
        "max_assignment_distance_multiplier": 1.5, "enable_backward_tracking": true, "dataset_class_name": "mouse"}' >theirs.json
    track -o theirs --config theirs.json --no-report && expect_code 0 && expect_in dataset_class_name "$err" || return
    grep -q '"track.animals": "4"' theirs/run.json && grep -q '"track.body": "50"' theirs/run.json
}

# A file may say the whole run; what is typed counts more, a video or model in its place, too.
test_a_whole_run_in_a_file() {
    cp scene.mp4 another.mp4
    echo '{"max_targets": 4, "fps": 30, "reference_body_size": 50, "lost_threshold_seconds": 0.5, "enable_backward_tracking": true}' >base.json
    printf '{"gate": 3, "run": {"config": "base.json", "source": ["scene.mp4"], "model": ["%s"], "frames": "0:6", "online": true, "no-report": true}}' \
        "$model" >run.json
    run track --config run.json -o by_file && expect_code 0 && [ "$(column by_file/results.csv frame | sort -gu | tail -n 1)" = 5 ] || return
    grep -q '"track.gate": "3"' by_file/run.json && grep -q '"track.body": "50"' by_file/run.json || fail "not what both files say" || return
    run track another.mp4 --config run.json --frames 0:3 --roi 0,0,9,9 -o typed && expect_code 0 && grep -q another typed/run.json || return
    [ "$(column typed/results.csv frame | sort -gu | tail -n 1)" != 5 ] || fail "--frames of the file" || return
    echo '{"run": {"conf": 7}}' >bad.json
    track -o x --config bad.json && expect_code 2 && expect_in "bad.json: --conf: 7" "$err" && [ ! -e x ]
}

# What somebody says of the rate holds for every time and speed, in all files.
test_rate_that_is_said() {
    track -o rate30 && expect_code 0 && [[ $err != *"frames a second"* ]] || fail "$err" || return
    track -o rate15 --fps 15 && expect_code 0 && expect_in "go by 15" "$err" || return
    for run in rate30:0.566667 rate15:1.133333; do
        [ "$(column ${run%:*}/results.csv time | sort -g | tail -n 1)" = "${run#*:}" ] || fail "times of $run" || return
        [ "$(column ${run%:*}/tracks.csv time_s | sort -g | tail -n 1 | xargs printf %.6f)" = "${run#*:}" ] || fail "time_s of $run" || return
    done
    # the same way in twice the time
    speed() { "$skitter" correct "$1" --json | tr ',' '\n' | sed -n 's/.*"speed": *//p' | awk '{ s += $1 } END { print s }'; }
    awk -v fast="$(speed rate30)" -v slow="$(speed rate15)" 'BEGIN { exit !(fast > 1.6 * slow && fast < 2.4 * slow) }' ||
        fail "speeds $(speed rate30) and $(speed rate15)"
}

test_mask_of_another_size() {
    run scene --pictures 1 --size 160x120 --picture-format png -o small -q && expect_code 0 || return
    track -o masked --no-report --roi-mask small/images/*.png && expect_code 2 || return
    expect_in "scene.mp4: its frames have 320 x 240 pixels, and the mask (--roi-mask) 160 x 120" "$err"
}

test_what_is_kept_is_listed() {
    run artifacts && expect_code 0 && expect_in "what was found in scene.mp4" "$out" || return
    run artifacts clean && expect_code 0 && [ -n "$(ls cache/inference)" ]
}

test_settings_are_tried_again() {
    track -o first --online --no-report --set gate=3 && expect_code 1 && expect_in "track.gate" "$err" && expect_in "--restart" "$err" || return
    track -o settings --online --no-report --set gate=3 --roi 0,0,160,240 && expect_code 0 && expect_in "known" "$out" || return
    awk -v x="$(column settings/results.csv x | sort -g | tail -n 1)" 'BEGIN { exit !(x > 0 && x <= 160) }' || fail "not inside the region" || return
    track -o x --set gaet=3 && expect_code 2 && expect_in "gaet" "$err" && expect_in "gate" "$err" || return
    track -o x --set damping=2 && expect_code 2 && expect_in "between 0 and 1" "$err" || return
    track -o x --roi 1,2,3 && expect_code 2 && expect_in "corner" "$err" && [ ! -e x ]
}

test_killed_and_continued() {
    local i size=0
    "$skitter" track scene.mp4 -m "$model" -o killed --online --no-report --no-cache --loop 4 -q 2>/dev/null &
    local pid=$!
    until [ -s killed/journal.skj ]; do sleep 0.01; done
    size=$(stat -c %s killed/journal.skj) # before its first frame, or just behind it
    for i in $(seq 200); do [ "$(stat -c %s killed/journal.skj)" -gt "$size" ] && break; sleep 0.01; done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    track -o killed --online --no-report --no-cache --loop 4 && expect_code 0 && expect_in "continued" "$out" || return
    track -o whole --online --no-report --no-cache --loop 4 -q && expect_code 0 || return
    [ "$(results_of killed)" = "$(results_of whole)" ] || fail "a continued run's files differ"
}

test_on_standard_output() {
    run track scene.mp4 -m "$model" -o - --format csv -q && expect_code 0 || return
    [ "$out" = "$(cat first/results.csv)" ] || fail "not what the file has"
}

test_a_list_goes_on_after_a_bad_one() {
    printf 'scene.mp4\nbroken.mp4\n' >list.txt && echo no video >broken.mp4 || return
    run track list.txt -m "$model" -o many --online --no-report && expect_code 1 && expect_in "1 of 2" "$err" || return
    cmp many/scene/results.csv first/results.csv
}

test_offline_tables_and_the_page() {
    track -o tables -f tracks,final,raw,csv,slp,analysis && expect_code 0 && expect_in "4 tracks" "$out" || return
    [ "$(head -n 1 tables/tracks.csv)" = id,frame,time_s,x,y,heading_deg,state,detection_confidence ] || fail "tracks.csv" || return
    [ "$(wc -l <tables/tracks.csv)" -eq "$(wc -l <tables/results.csv)" ] || fail "another number of rows" || return
    [ "$(head -c 20 tables/tracks_forward.csv)" = "TrackID,TrajectoryID" ] && [ -s tables/tracks_backward.csv ] || return
    [ "$(column tables/tracks_final.csv TrajectoryID | sort -u | wc -l)" -eq 4 ] || fail "tracks_final.csv" || return
    grep -q '<svg' tables/report.html && [ -s tables/plots/paths.png ] && [ -s tables/results.slp ] || return
    # the same from what somebody else wrote, and a run that had finished writes it again
    sha256sum tables/* 2>/dev/null | grep -v 'run.json\|report.html' >before
    track -o tables -f tracks,final,raw,csv,slp,analysis -q && expect_code 0 || return
    sha256sum -c --quiet <(grep -v 'slp\|h5' before) || fail "a second time it is written otherwise" || return
    track -o tables -f csv --restart --no-report -q && expect_code 0 || return
    [ ! -e tables/tracks.csv ] && [ ! -e tables/tracks_backward.csv ] && [ ! -e tables/report.html ] && [ ! -e tables/plots ] ||
        fail "--restart left $(ls tables)" || return
    run predict scene.mp4 -m "$model" -o no -f tracks && expect_code 2 && expect_in "skitter track" "$err"
}

test_drawn_with_identities() {
    track -o drawn -f csv --online --no-report --save-overlay && expect_code 0 && expect_in "drawn/overlay.mp4" "$out" || return
    [ -s drawn/overlay.mp4 ] && expect_in "known" "$out"
}

run_tests
