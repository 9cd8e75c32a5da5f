#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the demo's models lose in fewer bits: AP and keypoints' median of f32, i8 and mixed (bf16, which needs no calibration), on scenes
that neither training nor calibration saw.

    bench/quantised_accuracy.py build/skitter                  # all three models, two calibrations, six scenes of a kind
    bench/quantised_accuracy.py build/skitter --models pose --precisions i8 --scenes 2 --calibrations 1
    bench/quantised_accuracy.py build/skitter --precisions bf16

A calibration is a scene of fish, flies and mice with a seed of its own, of which `skitter quantize` takes 100 frames. Every scene
is measured by `skitter eval`. The exit code is 1 where a mean over all calibrations is more than --goal points of AP below f32,
or keypoints' median more than 0.3 px further. Everything is made in a folder of its own, kept with --work. Needs Python alone.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FIRST = 1000002000000  # below 2^41: not trained on; as bench/demo_accuracy.sh
CALIBRATION = 1000009000000
KINDS = ("fish", "fly", "mouse", "mixed")
MEDIAN_PX = 0.3


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("skitter")
    p.add_argument("--models", nargs="+", default=["obb", "pose", "bottomup"])
    p.add_argument("--precisions", nargs="+", default=["i8", "mixed"])
    p.add_argument("--scenes", type=int, default=6, help="of each kind")
    p.add_argument("--first", type=int, default=0, help="number of the first scene")
    p.add_argument("--calibrations", type=int, default=2)
    p.add_argument("--first-calibration", type=int, default=0, help="number of the first scene to calibrate with")
    p.add_argument("--goal", type=float, default=0.5, help="points of AP that may be lost")
    p.add_argument("--folder", default=str(pathlib.Path(__file__).resolve().parent.parent / "share/models"))
    p.add_argument("--work", help="a folder that is kept: scenes and f32's results are made once")
    p.add_argument("--options", default="", help="more for `skitter quantize`")
    return p.parse_args()


class Bench:
    def __init__(self, args, work):
        self.args, self.work = args, work

    def skitter(self, *words):
        done = subprocess.run([self.args.skitter, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"skitter {' '.join(map(str, words))}\n{done.stderr}")
        return done.stdout

    def scene(self, kind, seed, seconds, animals):
        video = self.work / f"{kind}-{seed}.mp4"
        truth = video.with_suffix(".csv")
        if not truth.exists():
            self.skitter("scene", "--species", kind, "--animals", animals, "--seconds", seconds, "--seed", seed, "-o", video,
                         "--truth", truth, "-q")
        return video, truth

    def source(self, model):
        return pathlib.Path(self.args.folder) / ("demo-bottomup" if model == "bottomup" else f"demo-{model}.pt")

    def results(self, video, model, file, name, precision):
        """results.csv of one scene; f32's are made once."""
        out = self.work / f"{name}-{video.stem}"
        csv = out / "results.csv"
        if name.endswith("f32") and csv.exists():
            return csv
        settings = [] if model == "bottomup" else ["--conf", 0.4, "--iou", 0.5]
        self.skitter("predict", video, "-m", file, "-o", out, "-f", "csv", "-q", "--restart", *settings,
                     *(["--precision", precision] if precision else []))
        return csv

    def score(self, kind, model, file, name, precision):
        """AP in points, and the median of keypoints' distances, over all scenes of a kind."""
        truth, found = self.work / f"{name}-{kind}.truth.csv", self.work / f"{name}-{kind}.csv"
        for path in (truth, found):
            path.write_text("")
        for i in range(self.args.first, self.args.first + self.args.scenes):
            video, labels = self.scene(kind, FIRST + i, 2, 5)
            join(labels, truth)
            join(self.results(video, model, file, name, precision), found)
        seen = json.loads(self.skitter("eval", found, truth, "--json", "-q"))["all"]
        ap = seen["oriented_boxes" if model == "obb" else "oks"]["ap"] * 100
        return ap, None if model == "obb" else seen["keypoints"]["median_px"]


    def made(self, model, precision, calibration):
        """The file that computes in it, and how many of its layers are in eight bits."""
        if precision == "bf16":
            return self.source(model), "", ""
        video, _ = self.scene("mixed", CALIBRATION + calibration, 8, 6)
        file = self.work / f"{model}-{precision}-{calibration}.skq"
        told = json.loads(self.skitter("quantize", "-q", self.source(model), "--data", video, "--precision", precision,
                                       "-o", file, "--overwrite", "--json", *self.args.options.split()))
        layers = [layer["precision"] for layer in told["layers"]]
        return file, f"{layers.count('i8'):>4}/{len(layers):<4}", f"  {told['loss']['percent']:5.2f} %"


def join(table, to):
    """The rows of a table behind those that are there."""
    lines = table.read_text().splitlines(keepends=True)
    with open(to, "a") as f:
        if to.stat().st_size == 0:
            f.writelines(lines)
        else:
            f.writelines([line for line in lines if not line.startswith("#")][1:])


def cell(ap, px):
    return f"{ap:7.2f}" + ("         " if px is None else f" {px:5.2f} px")


def change(ap, px):
    return f"{ap:+7.2f}" + ("         " if px is None else f" {px:+5.2f} px")


def run(bench):
    args, missed = bench.args, []
    print(f"{'model':<9} {'in':<6} {'calibrated':>10} {'layers':>9}" + "".join(f" {k:>16}" for k in KINDS))
    for model in args.models:
        plain = {k: bench.score(k, model, bench.source(model), f"{model}-f32", "f32") for k in KINDS}
        print(f"{model:<9} {'f32':<6} {'':>10} {'':>9}" + "".join(" " + cell(*plain[k]) for k in KINDS), flush=True)
        for precision in args.precisions:
            lost = {k: [] for k in KINDS}
            calibrations = 1 if precision == "bf16" else args.calibrations
            for c in range(args.first_calibration, args.first_calibration + calibrations):
                file, layers, loss = bench.made(model, precision, c)
                row = []
                for k in KINDS:
                    ap, px = bench.score(k, model, file, f"{model}-{precision}-{c}", "bf16" if precision == "bf16" else "")
                    row.append((ap - plain[k][0], None if px is None else px - plain[k][1]))
                    lost[k].append(row[-1])
                print(f"{model:<9} {precision:<6} {c + 1:>10} {layers:>9}" + "".join(" " + change(*r) for r in row) + loss, flush=True)
            for k in KINDS:
                ap = sum(r[0] for r in lost[k]) / len(lost[k])
                px = max((r[1] or 0) for r in lost[k])
                if ap < -args.goal or px > MEDIAN_PX:
                    missed.append(f"{model} {precision} {k}: {ap:+.2f} points, {px:+.2f} px")
    for line in missed:
        print("missed:", line)
    return 1 if missed else 0


def main():
    args = parse()
    if args.work:
        pathlib.Path(args.work).mkdir(parents=True, exist_ok=True)
        return run(Bench(args, pathlib.Path(args.work)))
    with tempfile.TemporaryDirectory(prefix="skitter-quantised-") as work:
        return run(Bench(args, pathlib.Path(work)))


if __name__ == "__main__":
    sys.exit(main())
