"""Errors of encoding and decoding."""

from __future__ import annotations

import enum


class OasisError(Exception):
    """All errors of this package."""


class EncodeError(OasisError, ValueError):
    """A value that its metric cannot represent."""

    metric: str
    """Scoped PDL name of the probe or struct, a dot, and the metric: `Plant::Line.temperature`."""
    problem: str
    """Description of the error in the value."""

    def __init__(self, metric: str, problem: str) -> None:
        super().__init__(f"{metric}: {problem}")
        self.metric = metric
        self.problem = problem


class RefusedWarning(RuntimeWarning):
    """A DAC refuses the node of this program, such as for a name that another node has: it receives none of its samples."""


class NodeEndedWarning(RuntimeWarning):
    """A sample after the shutdown of its node is refused, and so are all later ones of its probe."""


class SampleTooLongWarning(RuntimeWarning):
    """A sample is longer than the ring of its probe: it is dropped and counted, as any sample of this size."""


class Fault(enum.Enum):
    """Kinds of decoding errors."""

    TRUNCATED = "truncated"
    """The bytes end too early."""
    VARINT = "varint"
    """A varint of more than 64 bits."""
    BOOLEAN = "boolean"
    """A boolean byte other than 0 and 1."""
    TEXT = "text"
    """Text that is not UTF-8."""
    TERMINATOR = "terminator"
    """A CDR string without its NUL."""
    ELEMENTS = "elements"
    """A vector of more elements than there are bytes."""
    BLOB = "blob"
    """A file of more bytes than its metric allows."""
    ENUMERATOR = "enumerator"
    """A number that its enum does not declare."""
    LEFTOVER = "leftover"
    """Bytes are left after the value."""
    MAGIC = "magic"
    """The bytes are not an EISA packet."""
    VERSION = "version"
    """An EISA packet of a version other than 1.0 and 1.1."""
    PROBE = "probe"
    """An EISA packet of another probe type."""


class DecodeError(OasisError, ValueError):
    """Bytes that cannot be decoded."""

    fault: Fault
    """Kind of the error."""
    offset: int
    """Offset of the error, counted from the first byte."""

    def __init__(self, fault: Fault, offset: int, text: str) -> None:
        super().__init__(text)
        self.fault = fault
        self.offset = offset
