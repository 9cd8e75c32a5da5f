# SPDX-License-Identifier: Apache-2.0
"""Arrays and tensors of every shape, as frames: each is refused by an exception, or gives what its dense copy gives.
    fuzz_frames.py SECONDS [SEED]      needs numpy; a failure names the seed"""

import random
import sys
import time

import numpy as np
import skitter

import common

REFUSED = (ValueError, TypeError, BufferError, RuntimeError, skitter.Error)
KINDS = [np.uint8] * 8 + [np.uint16] * 3 + [np.int8, np.int16, np.uint32, np.float32, np.float16, np.bool_, np.dtype(">u2"), np.dtype("<u2")]


class Tensor:
    """An array that has DLPack only, as told: by an older program, on a device that is not there, wrong in some way."""

    def __init__(self, array, how):
        self.array, self.how = array, how

    def __dlpack_device__(self):
        if self.how == "no device":
            raise RuntimeError("no device")
        return {"gpu": (2, 0), "far": (77, 3), "odd": "ab", "short": ()}.get(self.how, (1, 0))

    def __dlpack__(self, **given):
        if self.how == "old" and given:
            raise TypeError("an older one")
        if self.how == "refuses":
            raise BufferError("not now")
        if self.how == "number":
            return 3
        capsule = self.array.__dlpack__()
        if self.how == "used":
            np.from_dlpack(type("Once", (), {"__dlpack__": lambda s, **k: capsule, "__dlpack_device__": lambda s: (1, 0)})())
        return capsule


def memory(rng, frame, kind):
    """An array of some kind with a picture in it, perhaps where numbers of its size should not begin."""
    channels = rng.choice([1, 2, 3, 3, 3, 4, 4, 5])
    height, width = rng.choice([1, 2, 7, 60, 240]), rng.choice([1, 2, 9, 80, 320])
    picked = np.resize(frame[:height, :width], (height, width, channels)).astype(kind)
    if rng.random() < 0.3:
        raw = np.zeros(picked.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(picked.tobytes(), np.uint8)
        picked = raw[1:].view(kind).reshape(picked.shape)
    if rng.random() < 0.4:
        picked = picked[:, :, rng.randrange(channels)]
    return picked


def view(rng, array):
    """The same memory in another order."""
    for _ in range(rng.randrange(4)):
        what = rng.randrange(7)
        if what == 0:
            array = array[tuple(slice(None, None, rng.choice([1, 1, -1, 2, -3])) for _ in range(array.ndim))]
        elif what == 1 and array.ndim:
            axis = rng.randrange(array.ndim)
            array = np.take(array, [], axis) if rng.random() < 0.1 else np.moveaxis(array, axis, rng.randrange(array.ndim))
        elif what == 2 and array.ndim:
            shape = [n if n != 1 or rng.random() < 0.5 else rng.choice([3, 4, 50]) for n in array.shape]
            array = np.broadcast_to(array, shape)
        elif what == 3 and array.ndim:
            array = array[:1] if rng.random() < 0.5 else array[rng.randrange(array.shape[0]):] if array.shape[0] else array
        elif what == 4:
            array = array[None] if rng.random() < 0.3 else array[..., None]
        elif what == 5 and array.ndim > 1:
            array = array[:, rng.randrange(max(array.shape[1], 1)):]
        elif what == 6:
            array = array.copy(order=rng.choice("CF"))
    return array


def is_picture(a):
    channels = a.shape[2] if a.ndim == 3 else 1
    return (a.ndim in (2, 3) and a.dtype in (np.dtype("uint8"), np.dtype("uint16")) and channels in (1, 3, 4) and
            min(a.shape[:2]) > 0 and (a.dtype.itemsize == 1 or channels == 1))


def numbers(pipeline, frame, order):
    """What is found, as bytes; None: refused."""
    try:
        return pipeline(frame, order).obb.xywhr.tobytes()
    except REFUSED as e:
        assert str(e), "a refusal without a word"
        return None


def one(rng, pipeline, frame):
    a = view(rng, memory(rng, frame, rng.choice(KINDS)))
    order = rng.choice(["rgb", "rgb", "bgr", "rgba", "gray", "auto"])
    asked = is_picture(a)
    wanted = numbers(pipeline, np.array(a, order="C"), order) if asked else None
    assert (wanted is not None) == asked, "a dense array %s of %s was judged wrongly" % (a.shape, a.dtype)
    how = rng.choice(["array", "array", "array", "view", "old", "new", "gpu", "far", "odd", "short", "no device", "refuses", "number", "used"])
    if how == "array":
        assert numbers(pipeline, a, order) == wanted, "an array %s %s of %s" % (a.shape, a.strides, a.dtype)
    elif how == "view":
        assert numbers(pipeline, memoryview(a), order) == wanted, "a memoryview %s %s of %s" % (a.shape, a.strides, a.dtype)
    else:
        got = numbers(pipeline, Tensor(a, how), order)
        if how not in ("old", "new", "gpu", "far"):  # what lies elsewhere by __dlpack_device__ alone may be taken by its capsule
            assert got is None, "a tensor that is wrong (%s) was taken" % how
        elif got is not None and order in ("rgb", "auto"):
            assert got == wanted, "a tensor %s %s of %s" % (a.shape, a.strides, a.dtype)


def main():
    seconds = float(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()) // 86400 * 1000000
    frame = np.array(common.frames()[2])
    end, count = time.monotonic() + seconds, 0
    with skitter.Pipeline(common.OBB, imgsz=64, conf=0.001, quick_open=True) as pipeline:
        while time.monotonic() < end:
            try:
                one(random.Random(first + count), pipeline, frame)
            except BaseException:
                print("seed %d" % (first + count), file=sys.stderr)
                raise
            count += 1
    print("%d arrays and tensors, seeds from %d" % (count, first))


main()
