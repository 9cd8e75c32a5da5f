#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`skitter predict` on several compute runtimes: the same pictures, the same models, every row of every frame.

    python3 tests/parity/predict_runtimes.py --skitter build/skitter --data ../shared/data [--runtimes cpu,onnx_cpu,openvino]
    python3 tests/parity/predict_runtimes.py --skitter build/skitter --case source.png model.pt

The first runtime is what the others are compared with. Rows must be as many, in the same order and of the same classes;
coordinates, angles and scores within 1e-4 of the frame's size (scores and angles: of 1) and of the value. Runtimes that are
not available are left out, saying so. Needs nothing but Python; SKITTER_ONNXRUNTIME and SKITTER_OPENVINO name the libraries
where they are not found by themselves. Nothing is written beside the models.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile


def cases_of(data):
    pictures = [os.path.join(data, "yolo", p + ".jpg") for p in ("bus", "zidane")]
    for model in sorted(glob.glob(os.path.join(data, "yolo", "*", "*.pt"))):
        for picture in pictures:
            yield picture, [model], []
    flies = os.path.join(data, "video", "centered_pair_small.mp4")
    robot = os.path.join(data, "video", "small_robot.mp4")
    some = ["--frames", "100:400:100"]
    for era, name in (("legacy", "minimal_instance.UNet.%s"), ("nn", "minimal_instance_%s")):
        folder = lambda kind: os.path.join(data, "sleap", era, name % kind)
        yield flies, [folder("bottomup")], some
        yield flies, [folder("centroid")], some
        yield flies, [folder("centroid"), folder("centered_instance")], some
    yield robot, [os.path.join(data, "sleap", "legacy", "minimal_robot.UNet.single_instance")], some
    yield robot, [os.path.join(data, "sleap", "nn", "minimal_instance_single_instance")], some
    yield flies, [os.path.join(data, "sleap", "legacy", "minimal_instance.UNet.centroid"),
                  os.path.join(data, "sleap", "legacy", "min_tracks_2node.UNet.topdown_multiclass")], some
    yield flies, [os.path.join(data, "sleap", "nn", "minimal_instance_centroid"),
                  os.path.join(data, "sleap", "nn", "minimal_instance_multiclass_centered_instance")], some


def rows_of(args, source, models, options, runtime):
    with tempfile.TemporaryDirectory() as out:
        command = [args.skitter, "predict", source, "--out", out, "--format", "jsonl", "--runtime", runtime, "-q", *options]
        for model in models:
            command += ["--model", model]
        if any(model.endswith((".pt", ".onnx")) for model in models):  # the same network input on all
            command += ["--rect", "off"]
        subprocess.run(command, check=True)
        run = json.load(open(os.path.join(out, "run.json")))
        if run["runtime"] != runtime:
            sys.exit(f"{runtime} was asked for and {run['runtime']} ran")
        frames = [json.loads(line) for line in open(os.path.join(out, "results.jsonl"))]
    return [f["instances"] for f in frames if "instances" in f]


def numbers(instance):
    """(value, size it is measured by) of everything that is a number."""
    for key in ("box", "obb"):
        for i, v in enumerate(instance.get(key) or []):
            yield v, 1.0 if key == "obb" and i == 4 else 640.0
    yield instance.get("score"), 1.0
    for point in instance.get("keypoints") or []:
        for i, v in enumerate(point if isinstance(point, list) else [point.get(k) for k in ("x", "y", "score")]):
            yield v, 640.0 if i < 2 else 1.0


def difference(got, want):
    """The largest, relative; infinite when something other than a number differs."""
    worst = 0.0
    if [len(f) for f in got] != [len(f) for f in want]:
        return float("inf")
    for a, b in zip((i for f in got for i in f), (i for f in want for i in f)):
        if a.get("class") != b.get("class"):
            return float("inf")
        left, right = list(numbers(a)), list(numbers(b))
        if len(left) != len(right):
            return float("inf")
        for (x, size), (y, _) in zip(left, right):
            if (x is None) != (y is None):
                return float("inf")
            if x is not None:
                worst = max(worst, abs(x - y) / max(size, abs(y)))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skitter", default="build/skitter")
    parser.add_argument("--data")
    parser.add_argument("--case", nargs="+", action="append", default=[], metavar="PATH", help="source, then its models")
    parser.add_argument("--runtimes", default="cpu,onnx_cpu,openvino")
    parser.add_argument("--limit", type=float, default=1e-4)
    args = parser.parse_args()
    os.environ["SKITTER_ARTIFACTS"] = "cache"
    allowed = json.loads(subprocess.run([args.skitter, "runtimes", "--json"], check=True, capture_output=True).stdout)["allowed"]
    wanted = args.runtimes.split(",")
    for runtime in [r for r in wanted if r not in allowed]:
        print(f"skipped: {runtime} is not on this machine")
    runtimes = [r for r in wanted if r in allowed]
    if len(runtimes) < 2:
        print("skipped: there is nothing to compare")
        sys.exit(77)
    cases = [(c[0], c[1:], []) for c in args.case] + (list(cases_of(args.data)) if args.data else [])
    compared = failed = 0
    for source, models, options in cases:
        want = rows_of(args, source, models, options, runtimes[0])
        for runtime in runtimes[1:]:
            d = difference(rows_of(args, source, models, options, runtime), want)
            compared += 1
            failed += not d <= args.limit
            print(f"{' + '.join(os.path.basename(m.rstrip('/')) for m in models):74} {os.path.basename(source):24} "
                  f"{sum(map(len, want)):4} rows  {runtime:10} {d:9.2e}{'' if d <= args.limit else '  DIFFERS'}", flush=True)
    print(f"{compared} compared, {failed} over {args.limit:g}")
    if not compared:
        sys.exit(77)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
