# SPDX-License-Identifier: Apache-2.0
"""HOTA, IDF1 and identity switches of tracks against a scene's truth, by TrackEval, on upright boxes.

Animals of which less than 0.3 can be seen are left out as MOTChallenge leaves out its distractors: a track's box that fits such
an animal better than anybody else (one-to-one, overlap at least 0.5) counts for nothing, neither found nor false.
"""
import contextlib
import io

import numpy as np
from scipy.optimize import linear_sum_assignment

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    import trackeval

SEEN = 0.3


def overlap(a, b):
    """Intersection over union of boxes x1 y1 x2 y2: [len(a), len(b)]."""
    if not len(a) or not len(b):
        return np.zeros((len(a), len(b)))
    lo = np.maximum(a[:, None, :2], b[None, :, :2])
    hi = np.minimum(a[:, None, 2:4], b[None, :, 2:4])
    both = np.prod(np.maximum(hi - lo, 0), axis=2)
    area = lambda x: np.prod(np.maximum(x[:, 2:4] - x[:, :2], 0), axis=1)
    return both / np.maximum(area(a)[:, None] + area(b)[None, :] - both, 1e-12)


def sequence(truth, tracks, frames):
    """TrackEval's form of one scene. tracks: rows frame (from 0), id, x1, y1, x2, y2."""
    truth_frame, track_frame = truth["frame"].astype(int), tracks[:, 0].astype(int)
    boxes = np.column_stack([truth[k] for k in ("x1", "y1", "x2", "y2")])
    data = {"gt_ids": [], "tracker_ids": [], "similarity_scores": []}
    for f in range(frames):
        t, k = np.flatnonzero(truth_frame == f), np.flatnonzero(track_frame == f)
        similar = overlap(boxes[t], tracks[k, 2:6])
        seen = truth["visible"][t] >= SEEN
        keep = np.ones(len(k), bool)
        if len(t) and len(k):
            r, c = linear_sum_assignment(-np.where(similar >= 0.5, similar, 0))
            for i, j in zip(r, c):
                keep[j] = seen[i] or similar[i, j] < 0.5
        data["gt_ids"].append(truth["track"][t][seen].astype(int))
        data["tracker_ids"].append(tracks[k, 1][keep].astype(int))
        data["similarity_scores"].append(similar[seen][:, keep])
    for name in ("gt", "tracker"):
        ids = np.unique(np.concatenate(data[name + "_ids"])) if frames else np.zeros(0, int)
        data[name + "_ids"] = [np.searchsorted(ids, i) for i in data[name + "_ids"]]
        data[f"num_{name}_ids"] = len(ids)
        data[f"num_{name}_dets"] = sum(map(len, data[name + "_ids"]))
    data["num_timesteps"] = frames
    return data


def score(truth, tracks, frames):
    data = sequence(truth, tracks, frames)
    with contextlib.redirect_stdout(io.StringIO()):
        hota = trackeval.metrics.HOTA().eval_sequence(data)
        clear = trackeval.metrics.CLEAR({"PRINT_CONFIG": False}).eval_sequence(data)
        identity = trackeval.metrics.Identity({"PRINT_CONFIG": False}).eval_sequence(data)
    return {
        "HOTA": float(np.mean(hota["HOTA"])),
        "DetA": float(np.mean(hota["DetA"])),
        "AssA": float(np.mean(hota["AssA"])),
        "LocA": float(np.mean(hota["LocA"])),
        "MOTA": float(clear["MOTA"]),
        "IDF1": float(identity["IDF1"]),
        "switches": int(clear["IDSW"]),
        "fragments": int(clear["Frag"]),
        "identities": int(data["num_tracker_ids"]),
    }
