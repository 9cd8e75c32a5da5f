# SPDX-License-Identifier: Apache-2.0
"""`skitter node` against a peer that knows nothing of skitter (dds_peer.py): every value of its messages is what `skitter predict`
gives for the same frames. usage: node_agrees.py SKITTER MODELS WORK CASE…"""
import json
import math
import os
import struct
import subprocess
import sys
import zlib

from dds_peer import *

skitter, models, work = sys.argv[1:4]
domain = 100 + os.getpid() % 100


def png_pixels(path):
    """Rows of an 8-bit RGB PNG."""
    data = open(path, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, row, before, pixels = zlib.decompress(packed), 3 * width, bytes(3 * width), []
    for y in range(height):
        how, line = raw[y * (row + 1)], bytearray(raw[y * (row + 1) + 1 : (y + 1) * (row + 1)])
        for i in range(row):
            a = line[i - 3] if i >= 3 else 0
            b, c = before[i], before[i - 3] if i >= 3 else 0
            if how == 4:
                p = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            else:
                p = (0, a, b, (a + b) // 2)[how]
            line[i] = (line[i] + p) & 255
        pixels.append(bytes(line))
        before = line
    return width, height, pixels


def scene(kind, count, size="160x120"):
    folder = os.path.join(work, f"scene_{kind}_{size}")
    if not os.path.isdir(folder):
        subprocess.run([skitter, "scene", "--species", "mixed", "--animals", "5", "--pictures", str(count), "--size", size,
                        "--picture-format", kind, "--seed", "3", "-o", folder, "-q"], check=True)
    return [os.path.join(folder, "images", name) for name in sorted(os.listdir(os.path.join(folder, "images")))]


def predicted(model, pictures, *more):
    done = subprocess.run([skitter, "predict", *pictures, "-m", model, "-o", "-", "--format", "jsonl", "-q", *more],
                          check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def near(ours, theirs, what):
    assert math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-6), f"{what}: {ours} is not {theirs}"


def same_box(box, found, what):
    if "obb" in found:
        x, y, w, h, theta = found["obb"]
    else:
        x1, y1, x2, y2 = found["box"]
        x, y, w, h, theta = (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 0
    for ours, theirs in ((box.center.position.x, x), (box.center.position.y, y), (box.size_x, w), (box.size_y, h),
                         (box.center.theta, theta)):
        assert abs(ours - theirs) <= 2e-6 * max(1, abs(x), abs(y), abs(ours)), f"{what}: {ours} is not {theirs}"


def same_detections(message, frame):
    assert len(message.detections) == len(frame["instances"]), (len(message.detections), frame)
    for ours, theirs in zip(message.detections, frame["instances"]):
        assert ours.header == message.header
        assert ours.results[0].hypothesis.class_id == theirs["name"]
        assert ours.results[0].pose.pose.orientation.w == 1 and len(ours.results) == 1
        near(ours.results[0].hypothesis.score, theirs["score"], "score")
        same_box(ours.bbox, theirs, "box")


def same_keypoints(message, frame):
    assert message.skeleton_names == frame["keypoint_names"]
    assert message.skeleton_edges == [k for edge in frame["edges"] for k in edge]
    assert len(message.instances) == len(frame["instances"])
    for ours, theirs in zip(message.instances, frame["instances"]):
        assert (ours.class_id, ours.class_name, ours.track) == (theirs["class"], theirs["name"], -1)
        near(ours.score, theirs["score"], "score")
        same_box(ours.box, theirs, "box")
        assert [k.name for k in ours.keypoints] == frame["keypoint_names"]
        for k, (x, y, score) in zip(ours.keypoints, theirs["keypoints"]):
            near(k.x, x, "x"), near(k.y, y, "y"), near(k.score, score, "score")
            assert k.visible


def test_poses_of_raw_images():
    """Raw images, every one of them; the graph as `ros2 node list` and `ros2 topic list` read it; a peer that went and came."""
    model, pictures = os.path.join(models, "demo-pose.pt"), scene("png", 3)
    frames = predicted(model, pictures)
    assert sum(len(f["instances"]) for f in frames) >= 6, "too little is found to compare"
    with Node(skitter, domain, model, "-p", "qos_reliability:=reliable", "-p", "qos_depth:=2", "--ros-args", "-r",
              "__node:=eye", "-r", "__ns:=/robot", "-r", "/camera/image_raw:=cam") as node:
        assert "/robot/eye is active" in node.said, node.said
        for life in range(2):
            peer = Peer(domain)
            graph = peer.reader("ros_discovery_info", ParticipantEntitiesInfo, qos(transient=True, depth=100))
            writer = peer.writer("rt/robot/cam", Image, qos(keep_all=True))
            boxes = peer.reader("rt/robot/eye/detections", Detection2DArray)
            poses = peer.reader("rt/robot/eye/keypoints", InstanceArray)
            for end in (writer, boxes, poses):
                matched(end)
            info = collect(peer, graph, 1)[0]
            its = info.node_entities_info_seq[0]
            assert (its.node_namespace, its.node_name) == ("/robot", "eye")
            known = {bytes(g.data) for g in its.writer_gid_seq}
            seen = {ih: boxes.get_matched_publication_data(ih) for ih in boxes.get_matched_publications()}
            assert all(d.key.bytes in known for d in seen.values()), (seen, known)
            for i, path in enumerate(pictures):
                width, height, rows = png_pixels(path)
                if i == 1:  # another order of colours
                    rows = [bytes(b for k in range(0, len(r), 3) for b in (r[k + 2], r[k + 1], r[k])) for r in rows]
                if i == 2:  # rows that are longer than their pixels
                    rows = [r + b"padding" for r in rows]
                RawImage(width, height, b"".join(rows), "bgr8" if i == 1 else "rgb8", "lens").send(writer, 7 + i, 80 + i)
            for i, (ours, theirs) in enumerate(zip(collect(peer, boxes, 3), frames)):
                assert (ours.header.stamp.sec, ours.header.stamp.nanosec) == (7 + i, 80 + i)
                assert ours.header.frame_id == "lens"
                same_detections(ours, theirs)
            for ours, theirs in zip(collect(peer, poses, 3), frames):
                same_keypoints(ours, theirs)
            del graph, writer, boxes, poses, peer
        code, said = node.end()
        assert code == 0 and "6 images came, 6 results were published, 0 failed" in said, (code, said)


def main():
    for name in sys.argv[4:] or [n for n in globals() if n.startswith("test_")]:
        began = time.monotonic()
        globals()[name]()
        print(f"{name}: ok, {time.monotonic() - began:.1f} s", flush=True)


main()
