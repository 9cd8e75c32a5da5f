# SPDX-License-Identifier: Apache-2.0
"""Training data straight from skitter's own renderer (src/scene), built as a small library by the C compiler."""
import ctypes
import os
import pathlib
import subprocess

import numpy as np

SPECIES = ("fish", "fly", "mouse")
KEYPOINTS = ("nose", "neck", "centre", "tail_base", "tail_tip")
EDGES = ((0, 1), (1, 2), (2, 3), (3, 4))
ROOT = pathlib.Path(__file__).resolve().parent.parent


class _Settings(ctypes.Structure):
    _fields_ = [("species", ctypes.c_int), ("animals", ctypes.c_int32), ("width", ctypes.c_int32),
                ("height", ctypes.c_int32), ("rate", ctypes.c_double), ("seed", ctypes.c_uint64),
                ("behaviour", ctypes.c_uint32), ("hides", ctypes.c_int32), ("open_border", ctypes.c_bool)]


class _Frame(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("width", ctypes.c_int32), ("height", ctypes.c_int32),
                ("stride", ctypes.c_ssize_t), ("data", ctypes.c_void_p), ("index", ctypes.c_int64),
                ("time", ctypes.c_double)]


class _Animal(ctypes.Structure):
    _fields_ = [("track", ctypes.c_int32), ("species", ctypes.c_int32), ("box", ctypes.c_float * 4),
                ("obb", ctypes.c_float * 5), ("points", ctypes.c_float * 10), ("seen", ctypes.c_int32 * 5),
                ("visible", ctypes.c_float), ("length", ctypes.c_float)]


# one animal as a numpy record with the same layout
ANIMAL = np.dtype([("track", "i4"), ("species", "i4"), ("box", "f4", 4), ("obb", "f4", 5), ("points", "f4", (5, 2)),
                   ("seen", "i4", 5), ("visible", "f4"), ("length", "f4")])
assert ANIMAL.itemsize == ctypes.sizeof(_Animal)


def build(folder):
    """Compiles the renderer into `folder` unless it is there; returns the library's path."""
    path = pathlib.Path(folder) / "libskitter_scene.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        sources = sorted(ROOT.glob("src/scene/*.c")) + [ROOT / "src/base/memory.c", ROOT / "src/base/error.c"]
        part = path.with_suffix(f".{os.getpid()}")
        # -ffp-contract=off: the pictures must be those of the program, bit for bit
        subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-D_GNU_SOURCE", "-O3", "-ffp-contract=off",
                        "-fno-math-errno", "-shared", "-fPIC", f"-I{ROOT}/include", f"-I{ROOT}/src", "-o", str(part),
                        *map(str, sources), "-lpthread"], check=True)
        part.rename(path)
    return path


class Renderer:
    def __init__(self, library):
        self.lib = ctypes.CDLL(str(library))
        self.lib.sk_scene_open.argtypes = [ctypes.POINTER(_Settings), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
        self.lib.sk_scene_next.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Frame), ctypes.c_void_p]
        self.lib.sk_scene_next.restype = None
        self.lib.sk_scene_skip.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        self.lib.sk_scene_skip.restype = None
        self.lib.sk_scene_close.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
        self.lib.sk_scene_close.restype = None

    def frames(self, species, animals, width, height, seed, count, rate=30.0, skip=0, images=None):
        """`count` frames of one scene, `skip` left out between them: (images [n,h,w,3] u8, animals [n,animals])."""
        settings = _Settings(species, animals, width, height, rate, seed)
        scene = ctypes.c_void_p()
        if self.lib.sk_scene_open(ctypes.byref(settings), ctypes.byref(scene), None) != 0:
            raise ValueError(f"scene refused: {species} {animals} {width}x{height}")
        if images is None:
            images = np.empty((count, height, width, 3), np.uint8)
        truth = np.zeros((count, animals), ANIMAL)
        for i in range(count):
            frame = _Frame(1, width, height, 3 * width, images[i].ctypes.data, 0, 0.0)
            self.lib.sk_scene_next(scene, ctypes.byref(frame), truth[i].ctypes.data)
            if skip and i + 1 < count:
                self.lib.sk_scene_skip(scene, skip)
        self.lib.sk_scene_close(ctypes.byref(scene))
        return images, truth
