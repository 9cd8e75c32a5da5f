#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# batch.sh [PIECES] [ROUNDS]: what 'skitter batch' costs and gains, with the demo's model on made scenes, one thread a process.
#   two workers   on two cores, against one worker on one of them, and against one that may use both (it reads its video beside the
#                 network), over the same eight videos: wall time, the least of ROUNDS
#   overhead      of PIECES pieces, each a process: a batch of short videos by one worker against 'skitter track' of the same videos in
#                 one process; per piece, and of pieces as long as those measured
# On a machine that others use, RUN="chrt -r 1" gives it the processors it asks for, but for the twentieth that Linux keeps for others
# on each core (sched_rt_runtime_us): so like is compared with like only where one worker has one core.
set -euo pipefail
pieces=${1:-100} rounds=${2:-3}
skitter=$(realpath "${SKITTER:-build/skitter}")
model=$(realpath "${MODEL:-share/models/demo-obb.pt}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
least() { awk -v a="$1" -v b="$2" 'BEGIN { print b == "" || a < b ? a : b }'; }
timed() {
    local begin end
    begin=$(date +%s.%N)
    ${RUN:-} "$@" >/dev/null 2>&1
    end=$(date +%s.%N)
    awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }'
}
words=(-m "$model" --no-cache --no-report --threads 1 -q)
mkdir eight many
for i in $(seq 8); do "$skitter" scene -o "eight/v$i.mp4" --seconds "${SECONDS_EACH:-2}" --size 160x128 --seed "$i" -q; done
read -r first second < <(taskset -pc $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i }' | head -n 2 | xargs)
one="" free="" two=""
for _ in $(seq "$rounds"); do
    rm -rf o1 o2 o3
    one=$(least "$(timed taskset -c "$first" "$skitter" batch --videos eight -o o1 --workers 1 "${words[@]}")" "$one")
    two=$(least "$(timed taskset -c "$first,$second" "$skitter" batch --videos eight -o o2 --workers 2 "${words[@]}")" "$two")
    free=$(least "$(timed taskset -c "$first,$second" "$skitter" batch --videos eight -o o3 --workers 1 "${words[@]}")" "$free")
done
awk -v a="$one" -v b="$two" -v c="$free" 'BEGIN {
    printf "one worker %.2f s on one core, two workers %.2f s on two: %.2f times as fast; one worker with both cores %.2f s: %.2f times\n", a, b, a / b, c, c / b
}'

"$skitter" scene -o piece.mp4 --seconds "${PIECE_SECONDS:-0.2}" --size 160x128 -q
for i in $(seq "$pieces"); do cp piece.mp4 "many/p$i.mp4"; done
alone='' batch=''
for _ in $(seq "$rounds"); do
    rm -rf s b
    alone=$(least "$(timed "$skitter" track many -o s "${words[@]}")" "$alone")
    batch=$(least "$(timed "$skitter" batch --videos many -o b --workers 1 "${words[@]}")" "$batch")
done
awk -v a="$alone" -v b="$batch" -v n="$pieces" 'BEGIN {
    each = (b - a) / n
    printf "%d pieces: one process %.2f s (%.3f s each), a batch %.2f s: %.1f ms a piece more, %.1f %% of these; 2 %% of pieces that take %.1f s\n",
        n, a, a / n, b, 1000 * each, 100 * (b / a - 1), each / 0.02
}'
