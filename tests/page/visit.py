# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page begin and end with: a browser, a place for pictures, steps with their time, and at the end
that nothing was said on the console."""
import os
import re
import sys
import time
import traceback

from browser import Browser, programs

BUILD = os.environ.get("SKITTER_TEST_BUILD", "/tmp")


def needed():
    """Without Chromium the tests are skipped, but not on the machine that decides."""
    if programs():
        return
    print("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    sys.exit(1 if os.environ.get("CI") else 77)


class Visit:
    def __init__(self, name, url, width=1280, height=900):
        self.folder = os.path.join(BUILD, "page", name)
        self.browser = Browser(self.folder, width, height)
        self.url = url
        self.begun = self.last = time.monotonic()
        self.refusals = []  # requests whose refusal is meant: parts of their address

    def step(self, text):
        now = time.monotonic()
        print(f"{now - self.begun:6.1f} s  {text}", flush=True)
        self.last = now

    def expect(self, condition, text):
        if not condition:
            self.browser.picture("failed.png")
            raise AssertionError(text)

    def go(self, place):
        self.browser.script("location.hash = arguments[0]", f"#/{place}")
        view = re.split(r"[/?]", place)[0]
        self.browser.until(place, f"document.getElementById('main').dataset.view === '{view}'")

    def quiet(self):
        """Nothing on the console but refusals that were meant."""
        said = [m for m in self.browser.console()
                if not (m["source"] == "network" and any(part in m["message"] for part in self.refusals))]
        self.expect(not said, f"on the console: {said}")


def run(visit_maker, steps, last=None):
    """Runs the steps; the exit code says whether all went well. `last` is called whatever happened."""
    needed()
    visit = None
    try:
        visit = visit_maker()
        left_out = os.environ.get("PAGE_WITHOUT", "").split(",")  # while something is built
        for step in (s for s in steps if s.__name__ not in left_out):
            visit.step(step.__doc__ or step.__name__)
            step(visit)
            visit.quiet()
        visit.step("done")
        return 0
    except Exception:  # whatever it was, it is shown, with a picture
        traceback.print_exc()
        if visit:
            try:
                visit.browser.picture("failed.png")
                print("picture:", os.path.join(visit.folder, "failed.png"))
            except Exception as error:
                print("no picture:", error)
        return 1
    finally:
        if visit:
            visit.browser.close()
        if last:
            last()
