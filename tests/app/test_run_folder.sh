#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run's folder: another run is refused with what differs, sources belong to a run, bad pictures and cut videos are told,
# files of others and links are left alone, an overlay can be had later.
. "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/convnext_transposed
yolo=$SKITTER_TEST_SOURCE/share/models/demo-obb.pt
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 77; }
command -v ffmpeg >/dev/null || { echo "skipped: no ffmpeg to make videos with"; exit 77; }
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
cd "$work" || exit 1
make_video() { ffmpeg -v error -y -f lavfi -i "$1=size=64x48:rate=25:duration=$2" -pix_fmt yuv420p -g 10 -movflags +faststart "$3"; }
make_video testsrc 1 v.mp4 || exit 1

predict() { run predict "$1" -m "$model" -o "$2" "${@:3}"; }
refused() { # what, old, new: the last run was refused, says what differs and what helps
    expect_code 1 && expect_in "$1" "$err" && expect_in "$2 -> $3" "$err" && expect_in "--restart" "$err"
}

test_every_setting_belongs_to_the_run() {
    predict v.mp4 set --frames 0:3 && expect_code 0 || return
    cp -r set kept
    while read -r name before now options; do
        predict v.mp4 set $options
        refused "$name" "$before" "$now" || { fail "$options"; return; }
    done <<'END'
peak_threshold 0.2 0.3 --frames 0:3 --peak-threshold 0.3
max_instances 0 1 --frames 0:3 --max-instances 1
engine_options (none) winograd=off --frames 0:3 --engine-option tune=off,winograd=no
frames 0:3 0:4 --frames 0:4
frames 0:3 0:3:2 --frames 0:3:2
loop 1 2 --frames 0:3 --loop 2
winograd 1 0 --frames 0:3 --no-winograd
END
    diff -r set kept || { fail "a refused run changed the folder"; return; }
    run predict v.mp4 -m "$yolo" -o boxes -q --frames 0:1 && expect_code 0 || return
    while read -r name before now options; do
        run predict v.mp4 -m "$yolo" -o boxes -q --frames 0:1 $options
        refused "$name" "$before" "$now" || { fail "$options"; return; }
    done <<'END'
conf 0.25 0.3 --conf 0.3
iou 0.7 0.6 --iou 0.6
max_det 300 10 --max-det 10
classes all 0 --classes 0
agnostic 0 1 --agnostic
imgsz 0x0 96x96 --imgsz 96
obb_quarter 0 1 --obb-form quarter
END
    # a finder's settings beside a SLEAP looker count, too
    run predict v.mp4 -m "$model" -o set -q --frames 0:3 && expect_code 0
}

test_another_video_is_another_run() {
    cp v.mp4 moving.mp4
    predict moving.mp4 video && expect_code 0 || return
    make_video testsrc2 1 moving.mp4
    predict moving.mp4 video
    refused source_size "$(stat -c %s v.mp4)" "$(stat -c %s moving.mp4)" || return
    cp -p v.mp4 same_size.mp4 # the same size and time: its contents tell
    predict same_size.mp4 sample && expect_code 0 || return
    printf 'x' | dd of=same_size.mp4 bs=1 seek=$(($(stat -c %s v.mp4) / 2)) conv=notrunc status=none
    touch -r v.mp4 same_size.mp4
    predict same_size.mp4 sample
    expect_code 1 && expect_in source_sample "$err" || return
    mkdir -p a b && cp v.mp4 a/x.mp4 && make_video testsrc2 1 b/x.mp4
    (cd a && "$skitter" predict x.mp4 -m "$model" -o "$work/relative" -q) || return
    (cd b && "$skitter" predict x.mp4 -m "$model" -o "$work/relative" -q) 2>"$work/told" && { fail "the same name from another folder"; return; }
    expect_in "source_path $work/a/x.mp4 -> $work/b/x.mp4" "$(cat "$work/told")"
}

test_long_paths_are_told_apart() {
    local deep=$work part
    part=$(printf 'd%.0s' $(seq 200))
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do deep=$deep/$part; done
    mkdir -p "$deep" && cp v.mp4 "$deep/v.mp4" || { echo "no such long paths here"; return 0; }
    predict "$deep/v.mp4" long --frames 0:2 && expect_code 0 || return
    predict "$deep/v.mp4" long --frames 0:2 --peak-threshold 0.4
    refused peak_threshold 0.2 0.4
}

pictures() { rm -rf "$1" && mkdir "$1" && ffmpeg -v error -y -i v.mp4 -frames:v 5 "$1/p%d.png"; }
names() { sed 's/.*"source":"[^"]*\(p[0-9]\).*/\1/' "$1/results.jsonl" | tr '\n' ' '; }

test_a_bad_picture_is_noted_and_left_out() {
    pictures good && predict good whole && expect_code 0 || return
    pictures some && head -c 60 some/p3.png >half && cp half some/p3.png
    predict some out
    expect_code 0 && expect_in "p3.png" "$err" && [ "$(names out)" = "p1 p2 p4 p5 " ] || { fail "names: $(names out)"; return; }
    expect_in "predict: 4 frames" "$err" && expect_in "4 frames, " "$out" || return # one count, of those that were looked at
    expect_in '"unreadable"' "$(cat out/run.json)" && grep -A3 '"unreadable": \[' out/run.json | grep -q '"frame": 2' || { fail "run.json"; return; }
    predict some out # nothing changed: nothing to do
    expect_code 0 && [ "$(names out)" = "p1 p2 p4 p5 " ] || return
    predict some out --strict
    expect_code 1 && expect_in "p3.png" "$err" || return
    cp good/p3.png some/p3.png # mended: every picture once
    predict some out
    expect_code 0 && [ "$(names out)" = "p1 p2 p3 p4 p5 " ] || { fail "mended: $(names out)"; return; }
    expect_in "5 frames, $(grep -o '"score"' out/results.jsonl | wc -l) instances; continued: 3 frames now" "$out" || return
    diff <(sed 's/good/some/' whole/results.jsonl) out/results.jsonl || { fail "mended, but other results"; return; }
    grep -q '"unreadable": \[\]' out/run.json || { fail "run.json still lists it"; return; }
    # --strict stops there; the mended run goes on
    cp half some/p3.png
    predict some strict --strict
    expect_code 1 && expect_in "p3.png" "$err" || return
    cp good/p3.png some/p3.png
    predict some strict --strict
    expect_code 0 && [ "$(names strict)" = "p1 p2 p3 p4 p5 " ] || { fail "strict: $(names strict)"; return; }
}

test_nothing_but_bad_pictures_is_a_failure() {
    pictures few && head -c 60 few/p1.png >lone.png
    predict lone.png lone
    expect_code 1 && expect_in "lone.png" "$err" && expect_in '"state": "failed"' "$(cat lone/run.json)" || return
    cp few/p1.png lone.png
    predict lone.png lone --restart && expect_code 0 && [ "$(wc -l <lone/results.jsonl)" -eq 1 ]
}

test_a_changed_folder_is_another_run() {
    pictures set && predict set list && expect_code 0 || return
    cp set/p1.png set/p9.png
    predict set list
    expect_code 1 && expect_in "pictures 5, " "$err" && expect_in "-> 6, " "$err" || return
    rm set/p9.png
    predict set list && expect_code 0 || return
    cp set/p1.png set/p2.png # looked at before
    predict set list
    expect_code 1 && expect_in "set/p2.png: was changed" "$err"
}

test_half_a_video_is_not_finished() {
    ffmpeg -v error -y -i v.mp4 -c copy v.mkv && ffmpeg -v error -y -i v.mp4 -c:v mpeg4 v.avi || return
    for kind in mp4 mkv avi; do
        local size
        size=$(stat -c %s v.$kind)
        head -c $((size * 2 / 3)) v.$kind >cut.$kind
        predict cut.$kind cut_$kind
        expect_code 4 && expect_in "header promises" "$err" && expect_in '"state": "incomplete"' "$(cat cut_$kind/run.json)" || return
        predict cut.$kind cut_$kind # again: still not
        expect_code 4 || return
        sleep 0.01
        cp v.$kind cut.$kind
        predict cut.$kind cut_$kind
        refused source_size $((size * 2 / 3)) "$size" || return
        predict cut.$kind cut_$kind --restart
        expect_code 0 && [ "$(wc -l <cut_$kind/results.jsonl)" -eq 25 ] || { fail "$kind: the whole file"; return; }
    done
    predict v.mp4 part --frames 0:5 && expect_code 0 || return # what was asked for is there
    local head
    head=$(LC_ALL=C grep -abo mdat v.mp4 | head -n 1 | cut -d : -f 1)
    head -c $((head + 4)) v.mp4 >moov.mp4 # nothing but the header
    predict moov.mp4 moov
    expect_code 4 && expect_in "25 of the frames" "$err"
}

test_files_of_others_are_left_alone() {
    mkdir -p mine && echo precious >mine/results.csv
    predict v.mp4 mine
    expect_code 1 && expect_in "--overwrite" "$err" && [ "$(cat mine/results.csv)" = precious ] || return
    predict v.mp4 mine --restart
    expect_code 1 && [ "$(cat mine/results.csv)" = precious ] || return
    predict v.mp4 mine --overwrite
    expect_code 0 && [ "$(cat mine/results.csv)" != precious ] || return
    # a new run leaves nothing of the one before
    predict v.mp4 anew --format labels,slp --save-overlay && expect_code 0 || return
    predict v.mp4 anew --restart --frames 0:2 --format labels
    expect_code 0 && [ "$(ls anew/labels | wc -l)" -eq 2 ] && [ ! -e anew/overlay.mp4 ] && [ ! -e anew/results.slp ] ||
        fail "left over: $(ls -R anew)"
}

test_links_and_pipes_are_not_followed() {
    echo victim >victim
    for name in results.csv results.slp results.analysis.h5 results.coco.json journal.skj run.json .skitter.lock overlay.mp4; do
        rm -rf planted && mkdir planted && ln -s "$work/victim" "planted/$name"
        run predict v.mp4 -m "$model" -o planted -q --overwrite --save-overlay --format csv,slp,analysis,coco --frames 0:2
        [ "$(cat victim)" = victim ] || { fail "$name: the link was followed"; return; }
        rm -rf planted && mkdir planted && mkfifo "planted/$name"
        timeout 100 "$skitter" predict v.mp4 -m "$model" -o planted -q --overwrite --save-overlay --format csv,slp,analysis,coco --frames 0:2 >/dev/null 2>&1
        [ $? -ne 124 ] || { fail "$name: waits for a pipe"; return; }
    done
    for name in labels overlay.parts; do
        rm -rf planted away && mkdir planted away && ln -s "$work/away" "planted/$name"
        run predict v.mp4 -m "$model" -o planted -q --overwrite --save-overlay --format labels --frames 0:2
        [ -z "$(ls away)" ] || { fail "$name: the link to a folder was followed"; return; }
    done
    predict v.mp4 done -q && expect_code 0 || return
    for name in labels overlay.parts overlay.done crops; do # also where a run had finished, and files are to be added
        rm -rf planted away && cp -rp done planted && mkdir away && touch away/{a.mp4,a.txt,a.jpg} && ln -s "$work/away" "planted/$name"
        predict v.mp4 planted -q --save-overlay --save-crops --format labels
        [ "$(ls away | tr '\n' ' ')" = "a.jpg a.mp4 a.txt " ] || { fail "$name: the link was followed: $(ls away)"; return; }
    done
    rm -rf planted && mkdir -p planted/overlay.parts && ln -s "$work/victim" planted/overlay.parts/unfinished.mp4 &&
        ln -s "$work/victim" planted/overlay.parts/joined.mp4
    run predict v.mp4 -m "$model" -o planted -q --overwrite --save-overlay --frames 0:2
    [ "$(cat victim)" = victim ] || fail "an overlay part: the link was followed"
}

test_labels_that_name_a_pipe() {
    cp v.mp4 labelled.mp4 && predict labelled.mp4 labels_of --format slp && expect_code 0 || return
    run predict labels_of/results.slp -m "$model" -o from_labels && expect_code 0 || return
    rm labelled.mp4 && mkfifo labelled.mp4
    timeout 100 "$skitter" predict labels_of/results.slp -m "$model" -o from_pipe >said 2>&1
    [ $? -eq 1 ] && grep -q "neither there nor beside" said || fail "a .slp of a stranger opened a pipe: $(cat said)"
}

test_an_overlay_can_be_had_later() {
    predict v.mp4 with --save-overlay && expect_code 0 || return
    predict v.mp4 later && expect_code 0 && [ ! -e later/overlay.mp4 ] || return
    predict v.mp4 later --save-overlay
    expect_code 0 && cmp with/overlay.mp4 later/overlay.mp4 || { fail "the overlay of a finished run"; return; }
    pictures drawn && predict drawn shown && predict drawn shown --save-overlay
    expect_code 0 && [ "$(ls shown/overlay | wc -l)" -eq 5 ] || fail "overlays of a finished run's pictures: $(ls shown)"
}

test_a_video_that_changes_its_size_has_an_overlay() {
    ffmpeg -v error -y -f lavfi -i testsrc=size=64x48:rate=25:duration=0.4 -c:v mpeg2video a.ts &&
        ffmpeg -v error -y -f lavfi -i testsrc=size=96x64:rate=25:duration=0.4 -c:v mpeg2video b.ts && cat a.ts b.ts >both.ts || return
    predict both.ts sizes --save-overlay
    expect_code 0 && [ -s sizes/overlay.mp4 ] && expect_in scaled "$err"
}

run_tests
