# SPDX-License-Identifier: Apache-2.0
"""Settings by the command line's names (with _ for -), as the library takes them."""

import difflib
import operator
import os

from . import _errors, _native

_SWITCH = {"off": 0, "on": 1, "auto": 2, False: 0, True: 1, None: 2}
_RECT = {"auto": 0, "on": 1, "off": 2, True: 1, False: 2}
_NMS = {"auto": 0, "on": 1, "off": 2, True: 1, False: 2}
_REFINE = {"integral": 0, "local": 1, "none": 2, None: 2}
_PLAIN = {  # ours -> the library's
    "conf": "confidence", "iou": "iou", "max_det": "max_det", "agnostic": "agnostic", "batch": "batch", "threads": "threads",
    "devices": "devices", "precision": "precision", "peak_threshold": "peak_threshold", "max_instances": "max_instances",
    "allow_failover": "allow_failover", "depth": "depth", "batch_wait_ms": "batch_wait_ms", "quick_open": "quick_open",
    "check_every": "check_every", "pcc_min": "pcc_min", "crop_batch": "crop_batch",
    "centroid_peak_threshold": "centroid_peak_threshold", "integral_patch_size": "integral_patch_size",
    "max_edge_length_ratio": "max_edge_length_ratio", "dist_penalty_weight": "dist_penalty_weight", "n_points": "n_points",
    "min_line_scores": "min_line_scores", "min_instance_peaks": "min_instance_peaks",
    "filter_overlapping_threshold": "overlap_threshold", "filter_min_visible_nodes": "min_visible_nodes",
    "filter_min_visible_node_fraction": "min_visible_node_fraction", "filter_min_mean_node_score": "min_mean_node_score",
    "filter_min_instance_score": "min_instance_score", "filter_min_centroid_distance": "min_centroid_distance",
}
_OTHERS = ("imgsz", "rect", "nms", "classes", "obb_form", "refinement", "filter_overlapping", "filter_overlapping_method",
           "engine_option", "execution_provider", "openvino_device", "openvino_hint", "no_winograd", "crop_turned",
           "mask_neighbours")
_YOLO = {"conf", "iou", "max_det", "agnostic", "classes", "rect", "nms"}
_SLEAP = {"peak_threshold", "max_instances", "centroid_peak_threshold", "refinement", "integral_patch_size",
          "max_edge_length_ratio", "dist_penalty_weight", "n_points", "min_line_scores", "min_instance_peaks"} | {
              n for n in _PLAIN if n.startswith("filter_")} | {"filter_overlapping", "filter_overlapping_method"}
_FIRST_SLEAP_TASK = 6
KNOWN = tuple(_PLAIN) + _OTHERS


def _one_of(name, value, words):
    try:
        return words[value]
    except (KeyError, TypeError):
        known = ", ".join(str(w) for w in words if isinstance(w, str))
        raise _errors.ArgumentError("%s: %r is none of %s" % (name, value, known)) from None


def _size(value):
    try:
        both = [int(v) for v in value.lower().split("x")] if isinstance(value, str) else (
            [operator.index(v) for v in value] if hasattr(value, "__iter__") else [operator.index(value)])
    except (TypeError, ValueError):
        both = []
    if len(both) not in (1, 2):
        raise _errors.ArgumentError("imgsz: %r is neither a number nor height and width" % (value,))
    return both[0], both[-1]


def _number(name, value):
    """What the library takes as a number; a text is none."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        float(value)
    except (TypeError, ValueError):
        raise _errors.ArgumentError("%s: %r is no number" % (name, value)) from None
    return value


def _options(given):
    parts = []
    options = given.pop("engine_option", None)
    if isinstance(options, dict):
        parts += ["%s=%s" % (k, ("on" if v else "off") if isinstance(v, bool) else v) for k, v in options.items()]
    elif isinstance(options, str):
        parts.append(options)
    elif options is not None:
        parts += [str(o) for o in options]
    for name, key in (("execution_provider", "provider"), ("openvino_device", "device"), ("openvino_hint", "hint")):
        value = given.pop(name, None)
        if value is not None:
            parts.append("%s=%s" % (key, value))
    if given.pop("no_winograd", False):
        parts.append("winograd=off")
    return ",".join(parts)


def _classes(value, model):
    """Numbers of classes; names are looked up in the model."""
    if isinstance(value, (str, int)):
        value = [value] if isinstance(value, int) else [v.strip() for v in value.split(",")]
    out, names = [], None
    for v in value:
        if isinstance(v, str) and not v.lstrip("-").isdigit():
            names = names if names is not None else _native.describe_model(model)[1]
            if v not in names:
                raise _errors.ArgumentError("--classes: '%s' is no class of %s, which has %d" %
                                            (v, os.fsdecode(model), len(names)))
            v = names.index(v)
        out.append(int(v))
    return out


def _refuse_meaningless(given, models):
    """As the command line does: a setting that changes nothing is a mistake."""
    asked = [n for n in given if n in _YOLO or n in _SLEAP]
    if not asked:
        return
    sleap = [_native.describe_model(m)[0] >= _FIRST_SLEAP_TASK for m in models]
    which = " and ".join(os.fsdecode(m) for m in models)
    for name in asked:
        if name in _YOLO and all(sleap) or name in _SLEAP and not any(sleap):
            other = "SLEAP" if name in _YOLO else "YOLO"
            raise _errors.ArgumentError("--%s means nothing here: %s is a %s model, which has no such setting\nleave it out" %
                                        (name.replace("_", "-"), which, other))


def native_settings(given, models):
    """The library's settings of keywords; raises ArgumentError for names that are none."""
    for name in given:
        if name not in KNOWN:
            close = difflib.get_close_matches(name, KNOWN, 1)
            raise _errors.ArgumentError("there is no setting '%s'%s" % (name, "; did you mean '%s'?" % close[0] if close else ""))
    given = {k: v for k, v in given.items() if v is not None}
    _refuse_meaningless(given, models)
    out = {}
    options = _options(given)
    if options:
        out["options"] = os.fsencode(options)
    for name, value in given.items():
        if name in ("devices", "precision"):
            out[name] = os.fsencode(value)
        elif name in _PLAIN:
            out[_PLAIN[name]] = _number(name, value)
    if "imgsz" in given:
        out["height"], out["width"] = _size(given["imgsz"])
    if "rect" in given:
        out["rect"] = _one_of("rect", given["rect"], _RECT)
    if "nms" in given:
        out["heads"] = _one_of("nms", given["nms"], _NMS)
    if "classes" in given:
        out["classes"] = _classes(given["classes"], models[0])
    if "obb_form" in given:
        out["obb_quarter"] = _one_of("obb_form", given["obb_form"], {"long-side": 0, "quarter": 1})
    if "refinement" in given:
        out["refinement"] = _one_of("refinement", given["refinement"], _REFINE)
    if given.get("filter_overlapping"):
        out["overlap"] = _one_of("filter_overlapping_method", given.get("filter_overlapping_method", "iou"), {"iou": 1, "oks": 2})
    elif "filter_overlapping_method" in given or "filter_overlapping_threshold" in given:
        raise _errors.ArgumentError("--filter-overlapping-%s does nothing without --filter-overlapping" %
                                    ("method" if "filter_overlapping_method" in given else "threshold"))
    for name in ("crop_turned", "mask_neighbours"):
        if name in given:
            out[name] = _one_of(name, given[name], _SWITCH)
    return out


_TO_THE_END = -1


def _frame_number(value):
    if type(value).__name__ in ("bool", "bool_"):  # numpy's, too: of a mask every frame would be 0 or 1
        raise TypeError
    number = operator.index(value)
    if number < 0:
        raise _errors.ArgumentError("frames: %d: frames are counted from 0, and not from the end, which is not known before" % number)
    return number


def _part_of_text(text):
    try:
        if ":" in text:
            first, last, step = [b.strip() for b in text.split(":")] + ([""] if text.count(":") == 1 else [])
            return _frame_number(int(first or 0)), _frame_number(int(last)) if last else _TO_THE_END, int(step or 1)
        if "-" in text.strip()[1:]:
            first, last = text.split("-")
            return int(first), int(last) + 1, 1
        return _frame_number(int(text)), int(text) + 1, 1
    except _errors.Error:
        raise
    except ValueError:
        raise _errors.ArgumentError("--frames: '%s' is neither A, A-B nor A:B:S" % text) from None


def _part(given):
    if isinstance(given, str):
        return _part_of_text(given)
    number = _frame_number(given)
    return number, number + 1, 1


def frame_ranges(frames):
    """(first, last, step) of each part; last -1: to the end. Takes '0-9,20,30:60:5', a slice, a range, or a list of numbers."""
    try:
        if isinstance(frames, slice):
            last = _TO_THE_END if frames.stop is None else _frame_number(frames.stop)
            return [(_frame_number(frames.start or 0), last, frames.step or 1)]
        if isinstance(frames, range) and len(frames):
            return [(_frame_number(frames.start), frames.stop, frames.step)]
        if not hasattr(frames, "__iter__"):
            return [_part(frames)]
        parts = [_part(p) for p in (frames.split(",") if isinstance(frames, str) else frames)]
    except TypeError:
        raise _errors.ArgumentError("frames: numbers of frames are wanted, '0-9,20', a range or a slice, not %.60r" % (frames,)) from None
    return sorted(parts) or [(0, 0, 1)]  # none chosen is none, not all
