# SPDX-License-Identifier: Apache-2.0
"""Makes the fixtures of tests/tasks with the original programs: letterbox_cases.txt with Ultralytics' LetterBox and
OpenCV, scale_cases.txt with Ultralytics' scale_boxes and scale_coords, antialias_cases.txt with torchvision,
paf_cases.txt with sleap-nn. Sources are noise from a formula that the
tests repeat; pictures are kept as 64-bit FNV-1a hashes of their bytes.

    python tests/tasks/make_cases.py letterbox|scale|antialias|paf
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


def scale():
    """A point, a box and an oriented box in the network's input, and where Ultralytics says they are in the frame."""
    import torch
    import ultralytics
    from ultralytics.data.augment import LetterBox
    from ultralytics.utils.ops import scale_boxes, scale_coords
    rng = np.random.default_rng(17)
    sizes = [(406, 720), (720, 406), (1280, 720), (1920, 1080), (640, 640), (641, 383), (1, 3000), (3000, 1), (1023, 615)]
    while len(sizes) < 150:
        sizes.append(tuple(int(v) for v in rng.integers(16, 2500, 2)))
    with open(os.path.join(HERE, "scale_cases.txt"), "w") as f:
        f.write(f"# ultralytics {ultralytics.__version__}: frame_width frame_height net_width net_height stride (0 = square) | "
                "x1 y1 x2 y2 -> box | x1 y1 -> point | x1 y1 x2 y2 as centre and sides -> oriented box\n")
        for n, (w, h) in enumerate(sizes):
            net, auto = [640, 640, 320, 1024][n % 4], n % 3 != 0
            blank = np.zeros((h, w, 3), np.uint8)
            nh, nw = LetterBox((net, net), auto=auto, stride=32)(image=blank).shape[:2]
            four = (rng.uniform(-0.05, 1.05, 4) * [nw, nh, nw, nh]).astype(np.float32)
            t = lambda: torch.from_numpy(four.copy())[None]  # noqa: E731
            box = scale_boxes((nh, nw), t(), (h, w))[0]
            point = scale_coords((nh, nw), t()[:, None, :2], (h, w))[0, 0]
            obb = scale_boxes((nh, nw), t(), (h, w), xywh=True)[0]
            numbers = [float(v) for v in (*four, *box, *point, *obb)]
            f.write(f"{w} {h} {net} {net} {32 if auto else 0} " + " ".join(f"{v!r}" for v in numbers) + "\n")


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


def paf():
    """Grouping of random peaks by random fields: many ties broken by chance, so every rule of the assembly is met."""
    import sleap_nn
    import torch
    from sleap_nn.inference.ops.paf import PAFScorer
    skeletons = [[(0, 1)], [(0, 1), (1, 2), (2, 3)], [(1, 0), (1, 2), (2, 3), (2, 4)], [(0, 1), (0, 2), (3, 2), (2, 4)],
                 [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (1, 4)]]
    rng = np.random.default_rng(3)
    with open(os.path.join(HERE, "paf_cases.txt"), "w") as f:
        f.write(f"# sleap-nn {sleap_nn.__version__}: case nodes edges height width stride min_line min_peaks | edges | "
                "peaks: channel x y value | instances: score, peak of each node\n")
        for n in range(30):
            edges = skeletons[n % 5]
            nodes = 1 + max(max(e) for e in edges)
            h, w, stride = int(rng.integers(6, 30)), int(rng.integers(6, 30)), int(rng.choice([1, 2, 4]))
            min_line, min_peaks = float(rng.choice([-0.5, 0.0, 0.1])), int(rng.choice([0, 0, 3]))
            field = noise(2 * len(edges) * h * w, n).astype(np.float32).reshape(2 * len(edges), h, w) / 127.5 - 1
            channel = np.concatenate([np.full(int(rng.integers(0, 7)), k) for k in range(nodes)]).astype(np.int32)
            xy = (rng.random((len(channel), 2)) * [w * stride, h * stride]).astype(np.float32)
            value = rng.random(len(channel)).astype(np.float32)
            names = [str(k) for k in range(nodes)]
            scorer = PAFScorer(names, [(names[a], names[b]) for a, b in edges], stride, min_line_scores=min_line,
                               min_instance_peaks=min_peaks)
            t = torch.from_numpy
            got, _, scores = scorer.predict(t(field).permute(1, 2, 0)[None], [t(xy)], [t(value)], [t(channel)])[:3]
            f.write(f"case {nodes} {len(edges)} {h} {w} {stride} {min_line} {min_peaks}\n")
            f.write(" ".join(f"{a} {b}" for a, b in edges) + "\n" + f"{len(channel)}\n")
            for c, (x, y), v in zip(channel, xy, value):
                f.write(f"{c} {float(x)!r} {float(y)!r} {float(v)!r}\n")
            f.write(f"{len(got[0])}\n")
            for points, score in zip(got[0].numpy(), scores[0].numpy()):
                index = []
                for k in range(nodes):
                    hit = np.where((channel == k) & (xy == points[k]).all(1))[0]
                    index.append(int(hit[0]) if len(hit) else -1)
                f.write(f"{float(score)!r} " + " ".join(map(str, index)) + "\n")


if __name__ == "__main__":
    {"letterbox": letterbox, "scale": scale, "antialias": antialias, "paf": paf}[sys.argv[1]]()
