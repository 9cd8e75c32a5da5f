#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `skitter predict` on two pictures with the rows Ultralytics 8.3.63 gave for the same checkpoints: on squares, and
oriented boxes clipped to the frame, as that release did.

usage: detections.py SKITTER DATA_FOLDER [RUNTIME]
DATA_FOLDER holds <model>/<model>.pt, <model>/<picture>_detections.npy and <picture>.jpg. Needs numpy."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

skitter, data = sys.argv[1], pathlib.Path(sys.argv[2])
runtime = sys.argv[3] if len(sys.argv) > 3 else "cpu"
bad = 0
print(f"{'model':16} {'picture':8} {'rows':>9} {'px':>9} {'score':>9} {'angle':>9}")
for folder in sorted(p for p in data.iterdir() if p.is_dir()):
    for picture in ("bus", "zidane"):
        want = np.load(folder / f"{picture}_detections.npy")
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([skitter, "predict", data / f"{picture}.jpg", "-m", folder / f"{folder.name}.pt", "-o", out,
                            "--format", "jsonl", "--runtime", runtime, "--rect", "off", "-q"], check=True)
            found = json.loads(pathlib.Path(out, "results.jsonl").read_text())["instances"]
        obb = "obb" in folder.name
        rows = []
        for i in found:
            if obb:
                width, height = (810, 1080) if picture == "bus" else (1280, 720)
                clipped = [min(max(v, 0), m) for v, m in zip(i["obb"], (width, height, width, height))]
                rows.append(clipped + [i["obb"][4], i["score"], i["class"]])
            else:
                rows.append(i["box"] + [i["score"], i["class"]] + [v for k in i.get("keypoints", []) for v in k])
        got = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
        same = got.shape == want.shape
        px = score = angle = float("nan")
        if same and len(want):
            d = np.abs(got - want)
            if obb:
                px, angle, score = d[:, :4].max(), d[:, 4].max(), d[:, 5].max()
                same = (got[:, 6] == want[:, 6]).all()
            else:
                px, score, angle = d[:, :4].max(), d[:, 4].max(), 0.0
                same = (got[:, 5] == want[:, 5]).all()
                if want.shape[1] > 6:
                    k = d[:, 6:].reshape(len(d), -1, 3)
                    px, score = max(px, k[..., :2].max()), max(score, k[..., 2].max())
            same = same and px <= 0.05 and score <= 1e-3 and angle <= 1e-3
        bad += not same
        print(f"{folder.name:16} {picture:8} {len(got):4}/{len(want):4} {px:9.2g} {score:9.2g} {angle:9.2g}"
              f"{'' if same else '  DIFFERS'}")
sys.exit(bad > 0)
