"""The EISA packet of the papers, one sample in CDR, and the commands of its WebSocket protocol (docs/reference/eisa.md)."""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from oasis.cdr import ByteOrder, CdrReader, CdrWriter
from oasis.errors import DecodeError, EncodeError, Fault
from oasis.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Iterable

P = TypeVar("P", bound=Probe)

MAGIC = b"EISA"
VERSION = (1, 1)
DATA_ALIGNMENT = 8


@dataclass(slots=True)
class Packet(Generic[P]):
    """A sample, when it was taken and of which probe instance."""

    instance: str
    """Instance name."""
    sample: P
    sequence: int
    """Sequence number: from 1, wraps at 32 bits."""
    seconds: int
    """Time of the sample since 1970-01-01 UTC."""
    microseconds: int
    state: int = 0
    """Probe state; 0 is normal."""
    version: tuple[int, int] = VERSION

    def encode(self, order: ByteOrder = ByteOrder.LITTLE) -> bytes:
        """All bytes of the packet."""
        # Sizes do not depend on where the data begins: it is aligned like the packet.
        data = CdrWriter(order)
        self.sample.write(data)
        packet = CdrWriter(order)
        packet.octets(MAGIC)
        for number in self.version:
            packet.uint8(number, "Packet.version")
        _write_uuid(self.sample.UUID, packet)
        packet.uint32(self.seconds, "Packet.seconds")
        packet.uint32(self.microseconds, "Packet.microseconds")
        packet.uint32(self.sequence, "Packet.sequence")
        packet.uint16(self.state, "Packet.state")
        packet.uint32(len(data.getvalue()), "Packet.data")
        packet.string(self.instance, "Packet.instance")
        packet.align(DATA_ALIGNMENT)
        packet.octets(data.getvalue())
        return packet.getvalue()

    @classmethod
    def decode(
        cls,
        packet: bytes | bytearray | memoryview,
        *probes: type[P],
        order: ByteOrder = ByteOrder.LITTLE,
    ) -> Packet[P]:
        """Read a packet of one of these probe types."""
        source = CdrReader(packet, order)
        version = _read_version(source)
        probe = _read_probe(source, probes)
        seconds, microseconds, sequence = source.uint32(), source.uint32(), source.uint32()
        state, size = source.uint16(), source.uint32()
        instance = source.string()
        source.align(DATA_ALIGNMENT)
        _check_size(source, size)
        sample = probe.read(source)
        source.finish()
        return cls(instance, sample, sequence, seconds, microseconds, state, version)


def register(node: str, instance: str) -> bytes:
    """Ask the DAC for an instance's samples: its latest, then every new one."""
    return _command(0x01, node, instance)


def unregister(node: str, instance: str) -> bytes:
    """Ask the DAC for no more of them."""
    return _command(0x02, node, instance)


def change_rate(node: str, instance: str, hertz: float) -> bytes:
    """Ask a node to sample an instance at another rate."""
    return _command(0x03, node, instance, f"{hertz:.12g}")


def request_schema(node: str, instance: str) -> bytes:
    """Ask for an instance's schema, which comes as JSON in a text frame."""
    return _command(0x04, node, instance)


def _command(opcode: int, *strings: str) -> bytes:
    command = CdrWriter()
    command.octets(bytes([opcode]))
    for string in strings:
        command.string(string, "command")
    if len(command.getvalue()) > 256:
        raise EncodeError("command", "the names of node and instance do not fit its 256 bytes")
    return command.getvalue().ljust(256, b"\0")


def _write_uuid(value: uuid.UUID, to: CdrWriter) -> None:
    low, middle, high = value.fields[:3]
    to.uint32(low, "Packet.uuid")
    to.uint16(middle, "Packet.uuid")
    to.uint16(high, "Packet.uuid")
    to.octets(value.bytes[8:])


def _read_version(source: CdrReader) -> tuple[int, int]:
    magic = source.take(len(MAGIC))
    if magic != MAGIC:
        raise DecodeError(Fault.MAGIC, 0, f"the packet begins with {magic!r}, not with EISA")
    major, minor = source.take(2)
    if major != 1 or minor > 1:
        text = f"unsupported EISA version {major}.{minor}: supported are 1.0 and 1.1"
        raise DecodeError(Fault.VERSION, len(MAGIC), text)
    return major, minor


def _read_probe(source: CdrReader, probes: Iterable[type[P]]) -> type[P]:
    low, middle, high = source.uint32(), source.uint16(), source.uint16()
    octets = struct.pack(">IHH", low, middle, high) + source.take(8)
    of = uuid.UUID(bytes=octets)
    for probe in probes:
        if of == probe.UUID:
            return probe
    raise DecodeError(Fault.PROBE, 8, f"the packet is of probe type {of}, which was not asked for")


def _check_size(source: CdrReader, size: int) -> None:
    if size > source.left:
        text = f"{size} bytes of probe data are needed at offset {source.at}, {source.left} are left"
        raise DecodeError(Fault.TRUNCATED, source.at, text)
    if size < source.left:
        at = source.at + size
        raise DecodeError(
            Fault.LEFTOVER, at, f"{source.left - size} bytes after the probe data at offset {at}"
        )
