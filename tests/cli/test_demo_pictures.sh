#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter demo where no video can be written or read: the scene is pictures, and everything else is as it was.
source "$(dirname "$0")/../support/shell.sh"
if [ ! -f "$SKITTER_TEST_SOURCE/share/models/demo-obb.pt" ]; then
    echo "skipped: the demo's models are not here"
    exit 77
fi
export SKITTER_MODELS=$SKITTER_TEST_SOURCE/share/models
pictures=--pictures
run scene -o "$work/try.mp4" --seconds 0.1
[ "$code" -ne 3 ] || pictures= # built without video: by itself

test_pictures() {
    run demo --out "$work/a" --seconds 0.4 --animals 4 $pictures
    expect_code 0 && expect_in "skitter track scene -m demo-obb.pt --fps 30" "$out" || return
    [ -n "$pictures" ] || expect_in "goes on with pictures" "$err" || return
    awk '/^oriented boxes/ { exit !($5 >= 0.9 && $6 >= 0.9) }' <<<"$out" || fail "the boxes are not good: $out" || return
    awk '/^tracks/ { exit !($4 >= 0.7 && $5 >= 0.9 && $7 == 0) }' <<<"$out" || fail "identities are not kept: $out" || return
    [ "$(ls "$work/a/scene" | wc -l)" -eq 12 ] && [ ! -e "$work/a/scene.mp4" ] || fail "no pictures: $(ls "$work/a/scene")" || return
    local file
    for file in $(grep -o 'href="[^"]*"' "$work/a/report.html" | cut -d'"' -f2 | grep -v '^data:') tracks/overlay poses/overlay; do
        [ -s "$work/a/$file" ] || fail "the page links to $file, which is not there" || return
    done
    run demo --out "$work/a" --seconds 0.4 --animals 4 $pictures
    expect_code 0 && expect_in "finished already" "$err"
}

run_tests
