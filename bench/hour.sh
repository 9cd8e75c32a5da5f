#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An hour of video, tracked: is memory flat, does a run that was killed go on to the same files, what does the cache save.
# usage: bench/hour.sh SKITTER MODEL [SECONDS [ANIMALS]]   (3600 and 5 without them)
# A scene of eight seconds at 25 frames a second is played over and over. Environment: THREADS (0: all cores), VIDEO (another
# one to play, of eight seconds at 25 frames a second), KILL (0: the second part is left out).
set -uo pipefail
skitter=$(realpath "$1") model=$(realpath "$2") seconds=${3:-3600} animals=${4:-5}
loops=$((seconds / 8)) frames=$((seconds / 8 * 200))
work=$(mktemp -d)
run=
trap '[ -z "$run" ] || kill -9 $run 2>/dev/null; rm -rf "$work"' EXIT
export SKITTER_CONFIG_DIR=$work/config
scene=${VIDEO:-$work/scene.mp4}
[ -n "${VIDEO:-}" ] || "$skitter" scene -q --animals "$animals" --size 320x240 --fps 25 --seconds 8 -o "$scene" || exit 1
failed=0
say() { printf '%s\n' "$*"; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
start() { # cache and result folder: begins a run in the background
    SKITTER_CACHE_DIR=$work/$1 "$skitter" track "$scene" -m "$model" --loop $loops --threads "${THREADS:-0}" -o "$work/$2" \
        >"$work/$2.out" 2>"$work/$2.log" &
    run=$!
}
done_of() { grep -oE '[0-9]+(/[0-9]+)? frames' "$work/$1.log" | tail -n 1 | grep -oE '^[0-9]+' || echo 0; }
# Its own memory, kB; pages of files that it maps (its record, tables of the offline steps) are the system's to drop.
own() { awk '/^Rss(Anon|Shmem):/ { s += $2 } END { print s + 0 }' "/proc/$run/status" 2>/dev/null || echo 0; }

# 1: at once, with an eye on its memory
begin=$(now)
start cache_a a
early=0 late=0 most=0
while kill -0 $run 2>/dev/null; do
    n=$(done_of a) r=$(own)
    [ "$n" -ge $((frames / 20)) ] && [ "$early" -eq 0 ] && early=$r
    [ "$n" -gt 0 ] && [ "$n" -lt $((frames * 98 / 100)) ] && late=$r
    [ "$r" -gt "$most" ] && most=$r
    sleep 0.2
done
wait $run || { say "the run failed:"; tail -n 3 "$work/a.log"; exit 1; }
first=$(since "$begin")
say "$frames frames tracked in $first s; own memory after a twentieth $((early / 1024)) MB, at the last frames $((late / 1024)) MB, at most, with the offline steps and the report, $((most / 1024)) MB"
[ $((late - early)) -le 8192 ] || { say "FAILED: it grew by $(((late - early) / 1024)) MB"; failed=1; }
[ $((most - early)) -le 131072 ] || { say "FAILED: the offline steps took $(((most - early) / 1024)) MB"; failed=1; }

# 2: killed twice on the way, and continued
killed_and_continued() {
    local kills=0 same=0 other=0 part file
    for part in 3 6; do
        start cache_b b
        while kill -0 $run 2>/dev/null && [ "$(done_of b)" -lt $((frames * part / 10)) ]; do sleep 0.1; done
        kill -9 $run 2>/dev/null && kills=$((kills + 1))
        wait $run 2>/dev/null
    done
    start cache_b b
    wait $run || { say "the continued run failed:"; tail -n 3 "$work/b.log"; exit 1; }
    run=
    for file in "$work"/a/*.csv "$work"/a/*.jsonl "$work"/a/plots/*; do
        if cmp -s "$file" "$work/b/${file#"$work"/a/}"; then same=$((same + 1)); else other=$((other + 1)) && say "differs: ${file##*/}"; fi
    done
    say "killed $kills times (kill -9) and continued: $same files the same to the bit, $other different"
    [ $other -eq 0 ] && [ $kills -eq 2 ] || failed=1
}
[ "${KILL:-1}" = 0 ] || killed_and_continued

# 3: the same once more, from what the first one kept
begin=$(now)
start cache_a c
wait $run || { say "the run from the cache failed:"; tail -n 3 "$work/c.log"; exit 1; }
run=
again=$(since "$begin")
cmp -s "$work/a/results.csv" "$work/c/results.csv" || { say "FAILED: results from the cache differ"; failed=1; }
awk -v a="$first" -v b="$again" 'BEGIN { printf "from the cache %.1f s: %.0fx faster\n", b, a / b; exit !(a / b >= 50) }' || failed=1
exit $failed
