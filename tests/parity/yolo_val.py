#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`skitter eval` against Ultralytics' own `yolo val`: the same detections, every figure.

    python tests/parity/yolo_val.py --skitter build/skitter [--pictures 60] [--imgsz 416] [--keep FOLDER]

Makes pictures with labels (`skitter scene`), lets Ultralytics validate the demo's models on them, writes what it found as
label text, and compares precision, recall, mAP50 and mAP50-95 of every class and the confusion matrix. Detections are
brought back to the picture without being cut at its border, since `yolo val` itself compares them before it cuts (what it
saves with save_txt is cut, which moves mAP50-95 by up to 0.01 where animals stand at the border). All must agree to 1e-6
at the pictures' own size (416), poses to 2e-3 at others: Ultralytics measures them in the network's pixels, which are not
quite square then. --keep writes a small
set with empty pictures of the same size: tests/fixtures/yolo_val is one. Needs ultralytics, Pillow; last run with 8.4.190.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image
from ultralytics import YOLO
from ultralytics.models.yolo.obb import OBBValidator
from ultralytics.models.yolo.pose import PoseValidator
from ultralytics.utils.ops import xywhr2xyxyxyxy


def recorder(base, out):
    """The validator, which also writes what it is about to compare."""

    class Recorder(base):
        def _process_batch(self, preds, batch):
            (rh, rw), (left, top) = batch["ratio_pad"]
            h, w = batch["ori_shape"]
            xy = lambda p: (np.asarray(p, np.float64).reshape(-1, 2) - (left, top)) / (rw, rh) / (w, h)
            lines = []
            for i in range(len(preds["cls"])):
                box = preds["bboxes"][i]
                if len(box) == 5:
                    numbers = xy(xywhr2xyxyxyxy(box[None])[0].numpy()).reshape(-1)
                else:
                    a, b = xy(box.numpy())
                    numbers = [*((a + b) / 2), *(b - a)]
                if "keypoints" in preds:
                    k = preds["keypoints"][i].numpy()
                    numbers = [*numbers, *np.concatenate([xy(k[:, :2]), k[:, 2:3]], 1).reshape(-1)]
                lines.append(" ".join(f"{x:.10g}" for x in [int(preds["cls"][i]), *numbers, float(preds["conf"][i])]))
            name = os.path.splitext(os.path.basename(batch["im_file"]))[0]
            if lines:
                with open(os.path.join(out, name + ".txt"), "w") as file:
                    file.write("\n".join(lines) + "\n")
            return super()._process_batch(preds, batch)

    return Recorder


def validate(kind, model, data, out, imgsz):
    os.makedirs(out, exist_ok=True)
    base = OBBValidator if kind == "obb" else PoseValidator
    r = YOLO(model).val(validator=recorder(base, out), data=data, imgsz=imgsz, batch=8, device="cpu", plots=True, workers=0,
                        verbose=False, project=out + ".runs", name="v", exist_ok=True)
    shutil.rmtree(out + ".runs")
    figures = {}
    for part, key in (("box", "oriented_boxes" if kind == "obb" else "boxes"), ("pose", "oks")):
        m = getattr(r, part, None)
        if m is None:
            continue
        figures[key] = {"all": [m.mp, m.mr, m.map50, m.map],
                        **{r.names[c]: [m.p[i], m.r[i], m.ap50[i], m.ap[i]] for i, c in enumerate(m.ap_class_index)}}
    return {"figures": {k: {n: [float(x) for x in v] for n, v in f.items()} for k, f in figures.items()},
            "confusion": r.confusion_matrix.matrix.astype(int).tolist()}


def compare(skitter, found, data, expected):
    text = subprocess.run([skitter, "eval", found, data, "--json", "-q"], check=True, capture_output=True, text=True).stdout
    ours, worst = json.loads(text), [0, 0]
    for kind, rows in expected["figures"].items():
        mine = {r["name"]: r for r in [ours["ultralytics"][kind]["all"], *ours["ultralytics"][kind]["classes"]]}
        assert set(mine) == set(rows), (sorted(mine), sorted(rows))
        for name, row in rows.items():
            for key, value in zip(("precision", "recall", "map50", "map50_95"), row):
                worst[kind == "oks"] = max(worst[kind == "oks"], abs(mine[name][key] - value))
    return worst, ours["confusion_matrix"]["found_by_true"] == expected["confusion"]


def keep(source, target, n):
    """A few of the pictures, empty, with their labels and what was found."""
    os.makedirs(target + "/images", exist_ok=True)
    os.makedirs(target + "/labels", exist_ok=True)
    for name in sorted(os.listdir(source + "/images"))[:n]:
        stem = os.path.splitext(name)[0]
        Image.new("1", Image.open(f"{source}/images/{name}").size).save(f"{target}/images/{stem}.png", optimize=True)
        shutil.copy(f"{source}/labels/{stem}.txt", f"{target}/labels/{stem}.txt")
    shutil.copy(source + "/data.yaml", target + "/data.yaml")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skitter", required=True)
    parser.add_argument("--models", default=os.path.join(os.path.dirname(__file__), "../../share/models"))
    parser.add_argument("--pictures", type=int, default=60)
    parser.add_argument("--imgsz", type=int, default=416)
    parser.add_argument("--keep")
    args = parser.parse_args()
    bad = False
    with tempfile.TemporaryDirectory() as work:
        for kind in "pose", "obb":
            folder = args.keep + "/" + kind if args.keep else f"{work}/{kind}"
            made = f"{work}/made_{kind}"
            subprocess.run([args.skitter, "scene", "--species", "mixed", "--animals", "6", "--pictures", str(args.pictures),
                            "--labels", kind, "--size", "416x320", "--seed", "7", "-o", made, "-q"], check=True)
            if args.keep:
                keep(made, folder, args.pictures)
            found = folder + "/found"
            expected = validate(kind, f"{args.models}/demo-{kind}.pt", made + "/data.yaml", found, args.imgsz)
            if args.keep:
                with open(folder + "/expected.json", "w") as file:
                    json.dump(expected, file, indent=1)
            worst, same = compare(args.skitter, found, (folder if args.keep else made) + "/data.yaml", expected)
            print(f"{kind}: largest difference {worst[0]:.2e}, of poses {worst[1]:.2e}, confusion matrix {'equal' if same else 'DIFFERS'}")
            bad |= worst[0] > 1e-6 or worst[1] > (1e-6 if args.imgsz == 416 else 2e-3) or not same
    sys.exit(bad)


if __name__ == "__main__":
    main()
