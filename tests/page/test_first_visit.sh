#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
"$SKITTER_TEST_BINARY" --version | grep -q "FFmpeg yes" || { echo "skipped: built without video"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "${SKITTER_TEST_SOURCE:?run through ctest}/tests/page/first_visit.py"
