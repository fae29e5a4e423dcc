"""The four bytes of a `real32`, NaN included.

`struct` converts between `float` and four bytes as the processor does, which changes a signalling NaN. Here a NaN
keeps its sign and as much of its payload as there is room for.
"""

from __future__ import annotations

import math
import struct

_QUIET = 0x0040_0000
_PAYLOAD = 0x007F_FFFF


def to_bytes(value: float) -> bytes:
    """Little-endian bytes of the nearest `real32`; OverflowError for a number beyond the greatest."""
    if not math.isnan(value):
        return struct.pack("<f", value)
    wide = int.from_bytes(struct.pack("<d", value), "little")
    # Without a payload it would be an infinity.
    payload = wide >> 29 & _PAYLOAD or _QUIET
    return (wide >> 63 << 31 | 0x7F80_0000 | payload).to_bytes(4, "little")


def from_bytes(little_endian: bytes) -> float:
    """Value of four bytes, least significant first."""
    value: float = struct.unpack("<f", little_endian)[0]
    if math.isnan(value):
        bits = int.from_bytes(little_endian, "little")
        wide = bits >> 31 << 63 | 0x7FF << 52 | (bits & _PAYLOAD) << 29
        value = struct.unpack("<d", wide.to_bytes(8, "little"))[0]
    return value
