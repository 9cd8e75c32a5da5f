#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files with tracks between skitter and sleap-io, both ways.

    python tests/parity/track_files.py --skitter build/skitter [--run FOLDER]

sleap-io writes labels with tracks as .slp and as analysis HDF5 in every order of axes; skitter reads them: what it takes for
tracks must equal the labels, measured by `skitter eval` against the same labels as a table (HOTA 1, no switch). With --run, a
folder of `skitter track --format csv,slp,analysis,coco,mot`: sleap-io must read the same animals and tracks out of .slp and
analysis as stand in the table. Needs sleap-io, numpy, h5py.
"""
import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import sleap_io as sio

NODES = ["head", "body", "tail"]


def labels_with_tracks(rng, nodes):
    skeleton = sio.Skeleton(nodes, edges=[(nodes[0], nodes[1])])
    video = sio.Video(filename="flies.mp4", open_backend=False)
    tracks = [sio.Track(f"fly {i}") for i in range(3)]
    frames = []
    for f in range(20):
        instances = []
        for i, track in enumerate(tracks):
            if rng.random() < 0.2:
                continue
            points = np.array([[100 * i + 3 * f + 10 * k, 50 + 20 * i + 5 * k] for k in range(len(nodes))], float)
            points[rng.randrange(1, len(nodes))] = np.nan if rng.random() < 0.3 else points[0] + 4
            instances.append(sio.PredictedInstance.from_numpy(
                points, skeleton=skeleton, point_scores=np.full(len(nodes), 0.5), score=0.75, track=track))
        frames.append(sio.LabeledFrame(video=video, frame_idx=f, instances=instances))
    return sio.Labels(frames, videos=[video], skeletons=[skeleton], tracks=tracks)


def rows_of(labels):
    out = []
    for frame in labels:
        for instance in frame.instances:
            track = labels.tracks.index(instance.track) if instance.track else -1
            out.append((frame.frame_idx, track, instance.numpy()))
    return out


def write_table(path, rows, nodes):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["frame", "track"] + [f"{n}_{p}" for n in nodes for p in "xy"])
        for frame, track, points in rows:
            out.writerow([frame, track] + ["" if np.isnan(v) else repr(float(v)) for p in points for v in p])


def evaluate(skitter, result, truth):
    run = subprocess.run([skitter, "eval", result, truth, "--json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{result}: {run.stderr}")
    return json.loads(run.stdout)


def expect_equal(skitter, path, table, rows, what):
    report = evaluate(skitter, path, table)
    oks = report["tracking"]["oks"]["all"]
    ok = (abs(oks["hota"] - 1) < 1e-9 and oks["switches"] == 0 and oks["found"] == oks["wanted"] == len(rows)
          and report["all"]["keypoints"]["mean_px"] < 1e-6)
    print(f"{what}: {oks['found']} of {oks['wanted']} animals, {oks['found_tracks']} tracks, HOTA {oks['hota']:.6f}"
          f"{'' if ok else '  DIFFERS'}")
    return ok


def ours(skitter, folder):
    """sleap-io reads what skitter wrote."""
    with open(os.path.join(folder, "results.csv"), newline="") as f:
        table = [r for r in csv.DictReader(f) if r["track"]]
    want = {(int(r["frame"]), int(r["track"])) for r in table}
    good = True
    for name in ("results.slp", "results.analysis.h5"):
        path = os.path.join(folder, name)
        labels = sio.load_file(path) if name.endswith(".slp") else sio.load_analysis_h5(path)
        got = {(f.frame_idx, int(i.track.name.split("_")[-1])) for f in labels for i in f.instances if i.track}
        same = got == want
        good &= same
        print(f"{name}: sleap-io reads {len(got)} animals of {len({t for _, t in got})} tracks, the table has {len(want)} of "
              f"{len({t for _, t in want})}{'' if same else '  DIFFERS'}")
    for name in ("results.slp", "results.analysis.h5", "results.coco.json", "results.jsonl", "results.mot.txt"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            tracking = evaluate(skitter, path, os.path.join(folder, "results.csv")).get("tracking", {})
            for kind, row in tracking.items():
                if kind == "distance_px":
                    continue
                same = row["all"]["switches"] == 0 and abs(row["all"]["idf1"] - 1) < 1e-9
                good &= same
                print(f"{name} by {kind}: IDF1 {row['all']['idf1']:.6f}, {row['all']['switches']} switches"
                      f"{'' if same else '  DIFFERS'}")
            good &= bool(tracking)
    return good


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--skitter", default="build/skitter")
    p.add_argument("--run")
    args = p.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as work:
        for nodes in (NODES, NODES[:2]):
            labels = labels_with_tracks(random.Random(1), nodes)
            rows = rows_of(labels)
            table, slp = os.path.join(work, "t.csv"), os.path.join(work, "t.slp")
            write_table(table, rows, nodes)
            sio.save_slp(labels, slp)
            good &= expect_equal(args.skitter, slp, table, rows, f".slp of {len(nodes)} nodes")
            for preset in ("matlab", "standard"):
                path = os.path.join(work, preset + ".h5")
                sio.save_analysis_h5(labels, path, preset=preset)
                good &= expect_equal(args.skitter, path, table, rows, f"analysis, {preset}, {len(nodes)} nodes")
    if args.run:
        good &= ours(args.skitter, args.run)
    sys.exit(not good)


if __name__ == "__main__":
    main()
