"""The packed row: values one after another, little-endian, without alignment (docs/reference/native-batch.md, "rows")."""

from __future__ import annotations

from oasis.errors import DecodeError, Fault
from oasis.reader import Reader
from oasis.writer import Writer


class RowWriter(Writer):
    """Writes a packed row."""

    __slots__ = ()

    def _fixed(self, little_endian: bytes) -> None:
        self._out += little_endian

    def _text(self, encoded: bytes) -> None:
        self._count(len(encoded))
        self._out += encoded

    def _count(self, count: int) -> None:
        while count >= 0x80:
            self._out.append(count & 0x7F | 0x80)
            count >>= 7
        self._out.append(count)


class RowReader(Reader):
    """Reads a packed row."""

    __slots__ = ()

    def _fixed(self, width: int) -> bytes:
        return self.take(width)

    def string(self) -> str:
        """Read a length and as many bytes of UTF-8."""
        at = self._at
        return self._decoded(self.take(self._length()), at)

    def _length(self) -> int:
        """Read a LEB128 number."""
        at, value = self._at, 0
        for shift in range(0, 64, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            # The tenth byte has room for one bit only.
            if shift == 63 and byte > 1:
                break
            if byte < 0x80:
                return value
        raise DecodeError(Fault.VARINT, at, f"the varint at offset {at} exceeds 64 bits")
