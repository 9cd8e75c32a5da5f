#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SLEAP 1.4's folders on videos: skitter against Keras itself.

    sleap_keras_videos.py SKITTER DATA [--frames N] [--step S]      (a python with TensorFlow 2; ffmpeg)

DATA is the reference data: sleap/legacy and video below it. Keras runs best_model.h5 on the frames; what SLEAP 1.4 does
around the network (gray, scale, padding, peaks, offset heads, crops, line scores of one edge) is written here once more,
slowly, from its documentation, and compared with `skitter predict` in pixels."""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import tensorflow as tf

THRESHOLD = 0.2


def frames_of(video, count, step):
    size = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of",
                           "csv=p=0", str(video)], check=True, capture_output=True, text=True).stdout.strip().split(",")
    width, height = map(int, size[:2])
    matrix = ["-vf", "scale=in_color_matrix=bt601:flags=bicubic"]  # as SLEAP's OpenCV reads every video
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", str(video), "-frames:v", str((count - 1) * step + 1), *matrix,
                          "-pix_fmt", "rgb24", "-f", "rawvideo", "-"], check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)[::step]


class Network:
    def __init__(self, folder):
        config = json.loads((folder / "training_config.json").read_text())
        self.model = tf.keras.models.load_model(folder / "best_model.h5", compile=False)
        config_json = json.loads(self.model.to_json())  # any picture size, as SLEAP itself loads it
        for layer in config_json["config"]["layers"]:
            if layer["class_name"] == "InputLayer":
                shape = layer["config"]["batch_input_shape"]
                layer["config"]["batch_input_shape"] = [None, None, None, shape[3]]
        free = tf.keras.models.model_from_json(json.dumps(config_json))
        free.set_weights(self.model.get_weights())
        self.model = free
        self.channels = self.model.input_shape[-1]
        self.scale = config["data"]["preprocessing"]["input_scaling"]
        self.pad = config["data"]["preprocessing"]["pad_to_stride"] or 1
        self.crop = config["data"]["instance_cropping"]["crop_size"]
        head = next(v for v in config["model"]["heads"].values() if v)
        self.stride = head["confmaps"]["output_stride"] if "confmaps" in head else head["output_stride"]
        self.paf_stride = head["pafs"]["output_stride"] if "pafs" in head else 0

    def __call__(self, image):
        """uint8 or float picture, height x width x 3, to {kind of head: map}."""
        x = tf.convert_to_tensor(image)
        if self.channels == 1:
            x = x[..., :1] if np.array_equal(image[..., 0], image[..., 2]) else tf.image.rgb_to_grayscale(x)
        x = tf.cast(x, tf.float32) / 255.0
        if self.scale != 1:
            x = tf.image.resize(x, [int(x.shape[0] * self.scale), int(x.shape[1] * self.scale)])
        x = tf.pad(x, [[0, -x.shape[0] % self.pad], [0, -x.shape[1] % self.pad], [0, 0]])
        outputs = self.model(x[None], training=False)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        maps = {}
        for name, value in zip(self.model.output_names, outputs):
            kind = "paf" if "Affinity" in name else "offset" if "Offset" in name else "confmaps"
            maps[kind] = value.numpy()[0]
        return maps

    def refine(self, maps, y, x, channel):
        """Grid position to pixels of the picture that went in."""
        cms = maps["confmaps"]
        if "offset" in maps:
            dx, dy = maps["offset"].reshape(*cms.shape[:2], -1, 2)[y, x, channel]
        else:
            patch = np.zeros((5, 5))
            for v in range(-2, 3):
                for u in range(-2, 3):
                    if 0 <= y + v < cms.shape[0] and 0 <= x + u < cms.shape[1]:
                        patch[v + 2, u + 2] = cms[y + v, x + u, channel]
            g = np.arange(-2, 3)
            dx, dy = (patch * g).sum() / patch.sum(), (patch * g[:, None]).sum() / patch.sum()
        point = np.array([x + dx, y + dy]) * self.stride
        return point / self.scale + 0.5 if self.scale != 1 else point

    def local_peaks(self, maps):
        cms = maps["confmaps"]
        padded = np.pad(cms, ((1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
        around = np.max([padded[v:v + cms.shape[0], u:u + cms.shape[1]] for v in range(3) for u in range(3)
                         if (v, u) != (1, 1)], axis=0)
        return [(self.refine(maps, y, x, c), c, cms[y, x, c])
                for y, x, c in np.argwhere((cms > around) & (cms > THRESHOLD))]

    def global_peaks(self, maps):
        cms, points = maps["confmaps"], []
        for c in range(cms.shape[-1]):
            y, x = np.unravel_index(np.argmax(cms[..., c]), cms.shape[:2])
            points.append(self.refine(maps, y, x, c) if cms[y, x, c] > THRESHOLD else [np.nan, np.nan])
        return np.array(points)


def single(nets, image):
    return [nets[0].global_peaks(nets[0](image))]


def topdown(nets, image):
    found = []
    size = nets[1].crop
    for centroid, _, _ in nets[0].local_peaks(nets[0](image)):
        x0, y0 = centroid - (size - 1) / 2
        h, w = image.shape[:2]
        box = [[y0 / (h - 1), x0 / (w - 1), (y0 + size - 1) / (h - 1), (x0 + size - 1) / (w - 1)]]
        crop = tf.image.crop_and_resize(image[None].astype(np.float32), box, [0], [size, size]).numpy()[0]
        points = nets[1].global_peaks(nets[1](crop.astype(np.uint8)))  # cast back to the picture's type
        found.append(points + (centroid - size / 2))
    return found


def best_pairs(scores):
    """Pairs (row, column) with the largest sum, by shortest augmenting paths."""
    if scores.shape[0] > scores.shape[1]:
        return [(i, k) for k, i in best_pairs(scores.T)]
    n, m = scores.shape
    cost, u, v = -scores, np.zeros(n + 1), np.zeros(m + 1)
    owner, way = np.zeros(m + 1, int), np.zeros(m + 1, int)
    for i in range(1, n + 1):
        owner[0], k = i, 0
        least, used = np.full(m + 1, np.inf), np.zeros(m + 1, bool)
        while owner[k]:
            used[k] = True
            reduced = cost[owner[k] - 1] - u[owner[k]] - v[1:]
            better = ~used[1:] & (reduced < least[1:])
            least[1:][better], way[1:][better] = reduced[better], k
            k_next = 1 + int(np.argmin(np.where(used[1:], np.inf, least[1:])))
            delta = least[k_next]
            u[owner[used]] += delta
            v[used] -= delta
            least[~used] -= delta
            k = k_next
        while k:
            owner[k] = owner[way[k]]
            k = way[k]
    return [(owner[k] - 1, k - 1) for k in range(1, m + 1) if owner[k]]


def bottomup(nets, image):
    """For skeletons of one edge."""
    net = nets[0]
    maps = net(image)
    paf = maps["paf"]
    peaks = net.local_peaks(maps)
    a, b = ([p for p, c, _ in peaks if c == k] for k in (0, 1))
    if not a or not b:
        return []
    longest = 0.25 * max(paf.shape) * net.paf_stride
    scores = np.zeros((len(a), len(b)))
    for i, p in enumerate(a):
        for k, q in enumerate(b):
            line = np.linspace(p, q, 10) / net.paf_stride
            at = np.clip(np.round(line).astype(int), 0, [paf.shape[1] - 1, paf.shape[0] - 1])
            length = np.linalg.norm(q - p)
            unit = (q - p) / length if length > 0 else q - p
            scores[i, k] = (paf[at[:, 1], at[:, 0]] @ unit).mean() + (min(longest / length - 1, 0) if length > 0 else 0)
    return [np.array([a[i], b[k]]) for i, k in best_pairs(scores) if scores[i, k] >= 0.25]


CASES = {
    "bottom-up": ("centered_pair_small.mp4", ["minimal_instance.UNet.bottomup"], bottomup),
    "top-down": ("centered_pair_small.mp4", ["minimal_instance.UNet.centroid", "minimal_instance.UNet.centered_instance"],
                 topdown),
    "single": ("small_robot.mp4", ["minimal_robot.UNet.single_instance"], single),
}


def ours(skitter, video, folders, count, step):
    with tempfile.TemporaryDirectory() as out:
        command = [skitter, "predict", str(video), "-o", out, "-q", "--format", "jsonl", "--peak-threshold", str(THRESHOLD),
                   "--frames", f"0:{(count - 1) * step + 1}:{step}"]
        for folder in folders:
            command += ["-m", str(folder)]
        subprocess.run(command, check=True)
        lines = [json.loads(line) for line in pathlib.Path(out, "results.jsonl").read_text().splitlines()]
    return [[np.array([[np.nan if v is None else v for v in k[:2]] for k in i["keypoints"]], float)
             for i in line["instances"]] for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skitter")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--step", type=int, default=5)
    args = parser.parse_args()
    worst = 0.0
    for name, (video, folders, pipeline) in CASES.items():
        video = args.data / "video" / video
        folders = [args.data / "sleap/legacy" / f for f in folders]
        nets = [Network(f) for f in folders]
        images = frames_of(video, args.frames, args.step)
        mine = ours(args.skitter, video, folders, len(images), args.step)
        counts, distances = [0, 0, 0], []
        for image, found in zip(images, mine):
            expected = pipeline(nets, image)
            counts[0] += len(found)
            counts[1] += len(expected)
            left = list(expected)
            for p in found:
                costs = [np.nanmean(np.hypot(*(p - q).T)) if np.isfinite(p - q).any() else np.inf for q in left]
                if costs and min(costs) < 30:
                    counts[2] += 1
                    distances.append(np.hypot(*(p - left.pop(int(np.argmin(costs)))).T))
        d = np.concatenate(distances)
        d = d[np.isfinite(d)]
        worst = max(worst, float(np.median(d)))
        print(f"{name}, {video.name}, {len(images)} frames: instances {counts[0]} and {counts[1]}, {counts[2]} matched; median "
              f"{np.median(d):.4f} px, 90 % {np.percentile(d, 90):.4f}, largest {d.max():.3f}", flush=True)
    raise SystemExit(worst > 0.1)


main()
