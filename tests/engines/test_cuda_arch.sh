#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which GPUs nvcc is asked to make code for: the whole list where it knows them, what it knows of it where it is older, one or some
# where they are named. Nothing is built.
set -euo pipefail
asked() { # wish, known
    cmake -DWISH="$1" -DKNOWN="$2" -P "$SKITTER_TEST_SOURCE/cmake/CudaArch.cmake" 2>&1 | sed 's/.*code=//' | tr '\n' ' '
}
check() { # wish, known, what comes out
    got=$(asked "$1" "$2")
    [ "$got" = "$3 " ] || { echo "$1 where nvcc knows $2: $got, not $3"; exit 1; }
}
cuda13="compute_75;compute_80;compute_86;compute_87;compute_88;compute_89;compute_90;compute_100;compute_110;compute_103;compute_120;compute_121"
check all "$cuda13" "sm_80 sm_86 sm_89 sm_90a sm_100 sm_120 compute_90"
check all "compute_50;compute_70;compute_80;compute_86;compute_89;compute_90" "sm_80 sm_86 sm_89 sm_90a compute_90"
check 90a "$cuda13" "sm_90a"
check 86,89 "$cuda13" "sm_86 sm_89"
echo "4 lists"
