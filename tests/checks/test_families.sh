#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nobody tells families of models by the order of the tasks' numbers, and the rooms that run networks do not tell them at
# all: what differs between YOLO and SLEAP is in their tables (tasks/family.h).
set -uo pipefail
cd "${SKITTER_TEST_SOURCE:-$(dirname "$0")/../..}"

# A line that compares the numbers of tasks or families by size.
orders() {
    grep -nE '[<>]=? *SK_(TASK|FAMILY)_[A-Z_]+|SK_(TASK|FAMILY)_[A-Z_]+ *[<>]' "$@" | grep -vE 'SK_TASK_MAX_MODELS|<< *SK_'
}
# A line that names one.
names() {
    grep -nE '\bSK_(FAMILY_[A-Z]|TASK_(DETECT|POSE|OBB|SEGMENT|CLASSIFY|SINGLE|CENT|BOTTOMUP|MULTI))|\bis_(yolo|sleap)\b' "$@"
}

# The check itself must see one of each.
printf 'if (model->task >= SK_TASK_SINGLE_INSTANCE)\n' | orders >/dev/null &&
    printf 'if (SK_TASK_OBB < model->task)\n' | orders >/dev/null &&
    printf 'return model->family == SK_FAMILY_SLEAP;\n' | names >/dev/null || {
    echo "the patterns find nothing any more"
    exit 1
}
mapfile -t files < <(find src -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
if orders "${files[@]}"; then
    echo "tasks are compared by number above: a model says its family (model->family), and a family its rest"
    exit 1
fi
mapfile -t blind < <(find src/runner src/tasks/stage*.c src/tasks/arrange.c src/tasks/pixels.c -name '*.[ch]')
if names "${blind[@]}"; then
    echo "these files ask which family a model is of: what they need belongs into the table, tasks/family.h"
    exit 1
fi
echo "no task is told by its number in ${#files[@]} files, no family by its name in ${#blind[@]}"
