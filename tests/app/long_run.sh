#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Watches the memory of a long run: at most 20 MB more after the first thousand frames. Run by hand (minutes):
#   tests/app/long_run.sh SKITTER MODEL VIDEO [FRAMES] [predict|track]
# VIDEO is played over and over; "scene" makes a small one of eight seconds at 25 frames a second, so that FRAMES 90000 is an
# hour of it.
set -euo pipefail
skitter=$1 model=$2 video=$3 frames=${4:-100000} command=${5:-predict}
work=$(mktemp -d)
run=
trap '[ -z "$run" ] || { kill $run 2>/dev/null || true; wait $run 2>/dev/null || true; }; rm -rf "$work"' EXIT
if [ "$video" = scene ]; then
    video=$work/scene.mp4
    "$skitter" scene -q --animals 5 --size 320x240 --fps 25 --seconds 8 -o "$video"
fi
"$skitter" "$command" "$video" --model "$model" --out "$work/run" --loop 1000000 --threads 1 2>"$work/progress" &
run=$!
first=0 highest=0 done=0
while kill -0 $run 2>/dev/null; do
    # "predict: 1234/200000 frames, 33/s": how far it says to be
    done=$(grep -oE '[0-9]+(/[0-9]+)? frames' "$work/progress" | tail -1 | grep -oE '^[0-9]+' || echo 0)
    rss=$(awk '/^VmRSS/ {print $2}' "/proc/$run/status" 2>/dev/null || echo 0)
    [ "$done" -ge 1000 ] && [ $first -eq 0 ] && first=$rss && echo "after $done frames: $rss kB"
    [ "${rss:-0}" -gt $highest ] && highest=$rss
    [ "$done" -ge "$frames" ] && break
    sleep 1
done
[ "$first" -gt 0 ] || { cat "$work/progress"; echo "it ended after $done frames"; exit 1; }
echo "after $done frames: highest $highest kB, $(((highest - first) / 1024)) MB more than after the first thousand"
[ "$done" -ge "$frames" ] && [ $((highest - first)) -le 20480 ]
