#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skitter scene: videos and pictures with their truth, and what is refused.
set -u
skitter=$SKITTER_TEST_BINARY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
expect() { # text pattern what
    if ! grep -q -- "$2" <<<"$1"; then
        printf 'FAILED: %s: no "%s" in:\n%s\n' "$3" "$2" "$1"
        failures=$((failures + 1))
    fi
}
status_is() { # wanted got what
    if [ "$1" -ne "$2" ]; then
        printf 'FAILED: %s: exit code %s, not %s\n' "$3" "$2" "$1"
        failures=$((failures + 1))
    fi
}

out=$("$skitter" scene 2>&1); status_is 2 $? "no output"
expect "$out" "scene.mp4" "it says what to give"
out=$("$skitter" scene -o clip.avi 2>&1); status_is 2 $? "no mp4"
expect "$out" "mp4" "it says which video"
out=$("$skitter" scene -o clip.mp4 --size 640 2>&1); status_is 2 $? "half a size"
expect "$out" "640x480" "it shows a size"
out=$("$skitter" scene -o clip.mp4 --size 32x32 2>&1); status_is 2 $? "too small"
grep -q "frames in" <<<"$out" && { echo "FAILED: progress of nothing: $out"; failures=$((failures + 1)); }
out=$("$skitter" scene -o clip.mp4 --size 101x100 2>&1); status_is 2 $? "odd sides"
out=$("$skitter" scene -o clip.mp4 --species cat 2>&1); status_is 2 $? "an unknown animal"
out=$("$skitter" scene -o clip.mp4 --animals 201 2>&1); status_is 2 $? "too many"
out=$("$skitter" scene -o clip.mp4 --pictures 3 2>&1); status_is 2 $? "pictures into a file"
out=$("$skitter" scene -o clip.mp4 --labels obb 2>&1); status_is 2 $? "labels of a video"
[ -e clip.mp4 ] && { echo "FAILED: a refused scene left a file"; failures=$((failures + 1)); }

out=$("$skitter" scene -o pictures --species mixed --animals 4 --pictures 5 --size 160x120 --labels obb --json 2>&1)
status_is 0 $? "pictures"
expect "$out" '"frames": 5' "the report counts them"
[ "$(ls pictures/images | wc -l)" = 5 ] && [ "$(ls pictures/labels | wc -l)" = 5 ] ||
    { echo "FAILED: not 5 pictures with labels"; failures=$((failures + 1)); }
awk 'NF != 9 { exit 1 }' pictures/labels/*.txt || { echo "FAILED: oriented labels are not 9 numbers"; failures=$((failures + 1)); }
expect "$(head -1 pictures/truth.csv)" "nose_x,nose_y,nose_visible" "the truth has its columns"
"$skitter" scene -q -o again --species mixed --animals 4 --pictures 5 --size 160x120 --picture-format png || exit 1
"$skitter" scene -q -o once_more --species mixed --animals 4 --pictures 5 --size 160x120 --picture-format png || exit 1
cmp -s again/images/000004.png once_more/images/000004.png ||
    { echo "FAILED: the same seed gave other pictures"; failures=$((failures + 1)); }
awk 'NF != 20 { exit 1 }' again/labels/*.txt || { echo "FAILED: pose labels are not 20 numbers"; failures=$((failures + 1)); }

# what trackers fail at
out=$("$skitter" scene --truth x.csv --behaviour follow,dance 2>&1); status_is 2 $? "an unknown behaviour"
expect "$out" "'dance'" "it names the behaviour"
expect "$out" "huddle" "it names those there are"
out=$("$skitter" scene --truth x.csv --hides 17 2>&1); status_is 2 $? "too many roofs"
"$skitter" scene -q --truth plain.csv --animals 9 --seconds 8 --size 160x120 || exit 1
"$skitter" scene -q --truth same.csv --animals 9 --seconds 8 --size 160x120 --behaviour wander --hides 0 --border closed || exit 1
cmp -s <(sed 's/plain.mp4//' plain.csv) <(sed 's/same.mp4//' same.csv) ||
    { echo "FAILED: wandering within walls is another scene"; failures=$((failures + 1)); }
for set in "--behaviour follow" "--behaviour chase" "--behavior huddle" "--hides 1" "--border open"; do
    # shellcheck disable=SC2086
    "$skitter" scene -q --truth plain2.csv --animals 9 --seconds 8 --size 160x120 $set || exit 1
    cmp -s <(sed 's/plain.mp4//' plain.csv) <(sed 's/plain2.mp4//' plain2.csv) &&
        { echo "FAILED: $set changes nothing"; failures=$((failures + 1)); }
done
awk -F, 'NR > 1 { seen[$5] = 1 } END { for (t in seen) n++; exit n <= 9 }' plain2.csv ||
    { echo "FAILED: nobody came over the open border"; failures=$((failures + 1)); }

# the truth alone, and as MOTChallenge text
out=$("$skitter" scene --truth alone.jpg 2>&1); status_is 2 $? "a truth of no kind"
expect "$out" ".txt for MOTChallenge" "it says which"
out=$("$skitter" scene --truth a.csv --truth b.csv 2>&1); status_is 2 $? "the same truth twice"
out=$("$skitter" scene -o pictures2 --pictures 2 --truth b.txt 2>&1); status_is 2 $? "tracks of pictures"
out=$("$skitter" scene --pictures 2 --truth b.csv 2>&1); status_is 2 $? "pictures nowhere"
out=$("$skitter" scene --truth clip.csv --truth clip.txt --species fly --animals 150 --seconds 0.2 --fps 20 --size 641x481 2>&1)
status_is 0 $? "a truth without a video"
expect "$out" "clip.csv: 4 frames, 600 animals" "its report"
[ ! -e clip.mp4 ] || { echo "FAILED: a truth alone drew a video"; failures=$((failures + 1)); }
awk -F, 'NF != 9 || $1 < 1 || $1 > 4 || $2 < 1 || $2 > 150 || ($7 == 1) != ($9 >= 0.3) || $8 != ($7 == 1 ? 1 : 8) { exit 1 }
    END { if (NR != 600) exit 1 }' clip.txt || { echo "FAILED: clip.txt is not MOTChallenge's"; failures=$((failures + 1)); }
# the box's left, top and width of the first animal, in both
awk -F, 'NR == 2 { printf "%.3f %.3f %.2f\n", $9, $10, $11 - $9 }' clip.csv >csv.box
awk -F, 'NR == 1 { printf "%.3f %.3f %.2f\n", $3, $4, $5 }' clip.txt >mot.box
cmp -s csv.box mot.box || { echo "FAILED: the two truths differ"; failures=$((failures + 1)); }
"$skitter" scene -q --truth clip.csv --species fly --animals 3 --seconds 0.5 --fps 20 --size 160x120 || exit 1
mv clip.csv not_drawn.csv

out=$("$skitter" scene -o clip.mp4 --truth clip.csv --species fly --animals 3 --seconds 0.5 --fps 20 --size 160x120 2>&1)
code=$?
if grep -q "without FFmpeg" <<<"$out"; then
    status_is 3 $code "a video without FFmpeg"
else
    status_is 0 $code "a video"
    expect "$out" "10 frames, 30 animals" "the video's report"
    [ "$(wc -l <clip.csv)" = 31 ] || { echo "FAILED: the truth is not 30 rows"; failures=$((failures + 1)); }
    cmp -s clip.csv not_drawn.csv || { echo "FAILED: another truth without the drawing"; failures=$((failures + 1)); }
    [ -s clip.mp4 ] || { echo "FAILED: no video"; failures=$((failures + 1)); }
    out=$("$skitter" scene -o absent/folder/clip.mp4 --size 64x64 --seconds 0.1 2>&1); status_is 1 $? "no such folder"
    expect "$out" "absent/folder" "the error names the folder"
fi
exit $((failures > 0))
