#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Watches the memory of a long run: at most 20 MB more after the first thousand frames. Run by hand (minutes):
#   tests/app/long_run.sh SKITTER MODEL VIDEO [FRAMES]
set -euo pipefail
skitter=$1 model=$2 video=$3 frames=${4:-100000}
work=$(mktemp -d)
trap 'kill $run 2>/dev/null || true; wait $run 2>/dev/null || true; rm -rf "$work"' EXIT
"$skitter" predict "$video" --model "$model" --out "$work/run" --loop 100000 --threads 1 -q &
run=$!
first=0 highest=0 done=0
while kill -0 $run 2>/dev/null; do
    done=$(wc -l 2>/dev/null <"$work/run/results.jsonl" || echo 0)
    rss=$(awk '/^VmRSS/ {print $2}' "/proc/$run/status" 2>/dev/null || echo 0)
    [ "$done" -ge 1000 ] && [ $first -eq 0 ] && first=$rss && echo "after $done frames: $rss kB"
    [ "${rss:-0}" -gt $highest ] && highest=$rss
    [ "$done" -ge "$frames" ] && break
    sleep 1
done
echo "after $done frames: highest $highest kB, $(((highest - first) / 1024)) MB more than after the first thousand"
[ "$done" -ge "$frames" ] && [ $((highest - first)) -le 20480 ]
