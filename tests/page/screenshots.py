# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/page.md: the six views, on the demo. usage: screenshots.py FOLDER"""
import base64
import os
import sys
import time

import served
import visit

WIDTH, HEIGHT = 1280, 860


def shoot(v, name):
    v.browser.script("document.querySelectorAll('.notices .note button').forEach((b) => b.click()); document.activeElement?.blur()")
    time.sleep(0.3)
    for quality in (82, 70, 55):
        data = base64.b64decode(v.browser.cdp("Page.captureScreenshot", {"format": "jpeg", "quality": quality})["data"])
        if len(data) < 140_000:
            break
    with open(os.path.join(v.to, f"{name}.jpg"), "wb") as file:
        file.write(data)
    print(f"          {name}.jpg {len(data) // 1000} kB")


def track(v):
    """Track"""
    b = v.browser
    b.open(v.url)
    b.until_text("Compute runtime")
    b.click("#demo")
    b.until("video", "document.querySelector('.facts').innerText.includes('640 × 480')", 60)
    b.until("detector", "document.querySelectorAll('.facts')[1].innerText.includes('obb')")
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.click(".actions button", "Test on this frame")
    b.until("found", "document.querySelector('.answer').innerText.includes('found in frame 0')", 60)
    b.script("window.scrollTo(0, 0)")
    shoot(v, "track")


def run(v):
    """Runs"""
    b = v.browser
    video = os.path.join(v.served.data, "crossing.mp4")
    v.served.skitter("scene", "-o", video, "--species", "mixed", "--animals", "7", "--seconds", "20", "--seed", "1000001000001")
    b.put(".path input", video)
    b.until("looked at", "document.querySelector('.facts').innerText.includes('600 frames')")
    b.click("[data-tab=settings]")
    b.put("[data-name=animals] input", "7")
    b.click("[data-tab=start]")
    b.click(".actions button", "Start")
    b.until("started", "document.querySelector('.run_line').innerText.includes('crossing')")
    b.click(".run_line a", "Watch it")
    b.until("preview", "document.querySelector('.run .stage img')?.complete && !document.querySelector('.run .stage img').hidden", 60)
    b.until("well on its way", "Number(document.querySelector('.tile b').innerText.split(' ')[0]) > 150", 120)
    shoot(v, "runs")
    b.until("done", "document.querySelector('.run .state')?.innerText === 'done'", 200)
    b.click(".run .actions a", "Results")


def results(v):
    """Results"""
    b = v.browser
    b.until("tracks", "document.querySelectorAll('tr[data-track]').length > 5", 30)
    b.script("const r = document.querySelector('.scrubber input[type=range]'); r.value = 240; r.dispatchEvent(new Event('input'))")
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '240'")
    shoot(v, "results")


def pose(v):
    """Pose"""
    b = v.browser
    v.go("pose")
    b.put(".path input", os.path.join(v.served.data, "skitter-demo-page", "scene.mp4"))
    b.script("document.querySelectorAll('.path input')[1].id = 'model'")
    b.put("#model", os.path.join(v.served.models, "demo-pose.pt"))
    b.until("skeleton", "document.querySelector('.skeleton svg')")
    b.click(".actions button", "Predict this frame")
    b.until("found", "document.querySelector('.answer').innerText.includes('found in frame 0')", 60)
    b.script("window.scrollTo(0, 0)")
    shoot(v, "pose")


def rest(v):
    """Doctor and Troubleshooting"""
    b = v.browser
    v.go("doctor")
    b.until("cards", "document.querySelectorAll('.doctor').length === 9", 60)
    shoot(v, "doctor")
    v.go("troubleshooting")
    b.until("questions", "document.querySelectorAll('[data-question]').length === 3", 60)
    shoot(v, "troubleshooting")


if __name__ == "__main__":
    visit.needed()
    place = served.Served()

    def begin():
        v = visit.Visit("screenshots", place.url, WIDTH, HEIGHT)
        v.served, v.to = place, sys.argv[1]
        os.makedirs(v.to, exist_ok=True)
        return v

    sys.exit(visit.run(begin, [track, run, results, pose, rest], place.close))
