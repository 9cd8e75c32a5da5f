#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SLEAP's own model on its own video: the flies keep the identities that SLEAP gave. tests/parity/track_sleap.sh is the long form.
source "$(dirname "$0")/../support/shell.sh"
cd "$work" || exit 1
legacy=$SKITTER_TEST_DATA/sleap/legacy truth=$SKITTER_TEST_DATA/slp/clip.predictions.slp
[ -f "$truth" ] || { echo "skipped: $truth is not here"; exit 77; }

test_flies_of_a_multi_class_model() {
    local way
    "$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; return; }
    for way in "" --online "--animals 2"; do
        # shellcheck disable=SC2086
        run track "$SKITTER_TEST_DATA/video/clip.mp4" -m "$legacy/minimal_instance.UNet.centroid" -m "$legacy/min_tracks_2node.UNet.topdown_multiclass" \
            --frames 0:20 --format csv --no-report --cache kept -o flies --restart --set shortest=0.1 $way && expect_code 0 || return
        expect_in "2 tracks, 40 sightings" "$out" || return
        run eval flies/results.csv "$truth" --covered && expect_code 0 || return
        [ "$(awk '/switches/ { on = 1; next } on && $1 == "centres" { print $(NF - 3); exit }' <<<"$out")" = 0 ] || fail "$way: $out" || return
    done
}

# Points of it hop from fly to fly: the steps over the whole video must not part what stays together frame by frame.
test_what_sleap_found_offline_as_online() {
    local way
    for way in "" --online; do
        # shellcheck disable=SC2086
        run track --detections "$truth" --fps 25 --format csv --no-report -o given --restart $way && expect_code 0 || return
        expect_in "2 tracks, " "$out" || return
        run eval given/results.csv "$truth" && expect_code 0 || return
        [ "$(awk '/switches/ { on = 1; next } on && $1 == "centres" { print $(NF - 3); exit }' <<<"$out")" = 0 ] || fail "$way: $out" || return
    done
}

run_tests
