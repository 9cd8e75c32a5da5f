#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that is killed and continued gives the files of an uninterrupted one; a second run in the same folder is
# refused; Ctrl-C ends a run in order; wrong arguments are explained.
set -u
skitter=$SKITTER_TEST_BINARY
data=$SKITTER_TEST_DATA
work=$(mktemp -d)
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
failures=0
fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}
expect() { # text pattern what
    grep -q -- "$2" <<<"$1" || fail "$3: no \"$2\" in: $1"
}

out=$("$skitter" predict "$work/x.mp4" -o "$work/o" 2>&1); [ $? -eq 2 ] || fail "predict without a model"
expect "$out" "--model" "it says what is missing"
if [ ! -d "$data" ]; then
    echo "skipped the rest: the reference data is not on this machine"
    exit $((failures > 0))
fi
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped the rest: built without video"; exit $((failures > 0)); }
model=$data/sleap/nn/minimal_instance_single_instance
video=$data/video/small_robot.mp4
out=$("$skitter" predict "$work/x.mp4" -m "$model" -o "$work/o" 2>&1); [ $? -eq 1 ] || fail "an absent video"
expect "$out" "x.mp4" "the error names the video"
grep -q "0 frames" <<<"$out" && fail "progress of a run that never began: $out"
out=$("$skitter" predict "$video" -m "$model" -o "$work/o" --format nonsense 2>&1); [ $? -eq 2 ] || fail "an unknown format"
expect "$out" "csv" "it lists the formats"
out=$("$skitter" predict "$video" -m "$model" -o "$work/o" --frames 5:x 2>&1); [ $? -eq 2 ] || fail "a bad range"

arguments=(predict "$video" -m "$model" --frames 0:80 --format csv,jsonl,slp,coco --threads 1)
run() { "$skitter" "${arguments[@]}" "$@" -q; }
run -o "$work/whole" || fail "a whole run"
[ "$(wc -l <"$work/whole/results.jsonl")" -eq 80 ] || fail "80 frames give 80 lines"
# Instances of their own on each core, which is what files get, give the same bits as one thread, or all of them.
both() { "$skitter" predict "$video" -m "$model" --frames 0:80 --format csv,jsonl -q "$@"; }
both -o "$work/auto" || fail "a run without --threads"
both -o "$work/one" --devices cpu || fail "a run of one instance"
for other in auto one; do
    cmp "$work/whole/results.jsonl" "$work/$other/results.jsonl" || fail "$other: other bits than one thread's"
done
# Killed at random moments and continued.
for kill in 1 2 3 4 5 6 7 8 9 10; do
    "$skitter" "${arguments[@]}" -o "$work/killed" -q &
    sleep 0.$((RANDOM % 4))$((RANDOM % 10))
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
run -o "$work/killed" || fail "continuing after kill -9"
cmp "$work/whole/results.jsonl" "$work/killed/results.jsonl" || fail "the JSON lines differ"
cmp "$work/whole/results.csv" "$work/killed/results.csv" || fail "the tables differ"
out=$("$skitter" "${arguments[@]}" -o "$work/killed" 2>&1)
expect "$out" "finished already" "a finished run is not repeated"
out=$(run -o "$work/killed" --peak-threshold 0.5 2>&1) && fail "other settings in the same folder"
expect "$out" "--restart" "it names the remedy"
run -o "$work/killed" --peak-threshold 0.5 --restart || fail "--restart"

# A second run while the first is on.
"$skitter" "${arguments[@]}" -o "$work/busy" --loop 1000 -q &
for _ in $(seq 600); do [ -s "$work/busy/journal.skj" ] && break; sleep 0.1; done
out=$(run -o "$work/busy" 2>&1) && fail "a second run in the same folder"
expect "$out" "another run is writing here: process $!" "it names the first run"
# Ctrl-C: files are complete.
first=$!
kill -INT $first
(sleep 100; kill -9 $first) >/dev/null 2>&1 & # never hang; holds no output open, on which the test would be waited for
wait $first
[ $? -eq 130 ] || fail "Ctrl-C gives 130"
tail -n 1 "$work/busy/results.jsonl" | grep -q '}]}$\|\[\]}$' || fail "the last line is whole"
grep -q '"state": "stopped"' "$work/busy/run.json" || fail "run.json says stopped"
exit $((failures > 0))
