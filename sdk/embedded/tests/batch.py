"""Native batches (docs/reference/native-batch.md) as an embedded node makes them, decoded in Python."""

import struct
from dataclasses import dataclass

HEADER = struct.Struct("<BBHIQQQQIHH")
MASK = (1 << 64) - 1
STEPS = {1: 1, 2: 2, 3: -1}
FORMATS = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "boolean": "?", "real32": "f", "real64": "d",
}  # fmt: skip


class Malformed(Exception):
    """The bytes are no batch of this schema."""


@dataclass
class Batch:
    """A batch with its columns: times, then each metric."""

    topic: int
    first: int
    node_time: int
    dropped_before: int
    count: int
    columns: list[list]


def format_of(kind: str | dict) -> str:
    """The packed form of a fixed-size type."""
    if isinstance(kind, str):
        return FORMATS[kind]
    return "".join(format_of(member["type"]) for member in kind["struct"]["members"])


def signed(value: int) -> int:
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


class Reader:
    """Reads the columns of a batch, one after the other."""

    def __init__(self, data: bytes, at: int, count: int) -> None:
        self.data, self.at, self.count = data, at, count

    def varint(self) -> int:
        value = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                raise Malformed("varint")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def plain(self, form: str) -> list:
        width = struct.calcsize("<" + form)
        pad = -self.at % width
        if any(self.data[self.at : self.at + pad]):
            raise Malformed("padding")
        self.at += pad
        return self.rows(form * self.count)

    def rows(self, form: str) -> list:
        layout = struct.Struct("<" + form)
        if self.at + layout.size > len(self.data):
            raise Malformed("too short")
        self.at += layout.size
        return list(layout.unpack_from(self.data, self.at - layout.size))

    def constant(self, base: int) -> list[int]:
        return [base + unzigzag(self.varint())] * self.count

    def delta(self, base: int) -> list[int]:
        values = [base + unzigzag(self.varint())]
        while len(values) < self.count:
            run, code = divmod(self.varint(), 4)
            if run > self.count - len(values):
                raise Malformed("run")
            values += values[-1:] * run
            if len(values) < self.count:
                values.append(values[-1] + (STEPS.get(code) or unzigzag(self.varint())))
            elif code:
                raise Malformed("run")
        return values

    def rice(self, base: int) -> list[int]:
        values = [base + unzigzag(self.varint())]
        if self.count == 1:
            return values
        step = unzigzag(self.varint())
        k = self.data[self.at]
        bits = int.from_bytes(self.data[self.at + 1 :], "little")
        used = 0
        for _ in range(self.count - 1):
            ones = 0
            while ones < 24 and bits >> used & 1:
                used += 1
                ones += 1
            if ones == 24:
                residual = bits >> used & MASK
                used += 64
            else:
                residual = ones << k | bits >> (used + 1) & ((1 << k) - 1)
                used += 1 + k
            values.append(signed(values[-1] + step + unzigzag(residual)))
        self.at += 1 + (used + 7) // 8
        return values

    def column(self, encoding: int, kind: str | dict, base: int) -> list:
        form = format_of(kind)
        if encoding == 4:
            size = len(form)
            flat = self.rows(form * self.count)
            return [tuple(flat[at : at + size]) for at in range(0, len(flat), size)]
        if encoding == 0:
            return self.plain(form)
        decode = {1: self.delta, 2: self.rice, 5: self.constant}.get(encoding)
        if not decode or not isinstance(kind, str) or form in "fd":
            raise Malformed(f"encoding {encoding}")
        values = decode(base)
        if form in "QI HB?":
            values = [value & MASK for value in values]
        struct.pack(f"<{self.count}{form}", *values)
        return values


def decode(data: bytes, schema: dict) -> Batch:
    kind, version, _, topic, first, offset, node_time, dac_time, dropped, count, columns = HEADER.unpack_from(
        data
    )
    metrics = schema["metrics"]
    if (kind, version, offset, dac_time) != (1, 1, 0, 0) or count == 0 or columns != 1 + len(metrics):
        raise Malformed("header")
    reader = Reader(data, HEADER.size + columns, count)
    kinds = ["int64", *(metric["type"] for metric in metrics)]
    encodings = data[HEADER.size : HEADER.size + columns]
    bases = [node_time] + [0] * len(metrics)
    decoded = [reader.column(*column) for column in zip(encodings, kinds, bases, strict=True)]
    if reader.at != len(data):
        raise Malformed("bytes left over")
    return Batch(topic, first, node_time, dropped, count, decoded)
