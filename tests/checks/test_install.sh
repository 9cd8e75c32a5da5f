#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty folder and builds a small program against it, as a user of the library would.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter install-XXXXXX")
trap 'rm -rf "$work"' EXIT
DESTDIR="$work/root" cmake --install "$SKITTER_TEST_BUILD" --prefix /opt/skitter >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
prefix=$work/root/opt/skitter
for file in bin/skitter include/skitter/skitter.h share/man/man1/skitter.1 \
    share/bash-completion/completions/skitter share/zsh/site-functions/_skitter \
    share/skitter/models/demo-obb.pt share/skitter/models/demo-pose.pt share/skitter/models/README.md; do
    [ -s "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
"$prefix/bin/skitter" --version >/dev/null
# Every page that the program or its manual cites is installed, and help says where; links between pages lead somewhere.
pages=$prefix/share/doc/skitter
cited=$({ strings -n 8 "$prefix/bin/skitter"; cat "$prefix/share/man/man1/skitter.1"; } | grep -oE 'docs/[A-Za-z_]+\.md' | sort -u)
[ "$(wc -l <<<"$cited")" -ge 3 ] || { echo "no page is cited?"; exit 1; }
for page in $cited; do
    [ -s "$pages/$page" ] || { echo "cited but not installed: $page"; exit 1; }
done
grep -qF "Pages called docs/… are in $pages" <<<"$("$prefix/bin/skitter" predict --help)" ||
    { echo "help does not say where the pages are"; exit 1; }
(cd "$pages/docs" && grep -ohE '\]\([^)#:]+' ./*.md | cut -c3- | sort -u | while read -r link; do
    [ -e "$link" ] || { echo "a page links to what is not installed: $link"; exit 1; }
done)
cat >"$work/user.c" <<'C'
#include <skitter/skitter.h>
#include <stdio.h>
int main(void)
{
    printf("%s %d\n", sk_version_text(), sk_version_number());
    return sk_version_number() != SK_VERSION_MAJOR * 1000000 + SK_VERSION_MINOR * 1000 + SK_VERSION_PATCH;
}
C
pc=$(dirname "$(find "$prefix" -name skitter.pc)")
# The file says where it was installed to; with DESTDIR that is not where it is.
said=$(PKG_CONFIG_PATH=$pc pkg-config --variable=prefix skitter)
[ "$said" = /opt/skitter ] || { echo "skitter.pc says '$said', not the prefix it was installed to"; exit 1; }
flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs skitter)
flags=${flags//\/opt\/skitter/ROOT}
read -r -a words <<<"$flags"
words=("${words[@]//ROOT/$prefix}")
cc -std=c17 -Wall -Werror "$work/user.c" -o "$work/a.out" "${words[@]}"
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name 'libskitter.so')") "$work/a.out"
# The same by CMake's package, wherever the folder lies.
mkdir "$work/user" && mv "$work/user.c" "$work/user/"
cat >"$work/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(skitter REQUIRED CONFIG)
add_executable(user user.c)
target_link_libraries(user PRIVATE skitter::skitter)
CMAKE
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/user/build" >>"$work/log" 2>&1 && "$work/user/build/user" || { cat "$work/log"; exit 1; }
# The examples, built the same way, warnings being errors; they must find something, and the same.
library=$(dirname "$(find "$prefix" -name 'libskitter.so')")
export LD_LIBRARY_PATH=$library
for example in pose_video own_frames two_pipelines; do
    cc -std=c17 -Wall -Wextra -Werror "$SKITTER_TEST_SOURCE/examples/$example.c" -o "$work/$example" "${words[@]}" -pthread
done
c++ -std=c++17 -Wall -Wextra -Werror "$SKITTER_TEST_SOURCE/examples/pose_video.cpp" -o "$work/pose_video_cpp" "${words[@]}"
[ "$(wc -l <"$SKITTER_TEST_SOURCE/examples/pose_video.c")" -le 60 ] || { echo "pose_video.c has more than 60 lines"; exit 1; }
model=$prefix/share/skitter/models/demo-pose.pt
own=$("$work/own_frames" "$model" 6)
grep -q "^shot 5: " <<<"$own" && grep -q "^0 still lent" <<<"$own" || { echo "own_frames: $own"; exit 1; }
video=$work/flies.mp4
if "$prefix/bin/skitter" scene --species fly --animals 3 --seconds 2 --size 320x240 --seed 3 -o "$video" -q >/dev/null 2>&1; then
    found=$("$work/pose_video" "$model" "$video")
    [ "$(grep -c "^frame .*: score" <<<"$found")" -ge 50 ] || { echo "pose_video found nothing"; exit 1; }
    grep -q "^frame 59: " <<<"$found" || { echo "pose_video lost the last frames"; exit 1; }
    streamed=$("$work/pose_video_cpp" "$model" "$video")
    [ "$(sed 's/\(score [0-9.]*\).*/\1/' <<<"$found")" = "$streamed" ] || { echo "the C and the C++ example differ"; exit 1; }
    twice=$("$work/two_pipelines" "$model" "$video" "$video")
    [ "$(sort -u <<<"$twice" | wc -l)" = 1 ] && grep -q "$(wc -l <<<"$found") animals in 60 frames" <<<"$twice" ||
        { echo "two_pipelines: $twice"; exit 1; }
fi
problem=$("$work/pose_video" "$work/absent.pt" 2>&1) && { echo "an absent model was no error"; exit 1; }
grep -q "absent.pt" <<<"$problem"
