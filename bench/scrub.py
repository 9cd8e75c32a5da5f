#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long somebody waits who scrubs through an hour of video on the page: the video is served by `skitter serve`, frames are asked
for as the page does: 1280 pixels wide at most, and where one takes longer than 200 ms an earlier one, until it is there. Prints how
long a picture was waited for, and how long the very frame, and the processor's time of all; fails where a picture takes longer than
300 ms.
usage: bench/scrub.py [SKITTER [VIDEO]]   Without VIDEO an hour is made of a minute's scene, 1280x720 at 25 frames/s with a key
frame every 250, by the program ffmpeg."""
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.parse

MOST = 300  # ms
WITHIN = 200  # ms, of the page (player.js)


def make(work):
    minute, looped, hour = (os.path.join(work, name) for name in ("minute.mp4", "long_gop.mp4", "hour.mp4"))
    subprocess.run([SKITTER, "scene", "-q", "-o", minute, "--size", "1280x720", "--fps", "25", "--seconds", "20", "--animals", "8"], check=True)
    quiet = ["ffmpeg", "-v", "error", "-y"]
    subprocess.run([*quiet, "-i", minute, "-c:v", "libx264", "-preset", "veryfast", "-g", "250", "-keyint_min", "250", "-bf", "2", looped], check=True)
    subprocess.run([*quiet, "-stream_loop", "179", "-i", looped, "-c", "copy", hour], check=True)
    return hour


class Page:
    def __init__(self, link):
        parts = urllib.parse.urlsplit(link)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        self.headers = {"Authorization": "Bearer " + urllib.parse.parse_qs(parts.query)["token"][0]}

    def get(self, what, **query):
        self.connection.request("GET", f"/api/v1/{what}?{urllib.parse.urlencode(query)}", headers=self.headers)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{what}: {answer.status} {data[:200]}")
        return data, answer.headers

    def frame(self, video, n):
        """Milliseconds for each picture on the way to the frame."""
        took = []
        while True:
            begun = time.monotonic()
            _, headers = self.get("frame", source=video, n=n, width=1280, **({"within": WITHIN} if len(took) < 50 else {}))
            took.append(1000 * (time.monotonic() - begun))
            if int(headers["X-Skitter-Frame"]) == n:
                return took


def orders(frames, rng):
    """What somebody who scrubs asks for, in words and in frames."""
    at = [rng.randrange(frames - 40) for _ in range(6)]
    yield "the first jump", [frames // 2]
    yield "jumps to anywhere", [rng.randrange(frames) for _ in range(40)]
    yield "a frame back", [n + 30 - i for n in at for i in range(8)]
    yield "a second back", [max(0, n - 25 * i) for n in at for i in range(8)]
    yield "a frame on", [n + i for n in at for i in range(8)]
    yield "dragged to the end", [round(i * (frames - 1) / 40) for i in range(41)]


def main():
    with tempfile.TemporaryDirectory(prefix="skitter-scrub-") as work:
        video = os.path.realpath(sys.argv[2]) if len(sys.argv) > 2 else make(work)
        environment = {**os.environ, "SKITTER_CONFIG_DIR": work, "SKITTER_CACHE_DIR": work}
        server = subprocess.Popen([SKITTER, "serve", os.path.dirname(video), "--port", "0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, env=environment, text=True)
        try:
            page = Page(server.stdout.readline().strip())
            begun = time.monotonic()
            facts = json.loads(page.get("probe", path=video)[0])["video"]
            page.frame(video, 0)
            print(f"{facts['width']} x {facts['height']}, {facts['frames']} frames, {facts['frames'] / facts['fps'] / 60:.0f} minutes; "
                  f"opened in {1000 * (time.monotonic() - begun):.0f} ms")
            slowest = 0
            middle = lambda list: sorted(list)[len(list) // 2]
            print(f"{'':<22}{'a picture, ms':>22}{'the frame, ms':>22}\n{'':<22}{'median   slowest':>22}{'median   slowest':>22}")
            for what, wanted in orders(facts["frames"], random.Random(17)):
                took = [page.frame(video, n) for n in wanted]
                each, whole = [ms for one in took for ms in one], [sum(one) for one in took]
                slowest = max(slowest, *each)
                print(f"{what:<22}{middle(each):12.1f}{max(each):10.1f}{middle(whole):12.1f}{max(whole):10.1f}")
        finally:
            server.terminate()
            _, _, usage = os.wait4(server.pid, 0)
            server.returncode = 0
            server.stdout.close()
        print(f"processor {usage.ru_utime + usage.ru_stime:.1f} s")
        if slowest > MOST:
            print(f"FAILED: {slowest:.0f} ms, and {MOST} are the most")
            return 1
        return 0


if __name__ == "__main__":
    SKITTER = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "build", "skitter"))
    sys.exit(main())
