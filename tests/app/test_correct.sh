#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter correct: identities of a run are mended, beside the run's own files, and saved as a copy.
source "$(dirname "$0")/../support/shell.sh"
cd "$work" || exit 1
correct() { run correct "$@"; }
texts="tracks.csv tracks_final.csv tracks_forward.csv tracks_backward.csv results.csv results.jsonl results.mot.txt"
# Three animals that cross, one of them not found for a while.
{
    echo "source,frame,class,name,score,cx,cy,w,h,angle"
    for f in $(seq 0 59); do
        echo "v.mp4,$f,0,mouse,0.9,$((20 + 4 * f)).25,50.5,30,12,0.1"
        [ "$f" -ge 20 ] && [ "$f" -lt 24 ] || echo "v.mp4,$f,0,mouse,0.8,$((260 - 4 * f)),120.125,28,11,3"
        echo "v.mp4,$f,0,mouse,0.7,150,$((200 + f)),26,10,1.5"
    done
} >found.csv
run track --detections found.csv --set fps=29.97002997002997 -o made -q -f tracks,final,raw,csv,jsonl,mot,slp,labels || exit 1
fresh() { rm -rf run && cp -r made run; }
sums() { (cd "$1" && find . -type f ! -name corrections.jsonl ! -name .skitter.lock -exec sha256sum {} + | sort -k 2); }
tracks_of() { awk -F, -v f="$2" 'NR > 1 && $2 == f { print $1 ":" int($4) }' "$1/tracks.csv" | sort | tr '\n' ' '; }

test_nothing_is_changed_but_the_list() {
    local before
    fresh && before=$(sums run)
    correct run --swap 0,2@30 --delete 1@10-15 --rename 0=queen && expect_code 0 && expect_in "swap 0 and 2 from frame 30 on" "$out" &&
        expect_in "queen" "$out" || return
    [ "$(sums run)" = "$before" ] || fail "a file of the run was changed" || return
    [ "$(wc -l <run/corrections.jsonl)" = 4 ]
}

# What was never corrected, and what was undone, is saved as the same bytes.
test_undo_all_gives_the_same_bytes() {
    local f
    fresh
    correct run --swap 0,2@30 --swap 1,2@10-40 --delete 1 -q && correct run --undo 3 -q && expect_code 0 || return
    rm -rf copy && correct run -o copy && expect_code 0 && [ -s copy/report.html ] && ! [[ "$err" == *warning* ]] || return
    for f in $texts; do cmp "run/$f" "copy/$f" || fail "$f" || return; done
    diff -r run/labels copy/labels || return
    correct run --redo 3 -q && rm -rf copy && correct run -o copy --no-report -q && expect_code 0 || return
    [ ! -e copy/report.html ] && ! cmp -s run/tracks.csv copy/tracks.csv
}

test_swapped_twice_is_nothing() {
    local f
    fresh
    correct run --swap 0,1@17 --swap 0,1@17 -q && rm -rf copy && correct run -o copy -q --no-report && expect_code 0 || return
    for f in $texts; do cmp "run/$f" "copy/$f" || fail "$f" || return; done
}

test_a_copy_has_the_corrected_tracks() {
    fresh
    correct run --swap 0,2@30 --delete 1@10-15 --rename 2=queen -q && rm -rf copy && correct run -o copy -q --no-report && expect_code 0 || return
    [ "$(tracks_of run 29)" = "$(tracks_of copy 29)" ] || fail "before" || return
    [ "$(tracks_of run 30 | sed 's/0:/x:/;s/2:/0:/;s/x:/2:/' | tr ' ' '\n' | sort | xargs)" = "$(tracks_of copy 30 | xargs)" ] ||
        fail "$(tracks_of run 30) $(tracks_of copy 30)" || return
    [ "$(awk -F, '$1 == 1 && $2 >= 10 && $2 <= 15' copy/tracks.csv | wc -l)" = 0 ] || return
    run eval copy copy && expect_code 0 || return
    correct copy && expect_in queen "$out" && expect_in "3 tracks" "$out" && grep -q corrected_run copy/run.json || return
    # a copy of a copy, told by its lines: its journal gives the tracks of before
    rm -rf again && correct copy -o again --no-report && expect_code 0 && expect_in "made of results.jsonl" "$err" || return
    cmp copy/results.csv again/results.csv && cmp copy/results.mot.txt again/results.mot.txt
}

# A copy is tracked as the run was, whatever its settings.
test_settings_are_taken_over() {
    local how
    for how in "--online" "--tracker bytetrack --set lost=1" "--roi 5,5,130,150 --set covered=0.2 --set stitch_gap=1 --no-empty"; do
        rm -rf as copy
        # shellcheck disable=SC2086
        run track --detections found.csv --set fps=30 -o as -q --no-report -f tracks,csv,jsonl $how && expect_code 0 || return
        correct as -o copy --no-report && expect_code 0 && [[ "$err" != *warning* ]] || fail "$how: $err" || return
        cmp as/results.csv copy/results.csv && cmp as/tracks.csv copy/tracks.csv || fail "$how" || return
    done
}

test_a_run_without_lines_says_what_helps() {
    fresh && rm run/results.jsonl
    correct run && expect_code 0 && expect_in "there is no results.jsonl" "$out" && expect_in "--format" "$out"
}

# One that is at work, or was killed, is looked at by its journal; there are no tracks to correct yet.
test_a_run_at_work() {
    fresh
    sed -i 's/"state": "finished"/"state": "running"/' run/run.json
    correct run && expect_code 0 && expect_in "60 frames" "$out" && expect_in "once all frames are there" "$out" || return
    correct run --json && expect_in '"told_by": "journal.skj"' "$out" || return
    correct run --delete 0 && expect_code 2 && expect_in "its tracks are not there" "$err" || return
    truncate -s -100 run/journal.skj && correct run && expect_code 0 && expect_in "59 frames" "$out"
}

test_without_a_journal() {
    fresh
    rm run/journal.skj
    rm -rf copy && correct run -o copy --no-report && expect_code 0 && expect_in "made of results.jsonl" "$err" || return
    cmp run/results.csv copy/results.csv && cmp run/results.jsonl copy/results.jsonl && [ ! -e copy/tracks_forward.csv ]
}

test_merging_what_is_in_one_frame() {
    fresh
    correct run --merge 0,1 && expect_code 1 && expect_in "both in 60 frames (0-59)" "$err" && expect_in "--prefer 0 or --prefer 1" "$err" &&
        [ ! -e run/corrections.jsonl ] || return
    correct run --merge 0,1 --prefer 1 -q && rm -rf copy && correct run -o copy -q --no-report && expect_code 0 || return
    [ "$(cut -d, -f1 copy/tracks.csv | sort -u | tr '\n' ' ')" = "0 2 id " ] || fail "$(cut -d, -f1 copy/tracks.csv | sort -u)" || return
    fresh && correct run --delete 1@30 --delete 0@0-29 --merge 0,1 -q && expect_code 0 # never in one frame
}

test_what_is_refused() {
    fresh
    correct run --swap 0,9@3 && expect_code 1 && expect_in "there is no track 9; there are 0, 1, 2" "$err" || return
    correct run --delete 1@400 && expect_code 1 && expect_in "no track 1 from frame 400 on" "$err" || return
    correct run --swap 0,1 && expect_code 2 && expect_in "--swap 0,1" "$err" || return
    correct run --swap 1,1@3 && expect_code 2 || return
    correct run --merge 0,0 && expect_code 2 && expect_in "0 and 0 are one track" "$err" || return
    correct run --undo 1 && expect_code 2 && expect_in "no correction" "$err" || return
    correct run --delete 0 -q && correct run --undo 2 && expect_code 2 && [ "$(wc -l <run/corrections.jsonl)" = 2 ] || return
    correct run --prefer 1 && expect_code 2 || return
    correct run -o run && expect_code 2 && expect_in "a folder of its own" "$err" || return
    correct run --save-overlay && expect_code 2 && expect_in "--out" "$err" || return
    correct . && expect_code 1 && expect_in "several runs" "$err" || return
    mkdir -p empty && correct empty && expect_code 1 && expect_in "no run.json" "$err" || return
    correct nowhere && expect_code 1 && expect_in "no such folder" "$err" || return
    mkdir -p other && echo '{"skitter":1}' >other/run.json && correct other && expect_code 1 && expect_in "run.json" "$err"
}

# A line that was being written when somebody died was never promised; others that are no correction are named, and nothing counts.
test_a_torn_and_a_broken_list() {
    fresh
    correct run --swap 0,1@5 --delete 2 -q && printf '{"do":"swap","tra' >>run/corrections.jsonl
    correct run && expect_code 0 && expect_in "2 corrections" "$out" || return
    correct run --undo 1 -q && [ "$(tail -n 1 run/corrections.jsonl | cut -c 1-13)" = '{"do":"undo",' ] && [ "$(wc -l <run/corrections.jsonl)" = 4 ] || return
    echo '{"do":"dance"}' >>run/corrections.jsonl
    correct run && expect_code 0 && expect_in "line 5" "$err" && expect_in "0 corrections" "$out" || return
    correct run --delete 1 && expect_code 1 && expect_in "line 5" "$err" || return
    correct run -o broken && expect_code 1 && expect_in "line 5" "$err" && [ ! -e broken/results.csv ]
}

test_a_run_that_was_begun_anew() {
    fresh
    correct run --delete 2 -q
    run track --detections found.csv --set fps=29.97002997002997 -o run -q -f tracks,jsonl --restart && expect_code 0 || return
    [ ! -e run/corrections.jsonl ] || fail "--restart left corrections" || return
    correct run --delete 2 -q && sed -i 's/"started": "..../"started": "1999/' run/run.json
    correct run && expect_in "another state of this run" "$err" && expect_in "3 tracks" "$out" || return
    correct run --delete 1 && expect_code 1 && expect_in "another state" "$err"
}

test_two_writers_and_links() {
    fresh
    coproc holder { python3 -c '
import fcntl, struct, sys
f = open("run/.skitter.lock", "r+")
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)) # F_OFD_SETLK
print("held", flush=True)
sys.stdin.read()'; }
    read -r -u "${holder[0]}" _ || fail "the lock was not taken" || return
    correct run --delete 2 && expect_code 1 && expect_in "at work here" "$err" && [ ! -e run/corrections.jsonl ] || return
    exec {holder[1]}>&-
    wait "$holder_PID" 2>/dev/null
    correct run --delete 2 -q && expect_code 0 && rm run/corrections.jsonl || return
    ln -s "$work/found.csv" run/corrections.jsonl && correct run --delete 2 && expect_code 1 || return
    head -n 1 found.csv | grep -q source,frame || fail "a link was followed" || return
    rm run/corrections.jsonl run/results.jsonl run/journal.skj && ln -s "$work/made/results.jsonl" run/results.jsonl &&
        correct run && expect_code 1 && expect_in "results.jsonl" "$err"
}

test_json() {
    fresh
    correct run --swap 0,2@30 --json && expect_code 0 || return
    echo "$out" >told.json
    python3 - told.json <<'END'
import json, sys
it = json.load(open(sys.argv[1]))
assert [t["id"] for t in it["tracks"]["tracks"]] == [0, 1, 2], it["tracks"]
assert it["run"]["corrections"]["list"][0]["text"] == "swap 0 and 2 from frame 30 on"
END
}

run_tests
