#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frames that a run needs as pictures (it draws on them) and frames it takes as planes of video give the same results.
set -u
skitter=$SKITTER_TEST_BINARY
models=$SKITTER_TEST_SOURCE/share/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 0; }
"$skitter" scene --species fly --animals 3 --seconds 1 --size 640x362 --seed 3 -o "$work/scene.mp4" -q >/dev/null 2>&1 ||
    { echo "skipped: this FFmpeg writes no such video"; exit 0; }
for model in demo-pose demo-obb; do
    arguments=(predict "$work/scene.mp4" -m "$models/$model.pt" --imgsz 256 --conf 0.05 --format jsonl -q)
    "$skitter" "${arguments[@]}" -o "$work/$model" || fail "$model"
    "$skitter" "${arguments[@]}" -o "$work/$model-drawn" --save-overlay || fail "$model with an overlay"
    [ "$(wc -l <"$work/$model/results.jsonl")" -eq 30 ] || fail "$model: not 30 frames"
    grep -q '"score"\|"confidence"\|"conf"' "$work/$model/results.jsonl" || fail "$model: nothing was found"
    cmp "$work/$model/results.jsonl" "$work/$model-drawn/results.jsonl" || fail "$model: the results differ"
done
# `run` measures either way, and finds the same.
for way in "" --rgb; do
    # shellcheck disable=SC2086 # none or one word
    "$skitter" run "$models/demo-obb.pt" --input "$work/scene.mp4" --imgsz 256 --iterations 30 --rounds 1 --json -q $way \
        >"$work/run$way.json" || fail "run $way"
done
python3 - "$work/run.json" "$work/run--rgb.json" <<'END' || fail "run and run --rgb differ"
import json, sys
found = [json.load(open(path)) for path in sys.argv[1:]]
counts = [side["instances"] for out in found for side in (out["basic"], out["runner"])]
assert counts[0] > 0 and len(set(counts)) == 1, counts
END
