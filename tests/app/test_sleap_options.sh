#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SLEAP's settings of inference: each is part of what a run is, and those that mean nothing for a model are refused.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
fixtures=$SKITTER_TEST_SOURCE/tests/fixtures
picture=$fixtures/grey_64x48.png
bottomup=$fixtures/sleap_nn/unet_bottomup_transposed

test_each_is_another_run() {
    run predict "$picture" -m "$bottomup" -o "$work/run" -q
    [ $code = 0 ] || fail "$err" || return 1
    local option
    for option in "refinement local" "integral-refinement none" "integral-patch-size 7" "max-edge-length-ratio 0.5" \
        "dist-penalty-weight 2" "n-points 5" "min-line-scores 0.1" "min-instance-peaks 2" filter-overlapping \
        "filter-overlapping --filter-overlapping-method oks" "filter-overlapping --filter-overlapping-threshold 0.5" \
        "filter-min-visible-nodes 1" "filter-min-visible-node-fraction 0.1" "filter-min-mean-node-score 0.1" \
        "filter-min-instance-score 0.1" "peak-threshold 0.3" "max-instances 3"; do
        # shellcheck disable=SC2086
        run predict "$picture" -m "$bottomup" -o "$work/run" -q --$option
        [ $code != 0 ] && [[ $err == *"--restart"* ]] || fail "--$option: $code $err" || return 1
    done
    # what is given as it is anyway is the same run
    run predict "$picture" -m "$bottomup" -o "$work/run" -q --refinement integral --n-points 10
    [ $code = 0 ] || fail "$err"
}

test_what_means_nothing_is_refused() {
    local single=$fixtures/sleap_nn/unet_single_kernel5_convs3 option
    for option in "n-points 5" "min-line-scores 0.1" "centroid-peak-threshold 0.1" "filter-min-centroid-distance 3"; do
        # shellcheck disable=SC2086
        run predict "$picture" -m "$single" -o "$work/refused" -q --$option
        [ $code = 2 ] && [[ $err == *"means nothing here"* ]] || fail "--$option: $code $err" || return 1
    done
    run predict "$picture" -m "$single" -o "$work/refused" -q --integral-patch-size 4
    [ $code = 2 ] && [[ $err == *odd* ]] || fail "$code $err" || return 1
    run predict "$picture" -m "$single" -o "$work/refused" -q --filter-overlapping-threshold 0.5
    [ $code = 2 ] && [[ $err == *--filter-overlapping* ]] || fail "$code $err"
}

test_a_yolo_model_has_none_of_them() {
    local model=$SKITTER_TEST_DATA/yolo/yolo11n/yolo11n.pt
    [ -f "$model" ] || model=$(find "$SKITTER_TEST_DATA/yolo" -name '*.pt' 2>/dev/null | head -1)
    [ -f "$model" ] || return 0
    local option
    for option in "refinement none" "n-points 5" filter-overlapping "filter-min-instance-score 0.5"; do
        # shellcheck disable=SC2086
        run predict "$picture" -m "$model" -o "$work/yolo" -q --$option
        [ $code = 2 ] && [[ $err == *"is a YOLO model"* ]] || fail "--$option: $code $err" || return 1
    done
}

run_tests
