#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# track_sleap.sh [FRAMES]: SLEAP's own models on its own videos, tracked, against the identities that SLEAP 1.4 gave where it
# gave some (clip.predictions.slp: two flies told apart by a multi-class bottom-up model). Prints tracks and identity switches with and
# without the number of animals, offline and online; fails where there is a switch. Needs the reference data; minutes on few cores.
# The model that made those predictions is SLEAP's tests/data/models/min_tracks_2node.UNet.bottomup_multiclass: where it lies beside the
# reference data's, or SKITTER_SLEAP_MULTICLASS names it, all 1500 frames are compared with it. The top-down model of the reference data finds
# others (its centroid model learnt from another video; in the last third both of its finds are often one fly): there the identities that the
# model itself gives each frame, which are SLEAP's (sleap_original.py), switch too, and tracks must not switch more often than they do.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${SKITTER_TEST_DATA:-../shared/data} skitter=${SKITTER:-build/skitter} frames=${1:-1500}
legacy=$data/sleap/legacy truth=$data/slp/clip.predictions.slp
[ -f "$truth" ] || { echo "skipped: $truth is not here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 most=0 # switches that there may be
switches() { awk '/switches/ { on = 1; next } on && $1 == "centres" { print $(NF - 3); exit }'; }
one() { # name, video, model arguments … -- options
    local name=$1 video=$2 way found count
    shift 2
    for way in "" --online "--animals 2" "--animals 2 --online"; do
        # shellcheck disable=SC2086
        found=$("$skitter" track "$data/video/$video" "$@" --format slp --no-report --cache "$work/cache" -o "$work/out" --restart $way 2>/dev/null | grep -m 1 sightings)
        if [ "$video" = clip.mp4 ]; then
            count=$("$skitter" eval "$work/out/results.slp" "$truth" --covered 2>/dev/null | switches)
            [ "$count" -le "$most" ] || bad=1
        else
            count='no truth for'
        fi
        printf '%-34s %-22s %s; %s switches\n' "$name" "${way:-offline}" "${found%%,*}" "$count"
    done
}
two=$legacy/min_tracks_2node.UNet.topdown_multiclass
made=${SKITTER_SLEAP_MULTICLASS:-$legacy/min_tracks_2node.UNet.bottomup_multiclass}
if [ -d "$made" ]; then
    one "clip, the model of its predictions" clip.mp4 -m "$made" --frames "0:$frames"
else
    echo "clip, the model of its predictions: skipped, $made is not here"
fi
one "clip, top-down multi-class" clip.mp4 -m "$legacy/minimal_instance.UNet.centroid" -m "$two" --frames "0:$((frames < 200 ? frames : 200))"
if [ "$frames" -gt 200 ]; then
    "$skitter" predict "$data/video/clip.mp4" -m "$legacy/minimal_instance.UNet.centroid" -m "$two" --frames "0:$frames" --format slp -o "$work/own" >/dev/null 2>&1
    most=$("$skitter" eval "$work/own/results.slp" "$truth" --covered 2>/dev/null | switches)
    printf '%-34s %-22s %s switches\n' "clip, top-down multi-class" "the model's own" "$most"
    one "clip, top-down multi-class" clip.mp4 -m "$legacy/minimal_instance.UNet.centroid" -m "$two" --frames "0:$frames"
    most=0
fi
one "pair, top-down multi-class" centered_pair_small.mp4 -m "$legacy/minimal_instance.UNet.centroid" -m "$two" --frames "0:$frames"
one "pair, top-down" centered_pair_small.mp4 -m "$legacy/minimal_instance.UNet.centroid" -m "$legacy/minimal_instance.UNet.centered_instance" --frames "0:$frames"
one "pair, bottom-up" centered_pair_small.mp4 -m "$legacy/minimal_instance.UNet.bottomup" --frames "0:$frames"
for way in "" --online "--animals 2" "--animals 2 --online"; do # what SLEAP found, all 1500 frames
    # shellcheck disable=SC2086
    "$skitter" track --detections "$truth" --fps 25 --format csv --no-report -o "$work/given" --restart $way >"$work/said" 2>/dev/null
    count=$("$skitter" eval "$work/given/results.csv" "$truth" 2>/dev/null | switches)
    printf '%-34s %-22s %s; %s switches\n' "clip, what SLEAP found" "${way:-offline}" "$(awk '/ tracks?, / { print $1, $2; exit }' "$work/said" | tr -d ,)" "$count"
    [ "$count" = 0 ] || bad=1
done
exit $bad
