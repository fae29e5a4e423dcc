"""What can be wrong with values and with bytes."""

from __future__ import annotations

import enum


class OasisError(Exception):
    """All errors of this package."""


class EncodeError(OasisError, ValueError):
    """A value that its metric cannot hold."""

    metric: str
    """Scoped PDL name of the probe or struct, a point, and the metric: `Plant::Line.temperature`."""
    problem: str
    """What is wrong with the value."""

    def __init__(self, metric: str, problem: str) -> None:
        super().__init__(f"{metric}: {problem}")
        self.metric = metric
        self.problem = problem


class Fault(enum.Enum):
    """Why bytes cannot be read."""

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
    ENUMERATOR = "enumerator"
    """A number that its enum does not declare."""
    LEFTOVER = "leftover"
    """The bytes go on behind the value."""
    MAGIC = "magic"
    """Not an EISA packet at all."""
    VERSION = "version"
    """An EISA packet of a version other than 1.0 and 1.1."""
    PROBE = "probe"
    """An EISA packet of another probe type."""


class DecodeError(OasisError, ValueError):
    """Bytes that are not what they should be."""

    fault: Fault
    """What is wrong."""
    offset: int
    """Where, counted from the first byte."""

    def __init__(self, fault: Fault, offset: int, text: str) -> None:
        super().__init__(text)
        self.fault = fault
        self.offset = offset
