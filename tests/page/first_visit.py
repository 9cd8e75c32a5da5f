# SPDX-License-Identifier: Apache-2.0
"""A first visit with the real server, from the printed link to a corrected copy: demo, test on a frame, region, a wrong
file, a run that is watched, reloaded, stopped and continued, the lock, results, a swap, downloads."""
import json
import os
import signal
import sys
import time

import accessibility
import served
import visit

OPENS_WITHIN = 300  # ms; the best of some visits, for other work on the machine only makes it longer


def state(b, selector):
    return b.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)


def ask(b, path):
    """The server's answer, as the page gets it."""
    return b.script_later("const done = arguments[1]; fetch('/api/v1/' + arguments[0]).then((a) => a.json()).then(done)", path)


def runs(b):
    return ask(b, "runs")["runs"]


def hold(b, preview=False, seconds=60):
    """Stops the run's process for a while, however fast the machine is: the page can then be looked at while it is on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run = runs(b)[-1]
        if run["state"] == "running" and run["pid"] and (run["progress"] or {}).get("frame", 0) > 0 \
                and (run["preview"] is not None or not preview):
            os.kill(run["pid"], signal.SIGSTOP)
            return run["pid"]
        time.sleep(0.02)
    raise AssertionError(f"the run does not go on: {runs(b)[-1]}")


def opens(v):
    """the printed link opens the page, and leaves no token in the address"""
    b = v.browser
    v.expect("token" not in b.script("return location.href"), "the address is clean")
    v.expect(b.script("return document.cookie") == "", "scripts cannot read the cookie")
    best = 1e9
    for _ in range(8):
        b.reload()
        b.until("frame of the page", "document.querySelector('.chooser') && performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        best = min(best, b.script("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))
        if best < OPENS_WITHIN:
            break
    print(f"          opens in {best:.0f} ms")
    v.expect(best < OPENS_WITHIN * (4 if os.environ.get("SKITTER_TEST_SANITIZE") else 1), f"the page opens in {best:.0f} ms")


def reset(v):
    """what an earlier machine had saved is reset, and announced"""
    b = v.browser
    b.open(v.url)
    b.until("notice", "document.querySelector('.reset')?.checkVisibility()")
    notice = state(b, ".reset")
    v.expect("cuda" in notice and "cpu" in notice, f"the notice: {notice}")
    b.until("header", "document.getElementById('runtime_line').innerText.replace(/\\s+/g, ' ') === 'Requested CPU Effective CPU'")
    greyed = state(b, "[data-runtime=cuda]")
    v.expect("YOLO, turned boxes" in greyed and "What helps" in greyed, f"reason and remedy: {greyed}")
    b.picture("reset.png")


def demo(v):
    """the demo fills in a video and a detector"""
    b = v.browser
    b.click("#demo")
    b.until("video", "document.querySelector('.facts').innerText.includes('640 × 480')", 60)
    b.until("detector", "document.querySelectorAll('.facts')[1].innerText.includes('obb')")
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.script("document.querySelector('.scrubber input[type=range]').focus()")
    b.press("Right", "Right")
    b.until("third frame", "document.querySelector('.stage canvas').dataset.frame === '2'")


def gating(v):
    """switching the backend recomputes what is offered, and says which pipeline excludes"""
    b = v.browser
    b.click("label.check", "Pose")
    b.click("label:has([value=sleap])")
    b.click("label.check", "Detection")
    b.until("SLEAP alone", "document.querySelector('[data-runtime=cuda]')?.innerText.includes('SLEAP')")
    b.click("label.check", "Detection")
    b.click("label:has([value=yolo])")
    b.until("YOLO again", "document.querySelector('[data-runtime=cuda]')?.innerText.includes('YOLO, turned boxes')")
    b.click("label.check", "Pose")


def wrong_file(v):
    """a wrong file is named with what is wrong, and nothing else breaks"""
    b = v.browser
    v.refusals.append("/probe?")
    good = b.script("return document.querySelector('.path input').value")
    broken = os.path.join(v.served.data, "broken.mp4")
    with open(broken, "w", encoding="utf-8") as file:
        file.write("this is no video")
    for path, words in ((broken, "broken.mp4"), (os.path.join(v.served.data, "none.mp4"), "none.mp4"), ("/etc/passwd", "folder")):
        b.put(".path input", path)
        b.until(path, "document.querySelector('.facts.wrong') !== null")
        v.expect(words in state(b, ".facts"), f"{path}: {state(b, '.facts')}")
        v.expect(b.script("return document.querySelector('.path input').getAttribute('aria-invalid')") == "true", "marked as wrong")
    v.expect(b.script("return [...document.querySelectorAll('.actions button')].filter((e) => ['Test on this frame', 'Start'].includes(e.textContent)).every((e) => e.disabled)"), "nothing can be started")
    b.picture("wrong_file.png")
    b.put(".path input", good)
    b.until("good again", "!document.querySelector('.facts.wrong') && document.querySelector('.stage canvas').dataset.frame === '0'")


def browser_of_files(v):
    """a video is chosen in the file browser, by keyboard"""
    b = v.browser
    b.click(".path button", "Browse")
    b.until("list", "document.querySelector('dialog .entry[data-kind=video]')")
    b.script("document.querySelector('dialog input[type=search]').focus()")
    b.press(*"scene")
    b.press("Down", "Down", "Enter")
    b.until("chosen", "!document.querySelector('dialog') && document.querySelector('.path input').value.endsWith('scene.mp4')")
    b.until("looked at", "document.querySelector('.facts').innerText.includes('640 × 480')")


def test_on_frame(v):
    """Test on this frame"""
    b = v.browser
    b.until("ready", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.click(".actions button", "Test on this frame")
    b.until("found", "document.querySelector('.answer').innerText.includes('found in frame 0')", 60)
    b.picture("test_on_frame.png")
    found = int(state(b, ".answer").split()[0])
    v.expect(4 <= found <= 12, f"{found} of 7 animals found")


def region(v):
    """a region is drawn on the frame, and counts"""
    b = v.browser
    b.click("[data-tab=region]")
    b.click(".segments label", "Rectangle")
    b.drag(".stage canvas", [0.0, 0.0], [0.5, 1.0])
    b.until("region", "document.querySelector('li input.mono')?.value.startsWith('0,0,')")
    b.picture("region.png")
    b.until("in the command", "document.querySelector('.as_command .command').textContent.includes('roi')")
    b.click("li button.icon")
    b.until("gone", "!document.querySelector('.as_command .command').textContent.includes('roi')")
    b.click(".segments label", "Off")
    b.click("[data-tab=start]")


def configuration(v):
    """settings are saved as a file that the command line reads, and read again; so are hydra-suite's"""
    b = v.browser
    command = lambda: b.script("return document.querySelector('.as_command .command').textContent")
    b.put("[data-front=animals]", "6")
    b.until("in the command", "document.querySelector('.as_command .command').textContent.includes('--animals=6')")
    first = command()
    scene = b.script("return document.querySelector('.path input').value")
    saved = os.path.join(os.path.dirname(scene), "mine.json")
    b.click("#config_save")
    b.put("dialog input", saved)
    b.click("dialog button.main")
    b.until_text("Saved: " + saved)
    theirs = os.path.join(os.path.dirname(scene), "hydra.json")
    with open(theirs, "w", encoding="utf-8") as file:
        json.dump({"file_path": scene, "yolo_obb_direct_model_path": os.path.join(v.served.models, "demo-obb.pt"), "max_targets": 3, "fps": 30,
                   "reference_body_size": 60, "start_frame": 1, "end_frame": 4, "compute_runtime": "cpu", "dataset_class_name": "fish",
                   "roi_shapes": [{"type": "circle", "params": [320, 240, 200], "mode": "include"}]}, file)
    b.click("#config_load")
    b.click("dialog .entry", "hydra.json")
    b.until("loaded", "document.querySelector('[data-front=animals]').value === '3' && document.querySelector('.notes')?.innerText.includes('dataset_class_name')")
    b.until("the command", "document.querySelector('.as_command .command').textContent.includes('hydra.json')")
    for part in ("--animals=3", "--frames=1:5", "--roi=circle:320,240,200", "demo-obb.pt"):
        v.expect(part in command().replace("'", ""), f"{part}: {command()}")
    b.picture("configuration.png")
    b.click("#config_load")
    b.click("dialog .entry", "mine.json")
    b.until("as it was", f"document.querySelector('.as_command .command').textContent === {json.dumps(first)}")
    v.served.skitter("track", "--config", saved, "--frames", "0:4", "--no-cache", "-o", "by_config")
    v.expect(os.path.exists(os.path.join(v.served.data, "by_config", "tracks.csv")), "a terminal reads it")
    b.click("[data-tab=start]")
    b.put("[data-front=animals]", "")


def refused(v):
    """a run that fails at once says why, in the command line's words"""
    b = v.browser
    b.click("[data-tab=settings]")
    b.put(".settings_search", "frames")
    b.put("[data-name=frames] input", "abc")
    b.click(".actions button", "Start")
    b.until("said", "document.querySelector('.work .note.bad')?.innerText.includes('--frames abc')", 30)
    v.expect("failed" in state(b, ".run_line"), f"its state: {state(b, '.run_line')}")
    b.picture("refused.png")
    b.click("[data-name=frames] button")
    b.put(".settings_search", "")
    b.click(".run_line a", "Watch it")
    b.click(".run .actions button", "Take off the list")
    b.until("gone", "document.body.innerText.includes('No runs yet')")
    v.go("track")
    b.click("[data-tab=start]")
    b.until("ready again", "document.querySelector('.stage canvas')?.dataset.frame === '0'")


def long_video(v):
    """a longer video is typed in, and a run is started"""
    b = v.browser
    v.long = os.path.join(v.served.data, "long.mp4")
    v.served.skitter("scene", "-o", v.long, "--species", "mixed", "--animals", "5", "--seconds", str(v.seconds), "--seed", "1000001000003")
    b.put(".path input", v.long)
    b.until("looked at", "document.querySelector('.facts').innerText.includes('frames')")
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.click("[data-tab=settings]")
    for name, value in (("animals", "5"), ("threads", "1")):
        b.put(".settings_search", name)
        b.until(name, f"document.querySelector('[data-name={name}]').checkVisibility()")
        b.put(f"[data-name={name}] input", value)
        b.until("in the command", f"document.querySelector('.as_command .command').textContent.includes('--{name}')")
    b.click(".actions button", "Start")
    b.until("started", "document.querySelector('.run_line').innerText.includes('long')")
    v.held = hold(b)
    b.click("[data-tab=start]")


def lock(v):
    """runtime controls are locked while it runs, and say by which run"""
    b = v.browser
    b.until("lock", "document.querySelector('.lock')?.checkVisibility()")
    text = state(b, ".lock")
    v.expect("started here" in text, f"says by which run: {text}")
    v.expect(b.script("return [...document.querySelectorAll('.chooser input')].every((e) => e.disabled)"), "all are locked")
    v.expect(runs(b)[-1]["runtime"] == "cpu", f"the effective runtime is known while it runs: {runs(b)[-1]}")
    b.picture("locked.png")


def stopped(v):
    """it is watched, and stopped"""
    b = v.browser
    b.click(".run_line a", "Watch it")
    b.until("progress", "Number(document.querySelector('.tile b')?.innerText.split(' ')[0]) > 0", 60)
    b.click(".run .actions button", "Stop")
    os.kill(v.held, signal.SIGCONT)
    b.until("stopped", "['stopped', 'done'].includes(document.querySelector('.run .state')?.innerText)", 30)
    v.expect(state(b, ".run .state") == "stopped", "the run was over before it could be stopped: the video is too short")
    b.picture("stopped.png")


def continued(v):
    """continued, it survives a reload, and a second tab sees the same"""
    b = v.browser
    b.click(".run .actions button", "Continue")
    v.held = hold(b, preview=True)
    b.until("preview", "document.querySelector('.run .stage img')?.complete && !document.querySelector('.run .stage img').hidden", 30)
    b.picture("run.png")
    b.reload()
    b.until("after the reload", "Number(document.querySelector('.tile b')?.innerText.split(' ')[0]) > 0", 30)
    v.expect(len(b.script("return document.querySelector('.log').textContent")) > 10, "its log is there again")
    first = b.call("GET", "/window")
    b.call("POST", "/window", {"handle": b.call("POST", "/window/new", {"type": "tab"})["handle"]})
    b.open(v.url.split("?")[0] + "#/runs")
    b.until("second tab", "document.querySelector('.run_row .state')?.innerText")
    b.call("DELETE", "/window")
    b.call("POST", "/window", {"handle": first})
    b.size(1280, 900)


def queued(v):
    """a second run waits for the first, and may be taken off the list"""
    b = v.browser
    v.go("track")
    b.until("ready", "[...document.querySelectorAll('.actions button')].find((e) => e.textContent === 'Start')?.disabled === false")
    b.click(".actions button", "Start")
    b.until("waits", "document.querySelector('.run_line').innerText.includes('waiting')")
    b.click(".run_line a", "Watch it")
    b.until("both", "[...document.querySelectorAll('.run_row .state')].map((e) => e.innerText).join() === 'running,waiting'")
    b.until("the second", "document.querySelector('.run .state')?.innerText === 'waiting'")
    b.picture("queued.png")
    b.click(".run .actions button", "Stop")
    b.until("stopped", "document.querySelector('.run .state')?.innerText === 'stopped'")
    b.click(".run .actions button", "Take off the list")
    b.until("one left", "document.querySelectorAll('.run_row').length === 1")


def done(v):
    """the first goes on to its end"""
    b = v.browser
    os.kill(v.held, signal.SIGCONT)
    b.until("done", "document.querySelector('.run .state')?.innerText === 'done'", 120)


def results(v):
    """results: scrub, tracks, plots, moments"""
    b = v.browser
    b.click(".run .actions a", "Results")
    b.until("tracks", "document.querySelectorAll('tr[data-track]').length === 5", 30)
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '0'")
    slowest = 0
    for n in (v.frames - 1, 17, v.frames // 2):
        begun = time.monotonic()
        b.script("const r = document.querySelector('.scrubber input[type=range]'); r.value = arguments[0]; r.dispatchEvent(new Event('input'))", n)
        b.until(f"frame {n}", f"document.querySelector('.stage canvas').dataset.frame === '{n}'")
        slowest = max(slowest, time.monotonic() - begun)
    print(f"          slowest scrub {slowest * 1000:.0f} ms")
    for kind in ("Speed", "Heading", "Occupancy", "Distance", "Trajectory"):
        b.click(".segments label", kind)
        b.until(kind, f"document.querySelector('.plot').getAttribute('aria-label').startsWith('{kind}: ')")
        v.expect(b.script("""
            const p = document.querySelector('.plot'), copy = new OffscreenCanvas(p.width, p.height).getContext('2d', {willReadFrequently: true});
            copy.drawImage(p, 0, 0);
            const d = copy.getImageData(0, 0, p.width, p.height).data;
            const seen = new Set();
            for (let i = 0; i < d.length; i += 4 * 7) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
            return seen.size""") > 3, f"{kind} is drawn")
    b.picture("results.png")
    v.expect(not accessibility.check(b, "results"), "\n".join(accessibility.check(b, "results")))


def places(b, folder, frame):
    found = ask(b, f"view/frames?folder={folder}&from={frame}&to={frame}")["frames"][0]["instances"]
    return {i["track"]: (round(i["x"], 1), round(i["y"], 1)) for i in found if i.get("track") is not None}


def swapped(v):
    """two identities are swapped from a frame on, undone, done again, and saved as a copy"""
    b = v.browser
    folder = runs(b)[-1]["folder"]
    at = v.frames // 2
    before, later = places(b, folder, at - 1), places(b, folder, at + 1)
    b.click("[data-tab=fix]")
    first, second = b.script("const s = document.querySelectorAll('.field select'); return [Number(s[0].value), Number(s[1].value)]")
    b.click("[data-fix=swap]")
    b.until("swapped", "document.querySelectorAll('.corrections li').length === 1 && document.querySelector('.corrections li:not(.dim)')")
    after = places(b, folder, at + 1)
    v.expect(after[first] == later[second] and after[second] == later[first], f"swapped from frame {at} on: {later} {after}")
    v.expect(places(b, folder, at - 1) == before, "not before it")
    b.click("[data-fix=undo]")
    b.until("undone", "document.querySelector('.corrections li.dim')")
    v.expect(places(b, folder, at + 1) == later, "as it was")
    b.click("[data-fix=redo]")
    b.until("done again", "document.querySelector('.corrections li:not(.dim)')")
    b.picture("corrected.png")
    b.click("[data-fix=save]")
    b.click("dialog button.main")
    b.until_text("Saved:", 30)
    copy = folder + "_corrected"
    v.expect(os.path.exists(os.path.join(copy, "tracks.csv")), "the copy has its files")
    b.click(".notices button", "Open it")
    b.until("the copy", "location.hash.includes('_corrected')")
    b.until("its frames", "document.querySelector('.stage canvas')?.dataset.frame === '0'")
    copied = places(b, copy, at + 1)
    v.expect(copied[first] == later[second], f"the copy is corrected: {copied}")


def downloads(v):
    """every file can be downloaded"""
    b = v.browser
    b.click("[data-tab=files]")
    links = b.until("links", "[...document.querySelectorAll('a[download]')].map((a) => a.getAttribute('href'))")
    v.expect(len(links) >= 4, f"links: {links}")
    for link in links:
        code, size = b.script_later("const done = arguments[1]; fetch(arguments[0]).then(async (a) => done([a.status, (await a.arrayBuffer()).byteLength]))", link)
        v.expect(code == 200 and size > 0, f"{link}: {code}, {size} bytes")


def terminal_run(v):
    """a run in a terminal locks the runtime, too"""
    b = v.browser
    v.go("pose")
    b.until("free", "document.querySelector('.chooser input:not(:disabled)')")
    process = v.served.skitter("track", v.long, "-m", os.path.join(v.served.models, "demo-obb.pt"), "-o", "by_hand", "--no-cache", wait=False)
    b.until("lock", "document.querySelector('.lock')?.innerText.includes('in a terminal')", 20)
    v.expect(str(process.pid) in state(b, ".lock"), f"says by which: {state(b, '.lock')}")
    process.terminate()
    process.wait(30)
    process.stderr.close()
    b.until("free again", "document.querySelector('.chooser input:not(:disabled)')", 20)


def predicted(v):
    """Pose: predict this frame, predict all, and its results without tracks"""
    b = v.browser
    b.put(".path input", os.path.join(v.served.data, "skitter-demo-page", "scene.mp4"))
    b.script("document.querySelectorAll('.path input')[1].id = 'model'")
    b.put("#model", os.path.join(v.served.models, "demo-pose.pt"))
    b.until("skeleton", "document.querySelector('.skeleton svg')")
    b.click(".actions button", "Predict this frame")
    b.until("found", "document.querySelector('.answer').innerText.includes('found in frame 0')", 60)
    b.picture("pose.png")
    b.click(".actions button", "Predict all")
    b.until("done", "document.querySelector('.run_line').innerText.includes('done')", 120)
    b.click(".run_line a", "Results")
    b.click("[data-tab=tracks]")
    b.until("no tracks", "document.body.innerText.includes('No tracks')", 30)
    b.until("frame", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.picture("predicted.png")


def doctor(v):
    """the doctor tries again"""
    b = v.browser
    v.go("doctor")
    b.until("cards", "document.querySelectorAll('.doctor').length === 9", 60)
    b.click("button", "Try again")
    b.until("done", "document.getElementById('live').textContent.includes('runtimes work')", 60)
    v.go("troubleshooting")
    b.until("three questions", "document.querySelectorAll('[data-question]').length === 3", 60)


def server_gone(v):
    """a server that went away is said, and one that came back is found again"""
    b = v.browser
    port = int(v.url.split(":")[2].split("/")[0])
    v.refusals += ["events", "runs", "runtimes", "ERR_CONNECTION", "/api/"]
    v.served.stop()
    b.until("said", "document.querySelector('.top .state.bad').checkVisibility()", 20)
    v.served.start(port)
    b.open(v.served.url)
    b.until("again", "document.querySelector('.top .state.bad') && !document.querySelector('.top .state.bad').checkVisibility()", 20)
    v.expect(len(runs(b)) >= 1, "the runs are still known")


if __name__ == "__main__":
    visit.needed()
    place = served.Served(runtime="cuda")

    def begin():
        v = visit.Visit("first_visit", place.url)
        v.served = place
        v.seconds = 8
        v.frames = v.seconds * 30
        return v

    sys.exit(visit.run(begin, [reset, opens, demo, gating, wrong_file, browser_of_files, test_on_frame, region, configuration, refused, long_video, lock, stopped,
                               continued, queued, done, results, swapped, downloads, terminal_run, predicted, doctor, server_gone], place.close))
