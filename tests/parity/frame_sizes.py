#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `skitter predict` with `YOLO(...).predict` on pictures of random sizes, default settings on both sides.

For each family and task a model is built from Ultralytics' own configuration with random weights (see
ultralytics_models.py), scores shifted so that some tens of places pass the threshold. Both programs look at the same
folder of PNG pictures, each of another size, and every instance of the one looks for its partner among the other's:
same class, nearest. Distances are in pixels of the frame: box corners, keypoints, the four corners of oriented boxes.

Prints one line per model, and fails when a partner is further away than 0.002 px or an instance without a partner is not
explained. Both programs compute in float32 and round differently, so that where a decision hangs on the last digits they
may decide differently; an instance without a partner is looked up among all candidates (the original's, without
suppression, and what both kept) and explained by one of
  threshold   its score is within 1e-4 of the confidence
  overlap     its overlap with a better one of its class is within 1e-3 of the limit
  tie         a candidate of its class that it overlaps has its score within 1e-4
  class       its two best classes are within 1e-4 of each other, or another instance at its place has its score
  last        max_det instances were found, and it is within 1e-4 of the last one
  follows     it overlaps one of its class that is explained
Every one of them is printed with its reason under --verbose.

Run with a Python that has ultralytics:
    python tests/parity/frame_sizes.py --skitter build/skitter [--sizes 200] [--runtime cpu] [name ...]
"""
import argparse
import copy
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("YOLO_VERBOSE", "false")
os.environ.setdefault("YOLO_OFFLINE", "true")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cv2
import numpy as np
import torch
from ultralytics import YOLO, __version__
from ultralytics.utils import ASSETS
from ultralytics.utils.metrics import batch_probiou, box_iou

import ultralytics_models as models

NAMES = ["yolov8n", "yolov8n-pose", "yolov8n-obb", "yolov9t", "yolov10n", "yolo11n", "yolo11n-pose", "yolo11n-obb",
         "yolo12n", "yolo12n-pose", "yolo12n-obb", "yolo26n", "yolo26n-pose", "yolo26n-obb"]
CONF, IOU, MAX_DET = 0.25, 0.7, 300
LIMIT = 0.002


def make_pictures(folder, count, seed):
    """Parts of the package's photographs at random sizes, with some grain: texture everywhere, and no two places alike."""
    rng = np.random.default_rng(seed)
    photographs = [cv2.imread(str(ASSETS / name)) for name in ("bus.jpg", "zidane.jpg")]
    sizes = [(406, 720), (720, 406), (1280, 720), (640, 640), (641, 383)][:count]
    while len(sizes) < count:
        sizes.append(tuple(int(v) for v in np.exp(rng.uniform(math.log(48), math.log(1600), 2))))
    for number, (width, height) in enumerate(sizes):
        picture = photographs[number % 2]
        h, w = picture.shape[:2]
        part = rng.uniform(0.5, 1, 2)
        y, x = (int(rng.uniform(0, 1 - p) * side) for p, side in zip(part, (h, w)))
        picture = cv2.resize(picture[y : y + int(part[0] * h), x : x + int(part[1] * w)], (width, height))
        picture = np.clip(picture.astype(np.int32) + rng.integers(-12, 13, picture.shape), 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"{number:04d}-{width}x{height}.png"), picture, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return sizes


def heads_of(model, image, end2end):
    raw = model(image)[1]
    return raw["one2one" if end2end else "one2many"] if "one2one" in raw else raw


def calibrate(model, image, wanted):
    """Random networks magnify rounding, torch's own float32 too. The last convolutions are scaled until it is 2e-7 of what
    the heads give (boxes and keypoints in strides, angles; logits 1e-5); then scores are shifted so that about `wanted` places
    of 640x480 pass."""
    head = model.model[-1]
    head._end2end = False  # dense outputs of either copy
    third = "angle" if type(head).__name__.startswith("OBB") else "kpts"
    parts = {"cv2": "boxes", "cv3": "scores", "cv4": third, "cv4_kpts": third}
    with torch.no_grad():
        exact = copy.deepcopy(model).double()
        for end2end in (False, True) if getattr(head, "one2one_cv2", None) is not None else (False,):
            prefix = "one2one_" if end2end else ""
            single, double = heads_of(model, image, end2end), heads_of(exact, image.double(), end2end)
            for name, part in parts.items():
                if part not in single:
                    continue
                own = float((single[part] - double[part]).abs().max())
                gain = min(0.25, 1e-5 / max(own, 1e-9)) if part == "scores" else min(0.002, 2e-7 / max(own, 1e-9))
                for branch in getattr(head, prefix + name, None) or ():
                    convolution = branch[-1] if isinstance(branch, torch.nn.Sequential) else branch
                    if isinstance(convolution, torch.nn.Conv2d):
                        convolution.weight.mul_(gain)
            logits = heads_of(model, image, end2end)["scores"].amax(1).flatten()
            shift = math.log(CONF / (1 - CONF)) - float(logits.sort(descending=True).values[wanted])
            for branch in getattr(head, prefix + "cv3"):
                branch[-1].bias.add_(shift)


def make_model(name, folder):
    task = next((models.TASKS[key] for key in models.TASKS if name.endswith("-" + key)), "detect")
    torch.manual_seed(40 + sum(map(ord, name)))
    yolo = YOLO(name + ".yaml", task=task)
    yolo.model.float()
    image = models.picture(480, 640)
    models.randomise(yolo.model, image)
    calibrate(yolo.model.eval(), image, 60)
    path = folder / f"{name}.pt"  # a name Ultralytics would look for online is one it has in this folder
    yolo.save(path)
    return path, task


def corners_of(obb):
    """[n, 5] to [n, 4, 2], in the original's order."""
    c, s = np.cos(obb[:, 4]), np.sin(obb[:, 4])
    u = np.stack([obb[:, 2] / 2 * c, obb[:, 2] / 2 * s], 1)
    v = np.stack([-obb[:, 3] / 2 * s, obb[:, 3] / 2 * c], 1)
    return np.stack([obb[:, :2] + u + v, obb[:, :2] + u - v, obb[:, :2] - u - v, obb[:, :2] - u + v], 1)


def theirs(results, task):
    """Per picture: class, score, points [n, k, 2], regions (box or xywhr) for overlaps."""
    found = {}
    for r in results:
        if task == "obb":
            box, regions = r.obb, r.obb.xywhr.numpy().astype(np.float64)
            points = corners_of(regions)
        else:
            box, regions = r.boxes, r.boxes.xyxy.numpy().astype(np.float64)
            points = regions.reshape(-1, 2, 2)
            if task == "pose" and len(regions):
                points = np.concatenate([points, r.keypoints.data.numpy()[..., :2].astype(np.float64)], 1)
        found[pathlib.Path(r.path).name] = (box.cls.numpy().astype(int), box.conf.numpy().astype(np.float64), points,
                                            regions)
    return found


def ours(path, task):
    found = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if "instances" not in row:
            continue
        items = row["instances"]
        classes = np.array([i["class"] for i in items], int)
        scores = np.array([i["score"] for i in items], np.float64)
        if task == "obb":
            regions = np.array([i["obb"] for i in items], np.float64).reshape(-1, 5)
            points = corners_of(regions)
        else:
            regions = np.array([i["box"] for i in items], np.float64).reshape(-1, 4)
            points = regions.reshape(-1, 2, 2)
            if task == "pose" and items:
                keypoints = np.array([[k[:2] for k in i["keypoints"]] for i in items], np.float64)
                points = np.concatenate([points, keypoints], 1)
        found[pathlib.Path(row["source"]).name] = (classes, scores, points, regions)
    return found


def distance(task, points, others):
    """Of one instance to several: the largest over its points; an oriented box may begin at any corner."""
    if task != "obb":
        return np.abs(others - points[None]).max((1, 2)) if len(others) else np.zeros(0)
    turns = [np.abs(np.roll(others, k, 1) - points[None]).max((1, 2)) for k in range(4)]
    return np.min(turns, 0)


def overlaps(task, region, others):
    a, b = torch.tensor(region[None], dtype=torch.float32), torch.tensor(others, dtype=torch.float32)
    if not len(others):
        return np.zeros(0)
    return (batch_probiou(a, b) if task == "obb" else box_iou(a, b)).numpy()[0]


def pair(task, mine, other):
    """Partners of mine in other: index or -1, and the distances; each is taken once, best distances first."""
    partner, far = np.full(len(mine[0]), -1), np.full(len(mine[0]), np.inf)
    choices = []
    for i in range(len(mine[0])):
        d = distance(task, mine[2][i], other[2])
        d[(other[0] != mine[0][i]) | (np.abs(other[1] - mine[1][i]) > 1e-3)] = np.inf
        choices += [(v, i, j) for j, v in enumerate(d) if v < 1]
    taken = set()
    for v, i, j in sorted(choices):
        if partner[i] < 0 and j not in taken:
            partner[i], far[i] = j, v
            taken.add(j)
    return partner, far


def explain(task, row, last, candidates, explained):
    """Why one program kept what the other did not; `candidates` is everything above a lower threshold."""
    cls, score, points, region = row
    if abs(score - CONF) < 1e-4:
        return "threshold"
    c, s, p, r = candidates
    here = distance(task, points, p) < 1
    if (here & (c != cls) & (np.abs(s - score) < 1e-4)).any():
        return "class"
    same = (c == cls) & ~here
    over = overlaps(task, region, r)
    if (same & (s > score - 1e-4) & (np.abs(over - IOU) < 1e-3)).any():
        return "overlap"
    if (same & (over > IOU - 1e-3) & (np.abs(s - score) < 1e-4)).any():
        return "tie"
    if last is not None and abs(score - last) < 1e-4:
        return "last"
    if any(e[0] == cls and overlaps(task, region, e[3][None])[0] > IOU - 1e-3 for e in explained):
        return "follows"
    return None


def run_skitter(options, model, pictures, out, extra):
    begin = time.time()
    subprocess.run([options.skitter, "predict", str(pictures), "-m", str(model), "-o", str(out), "--format", "jsonl",
                    "--runtime", options.runtime, "-q", *extra], check=True)
    return time.time() - begin, json.loads((out / "run.json").read_text())


def compare(name, variation, task, path, pictures, options, folder):
    extra, keys = (["--nms", "off"], {"nms": False}) if variation == "nms off" else ([], {})
    yolo = YOLO(path, task=task)
    begin = time.time()
    want = theirs(yolo.predict(str(pictures), stream=True, verbose=False, device="cpu", **keys), task)
    their_seconds = time.time() - begin
    out = folder / f"{name}-{variation.replace(' ', '-')}"
    our_seconds, about = run_skitter(options, path, pictures, out, extra)
    got = ours(out / "results.jsonl", task)
    assert set(got) == set(want), "not the same pictures"
    worst, worst_score, total, reasons, unexplained = 0.0, 0.0, 0, {}, 0
    for picture in sorted(want):
        a, b = want[picture], got[picture]
        total += len(a[0])
        partner, far = pair(task, a, b)
        if (partner >= 0).any():
            worst = max(worst, far[partner >= 0].max())
            worst_score = max(worst_score, np.abs(a[1] - b[1][partner])[partner >= 0].max())
        alone = [(a, i, "theirs") for i in np.flatnonzero(partner < 0)]
        alone += [(b, j, "ours") for j in range(len(b[0])) if j not in set(partner[partner >= 0])]
        if not alone:
            continue
        every = theirs(YOLO(path, task=task).predict(str(pictures / picture), verbose=False, device="cpu", conf=0.2, iou=1.0,
                                                     max_det=30000, **keys), task)[picture]
        every = tuple(np.concatenate(columns) for columns in zip(every, a, b))  # each names the class it took
        explained, left = [], sorted(alone, key=lambda e: -e[0][1][e[1]])
        for _ in range(len(left)):
            waiting = []
            for side, k, who in left:
                row = tuple(column[k] for column in side)
                last = side[1].min() if len(side[0]) >= MAX_DET else None
                why = explain(task, row, last, every, explained)
                if why:
                    explained.append(row)
                    reasons[why] = reasons.get(why, 0) + 1
                    if options.verbose:
                        print(f"    {picture}: only {who}, class {row[0]}, score {row[1]:.7f}: {why}")
                else:
                    waiting.append((side, k, who))
            if len(waiting) == len(left):
                break
            left = waiting
        else:
            left = []
        for side, k, who in left:
            unexplained += 1
            print(f"    {picture}: only {who}, class {side[0][k]}, score {side[1][k]:.7f}, at {side[3][k].round(3)}: UNEXPLAINED")
    good = worst <= LIMIT and unexplained == 0 and total > 0
    told = ", ".join(f"{n} {why}" for why, n in sorted(reasons.items())) or "none"
    print(f"{name:13} {variation:8} {about['shape']:6} {about['heads']:11} {len(want):4} pictures {total:6} instances  "
          f"px {worst:8.2g}  score {worst_score:7.1e}  alone: {told:24} {their_seconds:5.0f} s / {our_seconds:5.0f} s  "
          f"{'ok' if good else 'FAILED'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skitter", default=os.environ.get("SKITTER", "build/skitter"))
    parser.add_argument("--runtime", default="cpu")
    parser.add_argument("--sizes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.skitter = os.path.abspath(options.skitter)
    torch.set_num_threads(2)
    print(f"ultralytics {__version__}, torch {torch.__version__}, opencv {cv2.__version__}; {options.sizes} sizes, "
          f"seed {options.seed}, runtime {options.runtime}; seconds are theirs / ours", flush=True)
    failed = []
    with tempfile.TemporaryDirectory(prefix="skitter-parity-") as place:
        folder = pathlib.Path(place)
        (folder / "pictures").mkdir()
        sizes = make_pictures(folder / "pictures", options.sizes, options.seed)
        print(f"{min(w for w, _ in sizes)} to {max(w for w, _ in sizes)} wide, {min(h for _, h in sizes)} to "
              f"{max(h for _, h in sizes)} high", flush=True)
        os.chdir(folder)
        for name in options.names or NAMES:
            path, task = make_model(name, folder)
            twice = name.startswith(("yolov10", "yolo26"))
            for variation in ("default", "nms off") if twice else ("default",):
                if not compare(name, variation, task, path, folder / "pictures", options, folder):
                    failed.append(f"{name} {variation}")
    print("all within bounds" if not failed else f"out of bounds: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
