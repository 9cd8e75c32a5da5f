# SPDX-License-Identifier: Apache-2.0
"""Frames in, results out."""

import collections
import itertools
import logging
import os
import warnings

from . import _convert, _environment, _errors, _native, _progress, _results, _settings

_log = logging.getLogger("skitter")
_LEVELS = {0: logging.ERROR, 1: logging.WARNING, 2: logging.INFO, 3: logging.DEBUG}


def _say():
    for level, text in _native.take_messages():
        _log.log(_LEVELS.get(level, logging.INFO), "%s", text)


def _is_source(value):
    return isinstance(value, (str, bytes, os.PathLike, int)) and not isinstance(value, bool)


def _pixels(frame):
    """Pictures of PIL become arrays; everything else is what it is."""
    if not (hasattr(frame, "mode") and hasattr(frame, "convert") and hasattr(frame, "size")):
        return frame
    np = _convert.needs("numpy", "a picture of PIL")
    if frame.mode.startswith("I;16"):  # PIL's own conversion would cut everything above 255
        return np.asarray(frame).astype(np.uint16)
    if frame.mode in ("I", "F"):
        raise _errors.ArgumentError(
            "a picture of PIL's mode '%s' does not say what is white: give numpy.asarray(picture).astype('uint16') where it is "
            "65535, or 'uint8' where it is 255" % frame.mode)
    return np.asarray(frame if frame.mode in ("L", "RGB", "RGBA") else frame.convert("RGB"))


def _place(pixels):
    """Where an array lies, of whatever object; of all else the object."""
    known = getattr(pixels, "__array_interface__", None)
    return known["data"][0] if isinstance(known, dict) else id(pixels)


def _refuse_for_frames(**given):
    """Options of a source that mean nothing for frames which the caller has: {name: (value, what it is when nobody asks)}."""
    for name, (value, plain) in given.items():
        if value is not plain and (plain is None or value != plain):
            raise _errors.ArgumentError("%s means nothing for frames that are given one by one; %s" % (
                name, "give those that are wanted" if name == "frames" else "leave it out"))


class Tracker:
    """Who is who as results come, in order: tracker(result) gives its instances their tracks and returns it.

    tracker: 'skitter', 'bytetrack' or 'ocsort'; animals: there are so many, never more; fps: where frames have no times."""

    def __init__(self, pipeline, tracker="skitter", animals=0, fps=0.0):
        self._tracks = _native.Tracks(pipeline, tracker, animals, fps)

    def __call__(self, result):
        self._tracks.tell(result)
        result._followed = True
        return result


class Pipeline(_native.Pipeline):
    """Models that are ready to run: one, or two of which the second looks at crops around what the first found.

    models: a path, or two: an Ultralytics .pt, a SLEAP or sleap-nn folder (or its .zip), an .onnx.
    runtime: 'auto' takes what `skitter predict` would take (SKITTER_COMPUTE_RUNTIME, the saved setting, or cpu); or a name:
    'cpu', 'cuda', 'cuda:1', 'onnx_cpu', 'openvino', 'tensorrt' … skitter.runtimes() lists them.
    allow_fallback: where that runtime cannot be used, take the next one that can.
    Everything else by the command line's names: conf, iou, classes, max_det, imgsz, batch, threads, devices, precision,
    peak_threshold, max_instances … (`skitter predict --help`; skitter.Pipeline.settings() lists them).

    Any number of threads may use one pipeline. Close it (or use `with`) to give its memory back at once."""

    def __new__(cls, models, runtime="auto", *, allow_fallback=False, **settings):
        if isinstance(models, (str, bytes, os.PathLike)):
            models = [models]
        if not hasattr(models, "__iter__") or not (models := list(models)):
            raise _errors.ArgumentError("models: %r is neither a path nor a list of one or two" % (models,))
        if not (runtime is None or isinstance(runtime, str)):
            raise _errors.ArgumentError("runtime: %r is no name; skitter.runtimes() lists them" % (runtime,))
        paths = [_convert.path_bytes(m) for m in models]
        _environment.tell_libraries()
        native = _settings.native_settings(settings, paths)
        if runtime is None or ":" not in runtime:
            wish = None if runtime in (None, "auto") else runtime
            runtime, _, _, notice = _native.pick_runtime(paths, wish, allow_fallback)
            if notice:
                warnings.warn(notice, _errors.SkitterWarning, stacklevel=2)
        native["runtime"] = os.fsencode(runtime)
        self = super().__new__(cls, models=paths, settings=native, result_type=_results.Result)
        about = self.about()
        self._about = about
        self._has = about["has"]
        self._numbers = itertools.count()
        self.names = dict(enumerate(about["classes"]))
        self.keypoint_names = about["keypoints"]
        self.edges = about["edges"]
        _say()
        return self

    def __init__(self, models, runtime="auto", *, allow_fallback=False, **settings):
        pass

    @staticmethod
    def settings():
        """Names of all settings."""
        return sorted(_settings.KNOWN)

    task = property(lambda self: self._about["task"], doc="'detect', 'pose', 'obb', 'bottomup' …: what results are")
    runtime = property(lambda self: self._about["runtime"], doc="what computes")
    device = property(lambda self: self._about["device"], doc="for people: 'NVIDIA H200'")
    precision = property(lambda self: self._about["precision"], doc="what is computed in: 'f32'")

    # --- frames ---

    def __call__(self, frame, format="rgb", *, index=None, time=None, **options):  # noqa: A002
        """One frame's Result: an array [height, width, 3], [h, w, 4] or [h, w] of unsigned 8 bits (or 16, grey), a tensor
        (torch, jax, cupy: DLPack; also of a GPU), or a picture of PIL. Nothing is copied where the pixels lie as they should.
        format='bgr' for frames of OpenCV. A path or a camera's number gives predict(source), a list of frames a Results.
        index and time (seconds): the frame's; without them frames are counted, 25 a second."""
        if _is_source(frame):
            return self.predict(frame, **options)
        if isinstance(frame, (list, tuple)):
            return _results.Results(self.stream(frame, format=format, **options))
        if options:
            raise _errors.ArgumentError("one frame has no option '%s'" % next(iter(options)))
        number = next(self._numbers) if index is None else int(index)
        pixels = _pixels(frame)
        result = self.run(pixels, format, number, int((number / 25 if time is None else time) * 1e9))
        result._frame = pixels
        result._format = format
        return result

    def stream(self, source, *, format="rgb", frames=None, keep_frames=False, track=False, tracker="skitter",  # noqa: A002
               animals=0, fps=0.0, progress=None, loop=1, hwaccel=None, colour="original", topic=None, reconnect=60.0,
               max_pixels=None, strict=False):
        """Results of a source as they come: an iterator with close(), also a context manager.

        source: whatever `skitter predict` reads (a video, pictures, a folder, 'glob*.png', a camera's number, rtsp://…, a bag), a
        list of those, or an iterable of frames (format says what their channels are).
        frames: only these: '0-9,20,30:60:5', a range, a slice; keep_frames: results have the picture (a copy): result.frame, plot().
        track: give animals their numbers as frames come, by `tracker`, of `animals` known to be there; skitter.track sees the whole
        video. progress: a bar of tqdm's; None: where there is one and somebody looks."""
        bar = {"progress": progress}
        follow = Tracker(self, tracker, animals, fps) if track else None
        if not _is_source(source):
            if isinstance(source, (list, tuple)) and source and all(_is_source(s) for s in source):
                how = dict(format=format, frames=frames, keep_frames=keep_frames, track=track, tracker=tracker,
                           animals=animals, fps=fps, progress=progress, loop=loop, hwaccel=hwaccel, colour=colour,
                           topic=topic, reconnect=reconnect, max_pixels=max_pixels, strict=strict)
                return Stream(itertools.chain.from_iterable(self.stream(s, **how) for s in source), None, None, False)
            _refuse_for_frames(frames=(frames, None), loop=(loop, 1), hwaccel=(hwaccel, None), colour=(colour, "original"),
                               topic=(topic, None), max_pixels=(max_pixels, None), strict=(strict, False))
            return Stream(self._of_frames(source, format, fps), None, follow, bar["progress"])
        text = _convert.source_text(source)
        options = {"loop": loop, "frames": bool(keep_frames), "reconnect": float(reconnect), "strict": bool(strict)}
        if frames is not None:
            options["ranges"] = _settings.frame_ranges(frames)
        if hwaccel is not None:
            options["hwaccel"] = os.fsencode(hwaccel)
        if topic is not None:
            options["topic"] = os.fsencode(topic)
        if max_pixels is not None:
            options["max_pixels"] = int(max_pixels)
        if colour != "original":
            options["colours"] = _settings._one_of("colour", colour, {"tagged": 0, "bt601": 1})
        native = self.open_stream(text, options)
        return Stream(native, os.fsdecode(text), follow, bar["progress"])

    def _of_frames(self, frames, format, fps):  # noqa: A002
        waiting = collections.deque()
        rate = fps or 25
        look = not isinstance(frames, (list, tuple))  # their frames are all there: nobody fills one anew
        source, failure = enumerate(frames), None
        while failure is None:
            try:
                number, frame = next(source)
                pixels = _pixels(frame)
                if look and any(_place(pixels) == _place(w[1]) for w in waiting):
                    look = False
                    warnings.warn("the same array came again while it was looked at; where it was filled anew, results are of mixed "
                                  "frames: yield copies (frame.copy())", _errors.SkitterWarning, stacklevel=4)
                waiting.append((self.submit(pixels, format, number, int(number / rate * 1e9)), pixels))
            except StopIteration:
                break
            except Exception as e:  # what was handed in before is given out before
                failure = e
            if len(waiting) >= self._about["depth"]:
                yield self._finish(waiting.popleft(), format)
        while waiting:
            yield self._finish(waiting.popleft(), format)
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # which holds this frame, and frames

    @staticmethod
    def _finish(pair, format):  # noqa: A002
        result = pair[0].result()
        result._frame = pair[1]
        result._format = format
        return result

    def predict(self, source, **options):
        """Results of a whole source, at once: a list with to_pandas(), to_coco(), to_sleap_io(). Pictures are kept where the
        source is pictures. Options are stream's. For long videos use stream, or skitter.predict, which writes files."""
        with self.stream(source, **options) as stream:
            if stream.kind == "pictures" and "keep_frames" not in options:
                stream.close()
                with self.stream(source, keep_frames=True, **options) as stream:
                    return _results.Results(stream)
            return _results.Results(stream)

    # --- the rest ---

    def __reduce__(self):
        raise TypeError("a pipeline is neither copied nor sent to another process: open one there")

    def close(self):
        """Ends all work and gives the memory back; results that are out stay good. May be called again."""
        self.release()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __repr__(self):
        return "<skitter.Pipeline %s on %s (%s): %s>" % (
            self.task, self.runtime, self.precision, " + ".join(os.path.basename(m["path"]) for m in self._about["models"]))

    def _repr_html_(self):
        import html
        rows = [("task", self.task), ("runtime", "%s, %s" % (self.runtime, self.precision)), ("device", self.device)]
        rows += [("model", m["path"]) for m in self._about["models"]]
        if self.names:
            rows.append(("classes", ", ".join(str(n) for n in self.names.values())))
        if self.keypoint_names:
            rows.append(("keypoints", ", ".join(self.keypoint_names)))
        return "<table>%s</table>" % "".join("<tr><th>%s</th><td>%s</td></tr>" % (k, html.escape(str(v))) for k, v in rows)


class Stream:
    """Results of a source, in order. Leave it by `with`, close(), or its end."""

    def __init__(self, inner, name, follow, progress):
        self._inner, self.source, self._follow = inner, name, follow
        self._native = inner if isinstance(inner, _native.Stream) else None
        self.info = (self._native.about() or {}) if self._native is not None else {}
        self._next = inner.__next__
        self._bar = _progress.Bar(progress, self.info.get("frames"))

    kind = property(lambda self: self.info.get("kind", "frames"), doc="'pictures', 'video', 'live'; 'frames' of an iterable")

    def __iter__(self):
        return self

    def __next__(self):
        try:
            result = self._next()
        except BaseException as e:
            self._end(isinstance(e, StopIteration))
            raise
        result.source = self.source
        if self._follow is not None:
            self._follow(result)
        self._bar.step()
        return result

    def __length_hint__(self):
        return max(0, self.info.get("frames", 0))

    def _end(self, whole):
        native, self._native = self._native, None
        if native is not None:
            left = native.take_unreadable()
            while left is not None:
                warnings.warn("%s was left out: %s" % left[1:], _errors.SkitterWarning, stacklevel=4)
                left = native.take_unreadable()
            status = native.status() or {}
            if whole and status.get("missing", 0) > 0:
                warnings.warn("%s: the video is cut off, %d frames that it promises are missing" %
                              (self.source, status["missing"]), _errors.SkitterWarning, stacklevel=4)
        self._bar.close()
        self._inner.close() if hasattr(self._inner, "close") else None
        _say()

    def close(self):
        """Stops reading; frames on their way are given up."""
        self._end(False)
        self._next = iter(()).__next__

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __del__(self):
        if getattr(self, "_native", None) is not None:
            self._native.close()

    def __repr__(self):
        return "<skitter.Stream of %s>" % (self.source or "frames")
