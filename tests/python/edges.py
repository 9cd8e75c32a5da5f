# SPDX-License-Identifier: Apache-2.0
"""The Python package where people come to its edges: forks, nothing found, nothing chosen, frames that are none."""

import copy
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
import unittest
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402
import skitter  # noqa: E402
from common import OBB, POSE, numpy as np  # noqa: E402

needs_numpy = unittest.skipIf(np is None, "there is no numpy")

# Everything that a pipeline has given out, used and let go in a fork of its process, which ends as programs do.
FORKED = """
import gc, os, signal, sys, skitter
frame, video = memoryview(bytes(64 * 64)).cast("B", (64, 64)), sys.argv[2]
p = skitter.Pipeline(sys.argv[1], imgsz=64, conf=0.01, quick_open=True)
s = p.stream(video)
r = next(s)
column, ticket = memoryview(r._column(4)), p.submit(frame, "rgb", 0, 0)
scores = column.tolist()
if os.fork() == 0:
    signal.alarm(20)
    for call in (lambda: p(frame), lambda: p([frame]), lambda: next(s), lambda: p.stream(video), p.stats, ticket.result):
        try:
            call()
            sys.exit(3)
        except skitter.UnsupportedError as e:
            assert "open a Pipeline in the new process" in str(e), e
    assert column.tolist() == scores and len(r.instances) == len(scores)
    s.close()
    p.close()
    del column, ticket, r, s, p
    gc.collect()
    with skitter.Pipeline(sys.argv[1], imgsz=64, quick_open=True) as own:
        own(frame)
    sys.exit(0)
code = os.waitstatus_to_exitcode(os.wait()[1]) if hasattr(os, "waitstatus_to_exitcode") else os.wait()[1]
assert len(list(s)) > 5 and ticket.result().ok
sys.exit(code)
"""


class Edges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.frames = common.frames()
        cls.obb = skitter.Pipeline(OBB, conf=0.4, imgsz=320)
        cls.pose = skitter.Pipeline(POSE, conf=0.4, imgsz=320)
        cls.nothing = cls.pose(memoryview(bytes(64 * 64)).cast("B", (64, 64)))

    def chosen(self, frames):
        return [r.index for r in self.obb.stream(common.video(), frames=frames)]

    def test_a_fork_is_told(self):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, OBB, common.video()], timeout=60)
        self.assertEqual(done.returncode, 0)

    def test_frames_that_are_chosen(self):
        for none in ([], (), range(0), range(0, -1), range(5, 5), slice(0, 0)):
            self.assertEqual(self.chosen(none), [], none)
        self.assertEqual(self.chosen([3, 1, 1]), [1, 3])
        self.assertEqual(self.chosen(2), [2])
        self.assertEqual(self.chosen("1,3:8:2"), [1, 3, 5, 7])
        self.assertEqual(self.chosen(slice(9, None))[:2], [9, 10])
        for wrong in (slice(0, -1), slice(-3, None), [-1], "-3", "0:-1", [True, False], [1.5], 1.5, "1:2:3:4", "", "1,,2"):
            with self.subTest(wrong), self.assertRaisesRegex(skitter.ArgumentError, "frames"):
                self.chosen(wrong)
        if np is not None:
            self.assertEqual(self.chosen(np.flatnonzero([0, 1, 1])), [1, 2])
            self.assertEqual(self.chosen(np.int64(4)), [4])
            with self.assertRaisesRegex(skitter.ArgumentError, "numbers of frames"):
                self.chosen(np.array([True, False]))

    def test_options_of_sources_are_refused_for_frames(self):
        for option in ({"frames": "0"}, {"loop": 2}, {"strict": True}, {"hwaccel": "cuda"}):
            with self.assertRaisesRegex(skitter.ArgumentError, "means nothing for frames"):
                self.obb.stream(self.frames, **option)
        self.assertEqual(len(self.obb(self.frames[:2], keep_frames=True)), 2)

    def test_nothing_found(self):
        self.assertEqual(len(self.nothing), 0)
        some = skitter.Results(self.pose.stream(common.video(), frames="0-1"))
        self.assertGreater(len(some[0]), 0)
        if np is not None and common.optional("pandas"):
            table, full = self.nothing.to_pandas(), some.to_pandas()
            self.assertEqual(list(table.columns), list(full.columns))
            self.assertEqual([str(t) for t in table.dtypes], [str(t) for t in full.dtypes])
            self.assertEqual(len(table[table["score"] > 0.5]), 0)
            self.assertIn("score", skitter.Results().to_pandas().columns)
        if np is not None and common.optional("sleap_io"):
            self.assertEqual(self.nothing.to_sleap_io().skeletons[0].node_names, self.pose.keypoint_names)
        if np is not None and common.optional("supervision"):
            self.assertEqual(self.nothing.to_supervision().data["class_name"].dtype.kind, "U")

    @needs_numpy
    def test_tables_have_the_columns_of_files(self):
        if not common.optional("pandas"):
            self.skipTest("there is no pandas")
        for model, pipeline in ((OBB, self.obb), (POSE, self.pose)):
            run = skitter.predict(common.video(), model, out=os.path.join(common.WORK, "columns_" + pipeline.task), frames="0")
            with open(run.path("results.csv"), encoding="utf-8") as f:
                self.assertEqual(f.readline().strip().split(","), list(pipeline(self.frames[0]).to_pandas().columns))

    def test_parts_of_results_are_results(self):
        results = self.obb(self.frames[:4])
        self.assertIsInstance(results[1:], skitter.Results)
        self.assertEqual([r.index for r in results[::2] + results[1:2]], [0, 2, 1])
        self.assertIsInstance(results[:1] + results[1:], skitter.Results)
        self.assertIsInstance(results[0], skitter.Result)

    @needs_numpy
    def test_frames_that_are_none(self):
        frame = np.array(self.frames[0])
        grey = frame[:, :, 1].astype(np.uint16) << 8
        for wrong, remedy in ((frame / 255, r"float64 .*astype\('uint8'\)"), (frame.transpose(2, 0, 1), "Channels come last"),
                              (frame[None], "pipeline\\(list"), (frame[:0], "no pixels"), (frame > 3, "mask"),
                              (grey.astype(">u2"), "astype\\('uint16'\\)"), (frame.astype(np.int64), "int64")):
            with self.assertRaisesRegex(skitter.ArgumentError, remedy):
                self.obb(wrong)

    def test_pillow_of_sixteen_bits(self):
        if np is None or not common.optional("PIL"):
            self.skipTest("there is no PIL")
        from PIL import Image
        grey = np.array(self.frames[2])[:, :, 1].astype(np.uint16) << 8
        picture = Image.fromarray(grey)
        self.assertTrue(picture.mode.startswith("I;16"))
        wanted = self.obb(grey).obb.xywhr
        self.assertGreater(len(wanted), 0)
        self.assertTrue(np.array_equal(self.obb(picture).obb.xywhr, wanted))
        with self.assertRaisesRegex(skitter.ArgumentError, "mode 'F'"):
            self.obb(Image.fromarray(grey.astype(np.float32)))

    def test_words_of_refusals(self):
        cases = [
            ("neither a path", lambda: skitter.Pipeline([])), ("neither a path", lambda: skitter.Pipeline(None)),
            ("no name", lambda: skitter.Pipeline(OBB, 3)), ("conf: 'a' is no number", lambda: skitter.Pipeline(OBB, conf="a")),
            ("imgsz", lambda: skitter.Pipeline(OBB, imgsz="big")), ("imgsz", lambda: skitter.Pipeline(OBB, imgsz=(1, 2, 3))),
            ("zero byte", lambda: skitter.Pipeline(OBB + "\0x")), ("zero byte", lambda: self.obb.stream(common.video() + "\0x")),
        ]
        for text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(skitter.ArgumentError, text):
                call()
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "result.numpy"):
                call(self.nothing)
            with self.assertRaisesRegex(TypeError, "open one there"):
                call(self.obb)

    def test_ctrl_c_reaches_the_program(self):
        """Once, whether Python alone is told (kill, some notebooks) or both are (terminals): it ends what it began."""
        code = ("import skitter, sys\ntry:\n  skitter.predict(sys.argv[1], sys.argv[2], out=sys.argv[3], loop=100000, imgsz=64)\n"
                "except KeyboardInterrupt:\n  sys.exit(7)\n")
        for name, tell in (("alone", os.kill), ("both", os.killpg)):
            out = os.path.join(common.WORK, "heard_" + name)
            child = subprocess.Popen([sys.executable, "-c", code, common.video(), OBB, out], start_new_session=True)
            until = time.monotonic() + 20
            while not os.path.exists(os.path.join(out, "results.csv")) and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(0.2)
            tell(child.pid, signal.SIGINT)
            self.assertEqual(child.wait(20), 7)
            self.assertEqual(skitter.Run(out, {}).info["state"], "stopped")

    def test_generators(self):
        frame = bytearray(bytes(self.frames[0]))

        def filled_anew():
            for f in self.frames[:6]:
                frame[:] = bytes(f)
                yield memoryview(frame).cast("B", (240, 320, 3)) if np is None else np.frombuffer(frame, np.uint8).reshape(240, 320, 3)

        def breaks(n):
            yield from self.frames[:n]
            raise OSError("the camera is gone")

        if np is not None:
            with self.assertWarnsRegex(skitter.SkitterWarning, "yield copies"):
                list(self.obb.stream(filled_anew()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(len(self.obb([self.frames[0]] * 4)), 4)
            self.assertEqual(len(list(self.obb.stream(iter(self.frames)))), len(self.frames))
        for n in (0, 1, 7):
            seen = []
            with self.assertRaisesRegex(OSError, "camera is gone"):
                for r in self.obb.stream(breaks(n)):
                    seen.append(r.index)
            self.assertEqual(seen, list(range(n)))
        seen = []
        with self.assertRaises(skitter.ArgumentError):
            for r in self.obb.stream(self.frames[:3] + [bytearray(7)]):
                seen.append(r.index)
        self.assertEqual(seen, [0, 1, 2])

    def test_runs(self):
        folder = os.path.join(common.WORK, "several")
        os.makedirs(folder, exist_ok=True)
        for name in ("a.mp4", "b.mp4"):
            shutil.copy(common.video(), os.path.join(folder, name))
        runs = skitter.predict(folder, OBB, out=os.path.join(common.WORK, "several_runs"), frames=range(2), imgsz=64, format="jsonl")
        self.assertEqual([os.path.basename(r.folder) for r in runs], ["a", "b"])
        self.assertEqual(runs[0].summary["frames"], 2)
        with self.assertRaisesRegex(skitter.NotFoundError, "format='coco'"):
            runs[0].to_coco()
        with self.assertRaisesRegex(skitter.ArgumentError, "arrays are for skitter.Pipeline"):
            skitter.predict(self.frames[0], OBB)

    def test_switches_of_commands(self):
        from skitter import _program
        self.assertEqual(_program.options_of({"rect": False, "nms": True, "quiet": True, "overwrite": False}),
                         ["--rect", "off", "--nms", "on", "--quiet"])


if __name__ == "__main__":
    if not common.has_video():
        print("skipped: no video can be written here")
        sys.exit(0)
    unittest.main(verbosity=1)
