#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`skitter eval` against COCO's own evaluator (pycocotools): the same files, every number.

    python tests/parity/coco_eval.py --skitter build/skitter [--rounds 40] [--seed 1] [--keep FOLDER]
                                     [--result RESULT.json --truth TRUTH.json]

Random datasets with crowds, ties, empty images, unknown classes, keypoints hidden and not labelled; boxes, poses, and
oriented boxes, whose overlap comes from shapely and is put into COCO's evaluator. With --result and --truth these two
files are compared instead. Fails when a number differs by more than --limit, or when nothing was compared. --keep
writes the last round's files and pycocotools' numbers there: tests/eval/ holds such a set. Needs pycocotools, shapely.
"""
import argparse
import contextlib
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from shapely.geometry import Polygon

SIGMAS = [0.03, 0.05, 0.08, 0.05, 0.1]


def polygon(obb):
    cx, cy, w, h, a = obb
    c, s = math.cos(a), math.sin(a)
    return Polygon([(cx + x * w / 2 * c - y * h / 2 * s, cy + x * w / 2 * s + y * h / 2 * c)
                    for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))])


class OrientedEval(COCOeval):
    """COCO's evaluator with the overlap of turned rectangles."""

    def computeIoU(self, image, category):
        truth, found = self._gts[image, category], self._dts[image, category]
        if not truth or not found:
            return []
        order = np.argsort([-d["score"] for d in found], kind="mergesort")
        found = [found[i] for i in order[:self.params.maxDets[-1]]]
        out = np.zeros((len(found), len(truth)))
        for i, d in enumerate(found):
            p = polygon(d["obb"])
            for k, g in enumerate(truth):
                q = polygon(g["obb"])
                shared = p.intersection(q).area
                out[i, k] = shared / (p.area if g["iscrowd"] else p.area + q.area - shared)
        return out


def scores(truth, found, kind, sigmas):
    """AP, AP50, AP75, AR for all and for each class, and the counts at 0.5."""
    with contextlib.redirect_stdout(io.StringIO()):
        gt = COCO()
        gt.dataset = truth
        gt.createIndex()
        dt = gt.loadRes([dict(d) for d in found]) if found else COCO()
        if not found:
            dt.dataset = {"images": truth["images"], "categories": truth["categories"], "annotations": []}
            dt.createIndex()
        run = (OrientedEval if kind == "obb" else COCOeval)(gt, dt, "keypoints" if kind == "oks" else "bbox")
        if kind == "oks":
            run.params.kpt_oks_sigmas = np.array(sigmas)
        run.evaluate()
        run.accumulate()
    p = run.params
    area, most = p.areaRngLbl.index("all"), len(p.maxDets) - 1

    def mean(values):
        values = values[values > -1]
        return float(values.mean()) if values.size else None

    def row(k):
        precision = run.eval["precision"][:, :, k, area, most]
        return {"ap": mean(precision), "ap50": mean(precision[0]), "ap75": mean(precision[5]),
                "ar": mean(run.eval["recall"][:, k, area, most])}

    out = {"all": row(slice(None))}
    names = {c["id"]: c["name"] for c in truth["categories"]}
    for k, c in enumerate(p.catIds):
        out[names[c]] = row(k)
    right = wrong = wanted = 0
    for e in run.evalImgs:
        if e is None or e["aRng"] != p.areaRng[area] or e["maxDet"] != p.maxDets[most]:
            continue
        matched, ignored = e["dtMatches"][0] > 0, e["dtIgnore"][0] > 0
        right += int((matched & ~ignored).sum())
        wrong += int((~matched & ~ignored).sum())
        wanted += int((np.asarray(e["gtIgnore"]) == 0).sum())
    out["all"].update(right=right, wrong=wrong, wanted=wanted)
    return out


def near(rng, value, spread):
    return value + rng.gauss(0, spread)


def random_case(rng, n_images):
    """A dataset and a result list as different programs would write them."""
    n_classes = rng.randint(1, 4)
    categories = [{"id": 3 * i + 1, "name": f"animal {i}", "keypoints": [f"k{k}" for k in range(len(SIGMAS))],
                   "skeleton": []} for i in range(n_classes)]
    images = [{"id": 7 * i + 5, "file_name": f"{i:03d}.jpg", "width": 640, "height": 480} for i in range(n_images)]
    annotations, found = [], []
    for image in images:
        for _ in range(rng.choice([0, 1, 2, 5, 12])):
            w, h, a = rng.uniform(20, 120), rng.uniform(8, 60), rng.uniform(0, math.pi)
            cx, cy = rng.uniform(0, 640), rng.uniform(0, 480)
            W, H = abs(w * math.cos(a)) + abs(h * math.sin(a)), abs(w * math.sin(a)) + abs(h * math.cos(a))
            points = []
            for k in range(len(SIGMAS)):
                t = k / (len(SIGMAS) - 1) - 0.5
                points.append((cx + t * w * math.cos(a), cy + t * w * math.sin(a), rng.choice([0, 1, 2, 2, 2])))
            blind = rng.random() < 0.1
            flat = [v for x, y, s in points for v in ((0, 0, 0) if s == 0 or blind else (x, y, s))]
            category = rng.choice(categories)["id"]
            annotations.append({
                "id": len(annotations) + 1, "image_id": image["id"], "category_id": category,
                "bbox": [cx - W / 2, cy - H / 2, W, H], "obb": [cx, cy, w, h, a], "area": w * h * 0.7,
                "iscrowd": int(rng.random() < 0.1), "keypoints": flat,
                "num_keypoints": sum(1 for s in flat[2::3] if s)})
            for _ in range(rng.choice([0, 1, 1, 1, 2])):
                e = rng.choice([0.3, 2, 8, 30])
                fw, fh, fa = max(1, near(rng, w, e)), max(1, near(rng, h, e)), near(rng, a, e / 50)
                fx, fy = near(rng, cx, e), near(rng, cy, e)
                fW, fH = max(1, near(rng, W, e)), max(1, near(rng, H, e))
                kp = [v for x, y, _ in points for v in (near(rng, x, e / 2), near(rng, y, e / 2), rng.random())]
                label = category if rng.random() < 0.9 else rng.choice(categories)["id"]
                found.append({"image_id": image["id"], "category_id": label, "score": round(rng.random(), rng.choice([1, 6])),
                              "bbox": [fx - fW / 2, fy - fH / 2, fW, fH], "obb": [fx, fy, fw, fh, fa],
                              "keypoints": kp})
    if rng.random() < 0.3:  # more than the evaluator looks at
        found += [dict(found[0], score=round(rng.random(), 3)) for _ in range(130)] if found else []
    rng.shuffle(found)
    for a in annotations + found:
        for key in ("bbox", "obb", "keypoints"):
            a[key] = [round(v, 4) for v in a[key]]
    return {"images": images, "categories": categories, "annotations": annotations}, found


def compare(skitter, truth, found, kinds, sigmas, folder, limit, worst):
    paths = [os.path.join(folder, name) for name in ("result.json", "truth.json")]
    for path, value in zip(paths, (found, truth)):
        with open(path, "w") as file:
            json.dump(value, file)
    answer = subprocess.run([skitter, "eval", *paths, "--json", "-q", "--sigmas", ",".join(map(str, sigmas))],
                            capture_output=True, text=True)
    if answer.returncode:
        sys.exit(f"skitter eval failed: {answer.stderr}")
    ours = json.loads(answer.stdout)
    rows = {"all": ours["all"], **{c["name"]: c for c in ours["classes"]}}
    expected, compared = {}, 0
    for kind, key in kinds:
        want = expected[key] = scores(truth, found, kind, sigmas)
        for name, values in want.items():
            for number, value in values.items():
                got = rows[name][key][number] if name in rows else None
                compared += 1
                if got is None and value is None:
                    continue
                if got is None or value is None or abs(got - value) > limit:
                    sys.exit(f"{key} of {name}: {number} is {got}, COCO's evaluator says {value} ({folder})")
                worst[key] = max(worst.get(key, 0), abs(got - value))
    return expected, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skitter", default="build/skitter")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--images", type=int, default=25)
    parser.add_argument("--limit", type=float, default=1e-6)
    parser.add_argument("--keep")
    parser.add_argument("--result")
    parser.add_argument("--truth")
    args = parser.parse_args()
    worst, compared = {}, 0
    kinds = (("bbox", "boxes"), ("obb", "oriented_boxes"), ("oks", "oks"))
    with tempfile.TemporaryDirectory() as temporary:
        if args.result:
            with open(args.truth) as t, open(args.result) as r:
                truth, found = json.load(t), json.load(r)
            found = found if isinstance(found, list) else found["annotations"]
            has = [k for k in kinds if {"bbox": "bbox", "obb": "obb", "oks": "keypoints"}[k[0]] in found[0]]
            n = len(truth["categories"][0].get("keypoints", [])) or 1
            _, compared = compare(args.skitter, truth, found, has, [0.05] * n, temporary, args.limit, worst)
            args.rounds = 0
        for i in range(args.rounds):
            rng = random.Random(args.seed + i)
            truth, found = random_case(rng, args.images)
            if not truth["annotations"]:
                continue
            last = args.keep and i == args.rounds - 1
            folder = args.keep if last else temporary
            os.makedirs(folder, exist_ok=True)
            expected, n = compare(args.skitter, truth, found, kinds, SIGMAS, folder, args.limit, worst)
            compared += n
            if last:
                with open(os.path.join(folder, "expected.json"), "w") as file:
                    json.dump(expected, file, indent=1)
    for key, value in worst.items():
        print(f"{key:16} largest difference {value:.3g}")
    print(f"{compared} numbers compared")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
