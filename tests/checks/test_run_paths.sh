#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the loader looks for libraries: never in the folder the user stands in, nor in the one skitter was built in. Reads
# the ELF of everything that was built and of everything that is installed, and then stands in a folder full of bait.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

# Every part of every run path, one a line; a trailing empty part counts, so a character is put behind the last one.
run_paths() {
    readelf -dW "$1" 2>/dev/null | sed -n 's/.*(\(RUNPATH\|RPATH\)).*\[\(.*\)\]$/\2/p'
}

check() { # file, the tree that may not be named
    local path part
    while IFS= read -r path; do
        while IFS= read -r -d : part; do
            case $part in
                '') echo "$1: an empty part in its run path '$path': the current folder" && failed=1 ;;
                "$2" | "$2"/*) echo "$1: its run path '$path' names the build folder" && failed=1 ;;
                /* | '$ORIGIN' | '$ORIGIN'/*) ;;
                *) echo "$1: a relative part '$part' in its run path" && failed=1 ;;
            esac
        done <<<"$path:"
    done < <(run_paths "$1")
    return 0
}

DESTDIR="$work/root" cmake --install "$SKITTER_TEST_BUILD" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
count=0
while IFS= read -r -d '' file; do
    [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
    check "$file" "$SKITTER_TEST_BUILD"
    count=$((count + 1))
done < <(find "$SKITTER_TEST_BUILD" "$work/root" -type f \( -perm -u+x -o -name '*.so*' \) -size +0 \
    -not -path '*/CMakeFiles/*' -print0)
[ $count -ge 4 ] || { echo "only $count ELF files were found"; exit 1; }

# This very check finds what it looks for.
if command -v cc >/dev/null; then
    echo 'int main(void) { return 0; }' >"$work/bad.c"
    cc -Wl,-rpath,/opt/somewhere: "$work/bad.c" -o "$work/bad"
    if [ -z "$(check "$work/bad" "$SKITTER_TEST_BUILD")" ]; then
        echo "an empty part is not seen"
        exit 1
    fi
    # Bait: libraries of the names skitter needs, which leave a trace when they are loaded.
    cat >"$work/bait.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) { close(open(getenv("BAIT_TRACE"), O_CREAT | O_WRONLY, 0600)); }
C
    mkdir "$work/here"
    cc -shared -fPIC "$work/bait.c" -o "$work/bait.so"
    names=$(readelf -dW "$SKITTER_TEST_BINARY" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
    for name in $names libonnxruntime.so libonnxruntime.so.1 libopenvino_c.so libnvinfer.so.10 libcuda.so.1 \
        libamdhip64.so.6 libavutil.so.5{6..9} libavcodec.so.{58..61} libavformat.so.{58..61} libswscale.so.{5..8} \
        libavdevice.so.{58..61} libskitter_cuda.so libskitter_tensorrt.so; do
        cp "$work/bait.so" "$work/here/$name"
    done
    cd "$work/here"
    cp "$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png" bait.png
    : >bait.mp4
    export BAIT_TRACE=$work/trace SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config VIRTUAL_ENV=. \
        CONDA_PREFIX=. SKITTER_RUNTIME_DIR=.
    for binary in "$SKITTER_TEST_BINARY" "$work/root"/usr/local/bin/skitter "$work/root"/*/bin/skitter; do
        [ -x "$binary" ] || continue
        "$binary" --version >/dev/null 2>&1 || { echo "$binary does not start here"; failed=1; }
        "$binary" runtimes >/dev/null 2>&1 || true
        "$binary" doctor >/dev/null 2>&1 || true
        "$binary" predict bait.mp4 -m bait.png -o out >/dev/null 2>&1 || true
        [ ! -e "$BAIT_TRACE" ] || { echo "$binary loaded a library from the current folder"; failed=1; rm -f "$BAIT_TRACE"; }
    done
fi
exit $failed
