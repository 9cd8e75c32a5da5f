# SPDX-License-Identifier: Apache-2.0
"""The page on made-up answers: a machine with runtimes that no test machine has, every view in light and dark, at 1280
pixels and on a tablet, by keyboard."""
import sys

import accessibility
import fixture_server
import visit

VIEWS = [("track", "Compute runtime"), ("pose", "Predict this frame"), ("runs/1", "Live preview"),
         ("results?folder=/data/run1", "animals"), ("doctor", "Try again"), ("troubleshooting", "ONNX is offered")]
STATE = fixture_server.State


def offered(b):
    return b.script("return [...document.querySelectorAll('.chooser input')].map((i) => i.value)")


def chosen(b):
    return b.script("return document.querySelector('.chooser input:checked')?.value")


def gating(v):
    """gating follows the switches at once"""
    b = v.browser
    b.open(v.url)
    b.until("offer", "document.querySelectorAll('.chooser input').length > 3")
    v.expect("tensorrt" in offered(b) and chosen(b) == "tensorrt", f"offered: {offered(b)}, chosen: {chosen(b)}")
    greyed = b.script("return document.querySelector('[data-runtime=rocm]').innerText")
    v.expect("no such device on this machine" in greyed and "buy one" in greyed, f"reason and remedy: {greyed}")
    v.expect(b.script("return document.querySelector('#performance h2').textContent") == "Performance", "Get Started → Performance")


def reset_notice(v):
    """a saved runtime that became impossible is reset and announced"""
    b = v.browser
    b.click("label.check", "Pose")
    v.expect("tensorrt" in offered(b), "YOLO poses can use it")
    b.click("label:has([value=sleap])")
    b.until("reset", "document.querySelector('.reset')?.checkVisibility()")
    b.until("new offer", "!document.querySelector('.chooser input[value=tensorrt]') && document.querySelector('.chooser input:checked').value === 'cpu'")
    v.expect("SLEAP" in b.script("return document.querySelector('[data-runtime=tensorrt]').innerText"), "which pipeline excluded it")
    v.expect("reset to cpu" in b.script("return document.querySelector('.reset').innerText"), "the notice")
    v.expect("reset to cpu" in b.script("return document.getElementById('live').textContent + document.getElementById('notices').innerText"), "it is announced")
    v.expect(STATE.saved == "cpu", "it is saved")
    b.picture("reset.png")
    b.click("label:has([value=yolo])")
    b.until("offer", "document.querySelector('.chooser input[value=tensorrt]') !== null")
    v.expect(chosen(b) == "cpu", "what was reset stays reset")


def same_runtime(v):
    """both workspaces and the header show one runtime"""
    b = v.browser
    b.click(".chooser input[value=cuda]")
    b.until("header", "document.getElementById('runtime_line').innerText.includes('Effective CUDA')")
    v.go("pose")
    b.until("pose", "document.querySelector('.chooser input:checked')?.value === 'cuda'")
    v.expect(b.script("return document.querySelector('.chooser legend').textContent") == "Runtime", "Inference → Runtime")
    b.click("label:has([value=sleap])")
    b.until("gate", "document.querySelector('.chooser input[value=tensorrt]') === null")


def lock(v):
    """locked while a run is on, saying by which"""
    b = v.browser
    STATE.locked = [{"name": "mice", "pid": 4711, "run": None}]
    b.reload()
    b.until("lock", "document.querySelector('.lock')?.checkVisibility()")
    text = b.script("return document.querySelector('.lock').innerText")
    v.expect("mice" in text and "4711" in text and "in a terminal" in text, f"says by which run: {text}")
    v.expect(b.script("return [...document.querySelectorAll('.chooser input')].every((i) => i.disabled)"), "all controls are locked")
    b.picture("locked.png")
    STATE.locked = []
    b.reload()
    b.until("free", "document.querySelector('.chooser input:not(:disabled)')")


def views(v):
    """every view can be read and operated, in light and dark, at 1280 pixels and on a tablet"""
    b = v.browser
    STATE.runs = [fixture_server.run(30)]
    bad = []
    for width, height, theme in ((1280, 900, "light"), (1280, 900, "dark"), (820, 1180, "light")):
        b.size(width, height)
        b.theme(theme)
        for place, text in VIEWS:
            v.go(place)
            b.until_text(text)
            b.picture(f"{place.split('?')[0].split('/')[0]}_{width}_{theme}.png")
            bad += accessibility.check(b, f"{place} {width} {theme}")
    b.size(1280, 900)
    b.theme("light")
    v.expect(not bad, "\n".join(bad))


def checker(v):
    """the checker finds what is planted"""
    b = v.browser
    v.go("doctor")
    b.until_text("Try again")
    v.expect(not accessibility.check(b, "before"), "nothing yet")
    b.script("""
        const main = document.getElementById('main');
        const faint = document.createElement('p');
        faint.id = 'top';
        faint.textContent = 'hardly to be read';
        faint.style.color = '#9a9a9a';
        faint.style.backgroundColor = '#ffffff';
        main.append(faint, document.createElement('button'), document.createElement('h1'))""")
    found = "\n".join(accessibility.check(b, "planted"))
    for part in ("hardly to be read", "button without a name", "id top 2 times", "2 h1"):
        v.expect(part in found, f"'{part}' was not found: {found}")
    v.go("track")


def steady(v):
    """nothing jumps while a view fills itself"""
    b = v.browser
    for place, text in VIEWS:
        b.open("about:blank")
        b.open(f"{v.url}#/{place}")
        b.until_text(text)
        b.script_later("setTimeout(arguments[0], 350)")
        moved = b.script_later("""
            const done = arguments[0];
            new PerformanceObserver((list) => done(list.getEntries().filter((e) => !e.hadRecentInput).reduce((s, e) => s + e.value, 0))).observe({type: 'layout-shift', buffered: true});
            setTimeout(() => done(0), 300)""")
        v.expect(moved < 0.05, f"{place}: layout shift {moved}")


def keyboard(v):
    """the keyboard reaches everything, and the focus is seen"""
    b = v.browser
    b.open("about:blank")
    b.open(v.url + "#/track")
    b.until_text("Compute runtime")
    b.press("Tab")
    v.expect(b.focused()[1] == "skip", f"first the skip link: {b.focused()}")
    b.press("Enter")
    v.expect(b.focused()[0] == "main", f"it leads to the content: {b.focused()}")
    wanted = b.script("""
        const names = new Set();
        return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
            .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && !(e.type === 'radio' && names.size === names.add(e.name).size)).length""")
    b.script("document.activeElement.blur(); window.scrollTo(0, 0)")
    unseen, reached = [], set()
    for _ in range(wanted + 8):
        b.press("Tab")
        spot = b.script("""
            const e = document.activeElement;
            if (e === document.body) return null;
            e.dataset.reached = '1';
            const own = getComputedStyle(e), around = e.type === 'radio' ? getComputedStyle(e.closest('label')) : own;
            return (own.outlineStyle !== 'none' && parseFloat(own.outlineWidth) >= 2) || (around.outlineStyle !== 'none' && parseFloat(around.outlineWidth) >= 2) ? 'seen' : e.outerHTML.slice(0, 120)""")
        if spot and spot != "seen":
            unseen.append(spot)
    reached = b.script("return document.querySelectorAll('[data-reached]').length")
    v.expect(not unseen, f"focus is not seen on {unseen[:5]}")
    v.expect(reached >= wanted, f"{reached} of {wanted} controls reached")


def shortcuts(v):
    """shortcuts are listed under ? and work"""
    b = v.browser
    b.script("document.activeElement.blur()")
    b.press("?")
    b.until("list", "document.querySelector('dialog')?.innerText.includes('Everywhere')")
    v.expect("Test on this frame" in b.script("return document.querySelector('dialog').innerText"), "those of the view")
    b.press("Escape")
    b.until("closed", "!document.querySelector('dialog')")
    b.press("4")
    b.until("results", "document.getElementById('main').dataset.view === 'results'")
    b.until("frame", "document.querySelector('.stage canvas')?.dataset.frame === '0'")
    b.press("Right", "Right", "Right")
    b.until("three on", "document.querySelector('.stage canvas').dataset.frame === '3'")
    b.press("Right", hold="Shift")
    b.until("a second on", "document.querySelector('.stage canvas').dataset.frame === '33'")
    b.press("n")
    b.until("next moment", "document.querySelector('.stage canvas').dataset.frame === '40'")
    b.press("End")
    b.until("last", "document.querySelector('.stage canvas').dataset.frame === '119'")
    b.press("Home")
    b.until("first", "document.querySelector('.stage canvas').dataset.frame === '0'")
    b.script("document.querySelector('.scrubber input[type=range]').focus()")
    b.press("Right")
    b.until("by the scrubber", "document.querySelector('.stage canvas').dataset.frame === '1'")


def beside_the_original(v):
    """where users of the original look: names of its tabs, frames from here to there, several videos, how long a body is"""
    b = v.browser
    v.go("track")
    b.until("settings", "document.querySelector('[data-name=gate]')")
    names = b.script("return [...document.querySelectorAll('[role=tabpanel] details summary')].map((e) => e.textContent)")
    v.expect([n for n in ("Find animals", "Analyze individuals", "Track movement") if n in names] == ["Find animals", "Analyze individuals", "Track movement"], f"groups: {names}")
    v.expect(b.script("return document.querySelector('[data-name=gate]').closest('details').querySelector('summary').textContent") == "Track movement", "the tracker's own are among them")
    b.put(".path input", "/data/fish.mp4")
    b.until("looked at", "document.querySelector('.facts').innerText.includes('320 × 240')")
    if b.script("return [...document.querySelectorAll('label.check')].find((e) => e.textContent.startsWith('Pose')).querySelector('input').checked"):
        b.click("label.check", "Pose")
    b.script("document.querySelectorAll('.path input')[1].id = 'detector'")
    b.put("#detector", "/data/boxes.pt")
    b.script("const r = document.querySelector('.scrubber input[type=range]'); r.value = 30; r.dispatchEvent(new Event('input'))")
    b.until("there", "document.querySelector('.stage canvas').dataset.frame === '30'")
    b.click("[aria-label='First frame: this frame']")
    b.until("from there", "document.querySelector('.as_command .command').textContent.includes('30:')")
    b.click(".more_videos summary")
    b.put(".more_videos textarea", "/data/two.mp4\n/data/three.mp4\n")
    b.until("counted", "document.querySelector('.more_videos summary').textContent === 'More videos (2)'")
    b.until("ready", "[...document.querySelectorAll('.actions button')].find((e) => e.textContent === 'Start').disabled === false")
    b.click(".actions button", "Test on this frame")
    b.until("how long", "document.querySelector('.answer').innerText.includes('boxes 40 px long')")
    STATE.started = []
    b.click(".actions button", "Start")
    b.until("all", "document.getElementById('live').textContent.includes('3 runs')")
    v.expect([s["source"] for s in STATE.started] == [["/data/fish.mp4"], ["/data/two.mp4"], ["/data/three.mp4"]], f"started: {STATE.started}")
    v.expect(all(s["frames"] == "30:" for s in STATE.started), f"the same settings: {STATE.started}")
    b.put(".more_videos textarea", "")


def in_step(v):
    """a frame that takes long is shown by earlier ones, each with its own number"""
    b = v.browser
    b.press("Home")
    b.until("first", "document.querySelector('.stage canvas').dataset.frame === '0'")
    STATE.early = [20, 50, 70]
    b.script("""
        const canvas = document.querySelector('.stage canvas'), copy = new OffscreenCanvas(320, 240).getContext('2d', {willReadFrequently: true});
        window.seen = [];
        new MutationObserver(() => {
            copy.drawImage(canvas, 0, 0, 320, 240);
            const row = copy.getImageData(0, 236, 320, 1).data;
            let bar = 0;
            for (let x = 1; x < 320; x++) if (row[4 * x] > row[4 * bar]) bar = x;
            window.seen.push([Number(canvas.dataset.frame), bar]);
        }).observe(canvas, {attributeFilter: ['data-frame']});
        const r = document.querySelector('.scrubber input[type=range]'); r.value = 100; r.dispatchEvent(new Event('input'))""")
    b.until("there", "document.querySelector('.stage canvas').dataset.frame === '100'")
    seen = b.script("return window.seen")
    v.expect([n for n, _ in seen] == [20, 50, 70, 100], f"by way of {seen}")
    v.expect(all(abs(bar - n * 320 / 120) < 12 for n, bar in seen), f"picture and number belong together: {seen}")


def dropped(v):
    """a path is dropped on the page"""
    b = v.browser
    v.go("pose")
    b.until_text("Backend")
    b.script("""
        const data = new DataTransfer();
        data.setData('text/uri-list', 'file:///data/fish%20one.mp4');
        document.querySelector('.path').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))""")
    b.until("dropped", "document.querySelector('.path input').value === '/data/fish one.mp4'")
    b.until("looked at", "document.querySelector('.facts').innerText.includes('320 × 240')")


def pasted(v):
    """a path may be pasted in quotes or as an address, and a model without keypoints is no pose model"""
    b = v.browser
    v.go("track")
    b.until_text("What to run")
    for text in ('"/data/fish one.mp4"', " '/data/fish one.mp4' ", "file:///data/fish%20one.mp4"):
        b.put(".path input", "/data/other.mp4")
        b.put(".path input", text)
        b.until(text, "document.querySelector('.path input').value === '/data/fish one.mp4' && document.querySelector('.facts').innerText.includes('320 × 240')")
    if not b.script("return [...document.querySelectorAll('label.check')].find((e) => e.textContent.includes('Pose')).querySelector('input').checked"):
        b.click("label.check", "Pose")
    b.script("[...document.querySelectorAll('.path')].find((e) => e.textContent.includes('Pose model')).querySelector('input').id = 'pose_model'")
    b.put("#pose_model", "/data/boxes.pt")
    b.until("refused", "document.querySelector('#pose_model').getAttribute('aria-invalid') === 'true'")
    b.put("#pose_model", "/data/pose.pt")
    b.until("taken", "!document.querySelector('#pose_model').hasAttribute('aria-invalid')")


def topics(v):
    """a bag with images of several cameras: the topic is chosen, and is the run's"""
    b = v.browser
    v.go("track")
    b.until_text("What to run")
    b.put(".path input", "/data/two.mcap")
    b.until("topics", "document.querySelector('[data-front=topic]')?.checkVisibility() && document.querySelector('[data-front=topic]').options.length === 2")
    v.expect("/right/image_raw (7 images, Image)" in b.script("return document.querySelector('[data-front=topic]').innerText"), "names and counts")
    b.script("const l = document.querySelector('[data-front=topic]'); l.value = '/right/image_raw'; l.dispatchEvent(new Event('change', {bubbles: true}));")
    b.until("its images", "document.querySelector('input[type=range]').max === '6'")
    b.until("its run", "Object.values(localStorage).join().includes('\"topic\":\"/right/image_raw\"')")
    b.put(".path input", "/data/fish.mp4")
    b.until("a video", "!document.querySelector('[data-front=topic]').checkVisibility()")
    b.until("without a topic", "!Object.values(localStorage).join().includes('image_raw')")


def no_picture(v):
    """a frame that cannot be read says so in its place"""
    b = v.browser
    STATE.missing = (100,)
    v.refusals.append("frame?")
    go = "const r = document.querySelector('.scrubber input[type=range]'); r.value = arguments[0]; r.dispatchEvent(new Event('input'))"
    b.script(go, 100)
    b.until("said", "document.querySelector('.stage_hint').checkVisibility() && document.querySelector('.stage_hint').innerText.includes('Frame 100 cannot be read')")
    b.picture("no_picture.png")
    b.script(go, 50)
    b.until("gone", "document.querySelector('.stage canvas').dataset.frame === '50' && !document.querySelector('.stage_hint').checkVisibility()")
    STATE.missing = ()


def exporting(v):
    """a run whose runtime needs a file of its own says at which step it is; the header shows the run's own runtime"""
    b = v.browser
    on = {**fixture_server.run(0), "progress": None, "runtime_requested": "onnx_cpu", "runtime": None}
    line = "document.getElementById('runtime_line').innerText"
    for step, text in (("making", "Step 1 of 3"), ("checking", "Step 2 of 3"), ("writing", "Step 3 of 3")):
        STATE.runs = [{**on, "export": {"runtime": "onnx_cpu", "step": step, "text": "/data/model.onnx", "share": None}}]
        b.open("about:blank")
        b.open(v.url + "#/runs/1")
        b.until(step, f"document.querySelector('.note.export')?.innerText.includes('{text}')")
        b.until("which file, for which runtime", "document.querySelector('.note.export').innerText.includes('ONNX (CPU): /data/model.onnx')")
        v.expect(b.script("return document.querySelector('.note.export progress').matches(':indeterminate')"), "that something goes on")
    b.until("not known", line + ".includes('Requested ONNX (CPU)') && " + line + ".includes('Effective not known yet')")
    v.expect("run1" in b.script("return document.querySelector('.run_row').innerText"), "which folder it writes")
    b.picture("export.png")
    STATE.runs = [{**fixture_server.run(3), "runtime_requested": "onnx_cpu", "runtime": "onnx_cpu"}]
    b.reload()
    b.until("known", line + ".includes('Effective ONNX (CPU)')")
    v.refusals.append("runs/1")  # the page may be asking for it just now
    STATE.runs = []


def two_animals(v):
    """a moment chooses its two animals for a correction, and there are never two of one"""
    b = v.browser
    v.go("results?folder=/data/run1")
    b.until("tracks", "document.querySelectorAll('tr[data-track]').length === 3")
    b.click("[data-tab=moments]")
    b.click("button", "Frame 40")
    b.click("[data-tab=fix]")
    both = "[...document.querySelectorAll('.field select')].map((s) => s.value).join()"
    v.expect(b.script("return " + both) == "1,2", f"those of the moment: {b.script('return ' + both)}")
    v.refusals.append("view/corrections")
    b.click("[data-fix=merge]")
    b.until("what helps here", "document.getElementById('notices').innerText.includes('keep the first')")
    b.click("[data-fix=delete]")
    b.until("deleted", both + " === '0,2' && !document.querySelector('[data-fix=swap]').disabled")
    STATE.corrections.clear()
    b.script("document.querySelectorAll('#notices button').forEach((e) => e.click())")


def stranger(v):
    """a page of an earlier start says that it needs the new link, and its header stays in the window"""
    b = v.browser
    v.go("runs")
    b.reload()
    b.until_text("No runs yet")
    v.refusals.append("/api/")
    STATE.stranger = True
    b.script("import('./events.js').then((e) => e.listen())")
    b.until("said", "document.querySelector('.top .state.bad')?.checkVisibility() && document.querySelector('.top .state.bad').innerText.includes('open the link')")
    v.expect(b.script("return document.documentElement.scrollWidth <= innerWidth"), "nothing lies outside the window")
    b.picture("stranger.png")
    STATE.stranger = False
    b.until("known again", "!document.querySelector('.top .state.bad').checkVisibility()")


if __name__ == "__main__":
    visit.needed()
    server, url = fixture_server.start()
    sys.exit(visit.run(lambda: visit.Visit("made_up", url), [gating, reset_notice, same_runtime, lock, views, checker, steady, keyboard, shortcuts, in_step, beside_the_original, dropped, pasted, topics, no_picture,
                                                                              exporting, two_animals, stranger]))
