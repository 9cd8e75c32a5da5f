#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `skitter node` costs and what it withstands, measured by a peer of another making (PyPI's cyclonedds) on this machine's
loopback. usage: bench/node.py [--skitter build/skitter] [--model share/models/demo-obb.pt] [--frames 10000] [PART…]

    latency   from publishing an image of 640 x 480 to having its result, less what the network itself took
    lossless  reliable: every image gives a result, in order; memory before and after
    newest    best effort, a camera that is too fast: how old results are, and that the last image is looked at
    killed    a peer that is killed (SIGKILL) while it publishes, and starts again, several times

Needs a Python with cyclonedds (pip install cyclonedds). Exits 1 where something is lost, out of order, or memory grows."""
import argparse
import os
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "ros"))
from dds_peer import *

WIDTH, HEIGHT = 640, 480
wrong = []


def check(fine, text):
    if not fine:
        wrong.append(text)
        print("WRONG:", text)


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p / 100))]


def network_ms(peer, health):
    """The least and p50 of the stage, from the node's own diagnostics."""
    facts, end = None, time.monotonic() + 5
    take(health)
    while not facts and time.monotonic() < end:
        for message in take(health):
            facts = {v.key: v.value for v in message.status[0].values}
        peer.wait(0.1)
    return [float(facts["network ms"].split(word)[1].split(",")[0]) for word in ("min ", "p50 ")]


def latency(domain, frames=400):
    image = RawImage(WIDTH, HEIGHT, os.urandom(WIDTH * HEIGHT * 3))
    for imgsz in ("64", "0"):
        with Node(a.skitter, domain, a.model, "-p", f"imgsz:={imgsz}", "-p", "image_width:=640", "-p", "image_height:=480") as node:
            peer = Peer(domain)
            writer = peer.writer("rt/camera/image_raw", Image, qos(reliable=False, depth=1))
            boxes = peer.reader("rt/skitter/detections", Detection2DArray)
            health = peer.reader("rt/diagnostics", DiagnosticArray)
            matched(writer), matched(health)
            settle(peer, lambda i: image.send(writer, 0, i), (boxes,))
            took = []
            for i in range(frames if imgsz == "64" else frames // 4):
                began = time.monotonic()
                image.send(writer, 1, i)
                while not [m for m in take(boxes) if m.header.stamp.nanosec == i]:
                    peer.wait(1)
                took.append((time.monotonic() - began) * 1e3)
            least, network = network_ms(peer, health)
            p50, p90 = percentile(took, 50), percentile(took, 90)
            print(f"latency, network input {'of the model' if imgsz == '0' else imgsz}: publish -> result least {min(took):.2f} ms, p50 {p50:.2f} ms, p90 {p90:.2f} ms; "
                  f"network least {least:.2f} ms, p50 {network:.2f} ms; the rest least {min(took) - least:.2f} ms, p50 {p50 - network:.2f} ms")
            if a.limit and imgsz == "64":  # a short network, and the least of both: what other programs take is no cost of the node's
                check(min(took) - least <= a.limit, f"{min(took) - least:.2f} ms beside the network")
            check(node.end()[0] == 0, "the node did not end in order")


def lossless(domain):
    image, results = RawImage(64, 48, bytes(64 * 48 * 3)), []
    with Node(a.skitter, domain, a.model, "-p", "imgsz:=64", "-p", "qos_reliability:=reliable", "-p", "qos_depth:=4") as node:
        peer = Peer(domain)
        writer = peer.writer("rt/camera/image_raw", Image, qos(keep_all=True))
        boxes = peer.reader("rt/skitter/detections", Detection2DArray, qos(keep_all=True))
        matched(writer)
        settle(peer, lambda i: image.send(writer, 0, i), (boxes,))
        began, early = time.monotonic(), 0
        for i in range(a.frames):
            image.send(writer, 1 + i)
            if i % 16 == 0:
                results += [m.header.stamp.sec for m in take(boxes, 256)]
            if i == a.frames // 10:
                early = node.rss_kib()
        end = time.monotonic() + 30
        while len(results) < a.frames and time.monotonic() < end:
            results += [m.header.stamp.sec for m in take(boxes, 256)]
            peer.wait(0.05)
        seconds, late = time.monotonic() - began, node.rss_kib()
        in_order = [s for s in results if s > 0] == list(range(1, a.frames + 1))
        print(f"lossless: {len(results)} of {a.frames} results, {'in order' if in_order else 'NOT in order'}, {a.frames / seconds:.0f} a second; "
              f"memory {early} KiB after a tenth, {late} KiB at the end")
        check(in_order, "images were lost or came out of order")
        check(late - early < 1024, f"memory grew by {late - early} KiB")
        check(node.end()[0] == 0, "the node did not end in order")


def newest(domain, frames=300, rate=200):
    image, sent, ages, order = RawImage(WIDTH, HEIGHT, os.urandom(WIDTH * HEIGHT * 3)), {}, [], []
    with Node(a.skitter, domain, a.model) as node:
        peer = Peer(domain)
        writer = peer.writer("rt/camera/image_raw", Image, qos(reliable=False, depth=1))
        boxes = peer.reader("rt/skitter/detections", Detection2DArray)
        health = peer.reader("rt/diagnostics", DiagnosticArray)
        matched(writer), matched(health)
        settle(peer, lambda i: image.send(writer, 0, i), (boxes,))

        def hear():
            for m in take(boxes):
                if m.header.stamp.sec == 1:
                    order.append(m.header.stamp.nanosec)
                    ages.append((time.monotonic() - sent[m.header.stamp.nanosec]) * 1e3)

        for i in range(frames):
            sent[i] = time.monotonic()
            image.send(writer, 1, i)
            hear()
            time.sleep(1 / rate)
        end = time.monotonic() + 5
        while (not order or order[-1] != frames - 1) and time.monotonic() < end:
            peer.wait(0.05)
            hear()
        network = network_ms(peer, health)[1]
        print(f"newest: {frames} images at {rate} a second, {len(order)} looked at; results are p50 {percentile(ages, 50):.1f} ms, p99 {percentile(ages, 99):.1f} ms "
              f"old; network p50 {network:.1f} ms; the last image {'was' if order[-1] == frames - 1 else 'was NOT'} looked at")
        check(order == sorted(set(order)), "results came out of order")
        check(order[-1] == frames - 1, "the newest image was not looked at")
        check(node.end()[0] == 0, "the node did not end in order")


CAMERA = """
import sys
from dds_peer import *
peer = Peer(int(sys.argv[1]))
image = RawImage(64, 48, bytes(64 * 48 * 3))
writer = peer.writer("rt/camera/image_raw", Image, qos(keep_all=True))
boxes = peer.reader("rt/skitter/detections", Detection2DArray, qos(keep_all=True))
matched(writer)
settle(peer, lambda i: image.send(writer, 0, i), (boxes,))
print("talking", flush=True)
while True:
    image.send(writer, 1)
    take(boxes, 256)
"""


def killed(domain, times=4):
    env = dict(os.environ, PYTHONPATH=os.path.join(root, "tests", "ros"))
    with Node(a.skitter, domain, a.model, "-p", "imgsz:=64", "-p", "qos_reliability:=reliable", "-p", "qos_depth:=4") as node:
        memory = []
        for i in range(times):
            began = time.monotonic()
            camera = subprocess.Popen([sys.executable, "-c", CAMERA, str(domain)], stdout=subprocess.PIPE, text=True, env=env)
            talking = camera.stdout.readline().strip() == "talking"
            check(talking, f"the peer's life {i + 1} heard nothing")
            print(f"killed: life {i + 1}: results {time.monotonic() - began:.1f} s after its start; node {node.rss_kib()} KiB")
            time.sleep(2)
            memory.append(node.rss_kib())
            camera.kill()
            camera.wait()
        check(memory[-1] - memory[1] < 4096, f"memory grew: {memory}")
        code, said = node.end(30)
        print("killed:", said.strip().splitlines()[-1])
        check(code == 0, "the node did not end in order")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--skitter", default=os.path.join(root, "build", "skitter"))
parser.add_argument("--model", default=os.path.join(root, "share", "models", "demo-obb.pt"))
parser.add_argument("--frames", type=int, default=10000)
parser.add_argument("--limit", type=float, default=0, help="ms that may pass beside the network; 0: only printed")
parser.add_argument("part", nargs="*", default=[])
a = parser.parse_args()
base = 60 + os.getpid() % 30
with open("/proc/loadavg") as load:
    print("load of the machine:", load.read().split()[0])
for number, part in enumerate((latency, lossless, newest, killed)):
    if not a.part or part.__name__ in a.part:
        part(base + number)
sys.exit(1 if wrong else 0)
