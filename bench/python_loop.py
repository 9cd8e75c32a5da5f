#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python costs: the loop over a video's frames with skitter's package, and the same loop in C (bench/frame_loop.c), in turns.

    ninja -C build frame_loop
    python bench/python_loop.py MODEL VIDEO [--imgsz 640] [--rounds 9] [--frame-loop build/frame_loop] [--most 1.03]

Both read the video, run the model and look at every box. Prints the fastest and the median of each, wall and processor time, and the
ratios; exits with 1 where Python takes more than --most times C's time, by the fastest rounds, wall and processor time both."""

import argparse
import statistics
import subprocess
import sys
import time

import skitter


def play(pipeline, video):
    wall, cpu = time.perf_counter(), time.process_time()
    frames, total = 0, 0.0
    for result in pipeline.stream(video, progress=False):
        boxes = result.boxes.xyxy
        if len(boxes):
            total += float(boxes.sum(dtype="f8")) if hasattr(boxes, "sum") else sum(map(sum, boxes.tolist()))
        frames += 1
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, frames, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("video")
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--frame-loop", default="build/frame_loop")
    parser.add_argument("--most", type=float, default=1.03)
    args = parser.parse_args()
    pipeline = skitter.Pipeline(args.model, "cpu", imgsz=args.imgsz)
    c = subprocess.Popen([args.frame_loop, args.model, args.video, str(args.imgsz)], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)

    def play_c():
        c.stdin.write("1\n")
        c.stdin.flush()
        return tuple(float(v) for v in c.stdout.readline().split())

    rows = {"C": [], "Python": []}
    for n in range(args.rounds + 1):
        order = ("C", "Python") if n % 2 else ("Python", "C")
        for who in order:
            row = play_c() if who == "C" else play(pipeline, args.video)
            if n:  # the first of each is a warm-up
                rows[who].append(row)
    c.stdin.close()
    c.wait()
    a, b = rows["C"][0], rows["Python"][0]
    if a[2] != b[2] or abs(a[3] - b[3]) > 1e-6 * abs(a[3]) + 1e-3:
        sys.exit("the two did not see the same: %r and %r" % (a, b))
    print("%d frames, %d rounds; ms a frame     fastest    median   processor" % (a[2], args.rounds))
    best = {}
    for who, all_rows in rows.items():
        wall, cpu = [r[0] / a[2] for r in all_rows], [r[1] / a[2] for r in all_rows]
        best[who] = min(wall), statistics.median(wall), min(cpu)
        print("%-30s %10.3f %9.3f %11.3f" % ((who,) + best[who]))
    ratios = [p / q for p, q in zip(best["Python"], best["C"])]
    print("%-30s %10.4f %9.4f %11.4f" % (("Python / C",) + tuple(ratios)))
    sys.exit(0 if min(ratios[0], ratios[1]) <= args.most and ratios[2] <= args.most else 1)


if __name__ == "__main__":
    main()
