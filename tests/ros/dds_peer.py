# SPDX-License-Identifier: Apache-2.0
"""An independent peer of `skitter node`: PyPI's cyclonedds, which brings a DDS library of its own, with ROS 2's names for topics
and types. What a test needs of ROS 2's messages is declared here from their .msg files."""
import os
import signal
import subprocess
import sys
import time
import types
from dataclasses import dataclass, field
from typing import List

from cyclonedds._clayer import ddspy_take, ddspy_write
from cyclonedds.core import Policy, Qos, ReadCondition, SampleState, InstanceState, ViewState, WaitSet
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, bounded_str, byte, float32, float64, int32, int64, sequence, uint8, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

LOOPBACK = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General><Discovery><SPDPInterval>500 ms</SPDPInterval><ParticipantIndex>auto</ParticipantIndex>"
    '<MaxAutoParticipantIndex>20</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery>'
    "</Domain></CycloneDDS>"
)


def message(name):
    """A dataclass that is the message `pkg/kind/Name` on the wire."""
    package, kind, short = name.split("/")
    typename = f"{package}.{kind}.dds_.{short}_"

    def make(cls):
        body = {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__")}
        return dataclass(types.new_class(cls.__name__, (IdlStruct,), {"typename": typename}, lambda its: its.update(body)))

    return make


def renamed(cls, package):
    """The same message as another package defines it."""
    typename = ".".join([package] + cls.__idl_typename__.split(".")[1:])
    body = {k: v for k, v in cls.__dict__.items() if k == "__annotations__"}
    return dataclass(types.new_class(cls.__name__, (IdlStruct,), {"typename": typename}, lambda its: its.update(body)))


@message("builtin_interfaces/msg/Time")
class Time:
    sec: int32 = 0
    nanosec: uint32 = 0


@message("std_msgs/msg/Header")
class Header:
    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@message("sensor_msgs/msg/Image")
class Image:
    header: Header = field(default_factory=Header)
    height: uint32 = 0
    width: uint32 = 0
    encoding: str = ""
    is_bigendian: uint8 = 0
    step: uint32 = 0
    data: sequence[uint8] = b""


@message("sensor_msgs/msg/CompressedImage")
class CompressedImage:
    header: Header = field(default_factory=Header)
    format: str = ""
    data: sequence[uint8] = b""


@message("geometry_msgs/msg/Point")
class Point:
    x: float64 = 0
    y: float64 = 0
    z: float64 = 0


@message("geometry_msgs/msg/Quaternion")
class Quaternion:
    x: float64 = 0
    y: float64 = 0
    z: float64 = 0
    w: float64 = 1


@message("geometry_msgs/msg/Pose")
class Pose:
    position: Point
    orientation: Quaternion


@message("geometry_msgs/msg/PoseWithCovariance")
class PoseWithCovariance:
    pose: Pose
    covariance: array[float64, 36]


@message("vision_msgs/msg/ObjectHypothesis")
class ObjectHypothesis:
    class_id: str
    score: float64


@message("vision_msgs/msg/ObjectHypothesisWithPose")
class ObjectHypothesisWithPose:
    hypothesis: ObjectHypothesis
    pose: PoseWithCovariance


@message("vision_msgs/msg/Point2D")
class Point2D:
    x: float64
    y: float64


@message("vision_msgs/msg/Pose2D")
class Pose2D:
    position: Point2D
    theta: float64


@message("vision_msgs/msg/BoundingBox2D")
class BoundingBox2D:
    center: Pose2D
    size_x: float64
    size_y: float64


@message("vision_msgs/msg/Detection2D")
class Detection2D:
    header: Header
    results: sequence[ObjectHypothesisWithPose]
    bbox: BoundingBox2D
    id: str


@message("vision_msgs/msg/Detection2DArray")
class Detection2DArray:
    header: Header
    detections: sequence[Detection2D]


@message("skitter_msgs/msg/Keypoint")
class Keypoint:
    name: str
    x: float64
    y: float64
    score: float32
    visible: bool


@message("skitter_msgs/msg/Instance")
class Instance:
    class_id: int32
    class_name: str
    score: float32
    track: int32
    box: BoundingBox2D
    keypoints: sequence[Keypoint]


@message("skitter_msgs/msg/InstanceArray")
class InstanceArray:
    header: Header
    skeleton_names: sequence[str]
    skeleton_edges: sequence[int32]
    instances: sequence[Instance]


@message("skitter_msgs/msg/Track")
class Track:
    id: int32
    state: str
    x: float64
    y: float64
    heading: float64
    certainty: float32
    instance: Instance


@message("skitter_msgs/msg/TrackArray")
class TrackArray:
    header: Header
    tracks: sequence[Track]


@message("diagnostic_msgs/msg/KeyValue")
class KeyValue:
    key: str
    value: str


@message("diagnostic_msgs/msg/DiagnosticStatus")
class DiagnosticStatus:
    level: byte
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@message("diagnostic_msgs/msg/DiagnosticArray")
class DiagnosticArray:
    header: Header
    status: sequence[DiagnosticStatus]


@message("rmw_dds_common/msg/Gid")
class Gid:
    data: array[uint8, 16]


@message("rmw_dds_common/msg/NodeEntitiesInfo")
class NodeEntitiesInfo:
    node_namespace: bounded_str[256]
    node_name: bounded_str[256]
    reader_gid_seq: sequence[Gid]
    writer_gid_seq: sequence[Gid]


@message("rmw_dds_common/msg/ParticipantEntitiesInfo")
class ParticipantEntitiesInfo:
    gid: Gid
    node_entities_info_seq: sequence[NodeEntitiesInfo]


def qos(reliable=True, depth=10, keep_all=False, transient=False):
    """A profile of ROS 2, plain CDR."""
    return Qos(
        Policy.Reliability.Reliable(duration(seconds=10)) if reliable else Policy.Reliability.BestEffort,
        Policy.History.KeepAll if keep_all else Policy.History.KeepLast(depth),
        Policy.Durability.TransientLocal if transient else Policy.Durability.Volatile,
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )


class Peer:
    """A participant of the test's own domain."""

    def __init__(self, domain):
        os.environ.setdefault("CYCLONEDDS_URI", LOOPBACK)
        self.participant = DomainParticipant(domain)
        self.waitset = WaitSet(self.participant)

    def writer(self, topic, kind, its_qos=None):
        return DataWriter(self.participant, Topic(self.participant, topic, kind), qos=its_qos or qos())

    def reader(self, topic, kind, its_qos=None):
        reader = DataReader(self.participant, Topic(self.participant, topic, kind), qos=its_qos or qos())
        self.waitset.attach(ReadCondition(reader, SampleState.Any | InstanceState.Any | ViewState.Any))
        return reader

    def wait(self, seconds):
        return self.waitset.wait(duration(seconds=seconds))


def matched(entity, count=1, seconds=30):
    """Waits until `entity` has met so many others."""
    end = time.monotonic() + seconds
    get = entity.get_matched_subscriptions if isinstance(entity, DataWriter) else entity.get_matched_publications
    while len(get()) < count:
        if time.monotonic() > end:
            raise TimeoutError("nobody to talk to")
        time.sleep(0.005)


class RawImage:
    """An image whose bytes are made once; a stamp is written into them before each is sent, at no cost."""

    def __init__(self, width, height, pixels, encoding="rgb8", frame_id="camera"):
        image = Image(Header(Time(0, 0), frame_id), height, width, encoding, 0, len(pixels) // height, pixels)
        self.bytes = bytearray(image.serialize(use_version_2=False))

    def send(self, writer, sec, nanosec=0):
        self.bytes[4:8] = int(sec).to_bytes(4, "little")
        self.bytes[8:12] = int(nanosec).to_bytes(4, "little")
        ddspy_write(writer._ref, bytes(self.bytes))


def take(reader, count=64):
    """Messages that have come; what only tells that a writer is gone is left out."""
    return [s for s in reader.take(count) if not type(s).__name__ == "InvalidSample"]


def collect(peer, reader, count, seconds=20):
    """The next `count` messages."""
    found, end = [], time.monotonic() + seconds
    while len(found) < count:
        if time.monotonic() > end:
            raise TimeoutError(f"{len(found)} of {count} messages came")
        found += take(reader)
        if len(found) < count:
            peer.wait(0.05)
    return found


def settle(peer, send, readers, first=0, seconds=20):
    """Both sides find each other, one after the other: what is published before that is lost. Sends something small, its stamp's
    nanoseconds counted from `first`, until every reader has been told of the last one; returns how many were sent."""
    for end in readers:
        matched(end)
    end, sent = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        send(first + sent)
        sent += 1
        wait, left = time.monotonic() + 0.3, list(readers)
        while left and time.monotonic() < wait:
            left = [r for r in left if not any(m.header.stamp.nanosec == first + sent - 1 for m in take(r))]
            if left:
                peer.wait(0.02)
        if not left:
            return sent
    raise TimeoutError("nothing came back")


class Node:
    """`skitter node`, started and ended."""

    def __init__(self, skitter, domain, *arguments, **more):
        env = dict(os.environ, CYCLONEDDS_URI=LOOPBACK, ROS_DOMAIN_ID=str(domain), **more)
        self.process = subprocess.Popen([skitter, "node", *arguments], stderr=subprocess.PIPE, text=True, env=env)
        self.said = self.process.stderr.readline()
        while self.said and "is active" not in self.said:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(f"the node did not start: {self.said}")
            self.said = line

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS"):
                    return int(line.split()[1])
        return 0

    def end(self, seconds=10):
        self.process.send_signal(signal.SIGINT)
        try:
            _, said = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


# --- services of parameters; a request and a reply begin with the client's number and the call's, as rmw_cyclonedds has them ---


@message("rcl_interfaces/msg/ParameterValue")
class ParameterValue:
    type: uint8 = 0
    bool_value: bool = False
    integer_value: int64 = 0
    double_value: float64 = 0
    string_value: str = ""
    byte_array_value: sequence[uint8] = b""
    bool_array_value: sequence[bool] = field(default_factory=list)
    integer_array_value: sequence[int64] = field(default_factory=list)
    double_array_value: sequence[float64] = field(default_factory=list)
    string_array_value: sequence[str] = field(default_factory=list)


@message("rcl_interfaces/msg/Parameter")
class Parameter:
    name: str
    value: ParameterValue


@message("rcl_interfaces/msg/SetParametersResult")
class SetParametersResult:
    successful: bool
    reason: str


@message("rcl_interfaces/srv/GetParameters_Request")
class GetParametersRequest:
    client: uint64
    number: int64
    names: sequence[str]


@message("rcl_interfaces/srv/GetParameters_Response")
class GetParametersResponse:
    client: uint64
    number: int64
    values: sequence[ParameterValue]


@message("rcl_interfaces/srv/SetParameters_Request")
class SetParametersRequest:
    client: uint64
    number: int64
    parameters: sequence[Parameter]


@message("rcl_interfaces/srv/SetParameters_Response")
class SetParametersResponse:
    client: uint64
    number: int64
    results: sequence[SetParametersResult]


@message("rcl_interfaces/srv/SetParametersAtomically_Request")
class SetAtomicallyRequest:
    client: uint64
    number: int64
    parameters: sequence[Parameter]


@message("rcl_interfaces/srv/SetParametersAtomically_Response")
class SetAtomicallyResponse:
    client: uint64
    number: int64
    result: SetParametersResult


@message("rcl_interfaces/msg/ListParametersResult")
class ListParametersResult:
    names: sequence[str]
    prefixes: sequence[str]


@message("rcl_interfaces/srv/ListParameters_Request")
class ListParametersRequest:
    client: uint64
    number: int64
    prefixes: sequence[str]
    depth: uint64


@message("rcl_interfaces/srv/ListParameters_Response")
class ListParametersResponse:
    client: uint64
    number: int64
    result: ListParametersResult


@message("rcl_interfaces/msg/FloatingPointRange")
class FloatingPointRange:
    from_value: float64
    to_value: float64
    step: float64


@message("rcl_interfaces/msg/IntegerRange")
class IntegerRange:
    from_value: int64
    to_value: int64
    step: uint64


@message("rcl_interfaces/msg/ParameterDescriptor")
class ParameterDescriptor:
    name: str
    type: uint8
    description: str
    additional_constraints: str
    read_only: bool
    dynamic_typing: bool
    floating_point_range: sequence[FloatingPointRange, 1]
    integer_range: sequence[IntegerRange, 1]


@message("rcl_interfaces/srv/DescribeParameters_Request")
class DescribeParametersRequest:
    client: uint64
    number: int64
    names: sequence[str]


@message("rcl_interfaces/srv/DescribeParameters_Response")
class DescribeParametersResponse:
    client: uint64
    number: int64
    descriptors: sequence[ParameterDescriptor]


@message("rcl_interfaces/srv/GetParameterTypes_Request")
class GetParameterTypesRequest:
    client: uint64
    number: int64
    names: sequence[str]


@message("rcl_interfaces/srv/GetParameterTypes_Response")
class GetParameterTypesResponse:
    client: uint64
    number: int64
    types: sequence[uint8]


@message("rcl_interfaces/msg/ParameterEvent")
class ParameterEvent:
    stamp: Time
    node: str
    new_parameters: sequence[Parameter]
    changed_parameters: sequence[Parameter]
    deleted_parameters: sequence[Parameter]


def own_library():
    """The DDS library that cyclonedds brings: another version than the system's."""
    import glob

    import cyclonedds

    beside = os.path.join(os.path.dirname(os.path.dirname(cyclonedds.__file__)), "cyclonedds.libs", "libddsc*.so*")
    return sorted(glob.glob(beside))[0]


class Client:
    """Of one service of the node `/skitter`."""

    def __init__(self, peer, name, request, response):
        self.peer, self.request, self.calls = peer, request, 0
        self.writer = peer.writer(f"rq{name}Request", request)
        self.reader = peer.reader(f"rr{name}Reply", response)

    def call(self, *arguments):
        matched(self.writer), matched(self.reader)
        self.calls += 1
        self.writer.write(self.request(0x1234567890ABCDEF, self.calls, *arguments))
        reply = collect(self.peer, self.reader, 1)[0]
        assert (reply.client, reply.number) == (0x1234567890ABCDEF, self.calls)
        return reply
