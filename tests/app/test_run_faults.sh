#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that is killed at the n-th call that changes its folder, or whose n-th such call fails, is continued by the same
# command, and every file is the same as without the fault. Every call is tried with SKITTER_FAULTS=all (make check); else
# some of them, others each day.
set -u
skitter=$SKITTER_TEST_BINARY
tracer=$SKITTER_TEST_BUILD/tests/fault_tracer
model=$SKITTER_TEST_SOURCE/tests/fixtures/sleap_nn/convnext_transposed
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 77; }
command -v ffmpeg >/dev/null || { echo "skipped: no ffmpeg to make a video with"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-test-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # its leak check cannot be traced
export SKITTER_OVERLAY_PART=4 # frames; several parts of a short video
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

ffmpeg -v error -y -f lavfi -i testsrc=size=64x48:rate=25:duration=0.4 -pix_fmt yuv420p "$work/v.mp4" || exit 1
ffmpeg -v error -y -i "$work/v.mp4" -frames:v 4 "$work/p%02d.png" && mkdir "$work/pictures" &&
    mv "$work"/p0*.png "$work/pictures/" && head -c 100 "$work/pictures/p02.png" >"$work/pictures/p05.png"

# Every file of a run but the journal and run.json, without the time the run began, which others began at too.
list() {
    (cd "$1" && find . -type f ! -name journal.skj ! -name run.json ! -name .skitter.lock | sort |
        while read -r file; do
            LC_ALL=C sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g' "$file" | md5sum | sed "s|-|$file|"
        done)
}

formats=csv,jsonl,slp,analysis,coco,labels,labels-conf
predict() { "$skitter" predict "$source" -m "$model" --format $formats --save-overlay -o "$work/run" -q --devices cpu; }
traced() { # mode n
    "$tracer" "$1" "$2" "$work/run" "$work/count" -- "$skitter" predict "$source" -m "$model" --format $formats \
        --save-overlay -o "$work/run" -q --devices cpu
}

one() { # mode n
    rm -rf "$work/run"
    traced "$1" "$2" >"$work/first" 2>&1
    local code=$?
    case $1:$code in
    kill:137 | kill:0) ;;          # 0: there were fewer calls this time
    *:0 | *:1) ;;                  # what does not matter to the results may fail
    *) fail "$1 at $2: ended with $code: $(tail -n 2 "$work/first")" ;;
    esac
    if [ "$1" != kill ] && [ $code -eq 1 ] && ! grep -q "$work/run" "$work/first"; then
        fail "$1 at $2: no word of what failed: $(cat "$work/first")"
    fi
    predict >"$work/second" 2>&1 || fail "$1 at $2: cannot be continued: $(tail -n 1 "$work/second")"
    list "$work/run" >"$work/got"
    cmp -s "$work/want" "$work/got" || fail "$1 at $2: other results: $(diff "$work/want" "$work/got" | head -n 5)"
    grep -q '"state": "finished"' "$work/run/run.json" || fail "$1 at $2: run.json does not say finished"
}

for source in "$work/v.mp4" "$work/pictures"; do
    rm -rf "$work/run"
    traced count 0 >"$work/first" 2>&1
    code=$?
    [ $code -eq 77 ] && { echo "skipped: programs may not be traced here"; exit 77; }
    [ $code -eq 0 ] || fail "undisturbed: $code: $(cat "$work/first")"
    list "$work/run" >"$work/want"
    calls=$(cat "$work/count")
    [ "$calls" -gt 40 ] || fail "only $calls calls were counted"
    for mode in kill full ENOSPC EIO; do
        step=1
        [ "${SKITTER_FAULTS:-}" = all ] || step=$((calls / $([ $mode = kill ] && echo 7 || echo 4)))
        for ((n = 1 + ($(date +%j | sed 's/^0*//') + ${#mode}) % step; n <= calls; n += step)); do
            one $mode $n
        done
    done
    echo "$(basename "$source"): $calls calls"
done
exit $((failures > 0))
