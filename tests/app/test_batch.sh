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
    run batch status failing && expect_in "done     attempt 3   before: " "$out"
}

test_cancel_and_pieces() {
    batch --videos v -o some --split 10 --prepare
    expect_code 0 && [ "$out" = 5 ] || fail "pieces: $out" || return
    run batch work some --pieces 1-2 -q && expect_code 0 && [ -e some/.batch/pieces/0000/0000001.done ] || return
    run batch cancel some && expect_code 0 && run batch status some && expect_in "cancelled" "$out" || return
    run batch work some --pieces 3,0 -q
    expect_code 130 && expect_in "was cancelled" "$err" && batch --videos v -o some --split 10 --prepare && expect_code 0 || return
    run batch work some --pieces 3,0 -q && expect_code 0 || return # the last part of its video: that is told as one
    run batch merge some -q && expect_code 0 && same single some
}

test_plans() {
    printf 'command: track\nvideos: [v/a.mp4, v/b.mp4]\nmodel: %s\nno-cache: yes\nout: planned\nsplit: 8\nlooks: off\n' "$model" >plan.yaml
    run batch plan.yaml -q && expect_code 0 && same single planned && run batch status plan.yaml && expect_in "2 of 2 videos" "$out" || return
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
