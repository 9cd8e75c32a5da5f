#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The runtimes that are found give the same rows as the cpu runtime, for the models that come with the tests and, where it
# is there, for every model of the reference data. Skipped where there is no other runtime, or no Python.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
command -v python3 >/dev/null || exit 77
fixtures=$SKITTER_TEST_SOURCE/tests/fixtures
cases=()
for model in "$fixtures"/sleap_keras/convolutions "$fixtures"/sleap_nn/unet_single_kernel5_convs3; do
    cases+=(--case "$fixtures/grey_64x48.png" "$model")
done
[ -d "$SKITTER_TEST_DATA/yolo" ] && cases+=(--data "$SKITTER_TEST_DATA")
python3 "$SKITTER_TEST_SOURCE/tests/parity/predict_runtimes.py" --skitter "$skitter" "${cases[@]}"
