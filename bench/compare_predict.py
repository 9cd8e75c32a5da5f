#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole videos, ours against the original, in alternating rounds: same weights, same frames, CPU, same thread count.

    compare_predict.py SKITTER MODEL.pt VIDEO [--frames N] [--rounds R] [--threads T] [--imgsz S]

Prints frames per second of every round, the ratio of the medians, and how far the results differ. Default settings on both
sides. Ultralytics runs as its users run it: YOLO(model).predict(source, stream=True). Ours is a whole `skitter predict`
process: start, model, decode, network, CSV and JSON lines."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np


def ours(args, out):
    command = [args.skitter, "predict", args.video, "-m", args.model, "-o", out, "--frames", f"0:{args.frames}", "--json",
               "--restart", "-q"]
    command += ["--threads", str(args.threads)] if args.threads else []
    command += ["--imgsz", str(args.imgsz)] if args.imgsz else []
    begin = time.perf_counter()
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds = time.perf_counter() - begin
    rows = [json.loads(line)["instances"] for line in pathlib.Path(out, "results.jsonl").read_text().splitlines()]
    return args.frames / seconds, rows, report


def ultralytics(args, model):
    rows = []
    begin = time.perf_counter()
    for i, r in enumerate(model.predict(args.video, stream=True, verbose=False, device="cpu",
                                        **({"imgsz": args.imgsz} if args.imgsz else {}))):
        frame = []
        if r.obb is not None:
            for b, s, c in zip(r.obb.xywhr.tolist(), r.obb.conf.tolist(), r.obb.cls.tolist()):
                frame.append({"class": int(c), "score": s, "obb": b})
        else:
            points = r.keypoints.data.tolist() if r.keypoints is not None and r.keypoints.data.numel() else None
            for k, (b, s, c) in enumerate(zip(r.boxes.xyxy.tolist(), r.boxes.conf.tolist(), r.boxes.cls.tolist())):
                frame.append({"class": int(c), "score": s, "box": b, **({"keypoints": points[k]} if points else {})})
        rows.append(frame)
        if i + 1 == args.frames:
            break
    return args.frames / (time.perf_counter() - begin), rows


def corners(obb):
    x, y, w, h, angle = obb
    u, v = np.array([np.cos(angle), np.sin(angle)]) * w / 2, np.array([-np.sin(angle), np.cos(angle)]) * h / 2
    return np.array([x, y]) + np.array([u + v, u - v, -u - v, -u + v])


def distance(i, j):
    """Largest difference in pixels between two instances; infinite when they cannot be compared. Oriented boxes by their
    corners: each program describes the same rectangle in its own way."""
    px = []
    if "obb" in i and "obb" in j:
        a, b = corners(i["obb"]), corners(j["obb"])
        px.append(min(float(np.max(np.abs(np.roll(a, k, 0) - b))) for k in range(4)))
    elif "box" in i and "box" in j:
        px.append(float(np.max(np.abs(np.array(i["box"]) - np.array(j["box"])))))
    if "keypoints" in i and "keypoints" in j:
        p, q = np.array(i["keypoints"], float)[:, :2], np.array(j["keypoints"], float)[:, :2]
        if not np.isnan(p - q).all():
            px.append(float(np.nanmax(np.abs(p - q))))
    return max(px) if px else float("inf")


def differences(a, b):
    """Largest differences over frames in which both found the same number (rows with equal scores may stand in either
    order, so each is compared with its nearest); frames that differ in number."""
    px = score = 0.0
    uneven = 0
    for x, y in zip(a, b):
        if len(x) != len(y):
            uneven += 1
            continue
        left = list(y)
        for i in x:
            j = min(left, key=lambda other: distance(i, other))
            left.remove(j)
            px, score = max(px, distance(i, j)), max(score, abs(i["score"] - j["score"]))
    return px, score, uneven


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skitter")
    parser.add_argument("model")
    parser.add_argument("video")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0, help="0: every core, as either side uses them by itself")
    parser.add_argument("--imgsz", type=int, default=0)
    args = parser.parse_args()
    import torch
    from ultralytics import YOLO
    torch.set_num_threads(args.threads or len(os.sched_getaffinity(0)))
    model = YOLO(args.model)
    head = model.model.model[-1]
    if hasattr(head, "kpt_shape"):  # newer releases want it on the model too
        model.model.kpt_shape = head.kpt_shape
    ultralytics(argparse.Namespace(**{**vars(args), "frames": 3}), model)  # warm-up
    speeds = [[], []]
    with tempfile.TemporaryDirectory() as out:
        for r in range(args.rounds):
            a, found, report = ours(args, out)
            b, expected = ultralytics(args, model)
            speeds[0].append(a)
            speeds[1].append(b)
            print(f"round {r + 1}: skitter {a:.1f} frames/s, original {b:.1f} frames/s, {a / b:.2f}x")
        about = json.loads(pathlib.Path(out, "run.json").read_text())
    px, score, uneven = differences(found, expected)
    print(f"median: skitter {statistics.median(speeds[0]):.1f}, original {statistics.median(speeds[1]):.1f} frames/s: "
          f"{statistics.median(speeds[0]) / statistics.median(speeds[1]):.2f}x")
    print(f"instances: {sum(map(len, found))} against {sum(map(len, expected))}; frames with another number: {uneven} of "
          f"{len(found)}; largest difference {px:.3g} px, {score:.2g} in score")
    print(f"network input {about['network_input']} ({about['shape']}), {about['heads']} heads")
    print("ms a frame: " + ", ".join(f"{k} {v:.2f}" for k, v in report["ms_per_frame"].items()))


main()
