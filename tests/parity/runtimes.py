#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compute runtimes against the reference executor: the same model, the same input, every output.

    python tests/parity/runtimes.py --skitter build/skitter --runtimes cpu,onnx_cpu,openvino MODEL...

The input is random (seeded), of the model's own size or of --side, in batches of --batch. Prints the largest
difference relative to the output's largest value (at least 1) and fails above --limit, or when nothing was compared.
Needs numpy; and SKITTER_ONNXRUNTIME, SKITTER_OPENVINO where those libraries are not found by themselves.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def run(skitter, model, runtime, source, folder, threads):
    target = os.path.join(folder, runtime + ".npy")
    subprocess.run([skitter, "net", model, "-i", source, "-o", target, "-r", runtime, "-t", str(threads), "-q"],
                   check=True, stdout=subprocess.DEVNULL)
    several = sorted(glob.glob(os.path.join(folder, runtime + ".[0-9]*.npy")),
                     key=lambda p: int(p.split(".")[-2]))
    return [np.load(p).astype(np.float64) for p in (several or [target])]


def difference(got, want):
    if len(got) != len(want) or any(a.shape != b.shape for a, b in zip(got, want)):
        return float("inf")
    worst = [np.abs(a - b).max() / max(1.0, np.abs(b).max()) for a, b in zip(got, want) if b.size]
    return float("inf") if any(np.isnan(w) for w in worst) else max(worst)


def main():
    os.environ.setdefault("SKITTER_ARTIFACTS", "cache")  # nothing beside the models
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--skitter", default="build/skitter")
    parser.add_argument("--runtimes", default="cpu,onnx_cpu,openvino")
    parser.add_argument("--side", type=int, default=0)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1e-4)
    args = parser.parse_args()
    compared = failed = 0
    for model in args.models:
        about = subprocess.run([args.skitter, "info", model, "--json"], check=True, capture_output=True)
        size = json.loads(about.stdout)["input"]
        fixed = size.get("fixed_size")
        height = args.side if args.side and not fixed else size["height"] or 256
        width = args.side if args.side and not fixed else size["width"] or 256
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "input_x.npy")
            values = np.random.default_rng(1).random((args.batch, size["channels"], height, width))
            np.save(source, values.astype(np.float32))
            want = run(args.skitter, model, "reference", source, folder, args.threads)
            for runtime in args.runtimes.split(","):
                d = difference(run(args.skitter, model, runtime, source, folder, args.threads), want)
                compared += 1
                failed += not d <= args.limit
                shapes = " ".join("x".join(map(str, w.shape)) for w in want)
                print(f"{os.path.basename(model):48} {runtime:10} {d:9.2e}  {shapes}", flush=True)
    print(f"{compared} compared, {failed} over {args.limit:g}")
    sys.exit(1 if failed or not compared else 0)


if __name__ == "__main__":
    main()
