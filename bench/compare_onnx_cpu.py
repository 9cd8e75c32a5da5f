#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What skitter adds to ONNX Runtime: the same .onnx file, the same library, the same threads and session options, timed by
ONNX Runtime's own Python interface with bound input and output, and by `skitter bench --runtime onnx_cpu`, in turns.

    bench/compare_onnx_cpu.py --model yolo11n-pose.onnx --threads 1 --rounds 12 --runs 10

Run it with a Python that has onnxruntime and numpy; skitter loads that package's library. Skitter's time holds turning
8-bit pictures into the network's input; Python's input is there already. Every round gives the fastest run, the median run
and the least processor time of each side; ratios are of the medians over the rounds. Ends with 1 above --limit.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxruntime as ort


class Python:
    def __init__(self, args):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = args.threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        self.session = ort.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        entry = self.session.get_inputs()[0]
        shape = [d if isinstance(d, int) and d > 0 else (1, 3, args.size, args.size)[i] for i, d in enumerate(entry.shape)]
        self.shape = shape
        self.x = ort.OrtValue.ortvalue_from_numpy(np.random.default_rng(0).random(shape, dtype=np.float32))
        self.binding.bind_ortvalue_input(entry.name, self.x)
        probe = self.session.run(None, {entry.name: self.x.numpy()})
        self.outputs = []
        for output, value in zip(self.session.get_outputs(), probe):
            self.outputs.append(ort.OrtValue.ortvalue_from_numpy(np.zeros_like(value)))
            self.binding.bind_ortvalue_output(output.name, self.outputs[-1])

    def run(self, count):
        for _ in range(2):
            self.session.run_with_iobinding(self.binding)
        times, busy = [], []
        for _ in range(count):
            cpu, begin = time.process_time(), time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            times.append((time.perf_counter() - begin) * 1e3)
            busy.append((time.process_time() - cpu) * 1e3)
        return min(times), statistics.median(times), min(busy)


def skitter(args, shape, count):
    environment = dict(os.environ, SKITTER_ONNXRUNTIME=os.path.dirname(ort.__file__) + "/capi")
    command = [args.skitter, "bench", args.model, "--runtime", "onnx_cpu", "--threads", str(args.threads), "-n", str(count),
               "--imgsz", f"{shape[2]}x{shape[3]}", "--warmup", "2", "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    row = (answer["results"] if isinstance(answer, dict) else answer)[0]
    return row["min_ms"], row["median_ms"], row["cpu_ms"], row.get("detail", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--model", required=True, help="an .onnx file")
    parser.add_argument("--skitter", default=os.path.join(here, "..", "build", "skitter"))
    parser.add_argument("--size", type=int, default=640, help="where the file leaves it open")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--limit", type=float, default=1.03)
    args = parser.parse_args()
    python = Python(args)
    ours, theirs, detail = [], [], ""
    for number in range(args.rounds):
        # who goes first changes, so that neither always meets the machine the other has warmed
        for side in ("ours", "theirs") if number % 2 else ("theirs", "ours"):
            if side == "ours":
                *row, detail = skitter(args, python.shape, args.runs)
                ours.append(row)
            else:
                theirs.append(python.run(args.runs))
    median = lambda rows, i: statistics.median(r[i] for r in rows)
    ratios = [median(ours, i) / median(theirs, i) for i in range(3)]
    print(f"{os.path.basename(args.model)}, {'x'.join(map(str, python.shape))}, {args.threads} threads, "
          f"{args.rounds} rounds of {args.runs} runs, load {os.getloadavg()[0]:.1f}; ms, medians over the rounds")
    print(f"{'':24} {'fastest run':>12} {'median run':>12} {'processor':>12}")
    print(f"{'onnxruntime ' + ort.__version__:24} " + " ".join(f"{median(theirs, i):12.3f}" for i in range(3)))
    print(f"{'skitter onnx_cpu':24} " + " ".join(f"{median(ours, i):12.3f}" for i in range(3)) + f"   ({detail})")
    print(f"{'ratio':24} " + " ".join(f"{r:12.3f}" for r in ratios) + f"   limit {args.limit}")
    # On a busy machine wall times say how the system shared it out; processor time is what the work costs.
    judged = ratios[2] if os.getloadavg()[0] > os.cpu_count() / 2 + args.threads else ratios[0]
    print(f"judged by {'processor time: the machine is busy' if judged == ratios[2] else 'the fastest runs'}: {judged:.3f}")
    sys.exit(judged > args.limit)


if __name__ == "__main__":
    main()
