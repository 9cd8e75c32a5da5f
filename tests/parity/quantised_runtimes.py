# SPDX-License-Identifier: Apache-2.0
"""Does an export of a model in eight bits run in eight bits elsewhere, and compute what it should?

Runs the ONNX file by ONNX Runtime and OpenVINO, counts the convolutions each computes in eight bits, and compares the outputs
with skitter's reference executor on the same file. Needs onnxruntime, openvino and numpy:

    build/skitter export model.skq -o model.onnx
    python tests/parity/quantised_runtimes.py --skitter build/skitter model.onnx [picture.npy]
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import openvino


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--skitter", default="build/skitter")
    p.add_argument("model")
    p.add_argument("picture", nargs="?", help="float32 NCHW; without it noise")
    p.add_argument("--least", type=float, default=0.999, help="correlation with the reference executor")
    return p.parse_args()


def by_onnxruntime(path, x, folder):
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.log_severity_level = 3
    options.profile_file_prefix = os.path.join(folder, "profile")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: x})
    count = collections.Counter()
    with open(session.end_profiling()) as f:
        for event in json.load(f):
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                count[event["args"]["op_name"]] += 1
    return outputs, count["QLinearConv"], count["Conv"] + count["FusedConv"]


def text(info, key):
    value = info[key] if key in info else ""
    return str(getattr(value, "value", value))


def by_openvino(path, x):
    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    outputs = list(compiled({0: x}).values())
    count = collections.Counter()
    for op in compiled.get_runtime_model().get_ops():
        info = op.get_rt_info()
        if text(info, "layerType") == "Convolution":
            count[text(info, "runtimePrecision") in ("u8", "i8")] += 1
    return outputs, count[True], count[False]


def main():
    args = parse()
    probe = onnxruntime.InferenceSession(args.model, providers=["CPUExecutionProvider"])
    shape = [d if isinstance(d, int) else 1 if i == 0 else 512 for i, d in enumerate(probe.get_inputs()[0].shape)]
    x = np.load(args.picture) if args.picture else np.random.default_rng(1).random(shape, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        given, out = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
        np.save(given, x)
        subprocess.run([args.skitter, "net", args.model, "-i", given, "-o", out, "--runtime", "reference", "-q"],
                       check=True)
        names = [out] if os.path.exists(out) else [f"{out[:-4]}.{i}.npy" for i in range(len(probe.get_outputs()))]
        wanted = [np.load(n) for n in names]
        bad = False
        for name, (got, eight, other) in (("onnxruntime", by_onnxruntime(args.model, x, folder)),
                                          ("openvino", by_openvino(args.model, x))):
            pcc = min(np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(got, wanted))
            far = max(np.abs(a - b).max() for a, b in zip(got, wanted))
            bad |= eight == 0 or pcc < args.least
            print(f"{name}: {eight} convolutions in eight bits, {other} others; correlation {pcc:.8f}, largest difference {far:.3g}")
    sys.exit(int(bad))


main()
