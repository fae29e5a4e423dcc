"""Writes MCAP files with every combination of what https://mcap.dev/spec leaves open: chunks and their compression, indexes, repeated schemas and
channels, statistics, and bytes after the last field of a record.

    make_mcap.py FOLDER [opaque]

Messages are JSON. `opaque` gives them encodings that the specification permits and that no reader knows, in files without compression.
"""

import itertools
import json
import struct
import sys
import zlib
from pathlib import Path

import lz4.frame
import zstandard

MAGIC = b"\x89MCAP0\r\n"
KINDS = {
    name: number
    for number, name in enumerate(
        "header footer schema channel message chunk message_index chunk_index attachment attachment_index"
        " statistics metadata metadata_index summary_offset data_end".split(),
        start=1,
    )
}
PADDING = b"\x01\xff\xff"
FEATURES = (
    "chunk",
    "message_index",
    "statistics",
    "schemas_again",
    "channels_again",
    "attachment_index",
    "metadata_index",
    "chunk_index",
    "summary_offset",
    "padding",
)
# The feature or record that each feature needs.
NEEDS = {
    "message_index": "chunk",
    "chunk_index": "chunk",
    "schemas_again": "schema",
    "channels_again": "channel",
    "attachment_index": "attachment",
    "metadata_index": "metadata",
    "chunk": "channel",
}
IN_SUMMARY = {"chunk_index", "schemas_again", "channels_again", "metadata_index", "attachment_index", "statistics"}


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def text(value):
    return u32(len(value)) + value.encode()


def text_map(of):
    pairs = b"".join(text(key) + text(value) for key, value in of.items())
    return u32(len(pairs)) + pairs


def record(kind, body, padding=b""):
    body += padding
    return bytes([KINDS[kind]]) + u64(len(body)) + body


def schema(is_opaque):
    nested = {"type": "object", "properties": {"x": {"type": "number"}}}
    data = json.dumps({"type": "object", "properties": {"value": {"type": "integer"}, "nested": nested}})
    return u16(1) + text("Example") + (text("c") + text("\4\5\6") if is_opaque else text("jsonschema") + text(data))


def channel(schema_id, encoding="json"):
    return u16(1) + u16(schema_id) + text("example") + text(encoding) + text_map({"foo": "bar"} if schema_id else {})


def message(number, time, is_opaque):
    data = json.dumps({"value": number, "nested": {"x": number / 3}}).encode()
    return u16(1) + u32(number) + u64(time) + u64(time) + (b"\1\2\3" if is_opaque else data)


ATTACHED = u64(2) + u64(1) + text("file") + text("application/octet-stream") + u64(3) + b"\x01\x02\x03"


def inputs(is_opaque):
    alone, described = ("text", "a") if is_opaque else ("json", "json")
    one = [("message", message(1, 2, is_opaque))]
    times = enumerate([0, 2, 1, 3, 3, 5, 4, 7, 8, 9])
    ten = [("message", message(number, time, is_opaque)) for number, time in times]
    with_schema = [("schema", schema(is_opaque)), ("channel", channel(1, described))]
    return {
        "nothing": [],
        "no-schema": [("channel", channel(0, alone)), *one],
        "one-message": [*with_schema, *one],
        "attachment": [("attachment", ATTACHED + u32(zlib.crc32(ATTACHED)))],
        "metadata": [("metadata", text("about") + text_map({"foo": "bar"}))],
        "ten-messages": [*with_schema, *ten],
    }


class File:
    def __init__(self, features, compression):
        self.features = features
        self.compression = compression
        self.padding = PADDING if "padding" in features else b""
        self.out = bytearray(MAGIC) + record("header", text("") + text(""), self.padding)
        self.indexes = {"chunk_index": [], "attachment_index": [], "metadata_index": []}

    def append(self, kind, body, padding=None):
        at = len(self.out)
        self.out += record(kind, body, self.padding if padding is None else padding)
        return at, len(self.out) - at

    def data(self, records):
        in_chunk = bytearray()
        times = []
        for kind, body in records:
            if kind in ("schema", "channel", "message") and "chunk" in self.features:
                if kind == "message":
                    times.append((struct.unpack_from("<Q", body, 6)[0], len(in_chunk)))
                in_chunk += record(kind, body)
                continue
            # A message ends with its data: it has no padding.
            at, length = self.append(kind, body, b"" if kind == "message" else None)
            if kind == "attachment":
                about = u64(at) + u64(length) + u64(2) + u64(1) + u64(3) + text("file") + text("application/octet-stream")
                self.indexes["attachment_index"].append(about)
            if kind == "metadata":
                self.indexes["metadata_index"].append(u64(at) + u64(length) + text("about"))
        if in_chunk:
            self.chunk(bytes(in_chunk), times)
        self.append("data_end", u32(zlib.crc32(bytes(self.out))), b"")

    def chunk(self, content, times):
        pack = {"": bytes, "lz4": lz4.frame.compress, "zstd": zstandard.ZstdCompressor().compress}
        packed = pack[self.compression](content)
        first, last = min(times)[0], max(times)[0]
        head = u64(first) + u64(last) + u64(len(content)) + u32(zlib.crc32(content)) + text(self.compression)
        at, length = self.append("chunk", head + u64(len(packed)) + packed, b"")
        places, index_length = b"", 0
        if "message_index" in self.features:
            entries = b"".join(u64(time) + u64(place) for time, place in times)
            index_at, index_length = self.append("message_index", u16(1) + u32(len(entries)) + entries)
            places = u16(1) + u64(index_at)
        sizes = text(self.compression) + u64(len(packed)) + u64(len(content))
        about = u64(first) + u64(last) + u64(at) + u64(length) + u32(len(places)) + places + u64(index_length)
        self.indexes["chunk_index"].append(about + sizes)

    def summary(self, records):
        start = len(self.out)
        groups = []

        def group(kind, bodies):
            at = len(self.out)
            for body in bodies:
                self.append(kind, body)
            if len(self.out) > at:
                groups.append((kind, at, len(self.out) - at))

        for kind, feature in (("schema", "schemas_again"), ("channel", "channels_again")):
            group(kind, [body for of, body in records if of == kind and feature in self.features])
        if "statistics" in self.features:
            group("statistics", [self.statistics([kind for kind, _ in records])])
        for kind in ("metadata_index", "attachment_index", "chunk_index"):
            group(kind, self.indexes[kind] if kind in self.features else [])
        has_summary = len(self.out) > start
        offsets_at = 0
        if "summary_offset" in self.features:
            offsets_at = len(self.out)
            for kind, at, length in groups:
                self.append("summary_offset", bytes([KINDS[kind]]) + u64(at) + u64(length))
        footer = bytes([KINDS["footer"]]) + u64(20) + u64(start if has_summary else 0) + u64(offsets_at)
        self.out += footer + u32(zlib.crc32(bytes(self.out[start:]) + footer)) + MAGIC

    def statistics(self, kinds):
        messages = kinds.count("message")
        times = u64(0) + u64(9 if messages > 1 else 2 * messages)
        counts = u16(1) + u64(messages) if messages else b""
        numbers = u64(messages) + u16(kinds.count("schema")) + u32(kinds.count("channel"))
        others = u32(kinds.count("attachment")) + u32(kinds.count("metadata")) + u32(int("chunk" in self.features))
        return numbers + others + times + u32(len(counts)) + counts


def variants(is_opaque):
    compressions = ("",) if is_opaque else ("", "lz4", "zstd")
    for name, records in inputs(is_opaque).items():
        kinds = {kind for kind, _ in records}
        for count in range(len(FEATURES) + 1):
            for chosen in itertools.combinations(FEATURES, count):
                features = set(chosen)
                needed = {NEEDS[feature] for feature in features if feature in NEEDS}
                if not needed <= features | kinds or ("summary_offset" in features and not features & IN_SUMMARY):
                    continue
                for compression in compressions if "chunk" in features else ("",):
                    yield name, records, features, compression


def main(folder, is_opaque):
    files = 0
    for name, records, features, compression in variants(is_opaque):
        file = File(features, compression)
        file.data(records)
        file.summary(records)
        path = folder / ("-".join([name, *sorted(features), *([compression] if compression else [])]) + ".mcap")
        path.write_bytes(file.out)
        files += 1
    print(files)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "opaque" in sys.argv[2:])
