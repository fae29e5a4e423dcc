"""Writes values of PDL types, whatever the bytes look like."""

from __future__ import annotations

import operator
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar

from oasis import real32
from oasis.errors import EncodeError

if TYPE_CHECKING:
    from oasis.probe import Struct

T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)
S = TypeVar("S", bound="Struct")


class Writer(ABC):
    """Where a generated class writes its values, each with the name of its metric, for errors."""

    __slots__ = ("_out",)

    def __init__(self) -> None:
        self._out = bytearray()

    def getvalue(self) -> bytes:
        """All bytes so far."""
        return bytes(self._out)

    @abstractmethod
    def _fixed(self, little_endian: bytes) -> None:
        """Append a number of as many bytes."""

    @abstractmethod
    def _text(self, encoded: bytes) -> None:
        """Append a text after its length."""

    @abstractmethod
    def _count(self, count: int) -> None:
        """Append the number of a vector's elements."""

    def int8(self, value: int, metric: str) -> None:
        """Append an integer of -128 to 127."""
        self._signed(value, 1, metric)

    def int16(self, value: int, metric: str) -> None:
        """Append an integer of two bytes."""
        self._signed(value, 2, metric)

    def int32(self, value: int, metric: str) -> None:
        """Append an integer of four bytes."""
        self._signed(value, 4, metric)

    def int64(self, value: int, metric: str) -> None:
        """Append an integer of eight bytes."""
        self._signed(value, 8, metric)

    def uint8(self, value: int, metric: str) -> None:
        """Append an integer of 0 to 255."""
        self._unsigned(value, 1, metric)

    def uint16(self, value: int, metric: str) -> None:
        """Append an integer of two bytes without a sign."""
        self._unsigned(value, 2, metric)

    def uint32(self, value: int, metric: str) -> None:
        """Append an integer of four bytes without a sign."""
        self._unsigned(value, 4, metric)

    def uint64(self, value: int, metric: str) -> None:
        """Append an integer of eight bytes without a sign."""
        self._unsigned(value, 8, metric)

    def real32(self, value: float, metric: str) -> None:
        """Append the nearest IEEE 754 single."""
        _expect_real(value, metric)
        try:
            self._fixed(real32.to_bytes(float(value)))
        except OverflowError:
            raise EncodeError(metric, f"{_shown(value)} does not fit real32 (up to 3.4028235e+38)") from None

    def real64(self, value: float, metric: str) -> None:
        """Append an IEEE 754 double."""
        _expect_real(value, metric)
        try:
            self._fixed(struct.pack("<d", float(value)))
        except OverflowError:
            raise EncodeError(metric, f"{_shown(value)} does not fit real64 (up to 1.8e+308)") from None

    def boolean(self, value: bool, metric: str) -> None:
        """Append one byte, 0 or 1."""
        _expect(value, bool, metric)
        self._out.append(value)

    def string(self, value: str, metric: str) -> None:
        """Append text as UTF-8."""
        _expect(value, str, metric)
        try:
            encoded = value.encode()
        except UnicodeEncodeError as error:
            problem = (
                f"{value[error.start]!a} at index {error.start} is a surrogate, which UTF-8 cannot carry"
            )
            raise EncodeError(metric, problem) from None
        self._text(encoded)

    def blob(self, value: bytes, max_bytes: int, metric: str) -> None:
        """Append the bytes of a file."""
        _expect(value, bytes, metric)
        if len(value) > max_bytes:
            raise EncodeError(metric, f"a file of {len(value)} bytes: at most {max_bytes} are allowed")
        self._count(len(value))
        self._out += value

    def enumerator(self, value: E, of: type[E], write: Callable[[int, str], None], metric: str) -> None:
        """Append the number of an enumerator, by the method that writes numbers of its type."""
        _expect(value, of, metric)
        write(value, metric)

    def struct(self, value: S, of: type[S], metric: str) -> None:
        """Append the members of a struct."""
        _expect(value, of, metric)
        try:
            value.write(self)
        except EncodeError as error:
            raise EncodeError(metric, str(error)) from None

    def vector(self, value: Sequence[T], metric: str) -> Sequence[T]:
        """Append the number of elements, and return them to be written."""
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise EncodeError(metric, f"expected list, got {_shown(value)}")
        self._count(len(value))
        return value

    def _signed(self, value: int, width: int, metric: str) -> None:
        try:
            self._fixed(_index(value).to_bytes(width, "little", signed=True))
        except (OverflowError, TypeError):
            half = 1 << (8 * width - 1)
            problem = f"expected int{8 * width} ({-half} to {half - 1}), got {_shown(value)}"
            raise EncodeError(metric, problem) from None

    def _unsigned(self, value: int, width: int, metric: str) -> None:
        try:
            self._fixed(_index(value).to_bytes(width, "little"))
        except (OverflowError, TypeError):
            problem = f"expected uint{8 * width} (0 to {(1 << 8 * width) - 1}), got {_shown(value)}"
            raise EncodeError(metric, problem) from None


def _index(value: int) -> int:
    """Integers of other packages are integers too; a boolean is not."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _expect(value: object, kind: type, metric: str) -> None:
    if not isinstance(value, kind):
        raise EncodeError(metric, f"expected {kind.__name__}, got {_shown(value)}")


def _expect_real(value: object, metric: str) -> None:
    """Floats, and whatever says that it can be one."""
    if isinstance(value, bool) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise EncodeError(metric, f"expected float, got {_shown(value)}")


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
