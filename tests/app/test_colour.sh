#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whose colours a run saw is said in run.json, is part of what the run is, and can be chosen.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
fixtures=$SKITTER_TEST_SOURCE/tests/fixtures
video=$fixtures/colours/bt709.mp4
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 77; }

said() { # FOLDER WORD: run.json names it
    grep -q "colours $2" "$1/run.json" || fail "$1/run.json does not say 'colours $2': $(grep settings "$1/run.json")"
}

test_each_original_has_its_colours() {
    run predict "$video" -m "$fixtures/sleap_keras/convolutions" -o "$work/old" -q
    [ $code = 0 ] || fail "$err" || return 1
    said "$work/old" bt601 || return 1
    run predict "$video" -m "$fixtures/sleap_nn/unet_single_kernel5_convs3" -o "$work/new" -q
    [ $code = 0 ] || fail "$err" || return 1
    said "$work/new" tagged || return 1
    run predict "$video" -m "$fixtures/sleap_nn/unet_single_kernel5_convs3" -o "$work/bt601" -q --colour bt601
    [ $code = 0 ] || fail "$err" || return 1
    said "$work/bt601" bt601
}

test_another_choice_is_another_run() {
    run predict "$video" -m "$fixtures/sleap_keras/convolutions" -o "$work/tagged" -q --colour tagged
    [ $code = 0 ] || fail "$err" || return 1
    said "$work/tagged" tagged || return 1
    run predict "$video" -m "$fixtures/sleap_keras/convolutions" -o "$work/tagged" -q --color original
    [ $code != 0 ] && [[ $err == *"--restart"* ]] || fail "a run with other colours went on: $err"
}

test_pictures_have_one_answer() {
    run predict "$fixtures/grey_64x48.png" -m "$fixtures/sleap_keras/convolutions" -o "$work/picture" -q --colour tagged
    [ $code = 2 ] && [[ $err == *"--colour means nothing here"* ]] || fail "$code $err"
}

run_tests
