#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many videos by one command: pieces by processes of their own, here; split, killed, failing, cancelled; the bytes of one run over
# all videos, nothing done twice. Plans, and what is wrong with them.
# shellcheck source=tests/support/shell.sh
source "$(dirname "$0")/../support/shell.sh"
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/unet_no_decoder
export SKITTER_CACHE_DIR=$work/cache
cd "$work" && mkdir v || exit 1
run scene -o v/a.mp4 --seconds 0.2 --size 96x64 -q
if [ "$code" -eq 3 ]; then
    echo "skipped: this build writes no video"
    exit 77
fi
"$skitter" scene -o v/b.mp4 --seconds 0.7 --size 96x64 --seed 2 -q
"$skitter" track v -m "$model" -o single --no-cache -q
batch() { run batch -m "$model" --no-cache "$@"; }
same() { diff -r -x run.json -x journal.skj -x report.html -x .skitter.lock -x .batch -x 'summary.*' "$1" "$2" || fail "$1 and $2 differ"; }
claims() { find "$1/.batch/pieces" -name '*.claim' | wc -l; }

test_whole_videos() {
    batch --videos v -o whole --workers 2
    expect_code 0 && same single whole && expect_in "2 of 2 videos done" "$out" && [ "$(claims whole)" -eq 2 ] || return
    [ "$(cut -d, -f1-6 whole/summary.csv | tr '\n' ' ')" = "video,source,state,frames,instances,animals a,v/a.mp4,finished,6,6,0 b,v/b.mp4,finished,21,21,1 " ] ||
        fail "$(cat whole/summary.csv)" || return
    grep -q '<b>2 of 2 videos done</b>: 27 frames' whole/summary.html || fail "summary.html" || return
    batch --videos v -o whole --workers 2 -q && expect_code 0 && [ "$(claims whole)" -eq 2 ] || fail "done twice" || return
    batch --videos v -o whole --set gate=3 # another batch
    expect_code 1 && expect_in "holds another batch" "$err" && expect_in "--restart" "$err" || return
    cp v/a.mp4 more.mp4 # and one video more
    batch --videos v more.mp4 -o whole -q
    expect_code 2 && batch --videos v --videos more.mp4 -o whole -q && expect_code 0 && [ "$(claims whole)" -eq 3 ] &&
        cmp whole/more/tracks.csv whole/a/tracks.csv && same single/b whole/b
}

test_killed_in_parts() {
    batch --videos v -o parts --split 5 --workers 2 --dry-run
    expect_code 0 && [ ! -e parts ] && expect_in "--frames=5:10 --find-only" "$out" && [ "$(wc -l <<<"$out")" -eq 9 ] || fail "$out" || return
    "$skitter" batch -m "$model" --no-cache --videos v -o parts --split 5 --workers 2 -q 2>/dev/null &
    local keeper=$! i done
    for i in $(seq 100); do [ -e parts/.batch/pieces/0000/0000001.done ] && break || sleep 0.05; done
    kill -9 $keeper && wait $keeper 2>/dev/null
    done=$(cd parts/.batch/pieces/0000 && stat -c '%n %y' ./*.done)
    batch --videos v -o parts --split 5 --workers 2 --json
    expect_code 0 && same single parts && expect_in '"videos_done": 2' "$out" && [ -z "$(ls parts/.batch/work)" ] || return
    (cd parts/.batch/pieces/0000 && diff <(stat -c '%n %y' ./*.done | grep -F "$done") <(echo "$done")) || fail "a piece was done twice"
}

test_failures() {
    mkdir bad && cp v/a.mp4 bad/ && echo "no video" >bad/x.mp4
    batch --videos bad -o failing --retries 1
    expect_code 1 && expect_in "1 of 2 videos are not done" "$err" && expect_in "x.mp4: cannot be opened" "$out" || return
    [ "$(ls failing/.batch/pieces/0000/0000001.*.end | wc -l)" -eq 2 ] && grep -q '^x,bad/x.mp4,failed,,,,,,1,2,2,,.*cannot be opened' failing/summary.csv ||
        fail "$(cat failing/summary.csv)" || return
    run batch status failing && expect_in "failed   attempt 2" "$out" || return
    cp v/b.mp4 bad/x.mp4
    batch --videos bad -o failing --retries 1 -q && expect_code 0 && cmp failing/x/tracks.csv single/b/tracks.csv || return
    run batch status failing && expect_in "done     attempt 3   before: " "$out" || return
    mkdir failing/.batch/work/0000001.2 # as a kill right behind the end of a piece leaves it
    batch --videos bad -o failing --retries 1 -q && expect_code 0 && [ -z "$(ls failing/.batch/work)" ]
}

# A copy that was broken off: what there is of it is told, in parts too, where some have nothing.
test_cut_off() {
    "$skitter" scene -o whole.mp4 --seconds 2 --size 96x64 -q && mkdir cut && head -c $(($(stat -c %s whole.mp4) * 7 / 10)) whole.mp4 >cut/x.mp4
    batch --videos cut -o cutoff --split 10 --retries 0 --workers 2
    expect_code 4 && expect_in "1 of 1 videos done" "$out" && expect_in "remove the video's folder" "$err" && [ -e cutoff/x/tracks.csv ]
}

test_cancel_and_pieces() {
    batch --videos v -o some --split 10 --prepare
    expect_code 0 && [ "$out" = 5 ] || fail "pieces: $out" || return
    run batch work some --pieces 4 -q && expect_code 0 && [ ! -e some/.batch/pieces/0000/0000004.1.claim ] || fail "a merge before its parts: $err" || return
    run batch work some --pieces 1-2 -q && expect_code 0 && [ -e some/.batch/pieces/0000/0000001.done ] || return
    run batch cancel some && expect_code 0 && run batch status some && expect_in "cancelled" "$out" || return
    run batch work some --pieces 3,0 -q
    expect_code 130 && expect_in "was cancelled" "$err" && batch --videos v -o some --split 10 --prepare && expect_code 0 || return
    run batch work some --pieces 3,0 -q && expect_code 0 || return # the last part of its video: that is told as one
    run batch merge some -q && expect_code 0 && same single some
}

# What a second start may find changed: the model, the folder that paths go from, the video, the results.
test_changed_between() {
    mkdir -p c/x/v c/y/v && cp v/a.mp4 c/x/v/ && cp v/b.mp4 c/y/v/a.mp4 && cp -r "$model" c/m || return
    (cd c/x && "$skitter" batch --videos v -m ../m --no-cache -o ../out -q) || fail "first start" || return
    (cd c/y && "$skitter" batch --videos v -m ../m --no-cache -o ../out) 2>err && fail "another folder's video counts as done" && return
    grep -q "begun in the folder .*c/x, from which 'v/a.mp4' is another file" err || fail "$(cat err)" || return
    cd c/x || return
    echo "# trained again" >>../m/training_config.yaml
    run batch --videos v -m ../m --no-cache -o ../out
    expect_code 1 && expect_in "../m: is not the file that this batch was begun with" "$err" || return
    run batch --videos v -m nothing.pt --no-cache -o ../out --restart # nothing is removed for a model that is not there
    expect_code 1 && expect_in "nothing.pt: no such file" "$err" && [ -e ../out/a/tracks.csv ] || return
    run batch --videos v -m ../m --no-cache -o ../out --restart -q && expect_code 0 || return
    run batch cancel ../out && expect_code 0 && expect_in "nothing to cancel" "$err$out" || return
    cp "$work/v/b.mp4" v/a.mp4 && touch -d '+1 minute' v/a.mp4
    run batch --videos v -m ../m --no-cache -o ../out
    expect_code 0 && expect_in "v/a.mp4: written to since its result was" "$err" && rm -r ../out/a || return
    run batch --videos v -m ../m --no-cache -o ../out
    expect_code 0 && expect_in "results that were removed; these videos are done anew" "$err" && cmp ../out/a/tracks.csv "$work/single/b/tracks.csv" || return
    echo '{' >../out/.batch/batch.json && rm -r ../out/a
    run batch --videos v -m ../m --no-cache -o ../out && expect_code 1 || return
    run batch --videos v -m ../m --no-cache -o ../out --restart --dry-run && expect_code 0 || return
    run batch --videos v -m ../m --no-cache -o ../out --restart -q && expect_code 0 && [ -e ../out/a/tracks.csv ]
}

# A merge from another folder; a video that was replaced when some of its parts were done.
test_merge_later() {
    mkdir later && cp v/b.mp4 later/x.mp4 && cp -r "$model" later/m && cd later || return
    run batch --videos x.mp4 -m m --no-cache -o out --split 10 --prepare && [ "$out" = 4 ] || fail "pieces: $out" || return
    run batch work out --pieces 0 -q && expect_code 0 && touch -d '+1 minute' x.mp4 || return
    run batch --videos x.mp4 -m m --no-cache -o out --split 10
    expect_code 0 && expect_in "x.mp4: has changed since parts of it were done" "$err" && cmp out/x/tracks.csv ../single/b/tracks.csv || return
    printf '#!/bin/sh\ncase "$*" in *--found*) kill -9 $PPID ;; *) exec %q "$@" ;; esac\n' "$skitter" >dies && chmod +x dies || return
    run batch --videos x.mp4 -m m --no-cache -o out2 --split 10 --prepare && sed -i "s|\"program\": .*|\"program\": \"$PWD/dies\",|" out2/.batch/batch.json
    "$skitter" batch work out2 --pieces 0-2 -q 2>/dev/null & # lost when only the merge is left
    wait $! 2>/dev/null
    [ -e out2/.batch/pieces/0000/0000002.done ] && [ ! -e out2/x ] && sed -i "s|\"program\": .*|\"program\": \"$skitter\",|" out2/.batch/batch.json || fail "parts" || return
    cd / && run batch merge "$work/later/out2" -q
    expect_code 0 && cmp "$work/later/out2/x/tracks.csv" "$work/single/b/tracks.csv"
}

# Starts at once: one of them makes the list, and the others change nothing.
test_two_at_once() {
    mkdir many && for i in $(seq 60); do ln v/a.mp4 many/$i.mp4; done
    local k i good lines
    for k in 1 2 3; do
        for i in 1 2 3; do "$skitter" batch --videos many -m "$model" -o twice$k --conf 0.$i --prepare >at.$i 2>at.$i.err & done
        wait
        good=$(cat at.? | wc -l) && lines=$(cat twice$k/.batch/pieces/*/list | wc -l)
        [ "$good" -eq 1 ] && [ "$lines" -eq 60 ] && [ "$(grep -lE 'looks after this batch|holds another batch' at.?.err | wc -l)" -eq 2 ] ||
            fail "$good of 3 began it, $lines pieces: $(cat at.?.err)" || return
    done
}

test_plans() {
    printf 'command: track\nvideos: [v/a.mp4, v/b.mp4]\nmodel: %s\nno-cache: yes\nout: planned\nsplit: 8\nlooks: off\n' "$model" >plan.yaml
    run batch plan.yaml -q && expect_code 0 && same single planned && run batch status plan.yaml && expect_in "2 of 2 videos" "$out" || return
    run batch v/a.mp4 -m "$model" # videos where the plan belongs: said, not read as YAML
    expect_code 2 && expect_in "v/a.mp4: not a plan" "$err" && expect_in "skitter batch --videos 'v/a.mp4'" "$err" || return
    run batch v -m "$model" && expect_code 2 && expect_in "skitter batch --videos 'v'" "$err" || return
    sed 's|v/a.mp4|gone.mp4|; s|^model: .*|model: gone.pt|' plan.yaml >gone.yaml # the data is in the archive by now
    run batch status gone.yaml && expect_code 0 && expect_in "2 of 2 videos" "$out" || return
    printf 'videos: [v/a.mp4, no*.mp4]\nmodl: x\nmodel: no.pt\nconf: 3\nout: y\nsave-crops: true\nout: z\nworkers: [1, [2]]\nloop:\n' >wrong.yaml
    run batch wrong.yaml
    expect_code 2 && [ ! -e y ] || return
    local line
    for line in "1:19: no*.mp4: no file matches" "2:1: no option is called 'modl' (did you mean 'model'?)" "3:8: no.pt: there is no such file" \
        "4:7: --conf: 3 is out of range" "6:13: 'save-crops' is no option of track" "7:1: 'out' is here a second time" "8:10: workers must be" \
        "9:6: loop must be a text" "8 problems; nothing was begun"; do
        expect_in "$line" "$err" || return
    done
    printf 'a: [1\nb' >broken.yaml && run batch broken.yaml && expect_code 2 && expect_in "broken.yaml" "$err" || return
    run batch --videos v -o q && expect_code 2 && expect_in "needs a model" "$err" || return
    run batch status nowhere && expect_code 1 && expect_in "no batch was begun here" "$err"
}
run_tests
