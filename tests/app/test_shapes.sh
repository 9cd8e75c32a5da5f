#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rectangles by default, squares on request, and run.json says which; pictures of several sizes each have their own shape.
set -u
skitter=$SKITTER_TEST_BINARY
model=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 0; }
"$skitter" scene --species fly --animals 3 --seconds 0.2 --size 640x362 --seed 3 -o "$work/wide.mp4" -q >/dev/null 2>&1 ||
    { echo "skipped: this FFmpeg writes no such video"; exit 0; }
# options after the dash, shape, network input
expect() {
    # shellcheck disable=SC2086 # none or several words
    "$skitter" predict "$work/wide.mp4" -m "$model" -o "$work/out" --restart -q $1 || fail "predict $1"
    grep -q "\"shape\": \"$2\"" "$work/out/run.json" || fail "predict $1: run.json does not say $2"
    grep -q "\"network_input\": \"$3\"" "$work/out/run.json" || fail "predict $1: run.json does not say $3"
    grep -q '"heads": "one-to-many"' "$work/out/run.json" || fail "predict $1: run.json says nothing of the heads"
}
expect "" rect 320x512
expect "--rect" rect 320x512
expect "--rect on" rect 320x512
expect "--rect=off" square 512x512
expect "--imgsz 256x416" rect 256x416
"$skitter" predict "$work/wide.mp4" -m "$model" -o "$work/out" -q --rect onn 2>/dev/null && fail "--rect onn was taken"
"$skitter" predict "$work/wide.mp4" -m "$model" -o "$work/out" -q --nms off 2>"$work/error" && fail "--nms off was taken"
grep -q "no one-to-one heads" "$work/error" || fail "--nms off is not explained"
# Wide, tall and square pictures together give what each gives alone.
mkdir "$work/pictures"
for size in 640x362 362x640 512x512; do
    "$skitter" scene --species fly --animals 3 --pictures 2 --size $size --seed 3 -o "$work/$size" -q >/dev/null 2>&1 ||
        fail "pictures of $size"
    for picture in "$work/$size"/images/*; do
        cp "$picture" "$work/pictures/$(basename "${picture%.*}")-$size.jpg"
    done
done
predict() {
    "$skitter" predict "$1" -m "$model" -o "$2" --format jsonl --conf 0.1 -q || fail "$1"
}
predict "$work/pictures" "$work/together"
for picture in "$work/pictures"/*; do
    predict "$picture" "$work/alone-$(basename "$picture")"
done
[ "$(wc -l <"$work/together/results.jsonl")" -eq 6 ] || fail "not 6 pictures"
grep -o '"instances":.*' "$work/together/results.jsonl" >"$work/a"
cat "$work"/alone-*/results.jsonl | grep -o '"instances":.*' >"$work/b"
cmp "$work/a" "$work/b" || fail "pictures together and alone differ"
grep -q '"score"' "$work/a" || fail "nothing was found"
