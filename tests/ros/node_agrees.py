# SPDX-License-Identifier: Apache-2.0
"""`skitter node` against a peer that knows nothing of skitter (dds_peer.py): every value of its messages is what `skitter predict`
gives for the same frames. usage: node_agrees.py SKITTER MODELS WORK CASE…"""
import json
import math
import os
import signal
import struct
import subprocess
import sys
import zlib

from dds_peer import *

skitter, models, work = sys.argv[1:4]
domain = 1 + os.getpid() % 90  # their ports are below those that the system gives to connections


lens = "lens_" * 120  # longer than any buffer that somebody might have thought of
small = RawImage(16, 16, bytes(16 * 16 * 3))


def png(kind, body):
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


blank = (b"\x89PNG\r\n\x1a\n" + png(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 0, 0, 0, 0))
         + png(b"IDAT", zlib.compress(bytes(17 * 16))) + png(b"IEND", b""))


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
    frames, sent = predicted(model, pictures), 0
    assert sum(len(f["instances"]) for f in frames) >= 6, "too little is found to compare"
    with Node(skitter, domain, model, "-p", "qos_reliability:=reliable", "-p", "qos_depth:=2", "--ros-args", "-r",
              "__node:=eye", "-r", "__ns:=/robot", "-r", "/camera/image_raw:=cam", "-r", "~/detections:=found") as node:
        assert "/robot/eye is active" in node.said and ": /robot/cam -> /robot/found;" in node.said, node.said
        for life in range(2):
            peer = Peer(domain)
            graph = peer.reader("ros_discovery_info", ParticipantEntitiesInfo, qos(transient=True, depth=100))
            writer = peer.writer("rt/robot/cam", Image, qos(keep_all=True))
            boxes = peer.reader("rt/robot/found", Detection2DArray)
            poses = peer.reader("rt/robot/eye/keypoints", InstanceArray)
            matched(writer)
            sent += 3 + settle(peer, lambda i: small.send(writer, 0, i), (boxes, poses))
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
                RawImage(width, height, b"".join(rows), "bgr8" if i == 1 else "rgb8", lens).send(writer, 7 + i, 80 + i)
            for i, (ours, theirs) in enumerate(zip(collect(peer, boxes, 3), frames)):
                assert (ours.header.stamp.sec, ours.header.stamp.nanosec) == (7 + i, 80 + i)
                assert ours.header.frame_id == lens
                same_detections(ours, theirs)
            for ours, theirs in zip(collect(peer, poses, 3), frames):
                same_keypoints(ours, theirs)
            del graph, writer, boxes, poses, peer
        code, said = node.end()
        assert code == 0 and f"{sent} images came, {sent} results were published, 0 failed" in said, (code, said)


def test_boxes_of_compressed_images():
    """Turned boxes; JPEG; tracks; the annotated image only while somebody listens; best effort: the newest image wins."""
    model, pictures = os.path.join(models, "demo-obb.pt"), scene("jpg", 3, "320x240")
    frames = predicted(model, pictures)
    assert sum(len(f["instances"]) for f in frames) >= 6, "too little is found to compare"
    with Node(skitter, domain + 1, model, "-p", "input_transport:=compressed", "-p", "frame_id:=lens", "--track",
              "--messages", "fly_watch") as node:
        peer = Peer(domain + 1)
        writer = peer.writer("rt/camera/image_raw/compressed", CompressedImage, qos(reliable=False, depth=1))
        def send(sec, nanosec, jpeg):
            writer.write(CompressedImage(Header(Time(sec, nanosec), "camera"), "jpeg", jpeg))

        boxes = peer.reader("rt/skitter/detections", Detection2DArray)
        tracks = peer.reader("rt/skitter/tracks", renamed(TrackArray, "fly_watch"))
        health = peer.reader("rt/diagnostics", DiagnosticArray)
        matched(writer), matched(health)
        settle(peer, lambda i: send(0, i, blank), (boxes, tracks))
        for i, path in enumerate([pictures[0], pictures[0], pictures[1]]):
            if i == 2:
                annotated = peer.reader("rt/skitter/annotated", Image)
                settle(peer, lambda k: send(5, k, blank), (annotated,), 40000000)
                take(boxes), take(tracks)
            send(5, 33000000 * i, open(path, "rb").read())
            ours = collect(peer, boxes, 1)[0]
            assert (ours.header.stamp.nanosec, ours.header.frame_id) == (33000000 * i, "lens")
            same_detections(ours, frames[i // 2])
            told = collect(peer, tracks, 1)[0]
            assert told.header == ours.header
            if i < 2:  # the same picture: every animal is itself
                assert [t.id for t in told.tracks] == list(range(len(frames[0]["instances"]))), told
                assert all(t.state == "active" and t.instance.track == t.id for t in told.tracks)
                where = {str(t.id): (t.x, t.y) for t in told.tracks}
                for d in ours.detections:
                    assert math.dist(where[d.id], (d.bbox.center.position.x, d.bbox.center.position.y)) < 2
        drawn = collect(peer, annotated, 1)[0]
        assert (drawn.width, drawn.height, drawn.step, drawn.encoding, len(drawn.data)) == (320, 240, 960, "rgb8", 960 * 240)
        assert drawn.header.stamp.nanosec == 66000000 and len(set(bytes(drawn.data))) > 16
        take(boxes)
        for i in range(40):  # a camera that is too fast: the newest wins
            send(6, i, blank)
        order, end = [], time.monotonic() + 10
        while (not order or order[-1] != 39) and time.monotonic() < end:
            peer.wait(0.05)
            order += [m.header.stamp.nanosec for m in take(boxes)]
        assert order and order[-1] == 39 and order == sorted(set(order)), order
        send(7, 0, b"no picture")
        status = [m for m in collect(peer, health, 2)][-1].status[0]
        facts = {v.key: v.value for v in status.values}
        assert status.name == "skitter: inference" and facts["compute_runtime effective"] == "cpu", facts
        assert "network ms" in facts and int(facts["pictures received"]) >= 3
        code, said = node.end()
        assert code == 0 and "1 failed" in said, (code, said)


def test_parameters_are_read_and_changed_by_their_services():
    """As `ros2 param` does; what was changed is what the next image is looked at with. The node has the peer's library here."""
    model, pictures = os.path.join(models, "demo-pose.pt"), scene("png", 3)
    with Node(skitter, domain + 2, model, "-p", "qos_reliability:=reliable", SKITTER_DDS_LIBRARY=own_library()) as node:
        peer = Peer(domain + 2)
        listed = Client(peer, "/skitter/list_parameters", ListParametersRequest, ListParametersResponse).call([], 0)
        assert {"confidence_threshold", "classes", "input_topic", "use_sim_time"} <= set(listed.result.names)
        get = Client(peer, "/skitter/get_parameters", GetParametersRequest, GetParametersResponse)
        topic, threshold, none = get.call(["input_topic", "confidence_threshold", "no_such"]).values
        assert (topic.type, topic.string_value) == (4, "/camera/image_raw")
        assert (threshold.type, threshold.double_value, none.type) == (3, 0.25, 0)
        types = Client(peer, "/skitter/get_parameter_types", GetParameterTypesRequest, GetParameterTypesResponse)
        assert list(types.call(["classes", "frame_skip", "x"]).types) == [7, 2, 0]
        describe = Client(peer, "/skitter/describe_parameters", DescribeParametersRequest, DescribeParametersResponse)
        about, fixed = describe.call(["confidence_threshold", "input_topic"]).descriptors
        assert (about.floating_point_range[0].to_value, about.read_only, fixed.read_only) == (1, False, True)
        events = peer.reader("rt/parameter_events", ParameterEvent)
        matched(events)
        change = Client(peer, "/skitter/set_parameters", SetParametersRequest, SetParametersResponse)
        done = change.call([Parameter("confidence_threshold", ParameterValue(3, double_value=0.8)),
                            Parameter("input_topic", ParameterValue(4, string_value="/x")),
                            Parameter("classes", ParameterValue(4, string_value="all"))]).results
        assert [d.successful for d in done] == [True, False, False], done
        assert "start it anew" in done[1].reason and "is not a list of whole numbers" in done[2].reason
        event = collect(peer, events, 1)[0]
        assert (event.node, event.changed_parameters[0].name) == ("/skitter", "confidence_threshold")
        both = Client(peer, "/skitter/set_parameters_atomically", SetAtomicallyRequest, SetAtomicallyResponse)
        done = both.call([Parameter("classes", ParameterValue(7, integer_array_value=[0])),
                          Parameter("iou_threshold", ParameterValue(3, double_value=7))]).result
        assert not done.successful and "not a number from 0 to 1" in done.reason
        assert both.call([Parameter("classes", ParameterValue(7, integer_array_value=[99]))]).result.successful is False
        assert get.call(["classes"]).values[0].integer_array_value == []
        assert both.call([Parameter("classes", ParameterValue(7, integer_array_value=[0]))]).result.successful
        writer = peer.writer("rt/camera/image_raw", Image)
        boxes = peer.reader("rt/skitter/detections", Detection2DArray)
        matched(writer)
        settle(peer, lambda i: small.send(writer, 0, i), (boxes,))
        width, height, rows = png_pixels(pictures[0])
        RawImage(width, height, b"".join(rows)).send(writer, 1)
        same_detections(collect(peer, boxes, 1)[0], predicted(model, pictures[:1], "--conf", "0.8", "--classes", "0")[0])
        assert node.end()[0] == 0


class Quiet:
    """A node that waits for images on a topic where somebody sends something else, while the other tests run."""

    def __init__(self):
        self.peer = Peer(domain + 3)
        self.writers = [self.peer.writer("rt/camera/image_raw", CompressedImage), self.peer.writer("rt/usb/image_raw", Image)]
        self.node = Node(skitter, domain + 3, os.path.join(models, "demo-pose.pt"), "-p", "use_compile:=false")
        self.began = time.monotonic()

    def check(self):
        time.sleep(max(0, self.began + 6.5 - time.monotonic()))
        code, said = self.node.end()
        assert code == 0 and said.count("no image on /camera/image_raw for ") == 1, (code, said)
        assert "1 publisher there, of type sensor_msgs/msg/CompressedImage, where sensor_msgs/msg/Image is asked for" in said, said
        assert "such images come on /usb/image_raw: input_topic:=/usb/image_raw" in said, said
        assert "/annotated" not in said, said


def test_an_interruption_is_heard_while_the_model_is_made_ready():
    """What takes long is left behind."""
    env = dict(os.environ, CYCLONEDDS_URI=LOOPBACK, ROS_DOMAIN_ID=str(domain + 4))
    node = subprocess.Popen([skitter, "node", os.path.join(models, "demo-pose.pt"), "-p", "imgsz:=4096"], stderr=subprocess.PIPE,
                            text=True, env=env)
    time.sleep(1.5)
    assert node.poll() is None
    began = time.monotonic()
    node.send_signal(signal.SIGINT)
    said = node.communicate(timeout=20)[1]
    assert time.monotonic() - began < 3 and node.returncode == 130, (time.monotonic() - began, node.returncode, said)
    assert "interrupted while the model was made ready" in said, said


def main():
    quiet = Quiet()
    for name in sys.argv[4:] or [n for n in globals() if n.startswith("test_")]:
        began = time.monotonic()
        globals()[name]()
        print(f"{name}: ok, {time.monotonic() - began:.1f} s", flush=True)
    quiet.check()
    print("quiet: ok", flush=True)


main()
