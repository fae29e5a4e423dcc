"""Writes ros2.mcap with one library (rosbags) and ros2.json with what another one (mcap-ros2-support) reads in it.

    python3 -m venv venv && venv/bin/pip install rosbags==0.11.9 mcap-ros2-support==0.6.0
    venv/bin/python vectors/make_ros2.py
"""

import json
import math
import shutil
import tempfile
from pathlib import Path

import numpy
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

ALL = """\
# Every type, with what can stand in a definition.
int8 LEAST=-128
string NAME="a # b"
bool flag
byte octet 7
char letter
int8 i8
uint8 u8
int16 i16
uint16 u16
int32 i32
uint32 u32
int64 i64
uint64 u64
float32 f32
float64 f64
string text "a = b"  # a default
string<=5 short
uint8[3] fixed
float64[] reals
int16[<=4] few
bool[2] flags
string[] texts
Point[] points
Point[2] corners
Nothing nothing
builtin_interfaces/Duration took
uint8 last
"""
POINT = "float32 x\nfloat64 y\n"


def message(store, name, /, **fields):
    return store.types[name](**fields)


def samples(store):
    def vector(x, y, z):
        return message(store, "geometry_msgs/msg/Vector3", x=x, y=y, z=z)

    def header(seconds, frame):
        stamp = message(store, "builtin_interfaces/msg/Time", sec=seconds, nanosec=999_999_999)
        return message(store, "std_msgs/msg/Header", stamp=stamp, frame_id=frame)

    for at in range(3):
        imu = message(
            store,
            "sensor_msgs/msg/Imu",
            header=header(at, "imu_link"),
            orientation=message(store, "geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0),
            orientation_covariance=numpy.arange(9, dtype=numpy.float64),
            angular_velocity=vector(0.25 * at, -0.5, 1e-9),
            angular_velocity_covariance=numpy.zeros(9),
            linear_acceleration=vector(0.0, 0.0, 9.81),
            linear_acceleration_covariance=numpy.full(9, -1.0),
        )
        yield "/imu", "sensor_msgs/msg/Imu", imu, True
    for names in ([], ["a"], ["shoulder", "ellbogen ü"]):
        joints = message(
            store,
            "sensor_msgs/msg/JointState",
            header=header(-1, ""),
            name=names,
            position=numpy.linspace(0, 1, len(names)),
            velocity=numpy.array([]),
            effort=numpy.array([math.inf] * len(names)),
        )
        yield "/arm/joints", "sensor_msgs/msg/JointState", joints, True
    yield "/count", "std_msgs/msg/Int32", message(store, "std_msgs/msg/Int32", data=-5), True
    for at, is_little in enumerate([True, False, True]):
        yield "/all", "oasis_test/msg/All", everything(store, at), is_little


def everything(store, at):
    def point(x, y):
        return message(store, "oasis_test/msg/Point", x=x, y=y)

    return message(
        store,
        "oasis_test/msg/All",
        flag=at > 0,
        octet=7,
        letter=65,
        i8=-128,
        u8=255,
        i16=-(2**15),
        u16=2**16 - 1,
        i32=-(2**31),
        u32=2**32 - 1,
        i64=-(2**63),
        u64=2**64 - 1,
        f32=0.5,
        f64=0.1,
        text="x" * at,
        short="grün",
        fixed=numpy.array([1, 2, 3], dtype=numpy.uint8),
        reals=numpy.arange(at, dtype=numpy.float64),
        few=numpy.array([-1] * at, dtype=numpy.int16),
        flags=numpy.array([True, False]),
        texts=["", "a", "bc"][: at + 1],
        points=[point(1.5 * n, -2.5) for n in range(at)],
        corners=[point(0.0, 1.0), point(2.0, 3.0)],
        nothing=message(store, "oasis_test/msg/Nothing"),
        took=message(store, "builtin_interfaces/msg/Duration", sec=-1, nanosec=5),
        last=42,
    )


def write(path, store):
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        with Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            topics = {}
            for at, (topic, name, content, is_little) in enumerate(samples(store)):
                if topic not in topics:
                    topics[topic] = writer.add_connection(topic, name, typestore=store)
                bytes_of = store.serialize_cdr(content, name, little_endian=is_little)
                writer.write(topics[topic], 1_777_896_000_000_000_000 + at, bytes_of)
        shutil.copy(next(bag.glob("*.mcap")), path)


def plain(value):
    """As JSON: members without a value left out, numbers that JSON does not have as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, (bytes, list, tuple)) or type(value).__name__ in ("array", "ndarray"):
        return [plain(element) for element in value]
    if hasattr(value, "__slots__"):
        members = {name: plain(getattr(value, name)) for name in value.__slots__}
        return {name: member for name, member in members.items() if member != {}}
    return value


def read(path):
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return [
            {"topic": channel.topic, "type": schema.name, "time": record.log_time, "values": plain(decoded)}
            for schema, channel, record, decoded in reader.iter_decoded_messages()
        ]


def main():
    store = get_typestore(Stores.ROS2_HUMBLE)
    for name, text in (("Point", POINT), ("Nothing", "int8 NONE=0\n"), ("All", ALL)):
        store.register(get_types_from_msg(text, f"oasis_test/msg/{name}"))
    folder = Path(__file__).parent
    write(folder / "ros2.mcap", store)
    expected = read(folder / "ros2.mcap")
    (folder / "ros2.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
