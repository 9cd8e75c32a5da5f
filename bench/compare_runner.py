#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the runner gains, and what a second group of cores gains: skitter against itself, sides taking turns.

    bench/compare_runner.py SKITTER VIDEO MODEL[@SIZE] [MODEL[@SIZE] ...] [--frames 150] [--repeats 5]

First basic execution against the runner, for every model and device list; each line is one process in which the two sides
alternate (`skitter run`), then the medians. Then one core against two for the first model (`--devices cpu:0` and
`cpu:0,cpu:1`, the runner alone), processes alternating. On a busy machine look at the ratios, and at several repeats.
"""
import argparse
import json
import os
import statistics
import subprocess


def run(args, model, *more):
    path, _, size = model.partition("@")
    command = [args.skitter, "run", path, "--json", "-q", "--iterations", str(args.frames), *more]
    if size:
        command += ["--imgsz", size]
    if args.rgb:
        command += ["--rgb"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def load():
    return os.getloadavg()[0]


def basic_against_runner(args, model, devices):
    print(f"\n{os.path.basename(model)}: basic execution against the runner, --devices {devices}")
    ratios, before, after, shares = [], [], [], []
    for i in range(args.repeats):
        r = run(args, model, "--input", args.video, "--devices", devices)
        stages = r["basic"]["stages_ms"]
        whole = sum(stages.values())
        around = 100 * (stages["decode"] + stages["copy"] + stages["pre"]) / whole
        same = "" if r["basic"]["instances"] == r["runner"]["instances"] else "; OTHER RESULTS"
        print(f"    {i + 1}: {r['basic']['fps']:7.1f} -> {r['runner']['fps']:7.1f} frames/s, {r['speedup']:.2f}x"
              f" (decode and pre-processing {around:.0f} % of basic execution; load {load():.1f}{same})", flush=True)
        ratios.append(r["speedup"])
        before.append(r["basic"]["fps"])
        after.append(r["runner"]["fps"])
        shares.append(around)
    print(f"    median: {statistics.median(before):.1f} -> {statistics.median(after):.1f} frames/s, "
          f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f}; "
          f"decode and pre-processing {statistics.median(shares):.0f} %)")


def one_against_two(args, model):
    print(f"\n{os.path.basename(model)}: one core against two, each with an instance of its own, batch 1")
    ratios = []
    for i in range(args.repeats):
        one = run(args, model, "--runner-only", "--devices", "cpu:0")["runner"]["fps"]
        two = run(args, model, "--runner-only", "--devices", "cpu:0,cpu:1")["runner"]["fps"]
        ratios.append(two / one)
        print(f"    {i + 1}: {one:7.1f} -> {two:7.1f} frames/s, {two / one:.2f}x (load {load():.1f})", flush=True)
    print(f"    median: {statistics.median(ratios):.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skitter")
    parser.add_argument("video")
    parser.add_argument("models", nargs="+", metavar="MODEL[@SIZE]")
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--devices", default="auto cpu", help="device lists, by spaces")
    parser.add_argument("--rgb", action="store_true", help="frames converted to RGB for the runner, too")
    args = parser.parse_args()
    for model in args.models:
        for devices in args.devices.split():
            basic_against_runner(args, model, devices)
    if (os.cpu_count() or 1) > 1:
        one_against_two(args, args.models[0])


if __name__ == "__main__":
    main()
