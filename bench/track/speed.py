#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames a second (of processor time) of the association alone: skitter's methods and boxmot's, one core, in one run.

    VENV/bin/python bench/track/speed.py [--track-rows build/track_rows]

The same wandering animals as track_rows --speed has (40 x 12 pixels, 60 pixels squared for each, 4 % missed, 3 % jitter), turned
boxes for both. boxmot's time holds its call from Python with an array; its C++ where that was built. compare.py says what VENV
needs.
"""
import argparse
import math
import os
import subprocess
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
import peers  # noqa: E402

SIZES = {10: 300, 100: 100, 300: 40, 1000: 12}


def frames_of(animals, count):
    """Rows cx, cy, w, h, angle, score, class of each frame."""
    random = np.random.default_rng(1)
    side = 60 * math.sqrt(animals)
    x, y, heading = random.uniform(0, side, animals), random.uniform(0, side, animals), random.uniform(0, 6.28, animals)
    for _ in range(count):
        heading += 0.3 * (random.random(animals) - 0.5)
        x, y = x + 2 * np.cos(heading), y + 2 * np.sin(heading)
        heading = np.where((x < 0) | (y < 0) | (x > side) | (y > side), heading + 0.3, heading)
        x, y = np.clip(x, 0, side), np.clip(y, 0, side)
        e = lambda: 1.2 * random.random(animals)
        table = np.column_stack([x + e() - 0.6, y + e() - 0.6, 40 + e(), 12 + 0.3 * e(), heading % np.pi,
                                 0.65 + 0.35 * random.random(animals), np.zeros(animals)])
        yield np.ascontiguousarray(table[random.random(animals) >= 0.04], dtype=np.float32)


def rate(name, native, animals, count):
    tracker = peers.make(name, dict(peers.PEERS[name][0], obb=True), native)
    picture, spent = np.zeros((8, 8, 3), np.uint8), 0.0
    for k, table in enumerate(frames_of(animals, count + 3)):
        begin = time.process_time()
        tracker.update(table, picture)
        spent += (time.process_time() - begin) * (k >= 3)
    return count / spent


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--track-rows", default="build/track_rows")
    p.add_argument("--python-most", type=int, default=300, help="animals up to which boxmot's Python is timed")
    options = p.parse_args()
    print(subprocess.run([options.track_rows, "--speed"], check=True, capture_output=True, text=True).stdout, end="")
    for name in peers.PEERS:
        for native in (False, True):
            if native and not peers.native_library(name):
                continue
            cells = []
            for animals, count in SIZES.items():
                skip = not native and animals > options.python_most
                cells.append(f"{'-' if skip else format(rate(name, native, animals, count), '.0f'):>10s}")
            print(f"boxmot {name:9s} {'C++   ' if native else 'Python'} " + " ".join(cells), flush=True)


if __name__ == "__main__":
    main()
