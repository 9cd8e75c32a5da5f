# SPDX-License-Identifier: Apache-2.0
"""What was found: objects over arrays that lie in skitter's memory. Words are Ultralytics' where they mean the same."""

import math

from . import _convert, _native, _picture

_KEYPOINTS, _BOXES, _OBBS, _SCORES, _CLASSES, _TRACKS = 1, 2, 3, 4, 5, 6
HAS_BOX, HAS_OBB, HAS_KEYPOINTS = 1, 2, 4

try:
    import numpy as _numpy
except ImportError:  # everything but arithmetic works without
    _numpy = None


def as_array(column):
    """A numpy array over the column's memory, which it keeps; a memoryview where there is no numpy. Read only."""
    return memoryview(column) if _numpy is None else _numpy.asarray(column)


def _need_numpy(what):
    return _numpy if _numpy is not None else _convert.needs("numpy", what)


class _Part:
    """Columns of a result, by the names below."""

    __slots__ = ("_result",)

    def __init__(self, result):
        self._result = result

    def __len__(self):
        return len(self._result)

    @property
    def conf(self):
        """Scores, float32 [n]."""
        return self._result.scores

    @property
    def cls(self):
        """Numbers of classes, int32 [n]; -1: none."""
        return self._result.class_ids

    @property
    def id(self):
        """Numbers of tracks, int32 [n], -1 where there is none yet; None where nobody follows."""
        return self._result.track_ids

    @property
    def orig_shape(self):
        """Height and width of the frame."""
        return self._result.orig_shape

    def __repr__(self):
        return "<%s of %d>" % (type(self).__name__, len(self))


class Boxes(_Part):
    """Upright boxes."""

    __slots__ = ()

    @property
    def xyxy(self):
        """float32 [n, 4]: left, top, right, bottom, in pixels of the frame."""
        return as_array(self._result._column(_BOXES))

    @property
    def xywh(self):
        """float32 [n, 4]: centre, width, height (a copy)."""
        np = _need_numpy("boxes.xywh")
        b = self.xyxy
        return np.concatenate(((b[:, :2] + b[:, 2:]) / 2, b[:, 2:] - b[:, :2]), axis=1)

    @property
    def xyxyn(self):
        """xyxy divided by the frame's size (a copy)."""
        np = _need_numpy("boxes.xyxyn")
        h, w = self.orig_shape
        return self.xyxy / np.array([w, h, w, h], dtype=np.float32)

    @property
    def xywhn(self):
        """xywh divided by the frame's size (a copy)."""
        np = _need_numpy("boxes.xywhn")
        h, w = self.orig_shape
        return self.xywh / np.array([w, h, w, h], dtype=np.float32)


class OBB(_Part):
    """Oriented boxes."""

    __slots__ = ()

    @property
    def xywhr(self):
        """float32 [n, 5]: centre, width, height, angle in radians, clockwise on the screen."""
        return as_array(self._result._column(_OBBS))

    @property
    def xyxyxyxy(self):
        """float32 [n, 4, 2]: corners (a copy)."""
        np = _need_numpy("obb.xyxyxyxy")
        b = self.xywhr
        c, s = np.cos(b[:, 4]), np.sin(b[:, 4])
        along = np.stack((c, s), 1) * (b[:, 2:3] / 2)
        across = np.stack((-s, c), 1) * (b[:, 3:4] / 2)
        at = b[:, :2]
        return np.stack((at + along + across, at + along - across, at - along - across, at - along + across), 1)

    @property
    def xyxy(self):
        """float32 [n, 4]: the upright boxes around them (a copy)."""
        np = _need_numpy("obb.xyxy")
        c = self.xyxyxyxy
        return np.concatenate((c.min(1), c.max(1)), axis=1)


class Keypoints(_Part):
    """Poses."""

    __slots__ = ()

    @property
    def data(self):
        """float32 [n, keypoints, 3]: x, y, score; x and y are NaN where a point was not found."""
        return as_array(self._result._column(_KEYPOINTS))

    @property
    def xy(self):
        """float32 [n, keypoints, 2]."""
        _need_numpy("keypoints.xy")
        return self.data[..., :2]

    @property
    def xyn(self):
        """xy divided by the frame's size (a copy)."""
        np = _need_numpy("keypoints.xyn")
        h, w = self.orig_shape
        return self.xy / np.array([w, h], dtype=np.float32)

    @property
    def conf(self):
        """float32 [n, keypoints]: scores of the points."""
        _need_numpy("keypoints.conf")
        return self.data[..., 2]

    @property
    def names(self):
        """What they are called."""
        return self._result.keypoint_names


class Instance:
    """One animal of a result, as plain numbers."""

    __slots__ = ("score", "class_id", "class_name", "box", "obb", "keypoints", "track_id", "_names")

    def __init__(self, score, class_id, class_name, box, obb, keypoints, track_id, names):
        self.score, self.class_id, self.class_name, self.box, self.obb = score, class_id, class_name, box, obb
        self.keypoints, self.track_id, self._names = keypoints, track_id, names

    @property
    def points(self):
        """{name: (x, y, score)} of the points that were found."""
        return {n: p for n, p in zip(self._names, self.keypoints or ()) if not math.isnan(p[0])}

    @property
    def corners(self):
        """Of the oriented box: four points."""
        if not self.obb:
            return []
        x, y, w, h, a = self.obb
        c, s = math.cos(a), math.sin(a)
        return [(x + dx * w / 2 * c - dy * h / 2 * s, y + dx * w / 2 * s + dy * h / 2 * c)
                for dx, dy in ((1, 1), (1, -1), (-1, -1), (-1, 1))]

    @property
    def center(self):
        """Middle of its box, or of the points that were found."""
        if self.obb:
            return self.obb[0], self.obb[1]
        if self.box:
            return (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2
        seen = list(self.points.values())
        if not seen:
            return math.nan, math.nan
        return sum(p[0] for p in seen) / len(seen), sum(p[1] for p in seen) / len(seen)

    def __repr__(self):
        what = self.class_name or "instance"
        track = "" if self.track_id is None else " #%d" % self.track_id
        return "<%s%s %.2f at %.0f, %.0f>" % ((what, track, self.score) + tuple(self.center))


class Result(_native.Result):
    """What was found in one frame. Its arrays lie in skitter's memory and keep it: they stay good after the pipeline was closed."""

    source = None  # what the stream was opened with
    _followed = False
    _format = "rgb"

    @property
    def pipeline(self):
        """The pipeline it came from."""
        return self._owner

    @property
    def frame(self):
        """The picture: what the pipeline was called with, or of stream(frames=True) an array [height, width, 3] of RGB; else None."""
        held = self._frame
        return as_array(held) if isinstance(held, _native.Column) else held

    orig_img = frame

    @property
    def path(self):
        """Of a picture's file; None: it came from no picture file."""
        return self._path

    @property
    def orig_shape(self):
        """Height and width of the frame."""
        return self.height, self.width

    @property
    def names(self):
        """{number: name} of the classes."""
        return self._owner.names

    @property
    def keypoint_names(self):
        """Names of the keypoints, in the order of their columns."""
        return self._owner.keypoint_names

    @property
    def has_boxes(self):
        """Does the model give upright boxes?"""
        return bool(self._owner._has & HAS_BOX) and not self.has_obb

    @property
    def has_obb(self):
        """Does the model give oriented boxes?"""
        return bool(self._owner._has & HAS_OBB)

    @property
    def boxes(self):
        """Upright boxes; None where the model gives none."""
        return Boxes(self) if self._owner._has & HAS_BOX else None

    @property
    def obb(self):
        """Oriented boxes; None where the model gives none."""
        return OBB(self) if self.has_obb else None

    @property
    def keypoints(self):
        """Poses; None where the model gives none."""
        return Keypoints(self) if self._owner._has & HAS_KEYPOINTS else None

    @property
    def scores(self):
        """float32 [n]."""
        return as_array(self._column(_SCORES))

    @property
    def class_ids(self):
        """int32 [n]; -1: none."""
        return as_array(self._column(_CLASSES))

    @property
    def track_ids(self):
        """int32 [n]: numbers of tracks, -1: none yet; None where nobody follows."""
        return as_array(self._column(_TRACKS)) if self._followed else None

    @property
    def problem(self):
        """Why this frame failed; '' where it did not. One broken frame does not end a stream."""
        return self._facts()["problem"]

    @property
    def ok(self):
        """The frame was looked at without failure."""
        return self._facts()["status"] == 0

    @property
    def instances(self):
        """Every animal as an object of plain numbers: a list of Instance."""
        has, names, points_of = self._owner._has, self._owner.names, self._owner.keypoint_names
        scores, classes = self._list(_SCORES), self._list(_CLASSES)
        boxes = self._list(_BOXES) if has & HAS_BOX else None
        obbs = self._list(_OBBS) if has & HAS_OBB else None
        points = self._list(_KEYPOINTS) if has & HAS_KEYPOINTS else None
        tracks = self._list(_TRACKS) if self._followed else None
        out = []
        for i, score in enumerate(scores):
            number = classes[i] if classes[i] >= 0 else None
            out.append(Instance(
                score, number, names.get(number, "") if number is not None else "",
                tuple(boxes[i]) if boxes and not math.isnan(boxes[i][0]) else None,
                tuple(obbs[i]) if obbs and not math.isnan(obbs[i][0]) else None,
                [tuple(p) for p in points[i]] if points else None, tracks[i] if tracks else None, points_of))
        return out

    def __reduce__(self):
        raise TypeError("a result lies in skitter's memory and is neither copied nor sent to another process: take result.numpy(), "
                        "result.instances, or to_pandas()")

    def _list(self, part):
        return memoryview(self._column(part)).tolist()

    def __iter__(self):
        return iter(self.instances)

    def __getitem__(self, index):
        return self.instances[index]

    # --- as others have it ---

    def numpy(self):
        """{name: array} of everything."""
        out = {"scores": self.scores, "classes": self.class_ids}
        if self.boxes is not None:
            out["boxes"] = self.boxes.xyxy
        if self.obb is not None:
            out["obb"] = self.obb.xywhr
        if self.keypoints is not None:
            out["keypoints"] = self.keypoints.data
        if self.track_ids is not None:
            out["tracks"] = self.track_ids
        return out

    def to_pandas(self):
        """A pandas.DataFrame, one row an instance, with the columns of results.csv."""
        return _convert.to_pandas([self])

    def to_coco(self):
        """A COCO dataset of this frame, as a dictionary."""
        return _convert.to_coco([self])

    def to_supervision(self):
        """supervision.Detections (of a model without boxes supervision.KeyPoints)."""
        return _convert.to_supervision(self)

    def to_sleap_io(self, video=None):
        """sleap_io.Labels of this frame."""
        return _convert.to_sleap_io([self], video)

    # --- pictures ---

    def plot(self):
        """The frame with everything drawn in: array [height, width, 3] of RGB, a new one. Needs `frame` and numpy."""
        np = _need_numpy("plot()")
        canvas = self._canvas(np)
        _native.draw(self, canvas)
        return canvas

    def _canvas(self, np):
        picture = self.frame
        if picture is None:
            return np.full((self.height, self.width, 3), 32, dtype=np.uint8)
        if hasattr(picture, "detach"):  # a tensor of torch
            picture = picture.detach().cpu().numpy()
        elif hasattr(picture, "get") and hasattr(picture, "device"):  # an array of cupy
            picture = picture.get()
        picture = np.asarray(picture)
        if picture.dtype == np.uint16:
            picture = (picture >> 8).astype(np.uint8)
        if picture.ndim == 2 or picture.shape[2] == 1:
            picture = np.repeat(picture.reshape(picture.shape[0], picture.shape[1], 1), 3, axis=2)
        picture = picture[:, :, :3]
        if self._format in ("bgr", "bgra"):
            picture = picture[:, :, ::-1]
        return np.array(picture, dtype=np.uint8, order="C")

    def save(self, path):
        """Writes plot() as a PNG."""
        with open(path, "wb") as f:
            f.write(self._repr_png_())
        return path

    def _repr_png_(self):
        if _numpy is None:
            return None
        canvas = self.plot()
        return _picture.png(canvas, self.width, self.height, 3)

    def __repr__(self):
        counts = {}
        for i in self._list(_CLASSES):
            name = self.names.get(i) or "animal"
            counts[name] = counts.get(name, 0) + 1
        what = ", ".join("%d %s" % (n, name) for name, n in counts.items()) or "nothing found"
        return "<skitter.Result frame %d, %d x %d: %s>" % (self.index, self.width, self.height, self.problem or what)


class Results(list):
    """Results in order, with what can be made of all of them together."""

    def __getitem__(self, index):
        one = super().__getitem__(index)
        return Results(one) if isinstance(index, slice) else one

    def __add__(self, more):
        return Results(super().__add__(more))

    def to_pandas(self):
        """One pandas.DataFrame of all frames, with the columns of results.csv."""
        return _convert.to_pandas(self)

    def to_coco(self):
        """A COCO dataset, as a dictionary."""
        return _convert.to_coco(self)

    def to_sleap_io(self, video=None):
        """sleap_io.Labels; `video`: a path or sleap_io.Video that the frames are of, where they came from arrays."""
        return _convert.to_sleap_io(self, video)

    def to_supervision(self):
        """A list of supervision.Detections."""
        return [_convert.to_supervision(r) for r in self]

    def __repr__(self):
        return "<skitter.Results of %d frames, %d instances>" % (len(self), sum(len(r) for r in self))

    def _repr_html_(self):
        import base64
        shown = [r for r in self if r.frame is not None][:3]
        pictures = "".join('<img style="max-width:32%%" src="data:image/png;base64,%s">' %
                           base64.b64encode(r._repr_png_()).decode() for r in shown) if _numpy is not None else ""
        lines = "".join("<tr><td>%d</td><td>%.3f</td><td>%d</td></tr>" % (r.index, r.time, len(r)) for r in self[:10])
        more = "<p>… %d more</p>" % (len(self) - 10) if len(self) > 10 else ""
        return ("%s<table><tr><th>frame</th><th>time</th><th>instances</th></tr>%s</table>%s" % (pictures, lines, more))
