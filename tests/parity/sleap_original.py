#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""skitter against SLEAP 1.4.1's own answers: the same instances a frame in the same order, the same identities, the same
points and scores.

    sleap_original.py --skitter SKITTER --data DATA [--cases a,b] [--frames N] [--runtime NAME] [predict's options…]

DATA holds sleap/original/*.json, and below sleap/ and video/ what they name. Prints a line a case and fails where one is
not met."""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Largest distance of a point in pixels, by case, where one peak of a map is barely higher than the next or where a video's
# colours pass through two decoders; and the median of all.
MOST, MEDIAN, SCORE = 0.02, 0.001, 0.002


def ours(skitter, case, data, frames, options):
    with tempfile.TemporaryDirectory() as out:
        command = [skitter, "predict", str(data / "video" / case["video"]), "-o", out, "-q", "--format", "jsonl",
                   "--peak-threshold", str(case["peak_threshold"]), "--frames", f"0:{frames}"] + options
        for model in case["models"]:
            command += ["-m", str(data / "sleap" / model)]
        subprocess.run(command, check=True)
        lines = pathlib.Path(out, "results.jsonl").read_text().splitlines()
    return {str(f["frame"]): f["instances"] for f in map(json.loads, lines) if "frame" in f}


def compare(theirs, mine):
    """Distances, largest difference of a score, and what is not the same at all."""
    distances, score, wrong = [], 0.0, []
    for frame, expected in theirs.items():
        found = mine.get(frame, [])
        if len(found) != len(expected):
            wrong.append(f"frame {frame}: {len(found)} instances instead of {len(expected)}")
            continue
        for i, (a, b) in enumerate(zip(expected, found)):
            if a["track"] is not None and a["track"] != b.get("name"):
                wrong.append(f"frame {frame}, instance {i}: {b.get('name')} instead of {a['track']}")
            score = max(score, abs(a["score"] - b["score"]))
            for k, (p, q) in enumerate(zip(a["points"], b["keypoints"])):
                if (p[0] is None) != (q[0] is None):
                    wrong.append(f"frame {frame}, instance {i}, node {k}: {q} instead of {p}")
                elif p[0] is not None:
                    distances.append(math.hypot(p[0] - q[0], p[1] - q[1]))
                    score = max(score, abs(p[2] - q[2]))
    return distances, score, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skitter", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--cases")
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--runtime")
    args, options = parser.parse_known_args()
    failed = False
    if args.runtime:
        options += ["--runtime", args.runtime]
    names = args.cases.split(",") if args.cases else sorted(p.stem for p in (args.data / "sleap/original").glob("*.json"))
    for name in names:
        case = json.loads((args.data / "sleap/original" / f"{name}.json").read_text())
        theirs = {f: i for f, i in case["frames"].items() if int(f) < args.frames}
        distances, score, wrong = compare(theirs, ours(args.skitter, case, args.data, args.frames, options))
        median, most = (statistics.median(distances), max(distances)) if distances else (math.inf, math.inf)
        good = not wrong and median <= MEDIAN and most <= MOST and score <= SCORE
        failed |= not good
        print(f"{'same' if good else 'NOT THE SAME'}: {name}, {sum(map(len, theirs.values()))} instances, points {median:.1e}"
              f" px in the median and {most:.1e} at most, scores {score:.1e} at most", flush=True)
        for line in wrong[:5]:
            print(f"    {line}")
    sys.exit(failed)


main()
