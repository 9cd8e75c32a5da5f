#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# info, net and bench on a real checkpoint, and on files that are none.
set -u
skitter=$SKITTER_TEST_BINARY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
expect() { # text pattern what
    if ! grep -q -- "$2" <<<"$1"; then
        printf 'FAILED: %s: no "%s" in:\n%s\n' "$3" "$2" "$1"
        failures=$((failures + 1))
    fi
}
status_is() { # wanted got what
    if [ "$1" -ne "$2" ]; then
        printf 'FAILED: %s: exit code %s, not %s\n' "$3" "$2" "$1"
        failures=$((failures + 1))
    fi
}

# Wrong files are explained.
printf 'no model' >"$work/foreign.pt"
out=$("$skitter" info "$work/foreign.pt" 2>&1); status_is 1 $? "a foreign file"
expect "$out" "foreign.pt" "the error names the file"
out=$("$skitter" info "$work/absent.pt" 2>&1); status_is 1 $? "an absent file"
expect "$out" "absent.pt" "the error names the file"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 6000000\n' >"$work/pointer.pt"
out=$("$skitter" info "$work/pointer.pt" 2>&1); status_is 1 $? "an LFS pointer"
expect "$out" "git lfs pull" "the error names the remedy"
out=$("$skitter" net "$work/foreign.pt" 2>&1); status_is 2 $? "net without input"
expect "$out" "--input" "net says what it needs"
out=$("$skitter" net "$work/foreign.pt" -i x.npy -o y.npy --runtime warp 2>&1); status_is 2 $? "an unknown runtime"
expect "$out" "reference" "it lists the runtimes"

model=$SKITTER_TEST_DATA/yolo/yolov8t-pose/yolov8t-pose.pt
if [ ! -f "$model" ]; then
    echo "skipped the rest: the reference data is not on this machine"
    exit $((failures > 0))
fi
out=$("$skitter" info "$model" 2>&1); status_is 0 $? "info"
expect "$out" "task  *pose" "info tells the task"
out=$("$skitter" info "$model" --json 2>&1); status_is 0 $? "info --json"
expect "$out" '"task": "pose"' "info --json tells the task"
out=$("$skitter" info "$model" --layers 2>&1); status_is 0 $? "info --layers"
expect "$out" "conv" "info --layers lists convolutions"
# Cut off in the middle: info still tells what it can, net refuses.
head -c 1500000 "$model" >"$work/cut.pt"
out=$("$skitter" info "$work/cut.pt" 2>&1); status_is 0 $? "info on a truncated checkpoint"
expect "$out" "cut off" "info says that the file is cut off"
out=$("$skitter" net "$work/cut.pt" -i "${model%/*}/bus_input_u8.npy" -o "$work/y.npy" 2>&1)
status_is 1 $? "net on a truncated checkpoint"
out=$("$skitter" net "$model" -i "${model%/*}/bus_input_u8.npy" -o "$work/y.npy" 2>&1); status_is 0 $? "net"
expect "$out" "f32 1x21x2100" "net tells the output's shape"
out=$("$skitter" bench "$model" --runtime reference,nonsense -n 2 --warmup 0 --json 2>&1); status_is 0 $? "bench"
expect "$out" '"median_ms"' "bench --json"
expect "$out" '"frame_ms": [0-9]' "bench times frames to results too"
out=$("$skitter" bench "$model" -n 2 --warmup 0 --no-frames 2>&1); status_is 0 $? "bench --no-frames"
expect "$out" '^cpu  *[0-9.]*  *- ' "bench without frames leaves the column open"
out=$("$skitter" bench "$model" --runtime nonsense,cpu -n 2 --warmup 0 --json 2>&1)
expect "$out" '"error"' "bench explains the runtime that failed"
# Where nothing ran, bench ends as every other command does.
"$skitter" bench "$model" --runtime nonsense -n 1 >/dev/null 2>&1; status_is 2 $? "bench on a runtime of no such name"
"$skitter" bench "$model" --runtime cpu --precision tf32 -n 1 >/dev/null 2>&1; status_is 3 $? "bench in what cpu has not"
"$skitter" bench "$model" --runtime cpu --precision i8 -n 1 >/dev/null 2>&1; status_is 2 $? "bench of f32 in eight bits"
exit $((failures > 0))
