# SPDX-License-Identifier: Apache-2.0
"""Detections as a detector would give them, from the exact truth of `skitter scene`.

Every frame and animal of the truth, v being the part of it that can be seen ("visible"):

  missed      4 %; below v = 0.7 rising in a straight line to 100 % at v = 0.1. Misses come in runs: what decides is a number
              of the animal that changes slowly (correlation 0.6 from frame to frame).
  score       0.92 - 0.75 (1 - v), + 0.06 times a slowly changing normal number; 0.05 ... 0.99.
  jitter      3 % of the sides on the centre and on the sides, 0.05 rad on the angle, all multiplied by 1 + 2 (1 - v), so
              worse under coverings; fresh in every frame. The upright box has its own jitter, not the turned one's.
  merged      where somebody hides another animal (v < 0.35 and the centres are nearer than 0.6 lengths), in 40 % of such
              encounters (decided per pair and second) the upper animal's box reaches half way around both.
  doubles     1 %, under coverings (v < 0.7) 4 %: a second box on the same animal, twice the jitter, score times 0.2 ... 0.7.
  false ones  0.1 a frame (Poisson) begin somewhere, of an animal's size, with scores 0.1 ... 0.65 (low ones more often); one of
              five stays at its place for 3 ... 10 frames, as reflections do: about 0.2 a frame in all.
  keypoints   3 % of the length, under coverings (hidden point) 8 %; confidence 0.9 or 0.35, +- 0.07; in 2 % of the detections
              head and tail are swapped, in runs.

The numbers come from one generator seeded by the scene's seed and number of animals: the same scene, the same rows.

A file of rows is MOTChallenge's text with columns behind the ten: frame from 1, -1, x, y, w, h, score, class, -1, -1, then
cx, cy, w, h, angle of the turned box, then x, y, confidence of each keypoint.
"""
import csv

import numpy as np

KEYPOINTS = ("nose", "neck", "centre", "tail_base", "tail_tip")


def read_truth(path):
    """The truth as arrays by column; rows stay in the file's order (by frame)."""
    with open(path, newline="") as f:
        reader = csv.reader(f)
        names = next(reader)
        keep = [i for i, n in enumerate(names) if n not in ("source", "name")]
        values = np.array([[float(row[i]) for i in keep] for row in reader])
    return {names[i]: values[:, k] for k, i in enumerate(keep)}


def slow(random, before, correlation):
    """The next value of normal numbers that change slowly."""
    fresh = random.standard_normal(before.shape)
    return correlation * before + np.sqrt(1 - correlation * correlation) * fresh


def normal_share(z):
    """The part of a normal distribution below z."""
    from math import erf

    return np.array([0.5 * (1 + erf(x / 2**0.5)) for x in np.atleast_1d(z)])


def merged_with(random, t, sel, second, decided):
    """For each animal of the frame: whose box it swallows, or -1."""
    xs, ys, visible = t["cx"][sel], t["cy"][sel], t["visible"][sel]
    length, ids = t["length"][sel], t["track"][sel].astype(int)
    out = np.full(len(ids), -1)
    for hidden in np.flatnonzero(visible < 0.35):
        near = np.hypot(xs - xs[hidden], ys - ys[hidden])
        near[visible <= visible[hidden]] = np.inf
        near[hidden] = np.inf
        if not np.isfinite(near).any():
            continue
        upper = int(np.argmin(near))
        key = (ids[hidden], ids[upper], second)
        if key not in decided:
            decided[key] = random.random() < 0.4
        if near[upper] < 0.6 * length[upper] and decided[key]:
            out[upper] = hidden
    return out


def detection(random, t, i, visible, jitter, swap):
    """One row: score apart, everything after it."""
    by = 0.03 * jitter * (1 + 2 * (1 - visible))
    x1, y1, x2, y2 = (t[k][i] for k in ("x1", "y1", "x2", "y2"))
    w, h = x2 - x1, y2 - y1
    n = random.standard_normal(9)
    box = [x1 + w * by * n[0], y1 + h * by * n[1], max(2.0, w * (1 + by * n[2])), max(2.0, h * (1 + by * n[3]))]
    major, minor, angle = t["w"][i], t["h"][i], t["angle"][i]
    along, across = major * by * n[4], minor * by * n[5]
    c, s = np.cos(angle), np.sin(angle)
    a, b = major * (1 + by * n[6]), minor * (1 + by * n[7])
    turned = angle + 0.05 * jitter * (1 + 2 * (1 - visible)) * n[8]
    if a < b:
        a, b, turned = b, a, turned + np.pi / 2
    obb = [t["cx"][i] + along * c - across * s, t["cy"][i] + along * s + across * c, max(2.0, a), max(2.0, b),
           turned % np.pi]
    points = []
    for k in range(len(KEYPOINTS)):
        name = KEYPOINTS[len(KEYPOINTS) - 1 - k if swap else k]
        seen = t[name + "_visible"][i] == 2
        e = t["length"][i] * (0.03 if seen else 0.08) * jitter * random.standard_normal(2)
        confidence = np.clip((0.9 if seen else 0.35) + 0.07 * random.standard_normal(), 0.02, 0.99)
        points += [t[name + "_x"][i] + e[0], t[name + "_y"][i] + e[1], confidence]
    return box, obb, points


def swallow(box, other):
    """The box reaching half way around the other."""
    x2, y2 = box[0] + box[2], box[1] + box[3]
    lo = [min(box[k], other[k]) for k in (0, 1)]
    hi = [max(x2, other[0] + other[2]), max(y2, other[1] + other[3])]
    x, y = (box[0] + lo[0]) / 2, (box[1] + lo[1]) / 2
    return [x, y, (x2 + hi[0]) / 2 - x, (y2 + hi[1]) / 2 - y]


def false_ones(random, t, size, standing):
    """Rows of false detections; `standing` holds those that stay."""
    rows = []
    for f in standing:
        f[0] -= 1
        box = [v + 0.03 * f[1][2] * random.standard_normal() for v in f[1][:2]] + f[1][2:]
        rows.append((box, f[2], f[3], float(np.clip(f[4] + 0.05 * random.standard_normal(), 0.1, 0.65)), f[5]))
    standing[:] = [f for f in standing if f[0] > 0]
    for _ in range(random.poisson(0.1)):
        like = int(random.integers(len(t["track"])))
        dx, dy = random.uniform(0, size[0]) - t["cx"][like], random.uniform(0, size[1]) - t["cy"][like]
        box, obb, points = detection(random, t, like, 1.0, 2.0, False)
        box = [box[0] + dx, box[1] + dy, box[2], box[3]]
        obb = [obb[0] + dx, obb[1] + dy] + obb[2:]
        points = [p + (dx, dy, 0)[k % 3] if k % 3 < 2 else 0.3 for k, p in enumerate(points)]
        score = 0.1 + 0.55 * random.beta(1.3, 2.5)
        kind = int(t["class"][like])
        rows.append((box, obb, points, score, kind))
        if random.random() < 0.2:
            standing.append([int(random.integers(3, 11)), box, obb, points, score, kind])
    return rows


def make_rows(truth, seed, size, fps, path):
    """Writes the rows of one scene."""
    t = truth
    animals = int(t["track"].max()) + 1
    random = np.random.default_rng([20261116, seed, animals])
    miss, mood, flip = (random.standard_normal(animals) for _ in range(3))
    decided, standing = {}, []
    frames = t["frame"].astype(int)
    starts = np.searchsorted(frames, np.arange(frames.max() + 2))
    with open(path, "w") as out:
        for frame in range(frames.max() + 1):
            sel = np.arange(starts[frame], starts[frame + 1])
            miss, mood, flip = slow(random, miss, 0.6), slow(random, mood, 0.8), slow(random, flip, 0.8)
            swallowed = merged_with(random, t, sel, int(frame / fps), decided)
            rows = []
            for k, i in enumerate(sel):
                v, animal = t["visible"][i], int(t["track"][i])
                chance = 1.0 if v <= 0.1 else 0.04 + 0.96 * max(0.0, (0.7 - v) / 0.6)
                box, obb, points = detection(random, t, i, v, 1.0, normal_share(flip[animal])[0] < 0.02)
                score = float(np.clip(0.92 - 0.75 * (1 - v) + 0.06 * mood[animal], 0.05, 0.99))
                twice = random.random() < (0.01 if v >= 0.7 else 0.04)
                if normal_share(miss[animal])[0] < chance:
                    continue
                if swallowed[k] >= 0:
                    j = sel[swallowed[k]]
                    box = swallow(box, [t["x1"][j], t["y1"][j], t["x2"][j] - t["x1"][j], t["y2"][j] - t["y1"][j]])
                rows.append((box, obb, points, score, int(t["class"][i])))
                if twice:
                    again = detection(random, t, i, v, 2.0, False)
                    rows.append((*again, score * random.uniform(0.2, 0.7), int(t["class"][i])))
            rows += false_ones(random, t, size, standing)
            random.shuffle(rows)
            for box, obb, points, score, kind in rows:
                values = [*(f"{v:.3f}" for v in box), f"{score:.4f}", str(kind), "-1", "-1",
                          *(f"{v:.3f}" for v in obb[:4]), f"{obb[4]:.5f}",
                          *(f"{v:.3f}" for v in points)]
                out.write(f"{frame + 1},-1," + ",".join(values) + "\n")


def read_rows(path):
    """The rows by frame (from 0): arrays x1 y1 x2 y2 score class cx cy w h angle, and the number of frames."""
    values = np.loadtxt(path, delimiter=",", ndmin=2)
    frames = values[:, 0].astype(int) - 1
    box = values[:, 2:6].copy()
    box[:, 2:] += box[:, :2]
    table = np.column_stack([box, values[:, 6:8], values[:, 10:15]])
    return {f: table[frames == f] for f in np.unique(frames)}
