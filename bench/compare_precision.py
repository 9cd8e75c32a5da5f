#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""f32, bf16 and int8 of one network: our CPU engine, OpenVINO and ONNX Runtime, interleaved.

    bench/compare_precision.py --model yolo11n-pose.pt --onnx yolo11n-pose.onnx --quantised yolo11n-pose.skq \\
        --quantised-onnx yolo11n-pose-i8.onnx --size 640 --threads 2

--quantised is what `skitter quantize` wrote, --quantised-onnx the same as `skitter export` writes it: QuantizeLinear and
DequantizeLinear around the convolutions, which both others run in int8. Left out, int8 is left out. --nncf is what OpenVINO's own
tool made of the same network (bench/nncf_quantise.py): what its users would run. Needs python with numpy,
openvino and onnxruntime, and build/net_loop (`ninja -C build net_loop`). Prints min and median of the wall time, and the
ratio of every line to ours of the same precision. `chrt -r 1` in front keeps other programs of the machine away.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import compare_cpu


class Peer(compare_cpu.Peer):
    """A runtime in a process of its own: this script again with --serve."""

    def __init__(self, args, runtime, precision):
        file = args.nncf if runtime == "nncf" else args.quantised_onnx if precision == "i8" else args.onnx
        command = [sys.executable, __file__, "--serve", f"{runtime} {precision}", "--onnx", file, "--height",
                   str(args.height), "--width", str(args.width), "--threads", str(args.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = json.loads(self.process.stdout.readline())


def serve(args):
    import numpy as np

    runtime, precision = args.serve.split()
    if runtime in ("openvino", "nncf"):
        import openvino as ov

        core = ov.Core()
        model = core.read_model(args.onnx)
        shape = [d.get_length() if d.is_static else 1 for d in model.inputs[0].get_partial_shape()]
        shape[2:] = [args.height, args.width]
        model.reshape({model.inputs[0].get_any_name(): shape})
        hint = "bf16" if precision == "bf16" else "f32"
        request = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "LATENCY",
                                                    "INFERENCE_NUM_THREADS": args.threads}).create_infer_request()
        request.set_input_tensor(ov.Tensor(np.random.default_rng(0).random(shape, dtype=np.float32)))
        version, go = ov.__version__, request.infer
    else:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = args.threads
        session = ort.InferenceSession(args.onnx, options, providers=["CPUExecutionProvider"])
        given = session.get_inputs()[0]
        shape = [d if isinstance(d, int) else 1 for d in given.shape]
        shape[2:] = [args.height, args.width]
        feed = {given.name: np.random.default_rng(0).random(shape, dtype=np.float32)}
        version, go = ort.__version__, lambda: session.run(None, feed)
    compare_cpu.answer(go, version)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--model")
    parser.add_argument("--onnx")
    parser.add_argument("--quantised")
    parser.add_argument("--quantised-onnx")
    parser.add_argument("--nncf", help="OpenVINO's .xml in eight bits")
    parser.add_argument("--size", type=int)
    parser.add_argument("--height", type=int, default=640)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5, help="runs of each in one round")
    parser.add_argument("--without", default="", help="lines to leave out, comma separated: 'onnxruntime i8'")
    parser.add_argument("--loop", default=os.path.join(here, "..", "build", "net_loop"))
    parser.add_argument("--json")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.size:
        args.height = args.width = args.size
    if args.serve:
        return serve(args)
    programs = {}
    left_out = [name.strip() for name in args.without.split(",")]
    for precision in ("f32", "bf16", "i8"):
        if precision == "i8" and not args.quantised:
            continue
        given = argparse.Namespace(**{**vars(args), "model": args.quantised if precision == "i8" else args.model})
        programs[f"skitter {precision}"] = compare_cpu.Ours(given, [f"precision={precision}"])
        for runtime in ("openvino", "nncf", "onnxruntime"):
            name = f"{runtime} {precision}"
            there = args.nncf if runtime == "nncf" else args.quantised_onnx if precision == "i8" else args.onnx
            if there and name not in left_out and name not in ("onnxruntime bf16", "nncf f32", "nncf bf16"):
                programs[name] = Peer(args, runtime, precision)
    wall = {name: [] for name in programs}
    for program in programs.values():
        program.run(2)
    for _ in range(args.rounds):
        for name, program in programs.items():
            wall[name] += program.run(args.runs)[0]
    print(f"{args.model} {args.height}x{args.width}, {args.threads} threads")
    for name, program in programs.items():
        ours = wall["skitter " + name.split()[1]]
        low, middle = min(wall[name]), statistics.median(wall[name])
        print(f"  {name:18} min {low:8.2f}  median {middle:8.2f} ms   ours / this: min {min(ours) / low:5.2f} median "
              f"{statistics.median(ours) / middle:5.2f}   of our f32 {middle / statistics.median(wall['skitter f32']):5.2f}"
              f"   peak {program.peak_mb:6.1f} MB  {program.about['detail']}")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"wall": wall}, file)


if __name__ == "__main__":
    main()
