# SPDX-License-Identifier: Apache-2.0
"""Settings by the command line's names (with _ for -), as the library takes them."""

import difflib
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
    if isinstance(value, str):
        value = [int(v) for v in value.lower().split("x")]
    if isinstance(value, int):
        return value, value
    value = [int(v) for v in value]
    if len(value) == 1:
        value *= 2
    if len(value) != 2:
        raise _errors.ArgumentError("imgsz: %r is neither a number nor height and width" % (value,))
    return value[0], value[1]


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
            out[_PLAIN[name]] = value
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


def frame_ranges(frames):
    """(first, last, step) of each part; last -1: to the end. Takes '0-9,20,30:60:5', a slice, a range, or a list of numbers."""
    if isinstance(frames, slice):
        return [(frames.start or 0, -1 if frames.stop is None else frames.stop, frames.step or 1)]
    if isinstance(frames, range):
        return [(frames.start, frames.stop, frames.step)]
    if isinstance(frames, int):
        return [(frames, frames + 1, 1)]
    out = []
    for part in frames.split(",") if isinstance(frames, str) else frames:
        if not isinstance(part, str):
            out.append((int(part), int(part) + 1, 1))
            continue
        try:
            if ":" in part:
                bits = [b.strip() for b in part.split(":")]
                first = int(bits[0] or 0)
                last = int(bits[1]) if bits[1] else -1
                out.append((first, last, int(bits[2]) if len(bits) > 2 and bits[2] else 1))
            elif "-" in part.strip()[1:]:
                first, last = part.split("-")
                out.append((int(first), int(last) + 1, 1))
            else:
                out.append((int(part), int(part) + 1, 1))
        except (ValueError, IndexError):
            raise _errors.ArgumentError("--frames: '%s' is neither A, A-B nor A:B:S" % part) from None
    return sorted(out)
