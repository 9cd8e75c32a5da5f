#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run by conda-build, which names the places.
set -euo pipefail
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DSKITTER_TESTS=OFF -DSKITTER_PYTHON_PROGRAM="$PYTHON" -DSKITTER_PYTHON_SITE="$SP_DIR"
cmake --build build-conda -j "${CPU_COUNT:-2}"
cmake --install build-conda
