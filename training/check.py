# SPDX-License-Identifier: Apache-2.0
"""Compares the networks as PyTorch trained them with what skitter makes of their checkpoints: the same input through both.

    python3 training/check.py build/skitter share/models [runtime …]
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

import checkpoint
import unet
import yolo

LIMIT = 1e-4  # of the largest value of an output's kind: pixels, scores, angles, maps


def original(task, models, x):
    """What the network gives, in the form of skitter's outputs."""
    if task == "bottomup":
        model = unet.UNet()
        model.load_state_dict(checkpoint.load_unet(models / "demo-bottomup"))
        return [out.numpy() for out in model.eval()(x)]
    model = {"obb": yolo.OBBModel, "pose": yolo.PoseModel}[task]()
    model.load_state_dict(checkpoint.load_yolo(models / f"demo-{task}.pt"))
    box, score, extra = model.eval()(x)
    points, strides = yolo.anchors(x.shape[2], x.shape[3], x.device)
    if task == "obb":
        rows = yolo.decode_rotated(box, yolo.decode_angle(extra), points, strides)
        parts = (rows[..., :4], score.sigmoid().transpose(1, 2), rows[..., 4:])
    else:
        corners = yolo.decode_boxes(box, points, strides)
        keypoints = yolo.decode_keypoints(extra, points, strides)
        keypoints[..., 2] = keypoints[..., 2].sigmoid()
        parts = ((corners[..., :2] + corners[..., 2:]) / 2, corners[..., 2:] - corners[..., :2],
                 score.sigmoid().transpose(1, 2), keypoints.flatten(2))
    return [torch.cat(parts, -1).transpose(1, 2).numpy()]


def kinds(task, out):
    """An output's rows by what they mean, since pixels would hide errors of scores."""
    if task == "bottomup":
        return [out]
    if task == "obb":
        return [out[:, :4], out[:, 4:7], out[:, 7:]]
    seen = np.arange(7, 22) % 3 == 0
    return [out[:, :4], out[:, 4:7], out[:, 7:][:, ~seen], out[:, 7:][:, seen]]


@torch.no_grad()
def main():
    skitter, models = sys.argv[1], pathlib.Path(sys.argv[2])
    runtimes = sys.argv[3:] or ["reference", "cpu"]
    worst = 0.0
    for task, shape in (("obb", (1, 3, 384, 512)), ("pose", (1, 3, 384, 512)), ("bottomup", (1, 1, 240, 320))):
        torch.manual_seed(1)
        x = torch.rand(shape)
        wanted = original(task, models, x)
        name = "demo-bottomup" if task == "bottomup" else f"demo-{task}.pt"
        for runtime in runtimes:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                np.save(folder / "in.npy", x.numpy())
                subprocess.run([skitter, "-q", "net", str(models / name), "-i", str(folder / "in.npy"), "-o",
                                str(folder / ("out" if len(wanted) > 1 else "out.npy")), "--runtime", runtime], check=True)
                got = [np.load(p) for p in sorted(folder.glob("out*.npy"))]
            off = max(float(np.abs(a - b).max() / np.abs(b).max())
                      for g, w in zip(got, wanted, strict=True) for a, b in zip(kinds(task, g), kinds(task, w)))
            worst = max(worst, off)
            print(f"{name:14} {runtime:10} differs by at most {off:.1e}")
    return worst > LIMIT


if __name__ == "__main__":
    sys.exit(main())
