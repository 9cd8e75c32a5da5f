#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole videos, ours against sleap-nn, in alternating rounds: same folder, same frames, CPU, same thread count.

    compare_sleap.py SKITTER SLEAP_NN FOLDER VIDEO [--frames N] [--rounds R] [--threads T] [--peak-threshold X]

SLEAP_NN is the program `sleap-nn` of a virtual environment. Both are whole processes from start to files: ours writes .slp,
CSV and JSON lines, sleap-nn its .slp. Because starting Python and importing PyTorch takes sleap-nn many seconds, its own
inference clock ("Total runtime") and the processor time of both are printed too; on a busy machine the processor time is the
fairest of the three. The .slp files of the last round are compared point by point (with h5py, which reads both)."""
import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import time

import h5py
import numpy as np


def timed(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


def instances(path):
    """{frame: [points]} of a .slp file's predictions."""
    with h5py.File(path) as f:
        frames, rows, points = f["frames"][:], f["instances"][:], f["pred_points"][:]
    found = {}
    for frame in frames:
        found[int(frame["frame_idx"])] = [
            np.array([[p["x"], p["y"]] for p in points[r["point_id_start"]:r["point_id_end"]]], float)
            for r in rows[frame["instance_id_start"]:frame["instance_id_end"]]]
    return found


def compare(a, b):
    worst, uneven, matched = 0.0, 0, 0
    frames = sorted(set(a) | set(b))
    for frame in frames:
        x, left = a.get(frame, []), list(b.get(frame, []))
        uneven += len(x) != len(left)
        for p in x:
            costs = [np.nanmean(np.hypot(*(p - q).T)) if np.isfinite(p - q).any() else np.inf for q in left]
            if costs and min(costs) < 30:
                worst = max(worst, float(np.nanmax(np.abs(p - left.pop(int(np.argmin(costs)))))))
                matched += 1
    total = [sum(map(len, r.values())) for r in (a, b)]
    print(f"instances: {total[0]} against {total[1]}, {matched} matched; frames with another number: {uneven} of {len(frames)}; "
          f"largest difference {worst:.3g} px")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skitter")
    parser.add_argument("sleap_nn")
    parser.add_argument("folder")
    parser.add_argument("video")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peak-threshold", type=float, default=0.05)
    args = parser.parse_args()
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads), "MKL_NUM_THREADS": str(args.threads)}
    wall, own, processor = [[], []], [], [[], []]
    with tempfile.TemporaryDirectory() as folder:
        out, slp = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs.slp")
        for r in range(args.rounds):
            seconds, cpu, _ = timed([args.skitter, "predict", args.video, "-m", args.folder, "-o", str(out), "--frames",
                                     f"0:{args.frames}", "--format", "slp,csv,jsonl", "--threads", str(args.threads),
                                     "--peak-threshold", str(args.peak_threshold), "--restart", "-q"], environment)
            wall[0].append(args.frames / seconds)
            processor[0].append(1e3 * cpu / args.frames)
            seconds, cpu, text = timed([args.sleap_nn, "track", "-i", args.video, "-m", args.folder, "-o", str(slp),
                                        "--frames", f"0-{args.frames - 1}", "--device", "cpu", "--peak_threshold",
                                        str(args.peak_threshold)], environment)
            wall[1].append(args.frames / seconds)
            processor[1].append(1e3 * cpu / args.frames)
            own.append(args.frames / float(re.search(r"Total runtime: ([\d.]+)", text)[1]))
            print(f"round {r + 1}: skitter {wall[0][-1]:.1f} frames/s, sleap-nn {wall[1][-1]:.2f} whole and {own[-1]:.2f} by its "
                  f"own clock: {wall[0][-1] / wall[1][-1]:.1f}x and {wall[0][-1] / own[-1]:.1f}x; processor "
                  f"{processor[0][-1]:.1f} and {processor[1][-1]:.1f} ms a frame", flush=True)
        m = statistics.median
        print(f"median: skitter {m(wall[0]):.1f} frames/s, sleap-nn {m(wall[1]):.2f} whole ({m(wall[0]) / m(wall[1]):.1f}x), "
              f"{m(own):.2f} by its own clock ({m(wall[0]) / m(own):.1f}x); processor {m(processor[0]):.1f} and "
              f"{m(processor[1]):.1f} ms a frame ({m(processor[1]) / m(processor[0]):.1f}x)")
        compare(instances(out / "results.slp"), instances(slp))


main()
