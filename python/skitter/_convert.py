# SPDX-License-Identifier: Apache-2.0
"""Results as other libraries have them. Each is imported when it is asked for."""

import importlib
import math
import os

from . import _errors


def needs(module, what, install=None):
    """The module, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        raise ImportError("%s needs %s: pip install %s (%s)" % (what, module, install or module, e)) from None


_FIRST = {"source": "str", "frame": "int64", "time": "float64", "instance": "int64", "track": "Int64", "class": "int64",
          "name": "str", "score": "float64"}
_BOX, _OBB = ("x1", "y1", "x2", "y2"), ("cx", "cy", "w", "h", "angle")


def columns(result):
    """Names of the columns of results.csv (docs/results.md)."""
    out = list(_FIRST) + list(_BOX if result.boxes is not None else ()) + list(_OBB if result.has_obb else ())
    return out + [name + part for name in result.keypoint_names for part in ("_x", "_y", "_score")]


def rows(result):
    """One dictionary an instance, with those columns."""
    out = []
    for n, i in enumerate(result.instances):
        row = {"source": result.path or result.source or "", "frame": result.index, "time": result.time, "instance": n,
               "track": i.track_id, "class": -1 if i.class_id is None else i.class_id, "name": i.class_name,
               "score": i.score}
        if result.boxes is not None:  # of oriented ones, too
            row.update(zip(_BOX, i.box or (math.nan,) * 4))
        if result.has_obb:
            row.update(zip(_OBB, i.obb or (math.nan,) * 5))
        for name, (x, y, score) in zip(result.keypoint_names, i.keypoints or ()):
            row[name + "_x"], row[name + "_y"], row[name + "_score"] = x, y, score
        out.append(row)
    return out


def to_pandas(results):
    pandas = needs("pandas", "to_pandas()")
    results = list(results)
    of = {id(r.pipeline): r for r in results}  # all results of a pipeline have the same ones, also where nothing was found
    names = list(dict.fromkeys(c for r in of.values() for c in columns(r))) or list(_FIRST)
    table = pandas.DataFrame([row for r in results for row in rows(r)], columns=names)
    if not len(table):
        return table.astype({name: _FIRST.get(name, "float64") for name in names})
    table["track"] = table["track"].astype("Int64")  # empty where nobody follows, as in results.csv
    return table


def _box_of(i):
    """x, y, width, height of COCO: the box, the one around the oriented box, or around the keypoints."""
    if i.obb:
        corners = i.corners
        xs, ys = [c[0] for c in corners], [c[1] for c in corners]
    elif i.box:
        xs, ys = i.box[0::2], i.box[1::2]
    else:
        seen = [(x, y) for x, y, _ in i.keypoints or () if not math.isnan(x)]
        if not seen:
            return [0.0, 0.0, 0.0, 0.0]
        xs, ys = [p[0] for p in seen], [p[1] for p in seen]
    return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]


def to_coco(results):
    """A dataset as results.coco.json has it: image ids from 1 in the order of frames, category ids from 1."""
    results = list(results)
    images, annotations = [], []
    about = results[0].pipeline if results else None
    for n, r in enumerate(results, 1):
        name = r.path or "frame_%d" % (r.index + 1)
        images.append({"id": n, "file_name": name, "width": r.width, "height": r.height, "frame": r.index})
        for i in r.instances:
            box = _box_of(i)
            one = {"id": len(annotations) + 1, "image_id": n, "category_id": 1 + max(i.class_id or 0, 0), "bbox": box,
                   "area": box[2] * box[3], "iscrowd": 0, "score": i.score}
            if i.obb:
                one["obb"] = list(i.obb)
                one["segmentation"] = [[v for c in i.corners for v in c]]
            if i.keypoints is not None:
                flat = []
                for x, y, _ in i.keypoints:
                    flat += [0.0, 0.0, 0] if math.isnan(x) else [x, y, 2]
                one["keypoints"] = flat
                one["num_keypoints"] = sum(1 for x, _, _ in i.keypoints if not math.isnan(x))
            if i.track_id is not None:
                one["track_id"] = i.track_id
            annotations.append(one)
    categories = [{"id": n, "name": name or str(n - 1)} for n, name in enumerate(about.names.values(), 1)] if about else []
    if not categories:
        categories = [{"id": 1, "name": "animal"}]
    if about and about.keypoint_names:
        for c in categories:
            c["keypoints"] = list(about.keypoint_names)
            c["skeleton"] = [[a + 1, b + 1] for a, b in about.edges]
    return {"images": images, "annotations": annotations, "categories": categories}


def to_supervision(result):
    """supervision.Detections; of a model without boxes supervision.KeyPoints."""
    sv = needs("supervision", "to_supervision()")
    np = needs("numpy", "to_supervision()")
    names = np.array([i.class_name for i in result.instances], dtype=str)
    if result.has_boxes or result.has_obb:
        data = {"class_name": names}
        if result.has_obb:
            data["xyxyxyxy"] = result.obb.xyxyxyxy
        return sv.Detections(
            xyxy=np.array(result.obb.xyxy if result.has_obb else result.boxes.xyxy, dtype=np.float32).reshape(-1, 4),
            confidence=np.array(result.scores), class_id=np.array(result.class_ids, dtype=int),
            tracker_id=None if result.track_ids is None else np.array(result.track_ids, dtype=int), data=data)
    if not len(result):
        return sv.KeyPoints.empty()
    return sv.KeyPoints(
        xy=np.nan_to_num(np.array(result.keypoints.xy)), class_id=np.array(result.class_ids, dtype=int),
        **{_points_word(sv): np.array(result.keypoints.conf)}, data={"class_name": names})


def _points_word(sv):
    fields = getattr(sv.KeyPoints, "__dataclass_fields__", {})
    return "keypoint_confidence" if "keypoint_confidence" in fields else "confidence"


def to_sleap_io(results, video=None):
    """sleap_io.Labels with predicted instances; tracks are called track_0, track_1 … as in results.slp."""
    sio = needs("sleap_io", "to_sleap_io()", "sleap-io")
    np = needs("numpy", "to_sleap_io()")
    results = list(results)
    if not results:
        return sio.Labels([])
    about = results[0].pipeline
    names = list(about.keypoint_names) or ["center"]
    skeleton = sio.Skeleton(nodes=names, edges=[(names[a], names[b]) for a, b in about.edges])
    tracks, videos, frames = {}, {}, []
    length = 1 + max(r.index for r in results)
    for r in results:
        path = video if video is not None else (r.path or r.source or "frames")
        known = videos.get(id(path) if not isinstance(path, str) else path)
        if known is None:
            known = path if isinstance(path, sio.Video) else _video(sio, path, r, 1 if r.path else length)
            videos[id(path) if not isinstance(path, str) else path] = known
        found = []
        for i in r.instances:
            if i.keypoints is not None:
                points, scores = np.array([p[:2] for p in i.keypoints]), np.array([p[2] for p in i.keypoints])
            else:
                points, scores = np.array([i.center]), np.array([i.score])
            track = None
            if i.track_id is not None and i.track_id >= 0:
                track = tracks.setdefault(i.track_id, sio.Track("track_%d" % i.track_id))
            found.append(sio.PredictedInstance.from_numpy(points, skeleton=skeleton, point_scores=scores,
                                                          score=i.score, track=track))
        pictures = r.path is not None and video is None
        frames.append(sio.LabeledFrame(video=known, frame_idx=0 if pictures else r.index, instances=found))
    labels = sio.Labels(frames)
    if not labels.skeletons:  # nothing was found
        labels.skeletons.append(skeleton)
    for track in tracks.values():
        if track not in labels.tracks:
            labels.tracks.append(track)
    return labels


def _video(sio, path, result, length):
    if os.path.exists(path):
        try:
            return sio.load_video(path)
        except Exception:  # noqa: BLE001 - whatever it reads videos with
            pass
    return sio.Video(filename=path, backend_metadata={"shape": (length, result.height, result.width, 3)}, open_backend=False)


def path_bytes(path):
    """A path as the operating system has it. The library would read it up to a zero byte: another file's name."""
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise _errors.ArgumentError("%r holds a zero byte, which no path does" % (path,))
    return raw


def source_text(source):
    """What a source is called: bytes for the library."""
    if isinstance(source, bool) or not isinstance(source, (str, bytes, os.PathLike, int)):
        raise _errors.ArgumentError(
            "a source is a path, an address, a camera's number, an array or an iterable of arrays, not %s" % type(source).__name__)
    return path_bytes(str(source) if isinstance(source, int) else source)
