#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of skitter, side by side: the same results to the byte, and what became faster or slower.

    bench/compare_trees.py OLD NEW DATA [--only results|speed] [--repeats 5] [--frames 120]

OLD and NEW are two skitter programs, DATA the test data (yolo/, sleap/, video/). Results: every model on its pictures or
videos by the cpu runtime, CSV, JSON lines and COCO compared byte for byte but for the program's version and the time of the run;
.slp and analysis files by their content, with h5diff where it is installed. Speed: networks (`bench`), `predict` on video and
`run`, the two programs by turns, each line the median of its ratios; above 1 the new one is faster."""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile


def cases(data):
    """(name, models, source, further options)"""
    yolo, legacy, nn = (os.path.join(data, d) for d in ("yolo", "sleap/legacy", "sleap/nn"))
    video = os.path.join(data, "video")
    clip, pair, robot = (os.path.join(video, v) for v in ("clip.mp4", "centered_pair_small.mp4", "small_robot.mp4"))
    bus, zidane = (os.path.join(yolo, p) for p in ("bus.jpg", "zidane.jpg"))
    found = []
    for name in sorted(os.listdir(yolo)):
        model = os.path.join(yolo, name, name + ".pt")
        if os.path.exists(model):
            found.append((name + " bus", [model], bus, []))
            found.append((name + " zidane square low", [model], zidane, ["--rect", "off", "--conf", "0.05"]))
            found.append((name + " clip", [model], clip, ["--conf", "0.05", "--frames", "0:40"]))
            found.append((name + " batch", [model], clip, ["--conf", "0.05", "--frames", "0:20", "--batch", "3"]))
    old, new = "minimal_instance.UNet.", "minimal_instance_"
    def folder(base, name):
        return os.path.join(base, name)
    for source, tag in ((clip, "clip"), (pair, "pair")):
        first = len(found)
        found += [
            (f"legacy bottom-up {tag}", [folder(legacy, old + "bottomup")], source, []),
            (f"legacy top-down {tag}", [folder(legacy, old + "centroid"), folder(legacy, old + "centered_instance")], source, []),
            (f"legacy multi-class {tag}", [folder(legacy, old + "centroid"),
                                          folder(legacy, "min_tracks_2node.UNet.topdown_multiclass")], source, []),
            (f"nn bottom-up {tag}", [folder(nn, new + "bottomup")], source, []),
            (f"nn top-down {tag}", [folder(nn, new + "centroid"), folder(nn, new + "centered_instance")], source, []),
            (f"nn multi-class {tag}", [folder(nn, new + "centroid"), folder(nn, new + "multiclass_centered_instance")], source, []),
            (f"nn single {tag}", [folder(nn, new + "single_instance")], source, []),
            (f"YOLO and centered {tag}", [os.path.join(yolo, "yolo11n-pose", "yolo11n-pose.pt"),
                                         folder(legacy, old + "centered_instance")], source, ["--conf", "0.02", "--max-det", "8"]),
            (f"centroid and YOLO pose {tag}", [os.path.join(yolo, "yolo11t-detect", "yolo11t-detect.pt"),
                                              os.path.join(yolo, "yolov8t-pose", "yolov8t-pose.pt")], source, ["--conf", "0.02", "--max-det", "8"]),
        ]
        for i in range(first, len(found)): # a part of the video will do
            found[i][3].extend(["--frames", "0:60"])
    found.append(("legacy robot", [folder(legacy, "minimal_robot.UNet.single_instance")], robot, []))
    return [c for c in found if all(os.path.exists(m) for m in c[1]) and os.path.exists(c[2])]


def predict(program, models, source, out, more, formats="csv,jsonl,coco,slp,analysis"):
    command = [program, "predict", "-q", "--runtime", "cpu", "--out", out, "--format", formats, "--overwrite"]
    for model in models:
        command += ["--model", model]
    done = subprocess.run(command + more + [source], capture_output=True, text=True)
    return done.returncode, done.stderr


def without_version(path):
    with open(path, "rb") as file:
        text = re.sub(rb"skitter \d+\.\d+\.\d+", b"skitter", file.read())
    return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", b"then", text)


def same_file(a, b):
    if a.endswith((".slp", ".h5")):
        if not shutil.which("h5diff"):
            return None
        # provenance names the program and the time
        return subprocess.run(["h5diff", "--exclude-path", "/metadata", "--exclude-path", "/provenance", a, b],
                              capture_output=True).returncode == 0
    return without_version(a) == without_version(b)


def compare_results(args):
    different = compared = skipped = bytes_seen = 0
    for name, models, source, more in cases(args.data):
        with tempfile.TemporaryDirectory() as work:
            sides = [os.path.join(work, "a"), os.path.join(work, "b")]
            codes = [predict(p, models, source, out, more) for p, out in zip((args.old, args.new), sides)]
            if codes[0][0] != codes[1][0]:
                print(f"{name}: exit codes {codes[0][0]} and {codes[1][0]}: {codes[1][1].strip()}")
                different += 1
                continue
            if codes[0][0] != 0:
                print(f"{name}: refused by both: {codes[0][1].strip().splitlines()[0] if codes[0][1] else ''}")
                skipped += 1
                continue
            names = sorted(f for f in os.listdir(sides[0]) if f not in ("run.json", "journal.skj") and not f.startswith("."))
            other = sorted(f for f in os.listdir(sides[1]) if f not in ("run.json", "journal.skj") and not f.startswith("."))
            bad = [] if names == other else [f"files {names} and {other}"]
            for file in names if names == other else []:
                same = same_file(os.path.join(sides[0], file), os.path.join(sides[1], file))
                compared += same is not None
                bytes_seen += os.path.getsize(os.path.join(sides[0], file))
                if same is False:
                    bad.append(file)
            different += bool(bad)
            print(f"{name}: {'the same' if not bad else 'DIFFERENT: ' + ', '.join(bad)}", flush=True)
    print(f"\nresults: {compared} files, {bytes_seen / 1e6:.1f} MB compared, {different} cases differ, {skipped} refused by both")
    return different


def seconds_of(command):
    """Processor and wall seconds, from the system's own count of the child."""
    import resource
    import time
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begin)


def by_turns(name, args, make):
    """make(program) is a command. The first round is not counted. The old one runs before and after the new one: what it differs
    from itself by is the machine's noise."""
    cpu, wall, noise = [], [], []
    for i in range(args.repeats + 1):
        before, new, after = (seconds_of(make(p)) for p in (args.old, args.new, args.old))
        if i:
            cpu.append((before[0] + after[0]) / 2 / new[0])
            wall.append((before[1] + after[1]) / 2 / new[1])
            noise.append(before[0] / after[0])
    print(f"{name:34s} processor {statistics.median(cpu):.3f}x ({min(cpu):.2f}-{max(cpu):.2f})   "
          f"wall {statistics.median(wall):.3f}x ({min(wall):.2f}-{max(wall):.2f})   "
          f"old by old {statistics.median(noise):.3f}x ({min(noise):.2f}-{max(noise):.2f})", flush=True)


def compare_speed(args):
    yolo = os.path.join(args.data, "yolo")
    legacy = os.path.join(args.data, "sleap/legacy", "minimal_instance.UNet.")
    clip = os.path.join(args.data, "video", "clip.mp4")
    pose = os.path.join(yolo, "yolo11n-pose", "yolo11n-pose.pt")
    small = os.path.join(yolo, "yolov8t-pose", "yolov8t-pose.pt")
    print(f"\nspeed, {args.old} by turns with {args.new}; load {os.getloadavg()[0]:.1f}")
    for name, model, more in (("network yolo11n-pose 320", pose, ["--imgsz", "320"]), ("network yolov8t-pose", small, []),
                              ("network SLEAP bottom-up", legacy + "bottomup", [])):
        by_turns(name, args, lambda p: [p, "bench", "-q", "--iterations", "40", *more, model])
    with tempfile.TemporaryDirectory() as work:
        def predicting(models, *more):
            def make(program):
                words = [program, "predict", "-q", "--runtime", "cpu", "--restart", "--overwrite", "--out", os.path.join(work, "out"),
                         "--format", "csv,jsonl"]
                for model in models:
                    words += ["--model", model]
                return words + list(more) + ["--frames", "0:200", clip]
            return make
        by_turns("predict yolo11n-pose 320, clip", args, predicting([pose], "--imgsz", "320"))
        by_turns("predict yolov8t-pose, clip, overlay", args, predicting([small], "--save-overlay"))
        by_turns("predict SLEAP bottom-up, clip", args, predicting([legacy + "bottomup"]))
        by_turns("predict SLEAP top-down, clip", args, predicting([legacy + "centroid", legacy + "centered_instance"]))
        by_turns("run yolov8t-pose, clip", args,
                 lambda p: [p, "run", small, "-q", "--json", "--input", clip, "--iterations", str(args.frames)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("data")
    parser.add_argument("--only", choices=("results", "speed"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--frames", type=int, default=120)
    args = parser.parse_args()
    for program in (args.old, args.new):
        print(json.dumps(subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()))
    bad = compare_results(args) if args.only != "speed" else 0
    if args.only != "results":
        compare_speed(args)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
