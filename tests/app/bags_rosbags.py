# SPDX-License-Identifier: Apache-2.0
"""The other side of test_bags_rosbags.sh: writes bags by PyPI's rosbags, and reads skitter's by it.

    bags_rosbags.py write FRAMES.rgb WIDTH HEIGHT       bags of those frames in this folder, by container and encoding
    bags_rosbags.py compare results.jsonl BAG …         every value of the bag's messages against the lines
"""
import json
import math
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Writer
from rosbags.rosbag2.enums import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.typesys import Stores, get_typestore

store = get_typestore(Stores.ROS2_JAZZY)
Image, Compressed, Header, Time, String = (store.types[n] for n in (
    'sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time',
    'std_msgs/msg/String'))
BEGIN = 1_700_000_000_250_000_000
STEP = 40_000_000


def png(frame):
    """A PNG by hand: no library for it is asked of the machine."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))
    height, width, _ = frame.shape
    rows = b''.join(b'\0' + row.tobytes() for row in frame)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def jpeg(frame):
    import subprocess
    height, width, _ = frame.shape
    return subprocess.run(['ffmpeg', '-v', 'error', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', f'{width}x{height}', '-i', '-',
                           '-f', 'mjpeg', '-q:v', '2', '-'], input=frame.tobytes(), capture_output=True, check=True).stdout


def message(frame, encoding, header):
    height, width, _ = frame.shape
    if encoding in ('png', 'jpeg'):
        data = png(frame) if encoding == 'png' else jpeg(frame)
        return Compressed(header, encoding, np.frombuffer(data, np.uint8))
    if encoding == 'bgr8':
        frame = frame[:, :, ::-1]
    elif encoding == 'bgra8':
        frame = np.concatenate([frame[:, :, ::-1], np.full((height, width, 1), 77, np.uint8)], axis=2)
    flat = np.ascontiguousarray(frame).reshape(-1)
    return Image(header, height, width, encoding, 0, flat.size // height, flat)


def write_bag(name, frames, storage, encoding, compression):
    with_type = Compressed if encoding in ('png', 'jpeg') else Image
    writer = Writer(Path(name), version=9, storage_plugin=storage)
    if compression:
        writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer:
        images = writer.add_connection('/camera/image', with_type.__msgtype__, typestore=store)
        texts = writer.add_connection('/chatter', String.__msgtype__, typestore=store)
        for i, frame in enumerate(frames):
            stamp = BEGIN + i * STEP
            header = Header(Time(stamp // 10**9, stamp % 10**9), 'front')
            writer.write(texts, stamp, store.serialize_cdr(String(f'frame {i}'), String.__msgtype__))
            writer.write(images, stamp + 5_000_000, store.serialize_cdr(message(frame, encoding, header), with_type.__msgtype__))


def write(path, width, height):
    frames = np.fromfile(path, np.uint8).reshape(-1, int(height), int(width), 3)
    mcap, sqlite = StoragePlugin.MCAP, StoragePlugin.SQLITE3
    write_bag('mcap_rgb8', frames, mcap, 'rgb8', None)
    write_bag('db3_bgr8', frames, sqlite, 'bgr8', None)
    write_bag('mcap_bgra8_zstd', frames, mcap, 'bgra8', CompressionMode.STORAGE)
    write_bag('db3_jpeg_message', frames, sqlite, 'jpeg', CompressionMode.MESSAGE)
    write_bag('mcap_png', frames, mcap, 'png', None)


def near(a, b, what):
    """Lines have seven digits."""
    if not (abs(a - b) <= 1e-6 * max(1, abs(a), abs(b)) or (math.isnan(a) and math.isnan(b))):
        raise SystemExit(f'{what}: {a} in the bag, {b} in the line')


def same(a, b, what):
    if a != b:
        raise SystemExit(f'{what}: {a!r} in the bag, {b!r} in the line')


def check_box(box, line, what):
    if 'obb' in line:
        want = line['obb']
        have = [box.center.position.x, box.center.position.y, box.size_x, box.size_y, box.center.theta]
    else:
        x1, y1, x2, y2 = line['box']
        want = [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 0]
        have = [box.center.position.x, box.center.position.y, box.size_x, box.size_y, box.center.theta]
    for a, b in zip(have, want):
        if abs(a - b) > 1e-3:
            raise SystemExit(f'{what}: box {have} in the bag, {want} in the line')


def check_points(points, line, names, what):
    for point, (x, y, score), name in zip(points, line['keypoints'], names, strict=True):
        same(point.name, name, what)
        same(point.visible, x is not None, what)
        if x is not None:
            near(point.x, x, what)
            near(point.y, y, what)
            near(point.score, score, what)


def check_message(topic, m, line, what):
    found = line['instances']
    if topic == '/skitter/detections':
        same(len(m.detections), len(found), what)
        for d, f in zip(m.detections, found):
            same(d.results[0].hypothesis.class_id, f['name'], what)
            near(d.results[0].hypothesis.score, f['score'], what) if f['score'] is not None else None
            same(d.id, str(f['track']) if 'track' in f else '', what)
            same((d.header.stamp.sec, d.header.stamp.nanosec), (m.header.stamp.sec, m.header.stamp.nanosec), what)
            check_box(d.bbox, f, what)
    elif topic == '/skitter/keypoints':
        same(list(m.skeleton_names), line['keypoint_names'], what)
        same([list(p) for p in np.reshape(m.skeleton_edges, (-1, 2)).tolist()], line['edges'], what)
        for d, f in zip(m.instances, found, strict=True):
            same(d.class_name, f['name'], what)
            check_points(d.keypoints, f, line['keypoint_names'], what)
    else:
        for t, f in zip(m.tracks, found, strict=True):
            same(t.id, f['track'], what)
            same(t.state, f['state'], what)
            near(t.x, f['x'], what)
            near(t.y, f['y'], what)
            near(t.heading, f['heading'], what)


def compare(*pairs):
    for lines, bag in zip(pairs[::2], pairs[1::2], strict=True):
        compare_one(lines, bag)


def compare_one(lines, bag):
    told = [json.loads(line) for line in Path(lines).read_text().splitlines()]
    with AnyReader([Path(bag)]) as reader:
        topics = {c.topic for c in reader.connections}
        want = {'/skitter/detections'}
        want |= {'/skitter/keypoints'} if 'keypoint_names' in told[0] else set()
        want |= {'/skitter/tracks'} if any('state' in f for line in told for f in line['instances']) else set()
        same(topics, want, 'topics')
        at = dict.fromkeys(topics, 0)
        for connection, stamp, raw in reader.messages():
            m = reader.deserialize(raw, connection.msgtype)
            line = told[at[connection.topic]]
            what = f'{bag} {connection.topic} frame {line["frame"]}'
            at[connection.topic] += 1
            same(stamp, BEGIN + line['frame'] * STEP, what)
            same(m.header.stamp.sec * 10**9 + m.header.stamp.nanosec, stamp, what)
            same(m.header.frame_id, 'front', what)
            check_message(connection.topic, m, line, what)
        for topic, count in at.items():
            same(count, len(told), topic)


if __name__ == '__main__':
    {'write': write, 'compare': compare}[sys.argv[1]](*sys.argv[2:])
