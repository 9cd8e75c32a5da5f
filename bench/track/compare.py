#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everybody on the same rows: skitter's trackers and boxmot's, by TrackEval.

    python3 -m venv VENV; VENV/bin/pip install --no-deps boxmot trackeval
    VENV/bin/pip install lapx 'filterpy<2' loguru 'gdown<6' yacs 'pandas<3' rich numpy scipy opencv-python-headless torch
    ninja -C build skitter track_rows
    VENV/bin/python bench/track/compare.py tune  --cache DIR          # boxmot's best settings, on seeds 1000 and up
    VENV/bin/python bench/track/compare.py run   --cache DIR          # everybody on seeds 0 to 9
    VENV/bin/python bench/track/compare.py table --cache DIR          # what run found, as tables

Scenes, rows and figures are kept under DIR: nothing is done twice, an interrupted run goes on, --jobs 2 does two at a time. What
is ours is done anew when the program changes. A setting of boxmot's trackers is chosen for each number of animals by its mean
HOTA on the tuning seeds (peers.py has the values tried; one after the other, starting from boxmot's defaults).
"""
import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import peers  # noqa: E402
import rows as made  # noqa: E402

SIZE, FPS, SECONDS = (1280, 960), 30, 20
TRACKERS = ["bytetrack", "ocsort", "botsort"]
DOORS = ("online", "offline")  # skitter track, with and without --online
MODEL = 2  # of rows.py: another number, other rows


def numbers(text):
    """"0-9,12" as a list."""
    out = []
    for part in text.split(","):
        a, _, b = part.partition("-")
        out += range(int(a), int(b or a) + 1)
    return out


def sha(*paths):
    h = hashlib.sha256()
    for p in paths:
        h.update(Path(p).read_bytes())
    return h.hexdigest()[:16]


def scene(options, animals, seed):
    """Folder with truth.csv and rows.txt of a scene, made where they are not there yet."""
    folder = Path(options.cache) / "scene" / f"{options.scene_name}_{animals}_{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    truth, text = folder / "truth.csv", folder / f"rows{MODEL}.txt"
    if not truth.exists():
        part = folder / "truth.part.csv"
        command = [options.skitter, "scene", "--animals", str(animals), "--seconds", str(SECONDS), "--size",
                   "%dx%d" % SIZE, "--fps", str(FPS), "--seed", str(seed), "--truth", str(part), "-q"]
        subprocess.run(command + options.scene.split(), check=True)
        part.rename(truth)
    if not text.exists():
        part = folder / "rows.part"
        made.make_rows(made.read_truth(truth), seed, SIZE, FPS, part)
        part.rename(text)
    return truth, text


def read_tracks(path):
    if not Path(path).stat().st_size:
        return np.zeros((0, 6))
    v = np.loadtxt(path, delimiter=",", ndmin=2, usecols=range(6))
    box = v[:, 2:6].copy()
    box[:, 2:] += box[:, :2]
    return np.column_stack([v[:, 0] - 1, v[:, 1], box])


def ours(options, method, settings, text, folder):
    """Our tracks of a file of rows, and the seconds of the association."""
    out = folder / f"ours_{method}.txt"
    if method in DOORS:
        to = folder / f"run_{method}"
        shutil.rmtree(to, ignore_errors=True)
        command = [options.skitter, "track", "--detections", str(text), "-o", str(to), "--format", "mot", "--no-report", "-q"]
        subprocess.run(command + (["--online"] if method == "online" else []), check=True)
        return read_tracks(to / "results.mot.txt"), 0.0
    given = [f"{k}={v}" for k, v in settings.items()]
    done = subprocess.run([options.track_rows, str(text), str(out), method, *given], check=True, capture_output=True)
    return read_tracks(out), float(done.stdout)


def theirs(name, settings, text, folder, frames):
    """Tracks of boxmot, kept in the scene's folder: filling their gaps needs no second run."""
    settings, fill = dict(settings), settings.get("fill", 0)
    settings.pop("fill", None)
    told = hashlib.sha256(json.dumps([name, settings, MODEL, frames], sort_keys=True).encode()).hexdigest()[:16]
    kept = folder / f"boxmot_{told}.npz"
    if kept.exists():
        with np.load(kept) as found:
            return peers.fill(found["tracks"], fill), float(found["seconds"])
    tracks, seconds = peers.run(name, settings, made.read_rows(text), frames, SIZE)
    part = folder / f"boxmot_{told}.part.npz"
    np.savez_compressed(part, tracks=tracks, seconds=seconds)
    part.rename(kept)
    return peers.fill(tracks, fill), seconds


def one(job):
    """One tracker on one scene: its key and figures. Runs in a process of its own."""
    options, kind, name, settings, animals, seed, frames, key = job
    import score

    truth, text = scene(options, animals, seed)
    t = made.read_truth(truth)
    last = min(frames, int(t["frame"].max()) + 1)
    t = {k: v[t["frame"] < last] for k, v in t.items()}
    if kind == "boxmot":
        tracks, seconds = theirs(name, settings, text, truth.parent, last)
    else:
        tracks, seconds = ours(options, name, settings, text, truth.parent)
        tracks = tracks[tracks[:, 0] < last]
    return key, dict(score.score(t, tracks, last), seconds=seconds, frames=last)


class Store:
    """Figures that were found before, a line each."""

    def __init__(self, options):
        self.options, self.path = options, Path(options.cache) / "figures.jsonl"
        self.known, self.pool = {}, None
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                key, figures = json.loads(line)
                self.known[key] = figures
        self.program = sha(options.track_rows) if Path(options.track_rows).exists() else "none"
        self.door = sha(options.skitter) if Path(options.skitter).exists() else "none"

    def key(self, kind, name, settings, animals, seed, frames):
        by = "boxmot25" if kind == "boxmot" else self.door if name in DOORS else self.program
        what = [self.options.scene_name, MODEL, by, name, settings, animals, seed, frames]
        return json.dumps(what, sort_keys=True)

    def get(self, wanted):
        """Figures of jobs (kind, name, settings, animals, seed, frames), in their order."""
        keys = [self.key(*w) for w in wanted]
        todo = {k: (self.options, *w, k) for k, w in zip(keys, wanted) if k not in self.known}
        if todo:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.pool = self.pool or ProcessPoolExecutor(self.options.jobs)
            with open(self.path, "a") as out:
                for key, figures in self.pool.map(one, todo.values()):
                    self.known[key] = figures
                    out.write(json.dumps([key, figures]) + "\n")
                    out.flush()
        return [self.known[k] for k in keys]


def mean(figures, what):
    return float(np.mean([f[what] for f in figures]))


def tune(store, options):
    """The best settings of every tracker of boxmot for each number of animals: cache/best_<scene>.json."""
    path = Path(options.cache) / f"best_{options.scene_name}.json"
    best = json.loads(path.read_text()) if path.exists() else {}
    for animals in options.animals:
        frames = options.tune_frames
        for name in TRACKERS:
            settings, tries = peers.PEERS[name]
            settings = dict(settings)
            value = mean(store.get([("boxmot", name, settings, animals, s, frames) for s in options.tune_seeds]), "HOTA")
            for setting, values in tries:
                others = [o for o in (dict(settings, **{setting: v}) for v in values) if o != settings]
                figures = store.get([("boxmot", name, o, animals, s, frames) for o in others for s in options.tune_seeds])
                for k, other in enumerate(others):
                    hota = mean(figures[k * len(options.tune_seeds):(k + 1) * len(options.tune_seeds)], "HOTA")
                    if hota > value + 1e-9:
                        settings, value = other, hota
            best[f"{name} {animals}"] = settings
            path.write_text(json.dumps(best, indent=1, sort_keys=True))
            print(f"{name} {animals}: HOTA {value:.4f} with {settings}", flush=True)
    return best


def best_of(best, name, animals):
    """The settings found for so many animals, else for the most animals there are any for."""
    tuned = [int(k.split()[1]) for k in best if k.split()[0] == name]
    fits = animals if animals in tuned else max(tuned, default=0)
    return best.get(f"{name} {fits}", peers.PEERS[name][0])


def all_of(options, best):
    for name in TRACKERS:
        yield f"boxmot {name}", lambda n, name=name: ("boxmot", name, best_of(best, name, n))
    for name in TRACKERS:  # offline: short gaps filled in a straight line, as the authors of ByteTrack and OC-SORT do
        yield f"boxmot {name}, gaps filled", lambda n, name=name: (
            "boxmot", name, dict(best_of(best, name, n), fill=20))
    for name in options.ours.split(","):
        if name:
            yield f"skitter {name}", lambda n, name=name: ("ours", name, {})


def table(store, options, run):
    path = Path(options.cache) / f"best_{options.scene_name}.json"
    best = json.loads(path.read_text()) if path.exists() else {}
    print("HOTA / IDF1 / switches in all; frames/s of the association\n")
    print("| tracker | " + " | ".join(f"{n} animals" for n in options.animals) + " |")
    print("|---|" + "---|" * len(options.animals))
    for label, what in all_of(options, best):
        cells = []
        for n in options.animals:
            jobs = [(*what(n), n, s, SECONDS * FPS) for s in options.seeds]
            figures = store.get(jobs) if run else [store.known[k] for k in (store.key(*j) for j in jobs) if k in store.known]
            if not figures:
                cells.append("-")
                continue
            some = "" if len(figures) == len(jobs) else f" ({len(figures)} seeds)"
            seconds = sum(f["seconds"] for f in figures)
            rate = f"; {sum(f['frames'] for f in figures) / seconds:.0f}/s" if seconds else ""
            cells.append(f"{mean(figures, 'HOTA'):.3f} / {mean(figures, 'IDF1'):.3f} / "
                         f"{sum(f['switches'] for f in figures)}{rate}{some}")
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["rows", "tune", "run", "table"])
    p.add_argument("--cache", required=True)
    p.add_argument("--skitter", default="build/skitter")
    p.add_argument("--track-rows", default="build/track_rows")
    p.add_argument("--scene", default="--species fish", help="what skitter scene is given besides")
    p.add_argument("--scene-name", default="fish", help="a name of such scenes, in the cache")
    p.add_argument("--animals", type=numbers, default=[5, 20, 60, 150])
    p.add_argument("--seeds", type=numbers, default=list(range(10)))
    p.add_argument("--tune-seeds", type=numbers, default=[1000, 1001, 1002])
    p.add_argument("--tune-frames", type=int, default=300)
    p.add_argument("--ours", default="online,offline", help="online: skitter track --online; offline: skitter track; else methods of track_rows")
    p.add_argument("--jobs", type=int, default=1)
    options = p.parse_args()
    store = Store(options)
    if options.do == "rows":
        for n in options.animals:
            for s in options.seeds + options.tune_seeds:
                scene(options, n, s)
    elif options.do == "tune":
        tune(store, options)
    else:
        table(store, options, options.do == "run")


if __name__ == "__main__":
    main()
