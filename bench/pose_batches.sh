#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Poses on what the background shows, with crops of several animals and frames in one run of the network and one by one: the two take
# turns, so trust the ratio.
# usage: bench/pose_batches.sh SKITTER POSE_MODEL [animals] [rounds] [options of track: --runtime, --devices, --imgsz …]
set -euo pipefail
skitter=$1 model=$2 animals=${3:-12} rounds=${4:-5}
shift $(($# < 4 ? $# : 4))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$skitter" scene -o "$work/scene.mp4" --seconds 6 --size 640x480 --animals "$animals" -q
fps_of() { # batch, options
    local batch=$1
    shift
    "$skitter" track "$work/scene.mp4" --detector background -m "$model" --crop-batch "$batch" --no-cache --no-report --online \
        -o "$work/run" --restart --overwrite -f csv -q "$@" >/dev/null
    cp "$work/run/results.csv" "$work/results$batch.csv"
    awk -F'[:,]' '/"fps"/ { print $2 + 0; exit }' "$work/run/run.json"
}
fps_of 1 "$@" >/dev/null # files read, kernels timed
fps_of 8 "$@" >/dev/null
for ((i = 1; i <= rounds; i++)); do
    one=$(fps_of 1 "$@")
    eight=$(fps_of 8 "$@")
    awk -v i="$i" -v a="$one" -v b="$eight" 'BEGIN { printf "round %d: %.1f frames/s one by one, %.1f by eight, ratio %.2f\n", i, a, b, b / a }'
    awk -v a="$one" -v b="$eight" 'BEGIN { print b / a }' >>"$work/ratios"
done
echo "median ratio $(sort -g "$work/ratios" | sed -n "$(((rounds + 1) / 2))p")"
cmp "$work/results1.csv" "$work/results8.csv" && echo "the same results"
