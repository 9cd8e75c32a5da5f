# SPDX-License-Identifier: Apache-2.0
"""What takes longer: ten thousand frames without a leak, by tracemalloc and by the process's memory; arrays, streams and threads."""

import gc
import os
import sys
import threading
import tracemalloc

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402
import skitter  # noqa: E402

FRAMES = int(os.environ.get("SKITTER_ENDURANCE_FRAMES", "10000"))


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def rounds(pipeline, frames, n):
    """n frames: half by calls, half by streams, some left early, some of them followed, with views that come and go."""
    for k in range(n // 2):
        result = pipeline(frames[k % len(frames)])
        view = memoryview(result._column(2))
        del result
        assert view.ndim == 2
    left = n // 2
    while left > 0:
        with pipeline.stream(common.video(), loop=20, track=left % 2 == 0) as stream:
            for seen, r in enumerate(stream, 1):
                left -= 1
                if left <= 0 or seen == 130:
                    break


def at_once(pipeline, frames, n):
    """n frames by three threads."""
    threads = [threading.Thread(target=rounds, args=(pipeline, frames, n // 4)) for _ in range(2)]
    for t in threads:
        t.start()
    rounds(pipeline, frames, n // 2)
    for t in threads:
        t.join()


def main():
    frames = common.frames()
    pipeline = skitter.Pipeline(common.OBB, imgsz=64, conf=0.05)
    at_once(pipeline, frames, FRAMES // 2)  # what threads and the C library keep for themselves is there then
    gc.collect()
    tracemalloc.start()
    before, held = resident(), tracemalloc.get_traced_memory()[0]
    at_once(pipeline, frames, FRAMES)
    gc.collect()
    grown, kept = resident() - before, tracemalloc.get_traced_memory()[0] - held
    tracemalloc.stop()
    print("%d frames: %+.1f KB of Python's objects, %+.1f MB of memory" % (FRAMES, kept / 1e3, grown / 1e6))
    for n in range(20):  # pipelines that come and go
        skitter.Pipeline(common.OBB, imgsz=64, quick_open=True)(frames[0])
    if kept > 100e3 or grown > 6e6:
        sys.exit("memory grew")


if __name__ == "__main__":
    if os.environ.get("MALLOC_ARENA_MAX") != "1":  # else the C library keeps memory for every thread that there was
        os.execve(sys.executable, [sys.executable] + sys.argv, dict(os.environ, MALLOC_ARENA_MAX="1"))
    main()
