#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `skitter demo` wrote, opened by the programs it is for: .slp by sleap-io, videos by ffprobe, the page by Chromium.

    python tests/parity/demo_outputs.py FOLDER [--screenshot PAGE.png]

Fails when something does not open, when a .slp holds other instances than the table beside it, or when the page writes to
the console, asks for anything over a network, links to what is not there, is wider than a telephone, or is not well-formed. Needs sleap-io, ffprobe and chromium.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

import numpy as np
import sleap_io


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def check_slp(folder, part):
    labels = sleap_io.load_slp(os.path.join(folder, part, "results.slp"), open_videos=False)
    rows = rows_of(os.path.join(folder, part, "results.csv"))
    instances = [i for frame in labels for i in frame.instances]
    assert len(instances) == len(rows), f"{part}: {len(instances)} instances in the .slp, {len(rows)} rows"
    names = [n.name for n in labels.skeleton.nodes]
    if names != ["center"]:
        for row, instance in zip(rows, instances):
            want = np.array([[float(row[f"{n}_{a}"] or "nan") for a in "xy"] for n in names])
            got = instance.numpy()
            assert np.allclose(got, want, atol=1e-3, equal_nan=True), f"{part}: {row['frame']}: {got} is not {want}"
    print(f"{part}/results.slp: {len(labels)} frames, {len(instances)} instances, {len(names)} nodes")
    return len(labels)


def check_video(path, frames):
    answer = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                             "stream=codec_name,width,height,nb_read_frames", "-of", "csv=p=0", path],
                            check=True, capture_output=True, text=True)
    assert not answer.stderr, answer.stderr
    codec, width, height, count = answer.stdout.strip().split(",")
    assert int(count) == frames, f"{path}: {count} frames, not {frames}"
    print(f"{os.path.basename(path)}: {codec} {width}x{height}, {count} frames")


def width_at(path, text, width):
    """How wide the page gets in a window of this width: its own scripts have none, so one is put behind a copy of it."""
    copy = path + ".measured.html"
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", "<script>document.title='width '+document.documentElement.scrollWidth</script></body>"))
    # headless windows are not narrower than 500 pixels: a frame is
    frame = path + ".frame.html"
    with open(frame, "w", encoding="utf-8") as file:
        file.write(f"<iframe src='{os.path.basename(copy)}' width={width} height=900 style='border:0'></iframe>"
                   "<script>onload=()=>{document.title=frames[0].document.title}</script>")
    try:
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                   "--virtual-time-budget=3000", "--dump-dom", "file://" + os.path.abspath(frame)]
        dom = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return int(re.search(r"<title>width (\d+)", dom).group(1))
    finally:
        os.remove(copy)
        os.remove(frame)


def check_page(path, screenshot):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    xml.fromstring(text.replace("<!DOCTYPE html>", "", 1))
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
               "--window-size=1000,3400", "--hide-scrollbars", f"--screenshot={screenshot}",
               "file://" + os.path.abspath(path)]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    console = [line for line in log.splitlines() if "CONSOLE" in line]
    assert not console, "\n".join(console)
    assert not re.findall(r"src=\"(?!data:)|href=\"(?:\w+:)?//|url\(|@import", text), "the page refers to something outside itself"
    links = [link for link in re.findall(r"href=\"([^\"]*)\"", text) if not link.startswith("data:")]
    for link in links:
        assert os.path.getsize(os.path.join(os.path.dirname(path), link)) > 0, f"a link to {link}, which is not there"
    for width in (320, 400, 1000):
        assert width_at(path, text, width) <= width, f"wider than a window of {width} pixels"
    print(f"{os.path.basename(path)}: {len(text) // 1024} KiB, well-formed, nothing on the console, {len(links)} links, "
          "fits 320 pixels")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--screenshot", default=os.devnull)
    args = parser.parse_args()
    frames = len({row["frame"] for row in rows_of(os.path.join(args.folder, "truth.csv"))})
    check_video(os.path.join(args.folder, "scene.mp4"), frames)
    for part in ("boxes", "poses"):
        check_slp(args.folder, part)
        check_video(os.path.join(args.folder, part, "overlay.mp4"), frames)
    check_page(os.path.join(args.folder, "report.html"), args.screenshot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
