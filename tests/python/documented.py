# SPDX-License-Identifier: Apache-2.0
"""What docs/python.md shows does what it says: every line of its tables' right columns is run, in order, with small models under the
names that stand there; so is its first example."""

import os
import re
import shutil
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402
import skitter  # noqa: E402


def lay_out(folder):
    """The files that the page talks of."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    shutil.copy(common.video(), "video.mp4")
    shutil.copy(os.path.join(common.WORK, "truth.csv"), "truth.csv")
    shutil.copy(common.POSE, "yolo11n-pose.pt")
    shutil.copytree(common.BOTTOMUP, "bottomup", dirs_exist_ok=True)
    subprocess.run([skitter.program(), "predict", "-q", "video.mp4", "-m", common.OBB, "-o", "run2"], check=True)
    with skitter.Pipeline(common.OBB, imgsz=64, quick_open=True) as p:
        first = next(iter(p.stream("video.mp4", keep_frames=True)))
    with open("bus.jpg", "wb") as f:  # what a picture is, its first bytes say
        from skitter import _picture
        f.write(_picture.png(bytes(memoryview(first._frame)), 320, 240, 3))
    return memoryview(first._frame)


def lines(page):
    """(what others write, code on the right) of the two tables."""
    for row in page.splitlines():
        cells = [c.strip() for c in row.strip().strip("|").split(" | ")]
        code = re.match(r"`([^`]+)`", cells[1]) if row.startswith("| `") and len(cells) == 2 else None
        if code and re.search(r"[=(.]", code.group(1)) and ("skitter" in code.group(1) or re.match(
                r"(for r in|r\.|results?\b|model\b|p\.)", code.group(1))):
            yield cells[0], code.group(1)


def main():
    page = open(os.path.join(common.SOURCE, "docs", "python.md"), encoding="utf-8").read()
    frame = lay_out(os.path.join(common.WORK, "documented"))
    space = {"skitter": skitter, "frame": frame if common.numpy is None else common.numpy.asarray(frame)}
    ran = 0
    if common.numpy is None:
        print("docs/python.md: there is no numpy, so its lines were not run")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skitter.SkitterWarning)
        block = re.search(r"```python\n(.*?)```", page, re.S).group(1)
        with open(os.devnull, "w") as nowhere:
            out, sys.stdout = sys.stdout, nowhere
            try:
                exec(compile(block, "docs/python.md", "exec"), space)
            finally:
                sys.stdout = out
        for theirs, code in lines(page):
            if '"centroid", "centered"' in code:  # two folders of SLEAP's: where the reference data is
                data = os.path.join(common.SOURCE, "..", "shared", "data", "sleap")
                pair = [os.path.join(data, "nn", n) for n in ("minimal_instance_centroid", "minimal_instance_centered_instance")]
                if not all(os.path.isdir(p) for p in pair):
                    continue
                code = code.replace('["centroid", "centered"]', repr(pair))
            try:
                exec(compile(code, "docs/python.md", "exec"), space)
            except Exception as e:
                sys.exit("docs/python.md: %s\n  in place of %s\n  %s: %s" % (code, theirs, type(e).__name__, e))
            ran += 1
    if ran < 25:
        sys.exit("docs/python.md: only %d lines were found in its tables" % ran)
    print("docs/python.md: %d lines ran" % ran)


if __name__ == "__main__":
    main()
