"""What the classes generated from PDL have in common."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from oasis.row import RowReader, RowWriter

if TYPE_CHECKING:
    from typing_extensions import Self

    from oasis.reader import Reader
    from oasis.writer import Writer


class Struct(ABC):
    """Values that are written and read together."""

    __slots__ = ()

    @abstractmethod
    def write(self, to: Writer) -> None:
        """Write the members in order; EncodeError for a value that its member cannot hold."""

    @classmethod
    @abstractmethod
    def read(cls, source: Reader) -> Self:
        """Read the members in order; DecodeError for bytes that are not what they should be."""


class Probe(Struct):
    """A sample of a probe type, its metrics the values."""

    __slots__ = ()

    NAME: ClassVar[str]
    """Scoped PDL name."""
    UUID: ClassVar[uuid.UUID]
    """Identity of the type on the wire."""
    VERSION: ClassVar[str]
    """`major.minor`; with the UUID it names one layout."""
    SCHEMA: ClassVar[str]
    """What a node registers: JSON that tells every tool how to read the samples."""

    def to_row(self) -> bytes:
        """The sample as it lies inside a node."""
        row = RowWriter()
        self.write(row)
        return row.getvalue()

    @classmethod
    def from_row(cls, row: bytes | bytearray | memoryview) -> Self:
        """Read a sample that is all of `row`."""
        source = RowReader(row)
        sample = cls.read(source)
        source.finish()
        return sample
