# SPDX-License-Identifier: Apache-2.0
"""From the printed link to a corrected result with nothing but the keyboard."""
import sys

import served
import visit


def tab_to(v, text, most=60):
    """Tab until something with this text has the focus, as a person does who sees where it is."""
    for _ in range(most):
        if text in v.browser.focused()[2]:
            return
        v.browser.press("Tab")
    v.expect(False, f"Tab does not lead to '{text}': {v.browser.focused()}")


def demo(v):
    """the demo, by Tab and Enter"""
    b = v.browser
    b.open(v.url)
    b.until_text("Compute runtime")
    tab_to(v, "Try it with the demo")
    b.press("Enter")
    b.until("video", "document.querySelector('.facts').innerText.includes('640 × 480')", 60)
    b.until("detector", "document.querySelectorAll('.facts')[1].innerText.includes('obb')")
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '0'")


def switches(v):
    """switches, choices and tabs, by Space and arrow keys"""
    b = v.browser
    tab_to(v, "Detection")
    tab_to(v, "Pose")
    b.press("Space")
    b.until("pose", "document.querySelector('[value=sleap]').checkVisibility()")
    tab_to(v, "YOLO")
    b.press("Right")
    b.until("SLEAP", "document.querySelector('[value=sleap]').checked && document.querySelector('[data-runtime=cuda]').innerText.includes('YOLO, turned boxes')")
    b.press("Left")
    b.press("Tab", hold="Shift")
    tab_to(v, "Pose")
    b.press("Space")
    b.until("no pose", "!document.querySelector('[value=sleap]').checkVisibility()")
    b.script("document.querySelector('[role=tab]').focus()")
    b.press("Right")
    b.until("region", "document.activeElement.dataset.tab === 'region'")
    tab_to(v, "Add a rectangle")
    b.press("Enter")
    b.until("region", "document.querySelector('li input.mono')?.value === '64,48,576,432' && document.activeElement.matches('li input')")
    tab_to(v, "Remove region")
    b.press("Enter")
    b.until("gone", "!document.querySelector('li input.mono')")
    b.script("document.querySelector('[role=tab]').focus()")
    b.press("Home")


def run(v):
    """test and start by their keys, and to the results"""
    b = v.browser
    b.script("document.activeElement.blur()")
    b.press("t")
    b.until("found", "document.querySelector('.answer').innerText.includes('found in frame 0')", 60)
    b.press("s")
    b.until("started", "document.querySelector('.run_line').innerText.includes('scene')")
    b.press("3")
    b.until("done", "document.querySelector('.run .state')?.innerText === 'done'", 90)
    tab_to(v, "Results")
    while "Results" in b.focused()[2] and "#/results?" not in (b.script("return document.activeElement.getAttribute('href')") or ""):
        b.press("Tab")
        tab_to(v, "Results")
    b.press("Enter")
    b.until("tracks", "document.querySelectorAll('tr[data-track]').length >= 5", 30)


def correct(v):
    """scrub, choose an animal, swap, undo"""
    b = v.browser
    b.until("first", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.press("Right", "Right", "Right")
    b.until("frame 3", "document.querySelector('.stage canvas').dataset.frame === '3'")
    b.press("x")
    b.until("swapped", "document.querySelectorAll('.corrections li:not(.dim)').length === 1")
    b.press("u")
    b.until("undone", "document.querySelector('.corrections li.dim')")
    b.press("Space")
    b.until("plays", "Number(document.querySelector('.stage canvas').dataset.frame) > 6")
    b.press("Space")
    b.press("?")
    b.until("list", "document.querySelector('dialog')?.innerText.includes('Next suspicious moment')")
    b.press("Escape")
    b.until("closed", "!document.querySelector('dialog')")
    b.picture("keyboard.png")


if __name__ == "__main__":
    visit.needed()
    place = served.Served()

    def begin():
        v = visit.Visit("keyboard", place.url)
        v.served = place
        return v

    sys.exit(visit.run(begin, [demo, switches, run, correct], place.close))
