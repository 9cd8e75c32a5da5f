#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter track --detector background: animals on a still background, without a model.
source "$(dirname "$0")/../support/shell.sh"
cd "$work" || exit 1
export SKITTER_CACHE_DIR=$work/cache
# Three dark discs on grey that wander on lines of their own, as pictures.
for f in $(seq 0 19); do
    awk -v f="$f" 'BEGIN {
        printf "P5\n160 120\n255\n"
        for (y = 0; y < 120; y++) for (x = 0; x < 160; x++) {
            v = 180
            for (k = 0; k < 3; k++) { dx = (x - 15 - 6 * f) / 2; dy = y - 25 - 35 * k; if (dx * dx + dy * dy < 20) v = 40 }
            printf "%c", v
        }
    }' >"frame_$(printf %02d "$f").pgm"
done
track() { run track 'frame_%02d.pgm' --detector background --no-report "$@"; }
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }

test_three_are_followed() {
    track -o three
    case $err in *FFmpeg*) return 0 ;; esac # a build that does not read such pictures
    expect_code 0 && expect_in "3 tracks" "$out" || return
    [ "$(column three/results.csv track | sort | uniq -c | awk '$1 == 20' | wc -l)" -eq 3 ] ||
        fail "$(column three/results.csv track | sort | uniq -c)"
}

test_what_is_refused() {
    track -o x -m some.pt && expect_code 2 && expect_in "without a model" "$err" || return
    track -o x --set background_threshold=900 && expect_code 2 && expect_in "between 0 and 255" "$err" && [ ! -e x ]
}

test_kept_by_content() {
    run scene -o scene.mp4 --seconds 0.4 --size 160x120 --animals 2 -q
    [ "$code" -eq 3 ] && return 0 # this build writes no video
    run track scene.mp4 --detector background --no-report -o first -q && expect_code 0 || return
    run track scene.mp4 --detector background --no-report -o second --json && expect_code 0 || return
    cmp first/results.csv second/results.csv && [ "$(ls cache/inference/*.skj | wc -l)" -eq 1 ] || return
    run track scene.mp4 --detector background --no-report -o third --no-cache -q && cmp first/results.csv third/results.csv || return
    # another threshold finds others, another gate does not
    run track scene.mp4 --detector background --no-report -o fourth -q --set background_threshold=99 && expect_code 0 || return
    run track scene.mp4 --detector background --no-report -o fifth -q --set gate=9 && [ "$(ls cache/inference/*.skj | wc -l)" -eq 2 ]
}

run_tests
