# SPDX-License-Identifier: Apache-2.0
"""The Python package as its users call it. Parts that need numpy, pandas or others skip where they are absent."""

import ast
import csv
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402
import skitter  # noqa: E402
from common import OBB, POSE, WORK, numpy as np, optional  # noqa: E402

needs_numpy = unittest.skipIf(np is None, "there is no numpy")


def close(a, b, tolerance=1e-4):
    return all(abs(x - y) <= tolerance * max(1, abs(y)) for x, y in zip(a, b)) and len(a) == len(b)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.frames = common.frames()
        cls.pose = skitter.Pipeline(POSE, conf=0.4, imgsz=320)
        cls.obb = skitter.Pipeline(OBB, "cpu", conf=0.4, imgsz=320)

    # --- what it is ---

    def test_is_what_was_installed(self):
        self.assertEqual(skitter.__version__, Path(common.SOURCE, "VERSION").read_text().strip())
        self.assertEqual(os.path.dirname(skitter.program()), os.path.dirname(sys.executable))
        self.assertIn("pose", repr(self.pose))
        self.assertIn("nose", self.pose.keypoint_names)
        self.assertEqual(self.pose.runtime, "cpu")
        self.assertIn("<table>", self.pose._repr_html_())

    def test_stubs_name_what_there_is(self):
        tree = ast.parse(Path(skitter.__file__).with_suffix(".pyi").read_text())
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                there = getattr(skitter, node.name)
                for item in node.body:
                    if isinstance(item, ast.FunctionDef):
                        self.assertTrue(hasattr(there, item.name), node.name + "." + item.name)
            elif isinstance(node, ast.FunctionDef):
                self.assertTrue(callable(getattr(skitter, node.name)), node.name)
        told = {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(sorted(set(skitter.__all__) - told), [])
        init = next(m for c in tree.body if isinstance(c, ast.ClassDef) and c.name == "Pipeline" for m in c.body
                    if isinstance(m, ast.FunctionDef) and m.name == "__init__")
        named = {a.arg for a in init.args.kwonlyargs} - {"allow_fallback"}
        self.assertEqual(sorted(named), skitter.Pipeline.settings())

    def test_settings_are_the_command_lines(self):
        said = subprocess.run([skitter.program(), "track", "--help"], capture_output=True, text=True, check=True).stdout
        own = {"depth", "batch_wait_ms", "quick_open", "check_every", "pcc_min"}  # of the pipeline, not of a command
        for name in set(skitter.Pipeline.settings()) - own:
            self.assertIn("--" + name.replace("_", "-"), said)

    def test_everything_is_documented(self):
        for name in skitter.__all__:
            self.assertTrue(getattr(skitter, name).__doc__, name)

    # --- frames ---

    def test_equals_the_program(self):
        """The same numbers as `skitter predict` on the same video."""
        run = skitter.predict(common.video(), OBB, out=os.path.join(WORK, "run"), conf=0.4, imgsz=320, devices="cpu")
        rows = list(csv.DictReader(Path(run.path("results.csv")).read_text().splitlines()))
        mine = [(r.index, i) for r in self.obb.stream(common.video()) for i in r.instances]
        self.assertGreater(len(rows), 15)
        self.assertEqual(len(rows), len(mine))
        for row, (frame, i) in zip(rows, mine):
            self.assertEqual((int(row["frame"]), row["name"]), (frame, i.class_name))
            self.assertTrue(close(i.obb, [float(row[k]) for k in ("cx", "cy", "w", "h", "angle")], 1e-6))

    def test_a_frame_is_the_videos(self):
        told = list(self.pose.stream(common.video(), keep_frames=True))
        self.assertEqual([r.index for r in told], list(range(len(told))))
        again = self.pose(told[3]._frame)
        self.assertEqual([i.box for i in again], [i.box for i in told[3]])
        self.assertEqual((again.width, again.height), (320, 240))

    @needs_numpy
    def test_arrays(self):
        frame = np.asarray(self.frames[2])
        wanted = self.obb(frame).obb.xywhr.copy()
        self.assertGreater(len(wanted), 0)
        self.assertEqual(wanted.dtype, np.float32)
        wide = np.zeros((240, 400, 3), np.uint8)
        wide[:, 40:360] = frame
        for same in (np.ascontiguousarray(frame), wide[:, 40:360], np.asfortranarray(frame), frame[::-1][::-1]):
            self.assertTrue(np.array_equal(self.obb(same).obb.xywhr, wanted))
        bgr = np.ascontiguousarray(frame[:, :, ::-1])
        self.assertTrue(np.array_equal(self.obb(bgr, "bgr").obb.xywhr, wanted))
        self.assertTrue(np.array_equal(self.obb(bgr[:, :, ::-1]).obb.xywhr, wanted))
        rgba = np.dstack((frame, np.full((240, 320), 7, np.uint8)))
        self.assertTrue(np.array_equal(self.obb(rgba).obb.xywhr, wanted))
        grey = np.ascontiguousarray(frame[:, :, 1])
        self.assertTrue(np.array_equal(self.obb(grey).obb.xywhr, self.obb(grey.astype(np.uint16) << 8).obb.xywhr))
        self.assertTrue(np.array_equal(self.obb([frame, frame])[1].obb.xywhr, wanted))
        for wrong in (frame.astype(np.float32), frame[0, 0], np.zeros((4, 4, 2), np.uint8), np.zeros((0, 4, 3), np.uint8), 3.5):
            with self.assertRaises((ValueError, TypeError)):
                self.obb(wrong)
        with self.assertRaisesRegex(ValueError, "none of rgb"):
            self.obb(frame, "hsv")

    @needs_numpy
    def test_dlpack(self):
        class Tensor:  # what torch, jax and cupy have
            def __init__(self, array, old):
                self.array, self.old = array, old

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

            def __dlpack__(self, **kw):
                if self.old and kw:
                    raise TypeError("an older one")
                return self.array.__dlpack__(**({} if not hasattr(np, "isdtype") else kw))

        frame = np.array(self.frames[2])
        wanted = self.obb(frame).obb.xywhr
        before = sys.getrefcount(frame)
        for old in (True, False):
            self.assertTrue(np.array_equal(self.obb(Tensor(frame, old)).obb.xywhr, wanted))
        with self.assertRaisesRegex(skitter.ArgumentError, "picture|channels|uint8|bits"):
            self.obb(Tensor(frame.astype(np.float32), True))
        gc.collect()
        self.assertEqual(sys.getrefcount(frame), before)

    @needs_numpy
    def test_pixels_are_let_go(self):
        frame = np.array(self.frames[0])
        before = sys.getrefcount(frame)
        for _ in range(3):
            self.obb(frame)
        tickets = [self.obb.submit(frame, "rgb", n, n) for n in range(2)]
        del tickets
        self.obb(np.zeros((8, 8, 3), np.uint8))
        self.obb(np.zeros((8, 8, 3), np.uint8))
        self.assertEqual(sys.getrefcount(frame), before)

    def test_pillow(self):
        if np is None or not optional("PIL"):
            self.skipTest("there is no PIL")
        from PIL import Image
        picture = Image.fromarray(np.asarray(self.frames[2]))
        self.assertEqual(len(self.obb(picture)), len(self.obb(self.frames[2])))

    # --- results ---

    def test_views_keep_their_owner(self):
        pipeline = skitter.Pipeline(POSE, conf=0.4, imgsz=320, quick_open=True)
        result = pipeline(self.frames[1])
        view = memoryview(result._column(1))
        wanted = view.tolist()
        self.assertTrue(view.readonly)
        self.assertEqual(view.shape[1:], (len(pipeline.keypoint_names), 3))
        pipeline.close()
        del result, pipeline
        gc.collect()
        junk = [bytearray(100000) for _ in range(50)]
        self.assertEqual(str(view.tolist()), str(wanted))
        del junk

    @needs_numpy
    def test_columns(self):
        result = self.pose(self.frames[1])
        n = len(result)
        self.assertGreater(n, 0)
        self.assertEqual(result.boxes.xyxy.shape, (n, 4))
        self.assertEqual(result.keypoints.xy.shape, (n, len(self.pose.keypoint_names), 2))
        self.assertFalse(result.boxes.xyxy.flags.writeable)
        with self.assertRaises(ValueError):
            result.boxes.xyxy[0] = 0
        self.assertTrue(np.allclose(result.boxes.xywhn[:, 0] * 320, result.boxes.xywh[:, 0]))
        corners = self.obb(self.frames[1]).obb
        self.assertTrue(np.allclose(corners.xyxyxyxy.mean(1), corners.xywhr[:, :2], atol=1e-3))
        self.assertEqual(set(result.numpy()), {"scores", "classes", "boxes", "keypoints"})
        first = result[0]
        self.assertTrue(close(first.box, result.boxes.xyxy[0].tolist()))
        self.assertEqual(first.class_name, result.names[int(result.boxes.cls[0])])
        self.assertIs(result.obb, None)
        self.assertIs(result.boxes.id, None)

    @needs_numpy
    def test_pictures(self):
        result = self.pose(np.asarray(self.frames[1]))
        drawn = result.plot()
        self.assertEqual(drawn.shape, (240, 320, 3))
        self.assertFalse(np.array_equal(drawn, self.frames[1]))
        path = result.save(os.path.join(WORK, "drawn.png"))
        back = self.pose(path)  # a picture's path: a list of one
        self.assertEqual(len(back), 1)
        self.assertTrue(np.array_equal(np.asarray(back[0].frame), drawn))
        self.assertEqual(back[0].path, path)
        self.assertIn("<img", back._repr_html_())
        bgr = self.pose(np.ascontiguousarray(np.asarray(self.frames[1])[:, :, ::-1]), "bgr")
        self.assertTrue(np.array_equal(bgr.plot(), drawn))

    def test_tracks(self):
        seen = {}
        for r in self.obb.stream(common.video(), track=True, animals=3):
            ids = [i.track_id for i in r.instances]
            self.assertEqual(len(ids), len(set(ids)))
            for i in ids:
                seen[i] = seen.get(i, 0) + 1
        self.assertLessEqual(max(seen), 2)
        self.assertGreater(seen[0], 10)
        tracker = skitter.Tracker(self.obb, "bytetrack")
        result = tracker(self.obb(self.frames[0]))
        self.assertEqual(len(result.track_ids), len(result))
        with self.assertRaises(ValueError):
            tracker(result)
        with self.assertRaisesRegex(skitter.ArgumentError, "tracker|method"):
            skitter.Tracker(self.obb, "none such")

    def test_coco(self):
        data = skitter.Results(self.pose.stream(common.video(), frames="0-3")).to_coco()
        self.assertEqual([i["id"] for i in data["images"]], [1, 2, 3, 4])
        self.assertGreater(len(data["annotations"]), 4)
        self.assertEqual(len(data["annotations"][0]["keypoints"]), 3 * len(self.pose.keypoint_names))
        self.assertIn("segmentation", self.obb(self.frames[1]).to_coco()["annotations"][0])

    def test_others(self):
        results = skitter.Results(self.obb.stream(common.video(), track=True, frames=range(5)))
        for module, convert in (("pandas", "to_pandas"), ("sleap_io", "to_sleap_io"), ("supervision", "to_supervision")):
            if np is not None and optional(module):
                continue
            with self.assertRaisesRegex(ImportError, "pip install"):
                getattr(results, convert)()
        if np is not None and optional("pandas"):
            table = results.to_pandas()
            self.assertEqual(len(table), sum(len(r) for r in results))
            self.assertEqual(list(table.columns[:8]), ["source", "frame", "time", "instance", "track", "class", "name", "score"])
        if np is not None and optional("sleap_io"):
            labels = results.to_sleap_io()
            self.assertEqual(len(labels), 5)
            self.assertEqual(labels[0].instances[0].track.name[:6], "track_")
        if np is not None and optional("supervision"):
            self.assertEqual(len(results[0].to_supervision()), len(results[0]))

    # --- streams ---

    def test_streams(self):
        self.assertEqual([r.index for r in self.obb.stream(common.video(), frames="2-4,8,10:15:2")], [2, 3, 4, 8, 10, 12, 14])
        for r in self.obb.stream(common.video()):
            break  # and the pipeline goes on
        with self.obb.stream(common.video(), loop=1000) as stream:
            inside = [len(self.obb(self.frames[0])) for _, r in zip(range(3), stream)]  # the same pipeline, inside
        self.assertEqual(len(set(inside)), 1)
        self.assertEqual(list(stream), [])
        both = [(a.index, b.index) for a, b in zip(self.obb.stream(common.video()), self.obb.stream(common.video()))]
        self.assertTrue(both and all(a == b for a, b in both))
        of_frames = list(self.obb.stream(iter(self.frames)))
        self.assertEqual([len(r) for r in of_frames], [len(r) for r in self.obb.stream(common.video())])
        self.assertEqual(len(list(self.obb.stream([common.video(), common.video()], frames=slice(0, 2)))), 4)
        kept = list(self.obb.stream(common.video(), loop=3, keep_frames=True))  # more than are ever on their way
        self.assertEqual(len(kept), 3 * len(self.frames))

    def test_unreadable(self):
        folder = os.path.join(WORK, "pictures")
        os.makedirs(folder, exist_ok=True)
        from skitter import _picture
        for n in (0, 2):
            with open(os.path.join(folder, "%d.png" % n), "wb") as f:
                f.write(_picture.png(bytes(self.frames[n]), 320, 240, 3))
        with open(os.path.join(folder, "1.png"), "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\nnothing")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertEqual(len(self.obb.predict(folder)), 2)
        self.assertTrue(any("1.png was left out" in str(w.message) for w in said))
        with self.assertRaises(skitter.Error):
            self.obb.predict(folder, strict=True)

    def test_threads(self):
        wanted = [[i.obb for i in self.obb(f)] for f in self.frames]
        wrong = []

        def work(n):
            for k in range(12):
                at = (n * 5 + k) % len(self.frames)
                if [i.obb for i in self.obb(self.frames[at])] != wanted[at]:
                    wrong.append((n, at))

        def read():
            for r in self.obb.stream(common.video()):
                if [i.obb for i in r] != wanted[r.index]:
                    wrong.append(("stream", r.index))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)] + [threading.Thread(target=read)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_closing_ends_who_waits(self):
        pipeline = skitter.Pipeline(OBB, imgsz=64, quick_open=True)
        ended = []

        def read():
            try:
                for _ in pipeline.stream(common.video(), loop=1000000):
                    pass
            except skitter.CancelledError as e:
                ended.append(str(e))

        thread = threading.Thread(target=read)
        thread.start()
        time.sleep(0.3)
        pipeline.close()
        thread.join(20)
        self.assertEqual(ended, ["the pipeline was closed"])
        with self.assertRaises(skitter.CancelledError):
            pipeline(self.frames[0])

    def test_ctrl_c(self):
        code = ("import skitter, sys\np = skitter.Pipeline(%r, imgsz=64, quick_open=True)\n"
                "try:\n  for n, r in enumerate(p.stream(%r, loop=1000000)):\n"
                "    if n == 5: print('ready', flush=True)\nexcept KeyboardInterrupt:\n  print('heard'); sys.exit(7)\n"
                % (OBB, common.video()))
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=20)[0], "heard\n")
        self.assertEqual(child.returncode, 7)

    # --- failures and commands ---

    def test_errors(self):
        cases = [
            (skitter.NotFoundError, "no such file or folder", lambda: skitter.Pipeline("/no/model.pt")),
            (FileNotFoundError, "no such video", lambda: self.obb.stream("/no/video.mp4")),
            (skitter.ArgumentError, "outside 0 … 1", lambda: skitter.Pipeline(OBB, conf=3)),
            (skitter.ArgumentError, "did you mean 'conf'", lambda: skitter.Pipeline(OBB, cnof=0.3)),
            (skitter.ArgumentError, "which has no such setting", lambda: skitter.Pipeline(OBB, peak_threshold=0.3)),
            (skitter.ArgumentError, "is no class of", lambda: skitter.Pipeline(OBB, classes="unicorn")),
            (skitter.UnsupportedError, "cannot be used here", lambda: skitter.Pipeline(OBB, "mps")),
            (skitter.FormatError, "", lambda: skitter.Pipeline(__file__)),
            (skitter.ArgumentError, "no option|no engine option", lambda: skitter.Pipeline(OBB, engine_option="winogard=off")),
            (skitter.NotFoundError, "no such video", lambda: skitter.track("/no/video.mp4", OBB, out=WORK + "/t")),
            (skitter.ArgumentError, "cnof", lambda: skitter.predict(common.video(), OBB, out=WORK + "/t", cnof=1)),
            (TypeError, "made by a pipeline", lambda: skitter.Result()),
        ]
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()
        for status, kind in skitter._errors.BY_STATUS.items():
            self.assertEqual((kind.status, issubclass(kind, skitter.Error)), (status, True))
            self.assertEqual(str(kind("as said")), "as said")

    def test_settings_do_something(self):
        with skitter.Pipeline(OBB, conf=0.99, imgsz=320, quick_open=True) as p:
            self.assertEqual(len(p(self.frames[0])), 0)
        with skitter.Pipeline(OBB, conf=0.4, imgsz=(320, 320), classes=["mouse"], quick_open=True, max_det=1, precision="f32",
                              engine_option={"winograd": False}, threads=1, batch=2, rect=False) as p:
            self.assertTrue(all(i.class_name == "mouse" for i in p(self.frames[0])))
            self.assertEqual(p.about()["models"][0]["width"], 320)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with skitter.Pipeline(OBB, "mps", allow_fallback=True, imgsz=64, quick_open=True) as p:
                self.assertEqual(p.runtime, "cpu")
        self.assertTrue(said)

    def test_sleap(self):
        with skitter.Pipeline(common.BOTTOMUP, peak_threshold=0.2, quick_open=True) as p:
            result = p(self.frames[0])
            self.assertEqual(p.task, "bottomup")
            self.assertIs(result.boxes, None)
            self.assertTrue(all(math.isnan(x) or 0 <= x <= 320 for i in result for x, _, _ in i.keypoints))

    def test_commands(self):
        self.assertIn("cpu", skitter.runtimes()["allowed"])
        self.assertIn("cpu", skitter.runtimes(OBB)["allowed"])
        path = os.path.join(WORK, "out.onnx")
        self.assertEqual(skitter.export(OBB, path, imgsz=64)["path"], path)
        run = skitter.track(common.video(), OBB, out=os.path.join(WORK, "tracks"), animals=3, conf=0.4, no_report=True)
        self.assertEqual(run.info["state"], "finished")
        measured = skitter.eval(run, os.path.join(WORK, "truth.csv"))
        self.assertIn("all", measured)
        with self.assertRaises(skitter.Error):
            skitter.eval(run, "/no/truth.csv")


if __name__ == "__main__":
    if not common.has_video():
        print("skipped: no video can be written here")
        sys.exit(0)
    unittest.main(verbosity=1)
