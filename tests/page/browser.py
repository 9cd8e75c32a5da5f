# SPDX-License-Identifier: Apache-2.0
"""Chromium through chromedriver's own HTTP protocol (WebDriver), with nothing but Python's standard library."""
import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ", "Left": "\ue012", "Up": "\ue013",
        "Right": "\ue014", "Down": "\ue015", "Home": "\ue011", "End": "\ue010", "Shift": "\ue008", "Control": "\ue009"}


class BrowserError(Exception):
    pass


def programs():
    """chromium and chromedriver, or None where one is absent."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


class Browser:
    def __init__(self, folder, width=1280, height=900):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        chromium, driver = programs()
        self.log = open(os.path.join(folder, "chromedriver.log"), "wb")
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=self.log)
        self.port = self._port()
        self.session = None
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                     "--disable-default-apps", "--disable-sync", "--force-device-scale-factor=1",
                     "--force-prefers-reduced-motion", f"--window-size={width},{height}",
                     "--user-data-dir=" + os.path.join(folder, "profile")]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}, "unhandledPromptBehavior": "accept"}}})
        self.session = made["sessionId"]
        self.size(width, height)

    def _port(self):
        for line in self.process.stdout:
            found = re.search(rb"successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise BrowserError("chromedriver did not start")

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        where = path if self.session is None else f"/session/{self.session}{path}"
        connection.request(method, where, None if method == "GET" else json.dumps(body or {}),
                           {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        value = answer.get("value")
        if isinstance(value, dict) and value.get("error"):
            raise BrowserError(f"{value['error']}: {value.get('message', '')[:600]}")
        return value

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "")
        except (BrowserError, OSError):
            pass
        self.process.terminate()
        self.process.wait(10)
        self.log.close()
        shutil.rmtree(os.path.join(self.folder, "profile"), ignore_errors=True)

    # pages
    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def reload(self):
        self.call("POST", "/refresh")

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride",
                 {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def theme(self, name):
        self.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def script(self, text, *arguments):
        return self.call("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def script_later(self, text, *arguments):
        """The script calls its last argument with the answer."""
        return self.call("POST", "/execute/async", {"script": text, "args": list(arguments)})

    def cdp(self, command, parameters=None):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters or {}})

    def picture(self, name):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))
        return path

    def console(self):
        """What was said on the console since the last call."""
        return self.call("POST", "/se/log", {"type": "browser"})

    # waiting
    def until(self, what, condition, seconds=20):
        """Waits for a JavaScript expression to be true; its value is the answer."""
        end = time.monotonic() + seconds
        while True:
            value = self.script("return (" + condition + ")")
            if value:
                return value
            if time.monotonic() > end:
                self.picture("waited_in_vain.png")
                raise AssertionError(f"{what}: not within {seconds} s: {condition}")
            time.sleep(0.05)

    def until_text(self, text, seconds=20):
        return self.until(text, f"document.body.innerText.includes({json.dumps(text)})", seconds)

    # elements
    def find(self, css, text=None, seconds=5):
        """The first visible element of the selector, and with that text in it (or as its name); the view may be just being made."""
        end = time.monotonic() + seconds
        while True:
            found = self.script("""
                const [css, text] = arguments;
                return [...document.querySelectorAll(css)].find((e) => e.checkVisibility()
                    && (text === null || e.textContent.includes(text) || (e.getAttribute('aria-label') ?? '').includes(text))) ?? null""", css, text)
            if found:
                return found[ELEMENT]
            if time.monotonic() > end:
                raise AssertionError(f"no visible {css}" + (f" with '{text}'" if text else ""))
            time.sleep(0.05)

    def click(self, css, text=None):
        element = self.find(css, text)
        self.script("arguments[0].scrollIntoView({block: 'center'})", {ELEMENT: element})
        self.call("POST", f"/element/{element}/click")

    def type(self, css, text, clear=True):
        element = self.find(css)
        if clear:
            self.script("arguments[0].value = ''", {ELEMENT: element})
        self.call("POST", f"/element/{element}/value", {"text": text})

    def put(self, css, text):
        """Types a value and leaves the field."""
        self.type(css, text)
        self.script("arguments[0].dispatchEvent(new Event('change', {bubbles: true}))", {ELEMENT: self.find(css)})

    def press(self, *keys, hold=None):
        actions = []
        if hold:
            actions.append({"type": "keyDown", "value": KEYS[hold]})
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        if hold:
            actions.append({"type": "keyUp", "value": KEYS[hold]})
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, css, start, end):
        """With the mouse, from one place of an element to another; places are shares of its sides."""
        box = self.script("""
            const box = arguments[0].getBoundingClientRect(); return [box.left, box.top, box.width, box.height]""", {ELEMENT: self.find(css)})
        at = lambda p: {"x": round(box[0] + box[2] * p[0]), "y": round(box[1] + box[3] * p[1])}
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "duration": 0, **at(start)}, {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "duration": 30, **at([(start[0] + end[0]) / 2, (start[1] + end[1]) / 2])},
            {"type": "pointerMove", "duration": 30, **at(end)}, {"type": "pointerUp", "button": 0}]}]})

    def focused(self):
        """What has the focus, in words."""
        return self.script("""
            const e = document.activeElement;
            return [e.tagName.toLowerCase(), e.id, (e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent ?? '').trim().slice(0, 60)]""")
