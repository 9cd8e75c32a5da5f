#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file `skitter predict` writes, opened by the program people open it with: pandas, sleap-io, pycocotools, json.

    python tests/parity/result_files.py SKITTER VIDEO MODEL [--crops]

Runs SKITTER on VIDEO with every format and fails when a file does not open, when two files hold different instances, when the
.slp does not name the video from the root, or when pycocotools' loadRes refuses the list of results. Needs pandas, sleap-io,
pycocotools, h5py; --crops also compares crops with Ultralytics' save_one_box (needs ultralytics and OpenCV).
"""
import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import pandas
import sleap_io
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

FORMATS = "csv,jsonl,slp,analysis,coco,labels,labels-conf"


def quietly(call, *args):
    with contextlib.redirect_stdout(io.StringIO()):
        return call(*args)


def check_jsonl(out, table, info):
    lines = [json.loads(line) for line in open(os.path.join(out, "results.jsonl"), encoding="utf-8")]
    assert [line["frame"] for line in lines] == list(range(info["frames"])), "a line a frame"
    instances = [(line["frame"], i) for line in lines for i in line["instances"]]
    assert len(instances) == len(table) == info["instances"]
    assert np.allclose([i["score"] for _, i in instances], table["score"], atol=1e-6)
    if info.get("keypoints"):
        assert all(line["keypoint_names"] == info["keypoints"] and line["edges"] == info["edges"] for line in lines)
        for name, k in ((name, k) for k, name in enumerate(info["keypoints"])):
            points = np.array([[np.nan if v is None else v for v in i["keypoints"][k][:2]] for _, i in instances], float)
            assert np.allclose(points, table[[f"{name}_x", f"{name}_y"]], atol=1e-3, equal_nan=True), name
    print(f"results.jsonl: {len(lines)} lines, {len(instances)} instances")


def check_slp(out, table, info, video):
    labels = sleap_io.load_file(os.path.join(out, "results.slp"), open_videos=False)
    assert labels.video.filename == os.path.abspath(video), f"{labels.video.filename} is not {os.path.abspath(video)}"
    assert len(labels) == info["frames"] and sum(len(f) for f in labels) == len(table)
    names = [n.name for n in labels.skeleton.nodes]
    assert names == (info.get("keypoints") or ["center"])
    edges = [[names.index(e.source.name), names.index(e.destination.name)] for e in labels.skeleton.edges]
    assert edges == info.get("edges", []), edges
    print(f"results.slp: {len(labels)} frames, {len(names)} nodes, {labels.video.filename}")


def check_analysis(out, table, info, video):
    path = os.path.join(out, "results.analysis.h5")
    with h5py.File(path) as file:
        names = [n.decode() for n in file["track_names"][:]]
        rows = file["tracks"].shape[0]
        assert int(file["track_occupancy"][:].sum()) == len(table)
        assert file["video_path"][()].decode() == os.path.abspath(video)
        assert not any(n.startswith("track") for n in names), "nothing was tracked"
        assert len(names) == (rows if rows > 1 else 0)
    labels = sleap_io.load_file(path, video=sleap_io.Video(video, open_backend=False))
    assert sum(len(f) for f in labels) == len(table)
    assert len(labels.skeleton.edges) == len(info.get("edges", []))
    print(f"results.analysis.h5: {rows} rows, names {names[:2]}, {len(labels)} frames with instances")


def check_coco(out, table, info):
    truth = quietly(COCO, os.path.join(out, "results.coco.json"))
    assert len(truth.imgs) == info["frames"] and len({i["file_name"] for i in truth.imgs.values()}) == info["frames"]
    assert [c["name"] for c in truth.loadCats(truth.getCatIds())] == (info["classes"] or ["animal"])
    found = quietly(truth.loadRes, os.path.join(out, "results.coco_results.json"))
    assert len(found.anns) == len(table)
    kinds = ["bbox"] + (["keypoints"] if info.get("keypoints") else []) + (["segm"] if "angle" in table else [])
    for kind in kinds:  # a dataset against its own list: everything is found
        evaluation = COCOeval(truth, found, kind)
        if kind == "keypoints":
            evaluation.params.kpt_oks_sigmas = np.full(len(info["keypoints"]), 0.05)
        for step in (evaluation.evaluate, evaluation.accumulate, evaluation.summarize):
            quietly(step)
        assert evaluation.stats[0] > 0.95, f"{kind}: {evaluation.stats[0]}"
    print(f"results.coco.json: {len(truth.imgs)} images; loadRes took {len(found.anns)} results; {', '.join(kinds)} evaluated")


def check_labels(out, table):
    for folder, more in (("labels", 0), ("labels-conf", 1)):
        lines = [line.split() for name in sorted(os.listdir(os.path.join(out, folder)))
                 for line in open(os.path.join(out, folder, name))]
        assert len(lines) == len(table) and len({len(line) for line in lines}) == 1
        numbers = 8 if "angle" in table else 4
        points = sum(c.endswith("_score") for c in table.columns)
        assert len(lines[0]) == 1 + numbers + 3 * points + more, len(lines[0])
    print(f"labels: {len(lines)} lines")


def check_crops(out, table, video):
    import cv2
    import torch
    from ultralytics.utils import ops
    from ultralytics.utils.plotting import save_one_box
    capture = cv2.VideoCapture(video)
    _, frame = capture.read()
    stem = os.path.splitext(os.path.basename(video))[0]
    worst = 0
    for row in table[table["frame"] == 0].to_dict("records"):
        if "angle" in row:
            box = ops.xywhr2xyxyxyxy(torch.tensor([[row[k] for k in ("cx", "cy", "w", "h", "angle")]]))[0]
        else:
            box = torch.tensor([[row[k] for k in ("x1", "y1", "x2", "y2")]])
        theirs = save_one_box(box, frame.copy(), save=False, BGR=True)
        ours = cv2.imread(os.path.join(out, "crops", row["name"], f"{stem}_1_{row['instance']}.jpg"))
        assert ours.shape == theirs.shape, f"{ours.shape} is not {theirs.shape}"
        # OpenCV's warp takes corners for centres of pixels: theirs is up to a pixel off. JPEG adds its own.
        inner, wide = ours.astype(float), theirs.astype(float)[2:-2, 2:-2]
        height, width = wide.shape[:2]
        worst = max(worst, min(np.abs(inner[y:y + height, x:x + width] - wide).mean() for x in (1, 2, 3) for y in (1, 2, 3)))
    assert worst < 8, worst
    print(f"crops: sizes as Ultralytics cuts them, {worst:.1f} of 255 apart in the mean of the worst")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skitter")
    parser.add_argument("video")
    parser.add_argument("model", nargs="+")
    parser.add_argument("--crops", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        command = [args.skitter, "predict", os.path.relpath(args.video), "-o", out, "--overwrite", "-q", "-f", FORMATS, "--save-crops"]
        for model in args.model:
            command += ["-m", model]
        subprocess.run(command, check=True)
        with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
            info = json.load(file)
        table = pandas.read_csv(os.path.join(out, "results.csv"))
        print(f"results.csv: {len(table)} rows, {len(table.columns)} columns from {table.columns[0]} on")
        check_jsonl(out, table, info)
        check_slp(out, table, info, args.video)
        check_analysis(out, table, info, args.video)
        check_coco(out, table, info)
        check_labels(out, table)
        if args.crops:
            check_crops(out, table, args.video)
    return 0


if __name__ == "__main__":
    sys.exit(main())
