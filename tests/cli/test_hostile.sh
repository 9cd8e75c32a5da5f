#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Models that attack their reader, and things that are no files at all: an error with a name in it or a result, but never a
# signal, a wait without end, or gigabytes.
. "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
picture=$SKITTER_TEST_SOURCE/tests/fixtures/grey_64x48.png
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
unset SKITTER_MEMORY_LIMIT

# attack NAME ARGUMENTS…: at most 20 seconds, 3 GB of addresses (a sanitizer needs all of them).
attack() {
    local name=$1
    shift
    out=$(if ! grep -q sanitize <<<"$("$skitter" version 2>/dev/null)"; then ulimit -v 3000000; fi
        timeout -k 1 20 "$skitter" "$@" 2>"$work/stderr" </dev/null)
    code=$?
    err=$(cat "$work/stderr")
    [ $code -lt 124 ] || fail "$name: $1 ended with $code: $err"
    case $err in *"runtime error"* | *Sanitizer*) fail "$name: $1: $err" ;; esac
    [ $code -eq 0 ] || [ -n "$err" ] || fail "$name: $1 failed without a word"
}

test_made_files() {
    local file failed=0
    mkdir "$work/files"
    "$SKITTER_TEST_BUILD/tests/make_hostile" "$work/files" || fail "no files"
    for file in "$work"/files/*; do
        attack "${file##*/}" info "$file" || failed=1
        attack "${file##*/}" predict "$picture" -m "$file" -o "$work/out-${file##*/}" --runtime cpu --threads 1 || failed=1
        attack "${file##*/}" export "$file" -o "$work/${file##*/}.onnx" || failed=1
    done
    attack imgsz predict "$picture" -m "$work/files/imgsz.pt" -o "$work/out-large" --runtime cpu || failed=1
    expect_code 1 && expect_in "--imgsz" "$err" || failed=1
    attack imgsz predict "$picture" -m "$work/files/imgsz.pt" -o "$work/out-small" --runtime cpu --imgsz 64 || failed=1
    expect_code 0 || failed=1
    return $failed
}

test_no_regular_files() {
    local failed=0 door
    mkfifo "$work/pipe.pt" "$work/pipe.onnx"
    for door in pipe.pt pipe.onnx; do
        attack $door info "$work/$door" || failed=1
        expect_code 1 && expect_in "named pipe" "$err" || failed=1
    done
    attack zero info /dev/zero || failed=1
    expect_code 1 && expect_in "device" "$err" || failed=1
    mkdir "$work/folder.pt" "$work/sleap" && mkfifo "$work/sleap/training_config.json" "$work/sleap/best_model.h5"
    attack folder info "$work/folder.pt" || failed=1
    expect_code 1 || failed=1
    attack sleap info "$work/sleap" || failed=1
    expect_code 1 || failed=1
    return $failed
}

# A cache folder in which somebody else has left links to a file of the user's, and pipes.
test_planted_cache() {
    local failed=0 name
    "$SKITTER_TEST_BUILD/tests/make_hostile" "$work" || fail "no files"
    SKITTER_CACHE_DIR=$work/seen attack first predict "$picture" -m "$work/imgsz.pt" -o "$work/o1" --imgsz 64 --runtime cpu
    SKITTER_CACHE_DIR=$work/seen attack first runtimes
    echo precious >"$work/precious"
    for kind in link pipe; do
        mkdir -p "$work/planted-$kind"
        (cd "$work/seen" && find . -type d) | while read -r name; do mkdir -p "$work/planted-$kind/$name"; done
        (cd "$work/seen" && find . -type f) | while read -r name; do
            if [ $kind = link ]; then ln -s "$work/precious" "$work/planted-link/$name"; else mkfifo "$work/planted-pipe/$name"; fi
        done
        SKITTER_CACHE_DIR=$work/planted-$kind attack $kind predict "$picture" -m "$work/imgsz.pt" -o "$work/o-$kind" \
            --imgsz 64 --runtime cpu || failed=1
        SKITTER_CACHE_DIR=$work/planted-$kind attack $kind runtimes || failed=1
        [ "$(cat "$work/precious")" = precious ] || fail "what a link in the cache pointed at was overwritten" || failed=1
    done
    return $failed
}

# An account without a home: the run works, and nothing is made where the home would be.
test_missing_home() {
    local failed=0
    "$SKITTER_TEST_BUILD/tests/make_hostile" "$work" || fail "no files"
    export HOME=$work/home/of/nobody
    unset SKITTER_CACHE_DIR SKITTER_CONFIG_DIR XDG_CACHE_HOME XDG_CONFIG_HOME
    unset SKITTER_ONNXRUNTIME # 1.31 makes one for itself
    attack home predict "$picture" -m "$work/imgsz.pt" -o "$work/o3" --imgsz 64 --runtime cpu || failed=1
    expect_code 0 || failed=1
    attack home runtimes || failed=1
    [ ! -e "$work/home" ] || fail "a home was made" || failed=1
    return $failed
}

run_tests
