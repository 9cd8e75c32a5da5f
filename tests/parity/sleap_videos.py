#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole SLEAP pipelines on videos: skitter against sleap-nn on the same folders, and each program on the folders of both
eras.

    sleap_videos.py SKITTER DATA [--frames N] [--step S]        (a python with sleap-nn)

DATA is the reference data: sleap/legacy, sleap/nn and video below it. sleap-nn loads SLEAP's old Keras folders itself,
with PyTorch's alignment of transposed convolutions and without offset heads, so agreement there is closest for networks
that use neither. Prints, for every pair of results over the same frames: instances of both, how many were matched, and
median, 90 % and signed median distance of their points in pixels. Folders of the two eras are separately trained
networks; the last column of that table says how their weights correlate."""
import argparse
import contextlib
import json
import pathlib
import subprocess
import tempfile

import numpy as np

CASES = {  # name: video, SLEAP's folders, sleap-nn's folders
    "bottom-up": ("centered_pair_small.mp4", ["minimal_instance.UNet.bottomup"], ["minimal_instance_bottomup"]),
    "top-down": ("centered_pair_small.mp4", ["minimal_instance.UNet.centroid", "minimal_instance.UNet.centered_instance"],
                 ["minimal_instance_centroid", "minimal_instance_centered_instance"]),
    "single": ("small_robot.mp4", ["minimal_robot.UNet.single_instance"], ["minimal_instance_single_instance"]),
}
NEAR = 30.0  # px: instances further apart are not the same animal


def ours(skitter, video, folders, frames, threshold):
    with tempfile.TemporaryDirectory() as out:
        # sleap-nn reads colours as the file says, also for SLEAP's folders
        command = [skitter, "predict", str(video), "-o", out, "-q", "--format", "jsonl", "--peak-threshold", str(threshold),
                   "--colour", "tagged",
                   "--frames", f"{frames[0]}:{frames[-1] + 1}:{frames[1] - frames[0] if len(frames) > 1 else 1}"]
        for folder in folders:
            command += ["-m", str(folder)]
        subprocess.run(command, check=True)
        lines = [json.loads(line) for line in pathlib.Path(out, "results.jsonl").read_text().splitlines()]
    rows = {}
    for line in lines:
        rows[line["frame"]] = [np.array([[np.nan if v is None else v for v in k[:2]] for k in i["keypoints"]], float)
                               for i in line["instances"]]
    return rows


@contextlib.contextmanager
def keras_alignment():
    """Transposed convolutions of kernel 3, stride 2 where Keras puts them: nothing cropped at the start. That is what
    imported Keras weights were trained with; sleap-nn keeps PyTorch's padding of 1."""
    import torch
    original = torch.nn.ConvTranspose2d.forward

    def forward(self, x, output_size=None):
        if self.kernel_size != (3, 3) or self.stride != (2, 2) or self.padding != (1, 1):
            return original(self, x, output_size)
        y = torch.nn.functional.conv_transpose2d(x, self.weight, self.bias, stride=2)
        return y[..., :2 * x.shape[-2], :2 * x.shape[-1]]

    torch.nn.ConvTranspose2d.forward = forward
    try:
        yield
    finally:
        torch.nn.ConvTranspose2d.forward = original


def theirs(video, folders, frames, threshold):
    from sleap_nn.legacy_predict import run_inference
    with tempfile.TemporaryDirectory() as out:
        labels = run_inference(data_path=str(video), model_paths=[str(f) for f in folders], frames=list(frames),
                               device="cpu", peak_threshold=threshold, output_path=f"{out}/predictions.slp")
    rows = {frame: [] for frame in frames}
    for labelled in labels:
        rows[int(labelled.frame_idx)] = [np.asarray(i.numpy(), float)[:, :2] for i in labelled.instances]
    return rows


def compare(a, b):
    """Greedy nearest matching, frame by frame."""
    differences, n_a, n_b = [], 0, 0
    for frame in a:
        left = list(b.get(frame, []))
        n_a += len(a[frame])
        n_b += len(left)
        for p in a[frame]:
            costs = [np.nanmean(np.hypot(*(p - q).T)) if np.isfinite(p - q).any() else np.inf for q in left]
            if costs and min(costs) < NEAR:
                differences.append(p - left.pop(int(np.argmin(costs))))
    if not differences:
        return f"instances {n_a} and {n_b}, none within {NEAR:.0f} px of each other"
    d = np.concatenate(differences)
    e = np.hypot(*d.T)
    e, d = e[np.isfinite(e)], d[np.isfinite(e)]
    return (f"instances {n_a} and {n_b}, {len(differences)} matched; median {np.median(e):.3f} px, 90 % "
            f"{np.percentile(e, 90):.3f}, signed ({np.median(d[:, 0]):+.3f}, {np.median(d[:, 1]):+.3f})")


def correlation(keras_folder, nn_folder):
    """Largest |correlation| between any kernel of the one and any of the same shape of the other."""
    import h5py
    import torch
    kernels = []
    with h5py.File(keras_folder / "best_model.h5") as f:
        f["model_weights"].visititems(
            lambda name, o: kernels.append(o[:]) if isinstance(o, h5py.Dataset) and o.ndim == 4 else None)
    state = torch.load(nn_folder / "best.ckpt", map_location="cpu", weights_only=False)["state_dict"]
    best = 0.0
    for kernel in kernels:
        kernel = kernel.transpose(3, 2, 0, 1)
        for tensor in state.values():
            if tuple(tensor.shape) == kernel.shape and kernel.size >= 1000:
                best = max(best, abs(float(np.corrcoef(kernel.ravel(), tensor.numpy().ravel())[0, 1])))
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skitter")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--step", type=int, default=5)
    parser.add_argument("--threshold", type=float, default=0.2)
    parser.add_argument("--cases", default=",".join(CASES))
    args = parser.parse_args()
    from loguru import logger
    logger.remove()
    for name in args.cases.split(","):
        video, keras, nn = CASES[name]
        video = args.data / "video" / video
        frames = range(0, args.frames * args.step, args.step)
        keras = [args.data / "sleap/legacy" / f for f in keras]
        nn = [args.data / "sleap/nn" / f for f in nn]
        r = {}
        for era, folders in (("SLEAP", keras), ("sleap-nn", nn)):
            r["skitter", era] = ours(args.skitter, video, folders, frames, args.threshold)
            r["sleap-nn", era] = theirs(video, folders, frames, args.threshold)
        with keras_alignment():
            r["sleap-nn", "aligned"] = theirs(video, keras, frames, args.threshold)
        print(f"{name}, {video.name}, {len(frames)} frames, threshold {args.threshold}")
        for era in ("SLEAP", "sleap-nn"):
            print(f"  {era}'s folder, skitter against sleap-nn: {compare(r['skitter', era], r['sleap-nn', era])}")
        print("  SLEAP's folder, skitter against sleap-nn with Keras' alignment: "
              + compare(r["skitter", "SLEAP"], r["sleap-nn", "aligned"]))
        for program in ("skitter", "sleap-nn"):
            print(f"  {program}, SLEAP's folder against sleap-nn's: {compare(r[program, 'SLEAP'], r[program, 'sleap-nn'])}")
        print("  largest correlation of weights between the eras: "
              + ", ".join(f"{correlation(a, b):.3f}" for a, b in zip(keras, nn)), flush=True)


main()
