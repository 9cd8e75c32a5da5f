#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter track --detections: what others found becomes tracks, without a model and without the video.
source "$(dirname "$0")/../support/shell.sh"
cd "$work" || exit 1
# Two animals that walk towards each other on two lines, one of them not found in frames 4 and 5, and a doubtful third.
{
    echo "source,frame,class,name,score,x1,y1,x2,y2"
    for f in $(seq 0 11); do
        echo "v.mp4,$f,0,mouse,0.9,$((10 + 6 * f)),20,$((40 + 6 * f)),35"
        [ "$f" -eq 4 ] || [ "$f" -eq 5 ] || echo "v.mp4,$f,0,mouse,0.8,$((110 - 6 * f)),60,$((140 - 6 * f)),75"
        [ "$f" -eq 7 ] && echo "v.mp4,$f,0,mouse,0.05,300,300,320,310"
    done
} >found.csv
track() { run track --detections "$@"; }
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }

test_a_table_of_anybody() {
    track found.csv -o plain --online --no-report && expect_code 0 && expect_in "2 tracks" "$out" && expect_in "12 frames" "$out" || return
    [ "$(column plain/results.csv track | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ')" = "10 12 " ] ||
        fail "$(column plain/results.csv track | sort | uniq -c)" || return
    # each keeps its own line, before and after it was not seen
    [ "$(awk -F, 'NR > 1 { print $5 ":" $11 }' plain/results.csv | sort -u | wc -l)" -gt 1 ] || return
    track plain/results.csv -o again --online --no-report -q && expect_code 0 || return # our own results, tracks and all
    [ "$(column again/results.csv track | sort | uniq -c)" = "$(column plain/results.csv track | sort | uniq -c)" ]
}

# A frame's number that is written wrong is not days of empty frames.
test_a_number_far_away() {
    { cat found.csv && echo "v.mp4,50000000,0,mouse,0.9,10,20,40,35"; } >lone.csv
    track lone.csv -o lone --no-report && expect_code 1 && expect_in "nothing between frames 11 and 50000000" "$err" && expect_in "--frames 0:12" "$err" || return
    track lone.csv -o lone --online --no-report --frames 0:12 && expect_code 0 && expect_in "2 tracks" "$out" && expect_in "12 frames" "$out"
}

test_every_format() {
    local f
    track found.csv -o all --online --no-report -f csv,jsonl,slp,coco,analysis && expect_code 0 || return
    for f in results.jsonl results.coco.json; do
        track all/$f -o "from_$f.d" --online --no-report && expect_code 0 && expect_in "2 tracks" "$out" || fail "$f" || return
    done
}

# Boxes that jitter are told steadily, or as they were found where that is asked for; a track has one class.
test_what_is_told_of_a_track() {
    local way
    {
        echo "source,frame,class,name,score,x1,y1,x2,y2"
        for f in $(seq 0 59); do
            echo "v.mp4,$f,$((f % 3 == 0)),$([ $((f % 3)) -eq 0 ] && echo rat || echo mouse),0.9,$((100 + 3 * f + 3 * (f % 2))),20,$((160 + 3 * f + 3 * (f % 2))),50"
        done
    } >jitter.csv
    for way in "" --online; do
        track jitter.csv -o steady$way $way --fps 30 --no-report -q && expect_code 0 || return
        track jitter.csv -o own$way $way --fps 30 --no-report -q --set steady=0 && expect_code 0 || return
        [ "$(column own$way/results.csv x1 | tr '\n' ' ')" = "$(column jitter.csv x1 | tr '\n' ' ')" ] || fail "own boxes $way" || return
        column steady$way/results.csv x1 | awk 'NR > 40 { d = $1 - 100 - 3 * (NR - 1) - 1.5; s += d < 0 ? -d : d } END { exit !(s / (NR - 40) < 1) }' ||
            fail "$(column steady$way/results.csv x1 | tr '\n' ' ')" || return
        [ "$(column steady$way/results.csv name | tail -n 50 | sort -u)" = mouse ] || fail "classes $way" || return
    done
    [ "$(column steady/results.csv name | sort -u)" = mouse ]
}

test_every_fifth_frame() {
    awk -F, 'BEGIN { OFS = "," } NR > 1 { $2 *= 5 } { print }' found.csv >fifth.csv
    track fifth.csv -o fifth --online --no-report && expect_code 0 && expect_in "12 frames" "$out" && expect_in "2 tracks" "$out"
}

test_what_is_wrong_is_named() {
    { head -n 5 found.csv; echo "v.mp4,x,0,mouse,0.9,1,2,3,4"; } >bad.csv
    track bad.csv -o bad && expect_code 1 && expect_in "line 6" "$err" && [ ! -e bad/results.csv ] || return
    sed '3s/v.mp4/w.mp4/' found.csv >two.csv
    track two.csv -o two && expect_code 1 && expect_in "2 videos" "$err" || return
    track found.csv -o x -m some.pt && expect_code 2 && expect_in "--model" "$err" || return
    track found.csv -o x --save-overlay && expect_code 2 && expect_in "needs the video" "$err" || return
    track gone.csv -o x && expect_code 1 && expect_in "gone.csv" "$err" || return
    run track -m some.pt && expect_code 2 && expect_in "needs a video" "$err" || return
    run track v.mp4 && expect_code 2 && expect_in "needs a model" "$err"
}

# A pose that is not found for two frames: its place is filled in, and SLEAP's file has no empty instance.
test_poses_alone() {
    {
        echo "source,frame,score,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score"
        for f in $(seq 0 11); do
            [ "$f" -eq 4 ] || [ "$f" -eq 5 ] || echo "v.mp4,$f,0.9,$((30 + 3 * f)),20,0.9,$((10 + 3 * f)),22,0.9"
        done
    } >poses.csv
    track poses.csv -o poses --no-report -f csv,slp,coco --set shortest=0 && expect_code 0 && expect_in "1 track," "$out" || return
    [ "$(grep -c ,covered, poses/results.csv)" -eq 2 ] || fail "$(cat poses/results.csv)" || return
    [ "$(grep -c '"num_keypoints"' poses/results.coco.json)" -eq 10 ] || fail "empty instances in COCO" || return
    # its head is on the right
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "heading") c = i } NR == 2 { exit !($c < 0.3 || $c > 6) }' poses/results.csv ||
        fail "the heading is not from tail to nose"
}

# Scores of poses are heights of peaks: a model whose peaks are low has animals, too.
test_poses_with_low_scores() {
    {
        echo "source,frame,score,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score"
        for f in $(seq 0 29); do echo "v.mp4,$f,0.3,$((30 + 3 * f)),20,0.3,$((10 + 3 * f)),22,0.3"; done
    } >low.csv
    track low.csv -o low --fps 25 --no-report && expect_code 0 && expect_in "1 track, 30 sightings" "$out" || return
    [ "$(column low/results.csv score | sort -u)" = 0.3 ] && [ "$(column low/tracks.csv detection_confidence | cut -c1-3 | sort -u)" = 0.3 ] || fail "$(head -n 3 low/tracks.csv)"
}

# Whatever the format: nothing found is a result.
test_a_file_without_detections() {
    local f
    echo "source,frame,score,x1,y1,x2,y2" >none.csv
    echo '{"images":[{"id":1,"file_name":"a.jpg","width":64,"height":48}],"annotations":[],"categories":[]}' >none.json
    echo '{"source":"v.mp4","frame":0,"instances":[]}' >none.jsonl
    : >none.txt
    for f in none.csv none.json none.jsonl none.txt; do
        track $f -o "of_$f.d" --fps 10 && expect_code 0 && expect_in "0 tracks" "$out" || fail "$f" || return
        [ "$(wc -l <"of_$f.d/tracks.csv")" -eq 1 ] && [ -s "of_$f.d/report.html" ] || fail "$f: $(cat "of_$f.d/tracks.csv")" || return
    done
    track none.csv -o of_none2 && expect_code 0 && expect_in "no detection in it" "$err"
}

test_classes_keep_their_numbers() {
    awk -F, 'BEGIN { OFS = "," } NR > 1 { $3 = $6 > 15 && $7 == 20 ? 7 : 3; $4 = $3 == 7 ? "rat" : "mouse" } { print }' found.csv >classes.csv
    track classes.csv -o classes --online --no-report -f csv,coco && expect_code 0 || return
    [ "$(awk -F, 'NR > 1 { print $1 == "" ? "" : $6 "," $7 }' classes/results.csv | sort -u | tr '\n' ' ')" = "3,mouse 7,rat " ] ||
        fail "$(head -n 3 classes/results.csv)" || return
    # COCO counts from 1: the same classes, and the same numbers when it is written again
    track classes/results.coco.json -o coco --online --no-report -f csv,coco && expect_code 0 || return
    [ "$(awk -F, 'NR > 1 { print $6 "," $7 }' coco/results.csv | sort -u | tr '\n' ' ')" = "3,mouse 7,rat " ] || fail "$(head -n 3 coco/results.csv)" || return
    [ "$(grep -o '"category_id":[0-9]*' coco/results.coco.json | sort -u | tr '\n' ' ')" = '"category_id":4 "category_id":8 ' ] || return
    # one number for two names: somebody has to move, and it is said
    sed 's/,7,rat/,3,rat/' classes.csv >twice.csv
    track twice.csv -o twice --online --no-report && expect_code 0 && expect_in "numbers that others have" "$err" || return
    [ "$(awk -F, 'NR > 1 { print $6 "," $7 }' twice/results.csv | sort -u | wc -l)" -eq 2 ]
}

# Twelve frames are 0.4 s at 30, and times are written by it.
test_the_rate_comes_from_the_file() {
    local rate
    track found.csv -o r25 --online --no-report && expect_code 0 && expect_in "25 are taken" "$err" || return
    track found.csv -o r10 --online --no-report --fps 10 && expect_code 0 && [[ $err != *"are taken"* ]] || return
    awk -F, 'BEGIN { OFS = "," } { $2 = $2 "," (NR == 1 ? "time" : sprintf("%.6f", $2 / 29.97)); print }' found.csv >times.csv
    track times.csv -o timed --online --no-report -f csv,jsonl && expect_code 0 && [[ $err != *"are taken"* ]] || return
    track timed/results.jsonl -o timed2 --online --no-report && expect_code 0 && [[ $err != *"are taken"* ]] || return
    mkdir -p seq/det && printf '%s\n' 1,-1,10,20,30,15,0.9 2,-1,16,20,30,15,0.9 3,-1,22,20,30,15,0.9 >seq/det/det.txt
    printf '[Sequence]\nframeRate=14\nseqLength=3\n' >seq/seqinfo.ini
    track seq/det/det.txt -o mot --online --no-report && expect_code 0 && [[ $err != *"are taken"* ]] || return
    for rate in r10:10 timed:29.97 timed2:29.97 mot:14; do
        grep -q "\"rate\": *${rate#*:}[,.]*0*,*$" "${rate%:*}/run.json" || fail "$rate: $(grep rate "${rate%:*}/run.json")" || return
    done
}

# hydra-suite's configuration speaks of the run, too; the command line counts more.
test_a_configuration_chooses_frames() {
    echo '{"start_frame":2,"end_frame":5,"fps":10,"max_targets":2,"compute_runtime":"mps","csv_path":"x.csv"}' >hydra.json
    track found.csv -o framed --online --no-report --config hydra.json && expect_code 0 && expect_in "4 frames" "$out" || return
    expect_in "csv_path" "$err" || return
    track found.csv -o framed2 --online --no-report --config hydra.json --frames 0:9 && expect_code 0 && expect_in "9 frames" "$out" || return
    echo '{"detection_method":"yolo_obb","yolo_model_path":"gone.pt","compute_runtime":"mps","file_path":"v.mp4"}' >models.json
    run track --config models.json -o x && expect_code 2 && expect_in "gone.pt is neither here" "$err" && expect_in "needs a model" "$err" || return
    echo '{"detection_method":"background_subtraction","max_targets":3,"fps":10,"file_path":"gone.mp4"}' >worm.json
    run track --config worm.json -o x # 3 where no video can be read
    { [ "$code" -eq 1 ] || [ "$code" -eq 3 ]; } && expect_in "gone.mp4" "$err"
}

# hydra-suite's way from two passes to tracks: where nothing is hard it is the same, and a gap longer than it stitches over stays one.
test_the_steps_of_upstream() {
    {
        echo "source,frame,score,cx,cy,w,h,angle"
        for f in $(seq 0 59); do
            echo "v.mp4,$f,0.9,$((20 + 4 * f)),30,24,10,0"
            { [ "$f" -ge 25 ] && [ "$f" -lt 40 ]; } || echo "v.mp4,$f,0.9,$((300 - 4 * f)),90,24,10,3.1"
        done
    } >gap.csv
    track gap.csv -o ours --fps 25 --no-report -f csv && expect_code 0 && expect_in "2 tracks" "$out" || return
    track gap.csv -o theirs --fps 25 --no-report -f csv --offline-steps upstream && expect_code 0 || return
    # the one that is always seen: the same sightings
    cmp <(awk -F, 'NR > 1 && $11 < 50 { print $2, $5, $10 }' ours/results.csv) <(awk -F, 'NR > 1 && $11 < 50 { print $2, $5, $10 }' theirs/results.csv) || return
    grep -q '"offline steps": "upstream"' theirs/run.json || fail "$(grep -i steps theirs/run.json)" || return
    expect_in "3 tracks" "$out" || return
    echo '{"offline_steps": "upstream"}' >steps.json
    track gap.csv -o theirs2 --fps 25 --no-report -f csv --config steps.json && expect_code 0 && cmp theirs/results.csv theirs2/results.csv || return
    track gap.csv -o x --offline-steps upstream --online && expect_code 2
}

# Rows that are no animal are not lost without a word, and numbers of any size come out as they are.
test_rows_that_are_no_animal() {
    {
        cat found.csv
        echo "v.mp4,9,0,mouse,0.9,50,70,30,90"     # inside out
        echo "v.mp4,10,0,mouse,0.9,50,70,1e300,90" # beyond all bounds
        echo "v.mp4,11,0,mouse,0.9,50,,70,90"      # without a number
    } >broken.csv
    track broken.csv -o broken --online --no-report && expect_code 0 && expect_in "2 tracks" "$out" || return
    expect_in "broken.csv: 3 of 26 detections, the first of them in frame 9, have no place or no size" "$err" || return
    track found.csv -o whole --online --no-report && expect_code 0 && ! grep -q "no place" <<<"$err" || fail "$err" || return
    {
        echo "frame,score,x1,y1,x2,y2"
        for f in $(seq 0 11); do echo "$f,0.9,2e20,2e20,4e20,4e20"; done
    } >far.csv
    track far.csv -o far --online --no-report && expect_code 0 && expect_in "1 track," "$out" || return
    [ "$(awk -F, 'NR > 1 && $4 > 2.9e20 && $4 < 3.1e20' far/tracks.csv | wc -l)" -ge 1 ] || fail "$(cat far/tracks.csv)" || return
    { echo "frame,x1,y1,x2,y2$(printf ',c%d' $(seq 1 9000))"; } >wide.csv
    track wide.csv -o wide && expect_code 1 && expect_in "wide.csv: line 1: has more than 8192 columns" "$err"
}

# Who listens to --events may go, or stop reading: the run goes on.
test_nobody_listens_to_events() {
    {
        sleep 0.2
        "$skitter" track --detections found.csv -o unheard --no-report -q --events 3 3>&1 >/dev/null 2>events.err
        echo $? >events.code
    } | true
    [ "$(cat events.code)" = 0 ] || fail "exit code $(cat events.code) $(cat events.err)" || return
    mkfifo full && exec 4<>full && head -c 65536 /dev/zero >&4
    timeout -k 2 20 "$skitter" track --detections found.csv -o stuck --no-report -q --events 4 2>events.err
    code=$?
    exec 4>&-
    err=$(cat events.err) && expect_code 0 && cmp unheard/results.csv stuck/results.csv
}

test_nobody_is_followed() {
    track found.csv -o nobody --online --no-report --set min_area=100000 && expect_code 0 && expect_in "none was followed" "$err"
}

test_a_folder_goes_on_and_is_not_mixed() {
    track found.csv -o once --online --no-report -q && expect_code 0 && cp once/results.csv before.csv || return
    track found.csv -o once --online --no-report && expect_code 0 && cmp once/results.csv before.csv || return
    track fifth.csv -o once --online --no-report 2>/dev/null
    track found.csv -o once --online --no-report --animals 2 && expect_code 1 && expect_in "track.animals" "$err" || return
    track found.csv -o once --online --no-report --animals 2 --restart && expect_code 0
}

# Two mice known by two keypoints each, whose points hop by many bodies: tracks of the model's own framework are the truth.
test_noisy_poses_of_a_known_number() {
    local slp=$SKITTER_TEST_DATA/slp/clip.predictions.slp way
    [ -f "$slp" ] || { echo "skipped: $slp is not here"; return 0; }
    for way in --online ""; do
        track "$slp" -o mice --animals 2 --format csv --no-report --restart $way && expect_code 0 && expect_in "2 tracks" "$out" || return
        [ "$(column mice/results.csv state | grep -c active)" -eq 2948 ] || # all detections there are
            fail "$way: $(wc -l <mice/results.csv) lines" || return
        run eval mice/results.csv "$slp" && expect_code 0 || return
        [ "$(awk '/switches/ { on = 1; next } on && $1 == "centres" { print $(NF - 3); exit }' <<<"$out")" = 0 ] || fail "$way: $out" || return
    done
    # the other methods keep a number as well
    for way in bytetrack ocsort; do
        track "$slp" -o "$way" --animals 2 --tracker $way --format csv --no-report --online && expect_code 0 && expect_in "2 tracks" "$out" || return
    done
    # not told how many: few are made of it
    track "$slp" -o free --format csv --no-report && expect_code 0 || return
    [ "$(column free/results.csv track | sort -u | grep -c .)" -le 6 ] || fail "$out"
}

run_tests
