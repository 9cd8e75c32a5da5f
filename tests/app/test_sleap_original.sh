#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SLEAP's own answers over forty frames are met, every one; test_sleap_original_quick.sh is the short form.
source "$SKITTER_TEST_SOURCE/tests/support/shell.sh"
export SKITTER_CACHE_DIR=$work/cache SKITTER_CONFIG_DIR=$work/config
command -v python3 >/dev/null || exit 77
"$skitter" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 77; }
[ -d "$SKITTER_TEST_DATA/sleap/original" ] || { echo "skipped: no reference data"; exit 77; }
python3 "$SKITTER_TEST_SOURCE/tests/parity/sleap_original.py" --skitter "$skitter" --data "$SKITTER_TEST_DATA"

