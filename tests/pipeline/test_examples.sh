#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The four examples in a build with a sanitizer: compiled as the library is, they end well and nothing is reported. The plain build
# has them in tests/checks/test_install.sh.
set -euo pipefail
[ -n "${SKITTER_TEST_SANITIZE:-}" ] || { echo "no sanitizer in this build: checks_install runs the examples"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-examples-XXXXXX")
trap 'rm -rf "$work"' EXIT
cc=$SKITTER_TEST_CC
cxx=$(sed -E 's/clang([^/]*)$/clang++\1/; t; s/gcc([^/]*)$/g++\1/; t; s/cc$/c++/' <<<"$cc")
flags=(-g -fsanitize="$SKITTER_TEST_SANITIZE" -I "$SKITTER_TEST_SOURCE/include")
library=("$SKITTER_TEST_BUILD/libskitter.so" -Wl,-rpath,"$SKITTER_TEST_BUILD" -pthread)
for example in pose_video own_frames two_pipelines; do
    "$cc" -std=c17 "${flags[@]}" "$SKITTER_TEST_SOURCE/examples/$example.c" -o "$work/$example" "${library[@]}"
done
"$cxx" -std=c++17 "${flags[@]}" "$SKITTER_TEST_SOURCE/examples/pose_video.cpp" -o "$work/pose_video_cpp" "${library[@]}"

ends_well() { # what, words it must say
    local said
    said=$("$1" "${@:3}" 2>&1) || { echo "$1 ended with $?: $said"; exit 1; }
    if grep -E 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:' <<<"$said"; then
        echo "$said"
        exit 1
    fi
    grep -q "$2" <<<"$said" || { echo "$1 did not say '$2': $said"; exit 1; }
}
model=$SKITTER_TEST_SOURCE/share/models/demo-pose.pt
ends_well "$work/own_frames" "^0 still lent" "$model" 6
video=$work/flies.mp4
if "$SKITTER_TEST_BINARY" scene --species fly --animals 2 --seconds 0.5 --size 320x240 --seed 3 -o "$video" -q >/dev/null 2>&1; then
    ends_well "$work/pose_video" "^frame 14: " "$model" "$video"
    ends_well "$work/pose_video_cpp" "^frame 14: " "$model" "$video"
    ends_well "$work/two_pipelines" "animals in 15 frames" "$model" "$video" "$video"
fi
echo "four examples, nothing reported by $SKITTER_TEST_SANITIZE"
