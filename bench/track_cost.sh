#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# track_cost.sh VIDEO MODEL [ROUNDS]: what 'skitter track' costs beside 'skitter predict' on the same video with the same
# thresholds, in turns, so that both see the same machine; least of the rounds. Nothing is taken from the inference cache.
set -euo pipefail
video=${1:?VIDEO MODEL [ROUNDS]} model=${2:?VIDEO MODEL [ROUNDS]} rounds=${3:-5}
skitter=${SKITTER:-build/skitter}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
least() { awk -v a="$1" -v b="$2" 'BEGIN { print b == "" || a < b ? a : b }'; }
timed() { # command…: wall seconds
    local begin end
    begin=$(date +%s.%N)
    "$@" >/dev/null 2>&1
    end=$(date +%s.%N)
    awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }'
}
predict='' track='' bare=''
for _ in $(seq "$rounds"); do
    rm -rf "$work"/*
    predict=$(least "$(timed "$skitter" predict "$video" -m "$model" --conf 0.1 -o "$work/p" -q)" "$predict")
    track=$(least "$(timed "$skitter" track "$video" -m "$model" --no-cache -o "$work/t" -q)" "$track")
    bare=$(least "$(timed "$skitter" track "$video" -m "$model" --no-cache --no-report -f csv,jsonl -o "$work/b" -q)" "$bare")
done
awk -v p="$predict" -v t="$track" -v b="$bare" 'BEGIN {
    printf "predict %.2f s; track %.2f s (%+.1f %%); without the report %.2f s (%+.1f %%)\n", p, t, 100 * (t / p - 1), b, 100 * (b / p - 1)
}'
