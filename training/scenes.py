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


# one animal as a numpy record with the same layout
ANIMAL = np.dtype([("track", "i4"), ("species", "i4"), ("box", "f4", 4), ("obb", "f4", 5), ("points", "f4", (5, 2)),
                   ("seen", "i4", 5), ("visible", "f4"), ("length", "f4")])


def build(folder):
    """Compiles the renderer into `folder` unless it is there; returns the library's path."""
    path = pathlib.Path(folder) / "libskitter_scene.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        sources = [ROOT / "training/renderer.c"] + sorted(ROOT.glob("src/scene/*.c")) + [ROOT / "src/base/memory.c", ROOT / "src/base/error.c"]
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
        self.lib.renderer_animal_size.restype = ctypes.c_size_t
        assert self.lib.renderer_animal_size() == ANIMAL.itemsize
        c, i32 = ctypes, ctypes.c_int32
        self.lib.renderer_frames.argtypes = [i32, i32, i32, i32, c.c_double, c.c_uint64, i32, i32, c.c_void_p, c.c_void_p]

    def frames(self, species, animals, width, height, seed, count, rate=30.0, skip=0, images=None):
        """`count` frames of one scene, `skip` left out between them: (images [n,h,w,3] u8, animals [n,animals])."""
        if images is None:
            images = np.empty((count, height, width, 3), np.uint8)
        assert images.flags.c_contiguous and images.dtype == np.uint8 and images.shape == (count, height, width, 3)
        truth = np.zeros((count, animals), ANIMAL)
        if self.lib.renderer_frames(species, animals, width, height, rate, seed, count, skip, images.ctypes.data,
                                    truth.ctypes.data) != 0:
            raise ValueError(f"scene refused: {species} {animals} {width}x{height}")
        return images, truth
