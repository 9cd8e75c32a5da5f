#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the runner gains, and what a second group of cores gains: skitter against itself, sides taking turns.

    bench/compare_runner.py SKITTER MODEL VIDEO [--imgsz 320] [--frames 150] [--repeats 5]

Two tables. First basic execution against the runner, on one device list after another; each line is one process in which
the two sides alternate (`skitter run`), and the last line the medians. Then one core against two (`--devices cpu:0` and
`cpu:0,cpu:1`, the runner alone), processes alternating. On a busy machine look at the ratios, and at several repeats.
"""
import argparse
import json
import os
import statistics
import subprocess


def run(args, *more):
    command = [args.skitter, "run", args.model, "--json", "-q", "--iterations", str(args.frames), *more]
    if args.imgsz:
        command += ["--imgsz", str(args.imgsz)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def load():
    return os.getloadavg()[0]


def basic_against_runner(args, devices):
    print(f"\nbasic execution against the runner, --devices {devices}")
    ratios, before, after = [], [], []
    for i in range(args.repeats):
        r = run(args, "--input", args.video, "--devices", devices)
        stages = r["basic"]["stages_ms"]
        whole = sum(stages.values())
        around = 100 * (whole - stages["network"]) / whole
        print(f"    {i + 1}: {r['basic']['fps']:7.1f} -> {r['runner']['fps']:7.1f} frames/s, {r['speedup']:.2f}x"
              f" (outside of the network {around:.0f} % of basic execution; load {load():.1f})", flush=True)
        ratios.append(r["speedup"])
        before.append(r["basic"]["fps"])
        after.append(r["runner"]["fps"])
    print(f"    median: {statistics.median(before):.1f} -> {statistics.median(after):.1f} frames/s, "
          f"{statistics.median(ratios):.2f}x")


def one_against_two(args):
    print("\none core against two, each with an instance of its own, batch 1")
    ratios = []
    for i in range(args.repeats):
        one = run(args, "--runner-only", "--devices", "cpu:0")["runner"]["fps"]
        two = run(args, "--runner-only", "--devices", "cpu:0,cpu:1")["runner"]["fps"]
        ratios.append(two / one)
        print(f"    {i + 1}: {one:7.1f} -> {two:7.1f} frames/s, {two / one:.2f}x (load {load():.1f})", flush=True)
    print(f"    median: {statistics.median(ratios):.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skitter")
    parser.add_argument("model")
    parser.add_argument("video")
    parser.add_argument("--imgsz", type=int, default=0)
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--devices", default="cpu cpu*2", help="device lists, by spaces")
    args = parser.parse_args()
    for devices in args.devices.split():
        basic_against_runner(args, devices)
    if (os.cpu_count() or 1) > 1:
        one_against_two(args)


if __name__ == "__main__":
    main()
