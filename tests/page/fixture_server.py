# SPDX-License-Identifier: Apache-2.0
"""A server with the page's files and made-up answers: a machine with every runtime, a run that goes on by itself, two
animals whose identities are swapped. For trying the page by hand (python3 tests/page/fixture_server.py) and for what no
test machine has: other runtimes."""
import http.server
import json
import math
import os
import struct
import sys
import threading
import urllib.parse
import zlib

SOURCE = os.environ.get("SKITTER_TEST_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
PAGE = os.path.join(SOURCE, "src", "server", "page")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; font-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
RUNTIMES = [("cpu", "CPU"), ("mps", "MPS"), ("cuda", "CUDA"), ("rocm", "ROCm"), ("onnx_cpu", "ONNX (CPU)"), ("onnx_cuda", "ONNX (CUDA)"),
            ("onnx_rocm", "ONNX (ROCm)"), ("tensorrt", "TensorRT"), ("openvino", "OpenVINO")]
FRAMES, WIDTH, HEIGHT = 120, 320, 240


class State:
    saved = "tensorrt"
    locked = []
    corrections = []
    runs = []
    started = []  # the settings of every run that was begun
    stranger = False  # this page's token is that of an earlier start
    missing = ()  # frames that cannot be read
    early = []  # frames that are given in place of those that were asked for, while somebody is in a hurry


def allowed(name, pipelines):
    if name in ("mps", "rocm", "onnx_rocm"):
        return False
    return not (name == "tensorrt" and "sleap_pose" in pipelines)


def runtimes(pipelines):
    rows = [{"name": n, "label": label, "meaning": f"computes with {label}", "probe": "it works", "allowed": allowed(n, pipelines),
             "because": None if allowed(n, pipelines) else ("SLEAP: no SLEAP export" if n == "tensorrt" else "no such device on this machine"),
             "remedy": None if allowed(n, pipelines) else "buy one", "devices": []} for n, label in RUNTIMES]
    good = allowed(State.saved, pipelines)
    return {"pipelines": pipelines, "runtimes": rows, "saved": State.saved, "effective": State.saved if good else "cpu",
            "notice": None if good else f"'{State.saved}' cannot be used with sleap_pose: reset to cpu", "locked_by": State.locked}


def picture(n):
    """A grey PNG with a bar that moves."""
    row = bytes([0]) + bytes(200 if abs(x - n * WIDTH // FRAMES) < 4 else 90 for x in range(WIDTH))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(row * HEIGHT, 1)) + chunk(b"IEND", b""))


def animal(track, frame):
    swapped = any(c["kind"] == "swap" and frame >= c["frame"] for c in State.corrections)
    a = frame / 15 + (track ^ int(swapped)) * math.pi
    x, y = WIDTH / 2 + 80 * math.cos(a), HEIGHT / 2 + 60 * math.sin(a)
    return {"track": track, "class": 0, "label": "fish", "score": 0.9, "state": "active", "x": x, "y": y, "heading": a + math.pi / 2,
            "box": [x, y, 40, 14, a + math.pi / 2], "keypoints": [[x - 15, y, 0.9], [x + 15, y, 0.8]]}


def view():
    return {"folder": "/data/run1", "command": "track", "complete": True, "source": {"path": "/data/fish.mp4", "frames": FRAMES, "width": WIDTH, "height": HEIGHT, "fps": 30, "readable": True},
            "skeleton": {"names": ["tail", "head"], "edges": [[0, 1]]}, "tracks": 2, "runtime_requested": "cpu", "runtime": "cpu", "first": 0, "last": FRAMES - 1,
            "files": [{"format": "csv", "name": "results.csv", "bytes": 1234}], "formats": ["csv", "slp"], "corrections": corrections()}


def corrections():
    return {"list": [{"text": f"{c['kind']} {c['a']} {c.get('b', '')}"} for c in State.corrections], "can_undo": bool(State.corrections), "can_redo": False}


def series(kind):
    frames = list(range(0, FRAMES, 2))
    both = [[animal(k, n) for n in frames] for k in (0, 1)]
    if kind == "trajectory":
        return {"series": [{"id": k, "frame": frames, "x": [i["x"] for i in both[k]], "y": [i["y"] for i in both[k]]} for k in (0, 1)]}
    if kind == "occupancy":
        return {"columns": 8, "rows": 6, "counts": [i % 7 for i in range(48)]}
    if kind == "distance":
        return {"unit": "px", "series": [{"a": 0, "b": 1, "frame": frames, "value": [100 + 30 * math.sin(n / 9) for n in frames]}]}
    return {"unit": "px/s", "series": [{"id": k, "frame": frames, "value": [50 + 40 * math.sin(n / 10 + k) for n in frames]} for k in (0, 1)]}


def run(progress):
    return {"id": "1", "command": "track", "title": "fish.mp4", "state": "running" if progress < FRAMES else "done", "folder": "/data/run1", "source": "/data/fish.mp4",
            "command_line": "skitter track /data/fish.mp4", "pid": 4711, "own": True, "started": 1, "runtime_requested": "cpu", "runtime": "cpu", "preview": None,
            "progress": {"frame": progress, "total": FRAMES, "fps": 51.2, "seconds_left": 3, "stages": [{"name": "network", "fps": 60}], "queues": [{"name": "decoded", "fill": 3, "capacity": 8}], "memory": 2e8},
            "export": None, "message": None, "hint": None, "log": ["begun"]}


def answer(method, path, query, body):
    one = lambda name: query.get(name, [""])[0]
    pipelines = [p for p in (one("pipelines") or ",".join(body.get("pipelines", []) or [])).split(",") if p]
    if path == "about":
        return {"version": "0", "roots": ["/data"]}
    if path == "demo":
        return {"video": "/data/fish.mp4", "detector": "/data/boxes.pt", "pose": "/data/pose.pt", "animals": 2}
    if path == "runtimes":
        return runtimes(pipelines)
    if path == "runtime":
        State.saved = body["value"]
        return runtimes(pipelines)
    if path == "runtime/reset":
        told = runtimes(pipelines)["notice"]
        if told:
            State.saved = "cpu"
        return {**runtimes(pipelines), "notice": told}
    if path == "files":
        return {"path": "/data", "parent": None, "entries": [{"name": n, "path": f"/data/{n}", "kind": k, "bytes": 10 ** 6} for n, k in
                (("fish.mp4", "video"), ("boxes.pt", "model"), ("pose.pt", "model"), ("sleap", "model"), ("run1", "run"), ("notes.txt", "other"))]}
    if path == "recent":
        return {"videos": ["/data/fish.mp4"], "models": ["/data/boxes.pt"], "runs": ["/data/run1"]}
    if path == "probe":
        name = one("path")
        if name.endswith(".mcap"):
            topic = one("topic") or "/left/image_raw"
            return {"kind": "video", "video": {"frames": FRAMES if "left" in topic else 7, "fps": 30, "width": WIDTH, "height": HEIGHT, "seconds": 1, "topic": topic,
                    "topics": [{"name": n, "type": "sensor_msgs/msg/Image", "images": i} for n, i in (("/left/image_raw", FRAMES), ("/right/image_raw", 7))]}}
        if name.endswith(".mp4"):
            return {"kind": "video", "video": {"frames": FRAMES, "fps": 30, "width": WIDTH, "height": HEIGHT, "seconds": FRAMES / 30}}
        if name.endswith(".pt") or name.endswith("sleap"):
            pose = "pose" in name or "sleap" in name
            return {"kind": "model", "model": {"family": "sleap" if "sleap" in name else "yolo", "task": "pose" if pose else "obb", "pipeline": "sleap_pose" if "sleap" in name else "yolo_pose" if pose else "yolo_obb_detection",
                    "classes": ["fish"], "keypoints": ["tail", "head"] if pose else [], "edges": [[0, 1]] if pose else []}}
        if name.endswith("run1"):
            return {"kind": "run"}
        raise ValueError(f"{name}: there is no such file")
    if path == "settings":
        return {"options": [{"name": "conf", "kind": "real", "default": "0.1", "min": 0, "max": 1, "help": "YOLO: keep detections with a confidence above this", "needs": ["yolo"]},
                            {"name": "animals", "kind": "int", "min": 1, "max": 65536, "help": "there are N animals"},
                            {"name": "tracker", "kind": "choice", "choices": ["skitter", "bytetrack"], "default": "skitter", "help": "how detections become tracks"},
                            {"name": "peak-threshold", "kind": "real", "default": "0.2", "min": 0, "max": 1, "help": "SLEAP: smallest confidence", "needs": ["sleap"]}],
                "set": [{"name": "gate", "unit": "bodies", "default": "2", "help": "farther is another animal"}]}
    if path == "test-frame":
        return {"frame": body["frame"], "width": WIDTH, "height": HEIGHT, "instances": [animal(0, body["frame"])], "skeleton": {"names": [], "edges": []}, "outside": 0, "runtime": "cpu", "ms": 12}
    if path == "command":
        return {"command_line": "skitter track " + json.dumps(body["settings"])}
    if path == "runs":
        if method == "POST":
            State.started.append(body["settings"])
            State.runs = [run(10)]
            return State.runs[0]
        return {"runs": State.runs}
    if path.startswith("runs/"):
        if not State.runs:
            raise ValueError("there is no such run")
        if path.endswith("/stop"):
            State.runs[0]["state"] = "stopped"
        if path.endswith("/continue"):
            State.runs[0]["state"] = "running"
        return State.runs[0]
    if path == "view":
        return view()
    if path == "view/frames":
        return {"frames": [{"frame": n, "instances": [animal(0, n), animal(1, n)]} for n in range(int(one("from")), min(FRAMES, int(one("to")) + 1))]}
    if path == "view/tracks":
        return {"tracks": [{"id": k, "name": "", "first": 0, "last": FRAMES - 1, "seen": FRAMES, "covered": 0, "distance": 500.0, "speed": 60.5} for k in (0, 1, 2)
                            if not any(c["kind"] == "delete" and c["a"] == k for c in State.corrections)]}
    if path == "view/series":
        return series(one("kind"))
    if path == "view/suspects":
        return {"suspects": [{"frame": 40, "tracks": [1, 2], "kind": "near", "text": "animals 1 and 2 come close"}]}
    if path == "view/corrections" and body["kind"] == "merge" and "prefer" not in body:
        raise ValueError("both are in 3 frames: --prefer 0 or --prefer 1")
    if path == "view/corrections":
        State.corrections.append(body)
        return corrections()
    if path == "view/undo":
        State.corrections.pop()
        return corrections()
    if path == "view/save":
        return {"folder": body["to"]}
    if path == "doctor":
        return {"runtimes": [{"name": n, "label": label, "meaning": f"computes with {label}", "available": allowed(n, []), "because": None if allowed(n, []) else "no such device", "remedy": "" if allowed(n, []) else "buy one", "version": "1.0", "devices": []} for n, label in RUNTIMES]}
    if path == "troubleshooting":
        return {"questions": [{"id": i, "question": q, "answer": "Because.", "findings": [{"ok": True, "text": "cpu works"}]} for i, q in
                (("vanished", "A runtime disappeared"), ("onnx_fails", "ONNX is offered, but fails"), ("sleap_missing", "SLEAP: ONNX or TensorRT is not offered"))]}
    raise ValueError(f"no such thing: {path}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, kind, data, more=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", POLICY)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def handle_api(self, method):
        url = urllib.parse.urlsplit(self.path)
        path = url.path[len("/api/v1/"):]
        query = urllib.parse.parse_qs(url.query)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if State.stranger:
            self.reply(401, "application/json", b'{"error": {"message": "the link is old", "hint": null}}')
            return
        if path == "events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b"event: runtimes\ndata: {}\n\n")
            self.wfile.flush()
            self.rfile.read(1)  # until the page goes
            return
        if path in ("frame", "view/frame.jpg") and int(query["n"][0]) in State.missing:
            self.reply(404, "application/json", b"{}")
            return
        if path in ("frame", "view/frame.jpg"):
            n = State.early.pop(0) if State.early and "within" in query else int(query["n"][0])
            self.reply(200, "image/png", picture(n), {"X-Skitter-Frame": str(n)})
            return
        try:
            self.reply(200, "application/json", json.dumps(answer(method, path, query, body)).encode())
        except ValueError as error:
            self.reply(404, "application/json", json.dumps({"error": {"message": str(error), "hint": "look again"}}).encode())

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.startswith("/api/v1/"):
            return self.handle_api("GET")
        name = os.path.normpath(path.lstrip("/") or "index.html")
        full = os.path.join(PAGE, name)
        if name.startswith("..") or not os.path.isfile(full):
            return self.reply(404, "text/plain", b"")
        with open(full, "rb") as file:
            self.reply(200, TYPES.get(os.path.splitext(name)[1], "application/octet-stream"), file.read())
        return None

    def do_POST(self):
        self.handle_api("POST")

    def do_PUT(self):
        self.handle_api("PUT")

    def do_DELETE(self):
        self.handle_api("DELETE")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


def start(port=0):
    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8765), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    server.serve_forever()
