"""Common Data Representation: numbers aligned to their size, from the start of the packet, in the sender's byte order."""

from __future__ import annotations

import enum

from oasis.errors import DecodeError, Fault
from oasis.reader import Reader
from oasis.writer import Writer


class ByteOrder(enum.Enum):
    """Order of the bytes of a number."""

    LITTLE = "little"
    """Least significant first: on the WebSocket, and in the memory of most machines."""
    BIG = "big"
    """Most significant first."""


class CdrWriter(Writer):
    """Writes CDR. Padding is zero."""

    __slots__ = ("_is_big",)

    def __init__(self, order: ByteOrder = ByteOrder.LITTLE) -> None:
        super().__init__()
        self._is_big = order is ByteOrder.BIG

    def align(self, alignment: int) -> None:
        """Append zeros up to the next multiple of `alignment`."""
        self._out += bytes(-len(self._out) % alignment)

    def octets(self, octets: bytes) -> None:
        """Append bytes as they are."""
        self._out += octets

    def _fixed(self, little_endian: bytes) -> None:
        self.align(len(little_endian))
        self._out += little_endian[::-1] if self._is_big else little_endian

    def _text(self, encoded: bytes) -> None:
        self._count(len(encoded) + 1)
        self._out += encoded
        self._out.append(0)

    def _count(self, count: int) -> None:
        self._fixed(count.to_bytes(4, "little"))


class CdrReader(Reader):
    """Reads CDR. The bytes of the padding do not matter."""

    __slots__ = ("_is_big",)

    def __init__(self, data: bytes | bytearray | memoryview, order: ByteOrder = ByteOrder.LITTLE) -> None:
        super().__init__(data)
        self._is_big = order is ByteOrder.BIG

    def align(self, alignment: int) -> None:
        """Pass over padding."""
        self.take(-self._at % alignment)

    def _fixed(self, width: int) -> bytes:
        self.align(width)
        octets = self.take(width)
        return octets[::-1] if self._is_big else octets

    def string(self) -> str:
        """Read a length, UTF-8 and the NUL that ends it."""
        length = self.uint32()
        at = self._at
        octets = self.take(length)
        if not octets.endswith(b"\0"):
            raise DecodeError(Fault.TERMINATOR, at, f"the string at offset {at} does not end with NUL")
        return self._decoded(octets[:-1], at)

    def _length(self) -> int:
        return self.uint32()
