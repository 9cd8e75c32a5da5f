# SPDX-License-Identifier: Apache-2.0
"""boxmot's ByteTrack, OC-SORT and BoT-SORT on rows, and what settings are tried for each.

"box", "obb" and "fill" are ours, not boxmot's: gaps of up to so many frames are filled in a straight line afterwards; obb gives the turned boxes (their OBB mode); box says whether what is scored is the box
that the tracker gives out (its filter's, for some) or the upright box of the detection that it names.
"""
import contextlib
import importlib
import io
import time
from pathlib import Path

import numpy as np

# Each tracker: its defaults as boxmot's configuration has them, and the values tried, one setting after the other.
PEERS = {
    "bytetrack": (
        {"min_conf": 0.1, "track_thresh": 0.6, "match_thresh": 0.9, "track_buffer": 30},
        [("track_thresh", [0.3, 0.45]), ("match_thresh", [0.8, 0.95, 0.99]), ("asso_func", ["giou", "diou", "centroid"]),
         ("obb", [True]), ("box", ["detection"]), ("track_buffer", [15, 60, 120]),
         ("match_thresh", [0.8, 0.9, 0.95, 0.99])],
    ),
    "ocsort": (
        {"min_conf": 0.1, "det_thresh": 0.6, "max_age": 30, "min_hits": 3, "delta_t": 3, "inertia": 0.1, "use_byte": False},
        [("det_thresh", [0.2, 0.3, 0.45]), ("iou_threshold", [0.1, 0.2]), ("min_hits", [1, 2]), ("use_byte", [True]),
         ("asso_func", ["giou", "diou", "centroid"]), ("obb", [True]), ("max_age", [15, 60, 120]), ("inertia", [0.2, 0.4]),
         ("delta_t", [1, 5]), ("iou_threshold", [0.1, 0.2, 0.3])],
    ),
    "botsort": (
        {"track_high_thresh": 0.63, "track_low_thresh": 0.1, "new_track_thresh": 0.62, "track_buffer": 40,
         "match_thresh": 0.77, "second_match_thresh": 0.29, "unconfirmed_match_thresh": 0.41, "fuse_first_associate": True,
         "use_cmc": False, "use_embeddings": False},
        [("track_high_thresh", [0.3, 0.45]), ("new_track_thresh", [0.5, 0.75]), ("match_thresh", [0.85, 0.9, 0.95]),
         ("second_match_thresh", [0.5, 0.7]), ("unconfirmed_match_thresh", [0.7]), ("fuse_first_associate", [False]),
         ("asso_func", ["giou", "diou", "centroid"]), ("obb", [True]), ("box", ["detection"]),
         ("track_buffer", [20, 80, 120]), ("match_thresh", [0.77, 0.85, 0.9, 0.95])],
    ),
}


def native_library(name):
    """boxmot's own C++ of a tracker, where it was built (native/cpp/README.md in the package says how), or None."""
    import boxmot.native

    found = Path(boxmot.native.__file__).parent / "cpp/trackers" / name / "build" / f"lib{name}_capi.so"
    return found if found.exists() else None


def make(name, settings, native=True):
    """A tracker of boxmot: its C++ where that was built (the same tracks, ten times faster), else its Python."""
    with contextlib.redirect_stderr(io.StringIO()):
        from boxmot.utils import logger

        logger.setLevel("ERROR")
    given = {k: v for k, v in settings.items() if k not in ("obb", "box", "fill")}
    obb = bool(settings.get("obb"))
    classes = {"bytetrack": "ByteTrack", "ocsort": "OcSort", "botsort": "BotSort"}
    library = native and native_library(name)
    if library:
        outer = importlib.import_module(f"boxmot.trackers.box.{name}.native")
        inner = importlib.import_module(f"boxmot.native.trackers.{name}")
        kind = getattr(outer, f"Native{classes[name]}Tracker")
        opened = getattr(inner, f"{classes[name]}Library")(library)
        return kind(given, geometry="obb" if obb else "aabb", library=opened)
    return getattr(importlib.import_module(f"boxmot.trackers.box.{name}.tracker"), classes[name])(is_obb=obb, **given)


def run(name, settings, rows, frames, size, native=True):
    """Tracks as rows frame, id, x1, y1, x2, y2, and the seconds that the tracker alone took."""
    tracker = make(name, settings, native)
    obb = bool(settings.get("obb"))
    of_detection = obb or settings.get("box") == "detection"
    picture = np.zeros((size[1], size[0], 3), np.uint8)
    empty = np.zeros((0, 11))
    out, seconds = [], 0.0
    for f in range(frames):
        table = rows.get(f, empty)
        given = table[:, [6, 7, 8, 9, 10, 4, 5]] if obb else table[:, :6]
        given = np.ascontiguousarray(given, dtype=np.float32)
        begin = time.perf_counter()
        tracks = tracker.update(given, picture)
        seconds += time.perf_counter() - begin
        for t in np.asarray(tracks):
            # columns: box (4, or 5 turned), id, score, class, detection
            at = 5 if obb else 4
            box = table[int(t[at + 3]), :4] if of_detection else t[:4]
            out.append([f, t[at], *box])
    return fill(np.array(out).reshape(-1, 6), settings.get("fill", 0)), seconds


def fill(tracks, most):
    """The tracks with gaps of up to `most` frames filled in a straight line."""
    more = [tracks]
    for i in np.unique(tracks[:, 1]):
        t = tracks[tracks[:, 1] == i]
        for a, b in zip(t[:-1], t[1:]):
            gap = int(b[0] - a[0])
            if 1 < gap <= most + 1:
                part = np.arange(1, gap)[:, None] / gap
                row = a + part * (b - a)
                row[:, 0] = a[0] + np.arange(1, gap)
                more.append(row)
    return np.concatenate(more)
