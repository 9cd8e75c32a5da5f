#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No room knows one it may not know; and the check that says so does find each kind of trespass.
set -euo pipefail
check=$SKITTER_TEST_SOURCE/scripts/check_rooms
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-rooms-XXXXXX")
trap 'rm -rf "$work"' EXIT

tree() { # a small tree in order, in a fresh folder
    rm -rf "$work/tree"
    mkdir -p "$work"/tree/{include/skitter,src/{base,graph,formats,kernels/x86,tasks,engines/cpu,runtime,media,app,server,cli}}
    cd "$work/tree"
    echo '#include "skitter/status.h"' >include/skitter/log.h
    printf '#include "base/error.h"\n#include <stdio.h>\n#include "near.h"\n' >src/base/log.c
    printf '#include "base/log.h"\n#include "graph/graph.h"\n' >src/graph/graph.c
    echo '#include "kernels/conv.h"' >src/tasks/letterbox.c
    echo '#include "engines/engine.h"' >src/runtime/choose.c
    echo '#include "engines/cpu/plan.h"' >src/engines/cpu/plan.c
    echo '#include <libavformat/avformat.h>' >src/media/video.c
    echo '#include "app/predict.h"' >src/cli/main.c
}
caught() { # file, line to add, what the complaint must say
    tree
    echo "$2" >>"$1"
    local line
    line=$(wc -l <"$1")
    if "$check" "$work/tree" >"$work/out" 2>&1; then
        echo "not found: $2 in $1"
        exit 1
    fi
    grep -qF "$1:$line: " "$work/out" && grep -qF "$3" "$work/out" || {
        echo "found, but badly told: $2 in $1"
        cat "$work/out"
        exit 1
    }
}

tree
"$check" "$work/tree" >"$work/out" || { echo "a tree in order was refused:"; cat "$work/out"; exit 1; }
caught src/base/log.c '#include "graph/graph.h"' 'base may not know graph'
caught src/graph/graph.c '# include "formats/npy.h"' 'graph may not know formats'
caught src/graph/graph.c '#include "base/file.h"' 'reads no files'
caught src/formats/npy.h '#include "kernels/convert.h"' 'formats may not know kernels'
caught src/kernels/x86/conv_avx2.c '#include "tasks/nms.h"' 'kernels may not know tasks'
caught src/kernels/x86/conv_avx2.c '#include "base/memory.h"' 'allocate nothing'
caught src/media/video.c '#include "models/model.h"' 'media may not know models'
caught src/runtime/choose.c '#include "engines/cpu/plan.h"' 'insides of an engine'
caught src/app/predict.c '#include "cli/args.h"' 'app may not know cli'
caught src/server/http.h '#include "cli/cli.h"' 'server may not know cli'
caught src/cli/main.c '#include "../app/predict.h"' 'climbs out'
caught include/skitter/log.h '#include "base/error.h"' 'skitter may not know base'
mkdir -p "$work/tree/src/attic" && tree && mkdir src/attic && touch src/attic/old.c
if "$check" "$work/tree" >"$work/out"; then
    echo "a folder that is no room was accepted"
    exit 1
fi

"$check" "$SKITTER_TEST_SOURCE"
