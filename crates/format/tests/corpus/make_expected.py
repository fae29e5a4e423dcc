"""Writes what the readers of other projects say of the recordings in this folder: README.md."""

import csv
import dataclasses
import datetime
import json
import pathlib
import struct
import sys
import zlib

import cantools

HERE = pathlib.Path(__file__).parent
# Fields that a format stores, but that are no values.
PADDING = "_padding"


def canonical(value):
    """The text of a value, the same as that of the test in Rust."""
    if isinstance(value, bool):
        return "b1" if value else "b0"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "fnan" if value != value else "f" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, dict):
        return "{" + ",".join(canonical(member) for member in value.values()) + "}"
    return "[" + ",".join(canonical(element) for element in value) + "]"


class Instances:
    """Collects samples by instance."""

    def __init__(self):
        self.all = {}

    def add(self, name, time, values):
        of = self.all.setdefault(name, {"samples": 0, "first_ns": time, "last_ns": time, "columns": {}})
        of["samples"] += 1
        of["last_ns"] = time
        for column, value in values.items():
            text = (canonical(value) + "\n").encode()
            of["columns"][column] = zlib.crc32(text, of["columns"].get(column, 0))

    def write(self, name):
        path = HERE / "expected" / f"{name}.json"
        path.write_text(json.dumps({"instances": self.all}, indent=1, sort_keys=True) + "\n")
        print(path.name, sum(of["samples"] for of in self.all.values()))


# The notation of numbers, which pandas does not detect.
NOTATIONS = {
    "thousands_apostrophe": {"sep": ";", "thousands": "'"},
    "thousands_comma": {"thousands": ","},
    "thousands_point": {"sep": ";", "thousands": ".", "decimal": ","},
    "thousands_space": {"sep": ";", "thousands": " ", "decimal": ","},
}


def read_notation(path):
    """With a header, and times in seconds."""
    import pandas

    instances = Instances()
    table = pandas.read_csv(path, float_precision="round_trip", **NOTATIONS[path.stem])
    for row in table.itertuples(index=False):
        values = {name.split(" [")[0]: float(value) for name, value in zip(table.columns, row)}
        instances.add(path.stem, int(values.pop("time")) * 1_000_000_000, values)
    return instances


def read_csv(path):
    """Without a header: the first column has times, all others numbers."""
    if path.stem in NOTATIONS:
        return read_notation(path)
    epoch = datetime.datetime(1970, 1, 1)
    instances = Instances()
    for row in csv.reader(path.open()):
        since = datetime.datetime.strptime(row[0], "%Y%m%dT%H%M%S.%f") - epoch
        time = ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) * 1000
        instances.add(path.stem, time, {f"column_{at + 2}": float(text) for at, text in enumerate(row[1:])})
    return instances


def read_ulog(path):
    """Each topic; `name[2]` is an element, `name.x` a member."""
    from pyulog import ULog

    log = ULog(str(path))
    instances = Instances()
    offset = 0
    if log.start_timestamp < 900_000_000_000_000:
        with_utc = [topic for topic in log.data_list if "time_utc_usec" in topic.data]
        rank = lambda topic: (topic.name != "vehicle_gps_position", topic.name, topic.multi_id)
        for topic in sorted(with_utc, key=rank):
            pairs = zip(topic.data["time_utc_usec"], topic.data["timestamp"])
            known = [int(utc) - int(time) for utc, time in pairs if utc >= 900_000_000_000_000]
            if known:
                offset = known[0]
                break
    for topic in log.data_list:
        name = topic.name if topic.multi_id == 0 else f"{topic.name}_{topic.multi_id}"
        columns = {column: values.tolist() for column, values in topic.data.items() if PADDING not in column}
        kinds = {field.field_name: field.type_str for field in topic.field_data}
        for at, time in enumerate(columns["timestamp"]):
            row = {}
            for column, values in columns.items():
                value = values[at]
                if kinds[column] == "bool":
                    value = value != 0
                put(row, column, value)
            for column in [column for column in row if kinds.get(f"{column}[0]") == "char"]:
                letters = bytes(letter & 0xFF for letter in row[column]).split(b"\0")[0]
                row[column] = letters.decode(errors="replace")
            instances.add(name, (int(time) + offset) * 1000, row)
    for message in log.logged_messages:
        level = {"EMERGENCY": 21, "ALERT": 21, "CRITICAL": 21, "ERROR": 17, "WARNING": 13, "DEBUG": 5}
        row = {"level": level.get(message.log_level_str(), 9), "message": message.message.rstrip("\0\n")}
        instances.add("log", (message.timestamp + offset) * 1000, row)
    return instances


def put(row, column, value):
    """Builds `a[1].b` as lists and dictionaries."""
    path = column.replace("[", ".[").split(".")
    for at, step in enumerate(path):
        is_last = at == len(path) - 1
        new = value if is_last else ([] if path[at + 1].startswith("[") else {})
        if step.startswith("["):
            index = int(step[1:-1])
            if index == len(row):
                row.append(new)
            row = row[index]
        else:
            row = row.setdefault(step, new) if not is_last else row.__setitem__(step, new)


def read_rosbag2(path):
    """Each topic whose type is known to the typestore, or described in the file."""
    import sqlite3

    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
    definitions = {}
    if "message_definitions" in tables:
        query = "SELECT topic_type, encoded_message_definition FROM message_definitions"
        definitions = dict(database.execute(query).fetchall())
    topics = database.execute("SELECT id, name, type FROM topics").fetchall()
    for _, _, kind in topics:
        service = kind.removesuffix("_Event")
        if kind != service:
            request, response = definitions[service].split("---")
            package, _, name = service.split("/")
            event = (
                "uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 sequence_number\n"
                f"{package}/{name}_Request[<=1] request\n{package}/{name}_Response[<=1] response\n"
            )
            bar = "=" * 80
            text = f"{event}{bar}\nMSG: {package}/{name}_Request\n{request}\n{bar}\nMSG: {package}/{name}_Response\n{response}"
            store.register(get_types_from_msg(text, f"{package}/msg/{name}_Event"))
        elif kind in definitions:
            types = get_types_from_msg(definitions[kind], kind)
            store.register({name: of for name, of in types.items() if name not in store.fielddefs})
    instances = Instances()
    query = "SELECT topic_id, timestamp, data FROM messages ORDER BY rowid"
    names = {id: (name, kind.replace("/srv/", "/msg/")) for id, name, kind in topics}
    for topic, time, data in database.execute(query):
        name, kind = names[topic]
        values = plain(store.deserialize_cdr(data, kind))
        if kind.endswith("_Event"):
            info = ["event_type", "stamp", "client_gid", "sequence_number"]
            values = {"info": {key: values[key] for key in info}, **{k: v for k, v in values.items() if k not in info}}
        instances.add(name.lstrip("/"), time, values)
    return instances


def plain(value):
    """Lists and dictionaries without fields that have no values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list):
        return [plain(element) for element in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    # Constants are no values of a message.
    names = [field.name for field in dataclasses.fields(value) if not field.name.startswith("__") and not field.name.isupper()]
    members = {name: plain(getattr(value, name)) for name in names}
    # rosbags reads the elements of `byte[]` as int8; ROS 2 defines `byte` as octet.
    unsigned = lambda of: [byte & 0xFF for byte in of] if isinstance(of, list) else of
    members = {name: unsigned(of) if name.startswith("byte_values") else of for name, of in members.items()}
    members.pop("structure_needs_at_least_one_member", None)
    is_nothing = lambda of: of == {} or (isinstance(of, list) and of != [] and all(map(is_nothing, of)))
    return {name: of for name, of in members.items() if not is_nothing(of)}


def read_idl(path):
    """Writes messages of types in IDL in each encoding with CycloneDDS, and reads them with it."""
    import random

    from cyclonedds.idl._support import Endianness
    from mcap.writer import Writer

    chance = random.Random(path.stem)
    instances = Instances()
    with path.open("wb") as file:
        writer = Writer(file, use_chunking=False)
        writer.start(library="corpus")
        of_plant = path.stem == "plant"
        if not of_plant:
            import xtypes
        row = content if of_plant else xtypes.row
        for number, (kind, text, make) in enumerate(idl_types() if of_plant else xtypes.TYPES):
            encoding = "ros2idl" if "::msg::" in kind else "omgidl"
            schema = writer.register_schema(kind.replace("::", "/") if encoding == "ros2idl" else kind, encoding, text.encode())
            for name, options in {"cdr": (False, Endianness.Little), "cdr_big": (False, Endianness.Big), "xcdr2": (True, Endianness.Little), "xcdr2_big": (True, Endianness.Big)}.items():
                topic = f"{kind.split('::')[-1].lower()}_{name}"
                channel = writer.register_channel(f"/{topic}", "cdr", schema)
                for at in range(40):
                    version, order = options
                    data = make(chance).serialize(use_version_2=version, endianness=order)
                    time = 1_700_000_000_000_000_000 + (number * 1000 + at) * 1_000_000
                    writer.add_message(channel, time, data, time)
                    instances.add(topic, time, row(type(make(random.Random(0))).deserialize(data)))
        writer.finish()
    return instances


def content(value):
    """Lists and dictionaries; enums as their numbers."""
    import enum

    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [content(element) for element in value]
    if dataclasses.is_dataclass(value):
        return {field.name: content(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def idl_types():
    """Scoped names, their text in IDL, and how a random value is made."""
    from dataclasses import dataclass

    from cyclonedds.idl import IdlEnum, IdlStruct, annotations, types

    class Mode(IdlEnum, typename="plant.msg.Mode", default="OFF"):
        OFF = 0
        ON = 1
        FAULT = 7

    @dataclass
    class Point(IdlStruct, typename="plant.msg.Point"):
        near: types.uint8
        x: types.float64
        name: str

    @dataclass
    @annotations.final
    class Final(IdlStruct, typename="plant.msg.Final"):
        a: types.uint8
        b: types.float64
        c: types.int16
        d: types.uint64
        e: bool
        f: types.float32
        name: str
        mode: Mode
        modes: types.sequence[Mode]
        bytes: types.sequence[types.uint8]
        numbers: types.sequence[types.int64]
        names: types.sequence[str]
        points: types.sequence[Point]
        pair: types.array[Point, 2]
        matrix: types.array[types.array[types.float64, 3], 2]
        nested: types.sequence[types.sequence[types.int32]]
        last: types.uint8

    @dataclass
    @annotations.appendable
    class Inner(IdlStruct, typename="plant.Inner"):
        x: types.int64
        name: str

    @dataclass
    @annotations.appendable
    class Outer(IdlStruct, typename="plant.Outer"):
        a: types.uint8
        inner: Inner
        all: types.sequence[Inner]
        last: types.int16

    text = lambda chance: "".join(chance.choice("ab\u00e9\u7089") for _ in range(chance.randrange(5)))
    many = lambda chance, of: [of() for _ in range(chance.randrange(4))]
    point = lambda chance: Point(chance.randrange(256), chance.uniform(-9, 9), text(chance))
    mode = lambda chance: chance.choice(list(Mode))

    def final(chance):
        return Final(
            a=chance.randrange(256),
            b=chance.uniform(-1e300, 1e300),
            c=chance.randrange(-32768, 32768),
            d=chance.randrange(2**64),
            e=chance.random() < 0.5,
            f=float(chance.randrange(1000)) / 8,
            name=text(chance),
            mode=mode(chance),
            modes=many(chance, lambda: mode(chance)),
            bytes=many(chance, lambda: chance.randrange(256)),
            numbers=many(chance, lambda: chance.randrange(-(2**63), 2**63)),
            names=many(chance, lambda: text(chance)),
            points=many(chance, lambda: point(chance)),
            pair=[point(chance), point(chance)],
            matrix=[[chance.random() for _ in range(3)] for _ in range(2)],
            nested=many(chance, lambda: many(chance, lambda: chance.randrange(100))),
            last=chance.randrange(256),
        )

    inner = lambda chance: Inner(chance.randrange(-(2**63), 2**63), text(chance))
    outer = lambda chance: Outer(chance.randrange(256), inner(chance), many(chance, lambda: inner(chance)), chance.randrange(100))
    bar = "=" * 80
    of_final = f"""{bar}
IDL: plant/msg/Final
#include "plant/msg/Point.idl"
module plant {{
  module msg {{
    enum Mode {{ OFF, ON, @value(7) FAULT }};
    typedef double double__2_3[2][3];
    @verbatim (language="comment", text="Of a pump.")
    struct Final {{
      uint8 a; double b; short c; unsigned long long d; boolean e; float f;
      string name; Mode mode; sequence<Mode> modes; sequence<octet> bytes; sequence<int64> numbers;
      sequence<string, 5> names; sequence<plant::msg::Point> points; plant::msg::Point pair[2];
      double__2_3 matrix; sequence<sequence<long>> nested;
      @unit (value="m") uint8 last;
    }};
  }};
}};

{bar}
IDL: plant/msg/Point
module plant {{ module msg {{ struct Point {{ uint8 near; double x; string<20> name; }}; }}; }};
"""
    of_outer = """
module plant {
  @appendable struct Inner { long long x; string name; };
  @appendable struct Outer { octet a; Inner inner; sequence<Inner> all; short last; };
};
"""
    return [("plant::msg::Final", of_final, final), ("plant::Outer", of_outer, outer)]


def read_candump(path):
    """Writes a log of random frames for a database, and reads it with cantools."""
    import random

    database = cantools.database.load_file(str(path), strict=False, encoding=None if is_utf8(path) else "cp1252")
    instances = Instances()
    chance = random.Random(path.stem)
    lines, number = [], 0
    for message in database.messages:
        if not message.signals or message.is_container:
            continue
        present = set()
        for _ in range(FRAMES):
            data, values = frame(message, chance)
            if values is None:
                break
            present.update(values)
            number += 1
            time = 1_700_000_000_000_000 + number * 1_234
            identifier = f"{message.frame_id:08X}" if message.is_extended_frame else f"{message.frame_id:03X}"
            mark = "##1" if message.is_fd else "#"
            lines.append(f"({time // 1_000_000}.{time % 1_000_000:06d}) can0 {identifier}{mark}{data.hex().upper()}\n")
            row = {}
            for signal in message.signals:
                conversion = signal.conversion
                is_whole = all(float(of).is_integer() for of in (conversion.scale, conversion.offset)) and not conversion.is_float
                if signal.name not in values:
                    row[signal.name] = 0 if is_whole else float("nan")
                else:
                    row[signal.name] = int(values[signal.name]) if is_whole else float(values[signal.name])
            instances.add(f"can0/{message.name}", time * 1000, row)
        # A signal that no frame has is no metric.
        columns = instances.all.get(f"can0/{message.name}", {}).get("columns", {})
        for name in set(columns) - present:
            del columns[name]
    path.with_suffix(".log").write_text("".join(lines))
    return instances


FRAMES = 12


def frame(message, chance):
    """Random data that the multiplexors of the message permit, and their values."""
    for _ in range(3000):
        data = bytes(chance.randrange(4 if chance.random() < 0.5 else 256) for _ in range(message.length))
        try:
            return data, message.decode(data, decode_choices=False, scaling=True)
        except (cantools.database.DecodeError, KeyError):
            pass
    return None, None


def is_utf8(path):
    try:
        path.read_text(encoding="utf-8")
        return True
    except UnicodeDecodeError:
        return False


def read_rosbag1(path):
    """Writes a bag of ROS 1 with rosbags, and reads it with the same. The ending of the name is its compression."""
    import random

    import numpy
    from rosbags.rosbag1 import Reader, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    types = store.types
    chance = random.Random(11)
    path.unlink(missing_ok=True)
    writer = Writer(path)
    # `noetic_lz4` has compressed chunks.
    if "_" in path.stem:
        writer.set_compression(Writer.CompressionFormat[path.stem.split("_")[1].upper()])
    with writer:
        imu = writer.add_connection("/imu", "sensor_msgs/msg/Imu", typestore=store)
        text = writer.add_connection("chatter", "std_msgs/msg/String", typestore=store)
        status = writer.add_connection("/status", "diagnostic_msgs/msg/DiagnosticArray", typestore=store)
        for number in range(30):
            time = 1_700_000_000_000_000_000 + number * 10_000_007
            stamp = types["builtin_interfaces/msg/Time"](sec=number, nanosec=number * 3)
            header = types["std_msgs/msg/Header"](seq=number, stamp=stamp, frame_id="body")
            vector = lambda: types["geometry_msgs/msg/Vector3"](*(chance.random() for _ in range(3)))
            turn = types["geometry_msgs/msg/Quaternion"](0.0, float("nan"), float("inf"), -1.0)
            nine = lambda: numpy.array([chance.random() for _ in range(9)])
            message = types["sensor_msgs/msg/Imu"](header, turn, nine(), vector(), nine(), vector(), nine())
            writer.write(imu, time, store.serialize_ros1(message, imu.msgtype))
            message = types["std_msgs/msg/String"](data="\u00e4" * number)
            writer.write(text, time + 1, store.serialize_ros1(message, text.msgtype))
            pair = types["diagnostic_msgs/msg/KeyValue"]("k", str(number))
            one = types["diagnostic_msgs/msg/DiagnosticStatus"](number % 3, "n", "m", "h", [pair] * (number % 4))
            message = types["diagnostic_msgs/msg/DiagnosticArray"](header, [one] * (number % 3))
            writer.write(status, time + 2, store.serialize_ros1(message, status.msgtype))
    instances = Instances()
    with Reader(path) as reader:
        for connection, time, data in reader.messages():
            values = plain(store.deserialize_ros1(data, connection.msgtype))
            instances.add(connection.topic.lstrip("/"), time, values)
    return instances


def table(chance):
    """A table of every type, in two record batches; each column but the times has nulls."""
    import decimal

    import pyarrow

    rows = 600
    times = [1_700_000_000_000_000 + row // 2 * 1_001 for row in range(rows)]

    def column(kind, value):
        return pyarrow.array([None if chance.random() < 0.1 else value() for _ in range(rows)], kind)

    point = pyarrow.struct([("x", pyarrow.float64()), ("on", pyarrow.bool_()), ("label", pyarrow.string())])
    a_point = lambda: {"x": chance.random(), "on": chance.random() < 0.5, "label": chance.choice(["a", None])}
    columns = {
        "stamp": pyarrow.array(times, pyarrow.timestamp("us", "Europe/Berlin")),
        "wide": column(pyarrow.uint64(), lambda: chance.randrange(2**64)),
        "signed": column(pyarrow.int64(), lambda: chance.randrange(-(2**63), 2**63)),
        "small": column(pyarrow.int8(), lambda: chance.randrange(-128, 128)),
        "short": column(pyarrow.uint16(), lambda: chance.randrange(2**16)),
        "real": column(pyarrow.float64(), lambda: chance.choice([chance.random(), float("inf"), float("nan")])),
        "single": column(pyarrow.float32(), chance.random),
        "on": column(pyarrow.bool_(), lambda: chance.random() < 0.5),
        "name": column(pyarrow.string(), lambda: chance.choice(["", "\u00e4", "long" * 50])),
        "word": column(pyarrow.string(), lambda: chance.choice("abc")).dictionary_encode(),
        "price": column(pyarrow.decimal128(12, 3), lambda: decimal.Decimal(chance.randrange(10**9)).scaleb(-3)),
        "day": column(pyarrow.int32(), lambda: chance.randrange(20_000)).cast(pyarrow.date32()),
        "list": column(pyarrow.list_(pyarrow.int32()), lambda: [chance.randrange(9)] * chance.randrange(4)),
        "points": column(pyarrow.list_(point), lambda: [a_point() for _ in range(chance.randrange(3))]),
        "at": column(point, a_point),
    }
    return pyarrow.table(columns)


# Values of rows that have none.
PLACEHOLDERS = {"real": float("nan"), "single": float("nan"), "price": float("nan"), "on": False, "name": "", "word": "", "list": [], "points": []}


def read_table(path):
    """Writes a table with pyarrow or polars, and reads it with the same."""
    import random

    import pyarrow
    from pyarrow import feather, ipc, parquet

    made = table(random.Random(path.name))
    if path.suffix == ".parquet":
        compression = path.stem
        parquet.write_table(made, path, compression=compression, row_group_size=256, version="2.6")
        read = parquet.read_table(path)
    elif path.suffix == ".feather":
        feather.write_feather(made, path, compression=path.stem, chunksize=256)
        read = feather.read_table(path)
    elif path.suffix == ".ipc":
        import polars

        polars.from_arrow(made).write_ipc(path)
        read = polars.read_ipc(path).to_arrow()
    else:
        with ipc.new_stream(path, made.schema) as stream:
            stream.write_table(made, max_chunksize=256)
        with ipc.open_stream(path) as stream:
            read = stream.read_all()
    instances = Instances()
    times = read["stamp"].cast(pyarrow.int64()).to_pylist()
    days = read["day"].cast(pyarrow.int32()).to_pylist()
    for time, day, row in zip(times, days, read.drop_columns(["stamp", "day"]).to_pylist()):
        row["day"] = day
        if row["price"] is not None:
            row["price"] = float(row["price"])
        instances.add(path.stem, time * 1000, {name: without_nulls(name, value) for name, value in row.items()})
    return instances


def without_nulls(name, value):
    """Replaces nulls by their placeholder."""
    if name in ("at", "point"):
        value = value or {"x": None, "on": None, "label": None}
        return {
            "x": float("nan") if value["x"] is None else value["x"],
            "on": bool(value["on"]),
            "label": value["label"] or "",
        }
    if value is None:
        return PLACEHOLDERS.get(name, 0)
    return [without_nulls("point", of) for of in value] if name == "points" else value


PROTO = """
syntax = "proto3";
package plant;
import "google/protobuf/timestamp.proto";
message Point { double x = 1; float y = 2; }
message Pump {
  enum Mode { IDLE = 0; RUN = 1; FAULT = -3; }
  google.protobuf.Timestamp stamp = 1;
  Mode mode = 2;
  int32 a = 3; sint32 b = 4; uint32 c = 5; fixed32 d = 6; sfixed32 e = 7;
  int64 f = 8; sint64 g = 9; uint64 h = 10; fixed64 i = 11; sfixed64 j = 12;
  bool on = 13; string name = 14; bytes raw = 15;
  repeated int64 packed = 16; repeated int32 unpacked = 17 [packed = false];
  repeated Point path = 18; Point at = 19; map<string, double> gauges = 20;
  oneof either { string text = 21; double number = 22; }
  Pump inner = 200; repeated string words = 1000;
}
"""


def read_protobuf(path):
    """Writes a recording with mcap-protobuf-support, and reads it with the same."""
    import random
    import subprocess
    import tempfile

    from mcap_protobuf.decoder import DecoderFactory
    from mcap_protobuf.writer import Writer
    from mcap.reader import make_reader

    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "plant.proto").write_text(PROTO)
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"--python_out={folder}", "plant.proto"]
        subprocess.run(command, check=True, cwd=folder)
        sys.path.insert(0, folder)
        import plant_pb2
    chance = random.Random(7)
    with path.open("wb") as file, Writer(file) as writer:
        for number in range(40):
            pump = plant_pb2.Pump()
            if number % 4:
                pump.stamp.FromNanoseconds(1_700_000_000_000_000_000 + number)
                pump.mode = chance.choice([0, 1, -3])
                pump.a, pump.b, pump.e = (chance.randrange(-(2**31), 2**31) for _ in range(3))
                pump.c, pump.d = (chance.randrange(2**32) for _ in range(2))
                pump.f, pump.g, pump.j = (chance.randrange(-(2**63), 2**63) for _ in range(3))
                pump.h, pump.i = (chance.randrange(2**64) for _ in range(2))
                pump.on, pump.name, pump.raw = number % 3 == 0, "Pumpe \u00e4" * (number % 3), bytes(range(number))
                pump.packed.extend(chance.randrange(-9, 2**63) for _ in range(number % 5))
                pump.unpacked.extend(chance.randrange(-9, 2**31) for _ in range(number % 5))
                for _ in range(number % 3):
                    pump.path.add(x=chance.random(), y=chance.choice([0.5, float("inf")]))
                pump.at.x = float("nan") if number % 7 == 0 else chance.random()
                pump.words.extend(["a", "", "c"][: number % 4])
                pump.inner.name = "not stored"
                if number % 2:
                    pump.text = "t"
                else:
                    pump.number = number / 8
                if number % 5 == 0:
                    pump.gauges["level"] = number / 4
            time = 1_700_000_000_000_000_000 + number * 1_000
            writer.write_message("/pump", pump, log_time=time, publish_time=time)
        for number in range(5):
            writer.write_message("/point", plant_pb2.Point(x=number), log_time=number + 1, publish_time=number + 1)
    instances = Instances()
    reader = make_reader(path.open("rb"), decoder_factories=[DecoderFactory()])
    for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
        values = members(decoded)
        values.pop("inner", None)
        instances.add(channel.topic.lstrip("/"), message.log_time, values)
    return instances


def members(message):
    """All fields of a message in the order of its type, with defaults."""
    values = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            value = [{"key": key, "value": of} for key, of in sorted(value.items())]
        elif getattr(field, "is_repeated", False):
            value = [members(of) if field.message_type else of for of in value]
        elif field.message_type is not None:
            value = members(value) if field.message_type.name != "Pump" else {}
        elif isinstance(value, bytes):
            value = list(value)
        values[field.name] = value
    return values


# Written by this script.
SKIPPED = {".log"}
READERS = {
    "arrow": read_table,
    "parquet": read_table,
    "candump": read_candump,
    "csv": read_csv,
    "protobuf": read_protobuf,
    "ulog": read_ulog,
    "rosbag1": read_rosbag1,
    "rosbag2": read_rosbag2,
    "idl": read_idl,
}

if __name__ == "__main__":
    for folder, read in READERS.items():
        if len(sys.argv) > 1 and folder not in sys.argv[1:]:
            continue
        for path in sorted((HERE / folder).iterdir()):
            if path.suffix in SKIPPED:
                continue
            read(path).write(f"{folder}-{path.stem}")
