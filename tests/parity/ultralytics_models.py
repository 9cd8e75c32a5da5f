#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares skitter's networks with the installed Ultralytics release, model by model.

Each model is built from Ultralytics' own configuration with random weights, its batch norms calibrated on the
package's pictures and its scores spread out, saved by Ultralytics, loaded by Ultralytics and run by torch in float32;
`skitter net` runs the same file on the same input. Prints one line per model and fails when one is out of bounds:
boxes and keypoints 0.01 px (0.05 px for one anchor in ten thousand), scores and angles 1e-4, others relative 1e-4.
Deep networks with random weights magnify rounding, so that torch's own float32 may be further than that from torch's
float64. Where a bound is passed, skitter must be at least as near to the float64 answer ("ours") as torch is ("own").

Run with a Python that has ultralytics:  make parity PARITY_PYTHON=/path/to/python
or:  python tests/parity/ultralytics_models.py --skitter build/skitter [--runtime cpu] [name ...]
"""
import argparse
import copy
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("YOLO_VERBOSE", "false")
os.environ.setdefault("YOLO_OFFLINE", "true")

import numpy as np
import torch
from ultralytics import YOLO, __version__
from ultralytics.utils import ASSETS

# name -> configuration; a suffix (-pose …) names the task
MODELS = {
    "yolov5nu": "yolov5n.yaml",
    "yolov8n": "yolov8n.yaml",
    "yolov8n-pose": "yolov8n-pose.yaml",
    "yolov8n-obb": "yolov8n-obb.yaml",
    "yolov8n-seg": "yolov8n-seg.yaml",
    "yolov8n-cls": "yolov8n-cls.yaml",
    "yolov8n-p2": "yolov8n-p2.yaml",
    "yolov8n-p6": "yolov8n-p6.yaml",
    "yolov8n-ghost": "yolov8n-ghost.yaml",
    "yolov9t": "yolov9t.yaml",
    "yolov9s": "yolov9s.yaml",
    "yolov9c": "yolov9c.yaml",
    "yolov9e": "yolov9e.yaml",
    "yolov10n": "yolov10n.yaml",
    "yolov10s": "yolov10s.yaml",
    "yolov10x": "yolov10x.yaml",
    "yolo11n": "yolo11n.yaml",
    "yolo11m": "yolo11m.yaml",
    "yolo11n-pose": "yolo11n-pose.yaml",
    "yolo11n-obb": "yolo11n-obb.yaml",
    "yolo11n-seg": "yolo11n-seg.yaml",
    "yolo11n-cls": "yolo11n-cls.yaml",
    "yolo12n": "yolo12n.yaml",
    "yolo12l": "yolo12l.yaml",
    "yolo12n-pose": "yolo12n-pose.yaml",
    "yolo26n": "yolo26n.yaml",
    "yolo26l": "yolo26l.yaml",
    "yolo26n-pose": "yolo26n-pose.yaml",
    "yolo26n-obb": "yolo26n-obb.yaml",
    "yolo26n-seg": "yolo26n-seg.yaml",
    "yolo26n-cls": "yolo26n-cls.yaml",
    "yolo26n-p2": "yolo26n-p2.yaml",
    "yolo26n-p6": "yolo26n-p6.yaml",
    "yolov3-tiny": "yolov3-tiny.yaml",
    "yolov3-spp": "yolov3-spp.yaml",
    "yolov6n": "yolov6n.yaml",
}
TASKS = {"pose": "pose", "obb": "obb", "seg": "segment", "cls": "classify"}
# Also compared with torch's fused form, and from a file saved in that form.
FUSED = {"yolov8n-pose", "yolov9t", "yolov10n", "yolo11n", "yolo12n", "yolo26n-pose", "yolo26n-seg"}


def picture(height, width):
    import cv2

    image = cv2.imread(str(ASSETS / "bus.jpg"))[:, :, ::-1]
    image = cv2.resize(np.ascontiguousarray(image), (width, height))
    return torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None].float() / 255


def randomise(model, image):
    """Random weights whose activations neither die nor explode, and outputs that differ from anchor to anchor."""
    norms = []
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d) and module.weight.requires_grad and module.weight.numel() > 64:
            torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.7, 1.3)
            torch.nn.init.uniform_(module.bias, -0.3, 0.3)
            module.momentum = None  # plain averages
            module.reset_running_stats()
            norms.append(module)
        if isinstance(getattr(module, "gamma", None), torch.nn.Parameter):
            torch.nn.init.uniform_(module.gamma, 0.2, 0.6)
    batch = torch.cat([image, image.flip(3), image.roll(40, 2), (image * 0.5)], 0)
    model.train()
    with torch.no_grad():
        for _ in range(2):
            model.predict(batch)
    model.eval()
    for norm in norms:
        norm.momentum = 0.03
        norm.running_var.clamp_(min=1e-3)
    spread(model.model[-1])


def last_convolutions(head, name):
    for prefix in ("", "one2one_"):
        for branch in getattr(head, prefix + name, None) or ():
            yield branch[-1] if isinstance(branch, torch.nn.Sequential) else branch


def spread(head):
    if hasattr(head, "linear"):  # classify
        with torch.no_grad():
            head.linear.weight.mul_(30)
        return
    gains = {"cv2": 0.35, "cv3": 0.8, "cv4": 0.5, "cv4_kpts": 0.5}
    with torch.no_grad():
        for name, gain in gains.items():
            for convolution in last_convolutions(head, name):
                if not isinstance(convolution, torch.nn.Conv2d):
                    continue
                convolution.weight.mul_(gain)
                convolution.bias.uniform_(-1, 1)
                if name == "cv3":
                    convolution.bias.sub_(1.5)
                if name == "cv2" and head.reg_max == 1:  # distances in grid units
                    convolution.bias.add_(2)


def network_outputs(model, image, end2end):
    head = model.model[-1]
    if getattr(head, "one2one_cv2", None) is not None:
        head.end2end = end2end
    with torch.no_grad():
        out = model(image)
    out = out[0] if isinstance(out, (tuple, list)) else out
    out = out if isinstance(out, (tuple, list)) else [out]
    return [value.numpy() for value in out if isinstance(value, torch.Tensor)]


def compare_dense(task, model, got, want):
    """Largest error in pixels, in units (scores, angles), and the share of anchors over 0.01 px."""
    difference = np.abs(got.astype(np.float64) - want)
    classes = model.model[-1].nc
    pixel = [difference[:, :4]]
    unit = [difference[:, 4 : 4 + classes]]
    extra = difference[:, 4 + classes :]
    if task == "pose":
        dims = model.model[-1].kpt_shape[1]
        points = extra.reshape(extra.shape[0], -1, dims, extra.shape[-1])
        pixel.append(points[:, :, :2].reshape(extra.shape[0], -1, extra.shape[-1]))
        if dims == 3:
            unit.append(points[:, :, 2])
    elif extra.shape[1]:
        unit.append(extra)
    pixel = np.concatenate(pixel, 1).max(1)
    return pixel.max(), np.concatenate(unit, 1).max(), (pixel > 0.01).mean()


def compare_rows(task, model, got, want):
    """End-to-end rows: equal scores may swap places, so each wanted row looks for its partner."""
    dims = model.model[-1].kpt_shape[1] if task == "pose" else 1
    worst_pixel = worst_unit = 0.0
    lost = 0
    for rows, partners in zip(want.astype(np.float64), got.astype(np.float64)):
        for row in rows:
            same = partners[(partners[:, 5] == row[5]) & (np.abs(partners[:, 4] - row[4]) < 1e-4)]
            if not len(same):
                lost += 1
                continue
            difference = np.abs(same - row)
            columns = list(range(4))
            if task == "pose":
                columns += [i for i in range(6, row.size) if (i - 6) % dims < 2]
            others = [i for i in range(4, row.size) if i not in columns]
            best = difference[:, columns].max(1).argmin()
            worst_pixel = max(worst_pixel, difference[best, columns].max())
            worst_unit = max(worst_unit, difference[best, others].max())
    # The last rows' scores may differ by rounding, so that another anchor takes their place.
    return worst_pixel, worst_unit, max(0, lost - 2) / want.shape[1]


def run_skitter(command, runtime, path, image, folder, end2end):
    source, target = folder / "x.npy", folder / "y.npy"
    for old in folder.glob("y*.npy"):
        old.unlink()
    np.save(source, image.numpy())
    subprocess.run([command, "net", str(path), "--input", str(source), "--output", str(target), "--runtime", runtime,
                    "--nms", "off" if end2end else "on"],
                   check=True, stdout=subprocess.DEVNULL)
    return [np.load(p) for p in ([target] if target.exists() else sorted(folder.glob("y.*.npy")))]


def measure(task, model, variation, got, want):
    """Errors in pixels, in units, the share of anchors over 0.01 px, and of the prototypes (relative)."""
    if task == "classify":
        pixel, unit, loose = 0.0, np.abs(got[0] - want[0]).max(), 0.0
    elif "one2one" in variation:
        pixel, unit, loose = compare_rows(task, model, got[0], want[0])
    else:
        pixel, unit, loose = compare_dense(task, model, got[0], want[0])
    if task == "segment":  # mask coefficients have no unit: relative to their size
        columns = want[0][..., 6:] if "one2one" in variation else want[0][:, 4 + model.model[-1].nc :]
        unit /= max(1.0, float(np.abs(columns).max()))
    proto = np.abs(got[1] - want[1]).max() / np.abs(want[1]).max() if len(want) > 1 else 0.0
    return np.array([pixel, unit, loose, proto])


def check(name, variation, model, task, got, want, exact):
    if [g.shape for g in got] != [w.shape for w in want]:
        print(f"{name:16} {variation:20} FAILED: shapes {[g.shape for g in got]}, wanted {[w.shape for w in want]}")
        return False
    errors, own = measure(task, model, variation, got, want), measure(task, model, variation, want, exact)
    ours = measure(task, model, variation, got, exact)
    pixels_good = (errors[0] <= 0.05 and errors[2] <= 1e-4) or (ours[0] <= own[0] and ours[2] <= own[2])
    units_good = errors[1] <= 1e-4 or ours[1] <= own[1]
    good = bool(pixels_good and units_good and (errors[3] <= 1e-4 or ours[3] <= own[3]))
    scores = want[0][..., 4] if "one2one" in variation else want[0][:, 4 : 4 + getattr(model.model[-1], "nc", 1)]
    print(f"{name:14} {variation:20} {str(want[0].shape):16} pixel {errors[0]:7.1e} (ours {ours[0]:7.1e}, own {own[0]:7.1e})  "
          f"unit {errors[1]:7.1e} (ours {ours[1]:7.1e}, own {own[1]:7.1e})  loose {errors[2]:7.1e} (own {own[2]:7.1e})  "
          f"proto {errors[3]:7.1e}  score std {scores.std():.3f}  {'ok' if good else 'FAILED'}", flush=True)
    return good


def in_double(model, image, end2end):
    exact = copy.deepcopy(model).double()
    exact.model[-1].shape = None  # drops the cached anchors
    return network_outputs(exact, image.double(), end2end)


def run_model(name, configuration, options, folder):
    torch.manual_seed(20 + len(name))
    task = next((TASKS[key] for key in TASKS if name.endswith("-" + key)), "detect")
    height, width = (224, 224) if task == "classify" else (256, 320)
    image = picture(height, width)
    yolo = YOLO(configuration, task=task)
    yolo.model.float()
    randomise(yolo.model, image)
    twice = getattr(yolo.model.model[-1], "one2one_cv2", None) is not None
    good = True
    for end2end in (True, False) if twice else (False,):
        path = folder / "network.pt"  # model names would be looked for online
        if twice:
            yolo.model.model[-1]._end2end = end2end  # what the file says of it is not looked at by either program
        yolo.save(path)
        model = YOLO(path).model.float().eval()
        want = network_outputs(model, image, end2end)
        exact = in_double(model, image, end2end)
        variation = ("one2one" if end2end else "one2many") if twice else "plain"
        got = run_skitter(options.skitter, options.runtime, path, image, folder, end2end)
        good &= check(name, variation, model, task, got, want, exact)
        if name in FUSED:
            fused = copy.deepcopy(model).fuse(verbose=False)
            want = network_outputs(fused, image, end2end)
            good &= check(name, variation + " vs fused", model, task, got, want, exact)
            torch.save({"model": fused, "train_args": {"task": task}}, path)
            got = run_skitter(options.skitter, options.runtime, path, image, folder, end2end)
            good &= check(name, variation + " fused file", model, task, got, want, exact)
        path.unlink()
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skitter", default=os.environ.get("SKITTER", "build/skitter"))
    parser.add_argument("--runtime", default="reference")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(2)
    print(f"ultralytics {__version__}, torch {torch.__version__}")
    failed = []
    with tempfile.TemporaryDirectory(prefix="skitter-parity-") as folder:
        for name in options.names or MODELS:
            try:
                good = run_model(name, MODELS[name], options, pathlib.Path(folder))
            except subprocess.CalledProcessError as error:
                print(f"{name:16} FAILED: skitter exited with {error.returncode}", flush=True)
                good = False
            if not good:
                failed.append(name)
    print("all within bounds" if not failed else f"out of bounds: {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
