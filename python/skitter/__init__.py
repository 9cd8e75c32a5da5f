# SPDX-License-Identifier: Apache-2.0
"""skitter: finds, poses and follows animals in video, on whatever compute the machine has.

    import skitter
    pipeline = skitter.Pipeline("yolo11n-pose.pt")          # or a SLEAP folder, or two models
    result = pipeline(frame)                                # numpy, torch, PIL …
    for result in pipeline.stream("video.mp4"):
        print(result.keypoints.xy)                          # numpy, without a copy

`skitter.track`, `predict`, `export`, `eval`, `runtimes`, `doctor` and `demo` are the program's commands. docs/python.md has more.
"""

from . import _native
from ._environment import model as demo_model
from ._environment import program
from ._errors import (ArgumentError, BusyError, CancelledError, ComputeError, Error, FormatError, IncompleteError,
                      InputOutputError, InternalError, LimitError, MismatchError, NotFoundError, OutOfMemoryError,
                      SkitterWarning, TimeoutError, UnsupportedError)
from ._pipeline import Pipeline, Stream, Tracker
from ._program import Demo, Diagnosis, Run, demo, doctor, eval, export, predict, runtimes, track
from ._results import OBB, Boxes, Instance, Keypoints, Result, Results

__version__ = _native.version
__all__ = [
    "ArgumentError", "Boxes", "BusyError", "CancelledError", "ComputeError", "Demo", "Diagnosis", "Error", "FormatError",
    "IncompleteError", "InputOutputError", "Instance", "InternalError", "Keypoints", "LimitError", "MismatchError",
    "NotFoundError", "OBB", "OutOfMemoryError", "Pipeline", "Result", "Results", "Run", "SkitterWarning", "Stream",
    "TimeoutError", "Tracker", "UnsupportedError", "demo", "demo_model", "doctor", "eval", "export", "predict", "program",
    "runtimes", "track",
]
