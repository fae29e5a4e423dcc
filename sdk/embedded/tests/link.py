"""The link of an embedded node (docs/reference/embedded.md), in Python: frames, messages and the gateway's account."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

BATCH, ANNOUNCE, SCHEMA, COUNTERS, TIME_REQUEST, RESULT = 0x01, 0x10, 0x11, 0x12, 0x13, 0x14
ACCEPT, ASK_SCHEMA, ASK_ANNOUNCE, TIME, COMMAND = 0x20, 0x21, 0x22, 0x23, 0x24
MAX_FRAME = 4096


@dataclass
class Frame:
    """A frame of the link, without its CRC."""

    kind: int
    number: int
    session: int
    body: bytes


def stuff(data: bytes) -> bytes:
    """COBS, without the delimiter."""
    out = bytearray()
    for part in data.split(b"\0"):
        while len(part) >= 254:
            out += b"\xff" + part[:254]
            part = part[254:]
        out += bytes([len(part) + 1]) + part
    return bytes(out)


def unstuff(data: bytes) -> bytes | None:
    """The bytes before COBS, or nothing if these are not COBS."""
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        if code == 0 or at + code > len(data):
            return None
        out += data[at + 1 : at + code]
        at += code
        if code < 255 and at < len(data):
            out.append(0)
    return bytes(out)


def encode(frame: Frame) -> bytes:
    """The bytes on the line, delimiter included."""
    head = struct.pack("<BBI", frame.kind, frame.number, frame.session)
    data = head + frame.body
    return stuff(data + struct.pack("<I", zlib.crc32(data))) + b"\0"


def decode(stuffed: bytes) -> Frame | None:
    """The frame between two delimiters, or nothing if it is damaged."""
    data = unstuff(stuffed)
    if (
        data is None
        or not 10 <= len(data) <= MAX_FRAME
        or zlib.crc32(data[:-4]) != struct.unpack("<I", data[-4:])[0]
    ):
        return None
    return Frame(*struct.unpack_from("<BBI", data), data[6:-4])


class Receiver:
    """Finds frames in a stream, and counts damaged ones."""

    def __init__(self) -> None:
        self.pending = bytearray()
        self.damaged = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        self.pending += data
        while (end := self.pending.find(0)) >= 0:
            stuffed = bytes(self.pending[:end])
            del self.pending[: end + 1]
            if stuffed:
                frame = decode(stuffed)
                if frame:
                    yield frame
                else:
                    self.damaged += 1
