#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`skitter eval` of tracks against TrackEval: the same animals, every figure at every level.

    python tests/parity/tracking.py --skitter build/skitter [--rounds 60] [--seed 1] [--keep FOLDER]
                                    [--result RESULT.csv --truth TRUTH.csv [--distance PX]]

Made-up videos in which tracks are swapped, split, merged, lost and invented, with crowds, hidden animals, several classes
and videos; by boxes, turned boxes (overlap from shapely), centres and keypoints. TrackEval gets numbers and similarities
and nothing else; what need not be found is taken out before, as its MOTChallenge data set does. With --result and --truth
these two tables are compared instead. --keep writes the named cases and TrackEval's figures there: tests/fixtures/tracking
holds such a set. Fails when a figure differs by more than --limit. Needs trackeval 1.3, numpy, scipy, shapely.
"""
import argparse
import contextlib
import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import linear_sum_assignment
from shapely.geometry import Polygon
with contextlib.redirect_stdout(io.StringIO()):
    from trackeval.datasets._base_dataset import _BaseDataset
    from trackeval.metrics import CLEAR, HOTA, Identity
    METRICS = [HOTA(), CLEAR({"PRINT_CONFIG": False}), Identity({"PRINT_CONFIG": False})]

EPS = np.finfo("float").eps
KINDS = ["boxes", "oriented_boxes", "points", "oks"]
POINTS = ["nose", "middle", "tail"]
SIGMA = 0.05
FIXED = ["source", "frame", "track", "class", "name", "score", "x1", "y1", "x2", "y2", "cx", "cy", "w", "h", "angle",
         "visible", "area", "length", "crowd"]
COLUMNS = FIXED + [f"{p}{part}" for p in POINTS for part in ("_x", "_y", "_score")]


# --- similarities, written down a second time ---

def polygon(a):
    c, s = math.cos(a["angle"]), math.sin(a["angle"])
    return Polygon([(a["cx"] + x * a["w"] / 2 * c - y * a["h"] / 2 * s, a["cy"] + x * a["w"] / 2 * s + y * a["h"] / 2 * c)
                    for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))])


def overlap(a, b):
    if math.hypot(a["cx"] - b["cx"], a["cy"] - b["cy"]) > (math.hypot(a["w"], a["h"]) + math.hypot(b["w"], b["h"])) / 2:
        return 0.0
    p, q = polygon(a), polygon(b)
    shared = p.intersection(q).area
    return shared / (p.area + q.area - shared)


def oks(found, truth):
    area = truth["area"] if "area" in truth else (truth["x2"] - truth["x1"]) * (truth["y2"] - truth["y1"])
    total = n = 0
    for p in POINTS:
        if f"{p}_x" not in truth:
            continue
        n += 1
        if f"{p}_x" in found:
            d2 = (found[f"{p}_x"] - truth[f"{p}_x"])**2 + (found[f"{p}_y"] - truth[f"{p}_y"])**2
            total += math.exp(-d2 / (2 * SIGMA)**2 / (area + EPS) / 2)
    return total / n if n else 0.0


def similarities(kind, truth, found, distance):
    if not truth or not found:
        return np.zeros((len(truth), len(found)))
    if kind == "boxes":
        boxes = [np.array([[a["x1"], a["y1"], a["x2"], a["y2"]] for a in side]) for side in (truth, found)]
        return _BaseDataset._calculate_box_ious(*boxes, box_format="x0y0x1y1")
    if kind == "points":
        centres = [np.array([[a["cx"], a["cy"]] for a in side]) for side in (truth, found)]
        return _BaseDataset._calculate_euclidean_similarity(*centres, zero_distance=distance)
    one = overlap if kind == "oriented_boxes" else lambda a, b: oks(b, a)
    return np.array([[one(t, f) for f in found] for t in truth])


# --- TrackEval ---

def ignored(a, min_visible=0.3):
    return bool(a.get("crowd")) or a.get("visible", 1) < min_visible


def sequence(kind, truth, found, distance):
    """What TrackEval takes, of the rows of one class and video."""
    data = {"gt_ids": [], "tracker_ids": [], "similarity_scores": []}
    tables = {}
    for side, rows in (("truth", truth), ("found", found)):
        for a in rows:
            if a.get("track", -1) >= 0:
                tables.setdefault(a["frame"], {"truth": [], "found": []})[side].append(a)
    numbers = [{}, {}]
    for frame in sorted(tables):
        t, f = tables[frame]["truth"], tables[frame]["found"]
        similar = similarities(kind, t, f, distance)
        away = np.array([ignored(a) for a in t], bool)
        if away.any():
            close = similar.copy()
            close[close < 0.5 - EPS] = 0
            rows, cols = linear_sum_assignment(-close)
            matched = close[rows, cols] > 0 + EPS
            gone = {c for r, c, m in zip(rows, cols, matched) if m and away[r]}
            keep = [i for i in range(len(f)) if i not in gone]
            similar = similar[~away][:, keep]
            t, f = [a for a, x in zip(t, away) if not x], [f[i] for i in keep]
        for side, rows, key in ((0, t, "gt_ids"), (1, f, "tracker_ids")):
            data[key].append(np.array([numbers[side].setdefault(a["track"], len(numbers[side])) for a in rows], int))
        data["similarity_scores"].append(similar)
    data["num_timesteps"] = len(data["gt_ids"])
    data["num_gt_ids"], data["num_tracker_ids"] = len(numbers[0]), len(numbers[1])
    data["num_gt_dets"] = sum(map(len, data["gt_ids"]))
    data["num_tracker_dets"] = sum(map(len, data["tracker_ids"]))
    data["seq"] = "video"
    return data


def expected(kind, truth, found, distance):
    """Figures of all, and of each class by its name."""
    per_class = {}
    for name in sorted({a.get("name", "") for a in truth + found}):
        videos = {}
        for video in sorted({a.get("source", "") for a in truth + found if a.get("name", "") == name}):
            own = [[a for a in side if a.get("name", "") == name and a.get("source", "") == video]
                   for side in (truth, found)]
            data = sequence(kind, *own, distance)
            videos[video] = [m.eval_sequence(data) for m in METRICS]
        per_class[name] = [m.combine_sequences({v: videos[v][i] for v in videos}) for i, m in enumerate(METRICS)]
    out = {name: figures(*res) for name, res in per_class.items()}
    out["all"] = figures(*[m.combine_classes_det_averaged({c: per_class[c][i] for c in per_class})
                           for i, m in enumerate(METRICS)])
    return out


HOTA_NAMES = {"hota": "HOTA", "det_a": "DetA", "ass_a": "AssA", "loc_a": "LocA", "det_re": "DetRe", "det_pr": "DetPr",
              "ass_re": "AssRe", "ass_pr": "AssPr", "owta": "OWTA"}
CLEAR_NAMES = {"mota": "MOTA", "motp": "MOTP", "moda": "MODA", "smota": "sMOTA", "precision": "CLR_Pr",
               "recall": "CLR_Re", "right": "CLR_TP", "missed": "CLR_FN", "wrong": "CLR_FP", "switches": "IDSW",
               "fragments": "Frag", "mostly_tracked": "MT", "partly_tracked": "PT", "mostly_lost": "ML"}
ID_NAMES = {"idf1": "IDF1", "idp": "IDP", "idr": "IDR", "id_right": "IDTP", "id_missed": "IDFN", "id_wrong": "IDFP"}
LEVEL_NAMES = {**HOTA_NAMES, "right": "HOTA_TP", "missed": "HOTA_FN", "wrong": "HOTA_FP"}


def figures(hota, clear, identity):
    out = {ours: float(np.mean(hota[theirs])) for ours, theirs in HOTA_NAMES.items()}
    out.update({ours: float(clear[theirs]) for ours, theirs in CLEAR_NAMES.items()})
    out.update({ours: float(identity[theirs]) for ours, theirs in ID_NAMES.items()})
    out["by_similarity"] = [{ours: float(hota[theirs][i]) for ours, theirs in LEVEL_NAMES.items()} for i in range(19)]
    return out


# --- skitter ---

def write_table(path, rows, frames=None):
    with open(path, "w", newline="") as f:
        if frames:
            f.write(f"# made by tests/parity/tracking.py; frames {frames};\n")
        used = [c for c in COLUMNS if c in ("frame", "track", "x1", "y1", "x2", "y2") or not rows or any(c in a for a in rows)]
        out = csv.writer(f, lineterminator="\n")
        out.writerow(used)
        for a in rows:
            out.writerow([repr(a[c]) if isinstance(a.get(c), float) else a.get(c, "") for c in used])


def read_table(path):
    rows = []
    with open(path, newline="") as f:
        for row in csv.DictReader(line for line in f if not line.startswith("#")):
            a = {}
            for key, text in row.items():
                if key in ("name", "source"):
                    a[key] = text
                elif key in ("frame", "track", "class", "crowd") and text:
                    a[key] = int(text)
                elif text not in ("", None):
                    with contextlib.suppress(ValueError):
                        a[key] = float(text)
            rows.append(a)
    return rows


def ask(skitter, result, truth, distance):
    more = ["--distance", repr(distance)] if distance else []
    run = subprocess.run([skitter, "eval", result, truth, "--json", *more], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"skitter eval failed: {run.stderr}")
    return json.loads(run.stdout)["tracking"]


def compare(ours, wanted, where):
    """The largest difference, and where it is."""
    worst = (0.0, where)
    for key, value in wanted.items():
        if key == "by_similarity":
            for i, level in enumerate(value):
                worst = max(worst, compare(ours[key][i], level, f"{where} level {i}"))
        else:
            worst = max(worst, (abs(ours[key] - value), f"{where} {key}: {ours[key]!r}, TrackEval {value!r}"))
    return worst


def compare_all(ours, truth, found, distance, kinds=KINDS):
    worst = (0.0, "")
    wanted = {}
    for kind in kinds:
        wanted[kind] = expected(kind, truth, found, distance)
        worst = max(worst, compare(ours[kind]["all"], wanted[kind]["all"], kind))
        for row in ours[kind]["classes"]:
            if row["name"] in wanted[kind]:
                worst = max(worst, compare(row, wanted[kind][row["name"]], f"{kind} {row['name']}"))
    return worst, wanted


# --- made-up videos ---

def animal(rng, frame, track, x, y, angle, long, **more):
    short = long * 0.4
    c, s = math.cos(angle), math.sin(angle)
    dx, dy = (abs(long * c) + abs(short * s)) / 2, (abs(long * s) + abs(short * c)) / 2
    a = {"frame": frame, "track": track, "x1": x - dx, "y1": y - dy, "x2": x + dx, "y2": y + dy, "cx": x, "cy": y,
         "w": long, "h": short, "angle": angle, "score": round(rng.uniform(0.1, 1), 3), **more}
    for p, along in zip(POINTS, (0.5, 0.0, -0.5)):
        a[f"{p}_x"], a[f"{p}_y"] = x + along * long * c, y + along * long * s
    return a


def jitter(rng, a, much):
    moved = animal(rng, a["frame"], a["track"], a["cx"] + rng.gauss(0, much), a["cy"] + rng.gauss(0, much),
                   a["angle"] + rng.gauss(0, 0.1), a["w"] * rng.uniform(0.85, 1.15))
    for key in ("class", "name", "source"):
        if key in a:
            moved[key] = a[key]
    return moved


def video(rng, n, frames, size, **more):
    truth = []
    state = [[rng.uniform(0, size), rng.uniform(0, size), rng.uniform(-3, 3), rng.uniform(20, 40)] for _ in range(n)]
    for frame in range(frames):
        for k, s in enumerate(state):
            s[2] += rng.gauss(0, 0.15)
            s[0], s[1] = (s[0] + 4 * math.cos(s[2])) % size, (s[1] + 4 * math.sin(s[2])) % size
            if rng.random() < 0.06:
                continue
            a = animal(rng, frame, k + 3, s[0], s[1], s[2], s[3], **more)
            del a["score"]
            if rng.random() < 0.05:
                a["visible"] = round(rng.uniform(0, 1), 2)
            if rng.random() < 0.02:
                a["crowd"] = 1
            truth.append(a)
    return truth


def follow(rng, truth, much=3.0, miss=0.1, swap=0.02, new=0.03, false=0.1):
    """A tracker that makes every mistake there is."""
    found, names, fresh = [], {}, 100
    frames = sorted({a["frame"] for a in truth})
    for frame in frames:
        here = [a for a in truth if a["frame"] == frame]
        used = set()
        if len(here) > 1 and rng.random() < swap * len(here):
            x, y = rng.sample([a["track"] for a in here], 2)
            names[x], names[y] = names.get(y, y), names.get(x, x)
        for a in here:
            if rng.random() < miss:
                continue
            if rng.random() < new:
                fresh += 1
                names[a["track"]] = fresh
            b = jitter(rng, a, much)
            b["track"] = names.get(a["track"], a["track"])
            if b["track"] not in used:
                found.append(b)
            used.add(b["track"])
        if here and rng.random() < false:
            fresh += 1
            b = jitter(rng, rng.choice(here), 30)
            b["track"] = fresh
            found.append(b)
    rng.shuffle(found)
    return found


def round_of(rng):
    truth, found = [], []
    for source in range(rng.choice([1, 1, 1, 2])):
        for number, name in enumerate(["fly", "mouse"][:rng.choice([1, 1, 2])]):
            more = {"class": number, "name": name}
            own = video(rng, rng.randint(1, 14), rng.randint(1, 60), rng.choice([60, 150, 400]), **more)
            for a in own:
                a["source"] = f"{source}.mp4"
            truth += own
            found += follow(rng, own, rng.choice([0.0, 1.0, 4.0]), rng.choice([0.0, 0.1, 0.5]))
    return truth, found


def named_cases(rng):
    """Small ones, each with one kind of mistake."""
    def still(track, frame, x):
        a = animal(rng, frame, track, x, 50.0, 0.3, 30.0)
        return a

    truth = [still(k, f, 60.0 * k + 2 * f) for f in range(12) for k in range(3)]
    near = [jitter(rng, a, 1.5) for a in truth]

    def renamed(rule):
        return [{**a, "track": rule(a)} for a in near if rule(a) is not None]

    return {
        "perfect": (truth, truth),
        "swapped": (truth, renamed(lambda a: 1 - a["track"] if a["frame"] >= 5 and a["track"] < 2 else a["track"])),
        "split": (truth, renamed(lambda a: a["track"] + 10 * (a["frame"] // 4))),
        "merged": (truth, renamed(lambda a: None if a["track"] != a["frame"] % 3 else 7)),
        "gaps": (truth, renamed(lambda a: None if (a["frame"] + a["track"]) % 4 == 1 else a["track"])),
        "empty": (truth, []),
        "wrong_only": (truth, [{**jitter(rng, a, 0.1), "cy": a["cy"] + 900, "y1": a["y1"] + 900, "y2": a["y2"] + 900,
                                **{f"{p}_y": a[f"{p}_y"] + 900 for p in POINTS}} for a in truth]),
        "one_frame": ([a for a in truth if a["frame"] == 0], [a for a in near if a["frame"] == 0]),
        "ignored": ([{**a, "visible": 0.1} if a["track"] == 1 and 3 < a["frame"] < 9 else a for a in truth], near),
        "pause": ([a for a in truth if a["frame"] not in (4, 5)],
                  [a for a in near if a["frame"] not in (5, 6, 7)]),
    }


def keep_figures(path, wanted):
    out = {"made by": "tests/parity/tracking.py --keep, TrackEval 1.3.0, --distance 25"}
    for kind, rows in wanted.items():
        out[kind] = dict(rows["all"])
        levels = out[kind].pop("by_similarity")
        out[kind]["levels"] = {k: [level[k] for level in levels] for k in ("hota", "det_a", "ass_a", "loc_a", "right")}
    with open(path, "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in out.items()) + "\n}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--skitter", default="build/skitter")
    p.add_argument("--rounds", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--limit", type=float, default=1e-9)
    p.add_argument("--keep")
    p.add_argument("--result")
    p.add_argument("--truth")
    p.add_argument("--distance", type=float)
    args = p.parse_args()
    worst = (0.0, "nothing differs")
    if args.result:
        truth, found = read_table(args.truth), read_table(args.result)
        ours = ask(args.skitter, args.result, args.truth, args.distance)
        kinds = [k for k in ("boxes", "oriented_boxes", "points") if k in ours]
        worst, _ = compare_all(ours, truth, found, ours.get("distance_px"), kinds)
        print(f"{len(truth)} and {len(found)} animals by {', '.join(kinds)}: largest difference {worst[0]:.2g} ({worst[1]})")
        sys.exit(worst[0] > args.limit or not kinds)
    rng = random.Random(args.seed)
    cases = named_cases(rng)
    for i in range(args.rounds):
        cases[f"round {i}"] = round_of(rng)
    compared = 0
    with tempfile.TemporaryDirectory() as work:
        for name, (truth, found) in cases.items():
            if not truth:
                continue
            folder = os.path.join(args.keep, name) if args.keep and " " not in name else work
            os.makedirs(folder, exist_ok=True)
            paths = [os.path.join(folder, n) for n in ("result.csv", "truth.csv")]
            one = len({a.get("source") for a in truth}) == 1
            write_table(paths[0], found)
            write_table(paths[1], truth, max(a["frame"] for a in truth + found) + 1 if one else None)
            ours = ask(args.skitter, *paths, 25.0)
            listed = {(a.get("source"), a["frame"]) for a in truth}
            heard = found if one else [a for a in found if (a.get("source"), a["frame"]) in listed]
            difference, wanted = compare_all(ours, truth, heard, 25.0)
            compared += len(truth)
            worst = max(worst, (difference[0], f"{name}: {difference[1]}"))
            if folder != work:
                keep_figures(os.path.join(folder, "expected.json"), wanted)
    print(f"{len(cases)} cases, {compared} animals in frames, largest difference {worst[0]:.2g} ({worst[1]})")
    sys.exit(worst[0] > args.limit or not compared)


if __name__ == "__main__":
    main()
