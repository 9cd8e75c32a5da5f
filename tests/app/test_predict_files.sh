#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What predict writes beside its tables, by choice: crops, overlays that show less, files without empty frames. All of it
# also where a run is continued, or had finished before it was asked for.
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
[ -f "$model" ] || { echo "skipped: the demo's models are not here"; exit 77; }
run scene -o "$work/scene.mp4" --seconds 0.3 --size 320x240 --animals 4 -q
[ "$code" -eq 3 ] && { echo "skipped: this build writes no video"; exit 77; }
cd "$work" || exit 1
predict() { run predict scene.mp4 -m "$model" "$@"; }
crops_of() { (cd "$1/crops" && find . -name '*.jpg' | sort | xargs sha256sum); }

test_a_crop_an_instance() {
    predict -o crops --save-crops -f csv && expect_code 0 && expect_in "crops/crops/" "$out" || return
    local rows=$(($(wc -l <crops/results.csv) - 1)) name
    [ "$rows" -gt 10 ] && [ "$(crops_of crops | wc -l)" -eq $rows ] || fail "$rows rows, $(crops_of crops | wc -l) crops" || return
    # the row's class, frame (from 1) and instance are the crop's name
    name=$(awk -F, 'NR == 2 { print $7 "/scene_" $2 + 1 "_" $4 ".jpg" }' crops/results.csv)
    [ -s "crops/crops/$name" ] || fail "no $name"
}

test_crops_of_a_finished_run() {
    predict -o late -f csv && expect_code 0 && [ ! -e late/crops ] || return
    predict -o late -f csv --save-crops && expect_code 0 && expect_in "finished already" "$out" || return
    predict -o early -f csv --save-crops && expect_code 0 || return
    [ "$(crops_of late)" = "$(crops_of early)" ] || fail "crops cut later differ" || return
    rm late/crops/*/*_1_*.jpg && predict -o late -f csv --save-crops && [ "$(crops_of late)" = "$(crops_of early)" ] ||
        fail "what was removed is not cut again" || return
    predict -o late -f csv --restart && expect_code 0 && [ ! -e late/crops ] || fail "--restart left old crops"
}

test_crops_of_a_continued_run() {
    predict -o whole -f csv --save-crops && expect_code 0 || return
    "$skitter" predict scene.mp4 -m "$model" -o part -f csv --save-crops -q 2>/dev/null &
    local pid=$! i
    for i in $(seq 200); do [ -e part/crops ] && [ -n "$(ls part/crops)" ] && break; sleep 0.02; done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    predict -o part -f csv --save-crops && expect_code 0 || return
    [ "$(crops_of part)" = "$(crops_of whole)" ] || fail "a continued run's crops differ" || return
    cmp part/results.csv whole/results.csv
}

test_what_is_drawn() {
    predict -o drawn -f csv --save-overlay && expect_code 0 || return
    local all less
    all=$(sha256sum <drawn/overlay.mp4)
    predict -o drawn -f csv --save-overlay --draw no-labels,no-scores && expect_code 0 || return # drawn anew, not looked at anew
    expect_in "finished already" "$out" && less=$(sha256sum <drawn/overlay.mp4) && [ "$all" != "$less" ] ||
        fail "the overlay is the old one" || return
    predict -o boxes -f csv --save-overlay --draw boxes && expect_code 0 || return
    [ "$less" = "$(sha256sum <boxes/overlay.mp4)" ] || fail "no-labels,no-scores is not what boxes is" || return
    predict -o drawn -f csv --save-overlay && [ "$all" = "$(sha256sum <drawn/overlay.mp4)" ] || fail "not drawn as before" || return
    predict -o wide -f csv --save-overlay --draw boxes --line-width 9 && expect_code 0 || return
    [ "$less" != "$(sha256sum <wide/overlay.mp4)" ] || fail "--line-width changes nothing" || return
    predict -o x --save-overlay --draw boxs && expect_code 2 && expect_in "'boxs'" "$err" && expect_in "skeleton" "$err" || return
    predict -o x --save-overlay --draw boxes,no-labels && expect_code 2 || return
    predict -o x --draw boxes && expect_code 2 && expect_in "--save-overlay" "$err" || return
    predict -o x --line-width 2 && expect_code 2 && expect_in "--save-overlay" "$err" && [ ! -e x ]
}

test_no_empty_frames() {
    local frames best
    predict -o dense -f csv && expect_code 0 || return
    best=$(tail -n +2 dense/results.csv | cut -d, -f8 | sort -g | tail -n 1)
    best=$(awk -v best="$best" 'BEGIN { print best - 0.0005 }') # few instances are as good: most frames are empty
    predict -o sparse --conf "$best" -f jsonl,coco,csv && expect_code 0 || return
    frames=$(wc -l <sparse/results.jsonl)
    [ "$frames" -eq 9 ] || fail "$frames lines for 9 frames" || return
    predict -o sparse --conf "$best" -f jsonl,coco,csv --no-empty && expect_code 0 && expect_in "finished already" "$out" || return
    [ -s sparse/results.jsonl ] && [ "$(wc -l <sparse/results.jsonl)" -lt 9 ] || fail "none or all are left" || return
    [ "$(grep -c '"instances":\[\]' sparse/results.jsonl)" -eq 0 ] || fail "an empty frame is listed" || return
    [ "$(wc -l <sparse/results.jsonl)" -eq "$(tail -n +2 sparse/results.csv | cut -d, -f2 | sort -u | wc -l)" ] ||
        fail "frames with instances are missing" || return
    [ "$(grep -c '"file_name"' sparse/results.coco.json)" -eq "$(wc -l <sparse/results.jsonl)" ]
}

test_pictures_of_one_stem() {
    "$skitter" scene --pictures 2 --size 320x240 -o two -q >/dev/null && mkdir -p stems || return
    local files=(two/images/*)
    cp "${files[0]}" "stems/a.${files[0]##*.}"
    cp "${files[1]}" "stems/a.JPEG"
    run predict stems -m "$model" -o twins --save-overlay --save-crops -f labels --conf 0.1
    expect_code 0 && [ "$(find twins/overlay -name '*.jpg' | wc -l)" -eq 2 ] && [ "$(find twins/labels -name '*.txt' | wc -l)" -eq 2 ] ||
        fail "two pictures share a file: $(find twins -name 'a*')" || return
    local lines
    lines=$(cat twins/labels/*.txt | wc -l)
    [ "$(crops_of twins | wc -l)" -eq "$lines" ] || fail "crops share a file"
}

le() { # bytes number...: little-endian
    local bytes=$1 number i
    shift
    for number; do for ((i = 0; i < bytes; i++)); do printf "\\x$(printf %02x $((number >> 8 * i & 255)))"; done; done
}
entry() { le 2 "$1" 4 && le 4 1 "$2"; }                      # tag value
page() { # offset of the page, of the next one, all its pixels: 64x64, grey
    le 2 8 && entry 256 64 && entry 257 64 && entry 258 8 && entry 259 1 && entry 262 1 && entry 273 $(($1 + 102)) &&
        entry 278 64 && entry 279 4096 && le 4 "$2" && head -c 4096 /dev/zero | tr '\0' "$3"
}

# A stack is a video: of frames of one file, and so is its overlay.
test_stack_is_a_video() {
    { printf II && le 2 42 && le 4 8 && page 8 4206 a && page 4206 0 z; } >stack.tif
    run predict stack.tif -m "$model" -o stack --save-overlay
    expect_code 0 && expect_in "2 frames" "$out$err" || return
    [ -s stack/overlay.mp4 ] && [ ! -e stack/overlay ] || fail "no overlay.mp4: $(find stack)" || return
    run predict stack.tif -m "$model" -o stack --save-overlay
    expect_code 0 && expect_in "finished already" "$out$err"
}
run_tests
