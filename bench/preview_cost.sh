#!/usr/bin/env bash
# What the page's preview and events cost a run: pairs of runs with and without them, turn about, so that a machine that gets
# warmer or busier counts for both alike. Prints frames a second and
# the processor's seconds of both, and the cost in percent, by the medians of the pairs. On a machine that does other things
# besides, the seconds say more.
# usage: bench/preview_cost.sh [SKITTER] [PAIRS] [VIDEO MODEL]
set -euo pipefail
cd "$(dirname "$0")/.."
skitter=${1:-build/skitter} pairs=${2:-9} video=${3:-} model=${4:-share/models/demo-obb.pt}
work=$(mktemp -d "${TMPDIR:-/tmp}/skitter-preview-XXXXXX")
trap 'rm -rf "$work"' EXIT
export SKITTER_CACHE_DIR=$work/cache
if [ -z "$video" ]; then
    video=$work/scene.mp4
    "$skitter" scene -o "$video" --seconds 12 --size 1280x960 --animals 8 -q
fi
TIMEFORMAT='%U %S'
one() { # NAME OPTIONS…: a run; prints its frames a second, without opening, and the processor's seconds of all of it
    local name=$1
    shift
    { time "$skitter" predict "$video" -m "$model" -o "$work/$name" --restart --json "$@" >"$work/json" 3>"$work/events" 2>/dev/null; } 2>"$work/time"
    echo "$(sed -n 's/^ *"fps": \([0-9.]*\).*/\1/p' "$work/json" | head -n 1) $(awk '{ print $1 + $2 }' "$work/time")"
}
one warm >/dev/null
: >"$work/rows"
for ((i = 0; i < pairs; i++)); do
    if ((i % 2)); then
        with=$(one with --events 3 --preview "$work/p.jpg")
        pictures=$(grep -c '"preview"' "$work/events" || true)
        without=$(one without)
    else
        without=$(one without)
        with=$(one with --events 3 --preview "$work/p.jpg")
        pictures=$(grep -c '"preview"' "$work/events" || true)
    fi
    echo "$without $with" >>"$work/rows"
done
median() { awk "{ print $1 }" "$work/rows" | sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
printf 'frames/s      without %8.2f   with %8.2f   cost %5.2f %%\n' "$(median '$1')" "$(median '$3')" "$(median '100 * (1 - $3 / $1)')"
printf 'processor, s  without %8.2f   with %8.2f   cost %5.2f %%\n' "$(median '$2')" "$(median '$4')" "$(median '100 * ($4 / $2 - 1)')"
printf '%d pairs, medians; %s pictures in the last run\n' "$pairs" "$pictures"
