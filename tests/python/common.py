# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: a short scene as video and pictures, made once."""

import os
import subprocess

import skitter

WORK = os.environ.get("SKITTER_TEST_WORK", ".")
SOURCE = os.environ.get("SKITTER_TEST_SOURCE", ".")
OBB = skitter.demo_model("demo-obb.pt")
POSE = skitter.demo_model("demo-pose.pt")
BOTTOMUP = os.path.join(SOURCE, "share", "models", "demo-bottomup")

try:
    import numpy
except ImportError:
    numpy = None


def optional(module):
    """The module, or None."""
    try:
        return __import__(module)
    except ImportError:
        return None


def video():
    path = os.path.join(WORK, "scene.mp4")
    if not os.path.exists(path):
        subprocess.run([skitter.program(), "scene", "-q", "-o", path, "--seconds", "0.5", "--size", "320x240", "--animals", "3",
                        "--truth", os.path.join(WORK, "truth.csv")], check=True, stdout=subprocess.DEVNULL)
    return path


def has_video():
    try:
        video()
        return True
    except subprocess.CalledProcessError:
        return False


def frames():
    """The video's frames as arrays [240, 320, 3] of RGB."""
    with skitter.Pipeline(OBB, imgsz=64, quick_open=True) as p:
        return [memoryview(r._frame) for r in p.stream(video(), keep_frames=True)]
