#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our CPU engine against other runtimes, interleaved: a few runs of each in turn, so that all meet the same machine.

    bench/compare_cpu.py --model yolo11n-pose.pt --onnx yolo11n-pose.onnx --size 640 --threads 2 --rounds 10

Needs python with numpy and whichever of onnxruntime, openvino, ncnn, torch are to be compared; build/net_loop comes from
`ninja -C build net_loop`. Prints min and median of the wall time, the processor time, and the ratios; --profile adds our
time by layer, --json FILE keeps everything.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time


class Ours:
    def __init__(self, args, options):
        command = [args.loop, args.model, str(args.height), str(args.width), str(args.threads), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = json.loads(self.process.stdout.readline())

    def ask(self, line, answer=True):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline()) if answer else None

    def run(self, count):
        answer = self.ask(str(count))
        self.peak_mb = answer["peak_mb"]
        return answer["wall"], answer["cpu"]


class Peer:
    """A runtime in a process of its own: this script again with --serve."""

    def __init__(self, args, runtime):
        command = [sys.executable, __file__, "--serve", runtime, "--onnx", args.onnx, "--height", str(args.height),
                   "--width", str(args.width), "--threads", str(args.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = json.loads(self.process.stdout.readline())

    run = Ours.run
    ask = Ours.ask


def answer(go, version):
    """Runs `go` as often as each line of standard input says, and tells how long it took."""
    go()
    print(json.dumps({"detail": version}), flush=True)
    for line in sys.stdin:
        wall, cpu = [], []
        for _ in range(int(line)):
            c, t = time.process_time(), time.perf_counter()
            go()
            wall.append((time.perf_counter() - t) * 1e3)
            cpu.append((time.process_time() - c) * 1e3)
        with open("/proc/self/status") as status:
            peak = next(int(s.split()[1]) for s in status if s.startswith("VmHWM"))
        print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak / 1024}), flush=True)


def serve(args):
    import numpy as np

    def tensor(shape):
        fixed = [1 if not isinstance(d, int) or d < 0 else d for d in shape]
        fixed[2:] = [args.height, args.width]
        return np.random.default_rng(0).random(fixed, dtype=np.float32)

    if args.serve == "onnxruntime":
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = args.threads
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = ort.InferenceSession(args.onnx, options, providers=["CPUExecutionProvider"])
        x = tensor(session.get_inputs()[0].shape)
        feed = {session.get_inputs()[0].name: x}
        version, go = ort.__version__, lambda: session.run(None, feed)
    elif args.serve == "openvino":
        import openvino as ov

        core = ov.Core()
        model = core.read_model(args.onnx)
        x = tensor([d.get_length() if d.is_static else -1 for d in model.inputs[0].get_partial_shape()])
        model.reshape({model.inputs[0].get_any_name(): list(x.shape)})
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY",
                                                     "INFERENCE_NUM_THREADS": args.threads})
        request = compiled.create_infer_request()
        request.set_input_tensor(ov.Tensor(x))
        version, go = ov.__version__, request.infer
    else:
        sys.exit(f"unknown runtime {args.serve}")
    answer(go, version)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--model")
    parser.add_argument("--onnx")
    parser.add_argument("--size", type=int)
    parser.add_argument("--height", type=int, default=640)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5, help="runs of each in one round")
    parser.add_argument("--peers", default="onnxruntime,openvino")
    parser.add_argument("--options", default="", help="for net_loop, comma separated: input=u8,winograd=off")
    parser.add_argument("--loop", default=os.path.join(here, "..", "build", "net_loop"))
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.size:
        args.height = args.width = args.size
    if args.serve:
        return serve(args)
    programs = {"skitter": Ours(args, [o for o in args.options.split(",") if o])}
    for peer in filter(None, args.peers.split(",")):
        programs[peer] = Peer(args, peer)
    wall = {name: [] for name in programs}
    cpu = {name: [] for name in programs}
    for program in programs.values():
        program.run(2)
    for _ in range(args.rounds):
        for name, program in programs.items():
            w, c = program.run(args.runs)
            wall[name] += w
            cpu[name] += c
    ours = programs["skitter"].about
    print(f"{args.model} {args.height}x{args.width}, {args.threads} threads, {ours['gflop']:.2f} GFLOP")
    print(f"first result {ours['first_ms']:.0f} ms (file {ours['read_ms']:.0f}), {ours['detail']}, "
          f"by the reference executor: {ours['elsewhere'] or 'none'}")
    for name in programs:
        low, middle = min(wall[name]), statistics.median(wall[name])
        print(f"  {name:12} min {low:8.2f}  median {middle:8.2f} ms   cpu min {min(cpu[name]):8.2f} median "
              f"{statistics.median(cpu[name]):8.2f}   ratio min {low / min(wall['skitter']):5.2f} median "
              f"{middle / statistics.median(wall['skitter']):5.2f} cpu "
              f"{statistics.median(cpu[name]) / statistics.median(cpu['skitter']):5.2f}   "
              f"peak {programs[name].peak_mb:6.1f} MB  {programs[name].about['detail']}")
    profile = []
    if args.profile:
        programs["skitter"].ask("start", answer=False)
        programs["skitter"].run(20)
        profile = programs["skitter"].ask("profile")
        for row in profile:
            rate = row["mflop"] / row["us"] if row["us"] else 0
            print(f"  {row['name']:32.32} {row['kernel']:36.36} {row['shape']:26.26} {row['us']:9.1f} us {rate * 1e-3 * 1e3:8.1f}"
                  " MFLOP/us")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"about": ours, "wall": wall, "cpu": cpu, "profile": profile}, file)


if __name__ == "__main__":
    main()
