#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How good the demo's models are: ten scenes a species and ten of all species together that they never saw, two seconds of
# five animals each, measured together by `skitter eval`.
# usage: bench/demo_accuracy.sh SKITTER [MODELS] [SCENES]     environment: CONF, IOU (the demo's, 0.4 and 0.5), FIRST,
# RECT (on, as the demo: 384x512 for these scenes; off: 512x512)
set -euo pipefail
skitter=${1:?usage: bench/demo_accuracy.sh SKITTER [MODELS] [SCENES]}
models=${2:-$(dirname "$0")/../share/models}
scenes=${3:-10}
conf=${CONF:-0.4} iou=${IOU:-0.5} rect=${RECT:-on} first=${FIRST:-1000002000000} # below 2^41: not trained on
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-accuracy-XXXXXX")
trap 'rm -rf "$work"' EXIT

join() { # the rows of a scene's table behind those of the scenes before
    if [ -s "$2" ]; then grep -v '^#' "$1" | tail -n +2 >>"$2"; else cat "$1" >"$2"; fi
}
number() { # a path in the JSON, as it stands there
    python3 -c 'import json,sys
v = json.load(open(sys.argv[1]))["all"]
for k in sys.argv[2].split("."): v = v[k]
print("-" if v is None else f"{v:.{sys.argv[3]}f}")' "$1" "$2" "$3"
}
printf '%-8s %-9s %10s %8s %8s %8s %10s %10s\n' species model precision recall AP50 AP50:95 'median px' 'median %'
for species in fish fly mouse mixed; do
    rm -f "$work"/*.csv
    for i in $(seq 0 $((scenes - 1))); do
        video=$work/$species$i.mp4
        "$skitter" scene --species $species --animals 5 --seconds 2 --seed $((first + i)) -o "$video" --truth "$work/one.csv" -q
        join "$work/one.csv" "$work/truth.csv"
        for model in obb pose bottomup; do
            file=$models/demo-$model.pt settings=(--conf "$conf" --iou "$iou" --rect "$rect")
            if [ $model = bottomup ]; then file=$models/demo-bottomup settings=(); fi # SLEAP's usual ones
            "$skitter" predict "$video" -m "$file" -o "$work/$species$i-$model" -f csv "${settings[@]}" -q
            join "$work/$species$i-$model/results.csv" "$work/$model.csv"
        done
        rm -f "$video"
    done
    for model in obb pose bottomup; do
        "$skitter" eval "$work/$model.csv" "$work/truth.csv" --json -q >"$work/$model.json"
        kind=$([ $model = obb ] && echo oriented_boxes || echo oks)
        printf '%-8s %-9s %10s %8s %8s %8s' $species $model "$(number "$work/$model.json" $kind.precision 4)" \
            "$(number "$work/$model.json" $kind.recall 4)" "$(number "$work/$model.json" $kind.ap50 4)" \
            "$(number "$work/$model.json" $kind.ap 4)"
        if [ $model != obb ]; then
            printf ' %10s %10s' "$(number "$work/$model.json" keypoints.median_px 2)" \
                "$(number "$work/$model.json" keypoints.median_percent 2)"
        fi
        echo
    done
done
