#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Eight bits on this machine's GPU: what the demo's models lose in fp8 and i8, and how long yolo11n-pose takes.

usage: bench/gpu/eight_bits.py SKITTER YOLO11N-POSE.pt DEMO_MODELS [PICTURES [SEED…]]
  DEMO_MODELS  share/models, with demo-pose.pt, demo-obb.pt and demo-bottomup
  PICTURES     how many scenes of fish, flies and mice are measured on (400) for each SEED (990 2990 3990): one set moves AP by half a
               point by chance, so the mean of them counts; 80 others are for making the models

Models are made by `skitter quantize` with 80 pictures, yolo11n-pose with 8 at 640 x 640. AP is `skitter eval`'s, over ten thresholds, in
points; times are the network's without its decode tail, medians, formats in turns. bench/gpu/run calls this, must_show.py reads it."""
import json
import pathlib
import subprocess
import sys
import tempfile

PRECISIONS = ("fp8", "i8")
DEMOS = (("demo-pose", "oks"), ("demo-obb", "oriented_boxes"), ("demo-bottomup", "oks"))


def call(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def score(skitter, work, model, what, name, *options):
    """AP and keypoints' median distance, of each set."""
    settings = [] if "bottomup" in name else ["--conf", "0.4", "--iou", "0.5"]
    aps, medians = [], []
    for seen in sorted(work.glob("seen-*")):
        out = work / f"{name}-{seen.name}"
        call(skitter, "predict", seen / "images", "-m", model, "-r", "cuda", "-o", out, "-f", "csv", "-q", *settings, *options)
        told = json.loads(call(skitter, "eval", out / "results.csv", seen / "truth.csv", "--json", "-q"))["all"]
        aps.append(told[what]["ap"] * 100)
        medians.append(told.get("keypoints", {}).get("median_px"))
    return aps, medians


def mean(numbers):
    return sum(numbers) / len(numbers)


def losses(skitter, models, work):
    for name, what in DEMOS:
        source = models / name if (models / name).is_dir() else models / f"{name}.pt"
        plain, near = score(skitter, work, source, what, f"{name}-f32", "--precision", "f32")
        for precision in PRECISIONS:
            file = work / f"{name}-{precision}.skq"
            told = json.loads(call(skitter, "quantize", source, "--data", work / "made" / "images", "--frames", "80", "--precision",
                                   precision, "-o", file, "-q", "--json"))
            ap, px = score(skitter, work, file, what, f"{name}-{precision}")
            kept = sum(layer["precision"] == "f32" for layer in told["layers"])
            points = "" if px[0] is None else f", keypoints' median {mean(px):.2f} px, f32 {mean(near):.2f}"
            each = ", ".join(f"{a - b:+.2f}" for a, b in zip(ap, plain))
            print(f"{name} {precision}: AP {mean(ap):.2f}, f32 {mean(plain):.2f}, {mean(ap) - mean(plain):+.2f} points ({each}){points}; "
                  f"{kept} of {len(told['layers'])} layers in f32, loss {told['loss']['percent']:.2f} %", flush=True)


def times(skitter, yolo, work, rounds=3):
    files = {"f16": yolo}
    for precision in PRECISIONS:
        files[precision] = work / f"yolo-{precision}.skq"
        call(skitter, "quantize", yolo, "--data", work / "made" / "images", "--frames", "8", "--imgsz", "640", "--precision", precision,
             "-o", files[precision], "-q")
    for batch in (1, 64):
        seen = {name: [] for name in files}
        for _ in range(rounds):
            for name, file in files.items():
                told = json.loads(call(skitter, "bench", file, "--runtime", "cuda", "--raw-heads", "--imgsz", "640", "-b", batch, "--json"))
                seen[name].append(told["results"][0]["median_ms"])
        print(f"yolo11n-pose batch {batch}: " + ", ".join(f"{name} {sorted(t)[len(t) // 2]:.3f} ms" for name, t in seen.items()), flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    skitter, yolo, models = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    pictures, seeds = sys.argv[4] if len(sys.argv) > 4 else "400", sys.argv[5:] or ["990", "2990", "3990"]
    with tempfile.TemporaryDirectory(prefix="skitter-eight-bits-") as folder:
        work = pathlib.Path(folder)
        for name, count, seed in [("made", 120, "991")] + [(f"seen-{s}", pictures, s) for s in seeds]:
            call(skitter, "scene", "--pictures", count, "--species", "mixed", "--animals", "6", "--seed", seed, "-o", work / name, "-q")
        losses(skitter, models, work)
        times(skitter, yolo, work)


if __name__ == "__main__":
    main()
