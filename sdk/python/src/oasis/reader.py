"""Reads values of PDL types from untrusted bytes."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

from oasis import real32
from oasis.errors import DecodeError, Fault

E = TypeVar("E", bound=IntEnum)


class Reader(ABC):
    """Source of values for generated classes. No allocation trusts a length that was read."""

    __slots__ = ("_at", "_bytes", "_taken_at")

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self._bytes = bytes(data)
        self._at = 0
        self._taken_at = 0

    @property
    def at(self) -> int:
        """Offset of the next value."""
        return self._at

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return len(self._bytes) - self._at

    def take(self, length: int) -> bytes:
        """Read bytes as they are."""
        if length > self.left:
            text = f"{length} bytes are needed at offset {self._at}, {self.left} are left"
            raise DecodeError(Fault.TRUNCATED, self._at, text)
        self._taken_at, self._at = self._at, self._at + length
        return self._bytes[self._taken_at : self._at]

    def finish(self) -> None:
        """Raise if bytes are left."""
        if self.left:
            raise DecodeError(
                Fault.LEFTOVER, self._at, f"{self.left} bytes are left over at offset {self._at}"
            )

    @abstractmethod
    def _fixed(self, width: int) -> bytes:
        """Read a number of so many bytes, least significant first."""

    @abstractmethod
    def _length(self) -> int:
        """Read the number of a vector's elements."""

    @abstractmethod
    def string(self) -> str:
        """Read text."""

    def blob(self, max_bytes: int) -> bytes:
        """Read the bytes of a file."""
        at = self._at
        length = self._length()
        if length > max_bytes:
            text = f"the file at offset {at} has {length} bytes, at most {max_bytes} are allowed"
            raise DecodeError(Fault.BLOB, at, text)
        return self.take(length)

    def int8(self) -> int:
        """Read an integer of -128 to 127."""
        return int.from_bytes(self._fixed(1), "little", signed=True)

    def int16(self) -> int:
        """Read an integer of two bytes."""
        return int.from_bytes(self._fixed(2), "little", signed=True)

    def int32(self) -> int:
        """Read an integer of four bytes."""
        return int.from_bytes(self._fixed(4), "little", signed=True)

    def int64(self) -> int:
        """Read an integer of eight bytes."""
        return int.from_bytes(self._fixed(8), "little", signed=True)

    def uint8(self) -> int:
        """Read an integer of 0 to 255."""
        return int.from_bytes(self._fixed(1), "little")

    def uint16(self) -> int:
        """Read an integer of two bytes without a sign."""
        return int.from_bytes(self._fixed(2), "little")

    def uint32(self) -> int:
        """Read an integer of four bytes without a sign."""
        return int.from_bytes(self._fixed(4), "little")

    def uint64(self) -> int:
        """Read an integer of eight bytes without a sign."""
        return int.from_bytes(self._fixed(8), "little")

    def real32(self) -> float:
        """Read an IEEE 754 single."""
        return real32.from_bytes(self._fixed(4))

    def real64(self) -> float:
        """Read an IEEE 754 double."""
        value: float = struct.unpack("<d", self._fixed(8))[0]
        return value

    def boolean(self) -> bool:
        """Read a byte that is 0 or 1."""
        byte = self.take(1)[0]
        if byte > 1:
            text = f"the boolean at offset {self._taken_at} is {byte}, neither 0 nor 1"
            raise DecodeError(Fault.BOOLEAN, self._taken_at, text)
        return byte == 1

    def enumerator(self, of: type[E], read: Callable[[], int]) -> E:
        """Read an enumerator by the method that reads numbers of its type."""
        number = read()
        try:
            return of(number)
        except ValueError:
            text = f"the {of.__name__} at offset {self._taken_at} is {number}, which it does not declare"
            raise DecodeError(Fault.ENUMERATOR, self._taken_at, text) from None

    def vector(self) -> int:
        """Read the number of elements, each of which takes a byte at least."""
        at = self._at
        count = self._length()
        if count > self.left:
            text = f"the vector at offset {at} has {count} elements, but {self.left} bytes are left"
            raise DecodeError(Fault.ELEMENTS, at, text)
        return count

    def _decoded(self, encoded: bytes, at: int) -> str:
        try:
            return encoded.decode()
        except UnicodeDecodeError:
            raise DecodeError(Fault.TEXT, at, f"the text at offset {at} is not UTF-8") from None
