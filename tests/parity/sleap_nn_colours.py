#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""skitter against sleap-nn on videos with colours, each with its default settings (but for the options given).

    sleap_nn_colours.py SKITTER DATA [--frames N] [--cases a,b] [--option NAME=VALUE …]     (a python with sleap-nn)

DATA is the reference data: sleap/nn and video below it. The coloured video is made of centered_pair_small.mp4 by FFmpeg's
program: tints that change from frame to frame, tagged BT.709. Prints for every case: instances of both, how many frames have
the same number, distances of points, and the largest difference of scores. NAME=VALUE is a setting of inference that both
know, such as integral_refinement=none or filter_overlapping=true."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

CASES = {
    "robot, single": ("small_robot.mp4", ["minimal_instance_single_instance"]),
    "robot, bottom-up": ("small_robot.mp4", ["minimal_instance_bottomup"]),
    "robot, top-down": ("small_robot.mp4", ["minimal_instance_centroid", "minimal_instance_centered_instance"]),
    "coloured, bottom-up": (None, ["minimal_instance_bottomup"]),
    "coloured, centroids": (None, ["minimal_instance_centroid"]),
    "coloured, top-down": (None, ["minimal_instance_centroid", "minimal_instance_centered_instance"]),
    "coloured, multi-class": (None, ["minimal_instance_centroid", "minimal_instance_multiclass_centered_instance"]),
    "coloured, single": (None, ["minimal_instance_single_instance"]),
}


def make_coloured(source, out):
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", str(source), "-frames:v", "120", "-vf",
                    "format=rgb24,colorchannelmixer=rr=1:gg=0.75:bb=0.45:rg=0.1:br=0.15,hue=h=20*sin(n/10)", "-c:v",
                    "libx264", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc",
                    "bt709", str(out)], check=True)


def ours(skitter, video, folders, n, options):
    with tempfile.TemporaryDirectory() as out:
        command = [skitter, "predict", str(video), "-o", out, "-q", "--format", "jsonl", "--frames", f"0:{n}"]
        for name, value in options.items():
            command += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        for folder in folders:
            command += ["-m", str(folder)]
        subprocess.run(command, check=True)
        lines = map(json.loads, pathlib.Path(out, "results.jsonl").read_text().splitlines())
        return {f["frame"]: [(i["score"], np.array([[np.nan if v is None else v for v in k] for k in i["keypoints"]], float))
                             for i in f["instances"]] for f in lines if "frame" in f}


def theirs(video, folders, n, options):
    from sleap_nn.inference import predict
    from sleap_nn.inference.filters import FilterConfig
    known = {k[len("filter_"):]: v for k, v in options.items() if k.startswith("filter_")}
    plain = {k: v for k, v in options.items() if not k.startswith("filter_")}
    if known:
        plain["filter_config"] = FilterConfig(**known)
    labels = predict(str(video), model_paths=[str(f) for f in folders], device="cpu", frames=list(range(n)), **plain)
    rows = {i: [] for i in range(n)}
    for frame in labels:
        rows[int(frame.frame_idx)] = [
            (float(i.score), np.concatenate([i.numpy()[:, :2], np.asarray(i.points["score"])[:, None]], 1))
            for i in frame.instances]
    return rows


def compare(a, b):
    n_a, n_b = sum(map(len, a.values())), sum(map(len, b.values()))
    same = sum(len(a.get(f, [])) == len(b[f]) for f in b)
    distances, scores = [], [0.0]
    for frame, instances in b.items():
        left = list(a.get(frame, []))
        for score, points in instances:
            costs = [np.nanmean(np.hypot(*(points - p)[:, :2].T)) if np.isfinite((points - p)[:, 0]).any() else np.inf
                     for _, p in left]
            if not costs or not np.isfinite(min(costs)):
                continue
            other, p = left.pop(int(np.argmin(costs)))
            d = np.hypot(*(points - p)[:, :2].T)
            distances += list(d[np.isfinite(d)])
            scores.append(abs(score - other))
    d = np.array(distances) if distances else np.array([np.nan])
    return (f"{n_a} instances and {n_b}, the same number in {same} of {len(b)} frames; points: median {np.median(d):.1e} px, "
            f"99 % {np.percentile(d, 99):.1e}, most {d.max():.1e}; scores differ by {max(scores):.1e} at most")


def value_of(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return True if text == "true" else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skitter")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--cases", default=",".join(name.replace(", ", "/") for name in CASES))
    parser.add_argument("--option", action="append", default=[])
    args = parser.parse_args()
    from loguru import logger
    logger.remove()
    options = {o.split("=")[0]: value_of(o.split("=")[1]) for o in args.option}
    with tempfile.TemporaryDirectory() as folder:
        coloured = pathlib.Path(folder, "coloured.mp4")
        make_coloured(args.data / "video/centered_pair_small.mp4", coloured)
        for name in args.cases.split(","):
            video, models = CASES[name.replace("/", ", ")]
            video = args.data / "video" / video if video else coloured
            models = [args.data / "sleap/nn" / m for m in models]
            print(f"{name}: {compare(ours(args.skitter, video, models, args.frames, options), theirs(video, models, args.frames, options))}",
                  flush=True)


main()
