#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single stages of src/tasks against the programs they follow, on random data.

    python tests/parity/tasks_stages.py ultralytics [build]   # letterbox, suppression; needs ultralytics
    python tests/parity/tasks_stages.py sleap [build]         # resize, grey, peaks; needs sleap-nn

Builds tests/parity/tasks_probe.c against the static library in the build folder (default: build).
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "build")
PROBE = os.path.join(tempfile.mkdtemp(), "tasks_probe")
rng = np.random.default_rng(int(os.environ.get("PARITY_SEED", "1")))


def build():
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"-I{ROOT}/src", f"-I{ROOT}/include",
                    f"{ROOT}/tests/parity/tasks_probe.c", f"{BUILD}/libskitter.a", "-lm", "-o", PROBE], check=True)


def run(stage, *arguments, data=b"", dtype=np.uint8):
    out = subprocess.run([PROBE, stage, *map(str, arguments)], input=data, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(out, dtype=dtype)


def report(name, cases, bad):
    print(f"{name:28} {cases:5} cases, {bad} differ")
    return bad


def letterbox():
    from ultralytics.data.augment import LetterBox
    bad = 0
    for n in range(300):
        w, h = (int(v) for v in rng.integers(1, 700, 2))
        nw, nh = (32 * int(v) for v in rng.integers(1, 21, 2))
        if n % 5 == 0:
            w, h = 2 * nw, 2 * nh
        auto = bool(rng.integers(2))
        image = rng.integers(0, 256, (h, w, 3), dtype=np.uint8)
        want = LetterBox((nh, nw), auto=auto, stride=32)(image=image)[:, :, ::-1]
        got = run("letterbox", 2, w, h, nw, nh, 32 if auto else 0, data=image.tobytes())
        bad += not np.array_equal(got, np.ascontiguousarray(want).ravel())
    return report("letterbox (BGR)", 300, bad)


def suppression():
    """The whole of non_max_suppression from a prediction without decode, distinct scores."""
    import torch
    from ultralytics.utils.nms import non_max_suppression
    bad = 0
    for n in range(120):
        rotated, agnostic = bool(n % 2), bool(n // 2 % 2)
        count, nc = int(rng.integers(1, 3000)), int(rng.integers(1, 6))
        iou = float(np.round(rng.uniform(0.1, 0.9), 6))
        xywh = np.concatenate([rng.uniform(0, 640, (count, 2)), rng.uniform(2, 90, (count, 2))], 1).astype(np.float32)
        scores = np.zeros((count, nc), np.float32)
        label = rng.integers(0, nc, count)
        scores[np.arange(count), label] = rng.permutation(count).astype(np.float32) / count * 0.7 + 0.26
        angle = rng.uniform(-0.7, 2.3, (count, 1)).astype(np.float32)
        columns = [xywh, scores] + ([angle] if rotated else [])
        p = torch.from_numpy(np.concatenate(columns, 1).T[None].copy())
        want = non_max_suppression(p, 0.25, iou, agnostic=agnostic, max_det=300, nc=nc, rotated=rotated)[0].numpy()
        box = xywh.copy()
        if not rotated:
            box[:, :2], box[:, 2:] = xywh[:, :2] - xywh[:, 2:] / 2, xywh[:, :2] + xywh[:, 2:] / 2
        rows = np.concatenate([box, angle, scores.max(1, keepdims=True), label[:, None]], 1).astype(np.float32)
        keep = run("nms", int(rotated), count, round(iou * 1e6), int(agnostic), 300, data=rows.tobytes(), dtype=np.int32)
        bad += not (len(keep) == len(want) and np.array_equal(rows[keep, 5], want[:, 4]))
    return report("suppression", 120, bad)


def resize():
    import torch
    import torchvision.transforms.v2.functional as tvf
    bad = 0
    for n in range(300):
        c = [1, 3][n % 2]
        h, w, nh, nw = (int(v) for v in rng.integers(1, 500, 4))
        image = rng.integers(0, 256, (c, h, w), dtype=np.uint8)
        want = tvf.resize(torch.from_numpy(image), [nh, nw]).numpy().transpose(1, 2, 0)
        got = run("antialias", c, w, h, nw, nh, data=np.ascontiguousarray(image.transpose(1, 2, 0)).tobytes())
        bad += not np.array_equal(got, np.ascontiguousarray(want).ravel())
    return report("antialiased resize", 300, bad)


def gray():
    import torch
    import torchvision.transforms.v2.functional as tvf
    image = rng.integers(0, 256, (1000, 4000, 3), dtype=np.uint8)
    want = tvf.rgb_to_grayscale(torch.from_numpy(image.transpose(2, 0, 1).copy()), num_output_channels=1).numpy()[0]
    got = run("gray", 4000, 1000, data=image.tobytes()).reshape(1000, 4000)
    return report("grey (pixels)", want.size, int((got != want).sum()))


def peaks():
    import torch
    from sleap_nn.inference.ops.peaks import find_global_peaks, find_local_peaks
    bad = 0
    for n in range(100):
        c, h, w = int(rng.integers(1, 4)), int(rng.integers(3, 60)), int(rng.integers(3, 60))
        maps = rng.random((1, c, h, w)).astype(np.float32)
        t = torch.from_numpy(maps)
        points, values, _, channels = (v.numpy() for v in find_local_peaks(t, 0.3, "integral"))
        got = run("peaks", 0, c, h, w, 300000, data=maps.tobytes(), dtype=np.float32).reshape(-1, 4)
        want = np.concatenate([points, values[:, None], channels[:, None]], 1)
        want = want[np.argsort(channels, kind="stable")]
        bad += not (got.shape == want.shape and np.allclose(got, want, atol=1e-5))
        points, values = (v.numpy()[0] for v in find_global_peaks(t, 0.3, "integral"))
        got = run("peaks", 1, c, h, w, 300000, data=maps.tobytes(), dtype=np.float32).reshape(-1, 4)
        bad += not (np.allclose(got[:, :2], points, atol=1e-5) and np.array_equal(got[:, 2], values))
    return report("peaks", 200, bad)


if __name__ == "__main__":
    build()
    stages = {"ultralytics": [letterbox, suppression], "sleap": [resize, gray, peaks]}[sys.argv[1]]
    sys.exit(1 if sum(stage() for stage in stages) else 0)
