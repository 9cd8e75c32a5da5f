#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
PYTHONDONTWRITEBYTECODE=1 exec python3 "${SKITTER_TEST_SOURCE:?run through ctest}/tests/page/colours.py"
