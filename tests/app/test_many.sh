#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several sources in one command: files, folders, patterns, text lists, pictures one by one; each with a folder of its own, one
# bad one among them, killed and continued. Results on standard output and nothing else there; standard input; a folder
# that counts up.
# shellcheck source=tests/support/shell.sh
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
mkdir "$work/v" "$work/other" && cd "$work" || exit 1
run scene -o v/a1.mp4 --seconds 0.2 --size 96x64 -q
if [ "$code" -eq 3 ]; then
    echo "skipped: this build writes no video"
    exit 77
fi
"$skitter" scene -o v/a10.mp4 --seconds 0.1 --size 96x64 -q
"$skitter" scene -o v/a2.mp4 --seconds 0.3 --size 96x64 -q
"$skitter" scene -o pictures --pictures 3 --size 96x64 -q
cp v/a1.mp4 other/
lines() { cat "$1" 2>/dev/null | wc -l; }
predict() { run predict -m "$model" --format jsonl "$@"; }

test_folder_of_videos() {
    predict v -o folder
    expect_code 0 && expect_in "3 of 3 sources finished: 18 frames" "$out" || return
    [ "$(lines folder/a1/results.jsonl) $(lines folder/a2/results.jsonl) $(lines folder/a10/results.jsonl)" = "6 9 3" ] ||
        fail "lines: $(wc -l folder/*/results.jsonl)" || return
    expect_in "[2/3] v/a2.mp4" "$err" || return # in a person's order
    predict 'v/a1*.mp4' -o pattern -q
    expect_code 0 && [ "$(ls pattern | tr '\n' ' ')" = "a1 a10 " ]
}

# ** is any folders below, also none; one * only would leave out what lies deeper, and what lies above, without a word.
test_patterns_of_any_depth() {
    mkdir -p 'deep/a[1]/b' deep/.hidden deep/other && cp v/a10.mp4 deep/top.mp4 && cp v/a10.mp4 'deep/a[1]/mid.mp4' &&
        cp v/a10.mp4 'deep/a[1]/b/low.mp4' && cp v/a10.mp4 deep/.hidden/not.mp4 && ln -s .. deep/other/round
    predict 'deep/**/*.mp4' -o depth -q
    expect_code 0 && [ "$(ls depth | tr '\n' ' ')" = "low mid top " ] || fail "$(ls depth)" || return
    cp pictures/images/*1.jpg deep/one.jpg && cp pictures/images/*1.jpg 'deep/a[1]/b/two.jpg'
    predict '*ee*/**/*.jpg' -o depth_pictures -q
    expect_code 0 && [ "$(lines depth_pictures/results.jsonl)" -eq 2 ] || fail "pictures" || return
    (cd deep && predict '**' -o ../depth_all -q && expect_code 0 && [ "$(ls ../depth_all | wc -l)" -eq 4 ]) ||
        fail "$(ls depth_all)" || return
    predict 'deep/**/x/**/*.mp4' -o never
    expect_code 2 && expect_in "one **" "$err" || return
    predict 'deep/**/*.avi' -o never
    expect_code 1 && expect_in "no file matches" "$err"
}

test_words_about_files() {
    : >empty.mp4
    predict empty.mp4 -o never
    expect_code 1 && expect_in "empty.mp4: the file is empty" "$err" || return
    { printf '\0\0\0\24ftypisom\0\0\2\0isom\0\1\0\0mdat'; head -c 5000 v/a1.mp4; } >cut.mp4
    predict cut.mp4 -o never
    expect_code 1 && expect_in "cut.mp4: cannot be opened as video: its end is missing" "$err" || return
    predict nowhere/ -o never
    expect_code 1 && expect_in "nowhere/: there is no such file or folder" "$err" || return
    run predict v/a1.mp4 -m "$model" -o labels.slp # as sleap-nn writes it
    expect_code 2 && [ ! -e labels.slp ] && expect_in "write '--out labels --format slp'" "$err"
}

test_one_bad_video() {
    cp -r v some && echo "no video" >some/a3.mp4
    predict some nowhere.mp4 -o bad
    expect_code 1 && expect_in "some/a3.mp4: cannot be opened" "$err" && expect_in "nowhere.mp4: there is no such video" "$err" &&
        expect_in "2 of 5 sources failed" "$err" && [ -s bad/a10/results.jsonl ] || return
    cp v/a1.mp4 some/a3.mp4 # mended: the same command does what is left
    predict some -o bad --json -q
    expect_code 0 && [ "$(grep -c '"state": "finished already"' <<<"$out")" -eq 3 ] &&
        [ "$(grep -c '"state": "finished"' <<<"$out")" -eq 1 ] && [ "$(lines bad/a3/results.jsonl)" -eq 6 ]
}

test_names_stay_apart() {
    predict v/a1.mp4 other/a1.mp4 v/a2.mp4 -o apart -q
    expect_code 0 && [ "$(ls apart | tr '\n' ' ')" = "a2 other_a1.mp4 v_a1.mp4 " ] || fail "$(ls apart)"
}

test_killed_and_continued() {
    predict v -o whole -q && expect_code 0 || return
    for i in 1 2 3 4; do
        (timeout -s KILL 0.0$((4 * i)) "$skitter" predict v -m "$model" --format jsonl -o killed -q) 2>/dev/null
    done
    predict v -o killed -q && expect_code 0 || return
    for name in a1 a2 a10; do
        cmp "whole/$name/results.jsonl" "killed/$name/results.jsonl" || return
    done
}

test_text_lists_and_pictures() {
    printf '# two videos\n\n  a1.mp4\nv/a2.mp4 \n' >v/list.txt # beside the list, and from here
    predict v/list.txt -o listed -q
    expect_code 0 && [ "$(ls listed | tr '\n' ' ')" = "a1 a2 " ] || fail "$(ls listed)" || return
    printf '%s\n' pictures/images/000002.jpg pictures/images/000000.jpg >order.txt
    predict order.txt -o order -q
    expect_code 0 && [ "$(grep -o 'images/[0-9]*' order/results.jsonl | tr '\n' ' ')" = "images/000002 images/000000 " ] || return
    predict pictures/images/*.jpg -o three -q # as a shell gives them: one run
    expect_code 0 && [ "$(lines three/results.jsonl)" -eq 3 ] || return
    predict pictures/images/*.jpg -o three
    expect_code 0 && expect_in "finished already" "$out" || return
    : >empty.txt
    predict empty.txt -o never
    expect_code 1 && expect_in "names no source" "$err"
}

test_the_list_of_another_run_stays() {
    predict pictures/images/*.jpg -o list_of -q && expect_code 0 || return
    predict pictures/images/00000[01].jpg -o list_of -q
    expect_code 1 && expect_in "other pictures" "$err" && expect_in "--restart" "$err" || return
    predict pictures/images/*.jpg -o list_of # as ever
    expect_code 0 && expect_in "finished already" "$out" || return
    predict pictures/images/00000[01].jpg -o list_of -q --restart
    expect_code 0 && [ "$(lines list_of/results.jsonl)" -eq 2 ] || return
    mkdir list_mine && echo precious >list_mine/pictures.txt
    predict pictures/images/*.jpg -o list_mine -q
    expect_code 1 && expect_in "--overwrite" "$err" && [ "$(cat list_mine/pictures.txt)" = precious ]
}

test_long_names() {
    local mice= cut= deep=deep
    for i in {1..39}; do cut+=鼠; done
    for i in {1..60}; do mice+=鼠; done
    for i in {1..30}; do deep+=/0123456789; done
    cp v/a1.mp4 "v/x$mice.mp4" || return
    predict "v/x$mice.mp4" v/a2.mp4 -o long -q && expect_code 0 || return
    [ -d "long/x$cut" ] || fail "cut inside a character: $(ls long)" || return
    rm "v/x$mice.mp4"
    predict v/a1.mp4 -o "$deep" && expect_code 0 && expect_in "$deep/run.json" "$out"
}

test_a_link_in_place_of_a_folder() {
    mkdir linked elsewhere && ln -s "$PWD/elsewhere" linked/a1
    predict v/a1.mp4 v/a2.mp4 -o linked -q
    expect_code 1 && [ -z "$(ls elsewhere)" ] && [ -s linked/a2/results.jsonl ] || fail "followed: $(ls elsewhere)"
}

test_standard_output() {
    predict v/a1.mp4 -o one -q && expect_code 0 || return
    run predict v/a1.mp4 -m "$model" -o -
    expect_code 0 && [ "$out" = "$(cat one/results.jsonl)" ] || fail "other lines: $out" || return
    expect_in "6 frames" "$err" || return
    run predict v/a1.mp4 v/a2.mp4 -m "$model" -o - --format csv -q
    expect_code 0 && [ "$(grep -c ^source,frame <<<"$out")" -eq 1 ] && expect_in "v/a2.mp4," "$out" || return
    run predict v/a1.mp4 -m "$model" -o - --format slp
    expect_code 2 && expect_in "jsonl or csv" "$err" || return
    run predict v/a1.mp4 -m "$model" -o - --json
    expect_code 2 && [ ! -e - ] || return
    err=$("$skitter" predict v/a1.mp4 -m "$model" -o - -q 2>&1 >/dev/full) && fail "written into a full disk" && return 1
    expect_in "standard output: writing failed" "$err" || return
    [[ $err != *"same command"* ]] || fail "such a run cannot be continued: $err"
}

# A folder that somebody took away meanwhile: that nothing is written counts more than that it was stopped.
test_folder_gone_when_interrupted() {
    mkdir gone && cd gone || return
    "$skitter" predict ../v/a2.mp4 -m "$model" --loop 100000 -o taken -q >lines 2>said &
    local pid=$!
    for _ in $(seq 600); do [ -s taken/results.jsonl ] && break; sleep 0.05; done
    mv taken elsewhere && kill -INT $pid && wait $pid
    code=$? err=$(cat said)
    cd .. || return
    expect_code 1 && expect_in "error: taken/" "$err" || return
    [[ $err != *"everything up to there is written"* ]] || fail "nothing is: $err"
}

# What goes on after Ctrl-C, and where: nothing of what went to standard output, and a folder that counts up has to be named.
test_words_when_interrupted() {
    interrupt() {
        local pid=
        rm -f lines
        "$skitter" predict ../v/a2.mp4 -m "$model" --loop 100000 "$@" >lines 2>said &
        pid=$!
        for _ in $(seq 100); do [ -s lines ] || [ -s runs/predict1/journal.skj ] && break; sleep 0.05; done
        kill -INT $pid && wait $pid
        code=$?
        out=$(cat lines) err=$(cat said)
    }
    mkdir stop && cd stop || return
    interrupt -o -
    expect_code 130 && expect_in "interrupted after" "$err" || return
    [[ $err != *"same command"* ]] || fail "nothing of it goes on: $err" || return
    interrupt
    expect_code 130 && expect_in "the same command with --out runs/predict1 goes on" "$err" || return
    [[ $out != *"same command"* ]] || fail "the same command begins another run: $out"
}

test_standard_input() {
    predict v/a2.mp4 -o file -q && expect_code 0 || return
    predict - -o piped -q <v/a2.mp4 && expect_code 0 || return
    cat v/a2.mp4 | "$skitter" predict - -m "$model" -o - -q >pipe.jsonl || fail "from a pipe: $?" || return
    for result in piped/results.jsonl pipe.jsonl; do
        cmp <(cut -d, -f2- file/results.jsonl) <(cut -d, -f2- $result) || return
    done
    cat pictures/images/*.jpg | "$skitter" predict - -m "$model" -o - -q >pipe.jsonl || fail "pictures" || return
    [ "$(lines pipe.jsonl)" -eq 3 ] || fail "$(lines pipe.jsonl) pictures of 3" || return
    mkfifo fifo && (cat v/a1.mp4 >fifo &)
    predict fifo -o fifo_run -q
    expect_code 0 && [ "$(lines fifo_run/results.jsonl)" -eq 6 ] || return
    run predict - -m "$model" -o text -q <<<"this is no video"
    expect_code 1 && expect_in "through this pipe" "$err" || return
    ffmpeg -v error -f lavfi -i testsrc2=size=320x240:duration=2 -c:v mpeg4 -q:v 1 late.mp4 </dev/null 2>/dev/null ||
        { echo "skipped: no ffmpeg to make a video whose index comes last"; return 0; }
    err=$(cat late.mp4 | "$skitter" predict - -m "$model" -o - -q 2>&1) && fail "read without its index" && return 1
    expect_in "index at the end has to be a file" "$err"
}

test_folder_that_counts_up() {
    mkdir up && cd up || return
    predict ../v/a1.mp4 && expect_code 0 && expect_in runs/predict1/results.jsonl "$out" || return
    predict ../v/a1.mp4 && expect_code 0 && expect_in runs/predict2/results.jsonl "$out" || return
    predict nothing.mp4
    expect_code 1 && [ ! -e runs/predict3 ] && [ -s runs/predict2/results.jsonl ]
}

test_live_sources_come_alone() {
    predict rtsp://127.0.0.1:1/a v/a1.mp4 -o never
    expect_code 2 && expect_in "one at a time" "$err" || return
    predict v/a1.mp4 v/a2.mp4 -o never --frames 0 2 # a list as Python's parsers take it
    expect_code 2 && expect_in "written with commas" "$err"
}
run_tests
