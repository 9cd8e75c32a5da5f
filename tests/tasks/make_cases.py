# SPDX-License-Identifier: Apache-2.0
"""Makes the fixtures of tests/tasks with the original programs: letterbox_cases.txt with Ultralytics' LetterBox and
OpenCV, antialias_cases.txt with torchvision. Sources are noise from a formula that the tests repeat, results are kept
as 64-bit FNV-1a hashes of their bytes.

    python tests/tasks/make_cases.py letterbox|antialias
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def noise(count, seed):
    v = (np.arange(count, dtype=np.uint64) + np.uint64(seed * 7919)) * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)
    v ^= v >> np.uint64(15)
    v = v * np.uint64(2246822519) & np.uint64(0xFFFFFFFF)
    v ^= v >> np.uint64(13)
    return (v & np.uint64(255)).astype(np.uint8)


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def letterbox():
    import cv2
    import ultralytics
    from ultralytics.data.augment import LetterBox
    rng = np.random.default_rng(7)
    sizes = [(810, 1080, 640, 640, 0), (1280, 720, 640, 640, 32), (640, 480, 640, 640, 0), (64, 48, 64, 48, 0),
             (1280, 1280, 640, 640, 0), (96, 128, 48, 64, 32), (33, 97, 160, 96, 32), (1, 1, 32, 32, 0),
             (200, 3, 64, 64, 32), (3, 200, 64, 64, 0), (1920, 1080, 640, 640, 0), (101, 101, 32, 64, 0)]
    for _ in range(60):
        w, h = (int(v) for v in rng.integers(2, 160, 2))
        nw, nh = (32 * int(v) for v in rng.integers(1, 6, 2))
        sizes.append((w, h, nw, nh, 32 if rng.random() < 0.5 else 0))
    with open(os.path.join(HERE, "letterbox_cases.txt"), "w") as f:
        f.write(f"# cv2 {cv2.__version__}, ultralytics {ultralytics.__version__}: "
                "format width height net_width net_height stride -> width height hash\n")
        for n, (w, h, nw, nh, stride) in enumerate(sizes):
            kind = ["rgb", "bgr", "gray"][n % 3]
            src = noise(w * h * (1 if kind == "gray" else 3), n).reshape(h, w, -1)
            bgr = {"rgb": lambda: src[:, :, ::-1], "bgr": lambda: src, "gray": lambda: np.repeat(src, 3, 2)}[kind]()
            box = LetterBox((nh, nw), auto=stride > 0, stride=stride or 32)
            out = np.ascontiguousarray(box(image=np.ascontiguousarray(bgr))[:, :, ::-1])
            f.write(f"{kind} {w} {h} {nw} {nh} {stride} {out.shape[1]} {out.shape[0]} {fnv(out.tobytes()):016x}\n")


def antialias():
    import torch
    import torchvision
    import torchvision.transforms.v2.functional as tvf
    rng = np.random.default_rng(11)
    sizes = [(560, 320, 280, 160), (384, 384, 192, 192), (384, 384, 384, 192), (100, 80, 300, 200), (7, 5, 3, 2),
             (3, 2, 7, 5), (640, 480, 100, 333), (1, 9, 4, 4)]
    for _ in range(60):
        sizes.append(tuple(int(v) for v in rng.integers(1, 140, 4)))
    with open(os.path.join(HERE, "antialias_cases.txt"), "w") as f:
        f.write(f"# torch {torch.__version__}, torchvision {torchvision.__version__}: "
                "channels width height new_width new_height -> hash\n")
        for n, (w, h, nw, nh) in enumerate(sizes):
            c = [1, 3][n % 2]
            src = torch.from_numpy(noise(w * h * c, n).reshape(h, w, c).transpose(2, 0, 1).copy())
            out = tvf.resize(src, [nh, nw]).numpy().transpose(1, 2, 0)
            f.write(f"{c} {w} {h} {nw} {nh} {fnv(np.ascontiguousarray(out).tobytes()):016x}\n")


if __name__ == "__main__":
    {"letterbox": letterbox, "antialias": antialias}[sys.argv[1]]()
