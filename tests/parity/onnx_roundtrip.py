#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares skitter with ONNX Runtime, in both directions.

ours:   every model of the reference data is exported by `skitter export` (static, dynamic, opsets, half); the file must
        pass onnx.checker with shape inference, ONNX Runtime must compute what `skitter net` computes from the original,
        `skitter net` on the file must agree too, and Ultralytics must predict with the YOLO ones what it predicts with
        the checkpoint.
theirs: Ultralytics (and sleap-nn, where --sleap-nn names its program) export models of theirs in many ways; `skitter net`
        must compute what ONNX Runtime computes from the file.

Errors are relative to max(1, |expected|): float32 1e-4, half 0.1. One line per case; the exit code counts the failures.
A network with random weights has many equal scores, and which of them a top-k takes is nobody's promise: rows of NMS
exports are compared on the calibrated checkpoints of the reference data.

usage: python tests/parity/onnx_roundtrip.py --skitter build/skitter --data ../shared/data [--sleap-nn PROGRAM]
       [--only TEXT] [ours] [theirs]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("YOLO_VERBOSE", "false")
os.environ.setdefault("YOLO_OFFLINE", "true")

import numpy as np
import onnx
import onnxruntime

OURS = {
    "static": ([], {}),
    "static13": (["--opset", "13"], {}),
    "dynamic": (["--dynamic"], {"batch": 3, "more": 32}),
    "dynamic18": (["--dynamic", "--opset", "18"], {"batch": 2, "more": 64}),
    "batch": (["--dynamic-batch"], {"batch": 2}),
    "half": (["--half"], {"limit": 0.1}),
    "half-io": (["--half", "--half-io", "--dynamic"], {"batch": 2, "limit": 0.1}),
    "raw-heads": (["--raw-heads"], {"raw": True}),
}
# configuration -> ways to export it
THEIRS = {
    "yolo11n.yaml": [{}, {"dynamic": True}, {"opset": 11, "simplify": False}, {"opset": 13, "dynamic": True, "simplify": False},
                     {"opset": 20}],
    "yolov8n-obb.yaml": [{}, {"dynamic": True, "simplify": False}, {"opset": 12}],
    "yolo11n-pose.yaml": [{}, {"dynamic": True}, {"batch": 2}],
    "yolo26n.yaml": [{}, {"nms": False}, {"nms": False, "dynamic": True}],
    "yolo26n-pose.yaml": [{}],
    "yolo26n-obb.yaml": [{}],
    "yolov10n.yaml": [{}, {"nms": False}],
    "yolo11n-seg.yaml": [{}],
    "yolo11n-cls.yaml": [{}],
    "yolo12n.yaml": [{}],
    "yolov9t.yaml": [{}],
    "yolov5n.yaml": [{}],
}
CALIBRATED = [{}, {"nms": True}, {"nms": True, "dynamic": True}, {"nms": True, "opset": 13, "simplify": False}, {"quantize": 16}]


class Checks:
    def __init__(self, arguments):
        self.skitter = arguments.skitter
        self.only = arguments.only
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="skitter-onnx-"))
        self.failures = self.count = 0

    def report(self, name, error, limit, note=""):
        good = error <= limit
        self.count += 1
        self.failures += not good
        print(f"{'ok  ' if good else 'FAIL'} {name:60s} {error:9.2e} (limit {limit:g}) {note}", flush=True)

    def fail(self, name, text):
        self.count += 1
        self.failures += 1
        print(f"FAIL {name:60s} {text.strip()[:400]}", flush=True)

    def net(self, model, x, *options):
        """Outputs of `skitter net`, in order."""
        source, target = self.folder / "x.npy", self.folder / "y.npy"
        for old in self.folder.glob("y*.npy"):
            old.unlink()
        np.save(source, x)
        run = subprocess.run([self.skitter, "net", str(model), "-i", str(source), "-o", str(target), *options],
                             capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr or run.stdout)
        if target.exists():
            return [np.load(target)]
        return [np.load(self.folder / f"y.{i}.npy") for i in range(len(list(self.folder.glob("y.*.npy"))))]


def runtime(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def distance(expected, got):
    """Largest error relative to max(1, |expected|); infinite where shapes or NaNs differ."""
    worst = 0.0
    if len(expected) != len(got):
        return float("inf")
    for a, b in zip(expected, got):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if a.shape != b.shape and a.ndim == 4 and a.transpose(0, 2, 3, 1).shape == b.shape:
            b = b.transpose(0, 3, 1, 2)  # Keras models answer height x width x channels
        if a.shape != b.shape or (np.isnan(a) != np.isnan(b)).any():
            return float("inf")
        known = np.isfinite(a)
        if known.any():
            worst = max(worst, float((np.abs(a - b)[known] / np.maximum(1, np.abs(a[known]))).max()))
    return worst


def check_ours(c, data):
    models = sorted(data.glob("yolo/*/*.pt")) + sorted(p for p in data.glob("sleap/[ln]*/*") if p.is_dir())
    for model in models:
        for tag, (options, extra) in OURS.items():
            name = f"{model.stem if model.suffix == '.pt' else model.name} {tag}"
            yolo = model.suffix == ".pt"
            if c.only and c.only not in name or extra.get("raw") and not yolo:
                continue
            path = c.folder / "ours.onnx"
            run = subprocess.run([c.skitter, "export", str(model), "-o", str(path), "--imgsz", "192x160", "--overwrite",
                                  *options], capture_output=True, text=True)
            if run.returncode:
                c.fail(name, run.stderr or run.stdout)
                continue
            try:
                onnx.checker.check_model(onnx.load(str(path)), full_check=True)
                session = runtime(path)
                entry = session.get_inputs()[0]
                more = extra.get("more", 0)
                shape = (extra.get("batch", 1), entry.shape[1], 192 + more, 160 + more)
                x = np.random.default_rng(0).random(shape, dtype=np.float32)
                answers = session.run(None, {entry.name: x.astype(np.float16) if "float16" in entry.type else x})
                original = c.net(model, x, *(["--raw-heads"] if extra.get("raw") else []))
                again = c.net(path, x)
                limit = extra.get("limit", 1e-4)
                c.report(name, max(distance(answers, original), distance(original, again)), limit)
            except Exception as error:  # noqa: BLE001 one bad case must not hide the others
                c.fail(name, repr(error))
    check_ultralytics_reads_ours(c, data)


def check_ultralytics_reads_ours(c, data):
    from ultralytics import YOLO

    for model in sorted(data.glob("yolo/*/*.pt")):
        name = f"{model.stem} predicted by Ultralytics"
        if c.only and c.only not in name:
            continue
        path = c.folder / f"{model.stem}.onnx"
        try:
            subprocess.run([c.skitter, "export", str(model), "-o", str(path), "--imgsz", "320", "--overwrite"], check=True,
                           capture_output=True)
            results = []
            for file in (model, path):
                yolo = YOLO(str(file))
                head = yolo.model.model[-1] if file == model else None
                if hasattr(head, "kpt_shape"):
                    yolo.model.kpt_shape = head.kpt_shape  # the reference checkpoints have it in the head only
                found = yolo.predict(str(data / "yolo" / "bus.jpg"), imgsz=320, rect=False, verbose=False,
                                                save=False, device="cpu")[0]
                rows = (found.obb if found.obb is not None else found.boxes).data.numpy()
                if found.keypoints is not None:
                    rows = np.concatenate([rows, found.keypoints.data.numpy().reshape(len(rows), -1)], 1)
                results.append((rows, found.names))
            c.report(name, distance([results[0][0]], [results[1][0]]), 2e-3,
                     f"{len(results[0][0])} rows" + ("" if results[0][1] == results[1][1] else ", but other names"))
        except Exception as error:  # noqa: BLE001
            c.fail(name, repr(error))


def compare_file(c, name, path, image, limit):
    session = runtime(path)
    entry = session.get_inputs()[0]
    shape = [d if isinstance(d, int) else None for d in entry.shape]
    batch, height, width = shape[0] or 1, shape[2] or image.shape[0], shape[3] or image.shape[1]
    rows, columns = np.arange(height) * image.shape[0] // height, np.arange(width) * image.shape[1] // width
    picture = image[rows][:, columns]
    if shape[1] == 1:
        picture = picture[:, :, :1]
    if "uint8" in entry.type:
        x = np.repeat(picture[None], batch, 0)
        answers = session.run(None, {entry.name: np.ascontiguousarray(x.transpose(0, 3, 1, 2))})
    else:
        x = np.repeat(picture.transpose(2, 0, 1)[None], batch, 0).astype(np.float32) / 255
        answers = session.run(None, {entry.name: x.astype(np.float16) if "float16" in entry.type else x})
    c.report(name, distance(answers, c.net(path.parent if path.name == "model.onnx" else path, x)), limit,
             " ".join("x".join(map(str, a.shape)) for a in answers))


def check_theirs(c, data, sleap_nn):
    import torch
    from PIL import Image
    from ultralytics import YOLO

    torch.manual_seed(0)
    image = np.asarray(Image.open(data / "yolo" / "bus.jpg").convert("RGB").resize((320, 320)))
    cases = [(configuration, way) for configuration, ways in THEIRS.items() for way in ways]
    cases += [(path, way) for path in sorted(data.glob("yolo/*/*.pt")) for way in CALIBRATED]
    for source, way in cases:
        tag = " ".join(f"{k}={v}" for k, v in way.items())
        name = f"{source if isinstance(source, str) else source.stem} by Ultralytics {tag}"
        if c.only and c.only not in name:
            continue
        try:
            if isinstance(source, pathlib.Path):
                source = shutil.copy(source, c.folder)
            made = pathlib.Path(YOLO(str(source)).export(format="onnx", imgsz=160 if str(source).endswith("yaml") else 320,
                                                         device="cpu", **way))
            path = made.replace(c.folder / "theirs.onnx")
            compare_file(c, name, path, image, 0.1 if way.get("quantize") else 1e-4)
        except Exception as error:  # noqa: BLE001
            c.fail(name, repr(error))
    if not sleap_nn:
        return
    models = sorted(p for p in data.glob("sleap/nn/*") if p.is_dir())
    sources = [[m] for m in models]
    pair = [m for m in models if m.name == "minimal_instance_centroid"] + \
           [m for m in models if m.name == "minimal_instance_centered_instance"]
    if len(pair) == 2:
        sources.append(pair)
    for source in sources:
        name = " + ".join(m.name for m in source) + " by sleap-nn"
        if c.only and c.only not in name:
            continue
        target = c.folder / "sleap"
        shutil.rmtree(target, ignore_errors=True)
        run = subprocess.run([sleap_nn, "export", *map(str, source), "-o", str(target), "-f", "onnx"], capture_output=True,
                             text=True)
        if not (target / "model.onnx").exists():
            print(f"skip {name:60s} sleap-nn could not export it: {(run.stderr or run.stdout).strip()[-160:]!r}")
            continue
        try:
            compare_file(c, name, target / "model.onnx", image, 1e-4)
        except Exception as error:  # noqa: BLE001
            c.fail(name, repr(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skitter", default="build/skitter")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--sleap-nn", help="the sleap-nn program")
    parser.add_argument("--only", help="only cases with this text in their name")
    parser.add_argument("parts", nargs="*", choices=["ours", "theirs", []], default=[])
    arguments = parser.parse_args()
    checks = Checks(arguments)
    parts = arguments.parts or ["ours", "theirs"]
    if "ours" in parts:
        check_ours(checks, arguments.data)
    if "theirs" in parts:
        check_theirs(checks, arguments.data, arguments.sleap_nn)
    shutil.rmtree(checks.folder, ignore_errors=True)
    print(f"{checks.count - checks.failures} of {checks.count} agree")
    return min(checks.failures, 100)


if __name__ == "__main__":
    sys.exit(main())
