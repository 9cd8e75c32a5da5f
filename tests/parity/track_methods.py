#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ByteTrack and OC-SORT of skitter against boxmot's at the same settings, on the rows of bench/track: HOTA to two decimals.

    VENV/bin/python tests/parity/track_methods.py --cache DIR [--animals 5,20,60] [--seeds 0-2]

bench/track/compare.py says what the virtual environment needs. Upright and turned boxes apart; what is compared are the
detections' boxes under the tracks' numbers, which both sides give. Fails where the mean HOTA of a case over all scenes differs
by 0.005 or more. (Single scenes may differ more: one pair decided otherwise changes all that follows.) On turned boxes
boxmot's C++ of OC-SORT is not what its Python is; there ours is compared with the Python, elsewhere with the C++ where it was
built.
"""
import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/track"))
import compare  # noqa: E402
import peers  # noqa: E402
import rows as made  # noqa: E402

# boxmot's settings, and ours of the same meaning (30 frames a second).
CASES = [
    ("bytetrack", {}, {}),
    ("bytetrack", {"track_thresh": 0.45, "match_thresh": 0.8, "track_buffer": 60},
     {"boxes.strong": 0.45, "boxes.match": 0.8, "boxes.kept": 2}),
    ("ocsort", {}, {}),
    ("ocsort", {"det_thresh": 0.3, "iou_threshold": 0.2, "max_age": 60, "min_hits": 1, "inertia": 0.2, "use_byte": True,
                "delta_t": 2},
     {"boxes.strong": 0.3, "boxes.overlap": 0.2, "boxes.kept": 2, "boxes.hits": 1, "boxes.inertia": 0.2, "boxes.weak": 1,
      "boxes.span": 2}),
]


def cut(text, turned):
    """The rows without keypoints, and without turned boxes where those are not wanted."""
    out = text.with_suffix(".turned" if turned else ".upright")
    if not out.exists():
        columns = 15 if turned else 10
        out.write_text("".join(",".join(line.split(",")[:columns]) + "\n" for line in text.read_text().splitlines()))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cache", required=True)
    p.add_argument("--skitter", default="build/skitter")
    p.add_argument("--track-rows", default="build/track_rows")
    p.add_argument("--animals", type=compare.numbers, default=[5, 20, 60])
    p.add_argument("--seeds", type=compare.numbers, default=[0, 1, 2])
    options = p.parse_args()
    options.scene, options.scene_name = "--species fish", "fish"
    import score

    both = {}
    for animals in options.animals:
        for seed in options.seeds:
            truth, text = compare.scene(options, animals, seed)
            t = made.read_truth(truth)
            frames = int(t["frame"].max()) + 1
            for name, theirs, ours in CASES:
                for turned in (False, True):
                    settings = dict(peers.PEERS[name][0], **theirs, obb=turned, box="detection")
                    native = not (turned and name == "ocsort")
                    tracks, _ = peers.run(name, settings, made.read_rows(text), frames, compare.SIZE, native)
                    a = score.score(t, tracks, frames)
                    out = truth.parent / f"parity_{name}.txt"
                    given = [f"{k}={v}" for k, v in ours.items()]
                    subprocess.run([options.track_rows, cut(text, turned), out, name, *given], check=True,
                                   stdout=subprocess.DEVNULL)
                    b = score.score(t, compare.read_tracks(out), frames)
                    apart = b["HOTA"] - a["HOTA"]
                    case = f"{name} {'turned' if turned else 'upright'} {'settings' if theirs else 'defaults'}"
                    both.setdefault(case, []).append((a["HOTA"], b["HOTA"]))
                    print(f"{animals:4d} animals, seed {seed}, {name:9s} {'turned ' if turned else 'upright'} "
                          f"{'settings' if theirs else 'defaults'}: HOTA {a['HOTA']:.4f} {b['HOTA']:.4f} ({apart:+.4f}), "
                          f"IDF1 {a['IDF1']:.4f} {b['IDF1']:.4f}, switches {a['switches']} {b['switches']}", flush=True)
    bad = False
    for case, pairs in both.items():
        theirs, mine = (sum(p[k] for p in pairs) / len(pairs) for k in (0, 1))
        bad = bad or abs(theirs - mine) >= 0.005
        print(f"{case:28s} mean HOTA of {len(pairs)} scenes: boxmot {theirs:.4f}, skitter {mine:.4f}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
