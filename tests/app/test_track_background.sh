#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter track --detector background: animals on a still background, without a model.
source "$(dirname "$0")/../support/shell.sh"
cd "$work" || exit 1
models=$SKITTER_TEST_SOURCE/share/models
export SKITTER_CACHE_DIR=$work/cache
# Three dark discs on grey that wander on lines of their own, as pictures.
for f in $(seq 0 19); do
    awk -v f="$f" 'BEGIN {
        printf "P5\n160 120\n255\n"
        for (y = 0; y < 120; y++) for (x = 0; x < 160; x++) {
            v = 180
            for (k = 0; k < 3; k++) { dx = (x - 15 - 6 * f) / 2; dy = y - 25 - 35 * k; if (dx * dx + dy * dy < 20) v = 40 }
            printf "%c", v
        }
    }' >"frame_$(printf %02d "$f").pgm"
done
track() { run track 'frame_%02d.pgm' --detector background --no-report "$@"; }
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }

test_three_are_followed() {
    track -o three
    case $err in *FFmpeg*) return 0 ;; esac # a build that does not read such pictures
    expect_code 0 && expect_in "3 tracks" "$out" || return
    [ "$(column three/results.csv track | sort | uniq -c | awk '$1 == 20' | wc -l)" -eq 3 ] ||
        fail "$(column three/results.csv track | sort | uniq -c)"
}

test_what_is_refused() {
    track -o x -m some.pt -m other.pt && expect_code 2 && expect_in "without a model" "$err" || return
    [ ! -f "$models/demo-obb.pt" ] || { track -o x -m "$models/demo-obb.pt" && expect_code 2 && expect_in "looks at crops" "$err" || return; }
    track -o x --set background_threshold=900 && expect_code 2 && expect_in "between 0 and 255" "$err" && [ ! -e x ]
}

# A run without a model is one that others see: the compute runtime stays as it is meanwhile.
test_it_is_a_run() {
    run scene -o long.mp4 --seconds 5 --size 320x240 --animals 2 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    "$skitter" track long.mp4 --detector background --no-report --no-cache --threads 1 -o open_to_all -q &
    local pid=$! locks=
    while kill -0 $pid 2>/dev/null && [ -z "$locks" ]; do locks=$(ls "$work/cache/runs" 2>/dev/null | grep -- "-$pid-"); done
    wait $pid
    [ -n "$locks" ] || fail "nobody sees it"
}

# Frames that are not there are no finished run without animals.
test_frames_that_are_not_there() {
    run scene -o scene.mp4 --seconds 0.4 --size 160x120 --animals 2 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    run track scene.mp4 --detector background --no-report --no-cache -o beyond --frames 500:600
    expect_code 1 && expect_in "none of them is in --frames 500:600" "$err"
}

# A video that was cut off is no finished run; of several the others are followed all the same.
test_cut_off_videos() {
    run scene -o whole.mp4 --seconds 4 --size 160x120 --animals 2 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    head -c $(($(stat -c %s whole.mp4) * 9 / 10)) whole.mp4 >cut.mp4
    for again in 1 2; do # what is kept of it is not taken for all there is
        run track cut.mp4 --detector background --no-report --cache kept -o "cut$again"
        expect_code 4 && expect_in "cut.mp4: cut off: " "$err" && expect_in "--restart" "$err" || return
        grep -q '"state": "incomplete"' "cut$again/run.json" && [ -s "cut$again/tracks.csv" ] || fail "$(cat "cut$again/run.json")" || return
    done
    run track cut.mp4 whole.mp4 --detector background --no-report --cache kept -o both -q
    expect_code 4 && expect_in "1 of 2 videos" "$err" && grep -q '"state": "finished"' both/whole/run.json
}

# Pictures for a program that shows the run, also without a model; a place where none can be written is said.
test_previews() {
    run scene -o shown.mp4 --seconds 0.4 --size 160x120 --animals 2 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    run track shown.mp4 --detector background --no-report --no-cache -o shown -q --preview shown.jpg && expect_code 0 && [ -s shown.jpg ] || return
    run track shown.mp4 --detector background --no-report -o shown2 --preview nowhere/shown.jpg
    expect_code 1 && expect_in "there is no folder nowhere" "$err" && [ ! -e shown2 ]
}

test_kept_by_content() {
    run scene -o scene.mp4 --seconds 0.4 --size 160x120 --animals 2 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    run track scene.mp4 --detector background --no-report -o first -q && expect_code 0 || return
    run track scene.mp4 --detector background --no-report -o second --json && expect_code 0 || return
    cmp first/results.csv second/results.csv && [ "$(ls cache/inference/*.skj | wc -l)" -eq 1 ] || return
    run track scene.mp4 --detector background --no-report -o third --no-cache -q && cmp first/results.csv third/results.csv || return
    # another threshold finds others, another gate does not
    run track scene.mp4 --detector background --no-report -o fourth -q --set background_threshold=99 && expect_code 0 || return
    run track scene.mp4 --detector background --no-report -o fifth -q --set gate=9 && [ "$(ls cache/inference/*.skj | wc -l)" -eq 2 ]
}

# A model that looks at crops gives poses of what the background shows; the boxes are those that are found without it.
test_poses_on_what_is_found() {
    [ -f "$models/demo-pose.pt" ] || return 0
    local pose=$models/demo-pose.pt
    run scene -o posed.mp4 --seconds 4 --size 320x240 --animals 3 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    run track posed.mp4 --frames 0::12 --detector background --no-report -o boxes --online -q && expect_code 0 || return
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --online -o poses && expect_code 0 && expect_in "runtime cpu" "$out" || return
    cmp <(cut -d, -f2,15-23 boxes/results.csv | sort) <(cut -d, -f2,15-23 poses/results.csv | sort) || return
    [ "$(column poses/results.csv nose_x | grep -c .)" -ge 25 ] || fail "few poses: $(column poses/results.csv nose_x)" || return
    grep -q '"path": "background"' poses/run.json && grep -q '"detector": "background"' poses/run.json || return
    grep -q '"crop_turned": "auto"' poses/run.json && grep -q '"mask_neighbours": "auto"' poses/run.json || return
    # crops along the animals, or upright: other points in the same boxes
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --online -o upright --crop-turned off --mask-neighbours off -q && expect_code 0 || return
    cmp <(cut -d, -f2,15-23 upright/results.csv | sort) <(cut -d, -f2,15-23 poses/results.csv | sort) || return
    ! cmp -s upright/results.csv poses/results.csv || fail "--crop-turned changes nothing" || return
    [ "$(column upright/results.csv nose_x | grep -c .)" -eq 30 ] || fail "few poses upright" || return
    # the pose model's runtime must be here; without poses nothing computes
    run track posed.mp4 --detector background -m "$pose" --no-report --runtime mps -o apple -q && [ "$code" -ne 0 ] && expect_in mps "$err" || return
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --pose off --runtime mps --no-report --online -o apple -q && expect_code 0 || return
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --pose off --no-report --online -o off -q && expect_code 0 && cmp off/results.csv boxes/results.csv || return
    # the same again is known; another threshold is another run
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --online -o again && expect_in "were known" "$out" && cmp poses/results.csv again/results.csv || return
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --online -o again --set background_threshold=60 && expect_code 1 && expect_in background_threshold "$err" || return
    # boxes from a file, and the video
    run track posed.mp4 --frames 0::12 --detections boxes/results.csv -m "$pose" --imgsz 96 --crop-turned off --mask-neighbours off --no-report --online -o given -q && expect_code 0 || return
    [ "$(column given/results.csv nose_x | grep -c .)" -eq 30 ] && grep -q '"path": "boxes/results.csv"' given/run.json || return
    run track --detections boxes/results.csv -m "$pose" -o x && expect_code 2 && expect_in "the one video" "$err" || return
    # a run that was killed goes on where it was, the background as it was then
    "$skitter" track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --no-cache --online -o killed --loop 3 -q 2>/dev/null &
    local pid=$! i
    for i in $(seq 400); do [ -s killed/journal.skj ] && [ "$(stat -c %s killed/journal.skj)" -gt 9000 ] && break; sleep 0.01; done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --no-cache --online -o killed --loop 3 -q && expect_code 0 || return
    run track posed.mp4 --frames 0::12 --detector background -m "$pose" --imgsz 96 --no-report --no-cache --online -o whole --loop 3 -q && cmp killed/results.csv whole/results.csv
}

# Two flies, one red and one blue, change places while nothing is seen of them: where they were says who is who wrongly, their colours rightly.
test_colours_tell_who_is_who() {
    "$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without FFmpeg, which reads such pictures"; return; }
    mkdir -p flies
    awk 'function near(v, at, half) { return v >= at - half && v < at + half }
    BEGIN {
        for (f = 0; f < 60; f++) {
            s = int(18 * sin(f * 0.35)); a = 45 + s; b = 115 - s
            file = sprintf("flies/%03d.ppm", f); row = ""
            red = f < 30 ? a : f >= 40 ? b : -99; blue = f < 30 ? b : f >= 40 ? a : -99
            printf "P3 160 40 255\n" > file
            for (y = 0; y < 40; y++) {
                row = ""
                for (x = 0; x < 160; x++)
                    row = row (near(x, red, 7) && near(y, 16, 4) ? "150 0 0 " : near(x, blue, 7) && near(y, 25, 4) ? "0 0 150 " : "230 230 230 ")
                print row > file
            }
            close(file)
        }
    }'
    where() { awk -F, -v f="$2" -v y="$3" 'NR > 1 && $2 == f && $11 == y { print $5 }' "$1/results.csv"; }
    local way="--detector background --no-report -f csv --fps 25 --set shortest=0.1"
    run track flies $way -o plain && expect_code 0 && [ "$(where plain 10 16)" != "$(where plain 54 16)" ] || fail "not even hard" || return
    run track flies $way -o seen --looks on && expect_code 0 && expect_in "2 tracks" "$out" || return
    [ "$(where seen 10 16)" = "$(where seen 54 16)" ] && [ "$(where seen 10 25)" = "$(where seen 54 25)" ] || fail "$(cat seen/results.csv)" || return
    grep -q '"looks": "on"' seen/run.json || return
    run track flies $way -o seen && expect_code 1 && expect_in looks "$err" || return # another run
    run track --detections seen/results.csv --looks on -o x && expect_code 2 && expect_in "--looks on" "$err"
}

run_tests
