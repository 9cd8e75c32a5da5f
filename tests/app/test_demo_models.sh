#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole way with what the repository holds: a scene, the models of share/models, results, and how good they are.
set -u
skitter=$SKITTER_TEST_BINARY
models=$SKITTER_TEST_SOURCE/share/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}
expect() { # text pattern what
    grep -q -- "$2" <<<"$1" || fail "$3: no \"$2\" in:
$1"
}

# The files: small enough, readable, what they should be.
bytes=$(du -cb "$models"/*.pt "$models"/onnx "$models"/demo-bottomup | awk 'END { print $1 }')
[ "$bytes" -lt 12000000 ] || fail "the models are $bytes bytes; at most 12 MB are wanted"
for model in demo-obb.pt onnx/demo-obb.onnx; do
    expect "$("$skitter" info "$models/$model")" "3: fish, fly, mouse" "$model's classes"
done
for model in demo-pose.pt onnx/demo-pose.onnx demo-bottomup onnx/demo-bottomup.onnx; do
    out=$("$skitter" info "$models/$model")
    expect "$out" "5: nose, neck, centre, tail_base, tail_tip" "$model's keypoints"
    expect "$out" "4 edges: nose-neck, neck-centre" "$model's skeleton"
done

# Pictures need no FFmpeg, so this part runs in every build.
"$skitter" scene -q -o pictures --species mixed --animals 4 --pictures 6 --size 512x384 --seed 1600000000000 || exit 1
above() { # what, least, numbers of one line of eval
    awk -v least="$2" '{ exit !($1 >= least && $2 >= least) }' <<<"$3" || fail "$1: precision and recall are $3"
}
for model in demo-obb.pt demo-obb.onnx demo-pose.pt demo-pose.onnx; do
    file=$models/$model
    [ -f "$file" ] && [ "${model#*.}" = pt ] || file=$models/onnx/$model
    "$skitter" predict -q pictures/images -m "$file" --runtime cpu -o "run-$model" --format csv || fail "predict with $model"
    kind=${model#demo-}
    line='^boxes'
    [ "${kind%.*}" = obb ] && line='^oriented boxes'
    out=$("$skitter" eval "run-$model" pictures/truth.csv 2>&1) || fail "eval of $model"
    above "$model" 0.85 "$(awk -v line="$line" '$0 ~ line { at = line ~ /oriented/ ? 6 : 5; print $at, $(at + 1); exit }' <<<"$out")"
done
# The U-Net gives poses only.
"$skitter" predict -q pictures/images -m "$models/demo-bottomup" --runtime cpu -o run-bottomup --format csv || fail "predict with the U-Net"
out=$("$skitter" eval run-bottomup pictures/truth.csv 2>&1) || fail "eval of the U-Net"
awk '/^keypoints/ { exit !($8 > 0 && $8 < 4) }' <<<"$out" || fail "the U-Net's median error is not under 4 % of the body: $out"

# A checkpoint and its ONNX copy find the same: one is the other's truth.
out=$("$skitter" eval run-demo-obb.onnx/results.csv run-demo-obb.pt/results.csv 2>&1)
above "demo-obb.onnx against demo-obb.pt" 0.97 "$(awk '/^oriented boxes/ { print $6, $7; exit }' <<<"$out")"

# Of two models the time of both is told: the second network runs once for each of the twenty boxes.
network() { # models: the milliseconds of the network
    "$skitter" predict -q --json pictures/images "$@" --frames 0:1 --conf 0.0001 --max-det 20 --runtime cpu --threads 1 -o run-times --restart |
        awk '/"network":/ { gsub(",", ""); print $2 }'
}
one=$(network -m "$models/demo-obb.pt") two=$(network -m "$models/demo-obb.pt" -m "$models/demo-pose.pt")
awk -v one="$one" -v two="$two" 'BEGIN { exit !(one > 0 && two > 3 * one) }' || fail "the network took $one ms, with a second one $two"
exit $((failures > 0))
