# SPDX-License-Identifier: Apache-2.0
"""A quick measurement at the end of training, on scenes whose seeds training cannot draw. What counts is `skitter eval`
on skitter's own results; this tells within seconds whether training went well."""
import math

import numpy as np
import torch
import torch.nn.functional as F

import augment
import pool as pool_file
import scenes
import unet
import yolo
import yolo_loss

FIRST_SEED = 1_000_000_000_000  # of the scenes measured on
WIDTH, HEIGHT, FRAMES = 640, 480, 4


def _scenes(species, count, library):
    renderer = scenes.Renderer(library)
    for i in range(count):
        images, truth = renderer.frames(species, 5, WIDTH, HEIGHT, FIRST_SEED + 100 * species + i, FRAMES, skip=20)
        yield torch.from_numpy(images).permute(0, 3, 1, 2).float(), truth


def _letterbox(x):
    scale = pool_file.SIDE / WIDTH
    x = F.interpolate(x, size=(int(HEIGHT * scale), pool_file.SIDE), mode="bilinear")
    top = (pool_file.SIDE - x.shape[2]) // 2
    return F.pad(x, (0, 0, top, top), value=pool_file.BORDER), scale, top


def _match(overlap, wanted):
    """Greedy, detections in order of score: [n] index of the truth or -1."""
    taken, out = set(), []
    for row in overlap:
        best, at = wanted, -1
        for j, v in enumerate(row):
            if v >= best and j not in taken:
                best, at = v, j
        if at >= 0:
            taken.add(at)
        out.append(at)
    return out


def _suppress(rows, overlap_of, limit):
    keep = []
    for i in range(len(rows)):
        if not keep or max(overlap_of(rows[i], rows[keep])) < limit:
            keep.append(i)
    return keep


def _polygon_iou(a, b):
    """Exact overlap of rotated boxes by clipping one polygon with the other."""
    def corners(r):
        c, s = math.cos(r[4]), math.sin(r[4])
        return [(r[0] + u * r[2] / 2 * c - v * r[3] / 2 * s, r[1] + u * r[2] / 2 * s + v * r[3] / 2 * c)
                for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    poly, clip = corners(a), corners(b)
    for i in range(4):
        (x1, y1), (x2, y2) = clip[i], clip[(i + 1) % 4]
        side = [(x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) for x, y in poly]
        new = []
        for j, (p, d) in enumerate(zip(poly, side)):
            q, e = poly[j - 1], side[j - 1]
            if (d >= 0) != (e >= 0):
                t = e / (e - d)
                new.append((q[0] + (p[0] - q[0]) * t, q[1] + (p[1] - q[1]) * t))
            if d >= 0:
                new.append(p)
        poly = new
        if not poly:
            return 0.0
    area = abs(sum(p[0] * poly[j - 1][1] - poly[j - 1][0] * p[1] for j, p in enumerate(poly))) / 2
    return area / (a[2] * a[3] + b[2] * b[3] - area + 1e-9)


def _box_iou(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    inter = max(w, 0) * max(h, 0)
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter + 1e-9)


@torch.no_grad()
def _yolo(task, model, species, count, device, library):
    points, strides = yolo.anchors(pool_file.SIDE, pool_file.SIDE, device)
    hits = misses = wrong = 0
    errors, per_point = [], []
    for images, truth in _scenes(species, count, library):
        x, scale, top = _letterbox(augment.compress(images, torch.full((len(images),), 45.0)))
        box, score, extra = model((x / 255).to(device))
        p = score.sigmoid()
        best, cls = p.max(1)
        if task == "obb":
            rows = yolo.decode_rotated(box, yolo.decode_angle(extra), points, strides)
        else:
            rows = yolo.decode_boxes(box, points, strides)
            keys = yolo.decode_keypoints(extra, points, strides)
        for i in range(len(images)):
            order = (best[i] > 0.25).nonzero().flatten()
            order = order[best[i][order].argsort(descending=True)]
            r = rows[i][order]
            overlap = (lambda a, b: yolo_loss.probiou(a.unsqueeze(0), b).tolist()) if task == "obb" else \
                (lambda a, b: [_box_iou(a.tolist(), q) for q in b.tolist()])
            keep = _suppress(r, overlap, 0.7)
            r, c = r[keep].cpu().numpy().astype(float), cls[i][order[keep]].cpu().numpy()
            animals = truth[i]
            if task == "obb":
                r[:, :4] = np.concatenate((r[:, :2] - [0, top], r[:, 2:4]), 1) / scale
                want, iou = animals["obb"].astype(float), _polygon_iou
            else:
                r = (r - [0, top, 0, top]) / scale
                want, iou = animals["box"].astype(float), _box_iou
            table = [[iou(a, b) if k == s else 0.0 for b, s in zip(want, animals["species"])] for a, k in zip(r, c)]
            found = _match(table, 0.5)
            counts = animals["visible"] >= 0.3
            hits += sum(1 for f in found if f >= 0 and counts[f])
            wrong += sum(1 for f in found if f < 0)
            misses += int(counts.sum()) - sum(1 for f in found if f >= 0 and counts[f])
            if task == "pose":
                k = keys[i][order[keep]].cpu().numpy().astype(float)
                for row, f in zip(k, found):
                    if f >= 0 and counts[f]:
                        xy = (row[:, :2] - [0, top]) / scale
                        e = np.linalg.norm(xy - animals["points"][f], axis=1) / animals["length"][f]
                        ok = animals["seen"][f] == 2
                        errors += list(e[ok])
                        per_point.append(np.where(ok, e, np.nan))
    out = {"precision": hits / max(1, hits + wrong), "recall": hits / max(1, hits + misses), "animals": hits + misses}
    if task == "pose" and errors:
        out.update(median_error=float(np.median(errors)), p90_error=float(np.percentile(errors, 90)),
                   median_by_point=[round(float(v), 4) for v in np.nanmedian(per_point, 0)])
    return out


@torch.no_grad()
def _unet(model, species, count, device, library):
    errors, found, wanted, peaks = [], 0, 0, 0
    for images, truth in _scenes(species, count, library):
        x = augment.compress(images, torch.full((len(images),), 45.0))
        grey = (x * torch.tensor([0.2989, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True)
        grey = F.interpolate(grey, scale_factor=unet.SCALE, mode="bilinear", antialias=True).round() / 255
        maps = model(grey.to(device))[0].float().cpu()
        local = (maps == F.max_pool2d(maps, 3, 1, 1)) & (maps > 0.2)
        for i in range(len(images)):
            for k in range(5):
                at = local[i, k].nonzero()
                xy = []
                for y, x0 in at.tolist():
                    patch = F.pad(maps[i, k], (2, 2, 2, 2))[y:y + 5, x0:x0 + 5]
                    g = torch.arange(-2.0, 3.0)
                    total = patch.sum()
                    xy.append([(x0 + float((patch.sum(0) * g).sum() / total)) * 2 / unet.SCALE,
                               (y + float((patch.sum(1) * g).sum() / total)) * 2 / unet.SCALE])
                peaks += len(xy)
                for animal in truth[i]:
                    if animal["seen"][k] != 2 or animal["visible"] < 0.3:
                        continue
                    wanted += 1
                    if xy:
                        # found with pixel centres at whole numbers; the truth has edges there
                        e = np.linalg.norm(np.float64(xy) + 0.5 - animal["points"][k], axis=1).min() / animal["length"]
                        if e < 0.1:
                            found += 1
                            errors.append(e)
    return {"median_error": float(np.median(errors)) if errors else 1.0,
            "p90_error": float(np.percentile(errors, 90)) if errors else 1.0,
            "point_recall": found / max(1, wanted), "peaks_per_point": peaks / max(1, wanted)}


def measure(task, model, count, device, library):
    model = model.to(device).float().eval()
    figures = {}
    for species, name in enumerate(scenes.SPECIES):
        f = _unet(model, species, count, device, library) if task == "bottomup" else \
            _yolo(task, model, species, count, device, library)
        figures[name] = {k: round(v, 4) if isinstance(v, float) else v for k, v in f.items()}
        print(task, name, figures[name], flush=True)
    return figures
